"""The commands that ALFWorld 0.4.2 knows."""

import re
from dataclasses import dataclass

_THING = r"[a-z]+ \d+"
_COMMANDS = tuple(
    re.compile(pattern)
    for pattern in (
        r"(look|inventory|help)",
        rf"(go to|open|close|examine|use) ({_THING})",
        rf"(take) ({_THING}) from ({_THING})",
        rf"(move) ({_THING}) to ({_THING})",
        rf"(heat|clean|cool|slice) ({_THING}) with ({_THING})",
    )
)


@dataclass(frozen=True, slots=True)
class Command:
    """A command taken apart.

    Attributes
    ----------
    verb
        ``go to``, ``open``, ``close``, ``take``, ``move``, ``heat``, ``clean``, ``cool``,
        ``slice``, ``use``, ``examine``, ``look``, ``inventory`` or ``help``.
    things
        What it names, in order: an object such as ``egg 1`` before the receptacle or the tool.
    """

    verb: str
    things: tuple[str, ...] = ()


def parse_command(text: str) -> Command:
    """Take a command apart.

    Raises
    ------
    ValueError
        If it has none of the forms that ALFWorld 0.4.2 knows.
    """
    for pattern in _COMMANDS:
        if match := pattern.fullmatch(text):
            verb, *things = match.groups()
            return Command(verb, tuple(things))
    raise ValueError(f"{text!r} is not a command of ALFWorld")
