"""Statistics of the tables, against scipy, the paper's own numbers and values worked by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from coretail.errors import InputError
from coretail.stats import (
    binomial_band,
    difference_interval,
    fisher_p,
    line,
    paired_reduction,
    size_trend,
    t_interval,
    wilson_interval,
)

numbers = st.floats(-1e6, 1e6, allow_nan=False)

# Table 1 of the paper: sigma at |V| = 100, 500, 1000, then slope and R².
PAPER_TABLE_1 = {
    "uniform": (0.152, 0.802, 1.364, 0.505, 0.967),
    "exponential": (0.333, 0.900, 1.369, 0.433, 0.971),
    "scale-free": (0.385, 0.809, 1.349, 0.392, 0.915),
    "modular": (0.162, 1.461, 1.366, 0.573, 0.874),
    "mixed": (0.231, 1.252, 1.430, 0.541, 0.975),
    "baseline-symmetric": (0.253, 1.190, 1.543, 0.564, 0.999),
}


def test_t_interval_of_three_seeds_by_hand():
    result = t_interval([1.0, 2.0, 3.0])
    # sd 1; the quantile of t with 2 degrees of freedom is (2q - 1) sqrt(2 / (4q(1 - q)))
    half = 0.95 * math.sqrt(2 / (4 * 0.975 * 0.025)) / math.sqrt(3)
    assert (result.n, result.estimate, result.level, result.reason) == (3, 2.0, 0.95, "")
    assert result.low == pytest.approx(2 - half, rel=1e-12)
    assert result.high == pytest.approx(2 + half, rel=1e-12)


@given(
    st.lists(numbers, min_size=2, max_size=30).filter(lambda v: np.std(v) > 1e-3),
    st.sampled_from([0.5, 0.8, 0.95, 0.99]),
)
def test_t_interval_agrees_with_scipy(values, level):
    result = t_interval(values, level)
    low, high = reference.t.interval(level, len(values) - 1, np.mean(values), reference.sem(values))
    assert result.low == pytest.approx(low, rel=1e-6, abs=1e-6)
    assert result.high == pytest.approx(high, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("values", "n", "estimate", "reason"),
    [
        ([], 0, None, "no defined value"),
        ([None, None], 0, None, "no defined value"),
        ([2.5], 1, 2.5, "one value gives no interval"),
        ([0.1, 0.1, 0.1], 3, 0.1, "all 3 values are equal, which gives no interval"),
    ],
)
def test_t_interval_says_why_it_is_undefined(values, n, estimate, reason):
    result = t_interval(values)
    assert (result.n, result.estimate, result.reason) == (n, estimate, reason)
    assert result.low is None
    assert result.high is None


def test_t_interval_does_not_count_undefined_values():
    assert t_interval([1.0, None, 3.0]) == t_interval([1.0, 3.0])


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_not_finite_is_refused_with_its_position(bad):
    with pytest.raises(InputError, match="value 1 is"):
        t_interval([1.0, bad])


@pytest.mark.parametrize("level", [0, 1, -0.5, 95])
def test_a_level_outside_its_range_is_refused(level):
    with pytest.raises(InputError, match="between 0 and 1"):
        t_interval([1.0, 2.0], level)
    with pytest.raises(InputError, match="between 0 and 1"):
        wilson_interval(1, 2, level)
    with pytest.raises(InputError, match="between 0 and 1"):
        difference_interval([1.0, 2.0], [1.0, 2.0], level)
    with pytest.raises(InputError, match="between 0 and 1"):
        binomial_band(2, [0.5], level)


def test_paired_reduction_is_the_mean_of_the_pairs_own_reductions():
    result = paired_reduction([0.5, 0.8, 0.4], [0.25, 0.6, 0.24])
    expected = t_interval([0.5, 0.25, 0.4])
    assert result.estimate == pytest.approx(expected.estimate)
    assert result.low == pytest.approx(expected.low)
    assert result.high == pytest.approx(expected.high)


def test_paired_reduction_leaves_out_pairs_without_a_ratio():
    result = paired_reduction([0.5, None, 0.0, 0.4], [0.25, 0.3, 0.1, 0.3])
    assert result.n == 2
    assert result.estimate == pytest.approx(0.375)


def test_paired_reduction_needs_pairs():
    with pytest.raises(InputError, match="2 reference values and 1 others"):
        paired_reduction([1.0, 2.0], [1.0])
    with pytest.raises(InputError, match="value 0 is nan"):
        paired_reduction([1.0], [math.nan])


varied = st.lists(numbers, min_size=2, max_size=20).filter(lambda v: np.std(v) > 1e-3)


@given(varied, varied, st.sampled_from([0.8, 0.95]))
def test_difference_agrees_with_scipys_welch(first, second, level):
    result = difference_interval(first, second, level)
    expected = reference.ttest_ind(first, second, equal_var=False).confidence_interval(level)
    assert result.n == len(first) + len(second)
    assert result.estimate == pytest.approx(np.mean(first) - np.mean(second), rel=1e-9, abs=1e-6)
    assert result.low == pytest.approx(expected.low, rel=1e-6, abs=1e-5)
    assert result.high == pytest.approx(expected.high, rel=1e-6, abs=1e-5)


def test_difference_of_a_constant_and_a_varying_sample_has_an_interval():
    result = difference_interval([1.0, 1.0], [2.0, 4.0])
    # One degree of freedom is left, and the standard error is 1: a quantile of the Cauchy law.
    half = math.tan(math.pi * 0.475)
    assert result.estimate == -2.0
    assert result.low == pytest.approx(-2 - half)
    assert result.high == pytest.approx(-2 + half)


@pytest.mark.parametrize(
    ("first", "second", "n", "estimate", "reason"),
    [
        ([], [1.0, 2.0], 2, None, "a sample has no defined value"),
        ([1.0, 2.0], [None], 2, None, "a sample has no defined value"),
        ([1.0, 2.0], [0.5], 3, 1.0, "one value in a sample gives no interval"),
        ([0.3] * 3, [0.1] * 3, 6, 0.2, "samples without variation give no interval"),
    ],
)
def test_difference_says_why_it_is_undefined(first, second, n, estimate, reason):
    result = difference_interval(first, second)
    assert (result.n, result.reason) == (n, reason)
    assert result.estimate == (None if estimate is None else pytest.approx(estimate))
    assert (result.low, result.high) == (None, None)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_agrees_with_scipy(case):
    successes, trials = case
    result = wilson_interval(successes, trials)
    expected = reference.binomtest(successes, trials).proportion_ci(method="wilson")
    assert result.estimate == successes / trials
    assert result.low == pytest.approx(expected.low, abs=1e-12)
    assert result.high == pytest.approx(expected.high, abs=1e-12)


def test_wilson_of_no_trials_says_so():
    result = wilson_interval(0, 0)
    assert (result.estimate, result.low, result.high) == (None, None, None)
    assert result.reason == "no trials"


@pytest.mark.parametrize(("successes", "trials"), [(3, 2), (-1, 2)])
def test_wilson_refuses_impossible_counts(successes, trials):
    with pytest.raises(InputError, match=f"{successes} successes of {trials} trials"):
        wilson_interval(successes, trials)


@pytest.mark.parametrize("n", [1, 7, 200])
def test_binomial_band_holds_the_binomial_quantiles(n):
    grid = np.array([0.0, 0.01, 0.1, 0.5, 0.93, 1.0])
    low, high = binomial_band(n, grid, 0.9)
    np.testing.assert_allclose(low * n, np.maximum(reference.binom.ppf(0.05, n, grid), 0))
    np.testing.assert_allclose(high * n, np.maximum(reference.binom.ppf(0.95, n, grid), 0))


def test_binomial_band_refuses_what_has_none():
    with pytest.raises(InputError, match="n = 0"):
        binomial_band(0, [0.5])
    with pytest.raises(InputError, match="outside"):
        binomial_band(5, [1.5])


@given(
    st.lists(st.tuples(numbers, numbers), min_size=3, max_size=20).filter(
        lambda pairs: np.ptp([x for x, _ in pairs]) > 1 and np.ptp([y for _, y in pairs]) > 1
    )
)
def test_line_agrees_with_scipy(pairs):
    x, y = zip(*pairs, strict=True)
    result = line(x, y)
    expected = reference.linregress(x, y)
    assert result.n == len(pairs)
    assert result.slope == pytest.approx(expected.slope, rel=1e-6, abs=1e-6)
    assert result.intercept == pytest.approx(expected.intercept, rel=1e-6, abs=1e-3)
    assert result.r2 == pytest.approx(expected.rvalue**2, abs=1e-6)


@pytest.mark.parametrize(
    ("x", "y", "slope", "reason"),
    [
        ([], [], None, "fewer than two distinct sizes"),
        ([1, 1], [1, 2], None, "fewer than two distinct sizes"),
        ([1, 2], [1, 4], 3.0, "a line through two points always fits"),
        ([1, 2, 3], [0.1, 0.1, 0.1], 0.0, "the statistic does not vary"),
    ],
)
def test_line_says_why_it_or_its_fit_is_undefined(x, y, slope, reason):
    result = line(x, y)
    assert (result.slope, result.r2, result.reason) == (slope, None, reason)


def test_line_needs_as_many_x_as_y():
    with pytest.raises(InputError, match="2 values of x and 1 of y"):
        line([1, 2], [1])


@pytest.mark.parametrize("family", PAPER_TABLE_1)
def test_trend_of_the_papers_means_gives_its_slope_and_fit(family):
    # The paper rounds its inputs and its outputs to three places.
    *sigmas, slope, r2 = PAPER_TABLE_1[family]
    trend = size_trend([100, 500, 1000], [42] * 3, sigmas)
    assert trend.slope.estimate == pytest.approx(slope, abs=1e-3)
    assert trend.r2 == pytest.approx(r2, abs=1e-3)
    assert trend.slope.low is None
    assert trend.slope.reason == "one value gives no interval"


def test_trend_takes_the_seed_as_its_unit():
    sizes = [100, 500, 1000]
    rows = {42: [0.1, 0.8, 1.0], 43: [0.2, 0.7, 1.1], 44: [0.1, 0.9, 1.0]}
    n_nodes = [size for size in sizes for _ in rows]
    seeds = [seed for _ in sizes for seed in rows]
    values = [rows[seed][i] for i in range(3) for seed in rows]
    trend = size_trend(n_nodes, seeds, values)
    fits = [reference.linregress(np.log(sizes), row) for row in rows.values()]
    means = reference.linregress(np.log(sizes), np.mean(list(rows.values()), axis=0))
    expected = t_interval([float(fit.slope) for fit in fits])
    assert trend.sizes == (100, 500, 1000)
    assert trend.n_seeds == 3
    assert trend.slope.estimate == pytest.approx(means.slope, rel=1e-12)
    assert trend.slope.low == pytest.approx(expected.low, rel=1e-12)
    assert trend.slope.high == pytest.approx(expected.high, rel=1e-12)
    assert trend.r2 == pytest.approx(means.rvalue**2, rel=1e-12)
    assert trend.r2_low == pytest.approx(min(fit.rvalue**2 for fit in fits), rel=1e-12)
    assert trend.r2_high == pytest.approx(max(fit.rvalue**2 for fit in fits), rel=1e-12)
    assert (trend.reason, trend.left_out) == ("", ())


def test_trend_leaves_out_a_seed_without_all_sizes_and_says_so():
    trend = size_trend(
        [100, 500, 1000, 100, 500, 1000, 100, 500],
        [1, 1, 1, 2, 2, 2, 3, 3],
        [0.1, 0.5, 0.9, 0.2, None, 1.0, 0.3, 0.4],
    )
    assert trend.n_seeds == 1
    assert trend.left_out == ((2, "no value at |V| = 500"), (3, "no value at |V| = 1000"))


@pytest.mark.parametrize(
    ("n_nodes", "values", "n_seeds", "slope_reason", "reason"),
    [
        (
            [100, 500],
            [0.1, None],
            0,
            "no seed has a value at every size",
            "no seed has a value at every size",
        ),
        ([100], [0.1], 1, "fewer than two distinct sizes", "fewer than two distinct sizes"),
        (
            [100, 500],
            [0.1, 0.2],
            1,
            "one value gives no interval",
            "a line through two points always fits",
        ),
        (
            [100, 500, 1000],
            [0.2, 0.2, 0.2],
            1,
            "one value gives no interval",
            "the statistic does not vary",
        ),
        ([], [], 0, "no seed has a value at every size", "no seed has a value at every size"),
    ],
)
def test_trend_says_why_it_is_undefined(n_nodes, values, n_seeds, slope_reason, reason):
    trend = size_trend(n_nodes, [1] * len(n_nodes), values)
    assert trend.n_seeds == n_seeds
    assert trend.slope.reason == slope_reason
    assert (trend.r2, trend.r2_low, trend.reason) == (None, None, reason)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([100], [1, 2], [0.1]), "1 sizes, 2 seeds, 1 values"),
        (([100, 100], [1, 1], [0.1, 0.2]), "two values for seed 1 at n_nodes = 100"),
        (([0], [1], [0.1]), "n_nodes = 0"),
        (([100], [1], [math.nan]), "value 0 is nan"),
    ],
)
def test_trend_refuses_what_it_cannot_use(arguments, message):
    with pytest.raises(InputError, match=message):
        size_trend(*arguments)


def test_fisher_p_against_scipy():
    for p_values in ([0.04, 0.2, 0.7], [1.0], [0.001, 0.9]):
        assert fisher_p(p_values) == pytest.approx(reference.combine_pvalues(p_values).pvalue)
    assert fisher_p([0.04, None, 0.7]) == fisher_p([0.04, 0.7])
    assert fisher_p([None]) is None
    with pytest.raises(InputError, match="fisher_p"):
        fisher_p([0.0])
