"""Worked examples for prompts: made by playing walkthroughs, or read from a file.

A demonstration shows a whole episode: the first observation, then commands and what came of them,
some with the thought that led to them. Read ones follow ReAct (Yao et al., 2023), whose published
examples are in an older dialect of the game; they are brought into that of ALFWorld 0.4.2.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from coretail.alfworld.commands import parse_command
from coretail.alfworld.environment import NOTHING_HAPPENS, play_walkthrough
from coretail.alfworld.games import Game, GameFolder, parse_object
from coretail.errors import InputError

STYLES = ("react", "act")
# The names of task types in ReAct's file.
_REACT_TASKS = {
    "put": "pick_and_place_simple",
    "examine": "look_at_obj_in_light",
    "clean": "pick_clean_then_place_in_recep",
    "heat": "pick_heat_then_place_in_recep",
    "cool": "pick_cool_then_place_in_recep",
    "puttwo": "pick_two_obj_and_place",
}
_KEY = re.compile(rf"({'|'.join(STYLES)})_({'|'.join(_REACT_TASKS)})_(\d+)")
_TURN = re.compile(r"^> ?", re.MULTILINE)
_THINK = "think:"
_ACKNOWLEDGED = "OK."
_TASK = "Your task is to: "
_OLD_PUT = re.compile(r"put (\w+ \d+) in/on (\w+ \d+)")
_OLD_PLACED = re.compile(r"You put the (\w+ \d+) in/on the (\w+ \d+)\.")
_OLD_ARRIVAL = re.compile(r"You arrive at loc \d+\. ?")


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a demonstration.

    Attributes
    ----------
    command
        What is done, in the words that ALFWorld 0.4.2 accepts.
    observation
        What comes of it.
    thought
        What leads to it; empty if nothing is said.
    """

    command: str
    observation: str
    thought: str = ""


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A whole episode.

    Attributes
    ----------
    name
        The game's key, or the key in the file.
    task_type
        One of :data:`coretail.alfworld.games.TASK_TYPES`.
    start
        The first observation; its last line states the task.
    steps
        At least one.
    """

    name: str
    task_type: str
    start: str
    steps: tuple[Step, ...]


def demonstrate(game: Game) -> Demonstration:
    """Return the demonstration that a game's walkthrough makes.

    The thoughts say what each part of the walkthrough is for: a part ends with the command that
    takes, changes, uses or puts something, and its thought stands before its first command.

    Raises
    ------
    InputError
        If the game is corrupt or its walkthrough does not win it.
    """
    first, *rest = play_walkthrough(game)
    commands = game.walkthrough[: len(rest)]
    thoughts = _thoughts(commands)
    return Demonstration(
        name=game.folder.key,
        task_type=game.task_type,
        start=first.text,
        steps=tuple(
            Step(command, observation.text, thought)
            for command, observation, thought in zip(commands, rest, thoughts, strict=True)
        ),
    )


def read_demonstrations(path: Path, style: str = "react") -> list[Demonstration]:
    """Read demonstrations of one style from a file in ReAct's format.

    That is a JSON object of texts under keys such as ``react_put_0``: style, task, number. Each
    text is an observation with the task, then turns that begin with ``>``. The older dialect is
    translated: ``put X in/on Y`` and its answer become ``move X to Y``, and what follows
    ``go to Y`` begins with ``You arrive at Y.``, whether the text has a number of a location there
    or nothing.

    Parameters
    ----------
    path
        The file.
    style
        ``react`` for demonstrations with thoughts, ``act`` for those without.

    Returns
    -------
    The demonstrations in the order of the file.

    Raises
    ------
    InputError
        If the file is missing, not UTF-8, not JSON or without a demonstration of the style, or if
        a key or a text has another form.
    """
    if style not in STYLES:
        raise InputError(f"demonstrations: style {style!r} is not one of {', '.join(STYLES)}")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    found = []
    for key, text in parse_object(path, content).items():
        match = _KEY.fullmatch(key)
        if match is None or not isinstance(text, str):
            raise InputError(
                f"{path}: {key!r}: a text under a key such as 'react_put_0' is expected; tasks "
                f"are {', '.join(_REACT_TASKS)}"
            )
        if match[1] == style:
            found.append(_parse(path, key, _REACT_TASKS[match[2]], text))
    if not found:
        raise InputError(f"{path}: no demonstration of the style {style!r}")
    return found


def fitting_demonstrations(
    known: Iterable[Demonstration], folder: GameFolder
) -> list[Demonstration]:
    """Return the demonstrations that a game's player may be shown, in the order given.

    They are of the game's task type, and none is a trial of its own task, which has the same scene
    and goal.
    """
    return [
        one
        for one in known
        if one.task_type == folder.task_type and not one.name.startswith(f"{folder.task}/")
    ]


def shortage(known: Iterable[Demonstration], folder: GameFolder, n: int) -> str:
    """Return why a game's player cannot be shown ``n`` demonstrations; empty if it can."""
    n_fitting = len(fitting_demonstrations(known, folder))
    if n_fitting >= n:
        return ""
    return (
        f"{folder.key}: {n_fitting} demonstrations of type {folder.task_type} for {n} to show "
        "(without trials of the game's own task)"
    )


def _thoughts(commands: Sequence[str]) -> list[str]:
    """Return one thought for each command; empty but at the beginning of a part."""
    thoughts = [""] * len(commands)
    beginning = 0
    for position, text in enumerate(commands):
        thought = _purpose(text)
        if thought:
            thoughts[beginning] = thought
            beginning = position + 1
    return thoughts


def _purpose(text: str) -> str:
    """Return what a command is for; empty if it prepares another."""
    command = parse_command(text)
    match command.verb, command.things:
        case "take", (thing, place):
            return f"I need the {thing}. I can find it at {place}."
        case ("heat" | "clean" | "cool" | "slice") as verb, (thing, tool):
            return f"I have the {thing}. Next, I need to {verb} it with {tool}."
        case "use", (tool,):
            return f"I need to use the {tool}."
        case "move", (thing, place):
            return f"I have the {thing}. Next, I need to move it to {place}."
        case _:
            return ""


def _parse(path: Path, key: str, task_type: str, text: str) -> Demonstration:
    start, *turns = _TURN.split(text)
    start = start.strip().removesuffix(_ACKNOWLEDGED).strip()
    if _TASK not in start.rpartition("\n")[2]:
        raise InputError(
            f"{path}: {key!r}: the first observation does not end with a line {_TASK!r}..."
        )
    # A thought precedes the command that it leads to; some were put between a command and its
    # answer.
    steps: list[Step] = []
    pending: list[str] = []
    for turn in turns:
        head, _, answer = turn.partition("\n")
        head, answer = head.strip(), answer.strip()
        if not head.startswith(_THINK):
            steps.append(_step(path, key, head, answer, pending))
            pending = []
            continue
        thought = head.removeprefix(_THINK).strip()
        answer = answer.removeprefix(_ACKNOWLEDGED).strip()
        if not answer:
            pending.append(thought)
        elif steps and not steps[-1].observation:
            late = steps.pop()
            steps.append(_step(path, key, late.command, answer, [late.thought, thought]))
        else:
            raise InputError(f"{path}: {key!r}: {answer!r} answers a thought, not a command")
    if not steps:
        raise InputError(f"{path}: {key!r}: no command; a command's line begins with '> '")
    silent = next((step.command for step in steps if not step.observation), None)
    if silent is not None:
        raise InputError(f"{path}: {key!r}: no observation follows {silent!r}")
    return Demonstration(key, task_type, start, tuple(steps))


def _step(path: Path, key: str, command: str, answer: str, thoughts: Sequence[str]) -> Step:
    """Return a step in the words of ALFWorld 0.4.2."""
    command = _OLD_PUT.sub(r"move \1 to \2", command)
    answer = _OLD_PLACED.sub(r"You move the \1 to the \2.", answer)
    try:
        parsed = parse_command(command)
    except ValueError as error:
        raise InputError(f"{path}: {key!r}: {error}") from error
    if parsed.verb == "go to" and answer not in ("", NOTHING_HAPPENS):
        arrival = f"You arrive at {parsed.things[0]}. "
        answer = arrival + _OLD_ARRIVAL.sub("", answer).removeprefix(arrival)
    return Step(command, answer, " ".join(thoughts).strip())
