"""Figure 5: what encoding and allocation each cost and save."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from coretail.errors import InputError
from coretail.render.style import (
    POLICIES,
    Row,
    figure_width,
    in_order,
    mark,
    panel_title,
    require,
    style,
)

_KEYS = ("model", "driver", "predictor", "policy", "encoding", "n_seeds", "pareto")
_VALUES = ("tokens", "tail_error")


@style()
def figure_ablation(rows: Sequence[Row]) -> Figure:
    """Draw tail error against tokens for every policy and encoding.

    A filled mark is the compact encoding, an open one the verbose; a line joins the two of one
    policy. Bars are t intervals over seeds. A ring marks the cells that no other cell beats in
    both quantities. One panel per predictor and driver.

    Parameters
    ----------
    rows
        One per cell: ``model, driver, predictor, policy, encoding, n_seeds, pareto``, and
        ``tokens`` and ``tail_error`` each with ``_low`` and ``_high``.

    Raises
    ------
    InputError
        If there are no rows, a row lacks a key, or a cell occurs twice.
    """
    limits = tuple(f"{value}{end}" for value in _VALUES for end in ("", "_low", "_high"))
    require(rows, (*_KEYS, *limits), "figure_ablation")
    cells = {tuple(row[key] for key in _KEYS[:5]) for row in rows}
    if len(cells) < len(rows):
        raise InputError("figure_ablation: two rows of one cell")
    panels = list(dict.fromkeys((row["predictor"], row["model"], row["driver"]) for row in rows))
    columns = min(2, len(panels))
    lines = -(-len(panels) // columns)
    fig = Figure(figsize=(figure_width(columns), 0.7 + 2.3 * lines), layout="constrained")
    axes = fig.subplots(lines, columns, squeeze=False).ravel()
    for letter, (ax, panel) in enumerate(zip(axes, panels, strict=False)):
        own = [row for row in rows if (row["predictor"], row["model"], row["driver"]) == panel]
        _panel(ax, own)
        predictor, model, driver = panel
        by = str(model).replace("$", r"\$") if predictor == "model" else f"predictor: {predictor}"
        walker = "random agents" if driver == "agents" else "the model's own rollouts"
        panel_title(ax, letter, f"{by}\n{walker}, n = {own[0]['n_seeds']} seeds")
        unit = "prompt tokens per call" if predictor == "model" else "context, local tokens"
        ax.set_xlabel(unit)
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    for ax in axes[::columns]:
        ax.set_ylabel("tail error")
    names = in_order((row["policy"] for row in rows), POLICIES)
    looks = [mark(POLICIES, name) for name in names]
    handles = [
        Line2D([], [], color=look.color, marker=look.marker, ls="none", label=look.label)
        for look in looks
    ]
    handles += [
        Line2D([], [], color="#555555", marker="o", mfc="white", ls="none", label="verbose"),
        Line2D([], [], color="#555555", marker="o", ls="none", label="compact"),
        Line2D(
            [], [], color="#000000", marker="o", mfc="none", ms=8, ls="none", label="beaten by none"
        ),
    ]
    fig.legend(handles=handles, loc="outside lower center", ncols=min(3, 2 * columns))
    return fig


def _panel(ax: Axes, rows: Sequence[Row]) -> None:
    for policy in in_order((row["policy"] for row in rows), POLICIES):
        look = mark(POLICIES, policy)
        own = [
            row
            for row in rows
            if row["policy"] == policy and None not in (row["tokens"], row["tail_error"])
        ]
        ax.plot(
            [row["tokens"] for row in own],
            [row["tail_error"] for row in own],
            color=look.color,
            lw=0.6,
            ls=":",
            zorder=1,
        )
        for row in own:
            x, y = row["tokens"], row["tail_error"]
            if row["tail_error_low"] is not None:
                ends = (row["tail_error_low"], row["tail_error_high"])
                ax.vlines(x, *ends, color=look.color, lw=0.8, zorder=2)
            if row["tokens_low"] is not None:
                ends = (row["tokens_low"], row["tokens_high"])
                ax.hlines(y, *ends, color=look.color, lw=0.8, zorder=2)
            face = look.color if row["encoding"] == "compact" else "white"
            ax.plot(x, y, color=look.color, marker=look.marker, mfc=face, ms=4.5, zorder=3)
            if row["pareto"]:
                ax.plot(x, y, color="#000000", marker="o", mfc="none", ms=9, mew=0.7, zorder=4)
    ax.grid(True)
