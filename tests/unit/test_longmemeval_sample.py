"""The generated stand-in: in the benchmark's format, various, and answerable from its evidence."""

import json
import re
from collections import Counter
from datetime import timedelta

import pytest

from coretail.errors import InputError
from coretail.longmemeval.judging import judge
from coretail.longmemeval.plots import ABSTAINING, COLLECTIONS, EVENTS, KINDS
from coretail.longmemeval.records import (
    GENERATED,
    KEYS,
    QUESTION_TYPES,
    parse_date,
    parse_question,
    read_questions,
)
from coretail.longmemeval.retrieval import GraphMemory
from coretail.longmemeval.sample import (
    CHARACTERS_PER_TOKEN,
    generate,
    items,
    write_sample,
)

MANY = list(items(420, 7))


def evidence(record):
    """Return (date, text) of the turns marked as evidence, by date."""
    return [
        (parse_date(date), turn["content"])
        for date, session in zip(record["haystack_dates"], record["haystack_sessions"], strict=True)
        for turn in session
        if turn["has_answer"]
    ]


def others(record):
    return [
        turn["content"]
        for session in record["haystack_sessions"]
        for turn in session
        if not turn["has_answer"]
    ]


def mentions(text, word):
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None


def tokens(record):
    texts = [turn["content"] for session in record["haystack_sessions"] for turn in session]
    return sum(map(len, texts)) / CHARACTERS_PER_TOKEN


def of_kind(kind, *, abstention=False):
    found = [
        item
        for item in MANY
        if item.kind == kind and item.record["question_id"].endswith("_abs") == abstention
    ]
    assert found
    return found


def test_records_have_the_official_form_and_pass_the_reader(tmp_path):
    for item in MANY:
        assert tuple(item.record) == (*KEYS, "origin")
        assert item.record["origin"] == GENERATED
        question = parse_question(item.record)
        assert question.generated
        assert question.flags == ()
        assert set(question.answer_session_ids) == {
            session.session_id
            for session in question.sessions
            if any(turn.has_answer for turn in session.turns)
        }
        dates = [session.date for session in question.sessions]
        assert dates == sorted(dates)
        assert dates[-1] < question.date
    path = tmp_path / "sample.json"
    write_sample(path, 30, 7)
    assert list(read_questions(path)) == [parse_question(item.record) for item in MANY[:30]]
    assert json.loads(path.read_text(encoding="utf-8")) == generate(30, 7)


def test_ids_are_unique():
    assert len({item.record["question_id"] for item in MANY}) == len(MANY)


def test_thirty_questions_cover_all_types_and_abstention():
    records = generate(30, 42)
    abstain = [record for record in records if record["question_id"].endswith("_abs")]
    assert Counter(record["question_type"] for record in abstain) == dict.fromkeys(ABSTAINING, 1)
    rest = Counter(record["question_type"] for record in records if record not in abstain)
    assert set(rest) == set(QUESTION_TYPES)
    assert set(rest.values()) == {4, 5}


def test_every_kind_comes_up_and_none_prevails():
    for question_type, kinds in KINDS.items():
        counts = Counter(
            item.kind
            for item in MANY
            if item.record["question_type"] == question_type
            and not item.record["question_id"].endswith("_abs")
        )
        assert set(counts) == set(kinds)
        assert max(counts.values()) - min(counts.values()) <= 1


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_wording_prevails(seed):
    records = generate(60, seed)
    assert len({record["question"] for record in records}) >= 54
    # The first three words tell most wordings apart.
    opening = Counter(tuple(record["question"].split()[:3]) for record in records)
    assert max(opening.values()) < 10
    said = [re.sub(r"\d+", "#", text) for record in records for _, text in evidence(record)]
    assert Counter(said).most_common(1)[0][1] <= 2


def test_more_questions_and_longer_haystacks_keep_what_is_there():
    assert generate(12, 5) == generate(40, 5)[:12]
    for short, long in zip(generate(12, 5), generate(12, 5, context_tokens=6000), strict=True):
        assert (short["question"], short["answer"]) == (long["question"], long["answer"])
        assert evidence(short) == evidence(long)
        assert len(long["haystack_sessions"]) > len(short["haystack_sessions"])
    assert generate(12, 5) != generate(12, 6)


@pytest.mark.parametrize("context_tokens", [800, 3000])
def test_haystacks_are_about_as_long_as_asked(context_tokens):
    for record in generate(28, 3, context_tokens):
        # The last session of small talk may go beyond.
        assert context_tokens <= tokens(record) < context_tokens + 120
        assert len(record["haystack_sessions"]) > 5


def test_a_haystack_has_at_least_evidence_distractor_and_talk():
    for record in generate(14, 3, context_tokens=1):
        sorts = Counter(name.split("_")[0] for name in record["haystack_session_ids"])
        assert sorts["answer"] >= 1
        assert sorts["other"] >= 1
        assert sorts["talk"] == 1


def test_evidence_holds_the_facts_and_nothing_else_does():
    for item in MANY:
        told = evidence(item.record)
        assert len(told) == len(item.plot.told)
        for (_, text), statement in zip(told, item.plot.told, strict=True):
            assert all(mentions(text, key) for key in statement.keys)
        rest = "\n".join(
            turn["content"]
            for name, session in zip(
                item.record["haystack_session_ids"], item.record["haystack_sessions"], strict=True
            )
            if not name.startswith("answer")
            for turn in session
        )
        for secret in item.plot.secrets:
            assert not mentions(rest, secret), (item.kind, secret)
        # Nor do the other turns of the evidence sessions answer, but for an assistant's evidence,
        # where the user's request names the subject.
        if item.plot.told[0].role == "user":
            assert not any(mentions("\n".join(others(item.record)), s) for s in item.plot.secrets)


def test_statements_are_made_on_their_days():
    for item in MANY:
        days = [(date.date() - item.first_day.date()).days for date, _ in evidence(item.record)]
        assert days == [statement.day for statement in item.plot.told]
        asked = parse_date(item.record["question_date"]).date() - item.first_day.date()
        assert asked.days == item.plot.asked >= days[-1]


@pytest.mark.parametrize("kind", sorted(KINDS["single-session-user"]))
def test_what_the_user_said_once_is_in_the_one_statement(kind):
    for item in of_kind(kind):
        ((_, text),) = evidence(item.record)
        assert mentions(text, item.record["answer"])
        assert "user" in {
            turn["role"]
            for s in item.record["haystack_sessions"]
            for turn in s
            if turn["has_answer"]
        }


@pytest.mark.parametrize("kind", sorted(KINDS["single-session-assistant"]))
def test_what_the_assistant_said_is_in_its_turn(kind):
    for item in of_kind(kind):
        (turn,) = (t for s in item.record["haystack_sessions"] for t in s if t["has_answer"])
        assert turn["role"] == "assistant"
        assert mentions(turn["content"], item.record["answer"])


def test_the_third_of_a_list_is_the_third():
    for item in of_kind("list"):
        ((_, text),) = evidence(item.record)
        titles = re.split(r"; (?:and )?(?:last )?", text.partition(": ")[2].rstrip("."))
        assert len(titles) == 4
        assert titles[2] == item.record["answer"]


def test_a_rubric_names_what_the_user_said():
    for kind in KINDS["single-session-preference"]:
        for item in of_kind(kind):
            ((_, text),) = evidence(item.record)
            (statement,) = item.plot.told
            assert len(statement.keys) == 2
            for key in statement.keys:
                assert mentions(text, key)
                assert mentions(item.record["answer"], key)
                assert not mentions(item.record["question"], key)


def test_counts_are_those_of_the_things_bought():
    for item in of_kind("collection"):
        texts = [text for _, text in evidence(item.record)]
        (collection,) = (name for name in COLLECTIONS if mentions(item.record["question"], name))
        things = [thing for thing in COLLECTIONS[collection] for text in texts if thing in text]
        assert len(texts) >= 2
        assert len(things) == len(set(things)) == int(item.record["answer"]) >= 3


@pytest.mark.parametrize("kind", ["spending", "distance", "volunteering", "pages"])
def test_sums_are_those_of_the_numbers_told(kind):
    for item in of_kind(kind):
        numbers = [re.findall(r"\d+", text) for _, text in evidence(item.record)]
        assert all(len(found) == 1 for found in numbers)
        assert len(numbers) >= 2
        (total,) = re.findall(r"\d+", item.record["answer"])
        assert sum(int(found[0]) for found in numbers) == int(total)
        assert item.record["answer"].startswith("$") == (kind == "spending")


def test_a_difference_is_that_of_the_two_prices():
    for item in of_kind("price difference"):
        low, high = sorted(int(re.search(r"\$(\d+)", text)[1]) for _, text in evidence(item.record))
        assert item.record["answer"] == f"${high - low}"


def events_of(item):
    """Return (date, gerund) of the events told, found by their past tense."""
    return [
        (date.date(), gerund)
        for date, text in evidence(item.record)
        for past, gerund in EVENTS
        if past in text
    ]


def test_days_between_follow_from_the_sessions_dates():
    for item in of_kind("days between"):
        (first, _), (last, _) = events_of(item)
        assert item.record["answer"] == f"{(last - first) / timedelta(days=1):.0f} days"


def test_days_ago_follow_from_the_dates_of_session_and_question():
    for item in of_kind("days ago"):
        ((day, _),) = events_of(item)
        asked = parse_date(item.record["question_date"]).date()
        assert item.record["answer"] == f"{(asked - day).days} days"


def test_the_first_of_two_is_the_earlier():
    for item in of_kind("which first"):
        told = events_of(item)
        assert item.record["answer"] == min(told)[1]
        assert all(gerund in item.record["question"] for _, gerund in told)


def test_an_order_is_that_of_the_dates():
    for item in of_kind("order"):
        one, two, three = (gerund for _, gerund in sorted(events_of(item)))
        assert item.record["answer"] == f"First {one}, then {two}, and finally {three}."


@pytest.mark.parametrize("kind", sorted(KINDS["knowledge-update"]))
def test_an_update_contradicts_what_was_said_before(kind):
    for item in of_kind(kind):
        (early, old), (late, new) = evidence(item.record)
        assert early < late
        assert mentions(new, item.record["answer"])
        assert not mentions(old, item.record["answer"])
        # The earlier state has the same subject.
        subject = set(item.plot.told[0].keys) & set(item.plot.told[1].keys)
        assert subject
        assert all(mentions(item.record["question"], word) for word in subject)


@pytest.mark.parametrize("question_type", ABSTAINING)
def test_abstention_asks_for_what_was_never_said(question_type):
    for kind in KINDS[question_type]:
        for item in of_kind(kind, abstention=True):
            record = item.record
            assert record["answer"].startswith("The information provided is not enough.")
            missing = re.search(r"but not (.+)\.$", record["answer"])[1].removeprefix("the ")
            asked = {gerund: past for past, gerund in EVENTS}.get(missing, missing)
            assert asked in record["question"] or missing in record["question"]
            everything = "\n".join([*others(record), *(text for _, text in evidence(record))])
            assert not mentions(everything, missing)
            assert not mentions(everything, asked)


def test_the_deterministic_judge_accepts_every_answer():
    for item in MANY:
        decided = judge(parse_question(item.record), item.record["answer"]).correct
        preference = item.record["question_type"] == "single-session-preference"
        assert decided is (None if preference else True)


def test_retrieval_has_something_to_do_and_can_do_it():
    found, chance, n = 0.0, 0.0, 0
    for item in MANY[:105]:
        question = parse_question(item.record)
        if question.question_type == "single-session-preference" or question.abstention:
            continue
        ranked = GraphMemory(question.sessions).rank(question.question)
        head = {r.session_id for r in ranked[: len(question.answer_session_ids)]}
        found += len(head & set(question.answer_session_ids)) / len(head)
        chance += len(head) / len(ranked)
        n += 1
    assert chance / n < 0.25
    assert found / n > 0.7


def test_a_sample_has_the_same_bytes_again(tmp_path):
    for name in ("a", "b"):
        write_sample(tmp_path / name, 20, 42)
    data = (tmp_path / "a").read_bytes()
    assert data == (tmp_path / "b").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
    write_sample(tmp_path / "a", 20, 43)
    assert (tmp_path / "a").read_bytes() != data


def test_a_sample_that_cannot_be_written_leaves_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_sample(tmp_path / "file" / "sample.json", 3, 1)
    (tmp_path / "taken").mkdir()
    with pytest.raises(InputError, match="taken: cannot be written"):
        write_sample(tmp_path / "taken", 3, 1)
    with pytest.raises(InputError, match="n_questions"):
        write_sample(tmp_path / "sample.json", 0, 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "taken"]


@pytest.mark.parametrize(("n", "context_tokens", "key"), [(0, 800, "n_q"), (3, 0, "context_tok")])
def test_numbers_out_of_range_are_named(n, context_tokens, key):
    with pytest.raises(InputError, match=f"longmemeval: {key}"):
        generate(n, 1, context_tokens)
