"""The picture beside Table 1: concentration of the top tail against graph size."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from coretail.errors import InputError
from coretail.render.style import (
    FAMILIES,
    Mark,
    Row,
    counted,
    figure_width,
    in_order,
    mark,
    not_available,
    panel_title,
    require,
    size_ticks,
    style,
)
from coretail.stats import t_interval


@dataclass(frozen=True, slots=True)
class _Eviction:
    """How one eviction is drawn: its place beside |V|, its line, its face (the family's if "")."""

    shift: float
    line: str
    face: str


_EVICTIONS = {
    "reservoir": _Eviction(0.94, "-", ""),
    "least_frequent": _Eviction(1.06, ":", "#DDDDDD"),
}
_SEED: dict[str, Any] = {"marker": "_", "ms": 5, "mew": 0.7, "ls": "none"}
_PAPER: dict[str, Any] = {
    "marker": "o",
    "ms": 5.5,
    "mew": 0.7,
    "mfc": "none",
    "color": "black",
    "ls": "none",
}


@style()
def figure_sigma(rows: Sequence[Row], paper: Sequence[Row] = (), level: float = 0.95) -> Figure:
    """Draw σ_top10 against |V| per family and eviction: seeds, mean, t interval, the paper's.

    Parameters
    ----------
    rows
        One per family, size, eviction (``reservoir``, ``least_frequent``) and seed: ``family,
        n_nodes, eviction, seed, sigma_top10``; ``None`` where undefined.
    paper
        The paper's values, one per family and size: ``family, n_nodes, sigma_top10``.
    level
        Confidence level of the t interval over seeds.

    Raises
    ------
    InputError
        If there are no rows, a row lacks a key, or a family or eviction is unknown.
    """
    require(rows, ("family", "n_nodes", "eviction", "seed", "sigma_top10"), "figure_sigma")
    if paper:
        require(paper, ("family", "n_nodes", "sigma_top10"), "figure_sigma, paper")
    for row in rows:
        if row["eviction"] not in _EVICTIONS:
            raise InputError(
                f"figure_sigma: eviction {row['eviction']!r} is none of {', '.join(_EVICTIONS)}"
            )
    families = in_order((row["family"] for row in rows), FAMILIES)
    evictions = in_order((row["eviction"] for row in rows), _EVICTIONS)
    sizes = sorted({row["n_nodes"] for row in (*rows, *paper)})
    columns = min(3, len(families))
    lines = -(-len(families) // columns)
    fig = Figure(
        figsize=(figure_width(columns), (0.7 if columns > 1 else 1.1) + 1.7 * lines),
        layout="constrained",
    )
    axes = fig.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).ravel()
    behind = []
    for position, (ax, family) in enumerate(zip(axes, families, strict=False)):
        look = mark(FAMILIES, family)
        panel_title(ax, position, look.label)
        for eviction in evictions:
            own = [row for row in rows if (row["family"], row["eviction"]) == (family, eviction)]
            behind += _draw(ax, own, eviction, look, level)
        printed = sorted(
            (row["n_nodes"], row["sigma_top10"]) for row in paper if row["family"] == family
        )
        if printed:
            ax.plot(*zip(*printed, strict=True), **_PAPER, zorder=5)
        ax.grid(axis="y")
    for ax in axes[len(families) :]:
        ax.set_axis_off()
    size_ticks(axes[0], sizes)
    axes[0].set_ylim(bottom=min(0.0, *(1.05 * ax.dataLim.y0 for ax in axes[: len(families)])))
    for ax in axes[::columns]:
        ax.set_ylabel("σ of ln count, top 10%")
    for ax in axes[max(0, len(families) - columns) : len(families)]:
        ax.set_xlabel("number of states |V|")
        ax.tick_params(labelbottom=True)
    of_seeds = counted(behind or [0], "seed")
    handles = [
        Line2D(
            [],
            [],
            color="#555555",
            ls=_EVICTIONS[eviction].line,
            marker="o",
            mfc=_EVICTIONS[eviction].face or "#555555",
            label=f"{eviction.replace('_', ' ')}, mean of {of_seeds}",
        )
        for eviction in evictions
    ]
    handles += [
        Line2D([], [], color="#555555", **_SEED, label="a seed"),
        Line2D(
            [],
            [],
            color="#555555",
            ls="none",
            marker="|",
            ms=8,
            label=f"{100 * level:g}% t interval",
        ),
    ]
    if paper:
        handles.append(Line2D([], [], **_PAPER, label="paper"))
    fig.legend(handles=handles, loc="outside lower center", ncols=5 if columns > 1 else 2)
    return fig


def _draw(ax: Axes, rows: Sequence[Row], eviction: str, look: Mark, level: float) -> list[int]:
    """Draw one family under one eviction; return the number of seeds behind each mean."""
    drawn = _EVICTIONS[eviction]
    means, behind = [], []
    for size in sorted({row["n_nodes"] for row in rows}):
        values = [row["sigma_top10"] for row in rows if row["n_nodes"] == size]
        x = size * drawn.shift
        found = t_interval(values, level)
        if found.estimate is None:
            not_available(ax, x, look.color)
            continue
        means.append((x, found.estimate))
        behind.append(found.n)
        if found.low is not None and found.high is not None:
            ax.vlines(x, found.low, found.high, color=look.color)
        for value in values:
            if value is not None:
                ax.plot(x, value, color=look.color, **_SEED, zorder=3)
    if means:
        ax.plot(
            *zip(*means, strict=True),
            color=look.color,
            marker=look.marker,
            markerfacecolor=drawn.face or look.color,
            ls=drawn.line,
            linewidth=0.8,
            zorder=4,
        )
    return behind
