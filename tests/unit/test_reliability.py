"""The shipped calibration: what it says, that the pipeline makes it, and that it is installed."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

from coretail import artefacts
from coretail.audit import VERDICTS, Thresholds
from coretail.audit.calibration import TRUE_LAWS, X_MIN, calibrate_cell
from coretail.errors import InputError
from coretail.reliability import (
    BANDS,
    Calibrated,
    Cell,
    needs,
    own_verdict,
    reliability,
    shipped,
)
from coretail.reliability import __main__ as module
from coretail.trace_audit import audit_trace

ROOT = Path(__file__).parents[2]
POWER, TRUNCATED, UNDECIDED, NOT = (
    "power_law_compatible",
    "truncated_power_law_compatible",
    "undecided",
    "not_auditable",
)
MADE_UP = Calibrated(
    ks="full",
    thresholds=Thresholds(),
    laws=("power_law", "truncated_power_law", "exponential"),
    cells=(
        Cell("power_law", 50, 50, NOT, 10),
        Cell("power_law", 200, 150, POWER, 6),
        Cell("power_law", 200, 100, UNDECIDED, 2),
        Cell("power_law", 200, 50, NOT, 2),
        Cell("power_law", 1000, 150, POWER, 2),
        Cell("power_law", 1000, 500, POWER, 6),
        Cell("power_law", 1000, 500, UNDECIDED, 2),
        Cell("truncated_power_law", 50, 0, NOT, 10),
        Cell("truncated_power_law", 200, 150, TRUNCATED, 3),
        Cell("truncated_power_law", 200, 150, POWER, 4),
        Cell("truncated_power_law", 200, 50, NOT, 3),
        Cell("truncated_power_law", 1000, 150, UNDECIDED, 9),
        Cell("truncated_power_law", 1000, 50, NOT, 1),
        Cell("exponential", 1000, 50, NOT, 10),
    ),
)


def test_the_trust_in_a_verdict_is_counted_among_samples_with_about_its_tail():
    found = reliability(MADE_UP, POWER, 199)
    assert (found.n_tail_low, found.n_tail_high) == (150, 199)
    power, truncated, exponential = found.rates
    # 6 of true size 200 and 2 of 1,000, all of them called so.
    assert (power.samples, power.share, power.right) == (8, 1.0, 1.0)
    # 3 truncated, 4 power law, 9 undecided.
    assert (truncated.samples, truncated.share, truncated.right) == (16, 4 / 16, 3 / 16)
    assert truncated.share_low < 0.25 < truncated.share_high
    assert (exponential.samples, exponential.share, exponential.right) == (0, None, None)
    assert (found.verdicts, found.right) == (12, 8 / 12)
    interval = binomtest(8, 12).proportion_ci(method="wilson")
    assert (found.right_low, found.right_high) == pytest.approx((interval.low, interval.high))


def test_a_verdict_that_names_no_law_is_right_or_wrong_of_none():
    found = reliability(MADE_UP, UNDECIDED, 150)
    assert (found.right, found.verdicts) == (None, 9)
    assert [rate.share for rate in found.rates] == [0.0, 9 / 16, None]
    assert reliability(MADE_UP, POWER, 10**6).n_tail_high is None
    assert reliability(MADE_UP, POWER, 10**6).right is None


def test_the_tail_needed_is_the_smallest_from_which_on_the_rate_is_kept():
    power, truncated, exponential = needs(MADE_UP, 0.8)
    assert (power.auditable_from, power.right_from) == (200, 1000)
    assert (power.best_right, power.best_right_at, power.largest) == (0.8, 1000, 1000)
    # Auditable in 7 of 10 of 200, in 9 of 10 of 1,000; named in 3 of 10 at best.
    assert (truncated.auditable_from, truncated.right_from) == (1000, None)
    assert (truncated.best_right, truncated.best_right_at) == (0.3, 200)
    assert (exponential.auditable_from, exponential.best_right) == (None, None)


def test_verdicts_of_laws():
    assert [own_verdict(law) for law in TRUE_LAWS] == [
        POWER,
        TRUNCATED,
        "lognormal_compatible",
        None,
    ]


def shipped_file():
    return json.loads(
        (ROOT / "scripts" / "coretail" / "reliability" / module.FILE).read_text(encoding="utf-8")
    )


def test_the_file_says_how_it_was_made_and_holds_every_sample():
    content = shipped_file()
    settings = content["configuration"]
    overlay = ROOT / "config" / "reliability.yaml"
    assert content["command"] == module.COMMAND
    assert str(overlay.relative_to(ROOT)) in content["command"]
    assert f"n_tails: {settings['n_tails']}" in overlay.read_text(encoding="utf-8")
    for key in ("samples", "replicates"):
        assert f"{key}: {settings[key]}\n" in overlay.read_text(encoding="utf-8")
    assert (content["rule"], content["x_min"]) == ("calibrate_audit", X_MIN)
    assert {
        law: (shape["first"], shape["second"], shape["x_min"])
        for law, shape in content["laws"].items()
    } == {law: (s.first, s.second, s.x_min) for law, s in TRUE_LAWS.items()}
    totals = Counter()
    for cell in shipped().cells:
        assert cell.band in BANDS
        assert cell.verdict in VERDICTS
        totals[cell.law, cell.n_tail] += cell.count
    sizes = settings["n_tails"]
    assert totals == {(law, size): settings["samples"] for law in TRUE_LAWS for size in sizes}


@pytest.mark.parametrize("law", ["power_law", "truncated_power_law"])
def test_a_small_part_made_anew_agrees_within_its_binomial_error(law):
    """Of 40 fresh samples (another seed) each verdict's number has p > 0.001 under the file's."""
    settings = shipped_file()["configuration"]
    fresh = calibrate_cell(
        law,
        200,
        samples=40,
        replicates=50,
        seed=1,
        ks=settings["ks"],
        thresholds=Thresholds(**settings["thresholds"]),
    )
    cells = [cell for cell in shipped().cells if (cell.law, cell.n_tail) == (law, 200)]
    for verdict in VERDICTS:
        share = sum(c.count for c in cells if c.verdict == verdict) / settings["samples"]
        found = sum(sample.verdict == verdict for sample in fresh)
        assert binomtest(found, len(fresh), share).pvalue > 0.001, verdict


def test_the_samples_of_the_file_are_those_of_the_pipeline_at_its_seed():
    rows = [row.to_dict() for row in calibrate_cell("power_law", 100, samples=12, replicates=200)]
    in_file = Counter()
    for cell in shipped().cells:
        if (cell.law, cell.n_tail) == ("power_law", 100):
            in_file[cell.band, cell.verdict] += cell.count
    for cell in module.tabulate(rows):
        assert cell.count <= in_file[cell.band, cell.verdict]


def write_calibration(directory, law, config):
    rows = [row.to_dict() for row in calibrate_cell(law, 50, samples=2, replicates=5)]
    path = directory / f"{law}.parquet"
    spec = {"rule": "calibrate_audit", "settings": config, "code": "0" * 16, "upstream": {}}
    artefacts.write(path, "calibration", artefacts.table_of_rows("calibration", rows), spec)
    return path


def test_the_file_is_made_from_artefacts_of_one_run(tmp_path):
    config = {"ks": "full", "thresholds": {"p_gof": 0.1, "z": 1.96, "n_tail": 100, "ratio": 0.5}}
    paths = [write_calibration(tmp_path, law, config) for law in TRUE_LAWS]
    out = tmp_path / "out.json"
    module.main([*map(str, paths), "--out", str(out)])
    content = json.loads(out.read_text())
    assert content["configuration"] == config
    assert sum(row[-1] for row in content["cells"]) == 2 * len(TRUE_LAWS)
    with pytest.raises(InputError, match="no samples of exponential"):
        module.main([*map(str, paths[:3]), "--out", str(out)])
    write_calibration(tmp_path, "exponential", config | {"ks": "observed"})
    with pytest.raises(InputError, match="differ in their config"):
        module.main([*map(str, paths), "--out", str(out)])


def test_an_audit_says_how_far_its_verdict_can_be_trusted():
    counts = np.repeat([1, 2, 3, 4, 6, 9, 20, 60, 300], [300, 90, 50, 30, 20, 12, 6, 3, 1])
    result = audit_trace(counts, replicates=20, permutations=9)
    assert result.audit.n_tail >= 100
    assert result.shortfall is None
    assert result.reliability == reliability(shipped(), result.audit.verdict, result.audit.n_tail)
    assert result.needs == needs(shipped())
    assert "By calibration the audit gives at least 80% of samples" in " ".join(result.limits)
    content = json.loads(json.dumps(result.to_dict()))
    assert [rate["law"] for rate in content["reliability"]["rates"]] == list(TRUE_LAWS)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"ks": "observed"}, "made with ks full"),
        ({"x_min": 1}, "a fitted x_min"),
        ({"min_tail": 5}, "no smallest tail"),
        ({"thresholds": Thresholds(n_tail=50)}, "other thresholds"),
        ({"replicates": 0}, "bootstrap replicates"),
    ],
)
def test_a_calibration_with_other_settings_is_not_used(settings, reason):
    counts = np.repeat([1, 2, 3, 4, 6, 9, 20, 60, 300], [300, 90, 50, 30, 20, 12, 6, 3, 1])
    result = audit_trace(counts, **({"replicates": 5} | settings))
    assert reason in result.reliability.reason
    assert (result.reliability.rates, result.needs) == ((), ())


def test_an_installed_copy_has_the_file(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "scripts" / "coretail", source / "scripts" / "coretail", ignore=ignore)
    build = f"from setuptools.build_meta import build_wheel; build_wheel({str(tmp_path)!r})"
    subprocess.run(
        [sys.executable, "-c", build], cwd=source, check=True, capture_output=True, timeout=120
    )
    (wheel,) = tmp_path.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    shutil.rmtree(source)
    process = subprocess.run(
        [
            sys.executable,
            "-c",
            "from coretail import reliability as r; print(r.__file__, len(r.shipped().cells))",
        ],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path / "installed")},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    file, number = process.stdout.split()
    assert Path(file).is_relative_to(tmp_path)
    assert int(number) == len(shipped().cells)
