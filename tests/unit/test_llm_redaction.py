"""Keys do not reach logs, whatever is logged."""

import io
import logging

import pytest

from coretail.llm import RedactingFilter
from coretail.llm.redaction import Redactor

KEY = "sk-fake-0123456789abcdef"


@pytest.fixture
def logged(monkeypatch):
    """A logger whose handler redacts, and what it wrote."""
    monkeypatch.setenv("TEST_KEY", KEY)
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(RedactingFilter(["TEST_KEY", "ANOTHER_KEY_THAT_IS_NOT_SET"]))
    logger = logging.getLogger("coretail.test_redaction")
    logger.addHandler(handler)
    logger.propagate = False
    yield logger, stream
    logger.removeHandler(handler)


def test_messages_and_their_arguments_are_redacted(logged):
    logger, stream = logged
    logger.warning("header %s, %d", {"Authorization": f"Bearer {KEY}"}, 7)
    logger.getChild("child").warning(KEY)
    assert stream.getvalue() == "header {'Authorization': 'Bearer [redacted]'}, 7\n[redacted]\n"


def test_tracebacks_are_redacted(logged):
    logger, stream = logged
    try:
        raise ValueError(f"bad key {KEY}")
    except ValueError:
        logger.exception("failed")
    assert "ValueError: bad key [redacted]" in stream.getvalue()
    assert "Traceback" in stream.getvalue()
    assert KEY not in stream.getvalue()


def test_without_keys_nothing_is_changed():
    assert Redactor(["", ""])("a text") == "a text"


def test_a_key_that_contains_another_leaves_no_rest():
    assert Redactor(["abc", "abcdef"])("abcdef abc") == "[redacted] [redacted]"
    assert "abc" not in repr(Redactor(["abc"]))
