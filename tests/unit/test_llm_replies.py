"""Strict parsing: an option and nothing else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coretail.llm import enum_schema, parse_choice

OPTIONS = ("enter the kitchen", "garden", "42", "")


@given(st.lists(st.text(min_size=1), min_size=1), st.data())
def test_every_option_is_found_as_a_json_string(options, data):
    option = data.draw(st.sampled_from(options))
    assert parse_choice(json.dumps(option), options) in (option, json.dumps(option))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"garden"', "garden"),
        ("garden", "garden"),
        ('\n "enter the kitchen" ', "enter the kitchen"),
        ("42", "42"),
        ('"Garden"', None),
        ("garden.", None),
        ("the garden", None),
        ('"gard', None),
        ('["garden"]', None),
        ('{"action": "garden"}', None),
        ("null", None),
        ("[" * 100_000, None),
    ],
)
def test_nothing_is_guessed(text, value):
    assert parse_choice(text, OPTIONS) == value


def test_an_empty_reply_names_only_an_empty_option():
    assert parse_choice("  ", ("garden",)) is None


def test_the_schema_lists_the_options_in_their_order():
    assert enum_schema(("b", "a")) == {"type": "string", "enum": ["b", "a"]}
