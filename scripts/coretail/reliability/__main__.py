"""Make the data file of :mod:`coretail.reliability` from the pipeline's calibration."""

import argparse
import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from coretail import artefacts
from coretail.audit.calibration import TRUE_LAWS, X_MIN
from coretail.errors import InputError
from coretail.reliability import BANDS, FILE, Cell

COMMAND = (
    "snakemake --configfile config/reliability.yaml -- results/audits/calibration/"
    "{power_law,truncated_power_law,lognormal,exponential}.parquet && "
    "PYTHONPATH=scripts python -m coretail.reliability results/audits/calibration/*.parquet "
    f"--out scripts/coretail/reliability/{FILE}"
)

_ORIGIN = ("rule", "code", "config", "packages")


def tabulate(rows: Sequence[Mapping[str, Any]]) -> list[Cell]:
    """Return the numbers of samples in rows of the artefact ``calibration``, none of them zero."""
    counts = Counter(
        (
            row["law"],
            row["n_tail"],
            BANDS[bisect_right(BANDS, row["n_tail_fitted"]) - 1],
            row["verdict"],
        )
        for row in rows
    )
    return [Cell(*key, count) for key, count in sorted(counts.items())]


def main(argv: Sequence[str] | None = None) -> None:
    """Write the data file from artefacts of the pipeline's calibration."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("calibration", nargs="+", type=Path, help="one file per law")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args(argv)
    origins = [pq.read_schema(path).metadata for path in arguments.calibration]
    made = {name: {origin[f"coretail.{name}".encode()] for origin in origins} for name in _ORIGIN}
    for name, values in made.items():
        if len(values) > 1:
            raise InputError(f"calibration: files differ in their {name}; give those of one run")
    rows = artefacts.read_all(arguments.calibration, "calibration").to_pylist()
    cells = tabulate(rows)
    found = {cell.law for cell in cells}
    if missing := [law for law in TRUE_LAWS if law not in found]:
        raise InputError(f"calibration: no samples of {', '.join(missing)}; give a file per law")
    origin = {name: next(iter(values)).decode() for name, values in made.items()}
    head = {
        "about": "Samples of known laws by true tail size, band of the audit's n_tail, and verdict",
        "command": COMMAND,
        "rule": origin["rule"],
        "code": origin["code"],
        "configuration": json.loads(origin["config"]),
        "packages": json.loads(origin["packages"]),
        "laws": {law: asdict(shape) for law, shape in TRUE_LAWS.items()},
        "x_min": X_MIN,
        "columns": ["law", "n_tail", "band", "verdict", "count"],
    }
    lines = [f"  {json.dumps(list(asdict(cell).values()))}" for cell in cells]
    text = json.dumps(head, indent=1).removesuffix("\n}")
    arguments.out.write_text(
        text + ',\n "cells": [\n' + ",\n".join(lines) + "\n ]\n}\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
