"""The workflow on a real Slurm controller, where there is one."""

import shutil
import subprocess

import pytest

pytestmark = pytest.mark.workflow


def idle_nodes():
    """Return how many nodes of a Slurm cluster answer here."""
    if shutil.which("sinfo") is None:
        return 0
    try:
        found = subprocess.run(
            ["sinfo", "--noheader", "--states=idle,mixed,allocated", "--format=%D"],
            capture_output=True,
            text=True,
            timeout=20,
        )
    except subprocess.TimeoutExpired:
        return 0
    return sum(map(int, found.stdout.split()))


@pytest.mark.skipif(not idle_nodes(), reason="no node of a Slurm cluster answers here")
def test_jobs_of_a_cluster_give_the_same_bytes(fresh, finished):
    printed = fresh.run("--profile", "profiles/slurm", "table1")
    assert "SLURM" in printed
    made = fresh.artefacts()
    assert {"tables/table1_cells.parquet", "worlds/uniform/100/edges.parquet"} <= set(made)
    assert made == {path: digest for path, digest in finished.artefacts().items() if path in made}
