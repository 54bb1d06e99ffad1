"""What the controller takes and returns: ranked items, packed text, a record of every decision."""

import reprlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from coretail.controller.auto import Tau
from coretail.controller.checks import whole_number
from coretail.errors import InputError

Encoding = Literal["compact", "verbose"]
Layer = Literal["core", "tail", "dropped"]
Unit = Literal["slots", "tokens"]

MAX_COUNT = 10**9

ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)
LAYERS: tuple[Layer, ...] = get_args(Layer)


@dataclass(frozen=True, slots=True)
class Item:
    """A memory item to pack. Everything in it is data, and can't break out of its place.

    Attributes
    ----------
    text
        The item itself; not blank.
    type
        What the tail summary counts it under; None for an item of no type.
    count
        How often the memory was made or confirmed, from 1 to 10^9: its weight in the tail summary.
    details
        Evidence, best first: one more is written per slot beyond the first.
    fields
        Names and values of provenance (score, degree, source step, ...), which only the verbose
        encoding shows.

    Raises
    ------
    InputError
        If the text is blank, or anything is not of its type; the item is named.
    """

    text: str
    type: str | None = None
    count: int = 1
    details: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not self.text.strip():
            raise InputError(f"item: text={self.text!r}; give each item a text that is not blank")
        if not (self.type is None or isinstance(self.type, str)):
            raise self._error("type", self.type, "give a text, or None for no type")
        if isinstance(self.details, str):
            raise self._error("details", self.details, "is one text; give a tuple of texts")
        if not _are_texts(self.details):
            raise self._error("details", self.details, "give a tuple of texts")
        if not (
            isinstance(self.fields, tuple | list)
            and all(_are_texts(field) and len(field) == 2 for field in self.fields)
        ):
            raise self._error("fields", self.fields, "give a tuple of (name, value), both texts")
        # Checked first without words: the item's are put together for a message only.
        if type(self.count) is not int or not 1 <= self.count <= MAX_COUNT:
            whole_number(f"item {reprlib.repr(self.text)}: count", self.count, 1, MAX_COUNT)

    def _error(self, name: str, value: Any, remedy: str) -> InputError:
        return InputError(f"item {reprlib.repr(self.text)}: {name}={reprlib.repr(value)}: {remedy}")


def _are_texts(value: Any) -> bool:
    return isinstance(value, tuple | list) and all(isinstance(text, str) for text in value)


class Entry(NamedTuple):
    """What became of one ranked item.

    Attributes
    ----------
    rank
        From 1.
    share
        b(r; τ).
    slots
        Whole slots out of the budget.
    layer
        ``core``: written itself; ``tail``: counted in the tail summary; ``dropped``: neither,
        since no summary was wanted or the budget could hold none.
    details
        Details written.
    tokens
        Tokens of its line, line break included, by the counter; 0 outside the core.
    cut
        Whether its text was cut.
    """

    rank: int
    share: float
    slots: int
    layer: Layer
    details: int
    tokens: int
    cut: bool


@dataclass(frozen=True, slots=True)
class Summary:
    """What the tail summary says.

    Attributes
    ----------
    count
        Items in the tail.
    dominant
        Types and the sum of their items' counts, largest first, ties to the better rank; at most
        3, each with a sum of at least 2.
    rare
        Ranks of the exceptions, best first, at most 2: items of types whose counts sum to 1, and
        items of no type with count 1.
    """

    count: int
    dominant: tuple[tuple[str, int], ...]
    rare: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Record:
    """What was decided and spent. The columns hold one value per ranked item, shape (n,).

    Attributes
    ----------
    tau, auto
        Concentration; with ``tau="auto"`` also where it comes from, else None.
    encoding
        ``compact`` or ``verbose``.
    budget, unit
        The budget, in ``slots`` or ``tokens``.
    slot_tokens
        Tokens per slot under a budget of tokens, else None.
    tokens
        Tokens of the whole text by the counter; 0 for an empty text.
    share, slots, layer, details, line_tokens, cut
        Columns, see :class:`Entry`; ``layer`` holds indices into :data:`LAYERS`.
    summary
        The tail summary that was written, else None.
    note
        Why the text is empty, else an empty string.
    """

    tau: float
    auto: Tau | None
    encoding: Encoding
    budget: int
    unit: Unit
    slot_tokens: int | None
    tokens: int
    share: npt.NDArray[np.float64]
    slots: npt.NDArray[np.int64]
    layer: npt.NDArray[np.int8]
    details: npt.NDArray[np.int64]
    line_tokens: npt.NDArray[np.int64]
    cut: npt.NDArray[np.bool_]
    summary: Summary | None
    note: str

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """The record item by item, in rank order."""
        columns = (self.share, self.slots, self.layer, self.details, self.line_tokens, self.cut)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return tuple(
            Entry(rank, share, slots, LAYERS[layer], details, tokens, cut)
            for rank, (share, slots, layer, details, tokens, cut) in enumerate(rows, start=1)
        )

    def ranks(self, layer: Layer) -> npt.NDArray[np.int64]:
        """Return the ranks in one layer, best first."""
        return np.flatnonzero(self.layer == LAYERS.index(layer)) + 1


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """Text for a prompt, and the record of how it was made."""

    text: str
    record: Record
