"""One question to a model: where an action leads, given a memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from coretail.llm.client import Client
from coretail.llm.request import Message, Request
from coretail.prompts import PREDICTION_TEMPLATE, parse_prediction

PredictionStatus = Literal["answered", "malformed", "refusal", "content_filter"]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered.

    Attributes
    ----------
    status
        ``answered``; ``malformed`` (the reply is no transition from this state by this action);
        or why there was no reply: ``refusal``, ``content_filter``.
    predicted
        The next state's name, as prompts write it; None unless ``answered``.
    prompt_tokens, completion_tokens
        As reported.
    """

    status: PredictionStatus
    predicted: str | None
    prompt_tokens: int
    completion_tokens: int

    @property
    def scored(self) -> bool:
        """Whether there was a reply; a malformed one counts as wrong."""
        return self.status in ("answered", "malformed")


def predict_next(
    client: Client,
    messages: Sequence[Message],
    state: str,
    action: str,
    context: str,
    seed: int = 0,
) -> Reply:
    """Ask a model where an action leads, at temperature 0.

    Parameters
    ----------
    client
        Access to the model.
    messages
        What is asked: of :func:`coretail.prompts.prediction_prompt` or
        :func:`coretail.prompts.context_prompt`.
    state, action
        The names that the reply must repeat.
    context
        Names the run in messages.
    seed
        Seed of the endpoint's sampler.

    Raises
    ------
    CallFailed
        There was no answer after all retries.
    InputError
        As :meth:`coretail.llm.client.Client.complete`.
    """
    request = Request(
        messages=tuple(messages),
        max_tokens=PREDICTION_TEMPLATE.max_tokens,
        seed=seed,
        template=PREDICTION_TEMPLATE.version,
    )
    completion = client.answer(request, context)
    predicted: str | None = None
    status: PredictionStatus
    if completion.status == "ok":
        predicted = parse_prediction(completion.text, state, action)
        status = "malformed" if predicted is None else "answered"
    else:
        assert completion.status != "failed"
        status = completion.status
    return Reply(status, predicted, completion.prompt_tokens, completion.completion_tokens)
