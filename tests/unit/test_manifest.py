from pathlib import Path

import pytest

from coretail import manifest


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    final, now = Path("results/tables/a.parquet"), Path("results/tables/.unfinished-a.parquet")
    now.parent.mkdir(parents=True)
    now.write_bytes(b"content")
    manifest.record("make_a", {final: now})
    now.rename(final)
    return final


def test_what_a_rule_wrote_is_fine(written):
    assert manifest.damaged([written, Path("results/absent.parquet")]) == []


def test_a_change_of_equal_length_is_noticed(written):
    written.write_bytes(b"contenT")
    (line,) = manifest.damaged([written])
    assert "a.parquet" in line
    assert "'make_a'" in line


def test_a_file_that_no_rule_wrote_is_foreign(written):
    foreign = written.with_name("b.parquet")
    foreign.write_bytes(b"content")
    (line,) = manifest.damaged([foreign])
    assert line.startswith(str(foreign))
