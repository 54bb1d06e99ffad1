"""Audit the semantic rollouts, and judge them by their matched random walks."""

from typing import Any

import numpy as np

from _entry import Job, run
from coretail import artefacts
from coretail.audit import Thresholds, audit_counts
from coretail.audit.empirical import effect_at, empirical_p
from coretail.audit.record import audit_record
from coretail.concentration import between_share
from coretail.traces import STATISTICS, trace_statistics
from coretail.worlds.tables import read_topologies
from coretail.worlds.topology import MODULAR_BLOCKS, Topology, equal_blocks

CELL = ["model", "goal", "family", "n_nodes", "seed"]
LEAST_COMMON = 50


def main(job: Job) -> None:
    """Write audits, tests against controls, and effects of every semantic rollout."""
    settings = job.settings
    thresholds = Thresholds(**settings["thresholds"])
    rule = settings["ks"]
    controls: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for walk in artefacts.read_all(job.inputs("controls"), "controls").to_pylist():
        if walk["replicate"] > 0:
            controls.setdefault((walk["family"], walk["seed"]), []).append(walk)
    topologies = {
        (topology.family, topology.seed): topology
        for path in job.inputs("edges")
        for topology in read_topologies(path)
    }
    audits, tests, samples = [], [], []
    for counts_path, steps_path in zip(job.inputs("counts"), job.inputs("steps"), strict=True):
        counts = artefacts.read(counts_path, "semantic_counts")
        steps = artefacts.read(steps_path, "semantic_steps")
        for (cell, items), (_, series) in zip(
            artefacts.groups(counts, CELL), artefacts.groups(steps, CELL), strict=True
        ):
            access = items["access"].to_numpy()
            result = audit_counts(
                access[access > 0],
                replicates=settings["replicates"],
                seed=cell["seed"],
                key=(*(cell[name] for name in CELL), "access", rule),
                ks=rule,
                thresholds=thresholds,
            )
            audits.append(cell | audit_record(result))
            found = trace_statistics(
                access,
                series["top_accessed"].to_numpy(zero_copy_only=False),
                series["events"].to_numpy(),
                ks=rule,
            )
            own = controls[cell["family"], cell["seed"]]
            tests += [cell | judge(name, found, own) for name in STATISTICS]
            samples.append((cell, access, result))

    auditable = [result.n_tail for _, _, result in samples if result.n_tail >= LEAST_COMMON]
    common = min(auditable, default=LEAST_COMMON)
    effects = [
        effects_of(cell, access, result.x_min, common, topologies[cell["family"], cell["seed"]])
        for cell, access, result in samples
    ]
    for name, rows in [("audits", audits), ("tests", tests), ("effects", effects)]:
        content = artefacts.table_of_rows(f"semantic_{name}", rows)
        artefacts.write(job.output(name), f"semantic_{name}", content, job.spec)


def judge(name: str, found: dict[str, Any], controls: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one statistic of one rollout against its controls."""
    result = empirical_p(found[name], [walk[name] for walk in controls])
    return {
        "statistic": name,
        "value": result.value,
        "control_median": result.median,
        "control_low": result.low,
        "control_high": result.high,
        "n_controls": result.n_controls,
        "n_undefined": result.n_undefined,
        "p": result.p_two_sided,
        "reason": result.reason or "",
    }


def effects_of(
    cell: dict[str, Any], access: np.ndarray, x_min: int | None, common: int, topology: Topology
) -> dict[str, Any]:
    """Return Lambda per observation at the common n_tail, and the share between blocks."""
    used = access > 0
    share = expected = None
    reasons = []
    if cell["family"] == "modular":
        blocks = np.repeat(
            np.arange(MODULAR_BLOCKS), equal_blocks(topology.n_nodes, MODULAR_BLOCKS)
        )
        share, expected = between_share(access[used], blocks[topology.sources[used]])
    mean = spread = None
    if x_min is None:
        reasons.append("lambda_common: no cutoff")
    else:
        effect = effect_at(access[used], x_min, common, key=tuple(cell[name] for name in CELL))
        mean, spread = effect.mean, effect.sd
        if effect.reason:
            reasons.append(f"lambda_common: {effect.reason}")
    return cell | {
        "n_tail_common": common,
        "lambda_common": mean,
        "lambda_common_sd": spread,
        "between_blocks": share,
        "between_expected": expected,
        "reason": "; ".join(reasons),
    }


if __name__ == "__main__":
    run(main, globals()["snakemake"])
