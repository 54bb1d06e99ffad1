import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coretail.counts import as_counts, parse_counts
from coretail.errors import InputError


@pytest.mark.parametrize(
    "values",
    [[1, 2, 3], (1, 2, 3), np.array([1, 2, 3], dtype=np.uint8), np.array([1.0, 2.0, 3.0])],
)
def test_whole_numbers_of_any_type_become_int64(values):
    counts = as_counts(values)
    assert counts.dtype == np.int64
    assert counts.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("values", "offender", "position"),
    [
        ([3, 0, -1], "0", 1),
        ([3, 4, -1], "-1", 2),
        ([1.0, 2.5], "2.5", 1),
        ([1.0, float("nan")], "nan", 1),
        ([1.0, float("inf")], "inf", 1),
        (["1", "2"], "'1'", 0),
        ([1, "x"], "'1'", 0),
        ([1, None], "None", 1),
        ([True, False], "True", 0),
        ([1, 2**63], "9.22337203685477", 1),
        ([2**64, 1], str(2**64), 0),
        (np.array([1, 2**63], dtype=np.uint64), str(2**63), 1),
        ([1.0, 2.0**63], "9.22337203685477", 1),
    ],
)
def test_the_first_offender_is_named_with_its_position(values, offender, position):
    with pytest.raises(InputError) as error:
        as_counts(values)
    assert offender in str(error.value)
    assert f"position {position}" in str(error.value)


def test_the_largest_int64_is_accepted():
    assert as_counts([2**63 - 1]).tolist() == [2**63 - 1]


def test_zero_is_accepted_where_allowed():
    assert as_counts([0, 2], minimum=0).tolist() == [0, 2]
    with pytest.raises(InputError, match="-1 at position 1 is not a non-negative"):
        as_counts([0, -1], minimum=0)


@pytest.mark.parametrize("values", [[[1, 2], [3, 4]], 5])
def test_only_vectors_are_accepted(values):
    with pytest.raises(InputError, match="dimensions"):
        as_counts(values)


def test_ragged_rows_are_an_input_error():
    with pytest.raises(InputError, match="different lengths"):
        as_counts([[1, 2], [3]])


def test_an_empty_vector_is_accepted():
    assert as_counts([]).tolist() == []


def test_a_text_of_counts():
    assert parse_counts(b"3\n1\n9223372036854775807\n007\n").tolist() == [3, 1, 2**63 - 1, 7]


@pytest.mark.parametrize(
    "data",
    [
        b"3\n1\n2",
        b"3\n1\n2\n\n \n",
        b"3\r\n1\r\n2\r\n",
        b"3\r1\r2\r",
        b"\xef\xbb\xbf3\n1\n2\n",
        b" 3\n1 \n\t2\t\n",
    ],
)
def test_line_endings_marks_and_blanks_around_numbers(data):
    assert parse_counts(data).tolist() == [3, 1, 2]


def test_a_single_line():
    assert parse_counts(b"12").tolist() == [12]


@pytest.mark.parametrize(
    ("data", "line", "shown"),
    [
        (b"x\n1\n", 1, "'x'"),
        (b"1\n2\n3 4\n", 3, "'3 4'"),
        (b"1 2\n3\n", 1, "'1 2'"),
        (b"1\n\n2 3\n", 2, "a blank line"),
        (b"\n1\n", 1, "a blank line"),
        (b"1\n2\n0\n-4\n", 3, "'0'"),
        (b"1\n2.0\n", 2, "'2.0'"),
        (b"1\n1e3\n", 2, "'1e3'"),
        (b"1\n+3\n", 2, "'+3'"),
        (b"1\n2,3\n", 2, "'2,3'"),
        (b"1\nnan\n", 2, "'nan'"),
        (b"count\n1\n", 1, "'count'"),
        (b"1\n9223372036854775808\n", 2, "'9223372036854775808'"),
        (b"1\n99999999999999999999999999\n0\n", 2, "'9999"),
        (b"0\n99999999999999999999999999\n", 1, "'0'"),
        (b"1\n" + b"7" * 100 + b"\n", 2, "'7777777777777777777777777777777777777...'"),
        (b"1\n\xe9\n", 2, "line 2"),
        ("1\n٣\n".encode(), 2, "line 2"),
    ],
)
def test_the_first_line_that_is_no_count_is_named(data, line, shown):
    with pytest.raises(InputError) as error:
        parse_counts(data, name="log.txt")
    assert str(error.value).startswith(f"log.txt, line {line}: ")
    assert shown in str(error.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no counts"),
        (b"\n \n\t\r\n", "no counts"),
        (b"\xef\xbb\xbf", "no counts"),
        ("1\n2\n".encode("utf-16"), "UTF-16; save it as UTF-8"),
        ("1\n2\n".encode("utf-32"), "UTF-32; save it as UTF-8"),
        ("1\n2\n".encode("utf-16-le"), "UTF-16 text"),
        (b"PK\x03\x04\x00\x00", "not a text file"),
    ],
)
def test_other_encodings_and_empty_files(data, message):
    with pytest.raises(InputError, match=message):
        parse_counts(data)


def slow_parse(data):
    """Return counts, or the number of the first line that is none, one line at a time."""
    lines = data.rstrip().split(b"\n")
    counts = []
    for number, line in enumerate(lines, start=1):
        if not re.fullmatch(rb"[ \t]*[0-9]+[ \t]*", line) or not 1 <= int(line) < 2**63:
            return number
        counts.append(int(line))
    return counts


@given(
    st.lists(
        st.one_of(
            st.integers(1, 2**63 + 5).map(str),
            st.integers(1, 99).map(str),
            st.text("0123456789 \t-x", max_size=6),
        ),
        min_size=1,
        max_size=12,
    )
)
@example(["0", "x"])
def test_parsing_agrees_with_a_line_by_line_reader(lines):
    data = "\n".join(lines).encode()
    if not data.strip():
        return
    expected = slow_parse(data)
    if isinstance(expected, int):
        with pytest.raises(InputError, match=f"line {expected}: "):
            parse_counts(data)
    else:
        assert parse_counts(data).tolist() == expected


def test_a_million_lines_are_read_without_a_loop():
    data = b"12\n" * 999_999 + b"x\n"
    with pytest.raises(InputError, match="line 1000000: 'x'"):
        parse_counts(data)
    assert parse_counts(data[:-2]).sum() == 12 * 999_999
