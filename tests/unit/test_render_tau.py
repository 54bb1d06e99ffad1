"""Figure 7: its curves, intervals and tests, gaps, the same bytes twice, its errors."""

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.transforms import Bbox

from coretail.errors import InputError
from coretail.render.style import DRIVERS, save_figure
from coretail.render.tau import figure7

TAUS = (0.25, 0.5, 1.0, 2.0)
STATISTICS = ("gini", "skew", "max_median")
MODELS = {"semantic": "Qwen2.5-Coder-1.5B-Instruct"}
P = {"gini": 0.6, "skew": 0.0001, "max_median": None}


def table_rows(drivers=("random_walk",)):
    rows = []
    for driver, level in [
        ("none", "allocation"),
        ("none", "slots"),
        ("none", "rank"),
        *((driver, level) for driver in drivers for level in ("access", "access_global")),
    ]:
        for place, statistic in enumerate((*STATISTICS, "alpha")):
            for tau in TAUS:
                value = 0.1 + 0.2 * tau + place
                if (level, statistic) == ("slots", "skew") and tau < 1:
                    value = None
                drawn = driver != "none"
                rows.append(
                    {
                        "driver": driver,
                        "model": MODELS.get(driver),
                        "level": level,
                        "statistic": statistic,
                        "tau": tau,
                        "value": value,
                        "low": value - 0.05 if drawn else None,
                        "high": value + 0.07 if drawn else None,
                        "n_seeds": 3 if drawn else 0,
                        "n_steps": 2000 if drawn else None,
                        "page_p": P.get(statistic) if drawn else None,
                    }
                )
    return rows


def seed_rows(drivers=("random_walk",)):
    return [
        {
            "driver": driver,
            "model": MODELS.get(driver),
            "level": level,
            "seed": seed,
            "tau": tau,
            **{
                name: 0.1 + 0.2 * tau + place + 0.01 * seed for place, name in enumerate(STATISTICS)
            },
        }
        for driver in drivers
        for level in ("access", "access_global", "rank")
        for tau in TAUS
        for seed in range(3)
    ]


def lines_of(ax, color):
    return [line for line in ax.lines if to_hex(line.get_color()) == color.lower()]


def test_curves_intervals_and_seeds():
    fig = figure7(table_rows(), seed_rows())
    assert len(fig.axes) == 3
    walk = DRIVERS["random_walk"]
    for place, ax in enumerate(fig.axes):
        expected = [0.1 + 0.2 * tau + place for tau in TAUS]
        (shares,) = lines_of(ax, "#000000")
        assert shares.get_xydata().tolist() == list(map(list, zip(TAUS, expected, strict=True)))
        drawn = lines_of(ax, walk.color)
        # Three seeds and a mean per ranking; nothing of the level that isn't shown.
        assert len(drawn) == 2 * (3 + 1)
        means = [line for line in drawn if line.get_marker() == walk.marker]
        assert {to_hex(line.get_markerfacecolor()) for line in means} == {
            walk.color.lower(),
            "#ffffff",
        }
        bars = [
            path.vertices
            for collection in ax.collections
            if isinstance(collection, LineCollection)
            for path in collection.get_paths()
        ]
        assert len(bars) == 2 * len(TAUS)
        assert np.ptp(bars[0][:, 1]) == pytest.approx(0.12)


def test_a_driver_has_a_row_of_its_own():
    fig = figure7(table_rows(("random_walk", "semantic")), seed_rows(("random_walk", "semantic")))
    assert len(fig.axes) == 6
    for place, ax in enumerate(fig.axes):
        walked = lines_of(ax, DRIVERS["random_walk"].color)
        sought = lines_of(ax, DRIVERS["semantic"].color)
        assert (len(walked), len(sought)) == ((8, 0) if place < 3 else (0, 8))
        assert len(lines_of(ax, "#000000")) == 1


def test_two_models_have_a_row_each():
    rows, seeds = table_rows(("semantic",)), seed_rows(("semantic",))
    for drawn in (rows, seeds):
        drawn += [row | {"model": "other"} for row in drawn if row["driver"] == "semantic"]
    fig = figure7(rows, seeds)
    labels = [ax.get_ylabel() for ax in fig.axes[::3]]
    assert [label.split("\n")[1] for label in labels] == [MODELS["semantic"], "other"]
    assert {len(lines_of(ax, DRIVERS["semantic"].color)) for ax in fig.axes} == {8}


def test_an_undefined_value_is_a_gap():
    fig = figure7(table_rows(), seed_rows())
    (slots,) = lines_of(fig.axes[1], "#0072b2")
    assert slots.get_xdata().tolist() == [1.0, 2.0]


def test_what_it_says():
    fig = figure7(table_rows(("random_walk", "semantic")), seed_rows(("random_walk", "semantic")))
    labels = [ax.get_xlabel() for ax in fig.axes]
    for label, p in zip(labels[:3], ("0.600", "<0.001", "n/a"), strict=True):
        assert f"Page's p, rise: ● {p}, ○ {p}" in label
    for label, p in zip(labels[3:], ("0.600", "<0.001", "n/a"), strict=True):
        assert f"Page's p, rise: ▲ {p}, △ {p}" in label
    assert [ax.get_ylabel() for ax in fig.axes] == [
        *("random walk\n2,000 steps", "", ""),
        *("semantic policy\nQwen2.5-Coder-1.5B-Instruct\n2,000 steps", "", ""),
    ]
    (legend,) = fig.legends
    said = [text.get_text() for text in legend.get_texts()]
    assert "random walk, ranked for the state, 3 seeds" in said
    assert "semantic policy, one ranking for all, 3 seeds" in said
    assert "95% t interval" in said


def test_nothing_is_cut_off_or_overlaps():
    fig = figure7(table_rows(("random_walk", "semantic")), seed_rows(("random_walk", "semantic")))
    fig.draw_without_rendering()
    page = fig.bbox.padded(1)
    boxes = [ax.xaxis.label.get_window_extent() for ax in fig.axes]
    boxes += [ax.yaxis.label.get_window_extent() for ax in fig.axes if ax.get_ylabel()]
    boxes += [ax.title.get_window_extent() for ax in fig.axes if ax.get_title()]
    boxes.append(fig.legends[0].get_window_extent())
    for position, box in enumerate(boxes):
        assert page.contains(*box.min)
        assert page.contains(*box.max)
        assert not any(Bbox.intersection(box, other) for other in boxes[:position])


def test_the_same_bytes_twice(tmp_path):
    for name in ("a", "b"):
        save_figure(
            figure7(table_rows(), seed_rows()), tmp_path / f"{name}.pdf", tmp_path / f"{name}.png"
        )
    for kind in ("pdf", "png"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()


def test_what_it_refuses():
    with pytest.raises(InputError, match="no rows"):
        figure7([], seed_rows())
    with pytest.raises(InputError, match="lacks page_p"):
        figure7(
            [{k: v for k, v in row.items() if k != "page_p"} for row in table_rows()], seed_rows()
        )
    with pytest.raises(InputError, match="'tired' has no mark"):
        figure7(table_rows(("tired",)), seed_rows(("tired",)))
