"""What is asked of a model, what came back, and the key under which the answer is kept."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

Role = Literal["system", "user", "assistant"]
Status = Literal["ok", "refusal", "content_filter", "failed"]
Source = Literal["live", "journal", "recording"]


class Message(NamedTuple):
    """One message of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """One completion asked of a model.

    Attributes
    ----------
    messages
        The conversation so far.
    max_tokens
        Most tokens that the reply may have.
    temperature
        Sampling temperature; 0 takes the most probable token.
    top_p
        Nucleus sampling; 1 samples from the whole distribution.
    seed
        Seed of the endpoint's sampler.
    schema
        JSON schema that the reply must satisfy; None for free text.
    replicate
        Number of the repetition of an otherwise equal request. Replicates above 0 are sent with
        seeds of their own, derived from ``seed``.
    template
        Version of the prompt template that made the messages. Kept with the recording, so that a
        miss can say that the template changed; not part of the key, since the messages are.
    """

    messages: tuple[Message, ...]
    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    schema: Mapping[str, Any] | None = None
    replicate: int = 0
    template: str = ""

    def __post_init__(self) -> None:
        if not self.messages:
            raise ValueError("a request needs at least one message")
        if self.max_tokens < 1 or self.replicate < 0 or not 0 <= self.seed < 2**31:
            raise ValueError(
                "a request needs max_tokens >= 1, replicate >= 0 and 0 <= seed < 2**31; got "
                f"max_tokens={self.max_tokens}, replicate={self.replicate}, seed={self.seed}"
            )

    def again(self) -> "Request":
        """Return the next replicate of this request."""
        return replace(self, replicate=self.replicate + 1)

    @property
    def sent_seed(self) -> int:
        """The seed that the endpoint is given for this replicate, below 2**31."""
        if self.replicate == 0:
            return self.seed
        digest = hashlib.sha256(f"replicate {self.seed} {self.replicate}".encode()).digest()
        return int.from_bytes(digest[:4], "big") >> 1

    def key(self, identity: Mapping[str, str], parameters: Mapping[str, Any]) -> str:
        """Return the hexadecimal SHA-256 under which the completion is kept.

        Parameters
        ----------
        identity
            The model's identity.
        parameters
            Every further parameter that the client sends and that changes the output.
        """
        canonical = {
            "version": 1,
            "model": dict(identity),
            "messages": self.messages,
            "max_tokens": self.max_tokens,
            "temperature": float(self.temperature),
            "top_p": float(self.top_p),
            "seed": self.seed,
            "replicate": self.replicate,
            # As text: the order of a schema's properties decides in which order they are written.
            "schema": None if self.schema is None else json.dumps(self.schema),
            "parameters": dict(parameters),
        }
        text = json.dumps(canonical, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def prompt_bound(self) -> int:
        """Return a number of tokens that the prompt does not exceed.

        A byte-level tokenizer makes at most one token of a byte; 64 tokens are added for each
        message and for the conversation, for what the model's chat template writes around them.
        The bound serves budgets alone. It is never reported as a count.
        """
        schema = 0 if self.schema is None else len(json.dumps(self.schema))
        text = sum(len(message.content.encode()) for message in self.messages)
        return text + schema + 64 * (len(self.messages) + 1)


@dataclass(frozen=True, slots=True)
class Completion:
    """What came back for a request.

    Attributes
    ----------
    key
        The request's key.
    status
        ``ok``; ``refusal`` (the model refused); ``content_filter`` (the endpoint gave no reply);
        ``failed`` (no usable answer after all retries). Only ``ok`` is kept and replayed.
    text
        The reply; empty unless ``ok``.
    finish_reason
        As the endpoint reports it: ``stop``, or ``length`` for a reply cut at ``max_tokens``.
    prompt_tokens, cached_tokens, completion_tokens
        As the endpoint reports them; ``cached_tokens`` are part of ``prompt_tokens``. Zero where
        a failure came without usage.
    source
        Where it was found: asked of the model now, the run's own journal, or a recording.
    error
        What went wrong; None for ``ok``.
    """

    key: str
    status: Status
    text: str
    finish_reason: str
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    source: Source
    error: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the model replied."""
        return self.status == "ok"
