"""Budgets, and what has been spent of them by every process that shares one ledger."""

import fcntl
import os
import struct
from collections import Counter
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path

from coretail.errors import InputError
from coretail.llm.models import Prices
from coretail.llm.request import Request

_LAYOUT = struct.Struct("<8sqqq")
_MAGIC = b"ctledgr1"
_UNITS = 10**9


class BudgetSpent(InputError):  # noqa: N818 - a state of the budget that stops a run, not a fault
    """The next call could exceed the budget. Everything so far is kept; a larger one goes on."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that live calls may use; None for no bound.

    Attributes
    ----------
    calls
        Requests sent to the model, retries included.
    tokens
        Prompt and completion tokens together.
    money
        In the currency of the prices.
    """

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None

    @property
    def unbounded(self) -> bool:
        """Whether there is nothing to check."""
        return self.calls is None and self.tokens is None and self.money is None


@dataclass(frozen=True, slots=True)
class Spending:
    """What one or more calls used.

    Attributes
    ----------
    calls
        Requests sent.
    tokens
        Prompt and completion tokens together.
    nanos
        Money in billionths of the currency's unit; whole, so that sums are exact.
    """

    calls: int = 0
    tokens: int = 0
    nanos: int = 0

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(
            self.calls + other.calls, self.tokens + other.tokens, self.nanos + other.nanos
        )

    def __sub__(self, other: "Spending") -> "Spending":
        return Spending(
            self.calls - other.calls, self.tokens - other.tokens, self.nanos - other.nanos
        )

    @property
    def money(self) -> float:
        """Money in the currency's unit."""
        return self.nanos / _UNITS


def spending(prices: Prices, prompt: int, cached: int, completion: int) -> Spending:
    """Return what one call with these token counts used."""
    money = prices.money(prompt, cached, completion)
    return Spending(1, prompt + completion, round(money * _UNITS))


def worst_case(request: Request, prices: Prices) -> Spending:
    """Return the most that one call of ``request`` can use.

    That is the bound on its prompt (one token per byte of its texts, and what chat templates add)
    uncached, and a reply of ``max_tokens``.
    """
    return spending(prices, request.prompt_bound(), 0, request.max_tokens)


class Ledger:
    """What has been spent, in memory or in a file that several processes share.

    A call reserves its worst case before it is sent and gives back what it did not use. A process
    that dies in between leaves its reservation behind: the endpoint may well have charged for it.

    Parameters
    ----------
    path
        The file; None to count for this process alone.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._spent = Spending()

    @property
    def spent(self) -> Spending:
        """What has been spent and reserved so far."""
        if self._path is None or not self._path.exists():
            return self._spent
        with closing(_Locked(self._path)) as held:
            return held.read()

    def reserve(self, amount: Spending, budget: Budget) -> None:
        """Reserve ``amount``, if ``budget`` has room for it.

        Raises
        ------
        BudgetSpent
            It has not; the message says which bound and how to go on. Nothing is reserved.
        """
        if self._path is None:
            _check(self._spent, amount, budget)
            self._spent += amount
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with closing(_Locked(self._path)) as held:
            spent = held.read()
            _check(spent, amount, budget)
            held.write(spent + amount)

    def settle(self, reserved: Spending, used: Spending) -> None:
        """Replace a reservation by what was used."""
        if self._path is None:
            self._spent += used - reserved
            return
        with closing(_Locked(self._path)) as held:
            held.write(held.read() + used - reserved)


def _check(spent: Spending, amount: Spending, budget: Budget) -> None:
    after = spent + amount
    bounds = (
        ("calls", budget.calls, spent.calls, after.calls),
        ("tokens", budget.tokens, spent.tokens, after.tokens),
        ("money", budget.money, spent.money, after.money),
    )
    for name, bound, before, then in bounds:
        if bound is not None and then > bound:
            raise BudgetSpent(
                f"budget: {name}: {before:g} of {bound:g} are spent, and the next call could take "
                f"it to {then:g}. Everything so far is kept. Raise `budget: {name}:` and run "
                "again; the run goes on where it stopped."
            )


class _Locked:
    """The ledger's file, locked from construction to ``close``."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def read(self) -> Spending:
        data = os.pread(self._file, _LAYOUT.size, 0)
        if not data:
            return Spending()
        if len(data) != _LAYOUT.size or not data.startswith(_MAGIC):
            raise InputError(
                f"{self._path}: is not a ledger of a budget. Delete it to begin at nothing spent."
            )
        _, calls, tokens, nanos = _LAYOUT.unpack(data)
        return Spending(calls, tokens, nanos)

    def write(self, spent: Spending) -> None:
        data = _LAYOUT.pack(_MAGIC, spent.calls, spent.tokens, spent.nanos)
        os.pwrite(self._file, data, 0)

    def close(self) -> None:
        os.close(self._file)


@dataclass(slots=True)
class Counters:
    """What a client did, for logs and progress.

    Attributes
    ----------
    hits, misses
        Completions found in journal or recordings, and asked of the model.
    calls
        Requests sent, retries included.
    retries
        Requests sent again after a failure that may pass.
    failures
        Completions without a reply, by status.
    prompt_tokens, cached_tokens, completion_tokens
        Reported for live calls.
    money
        Price of the live calls.
    waiting
        Seconds spent waiting for the model, retries' pauses included.
    """

    hits: int = 0
    misses: int = 0
    calls: int = 0
    retries: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    money: float = 0.0
    waiting: float = 0.0

    def line(self) -> str:
        """Return the counts as one line of text."""
        failures = ", ".join(f"{count} {name}" for name, count in sorted(self.failures.items()))
        return (
            f"{self.hits} hits, {self.misses} misses, {self.calls} calls, {self.retries} retries, "
            f"{failures or 'no failures'}, {self.prompt_tokens} prompt tokens "
            f"({self.cached_tokens} cached), {self.completion_tokens} completion tokens, "
            f"money {self.money:.4f}, {self.waiting:.1f} s waiting"
        )

    def as_dict(self) -> dict[str, int | float | dict[str, int]]:
        """Return the counts as a dictionary."""
        return asdict(self) | {"failures": dict(self.failures)}
