"""Semantic rollouts with a model: a local endpoint that misbehaves, and SmolLM2 for real."""

import json
import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

from coretail.errors import InputError
from coretail.llm import (
    ApiModel,
    Budget,
    BudgetSpent,
    CallFailed,
    Client,
    EmbeddedModel,
    EndpointError,
    RecordingMiss,
    Retry,
    compact,
)
from coretail.llm.registry import SMOLLM2
from coretail.llm.weights import obtain, present
from coretail.prompts import ACTION_TEMPLATES
from coretail.rollouts.semantic import (
    CHOSEN,
    RANDOM,
    RETRIED,
    ModelChooser,
    RolloutStopped,
    rollout,
)
from coretail.worlds.contents import build_contents
from coretail.worlds.topology import build_topology
from endpoint import CONTENT_FILTER, REFUSAL, WRONG_ACTION, Behaviour, LocalEndpoint, error, slow

# Every state has three actions, so that every step asks.
TOPOLOGY = build_topology("baseline-symmetric", 30, 7)
CONTENTS = build_contents(TOPOLOGY)
PATIENT = Retry(attempts=3, first=0.0, longest=0.0)
FIELDS = (
    "states", "actions", "next_states", "hints", "statuses", "n_options", "order", "positions",
    "calls", "prompt_tokens", "completion_tokens", "goals", "errands", "found",
)  # fmt: skip


def client(endpoint, journal=None, **options) -> Client:
    model = ApiModel("tester", base_url=endpoint.base_url, key_env=None)
    return Client(model, journal=journal, **{"retry": PATIENT} | options)


def run(one_client, steps=12, goal="seek", **options):
    with one_client:
        chooser = ModelChooser(one_client, TOPOLOGY.key, **{"style": "direct"} | options)
        return rollout(TOPOLOGY, CONTENTS, chooser, steps=steps, goal=goal)


def same(first, second) -> bool:
    return all(getattr(first, name).tolist() == getattr(second, name).tolist() for name in FIELDS)


def test_what_is_asked_and_what_is_kept():
    with LocalEndpoint() as endpoint:
        made = run(client(endpoint), steps=8)
    assert len(endpoint.log) == 8
    for step, logged in enumerate(endpoint.log):
        body = logged.body
        names = [CONTENTS.actions[made.states[step]][action] for action in made.order[step]]
        schema = body["response_format"]["json_schema"]["schema"]
        assert schema == {"type": "string", "enum": names}
        assert (body["temperature"], body["seed"], body["max_tokens"]) == (0.0, 0, 64)
        messages = [(m["role"], m["content"]) for m in body["messages"]]
        assert messages[:-1] == list(ACTION_TEMPLATES["direct", "seek"].shared)
        assert messages[-1][1].endswith(f"Find: {made.entities[made.goals[step]]}")
        words = sum(len(content.split()) for _, content in messages)
        assert made.prompt_tokens[step] == words
        assert made.completion_tokens[step] == 4
    assert (made.statuses == CHOSEN).all()
    assert (made.calls == 1).all()


@pytest.mark.parametrize("style", ["direct", "react"])
@pytest.mark.parametrize("goal", ["seek", "explore"])
def test_the_reply_decides(style, goal):
    def reply(body) -> str:
        schema = body["response_format"]["json_schema"]["schema"]
        if style == "direct":
            return json.dumps(schema["enum"][1])
        return json.dumps(
            {"thought": "Why not?", "action": schema["properties"]["action"]["enum"][1]}
        )

    with LocalEndpoint(reply=reply) as endpoint:
        made = run(client(endpoint), style=style, goal=goal)
    assert (made.positions == 1).all()
    assert (made.statuses == CHOSEN).all()
    assert made.actions.tolist() == made.order[:, 1].tolist()
    assert ("Find:" in endpoint.log[0].body["messages"][-1]["content"]) == (goal == "seek")


def test_temperature_and_seed_reach_the_model_and_each_step_has_a_seed_of_its_own():
    with LocalEndpoint() as endpoint:
        run(client(endpoint), temperature=0.7, seed=5)
        run(client(endpoint), temperature=0.7, seed=6)
    seeds = [logged.body["seed"] for logged in endpoint.log]
    assert len(set(seeds)) == 24
    assert {logged.body["temperature"] for logged in endpoint.log} == {0.7}


@pytest.mark.parametrize(
    ("behaviour", "kind"),
    [
        (WRONG_ACTION, "unusable"),
        (Behaviour(text="take the left path, I think"), "unusable"),
        (REFUSAL, "refusal"),
        (CONTENT_FILTER, "content_filter"),
    ],
)
def test_an_unusable_reply_is_retried_once_then_chance_decides(behaviour, kind):
    script = [behaviour, Behaviour(), behaviour, behaviour]
    with LocalEndpoint(script=script) as endpoint:
        made = run(client(endpoint), steps=4)
    assert made.statuses.tolist() == [RETRIED, RANDOM, CHOSEN, CHOSEN]
    assert made.calls.tolist() == [2, 2, 1, 1]
    assert made.replies[kind] == 3
    assert made.replies["usable"] == 3
    assert sum(made.replies.values()) == len(endpoint.log) == 6
    bodies = [logged.body for logged in endpoint.log]
    assert bodies[0]["messages"] == bodies[1]["messages"]
    # The second attempt is another sample.
    assert bodies[0]["seed"] != bodies[1]["seed"]
    # Tokens of both attempts, where the endpoint reported them.
    if kind == "unusable":
        assert made.prompt_tokens[0] > 1.9 * made.prompt_tokens[2]


def test_attempts_are_configurable():
    with LocalEndpoint(otherwise=WRONG_ACTION) as endpoint:
        made = run(client(endpoint), steps=3, attempts=4)
    assert made.calls.tolist() == [4, 4, 4]
    assert (made.statuses == RANDOM).all()


def test_a_failure_is_no_choice():
    with LocalEndpoint(script=[Behaviour()] * 5, otherwise=error(503)) as endpoint:
        with pytest.raises(RolloutStopped, match=r"stopped at step 5 of 12: .*503.*Run again") as e:
            run(client(endpoint))
        assert isinstance(e.value.__cause__, CallFailed)
        assert len(endpoint.log) == 5 + 3


@pytest.mark.parametrize(
    ("script", "cause", "words"),
    [
        ([error(401, message="Incorrect API key provided")], EndpointError, "401"),
        ([error(404, message="no such model", code="model_not_found")], EndpointError, "404"),
    ],
)
def test_a_bad_endpoint_stops_at_the_first_step_with_its_message(script, cause, words):
    with LocalEndpoint(script=script) as endpoint:
        with pytest.raises(RolloutStopped, match=f"stopped at step 0 of 12: .*{words}") as stopped:
            run(client(endpoint))
        assert isinstance(stopped.value.__cause__, cause)
        assert len(endpoint.log) == 1


def test_a_spent_budget_stops_and_a_larger_one_goes_on(tmp_path):
    with LocalEndpoint() as endpoint:
        whole = run(client(endpoint))
        del endpoint.log[:]
        journal = tmp_path / "journal"
        with pytest.raises(RolloutStopped, match="budget: calls: 7 of 7 are spent") as stopped:
            run(client(endpoint, journal, budget=Budget(calls=7)))
        assert stopped.value.step == 7
        assert isinstance(stopped.value.__cause__, BudgetSpent)
        resumed = run(client(endpoint, journal))
        assert len(endpoint.log) == 12
        assert same(resumed, whole)


def test_a_recorded_rollout_equals_the_live_one_and_asks_nothing(tmp_path):
    script = [WRONG_ACTION, Behaviour(), WRONG_ACTION, WRONG_ACTION]
    with LocalEndpoint(script=script) as endpoint:
        live = run(client(endpoint, tmp_path / "journal"))
        compact([tmp_path / "journal"], tmp_path / "recordings.parquet")
        asked = len(endpoint.log)
        recordings = [tmp_path / "recordings.parquet"]
        recorded = run(client(endpoint, backend="recorded", recordings=recordings))
        assert same(live, recorded)
        with pytest.raises(RolloutStopped, match=r"step 0 of 12: .*rollout, baseline") as e:
            run(client(endpoint, backend="recorded", recordings=recordings), seed=1)
        assert isinstance(e.value.__cause__, RecordingMiss)
        assert len(endpoint.log) == asked


CHILD = """
import sys
from pathlib import Path
from types import SimpleNamespace
from test_semantic_model import client, run

endpoint = SimpleNamespace(base_url=sys.argv[1])
run(client(endpoint, Path(sys.argv[2])))
"""


def test_a_killed_rollout_goes_on_and_equals_an_undisturbed_one(tmp_path):
    with LocalEndpoint() as endpoint:
        whole = run(client(endpoint))
    # The sixth request hangs, and the process is killed while it waits.
    with LocalEndpoint(script=[Behaviour()] * 5 + [slow(30)]) as endpoint:
        paths = [*sys.path, os.path.dirname(__file__)]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
        command = [sys.executable, "-c", CHILD, endpoint.base_url, str(tmp_path / "journal")]
        child = subprocess.Popen(command, env=environment)
        try:
            while len(endpoint.log) < 6:
                assert child.poll() is None
        finally:
            child.kill()
            child.wait()
        resumed = run(client(endpoint, tmp_path / "journal"))
        assert same(resumed, whole)
        answered = Counter(logged.identity for logged in endpoint.log if logged.answered)
        assert len(answered) == 12
        assert set(answered.values()) == {1}
        assert len(endpoint.log) == 13


@pytest.mark.parametrize(
    ("options", "message"),
    [({"style": "chatty"}, "style: 'chatty' is unknown"), ({"attempts": 0}, "attempts: 0")],
)
def test_parameters_out_of_range_are_refused(options, message):
    with LocalEndpoint() as endpoint, pytest.raises(InputError, match=message):
        run(client(endpoint), **options)


@pytest.fixture(scope="module")
def smollm2():
    try:
        obtain(SMOLLM2)
    except InputError as error:
        if present(SMOLLM2):
            raise
        pytest.skip(f"SmolLM2 is absent and cannot be fetched: {error}")
    return EmbeddedModel(SMOLLM2.name, context_tokens=2048)


@pytest.mark.parametrize(("style", "steps"), [("direct", 24), ("react", 12)])
def test_the_embedded_model_walks_a_world(smollm2, tmp_path, style, steps):
    topology = build_topology("scale-free", 60, 42)
    contents = build_contents(topology)

    def walk(**options):
        with Client(smollm2, **options) as model:
            chooser = ModelChooser(model, topology.key, style=style)
            return rollout(topology, contents, chooser, steps=steps), model.counters

    live, counters = walk(backend="embedded", journal=tmp_path / "journal")
    asked = live.n_options > 1
    assert (live.statuses[asked] == CHOSEN).all()
    assert counters.calls == live.calls.sum() == asked.sum() >= 6
    shared = counters.cached_tokens / (counters.calls - 1)
    new = live.prompt_tokens[asked][1:] - shared
    # The shared prefix is in the server's cache; what is new stays short.
    assert shared > 300
    assert 60 < new.mean() < 190
    assert np.unique(live.positions[asked]).size > 1

    compact([tmp_path / "journal"], tmp_path / "recordings.parquet")
    recorded, _ = walk(backend="recorded", recordings=[tmp_path / "recordings.parquet"])
    assert same(live, recorded)
