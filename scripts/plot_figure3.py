"""Plot Figure 3: the retriever ladder."""

from _entry import Job, run
from coretail import artefacts
from coretail.render.ladder import figure3
from coretail.render.style import save_figure


def main(job: Job) -> None:
    """Draw Gini and its reduction per family, size and rung."""
    rows = [
        row | {"gini_mean": row["gini"], "reduction_mean": row["reduction"]}
        for row in artefacts.read_rows(job.input("ladder"), "table_ladder")
    ]
    save_figure(figure3(rows), job.output("pdf"), job.output("png"))


if __name__ == "__main__":
    run(main, globals()["snakemake"])
