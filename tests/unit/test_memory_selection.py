"""What τ selects: exact inclusion probabilities, bookkeeping, pairing; and its entries' numbers."""

import math
from itertools import permutations

import numpy as np
import pytest
from scipy import stats as scipy_stats

import evaluate_tau
import make_table_cutoffs
import make_table_propositions
import make_table_tau
import make_table_tau_choice
from coretail.concentration import concentration
from coretail.controller import allocate
from coretail.errors import InputError
from coretail.memory.rankings import core_tail
from coretail.memory.selection import (
    arrival_times,
    best_ranked,
    closed_loop,
    first_arrivals,
    most_frequent,
    shape_of,
)
from coretail.memory.store import TransitionStore
from coretail.memory.view import WorldView
from coretail.rollouts.walk import random_walk
from coretail.streams import stream
from coretail.worlds.contents import build_contents
from coretail.worlds.topology import build_topology

TAUS = (0.25, 1.0, 2.0)


@pytest.fixture(scope="module")
def view():
    topology = build_topology("scale-free", 40, 42)
    return WorldView(topology, build_contents(topology, "natural"))


@pytest.fixture(scope="module")
def edges(view):
    return random_walk(view.topology, steps=400, retriever="none").edges.tolist()


def orders(tau, pool, k):
    """Return the probability of every order of k successive draws without replacement."""
    weights = [rank**-tau for rank in range(1, pool + 1)]
    found = {}
    for drawn in permutations(range(pool), k):
        left, probability = sum(weights), 1.0
        for rank in drawn:
            probability *= weights[rank] / left
            left -= weights[rank]
        found[drawn] = probability
    return found


@pytest.mark.parametrize("tau", [0.0, 0.5, 1.0, 2.0])
def test_the_race_draws_one_after_the_other_without_replacement(tau):
    races = 40_000
    drawn = first_arrivals(arrival_times(tau, races, 4, "test", "race"), 2)
    exact = orders(tau, 4, 2)
    assert math.isclose(sum(exact.values()), 1.0)
    seen = np.zeros(len(exact))
    place = {order: position for position, order in enumerate(exact)}
    for order in drawn.tolist():
        seen[place[tuple(order)]] += 1
    assert scipy_stats.chisquare(seen, races * np.array(list(exact.values()))).pvalue > 0.001


def test_the_inclusion_probabilities_of_three_of_ten():
    races = 20_000
    drawn = first_arrivals(arrival_times(1.0, races, 10, "test", "inclusion"), 3)
    assert (np.sort(drawn)[:, 1:] != np.sort(drawn)[:, :-1]).all()
    included = np.zeros(10)
    for order, probability in orders(1.0, 10, 3).items():
        included[list(order)] += probability
    assert math.isclose(included.sum(), 3.0)
    share = np.bincount(drawn.ravel(), minlength=10) / races
    # Five standard errors of a share.
    assert np.abs(share - included).max() < 5 * math.sqrt(0.25 / races)


def test_a_race_of_fewer_ranks_has_the_shares_of_fewer_ranks():
    times = arrival_times(1.0, 40_000, 10, "test", "fewer")[:, :3]
    first = np.bincount(first_arrivals(times, 1).ravel(), minlength=3)
    assert scipy_stats.chisquare(first, 40_000 * allocate(3, 1.0)).pvalue > 0.001


def test_the_races_of_two_exponents_are_independent():
    # Times the rates: the exponential variables behind them.
    first, second = (
        arrival_times(tau, 2_000, 5, "test", "two") * allocate(5, tau) for tau in (0.5, 1.0)
    )
    assert abs(np.corrcoef(first.ravel(), second.ravel())[0, 1]) < 0.05


def test_what_is_accessed_is_what_was_read_and_written(view, edges):
    found = closed_loop(view, edges, TAUS, capacity=30)
    assert found.writes.tolist() == np.bincount(edges, minlength=view.topology.n_edges).tolist()
    # The first step finds nothing, the next two one and two transitions at most.
    held, reads = set(), 0
    for edge in edges:
        reads += min(3, len(held))
        held.add(edge)
    assert found.reads.sum(1).tolist() == [reads] * 3
    assert found.rank_reads.sum(1).tolist() == [reads] * 3
    assert found.access.tolist() == (found.reads + found.writes).tolist()
    assert not found.reads[:, found.writes == 0].any()


def test_it_is_the_plain_loop(view, edges):
    """Against one loop per τ that draws one item after the other from the same arrival times."""
    found = closed_loop(view, edges, TAUS, pool=5, k=2, capacity=20)
    for place, tau in enumerate(TAUS):
        times = arrival_times(tau, len(edges), 5, *view.topology.key)
        store = TransitionStore(view, stream(*view.topology.key, "selection memory"), 20)
        reads = [0] * view.topology.n_edges
        for step, edge in enumerate(edges):
            best = best_ranked(store, view, int(view.sources[edge]), 5).tolist()
            waiting = dict(zip(best, times[step].tolist(), strict=False))
            for _ in range(min(2, len(best))):
                item = min(waiting, key=waiting.__getitem__)
                del waiting[item]
                reads[item] += 1
            store.write(edge)
        assert found.reads[place].tolist() == reads


def test_all_exponents_and_rankings_share_trajectory_memory_and_ranks_drawn(view, edges):
    all_of = closed_loop(view, edges, TAUS, capacity=30)
    alone = closed_loop(view, edges, TAUS[1:2], capacity=30)
    assert alone.reads[0].tolist() == all_of.reads[1].tolist()
    other = closed_loop(view, edges, TAUS, capacity=30, ranked=most_frequent)
    assert other.writes.tolist() == all_of.writes.tolist()
    assert other.rank_reads.tolist() == all_of.rank_reads.tolist()
    assert other.reads.tolist() != all_of.reads.tolist()


def test_the_ranking_is_ctwms_where_the_action_says_nothing(view, edges):
    store = TransitionStore(view, stream("test", "store"), 30)
    compared = 0
    for edge in edges:
        state = int(view.sources[edge])
        for action in range(len(view.contents.actions[state])):
            if (view.verbs[store.edges] == view.verb(state, action)).any():
                continue
            ranking = core_tail(store, view, state, action).edges
            assert best_ranked(store, view, state, 10).tolist() == ranking[:10].tolist()
            compared += len(store) > 10
        store.write(edge)
    assert compared > 0


def test_one_ranking_for_all_states_is_by_support(view):
    store = TransitionStore(view, stream("test", "support"))
    for edge in [7, 3, 7, 5, 3, 9]:
        store.write(edge)
    # 7 and 3 twice, 3 the more recent; of 5 and 9 the latter is.
    assert most_frequent(store, view, 0, 3).tolist() == [3, 7, 9]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"taus": (1.0, 1)}, "stands twice"),
        ({"taus": (-1.0,)}, "tau=-1.0"),
        ({"k": 11}, "k=11, pool=10"),
        ({"k": 0}, "k=0"),
    ],
)
def test_what_it_refuses(view, edges, options, message):
    with pytest.raises(InputError, match=message):
        closed_loop(view, edges, **{"taus": TAUS} | options)


def test_the_shape_of_shares_is_that_of_counts():
    counts = [9, 1, 4, 4, 2]
    exact = concentration(counts)
    shape = shape_of(np.array(counts) / 20)
    assert shape == pytest.approx(
        {"gini": exact.gini, "skew": exact.skew, "max_median": exact.max_median}
    )
    # Two shares, 1/3 apart, of sum 1: the sum of differences over n times the sum.
    assert shape_of([2 / 3, 1 / 3])["gini"] == pytest.approx(1 / 6)
    assert shape_of(allocate(7, 0.0))["skew"] is None


@pytest.mark.parametrize("statistic", ["gini", "skew", "max_median"])
def test_the_shape_of_an_allocation_rises_with_the_exponent(statistic):
    values = [shape_of(allocate(200, tau))[statistic] for tau in np.linspace(0.05, 3, 40)]
    assert (np.diff(values) > 0).all()


def sweep_rows(values, level="access"):
    return [
        {
            "driver": "random_walk",
            "model": None,
            "level": level,
            "seed": seed,
            "tau": tau,
            **dict.fromkeys(("skew", "max_median", "alpha", "x_min"), 10 * seed + tau),
            "gini": value,
        }
        for seed, row in enumerate(values)
        for tau, value in zip((0.5, 1.0, 2.0), row, strict=True)
    ]


def test_the_tables_trends_are_scipys():
    values = [[0.1, 0.3, 0.2], [0.2, 0.3, 0.4], [0.1, 0.2, 0.3], [0.5, 0.1, 0.6]]
    rows = make_table_tau.measured(sweep_rows(values))
    gini = [row for row in rows if row["statistic"] == "gini"]
    rising = scipy_stats.page_trend_test(values)
    falling = scipy_stats.page_trend_test([row[::-1] for row in values])
    assert [row["value"] for row in gini] == pytest.approx(np.mean(values, axis=0))
    for row in gini:
        assert row["page_l"] == rising.statistic
        assert row["page_p"] == pytest.approx(rising.pvalue)
        assert row["page_p_falling"] == pytest.approx(falling.pvalue)
        assert (row["n_rises"], row["rising"], row["page_n"], row["n_seeds"]) == (1, False, 4, 4)
    # The cutoffs 0.5, 10.5, ... of the seeds at the smallest exponent are all different.
    (first, *_) = [row for row in rows if row["statistic"] == "x_min"]
    assert (first["n_distinct"], first["rising"]) == (4, True)


def test_a_seed_without_a_value_is_left_out_of_the_test_as_a_whole():
    values = [[0.1, None, 0.3], [0.2, 0.3, 0.4], [0.1, 0.2, 0.3]]
    rows = make_table_tau.measured(sweep_rows(values))
    gini = [row for row in rows if row["statistic"] == "gini"]
    assert [row["n_seeds"] for row in gini] == [3, 2, 3]
    assert {row["page_n"] for row in gini} == {2}


def test_slots_by_rank():
    rows = [
        {"tau": 2.0, "rank": rank, "share": share, "slots": slots}
        for rank, (share, slots) in enumerate([(0.6, 5), (0.2, 2), (0.1, 1), (0.1, 0)], 1)
    ]
    found = {
        (row["level"], row["statistic"]): row["value"] for row in make_table_tau.computed(rows)
    }
    assert found["slots", "n_items"] == 3
    assert found["slots", "max_median"] == 2.5
    # Sum of |x_i - x_j| over pairs: 3 + 4 + 1 = 8 and, with the zero, 16; n times the total 8.
    assert found["slots", "gini"] == pytest.approx(8 / (3 * 8))
    assert found["slots", "gini_all"] == pytest.approx(16 / (4 * 8))
    assert found["allocation", "max_median"] == pytest.approx(4.0)


def test_the_cutoffs_are_counted():
    fits = [
        {
            "driver": "random_walk",
            "model": None,
            "level": "access",
            "tau": tau,
            "seed": seed,
            "x_min": x_min,
            "alpha": alpha,
        }
        for tau, fits in [
            (0.5, [(3, 2.0), (3, 2.5), (None, None)]),
            (1.0, [(4, 2.2), (7, 2.4), (2, 3.0)]),
            (2.0, [(4, 2.3), (9, 2.6), (5, 2.9)]),
        ]
        for seed, (x_min, alpha) in enumerate(fits)
    ]
    low, middle, high = make_table_cutoffs.summarised(fits)
    assert (low["n_seeds"], low["n_distinct"], low["n_pairs"]) == (2, 1, None)
    assert (middle["n_distinct"], middle["x_min_low"], middle["x_min_high"]) == (3, 2, 7)
    # From 0.5 to 1 seed 0 rises, seed 1 falls; from 1 to 2 seeds 0 and 1 rise.
    assert (middle["n_pairs"], middle["n_rises"]) == (2, 1)
    assert (high["n_pairs"], high["n_rises"]) == (3, 2)
    # The means 2.25, 2.53, 2.6 rise; of the seeds only the first does at every step.
    assert low["monotone"]
    assert low["n_monotone"] == 1


def test_the_oracle_fails_at_first_walks_only_and_no_exponent_beats_it(view, edges):
    walked = np.array(edges)
    bound = evaluate_tau.oracle(walked)["vote"]
    assert bound.tolist() == [edge not in edges[:step] for step, edge in enumerate(edges)]
    found = {
        tau: evaluate_tau.evaluated(view, walked, evaluate_tau.Settings(slots=8, tau=tau))
        for tau in (0.0, 2.0)
    }
    for columns in found.values():
        for name in ("vote", "hidden"):
            assert (columns[name] >= bound).all()
        # The transition that the vote names is always shown.
        assert (columns["vote"] >= columns["hidden"]).all()
        assert columns["vote"].sum() > bound.sum()
        assert columns["local_tokens"][0] == 0
        assert (columns["local_tokens"][1:] > 0).all()
    # The best-ranked match always has a slot and never fewer than another one.
    assert found[0.0]["vote"].tolist() == found[2.0]["vote"].tolist()
    # Eight items against four.
    assert found[0.0]["hidden"].sum() < found[2.0]["hidden"].sum()


def evaluation(choice, seed, second):
    """Return the rows of one trajectory: 10 tail steps in each half, half of them repeated."""
    key = {"driver": "agents", "family": "scale-free", "n_nodes": 40, "seed": seed}
    return [
        {
            **key,
            "choice": choice,
            "tau": None if choice == "oracle" else 1.0,
            "half": half,
            "stratum": stratum,
            "n": 5,
            "vote": wrong,
            "hidden": 5 if half == "first" else 1,
            "floor_memory": 2.0,
            "local_tokens": None if choice == "oracle" else 100,
        }
        for half, errors in (("first", (5, 5, 5)), ("second", second))
        for stratum, wrong in zip(
            ("tail_first", "tail_repeated", "head_first"), errors, strict=True
        )
    ]


def test_choices_are_scored_on_their_part():
    rows = evaluation("1", 42, (4, 1, 0))
    second = make_table_tau_choice.scored(rows, "second half")
    assert (second["n_tail"], second["tail_error"], second["repeated"]) == (10, 0.5, 0.2)
    assert (second["floor_memory"], second["tokens"], second["hidden"]) == (0.4, 20.0, 0.2)
    whole = make_table_tau_choice.scored(rows, "whole")
    assert (whole["n_tail"], whole["tail_error"], whole["repeated"]) == (20, 0.75, 0.6)
    assert make_table_tau_choice.scored(evaluation("oracle", 42, (0, 0, 0)), "whole")["tokens"] is (
        None
    )


def test_differences_are_paired_by_seed():
    errors = {"1": [(4, 1, 0), (5, 1, 0), (5, 5, 0)], "auto": [(3, 1, 0), (3, 1, 0), (5, 4, 0)]}
    seeds = [
        make_table_tau_choice.scored(evaluation(choice, seed, wrong), "second half")
        for choice, by_seed in errors.items()
        for seed, wrong in enumerate(by_seed)
    ]
    fixed, auto = make_table_tau_choice.compared(seeds, "auto")
    # 0.5, 0.6, 1.0 minus 0.4, 0.4, 0.9.
    assert fixed["tail_error_difference"] == pytest.approx(0.4 / 3)
    half = scipy_stats.t.ppf(0.975, 2) * np.std([0.1, 0.2, 0.1], ddof=1) / math.sqrt(3)
    assert fixed["tail_error_difference_low"] == pytest.approx(0.4 / 3 - half)
    assert fixed["tail_error_reading"] == "no difference shown"
    assert (fixed["hidden_difference"], fixed["hidden_reading"]) == (0, "the same at every seed")
    assert fixed["n_seeds"] == 3
    assert (auto["tail_error_difference"], auto["tail_error_reading"]) == (None, "reference")


def test_the_propositions_cases_are_counted():
    sizes, taus = [1, 2, 10], [0.0, 0.5, 2.0]
    rows = {row["proposition"]: row for row in make_table_propositions.verified(sizes, taus)}
    # Adjacent ranks of 2 and 10 at two positive exponents: (1 + 9) * 2.
    assert rows["A.2"]["cases"] == 20
    # Those, and rank 1 with each other.
    assert rows["A.3"]["cases"] == 40
    # Adjacent ranks at the two steps between three exponents.
    assert rows["A.3, growth"]["cases"] == 20
    # Cores of 2: 1; of 10: 1, 2, 5, 9; at two steps.
    assert rows["A.4"]["cases"] == 10
    assert all(row["holding"] == row["cases"] for row in rows.values())
    assert all(row["worst_margin"] > 0 for row in rows.values())
    assert set(rows) == {"A.2", "A.3", "A.3, growth", "A.4", "A.5", "A.6"}
