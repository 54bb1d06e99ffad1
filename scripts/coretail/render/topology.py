"""Figure 4, the topology audit of the semantic policy, and the semantic half of Figure 1."""

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from coretail.errors import InputError
from coretail.render.distributions import label_distributions
from coretail.render.style import (
    DRIVERS,
    FAMILIES,
    LAWS,
    PAGE_WIDTH,
    Mark,
    Row,
    counted,
    in_order,
    mark,
    not_available,
    panel_title,
    require,
    style,
)

_STATISTICS = {
    "gini": ("concentration of access counts", "Gini"),
    "lambda_per_tail": (
        "truncated power law (> 0) or log-normal (< 0)",
        r"$\Lambda\,/\,n_{\mathrm{tail}}$",
    ),
}
_CONTROLS = DRIVERS["random_walk"]
_BAND = "#DDDDDD"
_NEUTRAL = "#555555"
_SEEDS_AT, _CONTROLS_AT = -0.24, 0.24  # beside the mean, in units of a topology's place
_SEED_SPREAD = 0.24
_TITLE_CHARACTERS = 90


@style()
def figure4(
    ccdf_rows: Sequence[Row],
    band_rows: Sequence[Row],
    fit_rows: Sequence[Row],
    effect_rows: Sequence[Row],
    model: str,
    goal: str,
) -> Figure:
    """Draw the semantic policy's access counts per topology against its random-walk controls.

    Above, one panel per topology: the distribution of access counts, one line per seed, over the
    controls' band, with the laws fitted to the tail of the first seed, whose line carries the
    marks. Below, the effects: every seed, their mean and 95% t interval beside the controls'
    median and 95% range. What is missing from a table, or ``None`` in it, is named as n/a; a mean
    without an interval is hollow.

    Parameters
    ----------
    ccdf_rows
        One per distinct count: ``family, seed, x, ccdf`` with the share of items whose count is
        at least x.
    band_rows
        One per family and x: ``family, x, low, median, high``, the median and 95% band of the
        controls' shares at x.
    fit_rows
        One per point of a fitted law: ``family, law, x, ccdf``, the share of all items at or
        above x, for x ≥ x_min of the family's first seed.
    effect_rows
        One per family and statistic (``gini``, ``lambda_per_tail``): ``family, statistic,
        seed_values`` (one value per seed), ``mean, low, high`` of the semantic cells,
        ``control_median, control_low, control_high`` and ``n_controls`` (controls with a value).
    model, goal
        Whose choices these are, for the title.

    Raises
    ------
    InputError
        If there are no rows of counts or effects, a row lacks a key, a family, law or statistic
        is unknown, or a family has two rows of one statistic.
    """
    require(ccdf_rows, ("family", "seed", "x", "ccdf"), "figure4, distributions")
    if band_rows:
        require(band_rows, ("family", "x", "low", "median", "high"), "figure4, controls")
    if fit_rows:
        require(fit_rows, ("family", "law", "x", "ccdf"), "figure4, laws")
    numbers = ("mean", "low", "high", "control_median", "control_low", "control_high", "n_controls")
    require(effect_rows, ("family", "statistic", "seed_values", *numbers), "figure4, effects")
    effects = {(row["family"], row["statistic"]): row for row in effect_rows}
    for _, statistic in effects:
        if statistic not in _STATISTICS:
            raise InputError(
                f"figure4: statistic {statistic!r} is none of {', '.join(_STATISTICS)}"
            )
    if len(effects) < len(effect_rows):
        raise InputError("figure4: two rows of one family and statistic")
    families = in_order(
        (row["family"] for row in (*ccdf_rows, *band_rows, *fit_rows, *effect_rows)), FAMILIES
    )
    looks = [mark(FAMILIES, family) for family in families]
    laws = in_order((row["law"] for row in fit_rows), LAWS)

    columns = 2 if len(families) == 4 else min(3, len(families))
    lines = -(-len(families) // columns)
    # Six topologies and what they rest on are not legible in half a page's width.
    stacked = len(families) > 4
    # Whole numbers (hundredths of an inch): with fractions the solver of the layout leaves noise in
    # the last digit, which differs between runs and shows in the bytes.
    heights = [75 + 160 * lines, 50 + 200 * (1 + stacked)]
    fig = Figure(figsize=(PAGE_WIDTH, (30 + sum(heights)) / 100), layout="constrained")
    fig.suptitle(
        textwrap.fill(f"{model}, goal: {goal}", _TITLE_CHARACTERS), fontsize=8.5, parse_math=False
    )
    upper, lower = fig.subfigures(2, 1, squeeze=False, height_ratios=heights, frameon=False)[:, 0]
    _distributions(upper, families, columns, ccdf_rows, band_rows, fit_rows, laws)
    axes = lower.subplots(*((2, 1) if stacked else (1, 2)), squeeze=False).ravel()
    hollow = False
    for position, (ax, statistic) in enumerate(zip(axes, _STATISTICS, strict=True)):
        own = [effects.get((family, statistic)) for family in families]
        hollow |= _effects(ax, own, looks)
        title, label = _STATISTICS[statistic]
        panel_title(ax, len(families) + position, title)
        ax.set_ylabel(label)
        if statistic == "lambda_per_tail":
            ax.axhline(0, color=_CONTROLS.color, linewidth=0.6, zorder=1)
    _effects_legend(lower, hollow)
    return fig


@style()
def figure1_semantic(
    rank_rows: Sequence[Row],
    ccdf_rows: Sequence[Row],
    walk_rank_rows: Sequence[Row],
    walk_ccdf_rows: Sequence[Row],
    model: str,
    n_nodes: int,
    steps: int,
) -> Figure:
    """Draw how a semantic policy's access counts are distributed, beside a random walk's.

    Parameters
    ----------
    rank_rows, walk_rank_rows
        The policy's and the walk's items in scale-free worlds, one per item: ``seed, rank,
        count``; ranks from 1, counts descending.
    ccdf_rows, walk_ccdf_rows
        One per distinct count: ``seed, x, ccdf`` with the share of items whose count is at least
        x.
    model
        Whose choices these are, for the title.
    n_nodes, steps
        States of the worlds and steps of every rollout, for the title.

    Raises
    ------
    InputError
        If one of the tables has no rows or a row lacks a key.
    """
    fig = Figure(figsize=(PAGE_WIDTH, 2.9), layout="constrained")
    title = f"{model}, scale-free world, |V| = {n_nodes:,d}, N = {steps:,d} steps"
    fig.suptitle(textwrap.fill(title, _TITLE_CHARACTERS), fontsize=8.5, parse_math=False)
    by_rank, by_count = fig.subplots(1, 2)
    handles = draw_drivers(
        by_rank, by_count, rank_rows, ccdf_rows, walk_rank_rows, walk_ccdf_rows, "figure1_semantic"
    )
    panel_title(by_rank, 0, "rank-frequency")
    panel_title(by_count, 1, "distribution")
    fig.legend(handles=handles, loc="outside lower center", ncols=2)
    return fig


def draw_drivers(
    by_rank: Axes,
    by_count: Axes,
    rank_rows: Sequence[Row],
    ccdf_rows: Sequence[Row],
    walk_rank_rows: Sequence[Row],
    walk_ccdf_rows: Sequence[Row],
    figure: str,
) -> list[Line2D]:
    """Draw rank-frequency and distribution on two axes, per driver one line per seed.

    Rows are those of :func:`figure1_semantic`; ``figure`` is named in errors.

    Returns
    -------
    list
        The legend's handles, the semantic policy's first.

    Raises
    ------
    InputError
        If one of the tables has no rows or a row lacks a key.
    """
    tables = {"semantic": (rank_rows, ccdf_rows), "random_walk": (walk_rank_rows, walk_ccdf_rows)}
    panels = (("rank", "count"), ("x", "ccdf"))
    handles = []
    # The walk is drawn first, so that it does not cover the policy.
    for phase, (driver, of_driver) in enumerate(reversed(tables.items())):
        look = mark(DRIVERS, driver)
        for ax, rows, keys in zip((by_rank, by_count), of_driver, panels, strict=True):
            require(rows, ("seed", *keys), f"{figure}, {look.label}")
            missing = _seeds(ax, rows, keys, look, phase)
            _say_missing(ax, [f"{look.label}, {what}" for what in missing], line=phase)
        seeds = counted([len({row["seed"] for row in of_driver[1]})], "seed")
        label = f"{look.label}, {seeds}, one line each"
        handles.append(
            Line2D([], [], color=look.color, ls=look.line, marker=look.marker, label=label)
        )
    label_distributions(by_rank, by_count)
    _count_ticks(by_rank.yaxis)
    _count_ticks(by_count.xaxis)
    return handles[::-1]


def _distributions(
    part: SubFigure,
    families: Sequence[str],
    columns: int,
    ccdf_rows: Sequence[Row],
    band_rows: Sequence[Row],
    fit_rows: Sequence[Row],
    laws: Sequence[str],
) -> None:
    """Draw one panel per family: controls, seeds and fitted laws, and their legend."""
    lines = -(-len(families) // columns)
    axes = part.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for position, (ax, family) in enumerate(zip(axes, families, strict=False)):
        look = mark(FAMILIES, family)
        seeds, band, fits = (
            [row for row in rows if row["family"] == family]
            for rows in (ccdf_rows, band_rows, fit_rows)
        )
        missing = _seeds(ax, seeds, ("x", "ccdf"), look) if seeds else ["semantic policy"]
        missing += _band(ax, band)
        unfitted = [law for law in laws if not _law(ax, fits, law)]
        labels = [mark(LAWS, law).label for law in unfitted]
        missing += ["laws"] if laws and unfitted == laws else labels
        _say_missing(ax, missing)
        ax.grid()
        panel_title(ax, position, look.label)
    for ax in axes[len(families) :]:
        ax.set_axis_off()
    for ax in axes[::columns]:
        ax.set_ylabel("share of items ≥ x")
    for ax in axes[max(0, len(families) - columns) : len(families)]:
        ax.set_xlabel("access count x")
        ax.tick_params(labelbottom=True)
    # A fitted law falls without end; counts and controls do not.
    shown = [
        (row["x"], row[key])
        for rows, key in ((ccdf_rows, "ccdf"), (band_rows, "high"))
        for row in rows
        if row["x"] is not None and (row[key] or 0) > 0
    ]
    if shown:
        x, share = np.array(shown, dtype=float).T
        axes[0].set(xlim=(x.min() / 1.15, 1.3 * x.max()), ylim=(0.5 * share.min(), 1.6))
    axes[0].set(xscale="log", yscale="log")
    _count_ticks(axes[0].xaxis)

    seeds_of = {
        family: {row["seed"] for row in ccdf_rows if row["family"] == family} for family in families
    }
    title = f"{counted(map(len, seeds_of.values()), 'seed')} per topology, one line each"
    if laws:
        fitted = {row["family"] for row in fit_rows}
        first = sorted(
            {min(seeds) for family, seeds in seeds_of.items() if seeds and family in fitted}
        )
        title += (
            f"; laws fitted to the marked one (seed {', '.join(map(str, first))}) above "
            r"$x_{\min}$"
        )
    handles = [
        Line2D([], [], color=_NEUTRAL, lw=0.8, marker="o", label="semantic policy"),
        Line2D(
            [], [], color=_CONTROLS.color, ls=_CONTROLS.line, label="first seed's controls, median"
        ),
        Patch(color=_BAND, label="first seed's controls, 95% band"),
    ]
    handles += [
        Line2D([], [], color=m.color, ls=m.line, label=m.label)
        for m in (mark(LAWS, law) for law in laws)
    ]
    part.legend(handles=handles, loc="outside lower center", ncols=4, title=title)


def _seeds(
    ax: Axes, rows: Sequence[Row], keys: tuple[str, str], look: Mark, phase: int = 0
) -> list[str]:
    """Draw one thin line per seed, marks along the first; return the seeds without values.

    Marks of phase 0 and 1 stand at other points of curves of equal length, so that they do not
    cover each other.
    """
    missing = []
    for order, seed in enumerate(sorted({row["seed"] for row in rows})):
        points = [(row[keys[0]], row[keys[1]]) for row in rows if row["seed"] == seed]
        if any(value is None for point in points for value in point):
            missing.append(f"seed {seed}")
            continue
        marked = np.geomspace(1, len(points), 13)[phase::2].round().astype(int) - 1
        ax.plot(
            *zip(*sorted(points), strict=True),
            color=look.color,
            linewidth=0.7,
            ls=look.line,
            marker=look.marker if order == 0 else "none",
            markevery=np.unique(marked).tolist(),
            zorder=3,
        )
    return missing


def _band(ax: Axes, rows: Sequence[Row]) -> list[str]:
    """Draw the controls' band and median; return what is missing."""
    defined = sorted(
        (row["x"], row["low"], row["median"], row["high"])
        for row in rows
        if None not in (row["x"], row["low"], row["median"], row["high"])
    )
    if defined:
        x, low, median, high = np.array(defined, dtype=float).T
        ax.fill_between(x, low, high, color=_BAND, linewidth=0, zorder=1)
        above = median > 0
        ax.plot(x[above], median[above], color=_CONTROLS.color, ls=_CONTROLS.line, zorder=2)
    if len(defined) == len(rows) > 0:
        return []
    return ["controls, in part" if defined else "controls"]


def _law(ax: Axes, rows: Sequence[Row], law: str) -> bool:
    """Draw a fitted law; return whether there is one."""
    curve = [(row["x"], row["ccdf"]) for row in rows if row["law"] == law]
    if not curve or any(value is None for point in curve for value in point):
        return False
    look = mark(LAWS, law)
    ax.plot(*zip(*sorted(curve), strict=True), color=look.color, ls=look.line, zorder=4)
    return True


def _say_missing(ax: Axes, missing: Sequence[str], line: int = 0) -> None:
    """Name what could not be drawn, where a falling curve leaves room."""
    if missing:
        ax.annotate(
            textwrap.fill(f"n/a: {', '.join(missing)}", 36),
            (0.02, 0.03),
            xycoords="axes fraction",
            xytext=(0, 7 * line),
            textcoords="offset points",
            fontsize=5.5,
            color=_NEUTRAL,
            va="bottom",
        )


def _count_ticks(axis: Axis) -> None:
    """Label a logarithmic axis of counts at 1, 2, 5, 10 and so on where it spans few decades."""
    low, high = axis.get_view_interval()
    if high < 300 * low:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axis.set_minor_formatter(NullFormatter())


def _effects(ax: Axes, rows: Sequence[Row | None], looks: Sequence[Mark]) -> bool:
    """Draw one statistic, one row or ``None`` per topology; return whether a mean is hollow."""
    undefined: list[tuple[float, str]] = []
    labels, hollow = [], False
    for place, (row, look) in enumerate(zip(rows, looks, strict=True)):
        if row is None:
            undefined.append((place, look.color))
            labels.append(look.label)
            continue
        values = row["seed_values"]
        defined = [value for value in values if value is not None]
        some = "" if len(defined) == len(values) else f"{len(defined)} of "
        labels.append(
            f"{look.label}\n{some}{counted([len(values)], 'seed')}\n"
            f"{counted([row['n_controls']], 'control')}"
        )
        if some:
            undefined.append((place + _SEEDS_AT, look.color))
        shifts = _SEED_SPREAD * (np.arange(len(values)) + 0.5) / max(1, len(values))
        for shift, value in zip(shifts - _SEED_SPREAD / 2, values, strict=True):
            if value is not None:
                x = place + _SEEDS_AT + shift
                ax.plot(x, value, color=look.color, marker="_", ms=3.2, mew=1.0, zorder=3)
        if row["mean"] is None:
            undefined.append((place, look.color))
        else:
            hollow |= _point(ax, place, row["mean"], row["low"], row["high"], look)
        x = place + _CONTROLS_AT
        if row["control_median"] is None:
            undefined.append((x, _CONTROLS.color))
        else:
            middle, low, high = (row[f"control_{name}"] for name in ("median", "low", "high"))
            hollow |= _point(ax, x, middle, low, high, _CONTROLS)
    if undefined:
        low, high = ax.get_ylim()
        ax.set_ylim(bottom=low - 0.15 * (high - low))
    for x, color in undefined:
        not_available(ax, x, color)
    ax.set_xticks(range(len(labels)), labels)
    ax.tick_params(axis="x", length=0)
    ax.set_xlim(-0.6, len(labels) - 0.4)
    ax.grid(axis="y")
    return hollow


def _point(
    ax: Axes, x: float, middle: float, low: float | None, high: float | None, look: Mark
) -> bool:
    """Draw a value with its interval, hollow without one; return whether it is hollow."""
    hollow = low is None or high is None
    if low is not None and high is not None:
        ax.vlines(x, low, high, color=look.color, linewidth=1.2, zorder=2)
    face = "white" if hollow else look.color
    ax.plot(x, middle, color=look.color, marker=look.marker, mfc=face, ms=4.5, zorder=4)
    return hollow


def _effects_legend(part: SubFigure, hollow: bool) -> None:
    """Say what stands at each topology's place, from left to right."""
    mean: dict[str, Any] = {"ls": "none", "marker": "D", "ms": 4.5}
    bar: dict[str, Any] = {"ls": "none", "marker": "|", "ms": 9.0, "mew": 1.2}
    control = {**mean, "color": _CONTROLS.color, "marker": _CONTROLS.marker}
    handles = [
        Line2D([], [], color=_NEUTRAL, ls="none", marker="_", ms=4, label="a seed"),
        Line2D([], [], color=_NEUTRAL, **mean, label="mean of the seeds"),
        Line2D([], [], color=_NEUTRAL, **bar, label="95% t interval"),
        Line2D([], [], **control, label="controls, median"),
        Line2D([], [], color=_CONTROLS.color, **bar, label="controls, 95% range"),
    ]
    if hollow:
        handles.append(Line2D([], [], color=_NEUTRAL, **mean, mfc="white", label="no interval"))
    part.legend(handles=handles, loc="outside lower center", ncols=6)
