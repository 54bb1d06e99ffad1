"""The core-tail memory controller: ranked items and a budget in, prompt text and a record out.

Usable by itself: it needs numpy and nothing else of coretail. :func:`pack` is the way in;
:func:`allocate` and :func:`integer_slots` are the allocation of Definition A.1 alone, and
:func:`verify_propositions` checks what the paper proves of it.
"""

from coretail.controller.allocation import (
    allocate,
    core_mass,
    integer_slots,
    log_allocation,
    log_weights,
)
from coretail.controller.auto import Audited, Tau, auto_tau, tau_from_audit
from coretail.controller.counting import Counter, count_tokens
from coretail.controller.packing import pack
from coretail.controller.propositions import Verification, verify_propositions
from coretail.controller.record import (
    ENCODINGS,
    LAYERS,
    Encoding,
    Entry,
    Item,
    Layer,
    Packed,
    Record,
    Summary,
)

__all__ = [
    "ENCODINGS",
    "LAYERS",
    "Audited",
    "Counter",
    "Encoding",
    "Entry",
    "Item",
    "Layer",
    "Packed",
    "Record",
    "Summary",
    "Tau",
    "Verification",
    "allocate",
    "auto_tau",
    "core_mass",
    "count_tokens",
    "integer_slots",
    "log_allocation",
    "log_weights",
    "pack",
    "tau_from_audit",
    "verify_propositions",
]
