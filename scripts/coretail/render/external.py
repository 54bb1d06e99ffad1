"""Figure 8: what CTWM saves and costs against graph memory, over all workloads."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from coretail.errors import InputError
from coretail.render.style import PAGE_WIDTH, Mark, Row, panel_title, require, style

_KEYS = (
    "configuration",
    "label",
    "data",
    "model",
    "status",
    "accuracy_by",
    "n",
    "n_accuracy",
    "reading_tokens",
    "paper_reduction",
    "margin",
)
_VALUES = ("tokens_reduction", "tokens_reduction_verbose", "accuracy_difference")
_NO_MODEL = Mark("no model: free predictor vote", "#777777", "o")
# Models in the order in which they come; a sixth looks as the first again.
_MODELS = (
    ("#0072B2", "o"),
    ("#D55E00", "^"),
    ("#009E73", "s"),
    ("#CC79A7", "D"),
    ("#E69F00", "v"),
)
_STAND_IN = "#F3EBD8"


@style()
def figure_external(rows: Sequence[Row]) -> Figure:
    """Draw tokens saved and differences of accuracy, one line per configuration and model.

    A filled mark is measured at the same encoding; a small one beside it is the paper's pairing
    (graph memory verbose); an open circle is what the paper prints. Bars are the intervals of
    Table 5: 95% for tokens, 90% for accuracies. Stand-ins for a benchmark have a tinted ground and
    say so in their names. What was not run keeps its line. What is not read, since too many of its
    steps are random, is pale and says so.

    Parameters
    ----------
    rows
        Of ``table5``: ``configuration, label, data, model, status, accuracy_by, n, n_accuracy,
        reading_tokens, paper_reduction, margin``, and ``tokens_reduction,
        tokens_reduction_verbose`` and ``accuracy_difference`` each with ``_low`` and ``_high``.

    Raises
    ------
    InputError
        If there are no rows, a row lacks a key, or a model has two rows of one configuration.
    """
    limits = tuple(f"{value}{end}" for value in _VALUES for end in ("", "_low", "_high"))
    require(rows, (*_KEYS, *limits), "figure_external")
    if len({(row["configuration"], row["model"]) for row in rows}) < len(rows):
        raise InputError("figure_external: two rows of one configuration and model")
    names = list(dict.fromkeys(row["model"] for row in rows if row["model"] is not None))
    looks: dict[str | None, Mark] = {
        name: Mark(name.replace("$", r"\$"), *_MODELS[position % len(_MODELS)])
        for position, name in enumerate(names)
    }
    looks[None] = _NO_MODEL
    fig = Figure(figsize=(PAGE_WIDTH, 1.1 + 0.24 * len(rows)), layout="constrained")
    saved, right = fig.subplots(1, 2, sharey=True)
    _panel(saved, rows, looks, "tokens_reduction", "n")
    _panel(right, rows, looks, "accuracy_difference", "n_accuracy")
    for line, row in enumerate(rows):
        saved.plot(row["paper_reduction"], line, "o", color="#000000", mfc="none", ms=6, mew=0.8)
    panel_title(saved, 0, "prompt tokens saved by CTWM")
    saved.set_xlabel("share of tokens, both compact, 95% intervals")
    panel_title(right, 1, "accuracy, CTWM minus graph memory")
    right.set_xlabel("difference (graphs: at the tail), 90% intervals")
    # No difference is larger, though the interval of a few calls may be.
    low, high = right.get_xlim()
    for ax in (saved, right):
        ax.xaxis.set_major_locator(MaxNLocator(5))
    right.set_xlim(max(low, -1.05), min(high, 1.05))
    margin = rows[0]["margin"]
    right.axvspan(-margin, margin, color="#E4EEF5", lw=0, zorder=0.5)
    saved.set_yticks(range(len(rows)), [_tick(row, rows) for row in rows])
    saved.set_ylim(len(rows) - 0.5, -0.5)
    right.tick_params(labelleft=False)
    _legend(fig, rows, looks, margin)
    return fig


def _tick(row: Row, rows: Sequence[Row]) -> str:
    """Return a line's name: the configuration, once."""
    first = next(one for one in rows if one["configuration"] == row["configuration"])
    return str(row["label"]) if row is first else ""


def _panel(
    ax: Axes, rows: Sequence[Row], looks: dict[str | None, Mark], value: str, count: str
) -> None:
    for line, row in enumerate(rows):
        if row["data"] == "stand-in":
            ax.axhspan(line - 0.5, line + 0.5, color=_STAND_IN, lw=0, zorder=0)
        look = looks[row["model"]]
        x = row[value]
        note = f"n = {row[count]:,d}"
        if x is None:
            note = "not run" if row["status"].startswith("not run") else "no model"
        else:
            _mark(ax, row, value, line, look, 4.5)
            note += ", not read" if _is_unread(row) else ""
        if value == "tokens_reduction" and row["tokens_reduction_verbose"] is not None:
            _mark(ax, row, "tokens_reduction_verbose", line + 0.27, look, 2.5)
        ax.text(
            1.01, line, note, fontsize=5, va="center", ha="left", transform=ax.get_yaxis_transform()
        )
    for line in range(1, len(rows)):
        if rows[line]["configuration"] != rows[line - 1]["configuration"]:
            ax.axhline(line - 0.5, color="#DDDDDD", lw=0.4, zorder=1)
    ax.axvline(0, color="#000000", lw=0.6, zorder=1)
    ax.xaxis.set_major_formatter(FuncFormatter(_percent))
    ax.tick_params(axis="y", length=0)


def _mark(ax: Axes, row: Row, value: str, line: float, look: Mark, size: float) -> None:
    low, high = row[f"{value}_low"], row[f"{value}_high"]
    alpha = 0.35 if _is_unread(row) else 1.0
    if low is not None and high is not None:
        ax.hlines(line, low, high, color=look.color, lw=size / 4.5, alpha=alpha, zorder=2)
    ax.plot(
        row[value],
        line,
        color=look.color,
        marker=look.marker,
        ms=size,
        mew=0,
        alpha=alpha,
        zorder=3,
    )


def _is_unread(row: Row) -> bool:
    return str(row["reading_tokens"]).startswith("not read")


def _percent(value: float, _: int) -> str:
    shown = f"{100 * value:.3g}%"
    return shown.replace("-", "−")


def _legend(fig: Figure, rows: Sequence[Row], looks: dict[str | None, Mark], margin: float) -> None:
    free = any(row["model"] is None and row["accuracy_by"] is not None for row in rows)
    shown = [look for name, look in looks.items() if name is not None or free]
    handles: list[Line2D | Patch] = [
        Line2D([], [], color=look.color, marker=look.marker, label=look.label, lw=1)
        for look in shown
    ]
    handles.append(
        Line2D([], [], color="#000000", marker="o", mfc="none", ms=6, ls="none", label="the paper")
    )
    if any(row["tokens_reduction_verbose"] is not None for row in rows):
        handles.append(
            Line2D(
                [],
                [],
                color="#555555",
                marker="o",
                ms=2.5,
                lw=0.6,
                label="against graph memory, verbose",
            )
        )
    if any(row["data"] == "stand-in" for row in rows):
        handles.append(Patch(color=_STAND_IN, label="stand-in, not the benchmark"))
    handles.append(Patch(color="#E4EEF5", label=f"parity: ±{100 * margin:g} points"))
    fig.legend(handles=handles, loc="outside lower center", ncols=3)
