"""What the client costs beside waiting for the model.

The endpoint is the tests' own, in a process of its own, and answers at once. A live step is all of
it: key, budget, the openai package, the loopback, parsing, and the journal with its fsync. What
waiting for the endpoint takes is a bare HTTP round trip of the same body, taken in turns with the
live steps.
"""

import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import openai

from coretail.llm import ApiModel, Budget, Client, Message, Request, compact, enum_schema
from coretail.llm.journal import Journal, Record

RUNS = 7
STEPS = 200
TEXT = "You stand in a room with many things and look for one of them. " * 20
SCHEMA = enum_schema(("kitchen", "garden", "cellar"))


def request(number: int) -> Request:
    """Return a request of about 300 tokens."""
    message = Message("user", f"{TEXT} Step {number}: where to?")
    return Request((message,), max_tokens=16, temperature=1.0, seed=number, schema=SCHEMA)


@contextmanager
def instant_endpoint() -> Iterator[str]:
    """Run the tests' endpoint as a process and yield its base URL."""
    script = Path(__file__).parents[1] / "endpoint.py"
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


def per_step(step: Callable[[int], object], first: int) -> float:
    """Return the median seconds of STEPS steps, numbered from ``first``.

    The median, since what other processes do to the disk and the processors is not the client's.
    """
    seconds = []
    for number in range(first, first + STEPS):
        begun = time.perf_counter()
        step(number)
        seconds.append(time.perf_counter() - begun)
    return statistics.median(seconds)


def compared(name: str, baseline: str, ratios: list[float]) -> dict[str, object]:
    """Return one row of the benchmark."""
    return {
        "name": name,
        "baseline": baseline,
        "ratio_median": statistics.median(ratios),
        "ratio_low": min(ratios),
        "ratio_high": max(ratios),
        "runs": len(ratios),
    }


def benchmarks() -> Iterator[dict[str, object]]:
    """Yield the rows of this part."""
    with tempfile.TemporaryDirectory() as name, instant_endpoint() as base_url:
        directory = Path(name)
        model = ApiModel("m", base_url, key_env=None)
        live, busy, waited, bare, replayed, appended, synced = ([] for _ in range(7))
        package = openai.OpenAI(api_key="none", base_url=base_url, max_retries=0)
        form = {"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA}}

        trip = http.client.HTTPConnection(base_url.split("/")[2])

        def round_trip(number: int) -> None:
            asked = request(number)
            body = {
                "model": "m",
                "messages": [{"role": "user", "content": asked.messages[0].content}],
                "response_format": form,
            }
            headers = {"Content-Type": "application/json"}
            trip.request("POST", "/v1/chat/completions", json.dumps(body), headers)
            trip.getresponse().read()

        def call(number: int) -> object:
            asked = request(number)
            return package.chat.completions.create(
                model="m",
                messages=[{"role": "user", "content": asked.messages[0].content}],
                temperature=1.0,
                seed=number,
                max_tokens=16,
                response_format=form,  # type: ignore[arg-type]
            )

        options = {"budget": Budget(calls=10**6), "ledger": directory / "ledger"}
        record = Record("ab" * 32, "m", "endpoint:00", "policy/1", '"garden"', "stop", 300, 0, 5)
        with (
            Client(model, "api", journal=directory / "journal", **options) as client,
            Journal(directory / "bare") as journal,
            (directory / "file").open("ab", buffering=0) as file,
        ):
            line = b"x" * 300

            def sync(number: int) -> None:
                file.write(line)
                os.fdatasync(file.fileno())

            client.complete(request(10**6))
            call(0)
            for run in range(RUNS):
                cpu = time.process_time()
                live.append(per_step(lambda n: client.complete(request(n)), run * STEPS))
                busy.append((time.process_time() - cpu) / STEPS)
                waited.append(per_step(round_trip, run * STEPS))
                bare.append(per_step(call, run * STEPS))
                appended.append(per_step(lambda n: journal.append(record), 0))
                synced.append(per_step(sync, 0))
        compact([directory / "journal"], directory / "r.parquet")
        with Client(model, "recorded", recordings=[directory / "r.parquet"]) as client:
            for run in range(RUNS):
                replayed.append(per_step(lambda n: client.complete(request(n)), run * STEPS))
        overhead = [ours - trip for ours, trip in zip(live, waited, strict=True)]
        yield compared(
            "llm: client overhead of a live step, fsync included "
            f"({statistics.median(overhead) * 1e3:.2f} ms)",
            "the required 2 ms per step",
            [2e-3 / seconds for seconds in overhead],
        )
        yield compared(
            "llm: the client's own processor time in a live step "
            f"({statistics.median(busy) * 1e3:.2f} ms)",
            "the required 2 ms per step",
            [2e-3 / seconds for seconds in busy],
        )
        yield compared(
            "llm: a live step with key, shared budget and durable journal",
            f"a bare call of the openai package ({statistics.median(bare) * 1e3:.2f} ms)",
            [theirs / ours for theirs, ours in zip(bare, live, strict=True)],
        )
        yield compared(
            f"llm: a step from recordings ({1 / statistics.median(replayed):.0f} per second)",
            "the required 500 steps per second",
            [1 / 500 / seconds for seconds in replayed],
        )
        yield compared(
            f"llm: a durable record in the journal ({statistics.median(appended) * 1e3:.2f} ms)",
            f"a bare write and fsync of as many bytes ({statistics.median(synced) * 1e3:.2f} ms)",
            [theirs / ours for theirs, ours in zip(synced, appended, strict=True)],
        )
