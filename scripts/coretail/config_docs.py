"""Write ``config/README.md``: every key of the configuration, from its schema.

Keys, meanings and allowed values come from ``workflow/schemas/config.schema.yaml``, defaults (and
the meaning of a key that the schema does not describe) from ``config/config.yaml``. What reruns
when a key changes comes from a static scan of ``workflow/rules/*.smk``, :func:`scan`.

    PYTHONPATH=scripts python -m coretail.config_docs
"""

import ast
import itertools
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from coretail.config import read_yaml
from coretail.errors import InputError

COMMAND = "PYTHONPATH=scripts python -m coretail.config_docs"

# Of one of `models`: how its replies come, not what they are. No specification has these keys.
ACCESS = ("key_env", "threads", "timeout", "prices")

# They gather what all others made, so that every key reruns them.
GATHERING = ("describe_run", "make_paper", "make_paper_pdf", "make_report")

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, slots=True)
class Rule:
    """What a rule's results depend on.

    Attributes
    ----------
    name
        The name of its specification.
    settings
        Dotted keys of the configuration that its specification uses; all keys below one count.
    inputs
        The same of its list of inputs.
    upstream
        The rules whose results it reads.
    """

    name: str
    settings: frozenset[str]
    inputs: frozenset[str]
    upstream: tuple[str, ...]

    def uses(self, key: str) -> bool:
        """Return whether it depends on a key: on the key itself, one above or one below."""
        return any(
            not used or f"{key}.".startswith(f"{used}.") or f"{used}.".startswith(f"{key}.")
            for used in self.settings | self.inputs
        )


@dataclass(frozen=True, slots=True)
class Key:
    """One key of the configuration.

    Attributes
    ----------
    path
        Dotted; ``[]`` after the name of a list of mappings.
    schema
        Its part of the schema.
    required
        Whether the mapping that holds it must have it.
    """

    path: str
    schema: Mapping[str, Any]
    required: bool


def scan(folder: Path) -> dict[str, Rule]:
    """Return the rules that have a specification and outputs, those read before those that read.

    Without :data:`GATHERING`.

    A rule's specification is the call after ``spec=`` among its ``params``: its first argument is
    the name, further texts are the rules upstream, and what it uses of the configuration are the
    chains ``config["a"]["b"]`` in it, in the functions that it calls and in the constants
    (``UPPER_CASE``) that it names, of all files, transitively. The same of its ``input``: what
    changes the list of inputs reruns the rule, too. A chain whose next step is no text, or a
    variable that is not bound to a list of texts, stands for all keys below it, so that too much
    is named rather than too little. Rules are laid out as ``snakefmt`` does.

    Parameters
    ----------
    folder
        Of the ``.smk`` files.

    Raises
    ------
    InputError
        If a section cannot be read, or a rule names one upstream that there is not.
    """
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.smk"))}
    names: dict[str, ast.AST] = {}
    for text in texts.values():
        names.update(_definitions(text))
    rules: dict[str, Rule] = {}
    for path, text in texts.items():
        for name, sections in _rules(text):
            if "output" not in sections or "params" not in sections or name in GATHERING:
                continue
            arguments = {
                section: _arguments(sections[section], f"{path}: rule {name}: {section}")
                for section in ("params", "input")
                if section in sections
            }
            calls = [word.value for word in arguments["params"].keywords if word.arg == "spec"]
            if not calls:
                continue
            rule = _rule(calls[0], arguments.get("input"), names, f"{path}: rule {name}")
            rules[rule.name] = rule
    for rule in rules.values():
        if lost := sorted(set(rule.upstream) - set(rules)):
            raise InputError(f"{folder}: rule {rule.name}: no rule {lost[0]!r} is upstream of it")
    return {name: rules[name] for name in sorted(rules, key=lambda name: _depth(name, rules))}


def reruns(key: str, rules: Mapping[str, Rule]) -> tuple[list[str], list[str]]:
    """Return the rules that use a key, and those that follow from them."""
    name = key.partition("[]")[0]
    if name == "models" and key.partition("[].")[2].split(".")[0] in ACCESS:
        return [], []
    direct = [rule.name for rule in rules.values() if rule.uses(name)]
    reached = set(direct)
    # Rules come after those they read.
    for rule in rules.values():
        if reached & set(rule.upstream):
            reached.add(rule.name)
    return direct, [name for name in rules if name in reached and name not in direct]


def keys(schema: Mapping[str, Any], path: str = "", required: bool = True) -> Iterator[Key]:
    """Yield the keys below a part of the schema that hold a value, in its order.

    A list of mappings comes before the keys of its entries.
    """
    properties = schema.get("properties", {})
    items = schema.get("items", {})
    if path and not properties:
        yield Key(path, schema, required)
    for name, part in properties.items():
        yield from keys(part, f"{path}.{name}" if path else name, name in schema["required"])
    if "properties" in items:
        for name, part in items["properties"].items():
            yield from keys(part, f"{path}[].{name}", name in items["required"])


def comments(text: str) -> dict[str, str]:
    """Return the comment that stands directly above each key of a YAML file, by dotted key."""
    found: dict[str, str] = {}
    parents: list[tuple[int, str]] = []
    block: list[str] = []
    for line in text.splitlines():
        stripped = line.lstrip()
        if stripped.startswith("#"):
            block.append(stripped.lstrip("# "))
            continue
        if match := re.match(r"( *)([\w-]+):", line):
            indent = len(match[1])
            parents = [(depth, name) for depth, name in parents if depth < indent]
            parents.append((indent, match[2]))
            if block:
                found[".".join(name for _, name in parents)] = " ".join(block)
        block = []
    return found


def allowed(schema: Mapping[str, Any]) -> str:
    """Return in words which values a part of the schema allows."""
    if "enum" in schema:
        return ", ".join(f"`{_inline(value)}`" for value in schema["enum"])
    kinds = schema.get("type", "anything")
    if isinstance(kinds, list):
        return " or ".join(allowed({**schema, "type": kind}) for kind in kinds)
    if kinds == "array":
        items = schema.get("items", {})
        if "properties" in items:
            return "a list of mappings with the keys below"
        few = schema.get("minItems", 0)
        parts = [f"list of {allowed(items)}"]
        parts += [f"at least {few}"] if few else []
        parts += ["each once"] if schema.get("uniqueItems") else []
        parts += [f"`{schema['contains']['const']}` among them"] if "contains" in schema else []
        return "; ".join(parts)
    if kinds in ("integer", "number"):
        signs = {
            "minimum": "≥",
            "exclusiveMinimum": ">",
            "maximum": "≤",
            "exclusiveMaximum": "<",
        }
        limits = [f"{sign} {schema[key]}" for key, sign in signs.items() if key in schema]
        return " ".join([kinds, " and ".join(limits)]).strip()
    if kinds == "string":
        return f"text matching `{schema['pattern']}`" if "pattern" in schema else "text"
    return {"boolean": "`true`, `false`", "null": "`null`", "object": "a mapping"}.get(kinds, kinds)


def render(schema: Mapping[str, Any], config: Path, rules: Mapping[str, Rule]) -> str:
    """Return the page.

    Parameters
    ----------
    schema
        The configuration's schema.
    config
        The default configuration's file.
    rules
        From :func:`scan`.

    Raises
    ------
    InputError
        If a key has neither a description in the schema nor a comment in the configuration.
    """
    defaults = read_yaml(config)
    notes = comments(config.read_text(encoding="utf-8"))
    lines = [_INTRODUCTION]
    for section, part in schema["properties"].items():
        lines += [f"## {section}", "", _meaning(section, part, notes), "", *_HEAD]
        for key in keys(part, section, section in schema["required"]):
            cells = [
                f"`{key.path}`",
                _default(key, defaults),
                allowed(key.schema),
                _meaning(key.path, key.schema, notes),
                _reruns_text(key.path, rules),
            ]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    return "\n".join(lines)


_INTRODUCTION = f"""\
<!-- Generated by `{COMMAND}`; do not edit. -->

# Configuration

`config.yaml` is the default run. To change it, edit it, or put what differs into a file of its own:

```sh
snakemake --cores 2 --configfile config/smoke.yaml
```

Such an overlay is merged into the default key by key; lists are replaced whole. `smoke.yaml` is a
small run of every stage, `paper.yaml` has the paper's sizes. An unknown key, a key that stands
twice and a value that is not allowed stop the run before any job starts, with what is allowed. A
number such as `1e-3` is text to YAML: write `0.001`.

Only what depends on a value is made again. Below, *reruns* names the rules that use a key
themselves, in their settings or in their list of inputs, and after the arrow those that read their
results. A list of cells (families, sizes, models) also brings the jobs of new cells. Keys in a list
of mappings are written `models[].name`.
"""

_HEAD = ["| Key | Default | Allowed | Meaning | Reruns |", "|---|---|---|---|---|"]


def _meaning(path: str, schema: Mapping[str, Any], notes: Mapping[str, str]) -> str:
    text = schema.get("description") or notes.get(path)
    if not text:
        raise InputError(
            f"workflow/schemas/config.schema.yaml: {path}: no description; write what it means"
        )
    return " ".join(str(text).split())


def _default(key: Key, defaults: Any) -> str:
    if "[]" in key.path:
        return "required" if key.required else "—"
    value = defaults
    for name in key.path.split("."):
        value = value[name]
    return f"`{_inline(value)}`"


def _inline(value: Any) -> str:
    """Return a value as one line of YAML."""
    text = yaml.safe_dump([value], default_flow_style=True, sort_keys=False, width=sys.maxsize)
    return str(text).strip()[1:-1]


def _reruns_text(key: str, rules: Mapping[str, Rule]) -> str:
    direct, following = (", ".join(f"`{name}`" for name in names) for names in reruns(key, rules))
    if not direct:
        return "nothing"
    return f"{direct} → {following}" if following else direct


def _rule(
    call: ast.expr, inputs: ast.Call | None, names: Mapping[str, ast.AST], place: str
) -> Rule:
    texts = [
        node.value
        for argument in getattr(call, "args", [])
        for node in ast.walk(argument)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    if not isinstance(call, ast.Call) or not texts:
        raise InputError(
            f"{place}: spec= is no call with the rule's name; write spec=spec({place!r})"
        )
    return Rule(
        texts[0],
        frozenset(_config_keys(call, names)),
        frozenset(_config_keys(inputs, names) if inputs else ()),
        tuple(texts[1:]),
    )


def _depth(name: str, rules: Mapping[str, Rule]) -> int:
    return 1 + max((_depth(source, rules) for source in rules[name].upstream), default=0)


def _rules(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the name of each rule at the margin of a file, and the text of its sections."""
    for match in re.finditer(r"^rule (\w+):\n((?:[ #].*\n|\n)*)", text, re.MULTILINE):
        parts = re.split(r"^ {4}(\w+):\n", match[2], flags=re.MULTILINE)
        yield match[1], dict(zip(parts[1::2], parts[2::2], strict=True))


def _arguments(section: str, place: str) -> ast.Call:
    try:
        call = ast.parse(f"_(\n{textwrap.dedent(section)}\n)", mode="eval").body
    except SyntaxError as error:
        raise InputError(f"{place}: cannot be read as arguments ({error.msg})") from None
    assert isinstance(call, ast.Call)
    return call


def _definitions(text: str) -> Iterator[tuple[str, ast.AST]]:
    """Yield the functions and the UPPER_CASE constants at the margin of a file."""
    lines = text.splitlines(keepends=True)
    for start, line in enumerate(lines):
        if not (match := re.match(r"def (\w+)|([A-Z_]+) = ", line)):
            continue
        # To the next line at the margin, closing brackets included.
        end = start + 1
        while end < len(lines) and re.match(r"[\s)\]}]", lines[end]):
            end += 1
        yield match[1] or match[2], ast.parse("".join(lines[start:end]))


def _config_keys(
    node: ast.AST,
    names: Mapping[str, ast.AST],
    bound: Mapping[str, Sequence[str]] | None = None,
    seen: frozenset[str] = frozenset(),
) -> set[str]:
    """Return the dotted keys of the configuration that code uses, through what it names."""
    bound = dict(bound or {})
    if isinstance(node, _COMPREHENSIONS):
        for generator in node.generators:
            texts = _literal_texts(generator.iter)
            if isinstance(generator.target, ast.Name) and texts is not None:
                bound[generator.target.id] = texts
    if isinstance(node, ast.Subscript) and (found := _chain(node, bound)) is not None:
        return found
    if isinstance(node, ast.Name):
        if node.id == "config":
            return {""}
        if node.id in names and node.id not in seen:
            return _config_keys(names[node.id], names, seen=seen | {node.id})
    used: set[str] = set()
    for child in ast.iter_child_nodes(node):
        used |= _config_keys(child, names, bound, seen)
    return used


def _chain(node: ast.Subscript, bound: Mapping[str, Sequence[str]]) -> set[str] | None:
    """Return the keys that config["a"]["b"] means; None for a subscript of something else."""
    steps: list[Sequence[str]] = []
    value: ast.expr = node
    while isinstance(value, ast.Subscript):
        texts: Sequence[str] | None = None
        if isinstance(value.slice, ast.Constant) and isinstance(value.slice.value, str):
            texts = [value.slice.value]
        elif isinstance(value.slice, ast.Name):
            texts = bound.get(value.slice.id)
        # Below a step that is no known text everything counts.
        steps = [] if texts is None else [texts, *steps]
        value = value.value
    if not (isinstance(value, ast.Name) and value.id == "config"):
        return None
    return {".".join(parts) for parts in itertools.product(*steps)}


def _literal_texts(node: ast.expr) -> list[str] | None:
    if not isinstance(node, ast.List | ast.Tuple):
        return None
    texts = [
        item.value
        for item in node.elts
        if isinstance(item, ast.Constant) and isinstance(item.value, str)
    ]
    return texts if len(texts) == len(node.elts) else None


def page(root: Path) -> str:
    """Return the page of the project in a folder."""
    schema = read_yaml(root / "workflow/schemas/config.schema.yaml")
    return render(schema, root / "config/config.yaml", scan(root / "workflow/rules"))


if __name__ == "__main__":
    project = Path(__file__).parents[2]
    (project / "config/README.md").write_text(page(project), encoding="utf-8")
