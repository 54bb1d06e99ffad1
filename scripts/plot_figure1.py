"""Plot Figure 1's random-walk panel: how access counts are distributed over memory items."""

import numpy as np
import pyarrow.compute as pc

from _entry import Job, run
from coretail import artefacts
from coretail.render.distributions import figure1_random_walk
from coretail.render.style import save_figure


def main(job: Job) -> None:
    """Draw one eviction rule, one size, all families and seeds."""
    counts = artefacts.read_all(
        job.inputs("counts"), "walk_counts", ["family", "n_nodes", "seed", "eviction", "access"]
    )
    counts = counts.filter(
        (pc.field("eviction") == job.settings["eviction"]) & (pc.field("access") > 0)
    )
    rank_rows, ccdf_rows = [], []
    for cell, here in artefacts.groups(counts, ["family", "n_nodes", "seed"]):
        access = np.sort(here["access"].to_numpy())
        rank_rows += [
            {**cell, "rank": rank, "count": count}
            for rank, count in enumerate(access[::-1].tolist(), start=1)
        ]
        values, first = np.unique(access, return_index=True)
        shares = 1 - first / access.size
        ccdf_rows += [
            {**cell, "x": x, "ccdf": share}
            for x, share in zip(values.tolist(), shares.tolist(), strict=True)
        ]
    save_figure(figure1_random_walk(rank_rows, ccdf_rows), job.output("pdf"), job.output("png"))


if __name__ == "__main__":
    run(main, globals()["snakemake"])
