"""Have a model judge the replies to LongMemEval's questions, beside the deterministic judge."""

from _entry import Job, run
from _model import client
from coretail import artefacts
from coretail.longmemeval.answering import ask_judge
from coretail.longmemeval.judging import Judgement
from coretail.longmemeval.records import Question, read_questions


def main(job: Job) -> None:
    """Write the rows of the answers, each with this judge's decision."""
    settings = job.settings
    rows = artefacts.read_rows(job.input("answers"), "longmemeval_answers")
    with client(job) as model:
        report = job.progress("replies", len(rows), detail=model.counters.line)
        records = read_questions(job.input("questions"))
        for number, (row, record) in enumerate(zip(rows, records, strict=True)):
            report(number)
            decision = Judgement(None, row["status"])
            if row["reply"] is not None and isinstance(record, Question):
                decision = ask_judge(
                    model, record, row["reply"], seed=settings["seed"], rule=job.spec["rule"]
                )
            row |= {
                "judge": settings["model"]["name"],
                "correct": decision.correct,
                "rule": decision.rule,
            }
    content = artefacts.table_of_rows("longmemeval_answers", rows)
    artefacts.write(job.output("judged"), "longmemeval_answers", content, job.spec)


if __name__ == "__main__":
    run(main, globals()["snakemake"])
