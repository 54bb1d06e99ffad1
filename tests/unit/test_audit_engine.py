import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit_reference import expand
from coretail.audit import LAMBDA, LAWS, VERDICTS, Thresholds, audit_counts
from coretail.audit.laws import draw, lognormal, power_law, truncated_power_law
from coretail.errors import InputError
from coretail.streams import stream

COMPARISONS = {
    "truncated_power_law_vs_lognormal",
    "truncated_power_law_free_vs_lognormal",
    "power_law_vs_lognormal",
    "power_law_vs_exponential",
    "truncated_power_law_vs_power_law",
}


def finite(value):
    if isinstance(value, dict):
        return all(finite(v) for v in value.values())
    return not isinstance(value, float) or math.isfinite(value)


def test_the_result_as_json():
    values = draw(power_law(5, 2.2), 400, stream("json"))
    result = audit_counts(values, replicates=50, seed=3)
    plain = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert list(plain)[:6] == ["n", "n_distinct", "n_tail", "x_min", "alpha", "alpha_se"]
    for name in ("ks", "loglik", "p_gof", "verdict", "reason", "thresholds"):
        assert name in plain
    assert set(plain["fits"]) == set(LAWS)
    assert set(plain["fits"]["truncated_power_law"]) >= {"alpha", "lambda", "loglik"}
    assert set(plain["fits"]["lognormal"]) >= {"mu", "sigma", "loglik"}
    assert set(plain["comparisons"]) == COMPARISONS
    assert set(plain["comparisons"][LAMBDA]) >= {"R", "sigma", "z", "p"}
    assert plain["seed"] == 3
    assert plain["replicates"] == 50
    assert plain["loglik"] == plain["fits"]["power_law"]["loglik"]


def test_lambda_is_the_difference_of_the_log_likelihoods():
    values = draw(truncated_power_law(5, 1.5, 0.02), 600, stream("lambda"))
    result = audit_counts(values, replicates=0)
    fits = result.fits
    for name, pair in result.comparisons.items():
        first, second = name.split("_vs_")
        loglik = (
            fits["truncated_power_law"].parameters["loglik_free"]
            if first.endswith("_free")
            else fits[first].loglik
        )
        assert pytest.approx(loglik - fits[second].loglik, abs=1e-8) == pair.R


def test_order_of_the_input_changes_nothing():
    rng = stream("order")
    values = np.minimum(draw(power_law(2, 1.9), 300, rng), 1e12)
    first = audit_counts(values, replicates=150, seed=1, key=("cell",))
    assert audit_counts(rng.permutation(values), replicates=150, seed=1, key=("cell",)) == first
    assert audit_counts(np.sort(values)[::-1], replicates=150, seed=1, key=("cell",)) == first


def test_p_depends_on_seed_and_key_only():
    values = draw(lognormal(3, 1.5, 1.0), 250, stream("seeds"))
    same = [audit_counts(values, replicates=200, seed=5, key=("x", n)).p_gof for n in (1, 1, 2)]
    assert same[0] == same[1]
    assert same[0] != same[2]
    keyed = audit_counts(values, replicates=200, seed=np.int64(5), key=("x", np.int64(1)))
    assert keyed.p_gof == same[0]
    assert audit_counts(values, replicates=200, seed=5, key=("x", 1), jobs=2).p_gof == same[0]


def test_a_known_cutoff_is_kept():
    values = [*([1] * 50), *draw(power_law(10, 2.5), 200, stream("known")).tolist()]
    result = audit_counts(values, x_min=10, replicates=100)
    assert (result.x_min, result.n_tail, result.x_min_known) == (10, 200, True)
    assert result.p_gof > 0.0
    inside = audit_counts(values, x_min=9, replicates=0)
    assert (inside.x_min, inside.n_tail) == (9, 200)
    assert inside.loglik < result.loglik


def test_a_known_cutoff_above_the_data_is_not_auditable():
    result = audit_counts([1, 2, 3, 4, 5], x_min=4, replicates=10)
    assert result.verdict == "not_auditable"
    assert result.reason == "2 distinct values from x_min = 4 up; a tail needs 3"
    assert result.fits == {}


def test_the_rule_of_the_distance_can_change_the_cutoff():
    rng = stream("rule")
    values = 2 ** np.floor(np.log2(draw(power_law(1, 1.7), 300, rng)))
    values = np.concatenate([values[values < 1e9], rng.integers(1, 9, 100)])
    full = audit_counts(values, replicates=0, ks="full")
    observed = audit_counts(values, replicates=0, ks="observed")
    assert full.ks_rule == "full"
    assert observed.ks_rule == "observed"
    assert full.ks > observed.ks + 0.01


def test_the_verdict_and_the_own_p_of_a_truncated_power_law():
    values = draw(truncated_power_law(1, 1.5, 0.005), 3000, stream("own"))
    result = audit_counts(values, replicates=60, x_min=1)
    assert result.comparisons[LAMBDA].prefers(1.96) == "first"
    assert result.comparisons[LAMBDA].R > 5
    # The pure power law is rejected, so Definition 3.4 does not apply; the law itself fits.
    assert result.p_gof == 0.0
    assert result.verdict == "undecided"
    assert result.fits["truncated_power_law"].p_gof > 0.05
    assert "truncated power law: p" in result.reason
    assert result.fits["lognormal"].p_gof is None


def test_the_verdict_of_a_log_normal():
    values = draw(lognormal(1, 3.0, 0.8), 3000, stream("hump"))
    result = audit_counts(values, replicates=60, x_min=1)
    assert result.verdict == "lognormal_compatible"
    assert result.fits["lognormal"].p_gof >= 0.1
    assert result.fits["lognormal"].parameters["mu"] == pytest.approx(3.0, abs=0.05)
    assert result.fits["lognormal"].parameters["sigma"] == pytest.approx(0.8, abs=0.05)
    assert result.comparisons[LAMBDA].R < 0


def test_the_verdict_of_a_power_law():
    values = draw(power_law(20, 2.4), 800, stream("verdict"))
    result = audit_counts(values[values < 1e15], replicates=60)
    assert result.verdict == "power_law_compatible"
    assert result.alpha == pytest.approx(2.4, abs=4 * result.alpha_se)


def test_thresholds_reach_the_gate_and_the_verdict():
    values = draw(power_law(5, 2.2), 120, stream("gate"))
    wide = audit_counts(values, replicates=20, thresholds=Thresholds(ratio=1e6, n_tail=3))
    assert all(pair.indistinguishable for pair in wide.comparisons.values())
    assert wide.verdict in ("power_law_compatible", "undecided")
    assert audit_counts(values, thresholds=Thresholds(n_tail=10**6)).verdict == "not_auditable"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ks": "cramer"}, "ks: 'cramer'"),
        ({"replicates": -1}, "replicates: -1"),
        ({"replicates": 1.5}, "replicates: 1.5"),
        ({"x_min": 0}, "x_min: 0"),
        ({"jobs": 0}, "jobs: 0"),
        ({"min_tail": 0}, "min_tail: 0"),
    ],
)
def test_unusable_options(options, message):
    with pytest.raises(InputError, match=message):
        audit_counts([1, 2, 3, 4], **options)


@pytest.mark.parametrize("offender", [0, -1, 2.5, math.nan, math.inf])
def test_the_first_value_that_is_no_count_is_named(offender):
    with pytest.raises(InputError, match="position 2"):
        audit_counts([3, 1, offender, -7])


def test_no_values_are_not_auditable():
    result = audit_counts([])
    assert (result.n, result.verdict) == (0, "not_auditable")
    assert result.reason == "no cutoff: no observations"


@settings(max_examples=120, deadline=None)
@given(
    st.one_of(
        st.lists(st.integers(1, 2**63 - 1), max_size=30),
        st.lists(st.integers(1, 5), max_size=200),
        st.lists(st.integers(1, 3000), max_size=120),
        st.lists(st.sampled_from([1, 2, 10**6, 10**6 + 1, 2**53, 2**53 + 1, 2**62]), max_size=60),
    ),
    st.sampled_from(["full", "observed"]),
    st.one_of(st.none(), st.integers(1, 10)),
)
def test_any_counts_give_a_result_or_a_reason(values, ks, x_min):
    result = audit_counts(values, replicates=5, ks=ks, x_min=x_min, thresholds=Thresholds(n_tail=3))
    plain = result.to_dict()
    assert finite(plain)
    json.dumps(plain, allow_nan=False)
    assert result.verdict in VERDICTS
    assert result.reason
    assert result.n == len(values)
    if result.x_min is None:
        assert result.verdict == "not_auditable"
        return
    assert result.alpha > 1
    assert result.alpha_se > 0
    assert 0 <= result.ks <= 1
    assert result.n_tail == sum(value >= result.x_min for value in values)
    for fit in result.fits.values():
        assert fit.loglik is not None or fit.note
    for pair in result.comparisons.values():
        assert (pair.z is None) <= (pair.reason is not None)


def test_scaling_all_values_scales_the_cutoff():
    values = np.floor(draw(power_law(4000, 2.3), 300, stream("scales")))
    values = values[values < 1e12]
    small = audit_counts(values, replicates=0)
    large = audit_counts(values * 1000, replicates=0, ks="observed")
    assert large.x_min == 1000 * audit_counts(values, replicates=0, ks="observed").x_min
    assert large.alpha == pytest.approx(small.alpha, rel=1e-2)


def test_ten_thousand_copies_of_a_sample_have_the_same_fit():
    histogram = {3: 7, 4: 4, 5: 2, 9: 2, 30: 1}
    one = audit_counts(expand(histogram), replicates=0)
    many = audit_counts(expand({k: 10_000 * v for k, v in histogram.items()}), replicates=0)
    assert many.x_min == one.x_min
    assert many.alpha == pytest.approx(one.alpha, rel=1e-12)
    assert many.ks == pytest.approx(one.ks, rel=1e-12)
    assert many.alpha_se == pytest.approx(one.alpha_se / 100, rel=1e-9)
    for name, pair in many.comparisons.items():
        assert pytest.approx(10_000 * one.comparisons[name].R, rel=1e-6, abs=1e-6) == pair.R
