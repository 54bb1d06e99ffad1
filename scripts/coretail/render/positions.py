"""How often the option at each place of a prompt was chosen."""

import textwrap
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from coretail.errors import InputError
from coretail.render.style import (
    DRIVERS,
    Row,
    figure_width,
    in_order,
    mark,
    not_available,
    panel_title,
    require,
    style,
)
from coretail.stats import wilson_interval

_ORDINALS = ("1st", "2nd", "3rd")
_GOALS = ("seek", "explore")
_GAP = 0.6  # beyond the distance of two places, between two numbers of options
_UNIFORM = "#777777"
_SIZE = 2.6  # small, so that the interval of many choices is still seen


@style()
def figure_positions(rows: Sequence[Row], level: float = 0.95) -> Figure:
    """Draw the share of choices by the place of the chosen option, against uniform.

    Options are listed in an order drawn anew for each call, so an agent that chooses by meaning
    takes each place equally often, and one that chooses by place does not. One panel per model
    and goal; a place without a row, or without a choice to count, is n/a.

    Parameters
    ----------
    rows
        One per model, goal, number of options and place: ``model, goal, n_options, position``
        (from 0, the first listed), ``chosen`` (choices of that place) and ``n`` (all choices
        among so many options). Numbers of options are 2 or 3.
    level
        Confidence level of the Wilson interval of each share.

    Raises
    ------
    InputError
        If there are no rows, a row lacks a key or names no place, a place occurs twice, or the
        places of one number of options differ in n.
    """
    keys = ("model", "goal", "n_options", "position", "chosen", "n")
    require(rows, keys, "figure_positions")
    cells = {tuple(row[key] for key in keys[:4]): row for row in rows}
    if len(cells) < len(rows):
        raise InputError("figure_positions: two rows of one model, goal, n_options and position")
    for row in rows:
        if not (2 <= row["n_options"] <= 3 and 0 <= row["position"] < row["n_options"]):
            raise InputError(
                f"figure_positions: position {row['position']} of {row['n_options']} options; "
                "positions start at 0, and options are 2 or 3"
            )
    models = list(dict.fromkeys(row["model"] for row in rows))
    panels = [
        (model, goal)
        for model in models
        for goal in in_order((row["goal"] for row in rows if row["model"] == model), _GOALS)
    ]
    n_options = sorted({row["n_options"] for row in rows})
    columns = 2 if len(panels) == 4 else min(3, len(panels))
    lines = -(-len(panels) // columns)
    fig = Figure(figsize=(figure_width(columns), 0.4 + 2.4 * lines), layout="constrained")
    axes = fig.subplots(lines, columns, sharey=True, squeeze=False).ravel()
    for letter, (ax, (model, goal)) in enumerate(zip(axes, panels, strict=False)):
        own = [row for row in rows if (row["model"], row["goal"]) == (model, goal)]
        _panel(ax, own, n_options, level)
        width = 36 if columns < 3 else 32
        # A dollar sign would begin a formula.
        name = textwrap.fill(model, width).replace("$", r"\$")
        panel_title(ax, letter, f"{name}\ngoal: {goal}")
    axes[0].set_ylim(bottom=0)
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    for ax in axes[::columns]:
        ax.set_ylabel("share of choices")
    for ax in axes[max(0, len(panels) - columns) : len(panels)]:
        ax.set_xlabel("place of the option in the prompt", labelpad=24)
    look = mark(DRIVERS, "semantic")
    handles = [
        Line2D([], [], color=look.color, marker=look.marker, ms=_SIZE, ls="none", label="observed"),
        Line2D(
            [],
            [],
            color=look.color,
            marker="|",
            ms=9,
            ls="none",
            label=f"{100 * level:g}% Wilson interval",
        ),
        Line2D([], [], color=_UNIFORM, ls="--", label="uniform"),
    ]
    fig.legend(handles=handles, loc="outside lower center", ncols=3)
    return fig


def _panel(ax: Axes, rows: Sequence[Row], n_options: Sequence[int], level: float) -> None:
    """Draw one model and goal: a group of places per number of options."""
    look = mark(DRIVERS, "semantic")
    start, ticks = 0.0, []
    for options in n_options:
        own = {row["position"]: row for row in rows if row["n_options"] == options}
        totals = sorted({row["n"] for row in own.values() if row["n"] is not None})
        if len(totals) > 1:
            raise InputError(
                f"figure_positions: n differs between the positions of {options} options: {totals}"
            )
        for position in range(options):
            x = start + position
            ticks.append((x, _ORDINALS[position]))
            row = own.get(position, {"chosen": None, "n": None})
            chosen, n = row["chosen"], row["n"]
            if chosen is None or n is None:
                chosen = n = 0
            found = wilson_interval(chosen, n, level)
            if found.estimate is None or found.low is None or found.high is None:
                not_available(ax, x, look.color)
                continue
            ax.vlines(x, found.low, found.high, color=look.color)
            ax.plot(x, found.estimate, color=look.color, marker=look.marker, ms=_SIZE, zorder=3)
        ends = (start - 0.4, start + options - 0.6)
        ax.plot(ends, (1 / options, 1 / options), color=_UNIFORM, ls="--", zorder=1)
        total = f"n = {totals[0]:,d} choices" if totals else "n/a"
        ax.annotate(
            f"of {options} options\n{total}",
            (start + (options - 1) / 2, 0),
            xycoords=("data", "axes fraction"),
            xytext=(0, -13),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=6,
        )
        start += options + _GAP
    ax.set_xticks(*zip(*ticks, strict=True))
    ax.set_xlim(-0.7, ticks[-1][0] + 0.7)
    ax.tick_params(axis="x", length=0)
    ax.grid(axis="y")
