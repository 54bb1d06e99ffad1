"""What a language model is asked, and how its reply is read.

Each template has a version, which is kept with every completion that it asked for. A template
whose text changes gets a new version, so that a recording that no longer fits says why.

Names come from worlds and memories, and are data. A plain name stands in the prompt as it is; any
other is written as a JSON string, in which line breaks, brackets and angle brackets are escaped.
So no name can end its field, begin another, or forge a marker of the model's chat template.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from coretail.llm.replies import enum_schema, parse_choice
from coretail.llm.request import Message

STYLES: tuple[str, ...] = ("direct", "react")
GOALS: tuple[str, ...] = ("seek", "explore")
THOUGHT_LENGTH = 120
SHOWN_SUCCESSORS = 3

_PLAIN = re.compile(r"[^\W_](?:[\w '.&/-]*[\w.])?")
# What a list says of itself.
_RESERVED = re.compile(r"none|[0-9]+ more")
_RANK = re.compile(r"\A[0-9]+\. ")
_ESCAPED = re.compile(r"[<>\[\]]")


class Transition(NamedTuple):
    """A transition by its names."""

    state: str
    action: str
    next_state: str


@dataclass(frozen=True, slots=True)
class Option:
    """An action that the agent can take.

    Attributes
    ----------
    name
        The action's name.
    towards
        Names of states that it can lead to, at most :data:`SHOWN_SUCCESSORS`.
    more
        How many further states it can lead to.
    """

    name: str
    towards: tuple[str, ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class Situation:
    """What an agent knows when it has to choose.

    Attributes
    ----------
    goal
        The entity to find; None for an agent without a task.
    state
        Name of the state that the agent is in.
    entities, constraints
        What the state holds, and what it demands.
    memory
        Retrieved transitions, best first.
    recent
        Names of the states that it came through, the latest last.
    options
        The actions, in the order in which they are shown.
    context
        A memory's packed text, which then stands in the place of ``memory``; its names are written
        by :func:`field`.
    """

    goal: str | None
    state: str
    entities: tuple[str, ...]
    constraints: tuple[str, ...]
    memory: tuple[Transition, ...]
    recent: tuple[str, ...]
    options: tuple[Option, ...]
    context: str | None = None


@dataclass(frozen=True, slots=True)
class Template:
    """The part of a prompt that all calls share.

    Attributes
    ----------
    version
        Name and number of the template.
    shared
        The messages before the one that differs from call to call.
    max_tokens
        Most tokens that a reply needs.
    """

    version: str
    shared: tuple[Message, ...]
    max_tokens: int


_WORLD = (
    "You travel through a world of places. Each turn you read where you are, what is there, its "
    "rules, the places you came through, your memories of moves (place -> action -> next place) "
    "and the ways on: the places that an action may lead to, then the action."
)
_TASKS = {
    "seek": (
        "You have a thing to find. Think of the kind of place where it belongs, and take the "
        "action that leads to such a place."
    ),
    "explore": "You have no task. Take the action that leads where you want to go.",
}
_FORMS = {
    "direct": "Reply with the name of one action alone, as a JSON string.",
    "react": (
        "Reply with a JSON object: a thought of one short sentence, then the name of one action."
    ),
}
_MAX_TOKENS = {"direct": 64, "react": 192}


@dataclass(frozen=True, slots=True)
class _Example:
    """A worked example: a situation without a goal, and per goal what is right there."""

    situation: Situation
    entity: str
    thoughts: Mapping[str, str]
    action: str


# Things and places that the natural vocabulary does not have, so that no example gives an answer
# away; the action taken stands first, last and in the middle. The thoughts without a task name
# three different motives, so that they suggest none.
_EXAMPLES = (
    _Example(
        Situation(
            goal=None,
            state="long street",
            entities=("lamp post", "kerb"),
            constraints=("look both ways",),
            memory=(Transition("steep hill", "roll down", "long street"),),
            recent=("steep hill",),
            options=(
                Option("follow the crowd", ("bright supermarket", "round square"), 2),
                Option("ask a stranger", ("steep hill",)),
            ),
        ),
        "shopping cart",
        {
            "seek": "A shopping cart belongs in a supermarket.",
            "explore": "I have not been to a supermarket yet.",
        },
        "follow the crowd",
    ),
    _Example(
        Situation(
            goal=None,
            state="round square",
            entities=("pigeon", "statue", "tram stop"),
            constraints=("no cycling", "no litter"),
            memory=(
                Transition("round square", "go through the arch", "long street"),
                Transition("round square", "take the tram", "noisy stadium"),
            ),
            recent=("steep hill", "long street"),
            options=(
                Option("take the tram", ("noisy stadium",)),
                Option("go through the arch", ("long street", "lonely island")),
                Option("climb the stairs", ("tall tower", "white hospital")),
            ),
        ),
        "scalpel",
        {
            "seek": "A scalpel belongs in a hospital.",
            "explore": "A tower has a fine view.",
        },
        "climb the stairs",
    ),
    _Example(
        Situation(
            goal=None,
            state="tall tower",
            entities=("arrow slit", "weather vane"),
            constraints=("hold on tight",),
            memory=(),
            recent=("long street", "round square"),
            options=(
                Option("cross the moat", ("royal palace",)),
                Option("go down the stairs", ("merry circus", "round square"), 1),
                Option("follow the wall", ("dark tunnel", "white hospital")),
            ),
        ),
        "acrobat",
        {
            "seek": "An acrobat belongs in a circus.",
            "explore": "I liked it in the round square.",
        },
        "go down the stairs",
    ),
)


def field(text: str) -> str:
    """Return a name as it stands in a prompt: as it is if it is plain, else as a JSON string.

    Plain are letters, digits, single spaces and the marks ``' . & / -`` within a name. Equal
    results mean equal names.
    """
    plain = _PLAIN.fullmatch(text) and "  " not in text and not _RESERVED.fullmatch(text)
    if plain:
        return text
    quoted = "".join(
        json.dumps(character)[1:-1] if not character.isprintable() else character
        for character in json.dumps(text, ensure_ascii=False)
    )
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


def transition_line(transition: Transition) -> str:
    """Return a transition as ``state -> action -> next state``."""
    return " -> ".join(map(field, transition))


def situation_text(situation: Situation) -> str:
    """Return a situation as the agent reads it.

    The goal stands last, next to the reply, and the places that an action leads to stand before
    its name: small models find their way from the goal to a place and on to the action, hardly
    back.
    """
    memories = situation.context or "\n".join(map(transition_line, situation.memory)) or "none"
    lines = [
        f"Place: {field(situation.state)}",
        f"Here: {_listed(situation.entities)}",
        f"Rules: {_listed(situation.constraints)}",
        f"Came through: {_listed(situation.recent)}",
        "Memories:",
        memories,
        "Ways on:",
    ]
    for option in situation.options:
        more = f", {option.more} more" if option.more else ""
        lines.append(f"{_listed(option.towards)}{more}: {field(option.name)}")
    if situation.goal is not None:
        lines.append(f"Find: {field(situation.goal)}")
    return "\n".join(lines)


def _action_template(style: str, goal: str) -> Template:
    shared = [Message("system", f"{_WORLD} {_TASKS[goal]} {_FORMS[style]}")]
    for example in _EXAMPLES:
        entity = example.entity if goal == "seek" else None
        reply: object = example.action
        if style == "react":
            reply = {"thought": example.thoughts[goal], "action": example.action}
        shared.append(Message("user", situation_text(replace(example.situation, goal=entity))))
        shared.append(Message("assistant", json.dumps(reply)))
    version = f"action-{style}-{goal}/1"
    return Template(version, tuple(shared), _MAX_TOKENS[style])


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(field, names)) or "none"


ACTION_TEMPLATES: Mapping[tuple[str, str], Template] = {
    (style, goal): _action_template(style, goal) for style in STYLES for goal in GOALS
}

PREDICTION_TEMPLATE = Template(
    version="prediction/1",
    shared=(
        Message(
            "system",
            "Predict where an action leads. You get memories of earlier moves, best first, each "
            "as state -> action -> next state. Find the one with the same state and the same "
            "action, and reply with the whole move in the same form.",
        ),
        Message(
            "user",
            "Memories:\n"
            "calm pier -> board the boat -> far island\n"
            "tall tower -> climb down -> round square\n"
            "round square -> follow the music -> noisy fair\n"
            "round square -> cross the street -> calm pier\n"
            "noisy fair -> buy a balloon -> round square\n"
            "Now: round square -> follow the music ->",
        ),
        Message("assistant", "round square -> follow the music -> noisy fair"),
        Message(
            "user",
            "Memories:\n"
            "far island -> light a fire -> sandy cove\n"
            "sandy cove -> dive for pearls -> deep reef\n"
            "deep reef -> swim ashore -> sandy cove\n"
            "far island -> wave at the ship -> calm pier\n"
            "sandy cove -> walk inland -> green valley\n"
            "Now: sandy cove -> walk inland ->",
        ),
        Message("assistant", "sandy cove -> walk inland -> green valley"),
    ),
    max_tokens=64,
)


def action_template(situation: Situation, style: str) -> Template:
    """Return the template that asks for an action in a situation."""
    return ACTION_TEMPLATES[style, "explore" if situation.goal is None else "seek"]


def action_prompt(situation: Situation, style: str) -> tuple[Message, ...]:
    """Return the messages that ask for an action.

    All calls of one style, with a goal or without, begin with the same messages, which a server
    can keep in its cache.
    """
    shared = action_template(situation, style).shared
    return (*shared, Message("user", situation_text(situation)))


def action_schema(options: Sequence[Option], style: str) -> dict[str, Any]:
    """Return the JSON schema of the reply to :func:`action_prompt`."""
    action = enum_schema([option.name for option in options])
    if style == "direct":
        return action
    return {
        "type": "object",
        "properties": {
            "thought": {"type": "string", "maxLength": THOUGHT_LENGTH},
            "action": action,
        },
        "required": ["thought", "action"],
        "additionalProperties": False,
    }


def parse_action(text: str, options: Sequence[Option], style: str) -> int | None:
    """Return the index of the option that a reply names, or None for a reply that names none."""
    names = [option.name for option in options]
    if style == "react":
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, dict) or set(value) != {"thought", "action"}:
            return None
        chosen = value["action"]
        return names.index(chosen) if chosen in names else None
    chosen = parse_choice(text, names)
    return None if chosen is None else names.index(chosen)


def prediction_prompt(
    state: str, action: str, memories: Sequence[Transition]
) -> tuple[Message, ...]:
    """Return the messages that ask where an action leads, given memories, best first."""
    return context_prompt(state, action, "\n".join(map(transition_line, memories)))


def context_prompt(state: str, action: str, context: str) -> tuple[Message, ...]:
    """Return the messages that ask where an action leads, given a memory's packed text.

    The text stands as the memory's policy wrote it; its names are written by :func:`field`. All
    policies and encodings share the worked examples, so that their tokens differ by the text
    alone.
    """
    question = f"Memories:\n{context or 'none'}\nNow: {field(state)} -> {field(action)} ->"
    return (*PREDICTION_TEMPLATE.shared, Message("user", question))


def parse_prediction(text: str, state: str, action: str) -> str | None:
    """Return the field that a completed transition names as the next state.

    The reply must be one line that repeats state and action; None for any other. The rank before
    a line that was copied from numbered memories may stand. The next state stands as :func:`field`
    writes it.
    """
    head = f"{field(state)} -> {field(action)} -> "
    stripped = text.strip()
    if not stripped.startswith(head):
        stripped = _RANK.sub("", stripped)
    if not stripped.startswith(head) or "\n" in stripped:
        return None
    return stripped[len(head) :].strip() or None
