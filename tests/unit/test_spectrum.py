import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coretail.errors import InputError
from coretail.spectrum import default_nperseg, welch_psd, welch_slope
from coretail.streams import stream


def coloured_noise(exponent, n, key):
    """Gaussian noise whose power falls as 1 / f ** exponent."""
    rng = stream("coloured", key)
    white = np.fft.rfft(rng.standard_normal(n))
    f = np.fft.rfftfreq(n)
    f[0] = 1.0
    white[0] = 0.0
    return np.fft.irfft(white * f ** (-exponent / 2), n)


@pytest.mark.parametrize("exponent", [0.0, 0.1, 0.5, 1.0, 1.5])
def test_the_exponent_of_coloured_noise_is_recovered(exponent):
    result = welch_slope(coloured_noise(exponent, 100_000, exponent))
    assert result.reason is None
    assert result.exponent == pytest.approx(exponent, abs=0.03)
    assert 0 < result.exponent_se < 0.02


def test_sign_and_scale_change_nothing():
    series = coloured_noise(0.7, 4096, 1)
    base = welch_slope(series)
    other = welch_slope(-3.5 * series + 20.0)
    assert other.exponent == pytest.approx(base.exponent, abs=1e-9)
    assert other.exponent_se == pytest.approx(base.exponent_se, abs=1e-9)


def test_density_of_white_noise_integrates_to_its_variance():
    series = stream("white").standard_normal(65_536) * 3.0
    frequencies, density = welch_psd(series, nperseg=256)
    assert density.sum() * frequencies[1] == pytest.approx(9.0, rel=0.03)
    assert frequencies[-1] == 0.5


def test_slope_and_its_error_are_ordinary_least_squares():
    series = coloured_noise(1.0, 2048, 2)
    frequencies, density = welch_psd(series, nperseg=128)
    x, y = np.log(frequencies[2:-1]), np.log(density[2:-1])
    (slope, _), covariance = np.polyfit(x, y, 1, cov=True)
    result = welch_slope(series, nperseg=128)
    assert result.n_frequencies == 62
    assert result.exponent == pytest.approx(-slope, rel=1e-9)
    assert result.exponent_se == pytest.approx(math.sqrt(covariance[0, 0]), rel=1e-9)


def test_a_band_selects_frequencies():
    series = coloured_noise(1.0, 4096, 3)
    result = welch_slope(series, nperseg=256, band=(1 / 16, 1 / 8))
    assert result.n_frequencies == 17


def test_a_linear_drift_is_not_noise():
    rng = stream("drift")
    series = rng.standard_normal(8192) + np.linspace(0, 2000, 8192)
    assert abs(welch_slope(series).exponent) < 0.1
    assert welch_slope(series, detrend="constant").exponent > 0.2


@pytest.mark.parametrize(
    ("series", "reason"),
    [
        (np.ones(1000), "does not vary"),
        (np.arange(1000), "vanishes"),
        (1e9 + np.arange(1000), "vanishes"),
        ([1.0], "too few"),
        (np.arange(100), "too few"),
    ],
)
def test_an_undefined_slope_has_a_reason(series, reason):
    result = welch_slope(series)
    assert result.exponent is None
    assert result.exponent_se is None
    assert reason in result.reason


def test_a_short_segment_has_too_few_frequencies():
    result = welch_slope(coloured_noise(0, 500, 4), nperseg=16)
    assert result.reason == "6 frequencies in the band, fewer than 8"


def test_unusable_arguments():
    with pytest.raises(InputError, match="step 1 is not finite"):
        welch_slope([1.0, float("nan")])
    with pytest.raises(InputError, match="no steps"):
        welch_slope([])
    with pytest.raises(InputError, match="nperseg: 65"):
        welch_slope(coloured_noise(0, 64, 5), nperseg=65)
    with pytest.raises(InputError, match="band"):
        welch_slope(coloured_noise(0, 64, 5), band=(0.3, 0.2))
    with pytest.raises(InputError, match="dimensions"):
        welch_slope(np.ones((3, 3)))


def test_segments_are_the_largest_power_of_two_within_an_eighth():
    assert [default_nperseg(n) for n in (7, 8, 127, 128, 5000, 100_000)] == [
        0,
        1,
        8,
        16,
        512,
        8192,
    ]


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=600))
def test_any_series_gives_a_slope_or_a_reason(series):
    result = welch_slope(series)
    assert (result.exponent is None) == (result.reason is not None)
    if result.exponent is not None:
        assert math.isfinite(result.exponent)
        assert math.isfinite(result.exponent_se)


def test_a_line_spectrum_has_no_slope():
    result = welch_slope([0, 1] * 500, detrend="constant")
    assert result.exponent is None
    assert "vanishes" in result.reason
