"""Columns of unknown type as ids (text), counts and numbers; the first unusable row is named."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coretail.counts import Counts
from coretail.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

_WHOLE_FLOATS = 2.0**53


def as_text(array: "pa.Array", name: str, first_row: int) -> "pa.LargeStringArray":
    """Return ids as valid UTF-8 text: whole floats without a decimal point, NaN as missing.

    Raises
    ------
    InputError
        If they are lists or objects, or bytes that are not UTF-8.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    array = _plain(array)
    if pa.types.is_nested(array.type):
        raise InputError(
            f"{name}: the ids are {array.type}; give one row per access, with one id in each"
        )
    if pa.types.is_floating(array.type):
        # A table of whole numbers with gaps comes as floats out of many programs.
        array = pc.if_else(pc.is_nan(array), None, array)
        whole = pc.and_(
            pc.equal(array, pc.floor(array)), pc.less(pc.abs(array), pa.scalar(_WHOLE_FLOATS))
        )
        integers = pc.if_else(whole, array, 0.0).cast(pa.int64()).cast(pa.large_string())
        return pc.if_else(whole, integers, array.cast(pa.large_string()))

    def convert(part: "pa.Array") -> "pa.LargeStringArray":
        texts = part.cast(pa.large_string())
        texts.validate(full=True)
        return texts

    try:
        return convert(array)
    # Every flat type that a file can hold has a text; only bytes may be none.
    except pa.ArrowInvalid:
        row = _first_failure(array, convert)
    raise InputError(
        f"{name}, row {first_row + row}: an id of type {array.type} that is not UTF-8 text; save "
        "the ids as text"
    )


def as_positive(array: "pa.Array", name: str, first_row: int) -> Counts:
    """Return a column of counts.

    Raises
    ------
    InputError
        If a value is no integer from 1 to 2**63 - 1 (or a text or whole float that says one).
    """
    import pyarrow as pa

    array = _plain(array)
    if _is_text(array):
        array = _cast(array, [pa.int64(), pa.float64()], "count", name, first_row)
    if pa.types.is_decimal(array.type):
        array = array.cast(pa.float64())
    if not (
        pa.types.is_integer(array.type)
        or pa.types.is_floating(array.type)
        or pa.types.is_null(array.type)
    ):
        raise InputError(f"{name}: counts are {array.type}; give a column of positive integers")
    values = _numpy(array)
    good = (values >= 1) & (values < 2**63) & (values == np.floor(values))
    if not good.all():
        row = int(np.argmin(good))
        raise InputError(
            f"{name}, row {first_row + row}: count {_shown(array[row])} is not a positive integer "
            "below 2**63; correct it, or leave out items that were never accessed"
        )
    return values.astype(np.int64)


class Numbers:
    """A column of times or ranks, as numbers that compare in the same order.

    Parameters
    ----------
    role
        ``time`` or ``rank``.
    name
        The file, for messages.
    """

    def __init__(self, role: str, name: str) -> None:
        self._role = role
        self._name = name
        self._kinds: Sequence[pa.DataType] | None = None
        self._units: list[str | None] = []

    def read(
        self, array: "pa.Array", first_row: int, keep: npt.NDArray[np.bool_]
    ) -> npt.NDArray[Any]:
        """Return one batch as int64 (timestamps in their own unit) or float64.

        Parameters
        ----------
        array
            Numbers, times, or texts that say numbers or ISO 8601 times.
        first_row
            The number of its first row.
        keep
            Rows that matter, shape (n,); the others may be missing.

        Raises
        ------
        InputError
            If a value is missing, unusable, or of another kind than in earlier batches.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        array = _plain(array)
        kinds = self._kinds or self._possible(array)
        if not pa.types.is_null(array.type):
            array = _cast(array, kinds, self._role, self._name, first_row)
            numbers: Sequence[pa.DataType] = [pa.int64(), pa.float64()]
            self._kinds = numbers if array.type in numbers else _wider(array.type, kinds)
        self._units.append(getattr(array.type, "unit", None))
        usable = valid(array)
        if pa.types.is_floating(array.type):
            usable &= ~np.array(pc.is_nan(array).fill_null(False))
        missing = keep & ~usable
        if missing.any():
            raise InputError(
                f"{self._name}, row {first_row + int(np.argmax(missing))}: no {self._role}; add "
                "it, or take the order of the rows with --file-order"
            )
        return _numpy(array.cast(pa.int64()) if pa.types.is_temporal(array.type) else array)

    def join(self, parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Return what :meth:`read` gave of each batch, or a selection of it, as one array.

        Raises
        ------
        InputError
            If some times need nanoseconds and others are too far for them.
        """
        if {"ns", "us"} <= set(self._units):
            finer = [part for part, unit in zip(parts, self._units, strict=True) if unit == "ns"]
            if any(np.any(part % 1000) for part in finer):
                raise InputError(
                    f"{self._name}: times with nanoseconds beside times before 1678 or after "
                    f"2261; round the {self._role}s to microseconds"
                )
            parts = [
                part // 1000 if unit == "ns" else part
                for part, unit in zip(parts, self._units, strict=True)
            ]
        return np.concatenate(parts)

    def _possible(self, array: "pa.Array") -> "Sequence[pa.DataType]":
        """Return the types that the column may be, in the order of trial."""
        import pyarrow as pa

        kind = array.type
        numbers = [pa.int64(), pa.float64()]
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            return numbers
        if self._role == "time":
            if _is_text(array):
                # Nanoseconds in 64 bits reach from 1678 to 2261; microseconds take any year.
                return [
                    *numbers,
                    *(pa.timestamp(unit, zone) for zone in (None, "UTC") for unit in ("ns", "us")),
                ]
            if pa.types.is_date(kind):
                return [pa.timestamp("us")]
            if pa.types.is_time(kind):
                return [pa.time64("ns")]
            if pa.types.is_temporal(kind):
                return [kind]
        return numbers if _is_text(array) else []


def valid(array: "pa.Array") -> npt.NDArray[np.bool_]:
    """Return where the array has a value, shape (n,)."""
    return np.array(array.is_valid())


def _wider(kind: "pa.DataType", kinds: "Sequence[pa.DataType]") -> "Sequence[pa.DataType]":
    """Return the types of later batches: the first one's, and for times of text either unit."""
    import pyarrow as pa

    if not pa.types.is_timestamp(kind):
        return [kind]
    return [other for other in kinds if pa.types.is_timestamp(other) and other.tz == kind.tz]


def _plain(array: "pa.Array") -> "pa.Array":
    """Return the array without an extension type's wrapping and without a dictionary."""
    import pyarrow as pa

    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _is_text(array: "pa.Array") -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(array.type) or pa.types.is_large_string(array.type))


def _numpy(array: "pa.Array") -> npt.NDArray[Any]:
    """Return numbers as a NumPy array, with 0 where there is none."""
    import pyarrow as pa

    if pa.types.is_null(array.type):
        return np.zeros(len(array), np.int64)
    return array.fill_null(0).to_numpy(zero_copy_only=False)


def _cast(
    array: "pa.Array", kinds: "Sequence[pa.DataType]", role: str, name: str, first_row: int
) -> "pa.Array":
    """Return the array as the first of the types that all of it can be."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for kind in kinds:
        try:
            return array.cast(kind)
        # A value that is none of this type, or a type that Arrow never casts to it.
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue
    # No type takes all of it: blame the row at which the last type left gives up.
    row = max(
        (_first_failure(array, partial(pc.cast, target_type=kind)) for kind in kinds), default=0
    )
    wanted = "neither a number nor an ISO 8601 time" if role == "time" else "not a number"
    remedy = "" if role == "count" else f", name another column with --{role}, or --file-order"
    raise InputError(
        f"{name}, row {first_row + row}: {role} {_shown(array[row])} is {wanted}, or another kind "
        f"than the rows before; correct it{remedy}"
    )


def _first_failure(array: "pa.Array", convert: "Callable[[pa.Array], Any]") -> int:
    """Return the first position that ``convert`` refuses, by halving."""
    import pyarrow as pa

    low, high = 0, len(array) - 1
    while low < high:
        middle = (low + high) // 2
        try:
            convert(array.slice(low, middle - low + 1))
            low = middle + 1
        # As in `_cast`: for a type that is never converted, the first row stands for all.
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            high = middle
    return low


def _shown(scalar: Any) -> str:
    text = repr(scalar.as_py())
    return text if len(text) <= 40 else text[:37] + "..."
