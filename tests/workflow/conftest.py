"""Copies of the workflow that tests run, change and break, in a path with a space."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from coretail.config_docs import GATHERING

ROOT = Path(__file__).parents[2]

TINY = """\
seeds: [1, 2]
worlds:
  families: [uniform, baseline-symmetric]
  sizes: [100, 120]
random_walk:
  steps: 400
ladder:
  sizes: [100]
  n_seeds: 2
spectrum:
  segment: 64
audit:
  replicates: 10
calibration:
  laws: [power_law]
  n_tails: [50]
  samples: 3
  replicates: 10
auditable:
  families: [uniform]
  sizes: [100]
  steps: [100]
  n_seeds: 2
cells:
  families: [scale-free]
  n_nodes: 100
  steps: 16
  n_controls: 19
models:
  - name: SmolLM2-135M-Instruct
semantic:
  seek: []  # choosing
  explore: []
  competence_tasks: 1
  n_random_agents: 19
figures:
  n_nodes: 120
memory:
  steps: 24
  n_seeds: 2
  policies: [graph, ctwm]
  models: []  # reading
  asked_cells: [ctwm-compact]
  asked: 1
  closed_loop: {cells: [ctwm-compact, ctwm-verbose], steps: 3}
tau:
  values: [0.5, 1.0, 2.0]
  n_seeds: 2
  steps: 40
  models: []  # seeking
  semantic_steps: 10
alfworld:
  models: []  # playing
  cells: [ctwm-compact]
  episodes: 1
  per_type: 1
  rooms: 1
  settings:
    short_walk: {demonstrations: 0, steps: 1}
    long_walk: {demonstrations: 0, steps: 1}
    one_shot: {demonstrations: 0, steps: 1}
    three_shot: {demonstrations: 0, steps: 1}
longmemeval:
  models: []  # answering
  sample: {n_questions: 3}
  cells: {slots: [ctwm-compact], tokens: []}
traces: []
"""


class Workflow:
    """A copy of the workflow with a tiny configuration."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.overlay = path / "tiny.yaml"

    def command(self, *arguments: str, cores: int = 2) -> list[str]:
        """Return the command that runs Snakemake."""
        return [
            sys.executable,
            "-m",
            "snakemake",
            "--snakefile",
            str(self.path / "Snakefile"),
            "--configfile",
            str(self.overlay),
            "--cores",
            str(cores),
            *arguments,
        ]

    def run(self, *arguments: str, ok: bool = True, cores: int = 2, cwd: Path | None = None) -> str:
        """Run Snakemake and return all it printed."""
        done = subprocess.run(
            self.command(*arguments, cores=cores),
            cwd=cwd or self.path,
            env=os.environ | {"PYTHONHASHSEED": "random"},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=300,
        )
        assert (done.returncode == 0) is ok, done.stdout
        return done.stdout

    def start(self, *arguments: str, cores: int = 2) -> subprocess.Popen[str]:
        """Start Snakemake in a process group of its own and return the process."""
        return subprocess.Popen(
            self.command(*arguments, cores=cores),
            cwd=self.path,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def pending(self, *arguments: str) -> set[str]:
        """Return the rules that a run would execute, those apart that gather everything."""
        printed = self.run("--dry-run", *arguments)
        if "Nothing to be done" in printed:
            return set()
        table = printed.split("Job stats:")[1].split("total")[0]
        return set(re.findall(r"^(\w+) +\d+$", table, re.MULTILINE)) - {"all", *GATHERING}

    def set(self, old: str, new: str, file: str = "tiny.yaml") -> None:
        """Replace one text in one file."""
        path = self.path / file
        text = path.read_text()
        assert text.count(old) == 1, (file, old)
        path.write_text(text.replace(old, new))

    def artefacts(self) -> dict[str, str]:
        """Return the SHA-256 of every result that must be the same on every run."""
        results = self.path / "results"
        return {
            path.relative_to(results).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(results.rglob("*"))
            if path.is_file()
            and path.relative_to(results).parts[0] not in {"logs", "benchmarks", ".manifest"}
        }


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Workflow:
    """One finished run. Tests do not change it; see ``workflow``."""
    path = tmp_path_factory.mktemp("finished") / "a path"
    for name in ["Snakefile", "config", "envs", "profiles", "scripts", "workflow"]:
        source = ROOT / name
        if source.is_dir():
            # Without the recordings, so that what a test records is its own.
            shutil.copytree(source, path / name, ignore=shutil.ignore_patterns("recordings"))
        else:
            path.mkdir(exist_ok=True)
            shutil.copy2(source, path / name)
    workflow = Workflow(path)
    workflow.overlay.write_text(TINY)
    workflow.run()
    return workflow


@pytest.fixture
def workflow(finished: Workflow, tmp_path: Path) -> Workflow:
    """A copy of the finished run that a test may change."""
    path = tmp_path / "a path"
    shutil.copytree(finished.path, path)
    return Workflow(path)


@pytest.fixture
def fresh(workflow: Workflow) -> Workflow:
    """The workflow without any result."""
    shutil.rmtree(workflow.path / "results")
    shutil.rmtree(workflow.path / ".snakemake")
    return workflow
