"""The random walk with a bounded memory, written slowly and plainly.

The compiled engine must agree with it step for step on the same random streams.
"""

from dataclasses import dataclass, field

import numpy as np

from coretail.streams import stream
from coretail.worlds.topology import Topology


@dataclass
class Item:
    """A stored transition."""

    edge: int
    source: int
    target: int
    frequency: int = 1


@dataclass
class ReferenceWalk:
    start: int
    edges: list[int] = field(default_factory=list)
    visited: list[int] = field(default_factory=list)
    handed: list[list[int]] = field(default_factory=list)
    stored: list[int] = field(default_factory=list)
    reinforced: int = 0
    admitted: int = 0
    rejected: int = 0
    evicted: int = 0
    reads: dict[int, int] = field(default_factory=dict)
    writes: dict[int, int] = field(default_factory=dict)

    def top_accessed(self) -> list[bool]:
        access = {e: self.reads.get(e, 0) + n for e, n in self.writes.items()}
        top = min(access, key=lambda e: (-access[e], e))
        return [
            top == edge or top in handed
            for edge, handed in zip(self.edges, self.handed, strict=True)
        ]


def reference_walk(
    topology: Topology,
    *,
    steps: int,
    capacity: int = 200,
    k: int = 3,
    eviction: str = "reservoir",
    retriever: str = "state_frequency",
    reads_feed_frequency: bool = False,
    replicate: int = 0,
    start: int | None = None,
) -> ReferenceWalk:
    trajectory = stream(*topology.key, "trajectory", replicate)
    drawn = int(trajectory.random() * topology.n_nodes)
    state = drawn if start is None else start
    memory = stream(
        *topology.key, "memory", replicate, state, retriever, eviction, capacity, k,
        reads_feed_frequency,
    )  # fmt: skip
    walk = ReferenceWalk(start=state)
    slots: list[Item] = []
    offers = 0
    indptr, targets = topology.indptr.tolist(), topology.targets.tolist()

    for _ in range(steps):
        handed = retrieve(slots, state, retriever, k, memory)
        for item in handed:
            walk.reads[item.edge] = walk.reads.get(item.edge, 0) + 1
            if reads_feed_frequency:
                item.frequency += 1
        walk.handed.append([item.edge for item in handed])

        successors = range(indptr[state], indptr[state + 1])
        edge = successors[int(trajectory.random() * len(successors))]
        walk.edges.append(edge)
        walk.visited.append(state)
        walk.writes[edge] = walk.writes.get(edge, 0) + 1

        known = [item for item in slots if item.edge == edge]
        if known:
            known[0].frequency += 1
            walk.reinforced += 1
        else:
            offers += 1
            new = Item(edge, state, targets[edge])
            if len(slots) < capacity:
                slots.append(new)
                walk.admitted += 1
            else:
                victim = choose_victim(slots, eviction, offers, memory)
                if victim is None:
                    walk.rejected += 1
                else:
                    slots[victim] = new
                    walk.admitted += 1
                    walk.evicted += 1
        walk.stored.append(len(slots))
        state = targets[edge]
    return walk


def retrieve(
    slots: list[Item], state: int, retriever: str, k: int, memory: np.random.Generator
) -> list[Item]:
    if retriever == "none":
        return []
    touching = [item for item in slots if state in (item.source, item.target)]
    candidates = list(slots) if retriever == "uniform_frequency" else touching or list(slots)
    if retriever == "state_uniform":
        n = min(k, len(candidates))
        for i in range(n):
            j = i + int(memory.random() * (len(candidates) - i))
            candidates[i], candidates[j] = candidates[j], candidates[i]
        return candidates[:n]
    return sorted(candidates, key=lambda item: (-item.frequency, item.edge))[:k]


def choose_victim(
    slots: list[Item], eviction: str, offers: int, memory: np.random.Generator
) -> int | None:
    if eviction == "reservoir":
        drawn = int(memory.random() * offers)
        return drawn if drawn < len(slots) else None
    lowest = min(item.frequency for item in slots)
    ties = [i for i, item in enumerate(slots) if item.frequency == lowest]
    return ties[int(memory.random() * len(ties))]
