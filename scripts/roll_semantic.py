"""Let a language model act in the worlds of one family and size: one rollout per seed."""

from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa

from _entry import Job, run
from _model import client
from coretail import artefacts
from coretail.prompts import ACTION_TEMPLATES
from coretail.rollouts.semantic import STATUSES, ModelChooser, Rollout, rollout
from coretail.worlds.tables import read_contents, read_topologies
from coretail.worlds.topology import Topology


def main(job: Job) -> None:
    """Write steps, counts and bookkeeping of all seeds."""
    settings = job.settings
    goal = job.wildcards["goal"]
    topologies = read_topologies(job.input("edges"))
    contents = read_contents(job.input("nodes"))
    parts: dict[str, list[pa.Table]] = {"steps": [], "counts": [], "summary": []}
    with client(job) as model:
        total = settings["steps"] * len(topologies)
        report = job.progress("steps", total, detail=model.counters.line)
        for position, topology in enumerate(topologies):
            before = position * settings["steps"]
            chooser = ModelChooser(
                model,
                topology.key,
                style=settings["style"],
                temperature=settings["temperature"],
                seed=settings["seed"],
                attempts=settings["attempts"],
                rule=job.spec["rule"],
            )
            done = rollout(
                topology,
                contents[topology.seed],
                chooser,
                goal=goal,
                **{
                    key: settings[key]
                    for key in (
                        "steps",
                        "patience",
                        "capacity",
                        "k",
                        "eviction",
                        "reads_feed_frequency",
                    )
                },
                progress=lambda steps, before=before: report(before + steps),  # type: ignore[misc]
            )
            key = {
                "model": settings["model"]["name"],
                "goal": goal,
                "family": topology.family,
                "n_nodes": topology.n_nodes,
                "seed": topology.seed,
            }
            version = ACTION_TEMPLATES[settings["style"], goal].version
            parts["steps"].append(artefacts.table("semantic_steps", key | steps_of(done)))
            parts["counts"].append(
                artefacts.table("semantic_counts", key | counts_of(done, topology))
            )
            parts["summary"].append(
                artefacts.table_of_rows("semantic_summary", [key | summary_of(done, version)])
            )
    for name, tables in parts.items():
        content = pa.concat_tables(tables)
        artefacts.write(job.output(name), f"semantic_{name}", content, job.spec)


def steps_of(done: Rollout) -> dict[str, Any]:
    """Return the per-step columns of one rollout."""
    goals, errands = done.goals.tolist(), done.errands.tolist()
    return {
        "step": np.arange(done.states.size),
        "state": done.states,
        "action": done.actions,
        "next_state": done.next_states,
        "edge": done.walk.edges,
        "hints": [[edge for edge in row if edge >= 0] for row in done.hints.tolist()],
        "status": [STATUSES[status] for status in done.statuses.tolist()],
        "n_options": done.n_options,
        "order": [[action for action in row if action >= 0] for row in done.order.tolist()],
        "position": [None if place < 0 else place for place in done.positions.tolist()],
        "calls": done.calls,
        "prompt_tokens": done.prompt_tokens,
        "completion_tokens": done.completion_tokens,
        "goal_entity": [None if goal < 0 else done.entities[goal] for goal in goals],
        "errand": [None if errand < 0 else errand for errand in errands],
        "found": done.found,
        "top_accessed": done.walk.top_accessed,
        "events": done.walk.events,
    }


def counts_of(done: Rollout, topology: Topology) -> dict[str, Any]:
    """Return the per-item columns of one rollout."""
    return {
        "edge": np.arange(topology.n_edges),
        "reads": done.walk.reads,
        "writes": done.walk.writes,
        "access": done.walk.access,
    }


def summary_of(done: Rollout, template: str) -> dict[str, Any]:
    """Return the bookkeeping of one rollout."""
    return {
        "template": template,
        "steps": int(done.states.size),
        "start": done.walk.start,
        **done.status_counts(),
        "calls": int(done.calls.sum()),
        **{name: done.replies[name] for name in ("unusable", "refusal", "content_filter")},
        "prompt_tokens": int(done.prompt_tokens.sum()),
        "completion_tokens": int(done.completion_tokens.sum()),
        "found": None if done.hits is None else done.hits.found,
        "given_up": None if done.hits is None else done.hits.given_up,
        **asdict(done.walk.counters),
    }


if __name__ == "__main__":
    run(main, globals()["snakemake"])
