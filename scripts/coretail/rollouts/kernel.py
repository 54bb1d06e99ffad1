"""The compiled inner loop of the random walk with a bounded memory.

Everything that calls each other stays in this one module, because numba's on-disk cache does not
notice edits in other modules. One call advances the walk by a chunk of steps; all state lives in
the arrays of the caller, so that chunks of any length give the same run.

Stored items occupy *slots*. An item is reached in three ways, and none of them searches the graph
or, as a rule, the whole store: by the state that it touches (each slot is in two linked lists, of
the items with that source and of those with that target), by its rank among all items (the list
``best``, kept up to date, and made anew only after one of its members was evicted), and by its
slot (a random victim).
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.int32]
Totals = NDArray[np.int64]

RESERVOIR, LEAST_FREQUENT = 0, 1
UNIFORM_FREQUENCY, STATE_FREQUENCY, STATE_UNIFORM, NONE = 0, 1, 2, 3

# Positions in the vector of scalars that a chunk hands to the next.
STATE, EDGE, STORED, OFFERS, BEST, REINFORCED, ADMITTED, REJECTED, EVICTED, READS = range(10)
N_SCALARS = 10


def empty_memory(n_nodes: int, capacity: int, k: int) -> tuple[Array, ...]:
    """Return the arrays of an empty memory, which :func:`advance` takes as ``store``.

    By slot: ``item`` (the edge) and ``frequency``. Of the linked lists: slot i is node 2 i + 1 in
    the list of its source and node 2 i + 2 in the list of its target, and node 0 is none;
    ``after`` holds the node after each node, and behind the nodes the first node of each state's
    list; ``before`` holds the place in ``after`` that leads to a node. Last, ``best`` (the best
    slots of all) and ``chosen`` (room for one retrieval's candidates).
    """
    return (
        np.zeros(capacity, dtype=np.int32),
        np.zeros(capacity, dtype=np.int32),
        np.zeros(2 * capacity + 1 + n_nodes, dtype=np.int32),
        np.zeros(2 * capacity + 1, dtype=np.int32),
        np.zeros(k, dtype=np.int32),
        np.zeros(max(k, capacity), dtype=np.int32),
    )


@njit(cache=True)
def _precedes(a: int, b: int, item: Array, frequency: Array) -> bool:
    """Whether slot ``a`` ranks before slot ``b``: more frequent, then the lower edge."""
    # One comparison without a branch: which item ranks first is hard to predict.
    return (np.int64(frequency[a]) << 32) - item[a] > (np.int64(frequency[b]) << 32) - item[b]


@njit(cache=True)
def _move_up(slot: int, place: int, ranked: Array, item: Array, frequency: Array) -> None:
    """Put ``slot``, which belongs at ``place`` or further up, where it belongs."""
    while place > 0 and _precedes(slot, ranked[place - 1], item, frequency):
        ranked[place] = ranked[place - 1]
        place -= 1
    ranked[place] = slot


@njit(cache=True)
def _enter(slot: int, ranked: Array, length: int, limit: int, item: Array, frequency: Array) -> int:
    """Offer ``slot`` to a list of the ``limit`` best; return the list's new length."""
    if length < limit:
        _move_up(slot, length, ranked, item, frequency)
        return length + 1
    if _precedes(slot, ranked[length - 1], item, frequency):
        _move_up(slot, length - 1, ranked, item, frequency)
    return length


@njit(cache=True)
def _promote(
    slot: int, ranked: Array, length: int, limit: int, item: Array, frequency: Array
) -> int:
    """Restore the order of a list of the ``limit`` best after ``slot`` became more frequent."""
    for place in range(length):
        if ranked[place] == slot:
            _move_up(slot, place, ranked, item, frequency)
            return length
    return _enter(slot, ranked, length, limit, item, frequency)


@njit(cache=True)
def _link(node: int, head: int | np.int64, after: Array, before: Array) -> None:
    # Node 0 takes the writes that are meant for nobody, which saves the branches.
    first = after[head]
    after[node] = first
    before[first] = node
    after[head] = node
    before[node] = head


@njit(cache=True)
def _unlink(node: int, after: Array, before: Array) -> None:
    after[before[node]] = after[node]
    before[after[node]] = before[node]


@njit(cache=True)
def _least_frequent(frequency: Array, size: int, rng: np.random.Generator) -> int:
    """Return one of the slots of the lowest frequency, all equally likely, taken in slot order."""
    # Nearly always the lowest frequency is 1, that of the item that entered last.
    lowest = np.int32(1)
    ties = 0
    for slot in range(size):
        ties += frequency[slot] == lowest
    if ties == 0:
        lowest = frequency[0]
        for slot in range(size):
            lowest = min(lowest, frequency[slot])
        for slot in range(size):
            ties += frequency[slot] == lowest
    skip = int(rng.random() * ties)
    slot = 0
    while frequency[slot] != lowest or skip > 0:
        skip -= frequency[slot] == lowest
        slot += 1
    return slot


@njit(cache=True)
def advance(
    first: int,
    last: int,
    indptr: Array,
    targets: Array,
    trajectory: np.random.Generator,
    memory: np.random.Generator,
    capacity: int,
    k: int,
    eviction: int,
    retriever: int,
    reads_feed_frequency: bool,
    scalars: Totals,
    store: tuple[Array, ...],
    edges: Array,
    n_reads: NDArray[np.int16],
    handed: Array,
    stored: Array,
    reads: Totals,
    writes: Totals,
    visits: Totals,
) -> None:
    """Advance the walk from step ``first`` to before step ``last``; see ``walk.random_walk``."""
    item, frequency, after, before, best, chosen = store
    state, edge = scalars[STATE], scalars[EDGE]
    size, offers, n_best = scalars[STORED], scalars[OFFERS], scalars[BEST]
    target = np.int64(targets[edge])
    heads = 2 * capacity + 1
    ranks = retriever in (UNIFORM_FREQUENCY, STATE_FREQUENCY)
    by_state = retriever in (STATE_FREQUENCY, STATE_UNIFORM)
    begun = np.empty(last - first, dtype=np.int32)
    for step in range(first, last):
        # The walk runs one step ahead, so that it waits for memory while the store is updated.
        begin = indptr[target]
        next_edge = begin + np.int64(trajectory.random() * (indptr[target + 1] - begin))
        next_target = np.int64(targets[next_edge])

        # Retrieval, before the transition is written. A stored transition touches its source, so
        # the same pass finds it.
        slot_of_edge = -1
        touching = 0
        node = after[heads + state]
        while node > 0:
            slot = (node - 1) >> 1
            if item[slot] == edge:
                slot_of_edge = slot
            chosen[touching] = slot
            touching += 1
            node = after[node]
        if not by_state:
            touching = 0
        n_chosen = min(k, touching)
        if retriever == STATE_UNIFORM:
            for place in range(1, touching):
                slot = chosen[place]
                while place > 0 and chosen[place - 1] > slot:
                    chosen[place] = chosen[place - 1]
                    place -= 1
                chosen[place] = slot
            if touching == 0:
                for slot in range(size):
                    chosen[slot] = slot
                touching = size
                n_chosen = min(k, size)
            for place in range(n_chosen):
                other = place + np.int64(memory.random() * (touching - place))
                slot = chosen[other]
                chosen[other] = chosen[place]
                chosen[place] = slot
        elif touching > k:
            for place in range(touching):
                _enter(chosen[place], chosen, min(place, k), k, item, frequency)
        elif ranks and touching == 0:
            if n_best < 0:
                n_best = 0
                for slot in range(size):
                    n_best = _enter(slot, best, n_best, k, item, frequency)
            n_chosen = n_best
            for place in range(n_best):
                chosen[place] = best[place]
        for place in range(n_chosen):
            read = item[chosen[place]]
            handed[step, place] = read
            reads[read] += 1
        if reads_feed_frequency:
            for place in range(n_chosen):
                frequency[chosen[place]] += 1
                if ranks and n_best >= 0:
                    n_best = _promote(chosen[place], best, n_best, k, item, frequency)
        n_reads[step] = n_chosen
        scalars[READS] += n_chosen

        # The write of the transition walked.
        begun[step - first] = state
        edges[step] = edge
        if slot_of_edge >= 0:
            scalars[REINFORCED] += 1
            frequency[slot_of_edge] += 1
            if ranks and n_best >= 0:
                n_best = _promote(slot_of_edge, best, n_best, k, item, frequency)
        else:
            offers += 1
            slot = size
            if size == capacity:
                if eviction == RESERVOIR:
                    slot = np.int64(memory.random() * offers)
                else:
                    slot = _least_frequent(frequency, size, memory)
            if slot >= capacity:
                scalars[REJECTED] += 1
            else:
                if size == capacity:
                    scalars[EVICTED] += 1
                    _unlink(2 * slot + 1, after, before)
                    _unlink(2 * slot + 2, after, before)
                    if n_best > 0 and not _precedes(best[n_best - 1], slot, item, frequency):
                        n_best = -1
                else:
                    size += 1
                scalars[ADMITTED] += 1
                item[slot] = edge
                frequency[slot] = 1
                _link(2 * slot + 1, heads + state, after, before)
                _link(2 * slot + 2, heads + target, after, before)
                # Its frequency is 1: as a rule all of the best are more frequent.
                if ranks and n_best >= 0 and (n_best < k or frequency[best[n_best - 1]] == 1):
                    n_best = _enter(slot, best, n_best, k, item, frequency)
        stored[step] = size
        state, edge, target = target, next_edge, next_target
    # Counted apart from the walk: independent increments wait for memory together, not in turn.
    for step in range(first, last):
        writes[edges[step]] += 1
    for state_begun in begun:
        visits[state_begun] += 1
    scalars[STATE], scalars[EDGE] = state, edge
    scalars[STORED], scalars[OFFERS], scalars[BEST] = size, offers, n_best


@njit(cache=True)
def accessed(
    top: int, edges: Array, n_reads: NDArray[np.int16], handed: Array
) -> NDArray[np.bool_]:
    """Mark the steps that wrote or were handed the item ``top``."""
    marks = np.empty(len(edges), dtype=np.bool_)
    for step in range(len(edges)):
        mark = edges[step] == top
        for place in range(n_reads[step]):
            mark = mark or handed[step, place] == top
        marks[step] = mark
    return marks
