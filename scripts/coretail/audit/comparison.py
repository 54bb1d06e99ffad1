"""Likelihood ratios of two laws fitted to one tail."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from coretail.audit.kernels import Floats, Ints

# Below this spread per observation the terms are the rounding of equal numbers.
_EQUAL = 1e-11


@dataclass(frozen=True, slots=True)
class Comparison:
    """The log-likelihood ratio of a first law against a second.

    Attributes
    ----------
    R
        Sum over the tail of ln P_first(x) - ln P_second(x): positive favours the first law.
    sigma
        Standard error of R: sqrt(n) times the population standard deviation of the terms.
    z
        Vuong's R / sigma; for nested laws the signed root sqrt(2 R) of the likelihood-ratio
        statistic.
    p
        Two-sided p of z; for nested laws half the chi-squared value (1 degree of freedom), since
        the smaller law lies on the boundary of the larger one.
    test
        ``vuong`` or ``nested``.
    indistinguishable
        Whether |R| is below the gate: both laws describe the tail alike and z means nothing.
    reason
        Why a figure is None, else None.
    """

    R: float | None
    sigma: float | None
    z: float | None
    p: float | None
    test: Literal["vuong", "nested"]
    indistinguishable: bool
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as a JSON-able dict."""
        return {
            "R": self.R,
            "sigma": self.sigma,
            "z": self.z,
            "p": self.p,
            "test": self.test,
            "indistinguishable": self.indistinguishable,
            "reason": self.reason,
        }

    def prefers(self, z: float) -> Literal["first", "second"] | None:
        """Return the law preferred at |z| >= ``z``, None where neither is."""
        if self.R is None or self.z is None or self.indistinguishable or abs(self.z) < z:
            return None
        return "first" if self.R > 0 else "second"


def vuong(first: Floats, second: Floats, counts: Ints, gate: float) -> Comparison:
    """Compare two laws that are not nested.

    Parameters
    ----------
    first, second
        ln P(x) at the tail's distinct values, shape (m,).
    counts
        How often each value occurs.
    gate
        |R| below which the laws are called indistinguishable.
    """
    n = float(counts.sum())
    terms = first - second
    ratio = float(np.dot(counts, terms))
    mean = ratio / n
    spread = math.sqrt(float(np.dot(counts, (terms - mean) ** 2)) / n)
    if spread <= _EQUAL:
        reason = "the two fits coincide on this tail"
        return Comparison(ratio, 0.0, None, None, "vuong", abs(ratio) < gate, reason)
    sigma = math.sqrt(n) * spread
    z = ratio / sigma
    p = math.erfc(abs(z) / math.sqrt(2.0))
    return Comparison(ratio, sigma, z, p, "vuong", abs(ratio) < gate)


def nested(first: Floats, second: Floats, counts: Ints, gate: float) -> Comparison:
    """Compare a law with the smaller one on its boundary; arguments as in :func:`vuong`."""
    n = float(counts.sum())
    terms = first - second
    ratio = max(0.0, float(np.dot(counts, terms)))
    spread = math.sqrt(float(np.dot(counts, (terms - ratio / n) ** 2)) / n)
    sigma = math.sqrt(n) * spread if spread > _EQUAL else 0.0
    z = math.sqrt(2.0 * ratio)
    p = 0.5 * math.erfc(z / math.sqrt(2.0))
    return Comparison(ratio, sigma, z, p, "nested", ratio < gate)


def undefined(test: Literal["vuong", "nested"], reason: str) -> Comparison:
    """Return a comparison that cannot be made."""
    return Comparison(None, None, None, None, test, False, reason)
