"""A durable, append-only journal of completions: one writer, one line per completion.

A line is the record's length in bytes and its CRC-32, both as eight hexadecimal digits, and the
record as JSON. A completion is on the disk before it is handed out, so that a run killed at any
moment finds everything again that it had already paid for. A last line that was not written whole
is cut off by the next writer.
"""

import fcntl
import json
import logging
import os
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType

from coretail.errors import InputError
from coretail.llm.request import Completion, Source

_HEADER = b"coretail journal 1\n"
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Record:
    """One completion, as journals and recordings keep it; prompts are not kept.

    Attributes
    ----------
    request
        Key of the request.
    model
        The model's name.
    identity
        ``weights:<SHA-256>`` or ``endpoint:<SHA-256 of its address>``.
    template
        Version of the prompt template.
    reply
        Text of the reply.
    finish_reason
        As the endpoint reported it.
    prompt_tokens, cached_tokens, completion_tokens
        As the endpoint reported them.
    """

    request: str
    model: str
    identity: str
    template: str
    reply: str
    finish_reason: str
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int

    def completion(self, source: Source) -> Completion:
        """Return the completion that this record keeps, as found in ``source``."""
        return Completion(
            key=self.request,
            status="ok",
            text=self.reply,
            finish_reason=self.finish_reason,
            prompt_tokens=self.prompt_tokens,
            cached_tokens=self.cached_tokens,
            completion_tokens=self.completion_tokens,
            source=source,
        )


def read_journal(path: Path) -> list[Record]:
    """Return the intact records of a journal in the order of their writing.

    A last line that was not written whole is passed over; a damaged line is passed over with a
    warning, and its completion will be asked for again. A journal that is absent or empty has no
    records.

    Raises
    ------
    InputError
        The file is not a journal.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    return list(_intact(path, data))


def _intact(path: Path, data: bytes) -> Iterator[Record]:
    if not data.startswith(_HEADER):
        if _HEADER.startswith(data):
            return
        raise InputError(
            f"{path}: is not a journal of completions. Move it away, and the run starts a new one."
        )
    start = len(_HEADER)
    while (end := data.find(b"\n", start) + 1) > 0:
        record = _decode(data[start:end])
        if record is None:
            _LOG.warning("%s: the record at byte %d is damaged and is left out", path, start)
        else:
            yield record
        start = end


def _encode(record: Record) -> bytes:
    body = json.dumps(asdict(record), separators=(",", ":")).encode()
    return b"%08x %08x %b\n" % (len(body), zlib.crc32(body), body)


def _decode(line: bytes) -> Record | None:
    body = line[18:-1]
    if line[:18] != b"%08x %08x " % (len(body), zlib.crc32(body)):
        return None
    return Record(**json.loads(body))


class Journal:
    """The journal of one run, open for writing.

    Parameters
    ----------
    path
        The file; it and its directory are made where they are absent.

    Attributes
    ----------
    records
        Everything that the journal held when it was opened, in the order of its writing.

    Raises
    ------
    InputError
        The file is not a journal, or another process is writing it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            self._lock()
            self.records = self._recover()
        except BaseException:
            os.close(self._file)
            raise

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"{self.path}: another process is writing this journal. Wait for it to end, or "
                "stop it; two runs of one rollout cannot go on at once."
            ) from None

    def _recover(self) -> list[Record]:
        data = self.path.read_bytes()
        records = list(_intact(self.path, data))
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            _LOG.warning("%s: the last record was not written whole and is dropped", self.path)
            os.ftruncate(self._file, whole)
        if whole == 0:
            os.write(self._file, _HEADER)
        os.fsync(self._file)
        self._sync_directory()
        return records

    def _sync_directory(self) -> None:
        directory = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def append(self, record: Record) -> None:
        """Write a record; when this returns, it is on the disk."""
        line = _encode(record)
        written = os.write(self._file, line)
        while written < len(line):
            written += os.write(self._file, line[written:])
        os.fdatasync(self._file)

    def close(self) -> None:
        """Close the file, which also lets another writer open it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
