"""Table 5, Figure 8 and Appendix B's table, from small tables made by hand."""

from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
from matplotlib.colors import to_hex
from scipy import stats as reference

import make_table5
import make_table_alfworld
import make_table_benchmarks
from _entry import Job
from _policies import tokens_by_seed
from coretail import artefacts, claims, stats
from coretail.config import read_yaml
from coretail.errors import InputError
from coretail.render.external import figure_external
from coretail.render.style import save_figure
from coretail.schemas import SCHEMAS

ROOT = Path(__file__).parents[2]
PAPER = read_yaml(ROOT / "workflow/resources/paper_values.yaml")
LEDGER = claims.read_claims(ROOT / "workflow/resources/claims.yaml", PAPER)
NOT_RUN = "not run in this configuration"
STRONG, WEAK = "Strong-7B", "Weak-1B"
SPEC = {"rule": "test", "settings": {}, "code": "", "upstream": {}}


def row(name, **values):
    """Return a row of a schema, what is not given being null or empty."""
    found = {}
    for field in SCHEMAS[name].arrow:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if field.nullable:
            found[field.name] = None
        elif pa.types.is_boolean(kind):
            found[field.name] = False
        elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
            found[field.name] = 0
        else:
            found[field.name] = [] if pa.types.is_list(kind) else ""
    assert set(values) <= set(found)
    return found | values


def call(step, stratum, weight, tokens, correct, **more):
    values = {
        "model": STRONG, "driver": "agents", "budget": "slots", "policy": "ctwm",
        "encoding": "compact", "family": "scale-free", "n_nodes": 100, "seed": 42, "step": step,
        "stratum": stratum, "weight": weight, "prompt_tokens": tokens, "correct": correct,
        "status": "answered",
    }  # fmt: skip
    return row("memory_asked", **(values | more))


OWN = [
    call(1, "tail_first", 3.0, 90, True),
    call(5, "tail_first", 3.0, 110, True),
    call(2, "head_first", 1.0, 80, False),
    call(9, "head_first", 1.0, 100, True),
]
GRAPH = [
    call(9, "head_first", 1.0, 80, True, policy="graph"),
    call(1, "tail_first", 3.0, 100, False, policy="graph"),
    call(2, "head_first", 1.0, 100, True, policy="graph"),
    call(5, "tail_first", 3.0, 120, True, policy="graph"),
]
VERBOSE = [
    one | {"encoding": "verbose", "prompt_tokens": one["prompt_tokens"] * 2} for one in GRAPH
]


def alfworld(setting, model=STRONG, **more):
    values = {
        "model": model, "configuration": f"alfworld_{setting}", "data": "stand-in",
        "encoding": "compact", "reference_encoding": "compact", "n": 6, "n_unplayed": 1,
        "tokens": 950.0, "reference_tokens": 1000.0, "tokens_reduction": 0.05,
        "tokens_reduction_low": 0.03, "tokens_reduction_high": 0.07, "successes": 2,
        "reference_successes": 1, "only_ctwm": 1, "marked": 0.1,
    }  # fmt: skip
    return row("table_alfworld", **(values | more))


def conversations(model=STRONG, **more):
    values = {
        "model": model, "data": "stand-in", "judge": "deterministic", "budget": "slots",
        "group": "all", "first": "ctwm", "first_encoding": "compact", "second": "graph",
        "second_encoding": "compact", "n_tokens": 30, "tokens_first": 300.0,
        "tokens_second": 400.0, "tokens_reduction": 0.25, "tokens_reduction_low": 0.2,
        "tokens_reduction_high": 0.3, "n": 28, "first_correct": 14, "second_correct": 15,
        "only_first": 1, "only_second": 2,
    }  # fmt: skip
    return row("table_longmemeval_pairs", **(values | more))


def lengths(data):
    """Return a pair that no model answered, which says what the questions are."""
    return conversations(None, data=data, judge=None, first_correct=None, second_correct=None)


def answers(method, model=STRONG, **more):
    values = {
        "model": model, "data": "stand-in", "judge": "deterministic", "method": method,
        "encoding": "compact", "budget": "slots", "group": "all", "n": 28, "undecided": 2,
        "unanswered": 1,
    }  # fmt: skip
    return row("table_longmemeval", **(values | more))


GATE = {
    "table_competence": [
        row("table_competence", model=model, condition=condition, accuracy=accuracy)
        for model, copied in ((STRONG, 1.0), (WEAK, 0.1))
        for condition, accuracy in (
            ("rank_1", copied),
            ("rank_3", copied),
            ("rank_5", copied),
            ("empty", 0.0),
        )
    ],
    "table_hits": [row("table_hits", model=model, p=0.01) for model in (STRONG, WEAK)],
}


@pytest.fixture
def job(tmp_path):
    """Return a function that runs an entry on rows of artefacts, and returns rows and text."""

    def make(entry, name, settings, **given):
        """``given``: per input its rows, by schema."""
        inputs = {}
        for key, content in given.items():
            inputs[key] = []
            for schema, rows in content.items():
                path = tmp_path / f"{key}.parquet"
                artefacts.write(path, schema, artefacts.table_of_rows(schema, rows), SPEC)
                inputs[key] = str(path)
        output = {
            key: tmp_path / f"{key}.{end}"
            for key, end in (
                ("markdown", "md"),
                ("latex", "tex"),
                ("html", "html"),
                (name, "parquet"),
            )
        }
        spec = SPEC | {"settings": settings}
        run = Job(
            SimpleNamespace(
                input=inputs,
                output=output,
                threads=1,
                params=SimpleNamespace(spec=spec),
                wildcards={},
                config={"llm": {}, "models": []},
            )
        )
        entry.main(run)
        texts = [run.output(key).read_text(encoding="utf-8") for key in ("markdown", "latex")]
        return artefacts.read_rows(run.output(name), name), *texts

    return make


def table5(job, *, memory=(), games=(), talks=(), data="stand-in", seeds=(42, 43, 44), **given):
    settings = {
        "seeds": list(seeds),
        "models": {"memory": memory, "alfworld": games, "longmemeval": talks},
        "data": {"alfworld": data},
        "gate": {"copied": 0.8, "guessed": 0.2},
        "paper": PAPER["table5"],
        "margin": 0.05,
        "floor": 0.2,
    }
    nothing = {"asked": {}, "steps": {}, "trajectories": {}, "alfworld": {}}
    talks = {
        "longmemeval": {"table_longmemeval": []},
        "longmemeval_pairs": {"table_longmemeval_pairs": [lengths(data)]},
    }
    gate = {
        "competence": {"table_competence": GATE["table_competence"]},
        "hits": {"table_hits": GATE["table_hits"]},
    }
    return job(make_table5, "table5", settings, **(nothing | talks | gate | given))


SETTINGS = ("short_walk", "long_walk", "one_shot", "three_shot")
CONFIGURATIONS = [
    "synthetic_a",
    "synthetic_b",
    "synthetic_c",
    *(f"alfworld_{setting}" for setting in SETTINGS),
    "longmemeval",
]


@pytest.fixture
def full(job):
    """Table 5 of two models, the weaker of which did not play."""
    asked = [
        one | {"model": model, "seed": seed}
        for model in (STRONG, WEAK)
        for seed in (42, 43, 44)
        for one in (*OWN, *GRAPH, *VERBOSE)
    ]
    return table5(
        job,
        memory=[STRONG, WEAK],
        games=[STRONG],
        talks=[STRONG, WEAK],
        asked={"memory_asked": asked},
        alfworld={"table_alfworld": [alfworld(setting) for setting in SETTINGS]},
        longmemeval={
            "table_longmemeval": [
                answers(method, model) for model in (STRONG, WEAK) for method in ("graph", "ctwm")
            ]
        },
        longmemeval_pairs={
            "table_longmemeval_pairs": [
                conversations(),
                conversations(WEAK, first_correct=0, second_correct=0, only_first=0, only_second=0),
                # None of these is Table 5's.
                conversations(judge="Referee", first_correct=28, second_correct=28),
                conversations(budget="tokens", tokens_reduction=0.9),
                conversations(group="multi-session", tokens_reduction=0.9),
                conversations(first="ctwm_relaxed", tokens_reduction=0.9),
                conversations(model=None, judge=None, tokens_reduction=0.9),
            ]
        },
    )


def of(rows, configuration, model):
    (found,) = (
        one for one in rows if (one["configuration"], one["model"]) == (configuration, model)
    )
    return found


def test_synthetic_rows_by_hand(full):
    found = of(full[0], "synthetic_a", STRONG)
    # Weighted means (3*90 + 3*110 + 80 + 100) / 8 and (3*100 + 3*120 + 100 + 80) / 8.
    assert (found["tokens"], found["reference_tokens"]) == (97.5, 105)
    assert tokens_by_seed(OWN) == {42: 97.5}
    assert found["tokens_reduction"] == pytest.approx(1 - 780 / 840)
    # Residuals of the ratio 13/14, as shares of 105: tail -20/7 and -10/7, head -90/7 and 180/7.
    variance = 0.75**2 * (10 / 7) ** 2 / 2 / 2 + 0.25**2 * (270 / 7) ** 2 / 2 / 2
    half = 4.30265273 * variance**0.5 / 105
    assert found["tokens_reduction_low"] == pytest.approx(1 - 780 / 840 - half)
    assert found["tokens_reduction_high"] == pytest.approx(1 - 780 / 840 + half)
    sd = (4 * variance) ** 0.5 / 105
    assert found["detectable"] == pytest.approx(stats.minimum_detectable_difference(4, sd))
    assert (found["n"], found["n_left_out"], found["reading_tokens"]) == (
        4,
        0,
        "no difference shown",
    )
    assert found["tokens_reduction_verbose"] == pytest.approx(1 - 780 / 1680)
    assert found["n_verbose"] == 4
    # Tail states: 1 and 0, both of weight 3; t with one degree of freedom.
    assert (found["accuracy"], found["reference_accuracy"], found["n_accuracy"]) == (1, 0.5, 2)
    assert found["accuracy_difference"] == 0.5
    assert found["accuracy_difference_high"] == pytest.approx(0.5 + 6.31375151 * 0.5)
    assert (found["parity"], found["accuracy_by"]) == ("not shown", "1 - tail error, model")
    assert (found["data"], found["paper_reduction"]) == ("synthetic", 0.0568)
    assert of(full[0], "synthetic_b", STRONG)["label"] == "Synthetic graph B (seed 43)"


def test_rows_of_benchmarks_by_hand(full):
    rows = full[0]
    found = of(rows, "alfworld_one_shot", STRONG)
    assert (found["n"], found["n_left_out"], found["tokens_reduction"]) == (6, 1, 0.05)
    assert (found["reading_tokens"], found["paper_reduction"]) == ("fewer", 0.0495)
    # Half the width is t(5) = 2.5706 times sd / sqrt(6).
    sd = 0.02 / 2.57058184 * 6**0.5
    assert found["detectable"] == pytest.approx(stats.minimum_detectable_difference(6, sd))
    tango = stats.equivalence([1, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], 0.05).difference
    assert (found["accuracy"], found["reference_accuracy"]) == (1 / 3, 1 / 6)
    assert (found["accuracy_difference_low"], found["accuracy_difference_high"]) == (
        tango.low,
        tango.high,
    )
    assert (found["parity"], found["reason_verbose"]) == (
        "not shown",
        "alfworld.cells lacks graph-verbose",
    )
    talk = of(rows, "longmemeval", STRONG)
    assert (talk["n"], talk["n_accuracy"], talk["n_left_out"]) == (30, 28, 1)
    assert (talk["tokens_reduction"], talk["tokens_reduction_verbose"]) == (0.25, None)
    assert (talk["accuracy"], talk["reference_accuracy"]) == (0.5, 15 / 28)
    assert talk["accuracy_difference"] == pytest.approx(-1 / 28)
    # 0 against 0: the interval is shown, parity is not tested.
    weak = of(rows, "longmemeval", WEAK)
    assert (weak["parity"], weak["accuracy_difference"]) == ("not testable", 0)
    assert weak["accuracy_difference_high"] == pytest.approx(2.7055 / (28 + 2.7055), abs=1e-4)


def test_every_configuration_names_its_models_side_by_side(full):
    rows, markdown, latex = full
    expected = [
        (name, model)
        for name in CONFIGURATIONS
        for model in ((STRONG,) if name.startswith("alfworld") else (STRONG, WEAK))
    ]
    assert [(one["configuration"], one["model"]) for one in rows] == expected
    assert {one["competent"] for one in rows if one["model"] == WEAK} == {False}
    assert f"{STRONG} passes the competence gate." in markdown
    assert f"{WEAK} does not pass the competence gate" in markdown
    assert markdown.count("Stand-in for ALFWorld one-shot ReAct") == 2 + 1
    assert "no number in them is the benchmark's" in latex
    assert NOT_RUN not in markdown


def test_a_missing_partner_is_an_error(job):
    with pytest.raises(InputError, match=r"Strong-7B, seed 42: two memories were asked at differ"):
        table5(job, memory=[STRONG], asked={"memory_asked": [*OWN, *GRAPH[1:]]})


def test_a_full_window_and_a_refusal_leave_their_pairs(job):
    spoilt = [
        call(1, "tail_first", 3.0, 100, None, policy="graph", status="refusal"),
        call(2, "head_first", 1.0, 0, None, policy="graph", status="window_full"),
        *(one for one in GRAPH if one["step"] in (5, 9)),
    ]
    rows, markdown, _ = table5(
        job, memory=[STRONG], seeds=[42], asked={"memory_asked": [*OWN, *spoilt]}
    )
    found = of(rows, "synthetic_a", STRONG)
    assert (found["n"], found["n_left_out"], found["n_accuracy"]) == (3, 1, 1)
    assert found["reference_tokens"] == pytest.approx((3 * 100 + 3 * 120 + 80) / 7)
    assert found["tokens_reduction_low"] is None
    assert found["reason"] == "a stratum of one call gives no interval"
    assert found["reading_tokens"] == "no interval"
    assert found["reason_verbose"] == "memory.asked_cells lacks graph-verbose"
    assert f"Synthetic graph A (seed 42), {STRONG}: 1." in markdown


def walked(seed):
    """Four steps, three at tail states."""
    return [
        row(
            "memory_trajectories", driver="agents", family="scale-free", n_nodes=100, seed=seed,
            step=step, next_state=truth, stratum=stratum,
        )
        for step, (truth, stratum) in enumerate(
            [(7, "tail_first"), (8, "head_first"), (9, "tail_first"), (6, "tail_repeated")]
        )
    ]  # fmt: skip


def voted(policy, votes, seed):
    return [
        row(
            "memory_steps", driver="agents", policy=policy, encoding="compact", budget="slots",
            family="scale-free", n_nodes=100, seed=seed, step=step, vote=vote,
        )
        for step, vote in enumerate(votes)
    ]  # fmt: skip


def test_without_a_model_every_row_stands_and_the_free_predictor_is_named(job):
    rows, markdown, latex = table5(
        job,
        seeds=(42, 43),
        trajectories={"memory_trajectories": walked(42) + walked(43)},
        steps={
            "memory_steps": voted("ctwm", [7, 8, 9, None], 42)
            + voted("graph", [7, 8, None, 5], 42)
            + voted("ctwm", [None] * 4, 43)
            + voted("graph", [None] * 4, 43)
        },
    )
    assert [one["configuration"] for one in rows] == CONFIGURATIONS
    assert {(one["model"], one["n"], one["competent"]) for one in rows} == {(None, 0, None)}
    numbers = [
        one[name]
        for one in rows
        for name in one
        if name.startswith("tokens") or name in ("reference_tokens", "detectable")
    ]
    assert set(numbers) == {None}
    a, b, *others = rows
    assert (a["status"], a["accuracy_by"], a["n_accuracy"]) == (
        "no model",
        "1 - tail error, vote",
        3,
    )
    assert (a["accuracy"], a["reference_accuracy"]) == pytest.approx((2 / 3, 1 / 3))
    assert a["accuracy_difference"] == pytest.approx(1 / 3)
    assert a["accuracy_difference_low"] <= 1 / 3 <= a["accuracy_difference_high"]
    assert (b["accuracy"], b["parity"]) == (0, "not testable")
    assert "memory.models is empty" in a["reason"]
    assert {one["status"] for one in others} == {NOT_RUN}
    assert {one["accuracy"] for one in others} == {None}
    assert rows[2]["reason"] == f"{NOT_RUN}: seeds has only 2"
    assert rows[3]["reason"] == f"{NOT_RUN}: alfworld.models is empty"
    assert [one["label"].startswith("Stand-in") for one in rows] == [False] * 3 + [True] * 5
    for text in (markdown, latex):
        assert text.count("Stand-in for LongMemEval") == 2
        assert text.count(NOT_RUN) >= 2 * 6


def test_memories_that_were_not_asked_are_said_to_be_missing(job):
    rows, *_ = table5(
        job,
        memory=[STRONG],
        games=[STRONG],
        talks=[STRONG],
        asked={"memory_asked": OWN},
        alfworld={"table_alfworld": []},
    )
    assert {one["status"] for one in rows} == {NOT_RUN}
    assert {one["model"] for one in rows} == {STRONG}
    assert "memory.asked_cells lacks" in rows[0]["reason"]
    assert "alfworld.cells lacks" in rows[3]["reason"]
    assert "longmemeval.cells.slots lacks" in rows[-1]["reason"]


def ledger(rows, name):
    tables = {f"results/tables/{name}.parquet": artefacts.table_of_rows(name, rows)}
    group = {"table5": "table5", "table_benchmarks": "appendix_b"}[name]
    own = [claim for claim in LEDGER if claim.group == group]
    found = claims.ledger(own, tables)
    return {one["id"]: (one["verdict"], one["why"]) for one in found if one["model"] != WEAK}


def test_a_stand_in_answers_no_claim_on_a_benchmark(full):
    found = ledger(full[0], "table5")
    for name in CONFIGURATIONS[3:]:
        verdict, why = found[f"table5.{name}"]
        assert verdict == "not testable here"
        assert "data = benchmark" in why
    for name in ("alfworld", "order", "longmemeval_parity"):
        assert found[f"table5.{name}"][0] == "not testable here"
    assert found["table5.synthetic_a"][0] == "same direction"
    assert found["table5.direction"][1].startswith("the exact interval")

    real = [one | {"data": "benchmark"} for one in full[0] if one["data"] != "synthetic"]
    found = ledger(real, "table5")
    assert found["table5.longmemeval"][0] == "reproduced"
    assert found["table5.alfworld_one_shot"][0] == "reproduced"
    assert found["table5.longmemeval_parity"][0] == "same direction"


def test_what_was_not_run_answers_no_claim(job):
    rows, *_ = table5(job, data="benchmark", seeds=(42,))
    for verdict, why in ledger(rows, "table5").values():
        assert verdict == "not testable here"
        assert any(words in why for words in ("not run", "no row", "no tokens", "undefined")), why
    rows = [one | {"accuracy_by": "x", "parity": "not testable", "competent": True} for one in rows]
    assert ledger(rows, "table5")["table5.longmemeval_parity"] == (
        "not testable here",
        "parity: not testable",
    )


# Appendix B.


def memory(setting, policy, successes, **more):
    values = {
        "model": STRONG, "setting": f"alfworld_{setting}", "data": "benchmark", "policy": policy,
        "encoding": "compact", "n": 18, "successes": successes, "random_steps": 0.0,
    }  # fmt: skip
    return row("table_alfworld_memories", **(values | more))


def benchmarks(job, *, games=(), talks=(), data="benchmark", **given):
    settings = {
        "models": {"alfworld": games, "longmemeval": talks},
        "data": {"alfworld": data},
        "gate": {"copied": 0.8, "guessed": 0.2},
        "paper": PAPER["appendix_b"],
    }
    gate = {
        "competence": {"table_competence": GATE["table_competence"]},
        "hits": {"table_hits": GATE["table_hits"]},
    }
    nothing = {
        "alfworld": {},
        "memories": {},
        "longmemeval": {"table_longmemeval": []},
        "longmemeval_pairs": {"table_longmemeval_pairs": [lengths(data)]},
    }
    return job(make_table_benchmarks, "table_benchmarks", settings, **(nothing | gate | given))


@pytest.fixture
def papers(job):
    """Appendix B with the paper's own counts."""
    multi = {"group": "multi-session", "data": "benchmark"}
    pair = multi | {"n": 77, "first_correct": 0, "second_correct": 3, "only_first": 0}
    return benchmarks(
        job,
        games=[STRONG],
        talks=[WEAK, STRONG],
        alfworld={
            "table_alfworld": [
                alfworld("one_shot", n=18, only_ctwm=0, successes=0, reference_successes=0),
                alfworld("three_shot", n=18, only_ctwm=0, only_graph=1),
                alfworld("three_shot", n=18, reference_encoding="verbose", only_graph=9),
            ]
        },
        memories={
            "table_alfworld_memories": [
                memory("three_shot", "graph", 1),
                memory("three_shot", "graph", 9, encoding="verbose"),
                memory("three_shot", "ctwm", 0),
                memory("one_shot", "graph", 0),
                memory("one_shot", "ctwm", 0),
            ]
        },
        longmemeval={
            "table_longmemeval": [
                *(
                    answers(method, STRONG, **multi, **{"n": 77, "correct": correct})
                    for method, correct in (("graph", 3), ("ctwm", 0), ("ctwm_relaxed", 12))
                ),
                answers("ctwm", STRONG, correct=20),
                answers("ctwm", STRONG, **multi, budget="tokens", correct=20),
                answers("ctwm", STRONG, **(multi | {"judge": "Referee", "n": 77, "correct": 4})),
                answers("ctwm", WEAK, **multi, **{"n": 0, "correct": 0}),
            ]
        },
        longmemeval_pairs={
            "table_longmemeval_pairs": [
                conversations(**pair, only_second=3),
                conversations(
                    **(pair | {"only_first": 12, "only_second": 3}), first="ctwm_relaxed"
                ),
            ]
        },
    )


def test_the_papers_own_counts_come_out_as_the_paper_has_them(papers):
    rows, markdown, _ = papers
    found = {
        (one["setting"], one["policy"], one["encoding"], one["judge"], one["model"]): one
        for one in rows
    }
    assert len(found) == len(rows) == 5 + 5
    graph = found["alfworld_three_shot", "graph", "compact", "game", STRONG]
    exact = reference.binomtest(1, 18).proportion_ci(method="exact")
    assert (graph["share_low"], graph["share_high"]) == pytest.approx((exact.low, exact.high))
    assert (graph["reading_difference"], graph["paper_successes"], graph["paper_n"]) == (
        "reference",
        1,
        18,
    )
    ctwm = found["alfworld_three_shot", "ctwm", "compact", "game", STRONG]
    assert (ctwm["n_pairs"], ctwm["only_own"], ctwm["only_graph"], ctwm["mcnemar_p"]) == (
        18,
        0,
        1,
        1.0,
    )
    assert ctwm["reading_difference"] == "no difference shown"
    one_shot = found["alfworld_one_shot", "ctwm", "compact", "game", STRONG]
    assert one_shot["share_high"] == pytest.approx(1 - 0.025 ** (1 / 18))
    assert (one_shot["reading_difference"], one_shot["mcnemar_p"]) == ("not testable", None)
    key = "longmemeval_multi_session"
    talk = found[key, "ctwm", "compact", "deterministic", STRONG]
    assert (talk["successes"], talk["n"], talk["mcnemar_p"]) == (0, 77, 0.25)
    assert talk["reading_difference"] == "no difference shown"
    relaxed = found[key, "ctwm_relaxed", "compact", "deterministic", STRONG]
    assert (relaxed["reading_difference"], relaxed["paper_n"]) == ("more", None)
    referee = found[key, "ctwm", "compact", "Referee", STRONG]
    assert (referee["successes"], referee["reading_difference"]) == (4, "not compared")
    nothing = found[key, "ctwm", "compact", "deterministic", WEAK]
    assert (nothing["share"], nothing["reason"]) == (None, "no outcome with ctwm")
    assert "3/77" in markdown
    assert "stand-in" not in markdown.lower()
    verdicts = ledger([one for one in rows if one["model"] == STRONG], "table_benchmarks")
    # Three questions that graph memory alone gets right, of three: p = 0.25.
    assert verdicts.pop("appendix_b.multi_session")[0] == "same direction"
    assert {verdict for verdict, _ in verdicts.values()} == {"reproduced"}


def test_settings_that_were_not_run_stand_with_the_papers_counts(job):
    rows, markdown, _ = benchmarks(job, data="stand-in")
    assert [(one["setting"], one["policy"]) for one in rows] == [
        (setting, policy)
        for setting in (*(f"alfworld_{name}" for name in SETTINGS), "longmemeval_multi_session")
        for policy in ("graph", "ctwm")
    ]
    assert {(one["n"], one["successes"], one["reading_difference"]) for one in rows} == {
        (0, None, NOT_RUN)
    }
    assert rows[-2]["paper_successes"] == 3
    assert markdown.count("Stand-in for") == 10
    real, *_ = benchmarks(job)
    assert {verdict for verdict, _ in ledger(real, "table_benchmarks").values()} == {
        "not testable here"
    }
    whys = [why for _, why in ledger(real, "table_benchmarks").values()]
    assert all(NOT_RUN in why or why == "competent: None" for why in whys)


def test_who_only_answers_questions_is_put_to_the_gate_too(job):
    multi = {"group": "multi-session"}
    rows, markdown, _ = benchmarks(
        job,
        talks=[STRONG, WEAK],
        longmemeval={
            "table_longmemeval": [
                answers(method, model, **multi, correct=5)
                for model in (STRONG, WEAK)
                for method in ("graph", "ctwm")
            ]
        },
    )
    found = {one["model"]: (one["competent"], one["marked"]) for one in rows}
    assert found == {None: (None, None), STRONG: (True, 0.0), WEAK: (False, 0.0)}
    assert f"{WEAK} does not pass the competence gate" in markdown
    assert "was not put to the competence gate" not in markdown


# Random steps.


def episode(game, steps, tokens, calls, random, success=False, end="cap"):
    return {
        "game": game, "end": end, "success": success, "steps": steps, "prompt_tokens": tokens,
        "prompt_tokens_per_step": tokens / steps, "calls": calls, "random": random,
        "cached_tokens": 0,
    }  # fmt: skip


def played(*episodes):
    return {one["game"]: one for one in episodes}


KEY = {
    "model": STRONG, "setting": "alfworld_one_shot", "data": "stand-in", "competent": True,
    "encoding": "compact", "reference_encoding": "compact",
}  # fmt: skip


def test_calls_per_step_and_random_steps_by_hand():
    # 2 of 20 steps are random with CTWM, a share of 0.1; the first game has one retry in ten steps.
    own = played(episode("a", 10, 1100, 11, 1), episode("b", 10, 2000, 10, 1))
    graph = played(episode("a", 10, 1000, 10, 0), episode("b", 5, 500, 10, 0))
    found = make_table_alfworld.pair_row(KEY, own, graph)
    assert (found["calls"], found["reference_calls"]) == (1.05, 1.5)
    assert (found["tokens"], found["reference_tokens"]) == (155, 100)
    assert (found["marked"], found["reading_difference"]) == (0.1, "no difference shown")
    # One more, in either memory, and nothing is read.
    for memories in (
        (played(episode("a", 10, 1100, 12, 2), own["b"]), graph),
        (graph, played(episode("a", 10, 1100, 12, 2), own["b"])),
    ):
        found = make_table_alfworld.pair_row(KEY, *memories)
        assert found["marked"] == 3 / 20
        assert found["reading_difference"] == "not read: 15.0% of steps random"
        assert found["tokens_difference"] is not None
    unplayed = played(episode("a", 1, 0, 0, 0, end="unplayable"))
    found = make_table_alfworld.pair_row(KEY, unplayed, unplayed)
    assert found["marked"] is found["calls"] is None
    spec = make_table_alfworld.pair_table([found | {"configuration": found["setting"]}])
    assert [column.header for column in spec.columns if column.group == "Calls/step"] == [
        "CTWM", "Graph",
    ]  # fmt: skip


def test_nothing_is_read_from_many_random_steps_anywhere(job, tmp_path):
    unread = "not read: 12.5% of steps random"
    pairs = [
        alfworld("short_walk"),
        alfworld("long_walk", marked=0.125),
        alfworld("long_walk", marked=0.2, reference_encoding="verbose"),
    ]
    rows, markdown, _ = table5(job, games=[STRONG], alfworld={"table_alfworld": pairs})
    short, long = (of(rows, f"alfworld_{name}", STRONG) for name in ("short_walk", "long_walk"))
    assert (short["marked"], short["reading_tokens"], short["parity"]) == (
        0.1,
        "fewer",
        "not shown",
    )
    assert (long["marked"], long["reading_tokens"], long["parity"]) == (0.125, unread, unread)
    # It is printed all the same.
    assert (long["tokens_reduction"], long["tokens_reduction_verbose"]) == (0.05, 0.05)
    assert long["marked_verbose"] == 0.2
    assert f"{STRONG}, against verbose: not read: 20.0% of steps random." in markdown
    assert of(rows, "alfworld_one_shot", STRONG)["marked"] is None
    saved, right = figure_external(rows).axes
    for ax in (saved, right):
        texts = [text.get_text() for text in ax.texts]
        assert texts[3:5] == ["n = 6", "n = 6, not read"]
    pale = {line.get_ydata()[0] for line in saved.lines if line.get_alpha() == 0.35}
    assert pale == {4, 4.27}

    rows, markdown, _ = benchmarks(
        job,
        games=[STRONG],
        alfworld={"table_alfworld": [alfworld("one_shot"), alfworld("three_shot")]},
        memories={
            "table_alfworld_memories": [
                memory("one_shot", "graph", 1, random_steps=0.125),
                memory("one_shot", "ctwm", 2, random_steps=0.0),
                memory("three_shot", "graph", 1, random_steps=0.0),
                memory("three_shot", "ctwm", 2, random_steps=0.1),
            ]
        },
    )
    found = [(one["marked"], one["reading_difference"]) for one in rows if one["n"]]
    assert found == [
        (0.125, unread), (0.0, unread), (0.0, "reference"), (0.1, "no difference shown"),
    ]  # fmt: skip


def test_a_saving_stands_with_the_calls_that_summarise_tails(job):
    talks = {"longmemeval": {"table_longmemeval": [answers("ctwm")]}}
    summarised = conversations(
        summary_calls=30, tokens_in_all_reduction=-0.5, tokens_in_all_reduction_low=-0.6,
        tokens_in_all_reduction_high=-0.4,
    )  # fmt: skip
    for pair, saved in ((conversations(tokens_in_all_reduction=0.25), None), (summarised, -0.5)):
        rows, markdown, _ = table5(
            job, talks=[STRONG], **talks, longmemeval_pairs={"table_longmemeval_pairs": [pair]}
        )
        found = of(rows, "longmemeval", STRONG)
        assert (found["tokens_reduction"], found["tokens_reduction_in_all"]) == (0.25, saved)
        assert ("−50.00% [−60.00, −40.00]" in markdown) == (saved is not None)


# Figure 8.


def test_the_figure_shows_values_intervals_counts_and_what_stands_in(full, tmp_path):
    rows = full[0]
    fig = figure_external(rows)
    saved, right = fig.axes
    hollow = [line for line in saved.lines if line.get_markerfacecolor() == "none"]
    assert [line.get_xdata()[0] for line in hollow] == [one["paper_reduction"] for one in rows]
    bars = {
        tuple(segment[:, 0])
        for collection in saved.collections
        for segment in collection.get_segments()
    }
    for one in rows:
        assert (one["tokens_reduction_low"], one["tokens_reduction_high"]) in bars
    tinted = [patch for patch in saved.patches if to_hex(patch.get_facecolor()) == "#f3ebd8"]
    assert len(tinted) == sum(one["data"] == "stand-in" for one in rows) == 6
    assert [text.get_text() for text in right.texts] == [f"n = {one['n_accuracy']}" for one in rows]
    named = [tick.get_text() for tick in saved.get_yticklabels()]
    assert [name for name in named if name] == list(dict.fromkeys(one["label"] for one in rows))
    legend = {text.get_text() for text in fig.legends[0].get_texts()}
    assert {STRONG, WEAK, "the paper", "stand-in, not the benchmark"} <= legend
    paths = [tmp_path / name for name in ("a.png", "b.png", "a.pdf", "b.pdf")]
    save_figure(figure_external(rows), paths[0], paths[2])
    save_figure(figure_external(rows), paths[1], paths[3])
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert paths[2].read_bytes() == paths[3].read_bytes()


def test_the_figure_keeps_the_lines_of_what_was_not_run(job):
    rows, *_ = table5(job)
    saved, right = figure_external(rows).axes
    for ax in (saved, right):
        assert [text.get_text() for text in ax.texts] == ["not run"] * 8
    assert len(saved.lines) == 8 + 8
    with pytest.raises(InputError, match="two rows of one configuration"):
        figure_external([*rows, rows[0]])
    with pytest.raises(InputError, match="no rows"):
        figure_external([])
