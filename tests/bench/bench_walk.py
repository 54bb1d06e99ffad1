"""The compiled random walk: against the plain reference, and from 1,000 to 1,000,000 states."""

import tracemalloc
from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter

from coretail.rollouts.walk import EVICTIONS, random_walk
from coretail.worlds.topology import FAMILIES, Topology, build_topology
from walk_reference import reference_walk

SMALL, LARGE = 1_000, 1_000_000
SEED = 42


def benchmarks() -> Iterator[dict]:
    for family in FAMILIES:
        world = build_topology(family, SMALL, SEED)
        for eviction in EVICTIONS:
            yield against_reference(world, eviction)

    small = build_topology("uniform", SMALL, SEED)
    large = build_topology("uniform", LARGE, SEED, scale=True)
    for eviction in EVICTIONS:
        yield growth(f"walk with retrieval, {eviction}", small, large, eviction=eviction)
    # One slot and nothing read leave little but the walk itself: what waiting for the graph costs.
    yield large_against_reference(small, large)
    yield growth("bare walk", small, large, capacity=1, retriever="none")
    yield memory_growth(small, large)


def against_reference(world: Topology, eviction: str) -> dict:
    steps, repeats = 10_000, 10

    def ours() -> None:
        for _ in range(repeats):
            random_walk(world, steps=steps, eviction=eviction)

    def reference() -> None:
        reference_walk(world, steps=steps, eviction=eviction)

    return row(
        f"walk with retrieval, {world.family}, {world.n_nodes:,} states, {eviction}: time per step",
        "plain Python reference",
        [repeats * ratio for ratio in paired(reference, ours, runs=3)],
    )


def large_against_reference(small: Topology, large: Topology) -> dict:
    steps, repeats = 10_000, 10
    return row(
        f"walk with retrieval, uniform, {LARGE:,} states, reservoir: time per step",
        f"plain Python reference with {SMALL:,} states",
        [
            repeats * ratio
            for ratio in paired(
                lambda: reference_walk(small, steps=steps),
                lambda: random_walk(large, steps=repeats * steps),
                runs=3,
            )
        ],
    )


def growth(what: str, small: Topology, large: Topology, **parameters) -> dict:
    def walk(world: Topology) -> Callable[[], None]:
        return lambda: random_walk(world, steps=1_000_000, **parameters) and None

    return row(
        f"{what}, uniform, {LARGE:,} states: time per step",
        f"the same with {SMALL:,} states",
        paired(walk(small), walk(large), runs=7),
    )


def memory_growth(small: Topology, large: Topology) -> dict:
    def bytes_per_edge(world: Topology) -> float:
        tracemalloc.start()
        random_walk(world, steps=10)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak / world.n_edges

    return row(
        f"walk with retrieval, uniform, {LARGE:,} states: memory per edge",
        f"the same with {SMALL:,} states",
        [bytes_per_edge(small) / bytes_per_edge(large)],
    )


def paired(baseline: Callable[[], object], ours: Callable[[], object], *, runs: int) -> list[float]:
    """Time both in turn; return the baseline's time over ours for each pair."""
    baseline(), ours()
    ratios = []
    for _ in range(runs):
        begin = perf_counter()
        baseline()
        between = perf_counter()
        ours()
        ratios.append((between - begin) / (perf_counter() - between))
    return ratios


def row(name: str, baseline: str, ratios: list[float]) -> dict:
    return {
        "name": name,
        "baseline": baseline,
        "ratio_median": median(ratios),
        "ratio_low": min(ratios),
        "ratio_high": max(ratios),
        "runs": len(ratios),
    }
