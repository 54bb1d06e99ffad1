"""Read and check the configuration: every error at once, each with key, value and remedy."""

import difflib
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from coretail.errors import InputError


def read_yaml(path: Path) -> Any:
    """Return the contents of a YAML file.

    Raises
    ------
    InputError
        If the file is missing, is not YAML, or names a key twice (YAML parsers keep the last
        one silently).
    """
    try:
        with path.open("rb") as file:
            return yaml.load(file, Loader=_UniqueKeyLoader)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except yaml.YAMLError as error:
        raise InputError(f"{path}: {error}") from error


def check(config: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a checked copy of ``config`` in which every ``number`` is a float.

    Parameters
    ----------
    config
        The merged configuration.
    schema
        A JSON schema (draft 2020-12).

    Raises
    ------
    InputError
        Naming every offending key with its value and what is allowed.
    """
    errors = sorted(
        Draft202012Validator(schema).iter_errors(config), key=lambda e: [str(p) for p in e.path]
    )
    if errors:
        lines = [line for error in errors for line in _explain(error)]
        raise InputError("The configuration cannot be used:\n" + "\n".join(lines))
    return _as_declared(config, schema)


class _UniqueKeyLoader(yaml.SafeLoader):
    """A safe loader that refuses a mapping with the same key twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} stands twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


def _name(path: Iterable[str | int]) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "(top level)"


def _explain(error: ValidationError) -> list[str]:
    """Return one line per offence, in the words of someone who edits a YAML file."""
    name, value = _name(error.absolute_path), cast(Any, error.instance)
    rule = cast(Any, error.validator_value)
    schema = cast(Any, error.schema)
    if error.validator == "additionalProperties":
        known = sorted(schema.get("properties", {}))
        lines = []
        for key in sorted(set(value) - set(known), key=str):
            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}"
            place = _name([*error.absolute_path, str(key)])
            lines.append(f"  {place}: unknown key ({hint})")
        return lines
    if error.validator == "required":
        missing = [key for key in rule if key not in value]
        return [f"  {_name([*error.absolute_path, key])}: missing" for key in missing]
    if error.validator == "type":
        wanted = " or ".join(rule) if isinstance(rule, list) else rule
        hint = ""
        if isinstance(value, str) and wanted in {"number", "integer"}:
            hint = " (YAML reads this as text: write the number plainly, as in 0.001)"
        return [f"  {name}: {value!r} must be of type {wanted}{hint}"]
    if error.validator == "enum":
        return [f"  {name}: {value!r} is not one of {', '.join(map(repr, rule))}"]
    if error.validator == "contains" and "const" in rule:
        return [f"  {name}: {value!r} must contain {rule['const']!r}"]
    limits = _limits(schema)
    if limits and error.validator in {
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
    }:
        return [f"  {name}: {value!r} is out of range (allowed: {limits})"]
    return [f"  {name}: {value!r}: {error.message}"]


def _limits(schema: Mapping[str, Any]) -> str:
    signs = {
        "minimum": "≥",
        "exclusiveMinimum": ">",
        "maximum": "≤",
        "exclusiveMaximum": "<",
    }
    return " and ".join(f"{sign} {schema[key]}" for key, sign in signs.items() if key in schema)


def _as_declared(value: Any, schema: Mapping[str, Any]) -> Any:
    if isinstance(value, Mapping):
        properties = schema.get("properties", {})
        other = schema.get("additionalProperties")
        other = other if isinstance(other, Mapping) else {}
        return {key: _as_declared(item, properties.get(key, other)) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_declared(item, schema.get("items", {})) for item in value]
    if schema.get("type") == "number" and isinstance(value, int):
        return float(value)
    return value
