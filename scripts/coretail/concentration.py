"""How unevenly a memory's items are used: concentration statistics of a vector of counts."""

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from coretail.counts import Counts, as_counts

_EMPTY = "no item has a count"
_ONE = "one item only"


@dataclass(frozen=True, slots=True)
class Concentration:
    """Concentration of the counts of the items used at least once.

    Attributes
    ----------
    n
        Number of items.
    total
        Sum of the counts.
    gini
        Population Gini coefficient: mean absolute difference over twice the mean, in [0, 1).
    skew
        Population moment coefficient of skewness, m3 / m2 ** 1.5.
    max_median
        Largest count over the median count.
    top10_share
        Share of the total held by the ceil(n / 10) largest counts.
    singletons
        Number of items with count 1.
    singleton_share
        ``singletons / n``.
    sigma_top10
        Population standard deviation of ln(count) over the ceil(n / 10) largest counts.
    reasons
        For every field above that is undefined, and so None, the reason.
    """

    n: int
    total: int
    gini: float | None
    skew: float | None
    max_median: float | None
    top10_share: float | None
    singletons: int
    singleton_share: float | None
    sigma_top10: float | None
    reasons: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a JSON-able dict."""
        return asdict(self)


def concentration(counts: npt.ArrayLike) -> Concentration:
    """Return the concentration statistics of ``counts``.

    Parameters
    ----------
    counts
        Uses of each item, shape (n,), each at least 1. An empty vector is a result in which every
        statistic is undefined.

    Raises
    ------
    InputError
        If a count is not a positive integer. Items never used are to be dropped first, since the
        statistics describe the memory that was used; see :func:`gini` for all items.
    """
    ordered = np.sort(as_counts(counts))
    n = ordered.size
    if n == 0:
        undefined = (
            "gini",
            "skew",
            "max_median",
            "top10_share",
            "singleton_share",
            "sigma_top10",
        )
        return Concentration(
            n=0,
            total=0,
            gini=None,
            skew=None,
            max_median=None,
            top10_share=None,
            singletons=0,
            singleton_share=None,
            sigma_top10=None,
            reasons=dict.fromkeys(undefined, _EMPTY),
        )
    reasons: dict[str, str] = {}
    n_top = math.ceil(n / 10)
    top = ordered[n - n_top :]
    total = _exact_sum(ordered)
    singletons = int(np.searchsorted(ordered, 1, side="right"))
    if n == 1:
        reasons["gini"] = _ONE
    skew = _skew(ordered)
    if skew is None:
        reasons["skew"] = _ONE if n == 1 else "all counts are equal"
    sigma_top10 = None
    if n_top == 1:
        reasons["sigma_top10"] = "the top tenth is one item"
    else:
        sigma_top10 = float(np.std(np.log(top.astype(np.float64))))
    return Concentration(
        n=n,
        total=total,
        gini=_gini_sorted(ordered) if n > 1 else None,
        skew=skew,
        max_median=float(ordered[-1]) / _median_sorted(ordered),
        top10_share=_exact_sum(top) / total,
        singletons=singletons,
        singleton_share=singletons / n,
        sigma_top10=sigma_top10,
        reasons=reasons,
    )


def gini(counts: npt.ArrayLike, *, include_zeros: bool = False) -> float | None:
    """Return the population Gini coefficient: mean absolute difference over twice the mean.

    Parameters
    ----------
    counts
        Uses of each item, shape (n,), zeros allowed.
    include_zeros
        Whether items never used count as items.

    Returns
    -------
    float or None
        None where it is undefined: fewer than two items, or no use at all.

    Raises
    ------
    InputError
        If a count is not a non-negative integer.
    """
    array = as_counts(counts, minimum=0)
    if not include_zeros:
        array = array[array > 0]
    if array.size < 2 or not array.any():
        return None
    return _gini_sorted(np.sort(array))


def _gini_sorted(ordered: Counts) -> float:
    n = ordered.size
    # Ranks centred on zero: the terms cancel by themselves, without a subtraction of large sums.
    rank = 2.0 * np.arange(1, n + 1) - n - 1
    share = ordered / np.sum(ordered, dtype=np.float64)
    return max(0.0, float(np.dot(rank, share)) / n)


def _skew(ordered: Counts) -> float | None:
    if ordered[0] == ordered[-1]:
        return None
    deviation = ordered - np.mean(ordered, dtype=np.float64)
    deviation /= np.abs(deviation).max()
    m2 = float(np.mean(deviation**2))
    m3 = float(np.mean(deviation**3))
    return m3 / m2**1.5


def _median_sorted(ordered: Counts) -> float:
    n = ordered.size
    return (float(ordered[(n - 1) // 2]) + float(ordered[n // 2])) / 2


def _exact_sum(ordered: Counts) -> int:
    if int(ordered[-1]) * ordered.size < 2**63:
        return int(ordered.sum())
    return sum(ordered.tolist())


def between_share(
    counts: npt.ArrayLike, groups: npt.ArrayLike
) -> tuple[float | None, float | None]:
    r"""Return how much of the counts' mean absolute difference lies between groups of items.

    Parameters
    ----------
    counts
        Uses of each item, shape (n,), each at least 1.
    groups
        Each item's group, integers of shape (n,).

    Returns
    -------
    share, expected
        Share of the sum of \|x_i - x_j\| over all pairs that comes from pairs in different
        groups, and the share of pairs that are in different groups: what counts that ignore the
        groups give. None where the counts do not vary.
    """
    values, labels = as_counts(counts), np.asarray(groups)
    total = _difference_sum(values)
    n = values.size
    if total == 0.0:
        return None, None
    within = sum(_difference_sum(values[labels == label]) for label in np.unique(labels))
    sizes = np.unique(labels, return_counts=True)[1].astype(np.float64)
    return 1.0 - within / total, 1.0 - float(np.sum(sizes * (sizes - 1))) / (n * (n - 1))


def _difference_sum(values: Counts) -> float:
    """Return the sum of |x_i - x_j| over all pairs."""
    ordered = np.sort(values).astype(np.float64)
    return float(np.dot(2.0 * np.arange(ordered.size) - ordered.size + 1, ordered))
