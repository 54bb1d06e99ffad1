"""Plot Figure 7: concentration against the exponent τ."""

from _entry import Job, run
from coretail import artefacts
from coretail.render.style import save_figure
from coretail.render.tau import figure7


def main(job: Job) -> None:
    """Draw Gini, skew and max/median of shares, slots and access counts."""
    rows = artefacts.read_rows(job.input("tau"), "table_tau")
    seeds = artefacts.read_all(job.inputs("sweep"), "tau_sweep").to_pylist()
    save_figure(figure7(rows, seeds), job.output("pdf"), job.output("png"))


if __name__ == "__main__":
    run(main, globals()["snakemake"])
