"""Small statistics of the tables: intervals from few seeds, shares, trends, paired comparisons.

Every interval has a closed form, so that the same numbers come out on every run; the one that
resamples, :func:`stationary_block_interval`, draws from a stream of its own key. A statistic that
is undefined is ``None`` and the result says why.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from coretail.errors import InputError
from coretail.streams import Key, stream

# Beyond it squares overflow, below its inverse they vanish.
_LARGEST = 1e150
# A limit of a score interval nearer to the estimate is the estimate.
_NEAR = 1e-9


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its confidence interval.

    Attributes
    ----------
    n
        Defined values (or trials) behind the estimate.
    estimate
        Mean, or share of successes; ``None`` if there is nothing to average.
    low, high
        Limits of the interval; ``None`` where it is undefined.
    level
        Confidence level, for example 0.95.
    reason
        Why a field is ``None``; empty if none is.
    """

    n: int
    estimate: float | None
    low: float | None
    high: float | None
    level: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """An ordinary least-squares line.

    Attributes
    ----------
    n
        Points.
    slope, intercept
        Coefficients; ``None`` if the line is undefined.
    r2
        Share of the variation that the line explains; ``None`` if undefined.
    reason
        Why a field is ``None``; empty if none is.
    """

    n: int
    slope: float | None
    intercept: float | None
    r2: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Trend:
    """A statistic's trend in ln |V|, with the seed as the unit of replication.

    Attributes
    ----------
    sizes
        The graph sizes, ascending.
    n_seeds
        Seeds with a value at every size; the others are left out, since a slope over fewer sizes
        estimates something else.
    slope
        Mean of the seeds' own least-squares slopes on ln |V| and its t interval over seeds.
        Over seeds that cover the same sizes this mean is also the slope of the means.
    r2
        R² of the line through the means over seeds; ``None`` if undefined.
    r2_low, r2_high
        Smallest and largest R² of a seed's own line: a range, since a t interval for a share
        that sits near 1 would leave [0, 1].
    reason
        Why ``r2``, ``r2_low`` or ``r2_high`` is ``None``; empty if none is.
    left_out
        Per seed left out, in ascending order: (seed, why).
    """

    sizes: tuple[int, ...]
    n_seeds: int
    slope: Interval
    r2: float | None
    r2_low: float | None
    r2_high: float | None
    reason: str = ""
    left_out: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class PageTrend:
    """Page's test for a trend over ordered treatments.

    Attributes
    ----------
    n
        Blocks (seeds).
    L
        Page's statistic, Σ_j j · (rank sum of treatment j); ``None`` if undefined.
    p
        One-sided p of a trend that rises with the treatment; ``None`` if undefined.
    method
        ``exact`` or ``asymptotic``: how p was computed; empty if undefined.
    reason
        Why a field is ``None``; empty if none is.
    """

    n: int
    L: float | None
    p: float | None
    method: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Two one-sided tests of whether a mean paired difference lies within ± margin.

    Attributes
    ----------
    difference
        Mean of first − second with the interval at level 2 · level − 1 that the two tests invert
        (90% for two tests at 95%).
    margin
        Largest difference, either way, that counts as none.
    equivalent
        Whether the interval lies within ± margin. False is no proof of a difference; ``None`` if
        undefined, and ``difference.reason`` says why.
    """

    difference: Interval
    margin: float
    equivalent: bool | None


@dataclass(frozen=True, slots=True)
class BlockInterval:
    """A masked mean of one trajectory with its block-bootstrap interval.

    Attributes
    ----------
    mean
        The masked mean and its percentile interval; ``n`` counts masked steps.
    autocorrelation_time
        Integrated autocorrelation time τ = 1 + 2 Σ ρ(k) in steps, at least 1; ``None`` if
        undefined.
    block
        Mean length of a block in steps; ``None`` if undefined.
    """

    mean: Interval
    autocorrelation_time: float | None
    block: int | None


def t_interval(values: Iterable[float | None], level: float = 0.95) -> Interval:
    """Return the mean and its Student t interval, n − 1 degrees of freedom.

    Parameters
    ----------
    values
        One value per seed. ``None`` (an undefined cell) is not counted in ``n``.
    level
        Confidence level, between 0 and 1.

    Returns
    -------
    Interval
        With fewer than two values, or with values that are all equal, the limits are ``None``:
        an interval of no width would claim a certainty that n equal values do not give.

    Raises
    ------
    InputError
        If a value is NaN or infinite, or the level is not between 0 and 1.
    """
    _check_level(level)
    defined = _finite(values)
    n = len(defined)
    if n == 0:
        return Interval(0, None, None, None, level, "no defined value")
    mean = math.fsum(defined) / n
    if n == 1:
        return Interval(1, mean, None, None, level, "one value gives no interval")
    if _equal(defined):
        return Interval(
            n, defined[0], None, None, level, f"all {n} values are equal, which gives no interval"
        )
    variance = math.fsum((value - mean) ** 2 for value in defined) / (n - 1)
    half = float(special.stdtrit(n - 1, 0.5 + level / 2)) * math.sqrt(variance / n)
    return Interval(n, mean, mean - half, mean + half, level)


def paired_reduction(
    reference: Sequence[float | None], other: Sequence[float | None], level: float = 0.95
) -> Interval:
    """Return the mean relative reduction 1 − other / reference and its t interval.

    Parameters
    ----------
    reference, other
        Values of the same seeds in the same order. A pair with an undefined value, or with a
        reference of 0, is not counted.
    level
        Confidence level, between 0 and 1.

    Raises
    ------
    InputError
        If the lengths differ, or as :func:`t_interval` does.
    """
    if len(reference) != len(other):
        raise InputError(
            f"paired_reduction: {len(reference)} reference values and {len(other)} others; "
            "give one pair per seed"
        )
    _finite(reference)
    _finite(other)
    return t_interval(
        (
            None if base is None or value is None or base == 0 else 1 - float(value) / float(base)
            for base, value in zip(reference, other, strict=True)
        ),
        level,
    )


def difference_interval(
    first: Iterable[float | None], second: Iterable[float | None], level: float = 0.95
) -> Interval:
    """Return the difference of two independent means and its Welch t interval.

    Parameters
    ----------
    first, second
        Values of two independent samples; ``None`` is not counted.
    level
        Confidence level, between 0 and 1.

    Returns
    -------
    Interval
        Mean of ``first`` minus mean of ``second``; ``n`` counts the values of both. Degrees of
        freedom after Welch and Satterthwaite.

    Raises
    ------
    InputError
        If a value is NaN or infinite, or the level is not between 0 and 1.
    """
    _check_level(level)
    samples = [_finite(first), _finite(second)]
    n = sum(map(len, samples))
    if not all(samples):
        return Interval(n, None, None, None, level, "a sample has no defined value")
    means = [math.fsum(values) / len(values) for values in samples]
    gap = means[0] - means[1]
    if min(map(len, samples)) == 1:
        return Interval(n, gap, None, None, level, "one value in a sample gives no interval")
    if all(map(_equal, samples)):
        return Interval(n, gap, None, None, level, "samples without variation give no interval")
    shares = [
        math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values)
        for values, mean in zip(samples, means, strict=True)
    ]
    total = sum(shares)
    # Relative shares: the square of a small one would be 0.
    freedom = 1 / sum(
        (share / total) ** 2 / (len(values) - 1)
        for values, share in zip(samples, shares, strict=True)
    )
    half = float(special.stdtrit(freedom, 0.5 + level / 2)) * math.sqrt(total)
    return Interval(n, gap, gap - half, gap + half, level)


def fisher_p(p_values: Iterable[float | None]) -> float | None:
    """Return Fisher's combined p of independent tests (Fisher, 1932); None if no p is defined.

    Raises
    ------
    InputError
        If a p is not in (0, 1].
    """
    defined = _finite(p_values)
    if not all(0 < p <= 1 for p in defined):
        raise InputError(f"fisher_p: {defined} are not all in (0, 1]")
    if not defined:
        return None
    statistic = -2 * math.fsum(math.log(p) for p in defined)
    return float(special.chdtrc(2 * len(defined), statistic))


def wilson_interval(successes: int, trials: int, level: float = 0.95) -> Interval:
    """Return a share and its Wilson score interval (Wilson, 1927).

    Raises
    ------
    InputError
        If not 0 ≤ successes ≤ trials, or the level is not between 0 and 1.
    """
    _check_trials("wilson_interval", successes, trials, level)
    if trials == 0:
        return Interval(0, None, None, None, level, "no trials")
    z2 = float(special.ndtri(0.5 + level / 2)) ** 2
    share = successes / trials
    centre = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = math.sqrt(z2 * (share * (1 - share) + z2 / (4 * trials)) / trials) / (1 + z2 / trials)
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == trials else centre + half
    return Interval(trials, share, low, high, level)


def exact_interval(successes: int, trials: int, level: float = 0.95) -> Interval:
    """Return a share and its exact interval (Clopper and Pearson, 1934).

    Raises
    ------
    InputError
        If not 0 ≤ successes ≤ trials, or the level is not between 0 and 1.
    """
    _check_trials("exact_interval", successes, trials, level)
    if trials == 0:
        return Interval(0, None, None, None, level, "no trials")
    outside = (1 - level) / 2
    failures = trials - successes
    low = float(special.betaincinv(successes, failures + 1, outside)) if successes else 0.0
    high = float(special.betaincinv(successes + 1, failures, 1 - outside)) if failures else 1.0
    return Interval(trials, successes / trials, low, high, level)


def binomial_band(
    n: int, probabilities: ArrayLike, level: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return where a share of n draws falls with the given probability, per true probability.

    Pointwise: at each true probability the share of n independent draws lies within its limits
    with probability at least ``level`` (equal-tailed binomial quantiles). Against the diagonal
    this is the Monte Carlo band of the empirical distribution of n uniform p values.

    Parameters
    ----------
    n
        Draws, at least 1.
    probabilities
        True probabilities in [0, 1], shape (m,).
    level
        Level of the band, between 0 and 1.

    Returns
    -------
    low, high
        Shares in [0, 1], shape (m,).

    Raises
    ------
    InputError
        If n < 1, a probability is outside [0, 1], or the level is not between 0 and 1.
    """
    _check_level(level)
    p = np.asarray(probabilities, dtype=np.float64)
    if n < 1:
        raise InputError(f"binomial_band: n = {n}; give at least 1 draw")
    if not ((p >= 0) & (p <= 1)).all():
        raise InputError("binomial_band: a probability outside [0, 1]")
    below = special.bdtr(np.arange(n)[:, None], n, p[None, :])
    tail = (1 - level) / 2
    low = (below < tail).sum(axis=0) / n
    high = (below < 1 - tail).sum(axis=0) / n
    return low, high


def line(x: Sequence[float], y: Sequence[float]) -> Line:
    """Return the ordinary least-squares line of y on x.

    Returns
    -------
    Line
        ``r2`` is ``None`` with two distinct points (any line through two points fits) and where y
        does not vary; the line itself is ``None`` with fewer than two distinct x.

    Raises
    ------
    InputError
        If the lengths differ or a value is not finite.
    """
    if len(x) != len(y):
        raise InputError(f"line: {len(x)} values of x and {len(y)} of y; give as many of each")
    xs, ys = _finite(x), _finite(y)
    n = len(xs)
    if n < 2 or _equal(xs):
        return Line(n, None, None, None, "fewer than two distinct sizes")
    x_mean, y_mean = math.fsum(xs) / n, math.fsum(ys) / n
    sxx = math.fsum((a - x_mean) ** 2 for a in xs)
    sxy = math.fsum((a - x_mean) * (b - y_mean) for a, b in zip(xs, ys, strict=True))
    slope = sxy / sxx
    intercept = y_mean - slope * x_mean
    if _equal(ys):
        return Line(n, 0.0, ys[0], None, "the statistic does not vary")
    if n == 2:
        return Line(n, slope, intercept, None, "a line through two points always fits")
    syy = math.fsum((b - y_mean) ** 2 for b in ys)
    return Line(n, slope, intercept, min(1.0, slope * (sxy / syy)))


def size_trend(
    n_nodes: Sequence[int],
    seeds: Sequence[int],
    values: Sequence[float | None],
    level: float = 0.95,
) -> Trend:
    """Return a statistic's least-squares trend in ln |V| (the paper's Table 1).

    Parameters
    ----------
    n_nodes, seeds, values
        One observation per position: graph size (at least 1), seed and value; ``None`` is an
        undefined value.
    level
        Confidence level of the slope's t interval over seeds, between 0 and 1.

    Raises
    ------
    InputError
        If the lengths differ, a (size, seed) occurs twice, a size is below 1, or a value is NaN
        or infinite.
    """
    if not len(n_nodes) == len(seeds) == len(values):
        raise InputError(
            f"size_trend: {len(n_nodes)} sizes, {len(seeds)} seeds, {len(values)} values; "
            "give as many of each"
        )
    _finite(values)
    table: dict[tuple[int, int], float | None] = {}
    for size, seed, value in zip(n_nodes, seeds, values, strict=True):
        if size < 1:
            raise InputError(f"size_trend: n_nodes = {size}; a size is at least 1")
        if (seed, size) in table:
            raise InputError(f"size_trend: two values for seed {seed} at n_nodes = {size}")
        table[seed, size] = value
    sizes = tuple(sorted(set(n_nodes)))
    logs = [math.log(size) for size in sizes]
    complete: list[list[float]] = []
    left_out: list[tuple[int, str]] = []
    for seed in sorted(set(seeds)):
        row = [value for size in sizes if (value := table.get((seed, size))) is not None]
        if len(row) == len(sizes):
            complete.append(row)
        else:
            missing = [size for size in sizes if table.get((seed, size)) is None]
            left_out.append((seed, f"no value at |V| = {', '.join(map(str, missing))}"))
    if not complete:
        reason = "no seed has a value at every size"
        slope = Interval(0, None, None, None, level, reason)
        return Trend(sizes, 0, slope, None, None, None, reason, tuple(left_out))
    lines = [line(logs, row) for row in complete]
    if lines[0].slope is None:
        slope = Interval(len(lines), None, None, None, level, lines[0].reason)
    else:
        slope = t_interval((fit.slope for fit in lines), level)
    means = line(logs, [math.fsum(column) / len(column) for column in zip(*complete, strict=True)])
    shares = [fit.r2 for fit in lines if fit.r2 is not None]
    reasons = {fit.reason for fit in (means, *lines) if fit.r2 is None}
    return Trend(
        sizes,
        len(complete),
        slope,
        means.r2,
        min(shares, default=None),
        max(shares, default=None),
        "; ".join(sorted(reasons)) if means.r2 is None or not shares else "",
        tuple(left_out),
    )


def page_trend(table: Sequence[Sequence[float]]) -> PageTrend:
    """Return Page's L test that values rise over ordered treatments (Page, 1963).

    Parameters
    ----------
    table
        Shape (seeds, treatments): one row per seed (block), its columns in the order in which
        values are expected to rise. Ties get mean ranks, which makes p conservative. For a
        falling trend reverse the columns.

    Returns
    -------
    PageTrend
        ``L`` and ``p`` are ``None`` with fewer than two seeds or three treatments. p is exact up
        to 8 treatments and 12 seeds (20 seeds with 3 treatments), else asymptotic.

    Raises
    ------
    InputError
        If rows differ in length, or a value is ``None``, NaN or infinite: a block with a hole has
        no ranks, so leave the whole seed out.
    """
    rows = [list(row) for row in table]
    if len({len(row) for row in rows}) > 1:
        raise InputError(
            f"page_trend: rows of {sorted({len(row) for row in rows})} values; give one value per "
            "seed and treatment"
        )
    for row in rows:
        if len(_finite(row)) < len(row):
            raise InputError(f"page_trend: {row} has an undefined value; leave that seed out")
    if len(rows) < 2 or len(rows[0]) < 3:
        reason = "Page's test needs two seeds and three treatments"
        return PageTrend(len(rows), None, None, "", reason)
    from scipy.stats import page_trend_test

    found = page_trend_test(rows)
    return PageTrend(len(rows), float(found.statistic), float(found.pvalue), str(found.method))


def mcnemar_exact(b: int, c: int) -> float | None:
    """Return the two-sided exact p of McNemar's test; ``None`` without a discordant pair.

    Parameters
    ----------
    b, c
        Pairs in which only the first, and only the second, succeeded. Under the null b is
        binomial(b + c, 1/2).

    Raises
    ------
    InputError
        If a count is negative.
    """
    if b < 0 or c < 0:
        raise InputError(f"mcnemar_exact: b = {b}, c = {c}; give counts of discordant pairs")
    if b + c == 0:
        return None
    from scipy.stats import binomtest

    return float(binomtest(b, b + c).pvalue)


def equivalence(
    first: Sequence[float | None],
    second: Sequence[float | None],
    margin: float,
    level: float = 0.95,
    *,
    floor: float | None = None,
) -> Equivalence:
    """Return whether two paired samples have the same mean up to a margin (Schuirmann, 1987).

    Two one-sided tests, each at 1 − ``level``, carried out by the interval at 2 · ``level`` − 1:
    Student's t on the paired differences; for successes and failures (0 and 1, or booleans)
    Tango's (1998) score interval, which keeps its level with few or no discordant pairs, too.

    Parameters
    ----------
    first, second
        Values of the same cases in the same order; a pair with an undefined value is not counted.
    margin
        Largest difference that counts as none, above 0.
    level
        Level of each test, above 0.5 and below 1.
    floor
        Least mean that one of the two must reach for their parity to mean anything: 0 against 0
        is not testable.

    Raises
    ------
    InputError
        If the lengths differ, the margin is not positive, the level is out of range, or a value
        is NaN or infinite.
    """
    if len(first) != len(second):
        raise InputError(
            f"equivalence: {len(first)} first values and {len(second)} second; give one pair per "
            "case"
        )
    if not (math.isfinite(margin) and margin > 0):
        raise InputError(f"equivalence: margin = {margin}; give a difference above 0")
    if not 0.5 < level < 1:
        raise InputError(f"equivalence: level = {level}; give a level above 0.5, such as 0.95")
    _finite(first)
    _finite(second)
    pairs = [
        (float(a), float(b))
        for a, b in zip(first, second, strict=True)
        if a is not None and b is not None
    ]
    n, inner = len(pairs), 2 * level - 1
    if floor is not None and n:
        best = max(math.fsum(a for a, _ in pairs), math.fsum(b for _, b in pairs)) / n
        if best < floor:
            gap = math.fsum(a - b for a, b in pairs) / n
            reason = f"the better mean, {best:.3g}, is below the competence floor {floor:g}"
            return Equivalence(Interval(n, gap, None, None, inner, reason), margin, None)
    if n and all(value in (0.0, 1.0) for pair in pairs for value in pair):
        difference = _tango(pairs, inner)
    else:
        difference = t_interval((a - b for a, b in pairs), inner)
    if difference.low is None or difference.high is None:
        return Equivalence(difference, margin, None)
    return Equivalence(difference, margin, -margin < difference.low and difference.high < margin)


def minimum_detectable_difference(
    n: int, sd: float, level: float = 0.95, power: float = 0.8
) -> float:
    """Return the smallest mean difference that n pairs show with the given power.

    The difference δ at which a two-sided paired t test at 1 − ``level`` rejects with probability
    ``power``, by the noncentral t distribution with n − 1 degrees of freedom and noncentrality
    δ √n / sd.

    Parameters
    ----------
    n
        Pairs, at least 2.
    sd
        Standard deviation of the pairs' differences; the result has its unit.
    level
        Confidence level, between 0 and 1.
    power
        Probability of rejection, above 1 − ``level`` and below 1.

    Raises
    ------
    InputError
        If n < 2, sd is not positive and finite, or level or power is out of range.
    """
    _check_design(sd, level, power)
    if n < 2:
        raise InputError(f"minimum_detectable_difference: n = {n}; give at least 2 pairs")
    from scipy.optimize import brentq

    high = 1.0
    while _paired_power(n, high, level) < power:
        high *= 2
    effect = brentq(lambda size: _paired_power(n, size, level) - power, 0.0, high, xtol=1e-12)
    return float(effect) * sd


def sample_size(difference: float, sd: float, level: float = 0.95, power: float = 0.8) -> int:
    """Return the fewest pairs that show a mean difference with the given power.

    The inverse of :func:`minimum_detectable_difference`, with its parameters.

    Raises
    ------
    InputError
        If the difference is not finite, or 0 or so near that 10^18 pairs would not do, sd is not
        positive and finite, or level or power is out of range.
    """
    _check_design(sd, level, power)
    effect = abs(difference) / sd
    if not math.isfinite(difference) or effect < 1e-9:
        raise InputError(f"sample_size: difference = {difference} with sd = {sd}; no n shows it")
    high = 2
    while _paired_power(high, effect, level) < power:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if middle >= 2 and _paired_power(middle, effect, level) >= power:
            high = middle
        else:
            low = middle
    return high


def stationary_block_interval(
    values: ArrayLike,
    mask: ArrayLike,
    key: Sequence[Key],
    level: float = 0.95,
    replicates: int = 2000,
) -> BlockInterval:
    """Return a masked mean and its stationary-bootstrap interval within a trajectory.

    The interval says how well this one trajectory determines its own mean, given that neighbouring
    steps depend on each other. It says nothing of other seeds, and never replaces the variation
    between them.

    Blocks of steps with geometric lengths, uniform starts and a circular wrap are drawn (Politis
    and Romano, 1994); each step keeps its value and whether it is masked, so the mask is a fixed
    set of steps. The mean block is ⌈2τ⌉ steps, where τ is the integrated autocorrelation time of
    the mean's influence series mask · (value − mean), by the autocorrelations up to Sokal's (1997)
    window: the smallest M with M ≥ 5 τ(M).

    Parameters
    ----------
    values
        One value per step, shape (n,); only those of masked steps count.
    mask
        Which steps the mean is over, shape (n,).
    key
        Key of the random stream.
    level
        Confidence level of the percentile interval, between 0 and 1.
    replicates
        Bootstrap replicates; those without a masked step are not counted.

    Raises
    ------
    InputError
        If the shapes differ, a masked value is not finite, the level is out of range, or there
        are fewer than 100 replicates.
    """
    _check_level(level)
    if replicates < 100:
        raise InputError(f"stationary_block_interval: replicates = {replicates}; give at least 100")
    chosen = np.asarray(mask, dtype=bool)
    given = np.asarray(values, dtype=np.float64)
    if given.ndim != 1 or given.shape != chosen.shape:
        raise InputError(
            f"stationary_block_interval: values of shape {given.shape} and a mask of shape "
            f"{chosen.shape}; give one of each per step"
        )
    kept = _finite(given[chosen].tolist())
    n = len(kept)
    if n == 0:
        return BlockInterval(Interval(0, None, None, None, level, "no masked step"), None, None)
    mean = math.fsum(kept) / n
    if _equal(kept):
        reason = f"all {n} values are equal, which gives no interval"
        return BlockInterval(Interval(n, kept[0], None, None, level, reason), None, None)
    masked = np.where(chosen, given, 0.0)
    time = _autocorrelation_time(np.where(chosen, given - mean, 0.0))
    block = math.ceil(2 * time)
    rng = stream(*key)
    means = []
    for _ in range(replicates):
        steps = _stationary_steps(len(given), block, rng)
        if size := np.count_nonzero(chosen[steps]):
            means.append(masked[steps].sum() / size)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return BlockInterval(Interval(n, mean, float(low), float(high), level), time, block)


def _tango(pairs: Sequence[tuple[float, float]], level: float) -> Interval:
    """Return the difference of paired proportions with Tango's score interval."""
    from scipy.optimize import brentq

    n = len(pairs)
    b = sum(x > y for x, y in pairs)
    c = sum(x < y for x, y in pairs)
    z = float(special.ndtri(0.5 + level / 2))

    def variance(gap: float) -> float:
        """Return the variance of b - c if the true difference is ``gap``."""
        # Exchanging the two turns a negative gap into a positive one, for which nothing cancels.
        more, fewer, size = (b, c, gap) if gap >= 0 else (c, b, -gap)
        linear = (2 * n - more + fewer) * size - more - fewer
        product = 2 * fewer * size * (1 - size)
        root = math.sqrt(linear**2 + 4 * n * product)
        only_fewer = product / (root + linear) if linear > 0 else (root - linear) / (4 * n)
        return n * (2 * only_fewer + size * (1 - size))

    def excess(gap: float, sign: int) -> float:
        """Return by how much the score of a true difference ``gap`` exceeds z, on one side."""
        return sign * (b - c - n * gap) - z * math.sqrt(variance(gap))

    def limit(sign: int) -> float:
        # At an estimate without discordance both sides vanish: that is not the limit. An interval
        # from -1, or to 1, has none on that side.
        end, near = -float(sign), estimate - sign * _NEAR
        if excess(end, sign) <= 0:
            return end
        if excess(near, sign) >= 0:
            return estimate
        return float(brentq(excess, end, near, args=(sign,)))

    estimate = (b - c) / n
    return Interval(n, estimate, limit(1), limit(-1), level)


def _check_design(sd: float, level: float, power: float) -> None:
    _check_level(level)
    if not (math.isfinite(sd) and sd > 0):
        raise InputError(f"sd = {sd}; give the differences' standard deviation, above 0")
    if not 1 - level < power < 1:
        raise InputError(f"power = {power}; give a power above {1 - level:g} and below 1")


def _paired_power(n: int, effect: float, level: float) -> float:
    """Return the power of a two-sided paired t test; effect in standard deviations."""
    quantile = float(special.stdtrit(n - 1, 0.5 + level / 2))
    shift = effect * math.sqrt(n)
    # A probability too small for its series, at most some 1e-9, is given as NaN.
    lower, inner = np.nan_to_num(special.nctdtr(n - 1, shift, [-quantile, quantile]))
    return float(1 - inner + lower)


def _autocorrelation_time(series: NDArray[np.float64]) -> float:
    """Return 1 + 2 Σ ρ(k) up to Sokal's window, at least 1, in steps."""
    n = len(series)
    spectrum = np.fft.rfft(series - series.mean(), 2 * n)
    autocovariance = np.fft.irfft(np.abs(spectrum) ** 2)[:n]
    times = 2 * np.cumsum(autocovariance / autocovariance[0]) - 1
    reached = np.arange(n) >= 5 * times
    return max(1.0, float(times[reached.argmax() if reached.any() else -1]))


def _stationary_steps(n: int, block: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return n step indices in blocks of mean length ``block``, wrapped around the end."""
    begins = rng.random(n) < 1 / block
    begins[0] = True
    first = np.flatnonzero(begins)
    starts = rng.integers(n, size=len(first))
    lengths = np.diff(first, append=n)
    return (np.repeat(starts - first, lengths) + np.arange(n)) % n


def _check_trials(caller: str, successes: int, trials: int, level: float) -> None:
    _check_level(level)
    if not 0 <= successes <= trials:
        raise InputError(
            f"{caller}: {successes} successes of {trials} trials; give 0 <= successes <= trials"
        )


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise InputError(f"level = {level}; give a confidence level between 0 and 1, such as 0.95")


def _equal(values: Sequence[float]) -> bool:
    """Return whether values are equal, or too near to each other for squares to tell."""
    return max(values) - min(values) < 1 / _LARGEST


def _finite(values: Iterable[float | None]) -> list[float]:
    defined = []
    for position, value in enumerate(values):
        if value is None:
            continue
        if not abs(value) <= _LARGEST:
            raise InputError(
                f"value {position} is {value}; give finite numbers, of at most {_LARGEST:g} in "
                "size, and None where undefined"
            )
        defined.append(float(value))
    return defined
