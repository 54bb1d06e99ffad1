"""Plot how often the option at each place was chosen."""

from _entry import Job, run
from coretail import artefacts
from coretail.render.positions import figure_positions
from coretail.render.style import save_figure


def main(job: Job) -> None:
    """Draw shares by place, per model and goal."""
    rows = artefacts.read_rows(job.input("positions"), "table_positions")
    save_figure(figure_positions(rows), job.output("pdf"), job.output("png"))


if __name__ == "__main__":
    run(main, globals()["snakemake"])
