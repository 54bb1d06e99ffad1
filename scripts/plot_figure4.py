"""Plot Figure 4 for one model and goal: topologies under semantic policy against random walks."""

from typing import Any

from _entry import Job, run
from _fits import fitted_curves
from coretail import artefacts, stats
from coretail.distributions import ccdf_rows
from coretail.render.style import save_figure
from coretail.render.topology import figure4


def main(job: Job) -> None:
    """Draw distributions with their controls' band and fitted laws, and the effects."""
    model, goal = job.settings["model"], job.wildcards["goal"]
    counts = artefacts.read_all(job.inputs("counts"), "semantic_counts")
    shares = []
    for cell, items in artefacts.groups(counts, ["family", "seed"]):
        access = items["access"].to_numpy()
        shares += [cell | row for row in ccdf_rows(access[access > 0])]
    families = list(dict.fromkeys(row["family"] for row in shares))
    own = {"model": model, "goal": goal}
    audits = [
        row
        for row in artefacts.read_rows(job.input("audits"), "semantic_audits")
        if own.items() <= row.items()
    ]
    first = min(row["seed"] for row in audits)
    curves = [point for row in audits if row["seed"] == first for point in fitted_curves(row)]
    tests = [
        row
        for row in artefacts.read_rows(job.input("tests"), "semantic_tests")
        if own.items() <= row.items()
    ]
    bands = [
        row
        for row in artefacts.read_all(job.inputs("bands"), "control_bands").to_pylist()
        if row["seed"] == first and row["family"] in families
    ]
    effects = [
        effect([row for row in tests if (row["family"], row["statistic"]) == (family, statistic)])
        for family in families
        for statistic in ("gini", "lambda_per_tail")
    ]
    figure = figure4(shares, bands, curves, effects, model, goal)
    save_figure(figure, job.output("pdf"), job.output("png"))


def effect(tests: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one statistic of one topology: seeds, mean and interval, and its controls."""
    mean = stats.t_interval(test["value"] for test in tests)
    controls = {
        key: stats.t_interval(test[key] for test in tests).estimate
        for key in ("control_median", "control_low", "control_high")
    }
    return {
        "family": tests[0]["family"],
        "statistic": tests[0]["statistic"],
        "seed_values": [test["value"] for test in tests],
        "mean": mean.estimate,
        "low": mean.low,
        "high": mean.high,
        **controls,
        "n_controls": min(test["n_controls"] for test in tests),
    }


if __name__ == "__main__":
    run(main, globals()["snakemake"])
