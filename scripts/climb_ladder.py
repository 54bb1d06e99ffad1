"""Climb the retriever ladder on one family and size: all rungs on the same trajectories."""

from _entry import Job, run
from coretail import artefacts
from coretail.records import concentration_record
from coretail.rollouts.walk import random_walk
from coretail.worlds.topology import build_topology


def main(job: Job) -> None:
    """Write the concentration of access counts per rung and seed."""
    family, n_nodes = job.wildcards["family"], int(job.wildcards["n_nodes"])
    settings = dict(job.settings)
    first, rungs = settings.pop("first_seed"), settings.pop("rungs")
    seeds = range(first, first + settings.pop("n_seeds"))
    report = job.progress("walks", len(seeds) * len(rungs))
    rows = []
    for seed in seeds:
        topology = build_topology(family, n_nodes, seed)
        for rung in rungs:
            walk = random_walk(topology, retriever=rung, **settings)
            used = walk.access[walk.access > 0]
            rows.append(
                {
                    "family": family,
                    "n_nodes": n_nodes,
                    "seed": seed,
                    "rung": rung,
                    **concentration_record(used),
                }
            )
            report(len(rows))
    artefacts.write(
        job.output("ladder"), "ladder", artefacts.table_of_rows("ladder", rows), job.spec
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
