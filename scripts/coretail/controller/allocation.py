"""Shares of a budget by rank, and whole slots from shares (Definition A.1)."""

import numpy as np
import numpy.typing as npt

from coretail.controller.checks import exponent, whole_number
from coretail.errors import InputError

Floats = npt.NDArray[np.float64]
Slots = npt.NDArray[np.int64]

MAX_ITEMS = 10**8
MAX_BUDGET = 10**9
_PARTS = 10**9


def log_weights(n: int, tau: float) -> Floats:
    """Return ln r^-τ for the ranks 1 to n, shape (n,).

    The logarithms of the shares before normalisation. They are strictly decreasing for every
    τ > 0 at which τ ln n neither overflows nor is subnormal, also where the shares underflow or
    tie in floating point.

    Raises
    ------
    InputError
        If ``n`` is not a whole number from 0 up or ``tau`` is negative or not finite.
    """
    size = whole_number("n", n, 0, MAX_ITEMS)
    with np.errstate(over="ignore"):
        return -exponent(tau) * np.log(np.arange(1, size + 1, dtype=np.float64))


def log_allocation(n: int, tau: float) -> Floats:
    """Return ln b(r; τ) for the ranks 1 to n, shape (n,): see :func:`allocate`."""
    weights = log_weights(n, tau)
    return weights - np.log(np.exp(weights).sum()) if n else weights


def allocate(n: int, tau: float) -> Floats:
    """Return the shares b(r; τ) = r^-τ / Σ_j j^-τ of the ranks 1 to n (Definition A.1).

    Parameters
    ----------
    n
        Ranked items, from 0 up. Without items there are no shares.
    tau
        Concentration τ: 0 gives equal shares, a large value all to rank 1.

    Returns
    -------
    ndarray
        Shape (n,), weakly decreasing, with sum 1 up to rounding.

    Raises
    ------
    InputError
        If ``n`` is not a whole number from 0 up or ``tau`` is negative or not finite.
    """
    # The largest weight is 1, so nothing overflows. Rounding in exp may lift a weight above the
    # one before it by a unit in the last place: the running minimum keeps the order of the ranks.
    weights = np.minimum.accumulate(np.exp(log_weights(n, tau)))
    return weights / weights.sum() if n else weights


def core_mass(n: int, tau: float, core: int) -> float:
    """Return C(K, τ), the share that the best K = ``core`` of n ranks hold (Theorem A.4).

    Raises
    ------
    InputError
        As :func:`allocate`, and if ``core`` is not from 0 to n.
    """
    shares = allocate(n, tau)
    size = whole_number("core", core, 0, n)
    return min(1.0, float(shares[:size].sum()))


def integer_slots(shares: npt.ArrayLike, budget: int) -> Slots:
    """Return whole slots in proportion to shares, by largest remainder (Hamilton's method).

    Every item gets the whole part of its quota, budget · share / Σ shares; what is left goes, one
    slot each, to the largest remainders, ties to the better rank. Quotas are rounded to a
    billionth of a slot first, so that remainders which differ by rounding error only are ties.

    Parameters
    ----------
    shares
        One per item, best rank first, shape (n,): finite, not negative, not all 0.
    budget
        Slots to hand out, from 0 to 10^9.

    Returns
    -------
    ndarray
        int64, shape (n,), with sum ``budget``; weakly decreasing if the shares are. Without items
        it is empty, whatever the budget; with budget 0 it is all 0.

    Raises
    ------
    InputError
        If the shares or the budget are anything else.
    """
    number = whole_number("budget", budget, 0, MAX_BUDGET)
    array = np.asarray(shares, dtype=np.float64)
    if array.ndim != 1:
        raise InputError(f"shares: {array.ndim} dimensions; give one share per item, shape (n,)")
    n = array.size
    if n == 0:
        return np.zeros(0, dtype=np.int64)
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        position = int(np.argmax(bad))
        raise InputError(
            f"shares: value {float(array[position])!r} at position {position} is not a finite "
            "number from 0 up; correct it"
        )
    largest = array.max()
    if largest == 0:
        raise InputError("shares: all are 0; give at least one item a share")
    # Scaled by the largest first: the sum of large shares must not overflow.
    weights = array / largest
    quotas = weights / weights.sum() * number
    parts = np.rint(quotas * _PARTS).astype(np.int64)
    slots = parts // _PARTS
    remainders = parts - slots * _PARTS
    left = number - int(slots.sum())
    if left:
        # The left-th largest remainder decides; sorting them all would take longer.
        cut = np.partition(remainders, n - left)[n - left]
        above = remainders > cut
        slots[above] += 1
        slots[np.flatnonzero(remainders == cut)[: left - int(above.sum())]] += 1
    return slots
