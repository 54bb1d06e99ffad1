import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coretail.audit import LAMBDA, audit_counts
from coretail.audit.empirical import effect_at, empirical_p, holm
from coretail.audit.laws import draw, exponential, lognormal, power_law
from coretail.errors import InputError
from coretail.streams import stream


def test_the_value_itself_counts_among_its_controls():
    result = empirical_p(10.0, list(range(9)))
    assert result.p_upper == 1 / 10
    assert result.p_lower == 1.0
    assert result.p_two_sided == 2 / 10
    assert (result.n_controls, result.n_undefined) == (9, 0)


def test_ties_count_on_both_sides():
    result = empirical_p(2.0, [1.0, 2.0, 2.0, 3.0])
    assert result.p_upper == 4 / 5
    assert result.p_lower == 4 / 5
    assert result.p_two_sided == 1.0


def test_quantiles_describe_the_controls():
    result = empirical_p(0.0, [float(x) for x in range(1, 202)])
    assert result.median == 101.0
    assert (result.low, result.high) == (6.0, 196.0)
    assert result.p_lower == pytest.approx(1 / 202)


def test_undefined_controls_are_counted_and_left_out():
    result = empirical_p(3.0, [1.0, None, math.nan, 2.0])
    assert (result.n_controls, result.n_undefined) == (2, 2)
    assert result.p_upper == 1 / 3


@pytest.mark.parametrize("value", [None, math.nan])
def test_an_undefined_value_has_a_reason(value):
    result = empirical_p(value, [1.0, 2.0])
    assert result.p_upper is None
    assert result.p_two_sided is None
    assert result.median == 1.5
    assert result.reason == "the value is undefined"


def test_no_defined_control_has_a_reason():
    result = empirical_p(1.0, [None])
    assert (result.value, result.p_upper) == (1.0, None)
    assert "no control" in result.reason
    json.dumps(result.to_dict(), allow_nan=False)


def test_p_is_valid_under_the_null():
    rng = stream("null")
    draws = rng.standard_normal((2000, 40))
    p = np.array([empirical_p(row[0], list(row[1:])).p_two_sided for row in draws])
    for level in (0.05, 0.1, 0.5):
        assert np.mean(p <= level) == pytest.approx(level, abs=0.03)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([0.02]) == [0.02]
    assert holm([]) == []


def test_an_undefined_p_is_no_member_of_the_family():
    assert holm([None, 0.01, None, 0.2]) == [None, 0.02, None, 0.2]


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_lies_between_the_p_and_bonferroni_in_the_same_order(p_values):
    adjusted = holm(p_values)
    for p, q in zip(p_values, adjusted, strict=True):
        assert p <= q <= min(1.0, len(p_values) * p) + 1e-12
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    assert all(adjusted[a] <= adjusted[b] for a, b in pairwise(order))


@pytest.mark.parametrize("p", [-0.1, 1.1, math.nan])
def test_holm_refuses_what_is_no_probability(p):
    with pytest.raises(InputError, match="position 1"):
        holm([0.1, p])


def test_an_effect_at_a_common_tail_does_not_grow_with_the_sample():
    values = {n: draw(lognormal(1, 3.0, 0.8), n, stream("effect", n)) for n in (500, 4000)}
    whole = {
        n: audit_counts(v, x_min=1, replicates=0).comparisons[LAMBDA] for n, v in values.items()
    }
    assert whole[4000].R < 5 * whole[500].R < 0
    thinned = [effect_at(v, 1, 400, repeats=40) for v in values.values()]
    assert thinned[0].mean == pytest.approx(thinned[1].mean, rel=0.15)
    assert thinned[0].mean_z == pytest.approx(thinned[1].mean_z, rel=0.15)
    assert thinned[0].repeats == 40
    # The whole tail is the only subsample of its own size.
    own = effect_at(values[500], 1, 500, repeats=2)
    assert own.mean == pytest.approx(whole[500].R / 500, rel=1e-9)
    assert own.sd == pytest.approx(0.0, abs=1e-12)
    assert own.mean_z == pytest.approx(whole[500].z, rel=1e-9)


def test_effects_are_reproducible_and_keyed():
    values = draw(exponential(3, 0.2), 300, stream("keyed"))
    first = effect_at(values, 3, 100, repeats=5, seed=1, key=("a",))
    assert effect_at(values[::-1], 3, 100, repeats=5, seed=1, key=("a",)) == first
    assert effect_at(values, 3, 100, repeats=5, seed=1, key=("b",)) != first


def test_effects_that_cannot_be_had_have_reasons():
    values = draw(power_law(5, 2.2), 80, stream("short"))
    short = effect_at(values, 5, 100)
    assert (short.mean, short.repeats) == (None, 0)
    assert short.reason == "the tail has 80 observations, fewer than 100"
    flat = effect_at([7] * 200, 7, 100, repeats=3)
    assert flat.reason == "no subsample has a defined Lambda"
    with pytest.raises(InputError, match="not all positive"):
        effect_at(values, 5, 0)
