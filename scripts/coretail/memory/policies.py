"""Memory policies behind one protocol: write, rank, pack (paper, Sections 4 and 5.4).

====================  ==========================  =============================================
policy                ranks by                    shows
====================  ==========================  =============================================
full_history          recency                     every transition walked, in order
flat                  words shared with the query the best B, one slot each
graph                 episodic and semantic layer the best B, one slot each
ctwm                  relevance, then support     slots B * b(r; tau), and a tail summary
window                recency                     the last B transitions walked, in order
frequency             support                     a least-frequently-used cache of B
recency               recency                     a least-recently-used cache of B
hierarchical          recency                     the last B / 2, and summaries of spans before
uniform               as ctwm                     as ctwm with tau = 0
random                random ranks                as ctwm
graph_ctwm            as graph                    as ctwm: the allocation alone changes
====================  ==========================  =============================================

A slot is one item's text. Everything but ``full_history`` shows at most B slots.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from coretail.controller import Item, allocate, count_tokens, integer_slots, pack
from coretail.errors import InputError
from coretail.memory.rankings import (
    Ranker,
    Ranking,
    core_tail,
    flat,
    frequency,
    graph,
    random_ranks,
    recency,
)
from coretail.memory.store import TransitionStore
from coretail.memory.view import WorldView
from coretail.streams import stream

Encoding = Literal["compact", "verbose"]

POLICIES: tuple[str, ...] = (
    "full_history",
    "flat",
    "graph",
    "ctwm",
    "window",
    "frequency",
    "recency",
    "hierarchical",
    "uniform",
    "random",
    "graph_ctwm",
)
ENCODINGS: tuple[str, ...] = ("compact", "verbose")
MAX_DETAILS = 3
"""Pieces of evidence that an item can show."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a policy may use, and how it writes.

    Attributes
    ----------
    slots
        The budget B in slots; of no meaning to ``full_history``.
    tau
        Allocation exponent of the policies that allocate.
    encoding
        ``compact`` or ``verbose``.
    capacity
        The most transitions that are stored (Algorithm R); None for all. Of no meaning to
        ``full_history`` and to the caches, whose capacity is B.
    tokens
        If given, the budget is this many tokens by :func:`coretail.controller.count_tokens`
        instead, for every policy.
    """

    slots: int = 8
    tau: float = 1.0
    encoding: Encoding = "compact"
    capacity: int | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """What a policy shows of its memory.

    Attributes
    ----------
    text
        The lines that stand in the prompt; empty for an empty memory.
    shown
        The transitions whose own text is in it, in order of their ranks.
    slots
        The slots of each.
    summarised
        The transitions that a summary stands for.
    named
        Those of them that the summary names, with the count that it gives.
    tokens
        Length of the text by the local counter.
    """

    text: str
    shown: tuple[int, ...] = ()
    slots: tuple[int, ...] = ()
    summarised: tuple[int, ...] = ()
    named: dict[int, int] = field(default_factory=dict)
    tokens: int = 0


class Policy(Protocol):
    """A memory: what it keeps, in which order it offers it, and what it shows of it."""

    def write(self, edge: int) -> None:
        """Take in the transition that was just walked."""
        ...

    def rank(self, state: int, action: int) -> Ranking:
        """Return what the memory can name, best first."""
        ...

    def pack(self, ranking: Ranking, state: int, action: int) -> Context:
        """Return what it shows for a state and an action."""
        ...


def make_policy(name: str, view: WorldView, settings: Settings, replicate: int = 0) -> Policy:
    """Return an empty memory.

    Parameters
    ----------
    name
        One of :data:`POLICIES`.
    view
        The world.
    settings
        Budget, exponent and encoding.
    replicate
        Distinguishes independent memories in one world.

    Raises
    ------
    InputError
        For an unknown policy or encoding, or a budget below 1.
    """
    if settings.encoding not in ENCODINGS:
        raise InputError(
            f"encoding: {settings.encoding!r} is unknown; allowed are {', '.join(ENCODINGS)}"
        )
    if settings.slots < 1:
        raise InputError(f"slots: {settings.slots} is not allowed; allowed are integers from 1")
    rng = stream(*view.topology.key, "policy memory", replicate)
    store = TransitionStore(view, rng, settings.capacity)
    match name:
        case "full_history":
            return Log(view, None, settings)
        case "window":
            return Log(view, settings.slots, settings)
        case "flat":
            return Ranked(view, store, flat, settings)
        case "graph":
            return Ranked(view, store, graph, settings)
        case "recency":
            return Ranked(view, store, recency, settings, keep=settings.slots)
        case "frequency":
            cache = TransitionStore(view, rng, settings.slots, "least_frequent")
            return Ranked(view, cache, frequency, settings)
        case "hierarchical":
            return Hierarchical(view, settings)
        case "ctwm":
            return Allocated(view, store, core_tail, settings, settings.tau)
        case "uniform":
            return Allocated(view, store, core_tail, settings, 0.0)
        case "random":
            return Allocated(view, store, random_ranks, settings, settings.tau)
        case "graph_ctwm":
            return Allocated(view, store, graph, settings, settings.tau)
    raise InputError(f"policy: {name!r} is unknown; allowed are {', '.join(POLICIES)}")


class Log:
    """The transitions walked, all or the last ``length``, written in the order of time."""

    def __init__(self, view: WorldView, length: int | None, settings: Settings) -> None:
        self._view = view
        self._settings = settings
        self._events: deque[int] = deque(maxlen=length)
        self._clock = 0
        self._support: dict[int, int] = {}
        self._last: dict[int, int] = {}

    def write(self, edge: int) -> None:
        """Take in the transition that was just walked."""
        if len(self._events) == self._events.maxlen:
            oldest = self._events[0]
            self._support[oldest] -= 1
            if not self._support[oldest]:
                del self._support[oldest], self._last[oldest]
        self._events.append(edge)
        self._support[edge] = self._support.get(edge, 0) + 1
        self._last[edge] = self._clock
        self._clock += 1

    def rank(self, state: int, action: int) -> Ranking:
        """Return the distinct transitions of the log, the latest first."""
        edges = sorted(self._last, key=self._last.__getitem__, reverse=True)
        last = np.array([self._last[edge] for edge in edges], np.int64)
        return Ranking(
            edges=np.array(edges, np.int64),
            scores=last.astype(np.float64),
            support=np.array([self._support[edge] for edge in edges], np.int64),
            last=last,
        )

    def pack(self, ranking: Ranking, state: int, action: int) -> Context:
        """Return the log's text."""
        events = list(self._events)
        if self._settings.tokens is not None and self._events.maxlen is not None:
            events = _fitting(self._view, events[::-1], self._settings.tokens)[::-1]
        verbose = self._settings.encoding == "verbose"
        begin = self._clock - len(events)
        lines = [
            f"({self._view.line(edge)}, source step {begin + place})"
            if verbose
            else self._view.line(edge)
            for place, edge in enumerate(events)
        ]
        shown = tuple(reversed(events))
        # Line by line, since the whole of a long history would be counted anew at every step.
        tokens = sum(self._view.tokens(line) for line in lines) + max(0, len(lines) - 1)
        return Context("\n".join(lines), shown, (1,) * len(shown), tokens=tokens)


class Ranked:
    """The best B of a ranking, one slot each; of a cache, whatever it holds."""

    def __init__(
        self,
        view: WorldView,
        store: TransitionStore,
        ranker: Ranker,
        settings: Settings,
        keep: int | None = None,
    ) -> None:
        self._view = view
        self._store = store
        self._ranker = ranker
        self._settings = settings
        self._keep = keep

    def write(self, edge: int) -> None:
        """Take in the transition that was just walked."""
        self._store.write(edge)

    def rank(self, state: int, action: int) -> Ranking:
        """Return what the memory can name, best first."""
        ranking = self._ranker(self._store, self._view, state, action)
        if self._keep is None:
            return ranking
        best = slice(self._keep)
        return Ranking(
            ranking.edges[best], ranking.scores[best], ranking.support[best], ranking.last[best]
        )

    def pack(self, ranking: Ranking, state: int, action: int) -> Context:
        """Return the best items' text."""
        if self._settings.tokens is None:
            best = ranking.edges[: self._settings.slots].tolist()
        else:
            best = _fitting(self._view, ranking.edges.tolist(), self._settings.tokens)
        if not best:
            return Context("")
        packed = pack(
            items(self._view, ranking, [1] * len(best)),
            tau=0.0,
            slots=len(best),
            encoding=self._settings.encoding,
            summary=False,
        )
        return Context(packed.text, tuple(best), (1,) * len(best), tokens=count_tokens(packed.text))


class Allocated:
    """Slots by rank, B * b(r; tau), and a summary of the tail (Definition A.1)."""

    def __init__(
        self,
        view: WorldView,
        store: TransitionStore,
        ranker: Ranker,
        settings: Settings,
        tau: float,
    ) -> None:
        self._view = view
        self._store = store
        self._ranker = ranker
        self._settings = settings
        self._tau = tau

    def write(self, edge: int) -> None:
        """Take in the transition that was just walked."""
        self._store.write(edge)

    def rank(self, state: int, action: int) -> Ranking:
        """Return what the memory can name, best first."""
        return self._ranker(self._store, self._view, state, action)

    def pack(self, ranking: Ranking, state: int, action: int) -> Context:
        """Return the core's text and the tail's summary."""
        if not len(ranking):
            return Context("")
        settings = self._settings
        n = len(ranking)
        # Under a budget of tokens the slots follow only from the lines.
        slots = (
            integer_slots(allocate(n, self._tau), settings.slots)
            if settings.tokens is None
            else np.full(n, MAX_DETAILS + 1)
        )
        packed = pack(
            items(
                self._view,
                ranking,
                slots[: settings.slots if settings.tokens is None else None].tolist(),
                rest=True,
            ),
            tau=self._tau,
            slots=settings.slots if settings.tokens is None else None,
            tokens=settings.tokens,
            encoding=settings.encoding,
        )
        edges = ranking.edges.tolist()
        core = packed.record.ranks("core") - 1
        summary = packed.record.summary
        named = {}
        if summary is not None:
            by_line = {self._view.line(edge): edge for edge in edges}
            named = {by_line[line]: count for line, count in summary.dominant}
            named |= {edges[rank - 1]: 1 for rank in summary.rare}
        return Context(
            packed.text,
            tuple(ranking.edges[core].tolist()),
            tuple(packed.record.slots[core].tolist()),
            tuple(ranking.edges[packed.record.ranks("tail") - 1].tolist()),
            # A name too long for the summary is cut there, and names nothing.
            {edge: count for edge, count in named.items() if self._view.line(edge) in packed.text},
            packed.record.tokens,
        )


class Hierarchical:
    """The last B / 2 transitions, and one summary for each longer span before them.

    The spans before the last B / 2 transitions are B / 2, B, 2 B, ... long, and the last one takes
    all that is left; a summary names the three transitions that were walked most often in it.
    """

    _DOMINANT = 3

    def __init__(self, view: WorldView, settings: Settings) -> None:
        self._view = view
        self._settings = settings
        self._events: list[int] = []

    def write(self, edge: int) -> None:
        """Take in the transition that was just walked."""
        self._events.append(edge)

    def rank(self, state: int, action: int) -> Ranking:
        """Return what the levels name: the recent ones, then those of ever older spans."""
        recent, spans = self._levels()
        order = list(dict.fromkeys(reversed(recent)))
        for span in spans:
            order += [edge for edge, _ in _dominant(span, self._DOMINANT) if edge not in order]
        last = {edge: step for step, edge in enumerate(self._events)}
        support = np.array([self._events.count(edge) for edge in order], np.int64)
        return Ranking(
            edges=np.array(order, np.int64),
            scores=-np.arange(len(order), dtype=np.float64),
            support=support,
            last=np.array([last[edge] for edge in order], np.int64),
        )

    def pack(self, ranking: Ranking, state: int, action: int) -> Context:
        """Return the recent transitions' text and the summaries'."""
        recent, spans = self._levels()
        lines: list[str] = []
        named: dict[int, int] = {}
        summarised = dict.fromkeys(edge for span in spans for edge in span)
        for span in reversed(spans):
            dominant = _dominant(span, self._DOMINANT)
            listed = ", ".join(f"{self._view.line(edge)} ({count})" for edge, count in dominant)
            lines.append(f"{len(span)} earlier moves, mostly: {listed}")
            for edge, count in dominant:
                named[edge] = named.get(edge, 0) + count
        lines += [self._view.line(edge) for edge in recent]
        text = "\n".join(lines)
        shown = tuple(reversed(recent))
        return Context(
            text,
            shown,
            (1,) * len(shown),
            tuple(edge for edge in summarised if edge not in shown),
            {edge: count for edge, count in named.items() if edge not in shown},
            count_tokens(text),
        )

    def _levels(self) -> tuple[list[int], list[list[int]]]:
        """Return the recent transitions, in order, and the spans before, the latest first."""
        length = max(1, self._settings.slots // 2)
        recent, rest = self._events[-length:], self._events[:-length]
        spans: list[list[int]] = []
        most = self._settings.slots - length
        while rest and len(spans) < most:
            if len(spans) == most - 1:
                length = len(rest)
            spans.append(rest[-length:])
            rest = rest[:-length]
            length *= 2
        return recent, spans


def items(
    view: WorldView, ranking: Ranking, slots: Sequence[int], *, rest: bool = False
) -> list[Item]:
    """Return the first transitions of a ranking as the controller packs them.

    An item's evidence, in the order in which further slots show it: how often it was walked,
    where else its action led, and what its next state holds. Its provenance, for the verbose
    encoding: the score, how many stored transitions leave its state, the step of the last walk.

    Parameters
    ----------
    view
        The world.
    ranking
        The ranking.
    slots
        The slots that each of the first items can have: evidence is made for more than one.
    rest
        Whether to add the items behind them, which have no slots and so need no evidence.
    """
    sources = view.sources[ranking.edges]
    degrees = np.bincount(sources, minlength=1)
    edges, support = ranking.edges.tolist(), ranking.support.tolist()
    made = []
    for place, allowed in enumerate(slots):
        line = view.line(edges[place])
        made.append(
            Item(
                line,
                type=line,
                count=support[place],
                details=_evidence(view, ranking, place) if allowed > 1 else (),
                fields=(
                    ("score", f"{ranking.scores[place]:.3g}"),
                    ("degree", str(degrees[sources[place]])),
                    ("source step", str(ranking.last[place])),
                ),
            )
        )
    if rest:
        made += map(view.item, edges[len(made) :], support[len(made) :])
    return made


def _evidence(view: WorldView, ranking: Ranking, place: int) -> tuple[str, ...]:
    edge = int(ranking.edges[place])
    count = int(ranking.support[place])
    same = (view.sources[ranking.edges] == view.sources[edge]) & (
        view.actions[ranking.edges] == view.actions[edge]
    )
    others = [other for other in np.flatnonzero(same).tolist() if other != place]
    target = int(view.targets[edge])
    evidence = [f"seen {count} {'time' if count == 1 else 'times'}"]
    if others:
        listed = ", ".join(
            f"{view.name(int(view.targets[ranking.edges[other]]))} ({ranking.support[other]})"
            for other in others
        )
        evidence.append(f"else: {listed}")
    held = ", ".join(view.entities(target))
    if held:
        evidence.append(f"there: {held}")
    return tuple(evidence)


def _dominant(span: Sequence[int], most: int) -> list[tuple[int, int]]:
    """Return the transitions that occur most often in a span, the latest first among equals."""
    counts: dict[int, int] = {}
    for edge in reversed(span):
        counts[edge] = counts.get(edge, 0) + 1
    return sorted(counts.items(), key=lambda pair: -pair[1])[:most]


def _fitting(view: WorldView, edges: list[int], tokens: int) -> list[int]:
    """Return the longest run of the first edges whose lines fit into ``tokens``."""
    left = tokens
    for place, edge in enumerate(edges):
        left -= view.tokens(f"{place + 1}. {view.line(edge)}") + 1
        if left < 0:
            return edges[:place]
    return edges
