"""The bounded memory of transitions, one call at a time, for agents that decide between calls.

It has the semantics of the compiled random walk's memory (:mod:`coretail.rollouts.walk`): on the
same trajectory and the same random stream both hand out and keep the same items.
"""

from dataclasses import dataclass

import numpy as np

from coretail.rollouts.walk import Counters, check_walk
from coretail.streams import stream
from coretail.worlds.topology import Topology

RETRIEVER = "state_frequency"


@dataclass(slots=True)
class _Item:
    edge: int
    source: int
    target: int
    slot: int
    frequency: int = 1


class BoundedStore:
    """A memory that holds at most ``capacity`` transitions.

    Parameters
    ----------
    rng
        Decides about evictions.
    capacity
        The number of items that the memory can hold, 1 to 1,000,000.
    k
        The most items that one retrieval hands out, 1 to 1,000.
    eviction
        ``reservoir`` or ``least_frequent``; see :func:`coretail.rollouts.walk.random_walk`.
    reads_feed_frequency
        Count an item's reads as well towards its frequency.

    Raises
    ------
    InputError
        For a parameter outside its range.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        *,
        capacity: int = 200,
        k: int = 3,
        eviction: str = "reservoir",
        reads_feed_frequency: bool = False,
    ) -> None:
        check_walk(1, capacity, k, eviction, RETRIEVER)
        self._rng = rng
        self._capacity = capacity
        self._k = k
        self._eviction = eviction
        self._reads_feed_frequency = reads_feed_frequency
        self._slots: list[_Item] = []
        self._by_edge: dict[int, _Item] = {}
        self._touching: dict[int, dict[int, _Item]] = {}
        self._offers = 0
        self._reinforced = self._admitted = self._rejected = self._evicted = self._reads = 0

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def counters(self) -> Counters:
        """Bookkeeping of all retrievals and writes so far."""
        return Counters(
            reinforced=self._reinforced,
            admitted=self._admitted,
            rejected=self._rejected,
            evicted=self._evicted,
            reads=self._reads,
        )

    def retrieve(self, state: int) -> list[int]:
        """Hand out the ``k`` most frequent items that have ``state`` as source or target.

        If there is none, the ``k`` most frequent of all. The frequency of an item is its writes
        since it entered, entering included; of equally frequent items the lower edge is first.

        Returns
        -------
        list of int
            The edges, best first; fewer than ``k`` if there are no more.
        """
        candidates = self._touching.get(state) or self._by_edge
        best = sorted(candidates.values(), key=_rank)[: self._k]
        if self._reads_feed_frequency:
            for item in best:
                item.frequency += 1
        self._reads += len(best)
        return [item.edge for item in best]

    def write(self, edge: int, source: int, target: int) -> tuple[int | None, bool]:
        """Write a transition: make it more frequent if it is stored, else offer it to the store.

        Returns
        -------
        slot, entered
            The slot in which the item is held now, below ``capacity``, None if the store did not
            take it; and whether it entered just now.
        """
        known = self._by_edge.get(edge)
        if known is not None:
            known.frequency += 1
            self._reinforced += 1
            return known.slot, False
        self._offers += 1
        slot = len(self._slots)
        if slot == self._capacity:
            slot = self._victim()
            if slot >= self._capacity:
                self._rejected += 1
                return None, False
            self._remove(self._slots[slot])
            self._evicted += 1
        item = _Item(edge, source, target, slot)
        self._slots[slot : slot + 1] = [item]
        self._by_edge[edge] = item
        for state in (source, target):
            self._touching.setdefault(state, {})[edge] = item
        self._admitted += 1
        return slot, True

    def _victim(self) -> int:
        """Return the slot to free, or one beyond the last for none."""
        if self._eviction == "reservoir":
            return int(self._rng.random() * self._offers)
        lowest = min(item.frequency for item in self._slots)
        ties = [item.slot for item in self._slots if item.frequency == lowest]
        return ties[int(self._rng.random() * len(ties))]

    def _remove(self, item: _Item) -> None:
        del self._by_edge[item.edge]
        for state in (item.source, item.target):
            self._touching[state].pop(item.edge, None)


def _rank(item: _Item) -> tuple[int, int]:
    return -item.frequency, item.edge


def cell_store(
    topology: Topology,
    *,
    start: int,
    capacity: int = 200,
    k: int = 3,
    eviction: str = "reservoir",
    reads_feed_frequency: bool = False,
    replicate: int = 0,
) -> BoundedStore:
    """Return the empty memory of an agent in a world.

    Its stream is the one from which a random walk with these parameters draws its evictions.
    """
    rng = stream(
        *topology.key,
        "memory",
        replicate,
        start,
        RETRIEVER,
        eviction,
        int(capacity),
        int(k),
        bool(reads_feed_frequency),
    )
    return BoundedStore(
        rng, capacity=capacity, k=k, eviction=eviction, reads_feed_frequency=reads_feed_frequency
    )
