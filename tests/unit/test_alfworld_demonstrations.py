"""Worked examples: from ReAct's published file, from files that are broken, and from games."""

import importlib.util
import json
import shutil
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

import build_games
import play_alfworld
from _entry import Job
from coretail import artefacts
from coretail.alfworld.building import draw_games, write_game
from coretail.alfworld.commands import parse_command
from coretail.alfworld.demonstrations import (
    Demonstration,
    Step,
    demonstrate,
    fitting_demonstrations,
    read_demonstrations,
    shortage,
)
from coretail.alfworld.environment import NOTHING_HAPPENS
from coretail.alfworld.games import TASK_TYPES, game_folder
from coretail.errors import InputError
from endpoint import Behaviour, LocalEndpoint

DATA = Path(__file__).parents[2].parent / "shared" / "data"
REACT = DATA / "react" / "alfworld_3prompts.json"
OFFICIAL = DATA / "alfworld" / "valid_seen"
needs_react = pytest.mark.skipif(
    not REACT.is_file(), reason="ReAct's demonstrations are not beside the project"
)
needs_alfworld = pytest.mark.skipif(
    importlib.util.find_spec("alfworld") is None, reason="the package alfworld is not installed"
)

START = "You are in the middle of a room.\nYour task is to: put some egg on fridge.\n"


def write(path, content):
    file = path / "demonstrations.json"
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    file.write_bytes(raw)
    return file


def read_one(path, text, key="react_put_0"):
    (one,) = read_demonstrations(write(path, {key: text}), key.split("_")[0])
    return one


@needs_react
@pytest.mark.parametrize("style", ["react", "act"])
def test_the_published_demonstrations_are_read(style):
    read = read_demonstrations(REACT, style)
    assert Counter(one.task_type for one in read) == dict.fromkeys(TASK_TYPES, 3)
    # 396 turns of the file are no thoughts, half of them in either style.
    assert sum(len(one.steps) for one in read) == 198
    for one in read:
        assert one.start.count("\n") == 1
        assert "\nYour task is to: " in one.start
        thoughts = [step.thought for step in one.steps if step.thought]
        assert bool(thoughts) is (style == "react")
        for step in one.steps:
            verb, *_ = parse_command(step.command).verb, None
            assert step.observation
            if verb == "go to" and step.observation != NOTHING_HAPPENS:
                assert step.observation.startswith(f"You arrive at {step.command[6:]}. ")
            if verb == "move":
                assert step.observation.startswith("You move the ")
            assert "in/on" not in step.command + step.observation


@needs_react
def test_one_published_demonstration_word_for_word():
    read = read_demonstrations(REACT)
    spray = next(one for one in read if one.name == "react_put_0")
    assert spray.task_type == "pick_and_place_simple"
    assert spray.steps[1:] == (
        Step("go to cabinet 2", "You arrive at cabinet 2. The cabinet 2 is closed."),
        Step(
            "open cabinet 2",
            "You open the cabinet 2. The cabinet 2 is open. In it, you see a candle 1, and a "
            "spraybottle 2.",
        ),
        Step(
            "take spraybottle 2 from cabinet 2",
            "You pick up the spraybottle 2 from the cabinet 2.",
            "Now I find a spraybottle (2). Next, I need to take it.",
        ),
        Step(
            "go to toilet 1",
            "You arrive at toilet 1. On the toilet 1, you see a soapbottle 2.",
            "Now I take a spraybottle (2). Next, I need to put it in/on toilet 1.",
        ),
        Step("move spraybottle 2 to toilet 1", "You move the spraybottle 2 to the toilet 1."),
    )
    # This one has a thought between a command and its answer.
    pan = next(one for one in read if one.name == "react_cool_0")
    assert pan.steps[3] == Step(
        "take pan 1 from stoveburner 3",
        "You pick up the pan 1 from the stoveburner 3.",
        "Now I find a pan (1). Next, I need to take it.",
    )


def test_the_older_dialect_is_translated(tmp_path):
    one = read_one(
        tmp_path,
        START
        + "> think: The egg is on the table.\nOK.\n> think: I go there.\nOK.\n"
        + ">go to table 1\nYou arrive at loc 25. On the table 1, you see a egg 1.\n"
        + "> go to table 1\nNothing happens.\n"
        + "> go to fridge 1\nYou arrive at fridge 1. The fridge 1 is closed.\n"
        + "> put egg 1 in/on fridge 1\nYou put the egg 1 in/on the fridge 1.\n",
    )
    assert one == Demonstration(
        name="react_put_0",
        task_type="pick_and_place_simple",
        start=START.strip(),
        steps=(
            Step(
                "go to table 1",
                "You arrive at table 1. On the table 1, you see a egg 1.",
                "The egg is on the table. I go there.",
            ),
            Step("go to table 1", "Nothing happens."),
            Step("go to fridge 1", "You arrive at fridge 1. The fridge 1 is closed."),
            Step("move egg 1 to fridge 1", "You move the egg 1 to the fridge 1."),
        ),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the first observation does not end with a line"),
        ("You are in a room.\n> look\nYou see.\n", "the first observation does not end with"),
        (START, "no command"),
        (START + "> think: Well.\nOK.\n", "no command"),
        (START + "> juggle\nYou juggle.\n", "'juggle' is not a command"),
        (START + "> look\n> go to fridge 1\nOn it.\n", "no observation follows 'look'"),
        (
            START + "> think: Well.\nYou see.\n> look\nYou see.\n",
            "answers a thought, not a command",
        ),
    ],
)
def test_a_broken_demonstration_is_refused(tmp_path, text, message):
    file = write(tmp_path, {"react_put_0": text})
    with pytest.raises(InputError, match=message) as caught:
        read_demonstrations(file)
    assert str(file) in str(caught.value)
    assert "'react_put_0'" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"react_put_0": "You', "not JSON, or cut off"),
        (b'{"react_put_0": "\xe9"}', "is not UTF-8"),
        ([], "a JSON object is expected, not list"),
        ({}, "no demonstration of the style 'react'"),
        ({"act_put_0": START + "> look\nYou see."}, "no demonstration of the style 'react'"),
        ({"put_0": START}, "'put_0': a text under a key such as"),
        ({"react_juggle_0": START}, "tasks are put, examine, clean, heat, cool, puttwo"),
        ({"react_put_0": 3}, "'react_put_0': a text under a key such as"),
    ],
)
def test_a_broken_file_is_refused(tmp_path, content, message):
    file = write(tmp_path, content)
    with pytest.raises(InputError, match=message) as caught:
        read_demonstrations(file)
    assert str(file) in str(caught.value)


def test_a_missing_file_and_an_unknown_style_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"nothing\.json: No such file"):
        read_demonstrations(tmp_path / "nothing.json")
    with pytest.raises(InputError, match="style 'dance' is not one of react, act"):
        read_demonstrations(tmp_path / "nothing.json", "dance")


def folder(task, trial="trial_1"):
    return game_folder(Path(task) / trial)


EGG, PEN, LAMP = (
    "pick_and_place_simple-Egg-None-Fridge-4",
    "pick_and_place_simple-Pen-None-Desk-301",
    "look_at_obj_in_light-Pen-None-DeskLamp-301",
)


def test_neither_the_game_played_nor_another_trial_of_it_is_shown():
    known = [
        Demonstration(name, task_type, START, (Step("look", "You see."),))
        for name, task_type in [
            (f"{EGG}/trial_2", "pick_and_place_simple"),
            (f"{PEN}/trial_1", "pick_and_place_simple"),
            (f"{LAMP}/trial_1", "look_at_obj_in_light"),
            ("react_put_0", "pick_and_place_simple"),
            (f"{EGG}1/trial_1", "pick_and_place_simple"),
        ]
    ]

    def names(task):
        return [one.name for one in fitting_demonstrations(known, folder(task))]

    assert names(EGG) == [f"{PEN}/trial_1", "react_put_0", f"{EGG}1/trial_1"]
    assert names(PEN) == [f"{EGG}/trial_2", "react_put_0", f"{EGG}1/trial_1"]
    assert names(LAMP) == []
    assert shortage(known, folder(EGG), 3) == shortage(known, folder(LAMP), 0) == ""
    assert shortage(known, folder(EGG), 4) == (
        f"{EGG}/trial_1: 3 demonstrations of type pick_and_place_simple for 4 to show (without "
        "trials of the game's own task)"
    )


@needs_alfworld
def test_a_walkthrough_makes_a_demonstration():
    heating = "pick_heat_then_place_in_recep"
    games = [built.game for built in draw_games(42, 2) if built.folder.task_type == heating]
    for game in games:
        one = demonstrate(game)
        assert (one.name, one.task_type) == (game.folder.key, heating)
        assert one.start.endswith(f"Your task is to: {game.task}.")
        assert tuple(step.command for step in one.steps) == game.walkthrough
        assert all(step.observation not in ("", NOTHING_HAPPENS) for step in one.steps)
        # Take it, heat it, put it away: each part begins with a thought, and the first step does.
        thoughts = [step.thought for step in one.steps]
        assert thoughts[0].startswith("I need the ")
        assert sum(bool(thought) for thought in thoughts) == 3
        assert sum("heat it with microwave" in thought for thought in thoughts) == 1
        assert one.steps[-1].observation.startswith("You move the ")


# What `build_games` shows and plays.


def settings(**changes):
    return {
        "given": True, "read": False, "episodes": 6, "per_type": 3, "rooms": 1, "seed": 0,
        "demonstrations": {"short_walk": 0, "one_shot": 1, "three_shot": 3},
    } | changes  # fmt: skip


def job(tmp_path, root, file=None, **changes):
    games = sorted(map(str, root.glob("*/*/*")))
    spec = {"rule": "build_games", "code": "", "upstream": {}, "settings": settings(**changes)}
    return Job(
        SimpleNamespace(
            input={"games": games, "demonstrations": [file] if file else []},
            output={name: tmp_path / f"{name}.parquet" for name in ("games", "demonstrations")},
            threads=1,
            params=SimpleNamespace(spec=spec),
            wildcards={},
            config={"llm": {}, "models": []},
        )
    )


def test_trials_of_other_tasks_are_taken_first(tmp_path):
    for task, trial in [(EGG, "a"), (EGG, "b"), (EGG, "c"), (PEN, "d"), (PEN, "e"), (LAMP, "f")]:
        path = tmp_path / task / trial
        path.mkdir(parents=True)
        (path / "game.tw-pddl").touch()
    taken = build_games.given(job(tmp_path, tmp_path, per_type=3))
    assert [one.folder.key for one in taken] == [
        f"{EGG}/a", f"{LAMP}/f", f"{PEN}/d", f"{EGG}/b",
    ]  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Lay four games of each of two task types, as ALFWorld lays them."""
    root = tmp_path_factory.mktemp("games")
    types = ("pick_and_place_simple", "look_at_obj_in_light")
    for built in draw_games(3, 4, 1):
        if built.folder.task_type in types:
            write_game(built, root)
    return root


@pytest.fixture
def unplayed(monkeypatch):
    """Spare the walkthroughs, which take the engine seconds each: every readable game is sound."""

    def demonstration(game):
        return Demonstration(game.folder.key, game.task_type, START, (Step("look", "You see."),))

    monkeypatch.setattr(build_games, "demonstrate", demonstration)


def rows_of(run):
    build_games.main(run)
    return artefacts.read_rows(run.output("games"), "alfworld_games")


def test_too_few_demonstrations_for_all_games_stop_the_run_before_it_asks(tmp_path, made, unplayed):
    run = job(tmp_path, made, per_type=3, episodes=2)
    with pytest.raises(InputError) as caught:
        build_games.main(run)
    message = str(caught.value)
    for words in (
        "alfworld.settings.three_shot.demonstrations: 3 is too many for each game",
        "2 demonstrations of type pick_and_place_simple for 3 to show",
        "raise alfworld.per_type",
        "a file in alfworld.demonstrations",
    ):
        assert words in message
    assert not run.output("games").exists()
    assert len(rows_of(job(tmp_path, made, per_type=4, episodes=2))) == 8
    fewer = {"demonstrations": {"one_shot": 1, "three_shot": 2}}
    assert len(rows_of(job(tmp_path, made, per_type=3, episodes=2, **fewer))) == 6


@needs_alfworld
def test_a_game_without_demonstrations_is_a_row_and_the_others_are_played(
    tmp_path, made, unplayed, caplog, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "games"
    shutil.copytree(made, root)
    lights = sorted(path.parent for path in root.glob("look_at_obj_in_light-*/*/game.tw-pddl"))
    (lights[-1] / "game.tw-pddl").write_bytes(b"cut off")
    run = job(tmp_path, root, per_type=4, episodes=2)
    place, light = (row for row in rows_of(run) if row["episode"] is not None)
    assert place["playable"]
    assert light["playable"]
    warned = [record.getMessage() for record in caplog.records if "three_shot" in record.message]
    assert len(warned) == 1
    assert light["game"] in warned[0]

    def ends(setting, n_shown, policy="graph"):
        played = SimpleNamespace(
            input={name: str(run.output(name)) for name in ("games", "demonstrations")},
            output={name: tmp_path / f"{name}.parquet" for name in ("steps", "episodes")},
            threads=1,
            params=SimpleNamespace(
                spec={
                    "rule": "play_alfworld", "code": "", "upstream": {},
                    "settings": {
                        "model": {"name": "tester"}, "slots": 4, "tau": 1.0, "seed": 0,
                        "attempts": 1,
                        "play": {"style": "direct", "demonstrations": n_shown, "steps": 1},
                    },
                }
            ),
            wildcards={
                "model": "tester", "setting": setting, "policy": policy, "encoding": "compact",
            },
            config={
                "llm": {
                    "backend": "auto", "attempts": 1, "patience": 1.0,
                    "budget": {"calls": None, "tokens": None, "money": None},
                },
                "models": [{"name": "tester", "base_url": endpoint.base_url, "key_env": None}],
            },
        )  # fmt: skip
        play_alfworld.main(Job(played))
        rows = artefacts.read_rows(Job(played).output("episodes"), "alfworld_episodes")
        return [(row["game"], row["end"], row["reason"]) for row in rows]

    with LocalEndpoint() as endpoint:
        endpoint.behave([Behaviour(text='"look"')] * 4)
        assert [end for _, end, _ in ends("one_shot", 1)] == ["cap", "cap"]
        one, other = ends("three_shot", 3)
        assert ends("three_shot", 3, "ctwm") == [one, other]
        assert len(endpoint.log) == 4
    assert one == (place["game"], "cap", "")
    assert other[:2] == (light["game"], "unplayable")
    assert other[2].startswith(f"{light['game']}: 2 demonstrations of type look_at_obj_in_light")


@needs_react
@pytest.mark.skipif(not OFFICIAL.is_dir(), reason="the published games are not beside the project")
def test_three_published_games_per_type_need_fewer_demonstrations_or_a_file(tmp_path, unplayed):
    with pytest.raises(InputError, match=r"three_shot\.demonstrations: 3 is too many") as caught:
        build_games.main(job(tmp_path, OFFICIAL))
    assert "2 demonstrations of type pick_and_place_simple for 3" in str(caught.value)
    for run in (
        job(tmp_path, OFFICIAL, str(REACT), read=True),
        job(tmp_path, OFFICIAL, demonstrations={"three_shot": 2}),
    ):
        rows = rows_of(run)
        assert len(rows) == 18
        assert all(row["playable"] and row["data"] == "benchmark" for row in rows)
