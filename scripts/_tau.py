"""What the entries of the τ sweep share: its rows, how concentrated counts are, who walked."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from coretail import artefacts
from coretail.audit import audit_counts
from coretail.records import concentration_record

Row = dict[str, Any]


def of_items(
    key: Row, n_steps: int, reads: NDArray[np.int64], writes: NDArray[np.int64]
) -> tuple[Row, pa.Table]:
    """Return the row of the sweep for the access counts of all items, and the counts.

    Parameters
    ----------
    key
        The row's cell, tau and level.
    n_steps
        Steps of the trajectory.
    reads, writes
        Shape (n_edges,).
    """
    used = np.flatnonzero(reads + writes)
    columns = {"edge": used, "reads": reads[used], "writes": writes[used]}
    access = columns["reads"] + columns["writes"]
    record = concentration_record(access)
    fit = audit_counts(access, replicates=0)
    reasons = [record["reason"], "" if fit.x_min is not None else fit.reason]
    fitted = {
        "x_min": fit.x_min,
        "n_tail": fit.n_tail,
        "alpha": fit.alpha,
        "alpha_se": fit.alpha_se,
        "reason": "; ".join(filter(None, reasons)),
    }
    counts = artefacts.table("tau_counts", key | columns | {"access": access})
    return key | {"n_steps": n_steps} | record | fitted, counts


def of_ranks(key: Row, n_steps: int, reads: NDArray[np.int64]) -> Row:
    """Return the row of the sweep for the reads of each rank.

    A few ranks have no tail: nothing is fitted.
    """
    unfitted = dict.fromkeys(("x_min", "n_tail", "alpha", "alpha_se"))
    record = concentration_record(reads[reads > 0])
    return key | {"level": "rank", "n_steps": n_steps} | record | unfitted


def who(row: Row) -> str:
    """Return who walked, in words."""
    name = str(row["driver"]).replace("_", " ")
    return f"{name}, {row['model']}" if row["model"] else name
