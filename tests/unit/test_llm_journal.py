"""The journal: durable, one writer, and safe against lines that were not written whole."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coretail.errors import InputError
from coretail.llm.journal import Journal, Record, read_journal

RECORD = Record("ab" * 32, "m", "weights:00", "policy/1", '"garden"', "stop", 100, 60, 5)


def records(count: int) -> list[Record]:
    return [replace(RECORD, request=f"{i:064x}", reply=f"reply {i}\n") for i in range(count)]


def write(path, items) -> None:
    with Journal(path) as journal:
        for item in items:
            journal.append(item)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=4))
def test_every_text_comes_back_as_it_was(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("j") / "j"
    items = [replace(RECORD, request=str(i), reply=text) for i, text in enumerate(texts)]
    write(path, items)
    assert read_journal(path) == items


def test_an_absent_journal_has_no_records(tmp_path):
    assert read_journal(tmp_path / "none") == []


def test_writing_goes_on_behind_what_is_there(tmp_path):
    path = tmp_path / "deep" / "j"
    write(path, records(2))
    with Journal(path) as journal:
        assert journal.records == records(2)
        journal.append(RECORD)
    assert read_journal(path) == [*records(2), RECORD]


def test_wherever_the_last_record_breaks_off_everything_before_is_kept(tmp_path):
    path = tmp_path / "j"
    write(path, records(2))
    before = path.stat().st_size
    write(path, [RECORD])
    whole = path.read_bytes()
    for length in (*range(before, len(whole) - 1, 7), len(whole) - 1):
        path.write_bytes(whole[:length])
        assert read_journal(path) == records(2)
        write(path, [RECORD])
        assert path.read_bytes() == whole


def test_a_header_that_broke_off_is_written_again(tmp_path):
    path = tmp_path / "j"
    write(path, [RECORD])
    whole = path.read_bytes()
    for length in range(whole.index(b"\n") + 1):
        path.write_bytes(whole[:length])
        assert read_journal(path) == []
        write(path, [RECORD])
        assert path.read_bytes() == whole


def test_zeros_behind_the_last_record_are_dropped(tmp_path):
    path = tmp_path / "j"
    write(path, records(1))
    with path.open("ab") as file:
        file.write(bytes(4096))
    write(path, [RECORD])
    assert read_journal(path) == [*records(1), RECORD]


@pytest.mark.parametrize("offset", [0, 4, 9, 30])
def test_a_damaged_record_costs_only_itself(tmp_path, caplog, offset):
    path = tmp_path / "j"
    write(path, records(3))
    data = bytearray(path.read_bytes())
    second = data.index(b"\n", data.index(b"\n") + 1) + 1
    data[second + offset] ^= 1
    path.write_bytes(data)
    assert read_journal(path) == [records(3)[0], records(3)[2]]
    assert "damaged" in caplog.text
    write(path, [RECORD])
    assert read_journal(path)[-1] == RECORD


def test_a_file_that_is_no_journal_is_left_alone(tmp_path):
    path = tmp_path / "j"
    path.write_text("my diary\n")
    for use in (read_journal, Journal):
        with pytest.raises(InputError, match="is not a journal"):
            use(path)
    assert path.read_text() == "my diary\n"


def test_a_second_writer_is_refused_while_the_first_is_there(tmp_path):
    path = tmp_path / "j"
    code = (
        "from coretail.llm.journal import Journal; from pathlib import Path\n"
        f"Journal(Path({str(path)!r}))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code]
    with Journal(path):
        held = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert "another process is writing this journal" in held.stderr
    assert subprocess.run(command, env=environment).returncode == 0


def test_a_record_is_synced_before_append_returns(tmp_path, monkeypatch):
    path = tmp_path / "j"
    synced = []

    def fdatasync(file):
        synced.append(os.pread(file, 10_000, 0))

    with Journal(path) as journal:
        monkeypatch.setattr(os, "fdatasync", fdatasync)
        for number in range(3):
            journal.append(RECORD)
            assert len(synced) == number + 1
            assert synced[-1] == path.read_bytes()
