"""What an agent remembers of its episode: what was seen, done and seen next, ranked and shown.

An item is a transition ``observation -> command -> next observation``; one that recurs gains
support. The query is what is observed now: its *things* (``drawer 2``), and its *kinds*, which are
those of the things (``drawer``) and the words of the task.

=========  ==============================================  ====================================
policy     ranks by                                        shows
=========  ==============================================  ====================================
``graph``  an episodic layer (transitions that mention a   the best B, one slot each
           thing, the latest first) and a semantic one
           (those that share a kind, the most shared
           first), fused by reciprocal rank
``ctwm``   relevance, then support; relevance adds 4 for   slots B * b(r; tau), and a tail
           the same observation, 2 for a command that      summary
           names a thing, 1 for a shared kind
=========  ==============================================  ====================================

These are the rankings of :mod:`coretail.memory.rankings`, carried over from states and actions to
texts; ties go to the transition made last. Both show what they rank through one controller
(:mod:`coretail.controller`), in the same two encodings.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from coretail.controller import ENCODINGS, Encoding, Item, count_tokens, pack
from coretail.controller.encoding import CUT_MARK, item_line
from coretail.errors import InputError

MAX_WORDS = 30
"""Words of a next observation that an item keeps: an arrival and some six things seen there."""

_FUSION = 60  # as in coretail.memory.rankings
_THING = re.compile(r"[a-z]+ \d+")
_WORD = re.compile(r"[a-z]+")
_NUMBER = re.compile(r" \d+\b")
_SENTENCE = re.compile(r".*?[.!?](?= |$)")
_ARROW = "->"


class Transition(NamedTuple):
    """A step of an episode, in the game's words."""

    observation: str
    command: str
    next_observation: str


@dataclass(frozen=True, slots=True)
class Shown:
    """What a memory shows.

    Attributes
    ----------
    text
        The lines that stand in the prompt; empty for an empty memory.
    held
        Distinct transitions in the memory.
    shown
        Those of them with a line of their own; a tail summary stands for the others, if there is
        one.
    tokens
        Length of the text by the local counter.
    """

    text: str
    held: int
    shown: int
    tokens: int


class Memory:
    """The transitions of one episode, none forgotten, and what is shown of them.

    Parameters
    ----------
    policy
        One of :data:`POLICIES`.
    slots
        The budget B of what is shown, in slots; a slot is one item's text.
    tau
        Allocation exponent of ``ctwm``.
    encoding
        ``compact`` or ``verbose``.

    Raises
    ------
    InputError
        For an unknown policy or encoding, or a budget below 1.
    """

    def __init__(
        self, policy: str, *, slots: int = 8, tau: float = 1.0, encoding: Encoding = "compact"
    ) -> None:
        for key, value, allowed in (
            ("policy", policy, POLICIES),
            ("encoding", encoding, ENCODINGS),
        ):
            if value not in allowed:
                raise InputError(f"{key}: {value!r} is unknown; allowed are {', '.join(allowed)}")
        if slots < 1:
            raise InputError(f"slots: {slots} is not allowed; allowed are integers from 1")
        self._rank = _RANKERS[policy]
        self._allocates = policy == "ctwm"
        self._slots = slots
        self._tau = tau
        self._encoding = encoding
        self._traces: dict[Transition, _Trace] = {}
        self._clock = 0

    def write(self, transition: Transition) -> None:
        """Take in a step that was just made."""
        key = Transition(*map(one_line, transition))
        trace = self._traces.setdefault(key, _Trace.of(key))
        trace.count += 1
        trace.last = self._clock
        self._clock += 1

    def show(self, observation: str, task: str) -> Shown:
        """Return what is shown to an agent that observes something now.

        Parameters
        ----------
        observation
            The game's words.
        task
            The task in words.
        """
        ranking = self._rank(list(self._traces.values()), _Query.of(observation, task))
        items = [self._item(ranking, place) for place in range(len(ranking))]
        if self._allocates:
            packed = pack(items, tau=self._tau, slots=self._slots, encoding=self._encoding)
            shown = len(packed.record.ranks("core"))
            return Shown(packed.text, len(items), shown, packed.record.tokens)
        best = items[: self._slots]
        text = "\n".join(
            item_line(self._encoding, rank, item, item.text, 0)
            for rank, item in enumerate(best, start=1)
        )
        return Shown(text, len(items), len(best), count_tokens(text))

    def _item(self, ranking: Sequence["_Ranked"], place: int) -> Item:
        """Return a transition as the controller packs it.

        The tail summary counts it under its command without the numbers (``open drawer``).
        Further slots show how often it was made and where else its command led from the same
        observation; the verbose encoding alone shows its score, how many ranked transitions share
        its observation, and when it was made last.
        """
        score, trace = ranking[place]
        key = trace.transition
        others = [
            f"{_first_sentence(other.transition.next_observation)} ({other.count})"
            for _, other in ranking
            if other is not trace and other.transition[:2] == key[:2]
        ]
        alike = sum(other.transition.observation == key.observation for _, other in ranking)
        details = [f"seen {trace.count} {'time' if trace.count == 1 else 'times'}"]
        if others:
            details.append(f"else: {' '.join(others)}")
        return Item(
            trace.line,
            type=_NUMBER.sub("", key.command) or key.command,
            count=trace.count,
            details=tuple(details),
            fields=(
                ("score", f"{score:.3g}"),
                ("degree", str(alike)),
                ("source step", str(trace.last)),
            ),
        )


@dataclass(slots=True)
class _Trace:
    """A transition in the memory."""

    transition: Transition
    line: str
    things: frozenset[str]
    handled: frozenset[str]
    kinds: frozenset[str]
    count: int = 0
    last: int = -1

    @classmethod
    def of(cls, transition: Transition) -> "_Trace":
        things = things_of(" ".join(transition))
        return cls(
            transition=transition,
            line=transition_line(transition),
            things=things,
            handled=things_of(transition.command),
            kinds=_kinds(things),
        )


@dataclass(frozen=True, slots=True)
class _Query:
    observation: str
    things: frozenset[str]
    kinds: frozenset[str]

    @classmethod
    def of(cls, observation: str, task: str) -> "_Query":
        things = things_of(observation)
        return cls(one_line(observation), things, _kinds(things) | set(_WORD.findall(task.lower())))


_Ranked = tuple[float, _Trace]


def _graph(traces: Sequence[_Trace], query: _Query) -> list[_Ranked]:
    def shared(trace: _Trace) -> int:
        return len(trace.kinds & query.kinds)

    episodic = [trace for trace in traces if trace.things & query.things]
    episodic.sort(key=lambda trace: -trace.last)
    semantic = [trace for trace in traces if shared(trace)]
    semantic.sort(key=lambda trace: (-shared(trace), -trace.last))
    # No two transitions were made last at the same step.
    scores = {trace.last: 0.0 for trace in traces}
    for layer in (episodic, semantic):
        for rank, trace in enumerate(layer, start=1):
            scores[trace.last] += 1 / (_FUSION + rank)
    ranking = [(scores[trace.last], trace) for trace in traces]
    return sorted(ranking, key=lambda ranked: (-ranked[0], -ranked[1].last))


def _core_tail(traces: Sequence[_Trace], query: _Query) -> list[_Ranked]:
    ranking = [
        (
            4.0 * (trace.transition.observation == query.observation)
            + 2.0 * bool(trace.handled & query.things)
            + 1.0 * bool(trace.kinds & query.kinds),
            trace,
        )
        for trace in traces
    ]
    return sorted(ranking, key=lambda ranked: (-ranked[0], -ranked[1].count, -ranked[1].last))


_RANKERS: dict[str, Callable[[Sequence[_Trace], _Query], list[_Ranked]]] = {
    "graph": _graph,
    "ctwm": _core_tail,
}
POLICIES: tuple[str, ...] = tuple(_RANKERS)


def one_line(text: str) -> str:
    """Return a text with single blanks in place of all white space."""
    return " ".join(text.split())


def things_of(text: str) -> frozenset[str]:
    """Return the things that a text names, such as ``drawer 2``."""
    return frozenset(_THING.findall(text))


def transition_line(transition: Transition) -> str:
    """Return an item's text: ``observation -> command -> next observation``.

    Observations are long, and an item has to be short: of the first there is its first sentence,
    which says where the agent is, of the next its first :data:`MAX_WORDS` words, marked ``…`` where
    more were cut off. A part that holds an arrow or begins with a quotation mark is written as a
    JSON string, so that no part can end itself and begin another.
    """
    observation, command, after = map(one_line, transition)
    return f" {_ARROW} ".join(map(_part, (_first_sentence(observation), command, _cut(after))))


def _part(text: str) -> str:
    plain = text and _ARROW not in text and text[0] != '"'
    return text if plain else json.dumps(text, ensure_ascii=False)


def _first_sentence(text: str) -> str:
    found = _SENTENCE.match(text)
    return _cut(found[0] if found else text)


def _cut(text: str) -> str:
    words = text.split(" ")
    return text if len(words) <= MAX_WORDS else f"{' '.join(words[:MAX_WORDS])} {CUT_MARK}"


def _kinds(things: frozenset[str]) -> frozenset[str]:
    return frozenset(thing.partition(" ")[0] for thing in things)
