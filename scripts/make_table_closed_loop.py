"""Make the closed-loop companion of Table 3: memory policies that decide where a model goes."""

import re
import statistics
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from _closed_loop import Runs, check_pairs, free_losses, on_own_tail, read_runs
from _entry import Job, run
from _gate import competent_models, gate_note
from _policies import Rows, coverage_and_error, limits
from _tables import write_texts
from coretail import artefacts, stats
from coretail.memory.comparison import Losses, asked_losses, compare_values
from coretail.render import tables

REFERENCE = "graph"
FREE = ("top1", "vote")
# Losses by predictor and seed: with the common tail set, and with each run's own.
Scored = dict[str, dict[int, tuple[Losses, Losses]]]
# Per error which of the two it is of, and the strata that count.
ERRORS = {"tail_error": (0, "tail"), "own_tail_error": (1, "tail"), "error": (0, "")}
# One value per seed.
Values = dict[int, float | None]


def main(job: Job) -> None:
    """Write one row per cell and predictor, and the differences between cells."""
    runs = read_runs(job)
    replies: dict[str, Rows] = {}
    for row in artefacts.read_all(job.inputs("asked"), "memory_asked").to_pylist():
        replies.setdefault(row["driver"], []).append(row)
    competent = competent_models(job)
    scored = {driver: losses_of(own, replies[driver]) for driver, own in runs.items()}
    cells: Rows = []
    effects: Rows = []
    for driver, own in runs.items():
        for predictor, losses in scored[driver].items():
            row = cell_row(own, predictor, losses, replies[driver])
            cells.append(row | {"competent": competent[own.model]})
    for own, other in pairs(runs):
        check_pairs(own, other)
        for key, mine, theirs in quantities(own, scored[own.driver], other, scored[other.driver]):
            effects.append(
                effect_row(key, own, other, mine, theirs) | {"competent": competent[own.model]}
            )
    for name, rows in (("table_closed_loop", cells), ("table_closed_loop_effects", effects)):
        artefacts.write(job.output(name), name, artefacts.table_of_rows(name, rows), job.spec)
    shown = []
    for model in dict.fromkeys(own.model for own in runs.values()):
        shown.append(cell_table([row for row in cells if row["model"] == model]))
        # A single cell differs from none.
        if own_effects := [row for row in effects if row["model"] == model]:
            shown.append(effect_table(own_effects))
    write_texts(job, shown)


def losses_of(own: Runs, replies: Rows) -> Scored:
    """Return the losses of all predictors on one cell's runs."""
    asked = asked_losses(replies)
    found: Scored = {}
    for predictor in (*FREE, "model"):
        found[predictor] = {}
        for seed in sorted(own.summary):
            walk = own.walk[seed]
            losses = (
                asked[seed]
                if predictor == "model"
                else free_losses(walk, own.steps[seed], predictor)
            )
            found[predictor][seed] = losses, on_own_tail(losses, walk)
    return found


def cell_row(
    own: Runs, predictor: str, losses: Mapping[int, tuple[Losses, Losses]], replies: Rows
) -> dict[str, Any]:
    """Return one cell's row for one predictor."""
    cell = next(iter(own.summary.values()))
    summaries = list(own.summary.values())
    tail = [row for walk in own.walk.values() for row in walk if row["stratum"].startswith("tail")]
    error = stats.t_interval(common.mean("tail") for common, _ in losses.values())
    return {
        "model": own.model,
        "policy": own.policy,
        "encoding": own.encoding,
        "cell": own.cell,
        "predictor": predictor,
        **{name: cell[name] for name in ("family", "n_nodes", "tau")},
        "n_steps": cell["steps"],
        "n_seeds": error.n,
        "n_tail": sum(scored_at(common, "tail") for common, _ in losses.values()),
        "n_repeated": sum(scored_at(common, "tail_repeated") for common, _ in losses.values()),
        "n_own_tail": sum(scored_at(on_own, "tail") for _, on_own in losses.values()),
        "n_unscored": sum(row["correct"] is None for row in replies) if predictor == "model" else 0,
        **limits("tail_error", error),
        **{
            f"tail_error_{meeting}": stats.t_interval(
                common.mean(f"tail_{meeting}") for common, _ in losses.values()
            ).estimate
            for meeting in ("first", "repeated")
        },
        **limits(
            "own_tail_error", stats.t_interval(on_own.mean("tail") for _, on_own in losses.values())
        ),
        **limits("error", stats.t_interval(common.mean("") for common, _ in losses.values())),
        **{
            name: statistics.fmean(row[name] for row in tail) if tail else None
            for name in ("floor_predictor", "floor_memory")
        },
        **limits("tokens", stats.t_interval(map(tokens_of, summaries))),
        "calls": sum(row["calls"] for row in summaries),
        "calling_steps": sum(row["calling_steps"] for row in summaries),
        **limits("found", stats.t_interval(row["found"] for row in summaries)),
        **{
            name: statistics.fmean(row[name] for row in summaries)
            for name in (
                "given_up",
                "visited_states",
                "store_states",
                "store_transitions",
                "exposed_states",
                "exposed_transitions",
            )
        },
        "marked": own.marked,
        "reason": error.reason,
    }


def scored_at(losses: Losses, prefix: str) -> int:
    """Return how many scored steps are in strata of this beginning."""
    return sum(losses.strata[step].startswith(prefix) for step in losses.steps)


def tokens_of(summary: Mapping[str, Any]) -> float | None:
    """Return the prompt tokens per step that called the model; None if none did."""
    calling = summary["calling_steps"]
    return summary["prompt_tokens"] / calling if calling else None


def pairs(runs: Mapping[str, Runs]) -> Iterator[tuple[Runs, Runs]]:
    """Yield each cell with graph memory at its encoding, and each compact one with its verbose."""
    for own in runs.values():
        for other in runs.values():
            matched = other.policy == REFERENCE != own.policy and other.encoding == own.encoding
            verbose = other.policy == own.policy and own.encoding < other.encoding
            if other.model == own.model and (matched or verbose):
                yield own, other


def quantities(
    own: Runs, own_scored: Scored, other: Runs, other_scored: Scored
) -> Iterator[tuple[dict[str, Any], Values, Values]]:
    """Yield what is compared, and the values of both cells by seed."""
    simple: dict[str, Callable[[Mapping[str, Any]], float | None]] = {
        "tokens": tokens_of,
        "found": lambda row: row["found"],
        "visited_states": lambda row: row["visited_states"],
    }
    for quantity, value in simple.items():
        mine, theirs = (
            {seed: value(row) for seed, row in sorted(runs.summary.items())}
            for runs in (own, other)
        )
        yield {"quantity": quantity, "predictor": None}, mine, theirs
    for predictor in own_scored:
        for quantity, (place, prefix) in ERRORS.items():
            mine, theirs = (
                {seed: both[place].mean(prefix) for seed, both in scored[predictor].items()}
                for scored in (own_scored, other_scored)
            )
            yield {"quantity": quantity, "predictor": predictor}, mine, theirs


def effect_row(
    key: dict[str, Any], own: Runs, other: Runs, mine: Values, theirs: Values
) -> dict[str, Any]:
    """Return one difference, paired by seed."""
    found = compare_values(list(mine.values()), [theirs[seed] for seed in mine])
    # A share of a handful of found things says nothing.
    reduction = None if key["quantity"] == "found" else found.reduction
    low, middle, high = (
        (reduction.low, reduction.estimate, reduction.high) if reduction else (None, None, None)
    )
    return {
        "model": own.model,
        **key,
        "cell": own.cell,
        "reference": other.cell,
        "n_seeds": found.difference.n,
        **limits("change", found.difference),
        "relative": None if middle is None else -middle,
        "relative_low": None if high is None else -high,
        "relative_high": None if low is None else -low,
        "detectable": found.detectable,
        "reading_difference": "excluded" if own.excluded or other.excluded else found.reading,
        "reason": found.difference.reason,
    }


def cell_table(rows: Rows) -> tables.TableSpec:
    """Return the description of one model's cells; `top1` is in the file."""
    first = rows[0]
    alike = "no interval: one run, or all alike"
    undefined = "no scored step, or no interval: one run, or all alike"
    return tables.TableSpec(
        name=name_of("table_closed_loop", first),
        title=f"Memory policies in the closed loop: {first['model']}",
        caption=(
            f"{first['family']}, |V| = {first['n_nodes']}, {first['n_steps']} steps, "
            f"{first['n_seeds']} seeds; companion of Table 3. The memory's context stands in the "
            "prompt that chooses the action, so that each cell has its own trajectory. Tokens: "
            "prompt tokens per step that called the model in order to act, as reported. Tail "
            "error: mean loss at the states that random agents visit least in the same world, the "
            "tail set common to all cells; own: at each run's own least visited half; all: over "
            "all steps. Means over seeds with t intervals. First, repeated: at first and at "
            "repeated meetings of state and action. n: scored predictions at the common tail set, "
            "those of them at repeated meetings, and those at the own tail set."
        ),
        columns=(
            tables.Column("Policy", ("policy",), tables.text(), "left"),
            tables.Column("Encoding", ("encoding",), tables.text(), "left"),
            tables.Column("Predictor", ("predictor",), tables.text(), "left"),
            tables.Column(
                "Tokens/step [95%]",
                ("tokens", "tokens_low", "tokens_high"),
                tables.interval(1),
                missing=alike,
            ),
            *coverage_and_error(undefined),
            tables.Column(
                "Own [95%]",
                ("own_tail_error", "own_tail_error_low", "own_tail_error_high"),
                tables.interval(3),
                missing=undefined,
            ),
            tables.Column(
                "All steps [95%]",
                ("error", "error_low", "error_high"),
                tables.interval(3),
                missing=undefined,
            ),
            tables.Column(
                "Found [95%]",
                ("found", "found_low", "found_high"),
                tables.interval(1),
                missing=alike,
            ),
            tables.Column("States", ("visited_states",), tables.decimal(1)),
            tables.Column("n", ("n_tail", "n_repeated", "n_own_tail"), numbers),
        ),
        rows=tuple(row for row in rows if row["predictor"] != "top1"),
        notes=(*marks(rows), gate_note(first)),
        layout="page",
    )


def numbers(*values: int) -> str:
    """Return numbers side by side."""
    return "/".join(f"{value:,d}" for value in values)


def marks(rows: Rows) -> list[str]:
    """Return which cells took how many random actions."""
    shares = {row["cell"]: row["marked"] for row in rows}
    return [
        f"{cell}: {share:.1%} of the steps took a random action, since no reply named one."
        for cell, share in shares.items()
        if share
    ]


def effect_table(rows: Rows) -> tables.TableSpec:
    """Return the description of one model's differences."""
    first = rows[0]
    return tables.TableSpec(
        name=name_of("table_closed_loop_effects", first),
        title=f"Memory policies in the closed loop, differences: {first['model']}",
        caption=(
            "Paired by world, start and seed, never by step, with t intervals; relative to the "
            "subtrahend; detectable: the smallest difference shown with power 0.8."
        ),
        columns=(
            tables.Column(
                "Difference",
                ("cell", "reference"),
                lambda own, other=None: f"{own} - {other}",
                "left",
            ),
            tables.Column("Quantity", ("quantity",), tables.text(), "left"),
            tables.Column(
                "Predictor", ("predictor",), tables.text(), "left", missing="not of a predictor"
            ),
            tables.Column(
                "Change [95%]",
                ("change", "change_low", "change_high"),
                tables.interval(3),
                missing="no value, or no interval: one seed, or all alike",
            ),
            tables.Column(
                "Relative [95%]",
                ("relative", "relative_low", "relative_high"),
                tables.percent_interval(1),
                missing="a subtrahend of 0, all alike, or a count of few",
            ),
            tables.Column(
                "Detectable",
                ("detectable",),
                tables.significant(2),
                missing="no variation between seeds",
            ),
            tables.Column("n", ("n_seeds",), tables.integer()),
            tables.Column("Reading", ("reading_difference",), tables.text(), "left"),
        ),
        rows=tuple(rows),
        notes=(gate_note(first),),
        layout="page",
        blocks="cell",
    )


def name_of(table: str, row: Mapping[str, Any]) -> str:
    """Return the name of one model's table."""
    return re.sub(r"[^\w-]+", "_", f"{table}_{row['model']}")


if __name__ == "__main__":
    run(main, globals()["snakemake"])
