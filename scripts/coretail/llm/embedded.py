"""A llama.cpp server inside this process.

It lives in threads of the process that needs it, so that there is nothing to clean up: whatever
ends the process, a SIGKILL too, ends the server. It listens on 127.0.0.1 alone, on a port that
the system chooses, and answers only who knows a key drawn at its start.
"""

import secrets
from pathlib import Path
from types import TracebackType
from typing import Any

from coretail.errors import InputError

# The whole distribution is sampled from unless the request says otherwise; llama.cpp's own
# defaults would cut its tail. Part of the key of a recording.
SAMPLING = {"top_k": 0, "top_p": 1.0, "min_p": 0.0}

# Prompts of several templates alternate in one slot; the server keeps their states in memory up
# to this size, so that each finds its own prefix again.
_CACHE_MIB = 256


class EmbeddedServer:
    """A running server for one model; ready when the constructor returns.

    Parameters
    ----------
    weights
        Path of the GGUF file.
    context_tokens
        Size of the context window in tokens.
    threads
        Threads that compute.

    Attributes
    ----------
    base_url
        Address of its OpenAI-compatible endpoint.
    key
        The key that requests must carry.

    Raises
    ------
    InputError
        The file is no model that the installed llama.cpp can load, or xllamacpp is missing.
    """

    def __init__(self, weights: Path, context_tokens: int, threads: int = 1) -> None:
        try:
            import xllamacpp
        except ImportError as error:
            raise InputError(
                f"backend: the embedded model needs the package xllamacpp ({error}). Install it "
                "(pip install xllamacpp), or use `backend: recorded` or `backend: api`."
            ) from None
        self.key = secrets.token_hex(16)
        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(weights)
        parameters.hostnames = ["127.0.0.1"]
        parameters.port = 0
        parameters.api_keys = [self.key]
        parameters.n_ctx = context_tokens
        parameters.n_parallel = 1
        parameters.cpuparams.n_threads = threads
        parameters.cpuparams_batch.n_threads = threads
        parameters.n_threads_http = 2
        parameters.n_gpu_layers = 0
        for name, value in SAMPLING.items():
            setattr(parameters.sampling, name, value)
        # Fitting would make the context depend on the memory that happens to be free.
        parameters.fit_params = False
        # Repacked weights write replies faster but read prompts more slowly, and prompts are what
        # takes the time here; mapped as they are, all servers of a machine share one copy.
        parameters.no_extra_bufts = True
        parameters.cache_prompt = True
        parameters.cache_ram_mib = _CACHE_MIB
        parameters.warmup = True
        parameters.ui = False
        parameters.endpoint_slots = False
        # Errors alone; the reason why a file cannot be loaded is among them.
        parameters.verbosity = 1
        self._server: Any = None
        try:
            self._server = xllamacpp.Server(parameters)
        except RuntimeError as error:
            raise InputError(
                f"weights: {weights}: llama.cpp cannot load this file ({error}) Give a complete "
                "GGUF file of a model that it supports, and a `context_tokens:` for which there "
                "is memory."
            ) from None
        self.base_url = f"{self._server.listening_address}/v1"

    def close(self) -> None:
        """Stop the server and free its memory."""
        self._server = None

    def __enter__(self) -> "EmbeddedServer":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"EmbeddedServer({self.base_url})"
