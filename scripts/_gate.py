"""The competence gate of the analysis plan, as every table that a model produced shows it."""

from collections.abc import Iterable, Mapping
from typing import Any

from _entry import Job
from coretail import artefacts, stats

LEVEL = 0.05
# Share of random actions above which a run is printed and carries no claim.
MARKED = 0.1

_SAID = {
    True: "passes the competence gate",
    False: "does not pass the competence gate: its choices, predictions and answers carry no claim",
    None: "was not put to the competence gate",
}


def gate_note(row: Mapping[str, Any]) -> str:
    """Return what the gate says of the model of a row."""
    return f"{row['model']} {_SAID[row['competent']]}."


def gate_notes(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what the gate says of each model of rows, in their order; rows may have none."""
    models = {row["model"]: row for row in rows if row["model"] is not None}
    return list(map(gate_note, models.values()))


def not_read(marked: float | None) -> str:
    """Return the reading of a comparison with a share of random steps; empty if it may be read."""
    if marked is None or marked <= MARKED:
        return ""
    return f"not read: {100 * marked:.1f}% of steps random"


def competent_models(job: Job) -> dict[str, bool]:
    """Return whether each model passes the gate: how it copies, guesses, and finds its errands."""
    competence = artefacts.read_rows(job.input("competence"), "table_competence")
    hits = artefacts.read_rows(job.input("hits"), "table_hits")
    least = job.settings["gate"]
    models = dict.fromkeys(row["model"] for row in competence)
    return {model: passes(model, competence, hits, least) for model in models}


def passes(
    model: str,
    competence: list[dict[str, Any]],
    hits: list[dict[str, Any]],
    least: dict[str, float],
) -> bool:
    """Return whether one model passes."""
    by = {row["condition"]: row["accuracy"] for row in competence if row["model"] == model}
    copies = [by[f"rank_{rank}"] for rank in (1, 3, 5)]
    p = stats.fisher_p(row["p"] for row in hits if row["model"] == model)
    return (
        all(share is not None and share >= least["copied"] for share in copies)
        and by["empty"] is not None
        and by["empty"] < least["guessed"]
        and p is not None
        and p < LEVEL
    )
