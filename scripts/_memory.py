"""What the entry scripts of the memory policies share."""

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from coretail import artefacts
from coretail.memory.frozen import STRATA, trajectory
from coretail.memory.policies import Settings
from coretail.memory.view import WorldView
from coretail.worlds.contents import build_contents
from coretail.worlds.topology import build_topology

# Policies whose contexts depend on the allocation exponent.
ALLOCATING = ("ctwm", "random", "graph_ctwm")


@cache
def view_of(family: str, n_nodes: int, seed: int, vocabulary: str) -> WorldView:
    """Return a world as its memories see it."""
    topology = build_topology(family, n_nodes, seed)
    return WorldView(topology, build_contents(topology, vocabulary))


def trajectory_rows(driver: str, view: WorldView, edges: NDArray[np.integer]) -> pa.Table:
    """Return the rows of one frozen trajectory."""
    frozen = trajectory(view, edges)
    family, n_nodes, seed = view.topology.key
    return artefacts.table(
        "memory_trajectories",
        {
            "driver": driver,
            "family": family,
            "n_nodes": n_nodes,
            "seed": seed,
            "step": np.arange(frozen.edges.size),
            "state": view.sources[frozen.edges],
            "action": view.actions[frozen.edges],
            "next_state": view.targets[frozen.edges],
            "edge": frozen.edges,
            "stratum": [STRATA[stratum] for stratum in frozen.strata.tolist()],
            "floor_predictor": frozen.floor_predictor,
            "floor_memory": frozen.floor_memory,
        },
    )


def run_of(
    settings: dict[str, Any], policy: str, budget: str, encoding: str
) -> tuple[dict[str, Any], Settings]:
    """Return the key columns of a policy's run, and what the policy may use."""
    key = {
        "policy": policy,
        "encoding": encoding,
        "budget": budget,
        "tau": settings["tau"] if policy in ALLOCATING else 0.0 if policy == "uniform" else None,
    }
    return key, Settings(
        slots=settings["slots"],
        tau=settings["tau"],
        encoding=encoding,  # type: ignore[arg-type]
        capacity=settings["capacity"] if budget == "capacity" else None,
        tokens=settings["tokens"] if budget == "tokens" else None,
    )
