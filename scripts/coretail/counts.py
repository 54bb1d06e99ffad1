"""Vectors of counts: what is accepted, and the first thing that is wrong with the rest."""

import codecs
from typing import Any

import numpy as np
import numpy.typing as npt

from coretail.errors import InputError

Counts = npt.NDArray[np.int64]

_INT64_MAX = 2**63 - 1
# UTF-32 first: its little-endian mark starts with UTF-16's.
_FOREIGN = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


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


def parse_counts(data: bytes, *, name: str = "counts") -> Counts:
    """Return the counts in the bytes of a text file with one positive integer a line.

    UTF-8 or ASCII, with or without a byte-order mark; any line ending; blanks around a number and
    blank lines at the end are ignored.

    Raises
    ------
    InputError
        If there are none, the text is in another encoding, or a line is anything else than one
        integer from 1 to 2**63 - 1: the first such line is named.
    """
    for mark, encoding in _FOREIGN:
        if data.startswith(mark):
            raise InputError(f"{name}: the text is {encoding}; save it as UTF-8")
    if b"\0" in data:
        raise InputError(f"{name}: not a text file (or UTF-16 text): save it as UTF-8 text")
    text = data.removeprefix(codecs.BOM_UTF8)
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    text = text.rstrip()
    if not text:
        raise InputError(f"{name}: no counts; give one positive integer a line")
    raw = np.frombuffer(text, dtype=np.uint8)
    digit = (raw >= ord("0")) & (raw <= ord("9"))
    breaks = np.flatnonzero(raw == ord("\n"))
    offenders = []
    foreign = ~digit & ~np.isin(raw, np.frombuffer(b" \t\n", dtype=np.uint8))
    if foreign.any():
        offenders.append(int(np.searchsorted(breaks, np.argmax(foreign))))
    start = digit.copy()
    start[1:] &= ~digit[:-1]
    starts = np.flatnonzero(start)
    # Line i must hold the start of number i, and of no other.
    first = np.concatenate([[-1], breaks])
    last = np.concatenate([breaks, [raw.size]])
    shared = min(starts.size, last.size)
    misplaced = (starts[:shared] <= first[:shared]) | (starts[:shared] >= last[:shared])
    if misplaced.any():
        index = int(np.argmax(misplaced))
        offenders.append(min(index, int(np.searchsorted(breaks, starts[index]))))
    elif starts.size != last.size:
        offenders.append(shared if starts.size < last.size else last.size - 1)
    stop = digit.copy()
    stop[:-1] &= ~digit[1:]
    long = np.flatnonzero(np.flatnonzero(stop) - starts >= 18)
    for index in long.tolist():
        number = int(text[starts[index] :].split(None, 1)[0])
        if number > _INT64_MAX:
            offenders.append(int(np.searchsorted(breaks, starts[index])))
            break
    positive = (
        np.logical_or.reduceat(digit & (raw > ord("0")), starts) if starts.size else start[:0]
    )
    if not positive.all():
        offenders.append(int(np.searchsorted(breaks, starts[np.argmin(positive)])))
    if not offenders:
        return np.fromstring(text, dtype=np.int64, sep=" ")
    line = min(offenders)
    shown = text.split(b"\n", line + 1)[line].decode("utf-8", "replace").strip()
    what = repr(shown if len(shown) <= 40 else shown[:37] + "...") if shown else "a blank line"
    raise InputError(
        f"{name}, line {line + 1}: {what} is not a positive integer below 2**63; "
        "give one a line, nothing else"
    )
