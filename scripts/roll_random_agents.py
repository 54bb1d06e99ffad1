"""Let agents without a model run the same errands: what is found by chance."""

from typing import Any

from _entry import Job, run
from coretail import artefacts
from coretail.rollouts.semantic import RandomChooser, hits, rollout
from coretail.rollouts.walk import random_walk
from coretail.worlds.environment import start_state
from coretail.worlds.tables import read_contents, read_topologies


def main(job: Job) -> None:
    """Write the errands that random agents and random walks found, per cell and replicate."""
    steps, patience = job.settings["steps"], job.settings["patience"]
    replicates = range(1, job.settings["n_agents"] + 1)
    topologies = read_topologies(job.input("edges"))
    contents = read_contents(job.input("nodes"))
    report = job.progress("random agents", len(topologies) * len(replicates))
    rows: list[dict[str, Any]] = []
    for topology in topologies:
        world = contents[topology.seed]
        start = start_state(topology)
        for replicate in replicates:
            report(len(rows) // 2)
            agent = rollout(
                topology,
                world,
                RandomChooser(topology.key, replicate),
                steps=steps,
                patience=patience,
                start=start,
            )
            walk = random_walk(topology, steps=steps, start=start, replicate=replicate)
            found = {
                "random_agent": agent.hits,
                "random_walk": hits(topology, world, walk.edges, patience=patience),
            }
            for name, outcome in found.items():
                if outcome is not None:
                    rows.append(
                        {
                            "family": topology.family,
                            "n_nodes": topology.n_nodes,
                            "seed": topology.seed,
                            "agent": name,
                            "replicate": replicate,
                            "found": outcome.found,
                            "given_up": outcome.given_up,
                        }
                    )
    content = artefacts.table_of_rows("random_agents", rows)
    artefacts.write(job.output("agents"), "random_agents", content, job.spec)


if __name__ == "__main__":
    run(main, globals()["snakemake"])
