"""What the ``powerlaw`` package says of a sample, beside the audit's own figures.

Where the two differ, these are the reasons (powerlaw 2.0): it compares P(X < x) at the data's
values only; it looks for alpha between 0 and 3 unless told otherwise; it normalises by subtraction,
which loses all digits on steep tails; its likelihoods are maximised by a general-purpose search.
"""

import contextlib
import io
import math
import warnings
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coretail.counts import as_counts
from coretail.errors import InputError


@dataclass(frozen=True, slots=True)
class PackageReport:
    """Figures of ``powerlaw.Fit(values, discrete=True, estimate_discrete=False)``.

    Attributes
    ----------
    version
        Version of the package.
    alpha_bounded
        Whether the package's default bounds on alpha were left in place.
    x_min, n_tail, alpha, ks
        Its cutoff, observations from there up, exponent and distance.
    R, z, p
        Its log-likelihood ratio of the truncated power law against the log-normal, normalised
        ratio and p.
    reason
        Why figures are None, else None.
    """

    version: str
    alpha_bounded: bool
    x_min: int | None
    n_tail: int
    alpha: float | None
    ks: float | None
    R: float | None
    z: float | None
    p: float | None
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a JSON-able dict."""
        return asdict(self)


def powerlaw_report(
    values: npt.ArrayLike, *, alpha_bounded: bool = True, compare: bool = True
) -> PackageReport:
    """Run the ``powerlaw`` package in its exact discrete mode on a sample.

    Parameters
    ----------
    values
        Positive integers, shape (n,).
    alpha_bounded
        Leave the package's bounds on alpha as they are; otherwise alpha >= 1 without an upper
        bound.
    compare
        Also compare truncated power law and log-normal (about two seconds a sample).

    Raises
    ------
    InputError
        If the package is not installed, or a value is not a positive integer.
    """
    try:
        import powerlaw
    except ImportError as error:
        raise InputError(
            "powerlaw: the package is not installed; install powerlaw>=2.0 or leave it out"
        ) from error
    counts = as_counts(values, name="values")
    version = str(powerlaw.__version__)
    options: dict[str, Any] = (
        {} if alpha_bounded else {"parameter_ranges": {"alpha": (1.0, math.inf)}}
    )
    ratio = z = p = None
    # The package reports trouble through warnings, prints and exceptions of several types.
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            fit = powerlaw.Fit(counts, discrete=True, estimate_discrete=False, verbose=0, **options)
            x_min = float(fit.xmin)
            alpha = float(fit.power_law.alpha)
            ks = float(fit.power_law.D)
            if compare:
                pair = ("truncated_power_law", "lognormal")
                ratio, p = (float(v) for v in fit.distribution_compare(*pair))
                z = float(fit.distribution_compare(*pair, normalized_ratio=True)[0])
        except Exception as error:
            failure = f"powerlaw failed: {type(error).__name__}: {error}"
            return PackageReport(
                version, alpha_bounded, None, 0, None, None, None, None, None, failure
            )
    figures = [x_min, alpha, ks, *(v for v in (ratio, z, p) if v is not None)]
    reason = None if all(map(math.isfinite, figures)) else "powerlaw returns no finite figure"
    return PackageReport(
        version=version,
        alpha_bounded=alpha_bounded,
        x_min=int(x_min) if math.isfinite(x_min) else None,
        n_tail=int(np.sum(counts >= x_min)),
        alpha=_finite(alpha),
        ks=_finite(ks),
        R=_finite(ratio),
        z=_finite(z),
        p=_finite(p),
        reason=reason,
    )


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
