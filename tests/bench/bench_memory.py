"""Memory policies: ranking at three sizes, and whole replays of a trajectory."""

from collections.abc import Callable, Iterator
from math import log
from statistics import median
from time import process_time

import numpy as np

from coretail.memory.frozen import replay
from coretail.memory.policies import Settings, make_policy
from coretail.memory.rankings import (
    Ranker,
    core_tail,
    flat,
    frequency,
    graph,
    random_ranks,
    recency,
)
from coretail.memory.store import TransitionStore
from coretail.memory.view import WorldView
from coretail.rollouts.semantic import RandomChooser, rollout
from coretail.streams import stream
from coretail.worlds.contents import build_contents
from coretail.worlds.topology import build_topology

RUNS = 7
QUERIES = 50
# Stored transitions, and states of a world that has more of them by half and more.
SIZES = {200: 100, 2_000: 500, 20_000: 5_000}
RANKERS: dict[str, Ranker] = {
    "core-tail": core_tail,
    "graph": graph,
    "flat": flat,
    "recency": recency,
    "frequency": frequency,
    "random": random_ranks(),
}


def benchmarks() -> Iterator[dict[str, object]]:
    """Yield the rows of this part."""
    stores = {n: stored(n, states) for n, states in SIZES.items()}
    few, *more = SIZES
    for name, ranker in RANKERS.items():
        seconds = {n: timed(ranking(ranker, *stores[n])) for n in SIZES}
        yield row(
            f"memory: rank {few} stored transitions, {name} "
            f"({median(seconds[few]) * 1e6:.0f} µs of processor time)",
            "the required 50 µs",
            [50e-6 / time for time in seconds[few]],
        )
        for n in more:
            growth = n * log(n) / (few * log(few))
            yield row(
                f"memory: rank {n:,} stored transitions, {name} "
                f"({median(seconds[n]) * 1e6:.0f} µs of processor time)",
                f"n log n times the time for {few}",
                [growth * a / b for a, b in zip(seconds[few], seconds[n], strict=True)],
            )
    store, view, queries = stores[more[0]]
    plain = timed(lambda: [plain_core_tail(store, view, *query) for query in queries])
    ours = timed(ranking(core_tail, store, view, queries))
    yield row(
        f"memory: rank {more[0]:,} stored transitions, core-tail",
        "plain Python",
        [a / b for a, b in zip(plain, ours, strict=True)],
    )
    yield from replays()


def replays() -> Iterator[dict[str, object]]:
    """Compare replays of 1,000 steps in a world of 100 states with a second."""
    topology = build_topology("scale-free", 100, 42)
    contents = build_contents(topology)
    agent = RandomChooser(topology.key)
    walk = rollout(topology, contents, agent, steps=1_000, goal="explore").walk.edges.tolist()
    for name, tokens in (
        ("ctwm", None),
        ("ctwm", 200),
        ("graph", None),
        ("full_history", None),
        ("hierarchical", None),
    ):
        seconds = []
        for _ in range(RUNS):
            view = WorldView(topology, contents)
            policy = make_policy(name, view, Settings(tokens=tokens))
            begin = process_time()
            for _step in replay(view, walk, policy):
                pass
            seconds.append(process_time() - begin)
        budget = "8 slots" if tokens is None else f"{tokens} tokens"
        yield row(
            f"memory: replay {len(walk):,} steps, {name}, {budget} "
            f"({median(seconds):.2f} s of processor time)",
            "one second",
            [1 / time for time in seconds],
        )


def stored(n: int, n_states: int) -> tuple[TransitionStore, WorldView, list[tuple[int, int]]]:
    """Return a memory of n transitions, its world, and states and actions to ask it about."""
    topology = build_topology("scale-free", n_states, 42)
    view = WorldView(topology, build_contents(topology))
    store = TransitionStore(view, stream("bench", "unused"))
    edges = stream("bench", n).permutation(topology.n_edges)[:n]
    for edge in np.concatenate([edges, edges[::3]]).tolist():
        store.write(edge)
    states = view.sources[edges[:QUERIES]].tolist()
    return store, view, list(zip(states, view.actions[edges[:QUERIES]].tolist(), strict=True))


def ranking(
    ranker: Ranker, store: TransitionStore, view: WorldView, queries: list[tuple[int, int]]
) -> Callable[[], object]:
    """Return what ranks for all queries."""
    return lambda: [ranker(store, view, state, action) for state, action in queries]


def plain_core_tail(store: TransitionStore, view: WorldView, state: int, action: int) -> list[int]:
    """Return the core-tail ranking without numpy."""
    own = set(view.contents.entities[state])
    kin = [not own.isdisjoint(held) for held in view.contents.entities]
    verb = view.verb(state, action)
    sources, targets, verbs = view.sources.tolist(), view.targets.tolist(), view.verbs.tolist()
    held = zip(store.edges.tolist(), store.support.tolist(), store.last.tolist(), strict=True)

    def key(item: tuple[int, int, int]) -> tuple[int, int, int, int]:
        edge, support, last = item
        source = sources[edge]
        relevance = 4 * (source == state) + 2 * (verbs[edge] == verb)
        relevance += kin[source] or kin[targets[edge]]
        return -relevance, -support, -last, edge

    return [edge for edge, _, _ in sorted(held, key=key)]


def timed(run: Callable[[], object]) -> list[float]:
    """Return the processor time per query of some runs, without what only the first one does."""
    run()
    seconds = []
    for _ in range(RUNS):
        begin = process_time()
        run()
        seconds.append((process_time() - begin) / QUERIES)
    return seconds


def row(name: str, baseline: str, ratios: list[float]) -> dict[str, object]:
    """Return one row of the benchmark."""
    return {
        "name": name,
        "baseline": baseline,
        "ratio_median": median(ratios),
        "ratio_low": min(ratios),
        "ratio_high": max(ratios),
        "runs": len(ratios),
    }
