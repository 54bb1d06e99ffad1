import numpy as np
import pytest

from coretail.counts import as_counts
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
