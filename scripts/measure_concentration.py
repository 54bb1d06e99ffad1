"""Measure the concentration of access, read and write counts of every random-walk cell."""

from _entry import Job, run
from coretail import artefacts
from coretail.concentration import gini
from coretail.records import concentration_record


def main(job: Job) -> None:
    """Write one row per cell and kind of count."""
    rows = []
    for path in job.inputs("counts"):
        counts = artefacts.read(path, "walk_counts")
        for cell, here in artefacts.groups(counts, ["family", "n_nodes", "seed", "eviction"]):
            for kind, column in [("access", "access"), ("read", "reads"), ("write", "writes")]:
                values = here[column].to_numpy()
                rows.append(
                    {
                        **cell,
                        "kind": kind,
                        "gini_all_edges": gini(values, include_zeros=True),
                        **concentration_record(values[values > 0]),
                    }
                )
    artefacts.write(
        job.output("concentration"),
        "concentration",
        artefacts.table_of_rows("concentration", rows),
        job.spec,
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
