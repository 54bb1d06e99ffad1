"""A sample of counts and its tail: sorted distinct values with their multiplicities."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from coretail.audit import kernels
from coretail.counts import Counts, as_counts
from coretail.errors import InputError

Rule = Literal["full", "observed"]

RULES: tuple[Rule, ...] = ("full", "observed")


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Distinct values in ascending order, shape (m,), and how often each occurs.

    ``values`` are float64: integers above 2**53 are the nearest double. ``merged`` says how many
    distinct integers that made equal.
    """

    values: kernels.Floats
    counts: kernels.Ints
    merged: int = 0

    @property
    def n(self) -> int:
        """Number of observations."""
        return int(self.counts.sum())

    @property
    def n_distinct(self) -> int:
        """Number of distinct values."""
        return int(self.values.size)


@dataclass(frozen=True, slots=True, eq=False)
class Tail:
    """The observations of a sample from ``x_min`` up (Definition 3.1)."""

    sample: Sample
    x_min: float
    start: int

    @property
    def values(self) -> kernels.Floats:
        """Distinct values of the tail."""
        return self.sample.values[self.start :]

    @property
    def counts(self) -> kernels.Ints:
        """How often each value of the tail occurs."""
        return self.sample.counts[self.start :]

    @property
    def n(self) -> int:
        """Number of observations in the tail."""
        return int(self.counts.sum())


@dataclass(frozen=True, slots=True)
class Cutoff:
    """The fitted cutoff of a sample, or the reason that it has none.

    Attributes
    ----------
    x_min, alpha, ks
        Cutoff, exponent and Kolmogorov-Smirnov distance of the discrete power law; None where
        there is no cutoff.
    n_tail
        Observations from ``x_min`` up; 0 where there is no cutoff.
    reason
        Why there is no cutoff, else None.
    """

    x_min: int | None
    alpha: float | None
    ks: float | None
    n_tail: int
    reason: str | None = None


def sample_of(values: npt.ArrayLike) -> Sample:
    """Return the sample of ``values``, positive integers of shape (n,), n possibly 0.

    Raises
    ------
    InputError
        If a value is not a positive integer; the first offender is named.
    """
    array = as_counts(values, name="values")
    distinct, counts = _distinct(array)
    floats = distinct.astype(np.float64)
    if distinct.size and distinct[-1] > 2**53:
        unique, index = np.unique(floats, return_inverse=True)
        merged = np.bincount(index, weights=counts).astype(np.int64)
        return Sample(unique, merged, merged=distinct.size - unique.size)
    return Sample(floats, counts)


def _distinct(array: Counts) -> tuple[Counts, Counts]:
    # Counting is several times faster than sorting and needs memory for the largest value.
    if array.size and int(array.max()) <= max(1_000_000, 2 * array.size):
        occurrences = np.bincount(array)
        distinct = np.flatnonzero(occurrences)
        return distinct, occurrences[distinct]
    distinct, counts = np.unique(array, return_counts=True)
    return distinct, counts


def tail_of(sample: Sample, x_min: int) -> Tail:
    """Return the tail of ``sample`` from ``x_min`` up."""
    return Tail(sample, float(x_min), int(np.searchsorted(sample.values, float(x_min))))


def find_cutoff(sample: Sample, *, ks: Rule = "full", min_tail: int = 1) -> Cutoff:
    """Return the cutoff at which the discrete power law is nearest to the sample's tail.

    Candidates are all distinct values but the two largest, so that a tail has at least three; the
    exponent at each is the maximum-likelihood one, without bounds; of equal distances the smallest
    cutoff wins.

    Parameters
    ----------
    sample
        The sample.
    ks
        Where the distance is taken: ``full``, over all integers x >= x_min; ``observed``, of
        P(X < x) at the data's values only.
    min_tail
        Fewest observations that a candidate may leave.

    Raises
    ------
    InputError
        If ``ks`` or ``min_tail`` is not among the values allowed.
    """
    check_rule(ks)
    if min_tail < 1:
        raise InputError(f"min_tail: {min_tail} is not a positive integer")
    reason = no_cutoff_reason(sample)
    if reason is not None:
        return Cutoff(None, None, None, 0, reason)
    tc, sl = kernels.tail_sums(sample.values, sample.counts)
    start, alpha, distance = kernels.scan(sample.values, tc, sl, ks == "full", float(min_tail), 0.0)
    if start < 0:
        reason = f"no cutoff: no tail of three distinct values has {min_tail} observations"
        return Cutoff(None, None, None, 0, reason)
    return Cutoff(int(sample.values[start]), float(alpha), float(distance), int(tc[start]))


def no_cutoff_reason(sample: Sample) -> str | None:
    """Return why a sample has no tail of three distinct values, or None if it has one."""
    if sample.n == 0:
        return "no cutoff: no observations"
    if sample.merged:
        return (
            f"no cutoff: {sample.merged} distinct values above 2**53 differ by less than double "
            "precision resolves"
        )
    if sample.n_distinct < 3:
        many = "all values are equal" if sample.n_distinct == 1 else "only two distinct values"
        return f"no cutoff: {many}; a tail needs three"
    return None


def check_rule(ks: str) -> None:
    """Raise InputError if ``ks`` is not a rule for the distance."""
    if ks not in RULES:
        raise InputError(f"ks: {ks!r} is not one of {', '.join(RULES)}")
