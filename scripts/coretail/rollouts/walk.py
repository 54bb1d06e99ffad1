"""The random-walk control: a walk without intent, whose transitions fill a bounded memory.

At each step the agent first retrieves up to ``k`` items from its memory, in the state before it
moves, and then writes the transition that it walks (paper, Sections 3 and 5.1). The access count
of an item is its reads plus its writes over the whole run, kept when the item is evicted.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coretail.streams import stream
from coretail.worlds.checks import check_choice, check_integer
from coretail.worlds.topology import Topology

RETRIEVERS: tuple[str, ...] = ("uniform_frequency", "state_frequency", "state_uniform", "none")
EVICTIONS: tuple[str, ...] = ("reservoir", "least_frequent")

MAX_STEPS = 1_000_000_000
MAX_CAPACITY = 1_000_000
MAX_K = 1_000
CHUNK = 65_536


@dataclass(frozen=True, slots=True)
class Counters:
    """Bookkeeping of a walk; ``reinforced + admitted + rejected`` is the number of steps.

    Attributes
    ----------
    reinforced
        Writes of a transition that was stored already.
    admitted
        Writes of a transition that entered the memory.
    rejected
        Writes of a transition that the memory did not take.
    evicted
        Items that left the memory for another; ``admitted - evicted`` are stored at the end.
    reads
        Items handed to the agent.
    """

    reinforced: int
    admitted: int
    rejected: int
    evicted: int
    reads: int


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """A random walk, what it wrote to its memory and what it read from it.

    Attributes
    ----------
    reads : int64 array, shape (n_edges,)
        How often each transition was handed to the agent.
    writes : int64 array, shape (n_edges,)
        How often each transition was walked; each time is one write, stored or not.
    visits : int64 array, shape (n_nodes,)
        How many steps began in each state.
    edges : int32 array, shape (steps,)
        The transition walked at each step.
    n_reads : int16 array, shape (steps,)
        The number of items handed to the agent at each step.
    top_accessed : bool array, shape (steps,)
        Whether the step read or wrote the item with the most accesses of the whole run (the
        lowest edge, where several have as many).
    stored : int32 array, shape (steps,)
        The number of stored items after each step.
    counters
        Totals of the run.
    start
        The state in which the first step began.
    """

    reads: NDArray[np.int64]
    writes: NDArray[np.int64]
    visits: NDArray[np.int64]
    edges: NDArray[np.int32]
    n_reads: NDArray[np.int16]
    top_accessed: NDArray[np.bool_]
    stored: NDArray[np.int32]
    counters: Counters
    start: int

    @property
    def access(self) -> NDArray[np.int64]:
        """The access count of each transition, reads plus writes; shape (n_edges,)."""
        return self.reads + self.writes

    @property
    def events(self) -> NDArray[np.int64]:
        """The number of memory events of each step, its reads and its one write; shape (steps,)."""
        return self.n_reads.astype(np.int64) + 1


def check_walk(steps: int, capacity: int, k: int, eviction: str, retriever: str) -> None:
    """Refuse parameters with which no walk can be run.

    Raises
    ------
    InputError
        Naming the key, the value and what is allowed.
    """
    check_integer("steps", steps, 1, MAX_STEPS)
    check_integer("capacity", capacity, 1, MAX_CAPACITY)
    check_integer("k", k, 1, MAX_K)
    check_choice("eviction", eviction, EVICTIONS)
    check_choice("retriever", retriever, RETRIEVERS)


def random_walk(
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
    progress: Callable[[int], None] | None = None,
) -> Walk:
    """Walk a world at random, with a bounded memory of transitions.

    The next state is uniform among the successors. The trajectory's stream derives from the
    world's cell and the replicate alone, so all memories and retrievers of one world meet the
    same trajectory; the memory's stream derives from everything but ``steps``, so a longer walk
    continues a shorter one.

    Parameters
    ----------
    topology
        The world.
    steps
        The number of steps, 1 to 1,000,000,000.
    capacity
        The number of items that the memory can hold, 1 to 1,000,000.
    k
        The most items that one step retrieves, 1 to 1,000.
    eviction
        How a transition that is not stored enters a full memory (it always enters one that is
        not). ``reservoir``: with probability capacity / (writes of transitions not stored so far,
        this one included), in the place of a uniformly chosen item (Algorithm R).
        ``least_frequent``: always, in the place of a least frequent item, ties at random.
    retriever
        ``state_frequency``: the most frequent stored items that have the current state as source
        or target; if there is none, the most frequent of all. ``state_uniform``: a uniform choice
        among the same candidates, without replacement. ``uniform_frequency``: the most frequent
        of all, whatever the state. ``none``: nothing is read. The frequency of an item is its
        writes since it entered, entering included; of equally frequent items the lower edge is
        first.
    reads_feed_frequency
        Count an item's reads as well towards its frequency.
    replicate
        Distinguishes independent walks in one world, from 0.
    start
        The state to start in; drawn uniformly if None.
    progress
        Called with the number of steps done, every 65,536 steps and at the end.

    Raises
    ------
    InputError
        For a parameter outside its range; see :func:`check_walk`.
    """
    from coretail.rollouts import kernel

    check_walk(steps, capacity, k, eviction, retriever)
    # One kernel is compiled for Python's integers, not a further one for numpy's.
    steps, capacity, k = int(steps), int(capacity), int(k)
    if start is not None:
        check_integer("start", start, 0, topology.n_nodes - 1)

    trajectory = stream(*topology.key, "trajectory", int(replicate))
    # Drawn even if it is given, so that naming the state that would be drawn changes nothing.
    drawn = int(trajectory.random() * topology.n_nodes)
    start = drawn if start is None else int(start)
    memory = stream(
        *topology.key,
        "memory",
        int(replicate),
        start,
        retriever,
        eviction,
        capacity,
        k,
        bool(reads_feed_frequency),
    )

    # Fresh arrays of one type whatever the caller's are, so that one compiled kernel fits all.
    indptr = topology.indptr.astype(np.int32)
    targets = np.require(topology.targets, np.int32, ["C", "W"])
    store = kernel.empty_memory(topology.n_nodes, capacity, k)
    scalars = np.zeros(kernel.N_SCALARS, dtype=np.int64)
    scalars[kernel.STATE] = start
    degree = int(indptr[start + 1]) - int(indptr[start])
    scalars[kernel.EDGE] = indptr[start] + int(trajectory.random() * degree)

    edges = np.empty(steps, dtype=np.int32)
    n_reads = np.empty(steps, dtype=np.int16)
    handed = np.empty((steps, 0 if retriever == "none" else k), dtype=np.int32)
    stored = np.empty(steps, dtype=np.int32)
    reads = np.zeros(topology.n_edges, dtype=np.int64)
    writes = np.zeros(topology.n_edges, dtype=np.int64)
    visits = np.zeros(topology.n_nodes, dtype=np.int64)
    for first in range(0, steps, CHUNK):
        last = min(first + CHUNK, steps)
        kernel.advance(
            first,
            last,
            indptr,
            targets,
            trajectory,
            memory,
            capacity,
            k,
            EVICTIONS.index(eviction),
            RETRIEVERS.index(retriever),
            bool(reads_feed_frequency),
            scalars,
            store,
            edges,
            n_reads,
            handed,
            stored,
            reads,
            writes,
            visits,
        )
        if progress is not None:
            progress(last)

    # Only transitions that were walked can have been read.
    counts = reads[edges] + writes[edges]
    top = int(edges[counts == counts.max()].min())
    return Walk(
        reads=reads,
        writes=writes,
        visits=visits,
        edges=edges,
        n_reads=n_reads,
        top_accessed=kernel.accessed(top, edges, n_reads, handed),
        stored=stored,
        counters=Counters(
            reinforced=int(scalars[kernel.REINFORCED]),
            admitted=int(scalars[kernel.ADMITTED]),
            rejected=int(scalars[kernel.REJECTED]),
            evicted=int(scalars[kernel.EVICTED]),
            reads=int(scalars[kernel.READS]),
        ),
        start=start,
    )
