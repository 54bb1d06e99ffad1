import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coretail.audit import audit_counts
from coretail.audit.calibration import TRUE_LAWS
from coretail.concentration import concentration, gini
from coretail.controller import auto_tau
from coretail.errors import InputError
from coretail.reliability import Need
from coretail.render.style import save_figure
from coretail.render.trace import figure_traces
from coretail.spectrum import welch_slope
from coretail.streams import stream
from coretail.trace_audit import (
    BLOCKS,
    VERDICTS_IN_WORDS,
    Growth,
    Target,
    _gini,
    _missing,
    audit_trace,
    first_half_counts,
    shortfall,
    stationarity,
    tail_growth,
    top_series,
    trace_curves,
    trace_items,
    trace_record,
)

LOG = {"layout": "accesses", "order": "that of the rows", "notes": ("one", "two")}


def zipf_codes(n, n_items=300, key=0):
    """Return independent accesses of items with Zipf weights, relabelled without gaps."""
    rng = stream("test", "trace", key)
    weight = 1 / np.arange(1, n_items + 1) ** 0.9
    codes = rng.choice(n_items, n, p=weight / weight.sum())
    return np.unique(codes, return_inverse=True)[1].astype(np.int32)


def naive_halves(first, second, total):
    """Return the five figures of two halves, as their definitions read."""

    def best(counts, size):
        return set(sorted(counts, key=lambda item: (-counts[item], item))[:size])

    def absolute_difference_gini(counts):
        values = [value for value in counts.values() if value]
        pairs = sum(abs(a - b) for a in values for b in values)
        return pairs / (2 * len(values) * sum(values))

    top = best(total, math.ceil(len(total) / 10))
    shares = [sum(part[item] for item in top) / sum(part.values()) for part in (first, second)]
    size = math.ceil(min(len(first), len(second)) / 10)
    common = best(first, size) & best(second, size)
    ginis = [absolute_difference_gini(part) for part in (first, second)]
    return (*ginis, *shares, len(common) / size)


def test_stationarity_is_that_of_a_plain_reading():
    codes = zipf_codes(437, n_items=40)
    found = stationarity(codes, int(codes.max()) + 1, permutations=30, seed=5)

    blocks = np.split(codes, np.linspace(0, codes.size, BLOCKS + 1).astype(int)[1:-1])
    counts = [Counter(block.tolist()) for block in blocks]
    total = sum(counts, Counter())

    def figures(in_first):
        parts = [
            sum((c for c, mine in zip(counts, in_first, strict=True) if mine == side), Counter())
            for side in (1, 0)
        ]
        return naive_halves(*parts, total)

    half = np.repeat([1, 0], BLOCKS // 2)
    observed = figures(half)
    assert [
        found.gini_first,
        found.gini_second,
        found.top_share_first,
        found.top_share_second,
        found.overlap,
    ] == pytest.approx(observed, abs=1e-12)

    def distances(values):
        return abs(values[0] - values[1]), abs(values[2] - values[3]), 1 - values[4]

    rng = stream("stationarity", 5)
    extreme = np.ones(3)
    for _ in range(30):
        drawn = distances(figures(rng.permutation(half)))
        extreme += np.array(drawn) >= np.array(distances(observed)) - 1e-12
    assert [found.p_gini, found.p_top_share, found.p_overlap] == (extreme / 31).tolist()
    assert found.p == pytest.approx(min(1.0, 3 * extreme.min() / 31))


def test_a_stationary_log_seldom_has_a_small_p():
    """P(p <= 0.1) is at most 0.1 under the null: 60 logs, 11 or fewer with probability 0.97."""
    small = np.zeros(3, int)
    for key in range(60):
        codes = zipf_codes(2000, key=key)
        found = stationarity(codes, int(codes.max()) + 1, permutations=49)
        small += np.array([found.p_gini, found.p_top_share, found.p_overlap]) <= 0.1
    assert (small <= 11).all()
    # Nor are p hidden at 1: a test of level 0.1 that never rejects would be none.
    assert small[:2].min() >= 1


def test_a_change_of_what_is_accessed_has_a_small_p():
    codes = zipf_codes(4000, n_items=200)
    n_items = int(codes.max()) + 1
    moved = codes.copy()
    moved[2000:] = (moved[2000:] + n_items // 2) % n_items
    found = stationarity(moved, n_items, permutations=199)
    assert found.p_overlap == 1 / 200
    assert found.p == 3 / 200
    assert found.overlap < 0.5
    # The same halves, told apart by concentration: uniform at first.
    flat = codes.copy()
    flat[:2000] = stream("test", "flat").integers(0, n_items, 2000)
    assert stationarity(flat, n_items, permutations=199).p_gini == 1 / 200


def test_too_little_for_a_stationarity_check():
    assert "199 accesses are too few" in str(stationarity(np.zeros(199, np.int32), 1).reason)
    assert stationarity(np.zeros(200, np.int32), 1).reason == "one item only"
    with pytest.raises(InputError, match="permutations: 0"):
        stationarity(zipf_codes(300), 300, permutations=0)


def test_a_half_with_one_item_is_no_error():
    codes = np.concatenate([np.zeros(150, np.int32), np.arange(150, dtype=np.int32) % 7])
    found = stationarity(codes, 7, permutations=19)
    assert found.gini_first == 0.0
    assert found.top_share_first == 1.0


@given(st.lists(st.integers(0, 10**6), min_size=1).filter(any))
@settings(max_examples=60, deadline=None)
def test_gini_in_integers_is_the_same(values):
    counts = np.array(values, dtype=np.int64)
    assert _gini(counts) == pytest.approx(gini(counts) or 0.0, abs=1e-12)


def test_the_series_of_the_top_item():
    codes = np.array([0, 1, 1, 0, 2, 1])
    assert top_series(codes, None, 1).tolist() == [0, 1, 1, 0, 0, 1]
    assert top_series(codes, np.array([0, 0, 0, 1, 2, 2]), 1).tolist() == [2, 0, 1]


def test_an_audit_is_made_of_its_parts():
    codes = zipf_codes(6000, n_items=500)
    counts = np.bincount(codes)
    steps = (np.arange(codes.size) // 3).astype(np.int32)
    result = audit_trace(
        counts, codes=codes, steps=steps, replicates=30, permutations=29, seed=3, ks="observed"
    )
    assert result.audit == audit_counts(counts, replicates=30, seed=3, ks="observed")
    assert result.concentration == concentration(counts)
    assert result.stationarity == stationarity(codes, counts.size, permutations=29, seed=3)
    series = top_series(codes, steps, int(counts.argmax()))
    assert series.size == 2000
    assert result.spectrum == welch_slope(series)
    assert result.tau == auto_tau(result.audit)
    assert (result.n_accesses, result.n_items) == (6000, counts.size)
    assert result.in_words == VERDICTS_IN_WORDS[result.audit.verdict]
    again = audit_trace(
        counts, codes=codes, steps=steps, replicates=30, permutations=29, seed=3, ks="observed"
    )
    assert again.to_dict() == result.to_dict()


def test_counts_alone_have_no_order_and_it_is_said():
    result = audit_trace([1] * 60 + [2] * 20 + [5] * 4, replicates=0)
    unknown = "the order of the accesses is not known"
    assert (result.spectrum.reason, result.stationarity.reason) == (unknown, unknown)
    assert f"Nothing is said of whether the log is stationary: {unknown}." in result.limits


def test_counts_that_the_accesses_do_not_give():
    with pytest.raises(InputError, match="the accesses do not give the counts"):
        audit_trace([1, 1], codes=np.array([0, 0]))
    with pytest.raises(InputError, match="value 0 at position 1"):
        audit_trace([1, 0])


def test_the_growth_of_a_tail_is_the_slope_over_the_beginnings_of_a_log():
    codes = zipf_codes(900, n_items=200)
    found = tail_growth(np.bincount(codes), codes, n_tail=77)
    lengths = [int(900 * 2 ** (-k / 4)) for k in range(9)]
    assert found.accesses == tuple(lengths)
    assert (lengths[4], lengths[8]) == (450, 225)
    sizes = [77]
    for length in lengths[1:]:
        counts = np.bincount(codes[:length])
        sizes.append(audit_counts(counts[counts > 0], replicates=0).n_tail)
    assert found.n_tails == tuple(sizes)
    x, y = np.log(lengths), np.log(sizes)
    slope = np.sum((x - x.mean()) * (y - y.mean())) / np.sum((x - x.mean()) ** 2)
    assert found.exponent == pytest.approx(slope)
    assert (found.parts, found.reason) == ("beginnings", None)


def test_without_an_order_the_parts_are_random_and_repeatable():
    counts = np.bincount(zipf_codes(4000, n_items=400))
    first, again = (tail_growth(counts, None, n_tail=60, seed=3) for _ in range(2))
    assert first == again
    assert first.parts == "random"
    assert first.accesses[0] == 4000
    # Half the accesses, within five standard deviations of a binomial.
    assert abs(first.accesses[4] - 2000) < 5 * math.sqrt(1000)
    # A count that no 32 bits hold is thinned as well.
    assert tail_growth(np.array([2**62, 5, 3, 1]), None, n_tail=2).accesses[4] > 2**60


def test_a_log_too_short_for_parts_says_so():
    codes = np.array([0, 1, 1], dtype=np.int32)
    found = tail_growth(np.bincount(codes), codes, n_tail=3)
    assert (found.exponent, found.reason) == (None, "too few parts of it have a tail")
    assert tail_growth(np.array([1]), np.zeros(1, np.int32), n_tail=0).reason == "there is no tail"
    assert tail_growth(np.array([1]), None, n_tail=0).exponent is None


def growth(exponent, n_tail=25):
    return Growth(exponent, (1000,) * 9, (n_tail,) * 9, "beginnings")


def audited(n_tail):
    audit = audit_counts([1] * 60 + [2] * 30 + [3] * 10 + [5] * 5, replicates=0, x_min=1)
    return replace(audit, n_tail=n_tail)


NEED = Need("power_law", 400, 400, 0.9, 400, 1000)


def test_a_short_tail_says_how_much_is_missing():
    # Four times the tail at accesses**0.5 is sixteen times the log.
    missing = shortfall(1000, audited(25), growth(0.5), (NEED,))
    assert missing.wanted == 100
    assert missing.factor == pytest.approx(16)
    assert missing.more_accesses == pytest.approx(15_000, abs=1)
    (target,) = missing.targets
    assert (target.law, target.n_tail) == ("power_law", 400)
    assert (target.factor, target.more_accesses) == (
        pytest.approx(256),
        pytest.approx(255_000, abs=1),
    )
    text = " ".join(_missing(audited(25), missing))
    assert "accesses^0.50" in text
    assert "15,000 more accesses, 16.0 times this log, would reach 100" in text
    assert "at least 80% of samples are auditable from a true tail of 400 (power law;" in text


def reinforced(n, key, new=0.1):
    """Return accesses of which each is of a new item, or else repeats a random earlier one."""
    rng = stream("test", "reinforced", key)
    fresh, which = rng.random(n) < new, rng.random(n)
    codes = np.zeros(n, np.int32)
    n_items = 1
    for at in range(1, n):
        if fresh[at]:
            codes[at] = n_items
            n_items += 1
        else:
            codes[at] = codes[int(which[at] * at)]
    return codes


def test_the_length_that_is_named_has_about_the_tail_that_is_wanted():
    """Of 12 reinforced logs of 300 accesses, made as long as told: the median tail is near 100."""
    reached = []
    for key in range(12):
        codes = reinforced(9000, key)
        counts = np.bincount(codes[:300])
        audit = audit_counts(counts, replicates=0)
        missing = shortfall(300, audit, tail_growth(counts, codes[:300], n_tail=audit.n_tail))
        if missing is not None and missing.more_accesses is not None:
            longer = np.bincount(codes[: 300 + missing.more_accesses])
            reached.append(audit_counts(longer, replicates=0).n_tail)
    assert len(reached) >= 8
    assert 50 <= np.median(reached) <= 200


@pytest.mark.parametrize("exponent", [-0.3, 0.0, 0.09, 0.15])
def test_a_tail_that_does_not_grow_promises_nothing(exponent):
    missing = shortfall(1000, audited(25), growth(exponent), (NEED,))
    assert (missing.factor, missing.more_accesses) == (None, None)
    assert missing.targets[0].more_accesses is None
    (text,) = _missing(audited(25), missing)
    assert ("grows too slowly" if exponent > 0.1 else "does not grow") in text


def test_a_law_that_is_auditable_at_no_size_is_no_target():
    need = Need("exponential", None, None, None, None, 1000)
    missing = shortfall(1000, audited(25), growth(1.0), (need,))
    assert missing.targets[0] == Target("exponential", None, None, None)
    assert "no size tried (exponential)" in " ".join(_missing(audited(25), missing))


def test_a_log_that_is_not_auditable_is_told_what_it_lacks():
    codes = zipf_codes(250, n_items=60)
    result = audit_trace(np.bincount(codes), codes=codes, replicates=5, permutations=9)
    assert result.audit.n_tail < 100
    assert result.reliability.reason.startswith("with n_tail below 100")
    assert [target.law for target in result.shortfall.targets] == list(TRUE_LAWS)
    assert result.shortfall.growth.n_tails[0] == result.audit.n_tail
    assert result.limits[0].startswith(f"The tail has {result.audit.n_tail} items, fewer than 100")
    assert result.tau.value == 0


def test_no_tail_leaves_nothing_to_extrapolate():
    result = audit_trace([5] * 50, replicates=0)
    assert result.audit.verdict == "not_auditable"
    assert (result.shortfall.factor, result.shortfall.more_accesses) == (None, None)
    assert result.limits[0].startswith("There is no tail")


def test_a_long_tail_has_no_shortfall():
    assert shortfall(200, audited(105), growth(1.0)) is None


def test_the_record_has_the_columns_of_its_artefact():
    from coretail import artefacts

    codes = zipf_codes(2000)
    counts = np.bincount(codes)
    rows = [
        trace_record("a", LOG, audit_trace(counts, codes=codes, replicates=20, permutations=9)),
        trace_record("b", LOG | {"layout": "counts"}, audit_trace([4] * 9, replicates=0)),
    ]
    table = artefacts.table_of_rows("trace_audits", rows)
    assert table["sample"].to_pylist() == ["a", "b"]
    assert table["notes"].to_pylist() == ["one; two"] * 2
    assert table["gini"].to_pylist() == pytest.approx([gini(counts), 0.0])
    assert "spectrum: the order" in table["undefined"][1].as_py()


def test_items_are_ranked_with_their_first_half():
    codes = np.array([2, 0, 2, 1, 1, 1, 0], dtype=np.int32)
    halves = first_half_counts(codes, 3)
    assert halves.tolist() == [1, 0, 2]
    columns = trace_items("s", np.bincount(codes), pa.array(["a", "b", "c"]), halves)
    assert columns["id"].to_pylist() == ["b", "a", "c"]
    assert columns["accesses"].tolist() == [3, 2, 2]
    assert columns["first_half"].tolist() == [0, 1, 2]
    assert columns["rank"].tolist() == [1, 2, 3]


def curve(rows, name):
    return [(row["x"], row["y"]) for row in rows if row["curve"] == name]


def test_curves_of_a_small_sample():
    counts = np.array([1, 1, 2, 4])
    record = trace_record("s", LOG, audit_trace(counts, replicates=0))
    rows = trace_curves(record, counts, np.array([1, 0, 1, 2]))
    assert curve(rows, "ccdf") == [(1, 1), (2, 0.5), (4, 0.25)]
    assert curve(rows, "lorenz") == [(0, 0), (0.25, 0.125), (0.5, 0.25), (0.75, 0.5), (1, 1)]
    third = 1 / 3
    assert np.array(curve(rows, "lorenz_first")) == pytest.approx(
        np.array([(0, 0), (third, 0.25), (2 * third, 0.5), (1, 1)])
    )
    assert curve(trace_curves(record, counts), "lorenz_second") == []


def test_curves_of_a_large_sample_are_thinned_and_laws_meet_the_tail():
    codes = zipf_codes(400_000, n_items=3000)
    counts = np.bincount(codes)
    record = trace_record("s", LOG, audit_trace(counts, replicates=0))
    rows = trace_curves(record, counts)
    ccdf = curve(rows, "ccdf")
    assert ccdf[0] == (counts.min(), 1)
    assert ccdf[-1] == (counts.max(), np.sum(counts == counts.max()) / counts.size)
    assert len(curve(rows, "lorenz")) <= 400
    assert curve(rows, "lorenz")[-1] == (1, 1)
    x, y = curve(rows, "power_law")[0]
    assert x == record["x_min"]
    assert y == pytest.approx(np.mean(counts >= x))
    for row in rows:
        if row["curve"] == "ccdf":
            assert row["y"] == pytest.approx(np.mean(counts >= row["x"]))


# ---- figure -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def figure_rows():
    codes = zipf_codes(3000)
    counts = np.bincount(codes)
    result = audit_trace(counts, codes=codes, replicates=20, permutations=9)
    small = np.array([4] * 9)
    records = [
        trace_record("runs/agent $1$.parquet", LOG, result),
        trace_record("x" * 90 + ".csv", LOG, audit_trace(small, replicates=0)),
    ]
    curves = [
        *trace_curves(records[0], counts, first_half_counts(codes, counts.size)),
        *trace_curves(records[1], small),
    ]
    return records, curves


def test_the_figure_has_two_panels_per_sample_and_the_same_bytes(figure_rows, tmp_path):
    records, curves = figure_rows
    assert len(figure_traces(records, curves).axes) == 4
    figures = [figure_traces(records[:1], curves) for _ in range(2)]
    for number, figure in enumerate(figures):
        save_figure(figure, tmp_path / f"{number}.png", tmp_path / f"{number}.pdf")
    for kind in ("png", "pdf"):
        first, second = ((tmp_path / f"{number}.{kind}").read_bytes() for number in range(2))
        assert first == second


def test_the_figure_says_n_and_what_was_fitted(figure_rows):
    records, curves = figure_rows
    axes = figure_traces(records, curves).axes
    text = axes[0].texts[0].get_text()
    assert f"n = {records[0]['n']:,} items" in text
    assert f"{records[0]['n_tail']:,} items" in text
    assert r"\$1\$" in axes[0].get_title(loc="left")
    labels = [handle.get_text() for handle in axes[1].get_legend().get_texts()]
    assert f"whole log, Gini {records[0]['gini']:.3f}" in labels
    assert f"first half, Gini {records[0]['gini_first']:.3f}" in labels
    assert "not auditable" in axes[2].texts[0].get_text()
    assert len(axes[2].get_title(loc="left")) < 80
    drawn = axes[0].get_lines()[0].get_xydata()
    assert drawn.tolist() == [
        [row["x"], row["y"]]
        for row in curves
        if row["curve"] == "ccdf" and row["sample"] == records[0]["sample"]
    ]


def test_a_figure_of_nothing_is_an_error(figure_rows):
    records, curves = figure_rows
    with pytest.raises(InputError, match="no rows"):
        figure_traces([], curves)
    with pytest.raises(InputError, match="lacks gini"):
        figure_traces([{k: v for k, v in records[0].items() if k != "gini"}], curves)
