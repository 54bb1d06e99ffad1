"""Test whether a model can use a memory at all: the competence gate, one world per seed."""

from typing import Any

from _entry import Job, run
from _model import client
from coretail import artefacts
from coretail.prompts import field
from coretail.rollouts.competence import predict, prediction_tasks
from coretail.worlds.tables import read_contents, read_topologies


def main(job: Job) -> None:
    """Write one row per task."""
    topologies = read_topologies(job.input("edges"))
    contents = read_contents(job.input("nodes"))
    rows: list[dict[str, Any]] = []
    with client(job) as model:
        report = job.progress("worlds", len(topologies), detail=model.counters.line)
        for position, topology in enumerate(topologies):
            report(position)
            tasks = prediction_tasks(topology, contents[topology.seed], job.settings["n_tasks"])
            replies = predict(
                model, tasks, seed=job.settings["seed"], rule=job.spec["rule"], cell=topology.key
            )
            for reply in replies:
                task = reply.task
                rows.append(
                    {
                        "model": job.settings["model"]["name"],
                        "family": topology.family,
                        "n_nodes": topology.n_nodes,
                        "seed": topology.seed,
                        "condition": task.condition,
                        "number": task.number,
                        "edge": task.edge,
                        "status": reply.status,
                        "predicted": reply.predicted,
                        "correct": reply.correct,
                        "from_memory": reply.predicted
                        in [field(memory.next_state) for memory in task.memories],
                        "prompt_tokens": reply.prompt_tokens,
                        "completion_tokens": reply.completion_tokens,
                    }
                )
    content = artefacts.table_of_rows("competence", rows)
    artefacts.write(job.output("competence"), "competence", content, job.spec)


if __name__ == "__main__":
    run(main, globals()["snakemake"])
