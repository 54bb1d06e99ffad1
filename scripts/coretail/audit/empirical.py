"""A statistic against the same statistic of matched controls: empirical p, Holm, common n_tail.

Access counts reinforce one another and share a fixed total, so they are no independent draws, and
no law's bootstrap says whether one policy differs from another. Matched controls (random walks on
the same world, from the same start, of the same length) do.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coretail.errors import InputError
from coretail.streams import Key, stream


@dataclass(frozen=True, slots=True)
class EmpiricalP:
    """A value against its controls.

    Attributes
    ----------
    value
        The value judged; None where it is undefined.
    n_controls
        Controls with a defined value.
    n_undefined
        Controls without one; they are left out.
    median, low, high
        Median, 2.5% and 97.5% quantiles of the controls.
    p_upper
        (1 + number of controls >= value) / (1 + n_controls).
    p_lower
        The same with <=.
    p_two_sided
        Twice the smaller of the two, at most 1.
    reason
        Why the p are None, else None.
    """

    value: float | None
    n_controls: int
    n_undefined: int
    median: float | None
    low: float | None
    high: float | None
    p_upper: float | None
    p_lower: float | None
    p_two_sided: float | None
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a JSON-able dict."""
        return asdict(self)


def empirical_p(value: float | None, controls: Sequence[float | None]) -> EmpiricalP:
    """Return the empirical p of a value against control values.

    Parameters
    ----------
    value
        The statistic of the cell judged. None or NaN where it is undefined.
    controls
        The statistic of each control. None and NaN are counted and left out.
    """
    defined = np.sort([float(c) for c in controls if c is not None and not math.isnan(c)])
    m = int(defined.size)
    missing = len(controls) - m
    quantiles: tuple[float | None, ...] = (None, None, None)
    if m:
        quantiles = tuple(float(q) for q in np.quantile(defined, (0.5, 0.025, 0.975)))
    median, low, high = quantiles
    if value is None or math.isnan(value):
        reason = "the value is undefined"
        return EmpiricalP(None, m, missing, median, low, high, None, None, None, reason)
    if m == 0:
        reason = "no control has a defined value"
        return EmpiricalP(float(value), 0, missing, None, None, None, None, None, None, reason)
    at_least = m - int(np.searchsorted(defined, value, side="left"))
    at_most = int(np.searchsorted(defined, value, side="right"))
    upper = (1 + at_least) / (1 + m)
    lower = (1 + at_most) / (1 + m)
    return EmpiricalP(
        value=float(value),
        n_controls=m,
        n_undefined=missing,
        median=median,
        low=low,
        high=high,
        p_upper=upper,
        p_lower=lower,
        p_two_sided=min(1.0, 2.0 * min(upper, lower)),
    )


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return Holm's adjusted p of a family of tests, in their order.

    An undefined p (None) stays undefined and is no member of the family.

    Raises
    ------
    InputError
        If a p is not between 0 and 1.
    """
    for position, p in enumerate(p_values):
        if p is not None and not 0 <= p <= 1:
            raise InputError(f"p_values: {p} at position {position} is not between 0 and 1")
    order = sorted((p, position) for position, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    running = 0.0
    for rank, (p, position) in enumerate(order):
        running = max(running, min(1.0, (len(order) - rank) * p))
        adjusted[position] = running
    return adjusted


@dataclass(frozen=True, slots=True)
class Effect:
    """Lambda per observation at a common tail size.

    Attributes
    ----------
    n_tail
        Observations in every subsample.
    repeats
        Subsamples with a defined Lambda.
    mean, sd
        Mean and standard deviation over subsamples of Lambda / n_tail (nats per observation).
    mean_z
        Mean of Vuong's z, comparable between samples at equal ``n_tail`` only.
    reason
        Why the figures are None, else None.
    """

    n_tail: int
    repeats: int
    mean: float | None
    sd: float | None
    mean_z: float | None
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a JSON-able dict."""
        return asdict(self)


def effect_at(
    values: npt.ArrayLike,
    x_min: int,
    n_tail: int,
    *,
    repeats: int = 100,
    seed: int = 0,
    key: Sequence[Key] = (),
) -> Effect:
    """Return Lambda / n_tail of a sample whose tail is thinned to ``n_tail`` observations.

    The tail from ``x_min`` up is subsampled without replacement, ``repeats`` times; each time the
    laws are fitted anew. Samples of different n_tail become comparable.

    Raises
    ------
    InputError
        If a value is not a positive integer, or a size is not positive.
    """
    from coretail.audit.engine import LAMBDA, compare_laws
    from coretail.audit.laws import fit_laws
    from coretail.audit.sample import sample_of, tail_of

    if min(x_min, n_tail, repeats) < 1:
        raise InputError(
            f"x_min, n_tail, repeats: {x_min}, {n_tail}, {repeats} are not all positive integers"
        )
    tail = tail_of(sample_of(values), x_min)
    if tail.n < n_tail:
        reason = f"the tail has {tail.n} observations, fewer than {n_tail}"
        return Effect(n_tail, 0, None, None, None, reason)
    members = np.repeat(tail.values, tail.counts)
    rng = stream("subsample", int(seed), *key)
    ratios: list[float] = []
    scores: list[float] = []
    for _ in range(repeats):
        thinned = tail_of(sample_of(rng.choice(members, n_tail, replace=False)), x_min)
        if thinned.values.size < 3:
            continue
        fits, free = fit_laws(thinned)
        pair = compare_laws(thinned, fits, free, gate=0.0)[LAMBDA]
        if pair.R is not None and pair.z is not None:
            ratios.append(pair.R / n_tail)
            scores.append(pair.z)
    if not ratios:
        return Effect(n_tail, 0, None, None, None, "no subsample has a defined Lambda")
    return Effect(
        n_tail,
        len(ratios),
        float(np.mean(ratios)),
        float(np.std(ratios)),
        float(np.mean(scores)),
    )
