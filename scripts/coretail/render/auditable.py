"""The map of where a random walk's tail is long enough to be audited."""

from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from coretail.errors import InputError
from coretail.render.style import (
    FAMILIES,
    Row,
    counted,
    figure_width,
    in_order,
    mark,
    panel_title,
    require,
    style,
    text_color,
)
from coretail.stats import wilson_interval

_SHARES = colormaps["cividis"]


@style()
def figure_auditable_map(rows: Sequence[Row], threshold: int = 100, level: float = 0.95) -> Figure:
    """Draw P(n_tail ≥ threshold) over |V| and N, one panel per family.

    Each cell shows the share of seeds and, below it, the Wilson interval, both in per cent. A
    cell without a row is hatched.

    Parameters
    ----------
    rows
        One per family, size and length: ``family, n_nodes, n_steps, auditable`` (seeds with
        n_tail ≥ threshold) and ``n_seeds``.
    threshold
        Smallest n_tail that is auditable, for the label.
    level
        Confidence level of the Wilson interval.

    Raises
    ------
    InputError
        If there are no rows, a row lacks a key, a cell occurs twice, or a family is unknown.
    """
    require(rows, ("family", "n_nodes", "n_steps", "auditable", "n_seeds"), "figure_auditable_map")
    families = in_order((row["family"] for row in rows), FAMILIES)
    sizes = sorted({row["n_nodes"] for row in rows})
    lengths = sorted({row["n_steps"] for row in rows})
    cells = {(row["family"], row["n_nodes"], row["n_steps"]): row for row in rows}
    if len(cells) < len(rows):
        raise InputError("figure_auditable_map: two rows of one family, n_nodes and n_steps")
    columns = 2 if len(families) == 4 else min(3, len(families))
    lines = -(-len(families) // columns)
    height = 0.85 + lines * (0.45 + 0.27 * len(lengths))
    fig = Figure(figsize=(figure_width(columns), height), layout="constrained")
    axes = fig.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for position, (ax, family) in enumerate(zip(axes, families, strict=False)):
        shares = np.full((len(lengths), len(sizes)), np.nan)
        for i, n_steps in enumerate(lengths):
            for j, n_nodes in enumerate(sizes):
                row = cells.get((family, n_nodes, n_steps), {"auditable": 0, "n_seeds": 0})
                found = wilson_interval(row["auditable"], row["n_seeds"], level)
                if found.estimate is None or found.low is None or found.high is None:
                    ax.add_patch(
                        Rectangle(
                            (j - 0.5, i - 0.5),
                            1,
                            1,
                            fill=False,
                            hatch="////",
                            edgecolor="#BBBBBB",
                            linewidth=0,
                        )
                    )
                    continue
                shares[i, j] = found.estimate
                ink = text_color(_SHARES(found.estimate))
                ax.text(
                    j,
                    i + 0.16,
                    f"{100 * found.estimate:.0f}",
                    ha="center",
                    va="center",
                    fontsize=6.5,
                    color=ink,
                )
                ax.text(
                    j,
                    i - 0.24,
                    f"{100 * found.low:.0f}–{100 * found.high:.0f}",
                    ha="center",
                    va="center",
                    fontsize=5,
                    color=ink,
                )
        ax.imshow(shares, cmap=_SHARES, vmin=0, vmax=1, origin="lower", aspect="auto")
        panel_title(ax, position, mark(FAMILIES, family).label)
        ax.set_xticks(range(len(sizes)), [f"{size:,d}" for size in sizes])
        ax.set_yticks(range(len(lengths)), [f"{n_steps:,d}" for n_steps in lengths])
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
    for ax in axes[len(families) :]:
        ax.set_axis_off()
    for ax in axes[::columns]:
        ax.set_ylabel("steps N")
    for ax in axes[max(0, len(families) - columns) : len(families)]:
        ax.set_xlabel("number of states |V|")
        ax.tick_params(labelbottom=True)
    seeds = counted((row["n_seeds"] for row in rows), "seed")
    bar = fig.colorbar(
        axes[0].images[0], ax=list(axes), location="bottom", aspect=50, shrink=0.6, pad=0.02
    )
    bar.set_label(
        rf"share of {seeds} with $n_{{\mathrm{{tail}}}}$ ≥ {threshold:,d}, in per cent"
        + ("; " if columns > 1 else "\n")
        + f"small: {100 * level:g}% Wilson interval"
    )
    bar.set_ticks([0, 0.25, 0.5, 0.75, 1], labels=["0", "25", "50", "75", "100"])
    bar.outline.set_visible(False)
    return fig
