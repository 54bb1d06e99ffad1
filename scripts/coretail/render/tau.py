"""Figure 7: concentration against the exponent τ."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from coretail.render.style import (
    DRIVERS,
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

_STATISTICS = {"gini": "Gini", "skew": "skew", "max_median": "max/median"}
_COMPUTED: Mapping[str, Mark] = MappingProxyType(
    {
        "allocation": Mark("shares b(r; τ), computed", "#000000", "", "-"),
        "slots": Mark("slots, computed", "#0072B2", "s", ":"),
    }
)
# Access counts: one colour per driver, filled or hollow by what ranks the items.
_RANKINGS = {"access": "ranked for the state", "access_global": "one ranking for all"}
# The same as characters, per marker of a driver.
_SYMBOLS = {"o": {"access": "●", "access_global": "○"}, "^": {"access": "▲", "access_global": "△"}}


@style()
def figure7(rows: Sequence[Row], seeds: Sequence[Row], level: float = 0.95) -> Figure:
    """Draw Gini, skew and max/median against τ: of shares, of slots, of access counts.

    Each driver has a row of panels, since the counts of walks of different lengths are on no common
    scale; what is computed stands in each.

    Parameters
    ----------
    rows
        One per driver, model, level, statistic and τ: ``driver, model, level, statistic, tau,
        value, low, high, n_seeds, n_steps, page_p``. Levels ``allocation`` and ``slots`` are
        computed vectors, ``access`` and ``access_global`` are means over seeds with their
        intervals. ``None`` where undefined. Other levels and statistics are not drawn.
    seeds
        One per driver, model, level, τ and seed: ``driver, model, level, seed, tau, gini, skew,
        max_median``.
    level
        Confidence level of the intervals, for the legend.

    Raises
    ------
    InputError
        If there are no rows, a row lacks a key, or a driver is unknown.
    """
    require(
        rows,
        (
            *("driver", "model", "level", "statistic", "tau", "value", "low", "high"),
            *("n_seeds", "n_steps", "page_p"),
        ),
        "figure7",
    )
    require(seeds, ("driver", "model", "level", "seed", "tau", *_STATISTICS), "figure7, seeds")
    accessed = [row for row in rows if row["level"] in _RANKINGS]
    drivers = [
        (driver, model)
        for driver in in_order((row["driver"] for row in accessed), DRIVERS)
        for model in dict.fromkeys(row["model"] for row in accessed if row["driver"] == driver)
    ]
    taus = sorted({row["tau"] for row in rows})
    computed = [row for row in rows if row["level"] in _COMPUTED]

    fig = Figure(figsize=(PAGE_WIDTH, 0.85 + 2.25 * len(drivers)), layout="constrained")
    panels = fig.subplots(len(drivers), len(_STATISTICS), squeeze=False)
    for line, (driver, model) in enumerate(drivers):
        own = [row for row in accessed if (row["driver"], row["model"]) == (driver, model)]
        each = [row for row in seeds if (row["driver"], row["model"]) == (driver, model)]
        for column, (statistic, name) in enumerate(_STATISTICS.items()):
            ax = panels[line, column]
            here = [row for row in own if row["statistic"] == statistic]
            _draw_computed(ax, [row for row in computed if row["statistic"] == statistic])
            for ranking in _ranked(own):
                _draw_access(
                    ax,
                    [row for row in here if row["level"] == ranking],
                    [row for row in each if row["level"] == ranking],
                    statistic,
                )
            if statistic == "max_median":
                ax.set_yscale("log")
            else:
                # Zeros must stand clear of the axis.
                ax.set_ylim(bottom=min(0.0, ax.dataLim.y0) - 0.04 * ax.dataLim.y1)
            panel_title(ax, line * len(_STATISTICS) + column, name)
            ax.set_xlabel(f"exponent τ\nPage's p, rise: {_tests(here)}", linespacing=1.5)
            ax.set_xticks(taus, [f"{tau:g}" for tau in taus])
            ax.grid(axis="y")
        panels[line, 0].set_ylabel(_who(own[0]), linespacing=1.4)
    handles = [
        Line2D([], [], color=look.color, marker=look.marker, ls=look.line, label=look.label)
        for look in _COMPUTED.values()
    ]
    for driver in dict.fromkeys(driver for driver, _ in drivers):
        look = mark(DRIVERS, driver)
        own = [row for row in accessed if row["driver"] == driver]
        for ranking in _ranked(own):
            of_seeds = counted((row["n_seeds"] for row in own if row["level"] == ranking), "seed")
            handles.append(
                Line2D(
                    [],
                    [],
                    color=look.color,
                    marker=look.marker,
                    mfc=_face(ranking, look),
                    ls=look.line,
                    label=f"{look.label}, {_RANKINGS[ranking]}, {of_seeds}",
                )
            )
    handles += [
        Line2D(
            [],
            [],
            color="#555555",
            marker="|",
            ms=8,
            ls="none",
            label=f"{100 * level:g}% t interval",
        ),
        Line2D([], [], color="#555555", linewidth=0.4, alpha=0.5, label="a seed"),
    ]
    fig.legend(
        handles=handles,
        loc="outside lower center",
        ncols=3,
        title="what τ asks for, and access counts (reads + writes) of items, mean over seeds",
    )
    return fig


def _draw_computed(ax: Axes, rows: Sequence[Row]) -> None:
    """Draw what τ alone gives."""
    for level, look in _COMPUTED.items():
        own = [row for row in rows if row["level"] == level and row["value"] is not None]
        ax.plot(
            [row["tau"] for row in own],
            [row["value"] for row in own],
            color=look.color,
            marker=look.marker,
            ls=look.line,
            zorder=3,
        )


def _draw_access(ax: Axes, means: Sequence[Row], seeds: Sequence[Row], statistic: str) -> None:
    """Draw one driver's access counts under one ranking: seeds, mean, interval."""
    ranking = means[0]["level"]
    look = mark(DRIVERS, means[0]["driver"])
    for seed in sorted({row["seed"] for row in seeds}):
        own = sorted(
            (row["tau"], row[statistic])
            for row in seeds
            if row["seed"] == seed and row[statistic] is not None
        )
        if own:
            ax.plot(*zip(*own, strict=True), color=look.color, lw=0.4, alpha=0.3, zorder=1)
    known = [row for row in means if row["value"] is not None]
    for row in known:
        if row["low"] is not None and row["high"] is not None:
            ax.vlines(row["tau"], row["low"], row["high"], color=look.color, zorder=5)
    ax.plot(
        [row["tau"] for row in known],
        [row["value"] for row in known],
        color=look.color,
        marker=look.marker,
        mfc=_face(ranking, look),
        ls=look.line,
        zorder=4,
    )


def _face(ranking: str, look: Mark) -> str:
    return look.color if ranking == "access" else "white"


def _ranked(rows: Sequence[Row]) -> list[str]:
    """Return the rankings among rows."""
    return in_order((row["level"] for row in rows), _RANKINGS)


def _who(row: Row) -> str:
    """Return who walked how far."""
    label = mark(DRIVERS, row["driver"]).label
    return "\n".join(filter(None, [label, row["model"], f"{row['n_steps']:,} steps"]))


def _tests(rows: Sequence[Row]) -> str:
    """Return Page's p of a rise per ranking."""
    found = {row["level"]: row["page_p"] for row in rows}
    symbols = _SYMBOLS[mark(DRIVERS, rows[0]["driver"]).marker]
    return ", ".join(f"{symbols[ranking]} {_p(found[ranking])}" for ranking in _ranked(rows))


def _p(value: float | None) -> str:
    if value is None:
        return "n/a"
    return "<0.001" if value < 0.001 else f"{value:.3f}"
