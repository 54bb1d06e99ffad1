"""The compiled inner loop of the random walk with a bounded memory.

Everything that calls each other stays in this one module, because numba's on-disk cache does not
notice edits in other modules. One call advances the walk by a chunk of steps; all state lives in
the arrays of the caller, so that chunks of any length give the same run.

Stored items occupy *slots*. An item is reached in three ways, and none scans the store or the
graph: by the state that it touches (two doubly linked lists per slot, one of the items with that
source or target), by its rank among all items (the ``best`` list, kept up to date, and rebuilt
only after one of its members was evicted), and by its slot (a random victim).
"""

import numpy as np
from numba import njit

RESERVOIR, LEAST_FREQUENT = 0, 1
UNIFORM_FREQUENCY, STATE_FREQUENCY, STATE_UNIFORM, NONE = 0, 1, 2, 3

# Positions in the vector of scalars that a chunk hands to the next.
STATE, EDGE, STORED, OFFERS, BEST, REINFORCED, ADMITTED, REJECTED, EVICTED, READS = range(10)
N_SCALARS = 10


@njit(cache=True)
def _precedes(a, b, item, frequency):
    """Whether slot ``a`` ranks before slot ``b``: more frequent, then the lower edge id."""
    return frequency[a] > frequency[b] or (frequency[a] == frequency[b] and item[a] < item[b])


@njit(cache=True)
def _insert(slot, ranked, length, limit, item, frequency):
    """Put ``slot`` in its place among the ``limit`` best; return the list's new length."""
    if length < limit:
        length += 1
    elif not _precedes(slot, ranked[length - 1], item, frequency):
        return length
    place = length - 1
    while place > 0 and _precedes(slot, ranked[place - 1], item, frequency):
        ranked[place] = ranked[place - 1]
        place -= 1
    ranked[place] = slot
    return length


@njit(cache=True)
def _raise(slot, ranked, length, limit, item, frequency):
    """Restore the order of the best list after the rank of ``slot`` rose."""
    for place in range(length):
        if ranked[place] == slot:
            while place > 0 and _precedes(slot, ranked[place - 1], item, frequency):
                ranked[place] = ranked[place - 1]
                place -= 1
            ranked[place] = slot
            return length
    return _insert(slot, ranked, length, limit, item, frequency)


@njit(cache=True)
def _link(node, state, head, after, before):
    old = head[state]
    after[node] = old
    before[node] = -1
    if old >= 0:
        before[old] = node
    head[state] = node


@njit(cache=True)
def _unlink(node, state, head, after, before):
    nxt, previous = after[node], before[node]
    if previous >= 0:
        after[previous] = nxt
    else:
        head[state] = nxt
    if nxt >= 0:
        before[nxt] = previous


@njit(cache=True)
def advance(
    first,
    last,
    indptr,
    targets,
    trajectory,
    memory,
    capacity,
    k,
    eviction,
    retriever,
    reads_feed_frequency,
    scalars,
    item,
    ends,
    frequency,
    head,
    after,
    before,
    best,
    chosen,
    walked,
    n_reads,
    handed,
    stored,
    reads,
    writes,
    visits,
):
    state, edge = scalars[STATE], scalars[EDGE]
    size, offers, n_best = scalars[STORED], scalars[OFFERS], scalars[BEST]
    target = np.int64(targets[edge])
    ranks = retriever == UNIFORM_FREQUENCY or retriever == STATE_FREQUENCY
    for step in range(first, last):
        # The walk runs one step ahead, so that its cache misses overlap the work on the memory.
        begin = indptr[target]
        next_edge = begin + np.int64(trajectory.random() * (indptr[target + 1] - begin))
        next_target = np.int64(targets[next_edge])

        # Retrieval, before the transition is written.
        slot_of_edge = -1
        n_chosen = 0
        touching = 0
        node = head[state]
        if retriever == STATE_FREQUENCY:
            while node >= 0:
                slot = node >> 1
                if item[slot] == edge:
                    slot_of_edge = slot
                n_chosen = _insert(slot, chosen, n_chosen, k, item, frequency)
                node = after[node]
            touching = n_chosen
        else:
            while node >= 0:
                slot = node >> 1
                if item[slot] == edge:
                    slot_of_edge = slot
                if retriever == STATE_UNIFORM:
                    place = touching
                    while place > 0 and chosen[place - 1] > slot:
                        chosen[place] = chosen[place - 1]
                        place -= 1
                    chosen[place] = slot
                    touching += 1
                node = after[node]
        if retriever == STATE_UNIFORM:
            if touching == 0:
                for slot in range(size):
                    chosen[slot] = slot
                touching = size
            n_chosen = min(k, touching)
            for place in range(n_chosen):
                other = place + np.int64(memory.random() * (touching - place))
                slot = chosen[other]
                chosen[other] = chosen[place]
                chosen[place] = slot
        elif ranks and touching == 0:
            if n_best < 0:
                n_best = 0
                for slot in range(size):
                    n_best = _insert(slot, best, n_best, k, item, frequency)
            n_chosen = n_best
            for place in range(n_best):
                chosen[place] = best[place]
        for place in range(n_chosen):
            slot = chosen[place]
            handed[step, place] = item[slot]
            reads[item[slot]] += 1
        if reads_feed_frequency:
            for place in range(n_chosen):
                frequency[chosen[place]] += 1
                if ranks and n_best >= 0:
                    n_best = _raise(chosen[place], best, n_best, k, item, frequency)
        n_reads[step] = n_chosen
        scalars[READS] += n_chosen

        # The write of the transition walked.
        walked[step] = edge
        writes[edge] += 1
        visits[state] += 1
        if slot_of_edge >= 0:
            scalars[REINFORCED] += 1
            frequency[slot_of_edge] += 1
            if ranks and n_best >= 0:
                n_best = _raise(slot_of_edge, best, n_best, k, item, frequency)
        else:
            offers += 1
            slot = size
            if size == capacity:
                if eviction == RESERVOIR:
                    slot = np.int64(memory.random() * offers)
                else:
                    lowest = frequency[0]
                    for other in range(size):
                        lowest = min(lowest, frequency[other])
                    ties = 0
                    for other in range(size):
                        ties += frequency[other] == lowest
                    skip = np.int64(memory.random() * ties)
                    slot = 0
                    while frequency[slot] != lowest or skip > 0:
                        skip -= frequency[slot] == lowest
                        slot += 1
            if slot >= capacity:
                scalars[REJECTED] += 1
            else:
                if size == capacity:
                    scalars[EVICTED] += 1
                    _unlink(2 * slot, ends[slot, 0], head, after, before)
                    _unlink(2 * slot + 1, ends[slot, 1], head, after, before)
                    for place in range(n_best):
                        if best[place] == slot:
                            n_best = -1
                            break
                else:
                    size += 1
                scalars[ADMITTED] += 1
                item[slot] = edge
                frequency[slot] = 1
                ends[slot, 0] = state
                ends[slot, 1] = target
                _link(2 * slot, state, head, after, before)
                _link(2 * slot + 1, target, head, after, before)
                if ranks and n_best >= 0:
                    n_best = _insert(slot, best, n_best, k, item, frequency)
        stored[step] = size
        state, edge, target = target, next_edge, next_target
    scalars[STATE], scalars[EDGE] = state, edge
    scalars[STORED], scalars[OFFERS], scalars[BEST] = size, offers, n_best
