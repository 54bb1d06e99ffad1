"""Recordings: made from journals, deterministic, and honest about what they lack."""

import random
import re
from dataclasses import fields, replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coretail.errors import InputError
from coretail.llm.journal import Journal, Record
from coretail.llm.recordings import arrow_schema, compact, read_recordings, why_missing

RECORD = Record("ab" * 32, "m", "weights:00", "policy/1", '"garden"', "stop", 100, 60, 5)
RECORDS = [
    replace(RECORD, request=f"{i * 7919 % 100:064x}", reply=f"ünïcode {i % 7}", prompt_tokens=i)
    for i in range(100)
]


def journal(path, items):
    with Journal(path) as file:
        for item in items:
            file.append(item)
    return path


def test_what_was_journaled_is_read_back_from_parquet(tmp_path):
    out = tmp_path / "recordings" / "r.parquet"
    assert compact([journal(tmp_path / "j", RECORDS)], out) == 100
    assert read_recordings([out]) == {record.request: record for record in RECORDS}
    assert pq.read_table(out)["request"].to_pylist() == sorted(r.request for r in RECORDS)
    assert [path.name for path in out.parent.iterdir()] == ["r.parquet"]


def test_the_bytes_do_not_depend_on_order_or_on_how_many_runs_made_them(tmp_path):
    shuffled = random.Random(1).sample(RECORDS, 100)
    compact([journal(tmp_path / "j", RECORDS)], tmp_path / "one.parquet")
    halves = [journal(tmp_path / "a", shuffled[:60]), journal(tmp_path / "b", shuffled[40:])]
    compact(halves, tmp_path / "two.parquet")
    compact(halves[:1], tmp_path / "three.parquet")
    compact(halves[1:], tmp_path / "three.parquet")
    first = (tmp_path / "one.parquet").read_bytes()
    assert (tmp_path / "two.parquet").read_bytes() == first
    assert (tmp_path / "three.parquet").read_bytes() == first


def test_of_two_replies_to_one_request_the_recorded_one_stays(tmp_path, caplog):
    out = tmp_path / "r.parquet"
    compact([journal(tmp_path / "j", [RECORD])], out)
    compact([journal(tmp_path / "k", [replace(RECORD, reply='"attic"')])], out)
    assert read_recordings([out])[RECORD.request].reply == '"garden"'
    assert "two different replies" in caplog.text


def test_directories_and_journals_are_read_and_absent_files_are_passed_over(tmp_path):
    compact([journal(tmp_path / "j", RECORDS[:3])], tmp_path / "d" / "a.parquet")
    compact([journal(tmp_path / "k", RECORDS[3:5])], tmp_path / "d" / "b.parquet")
    places = [tmp_path / "none.parquet", tmp_path / "d", journal(tmp_path / "l", RECORDS[5:6])]
    assert set(read_recordings(places)) == {record.request for record in RECORDS[:6]}


def test_no_recordings_make_an_empty_file_with_the_schema(tmp_path):
    compact([], tmp_path / "r.parquet")
    assert pq.read_schema(tmp_path / "r.parquet").equals(arrow_schema(), check_metadata=True)


def test_the_schema_describes_every_column_and_keeps_no_prompt():
    schema = arrow_schema()
    assert schema.names == [field.name for field in fields(Record)]
    assert all(len(field.metadata[b"description"]) > 10 for field in schema)
    assert not {"prompt", "messages", "url"} & set(schema.names)


def test_a_missing_column_is_named(tmp_path):
    pq.write_table(pa.table({"request": ["a"], "model": ["m"]}), tmp_path / "r.parquet")
    with pytest.raises(InputError, match=r"r\.parquet: column 'identity' is missing"):
        read_recordings([tmp_path / "r.parquet"])


def test_a_damaged_file_is_noticed(tmp_path):
    out = tmp_path / "r.parquet"
    compact([journal(tmp_path / "j", RECORDS)], out)
    data = bytearray(out.read_bytes())
    data[200] ^= 255
    out.write_bytes(data)
    with pytest.raises(InputError, match=r"r\.parquet: cannot be read as a recording"):
        read_recordings([out])
    out.write_bytes(data[:50])
    with pytest.raises(InputError, match=r"r\.parquet: cannot be read as a recording"):
        read_recordings([out])


@pytest.mark.parametrize(
    ("held", "reason"),
    [
        ([], "hold no completion at all"),
        ([replace(RECORD, model="n")], r"no completion of m \(they hold n\)"),
        ([replace(RECORD, identity="weights:11")], "other weights"),
        ([replace(RECORD, template="policy/0")], "template changed.*'policy/0', not for"),
        ([RECORD], "messages, seed or parameters differ"),
    ],
)
def test_a_miss_says_why(held, reason):
    assert re.search(reason, why_missing(held, "m", "weights:00", "policy/1", "they"))
