"""What every entry script that asks a model shares: its client, from the configuration's access.

Backend, budgets and retries decide how completions come, never what they are, so they are no part
of a rule's specification: changing them reruns nothing.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from _entry import LOGGER, Job
from coretail.llm import ApiModel, Budget, Client, Model, RedactingFilter, Retry, model_from

RECORDINGS = Path(__file__).parents[1] / "workflow/recordings"
# Beside the results, not among them: a completion that was paid for outlives `make clean`.
JOURNALS = Path("journals")


def model_of(job: Job) -> Model:
    """Return the job's model, as the configuration describes it."""
    name = job.settings["model"]["name"]
    (entry,) = (entry for entry in job.access["models"] if entry["name"] == name)
    return model_from(
        {key: value for key, value in entry.items() if key not in ("families", "goals")}
    )


@contextmanager
def client(job: Job) -> Iterator[Client]:
    """Open the client of the job's model, with a journal of the job's own.

    Whatever happens, what it did is told at the end.
    """
    model = model_of(job)
    if isinstance(model, ApiModel) and model.key_env:
        for handler in logging.getLogger().handlers:
            handler.addFilter(RedactingFilter([model.key_env]))
    JOURNALS.mkdir(exist_ok=True)
    with Client(
        model,
        job.access["backend"],
        journal=JOURNALS / job.spec["rule"] / ("+".join(job.wildcards.values()) + ".journal"),
        recordings=[RECORDINGS],
        budget=Budget(**job.access["budget"]),
        ledger=JOURNALS / "ledger",
        retry=Retry(attempts=job.access["attempts"], patience=job.access["patience"]),
        report=LOGGER.info,
    ) as opened:
        try:
            yield opened
        finally:
            LOGGER.info("%s", opened.counters.line())
