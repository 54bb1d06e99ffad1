"""Walk the frozen trajectories on which memory policies are compared: those of random agents."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from _entry import Job, run
from _memory import trajectory_rows, view_of
from coretail import artefacts
from coretail.memory.view import WorldView
from coretail.rollouts.semantic import RandomChooser, rollout


def main(job: Job) -> None:
    """Write one row per step of every seed."""
    settings = job.settings
    first = settings["first_seed"]
    seeds = range(first, first + settings["n_seeds"])
    report = job.progress("trajectories", len(seeds))
    parts = []
    for position, seed in enumerate(seeds):
        report(position)
        view = view_of(settings["family"], settings["n_nodes"], seed, settings["vocabulary"])
        parts.append(trajectory_rows("agents", view, walked(view, settings["steps"])))
    artefacts.write(
        job.output("trajectories"), "memory_trajectories", pa.concat_tables(parts), job.spec
    )


def walked(view: WorldView, steps: int) -> NDArray[np.int32]:
    """Return the transitions that a random agent walks."""
    agent = RandomChooser(view.topology.key)
    return rollout(view.topology, view.contents, agent, steps=steps, goal="explore").walk.edges


if __name__ == "__main__":
    run(main, globals()["snakemake"])
