"""Worked examples: from ReAct's published file, from files that are broken, and from games."""

import importlib.util
import json
from collections import Counter
from pathlib import Path

import pytest

from coretail.alfworld.building import draw_games
from coretail.alfworld.commands import parse_command
from coretail.alfworld.demonstrations import (
    Demonstration,
    Step,
    choose_demonstrations,
    demonstrations,
    read_demonstrations,
)
from coretail.alfworld.environment import NOTHING_HAPPENS
from coretail.alfworld.games import TASK_TYPES
from coretail.errors import InputError

REACT = Path(__file__).parents[2].parent / "shared" / "data" / "react" / "alfworld_3prompts.json"
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


def test_demonstrations_of_one_type_are_chosen():
    read = [
        Demonstration(str(number), task_type, START, (Step("look", "You see."),))
        for number, task_type in enumerate(["a", "b", "a", "a"])
    ]
    assert [one.name for one in choose_demonstrations(read, "a", 2)] == ["0", "2"]
    assert choose_demonstrations(read, "c", 0) == []
    with pytest.raises(InputError, match="2 of type b wanted for the file, but 0 to 1 can be had"):
        choose_demonstrations(read, "b", 2)
    with pytest.raises(InputError, match="-1 of type b"):
        choose_demonstrations(read, "b", -1)


@needs_alfworld
def test_walkthroughs_of_other_games_of_the_type_are_shown():
    pool = [built.game for built in draw_games(42, 3)]
    heating = [game for game in pool if game.task_type == "pick_heat_then_place_in_recep"]
    played = heating[0]
    made = demonstrations(played, pool, 2)

    assert [one.name for one in made] == [game.folder.key for game in heating[1:]]
    for one, game in zip(made, heating[1:], strict=True):
        assert one.task_type == played.task_type
        assert one.start.endswith(f"Your task is to: {game.task}.")
        assert tuple(step.command for step in one.steps) == game.walkthrough
        assert all(step.observation not in ("", NOTHING_HAPPENS) for step in one.steps)
        # Take it, heat it, put it away: each part begins with a thought, and the first step does.
        thoughts = [step.thought for step in one.steps]
        assert thoughts[0].startswith("I need the ")
        assert sum(bool(thought) for thought in thoughts) == 3
        assert sum("heat it with microwave" in thought for thought in thoughts) == 1
        assert one.steps[-1].observation.startswith("You move the ")


@needs_alfworld
def test_neither_the_game_played_nor_another_trial_of_it_is_shown():
    cooling = [
        built.game
        for built in draw_games(42, 2)
        if built.folder.task_type == "pick_cool_then_place_in_recep"
    ]
    assert demonstrations(cooling[0], cooling, 0) == []
    with pytest.raises(InputError, match="2 of type pick_cool_then_place_in_recep wanted for"):
        demonstrations(cooling[0], cooling, 2)
    with pytest.raises(InputError, match="0 to 0 can be had; lower the number, or give more games"):
        demonstrations(cooling[0], [cooling[0], cooling[0]], 1)
