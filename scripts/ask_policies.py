"""Ask a model where transitions lead, from what one memory policy shows of a frozen trajectory."""

from _asking import asked_table
from _entry import Job, run
from _memory import run_of
from coretail import artefacts


def main(job: Job) -> None:
    """Write one row per step that the model is asked at."""
    settings = job.settings
    key, limits = run_of(
        settings, *(job.wildcards[name] for name in ("policy", "budget", "encoding"))
    )
    trajectories = artefacts.read(job.input("trajectories"), "memory_trajectories")
    groups = [
        (cell, walk)
        for cell, walk in artefacts.groups(trajectories, ["driver", "family", "n_nodes", "seed"])
        if cell["seed"] in settings["seeds"]
    ]
    content = asked_table(job, groups, key, limits)
    artefacts.write(job.output("asked"), "memory_asked", content, job.spec)


if __name__ == "__main__":
    run(main, globals()["snakemake"])
