"""Every figure: the same bytes twice, its intervals and marks, its errors."""

import itertools
import re
from dataclasses import dataclass

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from coretail.errors import InputError
from coretail.render.auditable import figure_auditable_map
from coretail.render.calibration import figure_calibration
from coretail.render.distributions import figure1_random_walk
from coretail.render.finite_size import figure_sigma
from coretail.render.ladder import figure3
from coretail.render.style import FAMILIES, LAWS, save_figure, style
from coretail.stats import binomial_band, t_interval, wilson_interval
from coretail.streams import stream

SIZES = (100, 500, 1000)
PAPER = {
    "uniform": (0.152, 0.802, 1.364),
    "exponential": (0.333, 0.900, 1.369),
    "scale-free": (0.385, 0.809, 1.349),
    "modular": (0.162, 1.461, 1.366),
    "mixed": (0.231, 1.252, 1.430),
    "baseline-symmetric": (0.253, 1.190, 1.543),
}
VERDICTS = {
    "not_auditable": "not auditable",
    "truncated_power_law": "truncated p. l.",
    "lognormal": "log-normal",
    "power_law": "power law",
    "undecided": "undecided",
}


def ladder_rows():
    rng = stream("demo", "ladder")
    level = {
        "uniform_frequency": 0.70,
        "state_frequency": 0.58,
        "state_uniform": 0.54,
        "none": 0.33,
    }
    rows = []
    for family in list(FAMILIES)[:5]:
        for n_nodes in SIZES:
            base = level["state_frequency"] + 0.04 * rng.random()
            for rung, gini in level.items():
                mean = base if rung == "state_frequency" else gini + 0.06 * rng.random()
                half = 0.005 + 0.02 * rng.random()
                cut = None if rung == "state_frequency" else 1 - mean / base
                rows.append(
                    {
                        "family": family,
                        "n_nodes": n_nodes,
                        "rung": rung,
                        "gini_mean": mean,
                        "gini_low": mean - half,
                        "gini_high": mean + half,
                        "n_seeds": 20,
                        "reduction_mean": cut,
                        "reduction_low": None if cut is None else cut - 1.5 * half,
                        "reduction_high": None if cut is None else cut + 1.5 * half,
                    }
                )
    for n_nodes in SIZES:
        rows.append(
            {
                "family": "baseline-symmetric",
                "n_nodes": n_nodes,
                "rung": "symmetric_payload",
                "gini_mean": 0.638,
                "gini_low": 0.62,
                "gini_high": 0.66,
                "n_seeds": 20,
                "reduction_mean": None,
                "reduction_low": None,
                "reduction_high": None,
            }
        )
    return rows


def distribution_rows(n_items=250, seeds=(42, 43, 44)):
    rank_rows, ccdf_rows, fits = [], [], []
    for position, family in enumerate(FAMILIES):
        for seed in seeds:
            rng = stream("demo", "counts", family, seed)
            scale = np.exp(0.5 + 0.15 * position) * 20
            counts = np.ceil(scale * np.exp(rng.standard_normal(n_items) * (0.7 + 0.1 * position)))
            counts = np.sort(counts.astype(int))[::-1]
            key = {"family": family, "n_nodes": 500, "seed": seed}
            rank_rows += [
                {**key, "rank": r, "count": int(c)} for r, c in enumerate(counts, start=1)
            ]
            for x in np.unique(counts):
                ccdf_rows.append({**key, "x": int(x), "ccdf": float((counts >= x).mean())})
        x_min = int(np.quantile(counts, 0.7))
        for x in np.geomspace(x_min, counts.max() * 3, 40):
            t = x / x_min
            for law, share in {
                "power_law": t**-1.6,
                "truncated_power_law": t**-0.8 * np.exp(-0.35 * (t - 1)),
                "lognormal": np.exp(-0.9 * np.log(t) - 0.5 * np.log(t) ** 2),
                "exponential": np.exp(-1.1 * (t - 1)),
            }.items():
                fits.append({"family": family, "law": law, "x": float(x), "ccdf": 0.3 * share})
    return rank_rows, ccdf_rows, fits


def sigma_rows():
    rng = stream("demo", "sigma")
    rows, paper = [], []
    for family, sigmas in PAPER.items():
        for n_nodes, sigma in zip(SIZES, sigmas, strict=True):
            paper.append({"family": family, "n_nodes": n_nodes, "sigma_top10": sigma})
            for eviction, factor in (("reservoir", 0.85), ("least_frequent", 0.55)):
                for seed in (42, 43, 44):
                    rows.append(
                        {
                            "family": family,
                            "n_nodes": n_nodes,
                            "eviction": eviction,
                            "seed": seed,
                            "sigma_top10": factor * sigma * (0.95 + 0.1 * rng.random()),
                        }
                    )
    return rows, paper


def calibration_rows():
    rng = stream("demo", "calibration")
    p_rows, confusion = [], []
    for n_tail in (50, 200, 1000, 5000):
        for cutoff, power in (("known", 1.0), ("refitted", 0.7)):
            for _ in range(200):
                p = np.round(rng.random() ** power * 200) / 200
                p_rows.append({"cutoff": cutoff, "n_tail": n_tail, "p": float(p)})
        sharp = min(0.95, 0.1 * np.log(n_tail))
        for law in LAWS:
            if n_tail < 100:
                confusion.append(
                    {"law": law, "n_tail": n_tail, "verdict": "not_auditable", "count": 200}
                )
                continue
            right = law if law in VERDICTS else "undecided"
            hits = int(200 * sharp)
            confusion.append({"law": law, "n_tail": n_tail, "verdict": right, "count": hits})
            confusion.append(
                {"law": law, "n_tail": n_tail, "verdict": "undecided", "count": 200 - hits}
            )
    return p_rows, confusion


def map_rows():
    rows = []
    for position, family in enumerate(FAMILIES):
        for n_nodes in (50, 100, 200, 500, 1000):
            for n_steps in (1_000, 5_000, 20_000, 100_000):
                z = np.log(n_nodes / 200) + 0.4 * np.log(n_steps / 5_000) - 0.2 * position
                rows.append(
                    {
                        "family": family,
                        "n_nodes": n_nodes,
                        "n_steps": n_steps,
                        "auditable": round(20 / (1 + np.exp(-1.5 * z))),
                        "n_seeds": 20,
                    }
                )
    return rows


def _calibration():
    return figure_calibration(*calibration_rows(), VERDICTS, "truncated_power_law")


def _of(family, *tables):
    return [[row for row in rows if row["family"] == family] for rows in tables]


FIGURES = {
    "figure3": lambda: figure3(ladder_rows()),
    "figure1": lambda: figure1_random_walk(*distribution_rows()),
    "figure1_without_fits": lambda: figure1_random_walk(*distribution_rows()[:2]),
    "sigma": lambda: figure_sigma(*sigma_rows()),
    "calibration": _calibration,
    "auditable": lambda: figure_auditable_map(map_rows()),
}
SMALL = {
    "figure3": lambda: figure3([r for r in ladder_rows() if r["n_nodes"] == 100]),
    "figure3_one_rung": lambda: figure3(ladder_rows()[:1]),
    "figure1": lambda: figure1_random_walk(*_of("mixed", *distribution_rows())),
    "sigma": lambda: figure_sigma(*_of("mixed", *sigma_rows())),
    "calibration": lambda: figure_calibration(
        *[[row for row in rows if row["n_tail"] == 200] for rows in calibration_rows()],
        VERDICTS,
        "truncated_power_law",
    ),
    "auditable": lambda: figure_auditable_map(*_of("mixed", map_rows())),
}


@dataclass
class Word:
    """A text as drawn, with its place in pixels."""

    text: str
    size: float
    rotation: float
    box: Bbox


@dataclass
class Drawn:
    """A figure after layout, with the texts that it really draws (ticks out of range are not)."""

    width: float
    page: Bbox
    words: list[Word]
    panels: list[Bbox]
    legends: list[Bbox]

    @property
    def text(self):
        return " ".join(word.text for word in self.words)


def lay_out(fig):
    words = []
    draw = Text.draw

    def record(text, renderer):
        if text.get_text() and text.get_visible():
            box = text.get_window_extent(renderer)
            words.append(Word(text.get_text(), text.get_fontsize(), text.get_rotation(), box))
        draw(text, renderer)

    with style():
        fig.draw_without_rendering()
        fig.set_layout_engine("none")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Text, "draw", record)
            fig.draw_without_rendering()
        panels = [ax.get_tightbbox() for ax in fig.findobj(Axes) if ax.axison]
        legends = [legend.get_window_extent() for legend in fig.findobj(Legend)]
    return Drawn(fig.get_figwidth(), fig.bbox, words, panels, legends)


@pytest.fixture(scope="module")
def figures():
    builds = FIGURES | {f"small {name}": build for name, build in SMALL.items()}
    return {name: lay_out(build()) for name, build in builds.items()}


EVERY = [*FIGURES, *(f"small {name}" for name in SMALL)]


def marks_at(ax, color, marker):
    """Return the (x, y) of the markers of one colour and shape."""
    return [
        point
        for line in ax.get_lines()
        if line.get_marker() == marker and to_hex(line.get_color()) == color.lower()
        for point in zip(line.get_xdata(), line.get_ydata(), strict=True)
    ]


def bars(ax):
    """Return (x, low, high) of every vertical bar drawn by vlines."""
    return [
        (segment[0, 0], segment[0, 1], segment[1, 1])
        for collection in ax.collections
        if isinstance(collection, LineCollection)
        for segment in collection.get_segments()
    ]


@pytest.mark.parametrize("name", FIGURES)
def test_two_renders_give_the_same_bytes(name, tmp_path):
    for run in ("one", "two"):
        save_figure(FIGURES[name](), tmp_path / f"{run}.pdf", tmp_path / f"{run}.png")
    for suffix in ("pdf", "png"):
        first = (tmp_path / f"one.{suffix}").read_bytes()
        assert first == (tmp_path / f"two.{suffix}").read_bytes()
        assert first.startswith({"pdf": b"%PDF", "png": b"\x89PNG"}[suffix])


@pytest.mark.parametrize("name", EVERY)
def test_no_text_is_cut_off(figures, name):
    page = figures[name].page.padded(1)
    for word in figures[name].words:
        assert page.x0 <= word.box.x0 < word.box.x1 <= page.x1, word
        assert page.y0 <= word.box.y0 < word.box.y1 <= page.y1, word


@pytest.mark.parametrize("name", EVERY)
def test_no_legend_lies_over_data_or_labels(figures, name):
    for legend, panel in itertools.product(figures[name].legends, figures[name].panels):
        shared = Bbox.intersection(legend, panel)
        assert shared is None or min(shared.width, shared.height) < 1


@pytest.mark.parametrize("name", EVERY)
def test_texts_do_not_run_into_each_other(figures, name):
    upright = [word for word in figures[name].words if word.rotation in (0, 90)]
    for one, other in itertools.combinations(upright, 2):
        shared = Bbox.intersection(one.box, other.box)
        assert shared is None or min(shared.width, shared.height) < 1, (one, other)


@pytest.mark.parametrize("name", EVERY)
def test_text_is_legible_at_print_size(figures, name):
    assert figures[name].width in {3.3, 6.9}
    assert min(word.size for word in figures[name].words) >= 5


@pytest.mark.parametrize("name", EVERY)
def test_every_figure_says_its_n(figures, name):
    assert re.search(r"\b\d+(–\d+)? (seed|sample)s?\b", figures[name].text)


def test_ladder_draws_every_mean_and_every_interval():
    rows = ladder_rows()
    axes = figure3(rows).axes
    for column, n_nodes in enumerate(SIZES):
        here = [row for row in rows if row["n_nodes"] == n_nodes]
        for line, (name, scale) in enumerate((("gini", 1), ("reduction", 100))):
            ax = axes[line * len(SIZES) + column]
            known = [row for row in here if row[f"{name}_mean"] is not None]
            expected = sorted(
                (scale * row[f"{name}_low"], scale * row[f"{name}_high"]) for row in known
            )
            np.testing.assert_allclose(sorted((low, high) for _, low, high in bars(ax)), expected)
            for family, look in FAMILIES.items():
                values = [scale * row[f"{name}_mean"] for row in known if row["family"] == family]
                drawn = [y for _, y in marks_at(ax, look.color, look.marker)]
                np.testing.assert_allclose(sorted(drawn), sorted(values))


def test_ladder_draws_the_unpaired_rung_hollow_and_unlinked():
    look = FAMILIES["baseline-symmetric"]
    ax = figure3(ladder_rows()).axes[0]
    own = [line for line in ax.get_lines() if to_hex(line.get_color()) == look.color]
    assert len(own) == 1
    assert to_hex(own[0].get_markerfacecolor()) == "#ffffff"
    paired = FAMILIES["modular"]
    linked = [line for line in ax.get_lines() if to_hex(line.get_color()) == paired.color.lower()]
    assert {to_hex(line.get_markerfacecolor()) for line in linked} == {paired.color.lower()}
    assert max(len(line.get_xdata()) for line in linked) == 4


def test_ladder_marks_an_undefined_value_and_a_missing_interval():
    rows = [row for row in ladder_rows() if row["n_nodes"] == 100]
    rows[0] |= {"gini_mean": None, "gini_low": None, "gini_high": None}
    rows[2] |= {"gini_low": None, "gini_high": None}
    before, after = (
        figure3(table).axes[0]
        for table in ([row for row in ladder_rows() if row["n_nodes"] == 100], rows)
    )
    assert [text.get_text() for text in after.texts] == ["n/a"]
    assert len(bars(after)) == len(bars(before)) - 2


def test_ladder_says_where_the_numbers_of_seeds_differ():
    rows = ladder_rows()
    rows[0]["n_seeds"] = 18
    titles = [ax.get_title(loc="left") for ax in figure3(rows).axes]
    assert titles[0].endswith("|V| = 100, 18–20 seeds")
    assert titles[2].endswith("|V| = 1,000, 20 seeds")


def test_distributions_draw_every_seed_as_it_is():
    rank_rows, ccdf_rows, _ = distribution_rows(n_items=300)
    by_rank, by_count = figure1_random_walk(rank_rows, ccdf_rows).axes
    for ax, rows, keys in ((by_rank, rank_rows, "rank count"), (by_count, ccdf_rows, "x ccdf")):
        x_key, y_key = keys.split()
        for family, look in FAMILIES.items():
            lines = [
                line
                for line in ax.get_lines()
                if to_hex(line.get_color()) == look.color.lower() and line.get_linestyle() == "-"
            ]
            assert len(lines) == 3
            for line, seed in zip(lines, (42, 43, 44), strict=True):
                own = [r for r in rows if r["family"] == family and r["seed"] == seed]
                x, y = np.array([(r[x_key], r[y_key]) for r in own], dtype=float).T
                # Points between two equal values are left out; the line is the same.
                np.testing.assert_array_equal(np.interp(x, *line.get_data()), y)
            assert len(marks_at(ax, look.color, look.marker)) >= 4


def test_distributions_draw_each_fitted_law_in_its_familys_panel():
    rank_rows, ccdf_rows, fits = distribution_rows(n_items=300)
    fig = figure1_random_walk(rank_rows, ccdf_rows, fits)
    panels = fig.axes[2:]
    assert len(panels) == len(FAMILIES)
    for ax, family in zip(panels, FAMILIES, strict=True):
        assert ax.get_title(loc="left").endswith(family)
        for law, look in LAWS.items():
            (line,) = (c for c in ax.get_lines() if to_hex(c.get_color()) == look.color.lower())
            own = [r for r in fits if (r["family"], r["law"]) == (family, law)]
            np.testing.assert_array_equal(line.get_xdata(), [r["x"] for r in own])
            np.testing.assert_array_equal(line.get_ydata(), [r["ccdf"] for r in own])
        low, high = ax.get_ylim()
        assert low < 1 / 300 < 1 < high


def test_distributions_of_several_sizes_are_refused():
    rank_rows, ccdf_rows, _ = distribution_rows(n_items=5)
    ccdf_rows[0]["n_nodes"] = 100
    with pytest.raises(InputError, match=r"several sizes \[100, 500\]"):
        figure1_random_walk(rank_rows, ccdf_rows)


def test_sigma_draws_seeds_means_intervals_and_the_papers_values():
    rows, paper = sigma_rows()
    axes = figure_sigma(rows, paper).axes
    for ax, (family, look) in zip(axes, FAMILIES.items(), strict=True):
        cells = {}
        for row in rows:
            if row["family"] == family:
                cells.setdefault((row["eviction"], row["n_nodes"]), []).append(row["sigma_top10"])
        found = [t_interval(values) for values in cells.values()]
        np.testing.assert_allclose(
            sorted((low, high) for _, low, high in bars(ax)),
            sorted((interval.low, interval.high) for interval in found),
        )
        drawn = [y for _, y in marks_at(ax, look.color, look.marker)]
        np.testing.assert_allclose(sorted(drawn), sorted(f.estimate for f in found))
        seeds = [y for _, y in marks_at(ax, look.color, "_")]
        np.testing.assert_allclose(sorted(seeds), sorted(itertools.chain(*cells.values())))
        (hollow,) = (c for c in ax.get_lines() if c.get_markerfacecolor() == "none")
        assert tuple(hollow.get_ydata()) == PAPER[family]
        assert tuple(hollow.get_xdata()) == SIZES


def test_sigma_counts_only_defined_seeds_and_marks_undefined_cells():
    rows = _of("mixed", sigma_rows()[0])[0]
    for row in rows:
        if row["n_nodes"] == 100 and row["eviction"] == "reservoir":
            row["sigma_top10"] = None
        if row["n_nodes"] == 500 and row["seed"] == 42:
            row["sigma_top10"] = None
    fig = figure_sigma(rows)
    assert [text.get_text() for text in fig.axes[0].texts] == ["n/a"]
    assert "reservoir, mean of 2–3 seeds" in lay_out(fig).text
    assert "paper" not in lay_out(fig).text


def test_sigma_axis_starts_at_zero_unless_an_interval_reaches_below():
    rows = _of("mixed", sigma_rows()[0])[0]
    assert figure_sigma(rows).axes[0].get_ylim()[0] == 0
    for row in rows:
        row["sigma_top10"] = {42: 0.0, 43: 0.1, 44: 0.9}[row["seed"]]
    assert figure_sigma(rows).axes[0].get_ylim()[0] < t_interval([0.0, 0.1, 0.9]).low


def test_calibration_draws_p_against_its_band_and_the_verdicts_power():
    p_rows, confusion = calibration_rows()
    fig = figure_calibration(p_rows, confusion, VERDICTS, "truncated_power_law")
    known, refitted, power, *matrices = fig.axes
    for ax, cutoff in ((known, "known"), (refitted, "refitted")):
        steps = [line for line in ax.get_lines() if line.get_drawstyle() == "steps-post"]
        assert len(steps) == 4
        for line, n_tail in zip(steps, (50, 200, 1000, 5000), strict=True):
            p = [r["p"] for r in p_rows if (r["cutoff"], r["n_tail"]) == (cutoff, n_tail)]
            x, y = line.get_data()
            assert sorted(p) == list(x[1:-1])
            assert y[np.searchsorted(x, 0.1, side="right") - 1] == np.mean(np.array(p) <= 0.1)
    low, high = binomial_band(200, [0.1])
    edges = known.collections[0].get_paths()[0].vertices
    at = edges[np.isclose(edges[:, 0], 0.1)][:, 1]
    assert (at.min(), at.max()) == (low[0], high[0])

    hits = {row["n_tail"]: row["count"] for row in confusion if row["verdict"] == row["law"]}
    look = LAWS["truncated_power_law"]
    (line,) = (c for c in power.get_lines() if to_hex(c.get_color()) == look.color.lower())
    expected = [0.0, *(100 * hits[n] / 200 for n in (200, 1000, 5000))]
    np.testing.assert_allclose(line.get_ydata(), expected)
    wilson = wilson_interval(hits[200], 200)
    assert any(
        np.allclose((low, high), (100 * wilson.low, 100 * wilson.high))
        for _, low, high in bars(power)
    )
    assert len(bars(power)) == 16

    assert len(matrices) == 4
    shown = np.array([text.get_text() for text in matrices[1].texts]).reshape(4, 5)
    share = f"{hits[200] / 2:.0f}"
    rest = f"{100 - hits[200] / 2:.0f}"
    assert shown[1].tolist() == ["0", share, "0", "0", rest]
    assert shown[3].tolist() == ["0", "0", "0", "0", "100"]


def test_map_writes_shares_and_intervals_and_hatches_what_is_absent():
    rows = [
        {"family": "mixed", "n_nodes": 100, "n_steps": 10, "auditable": 5, "n_seeds": 20},
        {"family": "mixed", "n_nodes": 100, "n_steps": 20, "auditable": 20, "n_seeds": 20},
        {"family": "mixed", "n_nodes": 500, "n_steps": 20, "auditable": 0, "n_seeds": 0},
    ]
    fig = figure_auditable_map(rows)
    ax = fig.axes[0]
    assert [text.get_text() for text in ax.texts] == ["25", "11–47", "100", "84–100"]
    np.testing.assert_array_equal(
        ax.images[0].get_array().filled(np.nan), [[0.25, np.nan], [1.0, np.nan]]
    )
    hatched = sorted(patch.get_xy() for patch in ax.patches)
    assert hatched == [(0.5, -0.5), (0.5, 0.5)]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["100", "500"]


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: figure3([]), "figure3: no rows to draw"),
        (lambda: figure3([{"family": "mixed"}]), "figure3: row 0 lacks gini_high, gini_low"),
        (lambda: figure3([{**ladder_rows()[0], "rung": "top"}]), "rung 'top' is none of"),
        (lambda: figure3([{**ladder_rows()[0], "family": "x"}]), "'x' has no mark; known are"),
        (lambda: figure1_random_walk([], []), "figure1: no rows"),
        (lambda: figure_sigma([]), "figure_sigma: no rows"),
        (
            lambda: figure_sigma([{**sigma_rows()[0][0], "eviction": "lru"}]),
            "eviction 'lru' is none of reservoir, least_frequent",
        ),
        (
            lambda: figure_calibration(*calibration_rows(), {"undecided": "?"}, "undecided"),
            "verdict 'not_auditable' is none of undecided",
        ),
        (
            lambda: figure_calibration(*calibration_rows(), VERDICTS, "maybe"),
            "verdict 'maybe' is none of",
        ),
        (
            lambda: figure_calibration(
                [{"cutoff": "guessed", "n_tail": 5, "p": 0.5}],
                calibration_rows()[1],
                VERDICTS,
                "undecided",
            ),
            "cutoff 'guessed' is none of known, refitted",
        ),
        (lambda: figure_auditable_map(map_rows()[:1] * 2), "two rows of one family"),
    ],
)
def test_rows_that_cannot_be_drawn_are_refused(draw, message):
    with pytest.raises(InputError, match=message):
        draw()
