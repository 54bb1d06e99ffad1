"""Ranking maps: by hand, and against plain sorting of what their definitions say."""

from collections import Counter
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coretail.memory.rankings import core_tail, flat, frequency, graph, random_ranks, recency
from coretail.memory.store import TransitionStore
from coretail.streams import stream
from memory_world import BARN, CAVE, DOCK, FORT, GATE, GO_ON, WALK, complete, world

VIEW = world()


def stored(view, walk):
    store = TransitionStore(view, stream("unused"))
    for edge in walk:
        store.write(edge)
    return store


STORE = stored(VIEW, WALK)


@pytest.mark.parametrize(
    ("ranker", "edges", "scores"),
    [
        # From barn 4, "go on" 2, kin of barn (barn, dock and gate) 1; then support, then recency.
        (core_tail, [0, 1, 2, 4, 3, 6], [7, 7, 5, 3, 1, 0]),
        # Touching barn, the latest first: 3, 2, 0, 4, 1. Things shared with barn: 4 and 1 three,
        # 3, 2 and 0 two. Of ranks: 3 has 1 and 3, 4 has 4 and 1, 2 has 2 and 4, and so on.
        (
            graph,
            [3, 4, 2, 1, 0, 6],
            [
                1 / 61 + 1 / 63,
                1 / 64 + 1 / 61,
                1 / 62 + 1 / 64,
                1 / 65 + 1 / 62,
                1 / 63 + 1 / 65,
                0,
            ],
        ),
        # Three of the four words of 0, 4 and 1 are the query's, one of those of 3 and 2.
        (flat, [0, 4, 1, 3, 2, 6], [sqrt(3) / 2] * 3 + [sqrt(3) / 6] * 2 + [0]),
        (recency, [3, 6, 2, 0, 4, 1], [8, 7, 6, 4, 3, 2]),
        (frequency, [3, 0, 6, 2, 4, 1], [3, 2, 1, 1, 1, 1]),
    ],
)
def test_rankings_by_hand(ranker, edges, scores):
    ranking = ranker(STORE, VIEW, BARN, GO_ON)
    assert ranking.edges.tolist() == edges
    assert ranking.scores.tolist() == pytest.approx(scores, abs=1e-15)
    support, last = [2, 1, 1, 3, 1, 0, 1], [4, 2, 6, 8, 3, None, 7]
    assert ranking.support.tolist() == [support[edge] for edge in edges]
    assert ranking.last.tolist() == [last[edge] for edge in edges]


def test_the_action_decides_in_core_tail_and_flat_alone():
    # "turn left" from barn is the second action; cave has it by the same name.
    assert core_tail(STORE, VIEW, BARN, 1).edges.tolist() == [2, 0, 1, 3, 4, 6]
    assert core_tail(STORE, VIEW, BARN, 1).scores.tolist() == [7, 5, 5, 3, 1, 0]
    assert flat(STORE, VIEW, BARN, 1).edges.tolist() == [3, 2, 0, 4, 1, 6]
    for ranker in (graph, recency, frequency):
        one, other = ranker(STORE, VIEW, BARN, 0), ranker(STORE, VIEW, BARN, 1)
        assert one.edges.tolist() == other.edges.tolist()


def test_a_state_that_holds_nothing_has_no_kin():
    # Nothing is shared with fort, not even by itself: 2 enters it, 6 leaves it.
    assert VIEW.shared_entities(FORT).tolist() == [0, 0, 0, 0, 0]
    assert core_tail(STORE, VIEW, FORT, 0).scores.tolist() == [6, 0, 0, 0, 0, 0]
    assert core_tail(STORE, VIEW, FORT, 0).edges.tolist() == [6, 3, 0, 2, 4, 1]
    ranking = graph(STORE, VIEW, FORT, 0)
    assert ranking.edges.tolist() == [6, 2, 3, 0, 4, 1]
    assert ranking.scores.tolist() == [1 / 61, 1 / 62, 0, 0, 0, 0]


def test_shared_things_are_counted():
    assert VIEW.shared_entities(BARN).tolist() == [2, 0, 1, 0, 2]
    assert VIEW.shared_entities(GATE).tolist() == [2, 0, 1, 0, 3]
    assert VIEW.shared_entities(CAVE).tolist() == [0, 1, 0, 0, 0]
    assert VIEW.shared_entities(DOCK).tolist() == [1, 0, 2, 0, 1]


def test_an_empty_memory_ranks_nothing():
    empty = TransitionStore(VIEW, stream("unused"))
    for ranker in (core_tail, graph, flat, recency, frequency, random_ranks()):
        ranking = ranker(empty, VIEW, BARN, GO_ON)
        assert len(ranking) == 0
        assert ranking.edges.dtype == np.int64


def test_all_ties_end_with_the_more_recent():
    # Nothing is walked twice, so that support ties everywhere.
    for walk in ([0, 1, 2, 3, 4, 6], [6, 4, 2, 1, 0, 3], [3, 2, 6, 0, 4, 1]):
        store = stored(VIEW, walk)
        latest = walk[::-1]
        assert recency(store, VIEW, BARN, GO_ON).edges.tolist() == latest
        assert frequency(store, VIEW, BARN, GO_ON).edges.tolist() == latest
        found = core_tail(store, VIEW, BARN, GO_ON).edges.tolist()
        assert found == [e for e in latest if e in (0, 1)] + [2, 4, 3, 6]
        alike = [[0, 1, 4], [2, 3], [6]]
        found = flat(store, VIEW, BARN, GO_ON).edges.tolist()
        assert found == [e for group in alike for e in latest if e in group]


def test_ranks_that_fuse_to_the_same_score_end_with_the_more_recent():
    store = stored(VIEW, [0, 4, 1])
    # Episodic 1, 4, 0; semantic 1, 4 (three things, the later first), 0.
    assert graph(store, VIEW, BARN, GO_ON).edges.tolist() == [1, 4, 0]
    # Episodic 0, 4: semantic 4, 0: both have 1/61 + 1/62.
    store = stored(VIEW, [4, 0])
    ranking = graph(store, VIEW, BARN, GO_ON)
    assert ranking.scores[0] == ranking.scores[1] == pytest.approx(1 / 61 + 1 / 62)
    assert ranking.edges.tolist() == [0, 4]


def test_words_are_counted_whatever_their_case_and_blank_names_are_like_nothing():
    view = world(
        {"Old MILL": [], "mill mill": [], " ": [], "ОЛД": []},
        [
            ("Old MILL", "go", "mill mill"),
            ("mill mill", "go", "Old MILL"),
            (" ", "\n", "ОЛД"),
            ("ОЛД", "\t", " "),
        ],
    )
    # old mill go against old mill go mill mill: 1 + 3 + 1 of √3 · √(1 + 9 + 1), for both.
    assert view.similarity(0, 0).tolist() == pytest.approx([5 / sqrt(33), 5 / sqrt(33), 0, 0])
    assert view.similarity(1, 0)[0] == pytest.approx((2 * 3 + 1) / sqrt(5 * 11))
    assert view.similarity(2, 0).tolist() == [0, 0, 0, 0]
    assert view.similarity(3, 0).tolist() == [0, 0, 1, 1]
    blank = world({" ": [], "\n": []}, [(" ", "\t", "\n"), ("\n", "\t", " ")])
    assert blank.similarity(0, 0).tolist() == [0, 0]


def test_random_ranks_are_new_at_each_step_and_the_same_on_every_run():
    ranker = random_ranks()
    orders = []
    store = stored(VIEW, WALK)
    for _ in range(30):
        orders.append(tuple(ranker(store, VIEW, BARN, GO_ON).edges.tolist()))
        # Neither the query nor asking twice changes them.
        assert orders[-1] == tuple(random_ranks()(store, VIEW, FORT, 0).edges.tolist())
        store.write(3)
    assert len(set(orders)) > 25
    firsts = Counter(order[0] for order in orders)
    assert set(firsts) == {0, 1, 2, 3, 4, 6}
    others = [random_ranks(1), random_ranks(2)]
    assert len({tuple(r(store, VIEW, BARN, 0).edges.tolist()) for r in [ranker, *others]}) == 3
    elsewhere = world(seed=2)
    assert [tuple(ranker(stored(elsewhere, WALK), elsewhere, BARN, 0).edges.tolist())] != orders[:1]


# The definitions once more, one transition at a time.


def by_definition(name, store, view, state, action):
    held = [
        dict(zip(("edge", "support", "last"), row, strict=True))
        for row in zip(
            store.edges.tolist(), store.support.tolist(), store.last.tolist(), strict=True
        )
    ]
    contents = view.contents
    own = set(contents.entities[state])

    def shared(other):
        return len(own & set(contents.entities[other]))

    for item in held:
        source, target = int(view.sources[item["edge"]]), int(view.targets[item["edge"]])
        verb = contents.actions[source][int(view.actions[item["edge"]])]
        asked = contents.actions[state][action]
        item["relevance"] = (
            4 * (source == state) + 2 * (verb == asked) + (shared(source) > 0 or shared(target) > 0)
        )
        item["touches"] = state in (source, target)
        item["overlap"] = shared(source) + shared(target)
        bag = Counter(f"{contents.names[source]} {verb} {contents.names[target]}".split())
        query = Counter(f"{contents.names[state]} {asked}".split())
        dot = sum(query[word] * bag[word] for word in query)
        item["squared cosine"] = Fraction(
            dot**2, sum(n * n for n in bag.values()) * sum(n * n for n in query.values())
        )
    episodic = sorted((item for item in held if item["touches"]), key=lambda item: -item["last"])
    semantic = sorted(
        (item for item in held if item["overlap"]),
        key=lambda item: (-item["overlap"], -item["last"]),
    )
    for item in held:
        item["fused"] = sum(
            Fraction(1, 60 + layer.index(item) + 1)
            for layer in (episodic, semantic)
            if item in layer
        )
    keys = {
        "core_tail": ("relevance", "support", "last"),
        "flat": ("squared cosine", "last"),
        "recency": ("last",),
        "frequency": ("support", "last"),
        "graph": ("fused", "last"),
    }[name]
    held.sort(key=lambda item: (*(-item[key] for key in keys), item["edge"]))
    return [item["edge"] for item in held]


NAMES = ["red mill", "red barn", "old mill", "old red gate", "pond"]
THINGS = ["oar", "net", "hay"]


@settings(max_examples=50, deadline=None)
@given(
    things=st.lists(
        st.lists(st.sampled_from(THINGS), unique=True), min_size=len(NAMES), max_size=len(NAMES)
    ),
    walk=st.lists(st.integers(0, 19), max_size=40),
    state=st.integers(0, len(NAMES) - 1),
    action=st.integers(0, 1),
)
# Two bags, 2 / 2√3 and 3 / 3√3 of the query, are equally like it; the later one is first.
@example(things=[[]] * 5, walk=[16, 6], state=1, action=0)
def test_rankings_agree_with_plain_sorting(things, walk, state, action):
    view = complete(NAMES, dict(zip(NAMES, things, strict=True)))
    store = stored(view, walk)
    for ranker in (core_tail, flat, recency, frequency, graph):
        ranking = ranker(store, view, state, action)
        assert ranking.edges.tolist() == by_definition(ranker.__name__, store, view, state, action)
        assert (np.diff(ranking.scores) <= 0).all()
