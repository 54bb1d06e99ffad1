"""Make Appendix D's table: how the automatic cutoff and the exponent vary under the τ sweep."""

from itertools import pairwise
from typing import Any

from _entry import Job, run
from _tables import write_texts
from _tau import who
from coretail import artefacts, stats
from coretail.render import tables
from coretail.schemas import SCHEMAS

Rows = list[dict[str, Any]]


def main(job: Job) -> None:
    """Write the fits of every τ and seed, and their summary over seeds."""
    sweep = artefacts.read_all(job.inputs("sweep"), "tau_sweep").to_pylist()
    fits = [
        {
            name: row["n_items" if name == "n" else name]
            for name in SCHEMAS["table_cutoffs"].arrow.names
        }
        for row in sweep
        if row["level"] != "rank"
    ]
    keys = dict.fromkeys((row["driver"], row["model"], row["level"]) for row in fits)
    summary = [
        row
        for key in keys
        for row in summarised(
            [row for row in fits if (row["driver"], row["model"], row["level"]) == key]
        )
    ]
    for name, rows in (("cutoffs", fits), ("taus", summary)):
        schema = {"cutoffs": "table_cutoffs", "taus": "table_cutoffs_taus"}[name]
        artefacts.write(job.output(name), schema, artefacts.table_of_rows(schema, rows), job.spec)
    shown = [
        row for row in fits if row["level"] == "access" and row["seed"] in job.settings["seeds"]
    ]
    shown.sort(key=lambda row: (who(row), row["tau"], row["seed"]))
    own = [row for row in summary if row["level"] == "access"]
    write_texts(job, [summary_table(own), fits_table(shown)])


def summarised(fits: Rows) -> Rows:
    """Return one row per τ of one driver and level."""
    alphas: dict[float, dict[int, float | None]] = {}
    for row in fits:
        alphas.setdefault(row["tau"], {})[row["seed"]] = row["alpha"]
    taus = sorted(alphas)
    found = {tau: stats.t_interval(alphas[tau].values()) for tau in taus}
    monotone = is_monotone([found[tau].estimate for tau in taus])
    n_monotone = sum(
        is_monotone([alphas[tau].get(seed) for tau in taus]) for seed in alphas[taus[0]]
    )
    rows = []
    for place, tau in enumerate(taus):
        cutoffs = [row["x_min"] for row in fits if row["tau"] == tau and row["x_min"] is not None]
        pairs = (
            [
                (before, after)
                for seed, after in alphas[tau].items()
                if after is not None and (before := alphas[taus[place - 1]].get(seed)) is not None
            ]
            if place
            else None
        )
        rows.append(
            {
                **{name: fits[0][name] for name in ("driver", "model", "level")},
                "tau": tau,
                "n_seeds": len(cutoffs),
                "n_distinct": len(set(cutoffs)),
                "x_min_low": min(cutoffs, default=None),
                "x_min_high": max(cutoffs, default=None),
                "alpha": found[tau].estimate,
                "alpha_low": found[tau].low,
                "alpha_high": found[tau].high,
                "n_pairs": None if pairs is None else len(pairs),
                "n_rises": None if pairs is None else sum(b > a for a, b in pairs),
                "monotone": monotone,
                "n_monotone": n_monotone,
                "reason": found[tau].reason,
            }
        )
    return rows


def is_monotone(values: list[float | None]) -> bool:
    """Return whether values are all defined and strictly rise, or strictly fall."""
    known = [value for value in values if value is not None]
    rising = [low < high for low, high in pairwise(known)]
    falling = [low > high for low, high in pairwise(known)]
    return len(known) == len(values) and (all(rising) or all(falling))


def summary_table(rows: Rows) -> tables.TableSpec:
    """Return the description of the summary over seeds."""
    notes = []
    for driver, row in {who(row): row for row in rows}.items():
        n_seeds = max(own["n_seeds"] for own in rows if who(own) == driver)
        notes.append(
            f"{driver}: the mean α is "
            f"{'' if row['monotone'] else 'not '}strictly monotone in τ; that of a single seed is "
            f"in {row['n_monotone']} of {n_seeds}."
        )
    return tables.TableSpec(
        name="table_cutoffs_taus",
        title="Table: The automatic cutoff under the τ sweep (Appendix D)",
        caption=(
            "Access counts of items; the cutoff x_min has the smallest Kolmogorov-Smirnov "
            "distance, α is the exponent of the discrete power law from it up, mean over seeds "
            "with 95% t interval. Rises: seeds whose α is larger than at the τ before."
        ),
        columns=(
            tables.Column("Driver", ("who",), tables.text(), "left"),
            tables.Column("τ", ("tau",), tables.decimal(2)),
            tables.Column("Seeds", ("n_seeds",), tables.integer()),
            tables.Column("Distinct x_min", ("n_distinct",), tables.integer()),
            tables.Column("from", ("x_min_low",), tables.integer()),
            tables.Column("to", ("x_min_high",), tables.integer()),
            tables.Column(
                "Mean α [95%]",
                ("alpha", "alpha_low", "alpha_high"),
                tables.interval(2),
            ),
            tables.Column("Rises", ("n_rises",), tables.integer(), missing="the smallest τ"),
            tables.Column("of", ("n_pairs",), tables.integer(), missing="the smallest τ"),
        ),
        rows=tuple(row | {"who": who(row)} for row in rows),
        notes=tuple(notes),
    )


def fits_table(rows: Rows) -> tables.TableSpec:
    """Return the description of the fits of single seeds."""
    return tables.TableSpec(
        name="table_cutoffs",
        title="Table: Cutoff and exponent per τ and seed (Appendix D)",
        caption=(
            "The seeds behind the paper's columns; all seeds are in the Parquet file. The standard "
            "error is that at the cutoff found, and knows nothing of the cutoff's own variation."
        ),
        columns=(
            tables.Column("Driver", ("who",), tables.text(), "left"),
            tables.Column("τ", ("tau",), tables.decimal(2)),
            tables.Column("Seed", ("seed",), str),
            tables.Column("Items", ("n",), tables.integer()),
            tables.Column("x_min", ("x_min",), tables.integer()),
            tables.Column("n_tail", ("n_tail",), tables.integer()),
            tables.Column(
                "α ± se",
                ("alpha", "alpha_se"),
                tables.plus_minus(2),
            ),
        ),
        rows=tuple(row | {"who": who(row)} for row in rows),
        layout="long",
        blocks="tau",
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
