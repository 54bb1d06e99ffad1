"""From the figures of an audit to its verdict (Assumption 3.3, Definition 3.4 and beyond)."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

from coretail.audit.comparison import Comparison
from coretail.errors import InputError

Verdict = Literal[
    "not_auditable",
    "truncated_power_law_compatible",
    "lognormal_compatible",
    "power_law_compatible",
    "undecided",
]

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

Alternative = Literal["truncated_power_law", "lognormal"]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The thresholds of a verdict.

    Attributes
    ----------
    p_gof
        Smallest bootstrap p at which a law is not rejected.
    z
        Smallest |z| at which a likelihood ratio prefers a law.
    n_tail
        Fewest observations in an auditable tail.
    ratio
        Smallest |R| at which two laws are told apart.
    """

    p_gof: float = 0.10
    z: float = 1.96
    n_tail: int = 100
    ratio: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.p_gof < 1:
            raise InputError(f"thresholds: p_gof {self.p_gof} is not between 0 and 1")
        for name in ("z", "n_tail", "ratio"):
            if not getattr(self, name) >= 0:
                raise InputError(f"thresholds: {name} {getattr(self, name)} is negative")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a verdict rests on.

    Attributes
    ----------
    no_cutoff
        Why the sample has no cutoff, else None.
    n_tail
        Observations in the tail.
    p_gof
        Bootstrap p of the pure power law; None where no bootstrap was run.
    truncated_lognormal
        Truncated power law against log-normal: the paper's Lambda is its R.
    own_p
        Bootstrap p of the law that :func:`preferred_alternative` names.
    truncated_note
        What is to be known of the truncated law's fit, for example that it is at a bound.
    power_lognormal, power_exponential
        Power law against log-normal and exponential.
    truncated_power
        Truncated against pure power law, nested.
    """

    no_cutoff: str | None
    n_tail: int
    p_gof: float | None
    truncated_lognormal: Comparison | None
    own_p: float | None
    truncated_note: str | None
    power_lognormal: Comparison | None
    power_exponential: Comparison | None
    truncated_power: Comparison | None


def preferred_alternative(evidence: Evidence, thresholds: Thresholds) -> Alternative | None:
    """Return the heavy-tailed alternative that Lambda prefers in an auditable sample, or None.

    It is the law whose own bootstrap p matters next: the log-normal's decides its verdict, the
    truncated law's stands beside its verdict.
    """
    comparison = evidence.truncated_lognormal
    if _not_auditable(evidence, thresholds) is not None or comparison is None:
        return None
    preferred = comparison.prefers(thresholds.z)
    if preferred is None:
        return None
    return "truncated_power_law" if preferred == "first" else "lognormal"


def decide(evidence: Evidence, thresholds: Thresholds) -> tuple[Verdict, str]:
    """Return the verdict and the reason for it.

    In this order: not auditable (no cutoff, a short tail, no finite positive standard error of
    Lambda); truncated-power-law-compatible (power law's p >= p_gof, Lambda > 0, |z| large);
    log-normal-compatible (log-normal's own p >= p_gof, Lambda < 0, |z| large);
    power-law-compatible (power law's p >= p_gof and no alternative preferred to it); undecided.
    A likelihood ratio below the gate on |R| prefers nothing.
    """
    why_not = _not_auditable(evidence, thresholds)
    if why_not is not None:
        return "not_auditable", why_not
    p = evidence.p_gof
    star = thresholds.p_gof
    alternative = preferred_alternative(evidence, thresholds)
    if p is None:
        return "undecided", "no bootstrap p of the power law"
    power = f"power law: p = {p:.3g} {'>=' if p >= star else '<'} {star:g}"
    lambda_text = _describe(evidence.truncated_lognormal)
    if evidence.truncated_note is not None:
        lambda_text += f" (truncated power law {evidence.truncated_note})"
    if p >= star and alternative == "truncated_power_law":
        return "truncated_power_law_compatible", f"{power}; {lambda_text}"
    own = evidence.own_p
    parts = [] if own is None or alternative is None else [_own(alternative, own, star)]
    if alternative == "lognormal" and own is not None and own >= star:
        return "lognormal_compatible", "; ".join([*parts, lambda_text])
    better = _better_than_power_law(evidence, thresholds)
    if p >= star and not better:
        return "power_law_compatible", f"{power}; no alternative is preferred to it"
    if better:
        parts.insert(0, f"preferred to it: {', '.join(better)}")
    return "undecided", "; ".join([power, *parts, lambda_text])


def _own(alternative: Alternative, p: float, star: float) -> str:
    name = "log-normal" if alternative == "lognormal" else "truncated power law"
    return f"{name}: p = {p:.3g} {'>=' if p >= star else '<'} {star:g}"


def _not_auditable(evidence: Evidence, thresholds: Thresholds) -> str | None:
    if evidence.no_cutoff is not None:
        return evidence.no_cutoff
    if evidence.n_tail < thresholds.n_tail:
        return f"n_tail = {evidence.n_tail} is below {thresholds.n_tail}"
    comparison = evidence.truncated_lognormal
    if comparison is None or comparison.sigma is None:
        reason = "not computed" if comparison is None else comparison.reason
        return f"no standard error of Lambda: {reason}"
    if comparison.sigma == 0.0:
        return "the standard error of Lambda is 0: the two alternatives coincide on this tail"
    return None


def _better_than_power_law(evidence: Evidence, thresholds: Thresholds) -> list[str]:
    better = []
    pairs = (
        ("log-normal", evidence.power_lognormal, "second"),
        ("exponential", evidence.power_exponential, "second"),
        ("truncated power law", evidence.truncated_power, "first"),
    )
    for name, comparison, side in pairs:
        if comparison is None or comparison.p is None:
            continue
        # A nested test is one-sided: at the p of |z| it needs a smaller z.
        if comparison.test == "nested":
            preferred = not comparison.indistinguishable and comparison.p <= _two_sided(
                thresholds.z
            )
        else:
            preferred = comparison.prefers(thresholds.z) == side
        if preferred:
            better.append(name)
    return better


def _two_sided(z: float) -> float:
    return math.erfc(z / math.sqrt(2.0))


def _describe(comparison: Comparison | None) -> str:
    if comparison is None or comparison.R is None:
        return "Lambda undefined"
    if comparison.indistinguishable or comparison.z is None:
        return f"Lambda = {comparison.R:.3g}: indistinguishable"
    return f"Lambda = {comparison.R:.3g}, z = {comparison.z:.3g}"
