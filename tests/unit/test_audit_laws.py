import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import gammaincc

from audit_reference import expand
from coretail.audit.laws import (
    Shape,
    draw,
    exponential,
    fit_laws,
    log_mass,
    lognormal,
    power_law,
    survival,
    truncated_power_law,
)
from coretail.audit.sample import sample_of, tail_of
from coretail.errors import InputError
from coretail.streams import stream

SHAPES = {
    "power law": power_law(5, 2.5),
    "flat power law": power_law(1, 1.3),
    "steep power law": power_law(1000, 60.0),
    "truncated": truncated_power_law(5, 1.5, 0.02),
    "long truncated": truncated_power_law(2, 0.7, 0.0003),
    "truncated without power": truncated_power_law(3, 0.0, 0.1),
    "lognormal": lognormal(5, 2.0, 1.0),
    "wide lognormal": lognormal(1, 1.0, 6.0),
    "narrow lognormal": lognormal(40, 4.0, 0.05),
    "exponential": exponential(5, 0.1),
    "slow exponential": exponential(1, 1e-4),
}


@pytest.mark.parametrize("name", SHAPES)
def test_masses_and_survival_are_one_law(name):
    shape = SHAPES[name]
    q = int(shape.x_min)
    x = np.arange(q, q + 3000)
    masses = np.exp(log_mass(shape, x))
    ends = survival(shape, [q, q + 1, q + 700, q + 3000])
    assert ends[0] == pytest.approx(1.0, abs=1e-12)
    assert ends[1] == pytest.approx(1.0 - masses[0], abs=1e-12)
    assert ends[2] == pytest.approx(1.0 - masses[:700].sum(), abs=1e-11)
    assert masses.sum() + ends[3] == pytest.approx(1.0, abs=1e-11)


def chi_square_p(draws, shape):
    """Return the p of Pearson's test of draws against exact probabilities."""
    n = draws.size
    edges = [shape.x_min]
    for share in np.linspace(0, 1, 40)[1:-1]:
        edges.append(float(np.quantile(draws, share, method="lower")))
    edges = np.unique(edges)
    above = np.append(survival(shape, edges), 0.0)
    expected = -np.diff(above) * n
    observed = np.diff(np.append(np.searchsorted(np.sort(draws), edges), n))
    keep = expected >= 20
    assert keep.sum() >= 2
    rest = expected[~keep].sum(), observed[~keep].sum()
    statistic = ((observed[keep] - expected[keep]) ** 2 / expected[keep]).sum()
    cells = int(keep.sum())
    if rest[0] > 0:
        statistic += (rest[1] - rest[0]) ** 2 / rest[0]
        cells += 1
    return gammaincc((cells - 1) / 2, statistic / 2)


@pytest.mark.parametrize("name", SHAPES)
def test_draws_follow_the_exact_probabilities(name):
    draws = draw(SHAPES[name], 40_000, stream("draws", name))
    assert draws.min() >= SHAPES[name].x_min
    assert np.array_equal(draws, np.floor(draws))
    assert chi_square_p(draws, SHAPES[name]) > 1e-3


@pytest.mark.parametrize("name", ["flat power law", "long truncated", "wide lognormal"])
def test_draws_beyond_the_table_follow_the_exact_probabilities(name):
    shape = SHAPES[name]
    draws = draw(shape, 40_000, stream("far", name))
    start = shape.x_min + 4096
    far = np.sort(draws[draws >= start])
    share = float(survival(shape, [start])[0])
    assert far.size == pytest.approx(40_000 * share, abs=5 * math.sqrt(40_000 * share))
    # The probability integral transform of a law this fine is uniform.
    u = survival(shape, far) / share
    d = np.max(np.abs(np.sort(u) - (np.arange(far.size) + 0.5) / far.size))
    assert d < 1.95 / math.sqrt(far.size)


def test_a_sampler_that_rounds_a_continuous_law_would_fail():
    # Rounded down from a continuous law: P(5) = .239, not .258. The test above must see that.
    wrong = np.floor(5 * (1 - stream("wrong").random(40_000)) ** (-1 / 1.5))
    assert chi_square_p(wrong, power_law(5, 2.5)) < 1e-3


def test_draws_near_alpha_one_are_huge_but_finite():
    draws = draw(power_law(1, 1.01), 2000, stream("huge"))
    assert np.isfinite(draws).all()
    assert draws.max() == 1e200
    # P(X >= x) = x^-0.01, nearly: half the draws exceed 2^100.
    assert np.mean(draws > 2.0**100) == pytest.approx(0.5, abs=0.05)


def test_no_draws_and_a_negative_number():
    assert draw(SHAPES["lognormal"], 0, stream("none")).size == 0
    with pytest.raises(InputError, match="size: -1"):
        draw(SHAPES["lognormal"], -1, stream("none"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: power_law(1, 1.0), "alpha: 1.0 is not above 1"),
        (lambda: power_law(0, 2.0), "x_min: 0"),
        (lambda: truncated_power_law(1, -0.1, 1.0), "alpha: -0.1"),
        (lambda: truncated_power_law(1, 1.0, 0.0), "lambda: 0.0"),
        (lambda: lognormal(1, 0.0, 0.0), "sigma: 0.0"),
        (lambda: exponential(1, math.nan), "lambda: nan"),
    ],
)
def test_parameters_outside_their_range(make, message):
    with pytest.raises(InputError, match=message):
        make()


def fits_of(values, x_min):
    return fit_laws(tail_of(sample_of(values), x_min))


def loglik(tail, shape):
    return float(np.dot(tail.counts, log_mass(shape, tail.values)))


@pytest.mark.parametrize("name", ["power law", "truncated", "lognormal", "exponential"])
@pytest.mark.parametrize("repeat", range(3))
def test_no_search_finds_a_better_fit(name, repeat):
    values = draw(SHAPES[name], 400, stream("search", name, repeat))
    q = int(SHAPES[name].x_min)
    tail = tail_of(sample_of(values), q)
    fits, free = fit_laws(tail)

    def best(build, starts):
        def cost(p):
            try:
                value = -loglik(tail, build(*p))
            except InputError:
                return 1e9
            return value if math.isfinite(value) else 1e9

        options = {"xatol": 1e-9, "fatol": 1e-10, "maxiter": 4000, "maxfev": 4000}
        return max(-minimize(cost, s, method="Nelder-Mead", options=options).fun for s in starts)

    searched = {
        "power_law": best(lambda a: power_law(q, a), [[1.5], [3.0]]),
        "exponential": best(lambda b: exponential(q, math.exp(b)), [[-3.0], [0.0]]),
        "truncated_power_law": best(
            lambda a, b: truncated_power_law(q, a * a, math.exp(b)), [[1.0, -3.0], [1.5, -8.0]]
        ),
        "lognormal": best(
            lambda e1, e2: Shape("lognormal", float(q), e1, e2 * e2), [[1.0, 0.3], [-1.0, 0.8]]
        ),
    }
    for law, value in searched.items():
        assert fits[law].loglik >= value - 1e-6
        # The search comes near it, so that the comparison means something.
        assert fits[law].loglik <= value + 0.01
    assert loglik(tail, free) >= fits["truncated_power_law"].loglik - 1e-9


def test_the_standard_error_is_the_spread_of_the_estimate():
    estimates, errors = [], []
    for repeat in range(300):
        values = draw(power_law(3, 2.3), 500, stream("spread", repeat))
        fit = fits_of(values, 3)[0]["power_law"].parameters
        estimates.append(fit["alpha"])
        errors.append(fit["alpha_se"])
    assert np.mean(estimates) == pytest.approx(2.3, abs=0.02)
    assert np.std(estimates) == pytest.approx(np.mean(errors), rel=0.12)


def test_the_bound_on_alpha_gives_the_exponential_law_and_the_free_fit_beside_it():
    # A hump: the likelihood asks for alpha < 0.
    values = expand({1: 5, 2: 12, 3: 20, 4: 22, 5: 18, 6: 11, 7: 6, 8: 3, 9: 1})
    fits, free = fits_of(values, 1)
    fit = fits["truncated_power_law"]
    assert fit.parameters["alpha"] == 0.0
    assert fit.parameters["lambda"] == pytest.approx(fits["exponential"].parameters["lambda"])
    assert fit.loglik == pytest.approx(fits["exponential"].loglik, abs=1e-9)
    assert "alpha = 0" in fit.note
    assert free.first < -1
    assert fit.parameters["alpha_free"] == free.first
    assert fit.parameters["loglik_free"] > fit.loglik + 10


def test_the_bound_on_lambda_gives_the_power_law_exactly():
    fits, free = fits_of(expand({1: 70, 2: 18, 3: 6, 4: 3, 5: 1, 8: 1, 80: 1}), 1)
    truncated, power = fits["truncated_power_law"], fits["power_law"]
    assert truncated.parameters["lambda"] == 0.0
    assert truncated.loglik == power.loglik
    assert truncated.ks == power.ks
    assert free.second == 0.0


@pytest.mark.parametrize("alpha", [2.02, 2.5, 3.01])
def test_a_truncation_just_off_its_boundary_is_found(alpha):
    """Samples of a pure power law: lambda is 0 or tiny, where the curvature is unbounded."""
    for repeat in range(15):
        values = draw(power_law(3, alpha), 5000, stream("boundary", alpha, repeat))
        fits, _ = fits_of(np.minimum(values, 1e15), 3)
        truncated, power = fits["truncated_power_law"], fits["power_law"]
        assert truncated.loglik >= power.loglik - 1e-9
        lam = truncated.parameters["lambda"]
        if lam > 0:
            x = tail_of(sample_of(np.minimum(values, 1e15)), 3)
            for factor in (0.5, 2.0):
                other = truncated_power_law(3, truncated.parameters["alpha"], factor * lam)
                assert loglik(x, other) < truncated.loglik


def test_a_lognormal_that_degenerates_says_so():
    degenerate = 0
    for repeat in range(12):
        values = draw(power_law(30, 2.0), 800, stream("degenerate", repeat))
        fit = fits_of(np.minimum(values, 1e15), 30)[0]["lognormal"]
        if fit.note is None:
            assert fit.parameters["sigma"] > 1
            assert math.isfinite(fit.parameters["mu"])
            continue
        degenerate += 1
        assert fit.parameters["mu"] is None
        assert fit.parameters["sigma"] is None
        assert fit.parameters["eta2"] == pytest.approx(0.0, abs=1e-3)
        # A power law of exponent 1 + eta1.
        assert fit.parameters["eta1"] == pytest.approx(1.0, abs=0.15)
        assert "degenerates to a power law" in fit.note
    # The sample's curvature is as often of the one sign as of the other.
    assert 2 <= degenerate <= 10


@pytest.mark.parametrize("law", ["power_law", "lognormal", "exponential"])
def test_fits_scale_as_their_laws_do(law):
    """Far from the lattice a law of x is the same law of any multiple of x."""
    values = np.floor(draw(lognormal(3000, 8.5, 0.8), 500, stream("scale")))
    small = fits_of(values, 3000)[0][law].parameters
    large = fits_of(values * 1000, 3_000_000)[0][law].parameters
    if law == "power_law":
        assert large["alpha"] == pytest.approx(small["alpha"], rel=1e-3)
    elif law == "lognormal":
        assert large["sigma"] == pytest.approx(small["sigma"], rel=1e-2)
        assert large["mu"] == pytest.approx(small["mu"] + math.log(1000), abs=1e-2)
    else:
        assert large["lambda"] == pytest.approx(small["lambda"] / 1000, rel=1e-3)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.integers(1, 10**6) | st.integers(1, 12), min_size=3, max_size=40),
    st.sampled_from([1, 10, 10**6]),
)
def test_every_tail_has_four_fits_or_a_note(values, scale):
    assume(len(set(values)) >= 3)
    x_min = min(values) * scale
    tail = tail_of(sample_of([scale * x for x in values]), x_min)
    fits, _ = fit_laws(tail)
    for law, fit in fits.items():
        if fit.loglik is None:
            assert fit.note is not None
            continue
        assert fit.loglik <= 1e-9, law
        assert 0 <= fit.ks <= 1
        for name, value in fit.parameters.items():
            assert value is None or math.isfinite(value), (law, name)
    power, truncated = fits["power_law"], fits["truncated_power_law"]
    if truncated.loglik is not None:
        assert truncated.loglik >= power.loglik - 1e-6
        assert truncated.loglik >= fits["exponential"].loglik - 1e-6
