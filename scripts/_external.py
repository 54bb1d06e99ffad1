"""What Table 5 and Appendix B's table share: names of their rows, and what is said of models."""

from collections.abc import Iterable, Mapping
from typing import Any

ALFWORLD = {
    "alfworld_short_walk": "ALFWorld short-walk",
    "alfworld_long_walk": "ALFWorld long-walk ReAct",
    "alfworld_one_shot": "ALFWorld one-shot ReAct",
    "alfworld_three_shot": "ALFWorld three-shot ReAct",
}
# Who decides on LongMemEval's replies, whatever else judges beside it (see the analysis plan).
JUDGE = "deterministic"
NOT_RUN = "not run in this configuration"

_GATE = {
    True: "passes the competence gate",
    False: "does not pass the competence gate: nothing of it here carries a claim",
    None: "was not put to the competence gate",
}


def name_of(workload: str, data: str) -> str:
    """Return what a workload is called where its data may be a stand-in."""
    return f"Stand-in for {workload}" if data == "stand-in" else workload


def notes_of(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what stand-ins and the competence gate say of rows."""
    rows = list(rows)
    found = []
    if any(row["data"] == "stand-in" for row in rows):
        found.append(
            "Rows of a stand-in: no number in them is the benchmark's. The paper's numbers beside "
            "them are of the benchmark."
        )
    models = {row["model"]: row["competent"] for row in rows if row["model"] is not None}
    return found + [f"{model} {_GATE[passed]}." for model, passed in models.items()]
