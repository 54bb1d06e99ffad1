"""The figure of an audited trace: its distribution with the fitted laws, its Lorenz curves."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from coretail.render.style import (
    DRIVERS,
    LAWS,
    PAGE_WIDTH,
    Mark,
    Row,
    in_order,
    mark,
    panel_title,
    require,
    style,
)

_DATA = Mark("data", DRIVERS["semantic"].color, "o")
_LORENZ = {
    "lorenz": Mark("whole log", "#000000", ""),
    "lorenz_first": Mark("first half", "#0072B2", "", "--"),
    "lorenz_second": Mark("second half", "#D55E00", "", "-."),
}
_NAME_LENGTH = 48


@style()
def figure_traces(records: Sequence[Row], curves: Sequence[Row]) -> Figure:
    """Draw one row of two panels per sample.

    Parameters
    ----------
    records
        One per sample, in order: the artefact ``trace_audits``.
    curves
        Points ``sample, curve, x, y`` of :func:`coretail.trace_audit.trace_curves`.

    Raises
    ------
    InputError
        If there are no rows, or a row lacks a key.
    """
    require(
        records,
        (
            *("sample", "verdict", "n", "total", "n_tail", "x_min", "alpha", "alpha_se"),
            *("p_gof", "gini", "gini_first", "gini_second", "p_halves"),
        ),
        "figure_traces",
    )
    require(curves, ("sample", "curve", "x", "y"), "figure_traces")
    fig = Figure(figsize=(PAGE_WIDTH, 2.9 * len(records)), layout="constrained")
    axes = fig.subplots(len(records), 2, squeeze=False)
    for position, record in enumerate(records):
        own = [row for row in curves if row["sample"] == record["sample"]]
        name = record["sample"]
        if len(name) > _NAME_LENGTH:
            name = "..." + name[3 - _NAME_LENGTH :]
        # Matplotlib would read a pair of dollar signs as a formula.
        name = name.replace("$", r"\$")
        _distribution(axes[position, 0], record, own)
        panel_title(axes[position, 0], 2 * position, name)
        _lorenz(axes[position, 1], record, own)
        panel_title(axes[position, 1], 2 * position + 1, "concentration of the accesses")
    return fig


def _distribution(ax: Axes, record: Row, curves: Sequence[Row]) -> None:
    """Draw the share of items with at least x accesses, and the laws fitted to its tail."""
    ax.plot(*_points(curves, "ccdf"), color=_DATA.color, marker=_DATA.marker, ms=2, ls="none")
    handles = [Line2D([], [], color=_DATA.color, marker=_DATA.marker, ls="none", label=_DATA.label)]
    for law in in_order({row["curve"] for row in curves} & set(LAWS), LAWS):
        look = mark(LAWS, law)
        ax.plot(*_points(curves, law), color=look.color, ls=look.line, zorder=3)
        handles.append(Line2D([], [], color=look.color, ls=look.line, label=look.label))
    if record["x_min"] is not None:
        ax.axvline(record["x_min"], color="#AAAAAA", linewidth=0.6, zorder=1)
        handles.append(Line2D([], [], color="#AAAAAA", linewidth=0.6, label=r"cutoff $x_{\min}$"))
    lines = [record["verdict"].replace("_", " "), f"n = {record['n']:,} items"]
    if record["x_min"] is not None:
        lines.append(f"tail: {record['n_tail']:,} items from $x_{{\\min}}$ = {record['x_min']:,}")
        lines.append(f"α = {record['alpha']:.3g}{_plus_minus(record['alpha_se'])}")
        if record["p_gof"] is not None:
            lines.append(f"power law: p = {record['p_gof']:.2g}")
    ax.set(xscale="log", yscale="log", xlabel="accesses x of an item")
    ax.set_ylabel("share of items with ≥ x")
    ax.set_ylim(0.4 / record["n"], 2)
    ax.grid()
    # A distribution falls from the upper left to the lower right: the other corners are free.
    ax.legend(handles=handles, loc="lower left", frameon=True, framealpha=1, edgecolor="none")
    ax.text(
        *(0.99, 0.98, "\n".join(lines)),
        fontsize=6.5,
        ha="right",
        va="top",
        linespacing=1.4,
        transform=ax.transAxes,
    )


def _lorenz(ax: Axes, record: Row, curves: Sequence[Row]) -> None:
    """Draw the Lorenz curves of the log and, where it has an order, of its halves."""
    ax.plot([0, 1], [0, 1], color="#AAAAAA", linewidth=0.6)
    handles = [Line2D([], [], color="#AAAAAA", linewidth=0.6, label="all items alike")]
    keys = {"lorenz": "gini", "lorenz_first": "gini_first", "lorenz_second": "gini_second"}
    for curve, look in _LORENZ.items():
        x, y = _points(curves, curve)
        if x:
            ax.plot(x, y, color=look.color, ls=look.line)
            value = record[keys[curve]]
            label = look.label + ("" if value is None else f", Gini {value:.3f}")
            handles.append(Line2D([], [], color=look.color, ls=look.line, label=label))
    title = f"{record['total']:,} accesses"
    if record["p_halves"] is not None:
        title += f"; first against second half: p = {record['p_halves']:.2g}"
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="share of items, least accessed first")
    ax.set_ylabel("share of accesses")
    ax.set_aspect("equal", anchor="W")
    ax.grid()
    ax.legend(handles=handles, loc="upper left", title=title, alignment="left")


def _points(curves: Sequence[Row], curve: str) -> tuple[list[float], list[float]]:
    own = [row for row in curves if row["curve"] == curve]
    return [row["x"] for row in own], [row["y"] for row in own]


def _plus_minus(error: float | None) -> str:
    return "" if error is None else f" ± {error:.2g}"
