"""Make the tables of the competence gate: memory, errands, option positions."""

from typing import Any

from scipy.special import chdtrc

from _entry import Job, run
from _tables import write_texts
from coretail import artefacts, stats
from coretail.audit.empirical import empirical_p
from coretail.render import tables
from coretail.rollouts.competence import CONDITIONS

Rows = list[dict[str, Any]]


def main(job: Job) -> None:
    """Write accuracy per condition, errands found against chance, and choices by position."""
    replies = artefacts.read_all(job.inputs("competence"), "competence").to_pylist()
    steps = artefacts.read_all(
        job.inputs("steps"),
        "semantic_steps",
        ["model", "goal", "status", "n_options", "position"],
    ).to_pylist()
    summaries = artefacts.read_all(job.inputs("summary"), "semantic_summary").to_pylist()
    agents = artefacts.read_all(job.inputs("agents"), "random_agents").to_pylist()
    found = {
        "competence": accuracy(replies),
        "hits": hit_rates(summaries, agents),
        "positions": positions(steps),
    }
    for name, rows in found.items():
        content = artefacts.table_of_rows(f"table_{name}", rows)
        artefacts.write(job.output(name), f"table_{name}", content, job.spec)
    write_texts(
        job,
        [
            accuracy_table(found["competence"]),
            hits_table(found["hits"]),
            positions_table(found["positions"]),
        ],
    )


def accuracy(replies: Rows) -> Rows:
    """Return the accuracy of each model in each condition."""
    rows = []
    for model in dict.fromkeys(reply["model"] for reply in replies):
        for condition in CONDITIONS:
            here = [r for r in replies if (r["model"], r["condition"]) == (model, condition)]
            scored = [reply for reply in here if reply["correct"] is not None]
            share = stats.wilson_interval(sum(r["correct"] for r in scored), len(scored))
            rows.append(
                {
                    "model": model,
                    "condition": condition,
                    "n": len(scored),
                    "correct": sum(reply["correct"] for reply in scored),
                    "malformed": sum(reply["status"] == "malformed" for reply in scored),
                    "from_memory": sum(reply["from_memory"] for reply in scored),
                    "unanswered": len(here) - len(scored),
                    "accuracy": share.estimate,
                    "accuracy_low": share.low,
                    "accuracy_high": share.high,
                    "reason": share.reason,
                }
            )
    return rows


def hit_rates(summaries: Rows, agents: Rows) -> Rows:
    """Return the errands that each model found, against random agents in the same cells."""
    rows = []
    groups: dict[tuple[str, str], Rows] = {}
    for summary in summaries:
        if summary["found"] is not None:
            groups.setdefault((summary["model"], summary["family"]), []).append(summary)
    for (model, family), runs in groups.items():
        found = sum(run["found"] for run in runs)
        ended = found + sum(run["given_up"] for run in runs)
        share = stats.wilson_interval(found, ended)
        chance = {
            agent: chance_rates([a for a in agents if (a["family"], a["agent"]) == (family, agent)])
            for agent in ("random_agent", "random_walk")
        }
        against = empirical_p(share.estimate, chance["random_agent"])
        rows.append(
            {
                "model": model,
                "family": family,
                "found": found,
                "ended": ended,
                "rate": share.estimate,
                "rate_low": share.low,
                "rate_high": share.high,
                "agent_rate": against.median,
                "walk_rate": empirical_p(None, chance["random_walk"]).median,
                "p": against.p_upper,
                "reason": share.reason or against.reason or "",
            }
        )
    return rows


def chance_rates(agents: Rows) -> list[float | None]:
    """Return the hit rate over all seeds of each replicate."""
    totals: dict[int, tuple[int, int]] = {}
    for agent in agents:
        found, ended = totals.get(agent["replicate"], (0, 0))
        totals[agent["replicate"]] = (
            found + agent["found"],
            ended + agent["found"] + agent["given_up"],
        )
    return [found / ended if ended else None for found, ended in totals.values()]


def positions(steps: Rows) -> Rows:
    """Return how often each place was chosen, by model, goal and number of options."""
    counts: dict[tuple[str, str, int], list[int]] = {}
    for step in steps:
        if step["status"] in ("chosen", "retried"):
            key = step["model"], step["goal"], step["n_options"]
            places = counts.setdefault(key, [0] * step["n_options"])
            places[step["position"]] += 1
    rows = []
    for (model, goal, n_options), places in sorted(counts.items()):
        n = sum(places)
        expected = n / n_options
        chi2 = sum((count - expected) ** 2 for count in places) / expected
        for position, count in enumerate(places):
            share = stats.wilson_interval(count, n)
            rows.append(
                {
                    "model": model,
                    "goal": goal,
                    "n_options": n_options,
                    "position": position,
                    "chosen": count,
                    "n": n,
                    "share": share.estimate,
                    "share_low": share.low,
                    "share_high": share.high,
                    "chi2": chi2,
                    "p": float(chdtrc(n_options - 1, chi2)),
                    "reason": share.reason,
                }
            )
    return rows


def accuracy_table(rows: Rows) -> tables.TableSpec:
    """Return the description of the memory tasks."""
    return tables.TableSpec(
        name="table_competence",
        title="Table: Competence gate, memory tasks",
        caption=(
            "Next state copied from five memories: accuracy with Wilson's 95% interval where the "
            "answer stands at rank 1, 3 or 5, is absent, with an empty and with a shuffled memory."
        ),
        columns=(
            tables.Column("Model", ("model",), tables.text(), "left"),
            tables.Column("Answer", ("condition",), lambda c: c.replace("_", " "), "left"),
            tables.Column("n", ("n",), tables.integer()),
            tables.Column("Right", ("correct",), tables.integer()),
            tables.Column(
                "Accuracy [95%]",
                ("accuracy", "accuracy_low", "accuracy_high"),
                tables.percent_interval(0),
            ),
            tables.Column("From a memory", ("from_memory",), tables.integer()),
            tables.Column("Malformed", ("malformed",), tables.integer()),
            tables.Column("No reply", ("unanswered",), tables.integer()),
        ),
        rows=tuple(rows),
        blocks="model",
    )


def hits_table(rows: Rows) -> tables.TableSpec:
    """Return the description of the errands."""
    return tables.TableSpec(
        name="table_hits",
        title="Table: Competence gate, errands",
        caption=(
            "Entities found before they were given up (all seeds; Wilson's 95% interval), against "
            "agents that take a uniform action in the same worlds: their median rate and the "
            "one-sided empirical p; and against random walks."
        ),
        columns=(
            tables.Column("Model", ("model",), tables.text(), "left"),
            tables.Column("Graph family", ("family",), tables.text(), "left"),
            tables.Column("Found", ("found",), tables.integer()),
            tables.Column("Ended", ("ended",), tables.integer()),
            tables.Column(
                "Rate [95%]", ("rate", "rate_low", "rate_high"), tables.percent_interval(0)
            ),
            tables.Column(
                "Random agent", ("agent_rate",), tables.percent(0), missing="no errand ended"
            ),
            tables.Column(
                "Random walk", ("walk_rate",), tables.percent(0), missing="no errand ended"
            ),
            tables.Column("p", ("p",), tables.p_value(3)),
        ),
        rows=tuple(rows),
        blocks="model",
    )


def positions_table(rows: Rows) -> tables.TableSpec:
    """Return the description of the choices by position."""
    return tables.TableSpec(
        name="table_positions",
        title="Table: Choices by position of the option",
        caption=(
            "Options are shown in an order drawn anew for each call, so a model that chooses by "
            "meaning takes each place equally often; χ² and its p test that."
        ),
        columns=(
            tables.Column("Model", ("model",), tables.text(), "left"),
            tables.Column("Goal", ("goal",), tables.text(), "left"),
            tables.Column("Options", ("n_options",), tables.integer()),
            tables.Column("Place", ("position",), lambda place: str(place + 1)),
            tables.Column("Chosen", ("chosen",), tables.integer()),
            tables.Column(
                "Share [95%]", ("share", "share_low", "share_high"), tables.percent_interval(0)
            ),
            tables.Column("χ²", ("chi2",), tables.decimal(1)),
            tables.Column("p", ("p",), tables.p_value(3)),
        ),
        rows=tuple(rows),
        blocks="model",
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
