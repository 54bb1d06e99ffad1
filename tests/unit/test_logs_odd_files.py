"""Files that are read in one of two possible ways, or that a parser chokes on."""

import json
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest

from coretail.errors import InputError
from coretail.logs import Request, read_log
from coretail.logs import readers as module
from coretail.logs.values import Numbers


@pytest.fixture
def write(tmp_path):
    def put(name, data):
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return put


DAILY = "memory_id,date,count\n" + "".join(
    f"m{item},2024-01-{day:02d},{max(1, 12 // (item + 1))}\n"
    for day in range(1, 29)
    for item in range(6)
)


def test_daily_counts_are_added_up_per_item(write):
    log = read_log(write("daily.csv", DAILY))
    assert log.layout == "counts"
    assert dict(zip(log.ids.to_pylist(), log.counts.tolist(), strict=True)) == {
        "m0": 28 * 12,
        "m1": 28 * 6,
        "m2": 28 * 4,
        "m3": 28 * 3,
        "m4": 28 * 2,
        "m5": 28 * 2,
    }
    assert (log.codes, log.steps) == (None, None)
    assert log.columns.guessed == ("id", "count")
    assert "with --time date each row is one access" in log.notes[0]
    assert log.notes[1] == "6 ids in more than one row: their counts were added"


def test_the_other_reading_is_had_by_its_option(write):
    log = read_log(write("daily.csv", DAILY), Request(time="date"))
    assert (log.layout, int(log.counts.sum())) == ("accesses", 6 * 28)
    assert "'count' is not read" in log.notes[0]
    log = read_log(write("daily.jsonl", '{"item":"a","step":2,"hits":3}\n' * 4))
    assert log.counts.tolist() == [12]


def test_a_guessed_count_that_is_none_names_the_other_reading(write):
    rows = "memory_id,step,access\n" + "m1,1,read\nm2,2,write\n"
    with pytest.raises(InputError, match=r"row 2: count 'read' is not a number.*--time step if"):
        read_log(write("events.csv", rows))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.jsonl", '{"id":"a"}\n{"id":"\\ud800"}\n', r"row 2: id '\ud800' is not text"),
        ("a.json", '[{"id":"a"},{"id":"\\udfff"}]', r"row 2: id '\udfff' is not text"),
        ("a.json", '{"a": 3, "\\ud800": 2}', r"row 2: id '\ud800' is not text"),
        ("a.json", '["a", "\\ud800"]', "row 2: id"),
        ("a.jsonl", '{"id":"a","time":"\\ud800"}\n', "row 1: time"),
        ("a.json", "[" * 200_000, "row 1: lists or objects nested too deep"),
        ("a.json", "[1, 2, " + "[" * 200_000, "row 3: lists or objects nested too deep"),
        ("a.jsonl", '{"id":"a"}\n' + "[" * 200_000, "row 2: lists or objects nested too deep"),
        ("a.json", "[1, 2, " + "9" * 5000 + "]", "row 3: a number of more digits"),
        ("a.json", '{"a": ' + "9" * 5000 + "}", "a.json: a number of more digits"),
        ("a.jsonl", '{"id":1}\n{"id":' + "9" * 5000 + "}\n", "row 2: a number of more digits"),
        ("a.json", '[{"id":"a"},{"id":' + "9" * 5000 + "}]", "row 2: a number of more digits"),
        ("a.json", "[3, " + "9" * 30 + "]", "row 2: count 999"),
        ("a.json", '{"runs": [{"id": "a"}]}', "row 1: count [{'id': 'a'}] is a list; give"),
        ("a.csv", "item,x\na,1\n\nb\n", "row 3: 1 value where the header has 2: 'b'"),
        ("a.csv", 'item,x\n"a\nb",1\nc,1,2\n', "row 3: 3 values where the header has 2: 'c,1,2'"),
        ("a.tsv", "item\tx\na\t1\nb\n", "row 3: 1 value where the header has 2: 'b'"),
        ("a.csv", "item,step\na,1\n".encode("utf-16"), "the text is UTF-16; save it as UTF-8"),
        ("a.csv", "item,step\na,1\n".encode("utf-16-le"), "UTF-16 text); save it as UTF-8"),
        ("a.csv", "item,step\na,1\n".encode("utf-32"), "the text is UTF-32"),
        ("a.jsonl", '{"item":"a"}\n'.encode("utf-16"), "the text is UTF-16"),
        ("a.log", "item,step\na,1\n".encode("utf-16"), "the text is UTF-16"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "data",
)
def test_what_a_parser_chokes_on_is_named_with_its_row(write, name, data, message):
    with pytest.raises(InputError) as error:
        read_log(write(name, data))
    assert message in str(error.value)
    assert name in str(error.value)
    assert len(str(error.value)) < 400


def test_a_ragged_row_far_down_is_named(write, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK_BYTES", 200)
    good = "".join(f"i{row % 7},{row}\n" for row in range(500))
    with pytest.raises(InputError, match="row 502: 3 values where the header has 2: 'a,b,1'"):
        read_log(write("log.csv", f"item,step\n{good}a,b,1\n{good}"))


@pytest.mark.parametrize("good", [0, 3, 150, 400])
def test_two_objects_on_a_line_are_refused_wherever_it_stands(write, good):
    lines = "".join(f'{{"item":"m{row % 9}","step":{row}}}\n' for row in range(good))
    two = '{"item":"a","step":1} {"item":"b","step":2}\n'
    with pytest.raises(InputError, match=rf"row {good + 1}: .* is not one JSON object: Extra data"):
        read_log(write("log.jsonl", f"{lines}{two}{lines}"))
    # An object over two lines does not make up for it.
    split = '{"item":"c",\n"step":3}\n'
    with pytest.raises(InputError, match=rf"row {good + 1}: "):
        read_log(write("log.jsonl", f"{lines}{two}{split}{lines}"))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n", " \n", "\n  \n"])
def test_lines_may_end_in_any_way(write, end):
    lines = [f'{{"item":"m{row % 9}","step":{row}}}' for row in range(300)]
    log = read_log(write("log.jsonl", end.join(lines)))
    assert (int(log.counts.sum()), log.counts.size) == (300, 9)
    assert log.notes == ()


def test_common_line_ends_are_read_by_the_compiled_parser():
    for block in (b'{"a":1}\n{"a":2}', b'{"a":1}\r\n{"a":2}\r', b'{"a":1}\r\n{"a":2}'):
        batch = module._fast_batch(block, {"id": "a"}, {"a": int})
        assert batch is not None
        assert batch.columns["id"].to_pylist() == [1, 2]


def test_a_log_of_one_line_is_one_access(write):
    access = '{"memory_id":"a","step":1}'
    for name in ("x.log", "x.json", "x.jsonl"):
        log = read_log(write(name, access + "\n"))
        assert (log.layout, log.ids.to_pylist(), log.counts.tolist()) == ("accesses", ["a"], [1])
    log = read_log(write("x.json", '{"who":"a","step":1}'), Request(id="who"))
    assert log.ids.to_pylist() == ["a"]
    # Counts by id stay so, whatever the ids are called.
    assert read_log(write("x.json", '{"item":4,"step":1}')).counts.tolist() == [4, 1]


def test_a_byte_order_mark_hides_no_format(write):
    text = '{"item":"a","step":1}\n{"item":"b","step":2}\n'
    log = read_log(write("x.log", b"\xef\xbb\xbf" + text.encode()))
    assert (log.format, log.ids.to_pylist()) == ("jsonl", ["a", "b"])


@pytest.mark.parametrize("zone", ["", "Z"])
def test_times_of_any_year_order_the_accesses(write, monkeypatch, zone):
    monkeypatch.setattr(module, "_BLOCK_BYTES", 120)
    years = [2024, 1500, 9000, 1969, 1501, 2024, 1, 1999] * 5
    rows = "".join(f"m{n},{year:04d}-01-01T00:00:00{zone}\n" for n, year in enumerate(years))
    log = read_log(write("old.csv", f"memory_id,timestamp\n{rows}"))
    order = sorted(range(len(years)), key=lambda n: years[n])
    assert [log.ids[code].as_py() for code in log.codes] == [f"m{n}" for n in order]
    assert int(log.steps[-1]) == len(set(years)) - 1


def test_nanoseconds_keep_their_order_and_are_not_rounded_silently(write, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK_BYTES", 40)
    fine = "item,time\na,2024-01-01T00:00:00.000000002\nb,2024-01-01T00:00:00.000000001\n"
    log = read_log(write("fine.csv", fine))
    assert [log.ids[code].as_py() for code in log.codes] == ["b", "a"]
    with pytest.raises(InputError, match="round the times to microseconds"):
        read_log(write("both.csv", f"{fine}c,1500-01-01T00:00:00\n"))


def test_far_times_are_the_instants_that_they_say(write):
    stamps = [datetime(year, 5, 6, tzinfo=UTC).isoformat() for year in (1500, 2500, 1400)]
    rows = [{"item": f"i{n}", "time": stamp} for n, stamp in enumerate(stamps)]
    log = read_log(write("far.json", json.dumps(rows)))
    assert [log.ids[code].as_py() for code in log.codes] == ["i2", "i0", "i1"]


@pytest.mark.parametrize(
    "later",
    [pa.array([1.5, 2.5, 3.5]), pa.array([True, False, True]), pa.array([b"a", b"b", b"c"])],
    ids=str,
)
@pytest.mark.parametrize("unit", ["ns", "us"])
def test_a_type_that_is_never_cast_to_a_time_is_blamed_at_its_first_row(later, unit):
    """Of this kind Arrow raises another error than for a value that is no time."""
    times = Numbers("time", "log.parquet")
    stamps = pa.array([1, 2, 3], pa.timestamp(unit))
    assert times.read(stamps, 1, np.ones(3, bool)).tolist() == [1, 2, 3]
    with pytest.raises(
        InputError, match=r"^log\.parquet, row 4: time .*another kind than the rows"
    ):
        times.read(later, 4, np.ones(3, bool))
