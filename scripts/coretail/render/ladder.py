"""Figure 3: the retriever ladder."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from coretail.errors import InputError
from coretail.render.style import (
    FAMILIES,
    Row,
    counted,
    figure_width,
    in_order,
    mark,
    not_available,
    panel_title,
    require,
    style,
)

REFERENCE = "state_frequency"
"""Rung that reductions are against."""
UNPAIRED = "symmetric_payload"
"""Rung on a world of its own, so that its seeds pair with no other rung's."""

_RUNGS = {
    "uniform_frequency": "state ignored,\nby frequency",
    REFERENCE: "state-aware,\nby frequency",
    "state_uniform": "state-aware,\nat random",
    "none": "no retrieval",
    UNPAIRED: "symmetric\npayload",
}
_PLACES = {
    "uniform_frequency": 0.0,
    REFERENCE: 1.0,
    "state_uniform": 2.0,
    "none": 3.0,
    UNPAIRED: 4.15,
}
_STEP = 0.13  # between the marks of two families at one rung


@style()
def figure3(rows: Sequence[Row], interval: str = "95% t interval over seeds") -> Figure:
    """Draw Gini per family and rung, and the reduction against the reference, per graph size.

    Parameters
    ----------
    rows
        One per family, size and rung: ``family, n_nodes, rung, gini_mean, gini_low, gini_high,
        reduction_mean, reduction_low, reduction_high, n_seeds``. Reductions are shares
        (1 − Gini of the rung / Gini of ``state_frequency``), drawn in per cent. Any of these
        numbers may be ``None``; a rung whose Gini is ``None`` is marked n/a. The rung
        ``symmetric_payload`` is another world, hence unpaired: it stands apart, hollow.
    interval
        What the bars are, for the legend.

    Raises
    ------
    InputError
        If there are no rows, a row lacks a key, or a family or rung is unknown.
    """
    keys = [f"{name}_{part}" for name in ("gini", "reduction") for part in ("mean", "low", "high")]
    require(rows, ["family", "n_nodes", "rung", "n_seeds", *keys], "figure3")
    for row in rows:
        if row["rung"] not in _RUNGS:
            raise InputError(f"figure3: rung {row['rung']!r} is none of {', '.join(_RUNGS)}")
    sizes = sorted({row["n_nodes"] for row in rows})
    families = in_order((row["family"] for row in rows), FAMILIES)
    rungs = in_order((row["rung"] for row in rows), _RUNGS)
    paired = in_order((row["family"] for row in rows if row["rung"] != UNPAIRED), FAMILIES)
    offsets = {family: _STEP * (i - (len(paired) - 1) / 2) for i, family in enumerate(paired)}

    fig = Figure(figsize=(figure_width(len(sizes)), 4.4), layout="constrained")
    axes = fig.subplots(2, len(sizes), sharex=True, sharey="row", squeeze=False)
    for column, size in enumerate(sizes):
        here = [row for row in rows if row["n_nodes"] == size]
        gini, reduction = axes[:, column]
        _draw(gini, here, "gini", families, offsets, scale=1)
        _draw(reduction, here, "reduction", families, offsets, scale=100)
        reduction.axhline(0, color="#777777", linewidth=0.6, zorder=1)
        for rung, word in ((REFERENCE, "reference"), (UNPAIRED, "not compared")):
            compared = any(row["reduction_mean"] is not None for row in here if row["rung"] == rung)
            if rung in rungs and not compared:
                reduction.annotate(
                    word,
                    (_PLACES[rung], 0),
                    xytext=(0, 4),
                    textcoords="offset points",
                    ha="center",
                    va="bottom",
                    rotation=90,
                    fontsize=5.5,
                    color="#555555",
                )
        seeds = counted((row["n_seeds"] for row in here), "seed")
        panel_title(gini, column, f"|V| = {size:,d}, {seeds}")
        reduction.set_xticks(
            [_PLACES[rung] for rung in rungs],
            [_RUNGS[rung] for rung in rungs],
            rotation=45,
            ha="right",
            rotation_mode="anchor",
        )
        reduction.set_xlim(_PLACES[rungs[0]] - 0.55, _PLACES[rungs[-1]] + 0.55)
        for ax in (gini, reduction):
            ax.grid(axis="y")
            ax.tick_params(axis="x", length=0)
            if UNPAIRED in rungs:
                ax.axvline((3 + _PLACES[UNPAIRED]) / 2, color="#777777", linewidth=0.6, ls=":")
    axes[0, 0].set_ylabel("Gini of access counts")
    axes[1, 0].set_ylabel("reduction of Gini (%)")
    low, high = axes[0, 0].get_ylim()
    axes[0, 0].set_ylim(max(0, low), min(1, high))
    handles = [
        Line2D([], [], color=m.color, marker=m.marker, linewidth=0.6, label=m.label)
        for m in (mark(FAMILIES, family) for family in families)
    ]
    handles.append(Line2D([], [], color="#555555", marker="none", linewidth=1.0, label=interval))
    if UNPAIRED in rungs:
        handles.append(
            Line2D([], [], color="#555555", marker="o", mfc="white", ls="none", label="unpaired")
        )
    fig.legend(handles=handles, loc="outside lower center", ncols=4 if len(sizes) > 1 else 2)
    return fig


def _draw(
    ax: Axes,
    rows: Sequence[Row],
    statistic: str,
    families: Sequence[str],
    offsets: Mapping[str, float],
    scale: float,
) -> None:
    for family in families:
        look = mark(FAMILIES, family)
        path = []
        for rung, place in _PLACES.items():
            paired = rung != UNPAIRED
            x = place + (offsets[family] if paired and family in offsets else 0)
            for row in rows:
                if (row["family"], row["rung"]) != (family, rung):
                    continue
                if statistic == "reduction" and rung == REFERENCE:
                    path.append((x, 0.0))
                    continue
                mean, low, high = (row[f"{statistic}_{part}"] for part in ("mean", "low", "high"))
                if mean is None:
                    if statistic == "gini":
                        not_available(ax, x, look.color)
                    continue
                if paired:
                    path.append((x, scale * mean))
                if low is not None and high is not None:
                    # Through a hollow mark the interval must still be seen.
                    order = 3 if paired else 5
                    ax.vlines(x, scale * low, scale * high, color=look.color, zorder=order)
                ax.plot(
                    x,
                    scale * mean,
                    color=look.color,
                    marker=look.marker,
                    markersize=3.2 if paired else 5.5,
                    markeredgewidth=0.8,
                    markerfacecolor=look.color if paired else "white",
                    zorder=4,
                )
        if path:
            ax.plot(*zip(*path, strict=True), color=look.color, linewidth=0.5, alpha=0.5, zorder=2)
