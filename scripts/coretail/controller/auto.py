"""A concentration τ from an audit of how a memory was used."""

import math
from dataclasses import dataclass
from typing import Any, Protocol

from coretail.errors import InputError

MAX_TAU = 2.0
_FULL_TAIL = 100
_FULL_P = 0.1
_HEAVY = ("power_law_compatible", "truncated_power_law_compatible")
_OTHER = ("lognormal_compatible", "not_auditable")


class Audited(Protocol):
    """What :func:`auto_tau` reads of an audit: the result of ``coretail.audit.audit_counts``."""

    @property
    def verdict(self) -> Any:
        """The verdict, a string."""

    @property
    def alpha(self) -> float | None:
        """Exponent of the pure power law."""

    @property
    def p_gof(self) -> float | None:
        """Bootstrap p of the pure power law."""

    @property
    def n_tail(self) -> int | None:
        """Observations from the cutoff up."""


@dataclass(frozen=True, slots=True)
class Tau:
    """A concentration chosen by an audit.

    Attributes
    ----------
    value
        τ, from 0 to 2.
    weight
        w, from 0 to 1: how far the audit supports a heavy tail.
    reason
        Where both come from, in words.
    """

    value: float
    weight: float
    reason: str


def auto_tau(result: Audited) -> Tau:
    """Return the τ that an audit supports; see :func:`tau_from_audit`.

    Parameters
    ----------
    result
        The result of ``coretail.audit.audit_counts``, or any object with its ``verdict``,
        ``alpha``, ``p_gof`` and ``n_tail``.

    Raises
    ------
    InputError
        As :func:`tau_from_audit`, and if an attribute is missing.
    """
    try:
        parts = (result.verdict, result.alpha, result.p_gof, result.n_tail)
    except AttributeError as error:
        raise InputError(
            f"audit: {error}; give the result of coretail.audit.audit_counts"
        ) from error
    return tau_from_audit(*parts)


def tau_from_audit(
    verdict: str, alpha: float | None, p_gof: float | None, n_tail: int | None
) -> Tau:
    """Return τ = clip(w / (α - 1), 0, 2).

    A power law of frequencies with exponent α is Zipf's law of ranks with exponent 1 / (α - 1),
    which the weight w moves towards equal shares where the audit says less: w is 1 for a
    power-law or truncated-power-law verdict, min(1, n_tail / 100) for an undecided one whose power
    law is not rejected (p_gof ≥ 0.1), else 0.

    Parameters
    ----------
    verdict
        A verdict of ``coretail.audit``.
    alpha
        Exponent of the pure power law, above 1; None without a fit.
    p_gof
        Bootstrap p of the pure power law; None where no bootstrap was run.
    n_tail
        Observations from the cutoff up; None without a cutoff.

    Raises
    ------
    InputError
        If the verdict is unknown, a number is out of its range, or one that the weight needs is
        missing.
    """
    weight, why = _weight(verdict, p_gof, n_tail)
    if weight == 0.0:
        return Tau(0.0, 0.0, f"{why}: tau = 0, equal shares")
    if alpha is None or not (math.isfinite(alpha) and alpha > 1):
        raise InputError(
            f"audit: alpha={alpha!r} with verdict {verdict!r}; give the exponent of the power law, "
            "a number above 1"
        )
    ratio = weight / (alpha - 1)
    value = min(ratio, MAX_TAU)
    capped = f", at most {MAX_TAU:g}" if ratio > MAX_TAU else ""
    return Tau(
        value,
        weight,
        f"{why}: tau = {weight:.3g} / ({alpha:.4g} - 1) = {ratio:.4g}{capped}",
    )


def _weight(verdict: str, p_gof: float | None, n_tail: int | None) -> tuple[float, str]:
    if p_gof is not None and not 0 <= p_gof <= 1:
        raise InputError(f"audit: p_gof={p_gof!r}; give a probability, or None without a bootstrap")
    if n_tail is not None and not n_tail >= 0:
        raise InputError(f"audit: n_tail={n_tail!r}; give a number of observations, or None")
    if verdict in _HEAVY:
        return 1.0, f"the audit says {verdict}"
    if verdict in _OTHER:
        return 0.0, f"the audit says {verdict}"
    if verdict != "undecided":
        known = ", ".join((*_HEAVY, *_OTHER, "undecided"))
        raise InputError(f"audit: verdict={verdict!r} is unknown; give one of {known}")
    if p_gof is None:
        return 0.0, "the audit is undecided, without a bootstrap p of the power law"
    if p_gof < _FULL_P:
        return 0.0, f"the audit is undecided, and rejects the power law (p = {p_gof:.3g} < 0.1)"
    if n_tail is None:
        raise InputError("audit: n_tail=None with verdict 'undecided' and p_gof; give n_tail")
    return (
        min(1.0, n_tail / _FULL_TAIL),
        f"the audit is undecided, and does not reject the power law (p = {p_gof:.3g}) on a tail "
        f"of {n_tail}",
    )
