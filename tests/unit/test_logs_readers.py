"""Every format that a log may come in, and its broken cousins."""

import csv
import datetime
import gzip
import io
import json
from collections import Counter
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coretail.errors import InputError
from coretail.logs import FORMATS, Request, read_log
from coretail.logs import readers as module
from coretail.logs.values import as_text
from coretail.streams import stream

START = datetime.datetime(2026, 3, 1, 9, 30)
STRANGE = ["a\0b", "🧠 memory 🗺️", "x" * 10_000, 'comma, "quote"', "two\nlines", "-7", "007", "NA"]


def retrievals(steps=60, k=3):
    """Return rows (time, id, rank) as a retriever logs them: k items a step."""
    rng = stream("test", "logs")
    names = [f"mem-{number}" for number in range(40)] + STRANGE
    return [
        (START + datetime.timedelta(seconds=2.5 * step), names[item], rank)
        for step in range(steps)
        for rank, item in enumerate(rng.choice(len(names), k, replace=False), start=1)
    ]


def as_parquet(rows):
    times, ids, ranks = zip(*rows, strict=True)
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"timestamp": times, "memory_id": ids, "rank": ranks}), sink)
    return sink.getvalue().to_pybytes()


def as_csv(rows, delimiter=","):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(["timestamp", "memory_id", "rank"])
    writer.writerows((time.isoformat(), item, rank) for time, item, rank in rows)
    return text.getvalue().encode()


def records(rows):
    return [
        {"timestamp": time.isoformat(), "query": {"text": "where?"}, "memory_id": item, "rank": r}
        for time, item, r in rows
    ]


def as_jsonl(rows):
    return "".join(json.dumps(record) + "\n" for record in records(rows)).encode()


WRITERS = {
    "parquet": as_parquet,
    "csv": as_csv,
    "tsv": lambda rows: as_csv(rows, "\t"),
    "json": lambda rows: json.dumps(records(rows)).encode(),
    "jsonl": as_jsonl,
}


def zstd(data):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream_:
        stream_.write(data)
    return sink.getvalue().to_pybytes()


PACKERS = {"": bytes, ".gz": gzip.compress, ".zst": zstd}


@pytest.fixture
def write(tmp_path):
    def write_file(name, data):
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return write_file


def by_id(log):
    return dict(zip(log.ids.to_pylist(), log.counts.tolist(), strict=True))


def sequence(log):
    return log.ids.take(pa.array(log.codes)).to_pylist()


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("file_format", WRITERS)
def test_a_log_is_the_same_in_every_format(write, file_format, suffix):
    rows = retrievals()
    data = PACKERS[suffix](WRITERS[file_format](rows))
    log = read_log(write(f"log.{file_format}{suffix}", data))
    assert by_id(log) == Counter(item for _, item, _ in rows)
    assert sequence(log) == [item for _, item, _ in rows]
    assert log.steps.tolist() == [step for step in range(60) for _ in range(3)]
    assert (log.format, log.layout, log.notes) == (file_format, "accesses", ())
    assert log.compression == {"": None, ".gz": "gzip", ".zst": "zstd"}[suffix]
    assert log.columns.present() == {"id": "memory_id", "time": "timestamp", "rank": "rank"}
    assert log.order == "that of 'timestamp'"


@pytest.mark.parametrize("file_format", ["parquet", "csv", "tsv", "jsonl"])
def test_the_format_is_seen_without_a_suffix(write, file_format):
    log = read_log(write("retrieval log", WRITERS[file_format](retrievals())))
    assert log.format == file_format
    log = read_log(write("packed", gzip.compress(WRITERS[file_format](retrievals()))))
    assert (log.format, log.compression) == (file_format, "gzip")


@pytest.mark.parametrize("file_format", WRITERS)
def test_blocks_and_batches_make_no_difference(write, monkeypatch, file_format):
    path = write("log", WRITERS[file_format](retrievals()))
    whole = read_log(path, Request(format=file_format))
    # A line of 10 kB is longer than a block of JSON lines, and as long as one of CSV.
    monkeypatch.setattr(module, "_BLOCK_BYTES", 24_000 if "sv" in file_format else 700)
    monkeypatch.setattr(module, "_BATCH_ROWS", 7)
    parts = read_log(path, Request(format=file_format))
    assert sequence(parts) == sequence(whole)
    assert parts.steps.tolist() == whole.steps.tolist()
    assert parts.ids == whole.ids


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=9)
)
def test_any_text_is_an_id(tmp_path_factory, ids):
    path = tmp_path_factory.mktemp("ids")
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([["item"], *([item] for item in ids)])
    (path / "a.csv").write_bytes(text.getvalue().encode())
    (path / "a.jsonl").write_text("".join(json.dumps({"item": item}) + "\n" for item in ids))
    pq.write_table(pa.table({"item": ids}), path / "a.parquet")
    for name in ("a.csv", "a.jsonl", "a.parquet"):
        assert sequence(read_log(path / name)) == ids


# ---- order, duplicates, missing values --------------------------------------------------------


def test_accesses_are_put_in_order_of_time_and_it_is_said(write):
    path = write("log.csv", "step,item\n3,c\n1,a\n2,b\n1,z\n")
    log = read_log(path)
    assert sequence(log) == ["a", "z", "b", "c"]
    assert log.steps.tolist() == [0, 0, 1, 2]
    assert log.notes[0].startswith("2 rows with an earlier 'step' than the row before")
    rows = read_log(path, Request(file_order=True))
    assert sequence(rows) == ["c", "a", "b", "z"]
    assert rows.steps is None
    assert rows.order == "that of the rows"


def test_ranks_order_accesses_of_one_time_and_can_leave_some_out(write):
    path = write("log.csv", "step,item,rank\n1,b,2\n1,a,1\n2,c,3\n2,d,1\n")
    assert sequence(read_log(path)) == ["a", "b", "d", "c"]
    log = read_log(path, Request(max_rank=2))
    assert sequence(log) == ["a", "b", "d"]
    assert "1 row with a rank above 2 left out" in log.notes


def test_repeated_rows_are_accesses_and_it_is_said(write):
    log = read_log(write("log.csv", "step,item\n1,a\n1,a\n1,b\n2,a\n1,a\n"))
    assert by_id(log) == {"a": 4, "b": 1}
    assert "2 rows repeating id and 'step' of another row: each counted as an access" in log.notes


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("log.csv", 'item,x\na,1\n,1\n"",1\na,1\n'),
        ("log.jsonl", '{"item":"a"}\n{"x":1}\n{"item":""}\n{"item":"a"}\n'),
        ("log.json", '[{"item":"a"},{"item":null},{"item":""},{"item":"a"}]'),
    ],
)
def test_rows_without_an_id_are_left_out_and_an_empty_text_is_an_id(write, name, data):
    log = read_log(write(name, data))
    assert by_id(log) == {"a": 2, "": 1}
    assert log.notes == ("1 row without an id left out",)


def test_every_id_once_looks_like_the_wrong_column(write):
    log = read_log(write("log.csv", "id,x\n1,a\n2,a\n3,b\n"))
    assert log.notes == ("every id occurs once: is 'id' the id of an event, not of an item?",)


def test_a_log_with_one_item(write):
    log = read_log(write("log.csv", "item\na\na\n"))
    assert (log.counts.tolist(), log.codes.tolist(), log.notes) == ([2], [0, 0], ())


# ---- types ------------------------------------------------------------------------------------


@pytest.mark.parametrize("block_bytes", [1 << 24, 20])
def test_a_number_and_its_text_are_one_item_and_it_is_said(write, monkeypatch, block_bytes):
    monkeypatch.setattr(module, "_BLOCK_BYTES", block_bytes)
    lines = ['{"item": 1}', '{"item": "1"}', '{"item": 1.0}', '{"item": 2}', '{"item": "x"}']
    for name, text in [
        ("log.jsonl", "\n".join(lines)),
        ("log.json", "[" + ",".join(lines) + "]"),
    ]:
        log = read_log(write(name, text))
        assert by_id(log) == {"1": 3, "2": 1, "x": 1}
        assert log.notes == (
            '1 id written both as a number and as text, such as 1 and "1": ids are compared as '
            "text, so each is one item",
        )


def test_ids_of_csv_stay_as_written(write):
    assert by_id(read_log(write("log.csv", "item\n007\n7\n7.0\n"))) == {"007": 1, "7": 1, "7.0": 1}


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (pa.array([5, 5, -1]), {"5": 2, "-1": 1}),
        # A column of integers with a gap, as pandas writes it.
        (pa.array([5.0, float("nan"), 5.0, 0.25]), {"5": 2, "0.25": 1}),
        (pa.array(["a", None, "a"]), {"a": 2}),
        (pa.array(["a", "b", "a"]).dictionary_encode(), {"a": 2, "b": 1}),
        (pa.array([b"a", b"b", b"a"]), {"a": 2, "b": 1}),
        (pa.array([True, False, True]), {"true": 2, "false": 1}),
        (pa.array([datetime.date(2026, 3, 1)] * 2), {"2026-03-01": 2}),
    ],
)
def test_ids_of_any_type_are_compared_as_text(tmp_path, ids, expected):
    pq.write_table(pa.table({"item": ids}), tmp_path / "log.parquet")
    assert by_id(read_log(tmp_path / "log.parquet")) == expected


@pytest.mark.parametrize(
    "times",
    [
        pa.array([3, 1, 2]),
        pa.array([3, 1, 2], pa.uint8()),
        pa.array([0.3, 0.1, 0.2]),
        pa.array(["3", "1", "2.5"]),
        pa.array(["2026-03-01 10:00:00.5", "2026-02-01", "2026-03-01T09:00"]),
        # One o'clock in Berlin is before noon in London.
        pa.array(["2026-03-01T12:00:00Z", "2026-03-01T01:00:00+01:00", "2026-03-01T11:59:59Z"]),
        pa.array([datetime.date(2026, 3, 3), datetime.date(2026, 3, 1), datetime.date(2026, 3, 2)]),
        pa.array([3, 1, 2], pa.timestamp("ms", "Europe/Berlin")),
        pa.array([3, 1, 2], pa.time32("s")),
        pa.array([3, 1, 2], pa.duration("s")),
    ],
)
def test_times_of_any_type_order_the_accesses(tmp_path, times):
    pq.write_table(pa.table({"item": ["c", "a", "b"], "time": times}), tmp_path / "log.parquet")
    log = read_log(tmp_path / "log.parquet")
    assert sequence(log) == ["a", "b", "c"]
    assert log.steps.tolist() == [0, 1, 2]


def test_whole_and_fractional_times_may_alternate(write, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK_BYTES", 30)
    times = [3, 1.5, 2, 1]
    path = write("log.jsonl", "\n".join(f'{{"item":"i{t}","time":{t}}}' for t in times))
    assert sequence(read_log(path)) == ["i1", "i1.5", "i2", "i3"]


# ---- tables of counts -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("c.csv", "item,count\na,3\nb,1\nc,2\n"),
        ("c.tsv", "item\thits\na\t3\nb\t1\nc\t2\n"),
        ("c.csv", "item,count\na,3.0\nb,1.0\nc,2.0\n"),
        ("c.json", '{"a": 3, "b": 1, "c": 2}'),
        ("c.json", '[{"item":"a","count":3},{"item":"b","count":1},{"item":"c","count":2}]'),
        ("c.jsonl", '{"item":"a","count":3}\n{"item":"b","count":1}\n{"item":"c","count":2}\n'),
    ],
)
def test_a_table_of_counts(write, name, data):
    log = read_log(write(name, data))
    assert by_id(log) == {"a": 3, "b": 1, "c": 2}
    assert (log.layout, log.codes, log.steps) == ("counts", None, None)
    packed = read_log(write(name + ".gz", gzip.compress(data.encode())))
    assert by_id(packed) == {"a": 3, "b": 1, "c": 2}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("c.txt", "3\n1\n2\n"),
        ("c", "3\n1\n2\n"),
        ("c.json", "[3, 1, 2]"),
        ("c.csv", "count\n3\n1\n2\n"),
    ],
)
def test_bare_integers_are_counts(write, name, data):
    log = read_log(write(name, data))
    assert log.counts.tolist() == [3, 1, 2]
    assert (log.layout, log.ids) == ("counts", None)


def test_a_list_of_ids(write):
    path = write("ids.txt", "5\r\n6\r\n5\r\n7\r\n")
    log = read_log(path, Request(format="ids"))
    assert sequence(log) == ["5", "6", "5", "7"]
    assert read_log(path).counts.tolist() == [5, 6, 5, 7]
    assert sequence(read_log(write("ids.json", '["b", "a", "b"]'))) == ["b", "a", "b"]


def test_counts_of_one_id_are_added_and_it_is_said(write):
    log = read_log(write("c.csv", "item,count\na,3\nb,1\na,4\n"))
    assert by_id(log) == {"a": 7, "b": 1}
    assert log.notes == ("1 id in more than one row: their counts were added",)


def test_the_largest_counts_are_kept_exactly(write):
    log = read_log(write("c.csv", f"item,count\na,{2**63 - 1}\nb,{2**53 + 1}\n"))
    assert log.counts.tolist() == [2**63 - 1, 2**53 + 1]


# ---- broken cousins ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("log.csv", "when,what\n1,a\n", "the columns are 'when', 'what'; name one with --id"),
        ("log.jsonl", '{"when":1}\n{"what":"a"}\n', "the columns are 'when', 'what'"),
        ("log.json", '[{"when":1,"what":"a"}]', "the columns are 'when', 'what'"),
        ("log.csv", "step,item\n1,a\nlater,b\n", "row 3: time 'later' is neither a number nor"),
        ("log.csv", "step,item\n2026-03-01,a\n5,b\n", "row 3: time '5' is neither"),
        ("log.csv", "step,item\n1,a\n,b\n", "row 3: no time; add it"),
        ("log.csv", "step,item\n1,a\nnan,b\n", "row 3: no time"),
        ("log.csv", "step,item,rank\n1,a,1\n1,b,first\n", "row 3: rank 'first' is not a number"),
        ("log.csv", "item,count\na,3\nb,0\n", "row 3: count 0 is not a positive integer"),
        ("log.csv", "item,count\na,3\nb,-2\n", "row 3: count -2 is not a positive integer"),
        ("log.csv", "item,count\na,3\nb,2.5\n", "row 3: count 2.5 is not a positive integer"),
        ("log.csv", "item,count\na,3\nb,\n", "row 3: count None is not a positive integer"),
        ("log.csv", "item,count\na,3\nb,many\n", "row 3: count 'many' is not a number"),
        ("log.csv", "item,count\na,3\n,2\n", "row 3: a count without an id"),
        ("log.csv", f"item,count\na,{2**63}\n", "row 2: count 9.22"),
        ("log.csv", "item,x\na,1\nb\n", "row 3: 1 value where the header has 2: 'b'"),
        ("log.csv", b"item\na\n\xff\n", "invalid UTF8"),
        ("log.csv", "item\n", "no accesses"),
        ("log.csv", "item,count\n", "no rows"),
        ("log.csv", "", "empty; give a log"),
        ("log.csv", "\n", "damaged"),
        ("log.jsonl", '{"item":"a"}\n{"item":["b","c"]}\n', "row 2: the id is a list"),
        ("log.jsonl", '{"item":"a"}\n{"item":{"b":1}}\n', "row 2: the id is an object"),
        ("log.jsonl", '{"item":"a"}\n{"item":"b"\n', 'row 2: \'{"item":"b"\' is not one JSON'),
        ("log.jsonl", '{"item":"a"}\n["b"]\n', "row 2: a list; give one object a line"),
        ("log.jsonl", "5\n6\n", "row 1: a number; give one object a line"),
        ("log.jsonl", '{"item":"a","time":1}\n{"item":"b","time":"x"}\n', "row 2: time 'x' is"),
        ("log.jsonl", '{"item":"a","time":true}\n', "row 1: time True is a truth value"),
        ("log.jsonl", '{"item":"a","item":"b"}\n', "row 1"),
        ("log.jsonl", '{"item":"a","count":2}\n{"item":"b"}\n', "row 2: count None"),
        ("log.jsonl", b'{"item":"a"}\n{"item":"\xff"}\n', "row 2: "),
        ("log.json", '{"a": 3, "b": 2.5}', "row 2: count 2.5 is not a positive integer"),
        ("log.json", '{"a": 3, "b": "2"}', "row 2: count '2' is text"),
        ("log.json", '{"a": 3, "a": 2}', "key 'a' stands twice"),
        ("log.json", '[3, "2"]', "row 2: '2' is text in an array of counts"),
        ("log.json", '["a", 2]', "row 2: 2 is a number in an array of ids"),
        ("log.json", '[{"item":"a"}, 2]', "row 2: a number, not an object"),
        ("log.json", "[true]", "row 1"),
        ("log.json", "5", "a number; give an array or an object"),
        ("log.json", '{"a": 3}\n{"b": 2}\n', "give --format jsonl"),
        ("log.json", '{"a": 3', "not a JSON document"),
        ("log.json", "[]", "no rows"),
        ("log.txt", "3\n\nx\n", "line 2: a blank line"),
        ("log.txt", "3\nmem-4\n", "line 2: 'mem-4' is not a positive integer"),
        ("log.txt", "3\n0\n", "line 2: '0' is not a positive integer"),
        ("log.parquet", b"PAR1 and nothing more", "damaged, or not what it was taken for"),
        ("log.csv.gz", gzip.compress(as_csv(retrievals(2000)))[:-400], "Truncated"),
        ("log.txt.gz", gzip.compress(b"3\n1\n" * 5000)[:-12], "Truncated"),
        ("log.parquet", as_parquet(retrievals())[:-30], "damaged"),
        ("log.csv.gz", b"\x1f\x8bnot gzip", "damaged"),
        ("log.csv.gz", gzip.compress(b""), "damaged"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 40 else "data",
)
def test_broken_files(write, name, data, message):
    with pytest.raises(InputError) as error:
        read_log(write(name, data))
    assert message in str(error.value)
    assert name in str(error.value)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (pa.array([Decimal("1.50")], pa.decimal128(5, 2)), "1.50"),
        (pa.array([datetime.date(2026, 1, 2)], pa.date32()), "2026-01-02"),
        (pa.array([datetime.time(3, 4)], pa.time32("ms")), "03:04:00.000"),
        (pa.array([5], pa.duration("ms")), "5"),
        (pa.array([True]), "true"),
        (pa.array([b"ab"], pa.binary(2)), "ab"),
        (pa.array(["ab"], pa.string_view()), "ab"),
    ],
)
def test_ids_of_every_flat_type_have_a_text(values, text):
    assert as_text(values, "log", 1).to_pylist() == [text]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"item": pa.array([["a"], ["b"]])}, "one row per access"),
        ({"item": pa.array([b"a", b"\xff"])}, "row 2: an id of type binary"),
        ({"item": pa.array([None, None], pa.string())}, "no accesses"),
        ({"item": pa.array([], pa.string())}, "no accesses"),
        ({"item": ["a", "b"], "time": pa.array([1, None])}, "row 2: no time"),
        ({"item": ["a", "b"], "time": [1.0, float("nan")]}, "row 2: no time"),
        ({"item": ["a", "b"], "time": [[1], [2]]}, "row 1: time [1] is neither"),
        ({"item": ["a", "b"], "time": [True, False]}, "row 1: time True is neither"),
        ({"item": ["a", "b"], "count": pa.array([1, None])}, "row 2: count None"),
        ({"item": ["a", "b"], "count": [1.0, float("nan")]}, "row 2: count nan"),
        ({"item": ["a", None], "count": [1, 2]}, "row 2: a count without an id"),
        ({"item": ["a", "b"], "count": [True, True]}, "counts are bool"),
        ({"item": ["a", "b"], "count": pa.array([2**63, 1], pa.uint64())}, "row 1: count 922"),
        ({"a": [1], "b": [2]}, "the columns are 'a', 'b'"),
    ],
)
def test_broken_tables(tmp_path, table, message):
    pq.write_table(pa.table(table), tmp_path / "log.parquet")
    with pytest.raises(InputError, match=r"log\.parquet") as error:
        read_log(tmp_path / "log.parquet")
    assert message in str(error.value)


def test_a_row_far_down_is_named(write, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK_BYTES", 200)
    good = "".join(f"{step},item-{step % 5}\n" for step in range(500))
    with pytest.raises(InputError, match="row 502: time 'x'"):
        read_log(write("log.csv", f"step,item\n{good}x,item\n{good}"))
    lines = "".join(f'{{"step":{step},"item":"a"}}\n' for step in range(300))
    with pytest.raises(InputError, match="row 301: the id is a list"):
        read_log(write("log.jsonl", f'{lines}{{"step":1,"item":[]}}\n{lines}'))


def test_unreadable_paths(tmp_path):
    with pytest.raises(InputError, match=r"none\.csv: cannot be read: no such file"):
        read_log(tmp_path / "none.csv")
    with pytest.raises(InputError, match="cannot be read: is a directory"):
        read_log(tmp_path)


def test_unusable_requests(write):
    path = write("log.txt", "3\n1\n")
    with pytest.raises(InputError, match="plain text has no columns, so no --id"):
        read_log(path, Request(id="item"))
    with pytest.raises(InputError, match="'xml' is not one of parquet"):
        read_log(path, Request(format="xml"))
    with pytest.raises(InputError, match="max_rank: 0"):
        read_log(path, Request(max_rank=0))
    with pytest.raises(InputError, match="no columns here, so no --count"):
        read_log(write("log.json", "[3]"), Request(count="n"))


def test_every_format_has_a_reader():
    assert set(module._READERS) == set(FORMATS)
