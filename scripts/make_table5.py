"""Make Table 5: what CTWM saves and costs against graph memory, over all workloads."""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import special

from _entry import Job, run
from _external import ALFWORLD, JUDGE, NOT_RUN, longmemeval_data, name_of, notes_of
from _gate import competent_models, not_read
from _policies import Cell, Rows, by_cell, limits
from _tables import write_texts
from coretail import artefacts, stats
from coretail.errors import InputError
from coretail.memory.comparison import POWER, compare_values
from coretail.render import tables

SYNTHETIC = ("synthetic_a", "synthetic_b", "synthetic_c")
LONGMEMEVAL = "longmemeval"
OWN, REFERENCE, VERBOSE = ("ctwm", "compact"), ("graph", "compact"), ("graph", "verbose")
# Level of the intervals of tokens, and of those that two one-sided tests at 5% invert.
LEVEL, TWO_TESTS = 0.95, 0.9
# Per stratum the calls of two memories at common steps; and the weight and both values of each.
Calls = dict[str, list[tuple[dict[str, Any], dict[str, Any]]]]
Strata = dict[str, list[tuple[float, float, float]]]


def main(job: Job) -> None:
    """Write at least one row per configuration: one per model that was asked in it."""
    settings = job.settings
    rows = [*synthetic_rows(job), *alfworld_rows(job), *longmemeval_rows(job)]
    competent = competent_models(job) if any(settings["models"].values()) else {}
    for row in rows:
        row |= {
            "paper_reduction": settings["paper"][row["configuration"]],
            "margin": settings["margin"],
            "floor": settings["floor"],
            "parity": parity(row, settings["margin"], settings["floor"]),
            "competent": competent.get(row["model"]),
        }
    artefacts.write(
        job.output("table5"), "table5", artefacts.table_of_rows("table5", rows), job.spec
    )
    write_texts(job, [token_table(rows), accuracy_table(rows, settings)])


def not_run(configuration: str, label: str, data: str, unit: str, why: str) -> dict[str, Any]:
    """Return the row of a configuration without a comparison; others fill in what they have."""
    reason = f"{NOT_RUN}: {why}"
    return {
        "configuration": configuration,
        "label": name_of(label, data),
        "data": data,
        "model": None,
        "status": NOT_RUN,
        "unit": unit,
        "n": 0,
        "n_left_out": None,
        "tokens": None,
        "reference_tokens": None,
        **limits("tokens_reduction", None),
        "detectable": None,
        "marked": None,
        "reading_tokens": NOT_RUN,
        "n_verbose": 0,
        **limits("tokens_reduction_verbose", None),
        "marked_verbose": None,
        **limits("tokens_reduction_in_all", None),
        "accuracy_by": None,
        "n_accuracy": 0,
        "accuracy": None,
        "reference_accuracy": None,
        **limits("accuracy_difference", None),
        "accuracy_detectable": None,
        "reason": reason,
        "reason_verbose": reason,
        "reason_accuracy": reason,
    }


def synthetic_rows(job: Job) -> Rows:
    """Return the rows of Table 3's first three seeds: by model, or of the free predictor."""
    settings = job.settings
    seeds = settings["seeds"]
    models = settings["models"]["memory"]
    asked = artefacts.read_all(job.inputs("asked"), "memory_asked").to_pylist() if models else []
    free = free_values(job) if job.inputs("steps") else {}
    rows: Rows = []
    for position, configuration in enumerate(SYNTHETIC):
        label = f"Synthetic graph {configuration[-1].upper()}"
        key = configuration, label, "synthetic", "call"
        if position >= len(seeds):
            rows.append(not_run(*key, f"seeds has only {len(seeds)}"))
            continue
        seed = seeds[position]
        key = configuration, f"{label} (seed {seed})", "synthetic", "call"
        for model in models:
            replies = by_cell(
                row
                for row in asked
                if (row["model"], row["driver"], row["budget"], row["seed"])
                == (model, "agents", "slots", seed)
            )
            why = "memory.asked_cells lacks ctwm-compact or graph-compact"
            rows.append(not_run(*key, why) | {"model": model} | asked_values(replies))
        if not models:
            why = "memory.models is empty, and prompt tokens are what a model's endpoint reports"
            rows.append(not_run(*key, why) | free.get(seed, {}))
    return rows


def asked_values(replies: Mapping[Cell, Rows]) -> dict[str, Any]:
    """Return what a model's calls on one trajectory say; nothing without both memories' calls."""
    cells = {cell[2:]: rows for cell, rows in replies.items()}
    if OWN not in cells or REFERENCE not in cells:
        return {}
    calls = pairs_of(cells[OWN], cells[REFERENCE])
    found, shown = reduction(calls)
    papers = None
    if VERBOSE in cells:
        papers, _ = reduction(pairs_of(cells[OWN], cells[VERBOSE]))
    tail = {
        stratum: [
            (own["weight"], float(own["correct"]), float(other["correct"]))
            for own, other in pairs
            if None not in (own["correct"], other["correct"])
        ]
        for stratum, pairs in calls.items()
        if stratum.startswith("tail")
    }
    tail = {stratum: values for stratum, values in tail.items() if values}
    difference, smallest = stratified_interval(
        {
            stratum: [(weight, own - other) for weight, own, other in values]
            for stratum, values in tail.items()
        },
        TWO_TESTS,
    )
    return {
        "status": "compared",
        "n": found.n,
        "n_left_out": len(cells[OWN]) - found.n,
        **dict(zip(("tokens", "reference_tokens"), means(tokens_of(calls)), strict=True)),
        **limits("tokens_reduction", found),
        "detectable": shown,
        # A random agent walked, and a reply that cannot be used is a wrong prediction.
        "marked": 0.0,
        "reading_tokens": reading(found),
        "n_verbose": papers.n if papers else 0,
        **limits("tokens_reduction_verbose", papers),
        "marked_verbose": 0.0 if papers else None,
        "accuracy_by": "1 - tail error, model",
        "n_accuracy": difference.n,
        **dict(zip(("accuracy", "reference_accuracy"), means(tail), strict=True)),
        **limits("accuracy_difference", difference),
        "accuracy_detectable": smallest,
        "reason": found.reason,
        "reason_verbose": papers.reason if papers else "memory.asked_cells lacks graph-verbose",
        "reason_accuracy": difference.reason,
    }


def pairs_of(own: Rows, other: Rows) -> Calls:
    """Return the calls that two memories led to at the same steps, by stratum.

    A step at which one of them had outgrown the model's context window is left out.

    Raises
    ------
    InputError
        If they were not asked at the same steps: a missing partner is an error, never dropped.
    """
    by_step = {row["step"]: row for row in other}
    if {row["step"] for row in own} != set(by_step):
        raise InputError(
            f"memory_asked: {own[0]['model']}, seed {own[0]['seed']}: two memories were asked at "
            "different steps; delete results/memory/asked, and the workflow asks again"
        )
    strata: Calls = {}
    for row in own:
        partner = by_step[row["step"]]
        if "window_full" not in (row["status"], partner["status"]):
            strata.setdefault(row["stratum"], []).append((row, partner))
    return strata


def tokens_of(calls: Calls) -> Strata:
    """Return the prompt tokens of paired calls."""
    return {
        stratum: [
            (own["weight"], float(own["prompt_tokens"]), float(other["prompt_tokens"]))
            for own, other in pairs
        ]
        for stratum, pairs in calls.items()
    }


def means(strata: Strata) -> tuple[float | None, float | None]:
    """Return the weighted means of both runs."""
    values = [value for own in strata.values() for value in own]
    total = math.fsum(weight for weight, _, _ in values)
    if not total:
        return None, None
    return (
        math.fsum(weight * own for weight, own, _ in values) / total,
        math.fsum(weight * other for weight, _, other in values) / total,
    )


def reduction(calls: Calls) -> tuple[stats.Interval, float | None]:
    """Return 1 - tokens / reference tokens per call, and the smallest one that would show.

    The combined ratio estimate of a stratified sample with its linearised variance (Cochran, 1977,
    Sections 6.4 and 6.11): per trajectory the same number that Table 3 averages over seeds.
    """
    strata = tokens_of(calls)
    own_mean, other_mean = means(strata)
    if own_mean is None or not other_mean:
        return stats.Interval(0, None, None, None, LEVEL, "no pair of calls"), None
    ratio = own_mean / other_mean
    return stratified_interval(
        {
            stratum: [
                (weight, 1 - ratio - (own - ratio * other) / other_mean)
                for weight, own, other in values
            ]
            for stratum, values in strata.items()
        },
        LEVEL,
    )


def stratified_interval(
    strata: Mapping[str, Sequence[tuple[float, float]]], level: float
) -> tuple[stats.Interval, float | None]:
    """Return the mean of a stratified sample, and the smallest mean that as large a one shows.

    Parameters
    ----------
    strata
        Per stratum the sampled steps: the weight (how many steps one stands for) and the value.
    level
        Confidence level of the t interval, whose degrees of freedom are the steps less the strata.
        It describes the sampling of one trajectory's steps and says nothing of other trajectories.
    """
    values = [pair for own in strata.values() for pair in own]
    n, total = len(values), math.fsum(weight for weight, _ in values)
    if not n:
        return stats.Interval(0, None, None, None, level, "no pair of calls"), None
    mean = math.fsum(weight * value for weight, value in values) / total
    if min(map(len, strata.values())) == 1:
        reason = "a stratum of one call gives no interval"
        return stats.Interval(n, mean, None, None, level, reason), None
    variance = math.fsum(
        (math.fsum(weight for weight, _ in own) / total) ** 2
        * statistics.variance(value for _, value in own)
        / len(own)
        for own in strata.values()
    )
    if not variance:
        reason = f"all {n} pairs agree within their strata, which gives no interval"
        return stats.Interval(n, mean, None, None, level, reason), None
    half = float(special.stdtrit(n - len(strata), 0.5 + level / 2)) * math.sqrt(variance)
    shown = stats.minimum_detectable_difference(n, math.sqrt(n * variance), power=POWER)
    return stats.Interval(n, mean, mean - half, mean + half, level), shown


def free_values(job: Job) -> dict[int, dict[str, Any]]:
    """Return, by seed, what the free predictor `vote` says where no model was asked.

    It is defined at every step, so that steps depend on each other: a stationary block bootstrap.
    """
    trajectories = artefacts.read(job.input("trajectories"), "memory_trajectories")
    steps = by_cell(
        row
        for row in artefacts.read_all(job.inputs("steps"), "memory_steps").to_pylist()
        if row["budget"] == "slots" and row["encoding"] == "compact"
    )
    found = {}
    for key, walk in artefacts.groups(trajectories, ["family", "n_nodes", "seed"]):
        if key["seed"] not in job.settings["seeds"][: len(SYNTHETIC)]:
            continue
        truth = walk["next_state"].to_numpy()
        tail = np.array([stratum.startswith("tail") for stratum in walk["stratum"].to_pylist()])
        own, other = (
            truth
            == np.array(
                [
                    -1 if row["vote"] is None else row["vote"]
                    for row in steps["agents", "slots", *cell]
                    if row["seed"] == key["seed"]
                ]
            )
            for cell in (OWN, REFERENCE)
        )
        difference = stats.stationary_block_interval(
            own.astype(float) - other,
            tail,
            (*key.values(), "table 5", "vote"),
            level=TWO_TESTS,
        ).mean
        found[key["seed"]] = {
            "status": "no model",
            "accuracy_by": "1 - tail error, vote",
            "n_accuracy": difference.n,
            "accuracy": float(own[tail].mean()),
            "reference_accuracy": float(other[tail].mean()),
            **limits("accuracy_difference", difference),
            "accuracy_detectable": detectable(difference),
            "reason_accuracy": difference.reason,
        }
    return found


def alfworld_rows(job: Job) -> Rows:
    """Return the rows of ALFWorld's settings, by model."""
    models = job.settings["models"]["alfworld"]
    table = artefacts.read_rows(job.input("alfworld"), "table_alfworld") if models else []
    rows: Rows = []
    for configuration, label in ALFWORLD.items():
        for model in models or [None]:
            pairs = {
                (row["encoding"], row["reference_encoding"]): row
                for row in table
                if (row["model"], row["configuration"]) == (model, configuration)
            }
            why = (
                "alfworld.cells lacks ctwm-compact or graph-compact"
                if models
                else "alfworld.models is empty"
            )
            matched = pairs.get(("compact", "compact"))
            data = matched["data"] if matched else job.settings["data"]["alfworld"]
            row = not_run(configuration, label, data, "step", why) | {"model": model}
            if matched:
                right = decided(
                    matched["n"],
                    matched["successes"],
                    matched["reference_successes"],
                    matched["only_ctwm"],
                )
                row |= right | {"accuracy_by": "games won"}
                verbose = pairs.get(("compact", "verbose"))
                row |= {
                    "n": matched["n"],
                    "n_left_out": matched["n_unplayed"],
                    "tokens": matched["tokens"],
                    "reference_tokens": matched["reference_tokens"],
                    **saved(matched, matched["n"], verbose, "n"),
                    "marked": matched["marked"],
                    "marked_verbose": verbose["marked"] if verbose else None,
                }
                row["reading_tokens"] = not_read(row["marked"]) or row["reading_tokens"]
                if row["n_verbose"] == 0:
                    row["reason_verbose"] = "alfworld.cells lacks graph-verbose"
            rows.append(row)
    return rows


def longmemeval_rows(job: Job) -> Rows:
    """Return the rows of LongMemEval, by model: all questions, at equal slots."""
    models = job.settings["models"]["longmemeval"]

    def chosen(name: str) -> Rows:
        wanted = ("slots", "all", JUDGE)
        return [
            row
            for row in artefacts.read_rows(job.input(name), f"table_{name}")
            if (row["budget"], row["group"], row["judge"]) == wanted
        ]

    pairs = chosen("longmemeval_pairs") if models else []
    questions = chosen("longmemeval") if models else []
    data = longmemeval_data(job)
    rows: Rows = []
    for model in models or [None]:
        own = {
            (row["second"], row["second_encoding"]): row
            for row in pairs
            if (row["model"], row["first"], row["first_encoding"]) == (model, *OWN)
        }
        why = (
            "longmemeval.cells.slots lacks ctwm-compact or graph-compact"
            if models
            else "longmemeval.models is empty"
        )
        row = not_run(LONGMEMEVAL, "LongMemEval", data, "question", why) | {"model": model}
        if matched := own.get(REFERENCE):
            n_questions = next(
                one["n"] + one["undecided"] + one["unanswered"]
                for one in questions
                if (one["model"], one["method"], one["encoding"]) == (model, *OWN)
            )
            right = decided(
                matched["n"],
                matched["first_correct"] or 0,
                matched["second_correct"] or 0,
                matched["only_first"] or 0,
            )
            row |= right | {"accuracy_by": "right replies, deterministic judge"}
            row |= {
                "data": matched["data"],
                "n": matched["n_tokens"],
                "n_left_out": n_questions - matched["n_tokens"],
                "tokens": matched["tokens_first"],
                "reference_tokens": matched["tokens_second"],
                **saved(matched, matched["n_tokens"], own.get(VERBOSE), "n_tokens"),
                # Nothing is chosen at random where a question has no reply.
                "marked": 0.0,
                "marked_verbose": 0.0 if VERBOSE in own else None,
            }
            if matched["summary_calls"]:
                name = "tokens_in_all_reduction"
                row |= {
                    f"tokens_reduction_in_all{end}": matched[f"{name}{end}"]
                    for end in ("", "_low", "_high")
                }
            if row["n_verbose"] == 0:
                row["reason_verbose"] = "longmemeval.cells.slots lacks graph-verbose"
        rows.append(row)
    return rows


def saved(
    matched: Mapping[str, Any], n: int, papers: Mapping[str, Any] | None, count: str
) -> dict[str, Any]:
    """Return the columns of tokens saved, from rows that hold them with t intervals."""
    own = interval_of(matched, n)
    other = interval_of(papers, papers[count]) if papers else None
    return {
        "status": "compared",
        **limits("tokens_reduction", own),
        "detectable": detectable(own),
        "reading_tokens": reading(own),
        "n_verbose": other.n if other else 0,
        **limits("tokens_reduction_verbose", other),
        "reason": own.reason,
        "reason_verbose": other.reason if other else "",
    }


def interval_of(row: Mapping[str, Any], n: int) -> stats.Interval:
    """Return the interval of ``tokens_reduction`` that a table's row holds."""
    estimate, low, high = (row[f"tokens_reduction{end}"] for end in ("", "_low", "_high"))
    missing = row["reason"] or "undefined in its own table"
    return stats.Interval(n, estimate, low, high, LEVEL, "" if low is not None else missing)


def decided(n: int, own: int, other: int, only_own: int) -> dict[str, Any]:
    """Return the accuracies of n pairs that were decided, with Tango's interval (see stats).

    ``own`` and ``other`` count successes, ``only_own`` the pairs in which the other one failed.
    """
    both = own - only_own
    only_other = other - both
    rest = n - both - only_own - only_other
    first = [1.0] * (both + only_own) + [0.0] * (only_other + rest)
    second = [1.0] * both + [0.0] * only_own + [1.0] * only_other + [0.0] * rest
    # Whether the better one is good enough is a question of `parity`, not of the interval.
    difference = stats.equivalence(first, second, 1.0).difference
    return {
        "n_accuracy": n,
        "accuracy": own / n if n else None,
        "reference_accuracy": other / n if n else None,
        **limits("accuracy_difference", difference),
        "accuracy_detectable": compare_values(first, second).detectable,
        "reason_accuracy": difference.reason,
    }


def detectable(interval: stats.Interval) -> float | None:
    """Return the smallest mean that as many pairs show with power 0.8, from an interval's width."""
    if interval.low is None or interval.high is None:
        return None
    quantile = float(special.stdtrit(interval.n - 1, 0.5 + interval.level / 2))
    sd = (interval.high - interval.low) / 2 / quantile * math.sqrt(interval.n)
    return stats.minimum_detectable_difference(interval.n, sd, power=POWER)


def reading(interval: stats.Interval) -> str:
    """Return what an interval of tokens saved says."""
    if interval.low is None or interval.high is None:
        return "no interval"
    if interval.low > 0:
        return "fewer"
    return "more" if interval.high < 0 else "no difference shown"


def parity(row: Mapping[str, Any], margin: float, floor: float) -> str:
    """Return whether accuracies are at parity: two one-sided tests, with a competence floor.

    Where the better of two hardly ever succeeds, their parity means nothing: 0 against 0 is not
    testable.
    """
    if row["accuracy_by"] is None:
        return NOT_RUN
    if unread := not_read(row["marked"]):
        return unread
    low, high = row["accuracy_difference_low"], row["accuracy_difference_high"]
    if low is None or max(row["accuracy"], row["reference_accuracy"]) < floor:
        return "not testable"
    return "shown" if -margin < low and high < margin else "not shown"


LABEL = tables.Column("Configuration", ("label",), tables.text(), "left")
DATA = tables.Column("Data", ("data",), tables.text(), "left")
MODEL = tables.Column("Model", ("model",), tables.text(), "left", missing="no model was asked")
# The field that says why accuracies are missing.
ACCURACY = "reason_accuracy"


def token_table(rows: Rows) -> tables.TableSpec:
    """Return the description of the table of tokens."""
    return tables.TableSpec(
        name="table5",
        title="Table 5: Prompt tokens that CTWM saves against graph memory",
        caption=(
            "Pairs of the same steps, games or questions; both memories compact. Means of prompt "
            "tokens as reported, per call (synthetic), step (ALFWorld) or question (LongMemEval); "
            "saved: share of tokens, with 95% t intervals; detectable: the smallest share shown "
            "with power 0.8. Against verbose: the paper's pairing, graph memory being verbose."
        ),
        columns=(
            LABEL,
            DATA,
            MODEL,
            tables.Column("n", ("n",), tables.integer()),
            tables.Column("CTWM", ("tokens",), tables.decimal(1), group="Tokens"),
            tables.Column("Graph", ("reference_tokens",), tables.decimal(1), group="Tokens"),
            tables.Column(
                "Saved [95%]",
                ("tokens_reduction", "tokens_reduction_low", "tokens_reduction_high"),
                tables.percent_interval(2),
            ),
            tables.Column("Paper", ("paper_reduction",), tables.percent(2)),
            tables.Column("Detectable", ("detectable",), tables.percent(2)),
            tables.Column("Reading", ("reading_tokens",), tables.text(), "left"),
            tables.Column(
                "Against verbose [95%]",
                (
                    "tokens_reduction_verbose",
                    "tokens_reduction_verbose_low",
                    "tokens_reduction_verbose_high",
                ),
                tables.percent_interval(2),
                reason="reason_verbose",
            ),
        ),
        rows=tuple(rows),
        notes=(*left_out(rows), *in_all(rows), *marked_pairings(rows), *notes(rows)),
        layout="page",
        blocks="unit",
    )


def accuracy_table(rows: Rows, settings: Mapping[str, Any]) -> tables.TableSpec:
    """Return the description of the table of accuracies."""
    return tables.TableSpec(
        name="table5_accuracy",
        title="Table 5, accuracy: CTWM against graph memory",
        caption=(
            "The same pairs, as far as both were decided. Difference: accuracy of CTWM minus graph "
            "memory, both compact, with the 90% interval of two one-sided tests; parity: within "
            f"±{100 * settings['margin']:g} points, not testable if the better accuracy is below "
            f"{100 * settings['floor']:g}%; detectable: the smallest difference shown with power "
            "0.8."
        ),
        columns=(
            LABEL,
            DATA,
            MODEL,
            tables.Column("Accuracy", ("accuracy_by",), tables.text(), "left", reason=ACCURACY),
            tables.Column("n", ("n_accuracy",), tables.integer()),
            tables.Column("CTWM", ("accuracy",), tables.percent(1), reason=ACCURACY),
            tables.Column("Graph", ("reference_accuracy",), tables.percent(1), reason=ACCURACY),
            tables.Column(
                "Difference [90%]",
                ("accuracy_difference", "accuracy_difference_low", "accuracy_difference_high"),
                tables.percent_interval(1),
                reason=ACCURACY,
            ),
            tables.Column(
                "Detectable",
                ("accuracy_detectable",),
                tables.percent(1),
                missing="not run, or no pair differs",
            ),
            tables.Column("Parity", ("parity",), tables.text(), "left"),
        ),
        rows=tuple(rows),
        notes=notes(rows),
        layout="page",
        blocks="unit",
    )


def notes(rows: Rows) -> tuple[str, ...]:
    """Return what is to be known of all rows."""
    found = [
        "Synthetic rows are one trajectory each: their intervals are over its steps, and say "
        "nothing of other trajectories (Table 3 has the interval over seeds)."
    ]
    if any(row["accuracy_by"] == "1 - tail error, vote" for row in rows):
        found.append(
            "No model was asked on the synthetic graphs: accuracy there is that of the free "
            "predictor vote."
        )
    return (*found, *notes_of(rows))


def left_out(rows: Rows) -> list[str]:
    """Return how many pairs have no prompt tokens of both memories."""
    told = [
        f"{row['label']}, {row['model']}: {row['n_left_out']}" for row in rows if row["n_left_out"]
    ]
    return [f"Left out, for want of prompt tokens of both: {'; '.join(told)}."] if told else []


def in_all(rows: Rows) -> list[str]:
    """Return what is saved where the calls count in which a model summarised the tails."""
    shown = tables.percent_interval(2)
    name = "tokens_reduction_in_all"
    told = [
        f"{row['label']}, {row['model']}: "
        + shown(*(row[f"{name}{end}"] for end in ("", "_low", "_high")))
        for row in rows
        if row[name] is not None
    ]
    if not told:
        return []
    return [f"Saved if the calls that summarise the tails count, too: {'; '.join(told)}."]


def marked_pairings(rows: Rows) -> list[str]:
    """Return which numbers against graph memory verbose are not to be read, and why."""
    return [
        f"{row['label']}, {row['model']}, against verbose: {unread}."
        for row in rows
        if (unread := not_read(row["marked_verbose"]))
    ]


if __name__ == "__main__":
    run(main, globals()["snakemake"])
