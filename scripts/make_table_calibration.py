"""Make the calibration tables: how far a p and a verdict of the audit can be trusted."""

from dataclasses import asdict
from typing import Any

from _entry import Job, run
from _tables import write_texts
from coretail import artefacts, stats
from coretail.audit.calibration import CalibrationSample, confusion, null_p
from coretail.audit.verdict import VERDICTS
from coretail.render import tables

Rows = list[dict[str, Any]]


def main(job: Job) -> None:
    """Write the level of p under its own null, the confusion matrix, and both tables."""
    p_star = job.settings["p_gof"]
    samples = [
        CalibrationSample(**row)
        for row in artefacts.read_all(job.inputs("calibration"), "calibration").to_pylist()
    ]
    levels = []
    for level in null_p(samples, p_star):
        share = stats.wilson_interval(round(level.below * level.samples), level.samples)
        levels.append(asdict(level) | {"below_low": share.low, "below_high": share.high})
    counts = []
    for cell in confusion(samples):
        share = stats.wilson_interval(cell.count, cell.samples)
        counts.append(
            asdict(cell)
            | {"share": share.estimate, "share_low": share.low, "share_high": share.high}
        )
    for name, rows in [("levels", levels), ("confusion", counts)]:
        content = artefacts.table_of_rows(f"table_calibration_{name}", rows)
        artefacts.write(job.output(name), f"table_calibration_{name}", content, job.spec)
    write_texts(job, [level_table(levels, p_star), confusion_table(counts)])


def level_table(rows: Rows, p_star: float) -> tables.TableSpec:
    """Return the description of the levels."""
    return tables.TableSpec(
        name="table_calibration_levels",
        title="Table: The bootstrap p under its own null",
        caption=(
            f"Share of samples from a law whose own p is below {p_star:g}, with Wilson's 95% "
            "interval. At a known x_min p must be uniform (Kolmogorov-Smirnov distance from "
            "uniform and its p); with x_min refitted the share must not exceed the level."
        ),
        columns=(
            tables.Column("True law", ("law",), lambda v: v.replace("_", " "), "left"),
            tables.Column("n_tail", ("n_tail",), tables.integer()),
            tables.Column("x_min", ("cutoff",), tables.text(), "left"),
            tables.Column("Samples", ("samples",), tables.integer()),
            tables.Column(
                f"p < {p_star:g} [95%]",
                ("below", "below_low", "below_high"),
                tables.percent_interval(1),
            ),
            tables.Column("Distance", ("distance",), tables.decimal(3)),
            tables.Column("p of distance", ("distance_p",), tables.p_value(3)),
        ),
        rows=tuple(rows),
        blocks="cutoff",
    )


def confusion_table(counts: Rows) -> tables.TableSpec:
    """Return the description of the confusion matrix: one row per law and size of the tail."""
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    for cell in counts:
        key = cell["law"], cell["n_tail"]
        row = rows.setdefault(key, {name: cell[name] for name in ("law", "n_tail", "samples")})
        row[cell["verdict"]] = cell["count"]
    return tables.TableSpec(
        name="table_calibration_confusion",
        title="Table: True law against verdict",
        caption="Samples of each law and size of the tail by the audit's verdict.",
        columns=(
            tables.Column("True law", ("law",), lambda v: v.replace("_", " "), "left"),
            tables.Column("n_tail", ("n_tail",), tables.integer()),
            tables.Column("Samples", ("samples",), tables.integer()),
            *(
                tables.Column(v.replace("_", " "), (v,), tables.integer(), group="Verdict")
                for v in VERDICTS
            ),
        ),
        rows=tuple(rows.values()),
        layout="page",
        blocks="law",
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
