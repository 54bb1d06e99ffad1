"""Make the table of the τ sweep, the numbers behind Figure 7."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from _entry import Job, run
from _gate import MARKED, competent_models, gate_note
from _tables import write_texts
from _tau import who
from coretail import artefacts, stats
from coretail.concentration import concentration, gini
from coretail.memory.selection import shape_of
from coretail.render import tables

Rows = list[dict[str, Any]]
Values = dict[float, dict[int, float | None]]

SHAPE = ("gini", "skew", "max_median")
STATISTICS = {
    "rank": SHAPE,
    "access": (*SHAPE, "alpha", "x_min"),
    "access_global": (*SHAPE, "alpha", "x_min"),
}
SHOWN = {
    "allocation": "shares b(r; τ)",
    "slots": "slots",
    "rank": "reads by rank",
    "access": "access counts",
    "access_global": "access counts, one ranking for all states",
}

EXACT = "computed, not estimated: no interval"
EQUAL = "all are equal"
UNTESTED = {
    "page_n": 0,
    **dict.fromkeys(("page_l", "page_p", "page_p_falling", "page_method")),
}
UNTESTED_WHY = "computed, not estimated, or too few seeds: no test"


def main(job: Job) -> None:
    """Write one row per level, statistic and τ."""
    allocation = artefacts.read_rows(job.input("allocation"), "tau_allocation")
    sweep = artefacts.read_all(job.inputs("sweep"), "tau_sweep").to_pylist()
    rows = [*computed(allocation), *measured(sweep)]
    rollouts = [
        row for path in job.inputs("rollouts") for row in artefacts.read_rows(path, "tau_rollouts")
    ]
    note_runs(rows, sweep, rollouts)
    competent = competent_models(job) if rollouts else {}
    for row in rows:
        row["competent"] = competent.get(row["model"])
    order, drivers = list(SHOWN), list(dict.fromkeys(map(who, rows)))
    rows.sort(
        key=lambda row: (order.index(row["level"]), drivers.index(who(row)), row["tau"]),
    )
    content = artefacts.table_of_rows("table_tau", rows)
    artefacts.write(job.output("tau"), "table_tau", content, job.spec)
    driven = {row["model"]: row for row in rows if row["model"] is not None}
    notes = [*notes_on(rows, rollouts), *map(gate_note, driven.values())]
    write_texts(job, [values_table(rows, notes), trend_table(rows)])


def computed(allocation: Rows) -> Rows:
    """Return the statistics of the vectors that τ alone gives."""
    found: dict[tuple[str, str], dict[float, float | None]] = {}
    for tau in dict.fromkeys(row["tau"] for row in allocation):
        shares = [row["share"] for row in allocation if row["tau"] == tau]
        slots = np.array([row["slots"] for row in allocation if row["tau"] == tau])
        written = concentration(slots[slots > 0])
        given: dict[str, dict[str, float | None]] = {
            "allocation": shape_of(shares) | {"n_items": len(shares)},
            "slots": {name: getattr(written, name) for name in SHAPE}
            | {"n_items": written.n, "gini_all": gini(slots, include_zeros=True)},
        }
        for level, statistics in given.items():
            for statistic, value in statistics.items():
                found.setdefault((level, statistic), {})[tau] = value
    rows = []
    for (level, statistic), values in found.items():
        trend = rises(list(values.values())) | UNTESTED
        for tau, value in values.items():
            rows.append(
                {
                    "driver": "none",
                    "model": None,
                    "level": level,
                    "statistic": statistic,
                    "tau": tau,
                    "value": value,
                    "low": None,
                    "high": None,
                    "n_seeds": 0,
                    "n_distinct": None,
                    **trend,
                    "reason": EXACT if value is not None else EQUAL,
                }
            )
    return rows


def measured(sweep: Rows) -> Rows:
    """Return the statistics of counts, over seeds."""
    rows = []
    for driver, model, level in dict.fromkeys(
        (row["driver"], row["model"], row["level"]) for row in sweep
    ):
        own = [
            row
            for row in sweep
            if (row["driver"], row["model"], row["level"]) == (driver, model, level)
        ]
        for statistic in STATISTICS[level]:
            values: Values = {}
            for row in own:
                values.setdefault(row["tau"], {})[row["seed"]] = row[statistic]
            intervals = {tau: stats.t_interval(seeds.values()) for tau, seeds in values.items()}
            page, untested = tested(values)
            trend = rises([found.estimate for found in intervals.values()]) | page
            for tau, found in intervals.items():
                cutoffs = {value for value in values[tau].values() if value is not None}
                rows.append(
                    {
                        "driver": driver,
                        "model": model,
                        "level": level,
                        "statistic": statistic,
                        "tau": tau,
                        "value": found.estimate,
                        "low": found.low,
                        "high": found.high,
                        "n_seeds": found.n,
                        "n_distinct": len(cutoffs) if statistic == "x_min" else None,
                        **trend,
                        "reason": "; ".join(filter(None, [found.reason, untested])),
                    }
                )
    return rows


def note_runs(rows: Rows, sweep: Rows, rollouts: Rows) -> None:
    """Add to each row how long the runs behind it were, and how much of them was marked.

    Of the runs that a model drove ``marked`` is the largest share of steps with a random action
    for want of a usable reply; of the others it is 0.
    """
    steps = {who(row): row["n_steps"] for row in sweep}
    shares: dict[tuple[str, float], float] = {}
    for rollout in rollouts:
        key = who(rollout), rollout["tau"]
        shares[key] = max(shares.get(key, 0.0), rollout["random"] / rollout["steps"])
    for row in rows:
        driven = who(row) in steps
        row["n_steps"] = steps[who(row)] if driven else None
        row["marked"] = shares.get((who(row), row["tau"]), 0.0) if driven else None


def rises(values: Sequence[float | None]) -> dict[str, Any]:
    """Return at how many steps from one τ to the next a value rises, and whether at all."""
    steps = [low is not None and high is not None and high > low for low, high in pairwise(values)]
    return {"n_rises": sum(steps), "rising": all(steps)}


def tested(values: Values) -> tuple[dict[str, Any], str]:
    """Return Page's test over the seeds with a value at every τ, and why there is none if so."""
    blocks = [[seeds[seed] for seeds in values.values()] for seed in next(iter(values.values()))]
    complete = [
        [value for value in block if value is not None] for block in blocks if None not in block
    ]
    found = stats.page_trend(complete)
    falling = stats.page_trend([block[::-1] for block in complete])
    columns = {
        "page_n": found.n,
        "page_l": found.L,
        "page_p": found.p,
        "page_p_falling": falling.p,
        "page_method": found.method or None,
    }
    return columns, found.reason


def notes_on(rows: Rows, rollouts: Rows) -> list[str]:
    """Return what must be known of each driver: its runs and, of a model, its replies."""
    notes = []
    driven = [row for row in rows if row["n_steps"] is not None]
    for driver in dict.fromkeys(map(who, driven)):
        own = [row for row in driven if who(row) == driver]
        n_seeds = max(row["n_seeds"] for row in own)
        note = f"{driver}: {n_seeds} seeds, {own[0]['n_steps']:,} steps each."
        asked = [rollout for rollout in rollouts if who(rollout) == driver]
        if asked:
            total = {
                name: sum(rollout[name] for rollout in asked)
                for name in ("steps", "calls", "random", "found", "given_up", "prompt_tokens")
            }
            note += (
                f" Over all τ {total['steps']:,} steps, {total['calls']:,} calls, "
                f"{total['prompt_tokens'] / max(total['calls'], 1):,.0f} prompt tokens a call; "
                f"{total['random']:,} steps had a random action for want of a usable reply; "
                f"{total['found']:,} of {total['found'] + total['given_up']:,} things were found."
            )
            if max(row["marked"] for row in own) > MARKED:
                note += " More than 10% of the steps of a run were random: no claim."
        notes.append(note)
    if len({row["n_steps"] for row in driven}) > 1:
        notes.append(
            "Concentration depends on the number of steps: between drivers compare trends alone."
        )
    return notes


def values_table(rows: Rows, notes: Sequence[str]) -> tables.TableSpec:
    """Return the description of the statistics per level and τ."""
    wide: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        key = row["driver"], row["model"], row["level"], row["tau"]
        line = wide.setdefault(
            key, {"driver": who(row), "level": SHOWN[row["level"]], "tau": row["tau"]}
        )
        for part in ("value", "low", "high", "reason"):
            line[f"{row['statistic']}_{part}"] = row[part]
    return tables.TableSpec(
        name="table_tau",
        title="Table: Concentration against τ",
        caption=(
            "What τ asks for (shares of M ranks, and whole slots of the budget B, over ranks with "
            "a slot) and what comes of it where it chooses the reads of each step, without "
            "replacement, among the best-ranked: reads by rank, and access counts (reads + "
            "writes) of items, ranked for the state that the agent is in or, for comparison, by "
            "one ranking for all states (support alone). Mean over seeds with 95% t interval. A "
            "random walk goes where it goes, whatever is read: one trajectory per seed for all τ. "
            "A model that seeks is shown what is drawn: one trajectory per seed and τ."
        ),
        columns=(
            tables.Column("Counted", ("level",), tables.text(), "left"),
            tables.Column("Driver", ("driver",), tables.text(), "left"),
            tables.Column("τ", ("tau",), tables.decimal(2)),
            *(
                tables.Column(
                    f"{name} [95%]",
                    tuple(f"{statistic}_{part}" for part in ("value", "low", "high")),
                    tables.interval(places),
                    reason=f"{statistic}_reason",
                )
                for statistic, name, places in (
                    ("gini", "Gini", 3),
                    ("skew", "Skew", 2),
                    ("max_median", "Max/median", 1),
                )
            ),
        ),
        rows=tuple(wide.values()),
        notes=tuple(notes),
        layout="long",
        blocks="level",
    )


def trend_table(rows: Rows) -> tables.TableSpec:
    """Return the description of the trends in τ."""
    trends = {
        (row["driver"], row["model"], row["level"], row["statistic"]): row
        | {"driver": who(row), "level": SHOWN[row["level"]]}
        for row in rows
        if row["statistic"] != "n_items"
    }
    taus = sorted({row["tau"] for row in rows})
    return tables.TableSpec(
        name="table_tau_trends",
        title="Table: Trends in τ",
        caption=(
            f"Rises: steps, of {len(taus) - 1}, from one τ to the next at which the mean rises. "
            "Page's L over the seeds with a value at every τ, one-sided for a rise (the planned "
            "test) and, beside it, for a fall; no correction across statistics."
        ),
        columns=(
            tables.Column("Counted", ("level",), tables.text(), "left"),
            tables.Column("Driver", ("driver",), tables.text(), "left"),
            tables.Column("Statistic", ("statistic",), lambda name: name.replace("_", " "), "left"),
            tables.Column("Rises", ("n_rises",), tables.integer()),
            tables.Column("Page's L", ("page_l",), tables.decimal(1), missing=UNTESTED_WHY),
            tables.Column("p, rise", ("page_p",), tables.p_value(), missing=UNTESTED_WHY),
            tables.Column("p, fall", ("page_p_falling",), tables.p_value(), missing=UNTESTED_WHY),
            tables.Column("Seeds", ("page_n",), tables.integer()),
        ),
        rows=tuple(trends.values()),
        layout="long",
        blocks="level",
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
