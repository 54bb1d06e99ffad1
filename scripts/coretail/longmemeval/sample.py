"""A generated stand-in for LongMemEval: made-up conversations in its exact format.

It exists so that everything that reads the benchmark can run without its files. Its numbers say
nothing about the benchmark, and nothing that prints them may say so: each record names its origin.

Every question has its evidence sessions, one per statement (:mod:`coretail.longmemeval.plots`),
the evidence of one unrelated plot as a distractor, and small talk up to the length asked for. Six
of seven questions run through the six question types in turn, the seventh is an abstention
question, of the four types that have them in turn. Within a type, kinds of plots come in random
order, each once before one comes again. What is drawn depends on the seed and the question's
number alone, so that more questions are the same ones and further ones, and longer haystacks have
the same evidence.
"""

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from coretail.errors import InputError
from coretail.longmemeval.plots import ABSTAINING, KINDS, Draw, Plot, Told
from coretail.longmemeval.records import GENERATED, QUESTION_TYPES, QuestionType, format_date
from coretail.longmemeval.talk import ACKNOWLEDGEMENTS, ADVICE, CLOSINGS, LEADS, TOPICS
from coretail.streams import stream

CHARACTERS_PER_TOKEN = 4
"""The estimate by which haystacks are filled; a tokenizer's count differs by some percent."""

_ABSTENTION_EVERY = 7
_FIRST_DAY = datetime(2022, 6, 1)
_N_FIRST_DAYS = 600


@dataclass(frozen=True, slots=True)
class Item:
    """A generated record and what it was made from.

    Attributes
    ----------
    record
        The record in the official format.
    kind
        The name of the plot's kind in :data:`coretail.longmemeval.plots.KINDS`.
    plot
        The question with its statements.
    first_day
        The haystack's day 0.
    """

    record: dict[str, Any]
    kind: str
    plot: Plot
    first_day: datetime


def generate(n_questions: int, seed: int, context_tokens: int = 800) -> list[dict[str, Any]]:
    """Return ``n_questions`` records in LongMemEval's format.

    Parameters
    ----------
    n_questions
        At least 1.
    seed
        Seed of everything drawn.
    context_tokens
        About how long each haystack is, by :data:`CHARACTERS_PER_TOKEN`. It is longer where the
        evidence, a distractor and one session of small talk already are.

    Raises
    ------
    InputError
        A number is out of range.
    """
    return [item.record for item in items(n_questions, seed, context_tokens)]


def items(n_questions: int, seed: int, context_tokens: int = 800) -> Iterator[Item]:
    """Yield the records of :func:`generate` with what they were made from, one at a time."""
    for key, value in (("n_questions", n_questions), ("context_tokens", context_tokens)):
        if value < 1:
            raise InputError(
                f"longmemeval: {key}: {value!r} is not allowed; allowed are integers from 1"
            )
    met: dict[tuple[QuestionType, bool], int] = {}
    for number in range(n_questions):
        round_, place = divmod(number, _ABSTENTION_EVERY)
        abstention = place == _ABSTENTION_EVERY - 1
        types = ABSTAINING if abstention else QUESTION_TYPES
        question_type = types[(round_ if abstention else place) % len(types)]
        before = met.get((question_type, abstention), 0)
        met[question_type, abstention] = before + 1
        kind = _kind(question_type, abstention, before, seed)
        yield _item(number, question_type, kind, abstention, seed, context_tokens)


def write_sample(path: Path, n_questions: int, seed: int, context_tokens: int = 800) -> None:
    """Write the records of :func:`generate` as JSON, the whole file or none.

    The same arguments give the same bytes.

    Raises
    ------
    InputError
        A number is out of range, or the file cannot be written.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            for number, item in enumerate(items(n_questions, seed, context_tokens)):
                file.write(",\n" if number else "[\n")
                json.dump(item.record, file, ensure_ascii=False)
            file.write("\n]\n")
        temporary.replace(path)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written: {error.strerror or error}. Choose another place."
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def _kind(question_type: QuestionType, abstention: bool, before: int, seed: int) -> str:
    """Return the kind of the question that has ``before`` others of its sort before it."""
    names = list(KINDS[question_type])
    deck, place = divmod(before, len(names))
    return Draw(stream("longmemeval", "kinds", seed, question_type, abstention, deck)).several(
        names, len(names)
    )[place]


def _item(
    number: int,
    question_type: QuestionType,
    kind: str,
    abstention: bool,
    seed: int,
    context_tokens: int,
) -> Item:
    draw = Draw(stream("longmemeval", "plot", seed, number))
    plot = KINDS[question_type][kind](draw, abstention)
    first_day = _FIRST_DAY + timedelta(days=draw.whole(0, _N_FIRST_DAYS))
    tag = f"{draw.whole(0, 16**8 - 1):08x}"
    # The question comes after the day's last session.
    asked = first_day + timedelta(days=plot.asked, minutes=draw.whole(21 * 60, 24 * 60 - 1))
    sessions = [
        _Session(_moment(draw, first_day, told.day), f"answer_{tag}_{place}", _spoken(draw, told))
        for place, told in enumerate(plot.told, start=1)
    ]
    answer_ids = [session.name for session in sessions]
    sessions += _context(plot, kind, first_day, tag, seed, number, sessions, context_tokens)
    sessions.sort(key=lambda session: (session.date, session.name))
    record = {
        "question_id": f"{tag}_abs" if abstention else tag,
        "question_type": question_type,
        "question": plot.question,
        "answer": plot.answer,
        "question_date": format_date(asked),
        "haystack_session_ids": [session.name for session in sessions],
        "haystack_dates": [format_date(session.date) for session in sessions],
        "haystack_sessions": [session.turns for session in sessions],
        "answer_session_ids": answer_ids,
        "origin": GENERATED,
    }
    return Item(record, kind, plot, first_day)


@dataclass(frozen=True, slots=True)
class _Session:
    date: datetime
    name: str
    turns: list[dict[str, Any]]

    @property
    def tokens(self) -> float:
        return sum(len(turn["content"]) for turn in self.turns) / CHARACTERS_PER_TOKEN


def _context(
    plot: Plot,
    kind: str,
    first_day: datetime,
    tag: str,
    seed: int,
    number: int,
    evidence: list[_Session],
    context_tokens: int,
) -> list[_Session]:
    """Return the distractor's sessions and the small talk."""
    draw = Draw(stream("longmemeval", "context", seed, number))
    taboo = re.compile(
        rf"(?<!\w)(?:{'|'.join(re.escape(word) for word in plot.secrets)})(?!\w)", re.IGNORECASE
    )

    distractor = _distractor(draw, kind, taboo)
    days = sorted(draw.whole(0, plot.asked) for _ in distractor)
    sessions = [
        _Session(
            _moment(draw, first_day, day),
            f"other_{tag}_{place}",
            _spoken(draw, told, evidence=False),
        )
        for place, (day, told) in enumerate(zip(days, distractor, strict=True), start=1)
    ]
    topics = [
        topic
        for topic in TOPICS
        if not taboo.search(" ".join(text for exchange in topic for text in exchange))
    ]
    length = sum(item.tokens for item in (*evidence, *sessions))
    place = 0
    left: list[tuple[tuple[str, str], ...]] = []
    while place == 0 or length < context_tokens:
        # Every topic comes once before one comes again.
        if not left:
            left = draw.several(topics, len(topics))
        place += 1
        date = _moment(draw, first_day, draw.whole(0, plot.asked))
        sessions.append(_Session(date, f"talk_{tag}_{place}", _talk(left.pop())))
        length += sessions[-1].tokens
    return sessions


def _distractor(draw: Draw, kind: str, taboo: re.Pattern[str]) -> tuple[Told, ...]:
    """Return the statements of a plot of another kind that mentions none of the secrets."""
    kinds = [(name, make) for each in KINDS.values() for name, make in each.items() if name != kind]
    while True:
        _, make = draw.pick(kinds)
        told = make(draw, False).told
        if not any(taboo.search(f"{item.request} {item.text}") for item in told):
            return told


def _spoken(draw: Draw, told: Told, *, evidence: bool = True) -> list[dict[str, Any]]:
    """Return the turns of the session in which a statement is made."""
    advice = draw.pick(ADVICE)
    if told.role == "assistant":
        turns = [_turn("user", told.request), _turn("assistant", told.text, evidence)]
    else:
        lead = draw.pick(LEADS).format(told.text)
        reply = f"{draw.pick(ACKNOWLEDGEMENTS)} {advice}"
        turns = [_turn("user", f"{told.request} {lead}", evidence), _turn("assistant", reply)]
    thanks, closing = draw.pick(CLOSINGS)
    return [*turns, _turn("user", thanks), _turn("assistant", closing)]


def _talk(topic: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    return [
        turn
        for asked, replied in topic
        for turn in (_turn("user", asked), _turn("assistant", replied))
    ]


def _turn(role: str, content: str, has_answer: bool = False) -> dict[str, Any]:
    return {"role": role, "content": content, "has_answer": has_answer}


def _moment(draw: Draw, first_day: datetime, day: int) -> datetime:
    return first_day + timedelta(days=day, minutes=draw.whole(7 * 60, 21 * 60 - 1))
