"""Make Appendix A's table: what the paper proves of the allocation, on the shipped allocator."""

from collections.abc import Sequence
from typing import Any

from _entry import Job, run
from _tables import write_texts
from coretail import artefacts
from coretail.controller import verify_propositions
from coretail.render import tables


def main(job: Job) -> None:
    """Write one row per statement."""
    sizes, taus = job.settings["sizes"], job.settings["taus"]
    rows = verified(sizes, taus)
    content = artefacts.table_of_rows("table_propositions", rows)
    artefacts.write(job.output("propositions"), "table_propositions", content, job.spec)
    write_texts(job, [table(rows, sizes, taus)])


def verified(sizes: Sequence[int], taus: Sequence[float]) -> list[dict[str, Any]]:
    """Return one row per statement."""
    return [
        {
            "proposition": found.proposition,
            "statement": found.statement,
            "measure": found.measure,
            "cases": found.cases,
            "holding": found.holds,
            "worst_margin": found.worst_margin,
        }
        for found in verify_propositions(sizes, taus)
    ]


def table(
    rows: list[dict[str, Any]], sizes: Sequence[int], taus: Sequence[float]
) -> tables.TableSpec:
    """Return the description of the table."""
    return tables.TableSpec(
        name="table_propositions",
        title="Table: Appendix A on the shipped allocator",
        caption=(
            f"Cases in which a statement holds, at M = {listed(sizes)} ranks and τ = "
            f"{listed(taus)}. The margin is above 0 where the statement holds; strict statements "
            "are checked on log-weights and log-odds, which stay apart where shares tie in "
            "floating point."
        ),
        columns=(
            tables.Column("Paper", ("proposition",), tables.text(), "left"),
            tables.Column("Statement", ("statement",), tables.text(), "left"),
            tables.Column("Case, and its margin", ("measure",), tables.text(), "left"),
            tables.Column("Cases", ("cases",), tables.integer()),
            tables.Column("Holding", ("holding",), tables.integer()),
            tables.Column("Smallest margin", ("worst_margin",), tables.significant(2)),
        ),
        rows=tuple(rows),
        layout="page",
    )


def listed(values: Sequence[float]) -> str:
    """Return numbers in a sentence."""
    return ", ".join(f"{value:,}" if isinstance(value, int) else f"{value:g}" for value in values)


if __name__ == "__main__":
    run(main, globals()["snakemake"])
