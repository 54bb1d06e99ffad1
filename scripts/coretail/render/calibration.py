"""The calibration figure: how far a p value and a verdict can be trusted."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from coretail.errors import InputError
from coretail.render.style import (
    LAWS,
    PAGE_WIDTH,
    Row,
    counted,
    in_order,
    mark,
    panel_title,
    require,
    size_ticks,
    style,
    text_color,
)
from coretail.stats import binomial_band, wilson_interval

_CUTOFFS = {"known": r"$x_{\min}$ known", "refitted": r"$x_{\min}$ refitted"}
_N_TAIL = r"$n_{\mathrm{tail}}$"
_DASHES = ("-", "--", "-.", ":")
_LEVEL = 0.95
_SHARES = colormaps["cividis"]

Counts = Mapping[tuple[str, int, str], int]


@style()
def figure_calibration(
    p_rows: Sequence[Row],
    confusion_rows: Sequence[Row],
    verdicts: Mapping[str, str],
    verdict: str,
    p_star: float = 0.10,
) -> Figure:
    """Draw the null distribution of p, the power of one verdict, and the confusion matrices.

    Above: the empirical distribution function of the bootstrap p under its own null, at a known
    and at a refitted x_min, against the diagonal with its pointwise binomial 95% band; then the
    share of samples that get ``verdict`` by n_tail, one line per true law, with 95% Wilson
    intervals. Below, per n_tail: the share of each verdict (columns) given the true law (rows),
    in per cent.

    Parameters
    ----------
    p_rows
        One per sample: ``cutoff`` (``known`` or ``refitted``), ``n_tail`` and ``p``.
    confusion_rows
        One per law, n_tail and verdict that occurred: ``law, n_tail, verdict, count`` (samples).
    verdicts
        All verdicts in the order of the columns, each with its label.
    verdict
        The verdict whose power is drawn.
    p_star
        The audit's threshold of p, marked on the axis.

    Raises
    ------
    InputError
        If there are no rows, a row lacks a key, or a cutoff, law or verdict is unknown.
    """
    require(p_rows, ("cutoff", "n_tail", "p"), "figure_calibration, p")
    require(confusion_rows, ("law", "n_tail", "verdict", "count"), "figure_calibration, confusion")
    _check("cutoff", p_rows, _CUTOFFS)
    _check("verdict", [*confusion_rows, {"verdict": verdict}], verdicts)
    laws = in_order((row["law"] for row in confusion_rows), LAWS)
    sizes = sorted({row["n_tail"] for row in confusion_rows})
    counts = {(law, size, name): 0 for law in laws for size in sizes for name in verdicts}
    for row in confusion_rows:
        counts[row["law"], row["n_tail"], row["verdict"]] += row["count"]
    totals = {
        (law, size): sum(counts[law, size, name] for name in verdicts)
        for law in laws
        for size in sizes
    }

    fig = Figure(figsize=(PAGE_WIDTH, 5.2), layout="constrained")
    upper, lower = fig.subfigures(2, 1, squeeze=False, height_ratios=(5, 4), frameon=False)[:, 0]
    left, right = upper.subfigures(1, 2, squeeze=False, width_ratios=(39, 20), frameon=False)[0]
    nulls = left.subplots(1, 2, sharey=True)
    power = right.subplots()
    null_sizes = sorted({row["n_tail"] for row in p_rows})
    looks = {
        size: (
            colormaps["viridis"](0.75 * position / max(1, len(null_sizes) - 1)),
            _DASHES[position % len(_DASHES)],
        )
        for position, size in enumerate(null_sizes)
    }
    smallest = min(
        sum((row["cutoff"], row["n_tail"]) == key for row in p_rows)
        for key in {(row["cutoff"], row["n_tail"]) for row in p_rows}
    )
    for position, (ax, cutoff) in enumerate(zip(nulls, _CUTOFFS, strict=True)):
        _null(ax, [row for row in p_rows if row["cutoff"] == cutoff], looks, smallest, p_star)
        panel_title(ax, position, f"p under its own null, {_CUTOFFS[cutoff]}")
    nulls[0].set_ylabel("share of samples with a p this small")
    _power(power, counts, totals, laws, sizes, verdict)
    panel_title(power, 2, f"verdict “{verdicts[verdict]}”")
    handles = [
        Line2D([], [], color=color, ls=dash, label=f"{_N_TAIL} = {size:,d}")
        for size, (color, dash) in looks.items()
    ]
    band = Patch(color="#DDDDDD", label=f"95% band, {counted([smallest], 'sample')}")
    left.legend(handles=[*handles, band], loc="outside lower center", ncols=3)
    handles = [
        Line2D([], [], color=m.color, ls=m.line, marker=m.marker, label=m.label)
        for m in (mark(LAWS, law) for law in laws)
    ]
    right.legend(handles=handles, loc="outside lower center", ncols=2)

    axes = lower.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
    for position, (ax, size) in enumerate(zip(axes, sizes, strict=True)):
        _confusion(ax, counts, totals, laws, size, verdicts)
        panel_title(ax, 3 + position, f"{_N_TAIL} = {size:,d}")
    axes[0].set_yticks(range(len(laws)), [mark(LAWS, law).label for law in laws])
    axes[0].set_ylabel("true law")
    samples = counted(totals.values(), "sample")
    lower.supxlabel(f"verdict; in per cent of {samples} per row", fontsize=7)
    return fig


def _check(key: str, rows: Sequence[Row], known: Mapping[str, str]) -> None:
    for row in rows:
        if row[key] not in known:
            raise InputError(
                f"figure_calibration: {key} {row[key]!r} is none of {', '.join(known)}"
            )


def _null(
    ax: Axes,
    rows: Sequence[Row],
    looks: Mapping[int, tuple[tuple[float, float, float, float], str]],
    n_band: int,
    p_star: float,
) -> None:
    grid = np.linspace(0, 1, 201)
    ax.fill_between(grid, *binomial_band(n_band, grid, _LEVEL), color="#DDDDDD", linewidth=0)
    ax.plot([0, 1], [0, 1], color="#777777", linewidth=0.6)
    ax.axvline(p_star, color="#777777", linewidth=0.6, ls=":")
    ax.annotate(
        f"p = {p_star:g}",
        (p_star, 0.97),
        xytext=(2, 0),
        textcoords="offset points",
        va="top",
        fontsize=5.5,
        color="#555555",
    )
    for size, (color, dash) in looks.items():
        p = np.sort([row["p"] for row in rows if row["n_tail"] == size])
        if p.size:
            share = np.arange(1, p.size + 1) / p.size
            ax.step(np.r_[0, p, 1], np.r_[0, share, 1], where="post", color=color, ls=dash, lw=0.9)
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="bootstrap p")
    ticks = [0, 0.25, 0.5, 0.75, 1]
    ax.set_xticks(ticks, ["0", ".25", ".5", ".75", "1"])
    ax.set_yticks(ticks, ["0", ".25", ".5", ".75", "1"])


def _power(
    ax: Axes,
    counts: Counts,
    totals: Mapping[tuple[str, int], int],
    laws: Sequence[str],
    sizes: Sequence[int],
    verdict: str,
) -> None:
    for position, law in enumerate(laws):
        look = mark(LAWS, law)
        shift = 1.16 ** (position - (len(laws) - 1) / 2)
        path = []
        for size in sizes:
            found = wilson_interval(counts[law, size, verdict], totals[law, size], _LEVEL)
            if found.estimate is None or found.low is None or found.high is None:
                continue
            path.append((size * shift, 100 * found.estimate))
            ax.vlines(size * shift, 100 * found.low, 100 * found.high, color=look.color, lw=1.0)
        ax.plot(
            *zip(*path, strict=True), color=look.color, marker=look.marker, ls=look.line, lw=0.8
        )
    ax.set(
        ylim=(-3, 103), xlabel=_N_TAIL, ylabel="share of samples from each law (%)", box_aspect=1
    )
    ax.grid(axis="y")
    size_ticks(ax, sizes)


def _confusion(
    ax: Axes,
    counts: Counts,
    totals: Mapping[tuple[str, int], int],
    laws: Sequence[str],
    size: int,
    verdicts: Mapping[str, str],
) -> None:
    shares = np.array(
        [[counts[law, size, name] / max(1, totals[law, size]) for name in verdicts] for law in laws]
    )
    ax.imshow(shares, cmap=_SHARES, vmin=0, vmax=1, aspect="auto")
    for (i, j), share in np.ndenumerate(shares):
        shown = f"{100 * share:.0f}" if totals[laws[i], size] else "—"
        ax.text(j, i, shown, ha="center", va="center", fontsize=6, color=text_color(_SHARES(share)))
    ax.set_xticks(
        range(len(verdicts)), verdicts.values(), rotation=45, ha="right", rotation_mode="anchor"
    )
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
