"""Recorded completions in Parquet: read for replay, and made from journals.

A recording keeps the request's key, the reply and its usage; never a prompt, an address or a key
of an endpoint.
"""

import logging
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING

from coretail.errors import InputError
from coretail.llm.journal import Record, read_journal

if TYPE_CHECKING:
    import pyarrow as pa

_LOG = logging.getLogger(__name__)
SCHEMA_VERSION = "1"

# Column, Arrow type, one line for a newcomer.
COLUMNS = (
    (
        "request",
        "string",
        "SHA-256 of the request: model, messages and every parameter that changes the reply",
    ),
    ("model", "dictionary", "name of the model"),
    ("identity", "dictionary", "weights:<SHA-256>, or endpoint:<SHA-256 of the address>"),
    ("template", "dictionary", "version of the prompt template that made the messages"),
    ("reply", "string", "text of the reply"),
    ("finish_reason", "dictionary", "why the reply ended, as reported: stop or length"),
    ("prompt_tokens", "int32", "tokens of the prompt, as reported"),
    ("cached_tokens", "int32", "prompt tokens that came from the server's cache, as reported"),
    ("completion_tokens", "int32", "tokens of the reply, as reported"),
)


def arrow_schema() -> "pa.Schema":
    """Return the Arrow schema of recordings; each field's metadata describes it in one line."""
    import pyarrow as pa

    types = {
        "string": pa.string(),
        "dictionary": pa.dictionary(pa.int32(), pa.string()),
        "int32": pa.int32(),
    }
    return pa.schema(
        [
            pa.field(name, types[kind], nullable=False, metadata={"description": text})
            for name, kind, text in COLUMNS
        ],
        metadata={"schema": "recordings", "schema_version": SCHEMA_VERSION},
    )


def read_recordings(paths: Iterable[Path]) -> dict[str, Record]:
    """Return all recorded completions by their request's key.

    Parameters
    ----------
    paths
        Parquet files, directories of Parquet files, or journals of other runs. What is absent is
        passed over. Where two files hold one request, the first counts.

    Raises
    ------
    InputError
        A file is damaged or is not what its name says; the message names the file and the column.
    """
    found: dict[str, Record] = {}
    for path in paths:
        files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        for file in files:
            if file.suffix == ".parquet":
                records = _read_parquet(file) if file.exists() else []
            else:
                records = read_journal(file)
            for record in records:
                found.setdefault(record.request, record)
    return found


def _read_parquet(path: Path) -> list[Record]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path, page_checksum_verification=True)
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"{path}: cannot be read as a recording ({error}). Restore it (git checkout), or "
            "delete it and record again: snakemake record --cores N"
        ) from None
    expected = arrow_schema()
    for field in expected:
        if field.name not in table.column_names:
            raise InputError(
                f"{path}: column {field.name!r} is missing, so that this is not a recording of "
                "completions. Move the file away, or record again: snakemake record --cores N"
            )
    columns = [table.column(field.name).cast(field.type).to_pylist() for field in expected]
    return [Record(*row) for row in zip(*columns, strict=True)]


def compact(journals: Sequence[Path], out: Path) -> int:
    """Merge journals into the recording ``out`` and return how many completions it now holds.

    What ``out`` held before is kept. Rows are sorted by the request's key, so that the same
    completions give the same bytes, in whatever order and by however many runs they were made.
    The file is replaced at once or not at all. Journals are left as they are.

    Raises
    ------
    InputError
        ``out`` or a journal is not what its name says.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    kept = read_recordings([out])
    arrived = sorted((r for path in journals for r in read_journal(path)), key=astuple)
    for record in arrived:
        held = kept.setdefault(record.request, record)
        if held.reply != record.reply:
            _LOG.warning(
                "request %s has two different replies; the recording keeps the first",
                record.request,
            )
    rows = [kept[key] for key in sorted(kept)]
    schema = arrow_schema()
    table = pa.table(
        {
            field.name: pa.array([getattr(row, field.name) for row in rows]).cast(schema_field.type)
            for field, schema_field in zip(fields(Record), schema, strict=True)
        },
        schema=schema,
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    temporary = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        pq.write_table(
            table,
            temporary,
            compression="zstd",
            compression_level=19,
            write_page_checksum=True,
            use_dictionary=["model", "identity", "template", "reply", "finish_reason"],
        )
        temporary.replace(out)
    finally:
        temporary.unlink(missing_ok=True)
    return len(rows)


def why_missing(
    records: Iterable[Record], model: str, label: str, template: str, where: str
) -> str:
    """Return the likely reason why a request is not among the recordings, as one sentence.

    Parameters
    ----------
    records
        What the recordings hold.
    model, label
        The model's name and its identity as recordings keep it.
    template
        Version of the prompt template of the request that was not found.
    where
        How to call the place that was searched.
    """
    held = Counter((record.model, record.identity, record.template) for record in records)
    if not held:
        return f"{where} hold no completion at all."
    templates = sorted({t for (m, i, t) in held if m == model and i == label})
    if templates:
        if template not in templates:
            return (
                f"The prompt template changed: {where} hold completions of {model} for template "
                f"{', '.join(map(repr, templates))}, not for {template!r}."
            )
        return (
            f"{where} hold completions of {model} for template {template!r}, but not of this "
            "request: its messages, seed or parameters differ from what was recorded."
        )
    if any(m == model for (m, _, _) in held):
        return f"{where} hold completions of {model}, but with other weights or another endpoint."
    names = ", ".join(sorted({m for (m, _, _) in held}))
    return f"{where} hold no completion of {model} (they hold {names})."
