"""Make Table 4: verbose or compact encoding crossed with graph memory or CTWM."""

from collections.abc import Callable, Mapping
from typing import Any

from _entry import Job, run
from _gate import competent_models, gate_note
from _policies import Cell, Rows, by_cell, limits, tokens_by_seed
from _tables import write_texts
from coretail import artefacts, stats
from coretail.errors import InputError
from coretail.memory.comparison import asked_losses, compare_values, free_losses
from coretail.render import tables

# The paper's two, and CTWM's allocation on graph memory's ranking.
PAPERS = ("graph", "ctwm")
POLICIES = (*PAPERS, "graph_ctwm")
ENCODINGS = ("verbose", "compact")
# One value per seed of each quantity, for each (policy, encoding).
Values = dict[tuple[str, str], dict[int, float | None]]


def main(job: Job) -> None:
    """Write the cells and the effects, per predictor."""
    losses = by_cell(artefacts.read_all(job.inputs("losses"), "memory_losses").to_pylist())
    drivers = dict.fromkeys(cell[0] for cell in losses)
    asked: Rows = []
    competent: dict[str, bool] = {}
    if job.settings["models"]:
        asked = artefacts.read_all(job.inputs("asked"), "memory_asked").to_pylist()
        competent = competent_models(job)
    cells: Rows = []
    effects: Rows = []
    for driver in drivers:
        key: dict[str, Any] = {"model": None, "driver": driver, "predictor": "vote"}
        runs = [(key | {"competent": None}, *free_values(losses, driver))]
        for model in job.settings["models"]:
            own = [row for row in asked if (row["model"], row["driver"]) == (model, driver)]
            if own:
                key = {"model": model, "driver": driver, "predictor": "model"}
                runs.append((key | {"competent": competent[model]}, *asked_values(own, driver)))
        for key, errors, tokens in runs:
            cells += cell_rows(key, errors, tokens)
            effects += effect_rows(key, "tail_error", errors)
            effects += effect_rows(key, "tokens", tokens)
    for name, rows in (("table4", cells), ("table4_effects", effects)):
        content = artefacts.table_of_rows(name, rows)
        artefacts.write(job.output(name), name, content, job.spec)
    groups = dict.fromkeys((row["driver"], row["predictor"], row["model"]) for row in cells)
    shown = []
    for group in groups:
        shown.append(cell_table([row for row in cells if key_of(row) == group]))
        # A model that was asked for one cell alone has no effects.
        if own := [row for row in effects if key_of(row) == group]:
            shown.append(effect_table(own))
    write_texts(job, shown)


def key_of(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return whose row it is."""
    return row["driver"], row["predictor"], row["model"]


def free_values(losses: dict[Cell, Rows], driver: str) -> tuple[Values, Values]:
    """Return tail errors and local tokens of the free predictor vote, by seed."""
    errors: Values = {}
    tokens: Values = {}
    for (of, budget, policy, encoding), rows in losses.items():
        if (of, budget) == (driver, "slots") and policy in POLICIES:
            by_seed = free_losses(rows, "vote")
            errors[policy, encoding] = {
                seed: own.mean("tail") for seed, own in sorted(by_seed.items())
            }
            tokens[policy, encoding] = {
                seed: sum(row["local_tokens"] for row in rows if row["seed"] == seed)
                / sum(row["n"] for row in rows if row["seed"] == seed)
                for seed in sorted(by_seed)
            }
    return paired(errors), paired(tokens)


def asked_values(replies: Rows, driver: str) -> tuple[Values, Values]:
    """Return tail errors and prompt tokens per call of a model, by seed."""
    errors: Values = {}
    tokens: Values = {}
    for (of, budget, policy, encoding), rows in by_cell(replies).items():
        if (of, budget) == (driver, "slots") and policy in POLICIES:
            losses = asked_losses(rows)
            errors[policy, encoding] = {seed: losses[seed].mean("tail") for seed in sorted(losses)}
            tokens[policy, encoding] = dict(sorted(tokens_by_seed(rows).items()))
    return paired(errors), paired(tokens)


def paired(values: Values) -> Values:
    """Return the values, if every cell has the same seeds: a missing partner is never dropped."""
    seeds = {cell: sorted(by_seed) for cell, by_seed in values.items()}
    if len(set(map(tuple, seeds.values()))) > 1:
        raise InputError(f"results/memory: the cells of Table 4 have not the same seeds: {seeds}")
    return values


def cell_rows(key: dict[str, Any], errors: Values, tokens: Values) -> Rows:
    """Return one row per policy and encoding."""
    rows: Rows = []
    for policy, encoding in errors:
        error = stats.t_interval(errors[policy, encoding].values())
        rows.append(
            {
                **key,
                "policy": policy,
                "encoding": encoding,
                "cell": f"{policy}-{encoding}",
                "n_seeds": error.n,
                **limits("tokens", stats.t_interval(tokens[policy, encoding].values())),
                **limits("tail_error", error),
                "reason": error.reason,
            }
        )
    papers = [row for row in rows if row["policy"] in PAPERS]
    for row in rows:
        row["pareto"] = undominated(row, rows)
        row["pareto_paper"] = undominated(row, papers) if row in papers else None
    rows.sort(key=lambda row: (POLICIES.index(row["policy"]), ENCODINGS.index(row["encoding"])))
    return rows


def undominated(row: Mapping[str, Any], rows: Rows) -> bool | None:
    """Return whether no row is as good in tokens and tail error and better in one; None: no error.

    Only rows with a tail error compete.
    """

    def at(one: Mapping[str, Any]) -> tuple[float, float]:
        return one["tokens"], one["tail_error"]

    if row["tail_error"] is None:
        return None
    rivals = [at(other) for other in rows if other["tail_error"] is not None]
    return not any(
        tokens <= row["tokens"] and error <= row["tail_error"] and (tokens, error) != at(row)
        for tokens, error in rivals
    )


def effect_rows(key: dict[str, Any], quantity: str, values: Values) -> Rows:
    """Return the effects that the cells there are allow."""

    def of(policy: str, encoding: str) -> Callable[[int], float | None] | None:
        by_seed = values.get((policy, encoding))
        return None if by_seed is None else by_seed.__getitem__

    pairs = {
        ("serialization", policy): [(of(policy, "compact"), of(policy, "verbose"))]
        for policy in POLICIES
    }
    pairs |= {
        ("allocation", encoding): [(of("ctwm", encoding), of("graph", encoding))]
        for encoding in ENCODINGS
    }
    pairs |= {
        ("allocation_only", encoding): [(of("graph_ctwm", encoding), of("graph", encoding))]
        for encoding in ENCODINGS
    }
    pairs["serialization", "both"] = (
        pairs["serialization", "graph"] + pairs["serialization", "ctwm"]
    )
    pairs["allocation", "both"] = pairs["allocation", "verbose"] + pairs["allocation", "compact"]
    seeds = next(iter(values.values()))
    rows = []
    for (effect, at), both in pairs.items():
        if all(first and second for first, second in both):
            rows.append(
                effect_row(
                    key | {"quantity": quantity, "effect": effect, "at": at},
                    [mean(first(seed) for first, _ in both if first) for seed in seeds],
                    [mean(second(seed) for _, second in both if second) for seed in seeds],
                )
            )
    corners = [of(policy, encoding) for policy in ("ctwm", "graph") for encoding in ENCODINGS]
    if all(corners):
        ctwm_verbose, ctwm_compact, graph_verbose, graph_compact = (
            [corner(seed) for seed in seeds] for corner in corners if corner
        )
        rows.append(
            effect_row(
                key | {"quantity": quantity, "effect": "interaction", "at": "both"},
                [minus(a, b) for a, b in zip(ctwm_compact, ctwm_verbose, strict=True)],
                [minus(a, b) for a, b in zip(graph_compact, graph_verbose, strict=True)],
                relative=False,
            )
        )
        # Of the four corners this difference is that of the two mean changes.
        rows.append(
            effect_row(
                key
                | {
                    "quantity": quantity,
                    "effect": "allocation_over_serialization",
                    "at": "both",
                },
                ctwm_verbose,
                graph_compact,
                relative=False,
            )
        )
    return rows


OF = {
    "serialization": "compact - verbose",
    "allocation": "CTWM - graph memory, ranking and allocation together",
    "allocation_only": "CTWM's allocation on graph memory's ranking - graph memory",
    "interaction": "CTWM's (compact - verbose) - graph memory's",
    "allocation_over_serialization": "allocation's mean change - serialization's",
}


def effect_row(
    key: dict[str, Any],
    first: list[float | None],
    second: list[float | None],
    *,
    relative: bool = True,
) -> dict[str, Any]:
    """Return one effect."""
    found = compare_values(first, second)
    reduction = found.reduction if relative else None
    return {
        **key,
        "of": OF[key["effect"]],
        "n_seeds": found.difference.n,
        **limits("change", found.difference),
        "relative": None
        if reduction is None or reduction.estimate is None
        else -reduction.estimate,
        "relative_low": None if reduction is None or reduction.high is None else -reduction.high,
        "relative_high": None if reduction is None or reduction.low is None else -reduction.low,
        "detectable": found.detectable,
        "reading_difference": found.reading,
        "reason": found.difference.reason,
    }


def mean(values: Any) -> float | None:
    """Return the mean, undefined where a value is."""
    listed = list(values)
    return None if None in listed else sum(listed) / len(listed)


def minus(first: float | None, second: float | None) -> float | None:
    """Return the difference, undefined where a value is."""
    return None if first is None or second is None else first - second


def who(row: Mapping[str, Any]) -> str:
    """Return who predicts, on whose trajectories."""
    predictor = row["model"] if row["predictor"] == "model" else "the free predictor vote"
    walker = "random agents" if row["driver"] == "agents" else f"{row['driver']}'s rollouts"
    return f"predicted by {predictor}, on trajectories of {walker}"


UNDEFINED = "undefined (see the Parquet file's reason)"


def cell_table(rows: Rows) -> tables.TableSpec:
    """Return the description of the cells' table."""
    unit = "Tokens/call [95%]" if rows[0]["predictor"] == "model" else "Local tokens [95%]"
    return tables.TableSpec(
        name=f"table4_{rows[0]['driver'].replace('.', '')}_{rows[0]['predictor']}",
        title=f"Table 4: Encoding by allocation, {who(rows[0])}",
        caption=(
            f"Means over {rows[0]['n_seeds']} seeds with t intervals. graph_ctwm: CTWM's "
            "allocation on graph memory's ranking."
        ),
        columns=(
            tables.Column("Policy", ("policy",), tables.text(), "left"),
            tables.Column("Encoding", ("encoding",), tables.text(), "left"),
            tables.Column(unit, ("tokens", "tokens_low", "tokens_high"), tables.interval(1)),
            tables.Column(
                "Tail error [95%]",
                ("tail_error", "tail_error_low", "tail_error_high"),
                tables.interval(3),
                missing=UNDEFINED,
            ),
            tables.Column("Pareto", ("pareto",), yes_or_no, "left", missing=UNDEFINED),
        ),
        rows=tuple(rows),
        notes=(
            "Without a model the encoding changes the context's length alone."
            if rows[0]["competent"] is None
            else gate_note(rows[0]),
        ),
    )


def yes_or_no(best: bool) -> str:
    """Return a truth value in words."""
    return "yes" if best else "no"


def effect_table(rows: Rows) -> tables.TableSpec:
    """Return the description of the effects' table."""
    return tables.TableSpec(
        name=f"table4_effects_{rows[0]['driver'].replace('.', '')}_{rows[0]['predictor']}",
        title=f"Table 4, effects: allocation and serialization, {who(rows[0])}",
        caption=(
            "Differences paired by seed, with t intervals; relative to the subtrahend; "
            "detectable: the smallest difference shown with power 0.8."
        ),
        columns=(
            tables.Column("Quantity", ("quantity",), tables.text(), "left"),
            tables.Column("Effect", ("effect",), tables.text(), "left"),
            tables.Column("At", ("at",), tables.text(), "left"),
            tables.Column("Difference", ("of",), tables.text(), "left"),
            tables.Column(
                "Change [95%]", ("change", "change_low", "change_high"), tables.interval(3)
            ),
            tables.Column(
                "Relative [95%]",
                ("relative", "relative_low", "relative_high"),
                tables.percent_interval(1),
                missing="a difference of differences, or a subtrahend of 0",
            ),
            tables.Column(
                "Detectable",
                ("detectable",),
                tables.significant(2),
                missing="no variation between seeds",
            ),
            tables.Column("Reading", ("reading_difference",), tables.text(), "left"),
        ),
        rows=tuple(rows),
        layout="page",
        blocks="quantity",
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
