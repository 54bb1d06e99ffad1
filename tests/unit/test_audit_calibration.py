import numpy as np
import pytest

from coretail.audit import VERDICTS
from coretail.audit.calibration import (
    N_TAILS,
    TRUE_LAWS,
    X_MIN,
    calibrate_cell,
    confusion,
    null_p,
    sample_from,
)
from coretail.audit.laws import LAWS, power_law
from coretail.errors import InputError
from coretail.streams import stream


@pytest.fixture(scope="module")
def rows():
    out = []
    for law in LAWS:
        for n_tail in (50, 300):
            out += calibrate_cell(law, n_tail, samples=12, replicates=20, seed=4)
    return out


def test_the_default_design_is_four_laws_by_four_sizes():
    assert tuple(TRUE_LAWS) == LAWS
    assert (min(N_TAILS), max(N_TAILS), len(N_TAILS)) == (50, 5000, 4)
    assert {shape.x_min for shape in TRUE_LAWS.values()} == {X_MIN}


def test_a_sample_has_the_tail_asked_for_and_a_body_below_it():
    values = sample_from(TRUE_LAWS["power_law"], 1000, stream("sample"))
    assert np.sum(values >= X_MIN) == 1000
    body = values[values < X_MIN]
    assert body.size == 250
    assert set(body) == set(range(1, X_MIN))
    assert sample_from(power_law(1, 2.0), 40, stream("no body")).size == 40


def test_every_sample_is_a_row(rows):
    assert len(rows) == 4 * 2 * 12
    for row in rows:
        assert row.verdict in VERDICTS
        assert (row.p_known is None) == (row.law == "exponential")
        assert 0 <= row.p_refitted <= 1
        assert row.x_min >= 1
        assert set(row.to_dict()) >= {"law", "n_tail", "index", "p_known", "p_refitted", "verdict"}


def test_a_tail_too_short_is_never_auditable(rows):
    short = [row for row in rows if row.n_tail == 50 and row.n_tail_fitted < 100]
    assert short
    assert {row.verdict for row in short} == {"not_auditable"}


def test_the_power_law_is_told_from_the_exponential(rows):
    got = {
        law: [row.verdict for row in rows if row.law == law and row.n_tail == 300] for law in LAWS
    }
    assert got["power_law"].count("power_law_compatible") > 6
    assert got["exponential"].count("power_law_compatible") < 4


def test_a_cell_does_not_depend_on_the_others_or_on_threads(rows):
    again = calibrate_cell("lognormal", 300, samples=3, replicates=20, seed=4, jobs=2)
    assert again == [r for r in rows if r.law == "lognormal" and r.n_tail == 300][:3]
    other = calibrate_cell("lognormal", 300, samples=3, replicates=20, seed=5)
    assert other != again


def test_the_confusion_matrix_counts_every_sample_and_names_every_verdict(rows):
    counts = confusion(rows)
    assert len(counts) == 4 * 2 * len(VERDICTS)
    for law in LAWS:
        for n_tail in (50, 300):
            cell = [c for c in counts if (c.law, c.n_tail) == (law, n_tail)]
            assert [c.verdict for c in cell] == list(VERDICTS)
            assert sum(c.count for c in cell) == 12
            assert sum(c.share for c in cell) == pytest.approx(1.0)


def test_the_level_is_of_each_law_at_the_known_cutoff_and_of_the_power_law_at_both(rows):
    levels = null_p(rows)
    cells = {(level.law, level.n_tail, level.cutoff) for level in levels}
    assert cells == {
        *((law, n, "known") for law in LAWS[:3] for n in (50, 300)),
        *(("power_law", n, "refitted") for n in (50, 300)),
    }
    one = next(x for x in levels if (x.law, x.n_tail, x.cutoff) == ("power_law", 300, "known"))
    ps = [row.p_known for row in rows if row.law == "power_law" and row.n_tail == 300]
    assert one.samples == 12
    assert one.below == pytest.approx(np.mean(np.array(ps) < 0.1))
    assert one.below_se == pytest.approx(np.sqrt(0.1 * 0.9 / 12))
    assert one.distance_p > 1e-3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("zipf", 100), "law: 'zipf'"),
        (("power_law", 0), "n_tail: 0"),
    ],
)
def test_unusable_cells(arguments, message):
    with pytest.raises(InputError, match=message):
        calibrate_cell(*arguments)


def test_no_samples_are_no_cell():
    with pytest.raises(InputError, match="samples: 0"):
        calibrate_cell("power_law", 100, samples=0)
