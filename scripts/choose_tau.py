"""Choose τ from the audit of each frozen trajectory's first half."""

import numpy as np

from _entry import Job, run
from coretail import artefacts
from coretail.audit import Thresholds, audit_counts
from coretail.controller import auto_tau


def main(job: Job) -> None:
    """Write one row per trajectory: the audit and the τ that it supports."""
    settings = job.settings
    thresholds = Thresholds(**settings["thresholds"])
    trajectories = artefacts.read(job.input("trajectories"), "memory_trajectories")
    rows = []
    for cell, walk in artefacts.groups(trajectories, ["driver", "family", "n_nodes", "seed"]):
        half = walk["edge"].to_numpy()[: walk.num_rows // 2]
        writes = np.unique(half, return_counts=True)[1]
        result = audit_counts(
            writes,
            replicates=settings["replicates"],
            seed=cell["seed"],
            key=(cell["driver"], cell["family"], cell["n_nodes"], "first half"),
            ks=settings["ks"],
            thresholds=thresholds,
        )
        chosen = auto_tau(result)
        names = ("n", "n_tail", "x_min", "alpha", "p_gof", "replicates", "verdict")
        rows.append(
            {
                **cell,
                "n_steps": half.size,
                **{name: getattr(result, name) for name in names},
                "tau": chosen.value,
                "weight": chosen.weight,
                "why": chosen.reason,
            }
        )
    artefacts.write(
        job.output("auto"), "tau_auto", artefacts.table_of_rows("tau_auto", rows), job.spec
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
