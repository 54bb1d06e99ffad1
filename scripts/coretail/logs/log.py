"""From batches of rows to what an analysis needs: counts per item, accesses in order."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from coretail.counts import Counts
from coretail.errors import InputError
from coretail.logs.columns import Columns, Request
from coretail.logs.readers import Table, open_table
from coretail.logs.source import FORMATS, Source, detect_format, open_source
from coretail.logs.values import Numbers, as_positive, as_text, valid

if TYPE_CHECKING:
    import pyarrow as pa

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Log:
    """An agent's memory log, or its table of counts.

    Attributes
    ----------
    name
        The file, as it was given.
    format, compression
        What it turned out to be; compression is None for none.
    layout
        ``accesses`` (one row per access) or ``counts`` (rows of an item and its count).
    columns
        The columns that were read, and which of them were guessed.
    ids
        Each item's id, shape (n_items,), compared as text; None if the file has counts only.
    counts
        Accesses of each item, shape (n_items,), each at least 1.
    codes
        The item of each access in order, positions in ``ids``, shape (n_accesses,); None for a
        table of counts.
    steps
        The step of each access, from 0, ascending, shape (n_accesses,): accesses at one time are
        one step. None where there is no time: every access is then a step of its own.
    order
        In words, what the order of the accesses is.
    notes
        What was unusual in the rows and how it was taken, one sentence each.
    """

    name: str
    format: str
    compression: str | None
    layout: Literal["accesses", "counts"]
    columns: Columns
    ids: "pa.LargeStringArray | None"
    counts: Counts
    codes: Codes | None
    steps: Codes | None
    order: str
    notes: tuple[str, ...]


def read_log(path: str | Path, request: Request | None = None) -> Log:
    """Read a log of accesses or a table of counts.

    Rows are read in batches: memory grows by 4 bytes per access, 12 more where there is a time,
    and by the distinct ids. Ids are compared as text, whole numbers without a decimal point. Rows
    without an id are left out, and a note says how many; rows that repeat one another are
    accesses. Accesses are put in the order of time (then of rank, then of the rows).

    Parameters
    ----------
    path
        The file; ``-`` is the standard input.
    request
        How it is to be read; everything is guessed by default.

    Raises
    ------
    InputError
        If the file cannot be read, is empty or damaged, lacks a column, or holds a value that
        cannot be used: the first one is named with its row (in CSV, the header is row 1).
    """
    import pyarrow as pa

    wanted = Request() if request is None else request
    if wanted.format is not None and wanted.format not in FORMATS:
        raise InputError(f"format: {wanted.format!r} is not one of {', '.join(FORMATS)}")
    if wanted.max_rank is not None and wanted.max_rank < 1:
        raise InputError(f"max_rank: {wanted.max_rank} is not a rank; give 1 or more")
    source = open_source(path)
    try:
        file_format = wanted.format or detect_format(source)
        table = open_table(source, file_format, wanted)
        gather = _counts if table.columns.count is not None else _accesses
        return gather(source, file_format, table, wanted)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        text = " ".join(str(error).split())
        raise InputError(
            f"{source.name}: damaged, or not what it was taken for ({text}); check the file, or "
            "say what it is with --format"
        ) from error


def _counts(source: Source, file_format: str, table: Table, request: Request) -> Log:
    named = table.columns.id is not None
    ids = _Ids()
    values = []
    row = table.first_row
    for batch in table.batches:
        try:
            values.append(as_positive(batch.columns["count"], source.name, row))
        except InputError as error:
            if (option := table.columns.other_reading) is None:
                raise
            raise InputError(f"{error}, or give {option} if each row is one access") from None
        if named:
            texts = as_text(batch.columns["id"], source.name, row)
            if texts.null_count:
                empty = row + int(np.argmin(valid(texts)))
                raise InputError(f"{source.name}, row {empty}: a count without an id; add the id")
            ids.add(texts, batch.numeric)
        row += values[-1].size
    counts = np.concatenate([np.empty(0, np.int64), *values])
    if counts.size == 0:
        raise InputError(f"{source.name}: no rows; give one per item")
    notes = list(table.columns.notes)
    names = None
    if named:
        names, codes = ids.finish()
        repeated = int(np.sum(np.bincount(codes) > 1))
        if repeated:
            notes.append(f"{_many(repeated, 'id')} in more than one row: their counts were added")
        rows, counts = counts, np.zeros(len(names), np.int64)
        np.add.at(counts, codes, rows)
        notes += ids.notes()
    return Log(
        name=source.name,
        format=file_format,
        compression=source.compression,
        layout="counts",
        columns=table.columns,
        ids=names,
        counts=counts,
        codes=None,
        steps=None,
        order="unknown (a table of counts)",
        notes=tuple(notes),
    )


def _accesses(source: Source, file_format: str, table: Table, request: Request) -> Log:
    ids = _Ids()
    roles = [role for role in ("time", "rank") if getattr(table.columns, role) is not None]
    readers = {role: Numbers(role, source.name) for role in roles}
    collected: dict[str, list[npt.NDArray[Any]]] = {role: [] for role in roles}
    row, without_id, beyond = table.first_row, 0, 0
    for batch in table.batches:
        texts = as_text(batch.columns["id"], source.name, row)
        keep = valid(texts)
        without_id += int(np.sum(~keep))
        numbers = {role: readers[role].read(batch.columns[role], row, keep) for role in roles}
        if request.max_rank is not None:
            inside = numbers["rank"] <= request.max_rank
            beyond += int(np.sum(keep & ~inside))
            keep &= inside
        for role in roles:
            collected[role].append(numbers[role][keep])
        ids.add(texts, batch.numeric, keep)
        row += len(texts)
    names, codes = ids.finish()
    if codes.size == 0:
        raise InputError(f"{source.name}: no accesses; give one row with an id for each")
    notes = list(table.columns.notes)
    if without_id:
        notes.append(f"{_many(without_id, 'row')} without an id left out")
    if beyond:
        notes.append(f"{_many(beyond, 'row')} with a rank above {request.max_rank} left out")
    steps = None
    order = "that of the rows"
    if "time" in roles:
        time, *rank = (readers[role].join(collected.pop(role)) for role in roles)
        codes, steps, more = _in_time(codes, time, rank, str(table.columns.time))
        order = f"that of {table.columns.time!r}"
        notes += more
    counts = np.bincount(codes, minlength=len(names))
    notes += ids.notes()
    if counts.size > 1 and counts.max() == 1:
        notes.append(
            f"every id occurs once: is {table.columns.id!r} the id of an event, not of an item?"
        )
    return Log(
        name=source.name,
        format=file_format,
        compression=source.compression,
        layout="accesses",
        columns=table.columns,
        ids=names,
        counts=counts,
        codes=codes,
        steps=steps,
        order=order,
        notes=tuple(notes),
    )


def _in_time(
    codes: Codes, time: npt.NDArray[Any], rank: list[npt.NDArray[Any]], column: str
) -> tuple[Codes, Codes, list[str]]:
    """Return the accesses in the order of time, their steps, and notes on what was found."""
    notes = []
    late = int(np.sum(time[1:] < time[:-1]))
    if late:
        notes.append(
            f"{_many(late, 'row')} with an earlier {column!r} than the row before: accesses were "
            "put in order of time"
        )
    if late or rank:
        # Stable: rows of one time and rank keep their order.
        order = np.lexsort((*rank, time)) if rank else np.argsort(time, kind="stable")
        codes, time = codes[order], time[order]
    steps = np.zeros(codes.size, np.int32)
    np.cumsum(time[1:] != time[:-1], out=steps[1:])
    if steps[-1] < codes.size - 1:
        pairs = steps.astype(np.int64) * (int(codes.max()) + 1) + codes
        pairs.sort()
        repeated = int(np.sum(pairs[1:] == pairs[:-1]))
        if repeated:
            notes.append(
                f"{_many(repeated, 'row')} repeating id and {column!r} of another row: each "
                "counted as an access"
            )
    return codes, steps, notes


class _Ids:
    """Collects ids as dictionary codes; the batches' dictionaries become one in the end."""

    def __init__(self) -> None:
        self._chunks: list[pa.DictionaryArray] = []
        self._numbers: set[str] = set()
        self._texts: set[str] = set()

    def add(
        self,
        texts: "pa.LargeStringArray",
        numeric: "pa.BooleanArray | None",
        keep: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        """Add a batch: ids, whether each was written as a number, which to keep."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if keep is not None and not keep.all():
            mask = pa.array(keep)
            texts = texts.filter(mask)
            numeric = None if numeric is None else numeric.filter(mask)
        self._chunks.append(texts.dictionary_encode())
        if numeric is not None:
            self._numbers.update(pc.unique(texts.filter(numeric)).to_pylist())
            self._texts.update(pc.unique(texts.filter(pc.invert(numeric))).to_pylist())

    def finish(self) -> "tuple[pa.LargeStringArray, Codes]":
        """Return the distinct ids in the order of their first row, and each row's id."""
        import pyarrow as pa

        if not self._chunks:
            return pa.array([], pa.large_string()), np.empty(0, np.int32)
        chunks = pa.chunked_array(self._chunks).unify_dictionaries().chunks
        codes = np.concatenate([chunk.indices.to_numpy() for chunk in chunks])
        return chunks[0].dictionary, codes

    def notes(self) -> list[str]:
        """Return a note if an id was written in two ways."""
        mixed = sorted(self._numbers & self._texts)
        if not mixed:
            return []
        return [
            f"{_many(len(mixed), 'id')} written both as a number and as text, such as "
            f'{mixed[0]} and "{mixed[0]}": ids are compared as text, so each is one item'
        ]


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
