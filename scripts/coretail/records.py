"""Rows of artefacts from the library's results: one mapping of columns per result."""

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from coretail.concentration import concentration


def reason_text(reasons: Mapping[str, str]) -> str:
    """Return "field: reason" of every undefined field in one line, empty if all are defined."""
    return "; ".join(f"{field}: {reasons[field]}" for field in sorted(reasons))


def concentration_record(counts: npt.ArrayLike) -> dict[str, Any]:
    """Return the concentration columns for the counts of one cell, each count at least 1."""
    result = concentration(counts)
    return {
        "n_items": result.n,
        "total": result.total,
        "gini": result.gini,
        "skew": result.skew,
        "max_median": result.max_median,
        "top10_share": result.top10_share,
        "singletons": result.singletons,
        "sigma_top10": result.sigma_top10,
        "reason": reason_text(result.reasons),
    }
