"""The look of figures and the bytes of their files."""

import itertools
import os
import struct
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from coretail.errors import InputError
from coretail.render.style import (
    DRIVERS,
    FAMILIES,
    LAWS,
    POLICIES,
    counted,
    in_order,
    mark,
    require,
    save_figure,
    size_ticks,
    style,
    text_color,
)

# Machado, Oliveira and Fernandes (2009): full protanopia, deuteranopia and tritanopia, on
# linear RGB.
VISION = {
    "full": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]


def seen(color, vision):
    """Return the CIE L*a*b* coordinates of a hex colour under a simulated vision."""
    rgb = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(VISION[vision] @ linear, 0, 1) / [0.95047, 1, 1.08883]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("marks", [FAMILIES, DRIVERS, POLICIES, LAWS], ids="fdpl")
def test_colours_stay_apart_for_colour_blind_readers(marks, vision):
    for one, other in itertools.combinations(marks.values(), 2):
        distance = np.linalg.norm(seen(one.color, vision) - seen(other.color, vision))
        assert distance > 15, (one.label, other.label)


@pytest.mark.parametrize("marks", [FAMILIES, DRIVERS, POLICIES, LAWS], ids="fdpl")
def test_everything_has_a_colour_a_marker_and_a_label_of_its_own(marks):
    for attribute in ("color", "marker", "label"):
        assert len({getattr(look, attribute) for look in marks.values()}) == len(marks)


def test_the_papers_families_and_methods_have_marks():
    assert list(FAMILIES) == [
        "uniform",
        "exponential",
        "scale-free",
        "modular",
        "mixed",
        "baseline-symmetric",
    ]
    assert list(POLICIES)[:4] == ["full_history", "flat", "graph", "ctwm"]
    assert set(DRIVERS) == {"random_walk", "semantic"}


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match="'ring' has no mark; known are uniform, exponential"):
        mark(FAMILIES, "ring")


def small_figure():
    with style():
        fig = Figure(figsize=(2, 1), layout="constrained")
        ax = fig.subplots()
        ax.plot([1, 2, 3], [1, 4, 9], marker="o")
        ax.fill_between([1, 2, 3], [0, 1, 2], hatch="//")
        ax.set(title=r"$x_{\min}$ ≥ 3", xlabel="αβγ")
        return fig


def test_files_carry_no_time_and_no_program(tmp_path):
    paths = [tmp_path / f"figure.{suffix}" for suffix in ("pdf", "png", "svg")]
    save_figure(small_figure(), *paths)
    for path in paths:
        content = path.read_bytes()
        for word in (b"CreationDate", b"Producer", b"atplotlib v", b"Software", b"dc:date"):
            assert word not in content, (path, word)
    assert sorted(tmp_path.iterdir()) == sorted(paths)


def test_pdf_embeds_truetype_fonts(tmp_path):
    save_figure(small_figure(), tmp_path / "figure.pdf")
    content = (tmp_path / "figure.pdf").read_bytes()
    assert b"/FontFile2" in content
    assert b"/Type3" not in content


def test_png_has_200_dots_per_inch(tmp_path):
    save_figure(small_figure(), tmp_path / "figure.png")
    content = (tmp_path / "figure.png").read_bytes()
    assert struct.unpack(">II", content[16:24]) == (400, 200)


def test_another_suffix_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(InputError, match=r"figure\.gif: a figure is written as \.pdf, \.png"):
        save_figure(small_figure(), tmp_path / "figure.pdf", tmp_path / "figure.gif")
    assert list(tmp_path.iterdir()) == []


PROGRAM = """
import sys
from coretail.render.ladder import figure3
from coretail.render.style import FAMILIES, save_figure
rows = [
    dict(family=family, n_nodes=n, rung=rung, n_seeds=20, gini_mean=g, gini_low=g - 0.02,
         gini_high=g + 0.02, reduction_mean=1 - g, reduction_low=None, reduction_high=None)
    for i, family in enumerate(FAMILIES) for n in (100, 500)
    for rung, g in (("state_frequency", 0.5 + i / 50), ("none", 0.3))
]
save_figure(figure3(rows), *sys.argv[1:])
"""


def test_bytes_do_not_depend_on_hash_seed_time_or_the_users_matplotlibrc(tmp_path):
    for run in ("one", "two"):
        folder = tmp_path / run
        folder.mkdir()
        if run == "two":
            (folder / "matplotlibrc").write_text("font.size: 20\naxes.facecolor: red\n")
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(sys.path),
            "PYTHONHASHSEED": {"one": "1", "two": "2"}[run],
            "SOURCE_DATE_EPOCH": {"one": "0", "two": "1000000000"}[run],
            "TZ": {"one": "UTC", "two": "Asia/Tokyo"}[run],
        }
        names = ["f.pdf", "f.png", "f.svg"]
        subprocess.run(
            [sys.executable, "-c", PROGRAM, *names], cwd=folder, env=environment, check=True
        )
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_style_holds_inside_only():
    before = dict(mpl.rcParams)
    with style():
        assert mpl.rcParams["pdf.fonttype"] == 42
        assert mpl.rcParams["font.size"] == 7
    assert dict(mpl.rcParams) == before


def test_drawing_leaves_pyplot_alone():
    code = "import sys, coretail.render.calibration, coretail.render.distributions; " + (
        "sys.exit('matplotlib.pyplot' in sys.modules or 'scipy.stats' in sys.modules)"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment).returncode == 0


def test_order_is_the_known_one_then_the_alphabet():
    assert in_order(["z", "b", "known", "b"], ["first", "known"]) == ["known", "b", "z"]


@pytest.mark.parametrize(
    ("numbers", "words"),
    [([20, 20], "20 seeds"), ([1], "1 seed"), ([18, 20, 19], "18–20 seeds"), ([0, 1], "0–1 seed")],
)
def test_counts_are_said_as_a_number_or_a_range(numbers, words):
    assert counted(numbers, "seed") == words


def test_rows_are_checked_before_they_are_drawn():
    with pytest.raises(InputError, match="demo: no rows to draw"):
        require([], ["x"], "demo")
    with pytest.raises(InputError, match="demo: row 1 lacks x, y"):
        require([{"x": 1, "y": 2, "z": 3}, {"z": 3}], ["y", "x"], "demo")


@pytest.mark.parametrize(
    ("sizes", "labels"), [([1000, 100, 500, 100], ["100", "500", "1,000"]), ([50], ["50"])]
)
def test_size_axis_has_one_tick_per_size_and_no_other(sizes, labels):
    ax = Figure().subplots()
    size_ticks(ax, sizes)
    assert ax.get_xscale() == "log"
    assert [label.get_text() for label in ax.get_xticklabels()] == labels
    assert list(ax.get_xticks(minor=True)) == []
    low, high = ax.get_xlim()
    assert low < min(sizes) <= max(sizes) < high


def test_ink_contrasts_with_its_background():
    assert text_color((0, 0, 0.3, 1)) == "white"
    assert text_color((1, 1, 0.3, 1)) == "black"
    # Mid grey: contrast 5.3 with black, 3.9 with white.
    assert text_color((0.5, 0.5, 0.5, 1)) == "black"
