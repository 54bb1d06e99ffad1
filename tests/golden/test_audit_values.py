"""Golden values: worked out with arbitrary precision, or agreed on by independent programs."""

import math

import numpy as np
import pytest

from coretail.audit import LAMBDA, audit_counts
from coretail.audit.laws import log_mass, power_law
from coretail.errors import InputError


def expand(histogram):
    return np.repeat(list(histogram), list(histogram.values()))


def audit(values, **options):
    return audit_counts(values, **{"replicates": 0, **options})


@pytest.mark.parametrize("ks", ["full", "observed"])
def test_1_a_sample_on_which_both_rules_agree(ks):
    sample = {1: 233, 2: 33, 3: 13, 4: 10, 5: 2, 6: 3, 7: 2, 8: 2, 9: 1, 11: 1, 15: 1, 18: 1}
    result = audit(expand(sample), ks=ks)
    assert result.x_min == 1
    assert result.n_tail == 302
    assert result.alpha == pytest.approx(2.594976, abs=5e-7)
    assert result.ks == pytest.approx(0.0120071, abs=5e-8)
    assert result.loglik == pytest.approx(-282.931337, abs=5e-7)


@pytest.mark.parametrize("ks", ["full", "observed"])
def test_2_four_observations_without_a_small_sample_correction(ks):
    result = audit([8, 8, 3, 1], ks=ks)
    assert result.x_min == 1
    assert result.alpha == pytest.approx(1.555173, abs=5e-7)
    assert result.ks == pytest.approx(0.304448, abs=5e-7)
    assert result.verdict == "not_auditable"


@pytest.mark.parametrize(("ks", "distance"), [("observed", 0.087036), ("full", 0.133190)])
def test_3_gaps_in_the_data_count_under_the_full_rule_only(ks, distance):
    result = audit([1] * 1000 + [10] * 100 + [100] * 10 + [1000], ks=ks)
    assert result.x_min == 1
    assert result.alpha == pytest.approx(2.604576, abs=5e-7)
    assert result.ks == pytest.approx(distance, abs=5e-7)


def test_4_a_steep_tail_beyond_the_usual_bounds_on_alpha():
    result = audit(expand({2: 9819, 3: 170, 4: 10, 5: 1}))
    assert result.alpha == pytest.approx(10.003043, abs=5e-7)
    pair = result.comparisons["power_law_vs_exponential"]
    assert pair.z == pytest.approx(1.431, abs=5e-4)
    assert pair.p == pytest.approx(0.152, abs=5e-4)


def test_5_a_known_cutoff():
    sample = {1: 75, 2: 13, 3: 5, 4: 2, 5: 1, 7: 1, 9: 1, 14: 1, 40: 1}
    result = audit(expand(sample), x_min=1)
    assert result.x_min_known
    assert result.alpha == pytest.approx(2.486366, abs=5e-7)


@pytest.mark.parametrize(
    ("scale", "alpha", "loglik"), [(1, 11.562058, -196.479990), (1000, 11.589971, None)]
)
def test_6_a_steep_tail_from_a_large_cutoff(scale, alpha, loglik):
    sample = {2000: 10, 2100: 8, 2250: 6, 2400: 4, 2700: 2, 3300: 1}
    result = audit(expand(sample) * scale, x_min=2000 * scale)
    assert result.alpha == pytest.approx(alpha, abs=5e-7)
    if loglik is not None:
        assert result.loglik == pytest.approx(loglik, abs=5e-7)


def test_7_the_truncated_law_at_its_boundary():
    result = audit(expand({1: 70, 2: 18, 3: 6, 4: 3, 5: 1, 8: 1, 80: 1}), x_min=1)
    fit = result.fits["truncated_power_law"]
    assert fit.parameters["lambda"] == 0.0
    assert fit.parameters["alpha"] == pytest.approx(2.434405, abs=5e-7)
    assert fit.loglik == pytest.approx(-107.542264, abs=1.5e-6)
    assert "lambda = 0" in fit.note
    pair = result.comparisons["truncated_power_law_vs_power_law"]
    assert pair.R == 0.0
    assert pair.test == "nested"


def test_8_all_four_laws():
    sample = {1: 50, 2: 21, 3: 12, 4: 8, 5: 5, 6: 3, 8: 2, 11: 1}
    result = audit(expand(sample), x_min=1)
    truncated = result.fits["truncated_power_law"]
    assert truncated.parameters["alpha"] == pytest.approx(0.478559, abs=5e-7)
    assert truncated.parameters["lambda"] == pytest.approx(0.425571, abs=5e-7)
    assert truncated.loglik == pytest.approx(-157.333794, abs=5e-7)
    lognormal = result.fits["lognormal"]
    assert lognormal.parameters["mu"] == pytest.approx(0.318428, abs=1e-6)
    assert lognormal.parameters["sigma"] == pytest.approx(0.871961, abs=1e-6)
    assert result.fits["exponential"].parameters["lambda"] == pytest.approx(0.586049, abs=5e-7)
    pair = result.comparisons[LAMBDA]
    assert pytest.approx(0.880638, abs=1e-6) == pair.R
    assert pair.z == pytest.approx(1.349166, abs=1e-6)
    assert pair.p == pytest.approx(math.erfc(1.349166 / math.sqrt(2)), abs=1e-6)


def test_9_probabilities_of_a_power_law():
    masses = np.exp(log_mass(power_law(5, 2.5), [5, 6, 7, 8]))
    assert masses == pytest.approx([0.2581, 0.1636, 0.1113, 0.0797], abs=5e-5)


@pytest.mark.parametrize("values", [[5] * 50, [5] * 30 + [9] * 20])
def test_10_fewer_than_three_distinct_values_have_no_cutoff(values):
    result = audit(values)
    assert result.x_min is None
    assert result.alpha is None
    assert result.verdict == "not_auditable"
    assert "no cutoff" in result.reason


@pytest.mark.parametrize("offender", [0, -3])
def test_10_a_value_below_one_is_an_error(offender):
    with pytest.raises(InputError, match=f"{offender} at position 3"):
        audit([5, 6, 7, offender, 8])
