from dataclasses import replace

import pytest

from coretail.audit.comparison import Comparison, undefined
from coretail.audit.verdict import (
    VERDICTS,
    Evidence,
    Thresholds,
    decide,
    preferred_alternative,
)
from coretail.errors import InputError


def pair(ratio, z, *, gate=0.5):
    return Comparison(ratio, ratio / z if z else 1.0, z, 0.5, "vuong", abs(ratio) < gate)


def nested_pair(ratio, p):
    return Comparison(ratio, 1.0, (2 * ratio) ** 0.5, p, "nested", ratio < 0.5)


NEUTRAL = Evidence(
    no_cutoff=None,
    n_tail=150,
    p_gof=0.4,
    truncated_lognormal=pair(0.6, 0.7),
    own_p=None,
    truncated_note=None,
    power_lognormal=pair(-0.6, -0.5),
    power_exponential=pair(9.0, 3.0),
    truncated_power=nested_pair(0.6, 0.2),
)


def verdict(thresholds=None, **changes):
    return decide(replace(NEUTRAL, **changes), thresholds or Thresholds())


def test_verdicts_in_their_order():
    assert VERDICTS == (
        "not_auditable",
        "truncated_power_law_compatible",
        "lognormal_compatible",
        "power_law_compatible",
        "undecided",
    )


def test_nothing_against_the_power_law():
    assert verdict() == (
        "power_law_compatible",
        "power law: p = 0.4 >= 0.1; no alternative is preferred to it",
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"no_cutoff": "no cutoff: all values are equal"}, "no cutoff: all values are equal"),
        ({"n_tail": 99}, "n_tail = 99 is below 100"),
        ({"truncated_lognormal": None}, "not computed"),
        ({"truncated_lognormal": undefined("vuong", "no fit of lognormal")}, "no fit of lognormal"),
        (
            {"truncated_lognormal": Comparison(0.0, 0.0, None, None, "vuong", True)},
            "standard error of Lambda is 0",
        ),
    ],
)
def test_not_auditable_comes_first(changes, reason):
    name, why = verdict(**{"truncated_lognormal": pair(5.0, 3.0), **changes})
    assert name == "not_auditable"
    assert reason in why


def test_definition_3_4():
    name, why = verdict(truncated_lognormal=pair(5.0, 3.0))
    assert name == "truncated_power_law_compatible"
    assert why == "power law: p = 0.4 >= 0.1; Lambda = 5, z = 3"


@pytest.mark.parametrize(
    ("p_gof", "ratio", "z", "compatible"),
    [
        (0.10, 0.5, 1.96, True),
        (0.0999, 5.0, 3.0, False),
        (0.10, 0.4999, 5.0, False),
        (0.10, 5.0, 1.9599, False),
        (0.10, -5.0, -3.0, False),
    ],
)
def test_definition_3_4_at_its_thresholds(p_gof, ratio, z, compatible):
    name, _ = verdict(p_gof=p_gof, truncated_lognormal=pair(ratio, z))
    assert (name == "truncated_power_law_compatible") is compatible


@pytest.mark.parametrize(
    ("p_gof", "own", "expected"),
    [
        (0.0, 0.1, "lognormal_compatible"),
        (0.5, 0.1, "lognormal_compatible"),
        (0.5, 0.09, "power_law_compatible"),
        (0.0, 0.09, "undecided"),
        (0.0, None, "undecided"),
    ],
)
def test_the_log_normal_needs_its_own_p(p_gof, own, expected):
    assert verdict(p_gof=p_gof, own_p=own, truncated_lognormal=pair(-4.0, -2.5))[0] == expected


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"power_lognormal": pair(-4.0, -2.5)}, "log-normal"),
        ({"power_exponential": pair(-4.0, -2.5)}, "exponential"),
        ({"truncated_power": nested_pair(2.5, 0.0127)}, "truncated power law"),
    ],
)
def test_a_preferred_alternative_leaves_the_power_law_undecided(changes, name):
    result, why = verdict(**changes)
    assert result == "undecided"
    assert f"preferred to it: {name}" in why


def test_the_nested_test_is_held_to_the_p_of_the_same_z():
    # Two-sided p of 1.96 is 0.05.
    assert verdict(truncated_power=nested_pair(1.4, 0.0499))[0] == "undecided"
    assert verdict(truncated_power=nested_pair(1.3, 0.0501))[0] == "power_law_compatible"


def test_without_a_bootstrap_nothing_is_decided():
    name, why = verdict(p_gof=None, truncated_lognormal=pair(5.0, 3.0))
    assert (name, why) == ("undecided", "no bootstrap p of the power law")


def test_thresholds_are_parameters():
    strict = Thresholds(p_gof=0.5, z=4.0, n_tail=200, ratio=10.0)
    assert verdict(strict)[0] == "not_auditable"
    assert verdict(strict, n_tail=200)[0] == "undecided"
    loose = Thresholds(n_tail=3)
    assert verdict(loose, n_tail=3)[0] == "power_law_compatible"


def test_which_law_s_own_p_is_asked_for():
    thresholds = Thresholds()
    for comparison, expected in (
        (pair(5.0, 3.0), "truncated_power_law"),
        (pair(-5.0, -3.0), "lognormal"),
        (pair(5.0, 1.0), None),
        (pair(0.4, 3.0), None),
    ):
        evidence = replace(NEUTRAL, truncated_lognormal=comparison)
        assert preferred_alternative(evidence, thresholds) == expected
        assert preferred_alternative(replace(evidence, n_tail=50), thresholds) is None


def test_the_reason_names_bounds_and_own_p():
    _, why = verdict(
        p_gof=0.01,
        own_p=0.42,
        truncated_lognormal=pair(5.0, 3.0),
        truncated_note="at its bound lambda = 0: the power law",
    )
    assert "truncated power law: p = 0.42 >= 0.1" in why
    assert "at its bound lambda = 0" in why


@pytest.mark.parametrize(
    ("options", "message"),
    [({"p_gof": 1.0}, "p_gof 1.0"), ({"z": -1.0}, "z -1.0"), ({"n_tail": -1}, "n_tail -1")],
)
def test_unusable_thresholds(options, message):
    with pytest.raises(InputError, match=message):
        Thresholds(**options)
