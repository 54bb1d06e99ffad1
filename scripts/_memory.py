"""What the entry scripts of the memory policies share."""

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from coretail import artefacts
from coretail.memory.frozen import NOTHING, STRATA, Coverage, Step, trajectory
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


def trajectory_rows(
    driver: str,
    view: WorldView,
    edges: NDArray[np.integer],
    tail_states: NDArray[np.integer] | None = None,
) -> pa.Table:
    """Return the rows of one frozen trajectory, with its own tail set if none is given."""
    frozen = trajectory(view, edges, tail_states)
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


def step_columns(done: list[Step], policy: str) -> dict[str, Any]:
    """Return the per-step columns of what a policy did."""
    listed = policy != "full_history"
    contexts = [step.context for step in done]
    return {
        "step": [step.number for step in done],
        "n_ranked": [step.n_ranked for step in done],
        "ranking": [step.ranking_hash for step in done],
        "match_rank": [step.match_rank for step in done],
        "top1": [None if step.top1 == NOTHING else step.top1 for step in done],
        "vote": [None if step.vote == NOTHING else step.vote for step in done],
        "n_shown": [len(context.shown) for context in contexts],
        "shown": [list(context.shown) if listed else None for context in contexts],
        "slots": [list(context.slots) if listed else None for context in contexts],
        "n_summarised": [len(context.summarised) for context in contexts],
        "named": [list(context.named) for context in contexts],
        "named_counts": [list(context.named.values()) for context in contexts],
        "local_tokens": [context.tokens for context in contexts],
    }


def coverage_columns(found: Coverage) -> dict[str, float]:
    """Return the columns of a coverage."""
    names = ("store_states", "store_transitions", "exposed_states", "exposed_transitions")
    return {name: getattr(found, name) for name in names}
