"""Plot Figure 2: the update-and-retrieval loop."""

from _entry import Job, run
from coretail.render.loop import figure2
from coretail.render.style import save_figure


def main(job: Job) -> None:
    """Draw the loop with the slots that the configured τ and budget give."""
    figure = figure2(job.settings["tau"], job.settings["slots"])
    save_figure(figure, job.output("pdf"), job.output("png"))


if __name__ == "__main__":
    run(main, globals()["snakemake"])
