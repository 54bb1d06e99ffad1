"""Walk the worlds of one family and size at random, under every eviction rule."""

import functools
from collections.abc import Callable
from dataclasses import asdict

import numpy as np
import pyarrow as pa

from _entry import Job, run
from coretail import artefacts
from coretail.rollouts.walk import random_walk
from coretail.worlds.tables import read_topologies


def main(job: Job) -> None:
    """Write counts, visits, per-step series and bookkeeping of all seeds and eviction rules."""
    settings = dict(job.settings)
    evictions = settings.pop("evictions")
    topologies = read_topologies(job.input("edges"))
    total = settings["steps"] * len(topologies) * len(evictions)
    report = job.progress("steps walked", total)
    parts: dict[str, list[pa.Table]] = {"counts": [], "visits": [], "steps": [], "summary": []}
    done = 0
    for topology in topologies:
        world = {
            "family": topology.family,
            "n_nodes": topology.n_nodes,
            "seed": topology.seed,
        }
        for eviction in evictions:
            walk = random_walk(
                topology,
                eviction=eviction,
                progress=functools.partial(advance, report, done),
                **settings,
            )
            done += settings["steps"]
            cell = {**world, "eviction": eviction}
            columns = {
                "counts": {
                    **cell,
                    "edge": np.arange(topology.n_edges),
                    "reads": walk.reads,
                    "writes": walk.writes,
                    "access": walk.access,
                },
                "steps": {
                    **cell,
                    "step": np.arange(settings["steps"]),
                    "edge": walk.edges,
                    "reads": walk.n_reads,
                    "events": walk.events,
                    "top_accessed": walk.top_accessed,
                },
                "summary": {
                    **cell,
                    **{key: settings[key] for key in ("retriever", "steps", "capacity", "k")},
                    "start": walk.start,
                    "mean_degree": [topology.mean_degree],
                    **asdict(walk.counters),
                },
            }
            for name, values in columns.items():
                parts[name].append(artefacts.table(f"walk_{name}", values))
        parts["visits"].append(
            artefacts.table(
                "walk_visits",
                {**world, "node": np.arange(topology.n_nodes), "visits": walk.visits},
            )
        )
    for name, tables in parts.items():
        artefacts.write(job.output(name), f"walk_{name}", pa.concat_tables(tables), job.spec)


def advance(report: Callable[[int], None], before: int, steps: int) -> None:
    """Report the steps of this walk on top of those before it."""
    report(before + steps)


if __name__ == "__main__":
    run(main, globals()["snakemake"])
