"""What the paper proves of the allocation (Appendix A.1), checked on the shipped allocator.

Every comparison is made and counted; nothing here knows its outcome. Strict statements are checked
on log-weights and log-odds, which stay apart where the shares underflow or tie in floating point;
the shares themselves must then follow weakly. Equations are checked up to rounding.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from coretail.controller.allocation import (
    MAX_ITEMS,
    Floats,
    allocate,
    core_mass,
    log_allocation,
    log_weights,
)
from coretail.controller.checks import exponent, whole_number

# Rounding of a share or of its logarithm, in units of its size (of its logarithm, plus 1).
_ROUNDING = 8 * float(np.finfo(np.float64).eps)
_CLOSENESS = (1e-1, 1e-2, 1e-4, 1e-6, 1e-9, 1e-12)


@dataclass(frozen=True, slots=True)
class Verification:
    """How often a statement held.

    Attributes
    ----------
    proposition
        Its number in the paper.
    statement
        What it says.
    measure
        What is compared in a case, as a margin that is positive where the statement holds.
    cases, holds
        Comparisons made, and those that held.
    worst_margin
        The smallest margin; None without a case.
    """

    proposition: str
    statement: str
    measure: str
    cases: int
    holds: int
    worst_margin: float | None


def verify_propositions(sizes: Sequence[int], taus: Sequence[float]) -> list[Verification]:
    """Check Propositions A.2, A.3, A.5 and A.6 and Theorem A.4 on the shipped allocator.

    Parameters
    ----------
    sizes
        Numbers of ranked items M, each from 1 up.
    taus
        Concentrations τ; equal ones count once.

    Returns
    -------
    list of Verification
        One row per statement, in the paper's order; the two statements of A.3 have one each.

    Raises
    ------
    InputError
        If a size or a concentration is out of its range.
    """
    numbers = sorted({whole_number("sizes", size, 1, MAX_ITEMS) for size in sizes})
    exponents = sorted({exponent(tau) for tau in taus})
    return [
        _row(
            "A.2",
            "A better rank has the larger share, for every tau > 0",
            "adjacent ranks; difference of their log-weights",
            _monotone(numbers, exponents),
        ),
        _row(
            "A.3",
            "The ratio of two shares is (s / r)^tau",
            "adjacent ranks, and rank 1 with every other; part of the rounding allowance left",
            _ratios(numbers, exponents),
        ),
        _row(
            "A.3, growth",
            "The ratio of two shares grows with tau",
            "adjacent ranks at adjacent tau; growth of the log-ratio",
            _ratio_growth(numbers, exponents),
        ),
        _row(
            "A.4",
            "The share of the best K < M ranks grows with tau",
            "core sizes at adjacent tau; growth of the log-odds of the core",
            _core_growth(numbers, exponents),
        ),
        _row(
            "A.5",
            "As tau falls to 0, every share tends to 1 / M",
            "|M b - 1| <= e wherever tau ln M <= ln(1 + e); part of e left",
            _limits(numbers, exponents, _deviation),
        ),
        _row(
            "A.6",
            "As tau falls to 0, the Gini coefficient of the shares tends to 0",
            "Gini <= e wherever tau ln M <= ln(1 + e); part of e left",
            _limits(numbers, exponents, _gini),
        ),
    ]


def _row(proposition: str, statement: str, measure: str, margins: Iterable[Floats]) -> Verification:
    cases, holds, worst = 0, 0, math.inf
    for margin in margins:
        if margin.size:
            cases += margin.size
            holds += int(np.count_nonzero(margin > 0))
            # NaN, which holds nowhere, must not hide behind a number.
            worst = float(np.minimum(worst, margin.min()))
    return Verification(proposition, statement, measure, cases, holds, worst if cases else None)


def _monotone(sizes: Sequence[int], taus: Sequence[float]) -> Iterator[Floats]:
    for n, tau in _grid(sizes, taus):
        fall = -np.diff(allocate(n, tau))
        yield np.where(fall >= 0, -np.diff(log_weights(n, tau)), fall)


def _ratios(sizes: Sequence[int], taus: Sequence[float]) -> Iterator[Floats]:
    for n, tau in _grid(sizes, taus):
        shares, logs = allocate(n, tau), log_allocation(n, tau)
        worse = np.arange(2, n + 1)
        for better in (worse - 1, np.ones_like(worse)):
            # Not a difference of the logarithms that the allocator takes.
            expected = tau * np.log1p((worse - better) / better)
            allowed = _ROUNDING * (1 + np.abs(logs[worse - 1]))
            error = np.abs(logs[better - 1] - logs[worse - 1] - expected)
            normal = shares[worse - 1] >= np.finfo(np.float64).tiny
            ratio = shares[better - 1][normal] / shares[worse - 1][normal]
            error[normal] = np.maximum(error[normal], np.abs(np.log(ratio) - expected[normal]))
            yield 1 - error / allowed


def _ratio_growth(sizes: Sequence[int], taus: Sequence[float]) -> Iterator[Floats]:
    for n in sizes:
        for low, high in pairwise(taus):
            yield np.diff(log_weights(n, low)) - np.diff(log_weights(n, high))


def _core_growth(sizes: Sequence[int], taus: Sequence[float]) -> Iterator[Floats]:
    for n in sizes:
        cores = sorted({core for core in (1, 2, n // 10, n // 2, n - 1) if 0 < core < n})
        for low, high in pairwise(taus):
            for core in cores:
                growth = _core_log_odds(n, high, core) - _core_log_odds(n, low, core)
                mass = core_mass(n, high, core) - core_mass(n, low, core)
                yield np.array([growth if mass >= -_ROUNDING else mass])


def _core_log_odds(n: int, tau: float, core: int) -> float:
    """Return ln(C / (1 - C)) of the core's mass C, also where C rounds to 1."""
    weights = log_weights(n, tau)
    tail = float(weights[core])
    within, beyond = np.exp(weights[:core]).sum(), np.exp(weights[core:] - tail).sum()
    return math.log(within) - math.log(beyond) - tail


def _limits(
    sizes: Sequence[int], taus: Sequence[float], distance: Callable[[Floats], float]
) -> Iterator[Floats]:
    """Compare a distance from equal shares with each e of a falling series.

    All M b(r; τ) lie between M^-τ and M^τ, so that τ ln M <= ln(1 + e) keeps both distances
    within e. So e has its δ, as the limit's definition asks: checked at δ and at the given τ below.
    """
    for n in sizes:
        for closeness in _CLOSENESS:
            delta = math.log1p(closeness) / max(1.0, math.log(n))
            for tau in (*(tau for tau in taus if tau < delta), delta):
                yield np.array([1 - distance(allocate(n, tau)) / (closeness + _ROUNDING)])


def _deviation(shares: Floats) -> float:
    return float(np.abs(shares.size * shares - 1).max())


def _gini(shares: Floats) -> float:
    """Return the Gini coefficient of shares in falling order."""
    n = shares.size
    return float(np.dot(n + 1 - 2.0 * np.arange(1, n + 1), shares)) / (n * float(shares.sum()))


def _grid(sizes: Sequence[int], taus: Sequence[float]) -> Iterator[tuple[int, float]]:
    """Yield every size with every positive concentration."""
    return ((n, tau) for n in sizes for tau in taus if tau > 0)
