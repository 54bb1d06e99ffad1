"""Packing ranked items into prompt text under a budget of slots or tokens."""

import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from coretail.controller.allocation import MAX_BUDGET, Floats, Slots, allocate, integer_slots
from coretail.controller.auto import Audited, Tau, auto_tau
from coretail.controller.checks import exponent, whole_number
from coretail.controller.counting import Counter, count_tokens
from coretail.controller.encoding import (
    CUT_MARK,
    MAX_DOMINANT,
    MAX_RARE,
    in_list,
    item_line,
    shortened,
    shorter_summaries,
    summary_line,
)
from coretail.controller.record import (
    ENCODINGS,
    LAYERS,
    Encoding,
    Item,
    Packed,
    Record,
    Summary,
    Unit,
)
from coretail.errors import InputError

SUMMARY_TEXT_TOKENS = 16
"""Most tokens of a type or a text in the tail summary, which so has a small fixed size."""

# Beside core items a tail summary that has a shorter form takes at most this part of the tokens.
_SUMMARY_PART = 4


def pack(
    items: Sequence[Item],
    *,
    tau: float | Literal["auto"] = 1.0,
    slots: int | None = None,
    tokens: int | None = None,
    slot_tokens: int = 32,
    counter: Counter = count_tokens,
    encoding: Encoding = "compact",
    summary: bool = True,
    heading: str = "",
    audit: Audited | None = None,
) -> Packed:
    """Pack ranked items into prompt text: a core, item by item, and a tail, summarised.

    The budget's slots are shared out over all items by rank (:func:`allocate`,
    :func:`integer_slots`). An item with one slot is written as its text, one with s slots also
    with its first s - 1 details, as far as it has them; slots that an item has no use for are not
    handed on. Items without a slot are counted in the tail summary: how many they are, their
    dominant types, rare exceptions.

    Under a budget of tokens there are as many slots as fit beside heading and summary (the summary
    in the longest form that takes no more than a quarter of the budget, or else in the shortest).
    An item may spend ``slot_tokens`` tokens per slot, and gets the details that fit. A text too
    long for that is cut at the last word that fits, or if none does within the first word; an item
    of which no character fits goes to the tail.
    The whole text never takes more than the budget by the counter: if the lines together take more
    than each by itself, the lowest-ranked ones go to the tail until the text fits. The tail keeps
    its summary wherever the budget can hold one, if need be without exceptions and types.

    Parameters
    ----------
    items
        Best first.
    tau
        Concentration, from 0 (equal shares) up, or ``"auto"`` to take it from ``audit``.
    slots, tokens
        The budget: exactly one of the two. Under a budget of slots the tail summary is not part of
        it. With 0 slots there is the summary alone; with too few tokens for anything, or without
        items, the text is empty and the record's ``note`` says why.
    slot_tokens
        Tokens per slot, under a budget of tokens.
    counter
        Says how many tokens a text takes.
    encoding
        ``compact`` (ranked lines) or ``verbose`` (a tuple of all its fields per item). Under a
        budget of slots both write the same items with the same slots and details.
    summary
        Whether to write a tail summary.
    heading
        First line or lines of any text that is not empty, as they are: not data, but the caller's
        own words. Part of a budget of tokens.
    audit
        With ``tau="auto"``: the result of ``coretail.audit.audit_counts``, or the like.

    Returns
    -------
    Packed
        The text, and the record of how it was made.

    Raises
    ------
    InputError
        If an argument is out of its range, or the counter returns anything but a whole number from
        0 up.
    """
    ranked = tuple(items)
    _check_items(ranked)
    if encoding not in ENCODINGS:
        raise InputError(f"encoding={encoding!r}: give one of {', '.join(ENCODINGS)}")
    budget, unit = _budget(slots, tokens)
    size = whole_number("slot_tokens", slot_tokens, 1, MAX_BUDGET)
    value, chosen = _concentration(tau, audit)
    share = allocate(len(ranked), value)
    types = _Types.of(ranked) if summary and ranked else None
    page = _Page(ranked, encoding, heading, counter, types)
    if unit == "slots":
        granted = integer_slots(share, budget)
        draft = page.draft([page.whole_line(rank, number) for rank, number in _ranked(granted)])
    else:
        granted, draft = _fitted(page, share, budget, size)
    columns = _columns(len(ranked), draft)
    text = draft.text
    return Packed(
        text,
        Record(
            tau=value,
            auto=chosen,
            encoding=encoding,
            budget=budget,
            unit=unit,
            slot_tokens=size if unit == "tokens" else None,
            tokens=draft.tokens,
            share=share,
            slots=granted,
            summary=draft.summary,
            note="" if text else _why_empty(len(ranked), budget, unit, summary),
            **columns,
        ),
    )


class _Line(NamedTuple):
    """The line of a core item, and what its entry says of it."""

    rank: int
    text: str
    details: int
    tokens: int
    cut: bool


class _Draft(NamedTuple):
    """A text and what it is made of."""

    text: str
    tokens: int
    lines: Sequence[_Line]
    summary: Summary | None


@dataclass(frozen=True, slots=True)
class _Types:
    """Types and counts of all items, as arrays that any tail is summed from at once."""

    names: tuple[str, ...]
    code: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]

    @classmethod
    def of(cls, items: Sequence[Item]) -> "_Types":
        codes: dict[str | None, int] = {None: 0}
        code = [codes.setdefault(item.type, len(codes)) for item in items]
        names = tuple(name for name in codes if name is not None)
        return cls(names, np.array(code), np.array([item.count for item in items]))

    def tail(self, lines: Sequence[_Line]) -> Summary | None:
        """Return the summary of the items that have no line; None if all have."""
        left = np.ones(self.code.size, dtype=np.bool_)
        left[[line.rank - 1 for line in lines]] = False
        positions = np.flatnonzero(left)
        if not positions.size:
            return None
        code, count = self.code[positions], self.count[positions]
        totals = np.zeros(len(self.names) + 1, dtype=np.int64)
        np.add.at(totals, code, count)
        # Of several writes to one place the last stays: backwards, that of the best rank.
        best = np.zeros_like(totals)
        best[code[::-1]] = positions[::-1]
        common = np.flatnonzero(totals[1:] > 1) + 1
        common = common[np.lexsort((best[common], -totals[common]))][:MAX_DOMINANT]
        rare = positions[np.where(code == 0, count, totals[code]) == 1][:MAX_RARE]
        return Summary(
            count=positions.size,
            dominant=tuple((self.names[c - 1], int(totals[c])) for c in common),
            rare=tuple((rare + 1).tolist()),
        )


@dataclass(frozen=True, slots=True)
class _Page:
    """Writes lines and texts of the given items, and counts their tokens."""

    items: tuple[Item, ...]
    encoding: Encoding
    heading: str
    counter: Counter
    types: _Types | None

    def tokens(self, text: str) -> int:
        # An empty text is not sent, whatever a counter says of it.
        return whole_number("counter's answer", self.counter(text), 0, sys.maxsize) if text else 0

    def whole_line(self, rank: int, slots: int) -> _Line:
        """Return the line of an item with as many details as its slots allow."""
        item = self.items[rank - 1]
        return self._line(rank, item.text, min(slots - 1, len(item.details)))

    def fitted_line(self, rank: int, slots: int, slot_tokens: int) -> _Line | None:
        """Return the line of an item with what fits into its slots; None if nothing does."""
        item = self.items[rank - 1]
        allowance = slots * slot_tokens

        def cost(details: int) -> int:
            return self._line(rank, item.text, details).tokens

        text = shortened(
            item.text, allowance, lambda text: self._line(rank, text, 0).tokens <= allowance
        )
        if text is None:
            return None
        if text != item.text:
            return self._line(rank, text, 0)
        possible = range(1, min(slots - 1, len(item.details)) + 1)
        return self._line(rank, text, bisect_right(possible, allowance, key=cost))

    def _line(self, rank: int, text: str, details: int) -> _Line:
        item = self.items[rank - 1]
        line = item_line(self.encoding, rank, item, text, details)
        return _Line(rank, line, details, self.tokens(f"{line}\n"), text != item.text)

    def draft(self, lines: Sequence[_Line]) -> _Draft:
        """Return the text of some lines, with the whole tail summary."""
        return self._draft(lines, self._tail(lines))

    def richest(self, lines: Sequence[_Line], budget: int) -> _Draft | None:
        """Return the text of some lines with the longest tail summary that fits, or None."""
        drafts = (self._draft(lines, summary) for summary in self._summaries(lines))
        return next((draft for draft in drafts if draft.tokens <= budget), None)

    def least_tokens(self, lines: Sequence[_Line]) -> int:
        """Return the tokens of some lines with the shortest tail summary."""
        return self._draft(lines, self._summaries(lines)[-1]).tokens

    def _summaries(self, lines: Sequence[_Line]) -> Sequence[Summary | None]:
        tail = self._tail(lines)
        return [None] if tail is None else shorter_summaries(tail)

    def _tail(self, lines: Sequence[_Line]) -> Summary | None:
        return None if self.types is None else self.types.tail(lines)

    def _draft(self, lines: Sequence[_Line], summary: Summary | None) -> _Draft:
        written = [line.text for line in lines]
        if summary is not None:
            written.append(summary_line(self.encoding, summary, self.items, self._brief))
        if written and self.heading:
            written.insert(0, self.heading)
        text = "\n".join(written)
        return _Draft(text, self.tokens(text), lines, summary)

    def _brief(self, text: str) -> str:
        def fits(text: str) -> bool:
            return self.tokens(in_list(text)) <= SUMMARY_TEXT_TOKENS

        brief = shortened(text, SUMMARY_TEXT_TOKENS, fits)
        return CUT_MARK if brief is None else brief


def _fitted(page: _Page, share: Floats, budget: int, size: int) -> tuple[Slots, _Draft]:
    """Return slots and text under a budget of tokens."""
    heading = page.tokens(f"{page.heading}\n") if page.heading else 0
    granted = integer_slots(share, max(0, budget - heading) // size)
    least = page.least_tokens([])
    if least > budget:
        page = replace(page, types=None)
    elif page.types is not None and not granted.all():
        reserved = page.richest([], max(least, budget // _SUMMARY_PART))
        needed = least if reserved is None else reserved.tokens
        granted = integer_slots(share, max(0, budget - needed) // size)
    candidates = (page.fitted_line(rank, slots, size) for rank, slots in _ranked(granted))
    lines = [line for line in candidates if line is not None]
    draft = page.richest(lines, budget)
    if draft is None:
        # Lines that fit one by one take more together, or an unforeseen tail needs its summary.
        shorter = range(len(lines))
        kept = bisect_right(shorter, budget, key=lambda n: page.least_tokens(lines[:n])) - 1
        draft = page.richest(lines[: max(0, kept)], budget)
    if draft is None:
        raise InputError(
            "counter: it counts the same text differently from call to call; give a counter whose "
            "answer depends on the text alone"
        )
    return granted, draft


def _check_items(items: Sequence[Item]) -> None:
    # A set of the types is quick to make: only what is not plainly right is looked at one by one.
    if set(map(type, items)) <= {Item}:
        return
    for position, item in enumerate(items):
        if not isinstance(item, Item):
            raise InputError(
                f"items: {item!r} at position {position} is not an Item; give Item(text)"
            )


def _ranked(granted: Slots) -> Iterator[tuple[int, int]]:
    """Yield the rank and the slots of every item that has slots."""
    positions = np.flatnonzero(granted)
    return zip((positions + 1).tolist(), granted[positions].tolist(), strict=True)


def _columns(n: int, draft: _Draft) -> dict[str, Any]:
    """Return the columns of the record that depend on what was written."""
    layer = np.full(n, LAYERS.index("dropped" if draft.summary is None else "tail"), np.int8)
    details, line_tokens, cut = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.bool_)
    for line in draft.lines:
        position = line.rank - 1
        layer[position] = LAYERS.index("core")
        details[position] = line.details
        line_tokens[position] = line.tokens
        cut[position] = line.cut
    return {"layer": layer, "details": details, "line_tokens": line_tokens, "cut": cut}


def _budget(slots: int | None, tokens: int | None) -> tuple[int, Unit]:
    if slots is not None and tokens is None:
        return whole_number("slots", slots, 0, MAX_BUDGET), "slots"
    if tokens is not None and slots is None:
        return whole_number("tokens", tokens, 0, MAX_BUDGET), "tokens"
    raise InputError(
        f"budget: slots={slots!r} and tokens={tokens!r}; give exactly one of slots and tokens"
    )


def _concentration(tau: float | Literal["auto"], audit: Audited | None) -> tuple[float, Tau | None]:
    if tau != "auto":
        if audit is not None:
            raise InputError(f"audit: given with tau={tau!r}; give it with tau='auto' only")
        return exponent(tau), None
    if audit is None:
        raise InputError("audit: missing with tau='auto'; give the result of an audit")
    chosen = auto_tau(audit)
    return chosen.value, chosen


def _why_empty(n: int, budget: int, unit: Unit, summary: bool) -> str:
    if n == 0:
        return "there are no items"
    nothing = "neither an item nor a tail summary" if summary else "no item"
    return f"a budget of {budget} {unit} holds {nothing}"
