"""The audit of one vector of counts (Definition 3.2)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from coretail.audit.bootstrap import goodness_of_fit
from coretail.audit.comparison import Comparison, nested, undefined, vuong
from coretail.audit.kernels import Floats
from coretail.audit.laws import LAWS, Fit, Law, Shape, fit_laws, log_mass
from coretail.audit.sample import (
    Rule,
    Sample,
    Tail,
    check_rule,
    find_cutoff,
    no_cutoff_reason,
    sample_of,
    tail_of,
)
from coretail.audit.verdict import (
    Evidence,
    Thresholds,
    Verdict,
    decide,
    preferred_alternative,
)
from coretail.errors import InputError
from coretail.streams import Key

LAMBDA = "truncated_power_law_vs_lognormal"
"""The comparison whose R and sigma are the paper's Lambda and sigma_LR."""


@dataclass(frozen=True, slots=True)
class AuditResult:
    """What an audit returns. A figure that is undefined is None, and ``reason`` says why.

    Attributes
    ----------
    n, n_distinct
        Observations, and distinct values among them.
    n_tail
        Observations from ``x_min`` up; 0 without a cutoff.
    x_min
        Cutoff, fitted or given.
    alpha, alpha_se
        Exponent of the discrete power law and its standard error from the observed information at
        this cutoff.
    ks
        Kolmogorov-Smirnov distance of the power law, by ``ks_rule``.
    ks_rule
        ``full``: over all integers from the cutoff up; ``observed``: of P(X < x) at the data only.
    x_min_known
        Whether the cutoff was given.
    loglik
        Log-likelihood of the power law on the tail.
    p_gof
        Bootstrap p of the power law.
    replicates
        Defined bootstrap replicates behind ``p_gof``.
    seed
        Seed of the bootstrap.
    verdict, reason
        See :func:`coretail.audit.verdict.decide`.
    thresholds
        The thresholds of the verdict.
    fits
        Per law its fit; empty without a cutoff.
    comparisons
        Likelihood ratios by name, first law against second: ``truncated_power_law_vs_lognormal``
        (the paper's Lambda), the same without the bound on alpha
        (``truncated_power_law_free_vs_lognormal``), ``power_law_vs_lognormal``,
        ``power_law_vs_exponential`` and the nested ``truncated_power_law_vs_power_law``; empty
        without a cutoff.
    """

    n: int
    n_distinct: int
    n_tail: int
    x_min: int | None
    alpha: float | None
    alpha_se: float | None
    ks: float | None
    ks_rule: Rule
    x_min_known: bool
    loglik: float | None
    p_gof: float | None
    replicates: int
    seed: int
    verdict: Verdict
    reason: str
    thresholds: Thresholds
    fits: dict[Law, Fit]
    comparisons: dict[str, Comparison]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a JSON-able dict."""
        plain = {
            name: getattr(self, name)
            for name in self.__dataclass_fields__
            if name not in ("thresholds", "fits", "comparisons")
        }
        return {
            **plain,
            "thresholds": asdict(self.thresholds),
            "fits": {law: fit.to_dict() for law, fit in self.fits.items()},
            "comparisons": {name: pair.to_dict() for name, pair in self.comparisons.items()},
        }


def audit_counts(
    values: npt.ArrayLike,
    *,
    replicates: int = 2500,
    seed: int = 0,
    key: Sequence[Key] = (),
    ks: Rule = "full",
    x_min: int | None = None,
    min_tail: int = 1,
    thresholds: Thresholds | None = None,
    jobs: int = 1,
) -> AuditResult:
    """Audit a vector of counts: cutoff, exponent, goodness of fit, likelihood ratios, verdict.

    Parameters
    ----------
    values
        Positive integers, shape (n,), in any order.
    replicates
        Bootstrap replicates per law tested; 0 for no bootstrap, and so no verdict beyond
        "not auditable" or "undecided".
    seed, key
        Together the key of the sample's random stream: give every sample its own ``key``.
    ks
        Rule of the Kolmogorov-Smirnov distance that selects the cutoff: see
        :func:`coretail.audit.sample.find_cutoff`.
    x_min
        A known cutoff: nothing is scanned, in the sample or in the bootstrap.
    min_tail
        Fewest observations that a candidate cutoff may leave.
    thresholds
        Thresholds of the verdict; the paper's by default.
    jobs
        Threads of the bootstrap; they change nothing but the time.

    Raises
    ------
    InputError
        If a value is not a positive integer (the first offender is named), or another argument is
        not among those allowed.
    """
    check_rule(ks)
    for name, number, least in (
        ("replicates", replicates, 0),
        ("min_tail", min_tail, 1),
        ("jobs", jobs, 1),
        ("x_min", 1 if x_min is None else x_min, 1),
    ):
        if number != int(number) or number < least:
            raise InputError(f"{name}: {number} is not an integer of at least {least}")
    limits = Thresholds() if thresholds is None else thresholds
    sample = sample_of(values)
    tail, reason = _tail(sample, ks, x_min, min_tail)
    if tail is None:
        return _without_cutoff(sample, ks, x_min, seed, limits, reason)

    full = ks == "full"
    fits, free = fit_laws(tail, full=full)
    comparisons = compare_laws(tail, fits, free, gate=limits.ratio)
    stream_key = (
        int(seed),
        *(part.item() if isinstance(part, np.generic) else part for part in key),
    )

    def p_of(law: Law) -> tuple[float | None, int]:
        result = goodness_of_fit(
            tail,
            fits[law],
            replicates=replicates,
            key=stream_key,
            refit=x_min is None,
            full=full,
            min_tail=min_tail,
            jobs=jobs,
        )
        return result.p, result.replicates

    p_gof, defined = p_of("power_law")
    fits["power_law"] = replace(fits["power_law"], p_gof=p_gof)
    evidence = Evidence(
        no_cutoff=None,
        n_tail=tail.n,
        p_gof=p_gof,
        truncated_lognormal=comparisons[LAMBDA],
        own_p=None,
        truncated_note=fits["truncated_power_law"].note,
        power_lognormal=comparisons["power_law_vs_lognormal"],
        power_exponential=comparisons["power_law_vs_exponential"],
        truncated_power=comparisons["truncated_power_law_vs_power_law"],
    )
    alternative = preferred_alternative(evidence, limits)
    if alternative is not None and replicates > 0:
        own, _ = p_of(alternative)
        fits[alternative] = replace(fits[alternative], p_gof=own)
        evidence = replace(evidence, own_p=own)
    verdict, reason = decide(evidence, limits)
    power = fits["power_law"]
    return AuditResult(
        n=sample.n,
        n_distinct=sample.n_distinct,
        n_tail=tail.n,
        x_min=int(tail.x_min),
        alpha=power.parameters["alpha"],
        alpha_se=power.parameters["alpha_se"],
        ks=power.ks,
        ks_rule=ks,
        x_min_known=x_min is not None,
        loglik=power.loglik,
        p_gof=p_gof,
        replicates=defined,
        seed=int(seed),
        verdict=verdict,
        reason=reason,
        thresholds=limits,
        fits=fits,
        comparisons=comparisons,
    )


def _tail(sample: Sample, ks: Rule, x_min: int | None, min_tail: int) -> tuple[Tail | None, str]:
    reason = no_cutoff_reason(sample)
    if reason is not None:
        return None, reason
    if x_min is None:
        cutoff = find_cutoff(sample, ks=ks, min_tail=min_tail)
        if cutoff.x_min is None:
            return None, str(cutoff.reason)
        return tail_of(sample, cutoff.x_min), ""
    tail = tail_of(sample, int(x_min))
    if tail.values.size < 3:
        return None, f"{tail.values.size} distinct values from x_min = {x_min} up; a tail needs 3"
    return tail, ""


def compare_laws(
    tail: Tail, fits: dict[Law, Fit], free: Shape | None, *, gate: float
) -> dict[str, Comparison]:
    """Return the likelihood ratios of an audit; see :class:`AuditResult`.

    Parameters
    ----------
    tail
        The tail.
    fits, free
        As :func:`coretail.audit.laws.fit_laws` returns them.
    gate
        |R| below which two laws are called indistinguishable.
    """
    terms: dict[str, Floats] = {}
    for law in LAWS:
        shape = fits[law].shape
        if shape is not None:
            terms[law] = log_mass(shape, tail.values)
    truncated = fits["truncated_power_law"].parameters
    if truncated["lambda"] == 0.0:
        terms["truncated_power_law"] = terms["power_law"]
    if free is not None:
        terms["truncated_power_law_free"] = (
            terms["truncated_power_law"]
            if truncated["alpha"] == free.first and truncated["lambda"] == free.second
            else log_mass(free, tail.values)
        )
    pairs = (
        ("truncated_power_law", "lognormal"),
        ("truncated_power_law_free", "lognormal"),
        ("power_law", "lognormal"),
        ("power_law", "exponential"),
        ("truncated_power_law", "power_law"),
    )
    comparisons = {}
    for first, second in pairs:
        is_nested = second == "power_law"
        missing = [law for law in (first, second) if law not in terms]
        if missing:
            pair = undefined("nested" if is_nested else "vuong", f"no fit of {missing[0]}")
        else:
            compare = nested if is_nested else vuong
            pair = compare(terms[first], terms[second], tail.counts, gate)
        comparisons[f"{first}_vs_{second}"] = pair
    return comparisons


def _without_cutoff(
    sample: Sample, ks: Rule, x_min: int | None, seed: int, thresholds: Thresholds, reason: str
) -> AuditResult:
    evidence = Evidence(reason, 0, None, None, None, None, None, None, None)
    verdict, text = decide(evidence, thresholds)
    return AuditResult(
        n=sample.n,
        n_distinct=sample.n_distinct,
        n_tail=0,
        x_min=None,
        alpha=None,
        alpha_se=None,
        ks=None,
        ks_rule=ks,
        x_min_known=x_min is not None,
        loglik=None,
        p_gof=None,
        replicates=0,
        seed=int(seed),
        verdict=verdict,
        reason=text,
        thresholds=thresholds,
        fits={},
        comparisons={},
    )
