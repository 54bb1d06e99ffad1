"""Closed-loop runs of a model behind an endpoint, their replay, and the two tables of them."""

import itertools
import shutil
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
from scipy import stats as reference

import ask_closed_loop
import freeze_trajectories
import make_table_closed_loop
import make_table_replay
import replay_closed_loop
import roll_closed_loop
from _closed_loop import Runs, check_pairs
from _entry import Job
from _memory import view_of
from coretail import artefacts
from coretail.errors import InputError
from coretail.memory import policies
from coretail.memory.frozen import least_visited
from coretail.memory.policies import Settings, make_policy
from coretail.memory.rankings import Ranking
from coretail.memory.view import NO_ACTION
from endpoint import LocalEndpoint, default_reply

MODEL = "lab/small"
CELLS = [("graph", "compact"), ("ctwm", "compact"), ("ctwm", "verbose")]
WORLD = {"family": "scale-free", "n_nodes": 40, "vocabulary": "natural"}
SEEDS = [1, 2, 3]
STEPS = 60
ROLL = {
    "model": {"name": MODEL},
    "seeds": SEEDS,
    "vocabulary": "natural",
    "steps": STEPS,
    "slots": 3,
    "tau": 1.0,
    "patience": 10,
    "style": "direct",
    "temperature": 0.0,
    "seed": 0,
    "attempts": 2,
}
ASK = {key: ROLL[key] for key in ("model", "vocabulary", "seed", "slots", "tau")} | {"asked": 4}
GATE = {"gate": {"copied": 0.8, "guessed": 0.2}}


def reader(body):
    """Return an action of the list, or the first memory with the state and action asked for."""
    text = body["messages"][-1]["content"]
    if "\nNow: " not in text:
        return default_reply({key: value for key, value in body.items() if key != "model"})
    question = text.rpartition("\nNow: ")[2]
    found = [line for line in text.split("\n")[1:-1] if question in line]
    return found[0][found[0].index(question) :].split(";")[0] if found else f"{question} nowhere"


class Chain:
    """The entries, in a folder, with a model behind an endpoint."""

    def __init__(self, folder, endpoint):
        self.folder = folder
        self.endpoint = endpoint

    def run(self, main, settings, wildcards=(), inputs=(), outputs=()):
        """Run an entry; its outputs are named as `name=file`."""
        for path in dict(outputs).values():
            path.parent.mkdir(parents=True, exist_ok=True)
        job = Job(
            SimpleNamespace(
                input={
                    name: list(map(str, path)) if isinstance(path, list) else str(path)
                    for name, path in dict(inputs).items()
                },
                output=dict(outputs),
                threads=1,
                params=SimpleNamespace(
                    spec={"rule": main.__module__, "settings": settings, "code": "", "upstream": {}}
                ),
                wildcards=dict(wildcards),
                config={
                    "llm": {
                        "backend": "api",
                        "budget": {"calls": None, "tokens": None, "money": None},
                        "attempts": 1,
                        "patience": 1.0,
                    },
                    "models": [
                        {"name": MODEL, "base_url": self.endpoint.base_url, "key_env": None}
                    ],
                },
            )
        )
        main(job)
        for name, path in dict(outputs).items():
            job.output(name).replace(path)

    def path(self, policy, encoding, name):
        """Return a file of one cell."""
        return self.folder / f"{policy}-{encoding}" / f"{name}.parquet"

    def freeze(self, n_seeds=3):
        """Write the random agents' trajectories."""
        settings = WORLD | {"first_seed": 1, "n_seeds": n_seeds, "steps": 200}
        out = {"trajectories": self.folder / "agents.parquet"}
        self.run(freeze_trajectories.main, settings, outputs=out)

    def roll(self, policy, encoding):
        """Let the model act with one memory."""
        self.run(
            roll_closed_loop.main,
            ROLL,
            {"model": "lab_small", "policy": policy, "encoding": encoding},
            {"agents": self.folder / "agents.parquet"},
            {
                name: self.path(policy, encoding, name)
                for name in ("trajectories", "steps", "choices", "summary")
            },
        )

    def replay(self, policy, encoding):
        """Replay one memory's trajectories."""
        self.run(
            replay_closed_loop.main,
            ASK,
            {"model": "lab_small", "policy": policy, "encoding": encoding},
            {"trajectories": self.path(policy, encoding, "trajectories")},
            {"replays": self.path(policy, encoding, "replays")},
        )

    def ask(self, policy, encoding, shown):
        """Ask the model on one memory's trajectories."""
        self.run(
            ask_closed_loop.main,
            ASK,
            {"model": "lab_small", "policy": policy, "encoding": encoding, "shown": shown},
            {"trajectories": self.path(policy, encoding, "trajectories")},
            {"asked": self.path(policy, encoding, f"asked-{shown}")},
        )

    def tabulate(self, main, cells, **more):
        """Write a table's files into the folder."""
        self.gate()
        self.run(
            main,
            GATE,
            inputs={
                "competence": self.folder / "competence.parquet",
                "hits": self.folder / "hits.parquet",
                **{
                    name: [self.path(*cell, name) for cell in cells]
                    for name in ("summary", "trajectories", "steps")
                },
                **more,
            },
            outputs={
                name: self.folder / "tables" / f"{name}{ending}" for name, ending in OUTPUTS[main]
            },
        )

    def gate(self, copied=1.0):
        """Write the competence gate's tables."""
        for name, rows in (
            ("competence", gate_rows("table_competence", copied)),
            ("hits", gate_rows("table_hits", copied)),
        ):
            spec = {"rule": "gate", "settings": {}, "code": "", "upstream": {}}
            content = artefacts.table_of_rows(f"table_{name}", rows)
            artefacts.write(self.folder / f"{name}.parquet", f"table_{name}", content, spec)

    def replay_table(self):
        """Make the table of replay."""
        cells = CELLS[1:]
        crossed = itertools.product(cells, ("compact", "verbose"))
        self.tabulate(
            make_table_replay.main,
            cells,
            replays=[self.path(*cell, "replays") for cell in cells],
            asked=[self.path(*cell, f"asked-{shown}") for cell, shown in crossed],
        )

    def table(self, name):
        """Return the rows of a table."""
        return pq.read_table(self.folder / "tables" / f"{name}.parquet").to_pylist()

    def rows(self, cell, name):
        """Return the rows of a cell's file."""
        return pq.read_table(self.path(*cell, name)).to_pylist()


OUTPUTS = {
    make_table_replay.main: [
        ("markdown", ".md"), ("latex", ".tex"), ("html", ".html"), ("table_replay", ".parquet"),
        ("table_replay_parts", ".parquet"), ("table_replay_seeds", ".parquet"),
    ],
    make_table_closed_loop.main: [
        ("markdown", ".md"), ("latex", ".tex"), ("html", ".html"),
        ("table_closed_loop", ".parquet"), ("table_closed_loop_effects", ".parquet"),
    ],
}  # fmt: skip


def gate_rows(name, copied):
    """Return rows of the gate with which the model passes if it copies enough."""
    names = artefacts.SCHEMAS[name].arrow.names
    numbers = {
        field.name: "" if "string" in str(field.type) else 0
        for field in artefacts.SCHEMAS[name].arrow
    }
    assert "model" in names
    if name == "table_hits":
        return [numbers | {"model": MODEL, "p": 0.001}]
    accuracies = {"rank_1": copied, "rank_3": copied, "rank_5": copied, "empty": 0.0}
    return [
        numbers | {"model": MODEL, "condition": condition, "accuracy": accuracy}
        for condition, accuracy in accuracies.items()
    ]


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    """All cells, rolled, replayed and asked; tests do not change it."""
    folder = tmp_path_factory.mktemp("closed loop")
    with pytest.MonkeyPatch.context() as patch, LocalEndpoint(reply=reader) as endpoint:
        patch.chdir(folder)
        made = Chain(folder, endpoint)
        made.freeze()
        for cell in CELLS:
            made.roll(*cell)
            made.replay(*cell)
            for policy, shown in CELLS:
                if policy == cell[0]:
                    made.ask(*cell, shown)
        made.tabulate(
            make_table_closed_loop.main,
            CELLS,
            asked=[made.path(*cell, f"asked-{cell[1]}") for cell in CELLS],
        )
        made.replay_table()
        yield made


# What a run writes.


def test_the_tail_set_is_that_of_the_random_agent(chain):
    agents = pq.read_table(chain.folder / "agents.parquet").to_pylist()
    for cell, seed in itertools.product(CELLS, SEEDS):
        tail = set(least_visited([row["state"] for row in agents if row["seed"] == seed]).tolist())
        own = [row for row in chain.rows(cell, "trajectories") if row["seed"] == seed]
        assert [row["step"] for row in own] == list(range(STEPS))
        assert {row["driver"] for row in own} == {f"live-{MODEL}-{cell[0]}-{cell[1]}"}
        assert [row["stratum"].startswith("tail") for row in own] == [
            row["state"] in tail for row in own
        ]
        visited = [row["state"] for row in own]
        assert set(least_visited(visited).tolist()) != tail & set(visited)


def test_runs_of_one_seed_share_start_and_errands_and_part_later(chain):
    summaries = [chain.rows(cell, "summary") for cell in CELLS]
    for rows in zip(*summaries, strict=True):
        assert len({(row["seed"], row["start"], row["steps"]) for row in rows}) == 1
    goals = [[row["goal_entity"] for row in chain.rows(cell, "choices")][:1] for cell in CELLS]
    assert goals[0] == goals[1] == goals[2]
    ways = [[row["edge"] for row in chain.rows(cell, "trajectories")] for cell in CELLS]
    assert len(set(map(tuple, ways))) == 3


def test_a_summary_counts_what_the_steps_say(chain):
    for cell, seed in itertools.product(CELLS, SEEDS):
        (summary,) = [row for row in chain.rows(cell, "summary") if row["seed"] == seed]
        choices = [row for row in chain.rows(cell, "choices") if row["seed"] == seed]
        for status in ("single", "chosen", "retried", "random"):
            assert summary[status] == sum(row["status"] == status for row in choices)
        assert summary["calling_steps"] == sum(row["calls"] > 0 for row in choices) > 20
        for name in ("calls", "prompt_tokens", "completion_tokens", "found"):
            assert summary[name] == sum(row[name] for row in choices)
        assert summary["reads"] == sum(row["n_read"] for row in choices) > 60
        walk = [row for row in chain.rows(cell, "trajectories") if row["seed"] == seed]
        assert summary["visited_states"] == len({row["state"] for row in walk})
        assert summary["visited_transitions"] == len({row["edge"] for row in walk})
        assert (summary["store_states"], summary["store_transitions"]) == (1, 1)


def test_the_context_stands_in_the_prompt_that_chooses(chain):
    prompts = [logged.body["messages"][-1]["content"] for logged in chain.endpoint.log]
    for cell in CELLS:
        view = view_of(WORLD["family"], WORLD["n_nodes"], 1, "natural")
        policy = make_policy(cell[0], view, Settings(slots=3, encoding=cell[1]))
        walk = [row for row in chain.rows(cell, "trajectories") if row["seed"] == 1]
        exposed = set()
        for row in walk:
            state = row["state"]
            context = policy.pack(policy.rank(state, NO_ACTION), state, NO_ACTION)
            exposed.update(context.shown, context.named)
            if row["step"] < 20 and len(view.contents.actions[state]) > 1 and context.text:
                place = f"Place: {view.contents.names[state]}\n"
                asked = f"Memories:\n{context.text}\nWays on:"
                assert any(place in text and asked in text for text in prompts)
            policy.write(row["edge"])
        (summary,) = [row for row in chain.rows(cell, "summary") if row["seed"] == 1]
        walked = {row["edge"] for row in walk}
        assert summary["exposed_transitions"] == len(exposed) / len(walked) > 0.5


def test_a_run_again_asks_for_nothing_and_writes_the_same_bytes(chain, tmp_path, monkeypatch):
    copy = tmp_path / "copy"
    shutil.copytree(chain.folder, copy)
    monkeypatch.chdir(copy)
    again, asked = Chain(copy, chain.endpoint), len(chain.endpoint.log)
    shutil.rmtree(copy / "ctwm-verbose")
    again.roll("ctwm", "verbose")
    again.ask("ctwm", "verbose", "compact")
    assert len(chain.endpoint.log) == asked
    for name in ("trajectories", "steps", "choices", "summary", "asked-compact"):
        first, second = (made.path("ctwm", "verbose", name) for made in (chain, again))
        assert first.read_bytes() == second.read_bytes()


def test_a_seed_without_a_random_agent_is_an_error(chain, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fewer = Chain(tmp_path, chain.endpoint)
    fewer.freeze(n_seeds=2)
    with pytest.raises(InputError, match=r"seeds: 3 is beyond .* raise memory\.n_seeds"):
        fewer.roll("ctwm", "compact")


# Replay.


@pytest.mark.parametrize("cell", CELLS)
def test_replay_under_the_own_encoding_is_the_live_run(chain, cell):
    live = chain.rows(cell, "steps")
    replays = chain.rows(cell, "replays")
    assert [row for row in replays if row["encoding"] == cell[1]] == live
    other = [row for row in replays if row["encoding"] != cell[1]]
    assert [row["ranking"] for row in other] == [row["ranking"] for row in live]
    assert [row["local_tokens"] for row in other] != [row["local_tokens"] for row in live]


def test_both_encodings_are_asked_at_the_same_steps(chain):
    for way in ("compact", "verbose"):
        asked = [chain.rows(("ctwm", way), f"asked-{shown}") for shown in ("compact", "verbose")]
        steps = [[(row["seed"], row["step"], row["weight"]) for row in rows] for rows in asked]
        assert steps[0] == steps[1]
        assert {row["driver"] for rows in asked for row in rows} == {f"live-{MODEL}-ctwm-{way}"}
        assert {row["correct"] for rows in asked for row in rows} == {True, False}


def test_the_replay_table_is_the_mean_of_its_seeds(chain):
    parts, seeds = chain.table("table_replay_parts"), chain.table("table_replay_seeds")
    assert [(row["predictor"], row["steps"]) for row in parts] == [
        ("vote", "tail"), ("vote", "all"), ("model", "tail"), ("model", "all"),
    ]  # fmt: skip
    for row in parts:
        own = [
            seed for seed in seeds
            if all(seed[key] == row[key] for key in ("policy", "predictor", "steps"))
        ]  # fmt: skip
        assert [seed["seed"] for seed in own] == SEEDS
        for term in ("live", "trajectory", "reading"):
            values = [seed[term] for seed in own]
            assert row[term] == pytest.approx(sum(values) / 3)
            if len(set(values)) > 1:
                half = reference.t.ppf(0.975, 2) * reference.sem(values)
                assert row[f"{term}_high"] - row[term] == pytest.approx(half)
        for seed in own:
            live = seed["compact_on_compact"] - seed["verbose_on_verbose"]
            assert seed["live"] == live
            assert seed["trajectory"] + seed["reading"] == pytest.approx(live)
        assert (row["retrieval"], row["abs_difference"], row["mismatches"]) == (0, 0, 0)
        assert row["n_seeds"] == 3
        # vote does not see how a context is written, and what is asked of it is all steps.
        if row["predictor"] == "vote":
            assert row["reading"] == 0
            assert row["live"] == pytest.approx(row["trajectory"])
            if row["steps"] == "all":
                assert row["n_scored"] == 2 * 3 * STEPS
    assert chain.table("table_replay") == [parts[2]]
    text = (chain.folder / "tables/markdown.md").read_text()
    assert "at most 0; 0 rankings differ" in text
    assert "lab/small passes the competence gate" in text


def test_losses_of_the_replay_table_are_those_of_the_steps(chain):
    seeds = chain.table("table_replay_seeds")
    for way, shown in itertools.product(("compact", "verbose"), repeat=2):
        walk = chain.rows(("ctwm", way), "trajectories")
        replays = [row for row in chain.rows(("ctwm", way), "replays") if row["encoding"] == shown]
        for seed in seeds:
            if (seed["predictor"], seed["steps"]) == ("vote", "tail"):
                wrong = [
                    done["vote"] != row["next_state"]
                    for row, done in zip(walk, replays, strict=True)
                    if row["seed"] == seed["seed"] and row["stratum"].startswith("tail")
                ]
                assert seed[f"{shown}_on_{way}"] == pytest.approx(sum(wrong) / len(wrong))
                assert seed[f"n_on_{way}"] == len(wrong)


def with_broken_ranking(name, view, settings):
    """Return a policy whose ranking map depends on the encoding: the compact one's is reversed."""
    policy = policies.make_policy(name, view, settings)
    if settings.encoding == "compact":
        sound = policy.rank

        def rank(state, action):
            ranking = sound(state, action)
            return Ranking(
                *(getattr(ranking, part)[::-1] for part in ("edges", "scores", "support", "last"))
            )

        policy.rank = rank
    return policy


def test_a_ranking_that_depends_on_the_encoding_shows_as_retrieval(chain, tmp_path, monkeypatch):
    copy = tmp_path / "copy"
    shutil.copytree(chain.folder, copy)
    monkeypatch.chdir(copy)
    broken = Chain(copy, chain.endpoint)
    for entry in (roll_closed_loop, replay_closed_loop):
        monkeypatch.setattr(entry, "make_policy", with_broken_ranking)
    monkeypatch.setattr("_asking.make_policy", with_broken_ranking)
    for cell in CELLS[1:]:
        broken.roll(*cell)
        broken.replay(*cell)
        for _, shown in CELLS[1:]:
            broken.ask(*cell, shown)
    broken.replay_table()
    rows = {(row["predictor"], row["steps"]): row for row in broken.table("table_replay_parts")}
    free = rows["vote", "all"]
    # Worse items are shown, which costs what the better ones had right.
    assert free["retrieval"] > 0
    assert free["mismatches"] > STEPS
    # Under its own encoding each replay is still what was live.
    assert free["abs_difference"] == 0
    for row in rows.values():
        total = row["trajectory"] + row["reading"] + row["retrieval"]
        assert total == pytest.approx(row["live"])
    assert "0 rankings differ" not in (copy / "tables/markdown.md").read_text()


def test_a_replay_that_is_not_exact_says_by_how_much(chain, tmp_path, monkeypatch):
    copy = tmp_path / "copy"
    shutil.copytree(chain.folder, copy)
    monkeypatch.chdir(copy)
    changed = Chain(copy, chain.endpoint)
    path = changed.path("ctwm", "verbose", "steps")
    rows = changed.rows(("ctwm", "verbose"), "steps")
    walk = changed.rows(("ctwm", "verbose"), "trajectories")
    right = next(
        place for place, row in enumerate(walk) if rows[place]["vote"] == row["next_state"]
    )
    rows[right]["vote"] = None
    spec = {"rule": "roll_closed_loop", "settings": {}, "code": "", "upstream": {}}
    artefacts.write(path, "memory_steps", artefacts.table_of_rows("memory_steps", rows), spec)
    changed.replay_table()
    assert {row["abs_difference"] for row in changed.table("table_replay_parts")} == {1.0}


def test_what_is_conclusive(chain, tmp_path, monkeypatch):
    """Only a difference that is shown, of a model that passes the gate, with few random actions."""
    copy = tmp_path / "copy"
    shutil.copytree(chain.folder, copy)
    monkeypatch.chdir(copy)
    made = Chain(copy, chain.endpoint)
    shown = {
        (row["predictor"], row["steps"]): row["reading_difference"] in ("lower", "higher")
        for row in chain.table("table_replay_parts")
    }
    for row in chain.table("table_replay_parts"):
        assert row["conclusive"] == shown[row["predictor"], row["steps"]]
    rows = made.rows(("ctwm", "compact"), "summary")
    for row in rows:
        row["random"] = 20
    spec = {"rule": "roll_closed_loop", "settings": {}, "code": "", "upstream": {}}
    content = artefacts.table_of_rows("closed_loop_summary", rows)
    artefacts.write(made.path("ctwm", "compact", "summary"), "closed_loop_summary", content, spec)
    made.replay_table()
    for row in made.table("table_replay_parts"):
        assert row["reading_difference"] == "excluded"
        assert row["marked"] == pytest.approx(20 / STEPS)
        assert not row["conclusive"]
    assert "not conclusive" in (copy / "tables/markdown.md").read_text()


# The companion of Table 3.


def test_cells_of_the_closed_loop(chain):
    rows = chain.table("table_closed_loop")
    assert [(row["cell"], row["predictor"]) for row in rows] == [
        (f"{policy}-{encoding}", predictor)
        for policy, encoding in CELLS
        for predictor in ("top1", "vote", "model")
    ]
    for row in rows:
        cell = (row["policy"], row["encoding"])
        summaries = chain.rows(cell, "summary")
        tokens = [row["prompt_tokens"] / row["calling_steps"] for row in summaries]
        half = reference.t.ppf(0.975, 2) * reference.sem(tokens)
        assert row["tokens"] == pytest.approx(sum(tokens) / 3)
        assert row["tokens_low"] == pytest.approx(sum(tokens) / 3 - half)
        assert row["found"] == pytest.approx(sum(row["found"] for row in summaries) / 3)
        assert row["competent"]
        walk, steps = chain.rows(cell, "trajectories"), chain.rows(cell, "steps")
        if row["predictor"] == "model":
            continue
        errors, own_errors, repeated = [], [], 0
        for seed in SEEDS:
            pairs = [
                (place, done)
                for place, done in zip(walk, steps, strict=True)
                if place["seed"] == seed
            ]
            own = set(least_visited([place["state"] for place, _ in pairs]).tolist())
            wrong = [
                (place, done[row["predictor"]] != place["next_state"]) for place, done in pairs
            ]
            tail = [loss for place, loss in wrong if place["stratum"].startswith("tail")]
            repeated += sum(place["stratum"] == "tail_repeated" for place, _ in wrong)
            own_tail = [loss for place, loss in wrong if place["state"] in own]
            errors.append(sum(tail) / len(tail))
            own_errors.append(sum(own_tail) / len(own_tail))
        assert row["tail_error"] == pytest.approx(sum(errors) / 3)
        assert row["own_tail_error"] == pytest.approx(sum(own_errors) / 3)
        everywhere = [
            done[row["predictor"]] != place["next_state"]
            for place, done in zip(walk, steps, strict=True)
        ]
        assert row["error"] == pytest.approx(sum(everywhere) / (3 * STEPS))
        assert row["tail_error_first"] == 1
        assert row["n_repeated"] == repeated > 0
        assert row["n_tail"] == sum(place["stratum"].startswith("tail") for place in walk)


def test_a_model_that_was_asked_at_some_steps_stands_for_all(chain):
    (row,) = [
        row
        for row in chain.table("table_closed_loop")
        if (row["cell"], row["predictor"]) == ("graph-compact", "model")
    ]
    asked = chain.rows(("graph", "compact"), "asked-compact")
    errors = []
    for seed in SEEDS:
        tail = [
            reply
            for reply in asked
            if reply["seed"] == seed and reply["stratum"].startswith("tail")
        ]
        weight = sum(reply["weight"] for reply in tail)
        errors.append(sum(reply["weight"] for reply in tail if not reply["correct"]) / weight)
    assert row["tail_error"] == pytest.approx(sum(errors) / 3)
    assert row["n_tail"] == sum(reply["stratum"].startswith("tail") for reply in asked)
    assert row["n_unscored"] == 0


def test_differences_are_paired_by_seed(chain):
    effects = chain.table("table_closed_loop_effects")
    assert {(row["cell"], row["reference"]) for row in effects} == {
        ("ctwm-compact", "graph-compact"),
        ("ctwm-compact", "ctwm-verbose"),
    }
    tokens = {
        cell: [row["prompt_tokens"] / row["calling_steps"] for row in chain.rows(cell, "summary")]
        for cell in CELLS
    }
    for reference_cell in CELLS[::2]:
        (row,) = [
            row
            for row in effects
            if (row["quantity"], row["reference"]) == ("tokens", "-".join(reference_cell))
        ]
        pairs = zip(tokens[CELLS[1]], tokens[reference_cell], strict=True)
        changes = [one - other for one, other in pairs]
        assert row["change"] == pytest.approx(sum(changes) / 3)
        assert row["change_high"] - row["change"] == pytest.approx(
            reference.t.ppf(0.975, 2) * reference.sem(changes)
        )
        assert row["n_seeds"] == 3
        assert row["detectable"] > 0


def test_a_missing_partner_is_an_error():
    cell = {"family": "scale-free", "n_nodes": 40, "start": 7, "steps": 60}
    one = Runs(MODEL, "ctwm", "compact", {1: cell, 2: cell})
    check_pairs(one, Runs(MODEL, "graph", "compact", {1: cell, 2: cell}))
    for other in ({1: cell}, {1: cell, 2: cell | {"start": 8}}, {1: cell, 2: cell | {"steps": 9}}):
        with pytest.raises(InputError, match=r"seed 2: ctwm-compact and graph-compact"):
            check_pairs(one, Runs(MODEL, "graph", "compact", other))


def test_one_encoding_alone_is_not_taken_apart():
    runs = {"a": Runs(MODEL, "ctwm", "compact")}
    with pytest.raises(InputError, match=r"put both encodings into memory\.closed_loop\.cells"):
        list(make_table_replay.both_encodings(runs))
