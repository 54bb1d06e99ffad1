"""What a configuration will ask of language models, before anything is asked.

Nothing here estimates by a constant per step. The code that asks is run as it is, in the worlds of
the configuration, with a client that asks nobody (:class:`PlanningClient`): what recordings and
journals hold is replayed, any other request is counted and answered at random. So the calls are
those that the run would make, and the prompts are its prompts.

- A *chain* (a rollout, an episode) is replayed as far as its replies are held. From the first one
  that is not, the agent acts at random for some more calls, which stand for the rest.
- *Separate* requests (predictions, questions) are all built, or evenly spaced ones of them.
- Tokens of replayed calls are those reported. Tokens of others are counted by the local counter
  (:func:`coretail.controller.count_tokens`) and multiplied by the ratio of reported to counted
  tokens over the model's replayed calls, 1 where there are none.
"""

import json
import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from coretail import stats
from coretail.controller import count_tokens
from coretail.errors import InputError
from coretail.llm.client import Client, RecordingMiss
from coretail.llm.models import Model, Prices
from coretail.llm.request import Completion, Request
from coretail.prompts import THOUGHT_LENGTH
from coretail.streams import Key, stream

SAMPLED_CALLS = 200
"""Calls of a chain that are built after the first whose reply is not held."""

TOTAL = "total"
NO_PRICES = "the model's entry in the configuration has no prices"

_SUMMED = (
    "steps",
    "calls_most",
    "calls",
    "calls_held",
    "calls_left",
    "calls_built",
    "prompt_tokens",
    "reply_tokens",
    "tokens_most",
    "money",
    "money_most",
)
_THOUGHT = ("thought " * THOUGHT_LENGTH)[:THOUGHT_LENGTH].strip()
_DRAWS = 20_000
_EXACT_PAIRS = 10_000


class Enough(InputError):  # noqa: N818 - not a fault
    """As many calls were built as the estimate needs."""


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls and their tokens.

    Attributes
    ----------
    n
        Calls.
    prompt, reply
        Tokens as reported; as counted for calls that were not made.
    local_prompt, local_reply
        Tokens by the local counter.
    """

    n: int = 0
    prompt: int = 0
    reply: int = 0
    local_prompt: int = 0
    local_reply: int = 0

    def __add__(self, other: "Calls") -> "Calls":
        return Calls(
            self.n + other.n,
            self.prompt + other.prompt,
            self.reply + other.reply,
            self.local_prompt + other.local_prompt,
            self.local_reply + other.local_reply,
        )


class PlanningClient(Client):
    """Replays what is held and makes up every other reply; nobody is asked.

    Parameters
    ----------
    model
        The model. Neither its weights nor its key are needed.
    known
        Recordings and journals.

    Attributes
    ----------
    held, made
        Calls that were replayed, and made up, since :meth:`begin`.
    reply
        Returns the made-up reply to a request; by default one of the options of its schema.
    """

    def __init__(self, model: Model, known: Iterable[Path]) -> None:
        super().__init__(model, "recorded", recordings=known)
        self.reply: Callable[[Request], str] = self._choice
        self.begin()

    def begin(self, *key: Key, most: int | None = None, chain: bool = False) -> None:
        """Count from nothing.

        Parameters
        ----------
        *key
            Key of the stream that made-up choices are drawn from.
        most
            Calls that are made up before :class:`Enough` is raised; None for no bound.
        chain
            Whether each request depends on the reply before it, so that behind the first made-up
            reply nothing is looked up.
        """
        self.held = Calls()
        self.made = Calls()
        self._told: dict[str, Completion] = {}
        self._rng = stream("plan", *key)
        self._most = most
        self._chain = chain

    def complete(self, request: Request, context: str = "") -> Completion:
        """Return the completion that is held, or a made-up one.

        Raises
        ------
        Enough
            No further call is to be built.
        """
        local = prompt_tokens(request)
        if not (self._chain and self.made.n):
            try:
                found = super().complete(request, context)
            except RecordingMiss:
                pass
            else:
                self.held += Calls(
                    1,
                    found.prompt_tokens,
                    found.completion_tokens,
                    local,
                    count_tokens(found.text),
                )
                return found
        # Asked again, a request finds its reply in the run's journal.
        key = request.key(self._model.identity(), {})
        if key not in self._told:
            if self.made.n == self._most:
                raise Enough("plan: enough calls were built")
            text = self.reply(request)
            said = count_tokens(text)
            self.made += Calls(1, local, said, local, said)
            self._told[key] = Completion(key, "ok", text, "stop", local, 0, said, "live")
        return self._told[key]

    def _choice(self, request: Request) -> str:
        """Return the reply that names one of the options, with the longest thought before it."""
        schema = request.schema
        if schema is None:
            raise ValueError(f"plan: {request.template!r} has no options to choose from")
        if "enum" in schema:
            return json.dumps(self._drawn(schema["enum"]))
        action = self._drawn(schema["properties"]["action"]["enum"])
        return json.dumps({"thought": _THOUGHT, "action": action})

    def _drawn(self, options: Sequence[str]) -> str:
        return options[int(self._rng.random() * len(options))]


def prompt_tokens(request: Request) -> int:
    """Return the tokens of a request's messages by the local counter, without a chat template."""
    *shared, last = (message.content for message in request.messages)
    return sum(map(_shared_tokens, shared)) + count_tokens(last)


# Worked examples and instructions are the same in thousands of prompts.
_shared_tokens = cache(count_tokens)


def moved(request: Request) -> str:
    """Return the made-up reply to a prediction prompt: its move, leading back to its own state."""
    _, _, asked = request.messages[-1].content.rpartition("\nNow: ")
    state, _, _ = asked.partition(" -> ")
    return f"{asked} {state}"


@dataclass(frozen=True, slots=True)
class Counted:
    """What some part of a run asks.

    Attributes
    ----------
    held
        Calls whose completions are held.
    left
        Calls that have to be asked, as expected.
    replayed, built
        The calls behind these numbers: replayed, and made up.
    """

    held: float = 0.0
    left: float = 0.0
    replayed: Calls = field(default_factory=Calls)
    built: Calls = field(default_factory=Calls)

    def __add__(self, other: "Counted") -> "Counted":
        return Counted(
            self.held + other.held,
            self.left + other.left,
            self.replayed + other.replayed,
            self.built + other.built,
        )

    def times(self, factor: float) -> "Counted":
        """Return the same of a whole of which this is a part."""
        return replace(self, held=self.held * factor, left=self.left * factor)


def of_prefix(n: int, count: Callable[[int], Counted]) -> Counted:
    """Return what ``n`` runs ask of which the first few were begun, counting as few as will do.

    Runs are made in one order, so that those of which an earlier configuration left replies are
    taken to be a prefix: its length is found by bisection. Of each part the runs that were counted
    stand for all.

    Parameters
    ----------
    n
        The runs.
    count
        Counts the run with this number, from 0.
    """
    found: dict[int, Counted] = {}

    def new(position: int) -> bool:
        if position not in found:
            found[position] = count(position)
        return not found[position].held

    if not n:
        return Counted()
    if new(0):
        prefix = 0
    elif not new(n - 1):
        prefix = n
    else:
        prefix = 1 + bisect_left(range(1, n - 1), True, key=new)
    total = Counted()
    for size, fresh in ((prefix, False), (n - prefix, True)):
        part = [found[position] for position in found if new(position) == fresh]
        for counted in part:
            total += counted.times(size / len(part))
    return total


def separate(client: PlanningClient) -> Counted:
    """Return what separate requests asked."""
    return Counted(client.held.n, client.made.n, client.held, client.made)


def chain(
    client: PlanningClient, steps: int, run: Callable[[Callable[[int], None]], object]
) -> Counted:
    """Return what a chain of steps asks.

    Parameters
    ----------
    client
        The client that ``run`` asks.
    steps
        The chain's steps.
    run
        Runs the chain. It is given a function to call with the number of steps done after each.

    Raises
    ------
    InputError
        What ``run`` raises, but for :class:`Enough`.
    """
    done = before = 0

    def progress(number: int) -> None:
        nonlocal done, before
        done = number
        if not client.made.n:
            before = number

    try:
        run(progress)
    except InputError as error:
        if not isinstance(error.__cause__ or error, Enough):
            raise
    # The step at which it was enough asked for nothing that was built.
    rate = client.made.n / (done - before) if done > before else 0.0
    return Counted(client.held.n, rate * (steps - before), client.held, client.made)


@dataclass(frozen=True, slots=True)
class Part:
    """One line of a plan.

    Attributes
    ----------
    model
        The model asked.
    stage, part
        Which rule asks, and for what of it.
    steps
        Steps, tasks or questions.
    most
        Calls if every reply is unusable and asked for again as often as the configuration allows;
        requests that are sent again after a failure come on top.
    counted
        What it asks.
    max_tokens
        Most tokens of a reply.
    """

    model: str
    stage: str
    part: str
    steps: int
    most: int
    counted: Counted
    max_tokens: int


def plan_rows(
    parts: Sequence[Part], models: Mapping[str, tuple[Model, bool]]
) -> list[dict[str, Any]]:
    """Return the rows of a plan, each model's followed by their sum.

    Parameters
    ----------
    parts
        The parts.
    models
        Each model, and whether its prices are known: of an embedded model they are.
    """
    rows: list[dict[str, Any]] = []
    for name, (model, priced) in models.items():
        own = [part for part in parts if part.model == name]
        if not own:
            continue
        replayed = sum((part.counted.replayed for part in own), Calls())
        ratios = (
            replayed.prompt / replayed.local_prompt if replayed.local_prompt else 1.0,
            replayed.reply / replayed.local_reply if replayed.local_reply else 1.0,
        )
        lines = [_row(part, ratios, model.prices if priced else None) for part in own]
        rows += [*lines, _total(lines)]
    return rows


def _row(part: Part, ratios: tuple[float, float], prices: Prices | None) -> dict[str, Any]:
    counted, built, replayed = part.counted, part.counted.built, part.counted.replayed
    prompt, reply = (
        ratio * tokens / built.n if built.n else 0.0
        for ratio, tokens in zip(ratios, (built.local_prompt, built.local_reply), strict=True)
    )
    calls, left = counted.held + counted.left, counted.left
    most_left = max(part.most - counted.held, left) if left else 0.0
    held_prompt = replayed.prompt / replayed.n if replayed.n else 0.0

    def money(calls: float, reply: float) -> float | None:
        if prices is None:
            return None
        return prices.money(round(calls * prompt), 0, round(calls * reply))

    return {
        "model": part.model,
        "stage": part.stage,
        "part": part.part,
        "steps": part.steps,
        "calls_most": part.most,
        "calls": round(calls),
        "calls_held": round(counted.held),
        "calls_left": round(left),
        "calls_built": replayed.n + built.n,
        "prompt_tokens_per_call": (counted.held * held_prompt + left * prompt) / max(calls, 1),
        "prompt_tokens": round(left * prompt),
        "reply_tokens": round(left * reply),
        "tokens_most": round(most_left * (prompt + part.max_tokens)),
        "money": money(left, reply),
        "money_most": money(most_left, part.max_tokens),
        "ratio": ratios[0],
        "reason": "" if prices else NO_PRICES,
    }


def _total(lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    first = lines[0]

    def summed(name: str) -> Any:
        values = [line[name] for line in lines]
        return None if None in values else sum(values)

    calls = summed("calls")
    tokens = math.fsum(line["prompt_tokens_per_call"] * line["calls"] for line in lines)
    return {
        **first,
        "stage": TOTAL,
        "part": "",
        **{name: summed(name) for name in _SUMMED},
        "prompt_tokens_per_call": tokens / max(calls, 1),
    }


@dataclass(frozen=True, slots=True)
class Power:
    """What a comparison can show.

    Attributes
    ----------
    comparison, where
        What is compared, and in which cells.
    unit
        What is counted by ``n``, and ``n`` of the configuration; None where it is not planned.
    n
        Units.
    difference_in
        What differences are measured in.
    sd, sd_source
        Standard deviation of a unit's difference, and where it is from; None where there is none.
    detectable
        Smallest difference shown with power 0.8 at the 5% level, two-sided.
    target, n_needed
        A difference, and the units that show it with that power.
    assumption
        What all of this rests on.
    reason
        Why a value is None; empty if none is.
    """

    comparison: str
    where: str
    unit: str
    n: int | None
    difference_in: str
    sd: float | None
    sd_source: str
    detectable: float | None
    target: float | None
    n_needed: int | None
    assumption: str
    reason: str = ""


def paired(
    comparison: str,
    where: str,
    unit: str,
    n: int,
    difference_in: str,
    sd: float | None,
    sd_source: str,
    assumption: str,
    target: float,
) -> Power:
    """Return what a paired t test over ``n`` units can show, and how many show ``target``.

    Without a standard deviation the smallest difference is in standard deviations.
    """
    known = sd if sd is not None and sd > 0 else None
    scale = known or 1.0
    reasons = [
        "" if n >= 2 else "one unit gives no interval",
        "" if known else "no standard deviation is known",
    ]
    return Power(
        comparison,
        where,
        unit,
        n,
        difference_in if known else "standard deviations",
        known,
        sd_source,
        stats.minimum_detectable_difference(n, scale) if n >= 2 else None,
        target,
        stats.sample_size(target, scale) if known else None,
        assumption,
        "; ".join(filter(None, reasons)),
    )


def sd_of_interval(low: float, high: float, n: int, level: float = 0.95) -> float:
    """Return the standard deviation of the ``n`` values behind a t interval of their mean."""
    half = (high - low) / 2
    return float(half * math.sqrt(n) / special.stdtrit(n - 1, 0.5 + level / 2))


def unpaired_size(first: float, second: float, level: float = 0.95, power: float = 0.8) -> int:
    """Return how many draws of each of two independent shares show that they differ.

    The two-sided comparison of two proportions by the normal distribution, with the pooled
    variance under equality (Fleiss, Levin and Paik, 2003). That test is no exact one, and neither
    is the number.

    Raises
    ------
    InputError
        If a share is not between 0 and 1, or they are equal.
    """
    _check_shares(first, second)
    mean = (first + second) / 2
    null = math.sqrt(2 * mean * (1 - mean))
    other = math.sqrt(first * (1 - first) + second * (1 - second))
    return _size(null, other, first - second, level, power)


def mcnemar_size(
    only_first: float, only_second: float, level: float = 0.95, power: float = 0.8
) -> int:
    """Return how many pairs show that two paired shares differ, by McNemar's exact test.

    The power of :func:`coretail.stats.mcnemar_exact` is that of a binomial test of the discordant
    pairs, averaged over their binomial number. It rises and falls like a saw as the test's limit
    moves by whole pairs: the number returned is the smallest from which on it stays high enough.
    Where more than 10,000 pairs are discordant it is by the normal distribution, within 1% of it.

    Parameters
    ----------
    only_first, only_second
        Shares of the pairs in which only the first, and only the second, is wrong.
    level, power
        Of the two-sided test.

    Raises
    ------
    InputError
        If the shares are no such shares, or are equal.
    """
    _check_shares(only_first, only_second)
    discordant, gap = only_first + only_second, only_first - only_second
    if discordant > 1:
        raise InputError(f"shares {only_first} and {only_second}: give shares of the same pairs")
    # By the normal distribution (Connor, 1987), which says how far to look.
    about = _size(math.sqrt(discordant), math.sqrt(discordant - gap**2), gap, level, power)
    reach = 2 * about * discordant
    if reach > 2 * _EXACT_PAIRS:
        return about
    chances = _mcnemar_power(math.ceil(reach) + 100, only_first / discordant, level)
    # From below, by what the power does not fall under with more discordant pairs: that rises.
    floor = np.minimum.accumulate(chances[::-1])[::-1]
    low, high = 0, 1
    while _mean_power(high, discordant, floor) < power:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        enough = _mean_power(middle, discordant, floor) >= power
        low, high = (low, middle) if enough else (middle, high)
    while high > 1 and _mean_power(high - 1, discordant, chances) >= power:
        high -= 1
    return high


def _mcnemar_power(most: int, first: float, level: float) -> NDArray[np.float64]:
    """Return the power of McNemar's exact test with 0 to ``most`` discordant pairs.

    ``first`` is the share of the discordant pairs in which only the first is wrong.
    """
    from scipy.stats import binom

    pairs = np.arange(most + 1)
    # The most that the rarer kind may count: its two-sided p is below 1 - level.
    limit = binom.ppf((1 - level) / 2, pairs, 0.5) - 1
    chances = binom.cdf(limit, pairs, first) + binom.cdf(limit, pairs, 1 - first)
    return np.asarray(chances, dtype=np.float64)


def _mean_power(n: int, discordant: float, chances: NDArray[np.float64]) -> float:
    """Return the power with ``n`` pairs, given that with each number of discordant ones.

    Numbers beyond the last have the last one's.
    """
    from scipy.stats import binom

    number = np.arange(min(n + 1, chances.size))
    within = binom.pmf(number, n, discordant) @ chances[: number.size]
    return float(within + binom.sf(chances.size - 1, n, discordant) * chances[-1])


def parity_size(discordant: float, margin: float, level: float = 0.95, power: float = 0.8) -> int:
    """Return how many pairs show two equal paired shares to be equal up to a margin.

    Two one-sided tests, each at 1 - ``level``, by the normal distribution.

    Parameters
    ----------
    discordant
        Share of the pairs in which one of the two succeeds alone.
    margin
        Largest difference that counts as none.
    level, power
        Of each test, and of both.
    """
    _check_shares(discordant, 0.0)
    reach = special.ndtri(level) + special.ndtri((1 + power) / 2)
    return math.ceil(discordant * (reach / margin) ** 2)


def _check_shares(first: float, second: float) -> None:
    if not (0 <= first <= 1 and 0 <= second <= 1) or first == second:
        raise InputError(f"shares {first} and {second}: give two different shares from 0 to 1")


def _size(null: float, other: float, gap: float, level: float, power: float) -> int:
    quantiles = special.ndtri([0.5 + level / 2, power])
    return math.ceil(((quantiles @ [null, other]) / gap) ** 2)


def detectable_shift(
    n_seeds: int, n_controls: int, n_topologies: int, level: float = 0.95, power: float = 0.8
) -> float | None:
    """Return the smallest shift from its controls that the analysis plan's primary test shows.

    Each seed's two-sided empirical p, (1 + controls beyond) / (1 + controls) twice, are combined
    by Fisher's method; the smallest of Holm's levels, (1 - level) / n_topologies, has to be
    reached. Controls are taken to be normal and every seed shifted alike.

    Parameters
    ----------
    n_seeds, n_controls
        Seeds of a topology, and controls of each.
    n_topologies
        Topologies that the correction is over.
    level, power
        Of the family of tests, and the probability to reject.

    Returns
    -------
    float or None
        In standard deviations of the controls; None if so few controls cannot reject at all.
    """
    draws = stream("plan", "shift", n_seeds).standard_normal((_DRAWS, n_seeds))
    alpha = (1 - level) / n_topologies

    def rejected(shift: float) -> float:
        beyond = n_controls * special.ndtr(-np.abs(draws + shift))
        p = np.minimum(2 * (1 + beyond) / (1 + n_controls), 1.0)
        combined = special.chdtrc(2 * n_seeds, -2 * np.log(p).sum(axis=1))
        # A p that is the level but for rounding does not reject.
        return float(np.mean(combined < alpha * (1 - 1e-9)))

    low, high = 0.0, 40.0
    if rejected(high) < power:
        return None
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if rejected(middle) >= power else (middle, high)
    return high


def effective_size(weights: NDArray[np.float64]) -> float:
    """Return how many equally weighted values have a mean as precise as these."""
    return float(weights.sum() ** 2 / (weights**2).sum())
