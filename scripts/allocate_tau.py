"""Allocate shares and slots by rank for every τ: what the exponent asks for."""

import numpy as np
import pyarrow as pa

from _entry import Job, run
from coretail import artefacts
from coretail.controller import allocate, integer_slots


def main(job: Job) -> None:
    """Write one row per τ and rank."""
    settings = job.settings
    parts = []
    for tau in settings["values"]:
        shares = allocate(settings["n_ranked"], tau)
        columns = {
            "tau": tau,
            "rank": np.arange(1, shares.size + 1),
            "share": shares,
            "slots": integer_slots(shares, settings["slots"]),
        }
        parts.append(artefacts.table("tau_allocation", columns))
    artefacts.write(job.output("allocation"), "tau_allocation", pa.concat_tables(parts), job.spec)


if __name__ == "__main__":
    run(main, globals()["snakemake"])
