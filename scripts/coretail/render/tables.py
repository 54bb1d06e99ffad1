"""One description of a table, rendered as Markdown, as LaTeX and as HTML.

A :class:`TableSpec` holds the rows (those of a Parquet file, numbers as measured), the columns
that a reader sees (a header, the fields it shows and how they are written) and the notes.
:func:`to_markdown`, :func:`to_latex` and :func:`to_html` are pure functions of the description.

A value that is missing is written as an em dash (or left out, if it is one limit of an interval)
with a footnote that gives the row's reason; a missing value without a reason is refused.
"""

import html
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, Literal

Align = Literal["left", "center", "right"]
Row = Mapping[str, Any]
Format = Callable[..., str]

MISSING = "—"


@dataclass(frozen=True, slots=True)
class Column:
    """One column as a reader sees it.

    Attributes
    ----------
    header
        Plain text, escaped in each output.
    keys
        The fields that it shows.
    format
        Writes their values, in that order, as plain text (see :func:`decimal` and its siblings).
        It is called with ``None`` only for values after the first.
    align
        Side on which the cells line up.
    latex_header
        Header as LaTeX source, where the escaped ``header`` is not enough.
    group
        Header over neighbouring columns of the same group.
    reason
        Field that says why a value of the row is missing.
    missing
        Reason that stands for every missing value of the column, instead of the row's.
    """

    header: str
    keys: tuple[str, ...]
    format: Format
    align: Align = "right"
    latex_header: str = ""
    group: str = ""
    reason: str = "reason"
    missing: str = ""


@dataclass(frozen=True, slots=True)
class TableSpec:
    """One table.

    Attributes
    ----------
    name
        Its name in file names and in the LaTeX label ``tab:<name>``.
    title
        Its heading, for example ``Table 1: Finite-size trend under random-walk driving``.
    caption
        What the columns are and what the uncertainty is, as plain text.
    columns
        The columns shown, in order.
    rows
        One mapping per row; a column may show any of its keys.
    notes
        Sentences below the table.
    layout
        LaTeX float: ``column`` (table), ``page`` (table*, both columns of a page) or ``long``
        (longtable, breaks over pages).
    blocks
        Field whose changes of value are marked by a rule in LaTeX and HTML.

    Raises
    ------
    ValueError
        If a column shows nothing, a row lacks a field that is shown, or its value is NaN or
        infinite.
    """

    name: str
    title: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    layout: Literal["column", "page", "long"] = "column"
    blocks: str = ""

    def __post_init__(self) -> None:
        needed = {self.blocks} if self.blocks else set()
        for column in self.columns:
            if not column.keys:
                raise ValueError(f"table {self.name}: column {column.header!r} shows no field")
            needed.update(column.keys)
        for number, row in enumerate(self.rows):
            if missing := needed.difference(row):
                raise ValueError(
                    f"table {self.name}, row {number} lacks {sorted(missing)}; "
                    f"its fields are {sorted(row)}"
                )
            for key in sorted(needed):
                values = row[key] if isinstance(row[key], list | tuple) else [row[key]]
                if any(isinstance(value, float) and not math.isfinite(value) for value in values):
                    raise ValueError(
                        f"table {self.name}, row {number}, {key}: {row[key]}; an undefined value "
                        "is None, with a reason"
                    )


def to_markdown(spec: TableSpec) -> str:
    """Return the table as a GitHub pipe table with title, caption, notes and footnotes.

    Raises
    ------
    ValueError
        If a value is missing without a reason.
    """
    cells, footnotes = _cells(spec)
    headers = [
        _markdown_cell(f"{column.group}: {column.header}" if column.group else column.header)
        for column in spec.columns
    ]
    body = [
        [_markdown_cell(text) + (f"<sup>{mark}</sup>" if mark else "") for text, mark in row]
        for row in cells
    ]
    widths = [
        max(3, *(len(line[position]) for line in [headers, *body]))
        for position in range(len(spec.columns))
    ]
    aligns = [column.align for column in spec.columns]
    lines = [
        f"### {escape_markdown(spec.title)}",
        "",
        escape_markdown(spec.caption),
        "",
        _pipes(_pad(text, w, a) for text, w, a in zip(headers, widths, aligns, strict=True)),
        _pipes(_delimiter(w, a) for w, a in zip(widths, aligns, strict=True)),
        *(
            _pipes(_pad(text, w, a) for text, w, a in zip(row, widths, aligns, strict=True))
            for row in body
        ),
    ]
    for note in spec.notes:
        lines += ["", escape_markdown(note)]
    for mark, reason in footnotes:
        lines += ["", f"<sup>{mark}</sup> {escape_markdown(reason)}"]
    return "\n".join(lines) + "\n"


def to_latex(spec: TableSpec) -> str:
    r"""Return the table as LaTeX source for ``\input``; needs booktabs (and longtable if long).

    Raises
    ------
    ValueError
        If a value is missing without a reason.
    """
    cells, footnotes = _cells(spec)
    heading = [*_group_lines(spec), _ampersands(_latex_header(column) for column in spec.columns)]
    body: list[str] = []
    for number, row in enumerate(cells):
        if _opens_block(spec, number):
            body.append(r"\midrule")
        body.append(
            _ampersands(
                escape_latex(text) + (rf"\textsuperscript{{{mark}}}" if mark else "")
                for text, mark in row
            )
        )
    caption = [
        rf"\caption{{{escape_latex(_without_number(spec.title))}. {escape_latex(spec.caption)}}}",
        rf"\label{{tab:{spec.name}}}",
    ]
    notes = [
        *(escape_latex(note) for note in spec.notes),
        *(rf"\textsuperscript{{{mark}}}~{escape_latex(reason)}" for mark, reason in footnotes),
    ]
    letters = "".join({"left": "l", "center": "c", "right": "r"}[c.align] for c in spec.columns)
    needs = "array, booktabs and longtable" if spec.layout == "long" else "booktabs"
    if spec.layout == "long":
        letters = _long_columns(spec, cells, letters)
        lines = [
            rf"\begin{{longtable}}{{@{{}}{letters}@{{}}}}",
            caption[0],
            caption[1] + r"\\",
            r"\toprule",
            *heading,
            r"\midrule",
            r"\endfirsthead",
            r"\toprule",
            *heading,
            r"\midrule",
            r"\endhead",
            r"\bottomrule",
            r"\endlastfoot",
            *body,
            r"\end{longtable}",
            *_note_lines(notes),
        ]
    else:
        environment = "table*" if spec.layout == "page" else "table"
        lines = [
            rf"\begin{{{environment}}}",
            r"\centering",
            *caption,
            rf"\begin{{tabular}}{{@{{}}{letters}@{{}}}}",
            r"\toprule",
            *heading,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            *_note_lines(notes),
            rf"\end{{{environment}}}",
        ]
    return "\n".join([f"% Needs {needs}.", *lines]) + "\n"


def to_html(spec: TableSpec) -> str:
    """Return the table as an HTML fragment: heading, caption, table, notes and footnotes.

    Raises
    ------
    ValueError
        If a value is missing without a reason.
    """
    cells, footnotes = _cells(spec)
    classes = [f' class="{column.align}"' for column in spec.columns]
    groups = "".join(
        f'<th colspan="{last - first + 1}" class="center">{html.escape(group)}</th>'
        for group, first, last in _groups(spec)
    )
    headers = "".join(
        f"<th{kind}>{html.escape(column.header)}</th>"
        for kind, column in zip(classes, spec.columns, strict=True)
    )
    body = []
    for number, row in enumerate(cells):
        opening = '<tr class="block">' if _opens_block(spec, number) else "<tr>"
        body.append(
            opening
            + "".join(
                f"<td{kind}>{_html(shown)}{f'<sup>{mark}</sup>' if mark else ''}</td>"
                for kind, (shown, mark) in zip(classes, row, strict=True)
            )
            + "</tr>"
        )
    lines = [
        f'<section id="{html.escape(spec.name)}">',
        f"<h2>{html.escape(spec.title)}</h2>",
        f"<p>{_html(spec.caption)}</p>",
        "<table>",
        "<thead>",
        *([f"<tr>{groups}</tr>"] if groups else []),
        f"<tr>{headers}</tr>",
        "</thead>",
        "<tbody>",
        *body,
        "</tbody>",
        "</table>",
        *(f'<p class="note">{_html(note)}</p>' for note in spec.notes),
        *(f'<p class="note"><sup>{mark}</sup> {_html(reason)}</p>' for mark, reason in footnotes),
        "</section>",
    ]
    return "\n".join(lines) + "\n"


def html_page(title: str, fragments: Iterable[str]) -> str:
    """Return a whole HTML page, its look included, that needs nothing but itself.

    Parameters
    ----------
    title
        Plain text.
    fragments
        HTML, such as :func:`to_html` gives.
    """
    head = (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{_STYLESHEET}</style>\n</head>\n<body>\n"
    )
    return head + "".join(fragments) + "</body>\n</html>\n"


def text() -> Format:
    """Write a value as it is."""
    return str


def integer() -> Format:
    """Write an integer with thousands separators: 35,000."""
    return lambda value: _minus(f"{value:,d}")


def decimal(places: int) -> Format:
    """Write a number with fixed decimal places: 0.80."""
    return lambda value: _fixed(value, places)


def significant(digits: int) -> Format:
    """Write a number with significant digits: 0.0124, 1,230, 3.0 × 10⁻⁷."""
    return lambda value: _significant(value, digits)


def interval(places: int) -> Format:
    """Write an estimate and its limits: 0.80 [0.74, 0.87]."""
    return _interval(lambda value: _fixed(value, places))


def percent(places: int) -> Format:
    """Write a share as a percentage: 45.2%."""
    return lambda value: _fixed(100 * value, places) + "%"


def percent_interval(places: int) -> Format:
    """Write a share and its limits as percentages: 45.2% [40.1, 50.3]."""

    def write(value: float, low: float | None = None, high: float | None = None) -> str:
        limits = _limits(lambda limit: _fixed(100 * limit, places), low, high)
        return f"{_fixed(100 * value, places)}%{limits}"

    return write


def plus_minus(places: int) -> Format:
    """Write an estimate and its standard error: 2.51 ± 0.03."""

    def write(value: float, error: float | None = None) -> str:
        shown = _fixed(value, places)
        return shown if error is None else f"{shown} ± {_fixed(error, places)}"

    return write


def p_value(places: int = 3) -> Format:
    """Write a p value, with a floor instead of zero: 0.042, <0.001."""
    floor = 10.0**-places
    return lambda value: f"<{floor:.{places}f}" if value < floor else _fixed(value, places)


def points(places: int) -> Format:
    """Write a list of values, one per seed: 0.14 / 0.15 / —."""
    return lambda values: " / ".join(
        MISSING if value is None else _fixed(value, places) for value in values
    )


# Characters of a line of a LaTeX table, and of a cell that may wrap in a long one.
_LINE = 150
_WRAPPED = 24
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "\n": " ",
    "—": "---",
    "–": "--",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "≈": r"$\approx$",
    "≠": r"$\ne$",
    "→": r"$\to$",
    "∞": r"$\infty$",
    "√": r"$\surd$",
    "∈": r"$\in$",
    "⌈": r"$\lceil$",
    "⌉": r"$\rceil$",
    "⌊": r"$\lfloor$",
    "⌋": r"$\rfloor$",
    "·": r"$\cdot$",
    "…": r"\dots{}",
    "’": "'",
    "“": "``",
    "”": "''",
    "\u00a0": "~",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "γ": r"$\gamma$",
    "δ": r"$\delta$",
    "ε": r"$\varepsilon$",
    "ζ": r"$\zeta$",
    "η": r"$\eta$",
    "θ": r"$\theta$",
    "ι": r"$\iota$",
    "κ": r"$\kappa$",
    "λ": r"$\lambda$",
    "μ": r"$\mu$",
    "ν": r"$\nu$",
    "ξ": r"$\xi$",
    "π": r"$\pi$",
    "ρ": r"$\rho$",
    "σ": r"$\sigma$",
    "τ": r"$\tau$",
    "υ": r"$\upsilon$",
    "φ": r"$\varphi$",
    "χ": r"$\chi$",
    "ψ": r"$\psi$",
    "ω": r"$\omega$",
    "Γ": r"$\Gamma$",
    "Δ": r"$\Delta$",
    "Θ": r"$\Theta$",
    "Λ": r"$\Lambda$",
    "Ξ": r"$\Xi$",
    "Π": r"$\Pi$",
    "Σ": r"$\Sigma$",
    "Φ": r"$\Phi$",
    "Ψ": r"$\Psi$",
    "Ω": r"$\Omega$",
}
_STYLESHEET = """\
body { font: 15px/1.45 system-ui, sans-serif; color: #1b1b1b; background: white; margin: 1.5rem; }
h2 { font-size: 1.25rem; margin: 1.5rem 0 0.4rem; }
p { max-width: 70rem; margin: 0.4rem 0; }
p.note { font-size: 0.85rem; color: #444; }
table { border-collapse: collapse; margin: 0.8rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 0.7rem; vertical-align: top; }
thead { border-top: 2px solid #333; border-bottom: 1px solid #333; background: #f4f4f4; }
tbody { border-bottom: 2px solid #333; }
tbody tr:nth-child(even) { background: #fafafa; }
tr.block { border-top: 1px solid #999; }
.left { text-align: left; } .center { text-align: center; }
.right { text-align: right; white-space: nowrap; }
pre { background: #f4f4f4; padding: 0.7rem; white-space: pre-wrap; max-width: 70rem; }
"""
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉₋₊", "0123456789-+")
_TO_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_PIECES = re.compile("(.)\u0302|([⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+)|([₀₁₂₃₄₅₆₇₈₉₋₊]+)|(.)", re.DOTALL)


def escape_latex(plain: str) -> str:
    """Return plain text as LaTeX source that any engine with UTF-8 input typesets.

    Special characters are escaped; Greek letters, mathematical signs, superscript and subscript
    digits and characters under a combining circumflex become mathematics; other characters,
    accented letters among them, stay.
    """

    def piece(match: re.Match[str]) -> str:
        hatted, raised, lowered, single = match.groups()
        if hatted:
            return rf"$\hat{{{_SPECIAL.get(hatted, hatted).strip('$')}}}$"
        if raised:
            return f"$^{{{raised.translate(_RAISED)}}}$"
        if lowered:
            return f"$_{{{lowered.translate(_LOWERED)}}}$"
        return _SPECIAL.get(single, single)

    # Neighbouring pieces of mathematics join; an escaped dollar sign is none.
    return re.sub(r"(?<!\\)\$\$", "", _PIECES.sub(piece, plain))


def escape_markdown(plain: str) -> str:
    """Return plain text as Markdown that shows it as it is."""
    escaped = re.sub(r"([\\*`~$]|\](?=\())", r"\\\1", plain)
    escaped = re.sub(r"(?<![^\W_])_|_(?![^\W_])", r"\\_", escaped)
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", escaped).replace("\n", "<br>")


def _html(plain: str) -> str:
    return html.escape(plain).replace("\n", "<br>")


def _markdown_cell(plain: str) -> str:
    return escape_markdown(plain).replace("|", r"\|")


def _cells(spec: TableSpec) -> tuple[list[list[tuple[str, str]]], list[tuple[str, str]]]:
    """Return (text, footnote mark) per cell, and the footnotes in the order of their marks."""
    marks: dict[str, str] = {}
    cells: list[list[tuple[str, str]]] = []
    for number, row in enumerate(spec.rows):
        line = []
        for column in spec.columns:
            values = [row[key] for key in column.keys]
            shown = MISSING if _is_missing(values[0]) else column.format(*values)
            mark = ""
            if any(_is_missing(value) or _has_hole(value) for value in values):
                reason = column.missing or row.get(column.reason)
                if not reason:
                    raise ValueError(
                        f"table {spec.name}, row {number}, column {column.header!r}: a missing "
                        f"value without a reason in {column.reason!r}"
                    )
                mark = marks.setdefault(reason, _letters(len(marks)))
            line.append((shown, mark))
        cells.append(line)
    return cells, [(mark, reason) for reason, mark in marks.items()]


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, list | tuple) and not value)


def _has_hole(value: Any) -> bool:
    return isinstance(value, list | tuple) and any(item is None for item in value)


def _letters(position: int) -> str:
    """Return a, b, ..., z, aa, ab, ...: the position-th footnote mark."""
    head, last = divmod(position, 26)
    return (_letters(head - 1) if head else "") + chr(ord("a") + last)


def _fixed(value: float, places: int) -> str:
    shown = f"{value:,.{places}f}"
    # A number that rounds to zero carries no sign.
    if shown.startswith("-") and not shown.strip("-0.,"):
        shown = shown[1:]
    return _minus(shown)


def _significant(value: float, digits: int) -> str:
    if value == 0:
        return "0"
    # repr gives the shortest decimal of the number, so that halves round as they are read.
    number = Decimal(repr(float(value)))
    rounded = number.quantize(Decimal(1).scaleb(number.adjusted() - digits + 1), ROUND_HALF_EVEN)
    if rounded.adjusted() > number.adjusted():
        rounded = rounded.quantize(Decimal(1).scaleb(rounded.adjusted() - digits + 1))
    exponent = rounded.adjusted()
    if -5 < exponent < 7:
        return _minus(f"{rounded:,f}")
    mantissa = rounded.scaleb(-exponent)
    return _minus(f"{mantissa:f}") + f" × 10{str(exponent).translate(_TO_RAISED)}"


def _interval(write: Callable[[float], str]) -> Format:
    return lambda value, low=None, high=None: write(value) + _limits(write, low, high)


def _limits(write: Callable[[float], str], low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f" [{write(low)}, {write(high)}]"


def _minus(shown: str) -> str:
    return shown.replace("-", "−")


def _pipes(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _pad(shown: str, width: int, align: Align) -> str:
    return {"left": shown.ljust, "center": shown.center, "right": shown.rjust}[align](width)


def _delimiter(width: int, align: Align) -> str:
    return {
        "left": ":" + "-" * (width - 1),
        "center": ":" + "-" * (width - 2) + ":",
        "right": "-" * (width - 1) + ":",
    }[align]


def _ampersands(cells: Iterable[str]) -> str:
    line = " & ".join(cells)
    # At the start of a row LaTeX reads these as an argument of the line break before.
    return ("{}" if line.startswith(("[", "*")) else "") + line + r" \\"


def _long_columns(spec: TableSpec, cells: Sequence[Sequence[tuple[str, str]]], letters: str) -> str:
    """Return the columns of a longtable: where lines would not fit, long texts wrap.

    A longtable cannot be scaled to the page as a tabular can.
    """
    longest = [
        max([len(column.header), *(len(row[position][0]) for row in cells)])
        for position, column in enumerate(spec.columns)
    ]
    wrap = [
        letter == "l" and length > _WRAPPED for letter, length in zip(letters, longest, strict=True)
    ]
    if sum(longest) <= _LINE or not any(wrap):
        return letters
    # A very long text may take more lines, not more of the page.
    wish = [
        min(length, 2 * _WRAPPED) if wraps else 0
        for wraps, length in zip(wrap, longest, strict=True)
    ]
    fixed = sum(length + 2 for wraps, length in zip(wrap, longest, strict=True) if not wraps)
    free = max(0.4, 0.94 - fixed / _LINE)
    return "".join(
        rf">{{\raggedright\arraybackslash}}p{{{free * share / sum(wish):.3f}\linewidth}}"
        if share
        else letter
        for letter, share in zip(letters, wish, strict=True)
    )


def _latex_header(column: Column) -> str:
    return column.latex_header or escape_latex(column.header)


def _opens_block(spec: TableSpec, number: int) -> bool:
    """Return whether a row starts another block than the first."""
    if not number or not spec.blocks:
        return False
    return bool(spec.rows[number][spec.blocks] != spec.rows[number - 1][spec.blocks])


def _groups(spec: TableSpec) -> list[tuple[str, int, int]]:
    """Return (group, first column, last column), from 1, of neighbours; none without groups."""
    if not any(column.group for column in spec.columns):
        return []
    runs: list[tuple[str, int, int]] = []
    for position, column in enumerate(spec.columns, start=1):
        if runs and runs[-1][0] == column.group:
            runs[-1] = (column.group, runs[-1][1], position)
        else:
            runs.append((column.group, position, position))
    return runs


def _group_lines(spec: TableSpec) -> list[str]:
    runs = _groups(spec)
    if not runs:
        return []
    heads = [
        rf"\multicolumn{{{last - first + 1}}}{{c}}{{{escape_latex(group)}}}"
        for group, first, last in runs
    ]
    rules = [rf"\cmidrule(lr){{{first}-{last}}}" for group, first, last in runs if group]
    return [_ampersands(heads), " ".join(rules)]


def _without_number(title: str) -> str:
    """Return a title without its leading "Table 3: ", which LaTeX adds itself."""
    return re.sub(r"^Table\s+\w+[:.]\s*", "", title)


def _note_lines(notes: Sequence[str]) -> list[str]:
    if not notes:
        return []
    return [
        r"\par\smallskip",
        r"\begin{minipage}{\linewidth}\footnotesize",
        "\\par\n".join(notes),
        r"\end{minipage}",
    ]
