"""The spectrum of an access series, and the slope of its logarithm."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from coretail.errors import InputError

Detrend = Literal["linear", "constant"]

_MIN_FREQUENCIES = 8


@dataclass(frozen=True, slots=True)
class Spectrum:
    """A power-law fit, S(f) ~ 1 / f ** exponent, to a Welch spectrum.

    Attributes
    ----------
    n
        Length of the series, in steps.
    nperseg
        Length of a segment, in steps; 0 where the series is too short for one.
    n_frequencies
        Number of frequencies in the fit.
    exponent
        Minus the slope of ln S on ln f: 0 for white noise, 1 for 1/f noise, 2 for a random walk.
    exponent_se
        Standard error of the slope by ordinary least squares. Neighbouring frequencies share a
        window's main lobe, so it is somewhat too small.
    reason
        Why ``exponent`` and ``exponent_se`` are undefined, and so None; otherwise None.
    """

    n: int
    nperseg: int
    n_frequencies: int
    exponent: float | None
    exponent_se: float | None
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a JSON-able dict."""
        return asdict(self)


def default_nperseg(n: int) -> int:
    """Return the segment length for a series of ``n`` steps.

    The largest power of two that is at most n / 8, so that at least 15 half-overlapping segments
    are averaged.
    """
    return 1 << (n // 8).bit_length() - 1 if n >= 8 else 0


def welch_psd(
    series: npt.ArrayLike, *, nperseg: int | None = None, detrend: Detrend = "linear"
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the frequencies (cycles per step) and the Welch power spectral density of a series.

    Hann windows overlapping by half; one-sided density. Each segment loses its own linear trend by
    default: a drift slower than a segment leaks into the lowest frequencies otherwise, and would
    pass for 1/f noise.

    Raises
    ------
    InputError
        If the series is not a vector of finite numbers, or ``nperseg`` does not fit it.
    """
    from scipy.signal import welch

    values = _as_series(series)
    length = default_nperseg(values.size) if nperseg is None else nperseg
    if not 2 <= length <= values.size:
        raise InputError(
            f"nperseg: {length} steps do not fit a series of {values.size}; give 2 to n"
        )
    frequencies, density = welch(values, nperseg=length, window="hann", detrend=detrend)
    return frequencies, density


def welch_slope(
    series: npt.ArrayLike,
    *,
    nperseg: int | None = None,
    detrend: Detrend = "linear",
    band: tuple[float, float] | None = None,
) -> Spectrum:
    """Fit S(f) ~ 1 / f ** exponent to the Welch spectrum of a series of events per step.

    Ordinary least squares of ln S on ln f, every frequency with equal weight.

    Parameters
    ----------
    series
        Values at successive steps, shape (n,).
    nperseg
        Length of a segment; see :func:`default_nperseg`.
    detrend
        What is taken out of every segment; see :func:`welch_psd`.
    band
        Lowest and highest frequency of the fit, in cycles per step, both included. By default from
        2 / nperseg to just below 1/2: the window's main lobe mixes the mean and the trend, which
        were taken out, into the first frequency, and the last one is not doubled in a one-sided
        density.

    Raises
    ------
    InputError
        If the series is not a vector of finite numbers, or ``nperseg`` or ``band`` is unusable.
    """
    values = _as_series(series)
    n = values.size
    length = default_nperseg(n) if nperseg is None else nperseg
    if band is not None and not 0 < band[0] < band[1] <= 0.5:
        raise InputError(f"band: {band} is not 0 < low < high <= 0.5 cycles per step")
    if nperseg is None and length < 2 * _MIN_FREQUENCIES:
        return Spectrum(n, 0, 0, None, None, f"{n} steps are too few for a spectrum")
    scale = float(np.max(np.abs(values - values.mean())))
    if scale == 0.0:
        return Spectrum(n, length, 0, None, None, "the series does not vary")
    frequencies, density = welch_psd(values / scale, nperseg=length, detrend=detrend)
    low, high = (1.5 / length, 0.5 - 0.5 / length) if band is None else band
    inside = (frequencies >= low) & (frequencies <= high)
    n_frequencies = int(inside.sum())
    if n_frequencies < _MIN_FREQUENCIES:
        reason = f"{n_frequencies} frequencies in the band, fewer than {_MIN_FREQUENCIES}"
        return Spectrum(n, length, n_frequencies, None, None, reason)
    power = density[inside]
    # Rounding leaves about 1e-32 of the squared scale where the exact density is zero.
    offset = 1.0 + float(np.max(np.abs(values))) / scale
    if power.min() <= 1e-28 * offset**2:
        reason = "the spectrum vanishes within the band"
        return Spectrum(n, length, n_frequencies, None, None, reason)
    x = np.log(frequencies[inside])
    x -= x.mean()
    y = np.log(power)
    y -= y.mean()
    sxx = float(np.dot(x, x))
    slope = float(np.dot(x, y)) / sxx
    residual = y - slope * x
    error = float(np.sqrt(np.dot(residual, residual) / (n_frequencies - 2) / sxx))
    return Spectrum(n, length, n_frequencies, -slope, error)


def _as_series(series: npt.ArrayLike) -> npt.NDArray[np.float64]:
    values = np.asarray(series, dtype=np.float64)
    if values.ndim != 1:
        raise InputError(f"series: {values.ndim} dimensions; give one value per step, shape (n,)")
    if values.size == 0:
        raise InputError("series: no steps; give at least one")
    if not np.isfinite(values).all():
        position = int(np.argmin(np.isfinite(values)))
        raise InputError(f"series: value {values[position]} at step {position} is not finite")
    return values
