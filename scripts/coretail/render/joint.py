"""Figure 1 whole: a random walk's traces, a semantic policy's, and the allocation by rank."""

import textwrap
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from coretail.controller.allocation import allocate
from coretail.errors import InputError
from coretail.render.distributions import draw_families
from coretail.render.style import (
    DRIVERS,
    FAMILIES,
    PAGE_WIDTH,
    Row,
    counted,
    in_order,
    mark,
    panel_title,
    require,
    style,
)
from coretail.render.topology import draw_drivers

_BUDGET = "#000000"
_LINES = ("-", "--", ":", "-.")
_TITLE_CHARACTERS = 100


@style()
def figure1_joint(
    family_ranks: Sequence[Row],
    family_shares: Sequence[Row],
    rank_rows: Sequence[Row],
    ccdf_rows: Sequence[Row],
    walk_rank_rows: Sequence[Row],
    walk_ccdf_rows: Sequence[Row],
    n_nodes: int,
    model: str,
    steps: int,
    taus: Sequence[float],
) -> Figure:
    """Draw both halves of Figure 1 side by side, and the budget b(r; τ) over the same ranks.

    Left, long random walks in all families; in the middle, a semantic policy beside a walk of
    equal length; right, the policy's accesses by rank (its first seed) and the shares b(r; τ) that
    the controller gives to as many ranked items.

    Parameters
    ----------
    family_ranks, family_shares
        As ``rank_rows`` and ``ccdf_rows`` of
        :func:`coretail.render.distributions.figure1_random_walk`.
    rank_rows, ccdf_rows, walk_rank_rows, walk_ccdf_rows, n_nodes, model, steps
        As for :func:`coretail.render.topology.figure1_semantic`.
    taus
        Exponents τ of the allocation, at most four.

    Raises
    ------
    InputError
        If one of the tables has no rows or a row lacks a key, families are of several sizes or
        unknown, or there are no or more than four exponents.
    """
    require(family_ranks, ("family", "n_nodes", "seed", "rank", "count"), "figure1_joint")
    require(family_shares, ("family", "n_nodes", "seed", "x", "ccdf"), "figure1_joint")
    sizes = sorted({row["n_nodes"] for row in (*family_ranks, *family_shares)})
    if len(sizes) > 1:
        raise InputError(f"figure1_joint: rows of several sizes {sizes}; give rows of one")
    if not 0 < len(taus) <= len(_LINES):
        raise InputError(f"figure1_joint: {len(taus)} exponents; give one to {len(_LINES)}")
    families = in_order((row["family"] for row in family_ranks), FAMILIES)

    fig = Figure(figsize=(PAGE_WIDTH, 5.2), layout="constrained")
    # Legends stand in axes of their own, so that the panels above line up.
    grid = fig.subplots(3, 3, gridspec_kw={"height_ratios": [20, 20, 7]})
    for ax in grid[2]:
        ax.set_axis_off()

    draw_families(grid[0, 0], grid[1, 0], family_ranks, family_shares, families)
    walks = [
        Line2D([], [], color=m.color, marker=m.marker, label=m.label)
        for m in (mark(FAMILIES, family) for family in families)
    ]
    seeds = counted(
        (
            len({row["seed"] for row in family_shares if row["family"] == family})
            for family in families
        ),
        "seed",
    )
    _legend(grid[2, 0], walks, f"random walks, |V| = {sizes[0]:,d},\n{seeds} per family", 2)

    drivers = draw_drivers(
        *(grid[0, 1], grid[1, 1], rank_rows, ccdf_rows, walk_rank_rows, walk_ccdf_rows),
        "figure1_joint",
    )
    for handle in drivers:
        handle.set_label(str(handle.get_label()).removesuffix(", one line each"))
    _legend(grid[2, 1], drivers, f"scale-free, |V| = {n_nodes:,d},\nN = {steps:,d} steps each", 1)

    _legend(grid[2, 2], _allocations(grid[0, 2], grid[1, 2], rank_rows, taus), "", 1)

    titles = ("random walks", "semantic policy", "controlled allocation")
    for position, title in enumerate(titles):
        panel_title(grid[0, position], position, title)
        panel_title(grid[1, position], position + len(titles), "")
    fig.suptitle(
        textwrap.fill(f"semantic policy: {model}", _TITLE_CHARACTERS),
        fontsize=8.5,
        parse_math=False,
    )
    return fig


def _allocations(
    by_rank: Axes, in_sum: Axes, rank_rows: Sequence[Row], taus: Sequence[float]
) -> list[Line2D]:
    """Draw shares by rank, and their sum over the best ranks; return the legend's handles."""
    first = min(row["seed"] for row in rank_rows)
    counts = [row["count"] for row in rank_rows if row["seed"] == first]
    ordered = sorted(counts, reverse=True)
    measured = np.array(ordered, dtype=float) / sum(ordered)
    look = mark(DRIVERS, "semantic")
    lines = [(measured, look.color, "-", f"accesses of the policy, seed {first}")]
    lines += [
        (allocate(len(ordered), tau), _BUDGET, line, rf"budget $b(r;\tau)$, $\tau$ = {tau:g}")
        for tau, line in zip(taus, _LINES, strict=False)
    ]
    ranks = np.arange(1, len(ordered) + 1)
    handles = []
    for shares, shade, line, label in lines:
        by_rank.plot(ranks, shares, color=shade, ls=line)
        in_sum.plot(ranks, list(accumulate(shares)), color=shade, ls=line)
        handles.append(Line2D([], [], color=shade, ls=line, label=label))
    by_rank.set(xscale="log", yscale="log")
    by_rank.set(xlabel="rank r of the item", ylabel="share of the item")
    in_sum.set(xscale="log", ylim=(0, 1.02))
    in_sum.set(xlabel="best r items", ylabel="share of the best r items")
    for ax in (by_rank, in_sum):
        ax.grid()
    return handles


def _legend(ax: Axes, handles: list[Line2D], title: str, columns: int) -> None:
    ax.legend(
        handles=handles,
        loc="upper center",
        ncols=columns,
        title=title or None,
        borderaxespad=0,
        columnspacing=0.8,
    )
