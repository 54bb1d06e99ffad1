"""Worlds as the pipeline stores them."""

from pathlib import Path

import numpy as np

from coretail import artefacts
from coretail.worlds.contents import Contents
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
    for cell, part in artefacts.groups(table, ["family", "n_nodes", "seed"]):
        degrees = np.bincount(part["source"].to_numpy(), minlength=cell["n_nodes"])
        worlds.append(
            Topology(
                **cell,
                indptr=np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64),
                targets=part["target"].to_numpy(),
                actions=part["action"].to_numpy(),
            )
        )
    return worlds


def read_contents(nodes: Path) -> dict[int, Contents]:
    """Return the states' contents in a ``nodes`` artefact, by seed.

    Raises
    ------
    InputError
        If the file is not such an artefact.
    """
    table = artefacts.read(nodes, "nodes")
    return {
        cell["seed"]: Contents(
            names=part["name"].to_pylist(),
            entities=part["entities"].to_pylist(),
            relations=[
                [(entry["subject"], entry["verb"], entry["object"]) for entry in relations]
                for relations in part["relations"].to_pylist()
            ],
            constraints=part["constraints"].to_pylist(),
            actions=part["actions"].to_pylist(),
        )
        for cell, part in artefacts.groups(table, ["family", "n_nodes", "seed"])
    }
