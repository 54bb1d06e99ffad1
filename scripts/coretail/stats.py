"""Small statistics of the tables: intervals from few seeds, shares, trends in graph size.

Nothing here resamples: every interval has a closed form, so that the same numbers come out on
every run. A statistic that is undefined is ``None`` and the result says why.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from coretail.errors import InputError


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
    if min(defined) == max(defined):
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
            None if base is None or value is None or base == 0 else 1 - value / base
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
    if all(min(values) == max(values) for values in samples):
        return Interval(n, gap, None, None, level, "samples without variation give no interval")
    shares = [
        math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values)
        for values, mean in zip(samples, means, strict=True)
    ]
    freedom = sum(shares) ** 2 / sum(
        share**2 / (len(values) - 1) for values, share in zip(samples, shares, strict=True)
    )
    half = float(special.stdtrit(freedom, 0.5 + level / 2)) * math.sqrt(sum(shares))
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
    _check_level(level)
    if not 0 <= successes <= trials:
        raise InputError(
            f"wilson_interval: {successes} successes of {trials} trials; "
            "give 0 <= successes <= trials"
        )
    if trials == 0:
        return Interval(0, None, None, None, level, "no trials")
    z2 = float(special.ndtri(0.5 + level / 2)) ** 2
    share = successes / trials
    centre = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = math.sqrt(z2 * (share * (1 - share) + z2 / (4 * trials)) / trials) / (1 + z2 / trials)
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == trials else centre + half
    return Interval(trials, share, low, high, level)


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
    if n < 2 or min(xs) == max(xs):
        return Line(n, None, None, None, "fewer than two distinct sizes")
    x_mean, y_mean = math.fsum(xs) / n, math.fsum(ys) / n
    sxx = math.fsum((a - x_mean) ** 2 for a in xs)
    sxy = math.fsum((a - x_mean) * (b - y_mean) for a, b in zip(xs, ys, strict=True))
    slope = sxy / sxx
    intercept = y_mean - slope * x_mean
    if min(ys) == max(ys):
        return Line(n, 0.0, ys[0], None, "the statistic does not vary")
    if n == 2:
        return Line(n, slope, intercept, None, "a line through two points always fits")
    syy = math.fsum((b - y_mean) ** 2 for b in ys)
    return Line(n, slope, intercept, min(1.0, sxy * sxy / (sxx * syy)))


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


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise InputError(f"level = {level}; give a confidence level between 0 and 1, such as 0.95")


def _finite(values: Iterable[float | None]) -> list[float]:
    defined = []
    for position, value in enumerate(values):
        if value is None:
            continue
        if not math.isfinite(value):
            raise InputError(
                f"value {position} is {value}; give finite numbers, and None where undefined"
            )
        defined.append(float(value))
    return defined
