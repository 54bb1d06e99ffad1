"""The embedded model, for real: SmolLM2 in this process and in processes that are killed."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import replace

import pytest

from coretail.errors import InputError
from coretail.llm import Client, EmbeddedModel, Message, Request, compact, enum_schema
from coretail.llm.embedded import EmbeddedServer
from coretail.llm.recordings import read_recordings
from coretail.llm.registry import SMOLLM2
from coretail.llm.weights import obtain, present

MODEL = EmbeddedModel(SMOLLM2.name, context_tokens=1024)
OPTIONS = ("kitchen", "garden", "cellar")


def request(number: int, **changes) -> Request:
    fields = {
        "messages": (
            Message("system", "You walk through a house. Reply with the name of one room."),
            Message("user", "You look for a knife. Rooms: kitchen, garden, cellar."),
            Message("assistant", '"kitchen"'),
            Message("user", f"You look for thing {number}. Rooms: kitchen, garden, cellar."),
        ),
        "max_tokens": 16,
        "temperature": 1.0,
        "seed": number,
        "schema": enum_schema(OPTIONS),
    }
    return Request(**fields | changes)


@pytest.fixture(scope="module")
def weights():
    try:
        return obtain(SMOLLM2)
    except InputError as error:
        if present(SMOLLM2):
            raise
        pytest.skip(f"SmolLM2 is absent and cannot be fetched: {error}")


@pytest.fixture(scope="module")
def run(weights, tmp_path_factory):
    """A dozen replies of the real model: the client's directory, the completions, the counters."""
    directory = tmp_path_factory.mktemp("embedded")
    with Client(MODEL, "embedded", journal=directory / "journal") as client:
        completions = [client.complete(request(number)) for number in range(12)]
    compact([directory / "journal"], directory / "recordings.parquet")
    return directory, completions, client.counters


def test_the_model_chooses_and_its_usage_is_reported(run):
    _, completions, counters = run
    assert len({completion.text for completion in completions}) > 1
    assert counters.calls == counters.misses == 12
    for completion in completions:
        assert json.loads(completion.text) in OPTIONS
        assert 60 <= completion.prompt_tokens <= 120
        assert 2 <= completion.completion_tokens <= 16


def test_the_servers_prompt_cache_is_used_and_reported(run):
    _, completions, _ = run
    cached = [completion.cached_tokens for completion in completions]
    assert cached[0] == 0
    assert min(cached[1:]) > 40


def test_a_recorded_run_equals_the_live_one(run):
    directory, completions, _ = run
    client = Client(MODEL, "recorded", recordings=[directory / "recordings.parquet"])
    again = [client.complete(request(number)) for number in range(12)]
    for live, recorded in zip(completions, again, strict=True):
        assert recorded == replace(live, source="recording")


def test_replies_depend_on_the_request_alone(run):
    """Not on the order of the calls, and not on what the server's cache holds."""
    _, completions, _ = run
    with Client(MODEL, "embedded") as client:
        for number in (7, 3, 11, 0):
            completion = client.complete(request(number))
            assert completion.text == completions[number].text
            assert completion.completion_tokens == completions[number].completion_tokens


def post(server: EmbeddedServer, key: str, **body) -> dict:
    sent = urllib.request.Request(
        server.base_url + "/chat/completions",
        data=json.dumps({"messages": [{"role": "user", "content": "hi"}]} | body).encode(),
        headers={"Authorization": f"Bearer {key}"},
    )
    with urllib.request.urlopen(sent) as response:
        return json.load(response)


def test_the_whole_distribution_is_sampled_from(weights):
    """llama.cpp's own defaults (top_k 40, top_p 0.95, min_p 0.05) do not cut it."""
    with EmbeddedServer(weights, 512) as server:
        for seed in range(3):
            # At this temperature all 49,152 tokens are nearly equally probable.
            body = {"temperature": 1000.0, "seed": seed, "max_tokens": 1}
            answer = post(server, server.key, logprobs=True, top_logprobs=40, **body)
            (sampled,) = answer["choices"][0]["logprobs"]["content"]
            assert sampled["id"] not in [top["id"] for top in sampled["top_logprobs"]]


def test_a_prompt_that_is_too_long_names_the_setting(weights):
    with (
        Client(MODEL, "embedded") as client,
        pytest.raises(InputError, match=r"1024.*Raise the model's `context_tokens:`"),
    ):
        client.complete(Request((Message("user", "word " * 2000),), max_tokens=4))


def test_the_server_listens_on_the_loopback_alone_and_wants_its_key(weights):
    with EmbeddedServer(weights, 512) as server:
        assert server.base_url.startswith("http://127.0.0.1:")
        assert server.key not in repr(server)
        port = int(server.base_url.split(":")[2].split("/")[0])
        assert _listening(port) == {"0100007F"}
        with pytest.raises(urllib.error.HTTPError, match="401"):
            post(server, "a guess", max_tokens=1)
    assert _listening(port) == set()


def _listening(port: int) -> set[str]:
    """Return the local addresses, as the kernel writes them, that listen on ``port``."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(table) as file:
            for line in file.readlines()[1:]:
                address, state = line.split()[1], line.split()[3]
                if state == "0A" and int(address.split(":")[1], 16) == port:
                    found.add(address.split(":")[0])
    return found


@pytest.mark.parametrize("data", [b"", b"no model at all", b"GGUF" + bytes(100)])
def test_a_file_that_is_no_model_is_named(tmp_path, data):
    path = tmp_path / "own.gguf"
    path.write_bytes(data)
    with (
        Client(EmbeddedModel("own", path), "embedded", cache=tmp_path) as client,
        pytest.raises(InputError, match=r"own\.gguf: llama\.cpp cannot load"),
    ):
        client.complete(request(0))


def test_own_weights_by_path_are_the_same_model_as_the_registrys(run, weights, tmp_path):
    directory, completions, _ = run
    own = EmbeddedModel(SMOLLM2.name, weights=weights)
    client = Client(own, "recorded", recordings=[directory / "recordings.parquet"], cache=tmp_path)
    assert client.complete(request(4)).text == completions[4].text


CHILD = """
import sys
from pathlib import Path
from coretail.llm import Client
from test_llm_embedded import MODEL, request

with Client(MODEL, "embedded", journal=Path(sys.argv[1])) as client:
    for number in range(12):
        print(client.complete(request(number)).text, client._endpoint._address, flush=True)
"""


def test_a_killed_process_takes_its_server_along_and_the_next_one_goes_on(run, tmp_path):
    directory, _, _ = run
    paths = [*sys.path, os.path.dirname(__file__)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-c", CHILD, str(tmp_path / "journal")]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    for _ in range(5):
        line = child.stdout.readline()
    port = int(line.split(":")[2].split("/")[0])
    assert _listening(port)
    child.kill()
    child.communicate()
    deadline = time.monotonic() + 10
    while _listening(port) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert _listening(port) == set()
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
    with Client(MODEL, "embedded", journal=tmp_path / "journal") as client:
        for number in range(12):
            client.complete(request(number))
    assert client.counters.hits >= 5
    compact([tmp_path / "journal"], tmp_path / "recordings.parquet")
    again = _replies(tmp_path / "recordings.parquet")
    assert again == _replies(directory / "recordings.parquet")


def _replies(path) -> dict[str, str]:
    return {key: record.reply for key, record in read_recordings([path]).items()}
