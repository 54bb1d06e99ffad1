"""Plot the calibration of the audit."""

from _entry import Job, run
from coretail import artefacts
from coretail.render.calibration import figure_calibration
from coretail.render.style import save_figure

LABELS = {
    "not_auditable": "not auditable",
    "truncated_power_law_compatible": "truncated p. l.",
    "lognormal_compatible": "log-normal",
    "power_law_compatible": "power law",
    "undecided": "undecided",
}


def main(job: Job) -> None:
    """Draw p under its own null, the confusion matrix and the power of the main verdict."""
    samples = artefacts.read_all(job.inputs("calibration"), "calibration").to_pylist()
    p_rows = [
        {"cutoff": cutoff, "n_tail": sample["n_tail"], "p": sample[f"p_{cutoff}"]}
        for cutoff in ("known", "refitted")
        for sample in samples
        if sample["law"] == "power_law" and sample[f"p_{cutoff}"] is not None
    ]
    confusion = artefacts.read_rows(job.input("confusion"), "table_calibration_confusion")
    figure = figure_calibration(
        p_rows,
        confusion,
        LABELS,
        "truncated_power_law_compatible",
        job.settings["p_gof"],
    )
    save_figure(figure, job.output("pdf"), job.output("png"))


if __name__ == "__main__":
    run(main, globals()["snakemake"])
