"""Worlds as the pipeline stores them."""

from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from coretail import artefacts
from coretail.worlds.topology import Topology


def read_topologies(edges: Path) -> list[Topology]:
    """Return the worlds in an ``edges`` artefact, by seed.

    Parameters
    ----------
    edges
        A file with one family and one size, all seeds.

    Raises
    ------
    InputError
        If the file is not such an artefact.
    """
    table = artefacts.read(edges, "edges")
    worlds = []
    for seed in pc.unique(table["seed"]).to_pylist():
        part = table.filter(pc.equal(table["seed"], seed))
        n_nodes = part["n_nodes"][0].as_py()
        degrees = np.bincount(part["source"].to_numpy(), minlength=n_nodes)
        worlds.append(
            Topology(
                family=part["family"][0].as_py(),
                n_nodes=n_nodes,
                seed=seed,
                indptr=np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64),
                targets=part["target"].to_numpy(),
                actions=part["action"].to_numpy(),
            )
        )
    return worlds
