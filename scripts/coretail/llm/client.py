"""The one client: completions from recordings, an embedded model or an endpoint.

A completion that is already known, from a recording or from the run's own journal, is never asked
for again. One that is not is asked for within the budget, with bounded retries, and is on the disk
before it is handed out.
"""

import logging
import random
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from coretail.errors import InputError
from coretail.llm.budget import Budget, Counters, Ledger, Spending, spending, worst_case
from coretail.llm.embedded import SAMPLING, EmbeddedServer
from coretail.llm.endpoint import Answer, Endpoint, EndpointError, TransientError
from coretail.llm.journal import Journal, Record
from coretail.llm.models import EmbeddedModel, Model
from coretail.llm.recordings import read_recordings, why_missing
from coretail.llm.registry import registered
from coretail.llm.request import Completion, Request
from coretail.llm.weights import Report, obtain, print_report, sha256_of

Backend = Literal["auto", "recorded", "embedded", "api"]
ReplyStatus = Literal["usable", "unusable", "refusal", "content_filter"]

_LOG = logging.getLogger(__name__)
# A reply of an embedded model on a busy machine may take minutes; there is nobody to blame for it.
_EMBEDDED_SECONDS = 1800.0


class RecordingMiss(InputError):  # noqa: N818 - the name of what happened
    """``backend: recorded`` was asked for a completion that was not recorded."""


class CallFailed(InputError):  # noqa: N818 - the name of what happened
    """A model gave no answer at all, so there is neither a choice nor a score."""


@dataclass(frozen=True, slots=True)
class Retry:
    """How often and how patiently a failed request is sent again.

    Attributes
    ----------
    attempts
        Most times that a request is sent.
    first
        Seconds of the first pause; each further one is twice as long. The pause taken is uniform
        between half of it and the whole.
    longest
        Seconds that no pause of the client's own exceeds.
    patience
        Seconds that an endpoint may ask to wait; where it asks for more, the request fails.
    """

    attempts: int = 6
    first: float = 0.5
    longest: float = 30.0
    patience: float = 120.0

    def pause(self, failures: int, asked: float | None, jitter: float) -> float:
        """Return the seconds to wait after ``failures`` failed attempts.

        Parameters
        ----------
        failures
            Attempts that failed so far, at least 1.
        asked
            Seconds that the endpoint asked for; None where it did not.
        jitter
            A uniform random number in [0, 1).
        """
        own = min(self.first * 2.0 ** (failures - 1), self.longest) * (0.5 + 0.5 * jitter)
        if asked is None:
            return own
        # Never earlier than asked, and parallel jobs that were asked the same do not come at once.
        return max(own, asked + jitter * self.first)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several options, as a model chose it.

    Attributes
    ----------
    position
        Which option; None if no reply named one.
    replies
        What became of each completion that was asked for, in order: ``usable``, ``unusable`` (it
        names no option), or why there was none (``refusal``, ``content_filter``).
    completions
        The completions themselves.
    """

    position: int | None
    replies: tuple[ReplyStatus, ...]
    completions: tuple[Completion, ...]

    @property
    def prompt_tokens(self) -> int:
        """Prompt tokens of all completions, as reported."""
        return sum(completion.prompt_tokens for completion in self.completions)

    @property
    def completion_tokens(self) -> int:
        """Completion tokens of all completions, as reported."""
        return sum(completion.completion_tokens for completion in self.completions)


class Client:
    """Completions of one model for one run.

    Use it as a context manager, from one thread.

    Parameters
    ----------
    model
        The model; its kind decides whether a live call goes to this process or to an endpoint.
    backend
        ``recorded`` replays recordings, and a miss is an error. ``auto`` replays recordings and
        asks the model for what they do not hold. ``api`` does the same and insists on an endpoint.
        ``embedded`` insists on an embedded model and does not look into recordings, so that a
        recorded run can be compared with a live one. All but ``recorded`` go on from their journal.
    journal
        File of the run's own journal; None to keep nothing.
    recordings
        Files or directories of recordings.
    budget
        Bounds on live calls.
    ledger
        File that counts what has been spent, shared by all runs under one budget; None to count
        for this client alone.
    retry
        How failed requests are sent again.
    cache
        Directory of weights; None for the user cache.
    report
        Is given lines of text while weights are fetched.
    sleep, jitter
        Pausing, and the random numbers that spread pauses; neither touches results.

    Attributes
    ----------
    counters
        What the client did so far.

    Raises
    ------
    InputError
        The backend does not fit the model, or a file cannot be used.
    """

    def __init__(
        self,
        model: Model,
        backend: Backend = "auto",
        *,
        journal: Path | None = None,
        recordings: Iterable[Path] = (),
        budget: Budget | None = None,
        ledger: Path | None = None,
        retry: Retry | None = None,
        cache: Path | None = None,
        report: Report = print_report,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        _check_backend(model, backend)
        self.counters = Counters()
        self._model = model
        self._backend = backend
        self._budget = budget or Budget()
        self._ledger = Ledger(ledger)
        self._retry = retry or Retry()
        self._cache = cache
        self._report = report
        self._sleep = sleep
        self._jitter = jitter
        self._identity = model.identity(cache)
        self._label = model.label(cache)
        self._parameters = _parameters(model)
        self._where = [] if backend == "embedded" else list(recordings)
        self._recorded = read_recordings(self._where)
        self._asked: dict[str, Record] = {}
        self._journal_path = journal
        self._journal: Journal | None = None
        self._endpoint: Endpoint | None = None
        self._closing = ExitStack()

    def __repr__(self) -> str:
        return f"Client({self._model.name}, backend={self._backend})"

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the journal and the connection, and stop an embedded server."""
        self._closing.close()
        self._journal = None
        self._endpoint = None

    def complete(self, request: Request, context: str = "") -> Completion:
        """Return the completion of ``request``.

        Parameters
        ----------
        request
            What is asked.
        context
            Names the rule, the cell and the step, for the message of a miss.

        Returns
        -------
        Completion
            With status ``ok``, or with the failure that the run has to account for. Failures are
            not kept: the same request is asked again when the run is repeated.

        Raises
        ------
        RecordingMiss
            The backend is ``recorded`` and the request was not recorded.
        BudgetSpent
            The call could exceed the budget.
        EndpointError
            The endpoint cannot or will not serve the run.
        InputError
            The weights cannot be had or loaded; the key's variable is not set.
        """
        key = request.key(self._identity, self._parameters)
        if key in self._recorded:
            self.counters.hits += 1
            return self._recorded[key].completion("recording")
        if self._backend == "recorded":
            raise self._miss(key, request, context)
        if self._journal is None and self._journal_path is not None:
            # Not before the first miss: a run that is recorded whole touches no journal.
            self._journal = self._closing.enter_context(Journal(self._journal_path))
            self._asked.update((record.request, record) for record in self._journal.records)
        if key in self._asked:
            self.counters.hits += 1
            return self._asked[key].completion("journal")
        self.counters.misses += 1
        answer = self._ask(request)
        if answer.status != "ok":
            self.counters.failures[answer.status] += 1
            _LOG.warning("%s: %s: %s", context or key[:12], answer.status, answer.error)
            return _failure(key, answer)
        record = Record(
            request=key,
            model=self._model.name,
            identity=self._label,
            template=request.template,
            reply=answer.text,
            finish_reason=answer.finish_reason,
            prompt_tokens=answer.prompt_tokens,
            cached_tokens=answer.cached_tokens,
            completion_tokens=answer.completion_tokens,
        )
        if self._journal is not None:
            self._journal.append(record)
        self._asked[key] = record
        return record.completion("live")

    def answer(self, request: Request, context: str = "") -> Completion:
        """Return the completion of ``request``, or raise if there is none after all retries.

        Parameters
        ----------
        request, context
            As in :meth:`complete`.

        Raises
        ------
        CallFailed
            There was no answer after all retries.
        InputError
            As :meth:`complete`.
        """
        completion = self.complete(request, context)
        if completion.status == "failed":
            raise CallFailed(
                f"{context or request.template or 'a call'}: {completion.error}. Run again: what "
                "was answered is not asked again."
            )
        return completion

    def choose(
        self,
        request: Request,
        parse: Callable[[str], int | None],
        context: str = "",
        attempts: int = 2,
    ) -> Choice:
        """Return which option the model names in its reply to ``request``.

        An unusable reply, a refusal or a filtered reply is followed by the next replicate.

        Parameters
        ----------
        request
            What is asked; its schema would usually allow the options alone.
        parse
            Returns the position of the option that a reply names; None if it names none.
        context
            As in :meth:`complete`.
        attempts
            Most replicates that are asked for.

        Raises
        ------
        CallFailed
            There was no answer after all retries.
        InputError
            As :meth:`complete`.
        """
        if attempts < 1:
            raise ValueError(f"attempts must be at least 1, got {attempts}")
        position: int | None = None
        replies: list[ReplyStatus] = []
        completions: list[Completion] = []
        while position is None and len(replies) < attempts:
            completion = self.answer(request, context)
            completions.append(completion)
            if completion.status == "ok":
                position = parse(completion.text)
                replies.append("unusable" if position is None else "usable")
            elif completion.status != "failed":
                replies.append(completion.status)
            request = request.again()
        return Choice(position, tuple(replies), tuple(completions))

    def _miss(self, key: str, request: Request, context: str) -> RecordingMiss:
        where = ", ".join(map(str, self._where)) or "no recordings"
        reason = why_missing(
            self._recorded.values(),
            self._model.name,
            self._label,
            request.template,
            f"the recordings ({where})",
        )
        return RecordingMiss(
            f"backend: recorded: {context or 'a call'}: no recorded completion of "
            f"{self._model.name} for template {request.template!r}, request {key[:12]}. {reason} "
            "Record it: snakemake record --cores N; or set `backend: auto` to ask the model."
        )

    def _ask(self, request: Request) -> Answer:
        """Ask the model, within the budget and with retries."""
        prices = self._model.prices
        most = worst_case(request, prices)
        for attempt in range(1, self._retry.attempts + 1):
            self._ledger.reserve(most, self._budget)
            used = Spending()
            try:
                endpoint = self._connected()
                self.counters.calls += 1
                used = most
                begun = time.perf_counter()
                try:
                    answer = endpoint.ask(request)
                finally:
                    self.counters.waiting += time.perf_counter() - begun
                if answer.metered:
                    used = self._account(answer)
                return answer
            except TransientError as error:
                if not error.charged:
                    used = Spending(calls=1)
                failure, wait = str(error), error.wait
            except EndpointError:
                used = Spending(calls=1)
                raise
            finally:
                self._ledger.settle(most, used)
            if wait is not None and wait > self._retry.patience:
                return Answer(
                    "failed", error=f"{failure} (and asks to wait {wait:.0f} s; run again then)"
                )
            if attempt < self._retry.attempts:
                pause = self._retry.pause(attempt, wait, self._jitter())
                _LOG.info("%s; trying again in %.1f s", failure, pause)
                self.counters.retries += 1
                self._sleep(pause)
                self.counters.waiting += pause
        return Answer("failed", error=f"{failure} (given up after {attempt} attempts)")

    def _account(self, answer: Answer) -> Spending:
        counters = self.counters
        counters.prompt_tokens += answer.prompt_tokens
        counters.cached_tokens += answer.cached_tokens
        counters.completion_tokens += answer.completion_tokens
        used = spending(
            self._model.prices,
            answer.prompt_tokens,
            answer.cached_tokens,
            answer.completion_tokens,
        )
        counters.money += used.money
        return used

    def _connected(self) -> Endpoint:
        """Return the live side's connection; the first call opens it, an embedded server too."""
        if self._endpoint is None:
            self._endpoint = self._closing.enter_context(self._connect())
        return self._endpoint

    def _connect(self) -> Endpoint:
        model = self._model
        if isinstance(model, EmbeddedModel):
            server = self._closing.enter_context(self._serve(model))
            return Endpoint(
                model.name,
                server.base_url,
                server.key,
                structured="json_schema",
                timeout=_EMBEDDED_SECONDS,
                proxies=False,
            )
        return Endpoint(
            model.name,
            model.address,
            model.key(),
            key_hint=f"the environment variable {model.key_env}" if model.key_env else "`key_env:`",
            query=model.query,
            structured=model.structured,
            token_limit=model.token_limit,
            extra=model.extra,
            omit=model.omit,
            timeout=model.timeout,
        )

    def _serve(self, model: EmbeddedModel) -> EmbeddedServer:
        if model.weights is None:
            path = obtain(registered(model.name), self._cache, self._report)
        else:
            path = model.weights
            if sha256_of(path, self._cache) != self._identity["weights"]:
                raise InputError(
                    f"weights: {path}: the file changed while the run was going on. Run again."
                )
        return EmbeddedServer(path, model.context_tokens, model.threads)


def _check_backend(model: Model, backend: Backend) -> None:
    if backend not in ("auto", "recorded", "embedded", "api"):
        raise InputError(
            f"backend: {backend!r} is none of auto, recorded, embedded, api. Choose one of these."
        )
    embedded = isinstance(model, EmbeddedModel)
    if backend == "embedded" and not embedded:
        raise InputError(
            f"models: {model.name}: has a `base_url:`, but `backend: embedded` runs models in this "
            "process. Set `backend: api` or `auto`, or take the model's `base_url:` away."
        )
    if backend == "api" and embedded:
        raise InputError(
            f"models: {model.name}: has no `base_url:`, which `backend: api` needs. Give the "
            "endpoint's address, or set `backend: embedded` or `auto`."
        )


def _parameters(model: Model) -> dict[str, Any]:
    """Return what the client sends beside the request and what changes the output."""
    if isinstance(model, EmbeddedModel):
        return dict(SAMPLING)
    return {
        "extra": dict(model.extra),
        "omit": sorted(model.omit),
        "constrained": model.structured != "none",
    }


def _failure(key: str, answer: Answer) -> Completion:
    return Completion(
        key=key,
        status=answer.status,
        text="",
        finish_reason=answer.finish_reason,
        prompt_tokens=answer.prompt_tokens,
        cached_tokens=answer.cached_tokens,
        completion_tokens=answer.completion_tokens,
        source="live",
        error=answer.error,
    )
