"""Fetch a LongMemEval file from a URL, and check its SHA-256."""

import shutil

from _entry import LOGGER, Job, run
from coretail.llm.weights import cache_directory
from coretail.longmemeval.fetch import fetch


def main(job: Job) -> None:
    """Write the file as it is, or stop.

    It is kept in the user cache, where an interrupted fetch goes on, and a later run finds it.
    """
    url, sha256 = job.settings["url"], job.settings["sha256"]
    kept = cache_directory() / "longmemeval" / f"{sha256}.json"
    shutil.copyfile(fetch(url, sha256, kept, LOGGER.info), job.output("questions"))


if __name__ == "__main__":
    run(main, globals()["snakemake"])
