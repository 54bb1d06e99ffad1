"""Auditing a log on the command line, each format in a process of its own, as a user would."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

from coretail.streams import stream

ACCESSES = 10_000_000
ITEMS = 100_000
REPLICATES = 1_000
SECONDS = 60.0
BYTES = 1.5e9
HELP_SECONDS = 0.5

SCRIPTS = Path(__file__).parents[2] / "scripts"


def benchmarks(accesses: int = ACCESSES, replicates: int = REPLICATES) -> Iterator[dict]:
    helps = [run("--help")[0] for _ in range(5)]
    yield row(
        f"audit trace: --help ({median(helps):.2f} s)",
        "the required half second",
        [HELP_SECONDS / seconds for seconds in helps],
    )
    with tempfile.TemporaryDirectory() as directory:
        for path in write_logs(Path(directory), accesses):
            seconds, peak, out = run(
                "audit", str(path), "--replicates", str(replicates), "--jobs", "2", "--json"
            )
            found = json.loads(out)["traces"][0]
            assert found["n_accesses"] == accesses
            what = (
                f"audit trace: {path.suffix[1:]}, {accesses:,} accesses of {found['n_items']:,} "
                f"items, {replicates:,} replicates"
            )
            yield row(f"{what} ({seconds:.0f} s)", "the required minute", [SECONDS / seconds])
            yield row(f"{what} ({peak / 1e6:.0f} MB)", "the required 1.5 GB", [BYTES / peak])


def write_logs(directory: Path, accesses: int) -> Iterator[Path]:
    """Write one log in three formats; three accesses at a time, as of a retriever with k = 3."""
    rng = stream("bench", "trace")
    weight = rng.pareto(1.2, ITEMS) + 1
    codes = rng.choice(ITEMS, size=accesses, p=weight / weight.sum())
    ids = pa.array([f"memory-{number:06d}" for number in range(ITEMS)])
    table = pa.table(
        {"timestamp": np.arange(accesses) // 3, "memory_id": ids.take(pa.array(codes))}
    )
    pq.write_table(table, path := directory / "log.parquet")
    yield path
    path.unlink()
    pc.write_csv(table, path := directory / "log.csv")
    yield path
    path.unlink()
    with (path := directory / "log.jsonl").open("w") as file:
        for batch in table.to_batches(1 << 18):
            columns = batch.to_pydict()
            file.writelines(
                f'{{"timestamp": {time}, "memory_id": "{memory}"}}\n'
                for time, memory in zip(*columns.values(), strict=True)
            )
    yield path


def run(*arguments: str) -> tuple[float, int, str]:
    """Run the command; return its seconds, its peak resident memory in bytes and its output."""
    with tempfile.TemporaryFile("w+") as out:
        begin = perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "coretail", *arguments], cwd=SCRIPTS, stdout=out
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 3):
            raise RuntimeError(f"coretail {' '.join(arguments)}: exit {process.returncode}")
        out.seek(0)
        return seconds, usage.ru_maxrss * 1024, out.read()


def row(name: str, baseline: str, ratios: list[float]) -> dict:
    return {
        "name": name,
        "baseline": baseline,
        "ratio_median": median(ratios),
        "ratio_low": min(ratios),
        "ratio_high": max(ratios),
        "runs": len(ratios),
    }
