"""One reader per format; each gives batches of the columns asked for, never the whole file.

The exceptions are JSON documents and text files of counts, which are read whole: they hold one
value per item and are small beside a log.
"""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from coretail.errors import InputError
from coretail.logs.columns import GUESSES, Columns, Request, choose, normal
from coretail.logs.source import Source, check_encoding

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK_BYTES = 1 << 24
_BATCH_ROWS = 1 << 18
_SAMPLED_RECORDS = 100


@dataclass(frozen=True, slots=True)
class Batch:
    """Successive rows.

    Attributes
    ----------
    columns
        One array per role, all of one length.
    numeric
        Per row whether the id was written as a number; None where the format has one type of id.
    """

    columns: "Mapping[str, pa.Array]"
    numeric: "pa.BooleanArray | None" = None


@dataclass(frozen=True, slots=True)
class Table:
    """An opened file: its columns, its batches, and the number that its first row has."""

    columns: Columns
    batches: Iterator[Batch]
    first_row: int = 1


def open_table(source: Source, file_format: str, request: Request) -> Table:
    """Open a file.

    Raises
    ------
    InputError
        If its columns cannot be found. Errors in the rows come when batches are taken, as
        InputError, pyarrow's exceptions, OSError or UnicodeDecodeError.
    """
    if file_format in ("csv", "tsv", "jsonl", "ids"):
        check_encoding(source, table=file_format != "ids")
    return _READERS[file_format](source, request)


def _parquet(source: Source, request: Request) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    # A reader of Parquet starts at the end of the file: a compressed one has to be whole.
    plain = source.path is not None and source.compression is None
    where: Any = source.path if plain else pa.BufferReader(source.open().read())
    schema = pq.read_schema(where)
    columns = choose(schema.names, request, source.name)
    texts = [
        name
        for name in columns.present().values()
        if pa.types.is_string(schema.field(name).type)
        or pa.types.is_large_string(schema.field(name).type)
    ]
    if not plain:
        where.seek(0)

    def batches() -> Iterator[Batch]:
        roles = columns.present()
        with pq.ParquetFile(where, read_dictionary=texts) as file:
            for rows in file.iter_batches(_BATCH_ROWS, columns=list(dict.fromkeys(roles.values()))):
                yield Batch({role: rows.column(name) for role, name in roles.items()})

    return Table(columns, batches())


def _csv(source: Source, request: Request, delimiter: str = ",") -> Table:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    # Quoted values may hold line breaks; the header is row 1, as in a spreadsheet.
    parse = arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    with (
        _naming_ragged_rows(source, delimiter),
        arrow_csv.open_csv(source.open(), parse_options=parse) as header,
    ):
        columns = choose(header.schema.names, request, source.name)
    roles = columns.present()
    # All columns as text: ids are compared as such, and a number that is none keeps its row.
    names = list(dict.fromkeys(roles.values()))
    convert = arrow_csv.ConvertOptions(
        include_columns=names,
        column_types=dict.fromkeys(names, pa.string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    read = arrow_csv.ReadOptions(block_size=_BLOCK_BYTES, use_threads=False)

    def batches() -> Iterator[Batch]:
        with (
            _naming_ragged_rows(source, delimiter),
            arrow_csv.open_csv(source.open(), read, parse, convert) as rows,
        ):
            for batch in rows:
                yield Batch({role: batch.column(name) for role, name in roles.items()})

    return Table(columns, batches(), first_row=2)


@contextmanager
def _naming_ragged_rows(source: Source, delimiter: str) -> Iterator[None]:
    """Name the first row whose values are not as many as the header's; other errors pass."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowInvalid:
        text = io.TextIOWrapper(source.open(), "utf-8-sig", "replace", newline="")
        try:
            # Rows count as in the compiled reader, which skips blank lines.
            rows = (row for row in csv.reader(text, delimiter=delimiter) if row)
            wanted = len(next(rows, ()))
            for number, row in enumerate(rows, start=2):
                if len(row) != wanted:
                    shown = _shown(delimiter.join(row))
                    raise InputError(
                        f"{source.name}, row {number}: {_many(len(row), 'value')} where the header "
                        f"has {wanted}: {shown}; give each row all of them, and quote a value that "
                        "holds the delimiter"
                    ) from None
        except csv.Error:
            pass
        raise


def _tsv(source: Source, request: Request) -> Table:
    return _csv(source, request, "\t")


def _jsonl(source: Source, request: Request) -> Table:
    first = [
        _record(line, f"{source.name}, row {number}")
        for number, line in enumerate(islice(_lines(source), _SAMPLED_RECORDS), start=1)
    ]
    columns = choose(list(dict.fromkeys(key for r in first for key in r)), request, source.name)
    roles = columns.present()
    kinds = {
        name: next((type(r[name]) for r in first if r.get(name) is not None), str)
        for name in roles.values()
    }

    def batches() -> Iterator[Batch]:
        row = 1
        for block in _blocks(source):
            batch = _fast_batch(block, roles, kinds)
            if batch is None:
                lines = [line for line in block.split(b"\n") if line.strip()]
                records = [
                    _record(line, f"{source.name}, row {number}")
                    for number, line in enumerate(lines, start=row)
                ]
                batch = _batch(records, roles, source.name, row)
            row += len(next(iter(batch.columns.values())))
            yield batch

    return Table(columns, batches())


def _fast_batch(block: bytes, roles: Mapping[Any, str], kinds: Mapping[str, type]) -> Batch | None:
    """Return a block of lines as the compiled parser reads it, None where it cannot.

    It knows columns of one type only, and does not say well what is wrong with a line.
    """
    import pyarrow as pa
    from pyarrow import json as arrow_json

    types = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    if not set(kinds.values()) <= set(types):
        return None
    # It takes several objects on a line, and one on several lines. If every line starts with a
    # brace, ends with one, and there are as many objects, then each line is one object.
    lines = block.count(b"\n") + 1
    starts = block.count(b"\n{") + block.startswith(b"{")
    ends = block.count(b"}\n") + block.count(b"}\r\n") + block.endswith((b"}", b"}\r"))
    if not lines == starts == ends:
        return None
    schema = pa.schema([(name, types[kind]) for name, kind in kinds.items()])
    try:
        rows = arrow_json.read_json(
            pa.BufferReader(block),
            arrow_json.ReadOptions(block_size=_BLOCK_BYTES // 4),
            arrow_json.ParseOptions(schema, unexpected_field_behavior="ignore"),
        )
    except pa.ArrowInvalid:
        return None
    if rows.num_rows != lines:
        return None
    numeric = None
    if "id" in roles:
        numeric = pa.repeat(pa.scalar(kinds[roles["id"]] is not str), rows.num_rows)
    columns = {role: rows[name].combine_chunks() for role, name in roles.items()}
    return Batch(columns, numeric)


def _json(source: Source, request: Request) -> Table:
    data = source.open().read()
    try:
        content = json.loads(data, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        several = error.msg == "Extra data"
        remedy = "for one object a line give --format jsonl" if several else "correct it"
        raise InputError(f"{source.name}: not a JSON document: {error}; {remedy}") from error
    except InputError as error:
        raise InputError(f"{source.name}: {error}") from None
    except UnicodeDecodeError:
        raise
    except (ValueError, RecursionError) as error:
        row = _first_unreadable(data.decode(json.detect_encoding(data), "surrogatepass"))
        raise InputError(f"{source.name}{row}: {_unreadable(error)}") from None
    if isinstance(content, dict) and _is_access(content, request):
        content = [content]
    if isinstance(content, dict):
        roles = {"id": "(keys)", "count": "(values)"}
        rows = [{"(keys)": key, "(values)": value} for key, value in content.items()]
    elif not isinstance(content, list):
        raise InputError(f"{source.name}: {_kind(content)}; give an array or an object")
    elif content and isinstance(content[0], dict):
        names = list(dict.fromkeys(key for row in content if isinstance(row, dict) for key in row))
        columns = choose(names, request, source.name)
        for number, row in enumerate(content, start=1):
            if not isinstance(row, dict):
                raise InputError(f"{source.name}, row {number}: {_kind(row)}, not an object")
        return Table(
            columns, iter([_batch(content, columns.present(), source.name, 1)] if content else [])
        )
    else:
        # Bare integers are counts; texts can only be ids.
        role = "id" if content and isinstance(content[0], str) else "count"
        roles = {role: "(values)"}
        rows = [{"(values)": value} for value in content]
        kind = str if role == "id" else (int, float)
        for number, value in enumerate(content, start=1):
            if not isinstance(value, kind):
                raise InputError(
                    f"{source.name}, row {number}: {_shown(value)} is {_kind(value)} in an array "
                    f"of {'ids (texts)' if role == 'id' else 'counts (integers)'}; give one kind"
                )
    asked = [role for role in ("id", "time", "rank", "count") if getattr(request, role)]
    if asked:
        raise InputError(f"{source.name}: no columns here, so no --{asked[0]}")
    batch = _batch(rows, roles, source.name, 1)
    return Table(Columns(id=roles.get("id"), count=roles.get("count")), iter([batch]))


def _is_access(content: Mapping[str, Any], request: Request) -> bool:
    """Return whether an object is one row, such as a log of one line, and not counts by id."""
    if {request.id, request.time, request.rank, request.count} & content.keys():
        return True
    named = any(normal(key) in GUESSES["id"] for key in content)
    return named and any(isinstance(value, str | None) for value in content.values())


def _first_unreadable(text: str) -> str:
    """Return ", row N" for the first element of an array that Python's parser refuses."""
    decoder = json.JSONDecoder()
    position = len(text) - len(text.lstrip())
    if text[position : position + 1] != "[":
        return ""
    row = 1
    while True:
        position += 1
        while text[position : position + 1].isspace():
            position += 1
        try:
            _, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            return f", row {row}"
        while text[position : position + 1].isspace():
            position += 1
        row += 1


def _unreadable(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "lists or objects nested too deep; give flat rows"
    return "a number of more digits than can be read; give ids so long as text"


def _counts(source: Source, request: Request) -> Table:
    import pyarrow as pa

    from coretail.counts import parse_counts

    _no_columns(source, request)
    try:
        counts = parse_counts(source.open().read(), name=source.name)
    except InputError as error:
        raise InputError(f"{error} (for a list of ids: --format ids)") from None
    return Table(Columns(count="(lines)"), iter([Batch({"count": pa.array(counts)})]))


def _ids(source: Source, request: Request) -> Table:
    import pyarrow as pa

    _no_columns(source, request)

    def batches() -> Iterator[Batch]:
        for block in _blocks(source):
            lines = [line.removesuffix(b"\r") or None for line in block.split(b"\n")]
            yield Batch({"id": pa.array(lines, pa.large_binary())})

    return Table(Columns(id="(lines)"), batches())


_READERS: Mapping[str, Callable[[Source, Request], Table]] = {
    "parquet": _parquet,
    "csv": _csv,
    "tsv": _tsv,
    "json": _json,
    "jsonl": _jsonl,
    "counts": _counts,
    "ids": _ids,
}


def _no_columns(source: Source, request: Request) -> None:
    for role in ("id", "time", "rank", "count"):
        if getattr(request, role) is not None:
            raise InputError(
                f"{source.name}: plain text has no columns, so no --{role}; for a table give "
                "--format csv, tsv, jsonl or parquet"
            )


def _blocks(source: Source) -> Iterator[bytes]:
    """Yield the text in blocks of whole lines, without the last line's break."""
    with source.open() as stream:
        rest = b""
        first = True
        while chunk := stream.read(_BLOCK_BYTES):
            if first:
                chunk = chunk.removeprefix(b"\xef\xbb\xbf")
                first = False
            whole, found, tail = (rest + chunk).rpartition(b"\n")
            if found and whole:
                yield whole
            rest = tail if found else rest + chunk
        if rest:
            yield rest


def _lines(source: Source) -> Iterator[bytes]:
    for block in _blocks(source):
        yield from (line for line in block.split(b"\n") if line.strip())


def _record(line: bytes, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line, object_pairs_hook=_unique)
    except (json.JSONDecodeError, UnicodeDecodeError, InputError) as error:
        shown = line[:60].decode("utf-8", "replace")
        raise InputError(f"{where}: {shown!r} is not one JSON object: {error}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: {_unreadable(error)}") from None
    if not isinstance(record, dict):
        raise InputError(
            f'{where}: {_kind(record)}; give one object a line, such as {{"id": "...", "time": 1}}'
        )
    return record


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise InputError(f"key {twice!r} stands twice in one object")
    return record


def _batch(
    records: Sequence[Mapping[str, Any]], roles: Mapping[Any, str], name: str, first_row: int
) -> Batch:
    """Return parsed records as arrays; ids keep whether they were written as numbers."""
    import pyarrow as pa

    columns = {}
    numeric = None
    for role, key in roles.items():
        values = [record.get(key) for record in records]
        if role == "id":
            texts = [
                _id_text(value, f"{name}, row {row}")
                for row, value in enumerate(values, start=first_row)
            ]
            columns["id"] = _text_array(texts, role, name, first_row)
            numeric = pa.array([isinstance(value, int | float) for value in values], pa.bool_())
        else:
            columns[role] = _plain(values, role, name, first_row)
    return Batch(columns, numeric)


def _text_array(
    values: Sequence[str | None], role: str, name: str, first_row: int
) -> "pa.LargeStringArray":
    """Return texts as an array, or name the first that is none: JSON can escape half a pair."""
    import pyarrow as pa

    try:
        return pa.array(values, pa.large_string())
    except UnicodeEncodeError:
        for row, value in enumerate(values, start=first_row):
            if value is not None and any("\ud800" <= character <= "\udfff" for character in value):
                raise InputError(
                    f"{name}, row {row}: {role} {_shown(value)} is not text: it holds half of a "
                    "surrogate pair; correct it"
                ) from None
        raise


def _id_text(value: Any, where: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, int):
        return str(value)
    raise InputError(f"{where}: the id is {_kind(value)}; give one row per access, with one id")


def _plain(values: Sequence[Any], role: str, name: str, first_row: int) -> "pa.Array":
    """Return numbers or texts as an array, or name the first row that is neither or differs."""
    import pyarrow as pa

    def kind(value: Any) -> str:
        whole = isinstance(value, int) and not isinstance(value, bool)
        return "a number" if whole or isinstance(value, float) else _kind(value)

    expected = next((kind(value) for value in values if value is not None), "a number")
    for row, value in enumerate(values, start=first_row):
        if value is None:
            continue
        found = kind(value)
        problem = None
        if found not in ("a number", "text"):
            problem = f"is {found}; give a number"
        elif found != expected:
            problem = f"is {found}, and the rows before have {expected}; give one kind"
        elif isinstance(value, int) and abs(value) >= 2**63:
            problem = "is not below 2**63; correct it"
        if problem is not None:
            raise InputError(f"{name}, row {row}: {role} {_shown(value)} {problem}")
    if expected == "text":
        return _text_array(values, role, name, first_row)
    return pa.array(values)


def _kind(value: Any) -> str:
    names = {
        bool: "a truth value",
        int: "a number",
        float: "a number",
        str: "text",
        list: "a list",
        dict: "an object",
        type(None): "null",
    }
    return names[type(value)]


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return "of a size that cannot be shown"
    return text if len(text) <= 40 else text[:37] + "..."
