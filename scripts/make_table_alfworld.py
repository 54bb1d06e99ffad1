"""Make the tables of ALFWorld: what each memory costs and wins, and CTWM against graph memory."""

import re
from collections.abc import Sequence
from typing import Any

from _entry import Job, run
from _gate import competent_models, gate_note, not_read
from _policies import Rows, limits
from _tables import write_texts
from coretail import artefacts, stats
from coretail.errors import InputError
from coretail.memory.comparison import compare_values
from coretail.render import tables

POLICY, REFERENCE = "ctwm", "graph"
# Ends of episodes that were played as their setting says.
PLAYED = ("won", "cap")
Episode = dict[str, Any]
# A memory's episodes by game.
Episodes = dict[str, Episode]


def main(job: Job) -> None:
    """Write one row per memory and one per pair of memories, for each model and setting."""
    if not job.settings["models"]:
        raise InputError("alfworld.models: empty, nothing was played; name some of `models`")
    competent = competent_models(job)
    runs: dict[tuple[str, str, str], dict[tuple[str, str], Episodes]] = {}
    for row in artefacts.read_all(job.inputs("episodes"), "alfworld_episodes").to_pylist():
        memories = runs.setdefault((row["model"], row["setting"], row["data"]), {})
        memories.setdefault((row["policy"], row["encoding"]), {})[row["game"]] = row
    single: Rows = []
    paired: Rows = []
    for (model, setting, data), memories in runs.items():
        key = {
            "model": model,
            "setting": f"alfworld_{setting}",
            "data": data,
            "competent": competent[model],
        }
        single += [
            memory_row(key | {"policy": policy, "encoding": encoding}, episodes)
            for (policy, encoding), episodes in memories.items()
        ]
        paired += [
            pair_row(key | {"encoding": own, "reference_encoding": other}, episodes, reference)
            for (policy, own), episodes in memories.items()
            if policy == POLICY
            for (against, other), reference in memories.items()
            if against == REFERENCE
        ]
    for row in paired:
        row["configuration"] = row.pop("setting")
    for name, rows in (("table_alfworld", paired), ("table_alfworld_memories", single)):
        artefacts.write(job.output(name), name, artefacts.table_of_rows(name, rows), job.spec)
    kinds = dict.fromkeys((row["model"], row["data"]) for row in single)
    write_texts(
        job,
        [
            describe([row for row in rows if (row["model"], row["data"]) == kind])
            for kind in kinds
            for describe, rows in ((pair_table, paired), (memory_table, single))
            if any((row["model"], row["data"]) == kind for row in rows)
        ],
    )


def memory_row(key: dict[str, Any], episodes: Episodes) -> dict[str, Any]:
    """Return what one memory's episodes cost and won."""
    played = [episode for episode in episodes.values() if episode["end"] in PLAYED]
    success = stats.wilson_interval(sum(episode["success"] for episode in played), len(played))
    tokens = stats.t_interval(map(per_step, played))
    in_all = stats.t_interval(episode["prompt_tokens"] for episode in played)
    sent = sum(episode["prompt_tokens"] for episode in played)
    return {
        **key,
        "n": len(played),
        "n_unplayed": len(episodes) - len(played),
        "successes": sum(episode["success"] for episode in played),
        **limits("success", success),
        **limits("tokens", tokens),
        **limits("tokens_in_all", in_all),
        "cached": sum(episode["cached_tokens"] for episode in played) / sent if sent else None,
        **limits("steps", stats.t_interval(episode["steps"] for episode in played)),
        "random_steps": random_steps(played),
        "reason": tokens.reason or in_all.reason,
    }


def pair_row(key: dict[str, Any], episodes: Episodes, reference: Episodes) -> dict[str, Any]:
    """Return CTWM's episodes against those of graph memory, paired by game.

    Raises
    ------
    InputError
        If the two did not get the same games: a missing partner is an error, never dropped.
    """
    if set(episodes) != set(reference):
        raise InputError(
            f"alfworld: {key['model']}, {key['setting']}: the memories played different games; "
            "delete results/alfworld/episodes, and the workflow plays them again"
        )
    pairs = [
        (own, reference[game])
        for game, own in episodes.items()
        if own["end"] in PLAYED and reference[game]["end"] in PLAYED
    ]
    own, other = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    found = compare_values(list(map(per_step, own)), list(map(per_step, other)))
    in_all = stats.paired_reduction(
        [episode["prompt_tokens"] for episode in other],
        [episode["prompt_tokens"] for episode in own],
    )
    shares = [share for share in map(random_steps, (own, other)) if share is not None]
    marked = max(shares, default=None)
    only_own = sum(mine["success"] and not its["success"] for mine, its in pairs)
    only_other = sum(its["success"] and not mine["success"] for mine, its in pairs)
    return {
        **key,
        "n": len(pairs),
        "n_unplayed": len(episodes) - len(pairs),
        "tokens": stats.t_interval(map(per_step, own)).estimate,
        "reference_tokens": stats.t_interval(map(per_step, other)).estimate,
        **limits("tokens_difference", found.difference),
        **limits("tokens_reduction", found.reduction),
        **limits("tokens_in_all_reduction", in_all),
        "detectable": found.detectable,
        "calls": stats.t_interval(map(calls_per_step, own)).estimate,
        "reference_calls": stats.t_interval(map(calls_per_step, other)).estimate,
        "marked": marked,
        "reading_difference": not_read(marked) or found.reading,
        "steps": stats.t_interval(episode["steps"] for episode in own).estimate,
        "reference_steps": stats.t_interval(episode["steps"] for episode in other).estimate,
        "successes": sum(episode["success"] for episode in own),
        "reference_successes": sum(episode["success"] for episode in other),
        "only_ctwm": only_own,
        "only_graph": only_other,
        "mcnemar_p": stats.mcnemar_exact(only_own, only_other),
        "reason": found.reduction.reason or in_all.reason,
    }


def per_step(episode: Episode) -> float:
    """Return the prompt tokens per step of an episode that was played."""
    return float(episode["prompt_tokens_per_step"])


def calls_per_step(episode: Episode) -> float:
    """Return the completions asked for per step of an episode that was played."""
    return float(episode["calls"] / episode["steps"])


def random_steps(played: Sequence[Episode]) -> float | None:
    """Return the share of steps without a usable reply; None without a step."""
    steps = sum(episode["steps"] for episode in played)
    return sum(episode["random"] for episode in played) / steps if steps else None


def name_of(table: str, row: dict[str, Any]) -> str:
    """Return the name of one model's table."""
    return re.sub(r"[^\w-]+", "_", f"{table}_{row['model']}_{row['data']}")


def notes(rows: Rows) -> tuple[str, ...]:
    """Return what the data, the games left out and the competence gate say of the rows."""
    source = (
        "The benchmark's own games."
        if rows[0]["data"] == "benchmark"
        else "Self-made games that stand in for the benchmark: no number here is the benchmark's."
    )
    left_out = max(row["n_unplayed"] for row in rows)
    lost = (
        f"Left out: up to {left_out} games in a setting, corrupt, unsolvable or without as many "
        "demonstrations as it shows.",
    )
    return (source, *(lost if left_out else ()), gate_note(rows[0]))


UNPLAYED = "no episode was played"


def pair_table(rows: Rows) -> tables.TableSpec:
    """Return the description of the pairs' table."""
    return tables.TableSpec(
        name=name_of("table_alfworld", rows[0]),
        title=f"ALFWorld: CTWM against graph memory, {rows[0]['model']}",
        caption=(
            "Prompt tokens (as reported) and calls per step, means over games. A reply that cannot "
            "be used is asked for again: more than one call per step means that the tokens hold "
            "such repetitions. Reductions paired by game, with 95% t intervals; reading: of the "
            "difference of tokens per step; p of McNemar's exact test of success."
        ),
        columns=(
            tables.Column("Setting", ("configuration",), tables.text(), "left"),
            tables.Column("CTWM", ("encoding",), tables.text(), "left", group="Encoding"),
            tables.Column(
                "Graph", ("reference_encoding",), tables.text(), "left", group="Encoding"
            ),
            tables.Column("Data", ("data",), tables.text(), "left"),
            tables.Column("n", ("n",), tables.integer()),
            tables.Column("CTWM", ("tokens",), tables.decimal(1), group="Tokens/step"),
            tables.Column("Graph", ("reference_tokens",), tables.decimal(1), group="Tokens/step"),
            tables.Column(
                "Reduction [95%]",
                ("tokens_reduction", "tokens_reduction_low", "tokens_reduction_high"),
                tables.percent_interval(2),
                group="Tokens/step",
            ),
            tables.Column(
                "Reduction in all [95%]",
                (
                    "tokens_in_all_reduction",
                    "tokens_in_all_reduction_low",
                    "tokens_in_all_reduction_high",
                ),
                tables.percent_interval(1),
            ),
            tables.Column(
                "CTWM", ("calls",), tables.decimal(2), group="Calls/step", missing=UNPLAYED
            ),
            tables.Column(
                "Graph",
                ("reference_calls",),
                tables.decimal(2),
                group="Calls/step",
                missing=UNPLAYED,
            ),
            tables.Column("Reading", ("reading_difference",), tables.text(), "left"),
            tables.Column("CTWM", ("successes",), tables.integer(), group="Won"),
            tables.Column("Graph", ("reference_successes",), tables.integer(), group="Won"),
            tables.Column(
                "p",
                ("mcnemar_p",),
                tables.p_value(),
                missing="no game was won with one memory alone",
            ),
        ),
        rows=tuple(rows),
        notes=notes(rows),
        layout="page",
    )


def memory_table(rows: Rows) -> tables.TableSpec:
    """Return the description of the memories' table."""
    return tables.TableSpec(
        name=name_of("table_alfworld_memories", rows[0]),
        title=f"ALFWorld: episodes by memory, {rows[0]['model']}",
        caption=(
            "Games won, with Wilson intervals; means over games of steps and of prompt tokens as "
            "reported, with t intervals; cached: share of them that the server held from earlier "
            "prompts; random: steps without a usable reply."
        ),
        columns=(
            tables.Column("Setting", ("setting",), tables.text(), "left"),
            tables.Column("Memory", ("policy",), tables.text(), "left"),
            tables.Column("Encoding", ("encoding",), tables.text(), "left"),
            tables.Column("Data", ("data",), tables.text(), "left"),
            tables.Column("n", ("n",), tables.integer()),
            tables.Column("Won", ("successes",), tables.integer()),
            tables.Column(
                "Share won [95%]",
                ("success", "success_low", "success_high"),
                tables.percent_interval(0),
                missing=UNPLAYED,
            ),
            tables.Column("Steps", ("steps",), tables.decimal(1), missing=UNPLAYED),
            tables.Column(
                "Tokens/step [95%]",
                ("tokens", "tokens_low", "tokens_high"),
                tables.interval(1),
            ),
            tables.Column(
                "Tokens in all [95%]",
                ("tokens_in_all", "tokens_in_all_low", "tokens_in_all_high"),
                tables.interval(0),
            ),
            tables.Column("Cached", ("cached",), tables.percent(1), missing=UNPLAYED),
            tables.Column("Random", ("random_steps",), tables.percent(1), missing=UNPLAYED),
        ),
        rows=tuple(rows),
        notes=notes(rows),
        layout="page",
        blocks="setting",
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
