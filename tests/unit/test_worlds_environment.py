import numpy as np
import pytest

from coretail.errors import InputError
from coretail.worlds.environment import Environment
from coretail.worlds.topology import build_topology


@pytest.fixture(scope="module")
def world():
    return build_topology("scale-free", 100, 42)


def widest(world) -> tuple[int, int]:
    """Return the state with the most successors, and its last action."""
    state = int(np.argmax(np.diff(world.indptr)))
    return state, int(world.n_actions[state]) - 1


def test_the_same_visit_of_the_same_action_meets_the_same_successor(world):
    state, action = widest(world)
    alone, wandering = Environment(world), Environment(world)
    straight = [alone.step(state, action) for _ in range(20)]
    detoured = []
    for i in range(20):
        for other in range(i):
            wandering.step(other, 0)
        detoured.append(wandering.step(state, action))
    assert straight == detoured
    assert len(set(straight)) > 3


def test_steps_stay_in_the_segment_and_are_uniform_there(world):
    state, action = widest(world)
    begin, end = world.segment(state, action)
    environment = Environment(world)
    counts = np.bincount([environment.step(state, action) - begin for _ in range(3000)])
    assert len(counts) == end - begin
    expected = 3000 / (end - begin)
    # Mean and variance of χ² are its degrees of freedom and twice that.
    chi2, freedom = np.sum((counts - expected) ** 2 / expected), end - begin - 1
    assert chi2 < freedom + 5 * np.sqrt(2 * freedom)


def test_visits_are_counted_by_state_and_action(world):
    environment = Environment(world)
    state = int(np.argmax(world.n_actions))
    for _ in range(3):
        environment.step(state, 1)
    assert environment.visits(state, 1) == 3
    assert environment.visits(state, 0) == 0


def test_replicates_and_worlds_are_independent(world):
    state, action = widest(world)

    def steps(environment):
        return [environment.step(state, action) for _ in range(20)]

    assert steps(Environment(world)) == steps(Environment(world, replicate=0))
    assert steps(Environment(world)) != steps(Environment(world, replicate=1))


def test_an_action_that_does_not_exist_is_refused_and_not_counted(world):
    state = int(np.argmin(world.n_actions))
    absent = int(world.n_actions[state])
    environment = Environment(world)
    with pytest.raises(InputError, match=f"action: state {state} has no action {absent}"):
        environment.step(state, absent)
    assert environment.visits(state, absent) == 0
