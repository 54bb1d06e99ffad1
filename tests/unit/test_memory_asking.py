"""Asking a model from what a memory shows: statuses, names, and a window that fills up."""

import pytest

from coretail.llm import ApiModel, CallFailed, Client, Retry
from coretail.llm.request import Request
from coretail.memory.asking import Asked, ask
from coretail.memory.frozen import Step, replay
from coretail.memory.policies import Context, Settings, make_policy
from coretail.prompts import PREDICTION_TEMPLATE, context_prompt
from endpoint import CONTENT_FILTER, REFUSAL, Behaviour, LocalEndpoint, error
from memory_world import WALK, world

VIEW = world()


def question(body) -> str:
    return body["messages"][-1]["content"].split("Now: ")[-1]


def reader(body) -> str:
    """Copies the first memory with the same state and action; makes up a state without one."""
    lines = body["messages"][-1]["content"].split("\n")[1:-1]
    found = [line for line in lines if question(body) in line]
    return found[0].split(". ")[-1].split(";")[0] if found else f"{question(body)} nowhere"


def asked_of(steps, view=VIEW, window=None, seed=0, **options):
    with LocalEndpoint(**{"reply": reader} | options) as endpoint:
        model = ApiModel("tester", base_url=endpoint.base_url, key_env=None)
        with Client(model, retry=Retry(attempts=2, first=0.0, longest=0.0)) as client:
            return ask(client, view, steps, window=window, seed=seed, rule="asking"), endpoint.log


def done_by(name, walk=WALK, view=VIEW, **options):
    return list(replay(view, walk, make_policy(name, view, Settings(**options))))


def step_showing(number, text, edge=0) -> Step:
    return Step(number, edge, 0, "", 0, -1, -1, Context(text))


def test_a_model_that_reads_says_what_the_best_memory_says():
    steps = done_by("ctwm")
    found, log = asked_of(steps)
    assert [a.step for a in found] == list(range(9))
    assert [a.status for a in found] == ["answered"] * 9
    # "nowhere" is no state's name.
    assert [a.predicted for a in found] == [s.top1 for s in steps]
    assert [a.correct for a in found] == [False] * 5 + [True, False, False, True]
    for step, one, logged in zip(steps, found, log, strict=True):
        state, action, _ = VIEW.transition(step.edge)
        messages = context_prompt(state, action, step.context.text)
        assert [(m["role"], m["content"]) for m in logged.body["messages"]] == list(messages)
        assert one.prompt_tokens == sum(len(m.content.split()) for m in messages)
        assert one.completion_tokens == len(reader(logged.body).split())


def test_every_kind_of_reply():
    cases = [
        (Behaviour(text="barn -> go on -> cave"), ("answered", 1, True)),
        (Behaviour(text=" barn -> go on ->  cave \n"), ("answered", 1, True)),
        (Behaviour(text="barn -> go on -> gate"), ("answered", 4, False)),
        (Behaviour(text="2. barn -> go on -> cave"), ("answered", 1, True)),
        (Behaviour(text="barn -> go on -> Cave"), ("answered", -1, False)),
        (Behaviour(text="barn -> go on -> cave, or dock"), ("answered", -1, False)),
        (Behaviour(text='barn -> go on -> "cave"'), ("answered", -1, False)),
        (Behaviour(text="cave"), ("malformed", -1, False)),
        (Behaviour(text="barn -> turn left -> cave"), ("malformed", -1, False)),
        (Behaviour(text="1. barn -> turn left -> cave"), ("malformed", -1, False)),
        (Behaviour(text="barn -> go on ->"), ("malformed", -1, False)),
        (Behaviour(text="barn -> go on -> cave\nbarn -> go on -> dock"), ("malformed", -1, False)),
        (Behaviour(text=""), ("malformed", -1, False)),
        (REFUSAL, ("refusal", -1, None)),
        (CONTENT_FILTER, ("content_filter", -1, None)),
        (error(400, code="content_filter"), ("content_filter", -1, None)),
    ]
    steps = [step_showing(number, f"memory {number}") for number in range(len(cases))]
    found, log = asked_of(steps, script=[behaviour for behaviour, _ in cases])
    assert len(log) == len(cases)
    assert [(a.status, a.predicted, a.correct) for a in found] == [want for _, want in cases]
    assert all(a.prompt_tokens > 0 for a in found[:-1])
    assert (found[-1].prompt_tokens, found[-1].completion_tokens) == (0, 0)


def test_names_are_compared_as_prompts_write_them():
    view = world(
        {"a": [], "b\nc": [], "d, e": []},
        [("a", "go", "b\nc"), ("a", "go", "d, e"), ("b\nc", "go, or not", "a"),
         ("d, e", "go", "a")],
    )  # fmt: skip
    replies = ['a -> go -> "b\\nc"', 'a -> go -> "d, e"', "a -> go -> d, e"]
    replies.append('"b\\nc" -> "go, or not" -> a')
    steps = [step_showing(n, f"memory {n}", edge) for n, edge in enumerate([0, 0, 1, 2])]
    found, _ = asked_of(steps, view, script=[Behaviour(text=text) for text in replies])
    assert [(a.predicted, a.correct) for a in found] == [
        (1, True), (2, False), (-1, False), (0, True),
    ]  # fmt: skip


def test_only_the_steps_given_are_asked_at_with_the_seed_given():
    steps = [step for step in done_by("ctwm") if step.number in (2, 8)]
    found, log = asked_of(iter(steps), seed=7)
    assert [a.step for a in found] == [2, 8]
    assert [logged.body["seed"] for logged in log] == [7, 7]
    assert {logged.body["temperature"] for logged in log} == {0.0}
    assert {logged.body["max_tokens"] for logged in log} == {64}
    assert not any("response_format" in logged.body for logged in log)


def test_a_failure_is_no_answer():
    message = r"^asking, by hand with 5 states, seed 1, step 3: .*Run again"
    with pytest.raises(CallFailed, match=message):
        asked_of([step_showing(3, "")], script=[error(503)] * 2)


# A window that fills up. The bound of a prompt is its bytes and 64 tokens for each of six messages
# and the conversation.


def bound(text) -> int:
    return Request(context_prompt("barn", "go on", text), 64).prompt_bound()


def words(text) -> int:
    return sum(len(m.content.split()) for m in context_prompt("barn", "go on", text))


def test_the_bound_is_what_it_is_taken_for():
    messages = context_prompt("barn", "go on", "é")
    assert len(messages) == len(PREDICTION_TEMPLATE.shared) + 1 == 6
    assert bound("é") == sum(len(m.content.encode()) for m in messages) + 64 * 7
    assert bound("éa") == bound("é") + 1
    assert bound("éé") == bound("é") + 2


def test_the_first_prompt_counts_as_all_new():
    steps = [step_showing(0, "x")]
    for window, status in ((bound("x") + 63, "window_full"), (bound("x") + 64, "answered")):
        found, log = asked_of(steps, window=window)
        assert [a.status for a in found] == [status]
        assert len(log) == (status == "answered")
    assert asked_of(steps, window=None)[0][0].status == "answered"


def test_a_window_once_full_stays_full():
    window = bound("") + 64
    grown = "y" * 1000
    # Fits by what was reported before it and its growth, while its own bytes would not.
    fits = words("") + len(grown) + 64
    assert fits <= window < bound(grown)
    # A thousand bytes more do not fit, whatever they would take; a short prompt afterwards is not
    # asked about either.
    more = grown + "z" * (window - words(grown) - 64 + 1)
    texts = ["", grown, more, "", grown]
    steps = [step_showing(number, text) for number, text in enumerate(texts)]
    runs = [asked_of(steps, window=window) for _ in range(2)]
    for found, log in runs:
        assert [a.status for a in found] == ["answered"] * 2 + ["window_full"] * 3
        assert len(log) == 2
        for one in found[2:]:
            assert one == Asked(one.step, "window_full", -1, None, 0, 0)
    assert runs[0][0] == runs[1][0]
    # One byte less fits.
    steps[2] = step_showing(2, more[:-1])
    found, log = asked_of(steps, window=window)
    assert [a.status for a in found] == ["answered"] * 5


def test_a_reply_without_usage_is_no_measure():
    window = bound("x") + 64
    most = window - words("x") - 64
    texts = ["x", "x" + "y" * 1000, "x" + "z" * most, "x" + "z" * (most + 1)]
    steps = [step_showing(number, text) for number, text in enumerate(texts)]
    # At step 1 nothing is reported; so what counts at step 2 is the growth from step 0 on.
    script = [Behaviour(text="x"), error(400, code="content_filter"), REFUSAL]
    found, _ = asked_of(steps[:3], window=window, script=script)
    assert [a.status for a in found] == ["malformed", "content_filter", "refusal"]
    found, _ = asked_of([*steps[:2], steps[3]], window=window, script=script)
    assert [a.status for a in found] == ["malformed", "content_filter", "window_full"]
    # Where the very first reply reports nothing, the next prompt counts as all new.
    found, _ = asked_of([steps[0], steps[1]], window=window, script=script[1:])
    assert [a.status for a in found] == ["content_filter", "window_full"]


def test_a_full_history_runs_out_of_its_window():
    steps = done_by("full_history", [0, 3, 1, 4] * 60)
    window = 1450
    found, log = asked_of(steps, window=window)
    statuses = [a.status for a in found]
    full = statuses.index("window_full")
    assert 0 < full < len(steps)
    assert statuses == ["answered"] * full + ["window_full"] * (len(steps) - full)
    assert len(log) == full
    # By hand: tokens reported for the prompt before, growth in bytes, reply.
    sizes = [
        Request(context_prompt(*VIEW.transition(s.edge)[:2], s.context.text), 64).prompt_bound()
        for s in steps
    ]
    for number in range(1, full + 1):
        most = found[number - 1].prompt_tokens + max(0, sizes[number] - sizes[number - 1]) + 64
        assert (most > window) == (number == full)
