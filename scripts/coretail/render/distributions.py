"""Figure 1, random-walk panels: rank-frequency and complementary cumulative distribution."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D

from coretail.errors import InputError
from coretail.render.style import (
    FAMILIES,
    LAWS,
    PAGE_WIDTH,
    Mark,
    Row,
    counted,
    in_order,
    mark,
    panel_title,
    require,
    style,
)


@style()
def figure1_random_walk(
    rank_rows: Sequence[Row], ccdf_rows: Sequence[Row], fits: Sequence[Row] = ()
) -> Figure:
    """Draw how access counts are distributed over memory items, per family, one line per seed.

    Parameters
    ----------
    rank_rows
        One per item: ``family, n_nodes, seed, rank, count``; ranks from 1, counts descending.
    ccdf_rows
        One per distinct count: ``family, n_nodes, seed, x, ccdf`` with the share of items whose
        count is at least x.
    fits
        Fitted tails, one per point of a curve: ``family, law, x, ccdf``, the share of all items
        at or above x, for x ≥ x_min. With them every family gets a panel of its own below.

    Raises
    ------
    InputError
        If there are no rows, a row lacks a key, several sizes are mixed, or a family or law is
        unknown.
    """
    require(rank_rows, ("family", "n_nodes", "seed", "rank", "count"), "figure1")
    require(ccdf_rows, ("family", "n_nodes", "seed", "x", "ccdf"), "figure1")
    sizes = sorted({row["n_nodes"] for row in (*rank_rows, *ccdf_rows)})
    if len(sizes) > 1:
        raise InputError(f"figure1: rows of several sizes {sizes}; give rows of one")
    families = in_order((row["family"] for row in (*rank_rows, *ccdf_rows)), FAMILIES)
    fitted = in_order((row["family"] for row in fits), FAMILIES)
    laws = in_order((row["law"] for row in fits), LAWS)
    if fits:
        require(fits, ("family", "law", "x", "ccdf"), "figure1")

    columns = min(3, len(fitted))
    lines = -(-len(fitted) // columns) if fitted else 0
    fig = Figure(figsize=(PAGE_WIDTH, 2.9 + 1.55 * lines), layout="constrained")
    heights = [3, 2 * lines][: 1 + bool(fitted)]
    # Whole ratios and no frames: the layout solver's last digit would move bytes otherwise.
    parts = fig.subfigures(len(heights), 1, squeeze=False, height_ratios=heights, frameon=False)[
        :, 0
    ]
    by_rank, by_count = parts[0].subplots(1, 2)
    draw_families(by_rank, by_count, rank_rows, ccdf_rows, families)
    panel_title(by_rank, 0, f"rank-frequency, |V| = {sizes[0]:,d}")
    panel_title(by_count, 1, f"distribution, |V| = {sizes[0]:,d}")
    if fitted:
        _fitted_panels(parts[1], fitted, ccdf_rows, fits, laws)
    seeds = counted(
        (len({row["seed"] for row in ccdf_rows if row["family"] == family}) for family in families),
        "seed",
    )
    handles = [
        Line2D([], [], color=m.color, marker=m.marker, label=m.label)
        for m in (mark(FAMILIES, family) for family in families)
    ]
    handles += [
        Line2D([], [], color=m.color, ls=m.line, label=m.label)
        for m in (mark(LAWS, law) for law in laws)
    ]
    fig.legend(
        handles=handles,
        loc="outside lower center",
        ncols=5 if laws else 3,
        title=f"{seeds} per family, one line each"
        + (r"; laws fitted to the first seed above $x_{\min}$" if laws else ""),
    )
    return fig


def draw_families(
    by_rank: Axes,
    by_count: Axes,
    rank_rows: Sequence[Row],
    ccdf_rows: Sequence[Row],
    families: Sequence[str],
) -> None:
    """Draw rank-frequency and distribution on two axes, per family one line per seed."""
    for position, family in enumerate(families):
        look = mark(FAMILIES, family)
        phase = position / len(families)
        _curves(by_rank, rank_rows, family, ("rank", "count"), look, phase)
        _curves(by_count, ccdf_rows, family, ("x", "ccdf"), look, phase)
    label_distributions(by_rank, by_count)


def label_distributions(by_rank: Axes, by_count: Axes) -> None:
    """Label a rank-frequency panel and a distribution panel, and make both logarithmic."""
    by_rank.set(xlabel="rank r of the item", ylabel="access count of the item")
    by_count.set(xlabel="access count x", ylabel="share of items with count ≥ x")
    for ax in (by_rank, by_count):
        ax.set(xscale="log", yscale="log")
        ax.grid()


def _fitted_panels(
    part: SubFigure,
    families: Sequence[str],
    ccdf_rows: Sequence[Row],
    fits: Sequence[Row],
    laws: Sequence[str],
) -> None:
    """Draw one panel per family: its distribution and the laws fitted to its tail."""
    columns = min(3, len(families))
    lines = -(-len(families) // columns)
    axes = part.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for position, (ax, family) in enumerate(zip(axes, families, strict=False)):
        look = mark(FAMILIES, family)
        _curves(ax, ccdf_rows, family, ("x", "ccdf"), look, 0.5)
        for law in laws:
            curve = sorted(
                (row["x"], row["ccdf"])
                for row in fits
                if row["family"] == family and row["law"] == law and row["ccdf"] > 0
            )
            if curve:
                of_law = mark(LAWS, law)
                ax.plot(*zip(*curve, strict=True), color=of_law.color, ls=of_law.line, zorder=4)
        ax.grid()
        panel_title(ax, 2 + position, look.label)
    for ax in axes[len(families) :]:
        ax.set_axis_off()
    for ax in axes[::columns]:
        ax.set_ylabel("share ≥ x")
    for ax in axes[max(0, len(families) - columns) : len(families)]:
        ax.set_xlabel("access count x")
        ax.tick_params(labelbottom=True)
    # A fitted law falls without end; the data end at one item.
    smallest = min(row["ccdf"] for row in ccdf_rows if row["ccdf"] > 0)
    axes[0].set(xscale="log", yscale="log", ylim=(0.3 * smallest, 2))


def _curves(
    ax: Axes,
    rows: Sequence[Row],
    family: str,
    keys: tuple[str, str],
    look: Mark,
    phase: float,
) -> None:
    """Draw one thin line per seed, and the family's mark along the first seed's line."""
    own = [row for row in rows if row["family"] == family]
    for order, seed in enumerate(sorted({row["seed"] for row in own})):
        points = np.array(
            sorted((row[keys[0]], row[keys[1]]) for row in own if row["seed"] == seed), dtype=float
        )
        x, y = points[_corners(points[:, 1])].T
        ax.plot(x, y, color=look.color, linewidth=0.6, alpha=0.7, zorder=2)
        if order == 0:
            at = _spread(x, phase)
            ax.plot(x[at], y[at], color=look.color, marker=look.marker, ls="none", zorder=3)


def _corners(y: np.ndarray) -> np.ndarray:
    """Return the positions that a line through y needs: both ends of every run of equal values."""
    changes = y[1:] != y[:-1]
    return np.flatnonzero(np.r_[True, changes] | np.r_[changes, True])


def _spread(x: np.ndarray, phase: float, marks: int = 7) -> np.ndarray:
    """Return positions of about ``marks`` points that lie evenly on a logarithmic axis.

    The phase in [0, 1) moves them along, so that the marks of different families do not cover
    each other.
    """
    low, high = np.log(x[0]), np.log(x[-1])
    targets = low + (high - low) * (np.arange(marks) + phase) / marks
    nearest = np.abs(np.log(x)[None, :] - targets[:, None]).argmin(axis=1)
    return np.unique(nearest)
