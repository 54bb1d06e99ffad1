"""Reading LongMemEval's files, real ones and broken ones."""

import json
import tracemalloc
from collections import Counter
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coretail.errors import InputError
from coretail.longmemeval.records import (
    EMPTY_HAYSTACK,
    EVIDENCE_ABSENT,
    GENERATED,
    KEYS,
    QUESTION_TYPES,
    Question,
    QuestionError,
    Session,
    Turn,
    format_date,
    parse_date,
    read_questions,
)

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "longmemeval"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the real LongMemEval files are absent")


def record(name="q1", **changes):
    """Return a whole record, as JSON would give it, with some fields replaced."""
    return {
        "question_id": name,
        "question_type": "single-session-user",
        "question": "Where is the key?",
        "answer": "under the mat",
        "question_date": "2023/05/22 (Mon) 08:00",
        "haystack_session_ids": ["s1", "s2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "The key is under the mat.", "has_answer": True},
                {"role": "assistant", "content": "Noted."},
            ],
            [{"role": "user", "content": "Hello", "has_answer": False}],
        ],
        "answer_session_ids": ["s1"],
    } | changes


def write(path, *records):
    path.write_text(json.dumps(list(records)), encoding="utf-8")
    return path


def read(path):
    return list(read_questions(path))


def turn(**changes):
    return [[{"role": "user", "content": "x"} | changes], []]


def test_a_record_is_read_whole(tmp_path):
    path = write(tmp_path / "a.json", record(x_note="ignored", origin="elsewhere"))
    assert read(path) == [
        Question(
            question_id="q1",
            question_type="single-session-user",
            question="Where is the key?",
            answer="under the mat",
            date=datetime(2023, 5, 22, 8, 0),
            sessions=(
                Session(
                    "s1",
                    datetime(2023, 5, 20, 2, 21),
                    (
                        Turn("user", "The key is under the mat.", True),
                        Turn("assistant", "Noted.", False),
                    ),
                ),
                Session("s2", datetime(2023, 5, 21, 10, 0), (Turn("user", "Hello"),)),
            ),
            answer_session_ids=("s1",),
        )
    ]


@pytest.mark.parametrize(
    ("literal", "text"), [("3", "3"), ("59.60", "59.60"), ('"six"', "six"), ("-1e2", "-1E+2")]
)
def test_an_answer_may_be_a_number(tmp_path, literal, text):
    path = tmp_path / "a.json"
    path.write_text(json.dumps([record(answer="@")]).replace('"@"', literal))
    assert read(path)[0].answer == text


def test_abstention_is_told_by_the_id(tmp_path):
    plain, abstains = read(write(tmp_path / "a.json", record("q_abs_1"), record("q_abs")))
    assert (plain.abstention, abstains.abstention) == (False, True)


def test_an_empty_haystack_is_legal_and_flagged(tmp_path):
    empty = {"haystack_session_ids": [], "haystack_dates": [], "haystack_sessions": []}
    bare, pointing, absent = read(
        write(
            tmp_path / "a.json",
            record("q1_abs", answer_session_ids=[], **empty),
            record("q2_abs", **empty),
            record("q3", answer_session_ids=["s1", "s9"]),
        )
    )
    assert bare.sessions == ()
    assert bare.flags == (EMPTY_HAYSTACK,)
    assert pointing.flags == (EMPTY_HAYSTACK, EVIDENCE_ABSENT)
    assert absent.flags == (EVIDENCE_ABSENT,)


BROKEN = {
    **{key: ({key: ...}, key, "missing") for key in KEYS},
    "type": ({"question_type": "riddle"}, "question_type", "'riddle' is unknown"),
    "id": ({"question_id": 7}, "question_id", "a text is expected, not int 7"),
    "question": ({"question": " "}, "question", "an empty text"),
    "answer null": ({"answer": None}, "answer", "a text or a number is expected"),
    "answer bool": ({"answer": True}, "answer", "not bool True"),
    "date": ({"question_date": "2023-05-22"}, "question_date", "'2023-05-22' is not a date"),
    "no such day": (
        {"haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/02/30 (Thu) 01:00"]},
        "haystack_dates[1]",
        "day is out of range",
    ),
    "weekday": ({"question_date": "2023/05/22 (Tue) 08:00"}, "question_date", "is a Mon"),
    "dates": (
        {"haystack_dates": ["2023/05/20 (Sat) 02:21"]},
        "haystack_sessions",
        "2 sessions, 1 dates and 2 ids do not align",
    ),
    "ids": ({"haystack_session_ids": ["a", "b", "c"]}, "haystack_sessions", "3 ids do not align"),
    "sessions": ({"haystack_sessions": []}, "haystack_sessions", "0 sessions, 2 dates"),
    "twice": ({"haystack_session_ids": ["s", "s"]}, "haystack_session_ids", "'s' stands twice"),
    "not lists": ({"haystack_sessions": {"s1": []}}, "haystack_sessions", "a list is expected"),
    "session": ({"haystack_sessions": ["x", []]}, "haystack_sessions[0]", "a list is expected"),
    "turn": ({"haystack_sessions": [[], ["x"]]}, "haystack_sessions[1][0]", "an object with role"),
    "role": (
        {"haystack_sessions": turn(role="system")},
        "haystack_sessions[0][0].role",
        "'system' is unknown; known are user, assistant",
    ),
    "no role": ({"haystack_sessions": turn(role=None)}, "haystack_sessions[0][0].role", "null"),
    "content": (
        {"haystack_sessions": turn(content=["x"])},
        "haystack_sessions[0][0].content",
        "a text is expected",
    ),
    "mark": (
        {"haystack_sessions": turn(has_answer="yes")},
        "haystack_sessions[0][0].has_answer",
        "true or false",
    ),
    "answer ids": ({"answer_session_ids": [1]}, "answer_session_ids[0]", "a text is expected"),
    "answer list": ({"answer": [["x"] * 9]}, "answer", "not a list"),
    "date object": ({"question_date": {"day": 1}}, "question_date", "not an object"),
    "mark list": (
        {"haystack_sessions": turn(has_answer=[True])},
        "haystack_sessions[0][0].has_answer",
        "not a list",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_record_becomes_a_row_and_the_rest_goes_on(tmp_path, name):
    changes, field, reason = BROKEN[name]
    broken = {key: value for key, value in record("bad", **changes).items() if value is not ...}
    path = write(tmp_path / "a.json", record("q1"), broken, record("q2"))
    first, error, last = read(path)
    assert (first.question_id, last.question_id) == ("q1", "q2")
    assert isinstance(error, QuestionError)
    assert (error.file, error.position, error.field) == (str(path), 1, field)
    assert error.question_id == (None if field == "question_id" else "bad")
    assert reason in error.reason
    assert all(part in str(error) for part in (str(path), "record 1", field))


@pytest.mark.parametrize("content", [5, None, "x", [[]], []])
def test_a_record_that_is_no_object_becomes_a_row(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_text(json.dumps([content, record("q1")]))
    error, question = read(path)
    assert (error.question_id, error.field) == (None, "record")
    assert question.question_id == "q1"


def test_a_generated_record_says_so_whether_or_not_it_can_be_used(tmp_path):
    made = {"origin": GENERATED}
    found = read(
        write(
            tmp_path / "a.json",
            record("q1"),
            record("q2", **made),
            record("q3", **made, answer=None),
            record("q4", answer=None),
        )
    )
    assert [one.generated for one in found] == [False, True, True, False]


SMILE = r"\ud83d\ude00"


@pytest.mark.parametrize(
    ("text", "lone"),
    [
        (r"a \ud800 b", r"\ud800"),
        (r"a \udc00 b", r"\udc00"),
        (r"\uDbFf", r"\uDbFf"),
        (rf"\ud83d{SMILE}", r"\ud83d"),
        (rf"{SMILE}\ude00", r"\ude00"),
        (r"\ud83d\u0041", r"\ud83d"),
        (r"\ud83d\n\ude00", r"\ud83d"),
        (r"\\\ud83d", r"\ud83d"),
    ],
)
@pytest.mark.parametrize("key", ["question", "answer", "x_note"])
def test_half_of_a_character_costs_its_record_alone(tmp_path, text, lone, key):
    path = tmp_path / "a.json"
    content = json.dumps([record("q1"), record("q2", **{key: "@"}), record("q3")])
    path.write_text(content.replace('"@"', f'"{text}"'))
    first, error, last = read(path)
    assert (first, last.question_id) == (read(write(path, record("q1")))[0], "q3")
    assert isinstance(error, QuestionError)
    assert (error.position, error.question_id, error.field) == (1, "q2", "record")
    assert error.reason == f"{lone} is half of a character, without its other half"


@pytest.mark.parametrize(
    ("text", "read_as"),
    [(SMILE, "\U0001f600"), (r"\\ud83d", r"\ud83d"), (r"\ufffd\ud7ff\ue000", "\ufffd\ud7ff\ue000")],
)
def test_escapes_across_two_blocks_are_whole(tmp_path, text, read_as):
    path = tmp_path / "a.json"
    for shift in range(16):
        filler = "x" * (16_384 - 110 + shift)
        content = json.dumps([record(question="@")]).replace("@", filler + text * 12)
        path.write_text(content)
        (question,) = read(path)
        assert question.question == filler + read_as * 12


@pytest.mark.parametrize("shift", range(14))
def test_half_of_a_character_across_two_blocks_is_found(tmp_path, shift):
    path = tmp_path / "a.json"
    content = json.dumps([record("q1"), record("q2", question="@"), record("q3")])
    filler = "x" * (16_384 - content.index("@") - shift)
    path.write_text(content.replace("@", rf"{filler}\ud83d\u0041"))
    first, error, last = read(path)
    assert (first.question_id, error.question_id, last.question_id) == ("q1", "q2", "q3")
    assert error.reason.startswith(r"\ud83d is half")


def nested(depth):
    return b"[" * depth + b"]" * depth


def test_deep_values_are_an_error_before_they_are_built(tmp_path):
    path = tmp_path / "a.json"
    content = json.dumps([record("q1"), record("q2", answer="@")]).encode()
    path.write_bytes(content.replace(b'"@"', nested(98)))
    assert read(path)[1].reason == "a text or a number is expected, not a list"
    path.write_bytes(content.replace(b'"@"', nested(99)))
    found = []
    with pytest.raises(
        InputError, match=r"behind record 0: lists and objects nest deeper than 100"
    ):
        found.extend(read_questions(path))
    assert [one.question_id for one in found] == ["q1"]
    for deep in (b"[" * 200_000, b'[{"a":' * 100_000, b"[" + nested(200_000) + b"]"):
        path.write_bytes(deep)
        tracemalloc.start()
        with pytest.raises(InputError, match="before the first record: lists and objects nest"):
            read(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8e6


@pytest.mark.parametrize(
    "number", [b"1" * 5000, b"1e99999999999999999999", b"-1e-99999999999999999999"]
)
def test_a_number_that_python_refuses_is_an_error_of_the_file(tmp_path, number):
    path = tmp_path / "a.json"
    content = json.dumps([record("q1"), record("q2", answer="@")]).encode()
    path.write_bytes(content.replace(b'"@"', number))
    reading = read_questions(path)
    assert next(reading).question_id == "q1"
    with pytest.raises(InputError, match="behind record 0: "):
        next(reading)


def test_of_two_questions_with_one_id_the_first_counts(tmp_path):
    path = write(tmp_path / "a.json", record("q1"), record("q1", question="Other?"), record("q2"))
    first, error, last = read(path)
    assert first.question == "Where is the key?"
    assert (error.position, error.question_id, error.field) == (1, "q1", "question_id")
    assert last.question_id == "q2"


@pytest.mark.parametrize("cut", [0.1, 0.5, 0.9, 0.999])
def test_half_a_file_gives_its_whole_records_and_then_an_error(tmp_path, cut):
    path = write(tmp_path / "a.json", *(record(f"q{n}") for n in range(200)))
    whole = path.read_bytes()
    end = int(cut * len(whole))
    path.write_bytes(whole[:end])
    found = []
    with pytest.raises(InputError, match=f"ends at byte {end}, ") as caught:
        found.extend(read_questions(path))
    assert str(path) in str(caught.value)
    n_whole = whole[:end].count(b'"answer_session_ids": ["s1"]}')
    assert f"behind record {n_whole - 1}" in str(caught.value)


def test_questions_before_the_damage_have_been_yielded(tmp_path):
    path = write(tmp_path / "a.json", *(record(f"q{n}") for n in range(200)))
    path.write_bytes(path.read_bytes()[:-10])
    reading = read_questions(path)
    for number in range(199):
        assert next(reading).question_id == f"q{number}"
    with pytest.raises(InputError, match="behind record 198"):
        next(reading)


def test_records_before_an_error_in_the_same_block_are_yielded_too(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(f"[{json.dumps(record('q1'))}, nothing]")
    reading = read_questions(path)
    assert next(reading).question_id == "q1"
    with pytest.raises(InputError, match="behind record 0: lexical error"):
        next(reading)


@pytest.mark.parametrize("place", [5, 16_383, 16_384, 40_000])
def test_bytes_that_are_not_utf8_are_named(tmp_path, place):
    path = write(tmp_path / "a.json", *(record(f"q{n}") for n in range(100)))
    data = bytearray(path.read_bytes())
    data[place] = 0xFF
    path.write_bytes(data)
    with pytest.raises(InputError, match=f"byte {place}, .*invalid start byte"):
        read(path)


def test_a_character_across_two_blocks_is_whole(tmp_path):
    # 16 KiB are read at a time: shift a two-byte character over that boundary.
    for shift in range(4):
        text = "x" * (16_384 - 20 + shift) + "é" * 20
        path = tmp_path / "a.json"
        path.write_text(json.dumps([record(question=text)], ensure_ascii=False), encoding="utf-8")
        assert read(path)[0].question == text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "ends at byte 0"),
        (b"  \n", "ends at byte 3"),
        (b'  {"question_id": 1}', "byte 2, before the first record: not the opening bracket"),
        (b"\xef\xbb\xbf[]", "byte 0, .*not the opening bracket"),
        (b"<html>", "not the opening bracket"),
        (b'[{"a": NaN}]', "bytes 0 to 12, before the first record: lexical error"),
        (b"[1, 2] x", "trailing garbage"),
        (b"[]", "an empty list"),
    ],
)
def test_what_is_no_list_of_records_is_an_error(tmp_path, data, reason):
    path = tmp_path / "a.json"
    path.write_bytes(data)
    with pytest.raises(InputError, match=reason) as caught:
        list(read_questions(path))
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(InputError, match=str(path)):
            read(path)


def test_a_file_is_never_held_whole(tmp_path):
    path = tmp_path / "large.json"
    session = [[{"role": "user", "content": "word " * 20_000}], []]
    with path.open("w") as file:
        file.write("[")
        for number in range(200):
            text = json.dumps(record(f"q{number}", haystack_sessions=session))
            file.write(("," if number else "") + text)
        file.write("]")
    tracemalloc.start()
    try:
        assert sum(isinstance(question, Question) for question in read_questions(path)) == 200
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Two hundred records of 100 KB: a handful of them may be there at a time.
    assert path.stat().st_size > 20e6
    assert peak < 2e6


@settings(max_examples=50, deadline=None)
@given(st.datetimes(min_value=datetime(1000, 1, 1)))
def test_dates_come_back(date):
    minute = date.replace(second=0, microsecond=0)
    assert parse_date(format_date(minute)) == minute


def test_the_form_of_a_date():
    assert parse_date("2023/05/20 (Sat) 02:21") == datetime(2023, 5, 20, 2, 21)
    assert format_date(datetime(2024, 2, 29, 23, 5)) == "2024/02/29 (Thu) 23:05"
    for text in ("2023/5/20 (Sat) 02:21", "2023/05/20 02:21", "2023/05/20 (Sat) 24:00", ""):
        with pytest.raises(ValueError, match=r"date|hour"):
            parse_date(text)


@needs_data
@pytest.mark.parametrize(
    "name",
    [
        "longmemeval_oracle_2_official.json",
        "longmemeval_s_3_fullhaystack.json",
        "longmemeval_evidence_500.json",
    ],
)
def test_real_files_hold_exactly_what_they_hold(name):
    # json reads the file at once: an independent way to the same records.
    raw = json.loads((DATA / name).read_text(encoding="utf-8"))
    questions = read(DATA / name)
    assert len(questions) == len(raw)
    for question, expected in zip(questions, raw, strict=True):
        assert question.question_id == expected["question_id"]
        assert question.question_type == expected["question_type"]
        assert question.question == expected["question"]
        assert question.answer == str(expected["answer"])
        assert format_date(question.date) == expected["question_date"]
        assert list(question.answer_session_ids) == expected["answer_session_ids"]
        assert [s.session_id for s in question.sessions] == expected["haystack_session_ids"]
        assert [format_date(s.date) for s in question.sessions] == expected["haystack_dates"]
        assert [
            [{"role": t.role, "content": t.content, "has_answer": t.has_answer} for t in s.turns]
            for s in question.sessions
        ] == expected["haystack_sessions"]


@needs_data
def test_the_official_records_have_two_sessions_of_twelve_turns():
    update, temporal = read(DATA / "longmemeval_oracle_2_official.json")
    assert (update.question_id, update.question_type) == ("6a1eabeb", "knowledge-update")
    assert temporal.question_type == "temporal-reasoning"
    for question in (update, temporal):
        assert len(question.sessions) == 2
        assert sum(len(session.turns) for session in question.sessions) == 24
        assert not question.flags
    assert update.date == datetime(2023, 6, 1, 0, 58)
    assert update.answer == "25 minutes and 50 seconds (or 25:50)"


@needs_data
def test_the_500_questions_are_those_of_the_benchmark():
    questions = read(DATA / "longmemeval_evidence_500.json")
    assert Counter(question.question_type for question in questions) == {
        "temporal-reasoning": 133,
        "multi-session": 133,
        "knowledge-update": 78,
        "single-session-user": 70,
        "single-session-assistant": 56,
        "single-session-preference": 30,
    }
    assert set(QUESTION_TYPES) == {question.question_type for question in questions}
    assert sum(question.abstention for question in questions) == 30
    empty = [question for question in questions if EMPTY_HAYSTACK in question.flags]
    assert len(empty) == 21
    assert all(question.abstention for question in empty)
