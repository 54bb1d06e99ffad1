"""The client against an endpoint that misbehaves: what is asked, kept, counted and said."""

import dataclasses
import json
import logging
import os
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from coretail.errors import InputError
from coretail.llm import (
    ApiModel,
    Budget,
    BudgetSpent,
    CallFailed,
    Client,
    Completion,
    EmbeddedModel,
    EndpointError,
    Message,
    Prices,
    RecordingMiss,
    Request,
    Retry,
    compact,
    enum_schema,
    parse_choice,
)
from coretail.llm.endpoint import Endpoint, retry_after
from coretail.llm.journal import read_journal
from coretail.llm.registry import SMOLLM2
from endpoint import (
    CONTENT_FILTER,
    DROP,
    INVALID_JSON,
    NO_USAGE,
    REFUSAL,
    REPLY,
    TRUNCATE,
    WRONG_ACTION,
    Behaviour,
    LocalEndpoint,
    error,
    slow,
)

KEY = "sk-fake-0123456789abcdef"
OPTIONS = ("kitchen", "garden", "cellar")


def request(number: int = 0, **changes) -> Request:
    fields = {
        "messages": (Message("user", f"step {number}: where to?"),),
        "max_tokens": 8,
        "temperature": 1.0,
        "seed": number,
        "schema": enum_schema(OPTIONS),
        "template": "policy/1",
    }
    return Request(**fields | changes)


def ask(client: Client, count: int) -> list[Completion]:
    return [client.complete(request(number)) for number in range(count)]


@pytest.fixture
def pauses():
    return []


@pytest.fixture
def make(tmp_path, pauses, monkeypatch):
    """Makes a client of an endpoint; pauses are noted, not taken."""
    monkeypatch.setenv("TEST_KEY", KEY)
    opened = []

    def build(endpoint, backend="api", model=None, **options) -> Client:
        settings = {"key_env": "TEST_KEY", "timeout": 5.0} | (model or {})
        settings.setdefault("base_url", endpoint.base_url if endpoint else "http://127.0.0.1:9/v1")
        options.setdefault("journal", tmp_path / "journal")
        client = Client(
            ApiModel(settings.pop("name", "m"), **settings),
            backend,
            sleep=pauses.append,
            jitter=lambda: 0.5,
            **options,
        )
        opened.append(client)
        return client

    yield build
    for client in opened:
        client.close()


def test_a_completion_is_what_the_endpoint_reported(make, tmp_path):
    with LocalEndpoint(key=KEY) as endpoint, make(endpoint) as client:
        completion = client.complete(request())
    assert json.loads(completion.text) in OPTIONS
    assert (completion.status, completion.finish_reason) == ("ok", "stop")
    assert (completion.prompt_tokens, completion.cached_tokens) == (4, 2)
    assert completion.completion_tokens == 1
    assert completion.source == "live"
    (record,) = read_journal(tmp_path / "journal")
    assert record.completion("live") == completion
    assert record.template == "policy/1"


def test_the_body_holds_everything_that_the_key_covers(make):
    with LocalEndpoint() as endpoint:
        model = {
            "base_url": endpoint.base_url + "?api-version=3",
            "extra": {"top_k": 5},
            "omit": ("temperature",),
            "token_limit": "max_completion_tokens",
        }
        make(endpoint, model=model).complete(request(7, top_p=0.9, replicate=2))
    (logged,) = endpoint.log
    assert logged.path == "/v1/chat/completions?api-version=3"
    assert logged.body == {
        "model": "m",
        "messages": [{"role": "user", "content": "step 7: where to?"}],
        "max_completion_tokens": 8,
        "seed": request(7, replicate=2).sent_seed,
        "top_p": 0.9,
        "top_k": 5,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": enum_schema(OPTIONS), "strict": True},
        },
    }


# What may pass: asked again, answered once, kept once.


@pytest.mark.parametrize(
    "trouble",
    [error(408), error(409), error(429), error(500), error(503), DROP, TRUNCATE],
    ids=lambda behaviour: f"{behaviour.kind}{behaviour.status}",
)
def test_a_failure_that_passes_is_retried(make, pauses, tmp_path, trouble):
    with LocalEndpoint(script=[REPLY, trouble, trouble]) as endpoint, make(endpoint) as client:
        client.complete(request(0))
        completion = client.complete(request(1))
    assert completion.ok
    assert len(endpoint.log) == 4
    assert client.counters.calls == 4
    assert client.counters.retries == 2
    assert pauses == [0.375, 0.75]
    assert len(read_journal(tmp_path / "journal")) == 2


def test_a_reply_that_comes_too_late_is_retried(make):
    with LocalEndpoint(script=[slow(0.6)]) as endpoint:
        client = make(endpoint, model={"timeout": 0.2})
        assert client.complete(request()).ok
    assert client.counters.retries == 1


def test_a_slow_reply_is_waited_for(make):
    with LocalEndpoint(script=[slow(0.3)]) as endpoint:
        client = make(endpoint)
        assert client.complete(request()).ok
    assert len(endpoint.log) == 1
    assert client.counters.waiting >= 0.3


@pytest.mark.parametrize("trouble", [error(429), error(502), DROP], ids=["429", "502", "drop"])
def test_retries_are_bounded_and_the_failure_is_a_status(make, tmp_path, trouble):
    script = [REPLY, trouble, trouble, trouble]
    with LocalEndpoint(script=script) as endpoint:
        client = make(endpoint, retry=Retry(attempts=3))
        client.complete(request(0))
        completion = client.complete(request(1))
        assert (completion.status, completion.text) == ("failed", "")
        assert "given up after 3 attempts" in completion.error
        assert len(endpoint.log) == 4
        assert client.counters.failures == {"failed": 1}
        assert len(read_journal(tmp_path / "journal")) == 1
        # Not kept: the next run asks again, and is answered.
        assert client.complete(request(1)).ok


def test_retry_after_is_honoured(make, pauses):
    script = [error(429, retry_after="7"), error(503, retry_after="0")]
    with LocalEndpoint(script=script) as endpoint:
        assert make(endpoint).complete(request()).ok
    assert pauses == [7.25, 0.75]


def test_an_endpoint_that_asks_for_too_long_a_wait_is_not_waited_for(make, pauses):
    with LocalEndpoint(script=[error(429, retry_after="3600")]) as endpoint:
        completion = make(endpoint).complete(request())
    assert completion.status == "failed"
    assert "asks to wait 3600 s" in completion.error
    assert pauses == []


def test_retry_after_may_be_seconds_milliseconds_or_a_date():
    now = datetime(2025, 1, 1, tzinfo=UTC)
    later = format_datetime(now + timedelta(seconds=90), usegmt=True)
    read = [
        retry_after(headers, now.timestamp())
        for headers in (
            {"retry-after": "1.5"},
            {"retry-after-ms": "250", "retry-after": "1"},
            {"retry-after": later},
            {"retry-after": format_datetime(now - timedelta(1), usegmt=True)},
            {"retry-after": "soon"},
            {"retry-after": "nan"},
            {},
        )
    ]
    assert read == [1.5, 0.25, 90.0, 0.0, None, None, None]


def test_pauses_double_up_to_a_bound():
    retry = Retry(first=1.0, longest=5.0)
    assert [retry.pause(n, None, 0.0) for n in (1, 2, 3, 4, 9)] == [0.5, 1.0, 2.0, 2.5, 2.5]
    assert retry.pause(4, None, 0.999) <= 5.0


# What will not pass: one request, one message, nothing kept.


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        (400, "the endpoint says which"),
        (401, "Put a valid key into the environment variable TEST_KEY"),
        (403, "access"),
        (404, "name:"),
        (422, "the endpoint says which"),
    ],
)
def test_any_other_error_fails_at_once_with_the_endpoints_message(
    make, pauses, tmp_path, status, remedy
):
    behaviour = error(status, message="no such thing")
    with LocalEndpoint(otherwise=behaviour) as endpoint:
        client = make(endpoint)
        with pytest.raises(EndpointError, match=f"answered {status}: no such thing") as caught:
            client.complete(request())
    assert remedy in str(caught.value)
    assert len(endpoint.log) == 1
    assert pauses == []
    assert read_journal(tmp_path / "journal") == []


def test_a_wrong_key_an_unknown_model_and_an_empty_account_are_said(make, monkeypatch):
    with LocalEndpoint(key="another", models=frozenset({"m"})) as endpoint:
        with pytest.raises(EndpointError, match="401: Incorrect API key"):
            make(endpoint).complete(request())
        monkeypatch.setenv("TEST_KEY", "another")
        with pytest.raises(EndpointError, match="404: The model n does not exist"):
            make(endpoint, model={"name": "n"}, journal=None).complete(request())
    with LocalEndpoint(otherwise=error(429, code="insufficient_quota")) as endpoint:
        client = make(endpoint, journal=None)
        with pytest.raises(EndpointError, match="account is used up"):
            client.complete(request())
    assert len(endpoint.log) == 1


def test_an_endpoint_that_is_not_there_is_said_at_once(make, pauses):
    with LocalEndpoint() as endpoint:
        gone = endpoint.base_url
    with pytest.raises(EndpointError, match=f"{gone} cannot be reached"):
        make(None, model={"base_url": gone}).complete(request())
    with pytest.raises(EndpointError, match="cannot be reached"):
        make(None, model={"base_url": "http://no-such-host.invalid/v1"}, journal=None).complete(
            request()
        )
    assert pauses == []


def test_an_endpoint_that_went_away_is_waited_for(make, pauses):
    with LocalEndpoint() as endpoint:
        client = make(endpoint, retry=Retry(attempts=3))
        client.complete(request(0))
    completion = client.complete(request(1))
    assert completion.status == "failed"
    assert len(pauses) == 2


def test_a_missing_key_is_said_before_anything_is_sent(make, monkeypatch):
    for value in ("", "  "):
        monkeypatch.setenv("TEST_KEY", value)
        with LocalEndpoint() as endpoint:
            client = make(endpoint, journal=None)
            with pytest.raises(InputError, match="variable TEST_KEY is not set"):
                client.complete(request())
        assert endpoint.log == []
    monkeypatch.setenv("TEST_KEY", "sk-secret\u2026")
    with LocalEndpoint() as endpoint, pytest.raises(InputError, match="characters") as caught:
        make(endpoint, journal=None).complete(request())
    assert "secret" not in str(caught.value)


def test_an_endpoint_without_keys_needs_none(make):
    with LocalEndpoint() as endpoint:
        assert make(endpoint, model={"key_env": None}).complete(request()).ok


def test_a_reply_without_usage_is_an_error(make, tmp_path):
    with LocalEndpoint(otherwise=NO_USAGE) as endpoint:
        client = make(endpoint)
        with pytest.raises(EndpointError, match="reports no usage"):
            client.complete(request())
    assert len(endpoint.log) == 1
    assert read_journal(tmp_path / "journal") == []


# Statuses: no reply, not kept, counted.


@pytest.mark.parametrize(
    ("behaviour", "status"),
    [
        (INVALID_JSON, "failed"),
        (REFUSAL, "refusal"),
        (CONTENT_FILTER, "content_filter"),
        (error(400, code="content_filter"), "content_filter"),
    ],
    ids=["invalid_json", "refusal", "empty_choice", "filtered_prompt"],
)
def test_what_is_no_reply_is_a_status_and_is_not_kept(make, pauses, tmp_path, behaviour, status):
    with LocalEndpoint(script=[behaviour]) as endpoint:
        client = make(endpoint)
        completion = client.complete(request())
        assert (completion.status, completion.text) == (status, "")
        assert completion.error
        assert len(endpoint.log) == 1
        assert pauses == []
        assert client.counters.failures == {status: 1}
        assert read_journal(tmp_path / "journal") == []
        assert client.complete(request()).ok
        assert len(endpoint.log) == 2


@pytest.mark.parametrize(
    "answer",
    [
        [],
        {},
        {"error": {"message": "upstream failed"}},
        {"choices": [{}]},
        {"choices": ["x"]},
        {"choices": {"a": 1}},
        {"choices": [{"message": {"content": None}, "finish_reason": "stop"}]},
        {"choices": [{"message": {"content": 3}, "finish_reason": "stop"}]},
    ],
    ids=str,
)
def test_an_answer_that_breaks_the_protocol_is_a_failure(answer):
    usage = {"usage": {"prompt_tokens": 1, "completion_tokens": 1}}
    body = answer | usage if isinstance(answer, dict) else answer
    with Endpoint("m", "http://127.0.0.1:9/v1", "k") as endpoint:
        read = endpoint._read(json.dumps(body).encode())
    assert read.status == "failed"
    assert "broke the protocol" in read.error


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        {"prompt_tokens": 3},
        {"prompt_tokens": -1, "completion_tokens": 1},
        {"prompt_tokens": True, "completion_tokens": 1},
        {"prompt_tokens": 1.5, "completion_tokens": 1},
    ],
    ids=str,
)
def test_usage_that_is_no_pair_of_counts_is_none(usage):
    choice = {"message": {"content": "a"}, "finish_reason": "stop"}
    body = {"choices": [choice], "usage": usage}
    with Endpoint("m", "http://127.0.0.1:9/v1", "k") as endpoint:
        assert isinstance(endpoint._read(json.dumps(body).encode()), EndpointError)


# Choosing.


def named(text):
    """The position of the option that a reply names."""
    value = parse_choice(text, OPTIONS)
    return None if value is None else OPTIONS.index(value)


def test_an_action_that_is_not_in_the_list_is_asked_again_with_the_next_replicate(make):
    with LocalEndpoint(script=[WRONG_ACTION]) as endpoint:
        client = make(endpoint)
        choice = client.choose(request(), named)
        again = client.choose(request(), named)
    assert choice.replies == ("unusable", "usable")
    assert OPTIONS[choice.position] == json.loads(choice.completions[1].text)
    assert [logged.body["seed"] for logged in endpoint.log] == [
        request().sent_seed,
        request(replicate=1).sent_seed,
    ]
    assert (choice.prompt_tokens, choice.completion_tokens) == (8, 5)
    # Both replies are kept, the unusable one too: the same choice without a further request.
    assert (again.position, again.replies) == (choice.position, choice.replies)
    assert len(endpoint.log) == 2


def test_the_first_usable_reply_is_chosen(make):
    with LocalEndpoint() as endpoint:
        choice = make(endpoint).choose(request(), named)
    assert (choice.replies, len(choice.completions)) == (("usable",), 1)


@pytest.mark.parametrize(
    ("behaviour", "attempts", "status"),
    [
        (WRONG_ACTION, 2, "unusable"),
        (Behaviour(text="I would go to the garden."), 3, "unusable"),
        (REFUSAL, 2, "refusal"),
        (CONTENT_FILTER, 2, "content_filter"),
    ],
)
def test_without_a_usable_reply_there_are_statuses_and_no_position(
    make, behaviour, attempts, status
):
    with LocalEndpoint(otherwise=behaviour) as endpoint:
        choice = make(endpoint).choose(request(), named, attempts=attempts)
    assert (choice.position, choice.replies) == (None, (status,) * attempts)
    assert len(endpoint.log) == attempts


def test_a_choice_without_any_answer_is_an_error_that_names_the_call(make):
    with (
        LocalEndpoint(otherwise=INVALID_JSON) as endpoint,
        pytest.raises(CallFailed, match=r"^kitchen, step 3: .*Run again: what was answered"),
    ):
        make(endpoint).choose(request(), named, "kitchen, step 3")
    assert len(endpoint.log) == 1


def test_an_endpoint_without_schemas_is_asked_without_from_then_on(make):
    with LocalEndpoint(schemas=False, reply=lambda body: "garden") as endpoint:
        client = make(endpoint)
        assert client.complete(request(0)).text == "garden"
        assert client.complete(request(1)).text == "garden"
    assert ["response_format" in logged.body for logged in endpoint.log] == [True, False, False]
    assert client.counters.failures == {}


def test_a_schema_is_insisted_on_or_left_out_where_the_model_says_so(make):
    with LocalEndpoint(schemas=False) as endpoint:
        with pytest.raises(EndpointError, match="response_format"):
            make(endpoint, model={"structured": "json_schema"}).complete(request())
        assert make(endpoint, model={"structured": "none"}, journal=None).complete(request()).ok
    assert len(endpoint.log) == 2


# Recordings.


def record(make, tmp_path, count: int):
    """Ask for completions live, compact them, and return them with the model's settings."""
    with LocalEndpoint() as endpoint:
        with make(endpoint) as client:
            live = ask(client, count)
        compact([tmp_path / "journal"], tmp_path / "recordings" / "r.parquet")
    return live, {"base_url": endpoint.base_url}


def test_a_recorded_run_equals_the_live_one_and_needs_no_key_and_no_network(
    make, tmp_path, monkeypatch
):
    live, model = record(make, tmp_path, 5)
    monkeypatch.delenv("TEST_KEY")
    client = make(None, "recorded", model=model, recordings=[tmp_path / "recordings"])
    assert ask(client, 5) == [dataclasses.replace(item, source="recording") for item in live]
    assert (client.counters.hits, client.counters.misses, client.counters.calls) == (5, 0, 0)


def test_auto_asks_only_for_what_was_not_recorded(make, tmp_path):
    with LocalEndpoint() as endpoint:
        with make(endpoint) as client:
            client.complete(request(0))
        compact([tmp_path / "journal"], tmp_path / "r.parquet")
        (tmp_path / "journal").unlink()
        with make(endpoint, "auto", recordings=[tmp_path / "r.parquet"]) as client:
            assert client.complete(request(0)).source == "recording"
            assert not (tmp_path / "journal").exists()
            assert client.complete(request(1)).source == "live"
    assert len(endpoint.log) == 2
    assert len(read_journal(tmp_path / "journal")) == 1


def test_a_miss_names_the_step_the_template_and_how_to_record(make, tmp_path):
    _, model = record(make, tmp_path, 1)
    client = make(None, "recorded", model=model, recordings=[tmp_path / "recordings"])
    changed = request(0, messages=(Message("user", "whither?"),), template="policy/2")
    with pytest.raises(RecordingMiss) as caught:
        client.complete(changed, "rule rollout, scale-free 42, step 17")
    message = str(caught.value)
    assert "rule rollout, scale-free 42, step 17" in message
    assert "The prompt template changed" in message
    assert "'policy/1', not for 'policy/2'" in message
    assert "snakemake record --cores N" in message


def test_two_models_never_share_a_recording(make, tmp_path):
    _, model = record(make, tmp_path, 1)
    recordings = [tmp_path / "recordings"]
    others = [{"name": "n"} | model, {"base_url": model["base_url"] + "/beta"}]
    others += [model | {"extra": {"top_k": 1}}, model | {"structured": "none"}]
    for other in others:
        with pytest.raises(RecordingMiss):
            make(None, "recorded", model=other, recordings=recordings).complete(request(0))
    embedded = Client(EmbeddedModel(SMOLLM2.name), "recorded", recordings=recordings)
    with pytest.raises(
        RecordingMiss, match=r"no completion of SmolLM2-135M-Instruct \(they hold m"
    ):
        embedded.complete(request(0))


def test_weights_are_part_of_the_model(tmp_path):
    for name, data in (("a", b"1"), ("b", b"2")):
        (tmp_path / name).write_bytes(data)
    keys = {
        request().key(EmbeddedModel("m", tmp_path / name).identity(tmp_path), {})
        for name in ("a", "b")
    }
    assert len(keys) == 2


def test_backends_insist_on_their_kind_of_model(make):
    with pytest.raises(InputError, match="has a `base_url:`"):
        make(None, "embedded")
    with pytest.raises(InputError, match="has no `base_url:`"):
        Client(EmbeddedModel(SMOLLM2.name), "api")
    with pytest.raises(InputError, match="none of auto"):
        make(None, "magic")


# Budgets.


def asked_until_spent(make, endpoint, **options) -> tuple[Client, int]:
    client = make(endpoint, **options)
    with pytest.raises(BudgetSpent, match="Raise `budget:"):
        ask(client, 1000)
    return client, client.counters.hits + client.counters.misses - 1


def test_a_budget_of_calls_counts_every_request(make, tmp_path):
    script = [REPLY, error(500), REPLY]
    with LocalEndpoint(script=script) as endpoint:
        client, done = asked_until_spent(make, endpoint, budget=Budget(calls=4))
        assert (done, len(endpoint.log)) == (3, 4)
        client.close()
        # A larger budget goes on; what was paid for is not asked again.
        client, done = asked_until_spent(make, endpoint, budget=Budget(calls=2))
    assert (done, len(endpoint.log)) == (5, 6)
    assert len(read_journal(tmp_path / "journal")) == 5


def test_a_budget_of_tokens_stops_before_the_call_that_could_exceed_it(make):
    worst = request().prompt_bound() + 8
    with LocalEndpoint() as endpoint:
        client, done = asked_until_spent(make, endpoint, budget=Budget(tokens=worst + 40))
    used = client.counters.prompt_tokens + client.counters.completion_tokens
    # 5 tokens a call: the last one that fits begins at 40 spent.
    assert (done, used) == (9, 45)


def test_a_budget_of_money_uses_the_prices(make):
    prices = Prices(prompt=1e6, completion=1e6, cached=0.0)
    worst = request().prompt_bound() + 8
    with LocalEndpoint() as endpoint:
        client, done = asked_until_spent(
            make, endpoint, budget=Budget(money=worst + 6.0), model={"prices": prices}
        )
    # 4 prompt tokens, 2 of them cached for nothing, and 1 of the reply: 3 a call.
    assert done == 3
    assert client.counters.money == pytest.approx(9.0)


def test_runs_that_share_a_ledger_share_the_budget(make, tmp_path):
    options = {"budget": Budget(calls=5), "ledger": tmp_path / "deep" / "ledger"}
    with LocalEndpoint() as endpoint:
        _, first = asked_until_spent(make, endpoint, journal=tmp_path / "a", **options)
        _, second = asked_until_spent(make, endpoint, journal=tmp_path / "b", **options)
    assert (first, second, len(endpoint.log)) == (5, 0, 5)


def test_hits_cost_nothing(make, tmp_path):
    with LocalEndpoint() as endpoint:
        with make(endpoint) as client:
            client.complete(request())
        client = make(endpoint, budget=Budget(calls=0, tokens=0, money=0.0))
        assert client.complete(request()).source == "journal"
        with pytest.raises(BudgetSpent):
            client.complete(request(1))
    assert len(endpoint.log) == 1


def test_counters_say_what_happened(make):
    with LocalEndpoint(script=[REPLY, error(500), REPLY, REFUSAL]) as endpoint:
        client = make(endpoint, model={"prices": Prices(1e6, 1e6)})
        for number in (0, 0, 1, 2):
            client.complete(request(number))
    counters = client.counters
    assert (counters.hits, counters.misses, counters.calls, counters.retries) == (1, 3, 4, 1)
    assert counters.failures == {"refusal": 1}
    assert "1 hits, 3 misses, 4 calls, 1 retries, 1 refusal, 12 prompt tokens" in counters.line()
    assert counters.as_dict()["failures"] == {"refusal": 1}


# Secrets.


def test_the_key_is_nowhere(make, tmp_path, monkeypatch, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    echo = error(401, message=f"Incorrect API key provided: {KEY}.")
    with LocalEndpoint(script=[REPLY, error(500), REPLY, echo]) as endpoint:
        client = make(endpoint, ledger=tmp_path / "ledger", budget=Budget(calls=100))
        ask(client, 2)
        with pytest.raises(EndpointError, match="redacted") as caught:
            client.complete(request(2))
        assert KEY not in repr((client, client._endpoint, client._model, caught.value))
    chain, seen = [caught.value], set()
    while chain:
        link = chain.pop()
        if link is None or id(link) in seen:
            continue
        seen.add(id(link))
        assert KEY not in str(link)
        assert not hasattr(link, "request")
        chain += [link.__cause__, link.__context__]
    client.close()
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes()
    assert KEY not in caplog.text
    assert KEY not in "".join(capfd.readouterr())


# Killed in the middle.

CHILD = """
import sys
from pathlib import Path
from coretail.llm import ApiModel, Client
from test_llm_client import request

base_url, journal, count, step = sys.argv[1:]
with Client(ApiModel("m", base_url, key_env=None), "api", journal=Path(journal)) as client:
    for number in range(int(count)):
        print(client.complete(request(number)).text, flush=True)
        if step == "held":
            sys.stdin.readline()
"""


def start(endpoint, journal, step="free", count=30) -> subprocess.Popen:
    paths = [*sys.path, os.path.dirname(__file__)]
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, endpoint.base_url, str(journal), str(count), step],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
    )


def repeats(endpoint) -> int:
    counts = Counter(logged.identity for logged in endpoint.log)
    return sum(count - 1 for count in counts.values())


def test_a_run_killed_between_two_steps_asks_for_nothing_twice(tmp_path):
    with LocalEndpoint() as endpoint:
        undisturbed = start(endpoint, tmp_path / "undisturbed").communicate(timeout=60)[0]
        endpoint.log.clear()
        child = start(endpoint, tmp_path / "journal", "held")
        for _ in range(12):
            child.stdout.readline()
            child.stdin.write("\n")
            child.stdin.flush()
        child.stdout.readline()
        child.kill()
        child.communicate()
        assert len(endpoint.log) == 13
        again = start(endpoint, tmp_path / "journal").communicate(timeout=60)[0]
    assert again == undisturbed
    assert len(endpoint.log) == 30
    assert repeats(endpoint) == 0
    assert (tmp_path / "journal").read_bytes() == (tmp_path / "undisturbed").read_bytes()


def test_a_run_killed_at_any_moment_repeats_at_most_the_call_in_flight(tmp_path):
    with LocalEndpoint(otherwise=slow(0.01)) as endpoint:
        undisturbed = start(endpoint, tmp_path / "undisturbed").communicate(timeout=60)[0]
        endpoint.log.clear()
        for kills, arrived in enumerate((3, 11, 20), start=1):
            child = start(endpoint, tmp_path / "journal")
            while len(endpoint.log) < arrived:
                time.sleep(0.001)
            child.kill()
            child.communicate()
            assert repeats(endpoint) <= kills
        again = start(endpoint, tmp_path / "journal").communicate(timeout=60)[0]
    assert again == undisturbed
    assert repeats(endpoint) <= 3
    assert len(read_journal(tmp_path / "journal")) == 30
