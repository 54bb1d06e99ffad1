"""Fetch a file from a URL: streamed, resumed where it broke off, and known by its SHA-256.

What has arrived lies in a partial file beside the target, named after the expected hash so that
bytes of another file are never continued. What a server sends from the beginning once there is
such a file lies in a second one, since it may be another file altogether, such as a network's page
to sign in: it takes the first one's place if it is the file, or the longer beginning of one. The
target gets its name only when the whole is right.
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
# Of a connection, at any moment; URLError and SSLError are OSErrors.
_NETWORK_ERRORS = (OSError, http.client.HTTPException)


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
        kept for the next run; it has another hash, in which case nothing of it is kept, but what
        an earlier request brought is where the server sent it from the beginning; or it cannot be
        kept at ``path``.
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
                _Fetch(url, sha256, shown, partial, report).run(pause)
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

    def __init__(self, url: str, sha256: str, shown: str, partial: Path, report: Report) -> None:
        self._url = url
        self._sha256 = sha256
        self._shown = shown
        self._partial = partial
        self._anew = partial.with_name(f"{partial.name}.anew")
        self._report = report
        self._last_report = time.monotonic()
        # Whether to ask for the rest alone, where there is a beginning.
        self._resume = True

    def run(self, pause: float) -> None:
        """Bring the partial file to its full length."""
        failures = 0
        try:
            while True:
                before = self._held()
                try:
                    self._request(before)
                    return
                except _BrokenError as error:
                    failures = 1 if self._held() > before else failures + 1
                    if failures == ATTEMPTS:
                        raise InputError(
                            f"longmemeval: {self._shown}: cannot be fetched ({error}). "
                            f"{self._held()} bytes are kept, and the next run goes on behind "
                            "them; or fetch the file by other means and give its path."
                        ) from None
                    self._report(f"{self._shown}: {error}; trying again")
                    time.sleep(pause * 2 ** (failures - 1))
        finally:
            self._anew.unlink(missing_ok=True)

    def _held(self) -> int:
        return self._partial.stat().st_size if self._partial.exists() else 0

    def _request(self, begin: int) -> None:
        """Bring what lies behind ``begin``; raise _BrokenError if it does not all come."""
        # An encoding would make the range and the length those of other bytes.
        headers = {"Accept-Encoding": "identity", "User-Agent": "coretail"}
        if begin and self._resume:
            headers["Range"] = f"bytes={begin}-"
        request = urllib.request.Request(self._url, headers=headers)
        try:
            response = urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS)
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
        except _NETWORK_ERRORS as error:
            raise _BrokenError(_reason(error)) from None
        with response:
            self._receive(response, begin)

    def _receive(self, response: http.client.HTTPResponse, begin: int) -> None:
        if response.status == http.client.PARTIAL_CONTENT:
            if not _resumes(response, begin):
                self._report(f"{self._shown}: the server cannot resume; starting anew")
                self._resume = False
                raise _BrokenError("the server sent another range than asked for")
            self._append(response, self._partial, begin)
        elif begin:
            self._report(f"{self._shown}: the server cannot resume; starting anew")
            self._replace(response, begin)
        else:
            self._append(response, self._partial, 0)

    def _replace(self, response: http.client.HTTPResponse, begin: int) -> None:
        """Receive the file from its beginning, the partial file being ``begin`` bytes long."""
        self._anew.unlink(missing_ok=True)
        try:
            self._append(response, self._anew, 0)
        except _BrokenError:
            if self._anew.stat().st_size > begin:
                self._anew.replace(self._partial)
            raise
        found = _digest(self._anew).hexdigest()
        if found != self._sha256:
            raise InputError(
                f"longmemeval: {self._shown}: in place of the rest of the file, the server sent "
                f"{self._anew.stat().st_size} bytes with SHA-256 {found}, expected "
                f"{self._sha256}. The {begin} bytes from before are kept. Look whether the network "
                "asks you to sign in, and check `url` and `sha256`; then run again."
            )
        self._anew.replace(self._partial)

    def _append(self, response: http.client.HTTPResponse, path: Path, begin: int) -> None:
        """Write a response behind the ``begin`` bytes of a file; _BrokenError if it ends early."""
        length = response.headers.get("Content-Length")
        total = begin + int(length) if length is not None and length.isdecimal() else None
        if total is not None:
            self._check_room(total - begin)
        done = begin
        with path.open("ab") as file:
            while block := _block(response):
                file.write(block)
                done += len(block)
                self._show(done, total)
        if total is not None and done < total:
            raise _BrokenError(f"the connection ended at byte {done} of {total}")

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


def _block(response: http.client.HTTPResponse) -> bytes:
    # Errors of the network end here, so that errors of writing are known as such.
    try:
        return response.read(_BLOCK)
    except _NETWORK_ERRORS as error:
        raise _BrokenError(_reason(error)) from None


def _reason(error: Exception) -> str:
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    return str(cause) or type(cause).__name__


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
