"""What Figure 1 and its halves read: how access counts are distributed, by rank and by size."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from coretail import artefacts
from coretail.distributions import ccdf_rows, rank_rows
from coretail.rollouts.walk import random_walk
from coretail.worlds.environment import start_state
from coretail.worlds.tables import read_topologies

Rows = list[dict[str, Any]]


def walk_rows(paths: Sequence[Path], eviction: str) -> tuple[Rows, Rows]:
    """Return the rows of :func:`coretail.distributions.rank_rows` and ``ccdf_rows`` per cell."""
    columns = ["family", "n_nodes", "seed", "eviction", "access"]
    counts = artefacts.read_all(paths, "walk_counts", columns).filter(
        pc.field("eviction") == eviction
    )
    return _distributions(counts, ["family", "n_nodes", "seed"])


def driver_rows(
    counts: Path, edges: Path, settings: Mapping[str, Any]
) -> tuple[tuple[Rows, Rows, Rows, Rows], int]:
    """Return a semantic policy's rows, those of a walk from the same start, and the worlds' size.

    Parameters
    ----------
    counts, edges
        The rollout's access counts and the worlds that it was on.
    settings
        Arguments of :func:`coretail.rollouts.walk.random_walk`.

    Returns
    -------
    rows
        The policy's by rank and by size, then the walk's, as
        :func:`coretail.render.topology.figure1_semantic` takes them.
    n_nodes
        States of the worlds.
    """
    ranks, shares = _distributions(artefacts.read(counts, "semantic_counts"), ["seed"])
    walk_ranks: Rows = []
    walk_shares: Rows = []
    topologies = read_topologies(edges)
    for topology in topologies:
        walk = random_walk(topology, start=start_state(topology), **settings)
        access = walk.access[walk.access > 0]
        walk_ranks += [{"seed": topology.seed} | row for row in rank_rows(access)]
        walk_shares += [{"seed": topology.seed} | row for row in ccdf_rows(access)]
    return (ranks, shares, walk_ranks, walk_shares), topologies[0].n_nodes


def _distributions(counts: pa.Table, by: Sequence[str]) -> tuple[Rows, Rows]:
    ranks: Rows = []
    shares: Rows = []
    for cell, items in artefacts.groups(counts.filter(pc.field("access") > 0), by):
        access = items["access"].to_numpy()
        ranks += [cell | row for row in rank_rows(access)]
        shares += [cell | row for row in ccdf_rows(access)]
    return ranks, shares
