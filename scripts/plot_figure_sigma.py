"""Plot the companion picture of Table 1: sigma_top10 against graph size."""

from _entry import Job, run
from coretail import artefacts
from coretail.render.finite_size import figure_sigma
from coretail.render.style import save_figure


def main(job: Job) -> None:
    """Draw every seed, the mean, its interval and the paper's values."""
    cells = artefacts.read_rows(job.input("cells"), "table1_cells")
    rows = [
        {**cell, "seed": seed, "sigma_top10": sigma}
        for cell in cells
        for seed, sigma in zip(cell["seeds"], cell["sigma_seeds"], strict=True)
    ]
    paper = [
        {"family": cell["family"], "n_nodes": cell["n_nodes"], "sigma_top10": cell["paper_sigma"]}
        for cell in cells
        if cell["eviction"] == cells[0]["eviction"] and cell["paper_sigma"] is not None
    ]
    save_figure(figure_sigma(rows, paper), job.output("pdf"), job.output("png"))


if __name__ == "__main__":
    run(main, globals()["snakemake"])
