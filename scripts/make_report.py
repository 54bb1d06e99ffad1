"""Make the report: Snakemake's own, of everything that `snakemake` makes."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from _entry import LOGGER, Job, run
from coretail.errors import InputError

SNAKEFILE = Path(__file__).parents[1] / "Snakefile"


def main(job: Job) -> None:
    """Let a second Snakemake write it, with the configuration of this one.

    It only reads: what the jobs before this one noted of themselves, and their results. It takes
    no lock, so that it may run inside the first.
    """
    with tempfile.TemporaryDirectory() as folder:
        overlay = Path(folder) / "config.json"
        overlay.write_text(json.dumps(job.config), encoding="utf-8")
        command = [
            *(sys.executable, "-m", "snakemake"),
            *("--snakefile", str(SNAKEFILE)),
            *("--configfile", str(overlay)),
            *("--report", str(job.output("report"))),
            *("--", "all"),
        ]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
    if done.returncode:
        raise InputError(f"snakemake --report failed:\n{done.stdout}")
    LOGGER.info("one file of %.1f MB", job.output("report").stat().st_size / 1e6)


if __name__ == "__main__":
    run(main, globals()["snakemake"])
