"""Ask a model where transitions lead on its own trajectories, from what its memory shows."""

from _asking import asked_table
from _entry import Job, run
from _memory import run_of
from coretail import artefacts


def main(job: Job) -> None:
    """Write one row per step that the model is asked at."""
    key, limits = run_of(job.settings, job.wildcards["policy"], "slots", job.wildcards["shown"])
    trajectories = artefacts.read(job.input("trajectories"), "memory_trajectories")
    groups = list(artefacts.groups(trajectories, ["driver", "family", "n_nodes", "seed"]))
    content = asked_table(job, groups, key, limits)
    artefacts.write(job.output("asked"), "memory_asked", content, job.spec)


if __name__ == "__main__":
    run(main, globals()["snakemake"])
