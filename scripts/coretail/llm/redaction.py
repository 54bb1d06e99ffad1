"""Keeping keys of endpoints out of logs and messages."""

import logging
import os
import traceback
from collections.abc import Iterable

_MASK = "[redacted]"


class Redactor:
    """Replaces secrets in texts.

    Parameters
    ----------
    secrets
        The texts to be replaced; empty ones are left out.
    """

    __slots__ = ("_secrets",)

    def __init__(self, secrets: Iterable[str]) -> None:
        # The longest first, so that no rest of one that contains another stays behind.
        self._secrets = sorted({secret for secret in secrets if secret}, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """Return ``text`` with every secret replaced."""
        for secret in self._secrets:
            text = text.replace(secret, _MASK)
        return text

    def __repr__(self) -> str:
        return f"Redactor({len(self._secrets)} secrets)"


class RedactingFilter(logging.Filter):
    """A logging filter that replaces keys in messages and tracebacks.

    Attach it to handlers, since a logger's own filter is not asked about its children's records.

    Parameters
    ----------
    variables
        Names of the environment variables that hold keys; their values are read now.
    """

    def __init__(self, variables: Iterable[str]) -> None:
        super().__init__()
        self._redact = Redactor(os.environ.get(name, "").strip() for name in variables)

    def filter(self, record: logging.LogRecord) -> bool:
        """Redact ``record`` in place and let it pass."""
        record.msg = self._redact(record.getMessage())
        record.args = None
        if record.exc_info and not record.exc_text:
            # Handlers print this text instead of formatting the exception themselves.
            record.exc_text = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
        if record.exc_text:
            record.exc_text = self._redact(record.exc_text)
        return True
