"""Plot Figure 5: tail error against tokens, encoding by allocation."""

from _entry import Job, run
from coretail import artefacts
from coretail.render.ablation import figure_ablation
from coretail.render.style import save_figure


def main(job: Job) -> None:
    """Draw one panel per predictor and driver."""
    rows = artefacts.read_rows(job.input("table4"), "table4")
    save_figure(figure_ablation(rows), job.output("pdf"), job.output("png"))


if __name__ == "__main__":
    run(main, globals()["snakemake"])
