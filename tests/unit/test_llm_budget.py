"""The ledger: exact, shared by processes, and honest about calls that were cut off."""

import os
import subprocess
import sys

import pytest

from coretail.errors import InputError
from coretail.llm import Budget, BudgetSpent, Ledger, Message, Prices, Request
from coretail.llm.budget import Spending, spending, worst_case


@pytest.fixture(params=["memory", "file"])
def ledger(request, tmp_path):
    return Ledger(tmp_path / "ledger" if request.param == "file" else None)


def test_a_call_gives_back_what_it_did_not_use(ledger):
    ledger.reserve(Spending(1, 100, 7), Budget(calls=1, tokens=100, money=7e-9))
    assert ledger.spent == Spending(1, 100, 7)
    ledger.settle(Spending(1, 100, 7), Spending(1, 30, 2))
    assert ledger.spent == Spending(1, 30, 2)


@pytest.mark.parametrize(
    ("budget", "name"),
    [(Budget(calls=1), "calls"), (Budget(tokens=150), "tokens"), (Budget(money=1e-8), "money")],
)
def test_what_could_exceed_a_bound_is_not_reserved(ledger, budget, name):
    ledger.reserve(Spending(1, 100, 7), budget)
    with pytest.raises(BudgetSpent, match=f"budget: {name}: ") as caught:
        ledger.reserve(Spending(1, 100, 7), budget)
    assert f"Raise `budget: {name}:`" in str(caught.value)
    assert ledger.spent == Spending(1, 100, 7)


def test_a_bound_may_be_reached_but_not_passed(ledger):
    ledger.reserve(Spending(1, 100, 0), Budget(tokens=100))
    with pytest.raises(BudgetSpent):
        ledger.reserve(Spending(1, 1, 0), Budget(tokens=100))


def test_the_file_is_shared_and_outlives_its_process(tmp_path):
    path = tmp_path / "ledger"
    Ledger(path).reserve(Spending(1, 10, 1), Budget())
    # A process that died in between leaves its reservation behind.
    assert Ledger(path).spent == Spending(1, 10, 1)


def test_processes_at_once_lose_no_count(tmp_path):
    code = (
        "import sys; from pathlib import Path\n"
        "from coretail.llm.budget import Budget, Ledger, Spending\n"
        "ledger = Ledger(Path(sys.argv[1]))\n"
        "for _ in range(300):\n"
        "    ledger.reserve(Spending(1, 50, 3), Budget())\n"
        "    ledger.settle(Spending(1, 50, 3), Spending(1, 20, 1))\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code, str(tmp_path / "ledger")]
    processes = [subprocess.Popen(command, env=environment) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert Ledger(tmp_path / "ledger").spent == Spending(900, 18_000, 900)


def test_a_file_that_is_no_ledger_is_named(tmp_path):
    path = tmp_path / "ledger"
    path.write_text("something else of enough bytes for it")
    with pytest.raises(InputError, match="is not a ledger"):
        Ledger(path).reserve(Spending(), Budget())


def test_the_worst_case_is_an_uncached_prompt_and_the_longest_reply():
    request = Request((Message("user", "ä" * 50),), max_tokens=20)
    prices = Prices(prompt=2.0, completion=8.0, cached=0.1)
    assert worst_case(request, prices) == Spending(1, 228 + 20, (228 * 2 + 20 * 8) * 1000)
    assert spending(prices, 100, 100, 0).money == pytest.approx(1e-5)
