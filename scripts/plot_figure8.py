"""Plot Figure 8: what CTWM saves and costs against graph memory, over all workloads."""

from _entry import Job, run
from coretail import artefacts
from coretail.render.external import figure_external
from coretail.render.style import save_figure


def main(job: Job) -> None:
    """Draw tokens saved and the difference of accuracies, each beside the other."""
    rows = artefacts.read_rows(job.input("table5"), "table5")
    save_figure(figure_external(rows), job.output("pdf"), job.output("png"))


if __name__ == "__main__":
    run(main, globals()["snakemake"])
