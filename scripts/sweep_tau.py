"""Sweep τ where it chooses what a randomly walking agent reads: what was accessed, how often."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from _entry import Job, run
from _memory import view_of
from coretail import artefacts
from coretail.audit import audit_counts
from coretail.memory.selection import best_ranked, closed_loop, most_frequent
from coretail.records import concentration_record
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
                used = np.flatnonzero(found.access[place])
                access = found.access[place, used]
                rows.append(key | {"n_steps": walk.edges.size} | measured(access))
                columns = {
                    "edge": used,
                    "reads": found.reads[place, used],
                    "writes": found.writes[used],
                    "access": access,
                }
                counts.append(artefacts.table("tau_counts", key | columns))
                if level == "access":
                    reads = found.rank_reads[place]
                    ranks = concentration_record(reads[reads > 0]) | unfitted()
                    rows.append(key | {"level": "rank", "n_steps": walk.edges.size} | ranks)
    artefacts.write(
        job.output("sweep"), "tau_sweep", artefacts.table_of_rows("tau_sweep", rows), job.spec
    )
    artefacts.write(job.output("counts"), "tau_counts", pa.concat_tables(counts), job.spec)


def measured(access: NDArray[np.int64]) -> dict[str, Any]:
    """Return the concentration of access counts and the automatic cutoff's fit."""
    record = concentration_record(access)
    fit = audit_counts(access, replicates=0)
    reasons = [record["reason"], "" if fit.x_min is not None else fit.reason]
    return record | {
        "x_min": fit.x_min,
        "n_tail": fit.n_tail,
        "alpha": fit.alpha,
        "alpha_se": fit.alpha_se,
        "reason": "; ".join(filter(None, reasons)),
    }


def unfitted() -> dict[str, Any]:
    """Return the columns of a fit that was not made: ten ranks have no tail."""
    return dict.fromkeys(("x_min", "n_tail", "alpha", "alpha_se"))


if __name__ == "__main__":
    run(main, globals()["snakemake"])
