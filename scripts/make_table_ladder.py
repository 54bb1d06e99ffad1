"""Make the retriever ladder's table, the numbers behind Figure 3."""

import math
from typing import Any

from _entry import Job, run
from _tables import write_texts
from coretail import artefacts, stats
from coretail.render import tables

REFERENCE = "state_frequency"
SYMMETRIC = "symmetric_payload"


def main(job: Job) -> None:
    """Write Gini and its reduction against the reference rung, per family, size and rung."""
    ginis: dict[tuple[str, int, str], dict[int, float | None]] = {}
    for path in job.inputs("ladder"):
        for row in artefacts.read_rows(path, "ladder"):
            key = row["family"], row["n_nodes"], row["rung"]
            ginis.setdefault(key, {})[row["seed"]] = row["gini"]
    rows = [paired(key, seeds, ginis[*key[:2], REFERENCE]) for key, seeds in ginis.items()]
    for size in sorted({size for _, size, _ in ginis}):
        regular = ginis.get(("uniform", size, REFERENCE))
        symmetric = ginis.get(("baseline-symmetric", size, REFERENCE))
        if regular and symmetric:
            rows.append(unpaired(size, symmetric, regular))
    paper = job.settings["paper"]
    for row in rows:
        row["paper"] = "; ".join(
            says(entry)
            for entry in paper
            if entry["rung"] == row["rung"] and entry["families"] in ("all", row["family"])
        )
    rows.sort(key=lambda row: row["n_nodes"])
    content = artefacts.table_of_rows("table_ladder", rows)
    artefacts.write(job.output("ladder"), "table_ladder", content, job.spec)
    write_texts(job, [table(rows)])


def paired(
    key: tuple[str, int, str],
    seeds: dict[int, float | None],
    reference: dict[int, float | None],
) -> dict[str, Any]:
    """Return one rung, compared with the reference rung on the same trajectories."""
    family, size, rung = key
    gini = stats.t_interval(seeds.values())
    row = {
        "family": family,
        "n_nodes": size,
        "rung": rung,
        "gini": gini.estimate,
        "gini_low": gini.low,
        "gini_high": gini.high,
        "n_seeds": gini.n,
    }
    if rung == REFERENCE:
        undefined = dict.fromkeys(("reduction", "reduction_low", "reduction_high"))
        return row | undefined | {"pairing": "reference", "reason": gini.reason}
    reduction = stats.paired_reduction(
        [reference[seed] for seed in seeds], [seeds[seed] for seed in seeds]
    )
    return row | {
        "reduction": reduction.estimate,
        "reduction_low": reduction.low,
        "reduction_high": reduction.high,
        "pairing": "paired by seed",
        "reason": "; ".join(dict.fromkeys(filter(None, [gini.reason, reduction.reason]))),
    }


def unpaired(
    size: int, symmetric: dict[int, float | None], regular: dict[int, float | None]
) -> dict[str, Any]:
    """Return the regular graph with symmetric payload, another world, against the uniform one.

    The reduction is that of geometric means: its interval is Welch's on ln(Gini).
    """
    gini = stats.t_interval(symmetric.values())
    gap = stats.difference_interval(logarithms(symmetric), logarithms(regular))
    return {
        "family": "uniform",
        "n_nodes": size,
        "rung": SYMMETRIC,
        "gini": gini.estimate,
        "gini_low": gini.low,
        "gini_high": gini.high,
        "n_seeds": gini.n,
        "reduction": None if gap.estimate is None else 1 - math.exp(gap.estimate),
        "reduction_low": None if gap.high is None else 1 - math.exp(gap.high),
        "reduction_high": None if gap.low is None else 1 - math.exp(gap.low),
        "pairing": "unpaired",
        "reason": "; ".join(dict.fromkeys(filter(None, [gini.reason, gap.reason]))),
    }


def logarithms(seeds: dict[int, float | None]) -> list[float | None]:
    """Return ln(Gini) per seed, undefined where Gini is undefined or 0."""
    return [math.log(value) if value else None for value in seeds.values()]


def says(entry: dict[str, Any]) -> str:
    """Return one value of the paper as text."""
    low, high = entry["low"], entry["high"]
    if entry["quantity"] == "gini":
        return f"Gini {low}" if low == high else f"Gini {low} to {high}"
    return f"{entry['quantity']} {low:.0%} to {high:.0%}"


def table(rows: list[dict[str, Any]]) -> tables.TableSpec:
    """Return the description of the table."""
    return tables.TableSpec(
        name="table_ladder",
        title="Table: The retriever ladder under random-walk driving",
        caption=(
            "Gini of access counts over items with count ≥ 1, mean over seeds with t interval, and "
            "its reduction against state_frequency on the same trajectories (symmetric_payload: "
            "the regular graph whose states share their contents, another world, so unpaired, "
            "against uniform)."
        ),
        columns=(
            tables.Column("|V|", ("n_nodes",), tables.integer()),
            tables.Column("Graph family", ("family",), tables.text(), "left"),
            tables.Column("Rung", ("rung",), tables.text(), "left"),
            tables.Column("Gini [95%]", ("gini", "gini_low", "gini_high"), tables.interval(3)),
            tables.Column(
                "Reduction [95%]",
                ("reduction", "reduction_low", "reduction_high"),
                tables.percent_interval(1),
                missing="the reference rung, or no interval (see the Parquet file's reason)",
            ),
            tables.Column("Pairing", ("pairing",), tables.text(), "left"),
            tables.Column("Seeds", ("n_seeds",), tables.integer()),
            tables.Column("Paper", ("paper",), tables.text(), "left"),
        ),
        rows=tuple(rows),
        layout="long",
        blocks="n_nodes",
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
