"""Shares by rank, whole slots, and a concentration from an audit."""

import math
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coretail.audit import VERDICTS, audit_counts
from coretail.controller import (
    allocate,
    auto_tau,
    core_mass,
    integer_slots,
    log_allocation,
    log_weights,
    tau_from_audit,
)
from coretail.errors import InputError

SCRIPTS = Path(__file__).parents[2] / "scripts"
TAUS = st.one_of(st.just(0.0), st.floats(1e-12, 700.0))


def hamilton(weights, budget):
    """Return slots by largest remainder, in exact arithmetic."""
    quotas = [Fraction(weight) * budget / sum(weights) for weight in weights]
    slots = [math.floor(quota) for quota in quotas]
    by_remainder = sorted(range(len(quotas)), key=lambda i: (slots[i] - quotas[i], i))
    for index in by_remainder[: budget - sum(slots)]:
        slots[index] += 1
    return slots


def test_shares_by_hand():
    # 1, 1/2, 1/3, 1/4 sum to 25/12.
    assert allocate(4, 1.0) == pytest.approx([0.48, 0.24, 0.16, 0.12], rel=1e-15)
    # 1, 1/4 sum to 5/4.
    assert allocate(2, 2.0) == pytest.approx([0.8, 0.2], rel=1e-15)
    assert allocate(4, 0.0).tolist() == [0.25] * 4
    assert allocate(1, 3.0).tolist() == [1.0]
    assert allocate(0, 1.0).shape == (0,)
    assert log_allocation(0, 1.0).shape == (0,)
    assert allocate(3, 1e300).tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("n", [3, 1_000, 1_000_000])
@pytest.mark.parametrize("tau", [1e-12, 1e-6, 0.25, 1.0, 1.5, 7.0, 120.0, 700.0])
def test_shares_agree_with_fifty_digits(n, tau):
    with mpmath.workdps(50):
        exact = mpmath.mpf(tau)
        # A finite sum of r^-tau is a difference of two zeta functions.
        total = mpmath.harmonic(n) if tau == 1 else mpmath.zeta(exact) - mpmath.zeta(exact, n + 1)
        shares, logs = allocate(n, tau), log_allocation(n, tau)
        for rank in {1, 2, 3, n // 2, n - 1, n} - {0}:
            share = mpmath.mpf(rank) ** -exact / total
            assert logs[rank - 1] == pytest.approx(float(mpmath.log(share)), rel=4e-15, abs=4e-15)
            # An error of the exponent is relative in the share.
            allowed = 1e-14 * (1 + tau * math.log(rank))
            assert shares[rank - 1] == pytest.approx(float(share), rel=allowed, abs=1e-300)


@given(n=st.integers(1, 3_000), tau=TAUS)
@settings(max_examples=60, deadline=None)
def test_shares_sum_to_one_and_never_rise(n, tau):
    shares = allocate(n, tau)
    assert shares.sum() == pytest.approx(1.0, abs=1e-13)
    assert (np.diff(shares) <= 0).all()
    assert (shares >= 0).all()


def test_log_weights_stay_apart_where_shares_underflow_or_tie():
    assert allocate(1_000, 700.0)[3:].max() < 1e-300
    assert (np.diff(log_weights(1_000, 700.0)) < 0).all()
    tied = allocate(1_000_000, 1e-12)
    assert (tied[1:] == tied[:-1]).any()
    assert (np.diff(log_weights(1_000_000, 1e-12)) < 0).all()


def test_core_mass_by_hand():
    assert core_mass(4, 1.0, 2) == pytest.approx(0.72, rel=1e-15)
    assert core_mass(4, 1.0, 0) == 0.0
    assert core_mass(10, 0.0, 3) == pytest.approx(0.3, rel=1e-15)
    assert core_mass(7, 0.3, 7) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("tau", [-1e-9, math.nan, math.inf, -math.inf, "x", None])
def test_a_concentration_that_is_none(tau):
    for function in (allocate, log_allocation, log_weights):
        with pytest.raises(InputError, match="tau="):
            function(3, tau)


@pytest.mark.parametrize("n", [-1, 2.5, True, "3", None])
def test_a_number_of_items_that_is_none(n):
    with pytest.raises(InputError, match="n="):
        allocate(n, 1.0)


@pytest.mark.parametrize("core", [-1, 4, 1.5])
def test_a_core_larger_than_the_memory(core):
    with pytest.raises(InputError, match="core="):
        core_mass(3, 1.0, core)


@pytest.mark.parametrize(
    ("shares", "budget", "slots"),
    [
        # Quotas 3.84, 1.92, 1.28, 0.96: the two left go to 0.96 and 0.92.
        ([0.48, 0.24, 0.16, 0.12], 8, [4, 2, 1, 1]),
        # Quotas 6, 3, 2 exactly, though not in floating point.
        ([6 / 11, 3 / 11, 2 / 11], 11, [6, 3, 2]),
        # Equal quotas 4/3: the slot left goes to the better rank.
        ([1 / 3, 1 / 3, 1 / 3], 4, [2, 1, 1]),
        ([1, 1, 1], 2, [1, 1, 0]),
        # Quotas 3.5, 1, 0.5, whose remainders differ in floating point.
        ([0.7, 0.2, 0.1], 5, [4, 1, 0]),
        ([0.1, 0.2, 0.7], 5, [1, 1, 3]),
        ([0, 1], 3, [0, 3]),
        ([1e308, 1e308], 3, [2, 1]),
        ([5e-324, 5e-324], 3, [2, 1]),
        ([0.5, 0.5], 0, [0, 0]),
        ([], 8, []),
        ([], 0, []),
        ([0.3], 10**9, [10**9]),
    ],
)
def test_slots_by_hand(shares, budget, slots):
    result = integer_slots(shares, budget)
    assert result.tolist() == slots
    assert result.dtype == np.int64


@given(
    weights=st.lists(st.integers(0, 50), min_size=1, max_size=12).filter(any),
    budget=st.integers(0, 500),
)
@settings(max_examples=200, deadline=None)
def test_slots_agree_with_exact_arithmetic(weights, budget):
    assert integer_slots(weights, budget).tolist() == hamilton(weights, budget)


@given(
    shares=st.lists(st.floats(0, 1e6), min_size=1, max_size=200).filter(any),
    budget=st.integers(0, 10**9),
)
@settings(max_examples=100, deadline=None)
def test_slots_spend_the_budget_and_keep_the_quota(shares, budget):
    slots = integer_slots(shares, budget)
    assert slots.sum() == budget
    quotas = np.array(shares) / np.sum(shares) * budget
    assert (np.abs(slots - quotas) <= 1 + 1e-6).all()
    ordered = integer_slots(sorted(shares, reverse=True), budget)
    assert (np.diff(ordered) <= 0).all()


@pytest.mark.parametrize("tau", [0.0, 1e-12, 0.5, 1.0, 2.0, 700.0])
@pytest.mark.parametrize("budget", [0, 1, 8, 999_999, 10**9])
def test_slots_of_a_million(tau, budget):
    slots = integer_slots(allocate(1_000_000, tau), budget)
    assert slots.sum() == budget
    assert (np.diff(slots) <= 0).all()
    assert slots.min() >= 0


@pytest.mark.parametrize(
    "shares", [[0.5, -0.1], [math.nan, 1], [math.inf, 1], [0, 0], [[0.5, 0.5]], 0.5]
)
def test_shares_that_are_none(shares):
    with pytest.raises(InputError, match="shares"):
        integer_slots(shares, 3)


@pytest.mark.parametrize("budget", [-1, 2.0, 10**9 + 1, None])
def test_a_budget_that_is_none(budget):
    with pytest.raises(InputError, match="budget="):
        integer_slots([1.0], budget)


@pytest.mark.parametrize(
    ("audit", "value", "weight"),
    [
        (("power_law_compatible", 3.0, 0.5, 200), 0.5, 1.0),
        (("truncated_power_law_compatible", 1.8, 0.2, 150), 1.25, 1.0),
        (("truncated_power_law_compatible", 1.2, 0.2, 150), 2.0, 1.0),
        (("undecided", 2.0, 0.1, 250), 1.0, 1.0),
        (("undecided", 2.0, 0.4, 40), 0.4, 0.4),
        (("undecided", 2.0, 0.0999, 250), 0.0, 0.0),
        (("undecided", 2.0, None, 250), 0.0, 0.0),
        (("undecided", 2.0, 0.5, 0), 0.0, 0.0),
        (("lognormal_compatible", 2.0, 0.9, 500), 0.0, 0.0),
        (("not_auditable", 2.0, 0.9, 99), 0.0, 0.0),
        (("not_auditable", None, None, None), 0.0, 0.0),
    ],
)
def test_a_concentration_from_an_audit(audit, value, weight):
    tau = tau_from_audit(*audit)
    assert tau.value == pytest.approx(value, rel=1e-12)
    assert tau.weight == weight
    assert audit[0] in tau.reason


def test_the_reason_names_the_numbers():
    assert tau_from_audit("undecided", 2.5, 0.25, 50).reason == (
        "the audit is undecided, and does not reject the power law (p = 0.25) on a tail of 50: "
        "tau = 0.5 / (2.5 - 1) = 0.3333"
    )
    assert tau_from_audit("power_law_compatible", 1.25, 0.25, 500).reason == (
        "the audit says power_law_compatible: tau = 1 / (1.25 - 1) = 4, at most 2"
    )
    assert tau_from_audit("lognormal_compatible", 2.5, 0.0, 500).reason == (
        "the audit says lognormal_compatible: tau = 0, equal shares"
    )


@pytest.mark.parametrize(
    ("audit", "named"),
    [
        (("power law", 2.0, 0.5, 200), "verdict"),
        (("power_law_compatible", None, 0.5, 200), "alpha"),
        (("power_law_compatible", 1.0, 0.5, 200), "alpha"),
        (("power_law_compatible", math.nan, 0.5, 200), "alpha"),
        (("undecided", 2.0, math.nan, 200), "p_gof"),
        (("undecided", 2.0, 1.5, 200), "p_gof"),
        (("undecided", 2.0, 0.5, None), "n_tail"),
        (("undecided", 2.0, 0.5, -1), "n_tail"),
    ],
)
def test_an_audit_that_is_none(audit, named):
    with pytest.raises(InputError, match=f"audit: {named}="):
        tau_from_audit(*audit)


def test_every_verdict_of_the_audit_is_known():
    for verdict in VERDICTS:
        assert 0 <= tau_from_audit(verdict, 2.0, 0.5, 200).value <= 1


def test_a_concentration_from_a_real_audit():
    counts = np.floor(1 / np.linspace(0.002, 0.998, 400)).astype(int)
    result = audit_counts(counts, replicates=20)
    tau = auto_tau(result)
    assert tau == tau_from_audit(result.verdict, result.alpha, result.p_gof, result.n_tail)
    with pytest.raises(InputError, match="audit_counts"):
        auto_tau({"verdict": "undecided"})


@dataclass
class Audit:
    verdict: str = "power_law_compatible"
    alpha: float = 2.0
    p_gof: float = 0.5
    n_tail: int = 200


def test_any_object_with_the_four_attributes_is_an_audit():
    assert auto_tau(Audit()).value == 1.0


def test_the_controller_needs_nothing_but_numpy_and_regex():
    code = (
        "import sys; before = set(sys.modules); import numpy, regex; import coretail.controller; "
        "print(*sorted(name for name in set(sys.modules) - before if '.' not in name "
        "or name.startswith('coretail.')))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=SCRIPTS, capture_output=True, text=True, check=True
    ).stdout.split()
    ours = [name for name in found if name.startswith("coretail.")]
    assert set(ours) - {"coretail.errors", "coretail.controller"} == {
        name for name in ours if name.startswith("coretail.controller.")
    }
    foreign = {name for name in found if not name.startswith("coretail")} - {"numpy", "regex"}
    assert foreign <= set(sys.stdlib_module_names)
