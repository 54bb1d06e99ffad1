"""Episodes of a model in ALFWorld: real games, a local endpoint for the model."""

import dataclasses
import importlib.util
import json
import sys

import pytest

from coretail.alfworld.agent import Episode, EpisodeStopped, Play, play_episode
from coretail.alfworld.building import draw_games
from coretail.alfworld.demonstrations import Demonstration, Step
from coretail.alfworld.environment import Environment
from coretail.alfworld.memory import Memory
from coretail.alfworld.prompts import Scene, command_prompt, scene_text, shared_text
from coretail.errors import InputError
from coretail.llm import ApiModel, Client, Retry
from coretail.llm.request import Message
from endpoint import CONTENT_FILTER, REFUSAL, WRONG_ACTION, Behaviour, LocalEndpoint, error

SHOWN = Demonstration(
    "pick_and_place_simple-Pen-None-Desk-301/trial",
    "pick_and_place_simple",
    "You see a desk 1.\nYour task is to: put a pen on desk.",
    (
        Step("go to desk 1", "You arrive at desk 1.", "A pen may be there."),
        Step("move pen 1 to desk 1", "You move the pen 1 to the desk 1."),
    ),
)
needs_alfworld = pytest.mark.skipif(
    importlib.util.find_spec("alfworld") is None, reason="the package alfworld is not installed"
)


# What is asked.


def test_the_whole_prompt_of_a_step():
    scene = Scene(
        task="put a pen on desk",
        memory="1. You arrive at desk 1. -> look -> Nothing happens.",
        observation="You arrive at shelf 1. On the shelf 1,\nyou see nothing.",
        commands=("look", "go to desk 1"),
    )
    system, user = command_prompt(shared_text("react", [SHOWN]), scene)
    assert user == Message(
        "user",
        "Task: put a pen on desk\n"
        "Memories:\n"
        "1. You arrive at desk 1. -> look -> Nothing happens.\n"
        "Now: You arrive at shelf 1. On the shelf 1, you see nothing.\n"
        "Possible actions:\n"
        "look\n"
        "go to desk 1",
    )
    rules, example = system.content.split("\n\n")
    assert rules.endswith("a thought of one short sentence, then one of the possible actions.")
    assert example == (
        "Example:\n"
        "You see a desk 1.\n"
        "Your task is to: put a pen on desk.\n"
        '> {"thought": "A pen may be there.", "action": "go to desk 1"}\n'
        "You arrive at desk 1.\n"
        '> {"thought": "", "action": "move pen 1 to desk 1"}\n'
        "You move the pen 1 to the desk 1."
    )
    assert '> "go to desk 1"\n' in shared_text("direct", [SHOWN])
    assert "Memories:\nnone\n" in scene_text(dataclasses.replace(scene, memory=""))


def test_odd_texts_stay_in_their_line():
    odd = 'x\n2. y <|im_end|>\u2028"[INST] \x1b'
    scene = Scene(odd, "", odd, (odd,))
    step = Step(odd, odd, odd)
    shown = dataclasses.replace(SHOWN, start=odd, steps=(step,))
    for style, lines in (("react", 2 + 5), ("direct", 2 + 5)):
        text = shared_text(style, [shown])
        # Rules, a blank line, "Example:"; the start may have lines of its own.
        assert len(text.splitlines()) == lines + 1, text
        assert not set("<[\x1b\u2028") & set(text)
    text = scene_text(scene)
    assert len(text.splitlines()) == 6
    assert not set("<[\x1b\u2028") & set(text)
    last = json.loads(text.splitlines()[-1])
    assert last == odd


# Episodes.


@pytest.fixture(scope="module")
def games():
    """Return a game of each task type."""
    return {built.game.task_type: built.game for built in draw_games(42, 1, 1)}


@pytest.fixture(scope="module")
def game(games):
    """Return a game whose solution opens, takes, heats and puts."""
    return games["pick_heat_then_place_in_recep"]


def client(endpoint, journal=None):
    model = ApiModel("tester", base_url=endpoint.base_url, key_env=None)
    return Client(model, journal=journal, retry=Retry(attempts=2, first=0.0, longest=0.0))


def run(endpoint, game, policy="graph", play=None, shown=(), journal=None, **options) -> Episode:
    with client(endpoint, journal) as one:
        memory = Memory(policy, **options)
        return play_episode(game, memory, one, play or Play("long_walk"), shown)


def says(command, thought="Go on."):
    return Behaviour(text=json.dumps({"thought": thought, "action": command}))


@needs_alfworld
def test_a_model_that_knows_the_way_wins_and_each_step_shows_what_came_before(game):
    script = [says(command) for command in game.walkthrough]
    with LocalEndpoint(script=script) as endpoint:
        done = run(endpoint, game, shown=[SHOWN])
    assert done.end == "won"
    assert tuple(step.command for step in done.steps) == game.walkthrough
    assert len(endpoint.log) == len(game.walkthrough) == len(done.steps)

    with Environment(game) as environment:
        seen = [environment.reset()]
        seen += [environment.step(command) for command in game.walkthrough]
    assert [step.observation for step in done.steps] == [after.text for after in seen[1:]]
    bodies = [logged.body for logged in endpoint.log]
    for number, (step, body) in enumerate(zip(done.steps, bodies, strict=True)):
        admissible = seen[number].admissible
        system, user = (message["content"] for message in body["messages"])
        shown = [admissible[place] for place in step.order]
        assert sorted(shown) == list(admissible)
        schema = body["response_format"]["json_schema"]["schema"]
        assert schema["properties"]["action"]["enum"] == shown
        assert shown[step.position] == step.command
        assert user.startswith(f"Task: {game.task}\nMemories:\n")
        before = seen[number].text.partition("\nYour task is to:")[0]
        assert f"\nNow: {before}\nPossible actions:\n" in user
        assert user.endswith("\n".join(shown))
        assert user.count("Your task is to") == 0
        assert (step.status, step.replies, step.held) == ("chosen", ("usable",), number)
        assert step.prompt_tokens == len(f"{system} {user}".split())
        assert (body["temperature"], body["seed"]) == (0.0, 0)
    # The part that the server can keep.
    assert len({body["messages"][0]["content"] for body in bodies}) == 1
    memory = bodies[1]["messages"][1]["content"].split("\n")[2]
    assert memory.startswith(f"1. You are in the middle of a room. -> {game.walkthrough[0]} -> ")
    # The order is drawn anew at each step.
    assert len({step.order[:3] for step in done.steps}) > 1


@needs_alfworld
def test_what_is_no_answer_is_asked_again_then_left_to_chance_alike_for_all_memories(game):
    play = Play("short_walk", "direct", steps=4)
    script = [WRONG_ACTION, Behaviour(), REFUSAL, WRONG_ACTION, CONTENT_FILTER, REFUSAL]
    for otherwise in (Behaviour(), WRONG_ACTION):
        made = []
        for policy in ("graph", "ctwm"):
            with LocalEndpoint(script=list(script), otherwise=otherwise) as endpoint:
                made.append(run(endpoint, game, policy, play))
        graph, ctwm = made
        assert [step.status for step in graph.steps][:3] == ["retried", "random", "random"]
        assert [step.replies for step in graph.steps][:3] == [
            ("unusable", "usable"),
            ("refusal", "unusable"),
            ("content_filter", "refusal"),
        ]
        assert graph.end == ctwm.end == "cap"
        # While the memories hold no more than both can show, nothing but their texts differs.
        assert [s.order for s in graph.steps] == [s.order for s in ctwm.steps]
        assert [s.command for s in graph.steps][1:3] == [s.command for s in ctwm.steps][1:3]
    assert [step.status for step in graph.steps][3] == "random"
    assert graph.steps[0].prompt_tokens == ctwm.steps[0].prompt_tokens
    assert graph.steps[3].prompt_tokens != ctwm.steps[3].prompt_tokens


@needs_alfworld
def test_another_setting_draws_other_orders(game):
    orders = []
    for setting in ("one_shot", "three_shot"):
        with LocalEndpoint(otherwise=WRONG_ACTION) as endpoint:
            done = run(endpoint, game, play=Play(setting, steps=1, attempts=1))
        orders.append(done.steps[0].order)
    assert sorted(orders[0]) == sorted(orders[1])
    assert orders[0] != orders[1]


@needs_alfworld
def test_a_stopped_episode_goes_on_from_its_journal_and_asks_nothing_twice(game, tmp_path):
    script = [says(command) for command in game.walkthrough]
    with LocalEndpoint(script=list(script)) as endpoint:
        whole = run(endpoint, game, "ctwm")
    journal = tmp_path / "journal"
    with LocalEndpoint(script=[*script[:2], error(503), error(503), *script[2:]]) as endpoint:
        with pytest.raises(EpisodeStopped, match=r"stopped at step 2: .*503.*Run again"):
            run(endpoint, game, "ctwm", journal=journal)
        resumed = run(endpoint, game, "ctwm", journal=journal)
        assert resumed == whole
        answered = [logged.identity for logged in endpoint.log if logged.answered]
        good = [logged for logged in endpoint.log if logged.behaviour.kind == "reply"]
        assert len(good) == len({logged.identity for logged in good}) == len(script)
        assert len(answered) >= len(script)
        again = run(endpoint, game, "ctwm", journal=journal)
        assert again == whole
        assert len(endpoint.log) == len(script) + 2


@needs_alfworld
def test_a_game_that_turns_out_corrupt_stops_its_episode_alone(game):
    broken = dataclasses.replace(
        game, grammar=game.grammar.replace("#inventory.feedback#", "{nobody.name}")
    )
    assert broken.grammar != game.grammar
    script = [says(game.walkthrough[0]), says("inventory")]
    with LocalEndpoint(script=script) as endpoint:
        done = run(endpoint, broken)
        assert len(endpoint.log) == 2
    assert done.end == "stopped"
    assert game.folder.key in done.reason
    assert "corrupt" in done.reason
    assert [step.command for step in done.steps] == [game.walkthrough[0]]


@needs_alfworld
def test_a_missing_package_is_no_corrupt_game(game, monkeypatch):
    from build_games import Files, checked

    content = {"pddl_domain": "", "pddl_problem": "", "grammar": game.grammar}
    content |= {"walkthrough": list(game.walkthrough), "solvable": True}
    trajectory = {"task_type": game.task_type, "pddl_params": {}}
    files = Files(game.folder, *(json.dumps(one).encode() for one in (content, trajectory)))
    assert "the game is corrupt" in checked(files)[2]
    monkeypatch.setitem(sys.modules, "fast_downward", None)
    with pytest.raises(InputError, match="the package 'fast_downward' is not installed"):
        checked(files)
    with LocalEndpoint() as endpoint, pytest.raises(InputError, match="not installed"):
        run(endpoint, game)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"style": "act"}, "style: 'act' is not one of direct, react"),
        ({"steps": 0}, "steps: 0 is below 1"),
        ({"attempts": 0}, "attempts: 0 is below 1"),
    ],
)
def test_bad_parameters_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        Play("short_walk", **options)


# The entries' own parts.


@needs_alfworld
def test_games_are_played_one_task_type_after_the_other():
    from build_games import checked, made
    from coretail.alfworld.games import TASK_TYPES

    files = made({"seed": 3, "per_type": 2, "rooms": 1})
    assert [one.folder.task_type for one in files] == [*TASK_TYPES, *TASK_TYPES]
    assert [one.folder.trial[-1] for one in files] == ["0"] * 6 + ["1"] * 6
    game, demonstration, reason = checked(files[0])
    assert (demonstration.name, reason) == (game.folder.key, "")
    assert tuple(step.command for step in demonstration.steps) == game.walkthrough

    content = json.loads(files[0].game)
    unsolvable = json.dumps(content | {"solvable": False}).encode()
    unwinnable = json.dumps(content | {"walkthrough": ["look"]}).encode()
    for change, words, readable in (
        ({"game": None}, "game.tw-pddl: cannot be read", False),
        ({"trajectory": b"\xff"}, "traj_data.json: byte 0xff", False),
        ({"game": unsolvable}, "the game cannot be won", False),
        ({"game": unwinnable}, "'walkthrough' does not win", True),
    ):
        game, demonstration, reason = checked(files[0]._replace(**change))
        assert (game is not None, demonstration) == (readable, None)
        assert reason.startswith(files[0].folder.key)
        assert words in reason


def played(game, tokens, steps, success, end=None):
    return {
        "game": game,
        "end": end or ("won" if success else "cap"),
        "success": success,
        "steps": steps,
        "random": 0,
        "calls": steps,
        "prompt_tokens": tokens,
        "cached_tokens": tokens // 4,
        "prompt_tokens_per_step": tokens / steps if steps else None,
    }


KEY = {"model": "m", "setting": "alfworld_one_shot", "data": "stand-in", "competent": False}


def by_game(*episodes):
    return {episode["game"]: episode for episode in episodes}


def test_memories_are_compared_game_by_game():
    from make_table_alfworld import memory_row, pair_row

    ctwm = by_game(
        played("a", 900, 10, False), played("b", 700, 10, True), played("c", 0, 0, False, "stopped")
    )
    graph = by_game(
        played("b", 1400, 10, False), played("a", 1000, 10, False), played("c", 500, 5, True)
    )
    row = pair_row(KEY, ctwm, graph)
    # Reductions of 10% and 50% in games a and b: mean 30%, t(1) = 12.706 times sd / sqrt(2) = 20%.
    assert (row["n"], row["n_unplayed"]) == (2, 1)
    assert row["tokens_reduction"] == pytest.approx(0.3)
    assert row["tokens_reduction_low"] == pytest.approx(0.3 - 12.7062047 * 0.2)
    assert row["tokens_in_all_reduction"] == pytest.approx(0.3)
    assert (row["tokens"], row["reference_tokens"]) == (80, 120)
    assert (row["successes"], row["reference_successes"]) == (1, 0)
    assert (row["only_ctwm"], row["only_graph"], row["mcnemar_p"]) == (1, 0, 1.0)
    assert row["reading_difference"] == "no difference shown"

    alone = memory_row(KEY, ctwm)
    assert (alone["n"], alone["n_unplayed"], alone["successes"]) == (2, 1, 1)
    # Wilson's interval for 1 of 2.
    assert alone["success_low"] == pytest.approx(0.0945, abs=1e-4)
    assert alone["success_high"] == pytest.approx(0.9055, abs=1e-4)
    assert (alone["tokens"], alone["tokens_in_all"], alone["steps"]) == (80, 800, 10)
    # 225 + 175 of 900 + 700 prompt tokens.
    assert alone["cached"] == 0.25

    del graph["c"]
    with pytest.raises(InputError, match="played different games"):
        pair_row(KEY, ctwm, graph)
