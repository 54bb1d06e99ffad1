"""The empirical distribution of counts, as figures draw it."""

from typing import Any

import numpy as np
import numpy.typing as npt


def rank_rows(counts: npt.ArrayLike) -> list[dict[str, Any]]:
    """Return ``rank`` (from 1) and ``count`` of each item, counts descending."""
    ordered = np.sort(np.asarray(counts))[::-1].tolist()
    return [{"rank": rank, "count": count} for rank, count in enumerate(ordered, start=1)]


def ccdf_rows(counts: npt.ArrayLike) -> list[dict[str, Any]]:
    """Return ``x`` and ``ccdf``, the share of items with a count of at least x, per distinct x."""
    values, first = np.unique(np.sort(np.asarray(counts)), return_index=True)
    shares = 1 - first / np.size(counts)
    return [{"x": x, "ccdf": y} for x, y in zip(values.tolist(), shares.tolist(), strict=True)]
