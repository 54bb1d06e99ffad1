"""Plans against what an endpoint really receives, and numbers worked out by hand."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom

import make_plan
from _entry import Job
from coretail import artefacts, planning, stats
from coretail.controller import count_tokens
from coretail.errors import InputError
from coretail.llm import ApiModel, Client, EmbeddedModel, Message, Prices, Request
from coretail.llm.request import Completion
from coretail.planning import Calls, Counted, Part, PlanningClient
from coretail.rollouts.competence import predict, prediction_tasks
from coretail.rollouts.semantic import ModelChooser, rollout
from coretail.worlds.contents import build_contents
from coretail.worlds.topology import build_topology
from endpoint import LocalEndpoint

# Some states have one action, in which nobody is asked.
TOPOLOGY = build_topology("scale-free", 30, 7)
CONTENTS = build_contents(TOPOLOGY)
STEPS = 24


def act(client, progress=None, style="direct"):
    chooser = ModelChooser(client, TOPOLOGY.key, style=style)
    return rollout(TOPOLOGY, CONTENTS, chooser, steps=STEPS, progress=progress)


def locally(log):
    """Return the locally counted prompt tokens of all requests that an endpoint got."""
    return sum(count_tokens(message["content"]) for one in log for message in one.body["messages"])


def model(endpoint):
    return ApiModel("tester", base_url=endpoint.base_url, key_env=None)


def test_predictions_are_the_requests_that_an_endpoint_gets():
    tasks = prediction_tasks(TOPOLOGY, CONTENTS, 2)
    with LocalEndpoint() as endpoint:
        with Client(model(endpoint), "api") as client:
            predict(client, tasks)
        planned = PlanningClient(model(endpoint), [])
        planned.reply = planning.moved
        replies = predict(planned, tasks)
        received = len(endpoint.log)
    # Two tasks in six conditions; nobody is asked for the plan.
    assert received == planned.made.n == 12
    assert planned.made.local_prompt == locally(endpoint.log)
    assert {reply.status for reply in replies} == {"answered"}
    state, action, _ = tasks[0].transition
    assert planned.made.reply >= 12 * count_tokens(f"{state} -> {action} -> ") / 3


def test_a_rollout_is_replayed_as_far_as_it_is_held(tmp_path):
    journal = tmp_path / "a.journal"
    with LocalEndpoint() as endpoint:
        with Client(model(endpoint), "api", journal=journal) as client:
            done = act(client)
        asked = int(done.calls.sum())
        assert 0 < asked == len(endpoint.log) < STEPS

        planned = PlanningClient(model(endpoint), [journal])
        planned.begin("all", chain=True)
        whole = planning.chain(planned, STEPS, lambda progress: act(planned, progress))
        assert whole == Counted(asked, 0.0, planned.held, Calls())
        assert planned.held.prompt == int(done.prompt_tokens.sum())
        assert planned.held.local_prompt == locally(endpoint.log)

        # The journal's last seven lines are lost.
        lines = journal.read_bytes().splitlines(keepends=True)
        journal.write_bytes(b"".join(lines[:-7]))
        planned = PlanningClient(model(endpoint), [journal])
        planned.begin("some", chain=True)
        part = planning.chain(planned, STEPS, lambda progress: act(planned, progress))
        assert part.held == asked - 7
        assert part.left == pytest.approx(part.built.n)
        assert len(endpoint.log) == asked


def nobody():
    return PlanningClient(ApiModel("tester", base_url="http://127.0.0.1:9/v1"), [])


def question(text):
    return Request((Message("user", text),), 64, schema={"type": "string", "enum": ["a", "b"]})


def test_a_sampled_chain_stands_for_the_rest():
    planned = nobody()
    planned.begin("sampled", most=4, chain=True)

    def run(progress):
        for step in range(24):
            if step >= 3 and step % 2:
                planned.complete(question(f"step {step}"))
            progress(step + 1)

    # Steps 3, 5, 7 and 9 ask; step 11 is one too many. That is 4 calls in the 8 steps from 3 to 10,
    # and the chain has 21 steps from 3 on.
    assert planning.chain(planned, 24, run).left == pytest.approx(4 / 8 * 21)
    assert planned.made.n == 4


def test_any_other_error_of_a_chain_is_raised():
    planned = nobody()

    def run(progress):
        raise InputError("no such thing")

    with pytest.raises(InputError, match="no such thing"):
        planning.chain(planned, 3, run)


def test_a_request_that_comes_again_is_asked_once():
    planned = nobody()
    request = question("a or b")
    first = planned.complete(request)
    assert isinstance(first, Completion)
    assert json.loads(first.text) in ("a", "b")
    assert planned.complete(request) == first
    assert planned.made == Calls(1, 3, 3, 3, 3)  # a, or, b; two quotation marks and a letter
    planned.complete(request.again())
    assert planned.made.n == 2


def test_a_made_up_thought_has_the_longest_length():
    planned = nobody()
    act(planned, style="react")
    # thought: 15 words of 7 letters, which are two pieces each; and what stands around it.
    assert planned.made.reply / planned.made.n == pytest.approx(30 + 16, abs=8)


def part(name, stage, most, held, left, replayed, built):
    return Part(name, stage, "x", 100, most, Counted(held, left, replayed, built), 10)


def test_rows_and_sums_by_hand():
    prices = Prices(prompt=2.0, completion=10.0)
    models = {
        "paid": (ApiModel("paid", base_url="http://127.0.0.1:9/v1", prices=prices), True),
        "unpriced": (ApiModel("unpriced", base_url="http://127.0.0.1:9/v1"), False),
        "here": (EmbeddedModel("here"), True),
        "idle": (EmbeddedModel("idle"), True),
    }
    parts = [
        # 20 held calls of 120 reported, 100 counted tokens; replies 8 reported, 4 counted.
        part("paid", "one", 200, 20, 0, Calls(20, 2400, 160, 2000, 80), Calls()),
        # 50 left; 10 built of 200 prompt and 3 reply tokens: 240 and 6 by the ratios.
        part("paid", "two", 120, 0, 50, Calls(), Calls(10, 2000, 30, 2000, 30)),
        part("unpriced", "one", 30, 0, 30, Calls(), Calls(30, 300, 30, 300, 30)),
        part("here", "one", 30, 0, 30, Calls(), Calls(30, 300, 30, 300, 30)),
    ]
    rows = planning.plan_rows(parts, models)
    by = {(row["model"], row["stage"]): row for row in rows}
    assert list(by) == [
        ("paid", "one"), ("paid", "two"), ("paid", "total"),
        ("unpriced", "one"), ("unpriced", "total"), ("here", "one"), ("here", "total"),
    ]  # fmt: skip
    done = by["paid", "one"]
    assert (done["calls"], done["calls_held"], done["calls_left"]) == (20, 20, 0)
    assert (done["prompt_tokens"], done["tokens_most"], done["money_most"]) == (0, 0, 0.0)
    assert done["prompt_tokens_per_call"] == 120
    left = by["paid", "two"]
    assert left["ratio"] == 1.2
    assert (left["prompt_tokens"], left["reply_tokens"]) == (12_000, 300)
    assert left["money"] == pytest.approx((12_000 * 2 + 300 * 10) / 1e6)
    # 120 calls of 240 prompt tokens and a reply of 10.
    assert left["tokens_most"] == 30_000
    assert left["money_most"] == pytest.approx((28_800 * 2 + 1_200 * 10) / 1e6)
    total = by["paid", "total"]
    assert (total["calls"], total["calls_most"], total["calls_left"]) == (70, 320, 50)
    assert total["prompt_tokens_per_call"] == pytest.approx((20 * 120 + 50 * 240) / 70)
    assert total["money"] == left["money"]
    assert by["unpriced", "total"]["money"] is None
    assert by["unpriced", "one"]["reason"] == planning.NO_PRICES
    assert by["here", "total"]["money"] == 0


def test_sizes_by_hand():
    # (1.95996 sqrt(2 · 0.8685 · 0.1315) + 0.84162 sqrt(0.932 · 0.068 + 0.805 · 0.195))² / 0.127²
    # = (0.93673 + 0.39511)² / 0.016129 = 109.97
    assert planning.unpaired_size(0.932, 0.805) == 110
    # 5 discordant pairs of one kind have p = 2 / 2⁵ > 0.05, and 6 have p = 2 / 2⁶ < 0.05: the power
    # is the chance of at least 6, 0.790 with 60 pairs and 0.803 with 61.
    assert binom.sf(5, [60, 61], 0.127) == pytest.approx([0.790, 0.803], abs=5e-4)
    assert planning.mcnemar_size(0.127, 0.0) == 61
    assert planning.mcnemar_size(1.0, 0.0) == planning.mcnemar_size(0.0, 1.0) == 6
    # Very many: (1.95996 sqrt(0.9) + 0.84162 sqrt(0.9 - 0.0001))² / 0.0001 = 70638
    assert planning.mcnemar_size(0.455, 0.445) == 70638
    # 0.1 (1.64485 + 1.28155)² / 0.05² = 342.6
    assert planning.parity_size(0.1, 0.05) == 343
    with pytest.raises(InputError, match="different shares"):
        planning.unpaired_size(0.5, 0.5)
    assert planning.effective_size(np.array([1.0, 1.0, 2.0])) == pytest.approx(16 / 6)
    interval = stats.t_interval([1.0, 2.0, 3.0])
    assert planning.sd_of_interval(interval.low, interval.high, 3) == pytest.approx(1.0)


def paired_power(only_first, only_second, sizes):
    """Power of the package's own McNemar test, over all outcomes of one kind and the other."""
    discordant = only_first + only_second
    chance = np.zeros(max(sizes) + 1)
    for pairs in range(1, chance.size):
        for first in range(pairs + 1):
            if stats.mcnemar_exact(first, pairs - first) < 0.05:
                chance[pairs] += binom.pmf(first, pairs, only_first / discordant)
    return [binom.pmf(np.arange(n + 1), n, discordant) @ chance[: n + 1] for n in sizes]


@pytest.mark.parametrize(
    ("only_first", "only_second", "n"), [(0.9, 0.1, 12), (0.5, 0.0, 15), (0.75, 0.25, 35)]
)
def test_pairs_have_their_power_from_the_size_on(only_first, only_second, n):
    assert planning.mcnemar_size(only_first, only_second) == n
    sizes = range(n - 1, n + 25)
    before, *after = paired_power(only_first, only_second, sizes)
    assert before < 0.8 <= min(after)


def test_the_power_of_pairs_is_a_saw():
    # All pairs discordant: 25 and 26 pairs have enough power, 27 have not.
    chances = planning._mcnemar_power(60, 0.78, 0.95)
    (short,) = np.nonzero(chances < 0.8)
    (enough,) = np.nonzero(chances >= 0.8)
    assert (enough[0], short[-1]) == (25, 27)
    assert planning.mcnemar_size(0.78, 0.22) == short[-1] + 1


def test_the_shift_that_the_primary_test_shows():
    # One seed, one topology, very many controls: 1.95996 + 0.84162.
    assert planning.detectable_shift(1, 10**7, 1) == pytest.approx(2.80, abs=0.04)
    # More seeds show less, more topologies need more.
    assert planning.detectable_shift(3, 200, 1) < 2.1
    assert planning.detectable_shift(3, 200, 4) > planning.detectable_shift(3, 200, 1)
    # Of 39 controls the smallest p is 0.05, which is not below that level.
    assert planning.detectable_shift(1, 39, 1) is None


def test_what_pairs_can_show():
    known = planning.paired("a", "b", "seeds", 3, "share", 0.1, "observed", "t", 0.3)
    assert known.detectable == stats.minimum_detectable_difference(3, 0.1)
    assert known.n_needed == stats.sample_size(0.3, 0.1)
    assert (known.difference_in, known.reason) == ("share", "")
    unknown = planning.paired("a", "b", "games", 18, "share", None, "none", "t", 0.04)
    assert unknown.difference_in == "standard deviations"
    assert unknown.detectable == pytest.approx(0.7009, abs=1e-3)
    assert unknown.n_needed is None
    alone = planning.paired("a", "b", "games", 1, "share", 0.1, "observed", "t", 0.04)
    assert (alone.detectable, alone.reason) == (None, "one unit gives no interval")


NOBODY = {"name": "nobody", "base_url": "http://127.0.0.1:9/v1", "key_env": "NO_SUCH_KEY"}
SETTINGS = {
    "models": {"nobody": {"name": "nobody"}},
    "rollouts": [["nobody", "seek", "scale-free"]],
    "gate": "scale-free",
    "readers": ["nobody"],
    "players": [],
    "answerers": [],
    "judges": [],
    "seekers": ["nobody"],
    "live_cells": [["ctwm", "compact"]],
    "order": [],
    "alfworld": {},
    "longmemeval": {},
    "data": "stand-in",
    "seeds": [1, 2],
    "vocabulary": "natural",
    "retriever": "state_frequency",
    "store": {"eviction": "reservoir", "capacity": 20, "k": 3, "reads_feed_frequency": False},
    "cells": {"n_nodes": 30, "steps": 40, "n_controls": 200},
    "semantic": {
        "competence_tasks": 1, "style": "direct", "temperature": 0.0, "seed": 0, "attempts": 2,
        "patience": 25,
    },
    "memory": {
        "family": "scale-free", "n_nodes": 30, "steps": 60, "slots": 8, "tau": 1.0,
        "tokens": 200, "capacity": 20, "asked": 2,
        "asked_cells": ["graph-compact", "ctwm-compact"],
        "closed_loop": {"cells": ["ctwm-compact"], "steps": 20},
    },
    "tau": {"values": [0.5, 1.0], "pool": 10, "k": 3, "semantic_steps": 15},
    "paper": {
        "tail_error": {"graph": 0.932, "ctwm": 0.805},
        "tokens": {"memory": 0.027, "alfworld": 0.04, "longmemeval": 0.2448},
    },
}  # fmt: skip


def test_the_entry_plans_without_model_key_or_results(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    spec = {"rule": "make_plan", "code": "0", "settings": SETTINGS, "upstream": {}}
    make_plan.main(
        Job(
            SimpleNamespace(
                input={},
                output={},
                threads=1,
                params=SimpleNamespace(spec=spec),
                wildcards={},
                config={"llm": {"backend": "auto"}, "models": [NOBODY]},
            )
        )
    )
    tables = tmp_path / "results/tables"
    assert sorted(path.name for path in tables.iterdir()) == [
        "plan.md", "plan.parquet", "plan_power.parquet",
    ]  # fmt: skip
    rows = artefacts.read_rows(tables / "plan.parquet", "plan")
    by = {(row["stage"], row["part"]): row for row in rows}
    gate = by["competence gate", "scale-free"]
    assert (gate["steps"], gate["calls"], gate["calls_most"]) == (12, 12, 12)
    walked = by["rollouts", "seek, scale-free"]
    assert (walked["steps"], walked["calls_most"]) == (80, 160)
    assert 0 < walked["calls"] < 80
    # Two steps of each stratum and seed, if it has so many.
    for cell in ("graph-compact", "ctwm-compact"):
        assert by["memory predictions", cell]["calls"] == by["memory predictions", cell]["steps"]
        assert 4 <= by["memory predictions", cell]["calls"] <= 16
    assert by["closed loop", "ctwm-compact"]["calls_most"] == 2 * 2 * 20
    assert by["closed loop, predictions", "ctwm-compact, compact shown"]["calls"] <= 16
    assert by["τ sweep", "τ = 0.5"]["steps"] == by["τ sweep", "τ = 1"]["steps"] == 30
    assert by["total", ""]["calls"] == sum(row["calls"] for row in rows if row["stage"] != "total")
    power = artefacts.read_rows(tables / "plan_power.parquet", "plan_power")
    assert [row["n_needed"] for row in power if row["where"] == "any model"] == [110, 123, 61]
    (tail,) = [row for row in power if row["comparison"] == "tail error, CTWM minus graph memory"]
    assert tail["n"] == 2
    assert tail["target"] == pytest.approx(0.127)
    assert tail["sd"] <= math.sqrt(0.932 * 0.068 + 0.805 * 0.195)
    printed = capsys.readouterr().out
    assert printed.strip() == (tables / "plan.md").read_text(encoding="utf-8").strip()
    assert "LongMemEval: nobody is asked, for longmemeval.models is empty" in printed


@pytest.mark.parametrize("n", [1, 2, 3, 6, 18])
def test_the_runs_that_are_held_are_found_by_few_counts(n):
    for prefix in range(n + 1):
        counted = []

        def count(position, prefix=prefix, counted=counted):
            counted.append(position)
            return Counted(7.0, 0.0) if position < prefix else Counted(0.0, 10.0)

        found = planning.of_prefix(n, count)
        assert (found.held, found.left) == pytest.approx((7 * prefix, 10 * (n - prefix)))
        assert len(counted) == len(set(counted)) <= 2 + n.bit_length()
        if prefix == 0:
            assert counted == [0]
    assert planning.of_prefix(0, count) == Counted()


def test_runs_that_were_begun_are_told_from_those_that_were_not():
    found = planning.of_prefix(
        18, lambda position: Counted(15.0, 35.0) if position < 6 else Counted(0.0, 50.0)
    )
    assert (found.held, found.left) == pytest.approx((90, 6 * 35 + 12 * 50))
