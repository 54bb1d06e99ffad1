"""Make the paper's page as a PDF, where LaTeX is installed."""

from _entry import LOGGER, Job, run
from _latex import typeset


def main(job: Job) -> None:
    """Typeset paper.tex, figures from where they lie."""
    program = typeset(job.input("latex"), job.output("pdf"))
    LOGGER.info("typeset with %s", program)


if __name__ == "__main__":
    run(main, globals()["snakemake"])
