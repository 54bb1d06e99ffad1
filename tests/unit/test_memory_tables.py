"""Tables 3 and 4: partners on the same steps and seeds, effects by hand, the Pareto front."""

import pytest

import make_table3
import make_table4
from coretail.errors import InputError

FULL = ("agents", "slots", "full_history", "compact")
GRAPH = ("agents", "slots", "graph", "compact")


def reply(cell, seed, step, tokens, correct=True, status="ok"):
    full = status == "window_full"
    return {
        **dict(zip(("driver", "budget", "policy", "encoding"), cell, strict=True)),
        "seed": seed,
        "step": step,
        "stratum": "tail_first",
        "weight": 1.0,
        "status": status,
        "correct": None if full else correct,
        "prompt_tokens": None if full else tokens,
    }


@pytest.fixture
def stopped():
    """Full history and graph memory at 10, 20, 30 steps: the window is full at 30 and at 20."""
    full = []
    for seed, end in ((42, 30), (43, 20)):
        for step in (10, 20, 30):
            status = "ok" if step < end else "window_full"
            full.append(reply(FULL, seed, step, 10.0 * step, status=status))
    graph = [reply(GRAPH, seed, step, 5.0 * step) for seed in (42, 43) for step in (10, 20, 30)]
    return {FULL: full, GRAPH: graph}


def test_tokens_are_saved_on_the_steps_that_both_had(stopped):
    columns = make_table3.token_columns(FULL, stopped)
    # Its own: 150 and 100 a call; graph memory's on the same steps: 75 and 50.
    assert columns["tokens"] == 125
    assert columns["tokens_reduction_matched"] == -1.0
    assert columns["tokens_reduction"] is None
    assert make_table3.token_columns(GRAPH, stopped)["tokens"] == 100


def test_a_stopped_policy_says_after_how_many_steps(stopped):
    counts = make_table3.tail_counts(stopped[FULL], [], 100)
    assert counts == {
        "n_tail": 3,
        "n_unscored": 3,
        "whole": False,
        "n_steps_compared": 20,
        "n_steps_compared_high": 30,
    }
    (note,) = make_table3.window_notes([counts | {"policy": "full_history"}])
    assert "full after 20 to 30 steps, by seed" in note
    assert make_table3.tail_counts(stopped[GRAPH], [], 100)["whole"] is True
    assert make_table3.window_notes([{"whole": True}]) == []


def test_a_missing_partner_is_an_error(stopped):
    stopped[GRAPH] = [row for row in stopped[GRAPH] if row["seed"] == 42]
    with pytest.raises(InputError, match=r"seeds \[43\]"):
        make_table3.token_columns(FULL, stopped)


def losses(policy, encoding, seed, vote):
    return {
        **dict(
            zip(
                ("driver", "budget", "policy", "encoding"),
                ("agents", "slots", policy, encoding),
                strict=True,
            )
        ),
        "seed": seed,
        "stratum": "tail_first",
        "n": 10,
        "vote": vote,
        "local_tokens": 100,
    }


def test_cells_of_table_4_have_the_same_seeds():
    rows = {
        ("agents", "slots", policy, "compact"): [losses(policy, "compact", seed, 5) for seed in own]
        for policy, own in (("graph", (1, 2)), ("ctwm", (1,)))
    }
    with pytest.raises(InputError, match="have not the same seeds"):
        make_table4.free_values(rows, "agents")


KEY = {"model": None, "driver": "agents", "predictor": "vote", "competent": None}
# (policy, encoding) to one value per seed.
ERRORS = {
    ("graph", "verbose"): {1: 0.8, 2: 0.7},
    ("graph", "compact"): {1: 0.7, 2: 0.7},
    ("ctwm", "verbose"): {1: 0.5, 2: 0.4},
    ("ctwm", "compact"): {1: 0.2, 2: 0.3},
}


def test_effects_by_hand():
    found = {
        (row["effect"], row["at"]): row["change"]
        for row in make_table4.effect_rows(KEY, "tail_error", ERRORS)
    }
    assert found == pytest.approx(
        {
            ("serialization", "graph"): -0.05,
            ("serialization", "ctwm"): -0.2,
            ("serialization", "both"): -0.125,
            ("allocation", "verbose"): -0.3,
            ("allocation", "compact"): -0.45,
            ("allocation", "both"): -0.375,
            ("interaction", "both"): -0.15,
            ("allocation_over_serialization", "both"): -0.25,
        }
    )
    both = found["allocation", "both"] - found["serialization", "both"]
    assert found["allocation_over_serialization", "both"] == pytest.approx(both)


def front(tokens, errors):
    cells = [("graph", "compact"), ("ctwm", "compact"), ("graph_ctwm", "compact")]
    rows = make_table4.cell_rows(
        KEY,
        {cell: {1: error, 2: error} for cell, error in zip(cells, errors, strict=True)},
        {cell: {1: float(n), 2: float(n)} for cell, n in zip(cells, tokens, strict=True)},
    )
    return [(row["pareto"], row["pareto_paper"]) for row in rows]


def test_the_papers_front_is_among_its_own_cells():
    # The third cell, which the paper has not, beats the second in both.
    assert front((100, 200, 150), (0.6, 0.5, 0.4)) == [(True, True), (False, True), (True, None)]
    # As many tokens and a larger error.
    assert front((100, 100, 150), (0.6, 0.5, 0.5)) == [(False, False), (True, True), (False, None)]
    # The same point twice: neither beats the other.
    assert front((100, 100, 150), (0.5, 0.5, 0.6)) == [(True, True), (True, True), (False, None)]
    assert front((100, 100, 150), (None, 0.5, 0.6))[0] == (None, None)
