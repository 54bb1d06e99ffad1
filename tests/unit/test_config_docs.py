"""The configuration's page: in step with the schema, and true of what reruns."""

import contextlib
import copy
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from coretail import config_docs, provenance
from coretail.config import check, read_yaml
from coretail.errors import InputError

ROOT = Path(__file__).parents[2]
SCHEMA = read_yaml(ROOT / "workflow/schemas/config.schema.yaml")
DEFAULT = read_yaml(ROOT / "config/config.yaml")
SNAKEFILE = (ROOT / "Snakefile").read_text(encoding="utf-8")
RULES = config_docs.scan(ROOT / "workflow/rules")
KEYS = {key.path: key for key in config_docs.keys(SCHEMA)}


def test_the_page_is_in_step_with_schema_defaults_and_rules():
    written = (ROOT / "config/README.md").read_text(encoding="utf-8")
    assert written == config_docs.page(ROOT), f"run {config_docs.COMMAND}"


def test_every_key_of_the_schema_has_its_row():
    def leaves(schema, path):
        parts = schema.get("properties") or schema.get("items", {}).get("properties")
        if not parts:
            yield path
            return
        suffix = "" if "properties" in schema else "[]"
        if suffix:
            yield path
        for name, part in parts.items():
            yield from leaves(part, f"{path}{suffix}.{name}" if path else name)

    page = config_docs.page(ROOT)
    rows = re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)
    assert rows == list(leaves(SCHEMA, ""))
    for line in page.splitlines():
        if line.startswith("| `"):
            cells = re.split(r"(?<!\\)\|", line)[1:-1]
            assert len(cells) == 5, line
            assert all(cell.strip() for cell in cells), line


# What reruns, against the specifications that Snakemake itself would compare.


@pytest.fixture
def specifications(monkeypatch):
    """Return a function of a configuration: the digest of every rule's specification."""
    monkeypatch.setattr(provenance, "code_hash", lambda script: "code")
    monkeypatch.setattr(provenance, "prefer", lambda scripts: None)
    # The rules quote the interpreter's path where it has a space; no other test may see that.
    monkeypatch.setattr(sys, "executable", sys.executable)
    common = (ROOT / "workflow/rules/common.smk").read_text(encoding="utf-8")
    python = compile(common.partition("\nwildcard_constraints:")[0], "common.smk", "exec")
    blocks = {}
    included = [ROOT / name for name in re.findall(r'^include: "(.*)"', SNAKEFILE, re.MULTILINE)]
    for path in included:
        for block in re.findall(r"^rule \w+:\n(?:[ #].*\n|\n)*", path.read_text(), re.MULTILINE):
            if found := re.search(
                r"^ {8}spec=(\w+\(\s*\"(\w+)\"(?:.|\n)*?\n?)^ {4}\w", block, re.M
            ):
                call = found[1].rstrip().removesuffix(",")
                blocks[found[2]] = compile(call, path.name, "eval")
    assert set(RULES) <= set(blocks)

    def build(config):
        workflow = SimpleNamespace(basedir=str(ROOT), configfiles=[])
        names = {"workflow": workflow, "config": copy.deepcopy(config)}
        exec(python, names)
        for path in included:
            for _, definition in config_docs._definitions(path.read_text(encoding="utf-8")):
                # What names rules is for the lists of targets.
                with contextlib.suppress(NameError):
                    exec(compile(definition, path.name, "exec"), names)
        for name in RULES:
            eval(blocks[name], names)
        return {name: provenance.digest(names["SPECS"][name]) for name in RULES}

    return build


def other(value, schema):
    """Return another value that the schema allows."""
    if isinstance(value, bool):
        return not value
    if "enum" in schema:
        return next(choice for choice in schema["enum"] if choice != value)
    if isinstance(value, list):
        return value[1:] if len(value) > 1 else [*value, "uniform"]
    if isinstance(value, int):
        return value + 1
    return 5 if value is None else value / 2 + 0.1


# Keys with conditions beyond the schema: other values that meet them.
VALUES = {
    "worlds.sizes": [500, 1000],
    "ladder.sizes": [100],
    "calibration.laws": ["power_law"],
    "cells.n_nodes": 500,
    "figures.n_nodes": 500,
    "memory.models": ["SmolLM2-135M-Instruct"],
    "memory.policies": ["ctwm", "window"],
    "memory.asked_cells": ["flat-verbose"],
    "alfworld.models": ["SmolLM2-135M-Instruct"],
    "alfworld.games": "games",
    "alfworld.demonstrations": "demonstrations.json",
    "tau.values": [0.5, 1.0, 2.0],
    "tau.k": 2,
    "tau.models": ["SmolLM2-135M-Instruct"],
    "longmemeval.questions": {"url": "https://example.org/questions.json", "sha256": "0" * 64},
    "longmemeval.parity.floor": 0.3,
    "longmemeval.models": ["SmolLM2-135M-Instruct"],
    "traces": [{"name": "mine", "file": "log.csv"}],
}


def test_what_reruns_is_what_has_another_specification(specifications):
    settings = {name: replace(rule, inputs=frozenset()) for name, rule in RULES.items()}
    before = specifications(DEFAULT)
    inert = []
    for path, key in KEYS.items():
        # A judge must be one of `models` with an address, of which the default has none.
        if path.startswith("models") or "[]" in path or path == "longmemeval.judge_model":
            continue
        config = copy.deepcopy(DEFAULT)
        *parents, last = path.split(".")
        holder = config
        for parent in parents:
            holder = holder[parent]
        holder[last] = VALUES.get(path, other(holder[last], key.schema))
        after = specifications(check(config, SCHEMA))
        changed = {name for name in RULES if after[name] != before[name]}
        direct, following = config_docs.reruns(path, settings)
        assert changed == {*direct, *following}, path
        if not any(config_docs.reruns(path, RULES)):
            inert.append(path)
    # How completions come changes no result.
    assert set(inert) >= {path for path in KEYS if path.startswith("llm.")}


API = {"name": "m", "base_url": "http://127.0.0.1:9/v1", "prices": {"prompt": 1, "completion": 1}}
EMBEDDED = {"name": "SmolLM2-135M-Instruct"}


@pytest.mark.parametrize(
    ("entry", "key", "value"),
    [
        (API, "name", "n"),
        (API, "base_url", "http://127.0.0.1:10/v1"),
        (API, "structured", "none"),
        (API, "token_limit", "max_completion_tokens"),
        (API, "extra", {"top_k": 1}),
        (API, "omit", ["seed"]),
        (API, "key_env", "OTHER_KEY"),
        (API, "timeout", 5.0),
        (API, "prices", {"prompt": 2, "completion": 1}),
        (EMBEDDED, "name", "Qwen2.5-Coder-1.5B-Instruct"),
        (EMBEDDED, "context_tokens", 512),
        (EMBEDDED, "threads", 2),
    ],
)
def test_what_reruns_when_a_model_changes(specifications, entry, key, value):
    # The other lists of models name none, whatever this one is called.
    alone = DEFAULT | {
        part: DEFAULT[part] | {"models": []}
        for part in ("memory", "tau", "alfworld", "longmemeval")
    }
    before = specifications(alone | {"models": [entry]})
    after = specifications(alone | {"models": [entry | {key: value}]})
    changed = {name for name in RULES if after[name] != before[name]}
    direct, following = config_docs.reruns(f"models[].{key}", RULES)
    assert bool(changed) is bool(direct), key
    assert changed <= {*direct, *following}


def test_reruns_by_hand():
    assert config_docs.reruns("spectrum.segment", RULES) == (
        ["measure_spectra"],
        ["make_table_spectrum", "make_ledger"],
    )
    direct, following = config_docs.reruns("ladder.n_seeds", RULES)
    assert (direct, following[:2]) == (["climb_ladder"], ["make_table_ladder", "plot_figure3"])
    assert config_docs.reruns("llm.backend", RULES) == ([], [])
    assert config_docs.reruns("models[].prices.prompt", RULES) == ([], [])
    assert "plot_figure1" in config_docs.reruns("figures.n_nodes", RULES)[0]
    for names in config_docs.reruns("random_walk.steps", RULES):
        assert "walk_controls" not in names


SMK = """\
STORE = {
    key: config["walk"][key]
    for key in ["k", "capacity"]
}
CELLS = [
    (goal, family)
    for goal in ["seek", "explore"]
    for family in config["semantic"][goal]
]


def walks(name):
    return [f"{family}/{name}" for family in config["worlds"]["families"]]


# A comment at the margin.
rule second:
    input:
        walks("counts"),
        by=lambda wildcards: [goal for goal, family in CELLS],
    output:
        "b",
    params:
        spec=spec(
            "second",
            "first",
            ks=config["audit"]["ks"][0],
            **STORE,
        ),
    script:
        "second.py"


rule first:
    output:
        "a",
    log:
        config["elsewhere"]["path"],
    params:
        spec=spec("first", **config["whole"], some=config["odd"][name]),
    script:
        "first.py"


rule no_outputs:
    input:
        config["worlds"]["sizes"],
    params:
        spec=spec("no_outputs"),


rule no_specification:
    output:
        "c",
    params:
        x=1,
"""


def test_the_scan_follows_names_loops_and_rules(tmp_path):
    (tmp_path / "rules.smk").write_text(SMK)
    rules = config_docs.scan(tmp_path)
    assert list(rules) == ["first", "second"]
    assert rules["first"].settings == {"whole", "odd"}
    assert rules["first"].inputs == set()
    assert rules["second"].settings == {"audit.ks", "walk.k", "walk.capacity"}
    assert rules["second"].inputs == {"worlds.families", "semantic.seek", "semantic.explore"}
    assert config_docs.reruns("whole.part", rules) == (["first"], ["second"])
    assert config_docs.reruns("walk", rules) == (["second"], [])
    assert config_docs.reruns("walk.kind", rules) == ([], [])
    assert config_docs.reruns("worlds.sizes", rules) == ([], [])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"first",\n            ks', '"zeroth",\n            ks', "second: no rule 'zeroth'"),
        ('spec=spec("first", **', "spec=spec(**", "rule first: spec= is no call with"),
        ('spec=spec("first", **', 'spec=spec("first" @@', "params: cannot be read"),
    ],
)
def test_a_rule_that_cannot_be_read_is_refused(tmp_path, old, new, message):
    assert old in SMK
    (tmp_path / "rules.smk").write_text(SMK.replace(old, new))
    with pytest.raises(InputError, match=message):
        config_docs.scan(tmp_path)


def test_comments_belong_to_the_key_below():
    text = "# File.\n\n# One,\n# more.\na: 1\nb:\n  # Inner.\n  c: 2\n  d: 3\n# Last.\ne:\n  c: 1\n"
    assert config_docs.comments(text) == {"a": "One, more.", "b.c": "Inner.", "e": "Last."}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"enum": ["a", None]}, "`a`, `null`"),
        ({"type": "integer", "minimum": 1, "maximum": 9}, "integer ≥ 1 and ≤ 9"),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, "number > 0 and < 1"),
        ({"type": "number"}, "number"),
        ({"type": ["integer", "null"], "minimum": 0}, "integer ≥ 0 or `null`"),
        ({"type": "boolean"}, "`true`, `false`"),
        ({"type": "string", "pattern": "^x$"}, "text matching `^x$`"),
        ({"type": "array", "items": {"type": "string"}}, "list of text"),
        (
            {"type": "array", "items": {"enum": ["a"]}, "minItems": 1, "contains": {"const": "a"}},
            "list of `a`; at least 1; `a` among them",
        ),
        ({"type": "object"}, "a mapping"),
    ],
)
def test_what_is_allowed_in_words(schema, expected):
    assert config_docs.allowed(schema) == expected


def test_a_meaning_comes_from_the_schema_or_else_the_comment(tmp_path):
    schema = {
        "required": ["a", "b"],
        "properties": {
            "a": {"type": "integer", "description": "By the schema, |a|."},
            "b": {"type": "integer"},
        },
    }
    config = tmp_path / "config.yaml"
    config.write_text("# By a comment.\na: 1\n# By a comment.\nb: 2\n")
    page = config_docs.render(schema, config, {})
    assert "| `a` | `1` | integer | By the schema, \\|a\\|. | nothing |" in page
    assert "| `b` | `2` | integer | By a comment. | nothing |" in page
    config.write_text("a: 1\nb: 2\n")
    with pytest.raises(InputError, match="b: no description"):
        config_docs.render(schema, config, {})
