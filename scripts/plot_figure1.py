"""Plot Figure 1's random-walk panel: how access counts are distributed over memory items."""

from typing import Any

import numpy as np
import pyarrow.compute as pc

from _entry import Job, run
from coretail import artefacts
from coretail.audit.laws import survival
from coretail.audit.record import fitted_shapes
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
    figure = figure1_random_walk(rank_rows, ccdf_rows, fitted_curves(job))
    save_figure(figure, job.output("pdf"), job.output("png"))


def fitted_curves(job: Job) -> list[dict[str, Any]]:
    """Return the laws fitted to the first seed's access counts, as shares of all items."""
    audits = artefacts.read_all(job.inputs("audits"), "audits").to_pylist()
    first = min(row["seed"] for row in audits)
    wanted = ("access", job.settings["ks"], job.settings["eviction"], first)
    points = []
    for row in audits:
        if (row["kind"], row["ks_rule"], row["eviction"], row["seed"]) != wanted:
            continue
        for law, shape in fitted_shapes(row).items():
            x = np.unique(np.geomspace(row["x_min"], 5000 * row["x_min"], 200).round())
            tail = survival(shape, x) * row["n_tail"] / row["n"]
            points += [
                {"family": row["family"], "law": law, "x": float(at), "ccdf": float(share)}
                for at, share in zip(x, tail, strict=True)
                if share * row["n"] >= 0.5
            ]
    return points


if __name__ == "__main__":
    run(main, globals()["snakemake"])
