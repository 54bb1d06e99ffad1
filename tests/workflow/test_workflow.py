"""Snakemake run for real on a tiny configuration."""

import ast
import os
import re
import shutil
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coretail.errors import InputError
from coretail.llm.registry import registered
from coretail.llm.weights import obtain

pytestmark = pytest.mark.workflow

ROOT = Path(__file__).parents[2]
MODEL = registered("SmolLM2-135M-Instruct")


def model_is_there() -> bool:
    """Fetch the small model, if need be."""
    try:
        obtain(MODEL)
    except InputError:
        return False
    return True


needs_model = pytest.mark.skipif(
    not model_is_there(), reason="the small model is not in the cache and cannot be fetched"
)

WALK = {
    "walk_randomly",
    "measure_concentration",
    "measure_spectra",
    "audit_walks",
    "make_table1",
    "make_table_audit",
    "make_table_spectrum",
    "plot_figure1",
    "plot_figure_sigma",
    "make_ledger",
}
LADDER = {"climb_ladder", "make_table_ladder", "plot_figure3", "make_ledger"}
CONTROLS = {"walk_controls", "make_table_controls", "make_ledger"}
MAP = {"map_auditable", "plot_figure_auditable"}
CALIBRATION = {
    "calibrate_audit",
    "make_table_calibration",
    "plot_figure_calibration",
    "make_ledger",
}
TABLE3 = {"make_table3", "make_ledger"}
SWEEP = {"sweep_tau", "make_table_tau", "make_table_cutoffs", "plot_figure7", "make_ledger"}
MEMORY = {
    "replay_policies",
    "make_table4",
    "plot_figure5",
    "make_table5",
    "plot_figure8",
} | TABLE3


def test_a_finished_run_has_nothing_to_do(finished):
    assert finished.pending() == set()


@pytest.mark.parametrize(
    ("old", "new", "rules"),
    [
        (
            "segment: 64",
            "segment: 32",
            {"measure_spectra", "make_table_spectrum", "make_ledger"},
        ),
        ("policies: [graph, ctwm]", "policies: [ctwm, graph]", TABLE3),
        ("  sizes: [100]\n  n_seeds: 2\nsp", "  sizes: [100]\n  n_seeds: 3\nsp", LADDER),
        ("steps: 400", "steps: 401", WALK | LADDER),
        ("n_controls: 19", "n_controls: 20", CONTROLS),
        ("  steps: [100]", "  steps: [101]", MAP),
        ("samples: 3", "samples: 4", CALIBRATION),
        (
            "seeds: [1, 2]",
            "seeds: [1, 3]",
            {
                "build_world",
                "make_table_cutoffs",
                "make_table_contexts",
                "make_table_longmemeval",
                "make_table_benchmarks",
                "make_table_tau",
                "plot_figure7",
            }
            | (WALK | CONTROLS | MEMORY),
        ),
        ("seeds: [1, 2]", "seeds: [2, 1]", set()),
        ("sizes: [100, 120]", "sizes: [120, 100]", set()),
    ],
)
def test_one_changed_value_reruns_what_depends_on_it(workflow, old, new, rules):
    workflow.set(old, new)
    assert workflow.pending() == rules


def test_swapping_two_numbers_reruns(workflow):
    workflow.set("  steps: 400", "  steps: 400\n  capacity: 7\n  k: 2")
    workflow.run()
    workflow.set("capacity: 7\n  k: 2", "capacity: 2\n  k: 7")
    # Behind the policies' tables stand the models' rollouts, which share the walk's memory.
    behind = MEMORY - {"replay_policies"} | {"make_table_longmemeval", "make_table_benchmarks"}
    assert workflow.pending() == WALK | LADDER | CONTROLS | MAP | SWEEP | behind


def test_a_new_size_reruns_only_its_own_cells(workflow):
    workflow.set("  sizes: [100, 120]", "  sizes: [100, 120, 110]")
    printed = workflow.run("--dry-run")
    assert workflow.pending() == {"build_world"} | WALK - {"plot_figure1"}
    assert re.search(r"^build_world +2$", printed, re.MULTILINE)
    assert re.search(r"^walk_randomly +2$", printed, re.MULTILINE)


def test_order_of_keys_and_touched_files_rerun_nothing(workflow):
    text = workflow.overlay.read_text()
    blocks = re.split(r"^(?=\w)", text, flags=re.MULTILINE)
    workflow.overlay.write_text("".join(reversed(blocks)))
    later = time.time() + 10
    for position, path in enumerate(sorted(workflow.path.rglob("*"), reverse=True)):
        if path.is_file() and ".snakemake" not in path.parts:
            os.utime(path, (later + position, later + position))
    assert workflow.pending() == set()


@pytest.mark.parametrize(
    ("module", "rules"),
    [
        ("spectrum.py", {"measure_spectra", "make_table_spectrum"}),
        ("stats.py", {"make_table1", "plot_figure_sigma", "make_table_ladder", "plot_figure3"}),
        ("worlds/contents.py", {"build_world"} | WALK | CONTROLS),
    ],
)
def test_an_edited_module_reruns_the_rules_that_import_it(workflow, module, rules):
    path = workflow.path / "scripts/coretail" / module
    path.write_text(path.read_text() + "\n# edited\n")
    assert rules <= workflow.pending()
    if module == "spectrum.py":
        assert workflow.pending() & {"build_world", "walk_randomly", "plot_figure3"} == set()
    workflow.run()
    assert workflow.pending() == set()


def test_a_copy_runs_its_own_library(workflow):
    workflow.set(
        "    values = _as_series(series)\n    n = ",
        "    raise OSError('mine')\n    n = ",
        "scripts/coretail/spectrum.py",
    )
    assert "OSError: mine" in workflow.run("table_spectrum", ok=False)


@pytest.mark.parametrize("target", [[], ["figure1"]])
def test_a_failed_and_repaired_run_equals_a_clean_one(workflow, fresh_results, target):
    workflow.set("steps: 400", "steps: 500")
    script = "scripts/walk_randomly.py"
    sound = (workflow.path / script).read_text()
    workflow.set(
        "    settings = dict(job.settings)\n", '    raise RuntimeError("broken")\n', script
    )
    assert "broken" in workflow.run(*target, ok=False)
    (workflow.path / script).write_text(sound)
    workflow.run(*target)
    clean = fresh_results("steps: 500", target)
    assert {path: workflow.artefacts()[path] for path in clean} == clean


@pytest.fixture
def fresh_results(finished, tmp_path):
    """Return the artefacts of a clean run with the number of steps changed."""

    def run(steps, target):
        path = tmp_path / "clean"
        shutil.copytree(finished.path, path, ignore=shutil.ignore_patterns("results", ".snakemake"))
        clean = type(finished)(path)
        clean.set("steps: 400", steps)
        clean.run(*target)
        return clean.artefacts()

    return run


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("sedes: [1]\n", "sedes"),
        ("random_walk:\n  step: 5\n", "random_walk.step"),
        ("worlds:\n  families: [uniform]\n  family: x\n", "worlds.family"),
        ("random_walk:\n  k: 0\n", "random_walk.k"),
        ("worlds:\n  families: [modular]\n  sizes: [10]\n", "worlds.sizes"),
        ("figures:\n  n_nodes: 777\n", "figures.n_nodes"),
        ("seeds: [1]\nseeds: [2]\n", "seeds"),
        ("models: [{name: SmolLM2-135M-Instruct}]\n", "must set memory.models too"),
    ],
)
def test_a_wrong_configuration_stops_before_any_job(workflow, line, name):
    before = workflow.artefacts()
    workflow.overlay.write_text(line)
    printed = workflow.run(ok=False)
    assert name in printed
    assert "Traceback" not in printed
    assert workflow.artefacts() == before


def test_the_example_of_an_endpoint_names_it_everywhere(workflow):
    workflow.overlay.write_text((ROOT / "config/endpoint.yaml").read_text())
    rules = workflow.pending("all", "plan")
    asking = {"roll_semantic", "ask_policies", "sweep_tau_semantic", "play_alfworld"}
    assert {"plan", "answer_questions", *asking} <= rules


@pytest.mark.parametrize("what", ["answering", "seeking"])
def test_the_gate_stands_behind_tables_of_benchmarks_as_soon_as_a_model_is_asked(workflow, what):
    targets = ["table_longmemeval", "table5", "table_benchmarks"]
    assert "make_table_gate" not in workflow.run(*targets, "--dry-run", "--forceall")
    workflow.set(f"models: []  # {what}", "models: [SmolLM2-135M-Instruct]")
    for target in targets:
        assert "make_table_gate" in workflow.run(target, "--dry-run", "--forceall")


def test_another_directory_works(fresh, finished, tmp_path):
    elsewhere = tmp_path / "else where"
    elsewhere.mkdir()
    fresh.run("--directory", str(elsewhere), cwd=tmp_path)
    assert type(fresh)(elsewhere).artefacts() == finished.artefacts()


def test_one_core_and_two_give_the_same_bytes(fresh, finished):
    fresh.run(cores=1)
    assert fresh.artefacts() == finished.artefacts()


def ask_everywhere(workflow):
    """Let the model choose, predict from memories, act with them, play and answer questions."""
    workflow.set("seek: []  # choosing", "seek: [scale-free]")
    for what in ("reading", "seeking", "playing", "answering"):
        workflow.set(f"models: []  # {what}", "models: [SmolLM2-135M-Instruct]")


def test_every_entry_script_runs_through_the_shared_entry():
    for path in sorted((ROOT / "scripts").glob("[a-z]*.py")):
        last = ast.unparse(ast.parse(path.read_text(encoding="utf-8")).body[-1])
        assert last == "if __name__ == '__main__':\n    run(main, globals()['snakemake'])", path


def test_a_fault_leaves_its_traceback_in_the_log_of_its_job(workflow):
    workflow.set(
        "    settings = dict(job.settings)\n",
        '    raise RuntimeError("injected")\n',
        "scripts/walk_randomly.py",
    )
    printed = workflow.run("table1", "--keep-going", ok=False)
    logs = sorted((workflow.path / "results/logs/walk_randomly").glob("*.log"))
    assert len(logs) == 4
    for log in logs:
        text = log.read_text()
        assert "Traceback (most recent call last)" in text
        assert text.rstrip().endswith("RuntimeError: injected")
    assert "RuntimeError: injected; the traceback is in" in printed


@needs_model
def test_a_recorded_run_equals_the_live_run_that_made_it(workflow):
    ask_everywhere(workflow)
    workflow.run("all", "record")
    live = workflow.artefacts()
    assert "rollouts/semantic/SmolLM2-135M-Instruct/seek/scale-free/100/steps.parquet" in live
    # The small model fails the competence gate: of what it did the sweep of τ claims nothing.
    ledger = pq.read_table(workflow.path / "results/tables/ledger.parquet").to_pylist()
    why = {row["id"]: row["why"] for row in ledger}
    for statistic in ("gini", "skew", "max_median", "alpha"):
        assert why[f"tau.semantic.{statistic}"] == "competent: False"
        assert "competent" not in why[f"tau.random_walk.{statistic}"]
    for folder in ["results", ".snakemake", "journals"]:
        shutil.rmtree(workflow.path / folder)
    workflow.set("models:\n", "llm:\n  backend: recorded\nmodels:\n")
    workflow.run("all", "record")
    assert workflow.artefacts() == live


@needs_model
def test_a_miss_of_the_recorded_backend_says_how_to_record(workflow):
    workflow.set("seek: []  # choosing", "seek: [scale-free]")
    workflow.set("models:\n", "llm:\n  backend: recorded\nmodels:\n")
    printed = workflow.run("table2", ok=False)
    assert "snakemake record" in printed
    assert "roll_semantic" in printed
    assert "Traceback" not in printed
    assert not list((workflow.path / "results/rollouts").glob("semantic/**/*.parquet"))


@pytest.mark.parametrize("kind", ["truncated", "foreign"])
def test_a_damaged_artefact_is_named_and_nothing_overwritten(workflow, kind):
    path = workflow.path / "results/worlds/uniform/100/edges.parquet"
    if kind == "truncated":
        path.write_bytes(path.read_bytes()[:-100])
    else:
        pq.write_table(pa.table({"a": [1]}), path)
    before = workflow.artefacts()
    printed = workflow.run("figure3", ok=False)
    assert "results/worlds/uniform/100/edges.parquet" in printed
    assert "'build_world'" in printed
    assert workflow.artefacts() == before
    path.unlink()
    workflow.run()
    assert workflow.pending() == set()


def test_a_file_of_another_rule_is_refused_by_its_reader(workflow):
    """Where even the notes agree: the reader itself names the file and the rule."""
    results = workflow.path / "results"
    path = results / "audits/spectra.parquet"
    shutil.copyfile(results / "audits/concentration.parquet", path)
    note = results / ".manifest/audits"
    shutil.copyfile(note / "concentration.parquet.json", note / "spectra.parquet.json")
    printed = workflow.run("table_spectrum", ok=False)
    assert "results/audits/spectra.parquet" in printed
    assert "'spectra'" in printed
    log = (results / "logs/make_table_spectrum.log").read_text()
    assert "results/audits/spectra.parquet" in log
