"""Make Table 2: topologies under semantic policy, with a reading derived by rule."""

from typing import Any

from _entry import Job, run
from _gate import LEVEL, MARKED, competent_models
from _tables import write_texts
from coretail import artefacts, stats
from coretail.audit.empirical import holm
from coretail.render import tables

Rows = list[dict[str, Any]]


def main(job: Job) -> None:
    """Write one row per model, goal and topology."""
    audits = artefacts.read_rows(job.input("audits"), "semantic_audits")
    tests = artefacts.read_rows(job.input("tests"), "semantic_tests")
    effects = artefacts.read_rows(job.input("effects"), "semantic_effects")
    summaries = artefacts.read_all(job.inputs("summary"), "semantic_summary").to_pylist()
    competent = competent_models(job)
    groups = dict.fromkeys((row["model"], row["goal"], row["family"]) for row in audits)
    rows = [
        topology(
            group,
            *(
                [row for row in source if (row["model"], row["goal"], row["family"]) == group]
                for source in (audits, tests, effects, summaries)
            ),
            competent=competent[group[0]],
            paper=job.settings["paper"],
        )
        for group in groups
    ]
    for model, goal in dict.fromkeys(group[:2] for group in groups):
        own = [row for row in rows if (row["model"], row["goal"]) == (model, goal)]
        for row, adjusted in zip(own, holm([row["p"] for row in own]), strict=True):
            row["p_holm"] = adjusted
            row["reading"] = reading(row)
    for row in rows:
        del row["alpha_difference"]
    content = artefacts.table_of_rows("table2", rows)
    artefacts.write(job.output("table2"), "table2", content, job.spec)
    write_texts(job, [table(rows)])


def topology(
    group: tuple[str, str, str],
    audits: Rows,
    tests: Rows,
    effects: Rows,
    summaries: Rows,
    *,
    competent: bool,
    paper: dict[str, str],
) -> dict[str, Any]:
    """Return one row; Holm's correction and the reading follow when all rows are there."""
    model, goal, family = group
    by = {
        name: [test for test in tests if test["statistic"] == name]
        for name in ("gini", "alpha", "exponent_events")
    }
    gini = stats.t_interval(test["value"] for test in by["gini"])
    control = stats.t_interval(test["control_median"] for test in by["gini"])
    above, difference = (
        stats.t_interval(
            None
            if test["value"] is None or test["control_median"] is None
            else test["value"] - test["control_median"]
            for test in by[name]
        )
        for name in ("gini", "alpha")
    )
    between = stats.t_interval(effect["between_blocks"] for effect in effects)
    expected = stats.t_interval(effect["between_expected"] for effect in effects)
    common = stats.t_interval(effect["lambda_common"] for effect in effects)
    return {
        "model": model,
        "goal": goal,
        "family": family,
        "n_nodes": audits[0]["n_nodes"],
        "n_steps": summaries[0]["steps"],
        "n_seeds": len(audits),
        "n_items": [audit["n"] for audit in audits],
        **{
            key: [audit[key] for audit in audits]
            for key in (
                "n_tail",
                "x_min",
                "alpha",
                "alpha_se",
                "p_gof",
                "lambda_R",
                "lambda_sigma",
                "lambda_z",
            )
        },
        "n_finite_mean": sum(audit["alpha"] is not None and audit["alpha"] > 2 for audit in audits),
        "verdicts": [audit["verdict"] for audit in audits],
        "gini": gini.estimate,
        "gini_low": gini.low,
        "gini_high": gini.high,
        "gini_control": control.estimate,
        "gini_difference": above.estimate,
        "gini_difference_low": above.low,
        "gini_difference_high": above.high,
        "exponent_events": [test["value"] for test in by["exponent_events"]],
        "lambda_common": common.estimate,
        "n_tail_common": effects[0]["n_tail_common"],
        "between_blocks": between.estimate,
        "between_expected": expected.estimate,
        "p": stats.fisher_p(test["p"] for test in by["gini"]),
        "p_holm": None,
        "n_marked": sum(summary["random"] for summary in summaries),
        "competent": competent,
        "alpha_difference": (difference.low, difference.high),
        "reading": "",
        "paper": paper.get(family, "not in the paper's table"),
        "reason": "; ".join(filter(None, [gini.reason, common.reason])),
    }


def reading(row: dict[str, Any]) -> str:
    """Return the reading of a topology by the rule of the analysis plan."""
    if not row["competent"]:
        return "no claim: the model fails the competence gate"
    if row["n_marked"] > MARKED * row["n_steps"] * row["n_seeds"]:
        return "no claim: more than 10% of the steps were marked"
    parts = []
    if row["p_holm"] is None:
        parts.append("not testable against random walks")
    else:
        differs = row["p_holm"] < LEVEL
        parts.append(
            "differs from random walks" if differs else "does not differ from random walks"
        )
    verdicts = row["verdicts"]
    if sum(verdict != "not_auditable" for verdict in verdicts) < 2:
        parts.append("not auditable")
    elif verdicts.count("truncated_power_law_compatible") >= 2:
        parts.append("truncated-power-law-compatible")
    else:
        parts.append("other")
    low, high = row["alpha_difference"]
    if low is not None and low > 0:
        parts.append("steeper")
    elif high is not None and high < 0:
        parts.append("flatter")
    return ", ".join(parts)


def table(rows: Rows) -> tables.TableSpec:
    """Return the description of the table."""
    per_seed = "undefined for a seed (see the Parquet file)"
    return tables.TableSpec(
        name="table2",
        title="Table 2: Topology audit under semantic policy",
        caption=(
            "Access counts of agents that choose by a language model; values per seed. Gini: mean "
            "over seeds with t interval, and the median of matched random walks; p: its empirical "
            "p against them (Fisher over seeds, Holm over topologies). Readings by the rule of "
            "the analysis plan."
        ),
        columns=(
            tables.Column("Model", ("model",), tables.text(), "left"),
            tables.Column("Goal", ("goal",), tables.text(), "left"),
            tables.Column("Topology", ("family",), tables.text(), "left"),
            tables.Column("n", ("n_items",), tables.points(0), missing=per_seed),
            tables.Column("n_tail", ("n_tail",), tables.points(0), missing=per_seed),
            tables.Column("x_min", ("x_min",), tables.points(0), missing=per_seed),
            tables.Column("α", ("alpha",), tables.points(2), missing=per_seed),
            tables.Column("α > 2", ("n_finite_mean",), tables.integer()),
            tables.Column("p_gof", ("p_gof",), tables.points(2), missing=per_seed),
            tables.Column("Λ", ("lambda_R",), tables.points(2), missing=per_seed),
            tables.Column("z", ("lambda_z",), tables.points(2), missing=per_seed),
            tables.Column(
                "Verdicts",
                ("verdicts",),
                lambda names: " / ".join(name.replace("_", " ") for name in names),
                "left",
            ),
            tables.Column("Gini [95%]", ("gini", "gini_low", "gini_high"), tables.interval(3)),
            tables.Column("Random walks", ("gini_control",), tables.decimal(3), missing=per_seed),
            tables.Column("p", ("p_holm",), tables.p_value(3), missing=per_seed),
            tables.Column("Λ/n at common n_tail", ("lambda_common",), tables.significant(2)),
            tables.Column(
                "Spectral exponent", ("exponent_events",), tables.points(2), missing=per_seed
            ),
            tables.Column(
                "Between blocks",
                ("between_blocks", "between_expected"),
                lambda share, expected=None: f"{share:.0%} (by chance {expected:.0%})",
                missing="blocks exist in modular worlds only",
            ),
            tables.Column("Reading", ("reading",), tables.text(), "left"),
            tables.Column("Paper", ("paper",), tables.text(), "left"),
        ),
        rows=tuple(rows),
        notes=(
            "The paper's model is another one: what does not show here is not reproduced with this "
            "model, never contradicted.",
        ),
        layout="page",
        blocks="model",
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
