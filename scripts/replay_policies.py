"""Replay the frozen trajectories through one memory policy: what it ranks, shows and predicts."""

from typing import Any

import numpy as np
import pyarrow as pa

from _entry import Job, run
from _memory import coverage_columns, run_of, step_columns, view_of
from coretail import artefacts
from coretail.memory.frozen import STRATA, Step, coverage, replay
from coretail.memory.policies import make_policy

Rows = list[dict[str, Any]]


def main(job: Job) -> None:
    """Write losses and coverage of all runs, and steps of the seeds that a model is asked on."""
    settings = job.settings
    trajectories = artefacts.read(job.input("trajectories"), "memory_trajectories")
    groups = list(artefacts.groups(trajectories, ["driver", "family", "n_nodes", "seed"]))
    todo = [(run, cell, walk) for run in settings["runs"] for cell, walk in groups]
    report = job.progress("trajectories", len(todo))
    steps: list[pa.Table] = []
    losses: Rows = []
    covered: Rows = []
    for position, ((budget, encoding), cell, walk) in enumerate(todo):
        report(position)
        key, limits = run_of(settings, job.wildcards["policy"], budget, encoding)
        view = view_of(cell["family"], cell["n_nodes"], cell["seed"], settings["vocabulary"])
        policy = make_policy(key["policy"], view, limits)
        edges = walk["edge"].to_numpy().astype(np.int64)
        done = list(replay(view, edges.tolist(), policy))
        final = policy.rank(int(view.targets[edges[-1]]), 0)
        covered.append(key | cell | coverage_columns(coverage(view, edges, final, done)))
        losses += [key | cell | row for row in losses_of(walk, done)]
        if cell["seed"] in settings["seeds"]:
            columns = key | cell | step_columns(done, key["policy"])
            steps.append(artefacts.table("memory_steps", columns))
    artefacts.write(job.output("steps"), "memory_steps", pa.concat_tables(steps), job.spec)
    for name, rows in (("losses", losses), ("coverage", covered)):
        content = artefacts.table_of_rows(f"memory_{name}", rows)
        artefacts.write(job.output(name), f"memory_{name}", content, job.spec)


def losses_of(walk: pa.Table, done: list[Step]) -> Rows:
    """Return the losses per stratum that occurs."""
    truth = walk["next_state"].to_numpy()
    strata = np.array(walk["stratum"].to_pylist())
    columns = {
        "top1": np.array([step.top1 for step in done]) != truth,
        "vote": np.array([step.vote for step in done]) != truth,
        "floor_predictor": walk["floor_predictor"].to_numpy(),
        "floor_memory": walk["floor_memory"].to_numpy(),
        "local_tokens": np.array([step.context.tokens for step in done]),
    }
    return [
        {
            "stratum": stratum,
            "n": int(np.count_nonzero(strata == stratum)),
            **{name: values[strata == stratum].sum().item() for name, values in columns.items()},
        }
        for stratum in STRATA
        if (strata == stratum).any()
    ]


if __name__ == "__main__":
    run(main, globals()["snakemake"])
