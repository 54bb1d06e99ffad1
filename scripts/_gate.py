"""The competence gate of the analysis plan, as every table that a model produced shows it."""

from collections.abc import Mapping
from typing import Any

from _entry import Job
from coretail import artefacts, stats

LEVEL = 0.05
# Share of random actions above which a run is printed and carries no claim.
MARKED = 0.1


def gate_note(row: Mapping[str, Any]) -> str:
    """Return what the gate says of the model of a row."""
    if row["competent"]:
        return f"{row['model']} passes the competence gate."
    return f"{row['model']} does not pass the competence gate: nothing here carries a claim."


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
