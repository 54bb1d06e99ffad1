import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from coretail.audit import audit_counts
from coretail.audit.laws import draw, power_law
from coretail.cli import AUDITED, BAD_INPUT, NOT_AUDITABLE, main
from coretail.streams import stream

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture
def counts():
    return np.minimum(draw(power_law(4, 2.3), 400, stream("cli")), 1e9).astype(np.int64)


@pytest.fixture
def path(tmp_path, counts):
    file = tmp_path / "counts.txt"
    file.write_text("\n".join(map(str, counts.tolist())) + "\n")
    return str(file)


def test_json_is_the_result_of_the_function(path, counts, capsys):
    status = main(
        ["audit", path, "--json", "--replicates", "40", "--seed", "7", "--ks", "observed"]
    )
    out, err = capsys.readouterr()
    expected = audit_counts(counts, replicates=40, seed=7, ks="observed")
    assert json.loads(out) == json.loads(json.dumps(expected.to_dict()))
    assert status == (NOT_AUDITABLE if expected.verdict == "not_auditable" else AUDITED)
    assert err == ""


def test_every_option_reaches_the_audit(path, counts, capsys):
    options = ["--x-min", "5", "--replicates", "10", "--jobs", "2"]
    main(["audit", path, "--json", *options])
    result = json.loads(capsys.readouterr().out)
    assert (result["x_min"], result["x_min_known"], result["replicates"]) == (5, True, 10)
    assert result["n_tail"] == int(np.sum(counts >= 5))
    main(["audit", path, "--json", "--min-tail", "390", "--replicates", "0"])
    assert json.loads(capsys.readouterr().out)["n_tail"] >= 390


def test_the_text_shows_verdict_and_reason(path, capsys):
    status = main(["audit", path, "--replicates", "20"])
    out = capsys.readouterr().out
    assert status == AUDITED
    for part in ("x_min", "n_tail", "alpha", "p_gof", "lognormal: ", "R ", "verdict    "):
        assert part in out


def test_a_sample_without_a_tail_exits_3_with_a_reason(tmp_path, capsys):
    file = tmp_path / "few.txt"
    file.write_text("5\n" * 50)
    assert main(["audit", str(file), "--json"]) == NOT_AUDITABLE
    result = json.loads(capsys.readouterr().out)
    assert result["verdict"] == "not_auditable"
    assert "all values are equal" in result["reason"]
    assert main(["audit", str(file)]) == NOT_AUDITABLE
    assert "not_auditable: no cutoff" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"3\n-4\n0\n", "line 2: '-4'"),
        (b"", "no counts"),
        ("3\n4\n".encode("utf-16"), "UTF-16"),
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


def test_a_missing_file_exits_2(tmp_path, capsys):
    assert main(["audit", str(tmp_path / "none.txt")]) == BAD_INPUT
    assert "none.txt: cannot be read: no such file" in capsys.readouterr().err
    assert main(["audit", str(tmp_path)]) == BAD_INPUT


def test_an_unusable_option_exits_2(path, capsys):
    assert main(["audit", path, "--replicates", "-5"]) == BAD_INPUT
    assert "replicates: -5" in capsys.readouterr().err
    with pytest.raises(SystemExit) as exit_info:
        main(["audit", path, "--ks", "kuiper"])
    assert exit_info.value.code == 2
    with pytest.raises(SystemExit) as exit_info:
        main([])
    assert exit_info.value.code == 2


def test_the_standard_input_is_read_as_well(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1\n1\n2\n3\n")))
    assert main(["audit", "-", "--json", "--replicates", "0"]) == NOT_AUDITABLE
    assert json.loads(capsys.readouterr().out)["n"] == 4


def test_a_long_bootstrap_is_announced(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("coretail.cli._MANY_DRAWS", 100)
    file = tmp_path / "long.txt"
    file.write_text("4\n" * 60)
    main(["audit", str(file), "--replicates", "2"])
    assert "60 counts x 2 replicates" in capsys.readouterr().err


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
    assert json.loads(process.stdout)["n"] == 400
    assert run("audit", "/does/not/exist").returncode == BAD_INPUT


def test_help_and_version_import_nothing_heavy():
    program = (
        "import sys\n"
        "from coretail.cli import main\n"
        "try:\n"
        "    main(['audit', '--help'])\n"
        "except SystemExit:\n"
        "    pass\n"
        "print([m for m in ('numpy', 'numba', 'scipy') if m in sys.modules], file=sys.stderr)\n"
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
    assert "exit status: 0 audited" in process.stdout
    assert process.stderr.strip() == "[]"
