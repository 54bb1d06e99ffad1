"""Where an artefact comes from: canonical settings, the code that made it, package versions.

Snakemake notices neither an edited library module nor two swapped parameters, and reruns
everything after a ``touch``. So each rule carries one *specification*: its canonical settings, a
content hash of the code it runs, and the lineage of the rules it reads from. Equal specifications
mean equal results.
"""

import ast
import hashlib
import importlib.metadata
import json
import os
import platform
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

# Packages whose version can change a result. Their versions are written into every artefact.
PACKAGES = ("matplotlib", "networkx", "numba", "numpy", "pyarrow", "scipy", "xllamacpp")


def canonical(value: Any) -> Any:
    """Return ``value`` with mappings sorted by key, so that the order of keys means nothing.

    Parameters
    ----------
    value
        Nested mappings, sequences and scalars, as YAML gives them. Integers and floats stay what
        they are: the configuration's schema has already made every ``number`` a float.
    """
    if isinstance(value, Mapping):
        return {str(key): canonical(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, list | tuple):
        return [canonical(item) for item in value]
    return value


def digest(value: Any) -> str:
    """Return the SHA-256 (hexadecimal) of the canonical JSON of ``value``."""
    text = json.dumps(canonical(value), separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def specification(
    rule: str,
    script: Path,
    settings: Mapping[str, Any],
    upstream: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """Return the specification of one rule.

    Parameters
    ----------
    rule
        Its name.
    script
        Its entry script; the code hash covers the script and every local module it imports.
    settings
        The slice of the configuration that its results depend on.
    upstream
        Specifications of the rules whose outputs it reads, by name. Only their digests are kept:
        a change anywhere before this rule changes its specification.
    """
    return {
        "code": code_hash(script),
        "rule": rule,
        "settings": canonical(settings),
        "upstream": {name: digest(upstream[name]) for name in sorted(upstream)},
    }


def code_hash(script: Path) -> str:
    """Return the SHA-256 (16 hexadecimal digits) of a script and of all local modules it imports.

    Imports are read from the syntax tree, those inside functions too, and followed through the
    script's own directory. Data files that lie in an imported package belong to it.
    """
    root = script.resolve().parent
    total = hashlib.sha256()
    for path in sorted(_closure(script.resolve(), root)):
        total.update(path.relative_to(root).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:16]


def prefer(scripts: Path) -> None:
    """Let every process started from here import this copy's modules before installed ones.

    Snakemake only appends a script's folder to the path, so an installed copy would come first.
    """
    earlier = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(scripts), earlier]))


def package_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that can change a result."""
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def _closure(script: Path, root: Path) -> set[Path]:
    """Return the files that ``script`` depends on below ``root``, itself included."""
    found: set[Path] = set()
    waiting = [script]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        if path.suffix == ".py":
            waiting.extend(_local_imports(path, root))
    return found


@cache
def _local_imports(path: Path, root: Path) -> tuple[Path, ...]:
    files: list[Path] = []
    for node in ast.walk(ast.parse(path.read_bytes(), str(path))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                files.extend(_module_files(root, alias.name))
        elif isinstance(node, ast.ImportFrom):
            start = path.parents[node.level - 1] if node.level else root
            module = node.module or ""
            files.extend(_module_files(start, module))
            for alias in node.names:
                name = f"{module}.{alias.name}" if module else alias.name
                files.extend(_module_files(start, name))
    return tuple(files)


def _module_files(start: Path, dotted: str) -> Iterator[Path]:
    """Yield the files that importing ``dotted`` from ``start`` reads: packages on the way too."""
    path = start
    for part in filter(None, dotted.split(".")):
        path = path / part
        if (path / "__init__.py").is_file():
            yield path / "__init__.py"
            yield from (
                item
                for item in path.iterdir()
                if item.is_file() and item.suffix not in {".py", ".pyc"}
            )
        elif path.with_suffix(".py").is_file():
            yield path.with_suffix(".py")
