"""Walk the matched controls of one family's cells: the empirical null."""

from typing import Any

from _entry import Job, run
from coretail import artefacts
from coretail.rollouts.walk import random_walk
from coretail.traces import trace_statistics
from coretail.worlds.environment import start_state
from coretail.worlds.tables import read_topologies


def main(job: Job) -> None:
    """Write the statistics of every control, and of one further walk to be judged by them."""
    settings = dict(job.settings)
    n_controls, rule = settings.pop("n_controls"), settings.pop("ks")
    topologies = read_topologies(job.input("edges"))
    report = job.progress("control walks", len(topologies) * (n_controls + 1))
    rows: list[dict[str, Any]] = []
    for topology in topologies:
        start = start_state(topology)
        for replicate in range(n_controls + 1):
            report(len(rows))
            walk = random_walk(topology, start=start, replicate=replicate, **settings)
            rows.append(
                {
                    "family": topology.family,
                    "n_nodes": topology.n_nodes,
                    "seed": topology.seed,
                    "replicate": replicate,
                    "n_steps": settings["steps"],
                    "start": start,
                    **trace_statistics(walk.access, walk.top_accessed, walk.events, ks=rule),
                }
            )
    artefacts.write(
        job.output("controls"), "controls", artefacts.table_of_rows("controls", rows), job.spec
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
