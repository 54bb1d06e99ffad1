"""Plot the map of auditable random walks: graph size against number of steps."""

from collections import defaultdict

from _entry import Job, run
from coretail import artefacts
from coretail.render.auditable import figure_auditable_map
from coretail.render.style import save_figure


def main(job: Job) -> None:
    """Draw the share of walks whose tail is long enough."""
    tails = defaultdict(list)
    for row in artefacts.read_all(job.inputs("auditable"), "auditable").to_pylist():
        tails[row["family"], row["n_nodes"], row["n_steps"]].append(row["n_tail"])
    least = job.settings["n_tail"]
    rows = [
        {
            "family": family,
            "n_nodes": n_nodes,
            "n_steps": n_steps,
            "auditable": sum(n_tail >= least for n_tail in values),
            "n_seeds": len(values),
        }
        for (family, n_nodes, n_steps), values in tails.items()
    ]
    save_figure(figure_auditable_map(rows, threshold=least), job.output("pdf"), job.output("png"))


if __name__ == "__main__":
    run(main, globals()["snakemake"])
