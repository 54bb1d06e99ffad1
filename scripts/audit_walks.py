"""Audit the counts of every random-walk cell of one family and size."""

from _entry import Job, run
from coretail import artefacts
from coretail.audit import Thresholds, audit_counts
from coretail.audit.powerlaw_package import powerlaw_report
from coretail.audit.record import audit_record

COLUMNS = {"access": "access", "read": "reads", "write": "writes"}


def main(job: Job) -> None:
    """Write one row per cell, kind of count and Kolmogorov-Smirnov rule."""
    settings = job.settings
    thresholds = Thresholds(**settings["thresholds"])
    counts = artefacts.read(job.input("counts"), "walk_counts")
    rows = []
    for cell, here in artefacts.groups(counts, ["family", "n_nodes", "seed", "eviction"]):
        for kind in settings["kinds"]:
            values = here[COLUMNS[kind]].to_numpy()
            values = values[values > 0]
            asked = settings["powerlaw_package"] and kind == "access" and values.size > 0
            package = powerlaw_report(values) if asked else None
            for rule in settings["ks"]:
                result = audit_counts(
                    values,
                    replicates=settings["replicates"],
                    seed=cell["seed"],
                    key=(cell["family"], cell["n_nodes"], cell["eviction"], kind, rule),
                    ks=rule,
                    thresholds=thresholds,
                )
                rows.append({**cell, "kind": kind, **audit_record(result, package)})
    artefacts.write(
        job.output("audits"), "audits", artefacts.table_of_rows("audits", rows), job.spec
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
