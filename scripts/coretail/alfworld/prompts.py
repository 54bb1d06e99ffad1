"""What an agent in ALFWorld is asked, and how its reply is read.

The reply has the form of :mod:`coretail.prompts`: the action alone, or a thought before it. What
stays the same stands first, so that a server's prompt cache holds it: how to play, the
demonstrations, the task; then what the memory shows, what is observed now, and all admissible
commands, however many there are.

Observations, tasks, commands and demonstrations come from games and files, and are data. Each
stands in one line; one that could be mistaken for something else is written as a JSON string, in
which ``<`` and ``[`` are escaped (:func:`coretail.controller.encoding.in_line`), so that none can
end its line or forge a marker of the model's chat template.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from coretail.alfworld.demonstrations import Demonstration
from coretail.alfworld.memory import one_line
from coretail.controller.encoding import in_line
from coretail.llm.request import Message
from coretail.prompts import Option, Template

_OPENING = re.compile(r"[<\[]")
_HOME = (
    "You carry out a task in a home. Each turn you read the task, your memories of earlier turns "
    "(what you saw -> what you did -> what you saw next), what you see now and the actions that "
    "are possible now. You have to go to a place to reach what is there, and to open what is "
    "closed. You can carry one thing at a time."
)
_FORMS = {
    "direct": "Reply with one of the possible actions alone, as a JSON string.",
    "react": (
        "Reply with a JSON object: a thought of one short sentence, then one of the possible "
        "actions."
    ),
}
_MAX_TOKENS = {"direct": 64, "react": 192}

TEMPLATES: Mapping[str, Template] = {
    style: Template(
        f"alfworld-{style}/1", (Message("system", f"{_HOME} {form}"),), _MAX_TOKENS[style]
    )
    for style, form in _FORMS.items()
}


@dataclass(frozen=True, slots=True)
class Scene:
    """What an agent knows when it has to choose.

    Attributes
    ----------
    task
        The task in words.
    memory
        What its memory shows, as the controller wrote it.
    observation
        What it observes now.
    commands
        The admissible commands, in the order in which they are shown.
    """

    task: str
    memory: str
    observation: str
    commands: tuple[str, ...]


def options(commands: Iterable[str]) -> tuple[Option, ...]:
    """Return commands as the options of :mod:`coretail.prompts`."""
    return tuple(Option(command, ()) for command in commands)


def shared_text(style: str, demonstrations: Sequence[Demonstration] = ()) -> str:
    """Return how to play, with demonstrations: the same in all turns of an episode."""
    (system,) = TEMPLATES[style].shared
    parts = [system.content, *(_demonstration_text(style, one) for one in demonstrations)]
    return "\n\n".join(parts)


def scene_text(scene: Scene) -> str:
    """Return a scene as the agent reads it."""
    lines = [
        f"Task: {in_line(one_line(scene.task))}",
        "Memories:",
        scene.memory or "none",
        f"Now: {in_line(one_line(scene.observation))}",
        "Possible actions:",
        *map(in_line, scene.commands),
    ]
    return "\n".join(lines)


def command_prompt(shared: str, scene: Scene) -> tuple[Message, ...]:
    """Return the messages that ask for a command, given the text of :func:`shared_text`."""
    return Message("system", shared), Message("user", scene_text(scene))


def _demonstration_text(style: str, demonstration: Demonstration) -> str:
    lines = ["Example:", *map(in_line, demonstration.start.splitlines())]
    for step in demonstration.steps:
        lines.append(f"> {_reply(style, step.thought, step.command)}")
        lines.append(in_line(one_line(step.observation)))
    return "\n".join(lines)


def _reply(style: str, thought: str, command: str) -> str:
    """Return the reply that leads to a step, as JSON without a marker's first character."""
    reply = {"thought": thought, "action": command} if style == "react" else command
    return _OPENING.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(reply))
