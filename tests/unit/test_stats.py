"""Statistics of the tables, against scipy, the paper's own numbers and values worked by hand."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import optimize
from scipy import stats as reference

from coretail.errors import InputError
from coretail.stats import (
    binomial_band,
    difference_interval,
    equivalence,
    exact_interval,
    fisher_p,
    line,
    mcnemar_exact,
    minimum_detectable_difference,
    page_trend,
    paired_reduction,
    sample_size,
    size_trend,
    stationary_block_interval,
    t_interval,
    wilson_interval,
)
from coretail.streams import stream

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


@pytest.mark.parametrize(
    ("interval", "method"), [(wilson_interval, "wilson"), (exact_interval, "exact")]
)
@given(case=st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_intervals_of_a_share_agree_with_scipy(interval, method, case):
    successes, trials = case
    result = interval(successes, trials)
    expected = reference.binomtest(successes, trials).proportion_ci(method=method)
    assert result.estimate == successes / trials
    assert result.low == pytest.approx(expected.low, abs=1e-12)
    assert result.high == pytest.approx(expected.high, abs=1e-12)


@pytest.mark.parametrize("interval", [wilson_interval, exact_interval])
def test_an_interval_of_no_trials_says_so(interval):
    result = interval(0, 0)
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


def page_by_counting(rows):
    """Page's L and its exact p, by counting all orders of untied blocks."""
    ranks = [reference.rankdata(row) for row in rows]
    statistic = sum(float(np.dot(r, np.arange(1, len(r) + 1))) for r in ranks)
    one = [
        sum(place * rank for place, rank in enumerate(order, start=1))
        for order in itertools.permutations(range(1, len(rows[0]) + 1))
    ]
    sums = [sum(choice) for choice in itertools.product(one, repeat=len(rows))]
    return statistic, sum(value >= statistic for value in sums) / len(sums)


@pytest.mark.parametrize(
    "rows",
    [
        [[0.1, 0.2, 0.3, 0.4], [0.2, 0.1, 0.5, 0.6], [1.0, 3.0, 2.0, 4.0]],
        [[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]],
        [[9.0, 7.0, 5.0, 1.0], [4.0, 3.0, 2.0, 1.0]],
    ],
)
def test_page_trend_is_the_exact_count_over_all_orders(rows):
    statistic, p = page_by_counting(rows)
    result = page_trend(rows)
    assert (result.n, result.L, result.method, result.reason) == (len(rows), statistic, "exact", "")
    assert result.p == pytest.approx(p, rel=1e-12)


def test_page_trend_of_seven_rising_values_in_three_seeds():
    result = page_trend([[0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0]] * 3)
    # Each seed rises with probability 1 / 7! under the null; Σ j² = 140.
    assert result.L == 3 * 140
    assert result.p == pytest.approx(math.factorial(7) ** -3, rel=1e-9)


def test_page_trend_gives_ties_their_mean_rank():
    result = page_trend([[1.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
    # 1.5 · 1 + 1.5 · 2 + 3 · 3 = 13.5, and 14 of the other seed.
    assert result.L == 27.5
    assert result.p >= page_by_counting([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])[1]
    assert page_trend([[1.0, 1.0, 1.0]] * 4).p > 0.5


@pytest.mark.parametrize("rows", [[], [[1.0, 2.0, 3.0]], [[1.0, 2.0], [1.0, 2.0]]])
def test_page_trend_says_why_it_is_undefined(rows):
    result = page_trend(rows)
    assert (result.n, result.L, result.p) == (len(rows), None, None)
    assert result.reason == "Page's test needs two seeds and three treatments"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1.0, 2.0, 3.0], [1.0, 2.0]], r"rows of \[2, 3\] values"),
        ([[1.0, None, 3.0], [1.0, 2.0, 3.0]], "leave that seed out"),
        ([[1.0, math.nan, 3.0], [1.0, 2.0, 3.0]], "value 1 is nan"),
    ],
)
def test_page_trend_refuses_blocks_with_holes(rows, message):
    with pytest.raises(InputError, match=message):
        page_trend(rows)


def test_mcnemar_exact_by_hand():
    # Of 3 discordant pairs all favour one side: 2 / 2³.
    assert mcnemar_exact(0, 3) == mcnemar_exact(3, 0) == pytest.approx(0.25)
    assert mcnemar_exact(4, 4) == pytest.approx(1.0)
    # 2 (1 + 10) / 2¹⁰
    assert mcnemar_exact(1, 9) == pytest.approx(22 / 1024)
    assert mcnemar_exact(0, 0) is None
    with pytest.raises(InputError, match="b = -1"):
        mcnemar_exact(-1, 2)


def test_equivalence_of_means_agrees_with_two_one_sided_t_tests():
    first = np.array([0.51, 0.49, 0.55, 0.50, 0.47, 0.52])
    second = np.array([0.50, 0.50, 0.53, 0.51, 0.48, 0.50])
    gaps = first - second
    result = equivalence(first.tolist(), second.tolist(), 0.03)
    low, high = reference.t.interval(0.9, 5, gaps.mean(), reference.sem(gaps))
    assert result.difference.n == 6
    assert result.difference.low == pytest.approx(low)
    assert result.difference.high == pytest.approx(high)
    for margin in (0.004, 0.0125, 0.02, 0.03):
        p_low = reference.ttest_1samp(gaps, -margin, alternative="greater").pvalue
        p_high = reference.ttest_1samp(gaps, margin, alternative="less").pvalue
        found = equivalence(first.tolist(), second.tolist(), margin).equivalent
        assert found == (max(p_low, p_high) < 0.05), margin


def score(gap, b, c, n):
    """Score of a difference of paired proportions, its nuisance fitted by brute force."""
    only_second = np.linspace(max(0, -gap), (1 - gap) / 2, 200_001)
    cells = np.array([only_second + gap, only_second, 1 - 2 * only_second - gap])
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.array([b, c, n - b - c])[:, None] * np.log(np.maximum(cells, 0))
    best = only_second[np.nansum(terms, axis=0).argmax()]
    return (b - c - n * gap) / math.sqrt(n * (2 * best + gap * (1 - gap)))


@pytest.mark.parametrize(
    ("b", "c", "n"), [(3, 2, 100), (12, 2, 50), (0, 5, 40), (1, 1, 9), (7, 0, 8)]
)
def test_equivalence_of_proportions_is_by_the_score_interval(b, c, n):
    both = (n - b - c) // 2
    rest = n - b - c - both
    first = [True] * (both + b) + [False] * (c + rest)
    second = [True] * both + [False] * b + [True] * c + [False] * rest
    found = equivalence(first, second, 0.05).difference
    assert found.estimate == pytest.approx((b - c) / n)
    assert score(found.low, b, c, n) == pytest.approx(1.6448536, abs=2e-3)
    assert score(found.high, b, c, n) == pytest.approx(-1.6448536, abs=2e-3)


@pytest.mark.parametrize("n", [1, 20, 80])
def test_the_score_interval_without_discordant_pairs_by_hand(n):
    z2 = 1.6448536269514722**2
    found = equivalence([0] * n, [0] * n, 0.05)
    # n Δ = z √(n Δ (1 − Δ))
    assert found.difference.high == pytest.approx(z2 / (n + z2))
    assert found.difference.low == pytest.approx(-z2 / (n + z2))
    assert found.equivalent is (n == 80)
    one = equivalence([1] * n, [0] * n, 0.05).difference
    assert (one.estimate, one.high) == (1, 1)
    assert one.low < 1


@pytest.mark.parametrize("level", [0.95, 0.975])
def test_the_score_interval_of_pairs_that_all_differ_one_way_by_hand(level):
    z2 = reference.norm.ppf(level) ** 2
    for n in range(1, 201):
        # The likelihood is largest with no other pair, so that the variance is n (1 − Δ²), and
        # n (1 − Δ) = z √(n (1 − Δ²)).
        limit = (n - z2) / (n + z2)
        up = equivalence([1] * n, [0] * n, 0.05, level).difference
        down = equivalence([0] * n, [1] * n, 0.05, level).difference
        assert (up.estimate, up.high, down.estimate, down.low) == (1, 1, -1, -1)
        assert up.low == pytest.approx(limit, abs=1e-10), n
        assert down.high == pytest.approx(-limit, abs=1e-10), n


def likeliest(gap, b, c, n):
    """The share of pairs for the second alone, by the root of the likelihood's derivative."""

    def slope(share):
        rest = n - b - c
        # A count of 0 is no term: no pole at the end where its share vanishes.
        terms = [(b, share + gap, 1), (c, share, 1), (rest, 1 - 2 * share - gap, -2)]
        return sum(sign * count / part for count, part, sign in terms if count)

    least, most = max(0.0, -gap), (1 - gap) / 2
    margin = 1e-9 * (most - least) + 1e-15
    if slope(least + margin) <= 0:
        return least
    if slope(most - margin) >= 0:
        return most
    return optimize.brentq(slope, least + margin, most - margin, xtol=1e-16)


def score_limits(b, c, n, z):
    """Tango's limits, by root finding in each half."""

    def excess(gap, sign):
        variance = n * (2 * likeliest(gap, b, c, n) + gap * (1 - gap))
        return sign * (b - c - n * gap) - z * math.sqrt(max(variance, 0.0))

    estimate, limits = (b - c) / n, []
    for sign in (1, -1):
        end, near = -sign * (1 - 1e-6), estimate - sign * 1e-7
        inside = abs(near) < 1 and excess(end, sign) > 0
        limits.append(optimize.brentq(excess, end, near, args=(sign,)) if inside else -sign)
    return limits


@given(
    st.integers(1, 200).flatmap(
        lambda n: st.tuples(
            st.just(n), st.sampled_from([0, 1, n // 2, n - 1, n]), st.integers(0, n)
        )
    ),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_the_score_interval_agrees_with_root_finding(case, swap):
    n, b, c = case
    b, c = min(b, n - c), c
    if swap:
        b, c = c, b
    rest = n - b - c
    found = equivalence([1] * b + [0] * (c + rest), [0] * b + [1] * c + [0] * rest, 0.05)
    low, high = score_limits(b, c, n, reference.norm.ppf(0.95))
    assert found.difference.low == pytest.approx(low, abs=2e-6)
    assert found.difference.high == pytest.approx(high, abs=2e-6)
    assert found.difference.low <= found.difference.estimate <= found.difference.high


def test_a_limit_next_to_the_estimate_is_the_estimate():
    # z is 2.5e-7, so that all limits are within 1e-12 of it.
    found = equivalence([1] * 5, [0] * 5, 0.05, 0.5000001).difference
    assert (found.low, found.high) == (1, 1)


# Values that are equal, of one kind, alone, tiny, huge, or apart by the last digit.
EXTREMES = st.sampled_from(
    [0.0, 1.0, -1.0, 0.1, np.nextafter(0.1, 1), 1 / 3, 5e-324, 1e-200, 1e-90, 1e150, -1e150]
)
SAMPLES = st.sampled_from([st.sampled_from([0.0, 1.0]), st.just(0.1), EXTREMES]).flatmap(
    lambda values: st.lists(st.tuples(values, values), min_size=1, max_size=15)
)
FUNCTIONS = {
    "t_interval": lambda a, b: t_interval(a),
    "paired_reduction": paired_reduction,
    "difference_interval": difference_interval,
    "line": line,
    "equivalence": lambda a, b: equivalence(a, b, 0.05).difference,
    "size_trend": lambda a, b: size_trend([10, 100, 1000] * len(a), [
        seed for seed in range(len(a)) for _ in range(3)
    ], [value for pair in zip(a, b, b[::-1], strict=True) for value in pair]).slope,
    "page_trend": lambda a, b: page_trend([[x, y, 0.0] for x, y in zip(a[:3], b, strict=False)]),
    "block": lambda a, b: stationary_block_interval(
        a, [value > 0 for value in b], ("extremes",), replicates=100
    ).mean,
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("error")
@given(pairs=SAMPLES)
@example(pairs=[(5e-324, np.float64(0.1))])
@settings(max_examples=60, deadline=None)
def test_extreme_values_give_numbers_or_say_why_not(name, pairs):
    first, second = map(list, zip(*pairs, strict=True))
    try:
        found = FUNCTIONS[name](first, second)
    except InputError as error:
        # 0.1 / 5e-324, for one, is infinite; 1e150 + 1e150 is refused.
        assert name in ("paired_reduction", "equivalence")
        assert "give finite numbers" in str(error)  # noqa: PT017
        return
    values = [getattr(found, field) for field in found.__slots__]
    assert all(math.isfinite(value) for value in values if isinstance(value, float | int))
    assert (None in values) == (found.reason != "")


@pytest.mark.parametrize("trials", [1, 2, 15, 29, 30, 10**6, 10**9])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_shares_of_0_and_1_have_intervals(trials, level):
    for interval in (wilson_interval, exact_interval):
        none, every = interval(0, trials, level), interval(trials, trials, level)
        assert none.low == none.estimate == 0 < none.high < 1
        assert every.high == every.estimate == 1 > every.low > 0
        assert every.low == pytest.approx(1 - none.high, abs=1e-12)


def test_a_value_whose_square_is_no_number_is_refused():
    with pytest.raises(InputError, match=r"value 1 is 1e\+200"):
        t_interval([0.0, 1e200])


def test_equivalence_keeps_its_level_at_the_margin():
    n, margin = 60, 0.1
    accepted = [
        (b, c)
        for b in range(n + 1)
        for c in range(min(b + 9, n - b) + 1)
        if equivalence(
            [1] * b + [0] * (n - b), [0] * b + [1] * c + [0] * (n - b - c), margin
        ).equivalent
    ]
    assert accepted
    for only_second in (0.0, 0.05, 0.2, 0.4):
        cells = [only_second + margin, only_second, 1 - 2 * only_second - margin]
        wrong = sum(reference.multinomial.pmf([b, c, n - b - c], n, cells) for b, c in accepted)
        assert wrong < 0.06


def test_equivalence_of_nothing_with_nothing_is_not_testable():
    result = equivalence([0] * 80, [0] * 80, 0.05, floor=0.05)
    assert result.equivalent is None
    assert result.difference.estimate == 0
    assert "below the competence floor 0.05" in result.difference.reason
    assert equivalence([0] * 80, [0] * 80, 0.05).equivalent is True
    assert equivalence([1] * 80, [1] * 80, 0.05, floor=0.05).equivalent is True


def test_equivalence_leaves_out_pairs_with_a_hole_and_says_when_none_is_left():
    assert equivalence([1, None, 0], [1, 1, None], 0.05).difference.n == 1
    result = equivalence([None], [0.5], 0.05)
    assert (result.equivalent, result.difference.reason) == (None, "no defined value")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], [1.0, 2.0], 0.1), "1 first values and 2 second"),
        (([1.0], [1.0], 0.0), "margin = 0"),
        (([1.0], [1.0], math.nan), "margin = nan"),
        (([1.0], [1.0], 0.1, 0.5), "level = 0.5"),
        (([math.inf], [1.0], 0.1), "value 0 is inf"),
    ],
)
def test_equivalence_refuses_what_it_cannot_use(arguments, message):
    with pytest.raises(InputError, match=message):
        equivalence(*arguments)


@pytest.mark.parametrize(("effect", "n"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_sample_size_of_cohens_conventions(effect, n):
    # Two-sided 5%, 80% power: the standard tables' numbers for the paired t test.
    assert sample_size(effect, 1.0) == n
    assert sample_size(-3 * effect, 3.0) == n


@pytest.mark.parametrize(("n", "level", "power"), [(2, 0.95, 0.8), (3, 0.9, 0.95), (40, 0.99, 0.5)])
def test_minimum_detectable_difference_has_its_power(n, level, power):
    difference = minimum_detectable_difference(n, 0.2, level, power)
    quantile = reference.t.ppf(0.5 + level / 2, n - 1)
    shift = difference / 0.2 * math.sqrt(n)
    assert reference.nct.sf(quantile, n - 1, shift) == pytest.approx(power, abs=1e-3)


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95, 0.99, 0.999])
def test_a_detectable_difference_of_every_design(level):
    # Where a tail is too small for its series, scipy's function of it gives NaN.
    for n in (2, 3, 4, 5, 9, 40, 1000, 10**7):
        for power in (0.8, 0.95, 0.999):
            difference = minimum_detectable_difference(n, 1.0, level, power)
            normal = (reference.norm.ppf(0.5 + level / 2) + reference.norm.ppf(power)) / n**0.5
            assert difference > 0.99 * normal
            if n > 900:
                assert difference == pytest.approx(normal, rel=0.02)
            assert abs(sample_size(difference, 1.0, level, power) - n) <= 1 + n / 10**4


@given(st.integers(2, 500), st.floats(0.01, 100), st.sampled_from([0.5, 0.8, 0.9]))
@settings(max_examples=40, deadline=None)
def test_sample_size_inverts_the_detectable_difference(n, sd, power):
    difference = minimum_detectable_difference(n, sd, power=power)
    assert sample_size(difference * 1.0001, sd, power=power) == n
    assert sample_size(difference * 0.9999, sd, power=power) == n + 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: minimum_detectable_difference(1, 1.0), "n = 1"),
        (lambda: minimum_detectable_difference(5, 0.0), "sd = 0"),
        (lambda: minimum_detectable_difference(5, 1.0, power=0.04), "power = 0.04"),
        (lambda: minimum_detectable_difference(5, 1.0, level=1.0), "between 0 and 1"),
        (lambda: sample_size(0.0, 1.0), "difference = 0"),
        (lambda: sample_size(1e-300, 1.0), "difference = 1e-300 with sd = 1"),
        (lambda: sample_size(0.1, math.inf), "sd = inf"),
        (lambda: sample_size(0.1, 1.0, power=1.0), "power = 1"),
    ],
)
def test_a_design_that_makes_no_sense_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def autoregression(coefficient, n, key):
    shocks = stream("autoregression", key).standard_normal(n)
    series = np.empty(n)
    series[0] = shocks[0] / math.sqrt(1 - coefficient**2)
    for step in range(1, n):
        series[step] = coefficient * series[step - 1] + shocks[step]
    return series


@pytest.mark.parametrize("coefficient", [0.0, 0.6, 0.8])
def test_block_interval_has_the_width_of_a_dependent_mean(coefficient):
    series = autoregression(coefficient, 20_000, 1)
    result = stationary_block_interval(series, np.ones(20_000), ("test", 1), replicates=400)
    # An AR(1) series has τ = (1 + φ) / (1 − φ), and the variance of its mean is τ sd² / n.
    time = (1 + coefficient) / (1 - coefficient)
    width = 2 * 1.96 * math.sqrt(time / (1 - coefficient**2) / 20_000)
    assert result.autocorrelation_time == pytest.approx(time, rel=0.15)
    assert result.block == math.ceil(2 * result.autocorrelation_time)
    assert result.mean.estimate == pytest.approx(series.mean())
    assert result.mean.high - result.mean.low == pytest.approx(width, rel=0.15)
    assert result.mean.low < result.mean.estimate < result.mean.high


def test_block_interval_is_of_the_masked_steps_alone():
    mask = np.arange(3_000) % 3 == 0
    errors = (stream("errors").random(3_000) < 0.3).astype(float)
    hidden = np.where(mask, errors, np.nan)
    result = stationary_block_interval(hidden, mask, ("test", 2), replicates=500)
    assert result.mean.n == 1_000
    assert result.mean.estimate == pytest.approx(errors[mask].mean())
    # Independent errors: the binomial standard error.
    width = 2 * 1.96 * math.sqrt(0.3 * 0.7 / 1_000)
    assert result.mean.high - result.mean.low == pytest.approx(width, rel=0.15)


def test_block_interval_depends_on_its_key_alone():
    series = autoregression(0.5, 500, 2)
    mask = np.ones(500, dtype=bool)
    first = stationary_block_interval(series, mask, ("cell", 1), replicates=200)
    assert stationary_block_interval(series, mask, ("cell", 1), replicates=200) == first
    other = stationary_block_interval(series, mask, ("cell", 2), replicates=200)
    assert other.mean.low != first.mean.low
    assert other.mean.estimate == first.mean.estimate


@pytest.mark.parametrize(
    ("values", "mask", "n", "estimate", "reason"),
    [
        ([], [], 0, None, "no masked step"),
        ([1.0, 2.0], [False, False], 0, None, "no masked step"),
        ([1.0, 5.0, 1.0], [1, 0, 1], 2, 1.0, "all 2 values are equal, which gives no interval"),
    ],
)
def test_block_interval_says_why_it_is_undefined(values, mask, n, estimate, reason):
    result = stationary_block_interval(values, mask, ("none",))
    assert (result.mean.n, result.mean.estimate, result.mean.reason) == (n, estimate, reason)
    assert (result.mean.low, result.mean.high, result.block) == (None, None, None)


@pytest.mark.parametrize(
    ("values", "mask", "options", "message"),
    [
        ([1.0, 2.0], [True], {}, r"shape \(2,\) and a mask of shape \(1,\)"),
        ([[1.0]], [[True]], {}, "one of each per step"),
        ([1.0, math.nan], [True, True], {}, "value 1 is nan"),
        ([1.0, 2.0], [True, True], {"replicates": 99}, "replicates = 99"),
        ([1.0, 2.0], [True, True], {"level": 95}, "between 0 and 1"),
    ],
)
def test_block_interval_refuses_what_it_cannot_use(values, mask, options, message):
    with pytest.raises(InputError, match=message):
        stationary_block_interval(values, mask, ("bad",), **options)
