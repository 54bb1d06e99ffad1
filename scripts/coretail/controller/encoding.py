"""How items and the tail summary are written (the paper's Appendix C).

Memory is data. A text stands as it is if it can't be mistaken for anything else at its place; any
other is written as a JSON string, in which line breaks, control and formatting characters, ``<``
and ``[`` are escaped. So no text can end its field or its line, begin another, or forge a marker of
a model's chat template, and none is changed beyond recognition: ``json.loads`` gives it back.
"""

import json
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

import regex

from coretail.controller.record import Encoding, Item, Summary

CUT_MARK = "…"
MAX_DOMINANT = 3
MAX_RARE = 2

# What a text must not hold to stand as it is, for fields that end at a semicolon, and for those
# that also end at a comma or a bracket.
_LINE_MARKS = re.compile(r"[;<\[]")
_LIST_MARKS = re.compile(r"[;<\[,()]")
_OPENING = re.compile(r"[<\[]")
# Control, formatting and surrogate characters, line and paragraph separators.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# The joiners belong to words of some scripts, and to emoji.
_JOINERS = "\u200c\u200d"
# A run without white space; in Chinese and Japanese, which put none between words, a character
# with its voicing mark or variation selector.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_MARKS = "\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef"
_WORD = re.compile(rf"\s*(?:[{_UNSPACED}][{_MARKS}]*|[^\s{_UNSPACED}]+)(?:\s+\Z)?")
# A character as a reader sees it: an extended grapheme cluster (Unicode, annex 29).
_CHARACTER = regex.compile(r"\X")


def in_line(text: str) -> str:
    """Return a text as it stands between semicolons."""
    return _written(text, _LINE_MARKS)


def in_list(text: str) -> str:
    """Return a text as it stands between commas or brackets."""
    return _written(text, _LIST_MARKS)


def item_line(encoding: Encoding, rank: int, item: Item, text: str, details: int) -> str:
    """Return the line of a core item, with its first ``details`` details.

    ``text`` is what is written of the item's text: all, or as much as fits.
    """
    shown = item.details[:details]
    if encoding == "compact":
        return f"{rank}. " + "; ".join(map(in_line, (text, *shown)))
    fields = (f"{in_list(name)} {in_list(value)}" for name, value in item.fields)
    evidence = "".join(f"; {in_list(detail)}" for detail in shown)
    return f"({', '.join((in_list(text), *fields))}{evidence})"


def summary_line(
    encoding: Encoding, summary: Summary, items: Sequence[Item], shorten: Callable[[str], str]
) -> str:
    """Return the line of the tail summary.

    ``shorten`` cuts a type or a text to what the summary has room for.
    """
    dominant = [(in_list(shorten(name)), total) for name, total in summary.dominant]
    rare = ", ".join(in_list(shorten(items[rank - 1].text)) for rank in summary.rare)
    if encoding == "compact":
        parts = [f"count={summary.count}"]
        if dominant:
            types = ", ".join(f"{name} ({total})" for name, total in dominant)
            parts.append(f"dominant: {types}")
        if rare:
            parts.append(f"rare: {rare}")
    else:
        noun = "memory" if summary.count == 1 else "memories"
        parts = [f"{summary.count} further {noun} not listed"]
        if dominant:
            types = ", ".join(f"{name} (total count {total})" for name, total in dominant)
            parts.append(f"dominant types: {types}")
        if rare:
            parts.append(f"rare exceptions: {rare}")
    return f"Tail summary: {'; '.join(parts)}"


def shorter_summaries(summary: Summary) -> list[Summary]:
    """Return a summary and its shorter forms: without exceptions, then without types."""
    rare = [replace(summary, rare=summary.rare[:n]) for n in range(len(summary.rare), 0, -1)]
    types = [
        replace(summary, rare=(), dominant=summary.dominant[:n])
        for n in range(len(summary.dominant), -1, -1)
    ]
    return rare + types


def shortened(text: str, words: int, fits: Callable[[str], bool]) -> str | None:
    """Return a text if it fits, else up to the last word that fits, marked; None if none does.

    If the first word doesn't fit it is cut between two characters, never between a character and
    what combines with it. In scripts without spaces a word may be a whole text.

    Parameters
    ----------
    text
        The text.
    words
        How many words to try first: about as many as may fit. What lies far beyond what fits is
        never looked at.
    fits
        Whether a text fits. If it fits, so should every shorter one.
    """
    ends, whole = _reached(text, (match.end() for match in _WORD.finditer(text)), words, fits)
    if whole:
        return text
    cut = _cut(text, ends[:-1], f" {CUT_MARK}", fits)
    if cut is None:
        ends, _ = _reached(text, _character_ends(text, ends[0]), words, fits)
        cut = _cut(text, ends, CUT_MARK, fits)
    return cut


def _reached(
    text: str, found: Iterator[int], number: int, fits: Callable[[str], bool]
) -> tuple[list[int], bool]:
    """Return where a text may be cut, to beyond what fits, and whether it fits to the last."""
    ends: list[int] = []
    while block := list(islice(found, max(1, number, len(ends)))):
        ends += block
        if not fits(text[: ends[-1]]):
            return ends, False
    return ends, True


def _cut(text: str, ends: Sequence[int], mark: str, fits: Callable[[str], bool]) -> str | None:
    """Return a text up to the last of some ends that fits, marked; None if none does."""

    def marked(number: int) -> str:
        return f"{text[: ends[number - 1]]}{mark}"

    kept = bisect_left(range(1, len(ends) + 1), True, key=lambda number: not fits(marked(number)))
    return marked(kept) if kept else None


def _character_ends(text: str, stop: int) -> Iterator[int]:
    """Yield where the characters up to ``stop`` end that a reader sees, but for the text's last.

    The white space that the text begins with is part of the first.
    """
    for match in _CHARACTER.finditer(text, len(text) - len(text.lstrip())):
        if match.end() > stop or match.end() == len(text):
            return
        yield match.end()


def _written(text: str, marks: re.Pattern[str]) -> str:
    plain = (
        text
        and text[0] != '"'
        and not (text[0].isspace() or text[-1].isspace())
        and not marks.search(text)
        and (text.isprintable() or not any(map(_is_hidden, text)))
    )
    return text if plain else _quoted(text)


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in _HIDDEN_CATEGORIES and character not in _JOINERS


def _quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    if not quoted.isprintable():
        quoted = "".join(json.dumps(c)[1:-1] if _is_hidden(c) else c for c in quoted)
    return _OPENING.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)
