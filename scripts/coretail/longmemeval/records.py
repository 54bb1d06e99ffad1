"""Stream a file in LongMemEval's official JSON format and check each of its records.

The format is that of ``longmemeval_s.json`` and its siblings: one list of records, each with the
keys of :data:`KEYS`. Only one record is held at a time. A record that cannot be used becomes a
:class:`QuestionError` and reading goes on; a file that is no such list is an error.
"""

import codecs
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, get_args

from coretail.errors import InputError

QuestionType = Literal[
    "single-session-user",
    "single-session-assistant",
    "single-session-preference",
    "multi-session",
    "temporal-reasoning",
    "knowledge-update",
]
QUESTION_TYPES: tuple[QuestionType, ...] = get_args(QuestionType)
Role = Literal["user", "assistant"]
ROLES: tuple[Role, ...] = get_args(Role)

KEYS: tuple[str, ...] = (
    "question_id",
    "question_type",
    "question",
    "answer",
    "question_date",
    "haystack_session_ids",
    "haystack_dates",
    "haystack_sessions",
    "answer_session_ids",
)
"""The keys that every record has; others are ignored."""

EMPTY_HAYSTACK = "empty haystack"
EVIDENCE_ABSENT = "evidence not in the haystack"

_BLOCK = 1 << 14
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_DATE = re.compile(r"(\d{4})/(\d{2})/(\d{2}) \((\w{3})\) (\d{2}):(\d{2})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a session.

    Attributes
    ----------
    role
        Who wrote it.
    content
        Its text.
    has_answer
        Whether the benchmark marks it as evidence; False where it says nothing.
    """

    role: Role
    content: str
    has_answer: bool = False


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation, with the minute at which it began."""

    session_id: str
    date: datetime
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """One record.

    Attributes
    ----------
    question_id
        Unique within the file.
    question_type
        One of :data:`QUESTION_TYPES`.
    question, answer
        Texts; an answer that the file gives as a number is its digits. The answer to a preference
        question is a rubric, that of an abstention question says what is missing.
    date
        When the question is asked.
    sessions
        The haystack, in the file's order, which need not be chronological.
    answer_session_ids
        Ids of the sessions with the evidence.
    flags
        What is unusual and yet legal: :data:`EMPTY_HAYSTACK`, :data:`EVIDENCE_ABSENT`.
    """

    question_id: str
    question_type: QuestionType
    question: str
    answer: str
    date: datetime
    sessions: tuple[Session, ...]
    answer_session_ids: tuple[str, ...]
    flags: tuple[str, ...] = ()

    @property
    def abstention(self) -> bool:
        """Whether the right reply is that the conversations do not say."""
        return self.question_id.endswith("_abs")


@dataclass(frozen=True, slots=True)
class QuestionError:
    """A record that cannot be used.

    Attributes
    ----------
    file
        The file's path as it was given.
    position
        The record's position in the file, from 0.
    question_id
        Its id; None if it has no usable one.
    field
        The key at fault, with positions from 0: ``haystack_sessions[3][2].role``.
    reason
        What is wrong there.
    """

    file: str
    position: int
    question_id: str | None
    field: str
    reason: str

    def __str__(self) -> str:
        name = f"question {self.question_id!r}" if self.question_id is not None else "a question"
        return f"{self.file}: {name} (record {self.position}): {self.field}: {self.reason}"


def read_questions(path: Path) -> Iterator[Question | QuestionError]:
    """Yield the records of a file in its order, one at a time.

    The first record with an id counts; a later one with the same id is an error.

    Raises
    ------
    InputError
        The file cannot be read, is not UTF-8, not JSON, cut off, not a list, or an empty one. The
        message names the file, the byte as far as it is known, and the last record that was
        whole. Records before it have been yielded by then.
    """
    seen: set[str] = set()
    position = -1
    for position, record in enumerate(_stream(path)):
        try:
            question = parse_question(record)
            if question.question_id in seen:
                raise FieldError("question_id", f"{question.question_id!r} came before")
        except FieldError as error:
            name = record.get("question_id") if isinstance(record, Mapping) else None
            known = name if isinstance(name, str) else None
            yield QuestionError(str(path), position, known, error.field, error.reason)
        else:
            seen.add(question.question_id)
            yield question
    if position < 0:
        raise InputError(f"{path}: an empty list, expected LongMemEval records")


def parse_date(text: str) -> datetime:
    """Return the date of a text like ``2023/05/20 (Sat) 02:21``.

    Raises
    ------
    ValueError
        The text has another form, names no day of the calendar, or a wrong day of the week.
    """
    match = _DATE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a date like '2023/05/20 (Sat) 02:21'")
    year, month, day, weekday, hour, minute = match.groups()
    try:
        date = datetime(int(year), int(month), int(day), int(hour), int(minute))
    except ValueError as error:
        raise ValueError(f"{text!r}: {error}") from None
    if _WEEKDAYS[date.weekday()] != weekday:
        raise ValueError(f"{text!r}: that day is a {_WEEKDAYS[date.weekday()]}")
    return date


def format_date(date: datetime) -> str:
    """Return the date in the format's form; the inverse of :func:`parse_date`."""
    return f"{date:%Y/%m/%d} ({_WEEKDAYS[date.weekday()]}) {date:%H:%M}"


def _stream(path: Path) -> Iterator[Any]:
    """Yield the items of the JSON list in ``path``, with no more than one block read ahead."""
    import ijson

    done: list[Any] = ijson.sendable_list()
    parser = ijson.items_coro(done, "item")
    # yajl would say only that bytes are invalid; the decoder knows which.
    decoder = codecs.getincrementaldecoder("utf-8")()
    n_bytes = n_items = 0
    begun = False

    def failed(where: str, reason: str) -> InputError:
        behind = f"behind record {n_items - 1}" if n_items else "before the first record"
        return InputError(
            f"{path}: {where}, {behind}: {reason}. Expected a whole JSON list of LongMemEval "
            "records in UTF-8; fetch the file again."
        )

    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                held = len(decoder.getstate()[0])
                try:
                    decoder.decode(block)
                except UnicodeDecodeError as error:
                    raise failed(f"byte {n_bytes - held + error.start}", error.reason) from None
                if not begun and (first := block.lstrip()):
                    if first[:1] != b"[":
                        where = f"byte {n_bytes + len(block) - len(first)}"
                        raise failed(where, "not the opening bracket of a list")
                    begun = True
                broken = None
                try:
                    parser.send(block)
                except ijson.JSONError as error:
                    broken = _first_line(error)
                n_items += len(done)
                yield from done
                done.clear()
                if broken is not None:
                    raise failed(f"bytes {n_bytes} to {n_bytes + len(block)}", broken)
                n_bytes += len(block)
            try:
                parser.close()
            except ijson.JSONError as error:
                raise failed(f"ends at byte {n_bytes}", _first_line(error)) from None
    except OSError as error:
        raise InputError(
            f"{path}: {error.strerror or error}. Give the path of a LongMemEval file, or leave it "
            "out to use the generated sample."
        ) from error


def _first_line(error: Exception) -> str:
    # The second line shows the place with an arrow; as bytes' repr where it is not UTF-8.
    text = str(error).removeprefix("b'").replace("\\n", "\n")
    return text.splitlines()[0]


class FieldError(ValueError):
    """A record's field that breaks the format."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(field, reason)
        self.field = field
        self.reason = reason


def parse_question(record: Any) -> Question:
    """Return the question of one record, as a JSON parser gives it.

    Raises
    ------
    FieldError
        The record breaks the format; its ``field`` and ``reason`` say where and how.
    """
    if not isinstance(record, Mapping):
        raise FieldError("record", f"a JSON object is expected, not {_kind(record)}")
    for key in KEYS:
        if key not in record:
            raise FieldError(key, "missing")
    question_type = _text(record, "question_type")
    if question_type not in QUESTION_TYPES:
        raise FieldError(
            "question_type", f"{question_type!r} is unknown; known are {', '.join(QUESTION_TYPES)}"
        )
    sessions = _sessions(record)
    answer_ids = _texts(record, "answer_session_ids")
    flags = []
    if not sessions:
        flags.append(EMPTY_HAYSTACK)
    if not set(answer_ids) <= {session.session_id for session in sessions}:
        flags.append(EVIDENCE_ABSENT)
    return Question(
        question_id=_text(record, "question_id"),
        question_type=question_type,
        question=_text(record, "question"),
        answer=_answer(record["answer"]),
        date=_date(record["question_date"], "question_date"),
        sessions=sessions,
        answer_session_ids=tuple(answer_ids),
        flags=tuple(flags),
    )


def _sessions(record: Mapping[str, Any]) -> tuple[Session, ...]:
    ids = _texts(record, "haystack_session_ids")
    dates = _texts(record, "haystack_dates")
    contents = _list(record["haystack_sessions"], "haystack_sessions")
    if not len(ids) == len(dates) == len(contents):
        raise FieldError(
            "haystack_sessions",
            f"{len(contents)} sessions, {len(dates)} dates and {len(ids)} ids do not align",
        )
    if len(set(ids)) < len(ids):
        twice = next(name for number, name in enumerate(ids) if name in ids[:number])
        raise FieldError("haystack_session_ids", f"{twice!r} stands twice")
    return tuple(
        Session(
            session_id=ids[number],
            date=_date(dates[number], f"haystack_dates[{number}]"),
            turns=tuple(
                _turn(turn, f"haystack_sessions[{number}][{place}]")
                for place, turn in enumerate(_list(content, f"haystack_sessions[{number}]"))
            ),
        )
        for number, content in enumerate(contents)
    )


def _turn(turn: Any, field: str) -> Turn:
    if not isinstance(turn, Mapping):
        raise FieldError(field, f"an object with role and content is expected, not {_kind(turn)}")
    for key in ("role", "content"):
        if not isinstance(turn.get(key), str):
            raise FieldError(f"{field}.{key}", f"a text is expected, not {_kind(turn.get(key))}")
    role, has_answer = turn["role"], turn.get("has_answer", False)
    if role not in ROLES:
        raise FieldError(f"{field}.role", f"{role!r} is unknown; known are {', '.join(ROLES)}")
    if not isinstance(has_answer, bool):
        raise FieldError(f"{field}.has_answer", f"true or false is expected, not {has_answer!r}")
    return Turn(role, turn["content"], has_answer)


def _answer(answer: Any) -> str:
    if isinstance(answer, str) and answer.strip():
        return answer
    if isinstance(answer, int | float | Decimal) and not isinstance(answer, bool):
        return str(answer)
    raise FieldError("answer", f"a text or a number is expected, not {_kind(answer)}")


def _date(text: Any, field: str) -> datetime:
    try:
        return parse_date(text) if isinstance(text, str) else parse_date(repr(text))
    except ValueError as error:
        raise FieldError(field, str(error)) from None


def _text(record: Mapping[str, Any], key: str) -> str:
    value = record[key]
    if not isinstance(value, str) or not value.strip():
        raise FieldError(key, f"a text is expected, not {_kind(value)}")
    return value


def _texts(record: Mapping[str, Any], key: str) -> Sequence[str]:
    values = _list(record[key], key)
    for number, value in enumerate(values):
        if not isinstance(value, str):
            raise FieldError(f"{key}[{number}]", f"a text is expected, not {_kind(value)}")
    return values


def _list(value: Any, field: str) -> Sequence[Any]:
    if not isinstance(value, list):
        raise FieldError(field, f"a list is expected, not {_kind(value)}")
    return value


def _kind(value: Any) -> str:
    if value is None:
        return "null or nothing"
    if isinstance(value, str) and not value.strip():
        return "an empty text"
    return f"{type(value).__name__} {value!r}"[:60]
