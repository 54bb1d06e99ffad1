"""Plot the semantic half of Figure 1: a language model beside a random walk, scale-free worlds."""

from _entry import Job, run
from _figure1 import driver_rows
from coretail.render.style import save_figure
from coretail.render.topology import figure1_semantic


def main(job: Job) -> None:
    """Draw rank-frequency and distribution of access counts, one line per seed."""
    settings = dict(job.settings)
    model = settings.pop("model")
    rows, n_nodes = driver_rows(job.input("counts"), job.input("edges"), settings)
    figure = figure1_semantic(*rows, model, n_nodes, settings["steps"])
    save_figure(figure, job.output("pdf"), job.output("png"))


if __name__ == "__main__":
    run(main, globals()["snakemake"])
