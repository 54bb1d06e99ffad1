"""A live difference taken apart: by hand, as a sum, with a ranking that is broken; Figure 6."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import LineCollection

from coretail.errors import InputError
from coretail.memory.comparison import Losses
from coretail.memory.replay import ENCODINGS, TERMS, changed_steps, take_apart
from coretail.render.replay import figure_replay
from coretail.render.style import save_figure

NOTHING: dict[str, set[int]] = {"compact": set(), "verbose": set()}


def losses(*values, strata=None, weights=None):
    """Return losses at steps 0, 1, ...; None is not scored."""
    found = Losses()
    for step, value in enumerate(values):
        if value is not None:
            weight = weights[step] if weights else 1.0
            stratum = strata[step] if strata else "tail_first"
            found.add(step, stratum, weight, weight * value)
    return found


CROSSED = {
    ("compact", "compact"): losses(0, 1),
    ("verbose", "compact"): losses(1, 1),
    ("compact", "verbose"): losses(1, 1, 0, 0),
    ("verbose", "verbose"): losses(1, 1, 1, 0),
}


def test_parts_by_hand():
    found = take_apart(CROSSED, NOTHING)
    assert found.losses == {
        ("compact", "compact"): 0.5,
        ("verbose", "compact"): 1.0,
        ("compact", "verbose"): 0.5,
        ("verbose", "verbose"): 0.75,
    }
    assert found.n_steps == {"compact": 2, "verbose": 4}
    # Live 0.5 - 0.75; the trajectory (0.5 - 0.5 + 1 - 0.75) / 2; the encoding
    # (0.5 - 1 + 0.5 - 0.75) / 2.
    assert (found.live, found.trajectory, found.reading) == (-0.25, 0.125, -0.375)
    assert found.retrieval == 0


def test_steps_with_another_ranking_are_retrieval():
    found = take_apart(CROSSED, {"compact": set(), "verbose": {2, 3}})
    # Step 2 of four on the one trajectory, halved by the mean of both.
    assert (found.reading, found.retrieval) == (-0.25, -0.125)
    assert (found.live, found.trajectory) == (-0.25, 0.125)
    everywhere = take_apart(CROSSED, {"compact": {0, 1}, "verbose": {0, 1, 2, 3}})
    assert (everywhere.reading, everywhere.retrieval) == (0, -0.375)


def test_only_steps_of_the_strata_and_scored_twice_count():
    strata = ["tail_first", "head_first", "tail_repeated", "tail_first"]
    crossed = {
        ("compact", "compact"): losses(0, 1, 1, None, strata=strata, weights=[3, 9, 1, 5]),
        ("verbose", "compact"): losses(1, 0, 1, 1, strata=strata, weights=[3, 9, 1, 5]),
        ("compact", "verbose"): losses(0, 0, strata=strata),
        ("verbose", "verbose"): losses(0, 1, strata=strata),
    }
    found = take_apart(crossed, NOTHING)
    assert found.n_steps == {"compact": 2, "verbose": 1}
    # A step of weight 3 against one of weight 1.
    assert found.losses["compact", "compact"] == 0.25
    assert found.losses["verbose", "compact"] == 1.0
    assert (found.live, found.trajectory, found.reading) == (0.25, 0.625, -0.375)
    assert take_apart(crossed, NOTHING, "").n_steps == {"compact": 3, "verbose": 2}
    # The head step of weight 9 decides over all steps.
    assert take_apart(crossed, NOTHING, "").losses["compact", "compact"] == 10 / 13


def test_without_a_scored_step_there_is_no_difference():
    crossed = CROSSED | {("verbose", "compact"): losses(None, None)}
    found = take_apart(crossed, NOTHING)
    assert [getattr(found, term) for term in TERMS] == [None] * 4
    assert found.n_steps == {"compact": 0, "verbose": 4}
    assert found.losses["verbose", "verbose"] == 0.75


@given(
    ways=st.tuples(
        *[
            st.lists(
                st.tuples(st.booleans(), st.booleans(), st.booleans(), st.floats(0.1, 9)),
                min_size=1,
                max_size=12,
            )
            for _ in ENCODINGS
        ]
    )
)
def test_parts_sum_to_the_live_difference(ways):
    crossed, changed = {}, {}
    for way, steps in zip(ENCODINGS, ways, strict=True):
        weights = [step[3] for step in steps]
        for place, shown in enumerate(ENCODINGS):
            crossed[shown, way] = losses(*(step[place] for step in steps), weights=weights)
        changed[way] = {number for number, step in enumerate(steps) if step[2]}
    found = take_apart(crossed, changed)
    parts = found.trajectory + found.reading + found.retrieval
    assert parts == pytest.approx(found.live, abs=1e-12)
    if not any(changed.values()):
        assert found.retrieval == 0


def test_rounding_is_no_difference():
    # 0.1 + 0.2 is not 0.3.
    crossed = {
        cell: losses(1, 1, 0, weights=[0.1, 0.2, 0.3])
        if cell[0] == "compact"
        else losses(0, 0, 1, weights=[0.1, 0.2, 0.3])
        for cell in itertools.product(ENCODINGS, repeat=2)
    }
    found = take_apart(crossed, NOTHING)
    assert found.losses["compact", "compact"] != found.losses["verbose", "verbose"]
    assert [getattr(found, term) for term in TERMS] == [0] * 4


def test_changed_steps():
    assert changed_steps(["a", "b"], ["a", "b"], ["a", "b"]) == set()
    assert changed_steps(["a", "b", "c"], ["a", "x", "c"], ["a", "x", "y"]) == {1, 2}
    with pytest.raises(ValueError, match="shorter"):
        changed_steps(["a", "b"], ["a"])


# Figure 6.


def rows(**changes):
    found = []
    for place, predictor in enumerate(("vote", "model")):
        for steps in ("tail", "all"):
            row = {
                "model": "lab/$mall",
                "policy": "ctwm",
                "predictor": predictor,
                "steps": steps,
                "n_seeds": 3,
                "conclusive": predictor == "model" and steps == "tail",
            }
            for number, term in enumerate(TERMS):
                value = -0.1 * (place + 1) - 0.01 * number if number < 3 else 0.0
                row |= {
                    term: value,
                    f"{term}_low": value - 0.2 if number < 3 else None,
                    f"{term}_high": value + 0.3 if number < 3 else None,
                }
            found.append(row | changes)
    return found


def seeds():
    return [
        {key: row[key] for key in ("model", "policy", "predictor", "steps")}
        | {"seed": seed}
        | {term: row[term] + 0.02 * seed for term in TERMS}
        for row in rows()
        for seed in range(3)
    ]


def test_figure_shows_means_intervals_and_seeds(tmp_path):
    fig = figure_replay(rows(), seeds())
    vote, model = fig.axes
    assert [label.get_text() for label in model.get_xticklabels()] == [
        "live\ndifference", "trajectory", "reading", "retrieval",
    ]  # fmt: skip
    assert "3 seeds; not conclusive" in vote.get_title(loc="left")
    assert "predicted by the model, 3 seeds" in model.get_title(loc="left")
    assert "not conclusive" not in model.get_title(loc="left")
    # Three terms with an interval, for each of two sets of steps.
    bars = [line for line in model.collections if isinstance(line, LineCollection)]
    spans = [[tuple(end) for end in segment] for bar in bars for segment in bar.get_segments()]
    assert len(spans) == 6
    assert [y for _, y in spans[0]] == pytest.approx([-0.4, 0.1])
    points = [line for line in model.lines if line.get_marker() == "."]
    assert [list(line.get_ydata()) for line in points[:2]] == [
        pytest.approx([-0.2, -0.18, -0.16]),
        pytest.approx([-0.21, -0.19, -0.17]),
    ]
    means = [line for line in model.lines if line.get_marker() == "^"]
    assert [line.get_ydata()[0] for line in means] == pytest.approx([-0.2, -0.21, -0.22, 0.0] * 2)
    assert [line.get_markerfacecolor() for line in means] == ["#D55E00"] * 4 + ["white"] * 4
    for name in ("a", "b"):
        save_figure(figure_replay(rows(), seeds()), tmp_path / f"{name}.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_figure_of_no_difference_has_an_axis():
    nothing = dict.fromkeys(TERMS, 0.0) | {
        f"{term}{end}": None for term in TERMS for end in ("_low", "_high")
    }
    points = [seed | dict.fromkeys(TERMS, 0.0) for seed in seeds()]
    fig = figure_replay(rows(**nothing), points)
    low, high = fig.axes[0].get_ylim()
    assert low <= -0.05 < 0.05 <= high


def test_figure_without_values():
    nothing = {f"{term}{end}": None for term in TERMS for end in ("", "_low", "_high")}
    fig = figure_replay(rows(**nothing, conclusive=False), seeds())
    assert not any(line.get_marker() == "^" for ax in fig.axes for line in ax.lines)


def test_figure_refuses_what_it_cannot_draw():
    with pytest.raises(InputError, match="no rows"):
        figure_replay([], seeds())
    with pytest.raises(InputError, match="two rows of one difference"):
        figure_replay(rows() * 2, seeds())
    with pytest.raises(InputError, match="lacks reading"):
        figure_replay([{k: v for k, v in row.items() if k != "reading"} for row in rows()], seeds())
