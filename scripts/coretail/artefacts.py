"""Write and read the pipeline's Parquet files.

Every file has a schema of :mod:`coretail.schemas`, carries its provenance in its metadata, and
holds no wall-clock time and no path: one configuration gives the same bytes on every run.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from coretail.errors import InputError
from coretail.provenance import package_versions
from coretail.schemas import SCHEMAS


def table(name: str, columns: Mapping[str, Any]) -> pa.Table:
    """Return a table of the schema ``name``.

    Parameters
    ----------
    name
        A schema's name in :data:`coretail.schemas.SCHEMAS`.
    columns
        One sequence or array of equal length per column; a scalar stands for a column of it.

    Raises
    ------
    ValueError
        If the columns are not the schema's, or differ in length.
    """
    schema = SCHEMAS[name].arrow
    if set(columns) != set(schema.names):
        raise ValueError(
            f"{name}: columns {sorted(set(columns) - set(schema.names))} are unexpected, "
            f"{sorted(set(schema.names) - set(columns))} are missing"
        )
    lengths = {len(value) for value in columns.values() if not _is_scalar(value)}
    if len(lengths) != 1:
        raise ValueError(f"{name}: columns of unequal lengths {sorted(lengths)}")
    length = lengths.pop()
    arrays = []
    for field in schema:
        value = columns[field.name]
        plain = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if _is_scalar(value):
            array = pa.repeat(pa.scalar(value, plain), length)
        else:
            array = pa.array(value, plain)
        arrays.append(array if plain is field.type else array.dictionary_encode())
    return pa.table(arrays, schema=schema)


def table_of_rows(name: str, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return a table of the schema ``name`` from one mapping per row.

    Raises
    ------
    ValueError
        If a row's keys are not exactly the schema's columns.
    """
    names = SCHEMAS[name].arrow.names
    for row in rows:
        if set(row) != set(names):
            raise ValueError(
                f"{name}: a row has unexpected {sorted(set(row) - set(names))} and lacks "
                f"{sorted(set(names) - set(row))}"
            )
    return table(name, {column: [row[column] for row in rows] for column in names})


def write(path: Path, name: str, content: pa.Table, spec: Mapping[str, Any]) -> None:
    """Write one artefact.

    Parameters
    ----------
    path
        The file to write.
    name
        Its schema's name in :data:`coretail.schemas.SCHEMAS`.
    content
        A table of that schema, from :func:`table` or :func:`table_of_rows`.
    spec
        The specification of the rule that writes it (:func:`coretail.provenance.specification`).

    Raises
    ------
    ValueError
        If a column that may not be null has a null, or any has a NaN.
    """
    schema = SCHEMAS[name]
    for field in schema.arrow:
        column = content.column(field.name)
        if column.null_count and not field.nullable:
            raise ValueError(
                f"{name}.{field.name}: {column.null_count} missing values in a required column"
            )
        if pa.types.is_floating(field.type) and pc.any(pc.is_nan(column)).as_py():
            raise ValueError(f"{name}.{field.name}: NaN, where undefined must be null")
    metadata = {
        "coretail.schema": name,
        "coretail.schema_version": str(schema.version),
        "coretail.description": schema.description,
        "coretail.rule": spec["rule"],
        "coretail.config": json.dumps(spec["settings"], sort_keys=True),
        "coretail.code": spec["code"],
        "coretail.upstream": json.dumps(spec["upstream"], sort_keys=True),
        "coretail.packages": json.dumps(package_versions(), sort_keys=True),
    }
    content = content.unify_dictionaries().cast(schema.arrow.with_metadata(metadata))
    pq.write_table(content, path, compression="zstd", write_page_checksum=True)


def read(path: Path, name: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Read one artefact, all of it or some columns.

    Raises
    ------
    InputError
        If the file is missing, damaged, not Parquet, another artefact, or lacks a column. The
        message names the file, the column and the rule that makes it.
    """
    schema = SCHEMAS[name]
    remedy = f"expected the artefact {name!r}; delete it, and the workflow makes it again"
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            found = file.schema_arrow
            metadata = {
                key.decode(): value.decode() for key, value in (found.metadata or {}).items()
            }
            if metadata.get("coretail.schema") != name:
                kind = metadata.get("coretail.schema")
                what = f"the artefact {kind!r}" if kind else "not an artefact of this workflow"
                raise InputError(f"{path}: {what}, but {remedy}")
            rule = metadata.get("coretail.rule", "?")
            if metadata.get("coretail.schema_version") != str(schema.version):
                raise InputError(f"{path}: an older layout of rule {rule!r}, but {remedy}")
            for field in schema.arrow:
                if columns is not None and field.name not in columns:
                    continue
                if field.name not in found.names or found.field(field.name).type != field.type:
                    raise InputError(
                        f"{path}: column {field.name!r} of rule {rule!r} is missing or not "
                        f"{field.type}; {remedy}"
                    )
            return file.read(columns=list(columns) if columns is not None else None)
    except FileNotFoundError as error:
        raise InputError(f"{path}: missing; {remedy}") from error
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{path}: damaged or not Parquet ({error}); {remedy}") from error


def read_all(paths: Iterable[Path], name: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Read several files of one artefact into one table, in the order given."""
    return pa.concat_tables([read(path, name, columns) for path in paths]).unify_dictionaries()


def groups(content: pa.Table, by: Sequence[str]) -> Iterator[tuple[dict[str, Any], pa.Table]]:
    """Yield the groups of rows that agree in the columns ``by``: their key and their rows.

    Groups come in the order of their first row, rows keep their order.
    """
    codes = np.zeros(content.num_rows, dtype=np.int64)
    for name in by:
        column = content[name].combine_chunks()
        part = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        codes = codes * len(part.dictionary) + part.indices.to_numpy()
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    for position in np.argsort(first):
        rows = content.take(np.flatnonzero(inverse == position))
        yield {name: rows[name][0].as_py() for name in by}, rows


def read_rows(path: Path, name: str) -> list[dict[str, Any]]:
    """Read one artefact as one dictionary per row."""
    return read(path, name).to_pylist()


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)
