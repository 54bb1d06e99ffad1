"""Figure 6: a live difference between encodings, taken apart by replay."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from coretail.errors import InputError
from coretail.render.style import (
    POLICIES,
    Row,
    counted,
    figure_width,
    mark,
    panel_title,
    require,
    style,
)

_TERMS = {
    "live": "live\ndifference",
    "trajectory": "trajectory",
    "reading": "reading",
    "retrieval": "retrieval",
}
# Per set of steps its name, and the place of its marks beside the term's.
_STEPS = {"tail": ("common tail set", -0.16), "all": ("all steps", 0.16)}
# The y axis reaches at least so far from 0, so that rounding is not blown up.
_LEAST = 0.05
_KEYS = ("model", "policy", "predictor", "steps")


@style()
def figure_replay(rows: Sequence[Row], seeds: Sequence[Row]) -> Figure:
    """Draw live differences (compact minus verbose) and their parts.

    A filled mark is the mean over seeds at the common tail set, an open one that over all steps;
    bars are t intervals, dots the seeds. One row of panels per model and policy, one column per
    predictor.

    Parameters
    ----------
    rows
        One per model, policy, predictor and set of steps (``tail`` or ``all``): ``model, policy,
        predictor, steps, n_seeds, conclusive``, and ``live, trajectory, reading, retrieval`` each
        with ``_low`` and ``_high``; each may be None.
    seeds
        The same of each seed: ``model, policy, predictor, steps, seed`` and the four values.

    Raises
    ------
    InputError
        If there are no rows, a row lacks a key, or one occurs twice.
    """
    limits = [f"{term}{end}" for term in _TERMS for end in ("", "_low", "_high")]
    require(rows, (*_KEYS, "n_seeds", "conclusive", *limits), "figure_replay")
    require(seeds, (*_KEYS, "seed", *_TERMS), "figure_replay")
    if len({tuple(row[key] for key in _KEYS) for row in rows}) < len(rows):
        raise InputError("figure_replay: two rows of one difference")
    actors = list(dict.fromkeys((row["model"], row["policy"]) for row in rows))
    predictors = list(dict.fromkeys(row["predictor"] for row in rows))
    fig = Figure(
        figsize=(figure_width(len(predictors)), 0.6 + 2.3 * len(actors)), layout="constrained"
    )
    axes = fig.subplots(len(actors), len(predictors), squeeze=False, sharex=True, sharey="row")
    for line, actor in enumerate(actors):
        for column, predictor in enumerate(predictors):
            ax = axes[line, column]
            panel = (*actor, predictor)
            own = [row for row in rows if tuple(row[key] for key in _KEYS[:3]) == panel]
            points = [row for row in seeds if tuple(row[key] for key in _KEYS[:3]) == panel]
            _panel(ax, own, points)
            panel_title(ax, line * len(predictors) + column, _title(own))
        axes[line, 0].set_ylabel("loss, compact − verbose")
        low, high = axes[line, 0].get_ylim()
        axes[line, 0].set_ylim(min(low, -_LEAST), max(high, _LEAST))
    for ax in axes[-1]:
        ax.set_xticks(range(len(_TERMS)), list(_TERMS.values()))
    looks = [mark(POLICIES, name) for name in dict.fromkeys(policy for _, policy in actors)]
    color = looks[0].color if len(looks) == 1 else "#555555"
    marker = looks[0].marker if len(looks) == 1 else "o"
    handles = [
        Line2D(
            [], [], color=color, marker=marker, mfc=face, label=f"{name}, mean and 95% t interval"
        )
        for (name, _), face in zip(_STEPS.values(), (color, "white"), strict=True)
    ]
    handles.append(Line2D([], [], color="#888888", marker=".", ls="none", label="one seed"))
    fig.legend(handles=handles, loc="outside lower center", ncols=3 if len(predictors) > 1 else 1)
    return fig


def _title(rows: Sequence[Row]) -> str:
    first = rows[0]
    predictor = "the model" if first["predictor"] == "model" else first["predictor"]
    model = str(first["model"]).replace("$", r"\$")
    seeds = counted((row["n_seeds"] for row in rows), "seed")
    # Claims rest on the common tail set.
    shown = any(row["conclusive"] for row in rows if row["steps"] == "tail")
    verdict = "" if shown else "; not conclusive"
    return (
        f"{model}\n{mark(POLICIES, first['policy']).label}, predicted by {predictor}, "
        f"{seeds}{verdict}"
    )


def _panel(ax: Axes, rows: Sequence[Row], seeds: Sequence[Row]) -> None:
    ax.axhline(0, color="#777777", lw=0.6, zorder=1)
    for row in rows:
        look = mark(POLICIES, row["policy"])
        _, offset = _STEPS[row["steps"]]
        for place, term in enumerate(_TERMS):
            x = place + offset
            values = [
                seed[term]
                for seed in seeds
                if seed["steps"] == row["steps"] and seed[term] is not None
            ]
            ax.plot(
                [x + 0.09] * len(values), values, color="#888888", marker=".", ls="none", zorder=2
            )
            if row[term] is None:
                continue
            if row[f"{term}_low"] is not None:
                ends = (row[f"{term}_low"], row[f"{term}_high"])
                ax.vlines(x, *ends, color=look.color, lw=1.0, zorder=3)
            face = look.color if row["steps"] == "tail" else "white"
            ax.plot(x, row[term], color=look.color, marker=look.marker, mfc=face, ms=4.5, zorder=4)
    ax.set_xlim(-0.6, len(_TERMS) - 0.4)
    ax.grid(axis="y")
    ax.tick_params(axis="x", length=0)
