"""The columns of a memory against a plain list, through evictions and growth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coretail.errors import InputError
from coretail.memory.store import TransitionStore
from coretail.streams import stream
from memory_world import WALK, complete, world

VIEW = complete(list("abcdef"))
WIDE = complete([f"s{number}" for number in range(20)])


class Plain:
    """The same memory as a list of dictionaries, written from the definitions."""

    def __init__(self, rng, capacity, eviction):
        self.rng, self.capacity, self.eviction = rng, capacity, eviction
        self.held, self.offers, self.clock = [], 0, 0

    def write(self, edge):
        now, self.clock = self.clock, self.clock + 1
        for item in self.held:
            if item["edge"] == edge:
                item["support"] += 1
                item["last"] = now
                return
        self.offers += 1
        new = {"edge": edge, "support": 1, "last": now}
        if len(self.held) < self.capacity:
            self.held.append(new)
        elif self.eviction == "reservoir":
            place = int(self.rng.random() * self.offers)
            if place < self.capacity:
                self.held[place] = new
        else:
            fewest = min(item["support"] for item in self.held)
            ties = [i for i, item in enumerate(self.held) if item["support"] == fewest]
            self.held[ties[int(self.rng.random() * len(ties))]] = new


def columns(store):
    return [
        {"edge": edge, "support": support, "last": last}
        for edge, support, last in zip(
            store.edges.tolist(), store.support.tolist(), store.last.tolist(), strict=True
        )
    ]


@settings(max_examples=60, deadline=None)
@given(
    walk=st.lists(st.integers(0, VIEW.topology.n_edges - 1), max_size=60),
    capacity=st.integers(1, 6),
    eviction=st.sampled_from(["reservoir", "least_frequent"]),
    seed=st.integers(0, 9),
)
def test_the_columns_stay_in_step_with_the_slots(walk, capacity, eviction, seed):
    store = TransitionStore(VIEW, stream("store", seed), capacity, eviction)
    plain = Plain(stream("store", seed), capacity, eviction)
    for edge in walk:
        store.write(edge)
        plain.write(edge)
        assert columns(store) == plain.held
        assert (store.clock, len(store)) == (plain.clock, len(plain.held))
        assert len(set(store.last.tolist())) == len(store)


def test_a_store_without_bounds_grows_and_keeps_all():
    # 380 transitions are more than the columns are made for at first, twice over.
    walk = stream("walk").permutation(np.repeat(np.arange(WIDE.topology.n_edges), 2)).tolist()
    store = TransitionStore(WIDE, stream("unused"))
    for edge in walk:
        store.write(edge)
    assert store.edges.tolist() == list(dict.fromkeys(walk))
    assert set(store.support.tolist()) == {2}
    position = {edge: step for step, edge in enumerate(walk)}
    assert store.last.tolist() == [position[edge] for edge in store.edges.tolist()]


def test_a_walk_by_hand():
    store = TransitionStore(world(), stream("unused"))
    assert len(store) == store.clock == 0
    assert store.edges.size == 0
    for edge in WALK:
        store.write(edge)
    assert store.edges.tolist() == [0, 3, 1, 4, 2, 6]
    assert store.support.tolist() == [2, 3, 1, 1, 1, 1]
    assert store.last.tolist() == [4, 8, 2, 3, 6, 7]
    assert store.clock == 9


class Draws:
    """A generator that draws what it is told to."""

    def __init__(self, *values):
        self.values = list(values)

    def random(self):
        return self.values.pop(0)


def test_what_enters_a_slot_again_begins_anew():
    # Third offer: slot int(0.4 * 3) = 1. Fourth: int(0.3 * 4) = 1 again. Fifth: int(0.9 * 5) = 4,
    # beyond the two slots.
    store = TransitionStore(world(), Draws(0.4, 0.3, 0.9), 2)
    for edge in (0, 3, 3, 1, 3, 4):
        store.write(edge)
    assert columns(store) == [
        {"edge": 0, "support": 1, "last": 0},
        {"edge": 3, "support": 1, "last": 4},
    ]
    assert store.clock == 6


@pytest.mark.parametrize(
    ("options", "message"), [((0,), "capacity: 0"), ((5, "oldest"), "eviction: 'oldest'")]
)
def test_parameters_out_of_range_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        TransitionStore(world(), stream("unused"), *options)
