"""Episodes: a language model plays a game with a memory of what it did (paper, Section 5.7).

At each step the agent is shown what its memory holds of the present observation and all admissible
commands, chooses one, is moved by the game and writes the transition. Given the model's replies an
episode is deterministic, so one that was stopped is simply played again: the replies that it had
are known to the client by then.

The order in which commands are shown, and the command taken where no reply names one, are drawn
from streams of game, setting and step. They do not depend on the memory, so that two memories that
play one game are paired.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from coretail.alfworld.demonstrations import Demonstration
from coretail.alfworld.environment import Environment, Observation, UnplayableGame
from coretail.alfworld.games import Game
from coretail.alfworld.memory import Memory, Transition, one_line
from coretail.alfworld.prompts import TEMPLATES, Scene, command_prompt, options, shared_text
from coretail.errors import InputError
from coretail.llm.client import Client, ReplyStatus
from coretail.llm.request import Request
from coretail.prompts import STYLES, action_schema, parse_action
from coretail.streams import stream

_TASK = "Your task is to: "

StepStatus = Literal["chosen", "retried", "random"]
End = Literal["won", "cap", "stopped"]


class EpisodeStopped(InputError):  # noqa: N818 - the name of what happened
    """The model could not be asked any further; there is no part of a result."""

    def __init__(self, what: str, step: int, reason: str) -> None:
        super().__init__(f"{what}: stopped at step {step}: {reason}")


@dataclass(frozen=True, slots=True)
class Play:
    """How episodes are played.

    Attributes
    ----------
    setting
        Names the setting in messages and streams.
    style
        ``direct`` asks for the command alone, ``react`` for a short thought before it (Yao et al.,
        2023).
    steps
        Most steps of an episode.
    attempts
        Most completions for one step: after a reply that names no admissible command, a refusal or
        a filtered reply, the next replicate is asked for.
    seed
        Seed of the endpoint's sampler; the temperature is 0.

    Raises
    ------
    InputError
        For a value outside its range.
    """

    setting: str
    style: str = "react"
    steps: int = 15
    attempts: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        if self.style not in STYLES:
            raise InputError(f"style: {self.style!r} is not one of {', '.join(STYLES)}")
        for name in ("steps", "attempts"):
            if getattr(self, name) < 1:
                raise InputError(f"{name}: {getattr(self, name)} is below 1")


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an episode.

    Attributes
    ----------
    command
        What was done.
    observation
        What came of it.
    status
        ``chosen`` by the first reply; ``retried`` (chosen by a later one); ``random`` (no reply
        named an admissible command, and a uniform one was taken).
    order
        The admissible commands in the order shown, by their places in alphabetical order.
    position
        Place of the command in the order shown, from 0.
    replies
        What became of each completion that was asked for.
    prompt_tokens, cached_tokens, completion_tokens
        Of all completions of the step, as reported; ``cached_tokens`` are part of
        ``prompt_tokens``.
    held, shown, memory_tokens
        Of the memory; see :class:`coretail.alfworld.memory.Shown`.
    """

    command: str
    observation: str
    status: StepStatus
    order: tuple[int, ...]
    position: int
    replies: tuple[ReplyStatus, ...]
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    held: int
    shown: int
    memory_tokens: int


@dataclass(frozen=True, slots=True)
class Episode:
    """A game as it was played.

    Attributes
    ----------
    steps
        The steps made.
    end
        ``won``; ``cap`` (the last step that the setting allows); ``stopped`` (the game turned out
        corrupt).
    reason
        Why it was stopped; empty if it was not.
    """

    steps: tuple[Step, ...]
    end: End
    reason: str = ""


def play_episode(
    game: Game,
    memory: Memory,
    client: Client,
    play: Play,
    demonstrations: Sequence[Demonstration] = (),
    *,
    rule: str = "alfworld",
    progress: Callable[[int], None] | None = None,
) -> Episode:
    """Let a model play a game.

    Parameters
    ----------
    game
        The game.
    memory
        An empty memory.
    client
        Access to the model.
    play
        How it is played.
    demonstrations
        What the model is shown before the task.
    rule
        Names the run in messages.
    progress
        Called with the number of steps made after each.

    Raises
    ------
    EpisodeStopped
        The model could not be asked: the budget is spent, the endpoint fails, a recording is
        missing. The cause is the exception that says so.
    InputError
        If the packages that play games are missing.
    """
    player = _Player(game, memory, client, play, demonstrations, rule)
    steps: list[Step] = []
    try:
        with Environment(game) as environment:
            seen = environment.reset()
            text = _without_task(seen.text)
            while len(steps) < play.steps and not seen.done:
                step = player.choose(text, seen, len(steps))
                seen = environment.step(step.command)
                step = replace(step, observation=one_line(seen.text))
                memory.write(Transition(text, step.command, step.observation))
                text = step.observation
                steps.append(step)
                if progress is not None:
                    progress(len(steps))
    except UnplayableGame as error:
        return Episode(tuple(steps), "stopped", str(error))
    return Episode(tuple(steps), "won" if seen.won else "cap")


class _Player:
    """Shows a model what it needs to know in a game, and takes its choice, or one at random."""

    def __init__(
        self,
        game: Game,
        memory: Memory,
        client: Client,
        play: Play,
        demonstrations: Sequence[Demonstration],
        rule: str,
    ) -> None:
        self._game = game
        self._memory = memory
        self._client = client
        self._play = play
        self._template = TEMPLATES[play.style]
        self._shared = shared_text(play.style, demonstrations)
        self._name = f"{rule}, {play.setting}, {game.folder.key}"

    def choose(self, text: str, seen: Observation, number: int) -> Step:
        """Return the step that is taken, without what came of it."""
        shown = self._memory.show(text, self._game.task)
        order = self._stream("command order", number).permutation(len(seen.admissible)).tolist()
        commands = tuple(seen.admissible[place] for place in order)
        named = options(commands)
        request = Request(
            messages=command_prompt(
                self._shared, Scene(self._game.task, shown.text, text, commands)
            ),
            max_tokens=self._template.max_tokens,
            seed=self._play.seed,
            schema=action_schema(named, self._play.style),
            template=self._template.version,
        )
        try:
            choice = self._client.choose(
                request,
                lambda reply: parse_action(reply, named, self._play.style),
                self._name,
                self._play.attempts,
            )
        except InputError as error:
            raise EpisodeStopped(self._name, number, str(error)) from error
        position = choice.position
        status: StepStatus = "retried" if len(choice.replies) > 1 else "chosen"
        if position is None:
            status = "random"
            position = int(self._stream("fallback", number).integers(len(commands)))
        return Step(
            command=commands[position],
            observation="",
            status=status,
            order=tuple(order),
            position=position,
            replies=choice.replies,
            prompt_tokens=choice.prompt_tokens,
            cached_tokens=sum(one.cached_tokens for one in choice.completions),
            completion_tokens=choice.completion_tokens,
            held=shown.held,
            shown=shown.shown,
            memory_tokens=shown.tokens,
        )

    def _stream(self, purpose: str, number: int) -> np.random.Generator:
        return stream("alfworld", self._game.folder.key, self._play.setting, purpose, number)


def _without_task(text: str) -> str:
    """Return the first observation without the task, which has a line of its own in the prompt."""
    return one_line(" ".join(line for line in text.splitlines() if not line.startswith(_TASK)))
