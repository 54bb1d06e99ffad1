"""Read and check the configuration: every error at once, each with file, key, value and remedy."""

import difflib
import math
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
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


Place = tuple[str | int, ...]
"""The keys and positions that lead to a value."""

Sources = Sequence[tuple[Path, Any]]
"""Files and their contents; of several that set a key the last one counts."""

COMMAND_LINE = "on the command line"

# A key with all that it stands in, as it is written in messages.
_KEY = re.compile(r"\w+(?:\[\d+\])*(?:\.\w+(?:\[\d+\])*)*")


def check(
    config: Mapping[str, Any], schema: Mapping[str, Any], sources: Sources = ()
) -> dict[str, Any]:
    """Return a checked copy of ``config`` in which every ``number`` is a float.

    Parameters
    ----------
    config
        The merged configuration.
    schema
        A JSON schema (draft 2020-12).
    sources
        The files that were merged; without them errors name no file.

    Raises
    ------
    InputError
        Naming every offending key with its value, what is allowed, and the file.
    """
    found = [
        (path, f"{_name(path)}: {value!r} is no number to calculate with; give a finite one")
        for path, value in _not_finite(config)
    ]
    # A range lets NaN pass, and says nothing helpful of infinity.
    infinite = {path for path, _ in found}
    for error in Draft202012Validator(schema).iter_errors(config):
        if tuple(error.absolute_path) not in infinite:
            found += _explain(error)
    if found:
        found.sort(key=lambda one: [str(part) for part in one[0]])
        lines = [f"  {line}{_set_in(path, config, sources)}" for path, line in found]
        raise InputError("The configuration cannot be used:\n" + "\n".join(lines))
    return _as_declared(config, schema)


def located(message: str, config: Mapping[str, Any], sources: Sources) -> str:
    """Return a message with the files that set the keys which it names.

    Keys are the word that it begins with, if there is such a key, and all with a dot. Several
    lines are what :func:`check` raises, or a YAML parser, which name their files themselves.
    """
    if "\n" in message:
        return message
    places = {}
    for match in _KEY.finditer(message):
        path = tuple(int(part) if part.isdigit() else part for part in re.findall(r"\w+", match[0]))
        if match.start() == 0 or len(path) > 1:
            found, _ = _look_up(config, path)
            if found:
                places[match[0]] = _source(path, config, sources)
    if not (places and sources):
        return message
    return f"{message} ({'; '.join(f'{key} is set {at}' for key, at in places.items())})"


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


def _not_finite(value: Any, path: Place = ()) -> Iterator[tuple[Place, float]]:
    """Yield every number that is NaN or infinite, and where it stands."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _not_finite(item, (*path, key))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _not_finite(item, (*path, position))
    elif isinstance(value, float) and not math.isfinite(value):
        yield path, value


def _look_up(content: Any, path: Place) -> tuple[bool, Any]:
    """Return whether there is a value at a path, and the value."""
    for part in path:
        inner = isinstance(content, list) and isinstance(part, int) and part < len(content)
        if not (inner or (isinstance(content, Mapping) and part in content)):
            return False, None
        content = content[part]
    return True, content


def _source(path: Place, config: Mapping[str, Any], sources: Sources) -> str:
    """Return where what stands at a path is set last."""
    _, merged = _look_up(config, path)
    for file, content in reversed(sources):
        found, value = _look_up(content, path)
        if found:
            # Mappings are merged key by key, all else is as the last file has it.
            same = isinstance(merged, Mapping) or value == merged or repr(value) == repr(merged)
            return f"in {_shown(file)}" if same else COMMAND_LINE
    return COMMAND_LINE


def _shown(file: Path) -> str:
    """Return a file's path, from the working directory if it is in it."""
    here = Path.cwd()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)


def _set_in(path: Place, config: Mapping[str, Any], sources: Sources) -> str:
    """Return what is said of the file that sets a path, or what it would stand in."""
    if not sources:
        return ""
    while path and not _look_up(config, path)[0]:
        path = path[:-1]
    if not path:
        return f" (in {', '.join(_shown(file) for file, _ in sources)})"
    return f" (set {_source(path, config, sources)})"


def _explain(error: ValidationError) -> list[tuple[Place, str]]:
    """Return where each offence is, and what, in the words of someone who edits a YAML file."""
    path = tuple(error.absolute_path)
    name, value = _name(path), cast(Any, error.instance)
    rule, schema = cast(Any, error.validator_value), cast(Any, error.schema)
    if error.validator == "additionalProperties":
        known = sorted(schema.get("properties", {}))
        return [_unknown(path, key, known) for key in sorted(set(value) - set(known), key=str)]
    if "propertyNames" in error.schema_path and error.validator == "enum":
        return [_unknown(path, value, rule)]
    if error.validator == "required":
        missing = [(*path, key) for key in rule if key not in value]
        return [(place, f"{_name(place)}: missing; add it") for place in missing]
    return [(path, f"{name}: {value!r} {_demand(error)}")]


def _unknown(path: Place, key: Any, known: Sequence[str]) -> tuple[Place, str]:
    near = difflib.get_close_matches(str(key), known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}"
    return (*path, key), f"{_name([*path, str(key)])}: unknown key ({hint})"


def _demand(error: ValidationError) -> str:
    """Return what a value that broke a rule has to be."""
    kind, value = error.validator, cast(Any, error.instance)
    rule, schema = cast(Any, error.validator_value), cast(Any, error.schema)
    if kind == "type":
        wanted = " or ".join(rule) if isinstance(rule, list) else rule
        hint = ""
        if isinstance(value, str) and wanted in {"number", "integer"}:
            hint = " (YAML reads this as text: write the number plainly, as in 0.001)"
        return f"must be of type {wanted}{hint}"
    if kind == "enum":
        return f"is not one of {', '.join(map(repr, rule))}"
    if kind == "contains" and "const" in rule:
        return f"must contain {rule['const']!r}"
    if kind == "minItems":
        return f"has {_entries(len(value))}; give at least {rule}"
    if kind == "uniqueItems":
        twice = [item for place, item in enumerate(value) if item in value[:place]]
        return f"has {', '.join(map(repr, twice))} more than once; give each entry once"
    if kind == "minLength":
        return f"is too short; give at least {rule} character{'s' * (rule > 1)}"
    if kind == "pattern":
        return f"does not have the form {rule}"
    limits = _limits(schema)
    if limits and kind in {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}:
        return f"is out of range (allowed: {limits})"
    return f"is not allowed: {error.message}"


def _entries(n: int) -> str:
    return "1 entry" if n == 1 else f"{n} entries"


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
