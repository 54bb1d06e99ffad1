"""Plot Figure 1's random-walk panel: how access counts are distributed over memory items."""

from _entry import Job, run
from _figure1 import walk_rows
from _fits import fitted_curves
from coretail import artefacts
from coretail.render.distributions import figure1_random_walk
from coretail.render.style import save_figure


def main(job: Job) -> None:
    """Draw one eviction rule, one size, all families and seeds, the first seed's fitted laws."""
    eviction, rule = job.settings["eviction"], job.settings["ks"]
    ranks, shares = walk_rows(job.inputs("counts"), eviction)
    audits = artefacts.read_all(job.inputs("audits"), "audits").to_pylist()
    wanted = ("access", rule, eviction, min(row["seed"] for row in audits))
    curves = [
        point
        for row in audits
        if (row["kind"], row["ks_rule"], row["eviction"], row["seed"]) == wanted
        for point in fitted_curves(row)
    ]
    save_figure(figure1_random_walk(ranks, shares, curves), job.output("pdf"), job.output("png"))


if __name__ == "__main__":
    run(main, globals()["snakemake"])
