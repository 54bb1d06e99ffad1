"""Normalisers, moments and masses against arbitrary precision, far corners included."""

import math

import mpmath
import numpy as np
import pytest

from coretail.audit import kernels
from coretail.audit.laws import Shape, log_mass, survival
from coretail.streams import stream


def precision(alpha, q):
    """Return digits such that 40 are left of zeta(alpha, q), which is as small as q^-alpha."""
    return 45 + int(alpha * math.log10(q + 1) * 1.1)


def corners(count, key):
    rng = stream("mpmath", key)
    fixed = [(1.01, 1), (1.01, 10**6), (40.0, 1), (40.0, 10**6), (2.0, 3), (5.0, 2000)]
    drawn = [
        (1 + 10 ** rng.uniform(-2, math.log10(39)), int(10 ** rng.uniform(0, 6)))
        for _ in range(count)
    ]
    return fixed + drawn


@pytest.mark.parametrize(("alpha", "q"), corners(40, "zeta"))
def test_zeta_and_the_moments_of_the_logarithm(alpha, q):
    with mpmath.workdps(precision(alpha, q)):
        zeta, first, second = (mpmath.zeta(alpha, q, n) for n in range(3))
        scaled = zeta * mpmath.mpf(q) ** mpmath.mpf(alpha)
        mean = -first / zeta - mpmath.log(q)
        variance = second / zeta - (first / zeta) ** 2
        assert kernels.zeta_scaled(alpha, float(q)) == pytest.approx(float(scaled), rel=1e-13)
        got = kernels.zeta_moments(alpha, float(q))
        assert got[0] == pytest.approx(float(scaled), rel=1e-13)
        assert got[1] == pytest.approx(float(mean), rel=1e-12)
        assert got[2] == pytest.approx(float(variance), rel=1e-11)


def lerch(alpha, lam, q):
    """Return q^alpha times the Lerch transcendent Phi(e^-lam, alpha, q)."""
    z = mpmath.e ** -mpmath.mpf(lam)
    return mpmath.lerchphi(z, mpmath.mpf(alpha), q) * mpmath.mpf(q) ** mpmath.mpf(alpha)


def truncated_corners():
    rng = stream("mpmath", "lerch")
    fixed = [
        (0.0, 1.0, 1),
        (0.0, 1e-6, 10**6),
        (1.0, 1e-9, 1),
        (1.01, 1e-7, 1),
        (40.0, 1.0, 1),
        (40.0, 1e-9, 10**6),
        (3.0, 1e-8, 7),
        (2.0, 0.5, 10**6),
    ]
    drawn = [
        (
            float(rng.uniform(0, 4) if i % 2 else 1 + 10 ** rng.uniform(-2, math.log10(39))),
            10 ** rng.uniform(-9, 0),
            int(10 ** rng.uniform(0, 6)),
        )
        for i in range(24)
    ]
    return fixed + drawn


@pytest.mark.parametrize(("alpha", "lam", "q"), truncated_corners())
def test_the_truncated_power_law_s_normaliser_and_mean(alpha, lam, q):
    with mpmath.workdps(precision(alpha, q)):
        z = lerch(alpha, lam, q)
        mean = (lerch(alpha - 1, lam, q) / z - 1) * q
        log_z, ev, ek, vvv, _, vkk = kernels.truncated_moments(alpha, lam, float(q), 0.0)
        assert log_z == pytest.approx(float(mpmath.log(z)), rel=1e-12, abs=1e-13)
        assert ek == pytest.approx(float(mean), rel=1e-10)
    assert vvv > 0
    assert vkk > 0
    assert ev > 0


@pytest.mark.parametrize(("alpha", "lam", "q"), [(1.5, 0.0025, 20), (0.4, 0.3, 1), (3.5, 1e-4, 50)])
def test_the_truncated_power_law_s_derivatives(alpha, lam, q):
    """Mean and covariance of (ln x / q, k) are derivatives of ln Z."""
    beta = 1.0 / (q + 30)
    _, ev, ek, vvv, vvk, vkk = kernels.truncated_moments(alpha, lam, float(q), beta)
    with mpmath.workdps(45):
        h = mpmath.mpf(10) ** -11
        grid = {
            (i, j): mpmath.log(lerch(alpha + i * h, lam + j * h, q))
            for i in (-1, 0, 1)
            for j in (-1, 0, 1)
        }
        el = float((grid[-1, 0] - grid[1, 0]) / (2 * h))
        e_k = float((grid[0, -1] - grid[0, 1]) / (2 * h))
        var_l = float((grid[1, 0] - 2 * grid[0, 0] + grid[-1, 0]) / h**2)
        var_k = float((grid[0, 1] - 2 * grid[0, 0] + grid[0, -1]) / h**2)
        cov = float((grid[1, 1] - grid[1, -1] - grid[-1, 1] + grid[-1, -1]) / (4 * h**2))
    assert ek == pytest.approx(e_k, rel=1e-9)
    assert ev == pytest.approx(el - beta * e_k, rel=1e-8)
    assert vkk == pytest.approx(var_k, rel=1e-7)
    assert vvk == pytest.approx(cov - beta * var_k, rel=1e-7)
    assert vvv == pytest.approx(var_l - 2 * beta * cov + beta**2 * var_k, rel=1e-7)


def lognormal_corners():
    rng = stream("mpmath", "lognormal")
    fixed = [
        (0.05, 0.0, 1, 1),
        (0.05, 13.0, 10**6, 10**6),
        (50.0, -743.0, 3, 900),
        (50.0, 5.0, 1, 10**7),
        (1.0, -30.0, 1, 2),
        (0.3, 14.0, 1, 10**6),
    ]
    drawn = []
    for i in range(150):
        sigma = 10 ** rng.uniform(math.log10(0.05), math.log10(50))
        q = int(10 ** rng.uniform(0, 6))
        mu = (rng.uniform(-3, 15), math.log(q) + 3 * sigma * rng.standard_normal())[i % 2]
        x = q + (0, 1, 5, int(10 ** rng.uniform(0, 7)))[i % 4]
        drawn.append((sigma, float(mu), q, x))
    return fixed + drawn


@pytest.mark.parametrize(("sigma", "mu", "q", "x"), lognormal_corners())
def test_the_lognormal_mass_of_an_integer(sigma, mu, q, x):
    eta2 = 0.5 / sigma**2
    eta1 = (math.log(q - 0.5) - mu) / sigma**2
    with mpmath.workdps(60):
        half = mpmath.mpf(1) / 2
        s = mpmath.sqrt(1 / (2 * mpmath.mpf(eta2)))
        m = mpmath.log(q - half) - mpmath.mpf(eta1) * s**2

        def side(t, sign):
            return mpmath.erfc(sign * (mpmath.log(t) - m) / (s * mpmath.sqrt(2))) / 2

        # From the nearer end of the law, so that the difference keeps its digits.
        sign = 1 if mpmath.log(x) > m else -1
        mass = abs(side(x - half, sign) - side(x + half, sign)) / side(q - half, 1)
        tail = side(x - half, 1) / side(q - half, 1)
        expected = float(mpmath.log(mass))
    shape = Shape("lognormal", float(q), eta1, eta2)
    assert log_mass(shape, [x])[0] == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert survival(shape, [x])[0] == pytest.approx(float(tail), rel=1e-9, abs=1e-300)


def test_the_lognormal_s_limit_is_a_pareto_law():
    shape = Shape("lognormal", 7.0, 1.4, 0.0)
    x = np.array([7.0, 8.0, 100.0, 1e6])
    expected = -1.4 * np.log((x - 0.5) / 6.5) + np.log(-np.expm1(-1.4 * np.log1p(1 / (x - 0.5))))
    assert log_mass(shape, x) == pytest.approx(expected, rel=1e-12)
