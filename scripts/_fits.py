"""Fitted laws as curves, for the figures that draw them."""

from typing import Any

import numpy as np

from coretail.audit.laws import survival
from coretail.audit.record import fitted_shapes


def fitted_curves(audit: dict[str, Any]) -> list[dict[str, Any]]:
    """Return points of every law fitted in one audit, as shares of all items.

    A curve ends where the law expects half an item.
    """
    points = []
    for law, shape in fitted_shapes(audit).items():
        x = np.unique(np.geomspace(audit["x_min"], 5000 * audit["x_min"], 200).round())
        shares = survival(shape, x) * audit["n_tail"] / audit["n"]
        points += [
            {"family": audit["family"], "law": law, "x": float(at), "ccdf": float(share)}
            for at, share in zip(x, shares, strict=True)
            if share * audit["n"] >= 0.5
        ]
    return points
