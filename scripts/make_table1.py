"""Make Table 1: the finite-size trend of sigma_top10 under random-walk driving."""

from collections.abc import Sequence
from typing import Any

from _entry import Job, run
from _tables import write_texts
from coretail import artefacts, stats
from coretail.render import tables

Rows = list[dict[str, Any]]


def main(job: Job) -> None:
    """Write the cells, the trends, the noise level, and the table that shows them."""
    measured = [
        row
        for row in artefacts.read_rows(job.input("concentration"), "concentration")
        if row["kind"] == "access"
    ]
    degrees = {
        (row["family"], row["n_nodes"], row["seed"]): row["mean_degree"]
        for path in job.inputs("summary")
        for row in artefacts.read_rows(path, "walk_summary")
    }
    for row in measured:
        row["mean_degree"] = degrees[row["family"], row["n_nodes"], row["seed"]]
    paper = job.settings["paper"]
    families = list(dict.fromkeys(row["family"] for row in measured))
    evictions = list(dict.fromkeys(row["eviction"] for row in measured))
    sizes = sorted({row["n_nodes"] for row in measured})

    groups = [
        (
            eviction,
            family,
            [r for r in measured if (r["eviction"], r["family"]) == (eviction, family)],
        )
        for eviction in evictions
        for family in families
    ]
    cells = [
        cell(eviction, family, size, [r for r in rows if r["n_nodes"] == size], paper)
        for eviction, family, rows in groups
        for size in sizes
    ]
    trends = [trend(eviction, family, rows, paper) for eviction, family, rows in groups]
    noise = [
        difference(eviction, size, [r for r in measured if r["eviction"] == eviction])
        for eviction in evictions
        for size in sizes
    ]
    for name, rows in [("cells", cells), ("trends", trends), ("noise", noise)]:
        content = artefacts.table_of_rows(f"table1_{name}", rows)
        artefacts.write(job.output(name), f"table1_{name}", content, job.spec)
    write_texts(
        job,
        [
            overview(cells, trends, sizes),
            cell_table(cells),
            noise_table(noise),
        ],
    )


def cell(
    eviction: str, family: str, size: int, rows: Rows, paper: dict[str, Any]
) -> dict[str, Any]:
    """Return one cell: the seeds' values with their mean and t interval."""
    sigma = stats.t_interval(row["sigma_top10"] for row in rows)
    undefined = sorted({row["reason"] for row in rows if row["sigma_top10"] is None})
    return {
        "eviction": eviction,
        "family": family,
        "n_nodes": size,
        "seeds": [row["seed"] for row in rows],
        "mean_degree": sum(row["mean_degree"] for row in rows) / len(rows),
        "sigma_seeds": [row["sigma_top10"] for row in rows],
        "sigma": sigma.estimate,
        "sigma_low": sigma.low,
        "sigma_high": sigma.high,
        "n_seeds": sigma.n,
        "paper_sigma": paper.get(family, {}).get("sigma", {}).get(str(size)),
        "reason": "; ".join(filter(None, [sigma.reason, *undefined])),
    }


def trend(eviction: str, family: str, rows: Rows, paper: dict[str, Any]) -> dict[str, Any]:
    """Return the trend of sigma_top10 in ln |V| for one family."""
    fit = stats.size_trend(
        [row["n_nodes"] for row in rows],
        [row["seed"] for row in rows],
        [row["sigma_top10"] for row in rows],
    )
    return {
        "eviction": eviction,
        "family": family,
        "slope": fit.slope.estimate,
        "slope_low": fit.slope.low,
        "slope_high": fit.slope.high,
        "r2": fit.r2,
        "r2_low": fit.r2_low,
        "r2_high": fit.r2_high,
        "n_seeds": fit.n_seeds,
        "paper_slope": paper.get(family, {}).get("slope"),
        "paper_r2": paper.get(family, {}).get("r2"),
        "reason": "; ".join(dict.fromkeys(filter(None, [fit.slope.reason, fit.reason]))),
    }


def difference(eviction: str, size: int, rows: Rows) -> dict[str, Any]:
    """Return uniform minus baseline-symmetric: two independent samples of one law."""
    uniform, symmetric = (
        [row["sigma_top10"] for row in rows if row["family"] == family and row["n_nodes"] == size]
        for family in ("uniform", "baseline-symmetric")
    )
    gap = stats.difference_interval(uniform, symmetric)
    return {
        "eviction": eviction,
        "n_nodes": size,
        "difference": gap.estimate,
        "difference_low": gap.low,
        "difference_high": gap.high,
        "n_seeds": gap.n,
        "reason": gap.reason,
    }


def overview(cells: Rows, trends: Rows, sizes: Sequence[int]) -> tables.TableSpec:
    """Return the table in the paper's shape, the paper's values beside ours."""
    at = {(row["eviction"], row["family"], row["n_nodes"]): row for row in cells}
    rows = []
    for fit in trends:
        row = dict(fit)
        reasons = [fit["reason"]]
        for size in sizes:
            here = at[fit["eviction"], fit["family"], size]
            for key in ("mean_degree", "sigma", "sigma_low", "sigma_high", "paper_sigma"):
                row[f"{key}_{size}"] = here[key]
            reasons.append(here["reason"])
        row["reason"] = "; ".join(dict.fromkeys(filter(None, reasons)))
        rows.append(row)
    no_value = "the paper gives no value"
    columns = [
        tables.Column("Eviction", ("eviction",), tables.text(), "left"),
        tables.Column("Graph family", ("family",), tables.text(), "left"),
    ]
    for size in sizes:
        keys = (f"sigma_{size}", f"sigma_low_{size}", f"sigma_high_{size}")
        columns += [
            tables.Column("σ [95%]", keys, tables.interval(2), group=f"|V| = {size}"),
            tables.Column(
                "paper",
                (f"paper_sigma_{size}",),
                tables.decimal(2),
                group=f"|V| = {size}",
                missing=no_value,
            ),
        ]
    columns += [
        tables.Column(
            "slope [95%]",
            ("slope", "slope_low", "slope_high"),
            tables.interval(2),
            group="On ln |V|",
        ),
        tables.Column(
            "paper", ("paper_slope",), tables.decimal(2), group="On ln |V|", missing=no_value
        ),
        tables.Column("R² [range]", ("r2", "r2_low", "r2_high"), tables.interval(2), group="Fit"),
        tables.Column("paper", ("paper_r2",), tables.decimal(2), group="Fit", missing=no_value),
    ]
    return tables.TableSpec(
        name="table1",
        title="Table 1: Finite-size trend under random-walk driving",
        caption=(
            "σ is the population standard deviation of ln(access count) over the top ⌈n/10⌉ items. "
            "Means over seeds with t intervals; slope: mean of the seeds' least-squares slopes on "
            "ln |V| with its t interval; R²: of the line through the means, with the range over "
            "seeds."
        ),
        columns=tuple(columns),
        rows=tuple(rows),
        notes=(
            "The definition of σ and the reservoir store were chosen with the paper's table in "
            "view, so its values can at most be consistent; trends and orders are what this table "
            "tests.",
        ),
        layout="page",
        blocks="eviction",
    )


def cell_table(cells: Rows) -> tables.TableSpec:
    """Return the cells behind the overview, with each seed's value."""
    return tables.TableSpec(
        name="table1_cells",
        title="Table 1, its cells: every seed",
        caption="σ per seed, in the order of the seeds, with mean, t interval and mean out-degree.",
        columns=(
            tables.Column("Eviction", ("eviction",), tables.text(), "left"),
            tables.Column("Graph family", ("family",), tables.text(), "left"),
            tables.Column("|V|", ("n_nodes",), tables.integer()),
            tables.Column("Mean degree", ("mean_degree",), tables.decimal(1)),
            tables.Column("σ per seed", ("sigma_seeds",), tables.points(3)),
            tables.Column("Mean [95%]", ("sigma", "sigma_low", "sigma_high"), tables.interval(3)),
            tables.Column("Seeds", ("n_seeds",), tables.integer()),
            tables.Column(
                "Paper", ("paper_sigma",), tables.decimal(3), missing="the paper gives no value"
            ),
        ),
        rows=tuple(cells),
        layout="long",
        blocks="eviction",
    )


def noise_table(noise: Rows) -> tables.TableSpec:
    """Return the noise level: the difference of two samples of one law."""
    return tables.TableSpec(
        name="table1_noise",
        title="Table 1, its noise level: uniform minus baseline-symmetric",
        caption=(
            "To a random walk the two families are independent samples of one law, so their "
            "difference in σ is noise. Welch's t interval over seeds."
        ),
        columns=(
            tables.Column("Eviction", ("eviction",), tables.text(), "left"),
            tables.Column("|V|", ("n_nodes",), tables.integer()),
            tables.Column(
                "Difference [95%]",
                ("difference", "difference_low", "difference_high"),
                tables.interval(3),
            ),
            tables.Column("Seeds", ("n_seeds",), tables.integer()),
        ),
        rows=tuple(noise),
        blocks="eviction",
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
