import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from coretail.errors import InputError
from coretail.streams import stream
from coretail.worlds import large
from coretail.worlds.topology import (
    FAMILIES,
    Topology,
    build_topology,
    check_world,
    equal_blocks,
    maximum_nodes,
    minimum_nodes,
)

REGULAR = ("uniform", "baseline-symmetric")


def pairs(world: Topology) -> set[tuple[int, int]]:
    return set(zip(world.sources.tolist(), world.targets.tolist(), strict=True))


def undirected_degrees(edges: np.ndarray, n: int) -> np.ndarray:
    return np.bincount(edges.ravel(), minlength=n)


def same(a: Topology, b: Topology) -> bool:
    return all(
        np.array_equal(getattr(a, name), getattr(b, name))
        for name in ("indptr", "targets", "actions")
    )


def assert_world(world: Topology) -> None:
    n, degrees = world.n_nodes, np.diff(world.indptr)
    assert (world.indptr.dtype, world.targets.dtype, world.actions.dtype) == (
        np.int64,
        np.int32,
        np.int8,
    )
    assert world.indptr[0] == 0
    assert world.indptr[-1] == world.n_edges == len(world.actions)
    assert degrees.min() >= 1
    assert not np.any(world.sources == world.targets)
    inside = np.diff(world.sources) == 0
    assert np.all(np.diff(world.targets)[inside] > 0)
    graph = csr_array((np.ones(world.n_edges), world.targets, world.indptr), shape=(n, n))
    assert connected_components(graph, directed=True, connection="strong")[0] == 1

    n_actions = world.n_actions
    assert n_actions.min() >= 1
    assert n_actions.max() <= 3
    assert np.all(n_actions <= degrees)
    assert np.all(world.actions[world.indptr[:-1]] == 0)
    assert set(np.diff(world.actions)[inside].tolist()) <= {0, 1}
    sizes = np.zeros((n, 3), dtype=int)
    np.add.at(sizes, (world.sources, world.actions), 1)
    smallest = np.where(sizes > 0, sizes, n).min(axis=1)
    assert np.all(sizes.max(axis=1) - smallest <= 1)


@pytest.mark.parametrize("n_nodes", [None, 100, 1000, 1500])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_world_keeps_its_promises(family, n_nodes):
    assert_world(build_topology(family, n_nodes or minimum_nodes(family), 42))


@given(
    family=st.sampled_from(FAMILIES),
    above_minimum=st.integers(0, 60),
    seed=st.integers(-(2**31), 2**63),
)
@settings(max_examples=80, deadline=None)
def test_small_worlds_keep_their_promises(family, above_minimum, seed):
    assert_world(build_topology(family, minimum_nodes(family) + above_minimum, seed))


def test_properties_of_a_small_world():
    world = Topology(
        family="uniform",
        n_nodes=3,
        seed=1,
        indptr=np.array([0, 3, 4, 6]),
        targets=np.array([0, 1, 2, 0, 0, 1], dtype=np.int32),
        actions=np.array([0, 0, 1, 0, 0, 1], dtype=np.int8),
    )
    assert world.key == ("uniform", 3, 1)
    assert world.n_edges == 6
    assert world.mean_degree == 2.0
    assert world.sources.tolist() == [0, 0, 0, 1, 2, 2]
    assert world.sources.dtype == np.int32
    assert world.n_actions.tolist() == [2, 1, 2]
    assert [world.segment(0, 0), world.segment(0, 1), world.segment(2, 1)] == [
        (0, 2),
        (2, 3),
        (5, 6),
    ]
    with pytest.raises(InputError, match=r"action: state 1 has no action 1; .* from 0 to 0"):
        world.segment(1, 1)
    with pytest.raises(InputError, match=r"action: state 1 has no action -1"):
        world.segment(1, -1)
    with pytest.raises(InputError, match=r"state: 3 is not a state .* from 0 to 2"):
        world.segment(3, 0)


@pytest.mark.parametrize("family", REGULAR)
@pytest.mark.parametrize("n_nodes", [100, 1000, 1500])
def test_regular_families_have_six_neighbours_everywhere(family, n_nodes):
    world = build_topology(family, n_nodes, 43)
    assert np.all(np.diff(world.indptr) == 6)
    edges = pairs(world)
    assert {(b, a) for a, b in edges} == edges


def test_states_of_the_symmetric_baseline_all_have_three_actions_of_two_successors():
    world = build_topology("baseline-symmetric", 100, 42)
    assert world.actions.reshape(100, 6).tolist() == [[0, 0, 1, 1, 2, 2]] * 100


def test_the_number_of_actions_is_uniform_over_what_the_degree_allows():
    counts = np.bincount(build_topology("uniform", 1000, 42).n_actions, minlength=4)
    assert counts[0] == 0
    # Three equally likely values: five standard deviations are 75.
    assert np.all(np.abs(counts[1:] - 1000 / 3) < 75)


@pytest.mark.parametrize("n_nodes", [100, 1000, 1500])
def test_scale_free_has_three_edges_for_each_state_after_the_first_star(n_nodes):
    world = build_topology("scale-free", n_nodes, 42)
    assert world.n_edges == 2 * 3 * (n_nodes - 3)
    degrees = np.diff(world.indptr)
    assert np.all(degrees[4:] >= 3)
    # The Barabási–Albert law: P(3) = 2/5, P(4) = 1/5, and hubs of order m sqrt(n).
    assert np.mean(degrees == 3) == pytest.approx(0.4, abs=0.1)
    assert degrees.max() > 2 * np.sqrt(n_nodes)


def test_exponential_degrees_follow_their_law():
    worlds = [build_topology("exponential", 1000, seed) for seed in range(5)]
    degrees = np.concatenate([np.diff(world.indptr) for world in worlds])
    # 1 + floor(Exp(6)) is geometric with success probability 1 - exp(-1/6); erasing loops and
    # parallel edges, and linking components, moves it by about one per cent.
    p = 1 - np.exp(-1 / 6)
    assert degrees.mean() == pytest.approx(1 / p, rel=0.04)
    for d in (1, 2, 6):
        assert np.mean(degrees == d) == pytest.approx(p * (1 - p) ** (d - 1), abs=0.02)
    assert np.mean(degrees > 20) == pytest.approx((1 - p) ** 20, abs=0.01)


def within_and_between(world: Topology, start: int, n_blocks: int) -> tuple[int, int]:
    """Count undirected edges among the states from ``start`` on, by their blocks."""
    sizes = equal_blocks(world.n_nodes - start, n_blocks)
    block = np.concatenate([np.full(start, -1), np.repeat(np.arange(n_blocks), sizes)])
    a, b = block[world.sources], block[world.targets]
    inner = (a >= 0) & (b >= 0)
    return int(np.sum(inner & (a == b))) // 2, int(np.sum(inner & (a != b))) // 2


def assert_binomial(count: int, n: int, p: float) -> None:
    assert abs(count - n * p) < 5 * np.sqrt(n * p * (1 - p))


@pytest.mark.parametrize("n_nodes", [500, 1000, 1500])
def test_modular_has_the_edge_probabilities_of_its_blocks(n_nodes):
    world = build_topology("modular", n_nodes, 42)
    within, between = within_and_between(world, 0, 5)
    size = n_nodes // 5
    assert_binomial(within, 5 * size * (size - 1) // 2, 0.15)
    assert_binomial(between, 10 * size**2, 0.01)


@pytest.mark.parametrize("n_nodes", [600, 1800])
def test_mixed_joins_its_halves_by_five_bridges(n_nodes):
    world = build_topology("mixed", n_nodes, 42)
    half = n_nodes // 2
    bridges = {(a, b) for a, b in pairs(world) if a < half <= b}
    assert len(bridges) == 5
    assert {(b, a) for a, b in pairs(world) if b < half <= a} == bridges
    inner = (world.sources < half) & (world.targets < half)
    assert inner.sum() == 2 * 3 * (half - 3)
    within, between = within_and_between(world, half, 3)
    size = half // 3
    assert_binomial(within, 3 * size * (size - 1) // 2, 0.15)
    assert_binomial(between, 3 * size**2, 0.01)


def test_blocks_are_equal_up_to_one_state():
    assert equal_blocks(13, 5) == [3, 3, 3, 2, 2]


def test_components_are_linked_by_a_ring_over_their_lowest_states():
    found = 0
    for seed in range(20):
        world = build_topology("modular", 10, seed)
        edges = pairs(world)
        one_way = {(a, b) for a, b in edges if (b, a) not in edges}
        both_ways = [(a, b) for a, b in edges if (b, a) in edges]
        a, b = np.array(both_ways, dtype=int).reshape(-1, 2).T
        graph = csr_array((np.ones(len(a)), (a, b)), shape=(10, 10))
        n_components, label = connected_components(graph, directed=False)
        if n_components > 2:
            found += 1
            lowest = [int(np.flatnonzero(label == c)[0]) for c in range(n_components)]
            lowest.sort()
            assert one_way == set(zip(lowest, [*lowest[1:], lowest[0]], strict=True))
    assert found >= 10


def test_a_key_gives_one_world_and_each_part_of_it_counts():
    world = build_topology("uniform", 100, 42)
    assert same(world, build_topology("uniform", 100, 42))
    assert same(world, build_topology("uniform", np.int64(100), np.int64(42)))
    assert not same(world, build_topology("uniform", 100, 43))
    # Two independent samples of one law share edges by chance only: 600 · 6 / 99 = 36 expected.
    shared = pairs(world) & pairs(build_topology("baseline-symmetric", 100, 42))
    assert len(shared) < 100


def test_scale_keeps_the_mean_degree_of_block_models_in_large_worlds_only():
    for family in ("modular", "mixed"):
        paper = build_topology(family, 1000, 42)
        assert same(paper, build_topology(family, 1000, 42, scale=True))
        large_world = build_topology(family, 5000, 42, scale=True)
        assert large_world.mean_degree == pytest.approx(paper.mean_degree, rel=0.04)
        assert_world(large_world)
    assert build_topology("modular", 2000, 42).mean_degree == pytest.approx(75.9, rel=0.02)
    within, between = within_and_between(build_topology("modular", 5000, 42, scale=True), 0, 5)
    assert within / between == pytest.approx(0.15 * 199 / (0.01 * 800), rel=0.05)


@pytest.mark.parametrize(
    ("family", "n_nodes", "message"),
    [
        ("small-world", 100, r"family: 'small-world' is unknown; allowed are uniform, expon.*"),
        ("uniform", 6, r"n_nodes: 6 is not allowed for family 'uniform'; .* from 7 to 10000000"),
        ("mixed", 11, r"n_nodes: 11 .* 'mixed'; .* from 12 to 20000"),
        ("modular", 50_000, r"n_nodes: 50000 .* from 10 to 20000"),
        ("scale-free", True, r"n_nodes: True is not allowed"),
        ("scale-free", 100.0, r"n_nodes: 100.0 is not allowed"),
    ],
)
def test_impossible_worlds_are_refused(family, n_nodes, message):
    with pytest.raises(InputError, match=message):
        check_world(family, n_nodes)
    with pytest.raises(InputError, match=message):
        build_topology(family, n_nodes, 42)


def test_limits_of_the_families():
    assert [minimum_nodes(family) for family in FAMILIES] == [7, 8, 4, 10, 12, 7]
    assert maximum_nodes("modular", scale=True) == 10_000_000
    check_world("modular", 50_000, scale=True)
    with pytest.raises(InputError, match="family: 'ring' is unknown"):
        minimum_nodes("ring")


def test_large_preferential_attachment_follows_the_law_of_its_degrees():
    n = 50_000
    edges = large.preferential_attachment(n, 3, stream("test", "attachment"))
    assert len(edges) == 3 * (n - 3)
    assert np.all(edges[:3] == [[0, 1], [0, 2], [0, 3]])
    degrees = undirected_degrees(edges, n)
    for k in (3, 4, 5, 10):
        expected = 2 * 3 * 4 / (k * (k + 1) * (k + 2))
        assert np.mean(degrees == k) == pytest.approx(expected, abs=0.012)
    # Each state joins three distinct earlier ones.
    assert np.all(edges[3:, 0] < edges[3:, 1])
    assert len({tuple(edge) for edge in edges.tolist()}) == len(edges)


def test_large_regular_graphs_are_simple_even_when_dense():
    edges = large.regular(12, 6, stream("test", "regular"))
    assert np.all(undirected_degrees(edges, 12) == 6)
    assert np.all(edges[:, 0] != edges[:, 1])
    assert len({frozenset(edge) for edge in edges.tolist()}) == 36


def test_large_erased_configuration_drops_loops_and_parallel_edges_only():
    degrees = np.array([40] + [1] * 20 + [5] * 100)
    edges = large.erased_configuration(degrees, stream("test", "erased"))
    assert np.all(undirected_degrees(edges, len(degrees)) <= degrees)
    assert len(edges) > 0.9 * degrees.sum() / 2
    assert len({frozenset(edge) for edge in edges.tolist()}) == len(edges)
    assert all(a != b for a, b in edges.tolist())


def test_large_block_model_chooses_among_all_pairs_alike():
    edges = large.block_model([400, 600], 0.02, 0.01, stream("test", "blocks"))
    assert len({frozenset(edge) for edge in edges.tolist()}) == len(edges)
    assert all(a != b for a, b in edges.tolist())
    second = (edges[:, 0] >= 400) & (edges[:, 1] >= 400)
    assert_binomial(int(second.sum()), 600 * 599 // 2, 0.02)
    degrees = undirected_degrees(edges, 1000)
    # The low and the high half of a block have equal shares of its edge ends.
    low, high = degrees[400:700].sum(), degrees[700:].sum()
    assert abs(low - high) < 5 * np.sqrt(low + high)
