"""Walk the matched controls of one family's cells: the empirical null."""

from typing import Any

import numpy as np

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
    bands: list[dict[str, Any]] = []
    for topology in topologies:
        start = start_state(topology)
        counts = []
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
            if replicate > 0:
                counts.append(walk.access[walk.access > 0])
        cell = {key: rows[-1][key] for key in ("family", "n_nodes", "seed")}
        bands += [cell | point for point in band(counts)]
    artefacts.write(
        job.output("controls"), "controls", artefacts.table_of_rows("controls", rows), job.spec
    )
    artefacts.write(
        job.output("bands"),
        "control_bands",
        artefacts.table_of_rows("control_bands", bands),
        job.spec,
    )


def band(samples: list[np.ndarray]) -> list[dict[str, Any]]:
    """Return quantiles over samples of the share with count >= x, at every count that occurs."""
    x = np.unique(np.concatenate(samples))
    shares = np.array(
        [1 - np.searchsorted(np.sort(sample), x, side="left") / sample.size for sample in samples]
    )
    low, median, high = np.quantile(shares, (0.025, 0.5, 0.975), axis=0)
    return [
        {"x": int(at), "low": float(lo), "median": float(mid), "high": float(hi)}
        for at, lo, mid, hi in zip(x, low, median, high, strict=True)
    ]


if __name__ == "__main__":
    run(main, globals()["snakemake"])
