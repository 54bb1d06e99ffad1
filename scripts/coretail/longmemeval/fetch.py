"""Fetch a file from a URL: streamed, resumed where it broke off, and known by its SHA-256.

What has arrived lies in a partial file beside the target, named after the expected hash so that
bytes of another file are never continued. The target gets its name only when the whole is right.
"""

import hashlib
import http.client
import re
import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from coretail.errors import InputError
from coretail.locks import locked

Report = Callable[[str], None]

ATTEMPTS = 5
"""Most requests in a row that bring no new byte."""

_BLOCK = 1 << 20
_TIMEOUT_SECONDS = 60.0
_REPORT_SECONDS = 5.0
_SHA256 = re.compile(r"[0-9a-f]{64}")
_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(?:\d+|\*)")
# What may work at the next try; every other answer of 400 and above is final.
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
_RANGE_NOT_SATISFIABLE = 416


def fetch(url: str, sha256: str, path: Path, report: Report, pause: float = 2.0) -> Path:
    """Return ``path``, holding the file of ``url``, which is fetched unless it is there already.

    A connection that breaks is resumed behind the last byte that arrived, and so is a fetch that
    an earlier process left unfinished. A server that ignores the range sends the file anew. Two
    processes that need the same file fetch it once: the second waits for the first.

    Parameters
    ----------
    url
        An http or https address.
    sha256
        The file's SHA-256, 64 hexadecimal digits.
    path
        Where to keep it. A file there with another hash is replaced.
    report
        Is given one line of text every few seconds while the fetch goes on.
    pause
        Seconds before the second try; twice as many before each further one.

    Raises
    ------
    InputError
        The URL or the hash is not one; the file cannot be fetched, in which case what arrived is
        kept for the next run; it has another hash, in which case nothing of it is kept; or it
        cannot be kept at ``path``.
    """
    shown = _without_secrets(url)
    sha256 = sha256.strip().lower()
    if not _SHA256.fullmatch(sha256):
        raise InputError(
            f"longmemeval: sha256: {sha256!r} is not a SHA-256. Give the 64 hexadecimal digits "
            "that `sha256sum` prints for the file."
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_name(f"{path.name}.lock")
        with locked(lock, f"{shown}: another process is fetching it; waiting", report):
            if not (path.is_file() and _digest(path).hexdigest() == sha256):
                partial = path.with_name(f"{path.name}.{sha256[:12]}.partial")
                _Fetch(url, shown, partial, report).run(pause)
                _verify(partial, sha256, shown)
                partial.replace(path)
                report(f"{shown}: complete, {path.stat().st_size / 1e6:.1f} MB in {path}")
    except OSError as error:
        raise InputError(
            f"longmemeval: {shown}: cannot be kept in {path.parent}: {error.strerror or error}. "
            "Make room there or choose another place."
        ) from error
    return path


class _BrokenError(Exception):
    """A request that failed and may work when tried again."""


class _Fetch:
    """One file on its way into its partial file."""

    def __init__(self, url: str, shown: str, partial: Path, report: Report) -> None:
        self._url = url
        self._shown = shown
        self._partial = partial
        self._report = report
        self._last_report = time.monotonic()

    def run(self, pause: float) -> None:
        """Bring the partial file to its full length."""
        failures = 0
        with self._partial.open("ab") as file:
            while True:
                before = file.tell()
                try:
                    self._request(file)
                    return
                except _BrokenError as error:
                    file.flush()
                    failures = 1 if file.tell() > before else failures + 1
                    if failures == ATTEMPTS:
                        raise InputError(
                            f"longmemeval: {self._shown}: cannot be fetched ({error}). "
                            f"{file.tell()} bytes are kept, and the next run goes on behind them; "
                            "or fetch the file by other means and give its path."
                        ) from None
                    self._report(f"{self._shown}: {error}; trying again")
                    time.sleep(pause * 2 ** (failures - 1))

    def _request(self, file: IO[bytes]) -> None:
        """Append what the partial file lacks; raise _BrokenError if it does not all come."""
        begin = file.tell()
        # An encoding would make the range and the length those of other bytes.
        headers = {"Accept-Encoding": "identity", "User-Agent": "coretail"}
        if begin:
            headers["Range"] = f"bytes={begin}-"
        request = urllib.request.Request(self._url, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as response:
                self._receive(response, file, begin)
        except urllib.error.HTTPError as error:
            if error.code == _RANGE_NOT_SATISFIABLE and begin:
                # Nothing stands behind the bytes held: they are the whole file, or no part of it.
                # The hash will say.
                return
            if error.code in _TRANSIENT:
                raise _BrokenError(f"the server answers {error.code} {error.reason}") from None
            raise InputError(
                f"longmemeval: {self._shown}: the server answers {error.code} {error.reason}. "
                "Check the URL; or fetch the file by other means and give its path."
            ) from None
        except urllib.error.URLError as error:
            raise _BrokenError(str(error.reason)) from None
        except (http.client.HTTPException, ConnectionError, TimeoutError) as error:
            raise _BrokenError(str(error) or type(error).__name__) from None

    def _receive(self, response: http.client.HTTPResponse, file: IO[bytes], begin: int) -> None:
        if response.status != http.client.PARTIAL_CONTENT or not _resumes(response, begin):
            if begin:
                self._report(f"{self._shown}: the server cannot resume; starting anew")
            file.truncate(0)
            file.seek(0)
            begin = 0
            if response.status == http.client.PARTIAL_CONTENT:
                raise _BrokenError("the server sent another range than asked for")
        length = response.headers.get("Content-Length")
        total = begin + int(length) if length is not None and length.isdigit() else None
        if total is not None:
            self._check_room(total - begin)
        while block := response.read(_BLOCK):
            file.write(block)
            self._show(file.tell(), total)
        if total is not None and file.tell() < total:
            raise _BrokenError(f"the connection ended at byte {file.tell()} of {total}")

    def _check_room(self, remaining: int) -> None:
        free = shutil.disk_usage(self._partial.parent).free
        if remaining > free:
            raise InputError(
                f"longmemeval: {self._shown}: {remaining / 1e6:.0f} MB are to come, and "
                f"{self._partial.parent} has {free / 1e6:.0f} MB left. Make room there or choose "
                "another place."
            )

    def _show(self, done: int, total: int | None) -> None:
        if time.monotonic() - self._last_report >= _REPORT_SECONDS:
            self._last_report = time.monotonic()
            of = f" of {total / 1e6:.1f}" if total is not None else ""
            self._report(f"{self._shown}: {done / 1e6:.1f}{of} MB")


def _resumes(response: http.client.HTTPResponse, begin: int) -> bool:
    match = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
    return match is not None and int(match[1]) == begin


def _verify(partial: Path, sha256: str, shown: str) -> None:
    found = _digest(partial).hexdigest()
    if found != sha256:
        partial.unlink()
        raise InputError(
            f"longmemeval: {shown}: the file has SHA-256 {found}, expected {sha256}. Nothing of it "
            "was kept. Check `url` and `sha256`; if both are right, run again."
        )


def _digest(path: Path) -> "hashlib._Hash":
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256")


def _without_secrets(url: str) -> str:
    """Return the URL as messages may show it: without its query, which may hold a key."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc:
        raise InputError(
            "longmemeval: url: not an http or https address without user and password. Give one, "
            "or the path of a file that is here already."
        )
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path}"
