from pathlib import Path

import pytest
import yaml

from coretail.config import check, read_yaml
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
        (["seeds"], [], ["seeds", "[]"]),
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
