"""Undirected random graphs of millions of states, in arrays.

The laws are those of networkx's generators of the same name, which need an object per edge. Each
function returns the edges of a simple graph as an int64 array of shape (n_edges, 2).
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Edges = NDArray[np.int64]


def regular(n_nodes: int, degree: int, rng: np.random.Generator) -> Edges:
    """Draw a random regular graph: a random pairing of stubs, repaired until it is simple.

    The few loops and parallel edges of the pairing are broken up and paired anew together with as
    many randomly chosen good edges.
    """
    stubs = np.repeat(np.arange(n_nodes, dtype=np.int64), degree)
    pairs = rng.permutation(stubs).reshape(-1, 2)
    bad = _not_simple(pairs, n_nodes)
    while bad.any():
        again = bad.copy()
        again[rng.integers(len(pairs), size=int(bad.sum()) + 1)] = True
        pairs[again] = rng.permutation(pairs[again].ravel()).reshape(-1, 2)
        bad = _not_simple(pairs, n_nodes)
    return pairs


def erased_configuration(degrees: NDArray[np.int64], rng: np.random.Generator) -> Edges:
    """Draw a configuration model with the given degrees, and drop loops and parallel edges."""
    stubs = np.repeat(np.arange(len(degrees), dtype=np.int64), degrees)
    pairs = rng.permutation(stubs).reshape(-1, 2)
    return pairs[~_not_simple(pairs, len(degrees))]


def preferential_attachment(n_nodes: int, m: int, rng: np.random.Generator) -> Edges:
    """Draw a Barabási–Albert graph that grows from a star of ``m`` + 1 states.

    Each further state joins ``m`` distinct earlier states, drawn with probability proportional
    to their degree.
    """
    edges = np.empty(((n_nodes - m) * m, 2), dtype=np.int64)
    edges[:m, 0] = 0
    edges[:m, 1] = np.arange(1, m + 1)
    _attach(edges, n_nodes, m, rng)
    return edges


def block_model(sizes: list[int], p_in: float, p_out: float, rng: np.random.Generator) -> Edges:
    """Draw a stochastic block model, block by block.

    The number of edges of a pair of blocks is binomial, and the edges themselves a uniform choice
    among all pairs of states.
    """
    start = np.concatenate([[0], np.cumsum(sizes)])
    parts = []
    for a, size_a in enumerate(sizes):
        for b, size_b in enumerate(sizes[a:], start=a):
            n_pairs = size_a * (size_a - 1) // 2 if a == b else size_a * size_b
            n_edges = int(rng.binomial(n_pairs, p_in if a == b else p_out))
            parts.append(_distinct_pairs(start[a], size_a, start[b], size_b, n_edges, rng))
    return np.concatenate(parts)


def _not_simple(pairs: Edges, n_nodes: int) -> NDArray[np.bool_]:
    """Mark the loops, and all but the first of parallel edges."""
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    marked = np.ones(len(pairs), dtype=np.bool_)
    marked[np.unique(low * n_nodes + high, return_index=True)[1]] = False
    return marked | (low == high)


def _distinct_pairs(
    start_a: int, size_a: int, start_b: int, size_b: int, n_edges: int, rng: np.random.Generator
) -> Edges:
    """Draw distinct unordered pairs of states, one of each block (or both of the same)."""
    kept = np.empty((0, 2), dtype=np.int64)
    while len(kept) < n_edges:
        n = int(1.1 * (n_edges - len(kept))) + 10
        drawn = np.column_stack(
            [rng.integers(start_a, start_a + size_a, n), rng.integers(start_b, start_b + size_b, n)]
        )
        drawn = np.sort(drawn[drawn[:, 0] != drawn[:, 1]], axis=1)
        kept = np.concatenate([kept, drawn])
        # Keep the order of drawing: the first n_edges distinct pairs are a uniform choice, the
        # lowest ones are not.
        first = np.unique(kept[:, 0] * (start_b + size_b) + kept[:, 1], return_index=True)[1]
        kept = kept[np.sort(first)]
    return kept[:n_edges]


@njit(cache=True)
def _attach(edges: Edges, n_nodes: int, m: int, rng: np.random.Generator) -> None:
    """Fill in the edges after the star, in place."""
    # An end of an edge drawn uniformly is a state drawn in proportion to its degree.
    ends = edges.ravel()
    filled = 2 * m
    for new in range(m + 1, n_nodes):
        n_chosen = 0
        while n_chosen < m:
            drawn = ends[np.int64(rng.random() * filled)]
            known = False
            for i in range(n_chosen):
                known = known or ends[filled + 2 * i] == drawn
            if not known:
                ends[filled + 2 * n_chosen] = drawn
                ends[filled + 2 * n_chosen + 1] = new
                n_chosen += 1
        filled += 2 * m
