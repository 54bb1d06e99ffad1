"""What Table 5 and Appendix B's table share: names of their rows, and what is said of them."""

from collections.abc import Iterable, Mapping
from typing import Any

from _entry import Job
from _gate import gate_notes
from coretail import artefacts

ALFWORLD = {
    "alfworld_short_walk": "ALFWorld short-walk",
    "alfworld_long_walk": "ALFWorld long-walk ReAct",
    "alfworld_one_shot": "ALFWorld one-shot ReAct",
    "alfworld_three_shot": "ALFWorld three-shot ReAct",
}
# Who decides on LongMemEval's replies, whatever else judges beside it (see the analysis plan).
JUDGE = "deterministic"
NOT_RUN = "not run in this configuration"


def name_of(workload: str, data: str) -> str:
    """Return what a workload is called where its data may be a stand-in."""
    return f"Stand-in for {workload}" if data == "stand-in" else workload


def longmemeval_data(job: Job) -> str:
    """Return what LongMemEval's questions are, whether or not a model was asked them.

    The table of pairs says so: it compares the lengths of contexts without a model, too.
    """
    pairs = artefacts.read_rows(job.input("longmemeval_pairs"), "table_longmemeval_pairs")
    return str(pairs[0]["data"])


def notes_of(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what stand-ins and the competence gate say of rows."""
    rows = list(rows)
    found = []
    if any(row["data"] == "stand-in" for row in rows):
        found.append(
            "Rows of a stand-in: no number in them is the benchmark's. The paper's numbers beside "
            "them are of the benchmark."
        )
    return found + gate_notes(rows)
