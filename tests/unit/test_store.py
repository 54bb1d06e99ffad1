"""The plain bounded store: by hand, and against the compiled walk on the same trajectory."""

import numpy as np
import pytest

from coretail.errors import InputError
from coretail.rollouts.store import BoundedStore, cell_store
from coretail.rollouts.walk import random_walk
from coretail.worlds.topology import build_topology
from walk_reference import reference_walk


class Draws:
    """A generator that draws what it is told to."""

    def __init__(self, *values: float) -> None:
        self.values = list(values)

    def random(self) -> float:
        return self.values.pop(0)


def store(*draws: float, **options) -> BoundedStore:
    return BoundedStore(Draws(*draws), **options)


@pytest.mark.parametrize("family", ["scale-free", "modular", "uniform"])
@pytest.mark.parametrize("eviction", ["reservoir", "least_frequent"])
@pytest.mark.parametrize("capacity", [1, 7, 40])
@pytest.mark.parametrize("feeds", [False, True])
def test_it_agrees_with_the_compiled_walk(family, eviction, capacity, feeds):
    topology = build_topology(family, 60, 42)
    options = {"capacity": capacity, "k": 3, "eviction": eviction, "reads_feed_frequency": feeds}
    walk = random_walk(topology, steps=3000, replicate=2, start=5, **options)
    reference = reference_walk(topology, steps=3000, replicate=2, start=5, **options)

    memory = cell_store(topology, start=5, replicate=2, **options)
    handed, stored = [], []
    for edge in walk.edges.tolist():
        source, target = int(topology.sources[edge]), int(topology.targets[edge])
        handed.append(memory.retrieve(source))
        memory.write(edge, source, target)
        stored.append(len(memory))

    assert memory.counters == walk.counters
    assert stored == walk.stored.tolist()
    assert [len(items) for items in handed] == walk.n_reads.tolist()
    reads = np.bincount([e for items in handed for e in items], minlength=topology.n_edges)
    assert reads.tolist() == walk.reads.tolist()
    assert handed == reference.handed
    assert walk.counters.rejected > 0 or eviction == "least_frequent" or capacity == 40


def test_the_most_frequent_items_that_touch_the_state_are_handed_out():
    memory = store(k=2)
    assert memory.retrieve(0) == []
    for edge, source, target in [(9, 0, 1), (4, 1, 0), (7, 2, 0), (7, 2, 0), (3, 5, 6)]:
        memory.write(edge, source, target)
    # Touching state 0: edge 7 twice, then 4 before 9, the lower of two with one write each.
    assert memory.retrieve(0) == [7, 4]
    assert memory.retrieve(1) == [4, 9]
    assert memory.retrieve(6) == [3]
    # Nothing touches state 8: the best of all.
    assert memory.retrieve(8) == [7, 3]
    assert memory.counters.reads == 7
    assert (memory.counters.admitted, memory.counters.reinforced) == (4, 1)


def test_reads_feed_the_frequency_only_if_they_are_told_to():
    for feeds, best in ((False, [3]), (True, [8])):
        memory = store(k=1, reads_feed_frequency=feeds)
        memory.write(8, 1, 2)
        memory.retrieve(1)
        memory.write(3, 1, 4)
        assert memory.retrieve(1) == best


def test_a_full_reservoir_takes_an_item_with_probability_capacity_over_offers():
    # The third offer meets a full store of two: 0.3 * 3 is slot 0, 0.9 * 4 is beyond the store.
    memory = store(0.3, 0.9, capacity=2)
    for edge in (1, 2, 3, 4):
        memory.write(edge, 0, edge)
    assert sorted(memory.retrieve(0)) == [2, 3]
    assert (memory.counters.evicted, memory.counters.rejected) == (1, 1)
    # An evicted item is reached by none of its states.
    assert memory.retrieve(1) == [2, 3]


def test_a_least_frequent_item_makes_room():
    memory = store(0.0, 0.6, capacity=3, eviction="least_frequent")
    for edge in (1, 1, 2, 3, 4, 4, 5):
        memory.write(edge, 0, edge)
    # 4 takes the place of 2, the first of two with one write; then 3 alone has one.
    assert memory.retrieve(0) == [1, 4, 5]


def test_an_item_that_comes_back_starts_anew():
    memory = store(0.0, 0.0, capacity=1, k=1)
    memory.write(1, 0, 1)
    memory.write(1, 0, 1)
    memory.write(2, 0, 2)
    memory.write(1, 0, 1)
    assert memory.counters.evicted == 2
    assert memory.counters.reinforced == 1
    assert memory.retrieve(0) == [1]


@pytest.mark.parametrize(
    "options", [{"capacity": 0}, {"k": 0}, {"eviction": "oldest"}, {"capacity": 1.5}]
)
def test_parameters_out_of_range_are_refused(options):
    (key,) = options
    with pytest.raises(InputError, match=key):
        store(**options)
