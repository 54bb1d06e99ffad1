"""The claims ledger: reading the file, taking answers from tables, and every judging rule."""

import math
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
import yaml

from coretail import artefacts, claims
from coretail.claims import Answer, Point
from coretail.config import read_yaml
from coretail.errors import InputError
from coretail.schemas import SCHEMAS

ROOT = Path(__file__).parents[2]
PAPER = read_yaml(ROOT / "workflow/resources/paper_values.yaml")
LEDGER = claims.read_claims(ROOT / "workflow/resources/claims.yaml", PAPER)

TAKES = {
    "interval": {"value": "x", "low": "x_low", "high": "x_high"},
    "sign": {"value": "x", "low": "x_low", "high": "x_high"},
    "ordering": {"take": "points", "label": "name", "value": "x"},
    "proportion": {"value": "x", "n": "n"},
    "range": {"take": "range", "value": "x"},
    "trend": {"take": "points", "label": "tau", "value": "x"},
    "equivalence": {"value": "x", "low": "x_low", "high": "x_high"},
    "proposition": {"value": "x", "n": "n"},
}


def entry(kind, paper, quantity=None, **settings):
    return {
        "id": "group.one",
        "place": "Section 1",
        "claim": "Something is so.",
        "kind": kind,
        "paper": paper,
        "from_model": False,
        "quantity": {"file": "t.parquet", **(quantity or TAKES[kind])},
        **settings,
    }


def read(tmp_path, *entries, paper_model=None, values=PAPER):
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump({"paper_model": paper_model, "claims": list(entries)}))
    return claims.read_claims(path, values)


@pytest.fixture
def one(tmp_path):
    def build(*arguments, paper_model=None, **settings):
        (claim,) = read(tmp_path, entry(*arguments, **settings), paper_model=paper_model)
        return claim

    return build


def verdict(claim, *values, **fields):
    names = ("value", "low", "high")
    return claims.judge(claim, Answer(**dict(zip(names, values, strict=False)), **fields)).name


# Judging.


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        ((0.5, 0.4, 0.6), "reproduced"),
        ((0.5, 0.501, 0.6), "not reproduced"),
        ((0.5, 0.4, 0.499), "not reproduced"),
        ((0.5, 0.5, 0.6), "reproduced"),
        ((0.5, None, None), "not testable here"),
        ((None, None, None), "not testable here"),
    ],
)
def test_an_interval_holds_the_papers_value_or_not(one, interval, expected):
    assert verdict(one("interval", 0.5), *interval) == expected


@pytest.mark.parametrize(
    ("value", "n", "expected"),
    [
        (0.5, 3, "reproduced"),
        (0.5004, 3, "reproduced"),
        (0.51, 3, "not reproduced"),
        (0.5, 1, "not testable here"),
    ],
)
def test_values_equal_in_all_runs_are_compared_themselves(one, value, n, expected):
    claim = one("interval", 0.5, rounding=0.0005)
    assert verdict(claim, value, n=n, reason="all are equal") == expected


def test_an_interval_holds_a_rounded_value_up_to_its_rounding(one):
    near = (0.5005, 0.5003, 0.5007)
    assert verdict(one("interval", 0.5), *near) == "not reproduced"
    assert verdict(one("interval", 0.5, rounding=0.0005), *near) == "reproduced"
    below = (0.4995, 0.4993, 0.4997)
    assert verdict(one("interval", 0.5, rounding=0.0005), *below) == "reproduced"


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        ((0.5, 0.4, 0.6), "reproduced"),
        ((0.2, 0.1, 0.3), "same direction"),
        ((0.9, 0.8, 1.0), "same direction"),
        ((0.3, -0.1, 0.7), "same direction"),
        ((-0.1, -0.9, 0.7), "not reproduced"),
        ((-0.1, -0.3, 0.1), "not reproduced"),
        ((0.0, -0.3, 0.3), "not reproduced"),
        ((-0.4, -0.5, -0.3), "contradicted"),
    ],
)
def test_an_interval_with_a_reference_must_also_be_apart_from_it(one, side, interval, expected):
    mirrored = [interval[0] * side, *sorted(limit * side for limit in interval[1:])]
    assert verdict(one("interval", 0.5 * side, reference=0), *mirrored) == expected


def test_a_reference_other_than_zero(one):
    claim = one("interval", 0.9, reference=0.5)
    assert verdict(claim, 0.8, 0.6, 0.95) == "reproduced"
    assert verdict(claim, 0.3, 0.2, 0.4) == "contradicted"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer(0.2, 0.1, 0.3), "reproduced"),
        (Answer(0.2, -0.1, 0.5), "same direction"),
        (Answer(0.2), "same direction"),
        (Answer(-0.1, -0.4, 0.2), "not reproduced"),
        (Answer(-0.1), "not reproduced"),
        (Answer(0.0), "not reproduced"),
        (Answer(-0.2, -0.3, -0.1), "contradicted"),
        (Answer(0.2, p=0.01), "reproduced"),
        (Answer(0.2, p=0.05), "same direction"),
        (Answer(-0.2, p=0.2), "not reproduced"),
        (Answer(-0.2, p=0.01), "contradicted"),
        (Answer(0.2, -0.1, 0.5, p=0.01), "same direction"),
        (Answer(0.2, 0.1, 0.3, p=0.01), "reproduced"),
        (Answer(0.2, 0.1, 0.3, p=0.2), "same direction"),
        (Answer(-0.2, -0.3, -0.1, p=0.2), "not reproduced"),
        (Answer(reason="no seed"), "not testable here"),
    ],
)
@pytest.mark.parametrize("paper", ["above", 0.7])
def test_a_sign_needs_its_significance(one, paper, answer, expected):
    assert claims.judge(one("sign", paper), answer).name == expected


def test_a_sign_below_its_reference(one):
    claim = one("sign", "below", reference=1)
    assert verdict(claim, 0.5, 0.2, 0.8) == "reproduced"
    assert verdict(claim, 1.5, 1.2, 1.8) == "contradicted"


def points(*triples):
    return Answer(points=tuple(Point(*triple) for triple in triples))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (points(("a", 3, 2.8, 3.2), ("b", 2, 1.8, 2.2), ("c", 1, 0.8, 1.2)), "reproduced"),
        (points(("a", 3, 2.1, 3.9), ("b", 2, 1.8, 2.2), ("c", 1, 0.8, 1.2)), "same direction"),
        (points(("a", 3), ("b", 2), ("c", 1)), "same direction"),
        (points(("a", 2, 1, 3), ("b", 3, 2, 4), ("c", 1, 0, 2)), "not reproduced"),
        (points(("a", 2), ("b", 2), ("c", 1)), "not reproduced"),
        (points(("a", 1), ("b", 2), ("c", 3)), "not reproduced"),
        (points(("a", 2, 1.9, 2.1), ("b", 3, 2.9, 3.1), ("c", 1, 0, 1)), "contradicted"),
    ],
)
def test_an_ordering_is_judged_pair_by_pair(one, answer, expected):
    assert claims.judge(one("ordering", ["a", "b", "c"]), answer).name == expected


def test_labels_of_one_group_are_not_compared(one):
    claim = one("ordering", ["a", ["b", "c"]])
    answer = points(("a", 3, 2.9, 3.1), ("b", 1, 0.9, 1.1), ("c", 2, 1.9, 2.1))
    assert claims.judge(claim, answer).name == "reproduced"
    answer = points(("a", 1.5, 1.4, 1.6), ("b", 1, 0.9, 1.1), ("c", 2, 1.9, 2.1))
    assert claims.judge(claim, answer).name == "contradicted"


@pytest.mark.parametrize(
    ("paper", "options", "count", "n", "expected"),
    [
        ({"count": 0, "n": 54}, {"reference": 0.5}, 0, 54, "reproduced"),
        ({"count": 0, "n": 54}, {"reference": 0.5}, 0, 12, "reproduced"),
        ({"count": 0, "n": 54}, {"reference": 0.5}, 7, 54, "same direction"),
        ({"count": 0, "n": 54}, {"reference": 0.5}, 1, 3, "same direction"),
        ({"count": 0, "n": 54}, {"reference": 0.5}, 30, 54, "not reproduced"),
        ({"count": 0, "n": 54}, {"reference": 0.5}, 54, 54, "contradicted"),
        ({"count": 5, "n": 6}, {"reference": 0.5}, 5, 6, "reproduced"),
        ({"count": 5, "n": 6}, {"reference": 0.5}, 6, 6, "reproduced"),
        ({"count": 5, "n": 6}, {"reference": 0.5}, 4, 6, "same direction"),
        ({"count": 5, "n": 6}, {"reference": 0.5}, 3, 6, "not reproduced"),
        ({"count": 5, "n": 6}, {"reference": 0.5}, 0, 6, "contradicted"),
        ({"count": 5, "n": 6}, {}, 40, 60, "not reproduced"),
        (1, {"reference": 0.5}, 20, 20, "reproduced"),
        (1, {"reference": 0.5}, 3, 3, "same direction"),
        (1, {"reference": 0.5}, 19, 20, "same direction"),
        (0.9, {}, 19, 20, "reproduced"),
        (0.5, {}, 0, 0, "not testable here"),
    ],
)
def test_a_proportion_by_its_exact_interval(one, paper, options, count, n, expected):
    assert verdict(one("proportion", paper, **options), count, n=n) == expected


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        ((0.31, 0.30, 0.34), "reproduced"),
        ((0.32, 0.25, 0.38), "not reproduced"),
        ((0.32, 0.27, 0.37), "reproduced"),
        ((0.30, 0.30, 0.30), "reproduced"),
        ((0.80, 0.70, 0.90), "not reproduced"),
        ((0.80, 0.80, 0.80), "not reproduced"),
        ((0.30, None, None), "not testable here"),
    ],
)
def test_a_range_is_reproduced_if_most_of_ours_lies_within(one, ours, expected):
    # 0.27 to 0.37 overlaps 0.29 to 0.35 by 60%, 0.25 to 0.38 by 46%.
    assert verdict(one("range", {"low": 0.29, "high": 0.35}), *ours) == expected


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        ((0.1, 0.05, 0.15), "reproduced"),
        ((0.6, 0.5, 0.9), "same direction"),
        ((0.9, 0.5, 1.1), "same direction"),
        ((1.2, 0.5, 1.9), "not reproduced"),
        ((1.5, 1.2, 1.9), "contradicted"),
    ],
)
def test_a_range_with_a_reference(one, ours, expected):
    claim = one("range", {"low": 0.048, "high": 0.176}, reference=1)
    assert verdict(claim, *ours) == expected


def test_a_range_counts_with_its_rounding(one):
    ours = (0.03, 0.036, 0.039)
    assert verdict(one("range", {"low": 0.04, "high": 0.07}), *ours) == "not reproduced"
    rounded = one("range", {"low": 0.04, "high": 0.07}, rounding=0.005)
    assert verdict(rounded, *ours) == "reproduced"


@pytest.mark.parametrize(
    ("direction", "values", "p", "expected"),
    [
        ("rising", (1, 2, 3), 0.001, "reproduced"),
        ("rising", (1, 2, 3), None, "reproduced"),
        ("rising", (1, 2, 3), 0.2, "same direction"),
        ("rising", (1, 3, 2), 0.01, "same direction"),
        ("rising", (1, 1, 2), None, "not reproduced"),
        ("rising", (1, 3, 2), 0.2, "not reproduced"),
        ("rising", (1, 3, 2), None, "not reproduced"),
        ("rising", (3, 2, 1), 0.99, "contradicted"),
        ("falling", (3, 2, 1), 0.01, "reproduced"),
        ("falling", (1, 2, 3), None, "contradicted"),
        ("none", (1, 3, 2), None, "same direction"),
        ("none", (1, 2, 2), None, "same direction"),
        ("none", (1, 2, 3), None, "contradicted"),
        ("none", (3, 2, 1), None, "contradicted"),
    ],
)
def test_a_trend_is_monotone_and_significant(one, direction, values, p, expected):
    claim = one("trend", {"direction": direction, "at": [0.5, 1, 2]})
    found = Answer(
        points=tuple(Point(tau, x) for tau, x in zip((0.5, 1, 2), values, strict=True)), p=p
    )
    assert claims.judge(claim, found).name == expected


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([(1, 0.9, 1.1), (3, 2.9, 3.1), (2, 1.9, 2.1)], "reproduced"),
        ([(2, 1.9, 2.1), (1, 0.9, 1.1), (3, 2.9, 3.1)], "reproduced"),
        # A fall that noise can make, and values that noise alone moves.
        ([(1, 0.9, 1.1), (3, 2.4, 3.6), (2, 1.4, 2.6)], "same direction"),
        ([(1, 0, 2), (1.2, 0.2, 2.2), (1.1, 0.1, 2.1)], "same direction"),
        ([(1, 0, 2), (1.1, 0.1, 2.1), (1.2, 0.2, 2.2)], "contradicted"),
    ],
)
def test_not_monotone_asks_a_rise_and_a_fall_beyond_noise(one, points, expected):
    claim = one("trend", {"direction": "none", "at": [0.5, 1, 2]})
    found = Answer(points=tuple(Point(tau, *x) for tau, x in zip((0.5, 1, 2), points, strict=True)))
    assert claims.judge(claim, found).name == expected


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        ((0.01, -0.02, 0.04), "reproduced"),
        ((0.01, -0.06, 0.08), "same direction"),
        ((0.01, None, None), "same direction"),
        ((0.06, 0.01, 0.11), "not reproduced"),
        ((0.06, None, None), "not reproduced"),
        ((0.09, 0.06, 0.12), "contradicted"),
        ((-0.09, -0.12, -0.06), "contradicted"),
    ],
)
def test_equivalence_is_within_the_margin(one, ours, expected):
    assert verdict(one("equivalence", 0, margin=0.05), *ours) == expected


def test_a_proposition_holds_in_every_case_or_fails(one):
    claim = one("proposition", "holds")
    assert verdict(claim, 40, n=40) == "reproduced"
    assert claims.judge(claim, Answer(38, n=40)).why == "it fails in 2 cases"
    assert verdict(claim, 38, n=40) == "contradicted"
    assert verdict(claim, 0, n=0) == "not testable here"


def test_a_selected_definition_is_at_best_consistent(one):
    claim = one("interval", 0.5, reference=0, selected=True)
    assert verdict(claim, 0.5, 0.4, 0.6) == "consistent, definition selected"
    assert verdict(claim, 0.2, 0.1, 0.3) == "same direction"
    assert verdict(claim, -0.5, -0.6, -0.4) == "contradicted"


@pytest.mark.parametrize("interval", [(-0.4, -0.5, -0.3), (-0.1, -0.3, 0.1)])
@pytest.mark.parametrize("paper_model", [None, "the paper's model"])
def test_another_model_never_contradicts_the_paper(one, interval, paper_model):
    claim = one("interval", 0.5, reference=0, from_model=True, paper_model=paper_model)
    found = claims.judge(claim, Answer(*interval, model="Small-1B"))
    assert found.name == "not reproduced"
    assert found.text == "not reproduced with Small-1B"
    good = claims.judge(claim, Answer(0.5, 0.4, 0.6, model="Small-1B"))
    assert (good.name, good.text) == ("reproduced", "reproduced")


def test_the_papers_own_model_and_no_model_can_contradict_it(one):
    own = one("interval", 0.5, reference=0, from_model=True, paper_model="M")
    assert claims.judge(own, Answer(-0.4, -0.5, -0.3, model="M")).text == "contradicted"
    walk = one("interval", 0.5, reference=0, paper_model="M")
    assert claims.judge(walk, Answer(-0.4, -0.5, -0.3)).text == "contradicted"


def test_not_testable_says_why(one):
    found = claims.judge(one("interval", 0.5), Answer(reason="no seed has a value"))
    assert found == claims.Verdict("not testable here", "not testable here", "no seed has a value")
    only = claims.judge(one("interval", 0.5), Answer(0.5, reason="one value gives no interval"))
    assert only.why == "one value gives no interval"


# Taking an answer from tables.


TABLE = pa.table(
    {
        "family": ["a", "a", "b", "b"],
        "n_nodes": [500, 100, 100, 500],
        "x": [0.4, 0.2, 0.3, 0.1],
        "x_low": [0.3, 0.1, 0.2, None],
        "x_high": [0.5, 0.3, 0.4, None],
        "n": [3, 3, 3, 1],
        "p": [0.01, 0.04, 0.2, None],
        "verdict": ["good", "bad", "good", None],
        "reason": ["", "", "", "one value gives no interval"],
    }
)


def taken(one, kind, paper, quantity, tables=None, **settings):
    claim = one(kind, paper, quantity, **settings)
    return claims.answer(claim, {"t.parquet": TABLE} if tables is None else tables)


def test_one_row_with_its_interval(one):
    quantity = {**TAKES["interval"], "n": "n", "where": {"family": "a", "n_nodes": 100}}
    assert taken(one, "interval", 1, quantity) == Answer(0.2, 0.1, 0.3, 3)
    quantity["where"] = {"family": "b", "n_nodes": 500}
    found = taken(one, "interval", 1, quantity)
    assert found == Answer(0.1, None, None, 1, reason="one value gives no interval")


def test_a_complement_swaps_the_limits(one):
    quantity = {**TAKES["interval"], "where": {"family": "a", "n_nodes": 500}, "complement": True}
    found = taken(one, "interval", 1, quantity)
    assert (found.value, found.low, found.high) == pytest.approx((0.6, 0.5, 0.7))
    quantity = {"take": "range", "value": "x", "complement": True}
    found = taken(one, "range", {"low": 0, "high": 1}, quantity)
    assert (found.value, found.low, found.high, found.n) == pytest.approx((0.75, 0.6, 0.9, 4))


def test_a_difference_of_columns_with_its_p(one):
    quantity = {"value": "x", "minus": "x_low", "p": "p", "where": {"family": "a", "n_nodes": 100}}
    found = taken(one, "sign", "above", quantity)
    assert (found.value, found.low, found.p) == (pytest.approx(0.1), None, 0.04)
    quantity["where"] = {"family": "b", "n_nodes": 500}
    found = taken(one, "sign", "above", quantity)
    assert (found.value, found.reason) == (None, "one value gives no interval")


def test_a_p_that_is_named_must_be_there(one):
    table = pa.table({"x": [0.1], "p": pa.array([None], pa.float64())})
    found = taken(one, "sign", "above", {"value": "x", "p": "p"}, {"t.parquet": table})
    assert found == Answer(reason="p is undefined")


def test_counts_of_rows(one):
    quantity = {"take": "count", "holds": {"verdict": {"is": "good"}, "x": {"at_least": 0.35}}}
    assert taken(one, "proportion", 1, quantity) == Answer(1, n=4)
    # A missing value satisfies no condition.
    assert taken(
        one, "proportion", 1, {"take": "count", "holds": {"verdict": {"lacks": "bad"}}}
    ) == Answer(2, n=4)


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ({"above": 0.2}, 2),
        ({"at_least": 0.2}, 3),
        ({"below": 0.2}, 1),
        ({"at_most": 0.2}, 2),
        ({"above": 0.1, "below": 0.4}, 2),
        ({"is": 0.3}, 1),
    ],
)
def test_conditions(one, condition, count):
    quantity = {"take": "count", "holds": {"x": condition}}
    assert taken(one, "proposition", "holds", quantity).value == count


def test_groups_that_rise(one):
    quantity = {"take": "rising", "by": "family", "along": "n_nodes", "value": "x"}
    assert taken(one, "proportion", {"count": 1, "n": 2}, quantity) == Answer(1, n=2)
    found = taken(one, "proportion", 1, quantity | {"where": {"n_nodes": 100}})
    assert found.value is None
    assert "not defined at two n_nodes" in found.reason


def test_points_come_in_the_papers_order(one):
    quantity = {**TAKES["ordering"], "label": "family", "low": "x_low", "high": "x_high", "p": "p"}
    at_100 = quantity | {"where": {"n_nodes": 100}, "n": "n"}
    found = taken(one, "ordering", ["b", "a"], at_100)
    assert found.points == (Point("b", 0.3, 0.2, 0.4), Point("a", 0.2, 0.1, 0.3))
    assert (found.value, found.p, found.n) == (None, 0.2, 3)
    found = taken(one, "ordering", ["b", "a", "c"], at_100)
    assert found.reason == "no x where family = c"
    found = taken(one, "ordering", ["b", "a"], quantity | {"where": {"n_nodes": 500}})
    assert found.reason == "p is undefined"
    with pytest.raises(InputError, match=r"several rows of t\.parquet have family = a"):
        taken(one, "ordering", ["b", "a"], quantity)


def test_a_trend_needs_every_point_of_the_paper(one):
    quantity = {"take": "points", "label": "n_nodes", "value": "x", "where": {"family": "a"}}
    found = taken(one, "trend", {"direction": "rising", "at": [100, 500, 1000]}, quantity)
    assert found.reason == "no x where n_nodes = 1000.0"


def test_spreads_of_groups(one):
    quantity = {"take": "spread", "label": "n_nodes", "value": "x"}
    found = taken(one, "ordering", [500, 100], quantity)
    assert [point.value for point in found.points] == pytest.approx([0.3, 0.1])
    found = taken(one, "ordering", [500, 200], quantity)
    assert found.reason == "fewer than two x where n_nodes = 200"


def test_a_missing_file_or_row_is_not_testable_and_says_so(one):
    quantity = {**TAKES["interval"], "where": {"family": "c"}}
    found = taken(one, "interval", 1, quantity, tables={})
    assert (found.value, found.reason) == (None, "t.parquet is not part of this run")
    found = taken(one, "interval", 1, quantity)
    assert (found.value, found.reason) == (None, "no row of t.parquet has family = c")


def test_what_a_claim_needs_is_checked(one):
    quantity = {**TAKES["interval"], "where": {"family": "a", "n_nodes": 100}}
    needs = {"verdict": {"lacks": ["ba", "x"]}}
    found = taken(one, "interval", 1, quantity | {"needs": needs})
    assert (found.value, found.reason) == (None, "verdict: bad")
    needs = {"verdict": {"contains": "ba"}, "n": {"at_least": 3}}
    assert taken(one, "interval", 1, quantity | {"needs": needs}).value == 0.2


def test_a_missing_column_is_an_error(one):
    quantity = {**TAKES["interval"], "value": "y"}
    with pytest.raises(InputError, match=r"'group.one': t.parquet has no column 'y'; it has fam"):
        taken(one, "interval", 1, quantity)
    with pytest.raises(InputError, match="no column 'model'"):
        taken(one, "interval", 1, TAKES["interval"], from_model=True)


def test_several_rows_where_one_is_meant_are_an_error(one):
    with pytest.raises(InputError, match=r"2 rows of t.parquet have {'family': 'a'}"):
        taken(one, "interval", 1, {**TAKES["interval"], "where": {"family": "a"}})


@pytest.mark.parametrize("value", [None, "defined"])
def test_ranges_leave_out_undefined_rows(one, value):
    table = pa.table({"x": pa.array([None, 0.5 if value else None], pa.float64())})
    quantity = {"take": "range", "value": "x"}
    found = taken(one, "range", {"low": 0, "high": 1}, quantity, {"t.parquet": table})
    expected = Answer(0.5, 0.5, 0.5, 1) if value else Answer(reason="x is undefined in every row")
    assert found == expected


# The ledger.


def test_each_model_has_its_row(one):
    table = pa.table(
        {
            "model": ["Big", "Small"],
            "x": [0.5, -0.5],
            "x_low": [0.4, -0.6],
            "x_high": [0.6, -0.4],
            "goal": ["seek", "seek"],
        }
    )
    quantity = {**TAKES["interval"], "where": {"goal": "seek"}}
    claim = one("interval", 0.5, quantity, reference=0, from_model=True)
    tables = {"t.parquet": table}
    rows = claims.ledger([claim], tables)
    assert [(row["model"], row["verdict_text"]) for row in rows] == [
        ("Big", "reproduced"),
        ("Small", "not reproduced with Small"),
    ]
    assert rows[0]["ours"] == "0.5 [0.4, 0.6]"
    assert (rows[0]["paper"], rows[0]["group"], rows[0]["file"]) == ("0.5", "group", "t.parquet")
    assert claims.summary(rows) == "1 claims, 2 answers: 1 reproduced, 1 not reproduced."
    with pytest.raises(InputError, match=r"has \['Big', 'Small'\]; name one"):
        claims.answer(claim, tables)
    assert claims.answer(claim, {"t.parquet": table.slice(1)}).model == "Small"


def test_a_ledger_without_tables_is_all_not_testable():
    rows = claims.ledger(LEDGER, {})
    assert len(rows) == len(LEDGER)
    assert {row["verdict"] for row in rows} == {"not testable here"}
    assert all(row["file"] in row["why"] for row in rows)
    n = len(LEDGER)
    assert claims.summary(rows) == f"{n} claims, {n} answers: {n} not testable here."
    assert claims.summary([]) == "0 claims, 0 answers: none."


def test_tables_are_read_by_name_and_missing_ones_are_left_out(tmp_path):
    row = dict.fromkeys(SCHEMAS["table1_noise"].arrow.names)
    row |= {"eviction": "reservoir", "n_nodes": 100, "n_seeds": 0, "reason": "none"}
    spec = {"rule": "r", "settings": {}, "code": "c", "upstream": {}}
    path = tmp_path / "table1_noise.parquet"
    artefacts.write(path, "table1_noise", artefacts.table_of_rows("table1_noise", [row]), spec)
    tables = claims.read_tables([path, tmp_path / "table3.parquet"])
    assert list(tables) == [path.as_posix()]
    assert tables[path.as_posix()].to_pylist() == [row]
    (tmp_path / "nonsense.parquet").write_bytes(path.read_bytes())
    with pytest.raises(InputError, match="no artefact has this name"):
        claims.read_tables([tmp_path / "nonsense.parquet"])


@pytest.mark.parametrize(
    ("claim", "answer", "shown"),
    [
        (("proportion", 1), Answer(7, n=54), "7 of 54"),
        (("interval", 1), Answer(-0.25, -0.5, 0.1, 3), "−0.25 [−0.5, 0.1], n = 3"),
        (("sign", "above"), Answer(0.25, p=0.012), "0.25, p = 0.012"),
        (("ordering", ["a", "b"]), points(("a", 2, 1, 3), ("b", 1)), "a: 2 [1, 3], b: 1"),
        (("interval", 1), Answer(reason="none"), ""),
    ],
)
def test_answers_are_shown_for_a_reader(one, claim, answer, shown):
    assert claims.show(one(*claim), answer) == shown


# Reading the file.


def test_each_stands_for_combinations_or_entries(tmp_path):
    quantity = {**TAKES["interval"], "where": {"n_nodes": "{size}"}}
    product = entry("interval", 1, quantity, id="p.{name}.{size}")
    product["each"] = {"name": ["a", "b"], "size": [1, 2]}
    listed = entry("interval", "{paper}", id="l.{name}", claim="Of {name}.")
    listed["each"] = [{"name": "a", "paper": 0.1}, {"name": "b", "paper": 0.2}]
    found = read(tmp_path, product, listed)
    assert [claim.id for claim in found] == ["p.a.1", "p.a.2", "p.b.1", "p.b.2", "l.a", "l.b"]
    assert [claim.quantity.where.get("n_nodes") for claim in found[:4]] == [1, 2, 1, 2]
    assert [claim.paper.value for claim in found[4:]] == [0.1, 0.2]
    assert found[5].claim == "Of b."


def test_values_of_the_paper_are_found_by_key(tmp_path):
    keys = ["table1", "uniform", "sigma", 100]
    ladder = ["ladder", {"rung": "none", "quantity": "reduction"}]
    found = read(
        tmp_path,
        entry("interval", {"values": keys}),
        entry("range", {"values": ladder}, id="b", quote={"values": ["table2", "uniform"]}),
    )
    assert found[0].paper.value == 0.152
    assert (found[1].paper.low, found[1].paper.high) == (0.33, 0.45)
    assert found[1].paper.text == "weakest concentration; near miss (0.33 to 0.45)"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"verdict": "good"}, "'group.one': verdict: unknown key; known here are"),
        ({"kind": "guess"}, "kind: 'guess' is none of interval, sign"),
        ({"from_model": "no"}, "from_model: 'no'; give true or false"),
        ({"margin": 1}, "margin: unknown key"),
        ({"reference": "zero"}, "reference: 'zero'; give a number"),
        ({"reference": 0.5}, "0.5 lies on neither side of the reference 0.5"),
        ({"paper": "much"}, "paper: 'much' is no interval; give a number"),
        ({"paper": True}, "paper: True is no interval"),
        ({"paper": math.nan}, "paper: nan is no interval"),
        ({"paper": {"values": ["table9"]}}, "the paper's values have no 'table9'"),
        ({"paper": {"values": ["table1", "uniform", "tau"]}}, "have no 'tau'"),
        ({"paper": {"values": ["ladder", {"rung": "none"}]}}, "2 of the paper's values agree"),
        ({"paper": {"values": ["table1", {"rung": "none"}]}}, "0 of the paper's values agree"),
        ({"quote": {"values": ["nothing"]}}, "quote: the paper's values have no 'nothing'"),
        ({"quantity": {"value": "x"}}, "quantity: file: missing"),
        ({"quantity": {"file": "f", "value": "x"}}, "quantity.high: missing; a interval needs"),
        ({"quantity": {"file": "f", "take": "guess"}}, "take: 'guess' is none of row, range"),
        ({"quantity": {"file": "f", "take": "count", "holds": {}}}, "'count' gives no interval"),
        ({"quantity": {"file": "f", "value": "x", "label": "y"}}, "label: unknown key"),
        (
            {"quantity": {**TAKES["interval"], "file": "f", "needs": {"x": {"like": 1}}}},
            "needs.x: 'like' is none of is, above",
        ),
        ({"claim": "Of {nobody}."}, r"\{nobody\} is none of the keys of each, \[\]"),
    ],
)
def test_a_claim_that_cannot_be_used_is_refused(tmp_path, change, message):
    with pytest.raises(InputError, match=message) as error:
        read(tmp_path, entry("interval", 0.5) | change)
    assert "claims.yaml: claim 'group.one'" in str(error.value)


@pytest.mark.parametrize(
    ("kind", "paper", "settings", "message"),
    [
        ("equivalence", 0, {}, "margin: None; give a number above 0"),
        ("equivalence", 0, {"margin": -1}, "margin: -1.0; give a number above 0"),
        ("proportion", {"count": 7, "n": 6}, {}, "is no proportion"),
        ("proportion", {"count": 0, "n": 0}, {}, "is no proportion"),
        ("proportion", 1.5, {}, "is no proportion"),
        ("range", {"low": 2, "high": 1}, {}, "is no range"),
        ("range", {"low": 2}, {}, "is no range"),
        ("ordering", ["a"], {}, "is no ordering"),
        ("ordering", ["a", ["b", "a"]], {}, "is no ordering"),
        ("ordering", "ab", {}, "is no ordering"),
        ("trend", {"direction": "up", "at": [1, 2, 3]}, {}, "is no trend"),
        ("trend", {"direction": "rising", "at": [1, 3, 2]}, {}, "is no trend"),
        ("proposition", "fails", {}, "is no proposition; write holds"),
        ("sign", "up", {}, "is no sign; give a number, above or below"),
        ("sign", 0, {}, "lies on neither side of the reference 0"),
    ],
)
def test_what_the_paper_says_must_fit_the_kind(tmp_path, kind, paper, settings, message):
    with pytest.raises(InputError, match=message):
        read(tmp_path, entry(kind, paper, **settings))


def test_ids_stand_once_and_the_file_has_its_two_keys(tmp_path):
    with pytest.raises(InputError, match=r"'group.one' is the id of two claims"):
        read(tmp_path, entry("interval", 1), entry("sign", "above"))
    path = tmp_path / "other.yaml"
    path.write_text("claims: []\n")
    with pytest.raises(InputError, match="give paper_model: and claims:"):
        claims.read_claims(path, PAPER)
    raw = entry("interval", 1)
    del raw["place"]
    with pytest.raises(InputError, match="place: missing"):
        read(tmp_path, raw)


# The project's own claims.


def test_the_ledger_covers_the_paper():
    groups = Counter(claim.group for claim in LEDGER)
    parts = Counter(".".join(claim.id.split(".")[:2]) for claim in LEDGER)
    expected = {
        "table1.sigma": 18,
        "table1.slope": 6,
        "table1.r2": 6,
        "table1.increasing": 1,
        "audit.pure_power_law": 1,
        "table3.tokens": 4,
        "table3.coverage": 4,
        "table3.tail_error": 4,
        "table3.tokens_reduction": 1,
        "table3.tail_error_reduction": 1,
        "table4.tokens": 4,
        "table4.tail_error": 4,
        "table4.encoding_alone": 1,
        "table4.matched_tokens": 2,
        "replay.exact": 1,
        "tau.allocation": 3,
        "tau.random_walk": 4,
        "tau.semantic": 4,
        "table5.alfworld": 1,
        "table5.longmemeval": 1,
        "table5.longmemeval_parity": 1,
        "appendix_b.alfworld_one_shot": 2,
        "appendix_b.alfworld_three_shot": 2,
        "appendix_b.longmemeval_multi_session": 2,
        "appendix_a.A": 5,
    }
    assert expected == {part: parts[part] for part in expected}
    for group, least in {
        "audit": 5,
        "spectrum": 2,
        "ladder": 6,
        "table2": 13,
        "table5": 12,
    }.items():
        assert groups[group] >= least, group


def test_the_claims_hold_the_papers_numbers():
    by_id = {claim.id: claim.paper for claim in LEDGER}
    assert by_id["table1.sigma.mixed.1000"].value == 1.430
    assert by_id["table1.slope.modular"].value == 0.573
    assert by_id["table1.r2.baseline-symmetric"].value == 0.999
    assert (by_id["spectrum.events"].low, by_id["spectrum.events"].high) == (0.048, 0.176)
    assert by_id["ladder.uniform_reservoir"].value == 0.698
    assert (by_id["ladder.non_preferential"].low, by_id["ladder.non_preferential"].high) == (
        0.92,
        0.94,
    )
    assert by_id["table2.order.concentration"].order[0] == ("scale-free",)
    table4 = {
        (policy, encoding): tuple(
            by_id[f"table4.{what}.{policy}.{encoding}"].value for what in ("tokens", "tail_error")
        )
        for policy in ("graph", "ctwm")
        for encoding in ("verbose", "compact")
    }
    # What the paper says in words follows from its own tables.
    for encoding in ("verbose", "compact"):
        graph, ctwm = table4["graph", encoding], table4["ctwm", encoding]
        relative = by_id[f"table4.matched_tokens.{encoding}"].value
        assert ctwm[0] / graph[0] - 1 == pytest.approx(relative, abs=6e-4)
        assert ctwm[1] - graph[1] == pytest.approx(
            by_id[f"table4.allocation.{encoding}"].value, abs=1e-9
        )
    for what in ("tokens", "tail_error"):
        graph, ctwm = (by_id[f"table3.{what}.{policy}"].value for policy in ("graph", "ctwm"))
        assert 1 - ctwm / graph == pytest.approx(by_id[f"table3.{what}_reduction"].value, abs=6e-4)
    assert by_id["table5.longmemeval"].value == 0.2448
    assert by_id["appendix_b.longmemeval_multi_session.graph"].text == "3 of 77"


def test_only_sigma_and_what_follows_from_it_was_selected():
    assert {".".join(claim.id.split(".")[:2]) for claim in LEDGER if claim.selected} == {
        "table1.sigma",
        "table1.slope",
        "table1.r2",
    }


def test_what_needs_a_model_says_so():
    for claim in LEDGER:
        free = claim.group in ("table1", "audit", "spectrum", "ladder", "appendix_a") or (
            claim.id.startswith(("tau.allocation", "tau.random_walk")) or claim.id == "tau.cutoff"
        )
        assert claim.from_model is not free, claim.id


def test_the_claims_ask_for_columns_that_the_tables_have():
    known = 0
    for claim in LEDGER:
        stem = Path(claim.quantity.file).stem
        if stem in SCHEMAS:
            known += 1
            names = set(SCHEMAS[stem].arrow.names)
            assert set(claim.quantity.columns) <= names, claim.id
            assert not claim.from_model or "model" in names, claim.id
    assert known >= 50
    assert len(claims.files(LEDGER)) == len({claim.quantity.file for claim in LEDGER})


def test_the_papers_own_table_1_answers_itself():
    """The whole way on the paper's numbers: consistent, and five of six families increase."""
    rows = [
        {
            "eviction": "reservoir",
            "family": family,
            "n_nodes": size,
            "seeds": [42, 43, 44],
            "mean_degree": 6.0,
            "sigma_seeds": [sigma] * 3,
            "sigma": sigma,
            "sigma_low": sigma - 0.01,
            "sigma_high": sigma + 0.01,
            "n_seeds": 3,
            "paper_sigma": sigma,
            "reason": "",
        }
        for family, numbers in PAPER["table1"].items()
        for size, sigma in numbers["sigma"].items()
    ]
    tables = {"results/tables/table1_cells.parquet": artefacts.table_of_rows("table1_cells", rows)}
    found = {row["id"]: row for row in claims.ledger(LEDGER, tables)}
    sigma = [row["verdict"] for name, row in found.items() if name.startswith("table1.sigma")]
    assert sigma == ["consistent, definition selected"] * 18
    assert found["table1.increasing"]["ours"] == "5 of 6"
    assert found["table1.increasing"]["verdict"] == "reproduced"
    assert found["table1.slope.uniform"]["verdict"] == "not testable here"
