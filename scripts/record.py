"""Write what the journals hold to workflow/recordings, one file per model."""

from _entry import LOGGER, Job, run
from _model import JOURNALS, RECORDINGS
from coretail.llm import compact
from coretail.llm.journal import read_journal


def main(job: Job) -> None:
    """Merge every journal into the recording of its model."""
    journals = sorted(JOURNALS.glob("*/*.journal"))
    for entry in job.access["models"]:
        name = entry["name"]
        own = [
            journal
            for journal in journals
            if any(record.model == name for record in read_journal(journal))
        ]
        out = RECORDINGS / f"{name.replace('/', '_')}.parquet"
        if own:
            LOGGER.info("%s holds %d completions of %s", out, compact(own, out), name)


if __name__ == "__main__":
    run(main, globals()["snakemake"])
