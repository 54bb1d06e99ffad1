"""The transitions that a memory holds, as columns that rankings can sort."""

import numpy as np
from numpy.typing import NDArray

from coretail.memory.view import WorldView
from coretail.rollouts.store import BoundedStore

# Beyond any number of transitions that a rollout can walk: a store that evicts nothing.
UNBOUNDED = 1_000_000


class TransitionStore:
    """Distinct transitions with their support and when they were walked.

    Parameters
    ----------
    view
        The world.
    rng
        Decides about evictions.
    capacity
        The most transitions that are held; None for all.
    eviction
        ``reservoir`` or ``least_frequent``; see :func:`coretail.rollouts.walk.random_walk`.

    Attributes
    ----------
    clock
        Transitions written so far.
    """

    def __init__(
        self,
        view: WorldView,
        rng: np.random.Generator,
        capacity: int | None = None,
        eviction: str = "reservoir",
    ) -> None:
        self._view = view
        self._bounded = BoundedStore(
            rng, capacity=UNBOUNDED if capacity is None else capacity, eviction=eviction
        )
        self._columns = np.zeros((3, 64), np.int64)
        self.clock = 0

    def __len__(self) -> int:
        return len(self._bounded)

    def write(self, edge: int) -> None:
        """Write a transition that was walked."""
        source, target = int(self._view.sources[edge]), int(self._view.targets[edge])
        slot, entered = self._bounded.write(edge, source, target)
        if slot is not None:
            if slot == self._columns.shape[1]:
                self._columns = np.concatenate([self._columns, np.zeros_like(self._columns)], 1)
            if entered:
                self._columns[:2, slot] = edge, 0
            self._columns[1, slot] += 1
            self._columns[2, slot] = self.clock
        self.clock += 1

    @property
    def edges(self) -> NDArray[np.int64]:
        """The transitions held, in the order of their slots; shape (n,)."""
        return self._columns[0, : len(self)]

    @property
    def support(self) -> NDArray[np.int64]:
        """How often each was written since it entered; shape (n,)."""
        return self._columns[1, : len(self)]

    @property
    def last(self) -> NDArray[np.int64]:
        """The step at which each was last written; shape (n,)."""
        return self._columns[2, : len(self)]
