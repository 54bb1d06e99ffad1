"""The key of a completion: what changes it and what does not."""

import dataclasses
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coretail.errors import InputError
from coretail.llm import ApiModel, EmbeddedModel, Message, Prices, Request, model_from
from coretail.llm.registry import QWEN_CODER, SMOLLM2

IDENTITY = {"name": "m", "weights": "00"}
REQUEST = Request(
    (Message("system", "Be brief."), Message("user", "Where to?")),
    max_tokens=16,
    temperature=0.7,
    seed=3,
    schema={"type": "string", "enum": ["a", "b"]},
)


def key(request: Request = REQUEST, identity=IDENTITY, parameters=()) -> str:
    return request.key(identity, dict(parameters))


def test_the_key_is_the_hash_of_one_canonical_text():
    text = (
        '{"max_tokens":16,"messages":[["system","Be brief."],["user","Where to?"]],'
        '"model":{"name":"m","weights":"00"},"parameters":{},"replicate":0,'
        '"schema":"{\\"type\\": \\"string\\", \\"enum\\": [\\"a\\", \\"b\\"]}",'
        '"seed":3,"temperature":0.7,"top_p":1.0,"version":1}'
    )
    assert key() == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        {"messages": (Message("user", "Be brief."), Message("user", "Where to?"))},
        {"messages": (Message("system", "Be brief."), Message("user", "Where to? "))},
        {"max_tokens": 17},
        {"temperature": 0.8},
        {"top_p": 0.9},
        {"seed": 4},
        {"schema": None},
        {"schema": {"type": "string", "enum": ["b", "a"]}},
        {"replicate": 1},
    ],
)
def test_whatever_changes_the_reply_changes_the_key(change):
    assert key(dataclasses.replace(REQUEST, **change)) != key()


def test_model_and_further_parameters_change_the_key():
    assert key(identity={"name": "m", "weights": "01"}) != key()
    assert key(identity={"name": "n", "weights": "00"}) != key()
    assert key(parameters={"top_k": 0}) != key()


def test_template_and_number_type_do_not_change_the_key():
    assert key(dataclasses.replace(REQUEST, template="policy/2")) == key()
    whole = dataclasses.replace(REQUEST, temperature=1)
    assert key(whole) == key(dataclasses.replace(REQUEST, temperature=1.0))


def test_the_order_of_a_schemas_properties_counts():
    first = {"type": "object", "properties": {"thought": {}, "action": {}}}
    second = {"type": "object", "properties": {"action": {}, "thought": {}}}
    assert key(dataclasses.replace(REQUEST, schema=first)) != key(
        dataclasses.replace(REQUEST, schema=second)
    )


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text()), min_size=1))
def test_the_key_tells_where_one_message_ends_and_the_next_begins(pairs):
    messages = tuple(Message(role, text) for role, text in pairs)
    split = (*messages, Message("user", ""))
    assert key(dataclasses.replace(REQUEST, messages=messages)) != key(
        dataclasses.replace(REQUEST, messages=split)
    )


@given(st.text())
def test_the_prompt_bound_is_at_least_one_token_per_byte(text):
    request = Request((Message("user", text),), max_tokens=1)
    assert request.prompt_bound() == len(text.encode()) + 128


def test_replicates_are_sent_with_seeds_of_their_own():
    seeds = [dataclasses.replace(REQUEST, replicate=r).sent_seed for r in range(100)]
    assert seeds[0] == REQUEST.seed
    assert len(set(seeds)) == 100
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert REQUEST.again().replicate == 1


@pytest.mark.parametrize(
    "change", [{"messages": ()}, {"max_tokens": 0}, {"replicate": -1}, {"seed": 2**31}]
)
def test_a_request_that_no_endpoint_could_take_is_refused(change):
    with pytest.raises(ValueError, match="request needs"):
        dataclasses.replace(REQUEST, **change)


def test_an_embedded_model_is_known_by_name_and_weights(tmp_path):
    weights = tmp_path / "own.gguf"
    weights.write_bytes(b"abc")
    sha = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert EmbeddedModel("own", weights).identity(tmp_path) == {"name": "own", "weights": sha}
    assert EmbeddedModel(SMOLLM2.name).identity()["weights"] == SMOLLM2.sha256
    assert EmbeddedModel(QWEN_CODER.name).label() == "weights:" + QWEN_CODER.sha256


def test_a_given_hash_stands_for_absent_weights_and_is_checked_against_present_ones(tmp_path):
    weights = tmp_path / "own.gguf"
    model = EmbeddedModel("own", weights, sha256="f" * 64)
    assert model.identity(tmp_path)["weights"] == "f" * 64
    weights.write_bytes(b"abc")
    with pytest.raises(InputError, match="has SHA-256 ba7816bf"):
        model.identity(tmp_path)


def test_an_unknown_name_without_weights_lists_the_known_ones():
    with pytest.raises(InputError, match="SmolLM2-135M-Instruct"):
        EmbeddedModel("GPT-17").identity()


@pytest.mark.parametrize(
    ("given_url", "address"),
    [
        ("https://API.Example.org:443/v1/", "https://api.example.org/v1"),
        ("http://localhost:8080/v1?api-version=3#top", "http://localhost:8080/v1"),
        ("http://[::1]:9/v1", "http://[::1]:9/v1"),
    ],
)
def test_an_endpoint_is_known_by_its_address_alone(given_url, address):
    model = ApiModel("m", given_url)
    assert model.identity() == {"name": "m", "endpoint": address}
    assert address not in model.label()
    assert ApiModel("m", address).label() == model.label()


def test_the_query_of_the_base_url_is_sent_but_is_no_part_of_the_identity():
    assert ApiModel("m", "http://h/v1?api-version=3&x=").query == {"api-version": "3", "x": ""}


def test_credentials_in_the_base_url_are_refused_and_not_shown():
    with pytest.raises(InputError, match="key_env") as caught:
        ApiModel("m", "https://me:hunter2@example.org/v1")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("url", ["", "example.org/v1", "ftp://h/v1", "https://"])
def test_what_is_no_address_is_refused(url):
    with pytest.raises(InputError, match="not the address"):
        ApiModel("m", url)


def test_prices_are_per_million_and_cached_tokens_cost_less_where_told():
    assert Prices(2.0, 10.0).money(1_000_000, 400_000, 100_000) == pytest.approx(3.0)
    assert Prices(2.0, 10.0, cached=0.5).money(1_000_000, 400_000, 0) == pytest.approx(1.4)


def test_entries_of_the_configuration_become_models(tmp_path):
    entry = {
        "name": "m",
        "base_url": "https://h/v1",
        "key_env": "K",
        "prices": {"prompt": 2.0, "completion": 8.0},
        "omit": ["seed"],
        "weights": None,
    }
    expected = ApiModel("m", "https://h/v1", key_env="K", prices=Prices(2.0, 8.0), omit=("seed",))
    assert model_from(entry) == expected
    assert model_from({"name": "m", "weights": "a.gguf", "threads": 2}) == EmbeddedModel(
        "m", Path("a.gguf"), threads=2
    )


def test_settings_of_the_other_kind_of_model_are_refused():
    with pytest.raises(InputError, match=r"m: threads: is no setting of a model with a `base_url"):
        model_from({"name": "m", "base_url": "https://h/v1", "threads": 2})
    with pytest.raises(InputError, match="without a `base_url"):
        model_from({"name": "m", "key_env": "K"})
    with pytest.raises(InputError, match="no `name:`"):
        model_from({"weights": "a.gguf"})


def test_importing_the_package_imports_nothing_heavy():
    code = (
        "import sys, coretail.llm\n"
        "heavy = {'openai', 'pyarrow', 'numpy', 'xllamacpp', 'pydantic', 'httpx2'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
