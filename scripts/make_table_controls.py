"""Make the table of matched controls: the empirical null, tried on a walk of its own law."""

from typing import Any

from _entry import Job, run
from _tables import write_texts
from coretail import artefacts
from coretail.audit.empirical import empirical_p, holm
from coretail.render import tables
from coretail.traces import STATISTICS


def main(job: Job) -> None:
    """Write every statistic of a further random walk against its controls."""
    walks = artefacts.read_all(job.inputs("controls"), "controls").to_pylist()
    cells: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for walk in walks:
        cells.setdefault((walk["family"], walk["seed"]), []).append(walk)
    rows = [row for name in STATISTICS for row in judge(name, list(cells.values()))]
    content = artefacts.table_of_rows("table_controls", rows)
    artefacts.write(job.output("controls"), "table_controls", content, job.spec)
    write_texts(job, [table(rows)])


def judge(name: str, cells: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return one statistic of all cells with its empirical p, Holm-corrected over the cells."""
    rows = []
    for walks in cells:
        judged, controls = walks[0], walks[1:]
        found = empirical_p(judged[name], [walk[name] for walk in controls])
        rows.append(
            {
                "statistic": name,
                **{key: judged[key] for key in ("family", "n_nodes", "seed", "n_steps")},
                "value": found.value,
                "control_median": found.median,
                "control_low": found.low,
                "control_high": found.high,
                "n_controls": found.n_controls,
                "n_undefined": found.n_undefined,
                "p": found.p_two_sided,
                "reason": found.reason or "",
            }
        )
    adjusted = holm([row["p"] for row in rows])
    return [row | {"p_holm": p} for row, p in zip(rows, adjusted, strict=True)]


def between(median: float, low: float, high: float) -> str:
    """Write a median and its range with three significant digits."""
    middle, least, most = map(tables.significant(3), (median, low, high))
    return f"{middle} [{least}, {most}]"


def table(rows: list[dict[str, Any]]) -> tables.TableSpec:
    """Return the description of the table."""
    return tables.TableSpec(
        name="table_controls",
        title="Table: The empirical null of matched random walks",
        caption=(
            "Each statistic of one further random walk against control walks in the same world, "
            "from the same start, of the same length: median and 95% range of the controls, "
            "two-sided empirical p, and Holm's correction over the cells of a statistic. A random "
            "walk judged by random walks must pass."
        ),
        columns=(
            tables.Column("Statistic", ("statistic",), tables.text(), "left"),
            tables.Column("Graph family", ("family",), tables.text(), "left"),
            tables.Column("|V|", ("n_nodes",), tables.integer()),
            tables.Column("Seed", ("seed",), str),
            tables.Column("Steps", ("n_steps",), tables.integer()),
            tables.Column("Value", ("value",), tables.significant(3)),
            tables.Column(
                "Controls: median [95%]",
                ("control_median", "control_low", "control_high"),
                between,
            ),
            tables.Column("Controls", ("n_controls",), tables.integer()),
            tables.Column("p", ("p",), tables.p_value(3)),
            tables.Column("p, Holm", ("p_holm",), tables.p_value(3)),
        ),
        rows=tuple(rows),
        layout="long",
        blocks="statistic",
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
