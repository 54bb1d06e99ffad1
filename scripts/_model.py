"""What every entry script that asks a model shares: its client, from the configuration's access.

Backend, budgets and retries decide how completions come, never what they are, so they are no part
of a rule's specification: changing them reruns nothing.
"""

import logging
from pathlib import Path

from _entry import LOGGER, Job
from coretail.llm import Budget, Client, RedactingFilter, Retry, model_from

RECORDINGS = Path(__file__).parents[1] / "workflow/recordings"
# Beside the results, not among them: a completion that was paid for outlives `make clean`.
JOURNALS = Path("journals")


def client(job: Job) -> Client:
    """Return the client of the job's model, with a journal of the job's own."""
    name = job.settings["model"]["name"]
    (entry,) = (entry for entry in job.access["models"] if entry["name"] == name)
    settings = {key: value for key, value in entry.items() if key not in ("families", "goals")}
    if variable := settings.get("key_env"):
        for handler in logging.getLogger().handlers:
            handler.addFilter(RedactingFilter([variable]))
    JOURNALS.mkdir(exist_ok=True)
    return Client(
        model_from(settings),
        job.access["backend"],
        journal=JOURNALS / job.spec["rule"] / ("+".join(job.wildcards.values()) + ".journal"),
        recordings=[RECORDINGS],
        budget=Budget(**job.access["budget"]),
        ledger=JOURNALS / "ledger",
        retry=Retry(attempts=job.access["attempts"], patience=job.access["patience"]),
        report=LOGGER.info,
    )
