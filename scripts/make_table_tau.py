"""Make the table of the τ sweep, the numbers behind Figure 7."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from _entry import Job, run
from _tables import write_texts
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
    order = list(SHOWN)
    rows.sort(key=lambda row: (order.index(row["level"]), row["tau"]))
    content = artefacts.table_of_rows("table_tau", rows)
    artefacts.write(job.output("tau"), "table_tau", content, job.spec)
    write_texts(job, [values_table(rows), trend_table(rows)])


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


def values_table(rows: Rows) -> tables.TableSpec:
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
            "random walk goes where it goes, whatever is read: one trajectory per seed for all τ."
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


def who(row: dict[str, Any]) -> str:
    """Return who walked, in words."""
    name = row["driver"].replace("_", " ")
    return f"{name}, {row['model']}" if row["model"] else name


if __name__ == "__main__":
    run(main, globals()["snakemake"])
