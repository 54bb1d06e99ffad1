"""A local endpoint that speaks the OpenAI chat-completions protocol and can be told to misbehave.

A real HTTP server on a loopback port. ``with LocalEndpoint(script=[...]) as endpoint`` runs it in
threads of the test; ``python tests/endpoint.py`` runs it as a process of its own (see ``--help``).
Each request takes the next behaviour of the script; behind the script's end every request is
answered well.
"""

import argparse
import hashlib
import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

Kind = Literal[
    "reply",
    "error",
    "drop",
    "truncate",
    "invalid_json",
    "no_usage",
    "refusal",
    "content_filter",
]


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What the endpoint does with one request.

    Attributes
    ----------
    kind
        ``reply``: a good answer. ``error``: ``status`` with ``message``. ``drop``: the connection
        is closed before any answer. ``truncate``: half of the body, then the connection is
        closed. ``invalid_json``: a whole body that is not JSON. ``no_usage``: a good answer
        without ``usage``. ``refusal``: a message with a refusal. ``content_filter``: no choice.
    text
        The reply, for an action that is not in the list for example; None for the endpoint's own.
        For ``invalid_json``, the body.
    delay
        Seconds before the answer.
    status, message, code, retry_after
        Of an ``error``.
    """

    kind: Kind = "reply"
    text: str | None = None
    delay: float = 0.0
    status: int = 500
    message: str = "something went wrong"
    code: str | None = None
    retry_after: str | None = None


REPLY = Behaviour()
DROP = Behaviour("drop")
TRUNCATE = Behaviour("truncate")
INVALID_JSON = Behaviour("invalid_json")
NO_USAGE = Behaviour("no_usage")
REFUSAL = Behaviour("refusal")
CONTENT_FILTER = Behaviour("content_filter")
WRONG_ACTION = Behaviour(text='"fly to the moon"')


def slow(seconds: float) -> Behaviour:
    """Return the behaviour of a good answer that takes its time."""
    return Behaviour(delay=seconds)


def error(status: int, retry_after: str | None = None, **fields: Any) -> Behaviour:
    """Return the behaviour of answering with an HTTP error."""
    return Behaviour("error", status=status, retry_after=retry_after, **fields)


@dataclass(slots=True)
class Logged:
    """One request, as it arrived.

    Attributes
    ----------
    body
        The request's body.
    path
        The request's path with its query.
    authorized
        Whether it carried the endpoint's key; the key itself is not kept (a wrong one is, in the
        complaint about it).
    behaviour
        What the endpoint did with it.
    answered
        Whether the answer was sent whole.
    """

    body: dict[str, Any]
    path: str
    authorized: bool
    behaviour: Behaviour
    answered: bool = False

    @property
    def identity(self) -> str:
        """The request's body as one text, so that repeated requests can be counted."""
        return json.dumps(self.body, sort_keys=True)


def default_reply(body: dict[str, Any]) -> str:
    """Return a reply that depends on nothing but the request's body.

    One of the enum's options, as a JSON string, where the request's schema has one; a short text
    otherwise.
    """
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).digest()
    number = int.from_bytes(digest[:4], "big")
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    options = schema.get("enum")
    return json.dumps(options[number % len(options)]) if options else f"reply {number}"


@dataclass
class LocalEndpoint:
    """The endpoint; a context manager that listens while it is open.

    Attributes
    ----------
    script
        Behaviours of the first requests.
    otherwise
        Behaviour of all others.
    reply
        Makes a good answer's text out of the request's body.
    key
        The key that requests must carry, else 401; None to take any.
    models
        Names that the endpoint knows, else 404; None to take any.
    schemas
        Whether ``response_format`` is accepted; if not, such requests are answered with 400.
    log_file
        File that gets one JSON line per request when it arrives.
    log
        The requests so far.
    """

    script: Iterable[Behaviour] = ()
    otherwise: Behaviour = REPLY
    reply: Callable[[dict[str, Any]], str] = default_reply
    key: str | None = None
    models: frozenset[str] | None = None
    schemas: bool = True
    log_file: Path | None = None
    log: list[Logged] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._script = iter(self.script)
        self._lock = threading.Lock()
        self._server = _Server(self)

    @property
    def base_url(self) -> str:
        """The address for clients."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> "LocalEndpoint":
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def behave(self, script: Iterable[Behaviour] = (), otherwise: Behaviour = REPLY) -> None:
        """Take another script from the next request on."""
        with self._lock:
            self._script, self.otherwise = iter(script), otherwise

    def serve(self) -> None:
        """Answer requests until the endpoint is closed."""
        self._server.serve_forever(poll_interval=0.01)

    def receive(self, path: str, authorization: str, body: dict[str, Any]) -> Logged:
        """Log a request and decide what to do with it."""
        authorized = self.key is None or authorization == f"Bearer {self.key}"
        with self._lock:
            behaviour = self._decide(authorized, authorization, body)
            logged = Logged(body, path, authorized, behaviour)
            self.log.append(logged)
            if self.log_file is not None:
                with self.log_file.open("a") as file:
                    file.write(json.dumps(asdict(logged)) + "\n")
        return logged

    def _decide(self, authorized: bool, authorization: str, body: dict[str, Any]) -> Behaviour:
        if not authorized:
            # Some endpoints repeat the key that they refuse.
            message = f"Incorrect API key provided: {authorization.removeprefix('Bearer ')}"
            return error(401, message=message, code="invalid_api_key")
        if self.models is not None and body["model"] not in self.models:
            message = f"The model {body['model']} does not exist"
            return error(404, message=message, code="model_not_found")
        if not self.schemas and "response_format" in body:
            return error(400, message="response_format json_schema is not supported")
        return next(self._script, self.otherwise)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, endpoint: LocalEndpoint) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.endpoint = endpoint
        self._connections: set[socket.socket] = set()

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Answer the requests of one connection."""
        self._connections.add(request)
        try:
            super().finish_request(request, client_address)
        finally:
            self._connections.discard(request)

    def server_close(self) -> None:
        """Stop listening and break the connections that clients hold open."""
        super().server_close()
        for connection in list(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Pass over clients that went away."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    # Headers and body leave in one segment.
    wbufsize = -1
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        endpoint = self.server.endpoint
        logged = endpoint.receive(self.path, self.headers.get("Authorization", ""), body)
        behaviour = logged.behaviour
        time.sleep(behaviour.delay)
        if behaviour.kind == "drop":
            self._hang_up()
            return
        status, content = _content(behaviour, body, endpoint.reply)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if behaviour.retry_after is not None:
            self.send_header("Retry-After", behaviour.retry_after)
        self.end_headers()
        if behaviour.kind == "truncate":
            self.wfile.write(content[: len(content) // 2])
            self.wfile.flush()
            self._hang_up()
            return
        self.wfile.write(content)
        self.wfile.flush()
        logged.answered = True

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _content(
    behaviour: Behaviour, body: dict[str, Any], reply: Callable[[dict[str, Any]], str]
) -> tuple[int, bytes]:
    if behaviour.kind == "error":
        complaint = {"message": behaviour.message, "code": behaviour.code, "type": "test"}
        return behaviour.status, json.dumps({"error": complaint}).encode()
    if behaviour.kind == "invalid_json":
        return 200, (behaviour.text or '{"choices": [{"message": oops').encode()
    text = behaviour.text if behaviour.text is not None else reply(body)
    prompt = sum(len(message["content"].split()) for message in body["messages"])
    message = {"role": "assistant", "content": text, "refusal": None}
    answer: dict[str, Any] = {
        "id": "local",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": len(text.split()),
            "total_tokens": prompt + len(text.split()),
            "prompt_tokens_details": {"cached_tokens": prompt // 2},
        },
    }
    if behaviour.kind == "no_usage":
        del answer["usage"]
    elif behaviour.kind == "refusal":
        message.update(content=None, refusal="I cannot help with that.")
    elif behaviour.kind == "content_filter":
        answer["choices"] = []
    return 200, json.dumps(answer).encode()


def main() -> None:
    """Run the endpoint as a process: print its base URL, then answer until killed."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument(
        "--script", default="[]", help='behaviours as JSON: [{"kind": "error", "status": 429}]'
    )
    parser.add_argument("--otherwise", default="{}", help="behaviour of all other requests")
    parser.add_argument("--key", help="key that requests must carry")
    parser.add_argument("--log", type=Path, help="file that gets one JSON line per request")
    options = parser.parse_args()
    endpoint = LocalEndpoint(
        script=[Behaviour(**fields) for fields in json.loads(options.script)],
        otherwise=Behaviour(**json.loads(options.otherwise)),
        key=options.key,
        log_file=options.log,
    )
    sys.stdout.write(endpoint.base_url + "\n")
    sys.stdout.flush()
    endpoint.serve()


if __name__ == "__main__":
    main()
