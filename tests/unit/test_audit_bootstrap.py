import numpy as np
import pytest
from scipy.special import kolmogorov

from audit_reference import replicate, scan
from coretail.audit import kernels
from coretail.audit.bootstrap import goodness_of_fit
from coretail.audit.calibration import sample_from
from coretail.audit.laws import (
    draw,
    exponential,
    fit_laws,
    lognormal,
    power_law,
    truncated_power_law,
)
from coretail.audit.sample import find_cutoff, sample_of, tail_of
from coretail.streams import stream


def fitted_tail(values, law="power_law", x_min=None, full=True):
    sample = sample_of(values)
    if x_min is None:
        x_min = find_cutoff(sample, ks="full" if full else "observed").x_min
    tail = tail_of(sample, x_min)
    return tail, fit_laws(tail, full=full)[0][law]


@pytest.mark.parametrize("full", [True, False])
def test_replicates_are_those_of_a_literal_bootstrap_on_the_same_stream(full):
    rng = stream("literal", full)
    values = np.concatenate([rng.integers(1, 4, 25), draw(power_law(3, 2.4), 35, rng)])
    tail, fit = fitted_tail(np.minimum(values, 200), full=full)
    alpha, x_min = fit.parameters["alpha"], int(tail.x_min)
    below = tail.start
    ours = kernels.bootstrap(
        kernels.POWER_LAW,
        alpha,
        0.0,
        tail.x_min,
        tail.sample.values[:below],
        np.repeat(np.arange(below), tail.sample.counts[:below]),
        tail.sample.n,
        True,
        full,
        1.0,
        *kernels.sampler_table(kernels.POWER_LAW, alpha, 0.0, tail.x_min, float(tail.n)),
        20,
        1,
        stream("replicates"),
    )
    everything = np.repeat(tail.sample.values, tail.sample.counts).astype(int).tolist()
    literal = stream("replicates")
    theirs = [scan(replicate(everything, alpha, x_min, literal), full)[2] for _ in range(20)]
    assert ours == pytest.approx(theirs, abs=1e-8)


@pytest.mark.parametrize("law", ["power_law", "truncated_power_law", "lognormal"])
def test_p_is_the_same_at_one_and_at_two_threads(law):
    values = draw(truncated_power_law(4, 1.4, 0.01), 300, stream("threads"))
    tail, fit = fitted_tail(values, law)
    alone = goodness_of_fit(tail, fit, replicates=430, key=("a", 1), jobs=1)
    shared = goodness_of_fit(tail, fit, replicates=430, key=("a", 1), jobs=2)
    assert alone == shared
    assert alone.replicates == 430


def test_the_first_replicates_do_not_depend_on_how_many_follow():
    values = draw(power_law(4, 2.0), 300, stream("blocks"))
    values = values[values < 1e15]
    tail, fit = fitted_tail(values)
    counts = [
        round(goodness_of_fit(tail, fit, replicates=n, key=("b",)).p * n) for n in (100, 200, 300)
    ]
    assert counts[0] <= counts[1] <= counts[0] + 100
    assert counts[1] <= counts[2] <= counts[1] + 100


def test_another_key_is_another_stream():
    values = draw(power_law(4, 2.0), 200, stream("keys"))
    tail, fit = fitted_tail(np.minimum(values, 1e15))
    ps = {goodness_of_fit(tail, fit, replicates=300, key=(seed,)).p for seed in range(6)}
    assert len(ps) > 1
    assert max(ps) - min(ps) < 0.2


def test_a_law_that_does_not_fit_is_rejected_and_the_true_one_is_not():
    values = draw(exponential(20, 0.02), 1500, stream("reject"))
    tail, power = fitted_tail(values, x_min=20)
    options = {"replicates": 200, "key": ("c",), "refit": False}
    assert goodness_of_fit(tail, power, **options).p == 0.0
    _, truncated = fitted_tail(values, "truncated_power_law", x_min=20)
    assert goodness_of_fit(tail, truncated, **options).p > 0.05


NULLS = {
    "power_law": power_law(20, 2.2),
    "truncated_power_law": truncated_power_law(20, 1.5, 0.0025),
    "lognormal": lognormal(20, 1.5, 1.8),
}


@pytest.mark.parametrize("law", NULLS)
def test_p_is_uniform_under_its_own_null_at_a_known_cutoff(law):
    ps = []
    for index in range(200):
        values = draw(NULLS[law], 300, stream("uniform", law, index))
        tail, fit = fitted_tail(np.minimum(values, 1e15), law, x_min=20)
        ps.append(goodness_of_fit(tail, fit, replicates=99, key=("u", index), refit=False).p)
    grid = np.unique(ps)
    distance = np.max(np.abs(np.searchsorted(np.sort(ps), grid, side="right") / 200 - grid))
    assert kolmogorov(np.sqrt(200) * distance) > 1e-3
    assert np.mean(np.array(ps) < 0.1) <= 0.1 + 3 * np.sqrt(0.09 / 200)


def test_p_with_the_cutoff_refitted_keeps_its_level():
    ps = []
    for index in range(200):
        values = sample_from(NULLS["power_law"], 200, stream("level", index))
        tail, fit = fitted_tail(np.minimum(values, 1e15))
        ps.append(goodness_of_fit(tail, fit, replicates=99, key=("l", index)).p)
    assert np.mean(np.array(ps) < 0.1) <= 0.1 + 3 * np.sqrt(0.09 / 200)
    # It rejects at times, too: a p that is always large would keep every level.
    assert np.mean(np.array(ps) < 0.5) > 0.2


def test_replicates_below_the_cutoff_are_the_samples_own_values():
    values = np.array([1] * 30 + [2] * 20 + [50, 51, 53, 60, 75, 90, 140, 300] * 5)
    sample = sample_of(values)
    table = kernels.sampler_table(kernels.POWER_LAW, 2.5, 0.0, 50.0, 40.0)
    u, c = sample.values[:2], np.repeat([0, 1], [30, 20])
    d = kernels.bootstrap(
        kernels.POWER_LAW, 2.5, 0.0, 50.0, u, c, 90, True, True, 1.0, *table, 50, 20, stream("own")
    )
    # The gap between 2 and 50 is in every replicate: no cutoff of 1 or 2 can be near.
    tc, sl = kernels.tail_sums(sample.values, sample.counts)
    _, _, own = kernels.scan(sample.values, tc, sl, True, 1.0, 0.0)
    assert np.isfinite(d).all()
    assert np.median(d) < 0.25
    assert own < 0.25


def test_replicates_without_a_cutoff_are_drawn_again_and_may_be_undefined():
    # Nearly all mass on one value: most replicates have fewer than three distinct ones.
    values = [7] * 400 + [8, 9]
    tail, fit = fitted_tail(values)
    result = goodness_of_fit(tail, fit, replicates=100, key=("d",))
    assert result.p is not None
    assert result.replicates <= 100
    rare = kernels.bootstrap(
        kernels.POWER_LAW,
        400.0,
        0.0,
        7.0,
        np.empty(0),
        np.empty(0, dtype=np.int64),
        20,
        True,
        True,
        1.0,
        *kernels.sampler_table(kernels.POWER_LAW, 400.0, 0.0, 7.0, 20.0),
        10,
        20,
        stream("rare"),
    )
    assert np.isnan(rare).all()


def test_no_replicates_and_no_fit_have_reasons():
    tail, fit = fitted_tail([1, 1, 2, 3, 5])
    none = goodness_of_fit(tail, fit, replicates=0, key=())
    assert (none.p, none.reason) == (None, "no bootstrap was run")
