"""Graph families of the Synthetic Graph World (paper, Section 5, Setup).

A world is a directed graph in compressed sparse rows. A transition (s, a, s') is one directed
edge, so its memory id is the edge's index.

Every family is drawn as an undirected graph, taken in both directions, and then linked into one
strongly connected component by a directed ring over its components' lowest states. Up to
:data:`PAPER_SIZE` states the graphs are drawn by networkx, above it by
:mod:`coretail.worlds.large`, which follows the same laws in arrays.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coretail.errors import InputError
from coretail.streams import entropy, stream
from coretail.worlds.checks import check_choice, check_integer

FAMILIES: tuple[str, ...] = (
    "uniform",
    "exponential",
    "scale-free",
    "modular",
    "mixed",
    "baseline-symmetric",
)
PAPER_SIZE = 1_000
MAX_ACTIONS = 3

REGULAR_DEGREE = 6
EXPONENTIAL_MEAN = 6.0
ATTACHMENT = 3
MODULAR_BLOCKS = 5
MIXED_BLOCKS = 3
P_IN, P_OUT = 0.15, 0.01
BRIDGES = 5

# A regular graph of degree d needs d + 1 states, preferential attachment its m + 1 first states,
# a block two states, the exponential family as many states as let its mean degree of 6.5 fit.
_MINIMUM = {
    "uniform": REGULAR_DEGREE + 1,
    "exponential": 8,
    "scale-free": ATTACHMENT + 1,
    "modular": 2 * MODULAR_BLOCKS,
    "mixed": 4 * MIXED_BLOCKS,
    "baseline-symmetric": REGULAR_DEGREE + 1,
}
_MAXIMUM = 10_000_000
# With fixed probabilities the edges of the block model grow with the square of its states.
_MAXIMUM_UNSCALED_BLOCKS = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Topology:
    """A strongly connected directed graph whose edges are grouped into actions.

    Attributes
    ----------
    family, n_nodes, seed
        The key of the world's cell.
    indptr : int64 array, shape (n_nodes + 1,)
        The edges that leave state ``s`` are ``indptr[s]`` to ``indptr[s + 1] - 1``.
    targets : int32 array, shape (n_edges,)
        The state that each edge leads to, ascending within each source.
    actions : int8 array, shape (n_edges,)
        The action, 0 to 2, under which the environment may take each edge. The edges of an action
        are a contiguous segment of its state's edges.
    """

    family: str
    n_nodes: int
    seed: int
    indptr: NDArray[np.int64]
    targets: NDArray[np.int32]
    actions: NDArray[np.int8]

    @property
    def key(self) -> tuple[str, int, int]:
        """The key of the world's cell, from which its random streams derive."""
        return self.family, int(self.n_nodes), int(self.seed)

    @property
    def n_edges(self) -> int:
        """The number of directed edges."""
        return len(self.targets)

    @property
    def mean_degree(self) -> float:
        """The mean number of edges that leave a state."""
        return self.n_edges / self.n_nodes

    @property
    def sources(self) -> NDArray[np.int32]:
        """The state that each edge leaves; shape (n_edges,)."""
        return np.repeat(np.arange(self.n_nodes, dtype=np.int32), np.diff(self.indptr))

    @property
    def n_actions(self) -> NDArray[np.int8]:
        """The number of actions of each state, 1 to 3; shape (n_nodes,)."""
        return self.actions[self.indptr[1:] - 1] + np.int8(1)

    def segment(self, state: int, action: int) -> tuple[int, int]:
        """Return the first edge of an action of a state, and the edge after its last.

        Raises
        ------
        InputError
            If there is no such state, or the state has no such action.
        """
        if not 0 <= state < self.n_nodes:
            raise InputError(
                f"state: {state} is not a state of this world; "
                f"allowed are integers from 0 to {self.n_nodes - 1}"
            )
        first, last = int(self.indptr[state]), int(self.indptr[state + 1])
        taken = self.actions[first:last]
        begin = first + int(np.searchsorted(taken, action, side="left"))
        end = first + int(np.searchsorted(taken, action, side="right"))
        if begin == end:
            raise InputError(
                f"action: state {state} has no action {action}; "
                f"allowed are integers from 0 to {int(taken[-1])}"
            )
        return begin, end


def minimum_nodes(family: str) -> int:
    """Return the smallest number of states for which the construction of a family exists."""
    check_choice("family", family, FAMILIES)
    return _MINIMUM[family]


def maximum_nodes(family: str, *, scale: bool = False) -> int:
    """Return the largest number of states that a family may have."""
    check_choice("family", family, FAMILIES)
    if family in ("modular", "mixed") and not scale:
        return _MAXIMUM_UNSCALED_BLOCKS
    return _MAXIMUM


def check_world(family: str, n_nodes: int, *, scale: bool = False) -> None:
    """Refuse a world that cannot be built.

    Raises
    ------
    InputError
        For an unknown family, or a number of states outside the family's range. The message names
        the key, the value and what is allowed.
    """
    low, high = minimum_nodes(family), maximum_nodes(family, scale=scale)
    check_integer("n_nodes", n_nodes, low, high, f"for family {family!r}")


def build_topology(family: str, n_nodes: int, seed: int, *, scale: bool = False) -> Topology:
    """Draw the world of one cell.

    ============================  ==========================================================
    family                        undirected construction
    ============================  ==========================================================
    uniform, baseline-symmetric   random 6-regular graph
    exponential                   configuration model, degrees 1 + floor(Exp(mean 6)); one
                                  more for a random state if their sum is odd; loops and
                                  parallel edges removed
    scale-free                    Barabási–Albert, m = 3
    modular                       stochastic block model, 5 equal blocks, edge probability
                                  0.15 within and 0.01 between blocks
    mixed                         one half scale-free, one half modular with 3 blocks, and
                                  5 random bridges between the halves
    ============================  ==========================================================

    A state has one to three actions (uniform, never more than its successors), and action ``i``
    leads to the ``i``-th of equal contiguous segments of its sorted successors. States of
    ``baseline-symmetric`` are alike, so all have three.

    Parameters
    ----------
    family, n_nodes, seed
        The key of the cell. All of it seeds every stream, so that ``uniform`` and
        ``baseline-symmetric`` are independent samples of one law.
    scale
        Keep the block model's mean degree at that of 1,000 states in larger worlds, instead of
        its edge probabilities. Without effect up to 1,000 states.

    Raises
    ------
    InputError
        As :func:`check_world`.
    """
    check_world(family, n_nodes, scale=scale)
    n_nodes, seed = int(n_nodes), int(seed)
    edges = (
        _draw_with_networkx(family, n_nodes, seed)
        if n_nodes <= PAPER_SIZE
        else _draw_large(family, n_nodes, seed, scale=scale)
    )
    sources, targets = _strongly_connected(edges, n_nodes)
    order = np.argsort(sources * n_nodes + targets)
    degrees = np.bincount(sources, minlength=n_nodes)
    indptr = np.zeros(n_nodes + 1, dtype=np.int64)
    np.cumsum(degrees, out=indptr[1:])
    return Topology(
        family=family,
        n_nodes=n_nodes,
        seed=seed,
        indptr=indptr,
        targets=targets[order].astype(np.int32),
        actions=_draw_actions(family, n_nodes, seed, degrees),
    )


def equal_blocks(n_nodes: int, n_blocks: int) -> list[int]:
    """Return the sizes of ``n_blocks`` blocks that differ by one state at most."""
    return [n_nodes // n_blocks + (block < n_nodes % n_blocks) for block in range(n_blocks)]


def _draw_with_networkx(family: str, n_nodes: int, seed: int) -> NDArray[np.int64]:
    """Return the undirected edges of a family, one per row."""
    import networkx as nx

    def number(purpose: str) -> int:
        return entropy(family, n_nodes, seed, purpose)

    def blocks(n: int, n_blocks: int) -> "nx.Graph[int]":
        p = [[P_IN if a == b else P_OUT for b in range(n_blocks)] for a in range(n_blocks)]
        return nx.stochastic_block_model(equal_blocks(n, n_blocks), p, seed=number("blocks"))

    if family in ("uniform", "baseline-symmetric"):
        graph = nx.random_regular_graph(REGULAR_DEGREE, n_nodes, seed=number("graph"))
    elif family == "exponential":
        degrees = _exponential_degrees(family, n_nodes, seed)
        graph = nx.Graph(nx.configuration_model(degrees.tolist(), seed=number("graph")))
        graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    elif family == "scale-free":
        graph = nx.barabasi_albert_graph(n_nodes, ATTACHMENT, seed=number("graph"))
    elif family == "modular":
        graph = blocks(n_nodes, MODULAR_BLOCKS)
    else:
        half = n_nodes // 2
        graph = nx.disjoint_union(
            nx.barabasi_albert_graph(half, ATTACHMENT, seed=number("graph")),
            blocks(n_nodes - half, MIXED_BLOCKS),
        )
        graph.add_edges_from(_bridges(family, n_nodes, seed).tolist())
    return np.array(graph.edges(), dtype=np.int64).reshape(-1, 2)


def _draw_large(family: str, n_nodes: int, seed: int, *, scale: bool) -> NDArray[np.int64]:
    """Return the undirected edges of a family, one per row, for any number of states."""
    from coretail.worlds import large

    rng = stream(family, n_nodes, seed, "graph")

    def blocks(n: int, n_blocks: int, paper_n: int) -> NDArray[np.int64]:
        p_in, p_out = P_IN, P_OUT
        if scale:
            # As many expected neighbours within and outside a state's block as in a paper's graph.
            p_in *= (paper_n / n_blocks - 1) / (n / n_blocks - 1)
            p_out *= paper_n / n
        rng = stream(family, n_nodes, seed, "blocks")
        return large.block_model(equal_blocks(n, n_blocks), p_in, p_out, rng)

    if family in ("uniform", "baseline-symmetric"):
        return large.regular(n_nodes, REGULAR_DEGREE, rng)
    if family == "exponential":
        return large.erased_configuration(_exponential_degrees(family, n_nodes, seed), rng)
    if family == "scale-free":
        return large.preferential_attachment(n_nodes, ATTACHMENT, rng)
    if family == "modular":
        return blocks(n_nodes, MODULAR_BLOCKS, PAPER_SIZE)
    half = n_nodes // 2
    return np.concatenate(
        [
            large.preferential_attachment(half, ATTACHMENT, rng),
            half + blocks(n_nodes - half, MIXED_BLOCKS, PAPER_SIZE - PAPER_SIZE // 2),
            _bridges(family, n_nodes, seed),
        ]
    )


def _exponential_degrees(family: str, n_nodes: int, seed: int) -> NDArray[np.int64]:
    rng = stream(family, n_nodes, seed, "degrees")
    degrees = 1 + np.floor(rng.exponential(EXPONENTIAL_MEAN, n_nodes)).astype(np.int64)
    if degrees.sum() % 2:
        degrees[rng.integers(n_nodes)] += 1
    return degrees


def _bridges(family: str, n_nodes: int, seed: int) -> NDArray[np.int64]:
    """Return distinct pairs of a state of the first and one of the second half."""
    rng = stream(family, n_nodes, seed, "bridges")
    half = n_nodes // 2
    pairs: set[tuple[int, int]] = set()
    while len(pairs) < BRIDGES:
        pairs.add((int(rng.integers(half)), int(rng.integers(half, n_nodes))))
    return np.array(sorted(pairs), dtype=np.int64)


def _strongly_connected(
    edges: NDArray[np.int64], n_nodes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Take undirected edges in both directions, and join their components in a ring."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    sources = np.concatenate([edges[:, 0], edges[:, 1]])
    targets = np.concatenate([edges[:, 1], edges[:, 0]])
    adjacency = coo_array(
        (np.ones(len(sources), dtype=np.int8), (sources, targets)), shape=(n_nodes, n_nodes)
    )
    n_components, component = connected_components(adjacency, directed=False)
    if n_components > 1:
        lowest = np.sort(np.unique(component, return_index=True)[1])
        sources = np.concatenate([sources, lowest])
        targets = np.concatenate([targets, np.roll(lowest, -1)])
    return sources, targets


def _draw_actions(
    family: str, n_nodes: int, seed: int, degrees: NDArray[np.int64]
) -> NDArray[np.int8]:
    most = np.minimum(MAX_ACTIONS, degrees)
    if family == "baseline-symmetric":
        n_actions = most
    else:
        n_actions = stream(family, n_nodes, seed, "actions").integers(1, most, endpoint=True)
    n_edges = int(degrees.sum())
    place = np.arange(n_edges) - np.repeat(np.cumsum(degrees) - degrees, degrees)
    return (place * np.repeat(n_actions, degrees) // np.repeat(degrees, degrees)).astype(np.int8)
