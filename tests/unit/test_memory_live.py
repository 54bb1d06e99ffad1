"""A policy in the closed loop, and its replay."""

import numpy as np
import pytest

from coretail.memory.frozen import replay
from coretail.memory.live import PolicyMemory
from coretail.memory.policies import POLICIES, Settings, make_policy
from coretail.memory.view import NO_ACTION, WorldView
from coretail.rollouts.semantic import Decision, RandomChooser, rollout
from coretail.worlds.contents import build_contents
from coretail.worlds.topology import build_topology

TOPOLOGY = build_topology("scale-free", 100, 5)
CONTENTS = build_contents(TOPOLOGY)
VIEW = WorldView(TOPOLOGY, CONTENTS)


class Watching:
    """Takes the first option and keeps what it was shown."""

    def __init__(self):
        self.seen = []

    def choose(self, situation, step):
        self.seen.append((step, situation.state, situation.context))
        return Decision(0, ("usable",), 10, 1)


def live(name, encoding, chooser):
    memory = PolicyMemory(VIEW, make_policy(name, VIEW, Settings(slots=4, encoding=encoding)))
    done = rollout(TOPOLOGY, CONTENTS, chooser, steps=60, goal="explore", memory=memory)
    return memory, done


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("encoding", ["compact", "verbose"])
def test_replay_under_the_own_encoding_is_exact(name, encoding):
    memory, done = live(name, encoding, RandomChooser(TOPOLOGY.key))
    again = make_policy(name, VIEW, Settings(slots=4, encoding=encoding))
    assert list(replay(VIEW, done.walk.edges.tolist(), again)) == memory.steps


def test_the_other_encoding_ranks_alike_on_the_same_trajectory():
    memory, done = live("ctwm", "compact", RandomChooser(TOPOLOGY.key))
    other = make_policy("ctwm", VIEW, Settings(slots=4, encoding="verbose"))
    steps = list(replay(VIEW, done.walk.edges.tolist(), other))
    assert [s.ranking_hash for s in steps] == [s.ranking_hash for s in memory.steps]
    assert [s.vote for s in steps] == [s.vote for s in memory.steps]
    assert any(a.context.text != b.context.text for a, b in zip(steps, memory.steps, strict=True))


def test_the_agent_reads_what_the_policy_shows_in_its_state_before_it_acts():
    chooser = Watching()
    memory, done = live("ctwm", "compact", chooser)
    policy = make_policy("ctwm", VIEW, Settings(slots=4))
    edges = done.walk.edges.tolist()
    shown = {}
    for step, edge in enumerate(edges):
        state = int(VIEW.sources[edge])
        shown[step] = policy.pack(policy.rank(state, NO_ACTION), state, NO_ACTION)
        assert [hint for hint in done.hints[step].tolist() if hint >= 0] == list(shown[step].shown)
        policy.write(edge)
    assert len(chooser.seen) > 30
    for step, state, context in chooser.seen:
        assert context == shown[step].text
        assert state == CONTENTS.names[VIEW.sources[edges[step]]]
    assert done.walk.counters.reads == sum(len(context.shown) for context in shown.values())
    assert len(memory) == np.unique(edges).size


def test_two_memories_meet_the_same_successors():
    """The same action at the same visit leads to the same state, whatever the memory is."""
    _, first = live("ctwm", "compact", Watching())
    _, second = live("graph", "verbose", Watching())
    assert first.walk.edges.tolist() == second.walk.edges.tolist()
