"""What the entry scripts of closed-loop runs share: whose they are, their steps and losses."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from _entry import Job
from _gate import MARKED
from _policies import Rows
from coretail import artefacts
from coretail.errors import InputError
from coretail.memory.comparison import Losses
from coretail.memory.frozen import least_visited


def driver_of(model: str, policy: str, encoding: str) -> str:
    """Return the name of who walked, in trajectories."""
    return f"live-{model}-{policy}-{encoding}"


@dataclass(frozen=True, slots=True)
class Runs:
    """The closed-loop runs of one model with one memory, by seed.

    Attributes
    ----------
    model, policy, encoding
        Who acted with what.
    summary
        Per seed its row of ``closed_loop_summary``.
    walk, steps
        Per seed the rows of ``memory_trajectories`` and ``memory_steps``, by step.
    """

    model: str
    policy: str
    encoding: str
    summary: dict[int, dict[str, Any]] = field(default_factory=dict)
    walk: dict[int, Rows] = field(default_factory=dict)
    steps: dict[int, Rows] = field(default_factory=dict)

    @property
    def driver(self) -> str:
        """Who walked, in trajectories."""
        return driver_of(self.model, self.policy, self.encoding)

    @property
    def cell(self) -> str:
        """The memory as policy-encoding."""
        return f"{self.policy}-{self.encoding}"

    @property
    def marked(self) -> float:
        """The share of steps with a random action, since no reply named one."""
        rows = self.summary.values()
        return sum(row["random"] for row in rows) / sum(row["steps"] for row in rows)

    @property
    def excluded(self) -> bool:
        """Whether so many steps are marked that nothing is read from the runs."""
        return self.marked > MARKED


def read_runs(job: Job) -> dict[str, Runs]:
    """Return the closed-loop runs by driver, in the order of the input ``summary``.

    Besides, the inputs ``trajectories`` and ``steps`` are read.
    """
    runs: dict[str, Runs] = {}
    for row in artefacts.read_all(job.inputs("summary"), "closed_loop_summary").to_pylist():
        own = Runs(row["model"], row["policy"], row["encoding"])
        runs.setdefault(own.driver, own).summary[row["seed"]] = row
    walks = artefacts.read_all(job.inputs("trajectories"), "memory_trajectories").to_pylist()
    steps = artefacts.read_all(job.inputs("steps"), "memory_steps").to_pylist()
    for row in walks:
        runs[row["driver"]].walk.setdefault(row["seed"], []).append(row)
    for row in steps:
        runs[row["driver"]].steps.setdefault(row["seed"], []).append(row)
    return runs


def check_pairs(one: Runs, other: Runs) -> None:
    """Check that two memories were acted with in the same worlds, from the same starts.

    Raises
    ------
    InputError
        If a run has no partner: a missing partner is an error, never dropped.
    """
    starts = [
        {
            seed: (row["family"], row["n_nodes"], row["start"], row["steps"])
            for seed, row in runs.summary.items()
        }
        for runs in (one, other)
    ]
    for seed in sorted({*starts[0], *starts[1]}):
        if starts[0].get(seed) != starts[1].get(seed):
            raise InputError(
                f"closed loop: {one.model}, seed {seed}: {one.cell} and {other.cell} were not run "
                "from the same start in the same world for as long; delete "
                "results/memory/closed_loop, and the workflow runs them again"
            )


def free_losses(walk: Rows, steps: Rows, predictor: str) -> Losses:
    """Return the loss of a free predictor at each step of one run or replay.

    Parameters
    ----------
    walk
        Rows of the trajectory, by step.
    steps
        What the policy did at each of them.
    predictor
        ``top1`` or ``vote``; to predict nothing is wrong.
    """
    losses = Losses()
    for row, done in zip(walk, steps, strict=True):
        losses.add(row["step"], row["stratum"], 1.0, float(done[predictor] != row["next_state"]))
    return losses


def on_own_tail(losses: Losses, walk: Rows) -> Losses:
    """Return the same losses with the run's own tail set in place of the common one."""
    tail = set(least_visited(np.array([row["state"] for row in walk])).tolist())
    own = Losses(steps=losses.steps)
    for step, stratum in losses.strata.items():
        place = "tail" if walk[step]["state"] in tail else "head"
        own.strata[step] = f"{place}_{stratum.partition('_')[2]}"
    return own
