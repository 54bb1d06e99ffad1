import copy
from pathlib import Path

import pytest
import yaml

from coretail.config import check, located, read_yaml
from coretail.errors import InputError

ROOT = Path(__file__).parents[2]
SCHEMA = read_yaml(ROOT / "workflow/schemas/config.schema.yaml")


def default():
    return read_yaml(ROOT / "config/config.yaml")


def objects(schema, path=()):
    if schema.get("type") == "object" and "properties" in schema:
        yield path, schema
    for key, part in schema.get("properties", {}).items():
        yield from objects(part, (*path, key))
    if "items" in schema:
        yield from objects(schema["items"], (*path, "[]"))


def test_the_default_configuration_is_valid_and_complete():
    checked = check(default(), SCHEMA)
    assert checked == default()
    for path, schema in objects(SCHEMA):
        assert schema["additionalProperties"] is False, path
        if "[]" not in path:
            assert set(schema["required"]) == set(schema["properties"]), path


@pytest.mark.parametrize("overlay", ["paper.yaml", "smoke.yaml"])
def test_overlays_change_known_keys_only(overlay):
    def merge(base, top):
        for key, value in top.items():
            base[key] = merge(base[key], value) if isinstance(value, dict) else value
        return base

    check(merge(default(), read_yaml(ROOT / "config" / overlay)), SCHEMA)


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (["random_walk", "capacity"], 0, ["random_walk.capacity", "0", "≥ 1"]),
        (["random_walk", "k"], -3, ["random_walk.k", "-3", "≥ 1 and ≤ 1000"]),
        (["random_walk", "steps"], "1e5", ["random_walk.steps", "'1e5'", "integer", "text"]),
        (["random_walk", "retriever"], "best", ["random_walk.retriever", "'best'", "none"]),
        (["worlds", "families"], ["unifrom"], ["worlds.families[0]", "'unifrom'", "'uniform'"]),
        (["worlds", "sizes"], [100, 3], ["worlds.sizes[1]", "3", "≥ 10"]),
        (["worlds", "vocabulray"], "natural", ["worlds.vocabulray", "did you mean 'vocabulary'"]),
        (["walk"], {}, ["walk: unknown key"]),
        (["seeds"], [], ["seeds", "[] has 0 entries", "at least 1"]),
        (["tau", "values"], [1.0], ["tau.values", "[1.0] has 1 entry", "at least 3"]),
        (["seeds"], [4, 2, 4, 2], ["seeds", "has 4, 2 more than once"]),
        (["memory", "asked_cells"], ["x"], ["memory.asked_cells[0]", "'x' does not have the form"]),
        (["models", 0, "name"], "", ["models[0].name", "'' is too short", "at least 1 character"]),
        (["ladder", "rungs"], ["none", "state_uniform"], ["ladder.rungs", "state_frequency"]),
    ],
)
def test_an_error_names_key_value_and_what_is_allowed(path, value, expected):
    config = default()
    inner = config
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    with pytest.raises(InputError) as error:
        check(config, SCHEMA)
    for text in expected:
        assert text in str(error.value)


def merged(*parts):
    """Merge as Snakemake does: mappings key by key."""

    def merge(base, top):
        for key, value in top.items():
            base[key] = merge(base.get(key) or {}, value) if isinstance(value, dict) else value
        return base

    config = {}
    for part in parts:
        merge(config, copy.deepcopy(part))
    return config


def errors_of(*parts, command_line=None):
    """Return the lines of what is wrong with files base.yaml, 1.yaml, 2.yaml, ..., by key."""
    sources = [(Path("base.yaml"), default())]
    sources += [(Path(f"{n}.yaml"), part) for n, part in enumerate(parts, start=1)]
    config = merged(*(content for _, content in sources), command_line or {})
    with pytest.raises(InputError) as error:
        check(config, SCHEMA, sources)
    _, *lines = str(error.value).split("\n")
    return dict(line.strip().split(": ", maxsplit=1) for line in lines)


def test_an_error_names_the_last_file_that_sets_the_key():
    assert errors_of({"tau": {"values": [1.0], "k": 0}}, {"tau": {"k": 3, "pool": 0}}) == {
        "tau.pool": "0 is out of range (allowed: ≥ 1 and ≤ 1000) (set in 2.yaml)",
        "tau.values": "[1.0] has 1 entry; give at least 3 (set in 1.yaml)",
    }
    twice = {"seeds": [1, 2, 1]}
    assert errors_of(twice, {"tau": {}}) == {
        "seeds": "[1, 2, 1] has 1 more than once; give each entry once (set in 1.yaml)"
    }
    # The same value in two files: the last one counts.
    assert errors_of(twice, twice)["seeds"].endswith("(set in 2.yaml)")
    assert errors_of({"tau": 3}, {"memory": {}}) == {
        "tau": "3 must be of type object (set in 1.yaml)"
    }
    assert errors_of({"tau": {"valeus": [1.0]}}, {"tau": {"k": 3}}) == {
        "tau.valeus": "unknown key (did you mean 'values'?) (set in 1.yaml)"
    }
    (line,) = errors_of({"models": [{"name": "a"}, {"base_url": "x"}]}).items()
    assert line == ("models[1].name", "missing; add it (set in 1.yaml)")
    questions = {"longmemeval": {"questions": {"ulr": "https://a.b", "sha256": "0" * 64}}}
    found = errors_of(questions)
    assert found["longmemeval.questions.ulr"] == "unknown key (did you mean 'url'?) (set in 1.yaml)"
    assert errors_of(command_line={"tau": {"k": 0}})["tau.k"].endswith("(set on the command line)")


def test_a_key_that_no_file_sets_is_missing_from_all():
    with pytest.raises(InputError, match=r"tau: missing; add it \(in base.yaml, 1.yaml\)"):
        check(
            {key: value for key, value in default().items() if key != "tau"},
            SCHEMA,
            [(Path("base.yaml"), {}), (Path("1.yaml"), {"seeds": [1]})],
        )


def test_a_file_in_the_working_directory_is_named_from_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = merged(default(), {"seeds": []})
    for file, shown in [(tmp_path / "a/b.yaml", "a/b.yaml"), (Path("/x/b.yaml"), "/x/b.yaml")]:
        with pytest.raises(InputError, match=rf"give at least 1 \(set in {shown}\)"):
            check(config, SCHEMA, [(file, {"seeds": []})])


@pytest.mark.parametrize("number", [".nan", ".inf", "-.inf", "1.0e+999"])
@pytest.mark.parametrize("path", ["memory.tau", "tau.values[2]", "models[0].extra.top_p"])
def test_a_number_that_is_not_finite_is_refused(number, path):
    value = yaml.safe_load(number)
    overlay = {
        "memory.tau": {"memory": {"tau": value}},
        "tau.values[2]": {"tau": {"values": [0.5, 1.0, value]}},
        "models[0].extra.top_p": {"models": [{"name": "a", "extra": {"top_p": value}}]},
    }[path]
    assert errors_of(overlay) == {
        path: f"{value!r} is no number to calculate with; give a finite one (set in 1.yaml)"
    }


def test_a_message_is_given_the_files_of_the_keys_it_names():
    sources = [
        (Path("base.yaml"), {"tau": {"k": 3, "pool": 1}, "models": [], "taus": 1}),
        (Path("1.yaml"), {"tau": {"k": 30}}),
    ]
    # As checked: numbers are floats.
    config = {"tau": {"k": 30.0, "pool": 1}, "models": [], "taus": 1}
    message = "tau.k: 30 is more than tau.pool, 1"
    assert located(message, config, sources) == (
        f"{message} (tau.k is set in 1.yaml; tau.pool is set in base.yaml)"
    )
    message = "models: [] have no taus"
    assert located(message, config, sources) == f"{message} (models is set in base.yaml)"
    for message in (
        "base.yaml: cannot be read (models)",
        "tau.kk: 0.5 is no key",
        "The configuration cannot be used:\n  tau.k: 30 (set in 1.yaml)",
    ):
        assert located(message, config, sources) == message
    assert located("tau.k: x", config, []) == "tau.k: x"
    config["tau"]["k"] = 31
    assert located("tau.k: x", config, sources) == "tau.k: x (tau.k is set on the command line)"


def test_all_errors_are_reported_at_once():
    config = default()
    config["random_walk"]["k"] = 0
    del config["worlds"]["sizes"]
    with pytest.raises(InputError) as error:
        check(config, SCHEMA)
    assert "random_walk.k" in str(error.value)
    assert "worlds.sizes: missing" in str(error.value)


def test_numbers_become_floats_where_the_schema_says_number():
    schema = {
        "type": "object",
        "properties": {
            "p": {"type": "number"},
            "n": {"type": "integer"},
            "taus": {"type": "array", "items": {"type": "number"}},
        },
    }
    checked = check({"p": 1, "n": 1, "taus": [1, 0.5]}, schema)
    assert repr(checked) == repr({"p": 1.0, "n": 1, "taus": [1.0, 0.5]})


def test_a_key_that_stands_twice_is_refused(tmp_path):
    path = tmp_path / "twice.yaml"
    path.write_text("seeds: [1]\nworlds:\n  sizes: [100]\n  sizes: [500]\n")
    assert yaml.safe_load(path.read_text())["worlds"]["sizes"] == [500]
    with pytest.raises(InputError, match=r"twice.yaml: the key 'sizes' stands twice"):
        read_yaml(path)


def test_a_missing_or_broken_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"absent.yaml: cannot be read"):
        read_yaml(tmp_path / "absent.yaml")
    broken = tmp_path / "broken.yaml"
    broken.write_text("a: [1\n")
    with pytest.raises(InputError, match=r"broken.yaml"):
        read_yaml(broken)
