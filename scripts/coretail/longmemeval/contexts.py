"""What a memory shows of a haystack: ranked sessions packed under a budget of slots or tokens.

==============  ===========================  ===================================================
method          ranks sessions by            shows
==============  ===========================  ===================================================
bm25            BM25 (flat retrieval)        the best B, one slot each
graph           graph memory                 the best B, one slot each
ctwm            graph memory                 slots B * b(r; tau), and a summary of the tail
ctwm_relaxed    graph memory                 as ctwm, with tau * (1 - relaxation of the question)
==============  ===========================  ===================================================

**A slot** is at most ``slot_tokens`` tokens of a session, by the controller's local counter: its
turns, those that match the question best first, each as ``role: text``, cut at words where the slot
is full; the next slot goes on behind. A session's first slot begins with its date. Both encodings
write the same slots; what they write around them differs.

**Equal tokens**: a method gets as many slots as its text has room for, counted up from none until
one more would take the text beyond the budget of tokens.

**The tail** of a method that allocates is every session without a slot. Its summary is typed (the
controller's, made without a model) unless a model's own words are given, which then stand in place
of types and exceptions (:meth:`Haystack.tail`, :meth:`Haystack.context`).

Session ids stand in no text. A session's type in the tail summary is its topic
(:meth:`coretail.longmemeval.retrieval.GraphMemory.topics`), an exception's text its topic and day.
"""

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Literal, NamedTuple, get_args

from coretail.controller import (
    ENCODINGS,
    Encoding,
    Item,
    Packed,
    allocate,
    count_tokens,
    integer_slots,
    pack,
)
from coretail.controller.encoding import CUT_MARK, in_line, summary_line
from coretail.controller.record import Summary
from coretail.errors import InputError
from coretail.longmemeval.records import ROLES, Question, Session, format_date
from coretail.longmemeval.retrieval import (
    GraphMemory,
    Ranked,
    Relaxation,
    SessionIndex,
    best_turns,
    relaxation,
)
from coretail.prompts import field

Method = Literal["bm25", "graph", "ctwm", "ctwm_relaxed"]
METHODS: tuple[Method, ...] = get_args(Method)
Budget = Literal["slots", "tokens"]
BUDGETS: tuple[Budget, ...] = get_args(Budget)

LEAST_SLOT_TOKENS = 32
"""Holds a session's date, and any character in the longest form that a text may get."""

_BETWEEN_TURNS = " / "
# A text that could be taken for the beginning of another turn.
_ROLE = re.compile(rf"\b(?:{'|'.join(ROLES)})\s*:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Settings:
    """Budgets and exponent.

    Attributes
    ----------
    slots
        Slots B of a context, at equal slots.
    slot_tokens
        Most tokens of a slot, at least :data:`LEAST_SLOT_TOKENS`.
    tau
        Allocation exponent of ``ctwm``, and of ``ctwm_relaxed`` before it relaxes.
    tokens
        Most tokens of a context, at equal tokens.

    Raises
    ------
    InputError
        If a number is out of its range.
    """

    slots: int = 5
    slot_tokens: int = 64
    tau: float = 1.0
    tokens: int = 350

    def __post_init__(self) -> None:
        least = {"slots": 1, "slot_tokens": LEAST_SLOT_TOKENS, "tau": 0, "tokens": 0}
        for key, minimum in least.items():
            if not getattr(self, key) >= minimum:
                raise InputError(
                    f"longmemeval: {key}: {getattr(self, key)!r} is not allowed; allowed are "
                    f"numbers from {minimum}"
                )


@dataclass(frozen=True, slots=True)
class Context:
    """What a method shows.

    Attributes
    ----------
    text
        The lines that stand in the prompt; empty for an empty haystack, and for a budget of tokens
        too small for any line.
    tokens
        Length of the text by the local counter.
    slots
        Slots handed out: B, or as many as the budget of tokens holds; never more than there are
        sessions where each gets one.
    slots_used
        Slots that were filled: a session may have less to show than it is granted.
    shown
        Positions in the haystack of the sessions whose own text is in it, best rank first.
    tau
        The exponent used; None for a method that does not allocate.
    """

    text: str
    tokens: int
    slots: int
    slots_used: int
    shown: tuple[int, ...]
    tau: float | None


class Haystack:
    """One question's sessions, indexed and ranked, to be packed in several ways.

    Parameters
    ----------
    question
        The question with its haystack, which may be empty.
    settings
        Budgets and exponent.
    """

    def __init__(self, question: Question, settings: Settings) -> None:
        self.question = question
        self._settings = settings
        self._index = SessionIndex(question.sessions)
        self._passages: dict[int, _Passages] = {}

    def ranking(self, method: Method) -> list[Ranked]:
        """Return all sessions by the method's ranking, best first."""
        return self._flat_ranking if method == "bm25" else self._graph_ranking

    def evidence_ranks(self, method: Method) -> list[int]:
        """Return the ranks, from 1 and ascending, of the answer sessions that the haystack has."""
        wanted = set(self.question.answer_session_ids)
        ranked = enumerate(self.ranking(method), start=1)
        return [rank for rank, item in ranked if item.session_id in wanted]

    @cached_property
    def relaxation(self) -> Relaxation:
        """How far the question asks to relax compression, by graph memory's ranking."""
        return relaxation(self.question.question, self._graph_ranking)

    def tail(self, method: Method, encoding: Encoding, budget: Budget) -> tuple[str, ...]:
        """Return what a model is to summarise: the first slot of each session without one.

        Best rank first; empty for a method that does not allocate, and where every session is
        shown. At equal tokens the longest summary, of ``slot_tokens`` tokens, has been made room
        for.

        Raises
        ------
        InputError
            For an unknown method, encoding or budget.
        """
        tail = self._drafted(method, encoding, budget, told=True).tail
        return tuple(self._slots_of(ranked, 1)[0] for ranked in tail)

    def context(
        self, method: Method, encoding: Encoding, budget: Budget, summary: str | None = None
    ) -> Context:
        """Return what a method shows.

        Parameters
        ----------
        method, encoding, budget
            What ranks and allocates, how it is written, and what is equal for all methods.
        summary
            What a model says of :meth:`tail`, of at most ``slot_tokens`` tokens; empty for
            nothing, which leaves the summary out. None for the typed summary.

        Raises
        ------
        InputError
            For an unknown method, encoding or budget.
        """
        draft = self._drafted(method, encoding, budget, told=summary is not None)
        text, tokens = draft.packed.text, draft.packed.record.tokens
        if summary and draft.tail:
            lines = [text] if text else []
            text = "\n".join([*lines, f"{_counted(encoding, draft.tail)}; {in_line(summary)}"])
            tokens = count_tokens(text)
        ranked = self.ranking(method)
        core = draft.packed.record.ranks("core") - 1
        return Context(
            text,
            tokens,
            sum(draft.granted),
            int(draft.packed.record.details[core].sum()) + core.size,
            tuple(ranked[rank].position for rank in core.tolist()),
            self._tau(method),
        )

    def _drafted(
        self, method: Method, encoding: Encoding, budget: Budget, *, told: bool
    ) -> "_Draft":
        """Return what is packed; if the tail is ``told`` by a model, without its summary."""
        for name, value, known in (
            ("method", method, METHODS),
            ("encoding", encoding, ENCODINGS),
            ("budget", budget, BUDGETS),
        ):
            if value not in known:
                raise InputError(f"{name}: {value!r} is unknown; allowed are {', '.join(known)}")
        settings = self._settings
        if budget == "slots":
            return self._draft(method, encoding, settings.slots, told)
        return self._fitting(method, encoding, settings.tokens, told)

    @cached_property
    def _graph(self) -> GraphMemory:
        return GraphMemory(self.question.sessions, self._index)

    @cached_property
    def _graph_ranking(self) -> list[Ranked]:
        return self._graph.rank(self.question.question)

    @cached_property
    def _flat_ranking(self) -> list[Ranked]:
        return self._index.rank(self.question.question)

    @cached_property
    def _topics(self) -> list[str | None]:
        return self._graph.topics()

    @cached_property
    def _tail_items(self) -> list[Item]:
        """The sessions, in the haystack's order, as a tail summary may name them."""
        days = [f"{session.date:%Y/%m/%d}" for session in self.question.sessions]
        return [
            Item(f"{topic} {day}" if topic else day, type=topic)
            for topic, day in zip(self._topics, days, strict=True)
        ]

    def _tau(self, method: Method) -> float | None:
        if method == "ctwm":
            return self._settings.tau
        return self.relaxation.tau(self._settings.tau) if method == "ctwm_relaxed" else None

    def _fitting(self, method: Method, encoding: Encoding, tokens: int, told: bool) -> "_Draft":
        """Return the draft with the most slots up to which all take no more than some tokens."""
        best = _Draft(pack([], slots=0, encoding=encoding), (), ())
        for slots in count():
            draft = self._draft(method, encoding, slots, told)
            if draft.packed.record.tokens + self._reserved(encoding, draft, told) > tokens:
                break
            best = draft
            if self._is_whole(method, draft):
                break
        return best

    def _is_whole(self, method: Method, draft: "_Draft") -> bool:
        """Return whether more slots would show nothing more."""
        ranked = self.ranking(method)
        if self._tau(method) is None:
            return len(draft.granted) == len(ranked)
        return all(
            slots > 0 and len(self._slots_of(item, slots + 1)) <= slots
            for item, slots in zip(ranked, draft.granted, strict=True)
        )

    def _reserved(self, encoding: Encoding, draft: "_Draft", told: bool) -> int:
        """Return the tokens of the longest summary that a model may give of a draft's tail."""
        if not (told and draft.tail):
            return 0
        return count_tokens(f"\n{_counted(encoding, draft.tail)};") + self._settings.slot_tokens

    def _draft(self, method: Method, encoding: Encoding, slots: int, told: bool) -> "_Draft":
        ranked = self.ranking(method)
        tau = self._tau(method)
        if tau is None:
            ranked = ranked[:slots]
            slots = len(ranked)
        granted = integer_slots(allocate(len(ranked), tau or 0.0), slots).tolist()
        provenance = encoding == "verbose"
        items = [
            self._item(item, own, provenance) for item, own in zip(ranked, granted, strict=True)
        ]
        summary = tau is not None and not told
        packed = pack(items, tau=tau or 0.0, slots=slots, encoding=encoding, summary=summary)
        tail = tuple(item for item, own in zip(ranked, granted, strict=True) if not own)
        return _Draft(packed, tuple(granted), tail)

    def _item(self, ranked: Ranked, slots: int, provenance: bool) -> Item:
        if not slots:
            return self._tail_items[ranked.position]
        topic = self._topics[ranked.position]
        text, *details = self._slots_of(ranked, slots)
        fields: tuple[tuple[str, str], ...] = ()
        if provenance:
            fields = (
                ("score", f"{ranked.score:.3g}"),
                ("topic", topic or "none"),
                ("turns", str(len(self.question.sessions[ranked.position].turns))),
            )
        return Item(text, type=topic, details=tuple(details), fields=fields)

    def _slots_of(self, ranked: Ranked, n: int) -> Sequence[str]:
        """Return a session's first ``n`` slots, fewer if it has no more."""
        passages = self._passages.get(ranked.position)
        if passages is None:
            session = self.question.sessions[ranked.position]
            source = slot_texts(session, self.question.question, self._settings.slot_tokens)
            passages = self._passages[ranked.position] = _Passages(source)
        return passages.first(n)


class _Draft(NamedTuple):
    """A packed text, the slots of each item, and the items without one."""

    packed: Packed
    granted: tuple[int, ...]
    tail: tuple[Ranked, ...]


def _counted(encoding: Encoding, tail: Sequence[Ranked]) -> str:
    """Return the tail summary that says how many sessions it stands for, and nothing more."""
    return summary_line(encoding, Summary(len(tail), (), ()), (), str)


class _Passages:
    """The slots of a session, written as far as they are needed."""

    def __init__(self, source: Iterator[str]) -> None:
        self._source = source
        self._written: list[str] = []

    def first(self, n: int) -> Sequence[str]:
        while len(self._written) < n and (text := next(self._source, None)) is not None:
            self._written.append(text)
        return self._written[:n]


class _Rest(NamedTuple):
    """What is left of a turn."""

    role: str
    words: list[str]
    continued: bool

    def text(self, n: int) -> str:
        """Return its first ``n`` words, labelled; quoted if they could forge another turn."""
        words = " ".join(self.words[:n])
        written = field(words) if _ROLE.search(words) else words
        return f"{self.role}: {f'{CUT_MARK} ' if self.continued else ''}{written}"


def slot_texts(session: Session, question: str, slot_tokens: int) -> Iterator[str]:
    """Yield what a session shows in its first, second, ... slot.

    White space within a turn is made single blanks. A word too long for a slot is broken.

    Parameters
    ----------
    session
        The session; of one without words only the date is shown.
    question
        Turns are ordered by their match with it.
    slot_tokens
        Most tokens of each text, as the compact encoding writes it, by the local counter; at least
        :data:`LEAST_SLOT_TOKENS`.
    """
    turns = [session.turns[turn.position] for turn in best_turns(session, question)]
    rests = deque(
        _Rest(turn.role, words, False) for turn in turns if (words := turn.content.split())
    )
    begin = format_date(session.date)
    while rests or begin:
        text = begin
        while rests:
            rest = rests[0]
            joint = _BETWEEN_TURNS if text != begin else " " if begin else ""
            before = text + joint

            def cost(n: int, rest: _Rest = rest, before: str = before) -> int:
                return count_tokens(in_line(before + rest.text(n)))

            # A word is a token at least.
            possible = range(1, min(len(rest.words), slot_tokens) + 1)
            fitting = bisect_right(possible, slot_tokens, key=cost)
            if fitting:
                text = before + rest.text(fitting)
            if fitting == len(rest.words):
                rests.popleft()
                continue
            rests[0] = _Rest(rest.role, rest.words[fitting:], rest.continued or fitting > 0)
            break
        if rests and text == begin:
            # Not a word fits, so the first one is broken.
            word, *others = rests[0].words
            middle = len(word) // 2
            rests[0] = rests[0]._replace(words=[word[:middle], word[middle:], *others])
        else:
            yield text
            begin = ""
