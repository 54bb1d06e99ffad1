"""The page on the Parquet files, run as it stands on artefacts made here."""

import re
from pathlib import Path

import pytest

from coretail import artefacts

PAGE = (Path(__file__).parents[2] / "docs/parquet.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
WORLD = {"family": "scale-free", "n_nodes": 1000}


def write(path, name, rows, settings=None):
    file = Path("results") / path
    file.parent.mkdir(parents=True, exist_ok=True)
    spec = {"rule": "some_rule", "settings": settings or {}, "code": "0", "upstream": {}}
    artefacts.write(file, name, artefacts.table_of_rows(name, rows), spec)


def state(seed, node, name, actions):
    contents = {"entities": ["rope"], "relations": [], "constraints": ["no fire"]}
    return {**WORLD, "seed": seed, "node": node, "name": name, "actions": actions, **contents}


def count(seed, eviction, edge, reads, writes):
    return {
        **WORLD, "seed": seed, "eviction": eviction, "edge": edge,
        "reads": reads, "writes": writes, "access": reads + writes,
    }  # fmt: skip


def loss(policy, seed, stratum, n, vote, budget="slots", encoding="compact"):
    return {
        "driver": "agents", "policy": policy, "encoding": encoding, "budget": budget,
        "tau": None, **WORLD, "seed": seed, "stratum": stratum, "n": n, "top1": 0, "vote": vote,
        "floor_predictor": 0.0, "floor_memory": 0.0, "local_tokens": 0,
    }  # fmt: skip


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Files of each kind that the page reads, in the working directory."""
    monkeypatch.chdir(tmp_path)
    worlds = "worlds/scale-free/1000"
    write(
        f"{worlds}/nodes.parquet",
        "nodes",
        [
            state(42, 0, "barn", ["go on", "turn left"]),
            state(42, 1, "cave", ["look up"]),
            state(43, 0, "dock", ["swim"]),
            state(43, 1, "fort", ["wait"]),
        ],
    )
    edges = [(42, 0, 0, 1, 0), (42, 1, 0, 1, 1), (42, 2, 1, 0, 0), (43, 0, 0, 1, 0)]
    write(
        f"{worlds}/edges.parquet",
        "edges",
        [
            {
                **WORLD,
                "seed": seed,
                "edge": edge,
                "source": source,
                "target": target,
                "action": action,
            }
            for seed, edge, source, target, action in edges
        ],
    )
    counts = [
        count(42, "reservoir", 0, 1, 2),
        count(42, "reservoir", 1, 5, 4),
        count(42, "reservoir", 2, 0, 3),
        count(42, "least_frequent", 0, 90, 9),
        count(43, "reservoir", 0, 80, 8),
    ]
    write(
        "rollouts/random_walk/scale-free/1000/counts.parquet", "walk_counts", counts, {"steps": 7}
    )
    write("rollouts/random_walk/uniform/100/counts.parquet", "walk_counts", counts, {"steps": 9})
    others = [
        ("head_first", 50, 50, {}),
        ("tail_first", 50, 50, {"budget": "tokens"}),
        ("tail_first", 50, 50, {"encoding": "verbose"}),
    ]
    for policy, wrong in (("ctwm", (4, 1)), ("graph", (4, 3))):
        rows = [
            loss(policy, seed, stratum, 4 + 2 * seed - 84, vote)
            for seed in (42, 43)
            for stratum, vote in zip(("tail_first", "tail_repeated"), wrong, strict=True)
        ]
        rows += [loss(policy, 42, stratum, n, vote, **kind) for stratum, n, vote, kind in others]
        write(f"memory/frozen/agents/{policy}/losses.parquet", "memory_losses", rows)


def run(block):
    names = {}
    exec(compile(block, "docs/parquet.md", "exec"), names)
    return names


def test_the_page_has_the_files_own_words_and_three_queries():
    assert len(BLOCKS) == 4


@pytest.mark.usefixtures("results")
def test_what_a_file_says_of_itself(capsys):
    run(BLOCKS[0])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Random walk: how often each memory item")
    assert lines[-1] == "access: int64: access count: reads + writes"
    assert len(lines) == 1 + 8


@pytest.mark.usefixtures("results")
def test_the_most_accessed_transitions():
    top = run(BLOCKS[1])["top"]
    assert list(top.columns) == ["state", "action", "next_state", "reads", "writes", "access"]
    assert [tuple(row) for row in top.itertuples(index=False)] == [
        ("barn", "turn left", "cave", 5, 4, 9),
        ("barn", "go on", "cave", 1, 2, 3),
        ("cave", "look up", "barn", 0, 3, 3),
    ]


@pytest.mark.usefixtures("results")
def test_the_difference_per_seed():
    difference = run(BLOCKS[2])["difference"]
    # Seed 42: 5 of 8 tail steps wrong against 7 of 8; seed 43: 5 of 12 against 7 of 12.
    assert difference.to_dict() == {42: pytest.approx(-2 / 8), 43: pytest.approx(-2 / 12)}


@pytest.mark.usefixtures("results")
def test_which_configuration_made_a_file():
    assert run(BLOCKS[3])["made"] == {
        "results/rollouts/random_walk/scale-free/1000/counts.parquet": ("some_rule", 7),
        "results/rollouts/random_walk/uniform/100/counts.parquet": ("some_rule", 9),
    }


def test_metadata_keys_of_the_page_are_those_of_a_file(tmp_path, monkeypatch):
    import pyarrow.parquet as pq

    monkeypatch.chdir(tmp_path)
    write("a.parquet", "walk_counts", [count(1, "reservoir", 0, 1, 1)])
    keys = {key.decode() for key in pq.read_schema("results/a.parquet").metadata}
    assert set(re.findall(r"`(coretail\.[a-z_]+)`(?=,| \|)", PAGE)) >= keys
