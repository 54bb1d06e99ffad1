"""Measure the Welch spectrum of the two access series of every random-walk cell."""

import pyarrow.compute as pc

from _entry import Job, run
from coretail import artefacts
from coretail.records import spectrum_record
from coretail.spectrum import welch_slope


def main(job: Job) -> None:
    """Write one row per cell and series."""
    rows = []
    for path in job.inputs("steps"):
        steps = artefacts.read(
            path,
            "walk_steps",
            ["family", "n_nodes", "seed", "eviction", "events", "top_accessed"],
        )
        cells = steps.select(["family", "n_nodes", "seed", "eviction"])
        for cell in cells.group_by(cells.column_names, use_threads=False).aggregate([]).to_pylist():
            here = steps.filter(
                pc.and_(
                    pc.equal(steps["seed"], cell["seed"]),
                    pc.equal(steps["eviction"], cell["eviction"]),
                )
            )
            for series in ["top_accessed", "events"]:
                values = here[series].to_numpy().astype(float)
                spectrum = welch_slope(values, nperseg=job.settings["segment"])
                rows.append({**cell, "series": series, **spectrum_record(spectrum)})
    artefacts.write(
        job.output("spectra"), "spectra", artefacts.table_of_rows("spectra", rows), job.spec
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
