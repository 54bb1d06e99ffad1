import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coretail.concentration import between_share, concentration, gini
from coretail.errors import InputError

counts_vectors = st.lists(st.integers(1, 10**6), min_size=2, max_size=60)


def pairwise_gini(values):
    x = np.asarray(values, dtype=float)
    return np.abs(x[:, None] - x[None, :]).mean() / (2 * x.mean())


def test_known_values():
    result = concentration([1, 1, 2, 4, 2])
    assert result.n == 5
    assert result.total == 10
    assert result.gini == pytest.approx(0.28)
    # Deviations -1, -1, 0, 2, 0: m2 = 6/5, m3 = 6/5.
    assert result.skew == pytest.approx(1.2 / 1.2**1.5, rel=1e-12)
    assert result.max_median == 2.0
    assert result.top10_share == 0.4
    assert result.singletons == 2
    assert result.singleton_share == 0.4
    assert result.sigma_top10 is None
    assert result.reasons == {"sigma_top10": "the top tenth is one item"}


def test_skew_is_the_population_moment_coefficient():
    # Deviations of 1, 1, 4 from their mean 2: m2 = 2, m3 = 2.
    assert concentration([1, 1, 4]).skew == pytest.approx(2 / 2**1.5, rel=1e-14)


def test_top_tenth_is_rounded_up():
    # 11 items: the top tenth is two, 8 and 2.
    result = concentration([1] * 9 + [2, 8])
    assert result.top10_share == pytest.approx(10 / 19)
    assert result.sigma_top10 == pytest.approx(math.log(4) / 2, rel=1e-14)
    assert concentration([1] * 9 + [8]).top10_share == pytest.approx(8 / 17)


def test_equal_counts_have_no_concentration_and_no_skew():
    result = concentration([7] * 30)
    assert result.gini == 0.0
    assert result.max_median == 1.0
    assert result.sigma_top10 == pytest.approx(0.0, abs=1e-12)
    assert result.skew is None
    assert result.reasons == {"skew": "all counts are equal"}


def test_one_item():
    result = concentration([5])
    assert result.gini is None
    assert result.skew is None
    assert result.top10_share == 1.0
    assert set(result.reasons) == {"gini", "skew", "sigma_top10"}


def test_no_item_is_a_result_with_reasons():
    result = concentration([])
    assert result.n == 0
    undefined = {key for key, value in result.to_dict().items() if value is None}
    assert undefined == set(result.reasons)
    assert len(undefined) == 6


def test_zeros_are_refused_by_name():
    with pytest.raises(InputError, match="value 0 at position 2"):
        concentration([3, 4, 0])


def test_gini_with_and_without_items_never_used():
    assert gini([0, 0, 1, 3]) == pytest.approx(0.25)
    assert gini([0, 0, 1, 3], include_zeros=True) == pytest.approx(pairwise_gini([0, 0, 1, 3]))
    assert gini([0, 0, 1]) is None
    assert gini([0, 0], include_zeros=True) is None


def test_counts_near_the_end_of_int64():
    big = 2**63 - 1
    result = concentration([big] * 20)
    assert result.total == 20 * big
    assert result.top10_share == pytest.approx(0.1)
    assert result.max_median == 1.0
    assert result.gini == 0.0


@given(counts_vectors)
def test_gini_is_the_mean_absolute_difference_over_twice_the_mean(values):
    assert concentration(values).gini == pytest.approx(pairwise_gini(values), abs=1e-12)


@given(counts_vectors, st.randoms(use_true_random=False))
def test_order_of_the_items_changes_nothing(values, random):
    shuffled = list(values)
    random.shuffle(shuffled)
    assert concentration(shuffled) == concentration(values)


@given(counts_vectors, st.integers(2, 1000))
def test_scale_changes_no_shape(values, factor):
    small = concentration(values)
    large = concentration([factor * value for value in values])
    for name in ("gini", "skew", "max_median", "top10_share", "sigma_top10"):
        a, b = getattr(small, name), getattr(large, name)
        if a is None:
            assert b is None
        else:
            assert b == pytest.approx(a, rel=1e-9, abs=1e-9)


@given(st.lists(st.integers(1, 2**63 - 1), max_size=40))
def test_every_undefined_figure_has_a_reason_and_no_other(values):
    result = concentration(values).to_dict()
    reasons = result.pop("reasons")
    assert {key for key, value in result.items() if value is None} == set(reasons)
    assert all(math.isfinite(value) for value in result.values() if value is not None)
    json.dumps(result, allow_nan=False)


def test_between_share_by_hand():
    # Differences: within {1, 3} and {5, 9}: 2 + 4; between: 4 + 8 + 2 + 6; 4 of 6 pairs.
    share, expected = between_share([1, 3, 5, 9], [0, 0, 1, 1])
    assert share == pytest.approx(20 / 26)
    assert expected == pytest.approx(4 / 6)


@given(
    st.lists(st.tuples(st.integers(1, 10**6), st.integers(0, 3)), min_size=2, max_size=40),
)
def test_between_share_against_all_pairs(items):
    counts, groups = zip(*items, strict=True)
    pairs = list(itertools.combinations(range(len(items)), 2))
    total = sum(abs(counts[i] - counts[j]) for i, j in pairs)
    apart = sum(abs(counts[i] - counts[j]) for i, j in pairs if groups[i] != groups[j])
    share, expected = between_share(counts, groups)
    if total == 0:
        assert share is None
        assert expected is None
    else:
        assert share == pytest.approx(apart / total, abs=1e-9)
        assert expected == pytest.approx(sum(groups[i] != groups[j] for i, j in pairs) / len(pairs))
