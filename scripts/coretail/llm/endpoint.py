"""One request to an OpenAI-compatible endpoint, and what its outcome means.

Every outcome is one of four: an answer (a reply, a refusal, or an answer that cannot be used), a
failure that may pass (:class:`TransientError`), or a failure that will not
(:class:`EndpointError`). Retries and budgets are the client's.
"""

import json
import logging
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any, TypeGuard

from coretail.errors import InputError
from coretail.llm.models import Structured, TokenLimit
from coretail.llm.redaction import Redactor
from coretail.llm.request import Request, Status

_LOG = logging.getLogger(__name__)
_CONNECT_SECONDS = 10.0
_TRANSIENT = frozenset({408, 409, 429})
_SHOWN = 300


class EndpointError(InputError):
    """The endpoint cannot or will not serve this run; asking again would not help."""


class TransientError(Exception):
    """A failure that may pass.

    Parameters
    ----------
    message
        What happened.
    wait
        Seconds after which the endpoint asks to try again; None where it does not say.
    charged
        Whether the endpoint may have worked, and charged, for the request all the same.
    """

    def __init__(self, message: str, wait: float | None, charged: bool) -> None:
        super().__init__(message)
        self.wait = wait
        self.charged = charged


@dataclass(frozen=True, slots=True)
class Answer:
    """What an endpoint answered.

    Attributes
    ----------
    status
        ``ok``, ``refusal``, ``content_filter``, or ``failed`` for an answer that breaks the
        protocol.
    text, finish_reason
        The reply and why it ended.
    prompt_tokens, cached_tokens, completion_tokens
        As reported; zero where ``metered`` is false.
    metered
        Whether the endpoint reported its usage.
    error
        What is wrong; None for ``ok``.
    """

    status: Status
    text: str = ""
    finish_reason: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    metered: bool = False
    error: str | None = None


class Endpoint:
    """A connection to an endpoint.

    Parameters
    ----------
    model
        The model's name, as the endpoint knows it.
    base_url
        The endpoint's address without credentials and query.
    key
        The key; it appears in no message.
    key_hint
        How a message calls the place that the key comes from.
    query
        Query parameters of every request.
    structured, token_limit, extra, omit
        As in :class:`coretail.llm.models.ApiModel`.
    timeout
        Seconds to wait for a reply.
    proxies
        Whether the environment's proxies are used.
    """

    def __init__(
        self,
        model: str,
        base_url: str,
        key: str,
        *,
        key_hint: str = "the key",
        query: Mapping[str, str] | None = None,
        structured: Structured = "auto",
        token_limit: TokenLimit = "max_tokens",
        extra: Mapping[str, Any] | None = None,
        omit: tuple[str, ...] = (),
        timeout: float = 120.0,
        proxies: bool = True,
    ) -> None:
        # Here and not at the top: the package takes half a second to import, which a run from
        # recordings need not pay.
        import openai

        self._openai = openai
        self._model = model
        self._address = base_url
        self._key_hint = key_hint
        self._redact = Redactor([key])
        self._structured = structured
        self._token_limit = token_limit
        self._extra = dict(extra or {})
        self._omit = omit
        self._answered = False
        self._client = openai.OpenAI(
            api_key=key,
            base_url=base_url,
            default_query=dict(query or {}),
            max_retries=0,
            timeout=openai.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS)),
            http_client=openai.DefaultHttpxClient(trust_env=proxies),
        )

    def __repr__(self) -> str:
        return f"Endpoint({self._model} at {self._address})"

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def __enter__(self) -> "Endpoint":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def ask(self, request: Request) -> Answer:
        """Send ``request`` once and return the answer.

        Raises
        ------
        TransientError
            408, 409, 429, 5xx, a timeout, or a connection that broke.
        EndpointError
            Any other error; an endpoint that could not be reached at the first attempt; a reply
            without usage.
        """
        outcome = self._send(request)
        if isinstance(outcome, Exception):
            # Raised here, outside the handler of the package's own exception, which holds the
            # request with its headers.
            raise outcome
        return outcome

    def _send(self, request: Request) -> Answer | TransientError | EndpointError:
        openai = self._openai
        try:
            response = self._client.chat.completions.with_raw_response.create(**self._body(request))
        except openai.APIConnectionError as error:
            return self._unanswered(error)
        except openai.APIStatusError as error:
            return self._rejected(error.response)
        self._answered = True
        return self._read(response.http_response.content)

    def _body(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": m.role, "content": m.content} for m in request.messages],
            "temperature": request.temperature,
            "seed": request.sent_seed,
            self._token_limit: request.max_tokens,
        }
        if request.top_p != 1.0:
            body["top_p"] = request.top_p
        if request.schema is not None and self._structured != "none":
            form = {"name": "reply", "schema": request.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        for name in self._omit:
            body.pop(name, None)
        return body | {"extra_body": self._extra}

    def _unanswered(self, error: Exception) -> TransientError | EndpointError:
        # The package wraps the transport's exceptions, whose names say at which stage it failed.
        stage = type(error.__cause__).__name__
        connected = stage not in ("ConnectError", "ConnectTimeout")
        late = "Timeout" in stage
        what = "did not answer in time" if late else f"broke the connection ({stage})"
        if connected or self._answered:
            return TransientError(f"{self._address} {what}", None, charged=connected)
        return EndpointError(
            f"models: {self._model}: base_url: {self._address} cannot be reached "
            f"({self._redact(str(error.__cause__))}). Start the endpoint, correct the address, or "
            "run with `backend: recorded` or an embedded model."
        )

    def _rejected(self, response: Any) -> Answer | TransientError | EndpointError:
        self._answered = True
        status = response.status_code
        message, code = self._complaint(response)
        said = f"{self._address} answered {status}: {message}"
        if code == "content_filter":
            return Answer("content_filter", error=said)
        if code == "insufficient_quota":
            return EndpointError(f"models: {self._model}: {said}. Its account is used up.")
        if status in _TRANSIENT or status >= 500:
            return TransientError(said, retry_after(response.headers, time.time()), charged=False)
        if status in (400, 422) and self._structured == "auto" and _about_schema(message):
            _LOG.warning("%s; replies are no longer constrained, only parsed", said)
            self._structured = "none"
            return TransientError(said, 0.0, charged=False)
        remedies = {
            401: f"Put a valid key into {self._key_hint}.",
            403: f"Give {self._key_hint} access to this model.",
            404: "Correct `name:` (the endpoint may not know this model) or `base_url:`.",
        }
        remedy = remedies.get(status, "Correct the model's settings; the endpoint says which.")
        if code == "exceed_context_size_error":
            remedy = "Raise the model's `context_tokens:` or shorten the prompt."
        return EndpointError(f"models: {self._model}: {said}. {remedy}")

    def _complaint(self, response: Any) -> tuple[str, str]:
        """Return the message and the code of an error's body, without secrets."""
        try:
            body = response.json()
        except ValueError:
            body = None
        error = body.get("error", body) if isinstance(body, dict) else None
        if isinstance(error, dict):
            code = error.get("code")
            name = code if isinstance(code, str) else error.get("type")
            message, code = error.get("message"), str(name or "")
        else:
            message, code = error, ""
        text = message if isinstance(message, str) and message else response.text
        text = " ".join(self._redact(text).split())
        return text[:_SHOWN].rstrip(".") or "nothing", code

    def _read(self, content: bytes) -> Answer | EndpointError:
        try:
            body = json.loads(content)
        except ValueError:
            # Cut afterwards: a key that the cut divides would not be recognized.
            shown = self._redact(content.decode(errors="replace"))[:80]
            return _broken(f"its answer is not JSON: {shown!r}")
        if not isinstance(body, dict):
            return _broken("its answer is not an object")
        if "choices" not in body:
            error = self._redact(json.dumps(body.get("error", "no choices")))
            return _broken(f"its answer holds no choices: {error[:_SHOWN]}")
        usage = _usage(body)
        answer = _judge(body["choices"])
        if usage is not None:
            prompt, cached, completion = usage
            return replace(
                answer,
                prompt_tokens=prompt,
                cached_tokens=cached,
                completion_tokens=completion,
                metered=True,
            )
        if answer.status == "ok":
            return EndpointError(
                f"models: {self._model}: {self._address} reports no usage with its replies, and "
                "token counts are never estimated. Use an endpoint that reports `usage`."
            )
        return answer


def _about_schema(message: str) -> bool:
    return any(word in message for word in ("response_format", "json_schema", "schema"))


def _broken(what: str) -> Answer:
    return Answer("failed", error=f"the endpoint broke the protocol: {what}")


def _judge(choices: Any) -> Answer:
    """Return the answer that a list of choices holds, its usage apart."""
    if choices is None or choices == []:
        return Answer("content_filter", error="the endpoint gave no choice (content filter)")
    try:
        choice = choices[0]
        message = choice["message"]
        text = message.get("content")
        refusal = message.get("refusal")
        reason = choice.get("finish_reason") or "stop"
    except (KeyError, TypeError, AttributeError, IndexError):
        return _broken("its choice is not a message")
    if reason == "content_filter":
        return Answer("content_filter", finish_reason=reason, error="the reply was filtered")
    if refusal:
        return Answer("refusal", finish_reason=str(reason), error="the model refused")
    if not isinstance(text, str) or not isinstance(reason, str):
        return _broken("its message has no text")
    return Answer("ok", text=text, finish_reason=reason)


def _usage(body: Mapping[str, Any]) -> tuple[int, int, int] | None:
    """Return prompt, cached and completion tokens as reported, or None if they are not."""
    usage = body.get("usage")
    if not isinstance(usage, dict):
        return None
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not (_is_count(prompt) and _is_count(completion)):
        return None
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else 0
    return prompt, min(cached, prompt) if _is_count(cached) else 0, completion


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that an endpoint asks to wait, or None where it does not ask.

    Parameters
    ----------
    headers
        The response's headers: ``retry-after-ms``, or ``Retry-After`` as seconds or as a date.
    now
        The time, in seconds since 1970.
    """
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * unit
        except ValueError:
            try:
                seconds = parsedate_to_datetime(value).timestamp() - now
            except ValueError:
                continue
        if math.isfinite(seconds):
            return max(seconds, 0.0)
    return None
