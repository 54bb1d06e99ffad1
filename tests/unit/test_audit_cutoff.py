import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit_reference import distance, exponent, scan
from coretail.audit import kernels
from coretail.audit.laws import draw, power_law
from coretail.audit.sample import find_cutoff, sample_of, tail_of
from coretail.errors import InputError
from coretail.streams import stream


def mixed_sample(key, size=80, largest=400):
    rng = stream("cutoff", key)
    tail = np.minimum(draw(power_law(1 + key % 5, 1.6 + 0.2 * (key % 7)), size, rng), largest)
    body = rng.integers(1, 3 + key % 9, size // (1 + key % 3))
    return np.concatenate([body, tail]).astype(np.int64)


@pytest.mark.parametrize("ks", ["full", "observed"])
@pytest.mark.parametrize("key", range(12))
def test_the_scan_finds_what_a_literal_search_over_all_integers_finds(key, ks):
    values = mixed_sample(key)
    x_min, alpha, d = scan(values.tolist(), full=ks == "full")
    cutoff = find_cutoff(sample_of(values), ks=ks)
    assert cutoff.x_min == x_min
    assert cutoff.alpha == pytest.approx(alpha, rel=1e-7)
    assert cutoff.ks == pytest.approx(d, abs=1e-8)
    assert cutoff.n_tail == np.sum(values >= x_min)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=3, max_size=25), st.booleans())
def test_the_scan_agrees_with_the_literal_search_on_any_small_sample(values, full):
    cutoff = find_cutoff(sample_of(values), ks="full" if full else "observed")
    if len(set(values)) < 3:
        assert cutoff.x_min is None
        return
    best = scan(values, full)
    assert cutoff.ks == pytest.approx(best[2], abs=1e-8)
    tail = [x for x in values if x >= cutoff.x_min]
    assert cutoff.alpha == pytest.approx(exponent(tail, cutoff.x_min), rel=1e-6)
    assert cutoff.ks == pytest.approx(distance(tail, cutoff.alpha, cutoff.x_min, full), abs=1e-9)


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("size", [300, 20_000])
def test_pruned_candidates_and_skipped_blocks_change_nothing(size, full):
    """Against the same kernels without pruning, hints or blocks, to the last digit."""
    sample = sample_of(mixed_sample(size % 11, size, largest=10**7))
    u, c = sample.values, sample.counts
    tc, sl = kernels.tail_sums(u, c)
    lnu = np.log(u)
    best = (-1, 0.0, np.inf)
    for i in range(u.size - 2):
        alpha, _ = kernels.fit_power_law(sl[i] / tc[i], u[i])
        z = kernels.zeta_scaled(alpha, u[i])
        d = max(
            kernels._gap(u, lnu, tc, i, u[i], lnu[i], alpha, z, full, j)[0]
            for j in range(i, u.size)
        )
        if d < best[2]:
            best = (i, alpha, d)
    assert kernels.scan(u, tc, sl, full, 1.0, 0.0) == best
    for guess in (1.0, float(u[best[0]]), float(u[-1])):
        assert kernels.scan(u, tc, sl, full, 1.0, guess) == best


def test_of_equal_distances_the_smallest_cutoff_wins():
    # Twice the same shape far apart: the scan may meet the larger cutoff first.
    sample = sample_of([1, 1, 1, 1, 2, 2, 4])
    tc, sl = kernels.tail_sums(sample.values, sample.counts)
    assert kernels.scan(sample.values, tc, sl, True, 1.0, 4.0)[0] == 0


def test_a_minimum_tail_removes_candidates():
    values = mixed_sample(3)
    free = find_cutoff(sample_of(values))
    bound = find_cutoff(sample_of(values), min_tail=free.n_tail + 1)
    assert bound.n_tail > free.n_tail
    assert bound.ks >= free.ks
    assert (bound.x_min, bound.n_tail) == (
        scan(values.tolist(), min_tail=free.n_tail + 1)[0],
        np.sum(values >= bound.x_min),
    )
    none = find_cutoff(sample_of(values), min_tail=values.size + 1)
    assert none.x_min is None
    assert f"{values.size + 1} observations" in none.reason


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([], "no observations"),
        ([4], "all values are equal"),
        ([4] * 9, "all values are equal"),
        ([4, 9], "only two distinct values"),
        ([2**62, 2**62 + 1, 2**62 + 2], "differ by less than double precision"),
    ],
)
def test_samples_without_a_cutoff_say_why(values, reason):
    cutoff = find_cutoff(sample_of(values))
    assert cutoff.x_min is None
    assert cutoff.n_tail == 0
    assert reason in cutoff.reason


def test_values_up_to_the_end_of_int64_are_scanned():
    values = [2**62, 2**62 + 2**20, 2**63 - 1, 3, 3, 3, 4, 4, 5]
    cutoff = find_cutoff(sample_of(values))
    assert cutoff.x_min in (3, 4, 5, 2**62)
    assert 0 < cutoff.ks < 1


def test_a_cutoff_of_a_steep_tail_has_no_bound():
    values = [10**6] * 1000 + [10**6 + 1] * 10 + [10**6 + 2]
    cutoff = find_cutoff(sample_of(values))
    # Locally geometric: P(x + 1) / P(x) = (1 + 1 / x)^-alpha = 12 / 1023.
    assert cutoff.alpha == pytest.approx(-np.log(12 / 1023) * 1e6, rel=1e-5)


def test_observations_outside_the_tail_do_not_matter_to_its_exponent():
    values = np.array([5] * 20 + [6] * 9 + [9] * 4 + [30])
    alone = tail_of(sample_of(values), 5)
    beside = tail_of(sample_of([*values, 1, 1, 1, 2, 4]), 5)
    assert alone.values.tolist() == beside.values.tolist()
    assert alone.n == beside.n == 34


@pytest.mark.parametrize(
    ("options", "message"), [({"ks": "both"}, "ks: 'both'"), ({"min_tail": 0}, "min_tail: 0")]
)
def test_unusable_options(options, message):
    with pytest.raises(InputError, match=message):
        find_cutoff(sample_of([1, 2, 3, 4]), **options)


@pytest.mark.parametrize("largest", [50, 10**9])
def test_counting_and_sorting_give_the_same_sample(largest):
    values = stream("sample", largest).integers(1, largest, 5000)
    sample = sample_of(values)
    distinct, counts = np.unique(values, return_counts=True)
    assert sample.values.tolist() == distinct.tolist()
    assert sample.counts.tolist() == counts.tolist()
    assert sample.n == 5000


@pytest.mark.parametrize("size", [200_000])
def test_a_hundred_thousand_distinct_values_are_scanned_in_linear_time(size):
    # Quadratic work would be 2e10 evaluations: minutes.
    assert find_cutoff(sample_of(np.arange(1, size + 1))).x_min == size - 3
