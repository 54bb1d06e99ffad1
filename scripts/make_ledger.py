"""Make the claims ledger: what the paper said, what came out here, and the verdict."""

from pathlib import Path
from typing import Any

from _entry import LOGGER, Job, run
from _tables import write_texts
from coretail import artefacts
from coretail.claims import ledger, read_claims, read_tables, summary
from coretail.config import read_yaml
from coretail.render import tables

RESOURCES = Path(__file__).parents[1] / "workflow/resources"


def main(job: Job) -> None:
    """Write one row per claim, and the verdicts' counts in one line."""
    claims = read_claims(RESOURCES / "claims.yaml", read_yaml(RESOURCES / "paper_values.yaml"))
    rows = ledger(claims, read_tables(job.inputs("tables")))
    content = artefacts.table_of_rows("ledger", rows)
    artefacts.write(job.output("ledger"), "ledger", content, job.spec)
    line = summary(rows)
    LOGGER.info("%s", line)
    write_texts(job, [table(rows, line)])


def table(rows: list[dict[str, Any]], line: str) -> tables.TableSpec:
    """Return the description of the ledger."""
    return tables.TableSpec(
        name="ledger",
        title="Claims ledger",
        caption=f"{line} Verdicts are computed by the rules of coretail.claims.judge.",
        columns=(
            tables.Column("Where", ("place",), tables.text(), "left"),
            tables.Column("The paper says", ("claim",), tables.text(), "left"),
            tables.Column("Paper", ("paper",), tables.text(), "left"),
            tables.Column("Here", ("ours",), lambda ours: ours or "—", "left"),
            tables.Column("n", ("n",), tables.integer(), missing="nothing to count"),
            tables.Column("Verdict", ("verdict_text",), tables.text(), "left"),
            tables.Column("Why", ("why",), tables.text(), "left"),
        ),
        rows=tuple(rows),
        notes=(
            "The paper does not name its model. What does not show with another one is not "
            "reproduced with that model, never contradicted.",
        ),
        layout="long",
        blocks="group",
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
