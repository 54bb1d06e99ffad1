"""Make Table 3: memory policies on frozen trajectories, against graph memory."""

import math
from typing import Any

from _entry import Job, run
from _gate import competent_models, gate_note
from _policies import (
    Cell,
    Rows,
    by_cell,
    cell_of,
    coverage_and_error,
    limits,
    tokens_by_seed,
    tokens_in_pairs,
)
from _tables import write_texts
from coretail import artefacts, stats
from coretail.memory.comparison import (
    Comparison,
    Losses,
    asked_losses,
    compare,
    compare_values,
    free_losses,
)
from coretail.render import tables

REFERENCE = "graph"
FREE = ("top1", "vote")


def main(job: Job) -> None:
    """Write one row per policy and predictor."""
    losses = by_cell(artefacts.read_all(job.inputs("losses"), "memory_losses").to_pylist())
    covered = by_cell(artefacts.read_all(job.inputs("coverage"), "memory_coverage").to_pylist())
    rows = [
        row
        for predictor in FREE
        for row in policy_rows(
            {cell: free_losses(own, predictor) for cell, own in losses.items()},
            losses,
            {"model": None, "predictor": predictor, "competent": None},
        )
    ]
    if job.settings["models"]:
        asked = artefacts.read_all(job.inputs("asked"), "memory_asked").to_pylist()
        competent = competent_models(job)
        for model in job.settings["models"]:
            replies = by_cell(row for row in asked if row["model"] == model)
            rows += policy_rows(
                {cell: asked_losses(own) for cell, own in replies.items()},
                losses,
                {"model": model, "predictor": "model", "competent": competent[model]},
                replies,
            )
    for row in rows:
        row |= mean_coverage(covered[cell_of(row)])
    order = {policy: place for place, policy in enumerate(job.settings["policies"])}
    rows.sort(key=lambda row: order.get(row["policy"], len(order)))
    content = artefacts.table_of_rows("table3", rows)
    artefacts.write(job.output("table3"), "table3", content, job.spec)
    write_texts(job, [table(part) for part in parts(rows)])


def policy_rows(
    scored: dict[Cell, dict[int, Losses]],
    losses: dict[Cell, Rows],
    key: dict[str, Any],
    replies: dict[Cell, Rows] | None = None,
) -> Rows:
    """Return one row per policy for one predictor."""
    rows = []
    for cell, by_seed in scored.items():
        driver, budget, policy, encoding = cell
        seeds = sorted(by_seed)
        free = [row for row in losses[cell] if row["seed"] in by_seed]
        tail = [row for row in free if row["stratum"].startswith("tail")]
        own = replies[cell] if replies else None
        n_steps = sum(row["n"] for row in free if row["seed"] == seeds[0])
        error = stats.t_interval(by_seed[seed].mean("tail") for seed in seeds)
        matched = scored.get((driver, budget, REFERENCE, encoding))
        verbose = scored.get((driver, budget, REFERENCE, "verbose"))
        against = compare(by_seed, matched) if matched and policy != REFERENCE else None
        papers = compare(by_seed, verbose) if verbose else None
        rows.append(
            {
                **key,
                "driver": driver,
                "budget": budget,
                "policy": policy,
                "encoding": encoding,
                "cell": f"{policy}-{encoding}",
                "family": free[0]["family"],
                "n_nodes": free[0]["n_nodes"],
                "tau": free[0]["tau"],
                "n_steps": n_steps,
                "n_seeds": error.n,
                **tail_counts(own, tail, n_steps),
                **limits("tail_error", error),
                **{
                    name: stats.t_interval(by_seed[seed].mean(prefix) for seed in seeds).estimate
                    for name, prefix in (
                        ("tail_error_first", "tail_first"),
                        ("tail_error_repeated", "tail_repeated"),
                        ("head_error", "head"),
                    )
                },
                **{name: per_step(tail, name) for name in ("floor_predictor", "floor_memory")},
                "local_tokens": per_step(free, "local_tokens"),
                **differences(against, papers, is_reference=policy == REFERENCE),
                **token_columns(cell, replies),
                "reason": error.reason,
            }
        )
    return rows


def tail_counts(replies: Rows | None, tail: Rows, n_steps: int) -> dict[str, Any]:
    """Return how many predictions were scored, and how far the context window went."""
    if replies is None:
        return {
            "n_tail": sum(row["n"] for row in tail),
            "n_unscored": 0,
            "whole": True,
            "n_steps_compared": n_steps,
            "n_steps_compared_high": n_steps,
        }
    scored = [row for row in replies if row["correct"] is not None]
    ends = dict.fromkeys((row["seed"] for row in replies), n_steps)
    for row in replies:
        if row["status"] == "window_full":
            ends[row["seed"]] = min(ends[row["seed"]], row["step"])
    return {
        "n_tail": sum(row["stratum"].startswith("tail") for row in scored),
        "n_unscored": len(replies) - len(scored),
        "whole": min(ends.values()) == n_steps,
        "n_steps_compared": min(ends.values()),
        "n_steps_compared_high": max(ends.values()),
    }


def per_step(rows: Rows, name: str) -> float | None:
    """Return the mean per step of a summed column."""
    n = sum(row["n"] for row in rows)
    return sum(row[name] for row in rows) / n if n else None


def differences(
    against: Comparison | None, papers: Comparison | None, *, is_reference: bool
) -> dict[str, Any]:
    """Return the comparison with graph memory at the same encoding, and the paper's pairing."""
    missing = "reference" if is_reference else "no interval"
    return {
        **limits("difference", against.difference if against else None),
        "detectable": against.detectable if against else None,
        "reading_difference": against.reading if against else missing,
        **limits("tail_error_reduction", papers.reduction if papers else None),
    }


def token_columns(cell: Cell, replies: dict[Cell, Rows] | None) -> dict[str, Any]:
    """Return prompt tokens per call as reported, and against graph memory."""
    names = ("tokens", "tokens_reduction", "tokens_reduction_matched")
    if replies is None:
        return {key: value for name in names for key, value in limits(name, None).items()}
    driver, budget, _, encoding = cell
    columns = limits("tokens", stats.t_interval(tokens_by_seed(replies[cell]).values()))
    for name, partner in zip(names[1:], ("verbose", encoding), strict=True):
        reference = replies.get((driver, budget, REFERENCE, partner))
        reduction = None
        if reference is not None:
            reduction = compare_values(*tokens_in_pairs(replies[cell], reference)).reduction
        columns |= limits(name, reduction)
    return columns


def mean_coverage(rows: Rows) -> dict[str, float]:
    """Return the mean coverage over seeds."""
    names = ("store_states", "store_transitions", "exposed_states", "exposed_transitions")
    return {name: math.fsum(row[name] for row in rows) / len(rows) for name in names}


def parts(rows: Rows) -> list[Rows]:
    """Return the rows of each table: per driver, budget and predictor; `top1` is in the file."""
    keys = dict.fromkeys(
        (row["driver"], row["budget"], row["predictor"], row["model"])
        for row in rows
        if row["predictor"] != "top1"
    )
    return [
        [
            row
            for row in rows
            if (row["driver"], row["budget"], row["predictor"], row["model"]) == key
        ]
        for key in keys
    ]


BUDGETS = {
    "slots": "equal slots",
    "tokens": "equal tokens",
    "capacity": "equal slots, bounded store",
}


def table(rows: Rows) -> tables.TableSpec:
    """Return the description of one table."""
    first = rows[0]
    by_model = first["predictor"] == "model"
    who = first["model"] if by_model else "the free predictor vote"
    driver = "random agents" if first["driver"] == "agents" else f"{first['driver']}'s rollouts"
    undefined = "undefined (see the Parquet file's reason)"
    tokens = [
        tables.Column(
            "Tokens/call [95%]", ("tokens", "tokens_low", "tokens_high"), tables.interval(1)
        ),
        tables.Column(
            "Saved, same encoding",
            ("tokens_reduction_matched",),
            tables.percent(1),
            missing=undefined,
        ),
    ]
    local = [tables.Column("Context, local tokens", ("local_tokens",), tables.decimal(1))]
    return tables.TableSpec(
        name="_".join(
            ["table3", first["driver"].replace(".", ""), first["budget"], first["predictor"]]
        ),
        title=(
            f"Table 3: Memory policies, {BUDGETS[first['budget']]}, on trajectories of {driver}, "
            f"predicted by {who}"
        ),
        caption=(
            f"{first['family']}, |V| = {first['n_nodes']}, {first['n_steps']} steps, "
            f"{first['n_seeds']} seeds. Tail error: mean loss at the half of the visited states "
            "that was visited least, with t interval over seeds; first, repeated: at first and at "
            "repeated meetings of state and action. Δ: against graph memory at the same encoding, "
            "paired by step; detectable: the smallest Δ shown with power 0.8."
        ),
        columns=(
            tables.Column("Policy", ("policy",), tables.text(), "left"),
            tables.Column("Encoding", ("encoding",), tables.text(), "left"),
            *(tokens if by_model else local),
            *coverage_and_error(undefined),
            tables.Column(
                "Δ [95%]",
                ("difference", "difference_low", "difference_high"),
                tables.interval(3),
                missing="the reference; or no seed differs",
            ),
            tables.Column(
                "Detectable",
                ("detectable",),
                tables.decimal(3),
                missing="the reference, or no variation between seeds",
            ),
            tables.Column("n", ("n_tail",), tables.integer()),
        ),
        rows=tuple(rows),
        notes=(
            f"No predictor can expect less than {first['floor_predictor']:.3f} (the next state is "
            f"drawn uniformly), and none that knows only what was walked less than "
            f"{first['floor_memory']:.3f}.",
            *window_notes(rows),
            *((gate_note(first),) if by_model else ()),
        ),
        layout="page",
    )


def window_notes(rows: Rows) -> list[str]:
    """Return which policies stopped before the end because the context window was full."""
    return [
        f"{row['policy']}: the model's context window was full after {row['n_steps_compared']} to "
        f"{row['n_steps_compared_high']} steps, by seed. Its tokens and errors are of the steps "
        "before, and not to be compared with other rows; what is saved and Δ are of the steps that "
        "both had."
        for row in rows
        if not row["whole"]
    ]


if __name__ == "__main__":
    run(main, globals()["snakemake"])
