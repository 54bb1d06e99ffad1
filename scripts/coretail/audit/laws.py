"""The four tail laws on the integers x >= x_min: fits, probabilities, draws.

- ``power_law``: P(x) ~ x^-alpha, alpha > 1 without an upper bound;
- ``truncated_power_law``: P(x) ~ x^-alpha exp(-lambda x), lambda >= 0, alpha >= 0 (the fit without
  the bound on alpha is reported beside it);
- ``lognormal``: the mass of [x - 1/2, x + 1/2) of a log-normal density given t >= x_min - 1/2, in
  the parameters eta1 = (ln(x_min - 1/2) - mu) / sigma^2 and eta2 = 1 / (2 sigma^2), where
  eta2 = 0 is a power law of exponent 1 + eta1;
- ``exponential``: P(x) ~ exp(-lambda x).

All are normalised over the integers, none is a continuous density.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from coretail.audit import kernels
from coretail.audit.sample import Tail
from coretail.errors import InputError

Law = Literal["power_law", "truncated_power_law", "lognormal", "exponential"]

LAWS: tuple[Law, ...] = get_args(Law)

_NUMBER: dict[Law, int] = {
    "power_law": kernels.POWER_LAW,
    "truncated_power_law": kernels.TRUNCATED_POWER_LAW,
    "lognormal": kernels.LOGNORMAL,
    "exponential": kernels.EXPONENTIAL,
}

# A log-normal whose likelihood exceeds its power-law limit's by less than this is that limit.
_DEGENERATE = 1e-3


@dataclass(frozen=True, slots=True)
class Shape:
    """A law with numbers in place of its parameters.

    Attributes
    ----------
    law
        Name of the law.
    x_min
        Smallest value, at least 1.
    first, second
        Its parameters: alpha and 0 (power law), alpha and lambda (truncated), eta1 and eta2
        (log-normal), 0 and lambda (exponential).
    """

    law: Law
    x_min: float
    first: float
    second: float

    @property
    def number(self) -> int:
        """The law's number in the compiled functions."""
        return _NUMBER[self.law]


@dataclass(frozen=True, slots=True)
class Fit:
    """A law fitted to a tail by maximum likelihood.

    Attributes
    ----------
    law
        Name of the law.
    parameters
        Its parameters by name; None where undefined, see ``note``.
    loglik
        Log-likelihood of the tail; None where the fit failed.
    ks
        Kolmogorov-Smirnov distance of the tail from the fit, by the audit's rule.
    p_gof
        Bootstrap p of the law itself, where it was computed.
    note
        What is to be known of the fit: at a bound, degenerate, failed. None otherwise.
    shape
        The law with its fitted numbers; None where the fit failed.
    """

    law: Law
    parameters: dict[str, float | None]
    loglik: float | None
    ks: float | None
    p_gof: float | None
    note: str | None
    shape: Shape | None

    def to_dict(self) -> dict[str, Any]:
        """Return parameters and figures as one flat JSON-able dict."""
        return {
            **self.parameters,
            "loglik": self.loglik,
            "ks": self.ks,
            "p_gof": self.p_gof,
            "note": self.note,
        }


def power_law(x_min: int, alpha: float) -> Shape:
    """Return a power law; InputError unless alpha > 1."""
    _require(alpha > 1, "alpha", alpha, "above 1")
    return Shape("power_law", _check_x_min(x_min), float(alpha), 0.0)


def truncated_power_law(x_min: int, alpha: float, lam: float) -> Shape:
    """Return a truncated power law; InputError unless alpha >= 0 and lambda > 0."""
    _require(alpha >= 0, "alpha", alpha, "not negative")
    _require(lam > 0, "lambda", lam, "positive")
    return Shape("truncated_power_law", _check_x_min(x_min), float(alpha), float(lam))


def lognormal(x_min: int, mu: float, sigma: float) -> Shape:
    """Return a log-normal law; InputError unless sigma > 0."""
    _require(sigma > 0, "sigma", sigma, "positive")
    x = _check_x_min(x_min)
    return Shape("lognormal", x, (math.log(x - 0.5) - mu) / sigma**2, 0.5 / sigma**2)


def exponential(x_min: int, lam: float) -> Shape:
    """Return an exponential (geometric) law; InputError unless lambda > 0."""
    _require(lam > 0, "lambda", lam, "positive")
    return Shape("exponential", _check_x_min(x_min), 0.0, float(lam))


def log_mass(shape: Shape, x: npt.ArrayLike) -> kernels.Floats:
    """Return ln P(X = x) at integers x >= x_min, shape (m,)."""
    values = np.asarray(x, dtype=np.float64)
    return kernels.log_masses(shape.number, shape.first, shape.second, shape.x_min, values)


def survival(shape: Shape, x: npt.ArrayLike) -> kernels.Floats:
    """Return P(X >= x) at integers x >= x_min, shape (m,)."""
    arguments = (shape.number, shape.first, shape.second, shape.x_min)
    log_z = kernels.log_normaliser(*arguments)
    values = np.asarray(x, dtype=np.float64)
    return np.array([kernels.survival(*arguments, log_z, value) for value in values])


def draw(shape: Shape, size: int, rng: np.random.Generator) -> kernels.Floats:
    """Return ``size`` draws, by inversion of the survival function.

    Whole numbers in float64, since draws near alpha = 1 exceed every integer type; above 2**53
    they are the nearest double, above 1e200 they are 1e200.
    """
    if size < 0:
        raise InputError(f"size: {size} is negative")
    table = kernels.sampler_table(
        shape.number, shape.first, shape.second, shape.x_min, float(max(1, size))
    )
    return kernels.draw(shape.number, shape.first, shape.second, shape.x_min, size, *table, rng)


def fit_laws(tail: Tail, *, full: bool = True) -> tuple[dict[Law, Fit], Shape | None]:
    """Fit the four laws to a tail of at least three distinct values.

    Returns the fits and the truncated power law without the bound alpha >= 0 (None where that fit
    failed).
    """
    sample, x_min = tail.sample, tail.x_min
    means = kernels.tail_means(sample.values, sample.counts, tail.start, x_min)
    mean_log, _, mean_k, _ = means
    alpha, variance = kernels.fit_power_law(mean_log, x_min)
    power = _fitted(
        tail,
        full,
        Shape("power_law", x_min, alpha, 0.0),
        {"alpha": alpha, "alpha_se": 1.0 / math.sqrt(tail.n * variance)},
        None,
    )
    lam = math.log1p(1.0 / mean_k)
    geometric = _fitted(tail, full, Shape("exponential", x_min, 0.0, lam), {"lambda": lam}, None)
    truncated, free = _fit_truncated(tail, full, means, alpha, power)
    return (
        {
            "power_law": power,
            "truncated_power_law": truncated,
            "lognormal": _fit_lognormal(tail, full),
            "exponential": geometric,
        },
        free,
    )


def _fit_truncated(
    tail: Tail, full: bool, means: tuple[float, float, float, float], alpha: float, power: Fit
) -> tuple[Fit, Shape | None]:
    x_min = tail.x_min
    mean_log, mean_v, mean_k, beta = means
    statistics = (mean_log, mean_v, mean_k, x_min, beta, alpha)
    a, lam, _, converged = kernels.fit_truncated(*statistics, False, 0.0, 0.0)
    a_free, lam_free, loglik_free, converged_free = kernels.fit_truncated(
        *statistics, True, 0.0, 0.0
    )
    free = Shape("truncated_power_law", x_min, a_free, lam_free) if converged_free else None
    parameters: dict[str, float | None] = {
        "alpha": a if converged else None,
        "lambda": lam if converged else None,
        "alpha_free": a_free if converged_free else None,
        "lambda_free": lam_free if converged_free else None,
        "loglik_free": loglik_free * tail.n if converged_free else None,
    }
    if not converged:
        return Fit(
            "truncated_power_law", parameters, None, None, None, "the fit did not converge", None
        ), free
    note = None
    if lam == 0.0:
        note = "at its bound lambda = 0: the power law"
    elif a == 0.0:
        note = "at its bound alpha = 0: the exponential law"
    shape = Shape("truncated_power_law", x_min, a, lam)
    fit = _fitted(tail, full, shape, parameters, note)
    if lam == 0.0 and power.loglik is not None:
        # The same law: the same likelihood to the last digit.
        fit = Fit(fit.law, parameters, power.loglik, power.ks, None, note, shape)
    return fit, free


def _fit_lognormal(tail: Tail, full: bool) -> Fit:
    sample = tail.sample
    eta1, eta2, loglik, limit, converged = kernels.fit_lognormal(
        sample.values, sample.counts, tail.start, tail.x_min, 0.0, 0.0
    )
    if not converged:
        empty = dict.fromkeys(("mu", "sigma", "eta1", "eta2"))
        return Fit("lognormal", empty, None, None, None, "the fit did not converge", None)
    mu = sigma = note = None
    if eta2 == 0.0 or (loglik - limit) * tail.n < _DEGENERATE:
        note = "degenerates to a power law: mu and sigma are unbounded"
    else:
        sigma = math.sqrt(0.5 / eta2)
        mu = math.log(tail.x_min - 0.5) - eta1 * sigma**2
    parameters = {"mu": mu, "sigma": sigma, "eta1": eta1, "eta2": eta2}
    return _fitted(tail, full, Shape("lognormal", tail.x_min, eta1, eta2), parameters, note)


def _fitted(
    tail: Tail, full: bool, shape: Shape, parameters: dict[str, float | None], note: str | None
) -> Fit:
    sample = tail.sample
    terms = log_mass(shape, tail.values)
    tc = np.zeros(sample.values.size + 1)
    tc[:-1] = np.cumsum(sample.counts[::-1])[::-1]
    distance = kernels.law_distance(
        shape.number, shape.first, shape.second, shape.x_min, sample.values, tc, tail.start, full
    )
    loglik = float(np.dot(tail.counts, terms))
    return Fit(shape.law, parameters, loglik, float(distance), None, note, shape)


def _check_x_min(x_min: float) -> float:
    _require(x_min >= 1 and x_min == math.floor(x_min), "x_min", x_min, "a positive integer")
    return float(x_min)


def _require(condition: bool, name: str, value: float, wanted: str) -> None:
    if not condition or not math.isfinite(value):
        raise InputError(f"{name}: {value} is not {wanted}")
