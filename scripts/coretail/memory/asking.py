"""A model's predictions from what a memory shows, at some steps of a frozen trajectory."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from coretail.llm.client import Client
from coretail.llm.request import Request
from coretail.memory.frozen import NOTHING, Step
from coretail.memory.view import WorldView
from coretail.predictions import PredictionStatus, predict_next
from coretail.prompts import PREDICTION_TEMPLATE, context_prompt

AskedStatus = PredictionStatus | Literal["window_full"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A model's prediction at one step.

    Attributes
    ----------
    step
        The step.
    status
        As in :class:`coretail.predictions.Reply`; or ``window_full``: the prompt might not fit
        into the model's context window, and nobody was asked from there on.
    predicted
        The next state; -1 for a name that is no state's, and without an answer.
    correct
        Whether it is the right one; None where there was no reply, which is not scored.
    prompt_tokens, completion_tokens
        As reported; 0 where nobody was asked.
    """

    step: int
    status: AskedStatus
    predicted: int
    correct: bool | None
    prompt_tokens: int
    completion_tokens: int


def ask(
    client: Client,
    view: WorldView,
    steps: Iterable[Step],
    *,
    window: int | None = None,
    seed: int = 0,
    rule: str = "ask",
) -> list[Asked]:
    """Ask a model where the transitions of some steps lead.

    Parameters
    ----------
    client
        Access to the model.
    view
        The world.
    steps
        What the memory did at the steps to ask at, ascending.
    window
        The model's context window in tokens; None if it is not known. A prompt is held to fit if
        the tokens reported for the last one before it, the bytes by which it is longer and the
        reply fit: a token is never shorter than a byte, and what was reported is the same on every
        run.
    seed
        Seed of the endpoint's sampler.
    rule
        Names the run in messages.

    Raises
    ------
    CallFailed
        There was no answer after all retries.
    InputError
        As :meth:`coretail.llm.client.Client.complete`.
    """
    states = {view.name(state): state for state in range(view.topology.n_nodes)}
    family, n_nodes, cell_seed = view.topology.key
    asked: list[Asked] = []
    tokens = length = 0
    full = False
    for step in steps:
        state, action, _ = view.transition(step.edge)
        messages = context_prompt(state, action, step.context.text)
        # Without a call before it, all of the prompt is new.
        now = Request(messages, PREDICTION_TEMPLATE.max_tokens).prompt_bound()
        most = tokens + max(0, now - length) + PREDICTION_TEMPLATE.max_tokens
        full = full or (window is not None and most > window)
        if full:
            asked.append(Asked(step.number, "window_full", NOTHING, None, 0, 0))
            continue
        reply = predict_next(
            client,
            messages,
            state,
            action,
            f"{rule}, {family} with {n_nodes} states, seed {cell_seed}, step {step.number}",
            seed,
        )
        # A filtered reply may come without usage: the prompt before it stays the measure.
        if reply.prompt_tokens:
            tokens, length = reply.prompt_tokens, now
        predicted = NOTHING if reply.predicted is None else states.get(reply.predicted, NOTHING)
        asked.append(
            Asked(
                step.number,
                reply.status,
                predicted,
                reply.predicted == view.name(int(view.targets[step.edge]))
                if reply.scored
                else None,
                reply.prompt_tokens,
                reply.completion_tokens,
            )
        )
    return asked
