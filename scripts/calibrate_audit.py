"""Audit samples of one known law, at several sizes of the tail."""

from _entry import Job, run
from coretail import artefacts
from coretail.audit import Thresholds
from coretail.audit.calibration import calibrate_cell


def main(job: Job) -> None:
    """Write one row per sample."""
    settings = job.settings
    rows = []
    report = job.progress("tail sizes", len(settings["n_tails"]))
    for done, n_tail in enumerate(settings["n_tails"]):
        report(done)
        samples = calibrate_cell(
            job.wildcards["law"],  # type: ignore[arg-type]
            n_tail,
            samples=settings["samples"],
            replicates=settings["replicates"],
            ks=settings["ks"],
            thresholds=Thresholds(**settings["thresholds"]),
        )
        rows += [sample.to_dict() for sample in samples]
    artefacts.write(
        job.output("calibration"),
        "calibration",
        artefacts.table_of_rows("calibration", rows),
        job.spec,
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
