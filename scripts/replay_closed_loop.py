"""Replay what a model walked with a memory policy through that policy, in each encoding."""

import pyarrow as pa

from _entry import Job, run
from _memory import run_of, step_columns, view_of
from coretail import artefacts
from coretail.memory.frozen import replay
from coretail.memory.policies import make_policy

ENCODINGS = ("compact", "verbose")


def main(job: Job) -> None:
    """Write what the policy does at each step of all trajectories, in each encoding."""
    trajectories = artefacts.read(job.input("trajectories"), "memory_trajectories")
    parts = []
    for cell, walk in artefacts.groups(trajectories, ["driver", "family", "n_nodes", "seed"]):
        view = view_of(cell["family"], cell["n_nodes"], cell["seed"], job.settings["vocabulary"])
        for encoding in ENCODINGS:
            key, limits = run_of(job.settings, job.wildcards["policy"], "slots", encoding)
            policy = make_policy(key["policy"], view, limits)
            done = list(replay(view, walk["edge"].to_pylist(), policy))
            columns = key | cell | step_columns(done, key["policy"])
            parts.append(artefacts.table("memory_steps", columns))
    artefacts.write(job.output("replays"), "memory_steps", pa.concat_tables(parts), job.spec)


if __name__ == "__main__":
    run(main, globals()["snakemake"])
