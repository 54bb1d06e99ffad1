"""An audit as one flat row, the columns of the ``audits`` artefact."""

from typing import Any

from coretail.audit.engine import LAMBDA, AuditResult
from coretail.audit.laws import LAWS, Shape
from coretail.audit.powerlaw_package import PackageReport

_PARAMETERS = {
    "power_law": (),
    "truncated_power_law": ("alpha", "lambda", "alpha_free", "lambda_free"),
    "lognormal": ("mu", "sigma", "eta1", "eta2"),
    "exponential": ("lambda",),
}
_COMPARISONS = {
    "lambda": LAMBDA,
    "lambda_free": "truncated_power_law_free_vs_lognormal",
    "power_law_vs_lognormal": "power_law_vs_lognormal",
    "power_law_vs_exponential": "power_law_vs_exponential",
    "truncated_vs_power_law": "truncated_power_law_vs_power_law",
}
_PACKAGE = ("version", "x_min", "n_tail", "alpha", "R", "z", "p", "reason")


def audit_record(result: AuditResult, package: PackageReport | None = None) -> dict[str, Any]:
    """Return the columns of one audit.

    Parameters
    ----------
    result
        The audit.
    package
        What the ``powerlaw`` package says of the same counts; its columns are None without it.
    """
    plain = ("n", "n_tail", "x_min", "alpha", "alpha_se", "ks", "loglik", "p_gof", "replicates")
    row = {name: getattr(result, name) for name in plain}
    row |= {"ks_rule": result.ks_rule, "verdict": result.verdict, "reason": result.reason}
    for prefix, name in _COMPARISONS.items():
        pair = result.comparisons.get(name)
        for key in ("R", "sigma", "z", "p"):
            row[f"{prefix}_{key}"] = None if pair is None else getattr(pair, key)
        row[f"{prefix}_indistinguishable"] = None if pair is None else pair.indistinguishable
    for law, parameters in _PARAMETERS.items():
        fit = result.fits.get(law)  # type: ignore[call-overload]
        for key in parameters:
            row[f"{law}_{key}"] = None if fit is None else fit.parameters[key]
        if law != "power_law":
            for key in ("loglik", "p_gof", "note"):
                row[f"{law}_{key}"] = None if fit is None else getattr(fit, key)
    for key in _PACKAGE:
        row[f"package_{key}"] = None if package is None else getattr(package, key)
    return row


def fitted_shapes(row: dict[str, Any]) -> dict[str, Shape]:
    """Return the fitted laws of an audit's row by name; empty without a cutoff."""
    if row["x_min"] is None:
        return {}
    parameters = {
        "power_law": (row["alpha"], 0.0),
        "truncated_power_law": (
            row["truncated_power_law_alpha"],
            row["truncated_power_law_lambda"],
        ),
        "lognormal": (row["lognormal_eta1"], row["lognormal_eta2"]),
        "exponential": (0.0, row["exponential_lambda"]),
    }
    return {
        law: Shape(law, float(row["x_min"]), first, second)
        for law in LAWS
        for first, second in [parameters[law]]
        if first is not None and second is not None
    }
