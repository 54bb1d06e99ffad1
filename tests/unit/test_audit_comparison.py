import math

import numpy as np
import pytest
from scipy.special import chdtrc, ndtr

from coretail.audit.comparison import nested, undefined, vuong

COUNTS = np.array([3, 2, 1])
FIRST = np.log([0.5, 0.3, 0.2])
SECOND = np.log([0.4, 0.4, 0.2])


def test_vuong_is_the_mean_of_the_terms_over_its_standard_error():
    terms = np.repeat(FIRST - SECOND, COUNTS)
    result = vuong(FIRST, SECOND, COUNTS, gate=0.0)
    assert pytest.approx(terms.sum()) == result.R
    assert result.sigma == pytest.approx(math.sqrt(6) * terms.std())
    assert result.z == pytest.approx(terms.mean() / (terms.std() / math.sqrt(6)))
    assert result.p == pytest.approx(2 * ndtr(-abs(result.z)))
    assert result.test == "vuong"
    assert result.reason is None


def test_exchanging_the_laws_changes_the_sign():
    one, other = vuong(FIRST, SECOND, COUNTS, 0.0), vuong(SECOND, FIRST, COUNTS, 0.0)
    assert pytest.approx(-one.R) == other.R
    assert other.z == pytest.approx(-one.z)
    assert other.p == pytest.approx(one.p)


def test_below_the_gate_nothing_is_preferred_however_large_z_is():
    counts = np.full(4, 1000)
    first = np.log([0.3, 0.3, 0.2, 0.2])
    second = first - np.array([1e-4, 1.1e-4, 1e-4, 0.9e-4])
    result = vuong(first, second, counts, gate=0.5)
    assert pytest.approx(0.4) == result.R
    assert result.z > 100
    assert result.indistinguishable
    assert result.prefers(1.96) is None
    assert vuong(first, second, counts, gate=0.3).prefers(1.96) == "first"
    assert vuong(second, first, counts, gate=0.3).prefers(1.96) == "second"
    assert vuong(first, second, counts, gate=0.3).prefers(1e6) is None


@pytest.mark.parametrize("rounding", [0.0, 1e-14])
def test_fits_that_coincide_have_no_z(rounding):
    result = vuong(FIRST, FIRST + rounding * np.array([1, -1, 1]), COUNTS, 0.5)
    assert result.sigma == 0.0
    assert result.z is None
    assert result.p is None
    assert "coincide" in result.reason
    assert result.prefers(0.0) is None


def test_nested_p_is_half_the_chi_squared_value():
    better = FIRST + np.array([0.5, 0.1, 0.3])
    result = nested(better, FIRST, COUNTS, gate=0.5)
    assert pytest.approx(2.0) == result.R
    assert result.p == pytest.approx(0.5 * chdtrc(1, 2 * 2.0))
    assert result.z == pytest.approx(2.0)
    assert result.test == "nested"


def test_a_nested_law_is_never_better_than_the_larger_one():
    result = nested(FIRST, FIRST + 1e-16, COUNTS, gate=0.5)
    assert result.R == 0.0
    assert result.p == 0.5
    assert result.indistinguishable


def test_an_undefined_comparison_has_a_reason():
    result = undefined("vuong", "no fit of lognormal")
    assert result.to_dict() == {
        "R": None,
        "sigma": None,
        "z": None,
        "p": None,
        "test": "vuong",
        "indistinguishable": False,
        "reason": "no fit of lognormal",
    }
    assert result.prefers(0.0) is None
