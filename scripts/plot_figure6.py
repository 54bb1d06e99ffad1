"""Plot Figure 6: what makes two encodings differ in the closed loop."""

from _entry import Job, run
from coretail import artefacts
from coretail.render.replay import figure_replay
from coretail.render.style import save_figure


def main(job: Job) -> None:
    """Draw one row of panels per model and policy, one column per predictor."""
    rows, seeds = (
        artefacts.read_rows(job.input(name), name)
        for name in ("table_replay_parts", "table_replay_seeds")
    )
    save_figure(figure_replay(rows, seeds), job.output("pdf"), job.output("png"))


if __name__ == "__main__":
    run(main, globals()["snakemake"])
