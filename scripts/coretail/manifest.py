"""Hashes of every artefact, noted by the job that wrote it, so that damage is noticed.

Snakemake compares times and settings; a file that was cut short or edited afterwards looks fine
to it. The notes lie in ``results/.manifest``, one JSON file per artefact.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

RESULTS = Path("results")
NOTES = RESULTS / ".manifest"


def record(rule: str, written: Mapping[Path, Path]) -> None:
    """Note the hash of each file, before it gets its final name.

    Parameters
    ----------
    rule
        The rule that wrote them.
    written
        Each file's final name below ``results`` and where it lies now.
    """
    for final, now in written.items():
        note = _note(final)
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(json.dumps({"rule": rule, "sha256": _sha256(now)}) + "\n")


def damaged(artefacts: Iterable[Path]) -> list[str]:
    """Return one line for each artefact that is not as its rule wrote it.

    Parameters
    ----------
    artefacts
        Paths below ``results``. A missing file is no damage: the workflow makes it again.
    """
    lines = []
    for path in artefacts:
        if not path.is_file():
            continue
        note = _note(path)
        if not note.is_file():
            lines.append(f"{path}: not written by a rule of this workflow")
            continue
        entry = json.loads(note.read_text())
        if _sha256(path) != entry["sha256"]:
            lines.append(f"{path}: changed since rule {entry['rule']!r} wrote it")
    return lines


def _note(path: Path) -> Path:
    return NOTES / path.relative_to(RESULTS).with_name(path.name + ".json")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
