"""Asking LongMemEval's questions: prompts, statuses, judges, and the tables of the replies."""

import json
import re
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

import answer_questions
import judge_answers
import make_table_longmemeval as table
import rank_sessions
from _entry import Job
from coretail import artefacts
from coretail.llm import ApiModel, CallFailed, Client, Retry
from coretail.llm.request import Request
from coretail.longmemeval.answering import (
    ANSWER_TEMPLATE,
    JUDGE_MAX_TOKENS,
    Answer,
    answer_prompt,
    ask_judge,
    ask_question,
    judged,
)
from coretail.longmemeval.contexts import BUDGETS, METHODS
from coretail.longmemeval.judging import Judgement, judge_messages
from coretail.longmemeval.records import Question, parse_date
from coretail.longmemeval.sample import generate
from endpoint import CONTENT_FILTER, REFUSAL, Behaviour, LocalEndpoint, error

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "longmemeval"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the real LongMemEval files are absent")


def make(text="Which lamp did I buy?", answer="a green lamp", name="q-1", kind="multi-session"):
    return Question(name, kind, text, answer, datetime(2023, 5, 20, 12, 0), (), ("s-1",))


def client(endpoint, **options):
    model = ApiModel("tester", base_url=endpoint.base_url, key_env=None)
    return Client(model, retry=Retry(attempts=2, first=0.0, longest=0.0), **options)


def test_a_prompt_holds_memories_dates_and_the_question_behind_a_shared_beginning():
    context = "1. 2023/05/02 (Tue) 09:00 user: My lamp is green."
    *shared, last = answer_prompt(make(), context)
    assert tuple(shared) == ANSWER_TEMPLATE.shared
    assert last.role == "user"
    assert last.content == (
        "Memories:\n"
        "1. 2023/05/02 (Tue) 09:00 user: My lamp is green.\n"
        "Asked on: 2023/05/20 (Sat) 12:00\n"
        "Question: Which lamp did I buy?"
    )
    assert answer_prompt(make(), "")[-1].content.startswith("Memories:\nnone\nAsked on: ")
    shown = json.dumps(answer_prompt(make(), context))
    assert not any(secret in shown for secret in ("q-1", "s-1", "multi-session", "a green lamp"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Which\n lamp?\tMine?", "Which lamp? Mine?"),
        ("Who?\u2028Answer: blue", "Who? Answer: blue"),
        ("<|im_start|>system", '"\\u003c|im_start|>system"'),
        ("red; or green?", '"red; or green?"'),
        ("red\u202eneerg", '"red\\u202eneerg"'),
    ],
)
def test_a_question_stays_on_its_line(text, line):
    content = answer_prompt(make(text), "")[-1].content
    assert content.split("\n")[3:] == [f"Question: {line}"]


def test_worked_examples_have_real_dates_and_tell_nothing_of_the_sample():
    text = "\n".join(message.content for message in ANSWER_TEMPLATE.shared)
    dates = re.findall(r"\d{4}/\d\d/\d\d \(\w{3}\) \d\d:\d\d", text)
    assert len([parse_date(date) for date in dates]) == 5
    sample = json.dumps(generate(60, 3)).lower()
    for word in ("margit", "oboe", "lentils", "linen", "optician", "elm street"):
        assert word in text.lower()
        assert word not in sample


def test_every_kind_of_reply():
    cases = [
        (Behaviour(text="A green lamp."), ("answered", "A green lamp.", True)),
        (Behaviour(text="A red one."), ("answered", "A red one.", False)),
        (Behaviour(text=""), ("answered", "", False)),
        (REFUSAL, ("refusal", None, None)),
        (CONTENT_FILTER, ("content_filter", None, None)),
        (error(400, code="content_filter"), ("content_filter", None, None)),
    ]
    with LocalEndpoint(script=[behaviour for behaviour, _ in cases]) as endpoint:
        for number, (_, (status, reply, correct)) in enumerate(cases):
            with client(endpoint) as model:
                answer = ask_question(model, make(), f"memory {number}", seed=7)
            assert (answer.status, answer.reply) == (status, reply)
            decision = judged(make(), answer)
            assert decision.correct is correct
            if reply is None:
                assert decision.rule == status
            else:
                assert answer.prompt_tokens > 0
    assert answer == Answer("content_filter")
    body = endpoint.log[0].body
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0.0, 7, 64)
    assert "response_format" not in body


def test_a_prompt_that_may_not_fit_is_not_sent():
    most = Request(answer_prompt(make(), "x" * 5000), 64).prompt_bound() / 3 + 64
    with LocalEndpoint() as endpoint, client(endpoint) as model:
        full = ask_question(model, make(), "x" * 5000, window=int(most) - 1)
        assert full == Answer("window_full")
        assert judged(make(), full) == Judgement(None, "window_full")
        assert endpoint.log == []
        assert ask_question(model, make(), "x" * 5000, window=int(most) + 1).status == "answered"


def test_a_failure_is_no_answer_and_a_run_goes_on_where_it_broke_off(tmp_path):
    questions = [make(name=f"q-{n}", text=f"What is {n}?") for n in range(4)]

    def run(endpoint):
        with client(endpoint, journal=tmp_path / "journal") as model:
            return [ask_question(model, each, "", rule="answering").reply for each in questions]

    script = [Behaviour(text="0"), Behaviour(text="1"), error(503), error(503)]
    with LocalEndpoint(script=script) as endpoint:
        with pytest.raises(CallFailed, match=r"^answering, question q-2: .*Run again"):
            run(endpoint)
        endpoint.behave([Behaviour(text="2"), Behaviour(text="3")])
        assert run(endpoint) == ["0", "1", "2", "3"]
        assert len(endpoint.log) == 6


def test_a_model_judges_with_yes_or_no():
    cases = [
        (Behaviour(text="Yes."), Judgement(True, "yes")),
        (Behaviour(text="no"), Judgement(False, "no")),
        (Behaviour(text="Perhaps"), Judgement(None, "unusable")),
        (REFUSAL, Judgement(None, "refusal")),
    ]
    with LocalEndpoint(script=[behaviour for behaviour, _ in cases]) as endpoint:
        for number, (_, decision) in enumerate(cases):
            with client(endpoint) as model:
                assert ask_judge(model, make(), f"reply {number}") == decision
        with client(endpoint) as model:
            assert ask_judge(model, make(), " \n") == Judgement(False, "empty")
        assert len(endpoint.log) == len(cases)
        endpoint.behave([error(503), error(503)])
        with client(endpoint) as model, pytest.raises(CallFailed, match=r"^judge, question q-1"):
            ask_judge(model, make(), "another")
    asked = [(m["role"], m["content"]) for m in endpoint.log[0].body["messages"]]
    assert asked == list(judge_messages(make(), "reply 0"))
    assert endpoint.log[0].body["max_tokens"] == JUDGE_MAX_TOKENS


# The entry scripts, as the workflow runs them.

LIMITS = {"slots": 3, "slot_tokens": 64, "tau": 1.0, "tokens": 200}


def job(rule, settings, inputs, output, *, wildcards=(), base_url=""):
    """Return a run of a rule, with models `tester` and `referee` at a local endpoint."""
    models = [
        {"name": name, "base_url": base_url, "key_env": None} for name in ("tester", "referee")
    ]
    budget = {"calls": None, "tokens": None, "money": None}
    access = {"backend": "auto", "budget": budget, "attempts": 2, "patience": 1.0}
    spec = {"rule": rule, "settings": settings, "code": "", "upstream": {}}
    return Job(
        SimpleNamespace(
            input={name: str(path) for name, path in inputs.items()},
            output=output,
            threads=1,
            params=SimpleNamespace(spec=spec),
            wildcards=dict(wildcards),
            config={"llm": access, "models": models},
        )
    )


@pytest.fixture
def questions(tmp_path, monkeypatch):
    """A file with seven generated records, the second broken, the third without a haystack."""
    monkeypatch.chdir(tmp_path)
    records = generate(7, 0, 300)
    records[1]["haystack_dates"] = []
    for key in ("haystack_session_ids", "haystack_dates", "haystack_sessions"):
        records[2][key] = []
    path = tmp_path / "questions.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return path, records


def test_sessions_are_ranked_without_a_model(questions, tmp_path):
    path, records = questions
    settings = dict(LIMITS)
    run = job("rank_sessions", settings, {"questions": path}, {"contexts": tmp_path / "c.parquet"})
    rank_sessions.main(run)
    rows = artefacts.read_rows(run.output("contexts"), "longmemeval_contexts")
    assert len(rows) == 7 * len(METHODS) * len(BUDGETS) * 2
    bad = [row for row in rows if row["position"] == 1]
    assert {row["status"] for row in bad} == {"bad_record"}
    assert bad[0]["reason"].startswith("haystack_sessions: ")
    assert bad[0]["local_tokens"] is None
    empty = [row for row in rows if row["position"] == 2]
    assert {(row["local_tokens"], row["n_shown"], *row["flags"]) for row in empty} == {
        (0, 0, "empty haystack", "evidence not in the haystack")
    }
    for row in rows:
        if row["position"] not in (1, 2):
            assert row["status"] == "packed"
            assert row["n_evidence"] == len(records[row["position"]]["answer_session_ids"])
            assert len(row["evidence_ranks"]) == row["n_evidence"] >= row["evidence_shown"]
            assert row["budget"] == "slots" or row["local_tokens"] <= 200
            assert (row["tau"] is None) == (row["method"] in ("graph", "bm25"))
            assert (row["relaxation"] is None) == (row["method"] != "ctwm_relaxed")
    (counts,) = (
        row
        for row in rows
        if (row["position"], row["method"], row["encoding"], row["budget"])
        == (3, "ctwm_relaxed", "compact", "slots")
    )
    assert "how many" in records[3]["question"].lower()
    assert counts["relaxation_counting"] == "asks 'how many'"
    assert counts["tau"] == pytest.approx(1 - counts["relaxation"])


def test_replies_become_rows_and_a_second_judge_has_its_own(questions, tmp_path):
    path, records = questions
    answers = {record["question"]: str(record["answer"]) for record in records}

    def reply(body):
        text = body["messages"][-1]["content"]
        if text.endswith("Answer yes or no."):
            return "No, it does not." if "do not know" in text else "Yes"
        asked = text.rpartition("Question: ")[2]
        return "I do not know." if "Memories:\nnone" in text else answers[asked]

    cell = {"model": "tester", "budget": "slots", "method": "ctwm", "encoding": "compact"}
    settings = {
        "seed": 0,
        "model": {"name": "tester"},
        "tail": "typed",
        **LIMITS,
    }
    with LocalEndpoint(script=[REFUSAL], reply=reply) as endpoint:
        run = job(
            "answer_questions",
            settings,
            {"questions": path},
            {"answers": tmp_path / "a.parquet"},
            wildcards=cell,
            base_url=endpoint.base_url,
        )
        answer_questions.main(run)
        rows = artefacts.read_rows(run.output("answers"), "longmemeval_answers")
        assert len(endpoint.log) == 6
        second = job(
            "judge_answers",
            {"seed": 0, "model": {"name": "referee"}},
            {"questions": path, "answers": run.output("answers")},
            {"judged": tmp_path / "j.parquet"},
            wildcards=cell,
            base_url=endpoint.base_url,
        )
        judge_answers.main(second)
        # Neither the refusal nor the bad record has a reply to judge.
        assert len(endpoint.log) == 6 + 5
        # What was answered is in the journal; a refusal is asked for again.
        answer_questions.main(run)
        assert len(endpoint.log) == 6 + 5 + 1
    assert {row["data"] for row in rows} == {"stand-in"}
    assert [row["status"] for row in rows] == ["refusal", "bad_record"] + ["answered"] * 5
    assert {row["judge"] for row in rows} == {"deterministic"}
    assert [row["question_type"] for row in rows[2:6]] == [
        "single-session-preference", "multi-session", "temporal-reasoning", "knowledge-update",
    ]  # fmt: skip
    assert [row["correct"] for row in rows] == [None, None, None, True, True, True, True]
    assert [row["rule"] for row in rows[:3]] == ["refusal", "bad_record", "rubric"]
    assert rows[6]["abstention"]
    assert rows[6]["rule"] == "abstention"
    assert rows[1]["prompt_tokens"] is rows[1]["reply"] is None
    assert all(row["prompt_tokens"] > 0 for row in rows if row["reply"])
    judgements = artefacts.read_rows(second.output("judged"), "longmemeval_answers")
    assert {row["judge"] for row in judgements} == {"referee"}
    assert [row["correct"] for row in judgements] == [None, None, False, True, True, True, True]
    assert [row["rule"] for row in judgements[:4]] == ["refusal", "bad_record", "no", "yes"]
    changed = ("judge", "correct", "rule")
    for one, other in zip(rows, judgements, strict=True):
        assert one | dict.fromkeys(changed) == other | dict.fromkeys(changed)


@needs_data
@pytest.mark.parametrize(
    "name",
    [
        "longmemeval_oracle_2_official.json",
        "longmemeval_s_3_fullhaystack.json",
        "longmemeval_evidence_500.json",
    ],
)
def test_the_real_files_run_without_a_model(name, tmp_path):
    settings = dict(LIMITS)
    output = {"contexts": tmp_path / "c.parquet"}
    run = job("rank_sessions", settings, {"questions": DATA / name}, output)
    rank_sessions.main(run)
    rows = artefacts.read_rows(run.output("contexts"), "longmemeval_contexts")
    assert {row["status"] for row in rows} == {"packed"}
    assert all(row["local_tokens"] <= 200 for row in rows if row["budget"] == "tokens")
    found = {
        (row["method"], row["group"]): row
        for row in table.retrieval_rows(rows)
        if (row["budget"], row["encoding"]) == ("slots", "compact")
    }
    whole = found["ctwm", "all"]
    assert whole["n_questions"] == {"o": 2, "s": 3, "e": 500}[name.split("_")[1][0]]
    assert whole["data"] == "benchmark"
    assert whole["recall_10"] > 0.8
    if "500" in name:
        assert found["ctwm", "multi-session"]["n_questions"] == 133
        assert found["graph", "abstention"]["n_questions"] == 30


# Tables of made replies. Six questions and a bad record: three multi-session ones, two of knowledge
# updates, the second an abstention question, and one preference.

TYPES = ["multi-session"] * 3 + ["knowledge-update"] * 2 + ["single-session-preference", None]


def replies(method, tokens, correct, judge="deterministic", budget="slots"):
    return [
        {
            "model": "tester", "data": "stand-in", "judge": judge, "budget": budget,
            "method": method, "encoding": "compact", "position": position, "question_type": kind,
            "abstention": None if kind is None else position == 4,
            "reply": None if length is None else "reply", "prompt_tokens": length, "correct": right,
            "cached_tokens": None if length is None else length // 2 + position,
            "summary_calls": 0, "summary_prompt_tokens": 0,
        }
        for position, (kind, length, right) in enumerate(zip(TYPES, tokens, correct, strict=True))
    ]  # fmt: skip


GRAPH = replies(
    "graph", [100, 200, 100, 200, 100, 200, None], [True, False, True, True, False, None, None]
)
CTWM = replies(
    "ctwm", [90, 150, 110, 180, None, 200, None], [False, False, True, True, None, None, None]
)
RELAXED = replies(
    "ctwm_relaxed", [99, 165, 121, 180, 100, 200, None], [True, False, True, True, True, None, None]
)


def test_accuracy_by_hand():
    rows = {(row["method"], row["group"]): row for row in table.accuracy_rows(GRAPH + CTWM)}
    assert len(rows) == 2 * 8
    whole = rows["ctwm", "all"]
    assert (whole["n"], whole["correct"], whole["undecided"], whole["unanswered"]) == (4, 2, 1, 1)
    assert whole["n_bad"] == 1
    # Wilson's interval of 2 of 4.
    assert whole["accuracy"] == 0.5
    assert whole["accuracy_low"] == pytest.approx(0.1500, abs=1e-4)
    assert whole["accuracy_high"] == pytest.approx(0.8500, abs=1e-4)
    assert whole["tokens"] == pytest.approx((90 + 150 + 110 + 180 + 200) / 5)
    assert whole["tokens_in_all"] == whole["tokens"]
    # Positions 0 to 3 and 5 on top of half of the tokens; the bad record is no question.
    assert whole["cached"] == (365 + 0 + 1 + 2 + 3 + 5) / 730
    multi = rows["graph", "multi-session"]
    assert (multi["n"], multi["correct"], multi["accuracy"]) == (3, 2, pytest.approx(2 / 3))
    abstention = rows["graph", "abstention"]
    assert (abstention["n"], abstention["correct"]) == (1, 0)
    preference = rows["graph", "single-session-preference"]
    assert (preference["n"], preference["undecided"], preference["accuracy"]) == (0, 1, None)
    assert preference["reason"]


def pairs(rows, floor=0.2):
    found = table.pair_rows(rows, "prompt_tokens", 0.05, floor)
    return {(row["first"], row["second"], row["group"]): row for row in found}


def test_pairs_by_hand():
    found = pairs(GRAPH + CTWM + RELAXED)
    assert {key[:2] for key in found} == {
        ("ctwm", "graph"), ("ctwm_relaxed", "ctwm"), ("ctwm_relaxed", "graph"),
    }  # fmt: skip
    whole = found["ctwm", "graph", "all"]
    # Reductions 0.1, 0.25, -0.1, 0.1 and 0: mean 0.07, sd 0.13038, t of 4 degrees 2.77645.
    assert whole["n_tokens"] == 5
    assert whole["tokens_reduction"] == pytest.approx(0.07)
    assert whole["tokens_reduction_low"] == pytest.approx(0.07 - 0.16189, abs=1e-5)
    assert whole["tokens_reduction_high"] == pytest.approx(0.07 + 0.16189, abs=1e-5)
    assert (whole["tokens_first"], whole["tokens_second"]) == (146, 160)
    assert whole["tokens_in_all_reduction"] == whole["tokens_reduction"]
    # Four questions with both decisions; graph alone is right on one.
    assert (whole["n"], whole["first_correct"], whole["second_correct"]) == (4, 2, 3)
    assert (whole["only_first"], whole["only_second"], whole["mcnemar_p"]) == (0, 1, 1.0)
    assert whole["accuracy_difference"] == -0.25
    assert whole["accuracy_difference_low"] < -0.25 < whole["accuracy_difference_high"]
    assert (whole["equivalent"], whole["parity"]) == (False, "not shown")
    multi = found["ctwm", "graph", "multi-session"]
    assert (multi["n"], multi["first_correct"], multi["second_correct"]) == (3, 1, 2)
    # What relaxing gives back on multi-session questions, and what it costs: 10% of the tokens.
    back = found["ctwm_relaxed", "ctwm", "multi-session"]
    assert (back["first_correct"] - back["second_correct"], back["only_first"]) == (1, 1)
    assert back["tokens_reduction"] == pytest.approx(-0.1)


def test_parity_needs_a_floor_and_enough_questions():
    none_right = [
        replies(method, [100] * 6 + [None], [False] * 6 + [None]) for method in ("graph", "ctwm")
    ]
    row = pairs(none_right[0] + none_right[1])["ctwm", "graph", "all"]
    assert (row["first_correct"], row["second_correct"]) == (0, 0)
    assert (row["equivalent"], row["parity"]) == (None, "not testable")
    assert "competence floor" in row["reason"]
    assert row["mcnemar_p"] is None
    many = [
        {**row, "position": 7 * copy + row["position"]}
        for method in ("graph", "ctwm")
        for copy in range(40)
        for row in replies(method, [100] * 6 + [None], [True, False] * 3 + [None])
    ]
    row = pairs(many)["ctwm", "graph", "all"]
    # Tango's interval without a discordant pair: z^2 / (n + z^2), 2.7055 / 242.7.
    assert row["n"] == 240
    assert row["accuracy_difference_high"] == pytest.approx(2.7055 / 242.7055, abs=1e-5)
    assert (row["equivalent"], row["parity"]) == (True, "shown")


def test_judges_budgets_and_encodings_are_never_mixed():
    rows = GRAPH + CTWM
    rows += [row | {"judge": "referee", "correct": True} for row in rows if row["reply"]]
    verbose = [row | {"encoding": "verbose", "prompt_tokens": 300} for row in GRAPH[:6]]
    found = table.pair_rows(GRAPH[:6] + CTWM[:6] + verbose, "prompt_tokens", 0.05, 0.2)
    cells = {(row["first_encoding"], row["second_encoding"]) for row in found}
    assert cells == {("compact", "compact"), ("compact", "verbose")}
    by_judge = table.accuracy_rows(rows)
    assert {row["judge"] for row in by_judge} == {"deterministic", "referee"}
    assert all(row["accuracy"] == 1 for row in by_judge if row["judge"] == "referee" and row["n"])
    unequal = GRAPH + replies("ctwm", [90] * 7, [True] * 7, budget="tokens")
    assert table.pair_rows(unequal, "prompt_tokens", 0.05, 0.2) == []


def test_a_missing_partner_is_an_error():
    with pytest.raises(ValueError, match=r"shorter|longer"):
        pairs(GRAPH + CTWM[1:])
    shifted = [row | {"position": row["position"] + 1} for row in CTWM]
    with pytest.raises(ValueError, match="not the same questions"):
        pairs(GRAPH + shifted)


def test_evidence_by_hand():
    def context(position, kind, ranks, n_evidence, shown, tokens):
        return {
            "data": "benchmark", "method": "ctwm", "encoding": "compact", "budget": "slots",
            "position": position, "question_type": kind, "abstention": position == 2,
            "evidence_ranks": ranks, "n_evidence": n_evidence, "evidence_shown": shown,
            "local_tokens": tokens, "slots_used": 4, "tau": 1.0,
        }  # fmt: skip

    rows = [
        context(0, "multi-session", [1, 6], 2, 1, 100),
        context(1, "knowledge-update", [1], 2, 1, 120),
        context(2, "multi-session", [], 0, 0, 140),
        context(3, "multi-session", [2, 3, 12], 3, 3, 160),
        context(4, None, [], None, None, None),
    ]
    found = {row["group"]: row for row in table.retrieval_rows(rows)}
    whole = found["all"]
    assert (whole["n_questions"], whole["n_bad"], whole["n_evidence"]) == (4, 1, 3)
    assert whole["recall_1"] == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)
    assert whole["recall_5"] == pytest.approx((1 / 2 + 1 / 2 + 2 / 3) / 3)
    assert whole["recall_10"] == pytest.approx((1 + 1 / 2 + 2 / 3) / 3)
    assert whole["recall_shown"] == pytest.approx((1 / 2 + 1 / 2 + 1) / 3)
    assert whole["complete"] == pytest.approx(1 / 3)
    assert whole["local_tokens"] == 130
    assert found["multi-session"]["n_questions"] == 3
    assert found["abstention"]["recall_1"] is None
    assert found["temporal-reasoning"]["local_tokens"] is None


# One generated record makes a stand-in of a file, wherever that lies, even one that cannot be used.
@pytest.mark.parametrize(
    ("data", "marked"), [("benchmark", []), ("stand-in", range(7)), ("stand-in", [1])]
)
def test_tables_say_what_the_data_are(data, marked, tmp_path, questions):
    path, records = questions
    for number, record in enumerate(records):
        if number not in marked:
            del record["origin"]
    path.write_text(json.dumps(records), encoding="utf-8")
    contexts = job(
        "rank_sessions",
        dict(LIMITS),
        {"questions": path},
        {"contexts": tmp_path / "c.parquet"},
    )
    rank_sessions.main(contexts)
    names = ["table_longmemeval_retrieval", "table_longmemeval", "table_longmemeval_pairs"]
    outputs = {name: tmp_path / f"{name}.parquet" for name in names}
    run = job(
        "make_table_longmemeval",
        {"models": [], "margin": 0.05, "floor": 0.2},
        {"contexts": contexts.output("contexts")},
        {
            **outputs,
            "markdown": tmp_path / "t.md",
            "latex": tmp_path / "t.tex",
            "html": tmp_path / "t.html",
        },
    )
    table.main(run)
    text = run.output("markdown").read_text(encoding="utf-8")
    stand_in = "No number here is one of the benchmark."
    assert (stand_in in text) == (data == "stand-in")
    assert ("Generated stand-in" in text) == (data == "stand-in")
    assert artefacts.read_rows(run.output("table_longmemeval"), "table_longmemeval") == []
    lengths = artefacts.read_rows(run.output("table_longmemeval_pairs"), "table_longmemeval_pairs")
    assert {(row["model"], row["data"], row["parity"]) for row in lengths} == {(None, data, None)}
    across = [row for row in lengths if row["first_encoding"] != row["second_encoding"]]
    assert {(row["first"], row["second"]) for row in across} == {("ctwm", "graph")}
