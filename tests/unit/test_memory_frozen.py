"""Predictors, floors, strata, samples and coverage on trajectories made by hand."""

import hashlib
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coretail.errors import InputError
from coretail.memory.frozen import (
    NOTHING,
    STRATA,
    Coverage,
    coverage,
    least_visited,
    ranking_hash,
    replay,
    sample_steps,
    trajectory,
    vote,
)
from coretail.memory.policies import POLICIES, Context, Settings, make_policy
from coretail.memory.view import WorldView
from coretail.worlds.contents import build_contents
from coretail.worlds.topology import build_topology
from memory_world import BARN, CAVE, DOCK, GATE, GO_ON, WALK, world

VIEW = world()


def steps_of(name, walk=WALK, view=VIEW, **options):
    return list(replay(view, walk, make_policy(name, view, Settings(**options))))


# What each step of the walk asks, and what was walked before it:
# 0 barn, go on; 1 cave; 2 barn, go on; 3 dock; 4 barn, go on; 5 cave; 6 barn, turn left; 7 fort;
# 8 cave. So 2 and 4 know of cave, 4 of dock as well, and 5 and 8 of barn.


def test_predictors_by_hand():
    done = steps_of("ctwm")
    assert [step.number for step in done] == list(range(9))
    assert [step.edge for step in done] == WALK
    assert [step.n_ranked for step in done] == [0, 1, 2, 3, 4, 4, 4, 5, 6]
    assert [step.match_rank for step in done] == [0, 0, 1, 0, 1, 1, 0, 0, 1]
    # At step 4 both were walked once, dock later.
    expected = [NOTHING, NOTHING, CAVE, NOTHING, DOCK, BARN, NOTHING, NOTHING, BARN]
    assert [step.top1 for step in done] == expected
    # Of eight slots the better rank of both has more.
    assert [step.vote for step in done] == expected


def test_predictors_of_logs_by_hand():
    for name in ("full_history", "window"):
        done = steps_of(name)
        # The latest first: at step 4 dock is second, behind what was walked from there; at step 5
        # the way back from cave is the oldest of four.
        assert [step.match_rank for step in done] == [0, 0, 2, 0, 2, 4, 0, 0, 3]
        assert [step.top1 for step in done] == [-1, -1, CAVE, -1, DOCK, BARN, -1, -1, BARN]
        # One vote each at step 4, so that the first shown wins.
        assert [step.vote for step in done] == [-1, -1, CAVE, -1, DOCK, BARN, -1, -1, BARN]
    # A window of one remembers no way back.
    done = steps_of("window", slots=1)
    assert {step.top1 for step in done} == {step.vote for step in done} == {NOTHING}
    # Seen twice, against once and later.
    done = steps_of("full_history", [*WALK, 0, 3, 1, 4, 1])
    assert (done[-1].top1, done[-1].vote) == (DOCK, CAVE)


def test_a_ranking_names_more_than_a_context_shows():
    # Graph memory ranks dock and gate, and shows what was walked to barn.
    walk = [1, 5, 7, 0, 3, 1, 4]
    done = steps_of("graph", [*walk, 0], slots=1)
    assert done[-1].match_rank > 1
    assert done[-1].top1 in (CAVE, DOCK)
    assert done[-1].vote == NOTHING


def test_hashes_are_of_the_transitions_in_order():
    policy = make_policy("ctwm", VIEW, Settings())
    for edge in WALK:
        policy.write(edge)
    packed = struct.pack("<6q", 0, 1, 2, 4, 3, 6)
    expected = hashlib.sha256(packed).hexdigest()[:16]
    assert ranking_hash(policy.rank(BARN, GO_ON)) == expected


def test_a_replay_is_the_same_every_time():
    for name in POLICIES:
        assert steps_of(name, slots=2, capacity=3) == steps_of(name, slots=2, capacity=3)


@pytest.mark.parametrize(
    ("context", "predicted"),
    [
        (Context(""), NOTHING),
        # Slots count, and repetitions add up.
        (Context("", (0, 1), (1, 2)), DOCK),
        (Context("", (1, 0, 0), (1, 1, 1)), CAVE),
        # Of equals the first shown.
        (Context("", (1, 0), (2, 2)), DOCK),
        (Context("", (0, 1), (2, 2)), CAVE),
        # What a summary names breaks ties, but outvotes no slot.
        (Context("", (0, 1), (2, 2), (), {1: 3, 0: 1}), DOCK),
        (Context("", (0,), (1,), (1,), {1: 99}), CAVE),
        # It covers what is not shown, the larger count and then the first.
        (Context("", (), (), (0, 1), {0: 1, 1: 2}), DOCK),
        (Context("", (), (), (0, 1), {1: 2, 0: 2}), DOCK),
        # What is summarised without a name, other actions and other states say nothing.
        (Context("", (), (), (0, 1), {}), NOTHING),
        (Context("", (2, 3, 4), (4, 2, 2), (7,), {7: 5}), NOTHING),
        (Context("", (2, 0), (9, 1)), CAVE),
    ],
)
def test_votes_by_hand(context, predicted):
    assert vote(VIEW, context, BARN, GO_ON) == predicted


def test_tail_floors_and_strata_by_hand():
    found = trajectory(VIEW, WALK)
    # barn 4 visits, cave 3, dock and fort 1: the tail is dock and fort.
    assert np.flatnonzero(found.tail).tolist() == [3, 7]
    assert found.first.tolist() == [True, True, False, True, False, False, True, True, False]
    # From barn "go on" leads to two states, and from dock as well; all others to one.
    assert found.floor_predictor.tolist() == [0.5, 0, 0.5, 0.5, 0.5, 0, 0, 0, 0]
    assert found.floor_memory.tolist() == [1, 1, 0.5, 1, 0.5, 0, 1, 1, 0]
    assert [STRATA[stratum] for stratum in found.strata] == [
        "head_first", "head_first", "head_repeated", "tail_first", "head_repeated",
        "head_repeated", "head_first", "tail_first", "head_repeated",
    ]  # fmt: skip
    # dock is visited again: a repeated meeting of a tail state.
    again = trajectory(VIEW, [*WALK, 1, 5])
    assert [STRATA[s] for s in again.strata][-1] == "tail_repeated"
    assert again.floor_memory[-1] == 0.5


def test_a_common_tail_set():
    found = trajectory(VIEW, WALK, np.array([CAVE, GATE]))
    assert np.flatnonzero(found.tail).tolist() == [1, 5, 8]


@pytest.mark.parametrize(
    ("states", "tail"),
    [
        ([], []),
        ([7], []),
        ([3, 1], [1]),
        # Three states: one is tail; ties by id.
        ([5, 2, 9, 5, 2, 9], [2]),
        ([5, 2, 9, 2, 9], [5]),
        ([8, 8, 1, 1, 4, 6, 6, 6], [4, 1]),
        ([8, 8, 1, 1, 4, 6, 6, 6, 2], [2, 4]),
    ],
)
def test_the_least_visited_half(states, tail):
    assert least_visited(np.array(states, np.int64)).tolist() == tail


def test_what_is_no_walk_is_refused():
    for walk in ([0, 1], [0, 3, 4]):
        with pytest.raises(InputError, match="does not leave the state entered before"):
            trajectory(VIEW, walk)
    for walk in ([-1], [8]):
        with pytest.raises(InputError, match="none of this world's"):
            trajectory(VIEW, walk)


def test_floors_and_meetings_agree_with_the_topology():
    topology = build_topology("scale-free", 60, 3)
    view = WorldView(topology, build_contents(topology))
    rng = np.random.default_rng(1)
    walk, state = [], 0
    for _ in range(400):
        edge = int(rng.integers(topology.indptr[state], topology.indptr[state + 1]))
        walk.append(edge)
        state = int(topology.targets[edge])
    found = trajectory(view, walk)
    met = set()
    for step, edge in enumerate(walk):
        state, action = int(topology.sources[edge]), int(topology.actions[edge])
        begin, end = topology.segment(state, action)
        assert found.floor_predictor[step] == 1 - 1 / (end - begin)
        assert found.first[step] == ((state, action) not in met)
        assert found.floor_memory[step] == (1 if found.first[step] else 1 - 1 / (end - begin))
        met.add((state, action))
    # No predictor names a next state at a first meeting.
    for name in ("ctwm", "full_history", "graph"):
        done = list(replay(view, walk, make_policy(name, view, Settings())))
        assert all(done[step].top1 == NOTHING for step in np.flatnonzero(found.first))
        assert any(step.top1 != NOTHING for step in done)


# Samples.


@settings(max_examples=40, deadline=None)
@given(
    strata=st.lists(st.integers(0, 3), max_size=60),
    most=st.integers(1, 12),
    seed=st.integers(0, 5),
)
def test_samples_stand_for_all_steps(strata, most, seed):
    array = np.array(strata, np.int8)
    steps, weights = sample_steps(array, most, "cell", seed)
    assert (np.diff(steps) > 0).all()
    for stratum in range(4):
        size = strata.count(stratum)
        drawn = array[steps] == stratum
        assert drawn.sum() == min(size, most)
        assert weights[drawn].sum() == pytest.approx(size)
        assert len(set(weights[drawn].tolist())) <= 1
    assert weights.sum() == pytest.approx(len(strata))
    again = sample_steps(array, most, "cell", seed)
    assert [a.tolist() for a in again] == [steps.tolist(), weights.tolist()]


def test_samples_depend_on_their_key_and_reach_all_steps():
    strata = np.zeros(20, np.int8)
    drawn = [tuple(sample_steps(strata, 5, "cell", seed)[0].tolist()) for seed in range(60)]
    assert len(set(drawn)) > 50
    counts = np.bincount(np.concatenate(drawn), minlength=20)
    # Each step is in one of four samples: 15 of 60 in the mean, with a standard deviation of 3.4.
    assert counts.min() >= 3
    assert counts.max() <= 29


def test_a_larger_sample_holds_the_smaller():
    strata = np.array([0, 1, 2, 3] * 10, np.int8)
    few, many = (set(sample_steps(strata, n, "cell")[0].tolist()) for n in (2, 5))
    assert few < many


# Coverage.


def test_coverage_by_hand():
    walk = [0, 3, 1]

    def found(name, **options):
        policy = make_policy(name, VIEW, Settings(**options))
        done = list(replay(VIEW, walk, policy))
        return coverage(VIEW, np.array(walk), policy.rank(DOCK, 0), done)

    # The window holds 1 at the end: barn and dock of barn, cave and dock. It showed 0, then 3.
    assert found("window", slots=1) == Coverage(2 / 3, 1 / 3, 2 / 3, 2 / 3)
    # All is held; the last is never shown, since nothing is asked after it.
    assert found("full_history") == Coverage(1, 1, 2 / 3, 2 / 3)
    # A summary's names count: 3 stands in it at the step of 1, as 0 does in the core.
    assert found("ctwm", slots=1) == Coverage(1, 1, 2 / 3, 2 / 3)
    assert found("graph", slots=1) == Coverage(1, 1, 2 / 3, 2 / 3)


def test_what_a_memory_never_shows_is_not_exposed():
    walk = [2, 6, 3, 0, 3, 0]

    def found(name):
        policy = make_policy(name, VIEW, Settings(slots=1))
        done = list(replay(VIEW, walk, policy))
        return coverage(VIEW, np.array(walk), policy.rank(CAVE, 0), done)

    # Shown: 2, 6, 3, then at cave 3 or what is newer; fort is in 2 and 6.
    assert found("window") == Coverage(2 / 3, 1 / 4, 1, 1)
    assert found("hierarchical") == found("window")
    shown = [step.context.shown for step in steps_of("flat", walk, slots=1)]
    transitions = {edge for edges in shown for edge in edges}
    assert found("flat").exposed_transitions == len(transitions) / 4
    assert found("flat").store_transitions == 1


def test_an_exposed_transition_may_have_been_evicted():
    walk = [0, 3, 1, 4, 2, 6, 3]
    policy = make_policy("recency", VIEW, Settings(slots=1))
    done = list(replay(VIEW, walk, policy))
    found = coverage(VIEW, np.array(walk), policy.rank(BARN, 0), done)
    assert found == Coverage(2 / 4, 1 / 6, 1, 1)
