import gzip
import io
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coretail import artefacts
from coretail.audit import audit_counts
from coretail.audit.laws import draw, power_law
from coretail.cli import AUDITED, BAD_INPUT, BROKEN_PIPE, NOT_AUDITABLE, main
from coretail.concentration import concentration
from coretail.controller import auto_tau
from coretail.logs import FORMATS
from coretail.streams import stream

SCRIPTS = Path(__file__).parents[2] / "scripts"
FAST = ["--replicates", "20", "--permutations", "19"]


@pytest.fixture
def counts():
    return np.minimum(draw(power_law(4, 2.3), 400, stream("cli")), 1e9).astype(np.int64)


@pytest.fixture
def path(tmp_path, counts):
    file = tmp_path / "counts.txt"
    file.write_text("\n".join(map(str, counts.tolist())) + "\n")
    return str(file)


@pytest.fixture
def log(tmp_path):
    """Write a log of 3,000 accesses in 1,000 steps and return its path."""
    items = (stream("cli", "log").pareto(1.1, 3000) * 4).astype(int) % 500
    file = tmp_path / "agent.parquet"
    table = {"timestamp": np.arange(3000) // 3, "memory_id": [f"m{item}" for item in items]}
    pq.write_table(pa.table(table), file)
    return str(file)


@pytest.fixture
def few(tmp_path):
    file = tmp_path / "few.csv"
    file.write_text("item,count\n" + "".join(f"i{n},5\n" for n in range(50)))
    return str(file)


def traces(capsys):
    return json.loads(capsys.readouterr().out)["traces"]


def test_json_is_the_result_of_the_functions(path, counts, capsys):
    status = main(
        ["audit", path, "--json", "--replicates", "40", "--seed", "7", "--ks", "observed"]
    )
    out, err = capsys.readouterr()
    (trace,) = json.loads(out)["traces"]
    expected = audit_counts(counts, replicates=40, seed=7, ks="observed")
    assert trace["audit"] == json.loads(json.dumps(expected.to_dict()))
    assert trace["concentration"] == json.loads(json.dumps(concentration(counts).to_dict()))
    assert trace["tau"]["value"] == auto_tau(expected).value
    assert trace["source"]["file"] == path
    assert status == (NOT_AUDITABLE if expected.verdict == "not_auditable" else AUDITED)
    assert err == ""


def test_every_option_of_the_method_reaches_the_audit(path, log, counts, capsys):
    options = ["--x-min", "5", "--replicates", "10", "--jobs", "2"]
    main(["audit", path, "--json", *options])
    result = traces(capsys)[0]["audit"]
    assert (result["x_min"], result["x_min_known"], result["replicates"]) == (5, True, 10)
    assert result["n_tail"] == int(np.sum(counts >= 5))
    main(["audit", path, "--json", "--min-tail", "390", "--replicates", "0"])
    assert traces(capsys)[0]["audit"]["n_tail"] >= 390
    main(["audit", log, "--json", "--replicates", "0", "--permutations", "37"])
    assert traces(capsys)[0]["stationarity"]["permutations"] == 37


def test_every_option_of_the_columns_reaches_the_reader(tmp_path, capsys):
    file = tmp_path / "log.dat"
    file.write_text("who;when\n".replace(";", "\t") + "b\t2\nb\t1\na\t1\n")
    options = ["--format", "tsv", "--id", "who", "--time", "when", "--rank", "when"]
    main(["audit", str(file), "--json", "--replicates", "0", *options, "--max-rank", "1"])
    (trace,) = traces(capsys)
    assert trace["source"]["columns"] == {"id": "who", "time": "when", "rank": "when"}
    assert trace["source"]["guessed"] == []
    assert (trace["n_accesses"], trace["n_items"]) == (2, 2)
    main(["audit", str(file), "--json", "--replicates", "0", "--id", "who", "--file-order"])
    assert traces(capsys)[0]["source"]["order"] == "that of the rows"
    main(["audit", str(file), "--json", "--replicates", "0", "--count", "when"])
    assert traces(capsys)[0]["source"]["layout"] == "counts"


def test_the_text_shows_verdict_figures_and_what_was_guessed(log, capsys):
    status = main(["audit", log, *FAST])
    out = capsys.readouterr().out
    assert status == AUDITED
    for part in (
        "agent.parquet\n",
        "id 'memory_id' (guessed), time 'timestamp' (guessed)",
        "3,000 of",
        *("verdict  ", "tau  ", "gini  ", "x_min", "n_tail", "alpha", "p_gof", "lognormal: ", "R "),
        "1,000 steps",
        "19 permutations of 20 blocks",
        "limit  ",
    ):
        assert part in out


def test_notes_on_the_rows_are_shown(tmp_path, capsys):
    file = tmp_path / "log.jsonl"
    file.write_text('{"item":1,"step":2}\n{"item":"1","step":1}\n{"item":"1","step":1}\n')
    main(["audit", str(file), "--replicates", "0"])
    out = " ".join(capsys.readouterr().out.split())
    assert "note 1 row with an earlier 'step'" in out
    assert "note 1 row repeating id and 'step'" in out
    assert 'such as 1 and "1": ids are compared as text' in out


def test_a_guessed_table_of_counts_is_shown_with_the_option_that_changes_it(tmp_path, capsys):
    file = tmp_path / "daily.csv"
    rows = [f"m{item},2024-01-0{day},{9 - item}\n" for day in (1, 2) for item in range(8)]
    file.write_text("memory_id,date,count\n" + "".join(rows))
    main(["audit", str(file), "--replicates", "0"])
    out = " ".join(capsys.readouterr().out.split())
    assert "table of counts; id 'memory_id' (guessed), count 'count' (guessed)" in out
    assert "with --time date each row is one access" in out
    assert "88 of 8 items" in out
    assert "halves the order of the accesses is not known" in out
    main(["audit", str(file), "--replicates", "0", "--json"])
    (trace,) = traces(capsys)
    assert "with --time date each row is one access" in trace["source"]["notes"][0]
    main(["audit", str(file), "--replicates", "0", "--json", "--time", "date"])
    assert traces(capsys)[0]["n_accesses"] == 16


def test_the_text_says_how_far_the_verdict_can_be_trusted(path, few, capsys):
    main(["audit", path, *FAST])
    out = " ".join(capsys.readouterr().out.split())
    assert "calibration share of samples of a known law that get this verdict" in out
    for law in ("power_law", "truncated_power_law", "lognormal", "exponential"):
        assert f"{law}: " in out.split("calibration share")[1]
    assert "By calibration the audit gives at least 80% of samples the verdict of their law" in out
    main(["audit", few, *FAST])
    assert "with n_tail below 100 every sample is not auditable" in capsys.readouterr().out


def test_bad_json_exits_2_without_a_traceback(tmp_path, capsys):
    for name, text in (
        ("half.jsonl", '{"id":"\\ud800","step":1}\n'),
        ("half.json", '[{"id":"\\ud800","step":1}]'),
        ("deep.json", "[" * 100_000),
        ("long.json", "[1, 2, " + "9" * 5000 + "]"),
    ):
        file = tmp_path / name
        file.write_text(text)
        assert main(["audit", str(file)]) == BAD_INPUT
        err = capsys.readouterr().err
        assert f"{name}, row " in err


def test_a_sample_without_a_tail_exits_3_with_a_reason(few, capsys):
    assert main(["audit", few, "--json"]) == NOT_AUDITABLE
    result = traces(capsys)[0]["audit"]
    assert result["verdict"] == "not_auditable"
    assert "all values are equal" in result["reason"]
    assert main(["audit", few]) == NOT_AUDITABLE
    out = capsys.readouterr().out
    assert "not_auditable: no cutoff" in out
    assert "There is no tail" in out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"3\n-4\n0\n", "line 2: '-4'"),
        (b"", "empty"),
        (b"\n\n", "no counts"),
        (b"a\nb\n", "for a list of ids: --format ids"),
        ("3\n4\n".encode("utf-16"), "UTF-16"),
        (gzip.compress(b"3\n4\n" * 999, mtime=0)[:-9], "Truncated"),
    ],
)
def test_bad_input_exits_2_and_names_the_offender(tmp_path, capsys, content, message):
    file = tmp_path / "bad.txt"
    file.write_bytes(content)
    assert main(["audit", str(file), "--json"]) == BAD_INPUT
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("coretail: ")
    assert message in err
    assert "Traceback" not in err


def test_a_missing_file_and_a_directory_exit_2(tmp_path, capsys):
    assert main(["audit", str(tmp_path / "none.txt")]) == BAD_INPUT
    assert "none.txt: cannot be read: no such file" in capsys.readouterr().err
    assert main(["audit", str(tmp_path)]) == BAD_INPUT
    assert "is a directory" in capsys.readouterr().err


def test_an_unusable_option_exits_2(path, capsys):
    assert main(["audit", path, "--replicates", "-5"]) == BAD_INPUT
    assert "replicates: -5" in capsys.readouterr().err
    with pytest.raises(SystemExit) as exit_info:
        main(["audit", path, "--ks", "kuiper"])
    assert exit_info.value.code == 2
    with pytest.raises(SystemExit) as exit_info:
        main([])
    assert exit_info.value.code == 2


def test_of_several_files_the_worst_status_counts_and_all_are_audited(log, few, tmp_path, capsys):
    assert main(["audit", log, few, "--json", *FAST]) == NOT_AUDITABLE
    assert [trace["sample"] for trace in traces(capsys)] == ["agent.parquet", "few.csv"]
    bad = str(tmp_path / "none.csv")
    assert main(["audit", few, bad, log, "--json", *FAST]) == BAD_INPUT
    out, err = capsys.readouterr()
    assert [trace["sample"] for trace in json.loads(out)["traces"]] == ["few.csv", "agent.parquet"]
    assert "none.csv: cannot be read" in err


def test_a_file_is_audited_alike_alone_and_among_others(log, path, capsys):
    main(["audit", log, "--json", *FAST])
    alone = traces(capsys)[0]
    main(["audit", path, log, "--json", *FAST])
    assert traces(capsys)[1] == alone


def test_samples_are_told_apart_by_their_paths(tmp_path, capsys):
    files = [tmp_path / run / "log.txt" for run in ("first", "second")]
    for file in files:
        file.parent.mkdir()
        file.write_text("1\n2\n3\n")
    main(["audit", *map(str, files), "--json", "--replicates", "0"])
    assert [t["sample"] for t in traces(capsys)] == ["first/log.txt", "second/log.txt"]
    assert main(["audit", str(files[0]), str(files[0])]) == BAD_INPUT
    assert "given twice" in capsys.readouterr().err


def test_out_has_tables_and_a_figure(log, few, tmp_path, capsys):
    out = tmp_path / "new" / "audits"
    assert main(["audit", log, few, "--json", "--out", str(out), *FAST]) == NOT_AUDITABLE
    printed = traces(capsys)
    assert sorted(file.name for file in out.iterdir()) == [
        "trace_audits.parquet",
        "trace_figure.pdf",
        "trace_figure.png",
        "trace_items.parquet",
    ]
    assert [file.name for file in out.parent.iterdir()] == ["audits"]
    rows = artefacts.read_rows(out / "trace_audits.parquet", "trace_audits")
    assert [row["sample"] for row in rows] == ["agent.parquet", "few.csv"]
    assert rows[0]["gini"] == printed[0]["concentration"]["gini"]
    assert rows[0]["alpha"] == printed[0]["audit"]["alpha"]
    assert rows[0]["p_halves"] == printed[0]["stationarity"]["p"]
    assert rows[0]["tau"] == printed[0]["tau"]["value"]
    items = artefacts.read_rows(out / "trace_items.parquet", "trace_items")
    ours = [row for row in items if row["sample"] == "agent.parquet"]
    raw = pq.read_table(log).column("memory_id").to_pylist()
    assert {row["id"]: row["accesses"] for row in ours} == Counter(raw)
    assert {row["id"]: row["first_half"] for row in ours if row["first_half"]} == Counter(
        raw[:1500]
    )
    assert [row["accesses"] for row in ours] == sorted(Counter(raw).values(), reverse=True)
    assert {row["first_half"] for row in items if row["sample"] == "few.csv"} == {None}
    # Nothing of where the files were, and the same bytes wherever they are written.
    again = tmp_path / "again"
    main(["audit", log, few, "--out", str(again), *FAST])
    for file in out.iterdir():
        assert file.read_bytes() == (again / file.name).read_bytes()
        assert str(tmp_path).encode() not in file.read_bytes()


def test_out_is_written_whole_or_not_at_all(log, tmp_path, capsys, monkeypatch):
    out = tmp_path / "out"
    assert main(["audit", log, str(tmp_path / "none"), "--out", str(out), *FAST]) == BAD_INPUT
    assert "nothing written" in capsys.readouterr().err
    assert sorted(file.name for file in tmp_path.iterdir()) == ["agent.parquet"]

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("coretail.render.style.save_figure", full)
    assert main(["audit", log, "--out", str(out), *FAST]) == BAD_INPUT
    assert "out: cannot be written: No space left" in capsys.readouterr().err
    assert sorted(file.name for file in tmp_path.iterdir()) == ["agent.parquet"]


@pytest.fixture
def no_figure(monkeypatch):
    """Write empty figures: drawing takes seconds."""
    monkeypatch.setattr("coretail.render.trace.figure_traces", lambda *_: None)
    monkeypatch.setattr(
        "coretail.render.style.save_figure", lambda _, *paths: [path.touch() for path in paths]
    )


@pytest.mark.usefixtures("no_figure")
@pytest.mark.parametrize("spelt", ["", ".", "./", "new/", "a/../new", "link"])
def test_out_may_be_spelt_in_any_way(log, tmp_path, monkeypatch, spelt):
    here = tmp_path / "here"
    here.mkdir()
    if spelt not in ("", ".", "./"):
        (here / "a").mkdir()
        (tmp_path / "linked").mkdir()
        (here / "link").symlink_to(tmp_path / "linked")
    monkeypatch.chdir(here)
    before = here.stat().st_ino
    assert main(["audit", log, "--out", spelt, *FAST]) == AUDITED
    assert sorted(file.suffix for file in Path(spelt).iterdir()) == [
        ".parquet",
        ".parquet",
        ".pdf",
        ".png",
    ]
    # The working directory is the one that it was, a link still one, and nothing lies beside.
    assert here.stat().st_ino == before
    assert (here / "link").is_symlink() == (spelt not in ("", ".", "./"))
    assert not list(tmp_path.rglob("*.part"))
    assert main(["audit", log, "--out", spelt, *FAST]) == BAD_INPUT


@pytest.mark.parametrize("spelt", ["..", "../", "../full", "../full/"])
def test_out_into_a_directory_in_use_is_refused_before_the_audit(
    log, tmp_path, capsys, monkeypatch, spelt
):
    for name in ("here", "full/sub"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    assert main(["audit", log, "--out", spelt, *FAST]) == BAD_INPUT
    out, err = capsys.readouterr()
    assert (out, "already there" in err) == ("", True)


@pytest.mark.usefixtures("no_figure")
def test_out_into_an_empty_directory_is_all_or_nothing(log, tmp_path, capsys, monkeypatch):
    out = tmp_path / "out"
    out.mkdir()
    rename = Path.rename

    def full(file, target):
        if file.name == "trace_items.parquet":
            raise OSError(28, "No space left on device")
        return rename(file, target)

    monkeypatch.setattr(Path, "rename", full)
    assert main(["audit", log, "--out", str(out), *FAST]) == BAD_INPUT
    assert "No space left" in capsys.readouterr().err
    assert list(out.iterdir()) == []


def test_out_that_cannot_be_made_is_refused_before_the_audit(log, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["audit", log, "--out", str(tmp_path / "file" / "new"), *FAST]) == BAD_INPUT
    out, err = capsys.readouterr()
    assert out == ""
    assert "cannot be written" in err


def test_out_overwrites_nothing(log, tmp_path, capsys):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    assert main(["audit", log, "--out", str(tmp_path / "out")]) == BAD_INPUT
    stdout, err = capsys.readouterr()
    assert (stdout, "already there" in err) == ("", True)
    (tmp_path / "empty").mkdir()
    assert main(["audit", log, "--out", str(tmp_path / "empty"), *FAST]) == AUDITED
    assert len(list((tmp_path / "empty").iterdir())) == 4
    assert main(["audit", log, "--out", log]) == BAD_INPUT


def test_the_standard_input_is_read_as_well(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1\n1\n2\n3\n")))
    assert main(["audit", "-", "--json", "--replicates", "0"]) == NOT_AUDITABLE
    assert traces(capsys)[0]["n_items"] == 4
    packed = gzip.compress(b'{"item":"a"}\n{"item":"b"}\n{"item":"a"}\n')
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
    main(["audit", "-", "--json", "--replicates", "0"])
    assert traces(capsys)[0]["n_accesses"] == 3


def test_a_long_bootstrap_is_announced(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("coretail.cli._MANY_DRAWS", 100)
    file = tmp_path / "long.txt"
    file.write_text("4\n" * 60)
    main(["audit", str(file), "--replicates", "2"])
    assert "60 items x 2 replicates" in capsys.readouterr().err


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "coretail", *arguments],
        cwd=SCRIPTS,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_python_m_coretail(path):
    process = run("audit", path, "--json", "--replicates", "5")
    assert process.returncode == AUDITED
    assert json.loads(process.stdout)["traces"][0]["n_items"] == 400
    assert run("audit", "/does/not/exist").returncode == BAD_INPUT


def test_help_and_version_import_nothing_heavy():
    program = (
        "import sys\n"
        "from coretail.cli import main\n"
        "try:\n"
        "    main(['audit', '--help'])\n"
        "except SystemExit:\n"
        "    pass\n"
        "heavy = ('numpy', 'numba', 'scipy', 'pyarrow', 'matplotlib')\n"
        "print([m for m in heavy if m in sys.modules], file=sys.stderr)\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", program],
        cwd=SCRIPTS,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "--replicates" in process.stdout
    assert "{" + ",".join(FORMATS) + "}" in "".join(process.stdout.split())
    assert "exit status: 0 audited" in process.stdout
    assert process.stderr.strip() == "[]"


def test_a_reader_that_leaves_is_no_fault(path):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "coretail", "audit", path, *FAST],
        stdout=write,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(SCRIPTS)},
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (BROKEN_PIPE, b"")
