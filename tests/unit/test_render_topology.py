"""The semantic policy's figures: the same bytes twice, intervals, n/a, errors."""

import itertools
import re

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.transforms import Bbox
from test_render_figures import bars, lay_out, marks_at

from coretail.errors import InputError
from coretail.render.positions import figure_positions
from coretail.render.style import DRIVERS, FAMILIES, LAWS, save_figure
from coretail.render.topology import figure1_semantic, figure4
from coretail.stats import t_interval, wilson_interval
from coretail.streams import stream

MODEL = "Qwen2.5-Coder-1.5B-Instruct"
# As a formula, what stands between the dollars would be an error.
LONG = r"some-provider/A-Model-With-$\Quite$-a-Long_Name-405B-Instruct and a remark of its owner"
FOUR = ("uniform", "exponential", "scale-free", "modular")
SEEDS = (42, 43, 44)
CONTROL = DRIVERS["random_walk"]


def counts_of(family, seed, spread=1.0, n_items=150):
    rng = stream("demo", "semantic", family, seed)
    return np.sort(np.ceil(np.exp(spread * np.abs(rng.standard_normal(n_items)))).astype(int))


def ccdf_of(counts, **key):
    return [{**key, "x": int(x), "ccdf": float((counts >= x).mean())} for x in np.unique(counts)]


def ranks_of(counts, **key):
    return [{**key, "rank": r, "count": int(c)} for r, c in enumerate(counts[::-1], start=1)]


def topology_rows(families=FOUR):
    ccdf, band, fits, effects = [], [], [], []
    for position, family in enumerate(families):
        rng = stream("demo", "effects", family)
        for seed in SEEDS:
            ccdf += ccdf_of(counts_of(family, seed, 0.9 + 0.1 * position), family=family, seed=seed)
        for x in range(1, 16):
            middle = x**-1.9 if x < 13 else 0.0
            band.append(
                {
                    "family": family,
                    "x": x,
                    "low": 0.6 * middle if x < 10 else 0.0,
                    "median": middle,
                    "high": 1.5 * x**-1.9 if x > 1 else 1.0,
                }
            )
        for x in range(3, 40):
            for law, share in {
                "power_law": (x / 3) ** -1.6,
                "truncated_power_law": (x / 3) ** -0.8 * np.exp(-0.2 * (x - 3)),
                "lognormal": np.exp(-0.9 * np.log(x / 3) - 0.5 * np.log(x / 3) ** 2),
                "exponential": np.exp(-0.4 * (x - 3)),
            }.items():
                fits.append({"family": family, "law": law, "x": x, "ccdf": 0.3 * float(share)})
        for statistic, level, control in (("gini", 0.4, 0.25), ("lambda_per_tail", 0.003, 0.0)):
            width = 0.03 if statistic == "gini" else 0.004
            values = [level + width * (float(rng.random()) - 0.5) for _ in SEEDS]
            found = t_interval(values)
            effects.append(
                {
                    "family": family,
                    "statistic": statistic,
                    "seed_values": values,
                    "mean": found.estimate,
                    "low": found.low,
                    "high": found.high,
                    "control_median": control,
                    "control_low": control - width,
                    "control_high": control + 1.2 * width,
                    "n_controls": 200 + position,
                }
            )
    return ccdf, band, fits, effects


def effect(rows, family, statistic):
    (row,) = (row for row in rows if (row["family"], row["statistic"]) == (family, statistic))
    return row


def broken_rows():
    """Return rows in which something is missing from every topology."""
    ccdf, band, fits, effects = topology_rows()
    ccdf = [row for row in ccdf if (row["family"], row["seed"]) != ("uniform", 43)]
    ccdf.append({"family": "uniform", "seed": 43, "x": None, "ccdf": None})
    band = [row for row in band if row["family"] != "exponential"]
    fits = [row for row in fits if row["family"] != "scale-free"]
    fits = [row for row in fits if (row["family"], row["law"]) != ("modular", "lognormal")]
    nothing = {"mean": None, "low": None, "high": None}
    ratio = "lambda_per_tail"
    effect(effects, "uniform", ratio).update(nothing, seed_values=[None, None, None])
    two = t_interval([0.001, 0.003])
    effect(effects, "exponential", ratio).update(
        seed_values=[0.001, None, 0.003], mean=two.estimate, low=two.low, high=two.high
    )
    effect(effects, "scale-free", ratio).update(
        seed_values=[0.002], mean=0.002, low=None, high=None
    )
    effect(effects, "modular", ratio).update(
        control_median=None, control_low=None, control_high=None, n_controls=0
    )
    return ccdf, band, fits, effects


def driver_rows():
    tables = []
    for driver, spread in (("semantic", 1.2), ("walk", 0.8)):
        counts = {seed: counts_of(driver, seed, spread) for seed in SEEDS}
        tables.append([row for seed, own in counts.items() for row in ranks_of(own, seed=seed)])
        tables.append([row for seed, own in counts.items() for row in ccdf_of(own, seed=seed)])
    return tables


POSITIONS = {
    (MODEL, "seek"): {2: (400, 430), 3: (500, 620, 580)},
    (MODEL, "explore"): {2: (120, 90), 3: (150, 100, 180)},
    ("SmolLM2-135M-Instruct", "seek"): {2: (200, 0), 3: (150, 150, 70)},
}


def position_rows(cells=POSITIONS):
    return [
        {
            "model": model,
            "goal": goal,
            "n_options": n_options,
            "position": position,
            "chosen": chosen,
            "n": sum(counts),
        }
        for (model, goal), groups in cells.items()
        for n_options, counts in groups.items()
        for position, chosen in enumerate(counts)
    ]


FIGURES = {
    "figure4": lambda: figure4(*topology_rows(), MODEL, "seek"),
    "figure4_six": lambda: figure4(*topology_rows(FAMILIES), LONG, "explore"),
    "figure1_semantic": lambda: figure1_semantic(*driver_rows(), MODEL, 1000, 300),
    "positions": lambda: figure_positions(position_rows()),
}
OTHERS = {
    "figure4_one": lambda: figure4(*topology_rows(["modular"]), MODEL, "seek"),
    "figure4_three": lambda: figure4(*topology_rows(FOUR[:3]), MODEL, "seek"),
    "figure4_without_controls_and_laws": lambda: figure4(
        topology_rows()[0], [], [], topology_rows()[3], MODEL, "seek"
    ),
    "figure4_broken": lambda: figure4(*broken_rows(), MODEL, "seek"),
    "figure1_semantic_long": lambda: figure1_semantic(*driver_rows(), LONG, 100, 5000),
    "positions_one": lambda: figure_positions(position_rows()[:5]),
    "positions_long": lambda: figure_positions(
        position_rows({(f"{LONG} {i}", "seek"): POSITIONS[MODEL, "seek"] for i in range(4)})
    ),
}
EVERY = [*FIGURES, *OTHERS]


@pytest.fixture(scope="module")
def figures():
    return {name: lay_out(build()) for name, build in (FIGURES | OTHERS).items()}


def lines_of(ax, color, style):
    """Return the lines of one colour and line style that are more than a mark."""
    return [
        line
        for line in ax.get_lines()
        if to_hex(line.get_color()) == color.lower()
        and line.get_linestyle() == style
        and len(line.get_xdata()) > 2
    ]


def notes(ax):
    return [text.get_text() for text in ax.texts]


def tick_labels(ax):
    return [label.get_text() for label in ax.get_xticklabels()]


@pytest.mark.parametrize("name", FIGURES)
def test_two_renders_give_the_same_bytes(name, tmp_path):
    for run in ("one", "two"):
        save_figure(FIGURES[name](), tmp_path / f"{run}.pdf", tmp_path / f"{run}.png")
    for suffix in ("pdf", "png"):
        first = (tmp_path / f"one.{suffix}").read_bytes()
        assert first == (tmp_path / f"two.{suffix}").read_bytes()
        assert first.startswith({"pdf": b"%PDF", "png": b"\x89PNG"}[suffix])


@pytest.mark.parametrize("name", FIGURES)
def test_the_order_of_rows_does_not_matter(name, tmp_path):
    backwards = {
        "figure4": lambda: figure4(*(rows[::-1] for rows in topology_rows()), MODEL, "seek"),
        "figure4_six": lambda: figure4(
            *(rows[::-1] for rows in topology_rows(FAMILIES)), LONG, "explore"
        ),
        "figure1_semantic": lambda: figure1_semantic(
            *(rows[::-1] for rows in driver_rows()), MODEL, 1000, 300
        ),
        # Models stand in the order of their first rows, as configured.
        "positions": lambda: figure_positions(
            [
                row
                for model in (MODEL, "Smol")
                for row in position_rows()[::-1]
                if row["model"].startswith(model)
            ]
        ),
    }
    save_figure(FIGURES[name](), tmp_path / "one.png")
    save_figure(backwards[name](), tmp_path / "two.png")
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()


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
    assert figures[name].width == (3.3 if name == "positions_one" else 6.9)
    assert min(word.size for word in figures[name].words) >= 5


@pytest.mark.parametrize("name", EVERY)
def test_every_figure_says_its_n_and_whose_choices_it_shows(figures, name):
    text = figures[name].text
    if "positions" in name:
        assert "n = 830 choices" in text
        assert "n = 1,700 choices" in text
    else:
        assert re.search(r"\b3 seeds\b", text)
    if "figure4" in name:
        assert re.search(r"\b200 controls\b", text)
        assert re.search(r"goal: (seek|explore)", text)
    flat = text.replace("\n", " ").replace("\\$", "$")
    named = LONG[-21:] if name.endswith("long") or name == "figure4_six" else MODEL
    assert named in flat or named.replace("-", "- ") in flat


def test_topology_draws_every_seed_as_it_is_and_marks_the_first():
    rows = topology_rows()
    for ax, family in zip(figure4(*rows, MODEL, "seek").axes, FOUR, strict=False):
        look = FAMILIES[family]
        assert ax.get_title(loc="left").endswith(family)
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        lines = lines_of(ax, look.color, "-")
        assert len(lines) == 3
        for line, seed in zip(lines, SEEDS, strict=True):
            own = [r for r in rows[0] if (r["family"], r["seed"]) == (family, seed)]
            np.testing.assert_array_equal(line.get_xdata(), [r["x"] for r in own])
            np.testing.assert_array_equal(line.get_ydata(), [r["ccdf"] for r in own])
            assert line.get_marker() == (look.marker if seed == 42 else "none")
            assert line.get_markevery()[0] == 0
            assert line.get_markevery()[-1] == len(own) - 1
            assert ax.get_ylim()[0] < min(line.get_ydata())
            assert ax.get_xlim()[1] > max(line.get_xdata())


def test_topology_draws_the_controls_band_and_median():
    rows = topology_rows()
    for ax, family in zip(figure4(*rows, MODEL, "seek").axes, FOUR, strict=False):
        own = [row for row in rows[1] if row["family"] == family]
        corners = {tuple(corner) for corner in ax.collections[0].get_paths()[0].vertices}
        assert {(row["x"], row[edge]) for row in own for edge in ("low", "high")} <= corners
        (median,) = lines_of(ax, CONTROL.color, CONTROL.line)
        positive = [row for row in own if row["median"] > 0]
        np.testing.assert_array_equal(median.get_xdata(), [row["x"] for row in positive])
        np.testing.assert_array_equal(median.get_ydata(), [row["median"] for row in positive])


def test_topology_draws_each_fitted_law_in_its_familys_panel():
    rows = topology_rows()
    fig = figure4(*rows, MODEL, "seek")
    for ax, family in zip(fig.axes, FOUR, strict=False):
        for law, look in LAWS.items():
            (line,) = lines_of(ax, look.color, look.line)
            own = [r for r in rows[2] if (r["family"], r["law"]) == (family, law)]
            np.testing.assert_array_equal(line.get_xdata(), [r["x"] for r in own])
            np.testing.assert_array_equal(line.get_ydata(), [r["ccdf"] for r in own])
        assert notes(ax) == []
    assert "laws fitted to the marked one (seed 42) above" in lay_out(fig).text


def test_topology_says_which_seeds_were_fitted_where_they_differ():
    ccdf, band, fits, effects = topology_rows()
    ccdf = [row for row in ccdf if (row["family"], row["seed"]) != ("modular", 42)]
    fig = figure4(ccdf, band, fits, effects, MODEL, "seek")
    assert "2–3 seeds per topology" in lay_out(fig).text
    assert "the marked one (seed 42, 43) above" in lay_out(fig).text


def test_effects_draw_every_seed_mean_and_interval_beside_the_controls():
    rows = topology_rows()
    axes = figure4(*rows, MODEL, "seek").axes[4:]
    assert [ax.get_ylabel() for ax in axes] == ["Gini", r"$\Lambda\,/\,n_{\mathrm{tail}}$"]
    for ax, statistic in zip(axes, ("gini", "lambda_per_tail"), strict=True):
        own = [effect(rows[3], family, statistic) for family in FOUR]
        expected = [(row["low"], row["high"]) for row in own]
        expected += [(row["control_low"], row["control_high"]) for row in own]
        drawn = bars(ax)
        np.testing.assert_allclose(sorted((low, high) for _, low, high in drawn), sorted(expected))
        bottom, top = ax.get_ylim()
        assert bottom < min(low for low, _ in expected)
        assert top > max(high for _, high in expected)
        for place, (family, row) in enumerate(zip(FOUR, own, strict=True)):
            look = FAMILIES[family]
            assert marks_at(ax, look.color, look.marker) == [(place, row["mean"])]
            seeds = marks_at(ax, look.color, "_")
            assert [y for _, y in seeds] == row["seed_values"]
            assert all(place - 0.5 < x < place for x, _ in seeds)
            (control,) = (
                (x, y) for x, y in marks_at(ax, CONTROL.color, "o") if place < x < place + 0.5
            )
            assert control[1] == row["control_median"]
        assert tick_labels(ax) == [
            f"{family}\n3 seeds\n{200 + place} controls" for place, family in enumerate(FOUR)
        ]
        assert notes(ax) == []
    zero = [line for line in axes[1].get_lines() if list(line.get_ydata()) == [0, 0]]
    assert len(zero) == 1


def test_what_is_missing_is_named_and_what_is_left_is_drawn():
    fig = figure4(*broken_rows(), MODEL, "seek")
    *panels, gini, ratio = fig.axes
    assert [notes(ax) for ax in panels] == [
        ["n/a: seed 43"],
        ["n/a: controls"],
        ["n/a: laws"],
        ["n/a: log-normal"],
    ]
    assert len(lines_of(panels[0], FAMILIES["uniform"].color, "-")) == 2
    assert panels[1].collections[:] == []
    assert notes(gini) == []
    # uniform: seeds and mean; exponential: a seed; modular: the controls.
    assert notes(ratio) == ["n/a"] * 4
    assert [round(text.get_position()[0]) for text in ratio.texts] == [0, 0, 1, 3]
    assert [text.get_color() for text in ratio.texts] == [
        FAMILIES["uniform"].color,
        FAMILIES["uniform"].color,
        FAMILIES["exponential"].color,
        CONTROL.color,
    ]
    assert tick_labels(ratio) == [
        "uniform\n0 of 3 seeds\n200 controls",
        "exponential\n2 of 3 seeds\n201 controls",
        "scale-free\n1 seed\n202 controls",
        "modular\n3 seeds\n0 controls",
    ]
    assert len(bars(ratio)) == 2 + 3
    hollow = [c for c in ratio.get_lines() if to_hex(c.get_markerfacecolor()) == "#ffffff"]
    assert [(c.get_marker(), c.get_xdata()[0]) for c in hollow] == [("^", 2)]
    assert "no interval" in lay_out(fig).text
    assert "no interval" not in lay_out(figure4(*topology_rows(), MODEL, "seek")).text


def test_notes_of_undefined_effects_stand_below_the_data():
    fig = figure4(*broken_rows(), MODEL, "seek")
    words = [word for word in lay_out(fig).words if word.text == "n/a"]
    ratio = fig.axes[-1]
    lowest = ratio.transData.transform([(0, min(low for _, low, _ in bars(ratio)))])[0, 1]
    assert len(words) == 4
    assert max(word.box.y1 for word in words) < lowest


def test_a_topology_without_counts_or_effects_keeps_its_panel():
    ccdf, band, fits, effects = topology_rows()
    ccdf = [row for row in ccdf if row["family"] != "modular"]
    band[0] = band[0] | {"median": None}
    effects = [row for row in effects if row["family"] != "uniform"]
    fig = figure4(ccdf, band, fits, effects, MODEL, "seek")
    assert notes(fig.axes[0]) == ["n/a: controls, in part"]
    assert notes(fig.axes[3]) == ["n/a: semantic policy"]
    assert [notes(ax) for ax in fig.axes[4:]] == [["n/a"], ["n/a"]]
    assert "0–3 seeds per topology" in lay_out(fig).text


def test_few_decades_of_counts_have_plain_ticks():
    for widest, expected in ((60, "20"), (40_000, r"$\mathdefault{10^{4}}$")):
        ccdf, band, fits, effects = topology_rows()
        ccdf.append({"family": "modular", "seed": 42, "x": widest, "ccdf": 0.004})
        fig = figure4(ccdf, band, fits, effects, MODEL, "seek")
        assert expected in [word.text for word in lay_out(fig).words]


def test_both_drivers_are_drawn_as_they_are():
    rank_rows, ccdf_rows, walk_ranks, walk_ccdf = driver_rows()
    fig = figure1_semantic(rank_rows, ccdf_rows, walk_ranks, walk_ccdf, MODEL, 1000, 300)
    assert fig.get_suptitle() == f"{MODEL}, scale-free world, |V| = 1,000, N = 300 steps"
    drawn = (
        (fig.axes[0], rank_rows, walk_ranks, "rank", "count"),
        (fig.axes[1], ccdf_rows, walk_ccdf, "x", "ccdf"),
    )
    for ax, semantic, walk, x_key, y_key in drawn:
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        for driver, rows in (("semantic", semantic), ("random_walk", walk)):
            look = DRIVERS[driver]
            lines = lines_of(ax, look.color, look.line)
            assert len(lines) == 3
            for line, seed in zip(lines, SEEDS, strict=True):
                own = [row for row in rows if row["seed"] == seed]
                np.testing.assert_array_equal(line.get_xdata(), [row[x_key] for row in own])
                np.testing.assert_array_equal(line.get_ydata(), [row[y_key] for row in own])
                assert line.get_marker() == (look.marker if seed == 42 else "none")


def test_drivers_say_their_seeds_and_what_is_missing():
    rank_rows, ccdf_rows, walk_ranks, walk_ccdf = driver_rows()
    walk_ranks = [row for row in walk_ranks if row["seed"] < 44]
    walk_ccdf = [row for row in walk_ccdf if row["seed"] < 44]
    ccdf_rows = [row for row in ccdf_rows if row["seed"] < 44]
    ccdf_rows.append({"seed": 44, "x": None, "ccdf": None})
    fig = figure1_semantic(rank_rows, ccdf_rows, walk_ranks, walk_ccdf, MODEL, 1000, 300)
    text = lay_out(fig).text
    assert "semantic policy, 3 seeds" in text
    assert "random walk, 2 seeds" in text
    assert [notes(ax) for ax in fig.axes] == [[], ["n/a: semantic policy, seed 44"]]


def test_positions_draw_shares_and_wilson_intervals_against_uniform():
    look = DRIVERS["semantic"]
    axes = figure_positions(position_rows()).axes
    titles = [ax.get_title(loc="left").splitlines() for ax in axes]
    for ax, title, ((model, goal), groups) in zip(axes, titles, POSITIONS.items(), strict=True):
        assert title[0].endswith(model)
        assert title[1] == f"goal: {goal}"
        expected = [
            wilson_interval(chosen, sum(counts)) for counts in groups.values() for chosen in counts
        ]
        points = marks_at(ax, look.color, look.marker)
        assert [y for _, y in points] == [found.estimate for found in expected]
        places = [x for x, _ in points]
        assert places == sorted(set(places))
        np.testing.assert_allclose(
            bars(ax),
            [(x, found.low, found.high) for x, found in zip(places, expected, strict=True)],
        )
        assert ax.get_ylim()[0] == 0
        assert ax.get_ylim()[1] > max(found.high for found in expected)
        uniform = [line for line in ax.get_lines() if line.get_linestyle() == "--"]
        assert [tuple(line.get_ydata()) for line in uniform] == [(1 / 2, 1 / 2), (1 / 3, 1 / 3)]
        for line, own in zip(uniform, (places[:2], places[2:]), strict=True):
            assert line.get_xdata()[0] < own[0] < own[-1] < line.get_xdata()[1]
        assert tick_labels(ax) == ["1st", "2nd", "1st", "2nd", "3rd"]
        assert notes(ax) == [
            f"of {n_options} options\nn = {sum(counts):,d} choices"
            for n_options, counts in groups.items()
        ]


def test_positions_mark_what_is_missing():
    rows = position_rows({("m", "seek"): {2: (0, 0), 3: (5, 7, 8)}})
    rows[3] |= {"chosen": None}
    fig = figure_positions(rows[:-1])
    ax = fig.axes[0]
    # Both of two options without a choice, an undefined count, a place without a row.
    assert sorted(notes(ax)) == [
        "n/a",
        "n/a",
        "n/a",
        "n/a",
        "of 2 options\nn = 0 choices",
        "of 3 options\nn = 20 choices",
    ]
    assert [y for _, y in marks_at(ax, DRIVERS["semantic"].color, "^")] == [0.25]
    rows = [row | {"n": None, "chosen": None} for row in rows]
    assert "of 3 options\nn/a" in notes(figure_positions(rows).axes[0])


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: figure4([], [], [], [], "m", "seek"), "figure4, distributions: no rows to draw"),
        (
            lambda: figure4(topology_rows()[0], [], [], [], "m", "seek"),
            "figure4, effects: no rows to draw",
        ),
        (
            lambda: figure4(
                topology_rows()[0], [{"family": "mixed"}], [], topology_rows()[3], "m", "seek"
            ),
            "figure4, controls: row 0 lacks high, low, median, x",
        ),
        (
            lambda: figure4(*topology_rows()[:3], [{"family": "mixed"}], "m", "seek"),
            "figure4, effects: row 0 lacks control_high",
        ),
        (
            lambda: figure4(
                topology_rows()[0], [], [{"law": "x"}], topology_rows()[3], "m", "seek"
            ),
            "figure4, laws: row 0 lacks ccdf, family, x",
        ),
        (
            lambda: figure4(
                *topology_rows()[:3], [topology_rows()[3][0] | {"statistic": "z"}], "m", "seek"
            ),
            "statistic 'z' is none of gini, lambda_per_tail",
        ),
        (
            lambda: figure4(*topology_rows()[:3], topology_rows()[3][:1] * 2, "m", "seek"),
            "two rows of one family and statistic",
        ),
        (
            lambda: figure4(
                [topology_rows()[0][0] | {"family": "x"}], *topology_rows()[1:], "m", "seek"
            ),
            "'x' has no mark; known are uniform",
        ),
        (
            lambda: figure4(
                *topology_rows()[:2],
                [topology_rows()[2][0] | {"law": "weibull"}],
                topology_rows()[3],
                "m",
                "seek",
            ),
            "'weibull' has no mark; known are power_law",
        ),
        (
            lambda: figure1_semantic(*driver_rows()[:2], [], [], "m", 10, 10),
            "figure1_semantic, random walk: no rows to draw",
        ),
        (
            lambda: figure1_semantic([{"seed": 1, "rank": 1}], *driver_rows()[1:], "m", 10, 10),
            "figure1_semantic, semantic policy: row 0 lacks count",
        ),
        (lambda: figure_positions([]), "figure_positions: no rows to draw"),
        (
            lambda: figure_positions(position_rows()[:1] * 2),
            "two rows of one model, goal, n_options and position",
        ),
        (
            lambda: figure_positions([position_rows()[0] | {"position": 2}]),
            "position 2 of 2 options; positions start at 0",
        ),
        (
            lambda: figure_positions([position_rows()[0] | {"n_options": 4}]),
            "position 0 of 4 options; .* options are 2 or 3",
        ),
        (
            lambda: figure_positions([position_rows()[0], position_rows()[1] | {"n": 9}]),
            r"n differs between the positions of 2 options: \[9, 830\]",
        ),
    ],
)
def test_rows_that_cannot_be_drawn_are_refused(draw, message):
    with pytest.raises(InputError, match=message):
        draw()
