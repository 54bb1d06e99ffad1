"""Semantic rollouts with scripted choosers on worlds small enough to follow by eye."""

from collections import Counter

import numpy as np
import pytest

from coretail.errors import InputError
from coretail.llm import BudgetSpent
from coretail.prompts import Option, Situation, Transition
from coretail.rollouts.semantic import (
    CHOSEN,
    RANDOM,
    RETRIED,
    SINGLE,
    STATUSES,
    Decision,
    Errands,
    Hits,
    RandomChooser,
    RolloutStopped,
    hits,
    rollout,
)
from coretail.rollouts.store import cell_store
from coretail.rollouts.walk import random_walk
from coretail.streams import stream
from coretail.worlds.contents import Contents, build_contents
from coretail.worlds.environment import Environment, start_state
from coretail.worlds.topology import Topology, build_topology


def world(successors: list[list[list[int]]], entities: list[list[str]]) -> tuple:
    """Return a world from the successors of each action of each state."""
    degrees = [sum(map(len, actions)) for actions in successors]
    topology = Topology(
        family="uniform",
        n_nodes=len(successors),
        seed=1,
        indptr=np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64),
        targets=np.array([t for actions in successors for a in actions for t in a], np.int32),
        actions=np.array(
            [i for actions in successors for i, a in enumerate(actions) for _ in a], np.int8
        ),
    )
    contents = Contents(
        names=[f"place {state}" for state in range(len(successors))],
        entities=entities,
        relations=[[] for _ in successors],
        constraints=[[f"rule {state}"] for state in range(len(successors))],
        actions=[[f"go {i}" for i in range(len(actions))] for actions in successors],
    )
    return topology, contents


# 0 leads to 1 or, in one of two ways, to 2 and 3; the others have one action, back to 0.
FORK = world([[[1], [2, 3]], [[0]], [[0]], [[0]]], [["lamp"], ["rope", "lamp"], ["bell"], ["cat"]])


class Scripted:
    """Takes the named options in turn, the last one for ever; None is an unusable reply."""

    def __init__(self, *names: str | None, replies: tuple = ("usable",)) -> None:
        self.names = list(names)
        self.replies = replies
        self.seen: list[tuple[int, Situation]] = []

    def choose(self, situation: Situation, step: int) -> Decision:
        self.seen.append((step, situation))
        name = self.names.pop(0) if len(self.names) > 1 else self.names[0]
        if name is None:
            return Decision(None, ("unusable", "unusable"), 20, 6)
        names = [option.name for option in situation.options]
        return Decision(names.index(name), self.replies, 10 * len(self.replies), 3)


def test_a_rollout_step_by_step():
    chooser = Scripted("go 0")
    run = rollout(*FORK, chooser, steps=4, goal="explore", start=0)
    assert run.states.tolist() == [0, 1, 0, 1]
    assert run.actions.tolist() == [0, 0, 0, 0]
    assert run.walk.edges.tolist() == [0, 3, 0, 3]
    assert run.next_states.tolist() == [1, 0, 1, 0]
    assert run.n_options.tolist() == [2, 1, 2, 1]
    # Nothing is remembered at first; then what was walked, before the step's own is written.
    assert run.hints.tolist() == [[-1, -1, -1], [0, -1, -1], [0, 3, -1], [0, 3, -1]]
    assert run.walk.n_reads.tolist() == [0, 1, 2, 2]
    assert run.walk.reads.tolist() == [3, 0, 0, 2, 0, 0]
    assert run.walk.writes.tolist() == [2, 0, 0, 2, 0, 0]
    assert run.walk.access.tolist() == [5, 0, 0, 4, 0, 0]
    assert run.walk.visits.tolist() == [2, 2, 0, 0]
    assert run.walk.top_accessed.tolist() == [True, True, True, True]
    assert run.walk.stored.tolist() == [1, 2, 2, 2]
    assert run.walk.start == 0
    assert run.walk.counters.reads == 5
    assert run.walk.counters.reinforced == 2


def test_a_state_with_one_action_asks_nobody():
    chooser = Scripted("go 1")
    run = rollout(*FORK, chooser, steps=6, goal="explore", start=0)
    assert [step for step, _ in chooser.seen] == [0, 2, 4]
    assert [STATUSES[s] for s in run.statuses] == ["chosen", "single"] * 3
    assert run.positions[1::2].tolist() == [-1] * 3
    assert (run.order[1::2] == -1).all()
    assert run.calls.tolist() == [1, 0] * 3
    assert run.prompt_tokens.tolist() == [10, 0] * 3
    assert run.completion_tokens.tolist() == [3, 0] * 3
    assert run.status_counts() == {"single": 3, "chosen": 3, "retried": 0, "random": 0}


def test_the_situation_shown():
    chooser = Scripted("go 0", "go 1")
    run = rollout(*FORK, chooser, steps=9, goal="explore", start=0)
    _, first = chooser.seen[0]
    assert (first.goal, first.state, first.entities) == (None, "place 0", ("lamp",))
    assert (first.constraints, first.memory, first.recent) == (("rule 0",), (), ())
    _, second = chooser.seen[1]
    assert second.memory == (
        Transition("place 0", "go 0", "place 1"),
        Transition("place 1", "go 0", "place 0"),
    )
    assert second.recent == ("place 0", "place 1")
    _, last = chooser.seen[-1]
    # The five states before this one, the latest last.
    assert last.recent == tuple(f"place {state}" for state in run.states[3:8])
    for _, situation in chooser.seen:
        options = {option.name: option for option in situation.options}
        assert options["go 0"] == Option("go 0", ("place 1",), 0)
        assert set(options["go 1"].towards) == {"place 2", "place 3"}
        assert options["go 1"].more == 0


def test_at_most_three_successors_are_shown_and_an_action_keeps_its_look():
    wide = world([[list(range(1, 8)), [8]], *([[0]] for _ in range(8))], [[] for _ in range(9)])
    chooser = Scripted("go 1")
    rollout(*wide, chooser, steps=9, goal="explore", start=0)
    looks = {
        option for _, situation in chooser.seen for option in situation.options
        if option.name == "go 0"
    }  # fmt: skip
    (look,) = looks
    assert len(set(look.towards)) == 3
    assert set(look.towards) <= {f"place {state}" for state in range(1, 8)}
    assert look.more == 4


def test_options_come_in_an_order_drawn_anew_which_is_recorded():
    topology = build_topology("baseline-symmetric", 30, 7)
    contents = build_contents(topology)
    chooser = Scripted("take the left path")
    run = rollout(topology, contents, chooser, steps=600, goal="explore")
    assert (run.actions == 0).all()
    shown = [[option.name for option in situation.options] for _, situation in chooser.seen]
    for names, order, state, place in zip(
        shown, run.order.tolist(), run.states, run.positions, strict=True
    ):
        assert names == [contents.actions[state][action] for action in order]
        assert order[place] == 0
    counts = Counter(map(tuple, run.order.tolist()))
    assert len(counts) == 6
    assert all(60 <= count <= 140 for count in counts.values())
    # An independent reading of the stream.
    rng = stream(*topology.key, "option order", 0)
    assert run.order.tolist() == [np.argsort(rng.random(3)).tolist() for _ in range(600)]


def test_an_unusable_reply_becomes_a_random_choice_that_is_marked():
    topology = build_topology("baseline-symmetric", 30, 7)
    contents = build_contents(topology)
    run = rollout(topology, contents, Scripted(None), steps=300, goal="explore")
    assert (run.statuses == RANDOM).all()
    assert (run.calls == 2).all()
    assert (run.prompt_tokens == 20).all()
    assert run.replies == {"usable": 0, "unusable": 600, "refusal": 0, "content_filter": 0}
    rng = stream(*topology.key, "fallback", 0)
    assert run.positions.tolist() == [int(rng.random() * 3) for _ in range(300)]
    assert min(Counter(run.actions.tolist()).values()) > 70
    # What is drawn for one step does not move the draws for others.
    mixed = rollout(
        topology, contents, Scripted(None, "take the left path"), steps=300, goal="explore"
    )
    assert mixed.statuses.tolist() == [RANDOM] + [CHOSEN] * 299
    assert mixed.order.tolist() == run.order.tolist()


def test_a_choice_by_a_later_reply_is_marked():
    chooser = Scripted("go 0", replies=("unusable", "usable"))
    run = rollout(*FORK, chooser, steps=3, goal="explore", start=0)
    assert run.statuses.tolist() == [RETRIED, SINGLE, RETRIED]
    assert run.replies == {"usable": 2, "unusable": 2, "refusal": 0, "content_filter": 0}
    assert run.prompt_tokens.tolist() == [20, 0, 20]


def test_errands_are_found_by_entering_and_given_up_in_time():
    topology, contents = FORK
    errands = Errands(topology, contents, patience=3)
    assert errands.entities == ("bell", "cat", "lamp", "rope")
    rng = stream(*topology.key, "errands", 0)
    drawn = [int(rng.random() * 4) for _ in range(50)]
    holds = {"bell": 2, "cat": 3, "rope": 1, "lamp": 0}
    seen, log = [], []
    for _ in range(20):
        goal = errands.entity
        seen.append(errands.current)
        # The goal's own place at the second step, for every other errand.
        elsewhere = 3 if goal == "bell" else 2
        visits = [elsewhere, holds[goal]] if errands.number % 2 else [elsewhere] * 3
        log.append([errands.enter(state) for state in visits])
    assert seen == drawn[:20]
    assert log == [[False] * 3, [False, True]] * 10
    assert (errands.found, errands.given_up, errands.number) == (10, 10, 20)


def test_the_goal_is_shown_found_and_replaced():
    topology, contents = FORK
    chooser = Scripted("go 0")
    run = rollout(topology, contents, chooser, steps=40, start=0, patience=5)
    assert run.entities == ("bell", "cat", "lamp", "rope")
    # Always between place 0 (lamp) and place 1 (rope, lamp): bell and cat are never found.
    age, found, given_up = 0, 0, 0
    for step in range(40):
        goal = run.entities[run.goals[step]]
        held = contents.entities[run.next_states[step]]
        assert bool(run.found[step]) == (goal in held)
        assert run.errands[step] == found + given_up
        age += 1
        if goal in held or age == 5:
            found += goal in held
            given_up += goal not in held
            age = 0
    assert run.hits == Hits(found, given_up, 40)
    assert found > 0
    assert given_up > 0
    for step, situation in chooser.seen:
        assert situation.goal == run.entities[run.goals[step]]
    assert run.hits.rate == found / (found + given_up)
    assert Hits(0, 0, 3).rate is None


def test_an_errand_waits_for_its_place_to_be_entered():
    topology, contents = world([[[1]], [[0]]], [["lamp"], []])
    run = rollout(topology, contents, Scripted("go 0"), steps=4, start=0)
    assert run.found.tolist() == [False, True, False, True]


def test_hits_of_a_trajectory_are_those_of_its_rollout():
    topology = build_topology("scale-free", 60, 3)
    contents = build_contents(topology)
    run = rollout(topology, contents, RandomChooser(topology.key), steps=800)
    assert hits(topology, contents, run.walk.edges) == run.hits
    assert run.hits.found > 10
    walk = random_walk(topology, steps=800, start=start_state(topology))
    assert hits(topology, contents, walk.edges).found > 10
    assert hits(topology, contents, run.walk.edges, replicate=1) != run.hits


def test_exploring_has_no_goal():
    run = rollout(*FORK, Scripted("go 0"), steps=5, goal="explore", start=0)
    assert (run.goals == -1).all()
    assert (run.errands == -1).all()
    assert not run.found.any()
    assert run.entities == ()
    assert run.hits is None


def test_two_policies_that_do_the_same_at_the_same_visit_meet_the_same_successor():
    topology = build_topology("scale-free", 40, 5)
    contents = build_contents(topology)
    runs = [
        rollout(topology, contents, RandomChooser(topology.key, i), steps=500) for i in range(2)
    ]
    assert runs[0].walk.edges.tolist() != runs[1].walk.edges.tolist()
    met: list[dict] = []
    for run in runs:
        visits: Counter = Counter()
        met.append({})
        for state, action, edge in zip(run.states, run.actions, run.walk.edges, strict=True):
            met[-1][state, action, visits[state, action]] = edge
            visits[state, action] += 1
    shared = met[0].keys() & met[1].keys()
    assert len(shared) > 200
    assert all(met[0][key] == met[1][key] for key in shared)
    environment = Environment(topology)
    taken = zip(runs[0].states.tolist(), runs[0].actions.tolist(), strict=True)
    assert [environment.step(*pair) for pair in taken] == runs[0].walk.edges.tolist()


@pytest.mark.parametrize("eviction", ["reservoir", "least_frequent"])
def test_the_memory_is_the_random_walks(eviction):
    topology = build_topology("modular", 80, 2)
    contents = build_contents(topology)
    options = {"capacity": 20, "k": 2, "eviction": eviction, "reads_feed_frequency": True}
    run = rollout(topology, contents, RandomChooser(topology.key), steps=400, **options)
    memory = cell_store(topology, start=start_state(topology), **options)
    for step, edge in enumerate(run.walk.edges.tolist()):
        handed = memory.retrieve(int(run.states[step]))
        assert run.hints[step].tolist() == handed + [-1] * (2 - len(handed))
        memory.write(edge, int(run.states[step]), int(run.next_states[step]))
    assert run.walk.counters == memory.counters
    assert run.walk.stored.max() == 20
    access = run.walk.access
    top = int(np.flatnonzero(access == access.max())[0])
    marked = (run.walk.edges == top) | (run.hints == top).any(axis=1)
    assert run.walk.top_accessed.tolist() == marked.tolist()


def test_the_same_cell_gives_the_same_rollout_and_another_replicate_another():
    topology = build_topology("exponential", 60, 9)
    contents = build_contents(topology)

    def run(**options):
        return rollout(topology, contents, First(), steps=200, **options)

    first, second, other = run(), run(), run(replicate=1)
    for name in ("states", "actions", "hints", "order", "positions", "goals", "found"):
        assert getattr(first, name).tolist() == getattr(second, name).tolist()
    assert first.walk.start == other.walk.start == start_state(topology)
    assert first.walk.edges.tolist() != other.walk.edges.tolist()
    longer = rollout(topology, contents, First(), steps=300)
    assert longer.walk.edges[:200].tolist() == first.walk.edges.tolist()


class First:
    def choose(self, situation: Situation, step: int) -> Decision:
        return Decision(0, ("usable",))


def test_starts_are_uniform_over_states_and_cells():
    starts = [start_state(build_topology("uniform", 10, seed)) for seed in range(60)]
    assert set(starts) == set(range(10))


def test_the_random_agent_takes_uniform_actions_not_uniform_successors():
    lopsided = world([[[1], [2, 3, 4, 5]], *([[0]] for _ in range(5))], [["x"]] * 6)
    run = rollout(*lopsided, RandomChooser(("uniform", 6, 1)), steps=2000, start=0)
    taken = run.actions[run.states == 0]
    assert 0.45 < (taken == 0).mean() < 0.55
    assert (run.statuses[run.states == 0] == CHOSEN).all()
    assert (run.calls == 0).all()
    walk = random_walk(lopsided[0], steps=2000, start=0)
    assert 0.15 < (walk.edges[::2] == 0).mean() < 0.25


def test_a_rollout_that_cannot_go_on_says_how_far_it_came():
    class Spent(Scripted):
        def choose(self, situation: Situation, step: int) -> Decision:
            if step == 4:
                raise BudgetSpent("budget: calls: 2 of 2 are spent.")
            return super().choose(situation, step)

    steps = []
    with pytest.raises(RolloutStopped) as stopped:
        rollout(*FORK, Spent("go 0"), steps=9, start=0, progress=steps.append)
    assert str(stopped.value) == (
        "uniform with 4 states, seed 1: stopped at step 4 of 9: budget: calls: 2 of 2 are spent."
    )
    assert (stopped.value.step, stopped.value.steps) == (4, 9)
    assert isinstance(stopped.value.__cause__, BudgetSpent)
    assert steps == [1, 2, 3, 4]


def test_an_interrupt_passes_through():
    class Interrupted:
        def choose(self, situation: Situation, step: int) -> Decision:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rollout(*FORK, Interrupted(), steps=9, start=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 0}, "steps: 0"),
        ({"goal": "win"}, "goal: 'win' is unknown; allowed are seek, explore"),
        ({"patience": 0}, "patience: 0"),
        ({"capacity": 0}, "capacity: 0"),
        ({"k": 0}, "k: 0"),
        ({"eviction": "oldest"}, "eviction: 'oldest'"),
        ({"start": 4}, "start: 4 is not a state of this world; allowed are integers from 0 to 3"),
    ],
)
def test_parameters_out_of_range_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        rollout(*FORK, Scripted("go 0"), **{"steps": 3} | options)


def test_seeking_in_a_world_without_entities_is_refused():
    topology, contents = world([[[1]], [[0]]], [[], []])
    with pytest.raises(InputError, match="goal: seek needs a world with entities"):
        rollout(topology, contents, Scripted("go 0"), steps=3)
