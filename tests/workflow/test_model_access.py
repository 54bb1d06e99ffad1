"""Snakemake with a model behind an endpoint: what users see and pay for when things go wrong."""

import os
import re
import shutil
import signal
import time
from collections import Counter

import psutil
import pyarrow.parquet as pq
import pytest
import yaml

from endpoint import (
    CONTENT_FILTER,
    DROP,
    NO_USAGE,
    REFUSAL,
    REPLY,
    TRUNCATE,
    WRONG_ACTION,
    Behaviour,
    LocalEndpoint,
    default_reply,
    error,
    slow,
)

pytestmark = pytest.mark.workflow

KEY_ENV = "CORETAIL_TEST_KEY"
KEY = "sk-fake-0123456789abcdef"
WRONG_KEY = "sk-fake-of-somebody-else"
# Both begin with it; no part of a key may appear, not even a cut one.
SECRET = b"sk-fake-"

NAME = "lab/small"
ROLLOUT = "results/rollouts/semantic/lab_small/seek/scale-free/100"
SUMMARY = f"{ROLLOUT}/summary.parquet"
# What asks the model, and nothing else.
ASKING = [SUMMARY, "results/rollouts/competence/lab_small/scale-free/100.parquet"]


def configure(workflow, *models, **llm):
    """Put models and their access into the overlay."""
    config = yaml.safe_load(workflow.overlay.read_text())
    changed = {
        "models": list(models),
        "llm": llm,
        "semantic": config["semantic"] | {"seek": ["scale-free"]},
    }
    workflow.overlay.write_text(yaml.safe_dump(config | changed))


def behind(endpoint, name=NAME):
    """Return the configuration's entry of a model of the endpoint."""
    return {"name": name, "base_url": endpoint.base_url, "key_env": KEY_ENV}


def run(workflow, *targets, **options):
    """Run Snakemake; whatever happens, no key is printed or kept."""
    printed = workflow.run(*targets, **options)
    assert SECRET.decode() not in printed
    refuse_secrets(workflow)
    return printed


def refuse_secrets(workflow):
    for path in workflow.path.rglob("*"):
        if path.is_file():
            assert SECRET not in path.read_bytes(), path


def complaints(printed):
    """Return why jobs that ask a model ended; each says so itself, and so does its log."""
    logged = re.findall(r"^\S+ \S+ ERROR (.*)$", printed, re.MULTILINE)
    said = re.findall(r"^(?:roll_semantic|test_competence) [^:]+: (.*)$", printed, re.MULTILINE)
    assert [said.count(message) for message in logged] == [1] * len(logged)
    return logged


def repeated(log):
    """Return how often more than once the endpoint was asked for what."""
    counts = Counter(logged.identity for logged in log)
    return {identity: count - 1 for identity, count in counts.items() if count > 1}


def counted(workflow):
    """Return what the jobs that ask a model say that they did, all together."""
    total = Counter()
    for rule in ("roll_semantic", "test_competence"):
        for log in (workflow.path / "results/logs" / rule).glob("lab_*.log"):
            counts = r"(\d+) (hits|misses|calls|retries)"
            total.update({name: int(n) for n, name in re.findall(counts, log.read_text())[-4:]})
    return total


@pytest.fixture(scope="module")
def endpoint():
    """One endpoint for all runs that are compared: its address is part of a model's identity."""
    with LocalEndpoint(key=KEY, models=frozenset({NAME})) as endpoint:
        yield endpoint


@pytest.fixture
def lab(workflow, endpoint, monkeypatch):
    """A workflow whose model is behind the endpoint, which has forgotten all earlier requests."""
    monkeypatch.setenv(KEY_ENV, KEY)
    endpoint.behave()
    endpoint.log.clear()
    configure(workflow, behind(endpoint))
    return workflow


class Undisturbed:
    """A run in which nothing goes wrong.

    Attributes
    ----------
    artefacts
        Hashes of its results.
    requests
        What the endpoint was asked for, in order.
    counted
        What its jobs say that they did.
    """

    def __init__(self, workflow, endpoint):
        run(workflow, *ASKING)
        self.artefacts = workflow.artefacts()
        self.requests = [logged.identity for logged in endpoint.log]
        self.counted = counted(workflow)


@pytest.fixture(scope="module")
def undisturbed(finished, endpoint, tmp_path_factory):
    workflow = type(finished)(tmp_path_factory.mktemp("undisturbed") / "a path")
    shutil.copytree(finished.path, workflow.path)
    endpoint.behave()
    endpoint.log.clear()
    configure(workflow, behind(endpoint))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY_ENV, KEY)
        return Undisturbed(workflow, endpoint)


def test_a_run_says_what_it_asked_for(undisturbed):
    n = len(undisturbed.requests)
    assert len(set(undisturbed.requests)) == n > 20
    assert undisturbed.counted == {"misses": n, "calls": n, "hits": 0, "retries": 0}


# Access that cannot work.


def test_access_that_cannot_work_is_one_message_each(workflow, endpoint, monkeypatch):
    monkeypatch.setenv(KEY_ENV, KEY)
    monkeypatch.setenv("CORETAIL_WRONG_KEY", WRONG_KEY)
    monkeypatch.delenv("CORETAIL_NO_KEY", raising=False)
    endpoint.behave()
    endpoint.log.clear()
    with LocalEndpoint() as gone:
        pass
    troubles = [
        (behind(endpoint, "locked") | {"key_env": "CORETAIL_NO_KEY"}, "export CORETAIL_NO_KEY=..."),
        (behind(gone, "gone"), "cannot be reached"),
        (behind(endpoint, "none"), "404: The model none does not exist. Correct `name:`"),
        (
            behind(endpoint, "refused") | {"key_env": "CORETAIL_WRONG_KEY"},
            "401: Incorrect API key provided: [redacted]. "
            "Put a valid key into the environment variable CORETAIL_WRONG_KEY",
        ),
    ]
    configure(workflow, *(model for model, _ in troubles))
    before = workflow.artefacts()
    targets = [SUMMARY.replace("lab_small", model["name"]) for model, _ in troubles]
    printed = run(workflow, *targets, "--keep-going", ok=False)
    said = complaints(printed)
    assert len(said) == len(troubles)
    for model, remedy in troubles:
        (message,) = [message for message in said if f"models: {model['name']}:" in message]
        assert remedy in message
    assert "Traceback" not in printed
    assert "trying again" not in printed
    assert sorted(logged.body["model"] for logged in endpoint.log) == ["none", "refused"]
    assert workflow.artefacts() == before


def test_no_key_is_sent_where_none_is_configured(workflow, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    # What the client sends in place of a key.
    with LocalEndpoint(key="none") as endpoint:
        configure(workflow, behind(endpoint) | {"key_env": None})
        run(workflow, ASKING[1])
    assert endpoint.log
    assert all(logged.authorized for logged in endpoint.log)


# Killed.


def wait_for(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "nothing happened for a minute"
        time.sleep(0.01)


def test_a_killed_run_goes_on_where_it_stopped(lab, endpoint, undisturbed):
    endpoint.behave(otherwise=slow(0.1))
    underway = []
    for kill_all in (False, True):
        asked = len(endpoint.log)
        process = lab.start(SUMMARY, cores=1)
        wait_for(lambda asked=asked: len(endpoint.log) >= asked + 4)
        job = psutil.Process(process.pid).children(recursive=True)
        if kill_all:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            for member in job:
                member.kill()
        process.communicate()
        psutil.wait_procs(job, timeout=30)
        assert process.returncode != 0
        # Its answer was lost with the job; the client cannot know whether the endpoint had it.
        underway.append(endpoint.log[-1].identity)
        assert not list((lab.path / ROLLOUT).glob("*"))
    lab.run("--unlock")
    endpoint.behave()
    run(lab, *ASKING)
    assert lab.artefacts() == undisturbed.artefacts
    assert {logged.identity for logged in endpoint.log} == set(undisturbed.requests)
    assert set(repeated(endpoint.log)) <= set(underway)
    assert len(endpoint.log) <= len(undisturbed.requests) + len(underway)


# Faults of the endpoint.


def test_faults_that_pass_leave_no_trace_in_the_artefacts(lab, endpoint, undisturbed):
    faults = [error(429, retry_after="0.3"), error(500), DROP, TRUNCATE]
    endpoint.behave(item for fault in faults for item in (REPLY, fault))
    printed = run(lab, *ASKING)
    assert lab.artefacts() == undisturbed.artefacts
    assert printed.count("trying again in") == len(faults)
    assert counted(lab)["retries"] == len(faults)
    assert {logged.identity for logged in endpoint.log} == set(undisturbed.requests)
    assert len(endpoint.log) == len(undisturbed.requests) + len(faults)


def test_what_is_no_choice_is_a_status_with_a_count(lab, endpoint, undisturbed):
    script = [
        REPLY,
        WRONG_ACTION,
        REPLY,
        WRONG_ACTION,
        WRONG_ACTION,
        REFUSAL,
        REPLY,
        CONTENT_FILTER,
    ]
    script += [REPLY, REFUSAL, CONTENT_FILTER]
    endpoint.behave(script)
    run(lab, SUMMARY)
    first, second = pq.read_table(lab.path / SUMMARY).to_pylist()
    counted = ("retried", "random", "unusable", "refusal", "content_filter")
    assert [first[name] for name in counted] == [3, 2, 3, 2, 2]
    assert [second[name] for name in counted] == [0] * 5
    assert first["single"] + first["chosen"] == first["steps"] - 5
    steps = pq.read_table(lab.path / ROLLOUT / "steps.parquet").to_pylist()
    own = [step for step in steps if step["seed"] == first["seed"] and step["status"] != "single"]
    assert [step["status"] for step in own[:6]] == [
        "chosen",
        "retried",
        "random",
        "retried",
        "retried",
        "random",
    ]
    assert not repeated(endpoint.log)
    assert first["calls"] + second["calls"] == len(endpoint.log)

    endpoint.behave([REFUSAL, REPLY, CONTENT_FILTER])
    run(lab, "table2")
    competence = pq.read_table(lab.path / "results/tables/table_competence.parquet").to_pylist()
    assert sum(row["unanswered"] for row in competence) == 2
    assert sum(row["n"] for row in competence) == 10
    (row,) = pq.read_table(lab.path / "results/tables/table2.parquet").to_pylist()
    assert row["n_marked"] == 2


def test_faults_that_do_not_pass_stop_a_run_that_then_goes_on(lab, endpoint, undisturbed):
    configure(lab, behind(endpoint), attempts=2)
    # The key where the message cuts the body.
    echo = Behaviour("invalid_json", text="x" * (80 - len(SECRET) - 1) + KEY)
    before = lab.artefacts()
    faults = 0
    for script, said in [
        ([REPLY, REPLY, echo], "the endpoint broke the protocol: its answer is not JSON"),
        ([REPLY, REPLY, NO_USAGE], "reports no usage with its replies"),
        ([REPLY, error(503), error(503)], "(given up after 2 attempts). Run again"),
    ]:
        endpoint.behave(script)
        printed = run(lab, *ASKING, ok=False, cores=1)
        (complaint,) = complaints(printed)
        assert said in complaint
        assert "Traceback" not in printed
        assert lab.artefacts() == before
        faults += sum(item is not REPLY for item in script)
    endpoint.behave()
    run(lab, *ASKING)
    assert lab.artefacts() == undisturbed.artefacts
    assert len(endpoint.log) == len(undisturbed.requests) + faults
    assert {logged.identity for logged in endpoint.log} == set(undisturbed.requests)


# Budgets.


def test_a_spent_budget_stops_before_the_call_that_would_exceed_it(lab, endpoint, undisturbed):
    configure(lab, behind(endpoint), budget={"calls": 9})
    before = lab.artefacts()
    printed = run(lab, *ASKING, ok=False)
    assert len(endpoint.log) == 9
    assert complaints(printed)
    for complaint in complaints(printed):
        assert "budget: calls: 9 of 9 are spent" in complaint
        assert "Raise `budget: calls:` and run again" in complaint
    assert lab.artefacts() == before
    configure(lab, behind(endpoint), budget={"calls": len(undisturbed.requests)})
    run(lab, *ASKING)
    assert lab.artefacts() == undisturbed.artefacts
    assert sorted(logged.identity for logged in endpoint.log) == sorted(undisturbed.requests)


# Recordings.


def reply_alike(body):
    """Return a reply that does not depend on the model's name."""
    return default_reply({key: value for key, value in body.items() if key != "model"})


def test_recordings_replay_with_the_endpoint_switched_off(workflow, tmp_path, monkeypatch):
    monkeypatch.setenv(KEY_ENV, KEY)
    replay = type(workflow)(tmp_path / "elsewhere")
    shutil.copytree(workflow.path, replay.path)
    names = [NAME, "lab/large"]
    with LocalEndpoint(key=KEY, reply=reply_alike) as endpoint:
        models = [behind(endpoint, name) for name in [*names, "lab/none"]]
        configure(workflow, *models[:2])
        run(workflow, "record")
    # Both models took the same way and were asked for the same, each for itself.
    asked = [
        {
            logged.identity.replace(name, "")
            for logged in endpoint.log
            if logged.identity.count(name)
        }
        for name in names
    ]
    assert asked[0] == asked[1]
    assert len(endpoint.log) == 2 * len(asked[0])
    files = [
        workflow.path / f"workflow/recordings/lab_{size}.parquet" for size in ("small", "large")
    ]
    recordings = [pq.read_table(file).to_pylist() for file in files]
    for name, rows in zip(names, recordings, strict=True):
        assert [row["model"] for row in rows] == [name] * len(asked[0])
    keys = [{row["request"] for row in rows} for rows in recordings]
    assert keys[0].isdisjoint(keys[1])

    monkeypatch.delenv(KEY_ENV)
    shutil.copytree(workflow.path / "workflow/recordings", replay.path / "workflow/recordings")
    configure(replay, *models[:2], backend="recorded")
    run(replay, *ASKING, *(target.replace("small", "large") for target in ASKING))
    assert replay.artefacts() == workflow.artefacts()
    assert not (replay.path / "journals/roll_semantic").exists()

    path = replay.path / "scripts/coretail/prompts.py"
    changed, count = re.subn(r'(f"action-\{style\}-\{goal\}/)\d+', r"\1next", path.read_text())
    assert count == 1
    path.write_text(changed.replace("You travel through", "You walk through"))
    configure(replay, models[0], models[2], backend="recorded")
    printed = run(replay, SUMMARY, SUMMARY.replace("small", "none"), "--keep-going", ok=False)
    told = "\n".join(complaints(printed))
    assert told.count("snakemake record") == 2
    assert "The prompt template changed" in told
    assert "not for 'action-direct-seek/next'" in told
    assert "no completion of lab/none (they hold lab/large, lab/small)" in told
