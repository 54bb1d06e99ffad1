"""Ranking maps ρ: in which order a memory offers its transitions for a state and an action.

Each is a deterministic function of what the memory holds and of the query (``random_ranks`` draws
from a stream that is keyed by the step), so that two encodings of one system share it exactly
(Theorem A.7). All ties end with the more recent one: no two transitions were last walked at the
same step.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coretail.memory.store import TransitionStore
from coretail.memory.view import WorldView
from coretail.streams import stream

FUSION = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009)."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """The transitions that a memory can name, best first.

    Attributes
    ----------
    edges : int64 array, shape (n,)
        The transitions.
    scores : float64 array, shape (n,)
        The system's own score of each, weakly decreasing; not comparable between systems.
    support, last : int64 arrays, shape (n,)
        How often each was written, and at which step last.
    """

    edges: NDArray[np.int64]
    scores: NDArray[np.float64]
    support: NDArray[np.int64]
    last: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.edges)


Key = NDArray[np.integer] | NDArray[np.floating]
Ranker = Callable[[TransitionStore, WorldView, int, int], Ranking]


def core_tail(store: TransitionStore, view: WorldView, state: int, action: int) -> Ranking:
    """Rank by relevance, then by transition support (paper, Section 4).

    Relevance adds 4 if the transition leaves the state, 2 if its action has the same name, and 1
    if one of its states shares an entity with the state.
    """
    edges = store.edges
    kin = view.shared_entities(state) > 0
    sources, targets = view.sources[edges], view.targets[edges]
    relevance = (
        4 * (sources == state)
        + 2 * (view.verbs[edges] == view.verb(state, action))
        + (kin[sources] | kin[targets])
    )
    return _ranked(store, relevance, store.support, store.last)


def graph(store: TransitionStore, view: WorldView, state: int, action: int) -> Ranking:
    """Rank like a graph memory with an episodic and a semantic layer (Anokhin et al., 2024).

    The episodic layer lists the transitions that leave or enter the state, the most recent first;
    the semantic layer those whose states share entities with the state, the most shared first.
    Their ranks are fused by reciprocal rank: a transition scores 1 / (60 + rank) in each layer
    that lists it. The action plays no part, as in a memory that is asked about a state.
    """
    edges = store.edges
    sources, targets = view.sources[edges], view.targets[edges]
    shared = view.shared_entities(state)
    overlap = shared[sources] + shared[targets]
    score = _layer((sources == state) | (targets == state), store.last)
    score += _layer(overlap > 0, overlap, store.last)
    return _ranked(store, score, store.last)


def flat(store: TransitionStore, view: WorldView, state: int, action: int) -> Ranking:
    """Rank by the cosine between the words of the query and of the transition's text."""
    return _ranked(store, view.similarity(state, action)[store.edges], store.last)


def recency(store: TransitionStore, view: WorldView, state: int, action: int) -> Ranking:
    """Rank by when a transition was last walked."""
    return _ranked(store, store.last)


def frequency(store: TransitionStore, view: WorldView, state: int, action: int) -> Ranking:
    """Rank by how often a transition was walked."""
    return _ranked(store, store.support, store.last)


def random_ranks(replicate: int = 0) -> Ranker:
    """Return a ranking map that ranks at random, anew at each step; one for each replicate."""

    def rank(store: TransitionStore, view: WorldView, state: int, action: int) -> Ranking:
        rng = stream(*view.topology.key, "random ranks", replicate, store.clock)
        return _ranked(store, rng.random(len(store)))

    return rank


def _layer(listed: NDArray[np.bool_], *keys: Key) -> NDArray[np.float64]:
    """Return each transition's reciprocal rank in a layer, 0 where the layer does not list it."""
    held = np.flatnonzero(listed)
    order = held[_order(*(key[held] for key in keys))]
    scores = np.zeros(listed.size)
    scores[order] = 1 / (FUSION + np.arange(1, order.size + 1))
    return scores


def _ranked(store: TransitionStore, *keys: Key) -> Ranking:
    order = _order(*keys)
    return Ranking(
        edges=store.edges[order],
        scores=keys[0][order].astype(np.float64),
        support=store.support[order],
        last=store.last[order],
    )


def _order(*keys: Key) -> NDArray[np.int64]:
    """Return the order by descending keys, the first key foremost."""
    return np.lexsort([-key for key in reversed(keys)])
