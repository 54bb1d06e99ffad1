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
hierarchical          levels, latest first        the last B / 2, and summaries of spans before
uniform               as ctwm                     as ctwm with tau = 0
random                random ranks                as ctwm
graph_ctwm            as graph                    as ctwm: the allocation alone changes
====================  ==========================  =============================================

A slot is one item's text. Everything but ``full_history`` shows at most B slots.
"""

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

import numpy as np

from coretail.controller import ENCODINGS, Encoding, Item, Summary, count_tokens, pack
from coretail.controller.encoding import in_list, item_line
from coretail.controller.packing import SUMMARY_TEXT_TOKENS
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
SLOT_TOKENS = 20
"""Tokens of a slot, where a policy that allocates has a budget of tokens: as many as the longest
lines of natural transitions take, so that a slot holds one transition as under a budget of slots.
"""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a policy may use, and how it writes.

    Attributes
    ----------
    slots
        The budget B in slots; of no meaning to ``full_history``, which has no budget.
    tau
        Allocation exponent of the policies that allocate.
    encoding
        ``compact`` or ``verbose``.
    capacity
        The most transitions that are stored (Algorithm R); None for all. Of no meaning to
        ``full_history`` and to the caches, whose capacity is B.
    tokens
        If given, the budget of a context is this many tokens by
        :func:`coretail.controller.count_tokens` instead, for every policy that has a budget. B
        stays the length of the window and of the levels, and the capacity of the caches, of which
        is shown what fits.
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
        The lines that stand in the prompt; empty for an empty memory, and for a budget of tokens
        that is too small for any line.
    shown
        The transitions whose own text is in it, uncut, in order of their ranks.
    slots
        The slots of each.
    summarised
        The transitions that a summary stands for.
    named
        Those of them that the summary names, uncut, with the count that it gives.
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
        For an unknown policy or encoding, a budget or capacity below 1, or a negative number of
        tokens.
    """
    if settings.encoding not in ENCODINGS:
        raise InputError(
            f"encoding: {settings.encoding!r} is unknown; allowed are {', '.join(ENCODINGS)}"
        )
    if settings.slots < 1:
        raise InputError(f"slots: {settings.slots} is not allowed; allowed are integers from 1")
    if settings.tokens is not None and settings.tokens < 0:
        raise InputError(f"tokens: {settings.tokens} is not allowed; allowed are integers from 0")
    rng = stream(*view.topology.key, "policy memory", replicate)
    store = TransitionStore(view, rng, settings.capacity)
    match name:
        case "full_history":
            return Log(view, settings.encoding)
        case "window":
            return Log(view, settings.encoding, settings.slots, settings.tokens)
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
            return Allocated(view, store, random_ranks(replicate), settings, settings.tau)
        case "graph_ctwm":
            return Allocated(view, store, graph, settings, settings.tau)
    raise InputError(f"policy: {name!r} is unknown; allowed are {', '.join(POLICIES)}")


class Log:
    """The transitions walked, all or the last ``length``, written in the order of time.

    Under a budget of tokens it shows the last of them that fit.
    """

    def __init__(
        self,
        view: WorldView,
        encoding: Encoding,
        length: int | None = None,
        tokens: int | None = None,
    ) -> None:
        self._view = view
        self._encoding = encoding
        self._budget = tokens
        self._events: deque[int] = deque(maxlen=length)
        # A line never changes: writing and counting all of a history anew at each step would take
        # most of the time.
        self._lines: deque[str] = deque(maxlen=length)
        self._tokens: deque[int] = deque(maxlen=length)
        self._support = np.zeros(view.topology.n_edges, np.int64)
        self._last = np.zeros(view.topology.n_edges, np.int64)
        self._clock = 0

    def write(self, edge: int) -> None:
        """Take in the transition that was just walked."""
        if len(self._events) == self._events.maxlen:
            self._support[self._events[0]] -= 1
        line = _dated_line(self._view, self._encoding, edge, self._clock)
        self._events.append(edge)
        self._lines.append(line)
        self._tokens.append(count_tokens(line))
        self._support[edge] += 1
        self._last[edge] = self._clock
        self._clock += 1

    def rank(self, state: int, action: int) -> Ranking:
        """Return the distinct transitions of the log, the latest first."""
        held = np.flatnonzero(self._support)
        edges = held[np.argsort(-self._last[held])]
        last = self._last[edges]
        return Ranking(edges, last.astype(np.float64), self._support[edges], last)

    def pack(self, ranking: Ranking, state: int, action: int) -> Context:
        """Return the log's text."""
        lines = list(self._lines)
        if self._budget is not None:
            lines = _fitting(reversed(lines), self._budget)[::-1]
        n = len(lines)
        return Context(
            "\n".join(lines),
            tuple(islice(reversed(self._events), n)),
            (1,) * n,
            # A line break is one token, and counts of lines add up.
            tokens=sum(islice(reversed(self._tokens), n)) + max(0, n - 1),
        )


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
        settings = self._settings
        lines: Iterable[str] = (self._line(ranking, rank) for rank in range(1, len(ranking) + 1))
        best = list(
            islice(lines, settings.slots)
            if settings.tokens is None
            else _fitting(lines, settings.tokens)
        )
        text = "\n".join(best)
        return Context(
            text,
            tuple(ranking.edges[: len(best)].tolist()),
            (1,) * len(best),
            tokens=count_tokens(text),
        )

    def _line(self, ranking: Ranking, rank: int) -> str:
        encoding = self._settings.encoding
        item = core_item(self._view, ranking, rank, provenance=encoding == "verbose")
        return item_line(encoding, rank, item, item.text, 0)


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
        settings = self._settings
        most = settings.slots if settings.tokens is None else settings.tokens // SLOT_TOKENS
        packed = pack(
            items(self._view, ranking, most, provenance=settings.encoding == "verbose"),
            tau=self._tau,
            slots=settings.slots if settings.tokens is None else None,
            tokens=settings.tokens,
            slot_tokens=SLOT_TOKENS,
            encoding=settings.encoding,
        )
        record = packed.record
        core = record.ranks("core") - 1
        core = core[~record.cut[core]]
        return Context(
            packed.text,
            tuple(ranking.edges[core].tolist()),
            tuple(record.slots[core].tolist()),
            tuple(ranking.edges[record.ranks("tail") - 1].tolist()),
            {} if record.summary is None else self._named(ranking, record.summary),
            record.tokens,
        )

    def _named(self, ranking: Ranking, summary: Summary) -> dict[int, int]:
        """Return the transitions that a summary names in whole, with their counts."""
        named = {self._view.edge(line): count for line, count in summary.dominant}
        named |= {int(ranking.edges[rank - 1]): 1 for rank in summary.rare}
        return {
            edge: count
            for edge, count in named.items()
            # What is longer is cut, and names nothing.
            if count_tokens(in_list(self._view.line(edge))) <= SUMMARY_TEXT_TOKENS
        }


class Hierarchical:
    """The last B / 2 transitions, and one summary for each longer span before them.

    The spans before the last B / 2 transitions are B / 2, B, 2 B, ... long, and the last one takes
    all that is left; a summary names the three transitions that were walked most often in it. With
    B = 1 there is the last transition alone. Under a budget of tokens the oldest levels are left
    out until the text fits.
    """

    _DOMINANT = 3

    def __init__(self, view: WorldView, settings: Settings) -> None:
        self._view = view
        self._settings = settings
        self._events: list[int] = []
        self._support = np.zeros(view.topology.n_edges, np.int64)
        self._last = np.zeros(view.topology.n_edges, np.int64)

    def write(self, edge: int) -> None:
        """Take in the transition that was just walked."""
        self._support[edge] += 1
        self._last[edge] = len(self._events)
        self._events.append(edge)

    def rank(self, state: int, action: int) -> Ranking:
        """Return what the levels name: the recent ones, then those of ever older spans."""
        recent, spans = self._levels()
        order = list(recent)
        for span in spans:
            order += [edge for edge, _ in _dominant(span, self._DOMINANT)]
        edges = np.array(list(dict.fromkeys(order)), np.int64)
        scores = -np.arange(edges.size, dtype=np.float64)
        return Ranking(edges, scores, self._support[edges], self._last[edges])

    def pack(self, ranking: Ranking, state: int, action: int) -> Context:
        """Return the recent transitions' text and the summaries'."""
        recent, spans = self._levels()
        counts = [_dominant(span, self._DOMINANT) for span in spans]
        step = len(self._events)
        lines = [
            _dated_line(self._view, self._settings.encoding, edge, step - age)
            for age, edge in enumerate(recent, start=1)
        ]
        for span, dominant in zip(spans, counts, strict=True):
            listed = ", ".join(f"{self._view.line(edge)} ({count})" for edge, count in dominant)
            noun = "move" if len(span) == 1 else "moves"
            lines.append(f"{len(span)} earlier {noun}, mostly: {listed}")
        if self._settings.tokens is not None:
            lines = _fitting(lines, self._settings.tokens)
        text = "\n".join(reversed(lines))
        shown = recent[: len(lines)]
        n_spans = len(lines) - len(shown)
        named: Counter[int] = Counter()
        for dominant in counts[:n_spans]:
            named.update(dict(dominant))
        summarised = dict.fromkeys(edge for span in spans[:n_spans] for edge in span)
        return Context(
            text,
            tuple(shown),
            (1,) * len(shown),
            tuple(edge for edge in summarised if edge not in shown),
            {edge: count for edge, count in named.items() if edge not in shown},
            count_tokens(text),
        )

    def _levels(self) -> tuple[list[int], list[list[int]]]:
        """Return the recent transitions and the spans before them, each with the latest first."""
        events = self._events[::-1]
        length = max(1, self._settings.slots // 2)
        most = self._settings.slots - length
        recent, rest = events[:length], events[length:]
        spans: list[list[int]] = []
        while rest and len(spans) < most:
            if len(spans) == most - 1:
                length = len(rest)
            spans.append(rest[:length])
            rest = rest[length:]
            length *= 2
        return recent, spans


def items(view: WorldView, ranking: Ranking, core: int, *, provenance: bool) -> list[Item]:
    """Return the transitions of a ranking as the controller packs them.

    Parameters
    ----------
    view
        The world.
    ranking
        The ranking.
    core
        The slots that there are. Slots never rise with rank, so that only the first ``core`` items
        can have any, and only the first half of these more than one and thus evidence.
    provenance
        Whether to give the provenance of these.
    """
    first = [
        core_item(view, ranking, rank, evidence=rank <= core // 2, provenance=provenance)
        for rank in range(1, min(core, len(ranking)) + 1)
    ]
    rest = slice(len(first), None)
    return first + list(
        map(view.item, ranking.edges[rest].tolist(), ranking.support[rest].tolist())
    )


def core_item(
    view: WorldView,
    ranking: Ranking,
    rank: int,
    *,
    evidence: bool = False,
    provenance: bool = False,
) -> Item:
    """Return a transition as the controller packs it among the best.

    Its evidence, in the order in which further slots show it: how often it was walked, where else
    its action led, and what its next state holds. Its provenance, which only the verbose encoding
    shows: the score, how many ranked transitions leave its state, the step of the last walk.

    Parameters
    ----------
    view
        The world.
    ranking
        The ranking.
    rank
        The transition's rank, from 1.
    evidence, provenance
        Whether to give them.
    """
    place = rank - 1
    line = view.line(int(ranking.edges[place]))
    return Item(
        line,
        type=line,
        count=int(ranking.support[place]),
        details=_evidence(view, ranking, place) if evidence else (),
        fields=_provenance(view, ranking, place) if provenance else (),
    )


def _evidence(view: WorldView, ranking: Ranking, place: int) -> tuple[str, ...]:
    edge, count = int(ranking.edges[place]), int(ranking.support[place])
    same = view.matches(ranking.edges, int(view.sources[edge]), int(view.actions[edge]))
    others = ", ".join(
        f"{view.name(int(view.targets[ranking.edges[other]]))} ({ranking.support[other]})"
        for other in np.flatnonzero(same).tolist()
        if other != place
    )
    held = ", ".join(view.entities(int(view.targets[edge])))
    evidence = [f"seen {count} {'time' if count == 1 else 'times'}"]
    if others:
        evidence.append(f"else: {others}")
    if held:
        evidence.append(f"there: {held}")
    return tuple(evidence)


def _provenance(view: WorldView, ranking: Ranking, place: int) -> tuple[tuple[str, str], ...]:
    sources = view.sources[ranking.edges]
    return (
        ("score", f"{ranking.scores[place]:.3g}"),
        ("degree", str(np.count_nonzero(sources == sources[place]))),
        ("source step", str(ranking.last[place])),
    )


def _dated_line(view: WorldView, encoding: Encoding, edge: int, step: int) -> str:
    """Return the line of a transition that was walked at a step."""
    line = view.line(edge)
    return f"({line}, source step {step})" if encoding == "verbose" else line


def _dominant(span: Sequence[int], most: int) -> list[tuple[int, int]]:
    """Return what occurs most often in a span, and how often; of equals what occurs first."""
    return Counter(span).most_common(most)


def _fitting(lines: Iterable[str], tokens: int) -> list[str]:
    """Return the longest run of the first lines that fit into ``tokens`` together."""
    kept: list[str] = []
    # Behind the last line there is no line break.
    left = tokens + 1
    for line in lines:
        left -= count_tokens(f"{line}\n")
        if left < 0:
            break
        kept.append(line)
    return kept
