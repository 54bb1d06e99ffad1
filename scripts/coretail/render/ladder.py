"""Figure 3: the retriever ladder."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from coretail.render.style import (
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

RUNGS = {
    "uniform_frequency": "uniform,\nby frequency",
    "state_frequency": "state-aware,\nby frequency",
    "state_uniform": "state-aware,\nat random",
    "none": "no retrieval",
}
UNPAIRED = "symmetric_payload"
REFERENCE = "state_frequency"


@style()
def figure3(rows: Sequence[Row], interval: str = "95% t interval over seeds") -> Figure:
    """Draw Gini per family and rung, and the reduction against the reference, per graph size.

    Parameters
    ----------
    rows
        One per family, size and rung: ``family, n_nodes, rung, gini_mean, gini_low, gini_high,
        reduction_mean, reduction_low, reduction_high, n_seeds``. Reductions are shares
        (1 − Gini of the rung / Gini of ``state_frequency``), drawn in per cent. Any of these
        numbers may be ``None``; a row without a mean is marked as undefined. The rung
        ``symmetric_payload`` is another world, hence unpaired: it stands apart, hollow.
    interval
        What the bars are, for the legend.

    Raises
    ------
    InputError
        If there are no rows, a row lacks a key, or a family or rung is unknown.
    """
    statistics = ("gini", "reduction")
    keys = [f"{name}_{part}" for name in statistics for part in ("mean", "low", "high")]
    require(rows, ["family", "n_nodes", "rung", "n_seeds", *keys], "figure3")
    sizes = sorted({row["n_nodes"] for row in rows})
    families = in_order((row["family"] for row in rows), FAMILIES)
    places = {rung: float(i) for i, rung in enumerate(RUNGS)}
    labels = dict(RUNGS)
    if any(row["rung"] == UNPAIRED for row in rows):
        places[UNPAIRED] = len(RUNGS) + 0.15
        labels[UNPAIRED] = "symmetric\npayload"
    unknown = in_order((row["rung"] for row in rows), places)[len(places) :]
    if unknown:
        from coretail.errors import InputError

        raise InputError(f"figure3: unknown rung {unknown[0]!r}; known are {', '.join(RUNGS)}")

    fig = Figure(figsize=(PAGE_WIDTH, 4.3), layout="constrained")
    axes = fig.subplots(2, len(sizes), sharex=True, sharey="row", squeeze=False)
    for column, size in enumerate(sizes):
        here = [row for row in rows if row["n_nodes"] == size]
        for line, statistic in enumerate(statistics):
            _panel(axes[line, column], here, statistic, families, places)
        seeds = counted((row["n_seeds"] for row in here), "seed")
        panel_title(axes[0, column], "abcdefghijkl"[column], f"|V| = {size:,d}, {seeds}")
        axes[1, column].set_xticks(
            list(places.values()), labels.values(), rotation=40, ha="right", rotation_mode="anchor"
        )
    return fig
