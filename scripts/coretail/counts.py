"""Vectors of counts: what is accepted, and the first thing that is wrong with the rest."""

from typing import Any

import numpy as np
import numpy.typing as npt

from coretail.errors import InputError

Counts = npt.NDArray[np.int64]

_INT64_MAX = 2**63 - 1


def as_counts(values: npt.ArrayLike, *, minimum: int = 1, name: str = "counts") -> Counts:
    """Return ``values`` as a vector of int64 counts.

    Parameters
    ----------
    values
        One count per item, shape (n,). Whole numbers in a float array are accepted.
    minimum
        The smallest count allowed: 1, or 0 where items never used may stand in the vector.
    name
        What the vector is called in an error message.

    Raises
    ------
    InputError
        If the vector is not one-dimensional or holds anything but integers from ``minimum`` to
        2**63 - 1. The message names the first offender and its position, counted from 0.
    """
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(
            f"{name}: rows of different lengths; give one count per item in a flat list"
        ) from error
    if array.ndim != 1:
        raise InputError(f"{name}: {array.ndim} dimensions; give one count per item, shape (n,)")
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.dtype == np.int64 or array.dtype.kind in "iu":
        bad = (array < minimum) | (array > _INT64_MAX)
    elif array.dtype.kind == "f":
        # 2.0**63 is the first float that no int64 holds; NaN fails every comparison.
        bad = ~((array >= minimum) & (array < 2.0**63) & (np.floor(array) == array))
    else:
        bad = np.array([not _is_count(value, minimum) for value in array.tolist()])
    if bad.any():
        position = int(np.argmax(bad))
        kind = "positive" if minimum == 1 else "non-negative"
        raise InputError(
            f"{name}: value {array.tolist()[position]!r} at position {position} is not a {kind} "
            "integer below 2**63; drop it or correct it"
        )
    return array.astype(np.int64)


def _is_count(value: Any, minimum: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and minimum <= value <= _INT64_MAX
