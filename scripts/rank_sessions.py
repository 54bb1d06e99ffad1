"""Rank and pack the sessions of every question by every method: what needs no model."""

from typing import Any

from _entry import LOGGER, Job, run
from _longmemeval import bad_record, context_row, data_of, limits_of
from coretail import artefacts
from coretail.controller import ENCODINGS
from coretail.longmemeval.contexts import BUDGETS, METHODS, Haystack
from coretail.longmemeval.records import QuestionError, read_questions


def main(job: Job) -> None:
    """Write one row per question, method, encoding and budget."""
    limits = limits_of(job.settings)
    cells = [(m, e, b) for b in BUDGETS for m in METHODS for e in ENCODINGS]
    rows: list[dict[str, Any]] = []
    generated: list[bool] = []
    for position, record in enumerate(read_questions(job.input("questions"))):
        generated.append(record.generated)
        if isinstance(record, QuestionError):
            LOGGER.warning("%s", record)
            packed = [bad_record(record)] * len(cells)
        else:
            haystack = Haystack(record, limits)
            packed = [context_row(haystack, m, haystack.context(m, e, b)) for m, e, b in cells]
        for (method, encoding, budget), row in zip(cells, packed, strict=True):
            key = {"method": method, "encoding": encoding, "budget": budget}
            rows.append({**key, "position": position, **row})
    data = data_of(generated)
    content = artefacts.table_of_rows(
        "longmemeval_contexts", [{"data": data} | row for row in rows]
    )
    artefacts.write(job.output("contexts"), "longmemeval_contexts", content, job.spec)


if __name__ == "__main__":
    run(main, globals()["snakemake"])
