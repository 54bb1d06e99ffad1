"""Replies that name one of several options: the schema that asks for them, and strict parsing."""

import json
from collections.abc import Sequence
from typing import Any


def enum_schema(options: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of a bare string that is one of ``options``."""
    return {"type": "string", "enum": list(options)}


def parse_choice(text: str, options: Sequence[str]) -> str | None:
    """Return the option that a reply names, or None for a reply that names none.

    The reply must be the option and nothing else, as a JSON string or bare; white space around it
    is ignored. Nothing is guessed: another case, a part of a name or a sentence around it names
    no option.
    """
    stripped = text.strip()
    if stripped in options:
        return stripped
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, str) and value in options else None
