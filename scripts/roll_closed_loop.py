"""Let a language model act with one memory policy, whose contexts decide where it goes."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from _closed_loop import driver_of
from _entry import Job, run
from _memory import coverage_columns, run_of, step_columns, trajectory_rows, view_of
from _model import client
from coretail import artefacts
from coretail.errors import InputError
from coretail.memory.frozen import least_visited
from coretail.memory.live import PolicyMemory
from coretail.memory.policies import make_policy
from coretail.memory.view import WorldView
from coretail.prompts import ACTION_TEMPLATES
from coretail.rollouts.semantic import STATUSES, ModelChooser, Rollout, rollout

GOAL = "seek"


def main(job: Job) -> None:
    """Write trajectories, what the policy did, how the model chose, and a summary, of all seeds."""
    settings = job.settings
    name = settings["model"]["name"]
    key, limits = run_of(settings, job.wildcards["policy"], "slots", job.wildcards["encoding"])
    driver = driver_of(name, key["policy"], key["encoding"])
    worlds = common_tails(job)
    parts: dict[str, list[pa.Table]] = {"trajectories": [], "steps": [], "choices": []}
    summary: list[dict[str, Any]] = []
    with client(job) as model:
        total = settings["steps"] * len(worlds)
        report = job.progress("steps", total, detail=model.counters.line)
        for position, (view, tail) in enumerate(worlds):
            before = position * settings["steps"]
            family, n_nodes, seed = view.topology.key
            cell = {"family": family, "n_nodes": n_nodes, "seed": seed}
            chooser = ModelChooser(
                model,
                view.topology.key,
                **{
                    option: settings[option]
                    for option in ("style", "temperature", "seed", "attempts")
                },
                rule=job.spec["rule"],
            )
            memory = PolicyMemory(view, make_policy(key["policy"], view, limits))
            done = rollout(
                view.topology,
                view.contents,
                chooser,
                steps=settings["steps"],
                goal=GOAL,
                patience=settings["patience"],
                memory=memory,
                progress=lambda steps, before=before: report(before + steps),  # type: ignore[misc]
            )
            edges = done.walk.edges.astype(np.int64)
            parts["trajectories"].append(trajectory_rows(driver, view, edges, tail))
            columns = {"driver": driver, **key, **cell, **step_columns(memory.steps, key["policy"])}
            parts["steps"].append(artefacts.table("memory_steps", columns))
            actor = {"model": name, "policy": key["policy"], "encoding": key["encoding"]}
            parts["choices"].append(
                artefacts.table("closed_loop_choices", actor | cell | choices_of(done, memory))
            )
            version = ACTION_TEMPLATES[settings["style"], GOAL].version
            summary.append(
                {**actor, "tau": key["tau"], **cell, "template": version} | summary_of(done, memory)
            )
    for output, schema in (
        ("trajectories", "memory_trajectories"),
        ("steps", "memory_steps"),
        ("choices", "closed_loop_choices"),
    ):
        artefacts.write(job.output(output), schema, pa.concat_tables(parts[output]), job.spec)
    content = artefacts.table_of_rows("closed_loop_summary", summary)
    artefacts.write(job.output("summary"), "closed_loop_summary", content, job.spec)


def common_tails(job: Job) -> list[tuple[WorldView, NDArray[np.int64]]]:
    """Return each seed's world, and the states that its random agent visited least.

    Raises
    ------
    InputError
        If there is no random agent of a seed.
    """
    settings = job.settings
    walks = artefacts.read(job.input("agents"), "memory_trajectories")
    found = {
        cell["seed"]: (
            view_of(cell["family"], cell["n_nodes"], cell["seed"], settings["vocabulary"]),
            least_visited(walk["state"].to_numpy()),
        )
        for cell, walk in artefacts.groups(walks, ["family", "n_nodes", "seed"])
        if cell["seed"] in settings["seeds"]
    }
    if missing := sorted(set(settings["seeds"]).difference(found)):
        raise InputError(
            f"seeds: {missing[0]} is beyond the random agents' seeds, whose tail states are "
            "common to all runs; raise memory.n_seeds"
        )
    return [found[seed] for seed in settings["seeds"]]


def choices_of(done: Rollout, memory: PolicyMemory) -> dict[str, Any]:
    """Return the per-step columns of how the model chose."""
    return {
        "step": np.arange(done.states.size),
        "n_read": [len(context.shown) for context in memory.read],
        "read_tokens": [context.tokens for context in memory.read],
        "status": [STATUSES[status] for status in done.statuses.tolist()],
        "n_options": done.n_options,
        "order": [[action for action in row if action >= 0] for row in done.order.tolist()],
        "position": [None if place < 0 else place for place in done.positions.tolist()],
        "calls": done.calls,
        "prompt_tokens": done.prompt_tokens,
        "completion_tokens": done.completion_tokens,
        "goal_entity": [done.entities[goal] for goal in done.goals.tolist()],
        "errand": done.errands,
        "found": done.found,
    }


def summary_of(done: Rollout, memory: PolicyMemory) -> dict[str, Any]:
    """Return the bookkeeping of one run."""
    assert done.hits is not None
    return {
        "steps": int(done.states.size),
        "start": done.walk.start,
        **done.status_counts(),
        "calls": int(done.calls.sum()),
        **{name: done.replies[name] for name in ("unusable", "refusal", "content_filter")},
        "calling_steps": int(np.count_nonzero(done.calls)),
        "prompt_tokens": int(done.prompt_tokens.sum()),
        "completion_tokens": int(done.completion_tokens.sum()),
        "found": done.hits.found,
        "given_up": done.hits.given_up,
        "reads": done.walk.counters.reads,
        "visited_states": int(np.unique(done.states).size),
        "visited_transitions": int(np.unique(done.walk.edges).size),
        **coverage_columns(memory.coverage()),
    }


if __name__ == "__main__":
    run(main, globals()["snakemake"])
