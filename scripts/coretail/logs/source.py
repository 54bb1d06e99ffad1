"""Open a file of any kind: where it is, how it is compressed, what format it has."""

import codecs
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coretail.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = ("parquet", "csv", "tsv", "json", "jsonl", "counts", "ids")
"""Formats: the last two are plain text, one integer or one id a line."""

_SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".txt": "counts",
}
_COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_START = 65536
# UTF-32 first: its little-endian mark starts with UTF-16's.
_FOREIGN = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


@dataclass(frozen=True, slots=True)
class Source:
    """A file's bytes, which can be read more than once.

    Attributes
    ----------
    name
        What it is called in messages.
    path
        The file, or None for the standard input, whose bytes are held in ``data``.
    compression
        ``gzip`` or ``zstd``, by its first bytes; None if it is neither.
    """

    name: str
    path: Path | None
    data: bytes
    compression: str | None

    def open(self) -> "pa.NativeFile":
        """Return a stream of the decompressed bytes."""
        import pyarrow as pa

        raw = pa.BufferReader(self.data) if self.path is None else pa.OSFile(str(self.path))
        return pa.CompressedInputStream(raw, self.compression) if self.compression else raw

    def start(self) -> bytes:
        """Return the first bytes, decompressed."""
        with self.open() as stream:
            return stream.read(_START)


def open_source(path: str | Path) -> Source:
    """Open a file, or the standard input as ``-``.

    Raises
    ------
    InputError
        If the file cannot be read or is empty.
    """
    if str(path) == "-":
        data = sys.stdin.buffer.read()
        name, file, head = "standard input", None, data[:4]
    else:
        name, file, data = str(path), Path(path), b""
        try:
            with file.open("rb") as stream:
                head = stream.read(4)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise InputError(f"{name}: cannot be read: {reason}; give a readable file") from error
    if not head:
        raise InputError(f"{name}: empty; give a log or a table of counts")
    compression = next((kind for m, kind in _COMPRESSED.items() if head.startswith(m)), None)
    return Source(name, file, data, compression)


def detect_format(source: Source) -> str:
    """Return the format of a file by its suffix, or by its first bytes if that says nothing."""
    if source.path is not None:
        suffixes = [suffix.lower() for suffix in source.path.suffixes]
        if suffixes and suffixes[-1] in (".gz", ".zst", ".zstd"):
            suffixes.pop()
        if suffixes and suffixes[-1] in _SUFFIXES:
            return _SUFFIXES[suffixes[-1]]
    start = source.start().removeprefix(codecs.BOM_UTF8).lstrip()
    if start.startswith(b"PAR1"):
        return "parquet"
    if start[:1] in (b"{", b"["):
        whole = start[:1] == b"[" or b"\n{" not in start.replace(b"\r", b"\n")
        return "json" if whole else "jsonl"
    first = start.split(b"\n", 1)[0]
    if b"\t" in first.strip():
        return "tsv"
    return "csv" if b"," in first else "counts"


def check_encoding(source: Source, *, table: bool) -> None:
    """Refuse text that is visibly not UTF-8.

    Parameters
    ----------
    source
        The file.
    table
        Whether its first line is a header or an object, in which no NUL stands.

    Raises
    ------
    InputError
        If the text is UTF-16 or UTF-32.
    """
    start = source.start()
    for mark, encoding in _FOREIGN:
        if start.startswith(mark):
            raise InputError(f"{source.name}: the text is {encoding}; save it as UTF-8")
    if table and b"\0" in start.split(b"\n", 1)[0]:
        raise InputError(f"{source.name}: not a text file (or UTF-16 text); save it as UTF-8 text")
