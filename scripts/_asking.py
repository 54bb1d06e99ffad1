"""What the entry scripts that ask a model about trajectories share."""

from typing import Any

import numpy as np
import pyarrow as pa

from _entry import Job
from _memory import view_of
from _model import client, model_of
from coretail import artefacts
from coretail.memory.asking import ask
from coretail.memory.frozen import NOTHING, STRATA, replay, sample_steps
from coretail.memory.policies import Settings, make_policy

Group = tuple[dict[str, Any], pa.Table]


def asked_table(job: Job, groups: list[Group], key: dict[str, Any], limits: Settings) -> pa.Table:
    """Ask the job's model at a sample of the steps of each trajectory.

    Parameters
    ----------
    job
        With ``vocabulary``, ``asked`` (most steps per stratum), ``seed`` and ``model`` among its
        settings.
    groups
        Per trajectory its cell and its rows.
    key
        Key columns of the memory policy's run.
    limits
        What the policy may use.

    Returns
    -------
    pyarrow.Table
        One row per step that the model is asked at.
    """
    settings = job.settings
    rows: list[dict[str, Any]] = []
    # Of an endpoint's model the window is not known; the endpoint itself would complain.
    window = getattr(model_of(job), "context_tokens", None)
    with client(job) as model:
        report = job.progress("worlds", len(groups), detail=model.counters.line)
        for position, (cell, walk) in enumerate(groups):
            report(position)
            view = view_of(cell["family"], cell["n_nodes"], cell["seed"], settings["vocabulary"])
            strata = np.array([STRATA.index(name) for name in walk["stratum"].to_pylist()])
            # One sample per world, whatever the policy: predictions are paired by step.
            chosen, weights = sample_steps(
                strata, settings["asked"], *view.topology.key, "asked steps", cell["driver"]
            )
            stands_for = dict(zip(chosen.tolist(), weights.tolist(), strict=True))
            policy = make_policy(key["policy"], view, limits)
            done = replay(view, walk["edge"].to_pylist(), policy)
            replies = ask(
                model,
                view,
                (step for step in done if step.number in stands_for),
                window=window,
                seed=settings["seed"],
                rule=job.spec["rule"],
            )
            rows += [
                {
                    "model": settings["model"]["name"],
                    **key,
                    **cell,
                    "step": reply.step,
                    "stratum": STRATA[strata[reply.step]],
                    "weight": stands_for[reply.step],
                    "status": reply.status,
                    "predicted": None if reply.predicted == NOTHING else reply.predicted,
                    "correct": reply.correct,
                    "prompt_tokens": reply.prompt_tokens,
                    "completion_tokens": reply.completion_tokens,
                }
                for reply in replies
            ]
    return artefacts.table_of_rows("memory_asked", rows)
