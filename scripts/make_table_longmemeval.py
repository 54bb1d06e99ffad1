"""Make the tables of LongMemEval: evidence in contexts, accuracy, and methods in pairs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from _entry import Job, run
from _gate import competent_models, gate_notes
from _policies import limits
from _tables import write_texts
from coretail import artefacts, stats
from coretail.longmemeval.records import QUESTION_TYPES
from coretail.memory.comparison import compare_values
from coretail.render import tables

Row = dict[str, Any]
Key = tuple[Any, ...]

GROUPS = ("all", *QUESTION_TYPES, "abstention")
SHOWN = ("all", "multi-session")
"""The groups that the texts show where the Parquet files have all."""

# What is compared with what, at one encoding; and the paper's other reading of its savings.
COMPARED = (
    ("ctwm", "graph"),
    ("ctwm_relaxed", "ctwm"),
    ("ctwm_relaxed", "graph"),
    ("graph", "bm25"),
)
ACROSS = (("ctwm", "compact"), ("graph", "verbose"))


def main(job: Job) -> None:
    """Write the three tables."""
    settings = job.settings
    contexts = artefacts.read_rows(job.input("contexts"), "longmemeval_contexts")
    answers: list[Row] = []
    if settings["models"]:
        files = [*job.inputs("answers"), *job.inputs("judged")]
        answers = artefacts.read_all(files, "longmemeval_answers").to_pylist()
    competent = competent_models(job) if answers else {}
    retrieval = retrieval_rows(contexts)
    accuracy = accuracy_rows(answers)
    parity = settings["margin"], settings["floor"]
    unasked = {"model": None, "judge": None, "correct": None, "summary_calls": 0}
    local = [row | unasked for row in contexts]
    pairs = pair_rows(local, "local_tokens", *parity)
    pairs += pair_rows(answers, "prompt_tokens", *parity)
    for row in (*accuracy, *pairs):
        row["competent"] = competent.get(row["model"])
    for name, rows in (
        ("table_longmemeval_retrieval", retrieval),
        ("table_longmemeval", accuracy),
        ("table_longmemeval_pairs", pairs),
    ):
        artefacts.write(job.output(name), name, artefacts.table_of_rows(name, rows), job.spec)
    data = contexts[0]["data"]
    compact = [row for row in shown(retrieval) if row["encoding"] == "compact"]
    lengths = [row for row in shown(pairs) if row["model"] is None and row["budget"] == "slots"]
    specs = [retrieval_table(compact, data), length_table(lengths, data)]
    if answers:
        answered = [row for row in shown(pairs) if row["model"] is not None]
        specs.append(accuracy_table(accuracy, data))
        # A model that answered from one method alone has no pairs.
        if answered:
            specs.append(pair_table(answered, data))
    write_texts(job, specs)


def of_group(rows: Iterable[Row], group: str) -> list[Row]:
    """Return the rows of a group; a bad record is in none."""
    usable = (row for row in rows if row["question_type"] is not None)
    if group == "abstention":
        return [row for row in usable if row["abstention"]]
    return [row for row in usable if group in ("all", row["question_type"])]


def by(rows: Iterable[Row], *columns: str) -> dict[Key, list[Row]]:
    """Return rows by the values of columns, in the order of their first."""
    found: dict[Key, list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[column] for column in columns), []).append(row)
    return found


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of what is defined; None if nothing is."""
    defined = [value for value in values if value is not None]
    return fmean(defined) if defined else None


def retrieval_rows(contexts: Iterable[Row]) -> list[Row]:
    """Return where the evidence ranks, and how long contexts are, per method and group."""
    columns = ("data", "method", "encoding", "budget")
    table = []
    for key, cell in by(contexts, *columns).items():
        n_bad = sum(row["question_type"] is None for row in cell)
        for group in GROUPS:
            rows = of_group(cell, group)
            told = [row for row in rows if row["evidence_ranks"]]
            complete = stats.wilson_interval(
                sum(row["evidence_shown"] == row["n_evidence"] for row in told), len(told)
            )
            tokens = stats.t_interval(row["local_tokens"] for row in rows)
            table.append(
                {
                    **dict(zip(columns, key, strict=True)),
                    "group": group,
                    "n_questions": len(rows),
                    "n_bad": n_bad,
                    "n_evidence": len(told),
                    **{f"recall_{k}": mean(recall(row, k) for row in told) for k in (1, 5, 10)},
                    "recall_shown": mean(row["evidence_shown"] / row["n_evidence"] for row in told),
                    **limits("complete", complete),
                    **limits("local_tokens", tokens),
                    "slots_used": mean(row["slots_used"] for row in rows),
                    "tau": mean(row["tau"] for row in rows),
                    "reason": because(
                        complete.reason and f"evidence: {complete.reason}",
                        tokens.reason and f"tokens: {tokens.reason}",
                    ),
                }
            )
    return table


def recall(row: Mapping[str, Any], k: int) -> float:
    """Return the share of a question's answer sessions within rank k."""
    return sum(rank <= k for rank in row["evidence_ranks"]) / row["n_evidence"]


def accuracy_rows(answers: Iterable[Row]) -> list[Row]:
    """Return accuracy and prompt tokens per model, judge, method and group."""
    columns = ("model", "data", "judge", "budget", "method", "encoding")
    table = []
    for key, cell in by(answers, *columns).items():
        n_bad = sum(row["question_type"] is None for row in cell)
        for group in GROUPS:
            rows = of_group(cell, group)
            decided = [row["correct"] for row in rows if row["correct"] is not None]
            replies = sum(row["reply"] is not None for row in rows)
            accuracy = stats.wilson_interval(sum(decided), len(decided))
            tokens = stats.t_interval(row["prompt_tokens"] for row in rows)
            sent = [row for row in rows if row["prompt_tokens"]]
            read = sum(row["prompt_tokens"] for row in sent)
            table.append(
                {
                    **dict(zip(columns, key, strict=True)),
                    "group": group,
                    "n": len(decided),
                    "correct": sum(decided),
                    **limits("accuracy", accuracy),
                    "undecided": replies - len(decided),
                    "unanswered": len(rows) - replies,
                    "n_bad": n_bad,
                    **limits("tokens", tokens),
                    **limits("tokens_in_all", stats.t_interval(map(in_all, rows))),
                    "cached": sum(row["cached_tokens"] for row in sent) / read if read else None,
                    "summary_calls": sum(row["summary_calls"] for row in rows),
                    "summary_prompt_tokens": sum(row["summary_prompt_tokens"] for row in rows),
                    "reason": because(
                        accuracy.reason, tokens.reason and f"tokens: {tokens.reason}"
                    ),
                }
            )
    return table


def in_all(row: Mapping[str, Any]) -> int | None:
    """Return a question's prompt tokens, those of the call that summarised the tail included.

    None without a model, and where the question itself was not asked.
    """
    if row["model"] is None or row["prompt_tokens"] is None:
        return None
    return int(row["prompt_tokens"] + row["summary_prompt_tokens"])


def pair_rows(rows: Iterable[Row], tokens: str, margin: float, floor: float) -> list[Row]:
    """Return the comparisons that the cells there are allow, per group.

    ``tokens`` names the column that holds a context's or a prompt's length.
    """
    columns = ("model", "data", "judge", "budget")
    table = []
    for key, of_key in by(rows, *columns).items():
        cells = by(of_key, "method", "encoding")
        for one, other in comparisons(cells):
            for group in GROUPS:
                table.append(
                    {
                        **dict(zip(columns, key, strict=True)),
                        "group": group,
                        "first": one[0],
                        "first_encoding": one[1],
                        "second": other[0],
                        "second_encoding": other[1],
                        **compared(
                            of_group(cells[one], group),
                            of_group(cells[other], group),
                            tokens,
                            margin,
                            floor,
                        ),
                    }
                )
    return table


def comparisons(cells: Mapping[Key, Any]) -> Iterator[tuple[Key, Key]]:
    """Yield the pairs of cells, each a method and an encoding, that are compared."""
    encodings = dict.fromkeys(encoding for _, encoding in cells)
    matched = [((a, e), (b, e)) for a, b in COMPARED for e in encodings]
    for pair in (*matched, ACROSS):
        if pair[0] in cells and pair[1] in cells:
            yield pair


def compared(
    first: Sequence[Row], second: Sequence[Row], tokens: str, margin: float, floor: float
) -> Row:
    """Return two methods' tokens and right replies, paired by question.

    Raises
    ------
    ValueError
        If they have not the same questions: a missing partner is an error, never dropped.
    """
    pairs = list(zip(first, second, strict=True))
    if any(one["position"] != other["position"] for one, other in pairs):
        raise ValueError("two methods have not the same questions")
    counted = [
        (float(one[tokens]), float(other[tokens]))
        for one, other in pairs
        if None not in (one[tokens], other[tokens])
    ]
    own, others = [a for a, _ in counted], [b for _, b in counted]
    reduction = stats.paired_reduction(others, own)
    both = [(in_all(one), in_all(other)) for one, other in pairs]
    sums = [(float(a), float(b)) for a, b in both if a is not None and b is not None]
    decided = [
        (float(one["correct"]), float(other["correct"]))
        for one, other in pairs
        if None not in (one["correct"], other["correct"])
    ]
    only_first, only_second = decided.count((1.0, 0.0)), decided.count((0.0, 1.0))
    right = [a for a, _ in decided], [b for _, b in decided]
    parity = stats.equivalence(*right, margin, floor=floor)
    known = bool(decided)
    return {
        "n_tokens": len(counted),
        **limits("tokens_first", stats.t_interval(own)),
        **limits("tokens_second", stats.t_interval(others)),
        **limits("tokens_reduction", reduction),
        **limits(
            "tokens_in_all_reduction",
            stats.paired_reduction([b for _, b in sums], [a for a, _ in sums]),
        ),
        "summary_calls": sum(row["summary_calls"] for pair in pairs for row in pair),
        "n": len(decided),
        "first_correct": int(sum(right[0])) if known else None,
        "second_correct": int(sum(right[1])) if known else None,
        "only_first": only_first if known else None,
        "only_second": only_second if known else None,
        "mcnemar_p": stats.mcnemar_exact(only_first, only_second),
        **limits("accuracy_difference", parity.difference),
        "margin": margin,
        "floor": floor,
        "equivalent": parity.equivalent,
        "detectable": compare_values(*right).detectable,
        "parity": PARITY[parity.equivalent] if known else None,
        "reason": because(
            reduction.reason and f"tokens: {reduction.reason}",
            parity.difference.reason and f"accuracy: {parity.difference.reason}",
            "no discordant pair" if known and not only_first + only_second else "",
        ),
    }


PARITY = {True: "shown", False: "not shown", None: "not testable"}


def because(*reasons: str) -> str:
    """Return reasons as one text."""
    return "; ".join(dict.fromkeys(reason for reason in reasons if reason))


def shown(rows: Iterable[Row]) -> list[Row]:
    """Return the rows that the texts show."""
    return [row for row in rows if row["group"] in SHOWN]


def heading(data: str) -> str:
    """Return what the data are, as a title says it."""
    return "LongMemEval" if data == "benchmark" else "Generated stand-in for LongMemEval"


def notes(data: str) -> tuple[str, ...]:
    """Return what the data are, as a sentence."""
    if data == "benchmark":
        return ("Data: the benchmark's file given.",)
    return ("Data: a generated stand-in. No number here is one of the benchmark.",)


IN_ALL = (
    " The answering model summarised the tails of ctwm and ctwm_relaxed in calls of their own: "
    "tokens without these, and in all with them."
)
EQUAL = tables.Column("Equal", ("budget",), tables.text(), "left")
METHOD = tables.Column("Method", ("method",), tables.text(), "left")
ENCODING = tables.Column("Encoding", ("encoding",), tables.text(), "left")
QUESTIONS = tables.Column("Questions", ("group",), tables.text(), "left")
MODEL = tables.Column("Model", ("model",), tables.text(), "left")
JUDGE = tables.Column("Judge", ("judge",), tables.text(), "left")
PAIR = (
    tables.Column("First", ("first", "first_encoding"), "{}, {}".format, "left"),
    tables.Column("Second", ("second", "second_encoding"), "{}, {}".format, "left"),
)
FEWER_TOKENS = tables.Column(
    "Fewer tokens [95%]",
    ("tokens_reduction", "tokens_reduction_low", "tokens_reduction_high"),
    tables.percent_interval(1),
)
UNDEFINED = "undefined (see the Parquet file's reason)"


def summarised(rows: Iterable[Row]) -> bool:
    """Return whether a model summarised tails for some of the rows."""
    return any(row["summary_calls"] for row in rows)


def retrieval_table(rows: Sequence[Row], data: str) -> tables.TableSpec:
    """Return the description of the table that needs no model."""
    return tables.TableSpec(
        name="longmemeval_retrieval",
        title=f"{heading(data)}: evidence in the contexts",
        caption=(
            "Mean share of a question's answer sessions within rank k, and in the context's core; "
            "questions with all of them there, with Wilson's interval; the context's mean length "
            "by the local counter, with a t interval. Compact encoding (the Parquet file has both)."
        ),
        columns=(
            EQUAL,
            METHOD,
            QUESTIONS,
            tables.Column("n", ("n_questions",), tables.integer()),
            *(
                tables.Column(f"Recall@{k}", (f"recall_{k}",), tables.decimal(2), missing=UNDEFINED)
                for k in (1, 5, 10)
            ),
            tables.Column("Shown", ("recall_shown",), tables.decimal(2), missing=UNDEFINED),
            tables.Column(
                "All shown [95%]",
                ("complete", "complete_low", "complete_high"),
                tables.percent_interval(1),
                missing=UNDEFINED,
            ),
            tables.Column(
                "Local tokens [95%]",
                ("local_tokens", "local_tokens_low", "local_tokens_high"),
                tables.interval(1),
                missing=UNDEFINED,
            ),
            tables.Column("Slots filled", ("slots_used",), tables.decimal(1), missing=UNDEFINED),
            tables.Column("Mean τ", ("tau",), tables.decimal(2), missing="no allocation by rank"),
        ),
        rows=tuple(rows),
        notes=notes(data),
        layout="page",
        blocks="budget",
    )


def accuracy_table(rows: Sequence[Row], data: str) -> tables.TableSpec:
    """Return the description of the table of accuracies."""
    return tables.TableSpec(
        name="longmemeval",
        title=f"{heading(data)}: accuracy",
        caption=(
            "Share of right replies among those that the judge decided, with Wilson's interval; "
            "prompt tokens per question as reported, with a t interval; cached: share of them that "
            "the server held from earlier prompts. A type's abstention questions are part of it."
            + (IN_ALL if summarised(rows) else "")
        ),
        columns=(
            MODEL,
            JUDGE,
            EQUAL,
            METHOD,
            ENCODING,
            QUESTIONS,
            tables.Column("n", ("n",), tables.integer()),
            tables.Column("Right", ("correct",), tables.integer()),
            tables.Column(
                "Accuracy [95%]",
                ("accuracy", "accuracy_low", "accuracy_high"),
                tables.percent_interval(1),
                missing=UNDEFINED,
            ),
            tables.Column("Undecided", ("undecided",), tables.integer()),
            tables.Column("No reply", ("unanswered",), tables.integer()),
            tables.Column(
                "Tokens [95%]",
                ("tokens", "tokens_low", "tokens_high"),
                tables.interval(1),
                missing=UNDEFINED,
            ),
            tables.Column("Cached", ("cached",), tables.percent(1), missing=UNDEFINED),
            *(
                (
                    tables.Column("Summaries", ("summary_calls",), tables.integer()),
                    tables.Column(
                        "In all [95%]",
                        ("tokens_in_all", "tokens_in_all_low", "tokens_in_all_high"),
                        tables.interval(1),
                        missing=UNDEFINED,
                    ),
                )
                if summarised(rows)
                else ()
            ),
        ),
        rows=tuple(rows),
        notes=(
            *notes(data),
            *gate_notes(rows),
            "The deterministic judge leaves preference questions undecided: answers are rubrics.",
        ),
        layout="long",
        blocks="method",
    )


def length_table(rows: Sequence[Row], data: str) -> tables.TableSpec:
    """Return the description of the table of contexts' lengths in pairs."""
    return tables.TableSpec(
        name="longmemeval_lengths",
        title=f"{heading(data)}: lengths of the contexts in pairs, without a model",
        caption=(
            "Contexts at equal slots on the same questions, by the local counter. Fewer tokens: "
            "mean of 1 - first / second. All with t intervals."
        ),
        columns=(
            *PAIR,
            QUESTIONS,
            tables.Column("n", ("n_tokens",), tables.integer()),
            *(
                tables.Column(
                    f"Tokens, {which} [95%]",
                    (f"tokens_{which}", f"tokens_{which}_low", f"tokens_{which}_high"),
                    tables.interval(1),
                )
                for which in ("first", "second")
            ),
            FEWER_TOKENS,
        ),
        rows=tuple(rows),
        notes=notes(data),
        layout="page",
    )


def pair_table(rows: Sequence[Row], data: str) -> tables.TableSpec:
    """Return the description of the table of replies in pairs."""
    first = rows[0]
    return tables.TableSpec(
        name="longmemeval_pairs",
        title=f"{heading(data)}: methods in pairs",
        caption=(
            "The first method against the second on the same questions. Fewer tokens: mean of "
            "1 - first / second of prompt tokens as reported, with a t interval. Difference of "
            "accuracies with the 90% interval of two one-sided tests; parity: within "
            f"±{100 * first['margin']:g} points, not testable if the better accuracy is below "
            f"{100 * first['floor']:g}%. p: McNemar's exact test. Detectable: the smallest "
            "difference shown with power 0.8." + (IN_ALL if summarised(rows) else "")
        ),
        columns=(
            MODEL,
            JUDGE,
            EQUAL,
            *PAIR,
            QUESTIONS,
            FEWER_TOKENS,
            *(
                (
                    tables.Column(
                        "In all [95%]",
                        (
                            "tokens_in_all_reduction",
                            "tokens_in_all_reduction_low",
                            "tokens_in_all_reduction_high",
                        ),
                        tables.percent_interval(1),
                    ),
                )
                if summarised(rows)
                else ()
            ),
            tables.Column("n", ("n",), tables.integer()),
            tables.Column(
                "First right", ("first_correct",), tables.integer(), missing="no decision"
            ),
            tables.Column(
                "Second right", ("second_correct",), tables.integer(), missing="no decision"
            ),
            tables.Column("p", ("mcnemar_p",), tables.p_value(), missing="no discordant pair"),
            tables.Column(
                "Difference [90%]",
                ("accuracy_difference", "accuracy_difference_low", "accuracy_difference_high"),
                tables.percent_interval(1),
            ),
            tables.Column("Parity", ("parity",), tables.text(), "left", missing="no decision"),
            tables.Column(
                "Detectable",
                ("detectable",),
                tables.percent(1),
                missing="no variation between questions",
            ),
        ),
        rows=tuple(rows),
        notes=(
            *notes(data),
            *gate_notes(rows),
            "The rows of ctwm_relaxed against ctwm say what relaxing τ by the question gives back "
            "and what it costs in tokens.",
        ),
        layout="page",
        blocks="budget",
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
