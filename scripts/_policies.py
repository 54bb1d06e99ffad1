"""What the tables of memory policies share: rows by cell, tokens and losses by seed."""

from collections.abc import Iterable, Mapping
from typing import Any

from coretail import stats
from coretail.errors import InputError
from coretail.render import tables

Rows = list[dict[str, Any]]
Cell = tuple[str, ...]


def cell_of(row: Mapping[str, Any]) -> Cell:
    """Return what tells a policy's runs from others."""
    return row["driver"], row["budget"], row["policy"], row["encoding"]


def by_cell(rows: Iterable[dict[str, Any]]) -> dict[Cell, Rows]:
    """Return rows by cell, in the order of their first."""
    cells: dict[Cell, Rows] = {}
    for row in rows:
        cells.setdefault(cell_of(row), []).append(row)
    return cells


def tokens_by_seed(replies: Rows) -> dict[int, float]:
    """Return the prompt tokens per call of each seed, each call for the steps it stands for."""
    sums: dict[int, tuple[float, float]] = {}
    for row in replies:
        if row["status"] != "window_full":
            weight, tokens = sums.get(row["seed"], (0.0, 0.0))
            sums[row["seed"]] = (
                weight + row["weight"],
                tokens + row["weight"] * row["prompt_tokens"],
            )
    return {seed: tokens / weight for seed, (weight, tokens) in sums.items()}


def tokens_in_pairs(first: Rows, second: Rows) -> tuple[list[float | None], list[float | None]]:
    """Return the prompt tokens per call of two policies by seed, over the steps that both had.

    Where a context window was full, the steps before alone are of both. A seed without such a step
    has None.
    """
    seeds = {row["seed"] for row in first}
    if others := seeds.symmetric_difference(row["seed"] for row in second):
        names = [cell_of(rows[0]) for rows in (first, second)]
        raise InputError(f"memory_asked: seeds {sorted(others)} stand in one of {names} alone")
    kept = [
        {(row["seed"], row["step"]) for row in rows if row["status"] != "window_full"}
        for rows in (first, second)
    ]
    by_seed = [
        tokens_by_seed([row for row in rows if (row["seed"], row["step"]) in kept[0] & kept[1]])
        for rows in (first, second)
    ]
    own, other = ([found.get(seed) for seed in sorted(seeds)] for found in by_seed)
    return own, other


def limits(name: str, interval: stats.Interval | None) -> dict[str, float | None]:
    """Return an interval as three columns."""
    return {
        name: interval.estimate if interval else None,
        f"{name}_low": interval.low if interval else None,
        f"{name}_high": interval.high if interval else None,
    }


def coverage_and_error(undefined: str) -> tuple[tables.Column, ...]:
    """Return the columns of coverage (states/transitions) and tail error; why one is undefined."""
    return (
        tables.Column("Coverage", ("store_states", "store_transitions"), shares),
        tables.Column("Exposed", ("exposed_states", "exposed_transitions"), shares),
        tables.Column(
            "Tail error [95%]",
            ("tail_error", "tail_error_low", "tail_error_high"),
            tables.interval(3),
            missing=undefined,
        ),
        tables.Column("First", ("tail_error_first",), tables.decimal(3), missing=undefined),
        tables.Column(
            "Repeated",
            ("tail_error_repeated",),
            tables.decimal(3),
            missing="no repeated meeting at a tail state",
        ),
    )


def shares(states: float, transitions: float) -> str:
    """Return two shares as one cell."""
    return f"{states:.3f}/{transitions:.3f}"
