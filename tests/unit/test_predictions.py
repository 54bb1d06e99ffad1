"""One question to a model: what is sent, and what each reply counts as."""

import pytest

from coretail.llm import ApiModel, CallFailed, Client, Retry
from coretail.predictions import Reply, predict_next
from coretail.prompts import PREDICTION_TEMPLATE, context_prompt
from endpoint import CONTENT_FILTER, REFUSAL, Behaviour, LocalEndpoint, error

MESSAGES = context_prompt("old mill", "go on", "old mill -> go on -> pond")


def reply_to(*script, state="old mill", action="go on", journal=None, **options):
    with LocalEndpoint(script=script) as endpoint:
        model = ApiModel("tester", base_url=endpoint.base_url, key_env=None)
        retry = Retry(attempts=2, first=0.0, longest=0.0)
        with Client(model, retry=retry, journal=journal) as client:
            made = predict_next(client, MESSAGES, state, action, "here, step 4", **options)
        return made, endpoint.log


def words(*texts):
    return sum(len(text.split()) for text in texts)


PROMPT = words(*(message.content for message in MESSAGES))


@pytest.mark.parametrize(
    ("behaviour", "expected", "scored"),
    [
        (Behaviour(text="old mill -> go on -> pond"), Reply("answered", "pond", PROMPT, 7), True),
        (
            Behaviour(text='old mill -> go on -> "a, b"'),
            Reply("answered", '"a, b"', PROMPT, 8),
            True,
        ),
        (Behaviour(text="pond"), Reply("malformed", None, PROMPT, 1), True),
        (Behaviour(text=""), Reply("malformed", None, PROMPT, 0), True),
        (REFUSAL, Reply("refusal", None, PROMPT, 7), False),
        (CONTENT_FILTER, Reply("content_filter", None, PROMPT, 7), False),
    ],
)
def test_what_a_reply_counts_as(behaviour, expected, scored):
    made, _ = reply_to(behaviour)
    assert made.status == expected.status
    assert made.predicted == expected.predicted
    assert made.prompt_tokens == expected.prompt_tokens
    assert made.scored == scored
    if made.scored:
        assert made == expected


def test_the_reply_must_repeat_what_is_asked():
    text = '"a -\\u003e b" -> go on -> pond'
    assert reply_to(Behaviour(text=text), state="a -> b")[0].predicted == "pond"
    assert reply_to(Behaviour(text=text))[0].status == "malformed"
    assert reply_to(Behaviour(text=text), state="a -> b", action="go")[0].status == "malformed"


def test_what_is_sent():
    _, (logged,) = reply_to(seed=5)
    body = logged.body
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0.0, 5, 64)
    assert "response_format" not in body
    assert [(m["role"], m["content"]) for m in body["messages"]] == list(MESSAGES)
    assert MESSAGES[:-1] == PREDICTION_TEMPLATE.shared


def test_an_answer_is_kept_with_its_template_and_asked_for_once(tmp_path):
    good = Behaviour(text="old mill -> go on -> pond")
    first, log = reply_to(good, journal=tmp_path / "journal")
    assert len(log) == 1
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"prediction/1" in kept
    with LocalEndpoint() as endpoint:
        model = ApiModel("tester", base_url=endpoint.base_url, key_env=None)
        with Client(model, journal=tmp_path / "journal") as client:
            again = predict_next(client, MESSAGES, "old mill", "go on", "here")
        # Another port is another endpoint, whose answers are its own.
        assert again.status == "malformed"
        assert len(endpoint.log) == 1
    assert first.predicted == "pond"


def test_no_answer_after_all_retries_is_a_failure():
    # The second try is answered.
    good = Behaviour(text="old mill -> go on -> pond")
    assert reply_to(error(503), good)[0].predicted == "pond"
    with pytest.raises(CallFailed, match=r"^here, step 4: .*\. Run again: what was answered"):
        reply_to(error(503), error(503))
