"""Write the generated stand-in for LongMemEval."""

from _entry import Job, run
from coretail.longmemeval.sample import write_sample


def main(job: Job) -> None:
    """Write one file in the benchmark's format."""
    write_sample(job.output("questions"), **job.settings)


if __name__ == "__main__":
    run(main, globals()["snakemake"])
