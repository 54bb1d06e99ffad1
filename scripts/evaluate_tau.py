"""Evaluate one choice of τ on the frozen trajectories: a fixed one, auto, or the oracle's bound."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from _entry import Job, run
from _memory import view_of
from coretail import artefacts
from coretail.memory.frozen import STRATA, replay
from coretail.memory.policies import Settings, make_policy
from coretail.memory.view import WorldView

Rows = list[dict[str, Any]]
Columns = dict[str, NDArray[np.bool_] | NDArray[np.int64]]


def main(job: Job) -> None:
    """Write the losses of the free predictor vote per half and stratum of every trajectory."""
    settings, choice = job.settings, job.wildcards["choice"]
    automatic = {
        (row["driver"], row["family"], row["n_nodes"], row["seed"]): row["tau"]
        for row in artefacts.read_rows(job.input("auto"), "tau_auto")
    }
    trajectories = artefacts.read(job.input("trajectories"), "memory_trajectories")
    groups = list(artefacts.groups(trajectories, ["driver", "family", "n_nodes", "seed"]))
    report = job.progress("trajectories", len(groups))
    rows: Rows = []
    for position, (cell, walk) in enumerate(groups):
        report(position)
        edges = walk["edge"].to_numpy().astype(np.int64)
        tau: float | None = None
        if choice == "oracle":
            columns = oracle(edges)
        else:
            tau = automatic[tuple(cell.values())] if choice == "auto" else float(choice)
            view = view_of(cell["family"], cell["n_nodes"], cell["seed"], settings["vocabulary"])
            columns = evaluated(view, edges, Settings(slots=settings["slots"], tau=tau))
        key = {**cell, "choice": choice, "tau": tau, "local_tokens": None}
        rows += [key | row for row in summed(walk, columns)]
    artefacts.write(
        job.output("evaluation"),
        "tau_evaluation",
        artefacts.table_of_rows("tau_evaluation", rows),
        job.spec,
    )


def evaluated(view: WorldView, edges: NDArray[np.int64], settings: Settings) -> Columns:
    """Return what came of CTWM at each step.

    Whether its vote is wrong, whether the text of the right transition is missing in its context,
    and the context's local tokens.
    """
    done = list(replay(view, edges.tolist(), make_policy("ctwm", view, settings)))
    return {
        "vote": np.array([step.vote for step in done]) != view.targets[edges],
        "hidden": np.array([step.edge not in step.context.shown for step in done]),
        "local_tokens": np.array([step.context.tokens for step in done]),
    }


def oracle(edges: NDArray[np.int64]) -> Columns:
    """Return the same for an allocation that knows the next state, as far as it is defined.

    It gives all slots to a stored transition with this state, action and next state: there is none
    exactly where the transition was not walked before.
    """
    unknown = np.zeros(edges.size, np.bool_)
    unknown[np.unique(edges, return_index=True)[1]] = True
    return {"vote": unknown, "hidden": unknown}


def summed(walk: pa.Table, columns: Columns) -> Rows:
    """Return the sums per half and stratum that occurs."""
    strata = np.array(walk["stratum"].to_pylist())
    floor = walk["floor_memory"].to_numpy()
    second = np.arange(walk.num_rows) >= walk.num_rows // 2
    rows = []
    for half, within in (("first", ~second), ("second", second)):
        for stratum in STRATA:
            steps = within & (strata == stratum)
            if steps.any():
                rows.append(
                    {
                        "half": half,
                        "stratum": stratum,
                        "n": int(steps.sum()),
                        "floor_memory": float(floor[steps].sum()),
                        **{name: int(values[steps].sum()) for name, values in columns.items()},
                    }
                )
    return rows


if __name__ == "__main__":
    run(main, globals()["snakemake"])
