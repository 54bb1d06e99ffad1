"""Sweep τ where it chooses what a randomly walking agent reads: what was accessed, how often."""

from typing import Any

import pyarrow as pa

from _entry import Job, run
from _memory import view_of
from _tau import of_items, of_ranks
from coretail import artefacts
from coretail.memory.selection import best_ranked, closed_loop, most_frequent
from coretail.rollouts.walk import random_walk

LEVELS = {"access": best_ranked, "access_global": most_frequent}


def main(job: Job) -> None:
    """Write the counts of every τ and seed, and their concentration."""
    settings = job.settings
    first = settings["first_seed"]
    seeds = range(first, first + settings["n_seeds"])
    report = job.progress("seeds", len(seeds))
    rows: list[dict[str, Any]] = []
    counts: list[pa.Table] = []
    for position, seed in enumerate(seeds):
        report(position)
        view = view_of(settings["family"], settings["n_nodes"], seed, settings["vocabulary"])
        # One trajectory for all τ: what is read moves no random walk.
        walk = random_walk(view.topology, steps=settings["steps"], retriever="none")
        cell = {
            "driver": "random_walk",
            "model": None,
            "family": settings["family"],
            "n_nodes": settings["n_nodes"],
            "seed": seed,
        }
        for level, ranked in LEVELS.items():
            found = closed_loop(
                view,
                walk.edges.tolist(),
                settings["values"],
                pool=settings["pool"],
                k=settings["k"],
                capacity=settings["capacity"],
                ranked=ranked,
            )
            for place, tau in enumerate(found.taus):
                key = cell | {"tau": tau, "level": level}
                row, items = of_items(key, walk.edges.size, found.reads[place], found.writes)
                rows.append(row)
                counts.append(items)
                if level == "access":
                    rows.append(of_ranks(key, walk.edges.size, found.rank_reads[place]))
    artefacts.write(
        job.output("sweep"), "tau_sweep", artefacts.table_of_rows("tau_sweep", rows), job.spec
    )
    artefacts.write(job.output("counts"), "tau_counts", pa.concat_tables(counts), job.spec)


if __name__ == "__main__":
    run(main, globals()["snakemake"])
