"""Plot the semantic half of Figure 1: a language model beside a random walk, scale-free worlds."""

from typing import Any

from _entry import Job, run
from coretail import artefacts
from coretail.distributions import ccdf_rows, rank_rows
from coretail.render.style import save_figure
from coretail.render.topology import figure1_semantic
from coretail.rollouts.walk import random_walk
from coretail.worlds.environment import start_state
from coretail.worlds.tables import read_topologies

Rows = list[dict[str, Any]]


def main(job: Job) -> None:
    """Draw rank-frequency and distribution of access counts, one line per seed."""
    settings = dict(job.settings)
    model = settings.pop("model")
    counts = artefacts.read(job.input("counts"), "semantic_counts")
    ranks: Rows = []
    shares: Rows = []
    for cell, items in artefacts.groups(counts, ["seed"]):
        access = items["access"].to_numpy()
        ranks += [cell | row for row in rank_rows(access[access > 0])]
        shares += [cell | row for row in ccdf_rows(access[access > 0])]
    walk_ranks: Rows = []
    walk_shares: Rows = []
    topologies = read_topologies(job.input("edges"))
    for topology in topologies:
        walk = random_walk(topology, start=start_state(topology), **settings)
        access = walk.access[walk.access > 0]
        walk_ranks += [{"seed": topology.seed} | row for row in rank_rows(access)]
        walk_shares += [{"seed": topology.seed} | row for row in ccdf_rows(access)]
    figure = figure1_semantic(
        ranks,
        shares,
        walk_ranks,
        walk_shares,
        model,
        topologies[0].n_nodes,
        settings["steps"],
    )
    save_figure(figure, job.output("pdf"), job.output("png"))


if __name__ == "__main__":
    run(main, globals()["snakemake"])
