"""Measure the Welch spectrum of the two access series of every random-walk cell."""

from _entry import Job, run
from coretail import artefacts
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
        for cell, here in artefacts.groups(steps, ["family", "n_nodes", "seed", "eviction"]):
            for series in ["top_accessed", "events"]:
                values = here[series].to_numpy().astype(float)
                spectrum = welch_slope(values, nperseg=job.settings["segment"])
                rows.append(
                    {
                        **cell,
                        "series": series,
                        "exponent": spectrum.exponent,
                        "exponent_se": spectrum.exponent_se,
                        "n_steps": spectrum.n,
                        "n_frequencies": spectrum.n_frequencies,
                        "reason": spectrum.reason or "",
                    }
                )
    artefacts.write(
        job.output("spectra"), "spectra", artefacts.table_of_rows("spectra", rows), job.spec
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
