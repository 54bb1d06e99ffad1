"""Ask a model LongMemEval's questions from what one method shows, and judge its replies by rule."""

from typing import Any

from _entry import LOGGER, Job, run
from _longmemeval import DETERMINISTIC, bad_record, context_row, data_of, limits_of
from _model import client, model_of
from coretail import artefacts
from coretail.longmemeval.answering import Answer, TailSummary, ask_question, judged, summarise_tail
from coretail.longmemeval.contexts import Haystack
from coretail.longmemeval.records import QuestionError, read_questions

REPLY = ("correct", "rule", "reply", "prompt_tokens", "cached_tokens", "completion_tokens")
SUMMARY = ("calls", "prompt_tokens", "completion_tokens")


def main(job: Job) -> None:
    """Write one row per question."""
    settings, path = job.settings, job.input("questions")
    cell: dict[str, Any] = {key: job.wildcards[key] for key in ("method", "encoding", "budget")}
    limits = limits_of(settings)
    generated = [record.generated for record in read_questions(path)]
    total, data = len(generated), data_of(generated)
    # Of an endpoint's model the window is not known; the endpoint itself would complain.
    window = getattr(model_of(job), "context_tokens", None)
    asking: dict[str, Any] = {
        "window": window,
        "seed": settings["seed"],
        "rule": job.spec["rule"],
    }
    rows: list[dict[str, Any]] = []
    with client(job) as model:
        report = job.progress("questions", total, detail=model.counters.line)
        for position, record in enumerate(read_questions(path)):
            report(position)
            row: dict[str, Any] = {
                "model": settings["model"]["name"],
                "data": data,
                **cell,
                "position": position,
                "judge": DETERMINISTIC,
            }
            if isinstance(record, QuestionError):
                LOGGER.warning("%s", record)
                row |= bad_record(record) | dict.fromkeys(REPLY) | {"rule": "bad_record"}
                row |= summary_columns(TailSummary("nothing"))
            else:
                haystack = Haystack(record, limits)
                summary, shown = TailSummary("nothing"), None
                if settings["tail"] == "model":
                    tail = haystack.tail(**cell)
                    summary = summarise_tail(model, record, tail, limits.slot_tokens, **asking)
                    shown = summary.text
                context = haystack.context(**cell, summary=shown)
                if summary.failure is None:
                    answer = ask_question(model, record, context.text, **asking)
                else:
                    answer = Answer(summary.failure)
                judgement = judged(record, answer)
                values = (
                    judgement.correct,
                    judgement.rule,
                    answer.reply,
                    answer.prompt_tokens,
                    answer.cached_tokens,
                    answer.completion_tokens,
                )
                row |= context_row(haystack, cell["method"], context)
                row |= {"status": answer.status, **dict(zip(REPLY, values, strict=True))}
                row |= summary_columns(summary)
            rows.append(row)
    if full := sum(row["status"].endswith("window_full") for row in rows):
        LOGGER.warning(
            "%d of %d prompts may not fit into %d tokens and were not sent; raise `context_tokens` "
            "of the model",
            full,
            total,
            window,
        )
    content = artefacts.table_of_rows("longmemeval_answers", rows)
    artefacts.write(job.output("answers"), "longmemeval_answers", content, job.spec)


def summary_columns(summary: TailSummary) -> dict[str, int]:
    """Return what the summary of a tail cost."""
    return {f"summary_{name}": getattr(summary, name) for name in SUMMARY}


if __name__ == "__main__":
    run(main, globals()["snakemake"])
