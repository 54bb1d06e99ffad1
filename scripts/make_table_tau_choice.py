"""Make the table by which a user chooses τ: tail error and context length, per choice."""

from typing import Any

from _entry import Job, run
from _tables import write_texts
from coretail import artefacts, stats
from coretail.memory.comparison import Comparison, compare_values
from coretail.render import tables

Rows = list[dict[str, Any]]

SAME = "the reference, or the same at every seed"
SECOND, WHOLE = "second half", "whole"
CELL = ("driver", "family", "n_nodes", "seed")


def main(job: Job) -> None:
    """Write the errors of every choice per seed, their means, and what auto chose."""
    evaluation = artefacts.read_all(job.inputs("evaluation"), "tau_evaluation").to_pylist()
    automatic = artefacts.read_rows(job.input("auto"), "tau_auto")
    groups: dict[tuple[Any, ...], Rows] = {}
    for row in evaluation:
        groups.setdefault(tuple(row[name] for name in (*CELL, "choice")), []).append(row)
    seeds = [
        scored(rows, part)
        for part in (SECOND, WHOLE)
        for rows in groups.values()
        # What auto learned from the first half is no prediction of it.
        if part == SECOND or rows[0]["choice"] != "auto"
    ]
    references = {SECOND: "auto", WHOLE: f"{job.settings['tau']:g}"}
    means = [
        row
        for driver, part in dict.fromkeys((row["driver"], row["part"]) for row in seeds)
        for row in compared(
            [row for row in seeds if (row["driver"], row["part"]) == (driver, part)],
            references[part],
        )
    ]
    for name, rows in (("choice", means), ("choice_seeds", seeds)):
        content = artefacts.table_of_rows(f"table_tau_{name}", rows)
        artefacts.write(job.output(name), f"table_tau_{name}", content, job.spec)
    specs = [choice_table(means), auto_table(automatic, seeds)]
    write_texts(job, specs)


def scored(rows: Rows, part: str) -> dict[str, Any]:
    """Return the errors of one choice on one trajectory, or on its second half."""
    steps = [row for row in rows if part == WHOLE or row["half"] == "second"]
    tail = [row for row in steps if row["stratum"].startswith("tail")]
    again = [row for row in tail if row["stratum"] == "tail_repeated"]
    counted = all(row["local_tokens"] is not None for row in steps)
    return {
        **{name: rows[0][name] for name in (*CELL, "choice", "tau")},
        "part": part,
        "n_tail": sum(row["n"] for row in tail),
        "tail_error": mean(tail, "vote"),
        "repeated": mean(again, "vote"),
        "hidden": mean(tail, "hidden"),
        "floor_memory": mean(tail, "floor_memory"),
        "tokens": mean(steps, "local_tokens") if counted else None,
    }


def mean(rows: Rows, name: str) -> float | None:
    """Return the mean over steps of what rows hold the sum of; None without a step."""
    n = sum(row["n"] for row in rows)
    return sum(row[name] for row in rows) / n if n else None


def compared(seeds: Rows, reference: str) -> Rows:
    """Return the means over seeds of every choice, and its difference to the reference."""
    choices: dict[str, dict[int, dict[str, Any]]] = {}
    for row in seeds:
        choices.setdefault(row["choice"], {})[row["seed"]] = row
    rows = []
    for choice, by_seed in choices.items():
        partners = [choices[reference][seed] for seed in by_seed]
        against = {
            name: compare_values(
                [row[name] for row in by_seed.values()], [row[name] for row in partners]
            )
            for name in ("tail_error", "hidden")
        }
        own = choice == reference
        line: dict[str, Any] = {
            "driver": seeds[0]["driver"],
            "part": seeds[0]["part"],
            "choice": choice,
            "n_seeds": len(by_seed),
            "n_tail": sum(row["n_tail"] for row in by_seed.values()),
            "reference": reference,
            "reason": "the reference" if own else against["tail_error"].difference.reason,
        }
        for name in ("tau", "floor_memory"):
            line[name] = stats.t_interval(row[name] for row in by_seed.values()).estimate
        for name in ("tail_error", "repeated", "hidden", "tokens"):
            line |= limits(name, stats.t_interval(row[name] for row in by_seed.values()))
        for name, found in against.items():
            none = stats.Interval(0, None, None, None, 0.95)
            line |= limits(f"{name}_difference", none if own else found.difference)
            line[f"{name}_detectable"] = None if own else found.detectable
            line[f"{name}_reading"] = "reference" if own else reading(found)
        rows.append(line)
    return rows


def limits(name: str, found: stats.Interval) -> dict[str, float | None]:
    """Return the columns of an estimate and its limits."""
    return {name: found.estimate, f"{name}_low": found.low, f"{name}_high": found.high}


def reading(found: Comparison) -> str:
    """Return the reading of a comparison, in which nothing may differ at any seed."""
    same = found.difference.estimate == 0 and found.difference.low is None
    return "the same at every seed" if same else found.reading


def choice_table(rows: Rows) -> tables.TableSpec:
    """Return the description of the means over seeds."""
    return tables.TableSpec(
        name="table_tau_choice",
        title="Table: Tail error and context length by the choice of τ",
        caption=(
            "CTWM (compact) on frozen trajectories of random agents, the same for every choice. "
            "Tail error of the free predictor vote, and at repeated meetings of state and action "
            "(a first meeting is unknowable); hidden: tail steps at which the text of the right "
            "transition is not in the context; tokens of a context by the local counter. auto: τ "
            "from the audit of the first half, so it is scored on the second. oracle: the bound, "
            "an allocation that knows the next state and gives all slots to a stored transition "
            "that leads there. Floor: the smallest expected tail error of a memory that doesn't. "
            "Mean over seeds with 95% t interval; differences are paired by seed, against auto on "
            "the second half and against the default τ on the whole; detectable: the smallest "
            "difference shown with power 0.8."
        ),
        columns=(
            tables.Column("Steps", ("part",), tables.text(), "left"),
            tables.Column("τ", ("choice",), tables.text(), "left"),
            tables.Column("Tail error [95%]", keys("tail_error"), tables.interval(3)),
            tables.Column("Repeated [95%]", keys("repeated"), tables.interval(3)),
            tables.Column("Floor", ("floor_memory",), tables.decimal(3)),
            tables.Column(
                "Difference [95%]",
                keys("tail_error_difference"),
                tables.interval(3),
                missing=SAME,
            ),
            tables.Column(
                "Detectable", ("tail_error_detectable",), tables.decimal(3), missing=SAME
            ),
            tables.Column("Reading", ("tail_error_reading",), tables.text(), "left"),
            tables.Column("Hidden [95%]", keys("hidden"), tables.interval(3)),
            tables.Column(
                "Tokens [95%]",
                keys("tokens"),
                tables.interval(1),
                missing="a bound on the error, without a context",
            ),
            tables.Column("Seeds", ("n_seeds",), tables.integer()),
        ),
        notes=(
            "vote can't depend on τ where the best-ranked match has a slot: a next state has one "
            "transition, slots never rise with rank, and ties go to the better rank. τ changes "
            "what is hidden, never below the oracle's share, and the tokens. Paired differences of "
            "hidden are in the Parquet file.",
        ),
        rows=tuple(rows),
        layout="page",
        blocks="part",
    )


def keys(name: str) -> tuple[str, str, str]:
    """Return the columns of an estimate and its limits."""
    return name, f"{name}_low", f"{name}_high"


def auto_table(automatic: Rows, seeds: Rows) -> tables.TableSpec:
    """Return the description of what auto chose, against the best fixed τ and the bound."""
    rows = []
    for audit in automatic:
        own = {
            row["choice"]: row
            for row in seeds
            if row["part"] == SECOND and all(row[name] == audit[name] for name in CELL)
        }
        fixed = [row for choice, row in own.items() if choice not in ("auto", "oracle")]
        best = min(fixed, key=lambda row: (row["tail_error"], row["tau"]))
        rows.append(
            audit
            | {
                "auto_error": own["auto"]["tail_error"],
                "best": best["choice"] if len({row["tail_error"] for row in fixed}) > 1 else "any",
                "best_error": best["tail_error"],
                "oracle_error": own["oracle"]["tail_error"],
                "reason": audit["why"],
            }
        )
    n_equal = sum(row["tau"] == 0 for row in rows)
    return tables.TableSpec(
        name="table_tau_choice_seeds",
        title="Table: What the audit of the first half chose",
        caption=(
            "Audit of how often each transition was written in the first half, the τ that it "
            "supports, and tail errors of vote on the second half; best: the fixed τ that turned "
            "out best there (any, if all are equal), which nobody knows beforehand."
        ),
        columns=(
            tables.Column("Seed", ("seed",), str),
            tables.Column("n_tail", ("n_tail",), tables.integer()),
            tables.Column("α", ("alpha",), tables.decimal(2)),
            tables.Column("p", ("p_gof",), tables.p_value()),
            tables.Column("Verdict", ("verdict",), lambda name: name.replace("_", " "), "left"),
            tables.Column("τ auto", ("tau",), tables.decimal(2)),
            tables.Column("Error", ("auto_error",), tables.decimal(3)),
            tables.Column("Best τ", ("best",), tables.text()),
            tables.Column("Error", ("best_error",), tables.decimal(3)),
            tables.Column("Oracle", ("oracle_error",), tables.decimal(3)),
        ),
        rows=tuple(rows),
        notes=(f"auto gives equal shares (τ = 0) at {n_equal} of {len(rows)} seeds.",),
        layout="long",
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
