"""What an agent reads when τ decides: k of its best-ranked memories, drawn without replacement.

This is the second place at which τ acts (paper, Section 5.6); the first is the packing of a context
in slots. In each step the agent ranks its stored transitions for the state that it is in, draws k
of the ``pool`` best-ranked with probabilities proportional to b(r; τ), reads them, moves, and
writes the transition that it walked.

Drawing one item after the other, each time in proportion to the weights of those that are left,
is a race: items arrive after independent exponential times with their weights as rates, and the
first k are the draws in their order (Efraimidis and Spirakis, 2006, with keys u^(1/w); the keys'
negative logarithms are these times).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coretail.controller import allocate
from coretail.errors import InputError
from coretail.memory.store import TransitionStore
from coretail.memory.view import WorldView
from coretail.rollouts.walk import Counters
from coretail.streams import Key, stream


@dataclass(frozen=True, slots=True, eq=False)
class Accesses:
    """What was read under each τ, and what was written under all.

    Attributes
    ----------
    taus
        The exponents τ.
    reads : int64 array, shape (len(taus), n_edges)
        How often each transition was handed to the agent.
    rank_reads : int64 array, shape (len(taus), pool)
        How often each rank was drawn, from the best.
    writes : int64 array, shape (n_edges,)
        How often each transition was walked; each time is one write, stored or not.
    """

    taus: tuple[float, ...]
    reads: NDArray[np.int64]
    rank_reads: NDArray[np.int64]
    writes: NDArray[np.int64]

    @property
    def access(self) -> NDArray[np.int64]:
        """The access counts, reads plus writes; shape (len(taus), n_edges)."""
        return self.reads + self.writes


Pool = Callable[[TransitionStore, WorldView, int, int], NDArray[np.int64]]
"""Returns the best-ranked transitions of a memory in a state."""


def best_ranked(
    store: TransitionStore, view: WorldView, state: int, pool: int
) -> NDArray[np.int64]:
    """Return the transitions that CTWM ranks best in a state, before an action is chosen.

    As :func:`coretail.memory.rankings.core_tail`, without the term of the action: by relevance (4
    if the transition leaves the state, 1 if one of its states shares an entity with it), then by
    support, then the more recent, then the lower edge.

    Parameters
    ----------
    store, view
        The memory and its world.
    state
        Where the agent is.
    pool
        The most transitions to return.

    Returns
    -------
    int64 array, shape (min(pool, stored),)
        The transitions, best first.
    """
    edges = store.edges
    kin = view.shared_entities(state) > 0
    sources, targets = view.sources[edges], view.targets[edges]
    relevance = 4 * (sources == state) + (kin[sources] | kin[targets])
    return edges[np.lexsort((edges, -store.last, -store.support, -relevance))[:pool]]


def most_frequent(
    store: TransitionStore, view: WorldView, state: int, pool: int
) -> NDArray[np.int64]:
    """Return the transitions with the largest support, whatever the state.

    One ranking for all states, with the ties and the shapes of :func:`best_ranked`: rung 1 of the
    retriever ladder, among whose best is drawn.
    """
    return store.edges[np.lexsort((store.edges, -store.last, -store.support))[:pool]]


def arrival_times(tau: float, steps: int, pool: int, *key: Key) -> NDArray[np.float64]:
    """Return when the ranks arrive in the race of each step; see :func:`first_arrivals`.

    Parameters
    ----------
    tau
        Exponent τ of the weights b(r; τ).
    steps
        Number of races.
    pool
        Ranks in each race.
    *key
        Key of the random stream; τ joins it, so that the races of two τ are independent.

    Returns
    -------
    float64 array, shape (steps, pool)
        Exponential times with rates b(r; τ).
    """
    times = stream(*key, "selection", float(tau)).standard_exponential((steps, pool))
    return times / allocate(pool, tau)


def first_arrivals(times: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Return the ranks, from 0, that are drawn: those of the k first arrivals, in their order.

    Parameters
    ----------
    times
        Arrival times of the ranks, shape (..., n). A race of fewer ranks is the race of all with
        the others left out, since shares of the same τ are in the same proportions.
    k
        The most ranks to draw.

    Returns
    -------
    int64 array, shape (..., min(k, n))
    """
    return np.argsort(times, axis=-1, kind="stable")[..., :k]


def closed_loop(
    view: WorldView,
    edges: Sequence[int],
    taus: Sequence[float],
    *,
    pool: int = 10,
    k: int = 3,
    capacity: int | None = None,
    ranked: Pool = best_ranked,
) -> Accesses:
    """Walk a trajectory with a memory that is read by τ, once for each τ.

    What is read changes neither the trajectory nor the memory (reads feed no frequency), so that
    one memory serves all τ: only the draws differ, and what comes out is paired by step.

    Parameters
    ----------
    view
        The world.
    edges
        The transitions walked, in order.
    taus
        The exponents, each from 0 up, all different.
    pool
        The best-ranked transitions among which is drawn, at least 1.
    k
        The most transitions read in one step, 1 to ``pool``.
    capacity
        The most transitions that are stored (Algorithm R); None for all.
    ranked
        Ranks them; which ranks are drawn does not depend on it.

    Raises
    ------
    InputError
        If an exponent occurs twice, is negative or not finite, or a number is out of its range.
    """
    exponents = tuple(float(tau) for tau in taus)
    if len(set(exponents)) < len(exponents):
        raise InputError(f"taus: {list(exponents)}: a value stands twice; give each once")
    _check_draws(k, pool)
    key = view.topology.key
    times = np.stack([arrival_times(tau, len(edges), pool, *key) for tau in exponents])
    store = _store_of(view, capacity)
    reads = np.zeros((len(exponents), view.topology.n_edges), np.int64)
    rank_reads = np.zeros((len(exponents), pool), np.int64)
    row = np.arange(len(exponents))[:, None]
    for step, edge in enumerate(edges):
        best = ranked(store, view, int(view.sources[edge]), pool)
        ranks = first_arrivals(times[:, step, : best.size], k)
        reads[row, best[ranks]] += 1
        rank_reads[row, ranks] += 1
        store.write(edge)
    writes = np.bincount(edges, minlength=view.topology.n_edges).astype(np.int64)
    return Accesses(exponents, reads, rank_reads, writes)


class SelectedMemory:
    """A memory that is read by one τ, as the memory of an agent whose way depends on what it reads.

    Races, memory and ranking are those of :func:`closed_loop`: what an agent reads here is what is
    read there on the trajectory that it walked. It is used by
    :func:`coretail.rollouts.semantic.rollout`.

    Parameters
    ----------
    view
        The world.
    tau
        The exponent, from 0 up.
    steps
        The most steps that the agent takes.
    pool, k, capacity
        As for :func:`closed_loop`.

    Attributes
    ----------
    rank_reads : int64 array, shape (pool,)
        How often each rank was drawn, from the best.

    Raises
    ------
    InputError
        If the exponent is negative or not finite, or a number is out of its range.
    """

    def __init__(
        self,
        view: WorldView,
        tau: float,
        *,
        steps: int,
        pool: int = 10,
        k: int = 3,
        capacity: int | None = None,
    ) -> None:
        _check_draws(k, pool)
        self._view = view
        self._times = arrival_times(tau, steps, pool, *view.topology.key)
        self._k = k
        self._store = _store_of(view, capacity)
        self._reinforced = self._admitted = self._rejected = self._evicted = 0
        self.rank_reads = np.zeros(pool, np.int64)

    def recall(self, state: int) -> tuple[list[int], str | None]:
        """Return the transitions drawn in a state, best-ranked first; they stand as plain lines.

        Their order says nothing of the draws', so that equal sets make equal prompts.
        """
        times = self._times[self._store.clock]
        best = best_ranked(self._store, self._view, state, times.size)
        ranks = np.sort(first_arrivals(times[: best.size], self._k))
        self.rank_reads[ranks] += 1
        return best[ranks].tolist(), None

    def learn(self, edge: int, source: int, target: int) -> None:
        """Take in the transition that was just walked."""
        known, held = edge in self._store.edges, len(self)
        self._store.write(edge)
        stored = edge in self._store.edges
        self._reinforced += known
        self._admitted += stored and not known
        self._rejected += not stored
        self._evicted += stored and not known and len(self) == held

    def __len__(self) -> int:
        return len(self._store)

    @property
    def counters(self) -> Counters:
        """Bookkeeping of all retrievals and writes so far."""
        return Counters(
            reinforced=self._reinforced,
            admitted=self._admitted,
            rejected=self._rejected,
            evicted=self._evicted,
            reads=int(self.rank_reads.sum()),
        )


def _check_draws(k: int, pool: int) -> None:
    if not 1 <= k <= pool:
        raise InputError(f"k={k}, pool={pool}: give k from 1 to the pool's size")


def _store_of(view: WorldView, capacity: int | None) -> TransitionStore:
    """Return the empty memory of a world: one stream of evictions whatever τ reads."""
    return TransitionStore(view, stream(*view.topology.key, "selection memory"), capacity)


def shape_of(shares: ArrayLike) -> dict[str, float | None]:
    """Return Gini, skew and max/median of shares, as of counts.

    The definitions are those of :class:`coretail.concentration.Concentration`, whose counts are
    whole numbers.

    Parameters
    ----------
    shares
        Shape (n,), n > 0, each above 0.

    Returns
    -------
    dict
        ``gini``, ``skew`` and ``max_median``; ``skew`` is None where all shares are equal.
    """
    ordered = np.sort(np.asarray(shares, np.float64))
    n = ordered.size
    deviations = ordered - ordered.mean()
    centred = 2.0 * np.arange(1, n + 1) - n - 1
    return {
        "gini": float(centred @ ordered) / (n * float(ordered.sum())),
        "skew": None
        if ordered[0] == ordered[-1]
        else float(np.mean(deviations**3) / np.mean(deviations**2) ** 1.5),
        "max_median": float(ordered[-1] / np.median(ordered)),
    }
