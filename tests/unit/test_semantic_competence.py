"""The competence gate: its tasks, its scores, and choice by position."""

import json
from dataclasses import replace

import numpy as np
import pytest

from coretail.errors import InputError
from coretail.llm import ApiModel, CallFailed, Client, Retry
from coretail.prompts import PREDICTION_TEMPLATE
from coretail.rollouts.competence import (
    CONDITIONS,
    MEMORIES,
    Accuracy,
    accuracies,
    positions,
    predict,
    prediction_tasks,
)
from coretail.rollouts.semantic import Decision, RandomChooser, rollout
from coretail.worlds.contents import build_contents
from coretail.worlds.topology import build_topology
from endpoint import CONTENT_FILTER, REFUSAL, Behaviour, LocalEndpoint, error

TOPOLOGY = build_topology("scale-free", 100, 42)
CONTENTS = build_contents(TOPOLOGY)
TASKS = prediction_tasks(TOPOLOGY, CONTENTS, 40)


def of(condition):
    return [task for task in TASKS if task.condition == condition]


def answers(task):
    """The ranks of the memories with the state and the action asked for."""
    return [
        rank
        for rank, memory in enumerate(task.memories, start=1)
        if memory[:2] == task.transition[:2]
    ]


def test_the_answer_stands_where_the_condition_says():
    assert len(TASKS) == 40 * len(CONDITIONS)
    for condition, rank in (("rank_1", 1), ("rank_3", 3), ("rank_5", 5)):
        for task in of(condition):
            assert len(task.memories) == MEMORIES
            assert answers(task) == [rank]
            assert task.memories[rank - 1] == task.transition
            nexts = [memory.next_state for memory in task.memories]
            assert nexts.count(task.transition.next_state) == 1
    assert all(task.memories == () for task in of("empty"))
    for task in of("absent"):
        assert len(set(task.memories)) == MEMORIES
        assert answers(task) == []
        named = {name for m in task.memories for name in (m.state, m.next_state)}
        assert task.transition.next_state not in named


def test_a_shuffled_memory_answers_wrongly_with_the_same_words():
    for task, whole in zip(of("shuffled"), of("rank_3"), strict=True):
        assert answers(task) == [3]
        assert task.memories[2].next_state != task.transition.next_state
        assert [m[:2] for m in task.memories] == [m[:2] for m in whole.memories]
        dealt, nexts = ([m.next_state for m in t.memories] for t in (task, whole))
        assert sorted(dealt) == sorted(nexts)


def test_conditions_are_paired_and_transitions_are_the_worlds():
    for number in range(40):
        (edge,) = {task.edge for task in TASKS if task.number == number}
        source, target = int(TOPOLOGY.sources[edge]), int(TOPOLOGY.targets[edge])
        action = CONTENTS.actions[source][TOPOLOGY.actions[edge]]
        (asked,) = {task.transition for task in TASKS if task.number == number}
        assert asked == (CONTENTS.names[source], action, CONTENTS.names[target])
    assert len({task.edge for task in TASKS}) > 30
    real = {
        (CONTENTS.names[s], CONTENTS.actions[s][a], CONTENTS.names[t])
        for s, a, t in zip(
            TOPOLOGY.sources.tolist(), TOPOLOGY.actions, TOPOLOGY.targets, strict=True
        )
    }
    for task in TASKS:
        if task.condition != "shuffled":
            assert set(task.memories) <= real


def test_the_other_memories_touch_the_state_where_enough_do():
    full = 0
    for task in of("absent"):
        source, target = int(TOPOLOGY.sources[task.edge]), int(TOPOLOGY.targets[task.edge])
        possible = sum(
            source in (s, t) and target not in (s, t) and (s, a) != (source, asked)
            for asked in [TOPOLOGY.actions[task.edge]]
            for s, a, t in zip(TOPOLOGY.sources, TOPOLOGY.actions, TOPOLOGY.targets, strict=True)
        )
        touching = sum(task.transition.state in (m.state, m.next_state) for m in task.memories)
        assert touching == min(MEMORIES, possible)
        full += touching == MEMORIES
    assert 20 < full < 40


def test_tasks_depend_on_the_cell_and_the_replicate_alone():
    assert prediction_tasks(TOPOLOGY, CONTENTS, 40) == TASKS
    assert prediction_tasks(TOPOLOGY, CONTENTS, 5)[-1].edge == TASKS[29].edge
    other = prediction_tasks(TOPOLOGY, CONTENTS, 40, replicate=1)
    assert [task.edge for task in other] != [task.edge for task in TASKS]
    some = prediction_tasks(TOPOLOGY, CONTENTS, 40, conditions=["empty", "rank_5"])
    assert {task.condition for task in some} == {"empty", "rank_5"}
    assert [t for t in some if t.condition == "rank_5"] == of("rank_5")


def asked_for(body) -> str:
    return body["messages"][-1]["content"].split("Now: ")[1]


def reader(body) -> str:
    """Copies the memory with the same state and action; makes up a next state without one."""
    lines = body["messages"][-1]["content"].split("\n")[1:-1]
    found = [line for line in lines if line.startswith(asked_for(body))]
    return found[0] if found else f"{asked_for(body)} nowhere"


def first_line(body) -> str:
    """Says what the first memory says, whatever it is about."""
    line = body["messages"][-1]["content"].split("\n")[1]
    return f"{asked_for(body)} {line.split(' -> ')[-1]}"


def score(tasks=TASKS, **options) -> list[Accuracy]:
    with LocalEndpoint(**options) as endpoint:
        model = ApiModel("tester", base_url=endpoint.base_url, key_env=None)
        with Client(model, retry=Retry(attempts=2, first=0.0, longest=0.0)) as client:
            predictions = predict(client, tasks, cell=TOPOLOGY.key)
    assert all(p.prompt_tokens > 0 for p in predictions if p.correct is not None)
    return accuracies(predictions)


def test_a_model_that_reads_its_memory_passes():
    found = score(reply=reader)
    assert [accuracy.condition for accuracy in found] == list(CONDITIONS)
    assert [accuracy.accuracy for accuracy in found] == [1, 1, 1, 0, 0, 0]
    assert [accuracy.from_memory for accuracy in found] == [40, 40, 40, 0, 0, 40]
    assert all((a.n, a.malformed, a.unanswered) == (40, 0, 0) for a in found)


def test_a_model_that_goes_by_rank_is_found_out():
    found = {accuracy.condition: accuracy for accuracy in score(reply=first_line)}
    assert found["rank_1"].accuracy == 1
    assert found["rank_3"].accuracy == found["rank_5"].accuracy == 0
    # The right next state stands first in some shuffled memories.
    assert 0 < found["shuffled"].accuracy < 0.6


def test_malformed_replies_are_wrong_and_missing_ones_are_not_scored():
    tasks = of("rank_1")[:6]
    script = [Behaviour(text="I do not know."), REFUSAL, CONTENT_FILTER]
    (found,) = score(tasks, script=script, reply=reader)
    assert found == Accuracy("rank_1", 4, 3, 1, 3, 2)
    assert found.accuracy == 0.75
    assert replace(found, n=0, correct=0).accuracy is None


def test_a_failure_is_no_score():
    with pytest.raises(CallFailed, match=r"scale-free with 100 states, seed 42, rank_1, task 0: "):
        score(of("rank_1"), script=[error(503)] * 2)


def test_what_is_asked():
    with LocalEndpoint(reply=reader) as endpoint:
        model = ApiModel("tester", base_url=endpoint.base_url, key_env=None)
        with Client(model) as client:
            predict(client, TASKS[:1], seed=3)
    (logged,) = endpoint.log
    assert "response_format" not in logged.body
    assert (logged.body["temperature"], logged.body["seed"]) == (0.0, 3)
    messages = [(m["role"], m["content"]) for m in logged.body["messages"]]
    assert messages[:-1] == list(PREDICTION_TEMPLATE.shared)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"n": 0}, "n: 0"), ({"n": 1, "conditions": ["rank_2"]}, "conditions: 'rank_2'")],
)
def test_parameters_out_of_range_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        prediction_tasks(TOPOLOGY, CONTENTS, **options)


def test_a_world_that_is_too_small_is_refused():
    small = build_topology("scale-free", 4, 1)
    tiny = replace(
        small,
        n_nodes=2,
        indptr=np.array([0, 1, 2]),
        targets=np.array([1, 0], np.int32),
        actions=np.zeros(2, np.int8),
    )
    with pytest.raises(InputError, match="too few transitions"):
        prediction_tasks(tiny, build_contents(tiny), 1)


class Placed:
    def __init__(self, place: int) -> None:
        self.place = place

    def choose(self, situation, step) -> Decision:
        return Decision(min(self.place, len(situation.options) - 1), ("usable",))


def test_choice_by_position_is_counted_per_number_of_options():
    first = rollout(TOPOLOGY, CONTENTS, Placed(0), steps=300)
    two, three = positions([first])
    assert (two.n_options, three.n_options) == (2, 3)
    assert two.counts.tolist() == [int((first.n_options == 2).sum()), 0]
    assert three.counts.tolist() == [int((first.n_options == 3).sum()), 0, 0]
    # All in one place of two: chi-square is n.
    assert two.chi2 == two.counts.sum() > 30
    assert two.p < 1e-6
    last = rollout(TOPOLOGY, CONTENTS, Placed(2), steps=300)
    _, both = positions([first, last])
    assert both.counts.tolist() == [three.counts[0], 0, int((last.n_options == 3).sum())]
    a, b = both.counts[0], both.counts[2]
    e = (a + b) / 3
    assert both.chi2 == pytest.approx(((a - e) ** 2 + e**2 + (b - e) ** 2) / e)


def test_a_chooser_without_habits_passes_the_position_test():
    run = rollout(TOPOLOGY, CONTENTS, RandomChooser(TOPOLOGY.key), steps=2000)
    for found in positions([run]):
        assert found.p > 0.01
        assert found.reason == ""


def test_choices_by_chance_do_not_count_as_the_models():
    class Mute:
        def choose(self, situation, step) -> Decision:
            return Decision(None, ("unusable",))

    run = rollout(TOPOLOGY, CONTENTS, Mute(), steps=50)
    for found in positions([run]):
        assert found.counts.sum() == 0
        assert (found.chi2, found.p, found.reason) == (None, None, "no choice was made")


def test_a_reply_is_compared_by_name():
    """A name that needs quotes is right when it is written as the prompt writes it."""
    task = of("rank_1")[0]
    odd = task.transition._replace(next_state='the "end", at last')
    task = replace(task, transition=odd, memories=(odd,))
    (found,) = score([task], reply=reader)
    assert found.accuracy == 1
    plain = json.dumps("x")
    (found,) = score([task], reply=lambda body: f"{asked_for(body)} {plain}")
    assert found.accuracy == 0
