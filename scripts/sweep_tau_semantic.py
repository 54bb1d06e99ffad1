"""Let a language model seek while one τ chooses what it reads: what was accessed, how often."""

from typing import Any

import pyarrow as pa

from _entry import Job, run
from _memory import view_of
from _model import client
from _tau import of_items, of_ranks
from coretail import artefacts
from coretail.memory.selection import SelectedMemory
from coretail.prompts import ACTION_TEMPLATES
from coretail.rollouts.semantic import ModelChooser, Rollout, rollout

GOAL = "seek"


def main(job: Job) -> None:
    """Write the counts of every seed, their concentration, and what became of the calls."""
    settings = job.settings
    tau, steps = float(job.wildcards["tau"]), settings["steps"]
    rows: list[dict[str, Any]] = []
    counts: list[pa.Table] = []
    rollouts: list[dict[str, Any]] = []
    with client(job) as model:
        total = steps * len(settings["seeds"])
        report = job.progress("steps", total, detail=model.counters.line)
        for position, seed in enumerate(settings["seeds"]):
            before = position * steps
            view = view_of(settings["family"], settings["n_nodes"], seed, settings["vocabulary"])
            memory = SelectedMemory(
                view,
                tau,
                steps=steps,
                **{key: settings[key] for key in ("pool", "k", "capacity")},
            )
            chooser = ModelChooser(
                model,
                view.topology.key,
                seed=settings["seed"],
                rule=job.spec["rule"],
                **{key: settings[key] for key in ("style", "temperature", "attempts")},
            )
            done = rollout(
                view.topology,
                view.contents,
                chooser,
                steps=steps,
                goal=GOAL,
                patience=settings["patience"],
                memory=memory,
                progress=lambda steps, before=before: report(before + steps),  # type: ignore[misc]
            )
            cell = {
                "driver": "semantic",
                "model": settings["model"]["name"],
                "family": settings["family"],
                "n_nodes": settings["n_nodes"],
                "seed": seed,
                "tau": tau,
            }
            key = cell | {"level": "access"}
            row, items = of_items(key, steps, done.walk.reads, done.walk.writes)
            rows += [row, of_ranks(key, steps, memory.rank_reads)]
            counts.append(items)
            template = ACTION_TEMPLATES[settings["style"], GOAL].version
            rollouts.append(cell | {"template": template} | calls_of(done))
    for name, content in (
        ("sweep", artefacts.table_of_rows("tau_sweep", rows)),
        ("counts", pa.concat_tables(counts)),
        ("rollouts", artefacts.table_of_rows("tau_rollouts", rollouts)),
    ):
        artefacts.write(job.output(name), f"tau_{name}", content, job.spec)


def calls_of(done: Rollout) -> dict[str, Any]:
    """Return what became of a rollout's steps, calls and errands."""
    assert done.hits is not None  # the goal is to seek
    return {
        "steps": int(done.states.size),
        "start": done.walk.start,
        **done.status_counts(),
        "calls": int(done.calls.sum()),
        **{name: done.replies[name] for name in ("unusable", "refusal", "content_filter")},
        "prompt_tokens": int(done.prompt_tokens.sum()),
        "completion_tokens": int(done.completion_tokens.sum()),
        "found": done.hits.found,
        "given_up": done.hits.given_up,
        "evicted": done.walk.counters.evicted,
    }


if __name__ == "__main__":
    run(main, globals()["snakemake"])
