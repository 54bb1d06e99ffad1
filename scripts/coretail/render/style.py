"""The look of all figures, and writing them with the same bytes on every run.

Figures are built with matplotlib's object-oriented interface and saved without ``pyplot``. Every
graph family, memory policy, driver and tail law has one colour and one marker, in every figure.
The colours stay apart under simulated protanopia, deuteranopia and tritanopia (smallest CIE76
distance within a set: 17), and no distinction rests on colour alone.
"""

import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullFormatter, NullLocator
from matplotlib.transforms import Bbox

from coretail.errors import InputError

COLUMN_WIDTH = 3.3
"""Width of a figure that fills one column of a page, in inches."""
PAGE_WIDTH = 6.9
"""Width of a figure that fills the page, in inches."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Mark:
    """How one thing looks in every figure.

    Attributes
    ----------
    label
        Its name in legends.
    color, marker, line
        Hex colour, matplotlib marker and line style.
    """

    label: str
    color: str
    marker: str
    line: str = "-"


FAMILIES: Mapping[str, Mark] = MappingProxyType(
    {
        "uniform": Mark("uniform", "#0072B2", "o"),
        "exponential": Mark("exponential", "#E69F00", "s"),
        "scale-free": Mark("scale-free", "#D55E00", "^"),
        "modular": Mark("modular", "#009E73", "D"),
        "mixed": Mark("mixed", "#CC79A7", "v"),
        "baseline-symmetric": Mark("baseline-symmetric", "#555555", "P"),
    }
)
"""Graph families, in the paper's order."""

DRIVERS: Mapping[str, Mark] = MappingProxyType(
    {
        "random_walk": Mark("random walk", "#777777", "o", "--"),
        "semantic": Mark("semantic policy", "#D55E00", "^"),
    }
)
"""What chooses the agent's actions."""

POLICIES: Mapping[str, Mark] = MappingProxyType(
    {
        "full_history": Mark("full history", "#000000", "s"),
        "flat": Mark("flat retrieval", "#CCBB44", "v"),
        "graph": Mark("graph memory", "#0072B2", "o"),
        "ctwm": Mark("CTWM", "#D55E00", "^"),
        "window": Mark("sliding window", "#66CCEE", "D"),
        "frequency": Mark("frequency cache", "#332288", "P"),
        "recency": Mark("recency cache", "#CC6677", "X"),
        "hierarchical": Mark("hierarchical summary", "#882255", "<"),
        "uniform": Mark("uniform allocation", "#BBBBBB", ">", "--"),
        "random": Mark("random ranks", "#7A4A00", "*", ":"),
        "graph_ctwm": Mark("allocation alone", "#8A00E6", "p", "-."),
    }
)
"""Memory policies, the paper's four first; the last three are controls."""

LAWS: Mapping[str, Mark] = MappingProxyType(
    {
        "power_law": Mark("power law", "#000000", "o", "-"),
        "truncated_power_law": Mark("truncated power law", "#882255", "^", "--"),
        "lognormal": Mark("log-normal", "#4477AA", "s", "-."),
        "exponential": Mark("exponential law", "#999933", "D", ":"),
    }
)
"""Tail laws of the audit."""

_SETTINGS: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 7.0,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7.0,
    "xtick.labelsize": 6.0,
    "ytick.labelsize": 6.0,
    "legend.fontsize": 6.5,
    "legend.title_fontsize": 6.5,
    "legend.frameon": False,
    "legend.handlelength": 1.8,
    "legend.columnspacing": 1.4,
    "legend.borderaxespad": 0.3,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.4,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.5,
    "errorbar.capsize": 0.0,
    "patch.linewidth": 0.6,
    "hatch.linewidth": 0.4,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.minor.size": 1.5,
    "ytick.minor.size": 1.5,
    "figure.dpi": 100.0,
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
    "savefig.dpi": 200.0,
    "savefig.bbox": None,
    # TrueType fonts embedded in full words: text in the PDF can be searched and edited.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.hashsalt": "coretail",
    "mathtext.fontset": "dejavusans",
}

# Matplotlib would write its version and the time of day into these.
# Of a place in units of the figure: less than a hundredth of a dot.
_DIGITS = 6
_METADATA: Mapping[str, Mapping[str, None]] = MappingProxyType(
    {
        ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
        ".png": {"Software": None},
        ".svg": {"Date": None, "Creator": None},
    }
)


@contextmanager
def style() -> Iterator[None]:
    """Draw in the project's style, whatever the user's matplotlibrc says.

    The settings hold inside the ``with`` block (or the decorated function) and are restored
    after it.
    """
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


def save_figure(fig: Figure, *paths: str | os.PathLike[str]) -> None:
    """Write a figure, once per path, in the format that the path's suffix names.

    The bytes depend on the figure and on the installed matplotlib alone: no time, no host. Each
    file is complete or absent, since it is written beside its place and then renamed.

    Parameters
    ----------
    fig
        The figure.
    *paths
        Files to write, ending in ``.pdf``, ``.png`` (200 dots per inch) or ``.svg``.

    Raises
    ------
    InputError
        If a path has another suffix; nothing is written then.
    """
    targets = [Path(path) for path in paths]
    for target in targets:
        if target.suffix not in _METADATA:
            raise InputError(f"{target}: a figure is written as {', '.join(_METADATA)}")
    with style():
        _settle(fig)
    for target in targets:
        buffer = io.BytesIO()
        with style():
            fig.savefig(buffer, format=target.suffix[1:], metadata=dict(_METADATA[target.suffix]))
        part = target.with_name(f".{target.name}.part")
        part.write_bytes(buffer.getvalue())
        part.replace(target)


def _settle(fig: Figure) -> None:
    """Lay the figure out and round what comes out.

    The layout solver's last digits vary from run to run, and bytes would vary with them. It needs
    a second pass, from the places of the first, for labels that stand outside their axes, and the
    resolution of the picture, by which the sizes of texts vary.
    """
    fig.set_dpi(mpl.rcParams["savefig.dpi"])
    for _ in range(2):
        fig.draw_without_rendering()
    fig.set_layout_engine("none")
    waiting = list(fig.subfigs)
    while waiting:
        part = waiting.pop()
        waiting += part.subfigs
        part.bbox_relative.set_points(part.bbox_relative.get_points().round(_DIGITS))
    for ax in fig.axes:
        ax.set_position(Bbox(ax.get_position(original=True).get_points().round(_DIGITS)))


def mark(marks: Mapping[str, Mark], name: str) -> Mark:
    """Return how ``name`` looks.

    Raises
    ------
    InputError
        If it has no mark; the message names those that have.
    """
    try:
        return marks[name]
    except KeyError:
        raise InputError(f"{name!r} has no mark; known are {', '.join(marks)}") from None


def in_order(present: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return the distinct names present: known ones in their order, then others by alphabet."""
    names = set(present)
    first = [name for name in known if name in names]
    return first + sorted(names.difference(first))


def require(rows: Sequence[Row], keys: Iterable[str], figure: str) -> None:
    """Check that there are rows and that each has the keys a figure reads.

    Raises
    ------
    InputError
        If there is no row, or a row lacks a key.
    """
    if not rows:
        raise InputError(f"{figure}: no rows to draw")
    needed = set(keys)
    for number, row in enumerate(rows):
        if missing := needed.difference(row):
            raise InputError(f"{figure}: row {number} lacks {', '.join(sorted(missing))}")


def counted(numbers: Iterable[int], what: str) -> str:
    """Return "20 seeds", "1 seed", or "18–20 seeds" where the numbers differ."""
    low, high = min(found := list(numbers)), max(found)
    plural = "" if high == 1 else "s"
    return f"{low} {what}{plural}" if low == high else f"{low}–{high} {what}{plural}"


def figure_width(columns: int) -> float:
    """Return the width, in inches, of a figure with so many panels side by side."""
    return COLUMN_WIDTH if columns == 1 else PAGE_WIDTH


def panel_title(ax: Axes, position: int, title: str) -> None:
    """Write a panel's bold letter (position 0 is a) and its title above it, at the left."""
    letter = chr(ord("a") + position % 26)
    ax.set_title(rf"$\bf{{{letter}}}$  {title}", loc="left", pad=4)


def not_available(ax: Axes, x: float, color: str) -> None:
    """Write n/a at the foot of the axes, where an undefined value would stand."""
    ax.text(
        x,
        0.02,
        "n/a",
        color=color,
        fontsize=5,
        rotation=90,
        ha="center",
        va="bottom",
        transform=ax.get_xaxis_transform(),
    )


def size_ticks(ax: Axes, sizes: Iterable[int]) -> None:
    """Make the x axis logarithmic with one tick at each of the sizes and no others."""
    ticks = sorted(set(sizes))
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_major_formatter(FixedFormatter([f"{tick:,d}" for tick in ticks]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_minor_formatter(NullFormatter())
    low, high = ticks[0], ticks[-1]
    margin = (high / low) ** 0.12 if high > low else 1.5
    ax.set_xlim(low / margin, high * margin)


def text_color(background: tuple[float, float, float, float]) -> str:
    """Return black or white, whichever reads better on an RGBA background (WCAG luminance)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in background[:3]]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "black" if luminance > 0.179 else "white"
