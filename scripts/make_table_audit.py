"""Make Table 1's companion: the audit of every random-walk cell, and the counts of verdicts."""

from typing import Any

from _entry import Job, run
from _tables import write_texts
from coretail import artefacts, stats
from coretail.audit.verdict import VERDICTS
from coretail.render import tables
from coretail.schemas import SCHEMAS

Rows = list[dict[str, Any]]


def main(job: Job) -> None:
    """Write the cells by the first rule, the counts under every rule, and both tables."""
    audits = artefacts.read_all(job.inputs("audits"), "audits").to_pylist()
    rule, p_star = job.settings["ks"], job.settings["p_gof"]
    evictions = list(dict.fromkeys(row["eviction"] for row in audits))
    cells = [
        {key: row[key] for key in SCHEMAS["table_audit_cells"].arrow.names}
        for eviction in evictions
        for row in audits
        if (row["eviction"], row["kind"], row["ks_rule"]) == (eviction, "access", rule)
    ]
    groups: dict[tuple[str, str, str], Rows] = {}
    for row in audits:
        groups.setdefault((row["eviction"], row["kind"], row["ks_rule"]), []).append(row)
    verdicts = [
        count(key, groups[key], job.settings["n_tail"], p_star)
        for key in sorted(groups, key=lambda key: evictions.index(key[0]))
    ]
    for name, rows in [("cells", cells), ("verdicts", verdicts)]:
        content = artefacts.table_of_rows(f"table_audit_{name}", rows)
        artefacts.write(job.output(name), f"table_audit_{name}", content, job.spec)
    write_texts(job, [verdict_table(verdicts, p_star), cell_table(cells, rule)])


def count(key: tuple[str, str, str], rows: Rows, n_tail: int, p_star: float) -> dict[str, Any]:
    """Return the counts of one eviction rule, kind of count and Kolmogorov-Smirnov rule."""
    eviction, kind, rule = key
    passed = sum(row["verdict"] == "power_law_compatible" for row in rows)
    share = stats.wilson_interval(passed, len(rows))
    accepted = [row for row in rows if row["p_gof"] is not None and row["p_gof"] >= p_star]
    return {
        "eviction": eviction,
        "kind": kind,
        "ks_rule": rule,
        "n_cells": len(rows),
        "n_long_tail": sum(row["n_tail"] >= n_tail for row in rows),
        "n_auditable": sum(row["verdict"] != "not_auditable" for row in rows),
        "n_accepted": len(accepted),
        "n_both": sum(row["verdict"] != "not_auditable" for row in accepted),
        "pass_rate": share.estimate,
        "pass_rate_low": share.low,
        "pass_rate_high": share.high,
        **{verdict: sum(row["verdict"] == verdict for row in rows) for verdict in VERDICTS},
    }


def verdict_table(rows: Rows, p_star: float) -> tables.TableSpec:
    """Return the description of the counts of verdicts."""
    verdicts = [
        tables.Column(verdict.replace("_", " "), (verdict,), tables.integer(), group="Verdict")
        for verdict in VERDICTS
    ]
    return tables.TableSpec(
        name="table_audit_verdicts",
        title="Table: Verdicts of the tail audit under random-walk driving",
        caption=(
            "Cells (family, size, seed) by verdict. Auditable: a tail long enough and a finite "
            f"standard error of Λ (the paper's Assumption 3.3); p ≥ {p_star:g}: the pure power law "
            "is not rejected by its bootstrap. Pure-power-law pass rate: auditable, not rejected, "
            "and no alternative preferred; Wilson's 95% interval."
        ),
        columns=(
            tables.Column("Eviction", ("eviction",), tables.text(), "left"),
            tables.Column("Counts", ("kind",), tables.text(), "left"),
            tables.Column("KS rule", ("ks_rule",), tables.text(), "left"),
            tables.Column("Cells", ("n_cells",), tables.integer()),
            tables.Column("Auditable", ("n_auditable",), tables.integer()),
            tables.Column(f"p ≥ {p_star:g}", ("n_accepted",), tables.integer()),
            tables.Column("Both", ("n_both",), tables.integer()),
            tables.Column(
                "Pass rate [95%]",
                ("pass_rate", "pass_rate_low", "pass_rate_high"),
                tables.percent_interval(0),
            ),
            *verdicts,
        ),
        rows=tuple(rows),
        notes=(
            "The paper: a pure-power-law pass rate of 0% over 54 cells, by an unnamed cutoff rule.",
        ),
        layout="page",
        blocks="eviction",
    )


def cell_table(rows: Rows, rule: str) -> tables.TableSpec:
    """Return the description of the table of cells."""
    missing = "no cutoff, or laws that coincide (see the reason)"
    return tables.TableSpec(
        name="table_audit_cells",
        title="Table: The tail audit of every random-walk cell",
        caption=(
            f"Access counts, cutoff by the {rule} Kolmogorov-Smirnov rule. α: exponent of the pure "
            "power law above x_min with its standard error; p: its bootstrap p, x_min refitted; Λ: "
            "log-likelihood ratio of truncated power law against log-normal, σ its standard error."
        ),
        columns=(
            tables.Column("Eviction", ("eviction",), tables.text(), "left"),
            tables.Column("Graph family", ("family",), tables.text(), "left"),
            tables.Column("|V|", ("n_nodes",), tables.integer()),
            tables.Column("Seed", ("seed",), str),
            tables.Column("n", ("n",), tables.integer()),
            tables.Column("n_tail", ("n_tail",), tables.integer()),
            tables.Column("x_min", ("x_min",), tables.integer(), missing=missing),
            tables.Column("α ± se", ("alpha", "alpha_se"), tables.plus_minus(2), missing=missing),
            tables.Column("p", ("p_gof",), tables.p_value(3), missing=missing),
            tables.Column("Λ", ("lambda_R",), tables.decimal(2), missing=missing),
            tables.Column("σ", ("lambda_sigma",), tables.decimal(2), missing=missing),
            tables.Column("z", ("lambda_z",), tables.decimal(2), missing=missing),
            tables.Column("Verdict", ("verdict",), lambda v: v.replace("_", " "), "left"),
            tables.Column("Reason", ("reason",), tables.text(), "left"),
        ),
        rows=tuple(rows),
        layout="long",
        blocks="eviction",
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
