import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coretail.errors import InputError
from coretail.rollouts import kernel, walk
from coretail.rollouts.walk import EVICTIONS, RETRIEVERS, Walk, check_walk, random_walk
from coretail.worlds.topology import FAMILIES, Topology, build_topology, minimum_nodes
from walk_reference import reference_walk


def assert_agrees(world: Topology, **parameters) -> Walk:
    ours, reference = random_walk(world, **parameters), reference_walk(world, **parameters)
    assert ours.start == reference.start
    assert ours.edges.tolist() == reference.edges
    assert ours.n_reads.tolist() == [len(handed) for handed in reference.handed]
    assert ours.stored.tolist() == reference.stored
    assert ours.top_accessed.tolist() == reference.top_accessed()
    assert {int(e): int(ours.reads[e]) for e in np.flatnonzero(ours.reads)} == reference.reads
    assert {int(e): int(ours.writes[e]) for e in np.flatnonzero(ours.writes)} == reference.writes
    visits = np.bincount(reference.visited, minlength=world.n_nodes)
    assert ours.visits.tolist() == visits.tolist()
    counters = ours.counters
    assert (counters.reinforced, counters.admitted, counters.rejected, counters.evicted) == (
        reference.reinforced,
        reference.admitted,
        reference.rejected,
        reference.evicted,
    )
    assert counters.reads == sum(map(len, reference.handed))
    return ours


@pytest.mark.parametrize("retriever", RETRIEVERS)
@pytest.mark.parametrize("eviction", EVICTIONS)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_engine_agrees_with_the_reference_on_every_family(family, eviction, retriever):
    world = build_topology(family, 100, 42)
    ours = assert_agrees(
        world, steps=1500, capacity=40, eviction=eviction, retriever=retriever, replicate=2
    )
    assert ours.counters.evicted > 50
    assert ours.counters.reinforced > 50


@pytest.mark.parametrize("retriever", RETRIEVERS[:3])
@pytest.mark.parametrize("eviction", EVICTIONS)
def test_the_engine_agrees_where_reads_feed_the_frequency(eviction, retriever):
    assert_agrees(
        build_topology("scale-free", 100, 43),
        steps=1500,
        capacity=40,
        eviction=eviction,
        retriever=retriever,
        reads_feed_frequency=True,
    )


@pytest.mark.parametrize("eviction", EVICTIONS)
def test_the_engine_agrees_at_the_size_and_capacity_of_the_paper(eviction):
    assert_agrees(build_topology("mixed", 1000, 44), steps=3000, eviction=eviction)


@given(
    family=st.sampled_from(FAMILIES),
    above_minimum=st.integers(0, 20),
    seed=st.integers(0, 1000),
    steps=st.integers(1, 300),
    capacity=st.integers(1, 30),
    k=st.integers(1, 12),
    eviction=st.sampled_from(EVICTIONS),
    retriever=st.sampled_from(RETRIEVERS),
    reads_feed_frequency=st.booleans(),
    replicate=st.integers(0, 3),
    start=st.none() | st.integers(0, 3),
)
@settings(max_examples=150, deadline=None)
def test_the_engine_agrees_whatever_the_parameters(family, above_minimum, seed, **parameters):
    assert_agrees(build_topology(family, minimum_nodes(family) + above_minimum, seed), **parameters)


def ring() -> Topology:
    """A world without choice: 0 to 1 by edge 0, 1 to 2 by edge 1, 2 to 0 by edge 2."""
    return Topology(
        family="uniform",
        n_nodes=3,
        seed=1,
        indptr=np.arange(4),
        targets=np.array([1, 2, 0], dtype=np.int32),
        actions=np.zeros(3, dtype=np.int8),
    )


def test_state_frequency_by_hand():
    # Steps 1, 3 and 4 read edge 0 (alone, then tied with edge 2, then more frequent than edge 1),
    # steps 2 and 5 read edge 1.
    result = random_walk(ring(), steps=6, capacity=3, k=1, start=0)
    assert result.edges.tolist() == [0, 1, 2, 0, 1, 2]
    assert result.reads.tolist() == [3, 2, 0]
    assert result.writes.tolist() == [2, 2, 2]
    assert result.access.tolist() == [5, 4, 2]
    assert result.visits.tolist() == [2, 2, 2]
    assert result.n_reads.tolist() == [0, 1, 1, 1, 1, 1]
    assert result.events.tolist() == [1, 2, 2, 2, 2, 2]
    assert result.stored.tolist() == [1, 2, 3, 3, 3, 3]
    assert result.top_accessed.tolist() == [True, True, False, True, True, False]
    assert result.counters == walk.Counters(
        reinforced=3, admitted=3, rejected=0, evicted=0, reads=5
    )


def test_uniform_frequency_by_hand():
    # The lower edge wins each tie, so edge 0 is read at every step but the first.
    result = random_walk(ring(), steps=6, capacity=3, k=1, retriever="uniform_frequency", start=0)
    assert result.reads.tolist() == [5, 0, 0]


def test_a_state_that_no_item_touches_falls_back_to_all_items():
    # One slot in a ring of six states: while the reservoir keeps a transition, the walk moves on
    # to states that it does not touch, and reads it all the same.
    n = 6
    world = Topology(
        family="uniform",
        n_nodes=n,
        seed=1,
        indptr=np.arange(n + 1),
        targets=np.roll(np.arange(n, dtype=np.int32), -1),
        actions=np.zeros(n, dtype=np.int8),
    )
    result = random_walk(world, steps=12, capacity=1, k=1, start=0)
    assert result.n_reads.tolist() == [0] + [1] * 11
    assert result.counters.rejected >= 3


def test_without_retrieval_nothing_is_read_and_access_is_traversals():
    result = random_walk(build_topology("uniform", 100, 42), steps=2000, retriever="none")
    assert result.reads.sum() == result.n_reads.sum() == result.counters.reads == 0
    assert np.array_equal(result.access, np.bincount(result.edges, minlength=600))


@pytest.mark.parametrize("eviction", EVICTIONS)
@pytest.mark.parametrize("retriever", RETRIEVERS)
def test_the_books_balance(eviction, retriever):
    world = build_topology("exponential", 500, 42)
    result = random_walk(world, steps=20_000, eviction=eviction, retriever=retriever)
    counters = result.counters
    assert counters.reinforced + counters.admitted + counters.rejected == 20_000
    assert counters.admitted - counters.evicted == result.stored[-1] == 200
    assert result.stored.max() == 200
    assert result.writes.sum() == result.visits.sum() == 20_000
    assert result.reads.sum() == result.n_reads.sum() == counters.reads
    assert np.array_equal(result.visits, np.bincount(world.sources[result.edges], minlength=500))
    assert np.array_equal(world.targets[result.edges[:-1]], world.sources[result.edges[1:]])
    assert world.sources[result.edges[0]] == result.start
    assert not np.any(result.reads[result.writes == 0])
    assert result.n_reads[0] == 0
    assert (counters.rejected == 0) == (eviction == "least_frequent")


def test_the_walk_is_uniform_over_successors():
    world = build_topology("exponential", 100, 42)
    result = random_walk(world, steps=200_000, retriever="none")
    hub = int(np.argmax(np.diff(world.indptr)))
    counts = result.writes[world.indptr[hub] : world.indptr[hub + 1]]
    expected, freedom = counts.mean(), len(counts) - 1
    chi2 = np.sum((counts - expected) ** 2 / expected)
    assert chi2 < freedom + 5 * np.sqrt(2 * freedom)


def test_the_reservoir_admits_with_capacity_over_offers():
    # A large world hardly ever offers a transition twice, so nearly every step is an offer.
    result = random_walk(
        build_topology("uniform", 20_000, 42), steps=20_000, capacity=50, retriever="none"
    )
    offers = result.counters.admitted + result.counters.rejected
    p = 50 / np.arange(51, offers + 1)
    admitted = result.counters.admitted - 50
    assert abs(admitted - p.sum()) < 5 * np.sqrt(np.sum(p * (1 - p)))


def test_all_memories_of_a_world_walk_the_same_trajectory():
    world = build_topology("modular", 100, 42)
    edges = random_walk(world, steps=1000).edges
    for eviction in EVICTIONS:
        for retriever in RETRIEVERS:
            other = random_walk(
                world, steps=1000, capacity=20, k=5, eviction=eviction, retriever=retriever
            )
            assert np.array_equal(other.edges, edges)
    assert not np.array_equal(random_walk(world, steps=1000, replicate=1).edges, edges)


def test_naming_the_start_that_would_be_drawn_changes_nothing():
    world = build_topology("uniform", 100, 42)
    drawn = random_walk(world, steps=1000)
    named = random_walk(world, steps=1000, start=drawn.start)
    assert np.array_equal(drawn.edges, named.edges)
    assert np.array_equal(drawn.reads, named.reads)
    assert random_walk(world, steps=10, start=7).start == 7


def test_a_longer_walk_continues_a_shorter_one():
    world = build_topology("scale-free", 100, 42)
    short, long = random_walk(world, steps=700), random_walk(world, steps=1500)
    for series in ("edges", "n_reads", "stored"):
        assert np.array_equal(getattr(long, series)[:700], getattr(short, series))
    assert np.all(long.reads >= short.reads)


def test_the_length_of_chunks_changes_nothing_and_progress_is_told(monkeypatch):
    world = build_topology("scale-free", 100, 42)
    told: list[int] = []
    whole = random_walk(world, steps=1000, eviction="least_frequent", progress=told.append)
    assert told == [1000]
    monkeypatch.setattr(walk, "CHUNK", 300)
    told.clear()
    parts = random_walk(world, steps=1000, eviction="least_frequent", progress=told.append)
    assert told == [300, 600, 900, 1000]
    for name in ("edges", "reads", "writes", "visits", "n_reads", "stored", "top_accessed"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name))
    assert whole.counters == parts.counters


def test_read_only_worlds_run_on_the_one_compiled_kernel():
    world = build_topology("uniform", 100, 42)
    expected = random_walk(world, steps=500)
    for array in (world.indptr, world.targets, world.actions):
        array.setflags(write=False)
    result = random_walk(world, steps=500, retriever="state_frequency")
    random_walk(world, steps=np.int64(50), k=np.int32(2), start=np.int64(3))
    assert np.array_equal(result.reads, expected.reads)
    assert len(kernel.advance.signatures) == 1


def test_the_types_are_those_documented():
    result = random_walk(build_topology("uniform", 100, 42), steps=10)
    types = {
        "reads": np.int64, "writes": np.int64, "visits": np.int64, "edges": np.int32,
        "n_reads": np.int16, "top_accessed": np.bool_, "stored": np.int32, "access": np.int64,
        "events": np.int64,
    }  # fmt: skip
    assert {name: getattr(result, name).dtype for name in types} == types


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"steps": 0}, r"steps: 0 is not allowed; allowed are integers from 1 to 1000000000"),
        ({"steps": 1e5}, r"steps: 100000\.0 is not allowed"),
        ({"capacity": 0}, r"capacity: 0 is not allowed; allowed are integers from 1 to 1000000"),
        ({"capacity": True}, r"capacity: True is not allowed"),
        ({"k": 0}, r"k: 0 is not allowed; allowed are integers from 1 to 1000"),
        ({"k": "3"}, r"k: '3' is not allowed"),
        ({"eviction": "lru"}, r"eviction: 'lru' is unknown; allowed are reservoir, least_freq"),
        ({"retriever": "bm25"}, r"retriever: 'bm25' is unknown; allowed are uniform_frequency, "),
    ],
)
def test_impossible_walks_are_refused(changed, message):
    parameters = {
        "steps": 10,
        "capacity": 200,
        "k": 3,
        "eviction": "reservoir",
        "retriever": "state_frequency",
        **changed,
    }
    with pytest.raises(InputError, match=message):
        check_walk(**parameters)
    with pytest.raises(InputError, match=message):
        random_walk(build_topology("uniform", 100, 42), **parameters)


def test_a_start_outside_the_world_is_refused():
    with pytest.raises(InputError, match=r"start: 100 is not allowed; .* from 0 to 99"):
        random_walk(build_topology("uniform", 100, 42), steps=10, start=100)
