"""Make Appendix B's table: how often each memory succeeds on the benchmarks or their stand-ins."""

from typing import Any

from _entry import Job, run
from _external import ALFWORLD, JUDGE, NOT_RUN, longmemeval_data, name_of, notes_of
from _gate import competent_models, not_read
from _policies import Rows
from _tables import write_texts
from coretail import artefacts, stats
from coretail.render import tables
from coretail.stats import exact_interval

MULTI_SESSION = "longmemeval_multi_session"
MEMORIES = ("graph", "ctwm")
REFERENCE = "graph"
LEVEL = 0.05
# A comparison with graph memory: pairs, those that only the one and only the other gets right.
Pair = tuple[int, int, int]


def main(job: Job) -> None:
    """Write one row per setting, model, memory and judge; never fewer than two per setting."""
    settings = job.settings
    rows = [*alfworld_rows(job), *longmemeval_rows(job)]
    competent = competent_models(job) if any(settings["models"].values()) else {}
    for row in rows:
        paper = settings["paper"].get(row["setting"], {}).get(row["policy"], {})
        row |= {
            "paper_successes": paper.get("count"),
            "paper_n": paper.get("n"),
            "competent": competent.get(row["model"]),
        }
    content = artefacts.table_of_rows("table_benchmarks", rows)
    artefacts.write(job.output("table_benchmarks"), "table_benchmarks", content, job.spec)
    write_texts(job, [table(rows)])


def alfworld_rows(job: Job) -> Rows:
    """Return games won in each setting."""
    models = job.settings["models"]["alfworld"]
    data = job.settings["data"]["alfworld"]
    if not models:
        return [
            row
            for setting, label in ALFWORLD.items()
            for row in not_run(setting, label, data, "game", "alfworld.models is empty")
        ]
    pairs = {
        (row["model"], row["configuration"], row["encoding"]): (
            row["n"],
            row["only_ctwm"],
            row["only_graph"],
        )
        for row in artefacts.read_rows(job.input("alfworld"), "table_alfworld")
        if row["encoding"] == row["reference_encoding"]
    }
    memories = artefacts.read_rows(job.input("memories"), "table_alfworld_memories")
    graph = {
        (row["model"], row["setting"], row["encoding"]): row
        for row in memories
        if row["policy"] == REFERENCE
    }
    rows: Rows = []
    for setting, label in ALFWORLD.items():
        for row in memories:
            if row["setting"] == setting:
                key = row["model"], setting, row["encoding"]
                compared = pairs.get(key) if row["policy"] == "ctwm" else None
                reference = graph.get(key)
                shares = [one["random_steps"] for one in (row, reference) if one is not None]
                marked = max((share for share in shares if share is not None), default=None)
                rows.append(
                    {
                        **cell(setting, label, row["data"], row["policy"], row["encoding"]),
                        "model": row["model"],
                        "judge": "game",
                        **outcome(row["n"], row["successes"], row["policy"]),
                        "marked": row["random_steps"],
                        **against(
                            row["policy"],
                            row["successes"],
                            reference["successes"] if reference else None,
                            compared,
                            not_read(marked),
                        ),
                    }
                )
    return rows


def longmemeval_rows(job: Job) -> Rows:
    """Return multi-session questions answered rightly, at equal slots."""
    models = job.settings["models"]["longmemeval"]
    label = "LongMemEval, multi-session"
    if not models:
        why = "longmemeval.models is empty"
        return not_run(MULTI_SESSION, label, longmemeval_data(job), JUDGE, why)

    def chosen(name: str) -> Rows:
        return [
            row
            for row in artefacts.read_rows(job.input(name), f"table_{name}")
            if (row["budget"], row["group"]) == ("slots", "multi-session")
            and row["model"] is not None
        ]

    pairs = {
        (row["model"], row["judge"], row["first"], row["first_encoding"]): (
            row["n"],
            row["only_first"] or 0,
            row["only_second"] or 0,
        )
        for row in chosen("longmemeval_pairs")
        if row["second"] == REFERENCE and row["first_encoding"] == row["second_encoding"]
    }
    answers = chosen("longmemeval")
    graph = {
        (row["model"], row["judge"], row["encoding"]): row["correct"]
        for row in answers
        if row["method"] == REFERENCE
    }
    rows: Rows = []
    for row in answers:
        model, judge, policy, encoding = (
            row[name] for name in ("model", "judge", "method", "encoding")
        )
        rows.append(
            {
                **cell(MULTI_SESSION, label, row["data"], policy, encoding),
                "model": model,
                "judge": judge,
                **outcome(row["n"], row["correct"], policy),
                # Nothing is chosen at random where a question has no reply.
                "marked": 0.0,
                **against(
                    policy,
                    row["correct"],
                    graph.get((model, judge, encoding)),
                    pairs.get((model, judge, policy, encoding)),
                ),
            }
        )
    rows.sort(key=lambda row: (models.index(row["model"]), row["judge"] != JUDGE))
    return rows


def cell(setting: str, label: str, data: str, policy: str, encoding: str) -> dict[str, Any]:
    """Return what tells a row from others, model and judge apart."""
    return {
        "setting": setting,
        "label": name_of(label, data),
        "data": data,
        "policy": policy,
        "encoding": encoding,
    }


def not_run(setting: str, label: str, data: str, judge: str, why: str) -> Rows:
    """Return the rows of a setting in which no model was asked."""
    return [
        {
            **cell(setting, label, data, policy, "compact"),
            "model": None,
            "judge": judge,
            "n": 0,
            "successes": None,
            **dict.fromkeys(("share", "share_low", "share_high", "marked")),
            **dict.fromkeys(("n_pairs", "only_own", "only_graph", "mcnemar_p")),
            "reading_difference": NOT_RUN,
            "reason": f"{NOT_RUN}: {why}",
        }
        for policy in MEMORIES
    ]


def outcome(n: int, successes: int, policy: str) -> dict[str, Any]:
    """Return successes of n with the exact interval of their share."""
    interval = exact_interval(successes, n)
    return {
        "n": n,
        "successes": successes,
        "share": interval.estimate,
        "share_low": interval.low,
        "share_high": interval.high,
        "reason": "" if n else f"no outcome with {policy}",
    }


def against(
    policy: str, own: int, graph: int | None, pair: Pair | None, unread: str = ""
) -> dict[str, Any]:
    """Return a memory's outcomes against those of graph memory on the same cases.

    ``unread`` says why nothing is read from them, if so.
    """
    n, only_own, only_graph = pair or (None, None, None)
    p = None if pair is None else stats.mcnemar_exact(pair[1], pair[2])
    if unread:
        found = unread
    elif policy == REFERENCE:
        found = "reference"
    elif pair is None:
        found = "not compared"
    elif own == graph == 0 or not pair[0]:
        found = "not testable"
    elif p is None or p >= LEVEL:
        found = "no difference shown"
    else:
        found = "more" if pair[1] > pair[2] else "fewer"
    return {
        "n_pairs": n,
        "only_own": only_own,
        "only_graph": only_graph,
        "mcnemar_p": p,
        "reading_difference": found,
    }


def table(rows: Rows) -> tables.TableSpec:
    """Return the description of the table."""
    return tables.TableSpec(
        name="table_benchmarks",
        title="Appendix B: Successes on the benchmarks",
        caption=(
            "Games won of those played, and multi-session questions answered rightly of those "
            "decided (equal slots); exact 95% intervals of their shares (Clopper and Pearson). "
            "Against graph memory, on the same games or questions at the same encoding: those that "
            "only the one gets right, and p of McNemar's exact test; not testable: 0 against 0."
        ),
        columns=(
            tables.Column("Setting", ("label",), tables.text(), "left"),
            tables.Column("Data", ("data",), tables.text(), "left"),
            tables.Column("Model", ("model",), tables.text(), "left", missing="no model was asked"),
            tables.Column("Memory", ("policy", "encoding"), "{}, {}".format, "left"),
            tables.Column("Judge", ("judge",), tables.text(), "left"),
            tables.Column("n", ("n",), tables.integer()),
            tables.Column("Successes", ("successes",), tables.integer()),
            tables.Column(
                "Share [95%]", ("share", "share_low", "share_high"), tables.percent_interval(1)
            ),
            tables.Column(
                "Paper",
                ("paper_successes", "paper_n"),
                "{}/{}".format,
                missing="the paper gives none",
            ),
            tables.Column("This alone", ("only_own",), tables.integer(), missing=NO_PAIR),
            tables.Column("Graph alone", ("only_graph",), tables.integer(), missing=NO_PAIR),
            tables.Column("p", ("mcnemar_p",), tables.p_value(), missing=NO_PAIR),
            tables.Column("Reading", ("reading_difference",), tables.text(), "left"),
        ),
        rows=tuple(rows),
        notes=notes(rows),
        layout="page",
        blocks="setting",
    )


NO_PAIR = "the reference, nothing to compare, or no case that only one gets right"


def notes(rows: Rows) -> tuple[str, ...]:
    """Return what is to be known of all rows."""
    found = []
    if any(row["policy"] == "ctwm_relaxed" for row in rows):
        found.append(
            "ctwm_relaxed: CTWM with τ lowered where a question asks for long-range recall, beyond "
            "the paper."
        )
    return (*found, *notes_of(rows))


if __name__ == "__main__":
    run(main, globals()["snakemake"])
