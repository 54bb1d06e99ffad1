"""Access to language models: one client for recordings, an embedded model and endpoints.

Importing this package imports nothing heavy; the ``openai`` package, Arrow and llama.cpp are
imported at their first use.
"""

from coretail.llm.budget import Budget, BudgetSpent, Counters, Ledger
from coretail.llm.client import Backend, CallFailed, Choice, Client, RecordingMiss, Retry
from coretail.llm.endpoint import EndpointError
from coretail.llm.models import ApiModel, EmbeddedModel, Model, Prices, model_from
from coretail.llm.recordings import compact
from coretail.llm.redaction import RedactingFilter
from coretail.llm.replies import enum_schema, parse_choice
from coretail.llm.request import Completion, Message, Request

__all__ = [
    "ApiModel",
    "Backend",
    "Budget",
    "BudgetSpent",
    "CallFailed",
    "Choice",
    "Client",
    "Completion",
    "Counters",
    "EmbeddedModel",
    "EndpointError",
    "Ledger",
    "Message",
    "Model",
    "Prices",
    "RecordingMiss",
    "RedactingFilter",
    "Request",
    "Retry",
    "compact",
    "enum_schema",
    "model_from",
    "parse_choice",
]
