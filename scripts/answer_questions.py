"""Ask a model LongMemEval's questions from what one method shows, and judge its replies by rule."""

from typing import Any

from _entry import LOGGER, Job, run
from _longmemeval import DETERMINISTIC, bad_record, context_row, limits_of
from _model import client, model_of
from coretail import artefacts
from coretail.longmemeval.answering import ask_question, judged
from coretail.longmemeval.contexts import Haystack
from coretail.longmemeval.records import QuestionError, read_questions

REPLY = ("correct", "rule", "reply", "prompt_tokens", "completion_tokens")


def main(job: Job) -> None:
    """Write one row per question."""
    settings, path = job.settings, job.input("questions")
    cell: dict[str, Any] = {key: job.wildcards[key] for key in ("method", "encoding", "budget")}
    limits = limits_of(settings)
    total = sum(1 for _ in read_questions(path))
    # Of an endpoint's model the window is not known; the endpoint itself would complain.
    window = getattr(model_of(job), "context_tokens", None)
    rows: list[dict[str, Any]] = []
    with client(job) as model:
        report = job.progress("questions", total, detail=model.counters.line)
        for position, record in enumerate(read_questions(path)):
            report(position)
            row: dict[str, Any] = {
                "model": settings["model"]["name"],
                "data": settings["data"],
                **cell,
                "position": position,
                "judge": DETERMINISTIC,
            }
            if isinstance(record, QuestionError):
                LOGGER.warning("%s", record)
                row |= bad_record(record) | dict.fromkeys(REPLY) | {"rule": "bad_record"}
            else:
                haystack = Haystack(record, limits)
                context = haystack.context(**cell)
                answer = ask_question(
                    model,
                    record,
                    context.text,
                    window=window,
                    seed=settings["seed"],
                    rule=job.spec["rule"],
                )
                judgement = judged(record, answer)
                values = (
                    judgement.correct,
                    judgement.rule,
                    answer.reply,
                    answer.prompt_tokens,
                    answer.completion_tokens,
                )
                row |= context_row(haystack, cell["method"], context)
                row |= {"status": answer.status, **dict(zip(REPLY, values, strict=True))}
            rows.append(row)
    if full := sum(row["status"] == "window_full" for row in rows):
        LOGGER.warning(
            "%d of %d prompts may not fit into %d tokens and were not sent; raise `context_tokens` "
            "of the model",
            full,
            total,
            window,
        )
    content = artefacts.table_of_rows("longmemeval_answers", rows)
    artefacts.write(job.output("answers"), "longmemeval_answers", content, job.spec)


if __name__ == "__main__":
    run(main, globals()["snakemake"])
