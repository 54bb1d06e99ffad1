"""What the entry scripts of LongMemEval share: rows of contexts, bad records among them."""

from collections.abc import Iterable
from typing import Any

from coretail.longmemeval.contexts import Context, Haystack, Method, Settings
from coretail.longmemeval.records import QuestionError
from coretail.longmemeval.retrieval import RELAXATION_PARTS

Row = dict[str, Any]
DETERMINISTIC = "deterministic"


def limits_of(settings: dict[str, Any]) -> Settings:
    """Return a rule's budgets and exponent."""
    return Settings(**{key: settings[key] for key in ("slots", "slot_tokens", "tau", "tokens")})


def data_of(generated: Iterable[bool]) -> str:
    """Return what a file is, given for each record whether coretail made it.

    What a mixture gives is no number of the benchmark.
    """
    return "stand-in" if any(generated) else "benchmark"


def bad_record(error: QuestionError) -> Row:
    """Return the columns of a record that cannot be used, which are those of a context."""
    return {
        "question_id": error.question_id,
        "question_type": None,
        "abstention": None,
        "flags": [],
        "n_sessions": None,
        "status": "bad_record",
        "reason": f"{error.field}: {error.reason}",
        **dict.fromkeys(("local_tokens", "slots", "slots_used", "n_shown", "tau", "relaxation")),
        **dict.fromkeys(f"relaxation_{part}" for part in RELAXATION_PARTS),
        "n_evidence": None,
        "evidence_ranks": [],
        "evidence_shown": None,
    }


def context_row(haystack: Haystack, method: Method, context: Context) -> Row:
    """Return the columns of what a method shows of a question's haystack."""
    question = haystack.question
    relaxed = haystack.relaxation if method == "ctwm_relaxed" else None
    evidence = set(question.answer_session_ids)
    return {
        "question_id": question.question_id,
        "question_type": question.question_type,
        "abstention": question.abstention,
        "flags": list(question.flags),
        "n_sessions": len(question.sessions),
        "status": "packed",
        "reason": "",
        "local_tokens": context.tokens,
        "slots": context.slots,
        "slots_used": context.slots_used,
        "n_shown": len(context.shown),
        "tau": context.tau,
        "relaxation": relaxed.value if relaxed else None,
        **{
            f"relaxation_{part}": relaxed.reasons.get(part) if relaxed else None
            for part in RELAXATION_PARTS
        },
        "n_evidence": len(evidence),
        "evidence_ranks": haystack.evidence_ranks(method),
        "evidence_shown": sum(
            question.sessions[position].session_id in evidence for position in context.shown
        ),
    }
