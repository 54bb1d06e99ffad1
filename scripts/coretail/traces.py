"""The statistics by which one agent's memory trace is compared with matched controls."""

from typing import Any

import numpy as np
import numpy.typing as npt

from coretail.audit import LAMBDA, Rule, audit_counts
from coretail.concentration import concentration
from coretail.spectrum import welch_slope

STATISTICS = (
    "gini",
    "max_median",
    "alpha",
    "lambda_per_tail",
    "exponent_top",
    "exponent_events",
)
"""Statistics with an empirical p; Lambda is per observation, so that n_tail does not move it."""


def trace_statistics(
    access: npt.NDArray[np.int64],
    top_accessed: npt.NDArray[np.bool_],
    events: npt.NDArray[np.int64],
    *,
    ks: Rule,
) -> dict[str, Any]:
    """Return the statistics of one trace.

    Parameters
    ----------
    access
        Access count of each item, shape (n_items,), zeros allowed.
    top_accessed, events
        Per step: whether the most accessed item was accessed, and the access events; shape
        (steps,). Segments of their spectra are the largest power of two within steps / 8.
    ks
        Rule of the cutoff.

    Returns
    -------
    dict
        ``STATISTICS``, ``x_min``, ``n_tail`` and ``reason``: why statistics are None, empty if
        none is.
    """
    used = access[access > 0]
    shape = concentration(used)
    audit = audit_counts(used, replicates=0, ks=ks)
    ratio = audit.comparisons[LAMBDA] if audit.n_tail else None
    top, rate = welch_slope(top_accessed.astype(float)), welch_slope(events.astype(float))
    reasons = {
        "gini": shape.reasons.get("gini"),
        "max_median": shape.reasons.get("max_median"),
        "alpha": None if audit.n_tail else audit.reason,
        "lambda_per_tail": ratio.reason if ratio is not None else None,
        "exponent_top": top.reason,
        "exponent_events": rate.reason,
    }
    return {
        "gini": shape.gini,
        "max_median": shape.max_median,
        "x_min": audit.x_min,
        "n_tail": audit.n_tail,
        "alpha": audit.alpha,
        "lambda_per_tail": None if ratio is None or ratio.R is None else ratio.R / audit.n_tail,
        "exponent_top": top.exponent,
        "exponent_events": rate.exponent,
        "reason": "; ".join(f"{name}: {why}" for name, why in reasons.items() if why),
    }
