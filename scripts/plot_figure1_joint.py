"""Plot Figure 1 whole: the random walk's traces, a language model's, and the budget by rank."""

from _entry import Job, run
from _figure1 import driver_rows, walk_rows
from coretail.render.joint import figure1_joint
from coretail.render.style import save_figure


def main(job: Job) -> None:
    """Draw both halves as their own figures do, and beside them what τ makes of the ranks."""
    walk = job.settings["walk"]
    walks = walk_rows(job.inputs("walks"), walk["eviction"])
    rows, n_nodes = driver_rows(job.input("counts"), job.input("edges"), walk)
    figure = figure1_joint(
        *walks, *rows, n_nodes, job.settings["model"], walk["steps"], job.settings["taus"]
    )
    save_figure(figure, job.output("pdf"), job.output("png"))


if __name__ == "__main__":
    run(main, globals()["snakemake"])
