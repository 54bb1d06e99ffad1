"""Freeze a model's own rollouts, as trajectories on which memory policies are compared."""

import numpy as np
import pyarrow as pa

from _entry import Job, run
from _memory import trajectory_rows, view_of
from coretail import artefacts


def main(job: Job) -> None:
    """Write one row per step of every seed."""
    steps = artefacts.read(job.input("steps"), "semantic_steps")
    parts = []
    for cell, part in artefacts.groups(steps, ["model", "family", "n_nodes", "seed"]):
        view = view_of(cell["family"], cell["n_nodes"], cell["seed"], job.settings["vocabulary"])
        edges = part["edge"].to_numpy().astype(np.int64)
        parts.append(trajectory_rows(cell["model"], view, edges))
    artefacts.write(
        job.output("trajectories"), "memory_trajectories", pa.concat_tables(parts), job.spec
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
