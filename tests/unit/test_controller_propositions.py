"""Propositions A.2 to A.6 and Theorem A.4, on the shipped allocator."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coretail.controller import (
    allocate,
    core_mass,
    log_allocation,
    log_weights,
    propositions,
    verify_propositions,
)
from coretail.errors import InputError

EXTREME = (0.0, 1e-12, 1e-3, 1.0, 2.0, 700.0)
SIZES = st.integers(2, 2_000) | st.sampled_from([100_000, 1_000_000])
TAUS = st.floats(math.log(1e-12), math.log(700.0)).map(math.exp)


@given(n=SIZES, tau=TAUS)
@settings(max_examples=25, deadline=None)
def test_a2_a_better_rank_has_the_larger_share(n, tau):
    assert (np.diff(log_weights(n, tau)) < 0).all()
    assert (np.diff(allocate(n, tau)) <= 0).all()


@given(n=SIZES, tau=TAUS, data=st.data())
@settings(max_examples=50, deadline=None)
def test_a3_the_ratio_of_two_shares(n, tau, data):
    better = data.draw(st.integers(1, n - 1))
    worse = data.draw(st.integers(better + 1, n))
    logs = log_allocation(n, tau)
    with mpmath.workdps(50):
        ratio = mpmath.mpf(tau) * mpmath.log(mpmath.mpf(worse) / better)
    error = abs(float(logs[better - 1] - logs[worse - 1] - ratio))
    assert error <= 1e-15 * (1 + abs(logs[worse - 1]))
    weights, sharper = log_weights(n, tau), log_weights(n, 1.01 * tau)
    assert sharper[better - 1] - sharper[worse - 1] > weights[better - 1] - weights[worse - 1]


@given(n=st.integers(2, 300), tau=st.floats(1e-6, 30.0), data=st.data())
@settings(max_examples=20, deadline=None)
def test_a4_the_core_grows(n, tau, data):
    core = data.draw(st.integers(1, n - 1))
    # The last of 300 ranks holds 300^-30, some 1e-74, of the mass.
    with mpmath.workdps(120):
        weights = [mpmath.mpf(rank) ** -mpmath.mpf(tau) for rank in range(1, n + 1)]
        exact = sum(weights[:core]) / sum(weights)
        # The derivative of the proof: the mean of ln r over all, less that over the core.
        logs = [mpmath.log(rank) for rank in range(1, n + 1)]
        mean = sum(w * x for w, x in zip(weights, logs, strict=True)) / sum(weights)
        within = sum(w * x for w, x in zip(weights[:core], logs, strict=False)) / sum(
            weights[:core]
        )
        slope = exact * (mean - within)
    assert core_mass(n, tau, core) == pytest.approx(float(exact), rel=1e-13)
    assert slope > 0
    step = 1e-4 * max(tau, 1e-3)
    rise = core_mass(n, tau + step, core) - core_mass(n, tau, core)
    assert rise >= -1e-15
    if slope * step > 1e-9:
        assert rise == pytest.approx(float(slope) * step, rel=0.05)


@pytest.mark.parametrize("n", [1, 2, 1_000, 1_000_000])
def test_a5_and_a6_equal_shares_in_the_limit(n):
    ranks = np.arange(1, n + 1)
    for tau in (1e-3, 1e-6, 1e-9, 1e-12, 0.0):
        shares = allocate(n, tau)
        # Every M b lies between M^-tau and M^tau.
        bound = math.expm1(tau * math.log(n)) + 1e-15
        assert np.abs(n * shares - 1).max() <= bound
        # Mean difference of ordered values: each value counts once per value on either side.
        gini = float(np.sum((n + 1 - 2 * ranks) * shares)) / n
        assert -1e-14 <= gini <= bound + 1e-14
    assert len(set(allocate(n, 0.0))) == 1


def test_all_hold_from_one_to_a_million():
    rows = verify_propositions((1, 2, 3, 10, 1_000, 1_000_000), EXTREME)
    assert [row.proposition for row in rows] == ["A.2", "A.3", "A.3, growth", "A.4", "A.5", "A.6"]
    for row in rows:
        assert row.holds == row.cases > 0, row
        assert row.worst_margin > 0, row
    pairs = 1 + 2 + 9 + 999 + 999_999
    assert [row.cases for row in rows[:3]] == [5 * pairs, 5 * 2 * pairs, 5 * pairs]
    # Core sizes: 1 of 2; 1 and 2 of 3; 1, 2, 5 and 9 of 10; five each of the larger.
    assert rows[3].cases == 5 * (1 + 2 + 4 + 5 + 5)
    # The closest log-weights are those of the last ranks at the smallest tau.
    assert rows[0].worst_margin == pytest.approx(1e-12 * math.log1p(1 / 999_999), rel=1e-6)


def test_cases_by_hand():
    rows = verify_propositions([2, 2], [1.0, 0.0, 1.0])
    # One pair at tau = 1; the same pair twice (adjacent, and with rank 1); one step of tau.
    assert [row.cases for row in rows[:4]] == [1, 2, 1, 1]
    assert rows[0].worst_margin == pytest.approx(math.log(2))
    assert rows[2].worst_margin == pytest.approx(math.log(2))
    # The core's odds rise from 1 to 2.
    assert rows[3].worst_margin == pytest.approx(math.log(2))
    # Six bounds, each at its own tau and at 0.
    assert [row.cases for row in rows[4:]] == [12, 12]


def test_without_a_case_there_is_no_margin():
    rows = verify_propositions([1], [0.5])
    assert [(row.cases, row.holds, row.worst_margin) for row in rows[:4]] == [(0, 0, None)] * 4
    assert all(row.holds == row.cases > 0 for row in rows[4:])


def broken_allocate(n, tau):
    shares = allocate(n, tau)
    return shares[::-1] if n == 10 else shares


def broken_log_weights(n, tau):
    # All ranks but the first are alike.
    return np.where(np.arange(n) == 0, 0.0, -tau * np.log(2.0))


def test_what_fails_is_seen(monkeypatch):
    monkeypatch.setattr(propositions, "allocate", broken_allocate)
    rows = {row.proposition: row for row in verify_propositions((3, 10), (0.5, 1.0))}
    assert rows["A.2"].cases - rows["A.2"].holds == 2 * 9
    assert rows["A.2"].worst_margin < 0
    assert rows["A.3"].holds < rows["A.3"].cases
    assert rows["A.4"].holds == rows["A.4"].cases
    monkeypatch.setattr(propositions, "allocate", lambda n, tau: allocate(n, tau + 0.1))
    rows = {row.proposition: row for row in verify_propositions((10,), (0.5, 1.0))}
    for limit in ("A.5", "A.6"):
        assert rows[limit].holds < rows[limit].cases
    assert rows["A.2"].holds == rows["A.2"].cases
    monkeypatch.setattr(propositions, "allocate", lambda n, tau: allocate(n, tau * (1 + 1e-13)))
    rows = {row.proposition: row for row in verify_propositions((10,), (0.5, 1.0))}
    assert rows["A.3"].holds < rows["A.3"].cases
    monkeypatch.setattr(propositions, "allocate", lambda n, tau: np.full(n, np.nan))
    assert [row.holds for row in verify_propositions((10,), (0.5,))[4:]] == [0, 0]
    monkeypatch.setattr(propositions, "core_mass", lambda n, tau, core: 1 / (1 + tau))
    rows = {row.proposition: row for row in verify_propositions((10,), (0.5, 1.0))}
    assert rows["A.4"].holds == 0
    monkeypatch.setattr(propositions, "log_weights", broken_log_weights)
    rows = {row.proposition: row for row in verify_propositions((3,), (0.5, 1.0))}
    assert (rows["A.3, growth"].cases, rows["A.3, growth"].holds) == (2, 1)


@pytest.mark.parametrize(("sizes", "taus"), [([0], [1.0]), ([2.5], [1.0]), ([2], [-1.0])])
def test_sizes_and_concentrations_that_are_none(sizes, taus):
    with pytest.raises(InputError, match=r"sizes=|tau="):
        verify_propositions(sizes, taus)
