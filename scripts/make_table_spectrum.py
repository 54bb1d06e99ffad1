"""Make the table of spectral exponents: their range over the random-walk traces."""

import statistics
from typing import Any

from _entry import Job, run
from _tables import write_texts
from coretail import artefacts
from coretail.render import tables

EVERY = "all families"


def main(job: Job) -> None:
    """Write the ranges per eviction rule, series and family."""
    spectra = artefacts.read_rows(job.input("spectra"), "spectra")
    paper = job.settings["paper"]
    groups = dict.fromkeys((row["eviction"], row["series"]) for row in spectra)
    families = [EVERY, *dict.fromkeys(row["family"] for row in spectra)]
    rows = [
        summary(
            eviction,
            series,
            family,
            [
                row
                for row in spectra
                if (row["eviction"], row["series"]) == (eviction, series)
                and family in (EVERY, row["family"])
            ],
            paper if family == EVERY else {},
        )
        for eviction, series in groups
        for family in families
    ]
    content = artefacts.table_of_rows("table_spectrum", rows)
    artefacts.write(job.output("spectrum"), "table_spectrum", content, job.spec)
    write_texts(job, [table(rows)])


def summary(
    eviction: str, series: str, family: str, rows: list[dict[str, Any]], paper: dict[str, float]
) -> dict[str, Any]:
    """Return the range of the exponents of one group of traces."""
    exponents = [row["exponent"] for row in rows if row["exponent"] is not None]
    reasons = sorted({row["reason"] for row in rows if row["exponent"] is None})
    return {
        "eviction": eviction,
        "series": series,
        "family": family,
        "n_traces": len(exponents),
        "n_undefined": len(rows) - len(exponents),
        "exponent_median": statistics.median(exponents) if exponents else None,
        "exponent_low": min(exponents, default=None),
        "exponent_high": max(exponents, default=None),
        "paper_low": paper.get("low"),
        "paper_high": paper.get("high"),
        "reason": "; ".join(reasons),
    }


def table(rows: list[dict[str, Any]]) -> tables.TableSpec:
    """Return the description of the table."""
    return tables.TableSpec(
        name="table_spectrum",
        title="Table: Spectral exponents under random-walk driving",
        caption=(
            "S(f) ~ 1/f^exponent, fitted to the Welch spectrum of two series per trace: whether "
            "the run's most accessed item was accessed at a step (0/1), and access events per "
            "step. Median and range over the traces (all sizes and seeds)."
        ),
        columns=(
            tables.Column("Eviction", ("eviction",), tables.text(), "left"),
            tables.Column("Series", ("series",), tables.text(), "left"),
            tables.Column("Graph family", ("family",), tables.text(), "left"),
            tables.Column("Traces", ("n_traces",), tables.integer()),
            tables.Column("Undefined", ("n_undefined",), tables.integer()),
            tables.Column(
                "Exponent: median [range]",
                ("exponent_median", "exponent_low", "exponent_high"),
                tables.interval(3),
            ),
            tables.Column(
                "Paper's range",
                ("paper_low", "paper_high"),
                lambda low, high: f"[{low:.3f}, {high:.3f}]",
                missing="the paper gives one range over its traces, of an unnamed series",
            ),
        ),
        rows=tuple(rows),
        notes=("White noise has exponent 0; a 1/f process has exponent 1.",),
        layout="page",
        blocks="series",
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
