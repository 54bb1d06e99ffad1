"""An agent that reads what τ selects: prompts, way and counts; the tables of two drivers."""

import zlib
from contextlib import nullcontext
from itertools import chain
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats as scipy_stats

import make_table_cutoffs
import make_table_tau
import sweep_tau_semantic
from _tau import of_items, of_ranks, who
from coretail import artefacts
from coretail.errors import InputError
from coretail.memory.selection import (
    SelectedMemory,
    arrival_times,
    best_ranked,
    closed_loop,
)
from coretail.memory.store import TransitionStore
from coretail.memory.view import WorldView
from coretail.prompts import situation_text, transition_line
from coretail.render.tables import to_latex, to_markdown
from coretail.rollouts.semantic import Decision, rollout
from coretail.rollouts.store import BoundedStore
from coretail.streams import stream
from coretail.worlds.contents import build_contents
from coretail.worlds.topology import build_topology
from memory_world import WALK, world

TAUS = (0.25, 1.0, 2.0)
MODEL = "lab/small"


@pytest.fixture(scope="module")
def view():
    topology = build_topology("scale-free", 40, 42)
    return WorldView(topology, build_contents(topology, "natural"))


class Reading:
    """Lets its memories decide; keeps what it was shown."""

    def __init__(self):
        self.seen = {}

    def choose(self, situation, step):
        self.seen[step] = situation
        text = "\n".join(map(transition_line, situation.memory))
        return Decision(zlib.crc32(text.encode()) % len(situation.options), ("usable",), 100, 5)


def live(view, tau, steps=80, **limits):
    """Return a memory read by τ, its agent and the agent's rollout."""
    memory, chooser = SelectedMemory(view, tau, steps=steps, **limits), Reading()
    done = rollout(
        view.topology, view.contents, chooser, steps=steps, goal="seek", patience=10, memory=memory
    )
    return memory, chooser, done


@pytest.mark.parametrize("tau", TAUS)
def test_what_tau_selects_stands_in_the_prompt_best_first(view, tau):
    _, chooser, done = live(view, tau, capacity=20)
    times = arrival_times(tau, 80, 10, *view.topology.key)
    store = TransitionStore(view, stream(*view.topology.key, "selection memory"), 20)
    assert len(chooser.seen) > 40
    for step, edge in enumerate(done.walk.edges.tolist()):
        state = int(view.sources[edge])
        best = best_ranked(store, view, state, 10).tolist()
        drawn = sorted(range(len(best)), key=times[step].__getitem__)[:3]
        selected = [best[rank] for rank in sorted(drawn)]
        assert [hint for hint in done.hints[step].tolist() if hint >= 0] == selected
        if step in chooser.seen:
            situation = chooser.seen[step]
            # In the field of the bounded store's memories, and in the same form.
            assert situation.context is None
            assert situation.memory == tuple(map(view.transition, selected))
            lines = "\n".join(map(view.line, selected)) or "none"
            assert f"\nMemories:\n{lines}\nWays on:\n" in situation_text(situation)
        store.write(edge)


def test_it_reads_what_the_closed_loop_reads_on_its_trajectory(view):
    for tau in TAUS:
        memory, _, done = live(view, tau, capacity=20)
        found = closed_loop(view, done.walk.edges.tolist(), [tau], capacity=20)
        assert done.walk.reads.tolist() == found.reads[0].tolist()
        assert done.walk.writes.tolist() == found.writes.tolist()
        assert memory.rank_reads.tolist() == found.rank_reads[0].tolist()


def test_the_same_successor_at_the_same_visit_whatever_tau_selects(view):
    runs = [live(view, tau)[2] for tau in TAUS]
    met = []
    for done in runs:
        visits, outcome = {}, {}
        steps = zip(done.states, done.actions, done.next_states, strict=True)
        for state, action, target in steps:
            visit = visits[state, action] = visits.get((state, action), -1) + 1
            outcome[state, action, visit] = target
        met.append(outcome)
    for first, second in ((0, 1), (0, 2), (1, 2)):
        common = met[first].keys() & met[second].keys()
        assert len(common) > 10
        assert all(met[first][key] == met[second][key] for key in common)
        # They do go different ways, from one start and with the same things to find in turn.
        assert runs[first].walk.edges.tolist() != runs[second].walk.edges.tolist()
        assert runs[first].walk.start == runs[second].walk.start
        ended = min(runs[first].errands[-1], runs[second].errands[-1])
        goals = [
            [done.goals[done.errands == errand][0] for errand in range(ended + 1)]
            for done in (runs[first], runs[second])
        ]
        assert goals[0] == goals[1]


def test_its_bookkeeping_is_the_stores(view):
    memory, _, done = live(view, 1.0, capacity=12)
    store = BoundedStore(stream(*view.topology.key, "selection memory"), capacity=12)
    for edge in done.walk.edges.tolist():
        store.write(edge, int(view.sources[edge]), int(view.targets[edge]))
    counters = memory.counters
    for name in ("reinforced", "admitted", "rejected", "evicted"):
        assert getattr(counters, name) == getattr(store.counters, name)
    assert min(counters.reinforced, counters.rejected, counters.evicted) > 0
    assert counters.reads == done.walk.reads.sum() == memory.rank_reads.sum()
    assert len(memory) == 12


def test_counts_by_hand():
    """Two of the two best-ranked: what is read is certain."""
    view = world()
    memory = SelectedMemory(view, 1.0, steps=len(WALK), pool=2, k=2)
    hints = []
    for edge in WALK:
        source, target = int(view.sources[edge]), int(view.targets[edge])
        hints.append(memory.recall(source)[0])
        memory.learn(edge, source, target)
    # By relevance (from the state 4, sharing a thing with it 1), support, recency.
    assert hints == [[], [0], [0, 3], [1, 3], [1, 0], [3, 0], [0, 1], [3, 0], [3, 0]]
    reads, writes = (np.bincount(edges, minlength=8) for edges in ([*chain(*hints)], WALK))
    row, counts = of_items(key := {"level": "access"} | CELL, 9, reads, writes)
    assert counts.select(["edge", "reads", "writes", "access"]).to_pylist() == [
        {"edge": edge, "reads": n, "writes": w, "access": n + w}
        for edge, n, w in [(0, 7, 2), (1, 3, 1), (2, 0, 1), (3, 5, 3), (4, 0, 1), (6, 0, 1)]
    ]
    assert (row["n_items"], row["total"], row["n_steps"]) == (6, 24, 9)
    # 1, 1, 1, 4, 8, 9: 2 (3 * 1 + 3 * 3 + ...) over pairs, that is 64 over 6 * 24; 9 over 2.5.
    assert row["gini"] == pytest.approx(64 / 144)
    assert row["max_median"] == pytest.approx(3.6)
    ranks = of_ranks(key, 9, memory.rank_reads)
    assert memory.rank_reads.tolist() == [8, 7]
    assert (ranks["level"], ranks["total"], ranks["alpha"]) == ("rank", 15, None)


def test_what_it_refuses(view):
    with pytest.raises(InputError, match="k=4, pool=3"):
        SelectedMemory(view, 1.0, steps=5, pool=3, k=4)
    with pytest.raises(InputError, match=r"tau=-1\.0"):
        SelectedMemory(view, -1.0, steps=5)


CELL = {
    "driver": "semantic",
    "model": MODEL,
    "family": "scale-free",
    "n_nodes": 40,
    "seed": 42,
    "tau": 2.0,
}


def test_the_entry_writes_one_tau_of_every_seed(tmp_path, monkeypatch):
    settings = {
        "model": {"name": MODEL},
        "seeds": [42, 43],
        "capacity": 15,
        "vocabulary": "natural",
        "family": "scale-free",
        "n_nodes": 40,
        "pool": 10,
        "k": 3,
        "steps": 30,
        "patience": 10,
        "style": "direct",
        "temperature": 0.0,
        "seed": 0,
        "attempts": 2,
    }
    job = SimpleNamespace(
        settings=settings,
        spec={"rule": "sweep_tau_semantic", "settings": settings, "code": "", "upstream": {}},
        wildcards={"model": "lab_small", "tau": "2.0"},
        output=lambda name: tmp_path / f"{name}.parquet",
        progress=lambda what, total, detail: lambda done: None,
    )
    asked = []

    def chooser(client, cell, **settings):
        asked.append((cell, settings))
        return Reading()

    model = SimpleNamespace(counters=SimpleNamespace(line=str))
    monkeypatch.setattr(sweep_tau_semantic, "client", lambda job: nullcontext(model))
    monkeypatch.setattr(sweep_tau_semantic, "ModelChooser", chooser)
    sweep_tau_semantic.main(job)

    assert [cell for cell, _ in asked] == [("scale-free", 40, seed) for seed in (42, 43)]
    assert asked[0][1] == {
        "style": "direct",
        "temperature": 0.0,
        "seed": 0,
        "attempts": 2,
        "rule": "sweep_tau_semantic",
    }
    rows, counts, runs = (
        artefacts.read_rows(tmp_path / f"{name}.parquet", f"tau_{name}")
        for name in ("sweep", "counts", "rollouts")
    )
    assert [(row["seed"], row["level"]) for row in rows] == [
        (seed, level) for seed in (42, 43) for level in ("access", "rank")
    ]
    key = CELL | {"n_nodes": 40}
    for row in (*rows, *counts, *runs):
        assert {name: row[name] for name in key} == key | {"seed": row["seed"]}
    for seed in (42, 43):
        topology = build_topology("scale-free", 40, seed)
        _, _, done = live(
            WorldView(topology, build_contents(topology, "natural")), 2.0, steps=30, capacity=15
        )
        own = {row["edge"]: row for row in counts if row["seed"] == seed}
        assert {edge: row["access"] for edge, row in own.items()} == {
            edge: n for edge, n in enumerate(done.walk.access.tolist()) if n
        }
        (run,) = [run for run in runs if run["seed"] == seed]
        assert run["single"] + run["chosen"] == run["steps"] == 30
        assert (run["calls"], run["prompt_tokens"]) == (run["chosen"], 100 * run["chosen"])
        assert (run["found"], run["given_up"]) == (done.hits.found, done.hits.given_up)
        (access,) = [r for r in rows if (r["seed"], r["level"]) == (seed, "access")]
        assert access["total"] == done.walk.reads.sum() + 30


# The tables of two drivers.


def sweep(driver, model, n_steps, values, taus=TAUS):
    """Return rows of the sweep: the Gini of each seed (row) and τ."""
    return [
        {
            "driver": driver,
            "model": model,
            "level": "access",
            "seed": seed,
            "tau": tau,
            "n_steps": n_steps,
            **dict.fromkeys(("skew", "max_median", "alpha", "x_min"), 10 * seed + tau),
            "gini": value,
        }
        for seed, row in enumerate(values, 42)
        for tau, value in zip(taus, row, strict=True)
    ]


def run_of(tau, seed=42, random=0):
    """Return what became of one rollout of 100 steps."""
    return {
        "driver": "semantic",
        "model": MODEL,
        "tau": tau,
        "seed": seed,
        "steps": 100,
        "calls": 80,
        "random": random,
        "found": 2,
        "given_up": 3,
        "prompt_tokens": 40_000,
    }


WALKED = [[0.1, 0.3, 0.2], [0.2, 0.3, 0.4], [0.1, 0.2, 0.3], [0.5, 0.1, 0.6]]
SOUGHT = [[0.2, 0.3, 0.4], [0.1, 0.4, 0.5], [0.3, 0.2, 0.6]]


@pytest.fixture
def both():
    return sweep("random_walk", None, 2000, WALKED) + sweep("semantic", MODEL, 100, SOUGHT)


def test_each_driver_has_its_own_rows_and_its_own_test(both):
    rows = make_table_tau.measured(both)
    make_table_tau.note_runs(rows, both, [run_of(tau) for tau in TAUS])
    gini = {
        (row["driver"], row["model"], row["tau"]): row for row in rows if row["statistic"] == "gini"
    }
    assert len(gini) == 6
    for driver, model, values, n, steps in [
        ("random_walk", None, WALKED, 4, 2000),
        ("semantic", MODEL, SOUGHT, 3, 100),
    ]:
        page = scipy_stats.page_trend_test(values)
        for tau, mean in zip(TAUS, np.mean(values, axis=0), strict=True):
            row = gini[driver, model, tau]
            assert row["value"] == pytest.approx(mean)
            assert (row["n_seeds"], row["page_n"], row["n_steps"]) == (n, n, steps)
            assert row["page_l"] == page.statistic
            assert row["page_p"] == pytest.approx(page.pvalue)
            assert row["marked"] == 0


def test_the_table_says_who_walked_how_far_and_what_was_asked(both):
    rollouts = [run_of(tau, seed, random=tau == 2.0) for tau in TAUS for seed in (42, 43, 44)]
    rows = make_table_tau.measured(both)
    make_table_tau.note_runs(rows, both, rollouts)
    table = make_table_tau.values_table(rows, make_table_tau.notes_on(rows, rollouts))
    walk, model, scale = table.notes
    assert walk == "random walk: 4 seeds, 2,000 steps each."
    assert model == (
        "semantic, lab/small: 3 seeds, 100 steps each. Over all τ 900 steps, 720 calls, 500 prompt "
        "tokens a call; 3 steps had a random action for want of a usable reply; 18 of 45 things "
        "were found."
    )
    assert "compare trends alone" in scale
    assert [row["driver"] for row in table.rows] == ["random walk"] * 3 + [f"semantic, {MODEL}"] * 3
    trends = make_table_tau.trend_table(rows)
    assert {row["driver"] for row in trends.rows} == {"random walk", f"semantic, {MODEL}"}
    for made in (table, trends):
        assert MODEL in to_markdown(made)
        assert MODEL in to_latex(made)


def test_runs_with_many_random_actions_carry_no_claim(both):
    rollouts = [run_of(tau, random=11 if tau == 1.0 else 10) for tau in TAUS]
    rows = make_table_tau.measured(both)
    make_table_tau.note_runs(rows, both, rollouts)
    marked = {row["tau"]: row["marked"] for row in rows if row["driver"] == "semantic"}
    assert marked == {0.25: 0.1, 1.0: 0.11, 2.0: 0.1}
    assert "no claim" in make_table_tau.notes_on(rows, rollouts)[1]
    few = [run_of(tau, random=10) for tau in TAUS]
    make_table_tau.note_runs(rows, both, few)
    assert "no claim" not in make_table_tau.notes_on(rows, few)[1]


def test_a_computed_vector_has_no_steps(both):
    rows = [{"driver": "none", "model": None, "tau": 1.0}]
    make_table_tau.note_runs(rows, both, [])
    assert (rows[0]["n_steps"], rows[0]["marked"]) == (None, None)


def test_without_models_there_is_one_driver_and_one_note():
    rows = make_table_tau.measured(alone := sweep("random_walk", None, 2000, WALKED))
    make_table_tau.note_runs(rows, alone, [])
    assert make_table_tau.notes_on(rows, []) == ["random walk: 4 seeds, 2,000 steps each."]


def test_the_cutoffs_of_two_models_stand_apart():
    fits = [
        {**row, "model": model, "alpha": alpha, "x_min": 3, "n": 9, "n_tail": 5, "alpha_se": 0.1}
        for model, alphas in [(MODEL, (2.0, 2.5, 3.0)), ("lab/large", (2.0, 3.0, 2.5))]
        for row, alpha in zip(sweep("semantic", model, 100, [TAUS]), alphas, strict=True)
    ]
    summary = [
        row
        for model in (MODEL, "lab/large")
        for row in make_table_cutoffs.summarised([row for row in fits if row["model"] == model])
    ]
    table = make_table_cutoffs.summary_table(summary)
    small, large = table.notes
    assert small.startswith("semantic, lab/small: the mean α is strictly monotone in τ")
    assert large.startswith("semantic, lab/large: the mean α is not strictly monotone in τ")
    shown = to_markdown(make_table_cutoffs.fits_table(fits))
    assert shown.count(f"semantic, {MODEL}") == shown.count("semantic, lab/large") == 3


def test_who_walked():
    assert who({"driver": "random_walk", "model": None}) == "random walk"
    assert who(CELL) == "semantic, lab/small"
