"""Which model a completion comes from, and what of it makes up the identity of a recording."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from coretail.errors import InputError
from coretail.llm.registry import registered
from coretail.llm.weights import sha256_of

Structured = Literal["auto", "json_schema", "none"]
TokenLimit = Literal["max_tokens", "max_completion_tokens"]


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of an endpoint, in one currency, per million tokens.

    Attributes
    ----------
    prompt, completion
        Price of a million prompt and of a million completion tokens.
    cached
        Price of a million prompt tokens that the endpoint reports as cached; None where they cost
        as much as the others.
    """

    prompt: float = 0.0
    completion: float = 0.0
    cached: float | None = None

    def money(self, prompt_tokens: int, cached_tokens: int, completion_tokens: int) -> float:
        """Return the price of a call; ``cached_tokens`` are part of ``prompt_tokens``."""
        cached = self.prompt if self.cached is None else self.cached
        return (
            (prompt_tokens - cached_tokens) * self.prompt
            + cached_tokens * cached
            + completion_tokens * self.completion
        ) / 1e6


@dataclass(frozen=True, slots=True)
class EmbeddedModel:
    """A model that runs in this process.

    Attributes
    ----------
    name
        A name of the registry or, with ``weights``, any name.
    weights
        Path of a GGUF file; None for the registry's weights.
    sha256
        SHA-256 that the file at ``weights`` must have. With it, recordings can be replayed where
        the file is absent; without it the file is read for it.
    context_tokens
        Size of the context window in tokens; prompt and reply must fit.
    threads
        Threads that compute. One by default: on a busy machine two threads are slower than one.
    """

    name: str
    weights: Path | None = None
    sha256: str | None = None
    context_tokens: int = 4096
    threads: int = 1

    @property
    def prices(self) -> Prices:
        """An embedded model costs nothing."""
        return Prices()

    def identity(self, cache: Path | None = None) -> dict[str, str]:
        """Return what tells this model from every other: its name and its weights' SHA-256.

        Raises
        ------
        InputError
            The name is not registered and there is no file, or the file is not the expected one.
        """
        if self.weights is None:
            return {"name": self.name, "weights": registered(self.name).sha256}
        if self.sha256 is not None and not self.weights.exists():
            return {"name": self.name, "weights": self.sha256}
        found = sha256_of(self.weights, cache)
        if self.sha256 is not None and found != self.sha256:
            raise InputError(
                f"models: {self.name}: {self.weights} has SHA-256 {found}, but the configuration "
                f"says {self.sha256}. Give the file that was meant, or correct `sha256:`."
            )
        return {"name": self.name, "weights": found}

    def label(self, cache: Path | None = None) -> str:
        """Return the identity as one word, as recordings keep it."""
        return "weights:" + self.identity(cache)["weights"]


@dataclass(frozen=True, slots=True)
class ApiModel:
    """A model behind an endpoint that speaks the OpenAI chat-completions protocol.

    Attributes
    ----------
    name
        The model's name, as the endpoint knows it.
    base_url
        For example ``https://api.example.org/v1``. A query (an API version, say) is sent with
        every request; credentials are refused, because configurations are kept in artefacts.
    key_env
        Name of the environment variable that holds the key; None for an endpoint without keys.
    structured
        Whether a reply is constrained by JSON schema: ``json_schema`` always, ``none`` never (the
        reply is parsed all the same), ``auto`` until the endpoint answers that it cannot.
    token_limit
        Name of the field that bounds the reply; newer OpenAI models want the longer one.
    extra
        Further fields of the request's body; part of the key of a recording.
    omit
        Fields that the endpoint does not accept and that are left out, ``seed`` or
        ``temperature`` for example; part of the key of a recording.
    prices
        Prices per million tokens.
    timeout
        Seconds to wait for a reply.
    """

    name: str
    base_url: str
    key_env: str | None = "OPENAI_API_KEY"
    structured: Structured = "auto"
    token_limit: TokenLimit = "max_tokens"
    extra: Mapping[str, Any] = field(default_factory=dict)
    omit: tuple[str, ...] = ()
    prices: Prices = field(default_factory=Prices)
    timeout: float = 120.0

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            shown = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="")
            raise InputError(
                f"models: {self.name}: base_url: {urlunsplit(shown)!r} is not the address of an "
                "endpoint. Give one like https://api.example.org/v1"
            )
        if parts.username is not None or parts.password is not None:
            raise InputError(
                f"models: {self.name}: base_url: holds a user name or password, which would be "
                "kept in artefacts. Put the key into an environment variable and name it in "
                "`key_env:`"
            )

    def identity(self, cache: Path | None = None) -> dict[str, str]:
        """Return what tells this model from every other: its name and its endpoint's address.

        The address is scheme, host, port (where it is not the scheme's own) and path; no
        credentials, no query. ``cache`` is not used.
        """
        return {"name": self.name, "endpoint": self.address}

    def label(self, cache: Path | None = None) -> str:
        """Return the identity as one word, as recordings keep it; it does not tell the address."""
        return "endpoint:" + hashlib.sha256(self.address.encode()).hexdigest()

    @property
    def address(self) -> str:
        """The endpoint's address without credentials and query."""
        parts = urlsplit(self.base_url)
        host = parts.hostname or ""
        host = f"[{host}]" if ":" in host else host
        default = {"http": 80, "https": 443}[parts.scheme]
        port = f":{parts.port}" if parts.port not in (None, default) else ""
        return f"{parts.scheme}://{host}{port}{parts.path.rstrip('/')}"

    @property
    def query(self) -> dict[str, str]:
        """The query of the base URL, sent with every request."""
        return dict(parse_qsl(urlsplit(self.base_url).query, keep_blank_values=True))

    def key(self) -> str:
        """Return the key from its environment variable ("none" for an endpoint without keys).

        Raises
        ------
        InputError
            The variable is not set, is empty or holds something that no HTTP header can carry.
            The message does not show the value.
        """
        if self.key_env is None:
            return "none"
        value = os.environ.get(self.key_env, "").strip()
        if not value:
            raise InputError(
                f"models: {self.name}: key_env: the environment variable {self.key_env} is not "
                f"set. Set it to the endpoint's key (export {self.key_env}=...), or run with "
                "`backend: recorded` or with an embedded model, which need no key."
            )
        if not (value.isascii() and value.isprintable()):
            raise InputError(
                f"models: {self.name}: key_env: the environment variable {self.key_env} holds "
                "characters that no key has. Set it again, to the key alone."
            )
        return value


Model = EmbeddedModel | ApiModel


def model_from(entry: Mapping[str, Any]) -> Model:
    """Return the model that one entry of the configuration's ``models:`` describes.

    Parameters
    ----------
    entry
        The attributes of :class:`ApiModel` if it has a ``base_url``, else those of
        :class:`EmbeddedModel`; ``prices`` as a mapping. What is absent or None has its default,
        but a ``key_env`` of None is an endpoint without keys.

    Raises
    ------
    InputError
        A key is unknown, or ``name`` is missing.
    """
    kind = ApiModel if entry.get("base_url") is not None else EmbeddedModel
    known = {item.name for item in fields(kind)}
    given = {key: value for key, value in entry.items() if value is not None}
    if "name" not in given:
        raise InputError(f"models: the entry {dict(entry)} has no `name:`. Give the model's name.")
    if unknown := sorted(set(given) - known):
        raise InputError(
            f"models: {given['name']}: {unknown[0]}: is no setting of a model "
            f"{'with' if kind is ApiModel else 'without'} a `base_url:`. Known are "
            f"{', '.join(sorted(known))}."
        )
    if kind is EmbeddedModel:
        if "weights" in given:
            given["weights"] = Path(given["weights"]).expanduser()
        return EmbeddedModel(**given)
    if "prices" in given:
        given["prices"] = Prices(**given["prices"])
    if "omit" in given:
        given["omit"] = tuple(given["omit"])
    if "key_env" in entry:
        given["key_env"] = entry["key_env"]
    return ApiModel(**given)
