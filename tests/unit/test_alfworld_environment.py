"""Play games: the published ones to their end, and broken ones not at all."""

import dataclasses
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from coretail.alfworld.commands import parse_command
from coretail.alfworld.environment import (
    NOTHING_HAPPENS,
    Environment,
    Observation,
    play,
    play_walkthrough,
)
from coretail.alfworld.games import find_games, read_game
from coretail.errors import InputError

ROOT = Path(__file__).parents[2]
OFFICIAL = ROOT.parent / "shared" / "data" / "alfworld" / "valid_seen"
pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("alfworld") is None, reason="the package alfworld is not installed"
    ),
    pytest.mark.skipif(
        not OFFICIAL.is_dir(), reason="the published ALFWorld games are not beside the project"
    ),
]
FOLDERS = find_games(OFFICIAL) if OFFICIAL.is_dir() else []
BOTTLES = "pick_two_obj_and_place-SprayBottle-None-GarbageCan-419"
LAPTOP = "look_at_obj_in_light-Laptop-None-DeskLamp-328"


def game(task):
    return read_game(next(folder for folder in FOLDERS if folder.task == task))


def published():
    """Return all games; the smallest of each type is always played."""
    marked = []
    size = {folder: (folder.path / "game.tw-pddl").stat().st_size for folder in FOLDERS}
    for folder in FOLDERS:
        alike = [other for other in FOLDERS if other.task_type == folder.task_type]
        larger = pytest.mark.skipif(
            folder != min(alike, key=size.__getitem__) and "CORETAIL_ALL_GAMES" not in os.environ,
            reason="plays for a minute: set CORETAIL_ALL_GAMES=1 to play all published games",
        )
        marked.append(pytest.param(folder, id=folder.task, marks=larger))
    return marked


@pytest.mark.parametrize("folder", published())
def test_the_walkthrough_of_every_published_game_wins(folder):
    one = read_game(folder)
    first, *rest = play_walkthrough(one)

    assert first.text.startswith("You are in the middle of a room. Looking quickly around you,")
    assert first.text.splitlines()[-1] == f"Your task is to: {one.task}."
    assert len(rest) == len(one.walkthrough)
    assert [step.won for step in rest] == [False] * (len(rest) - 1) + [True]
    assert rest[-1].done
    assert [step.reward for step in rest] == [0.0] * (len(rest) - 1) + [1.0]
    for command, before, after in zip(one.walkthrough, [first, *rest], rest, strict=False):
        assert command in before.admissible
        assert after.text != NOTHING_HAPPENS
    for observation in (first, *rest):
        assert list(observation.admissible) == sorted(set(observation.admissible))
        assert {"look", "inventory"} <= set(observation.admissible)
        for command in observation.admissible:
            parse_command(command)


def test_a_game_is_told_in_the_words_of_its_world(capfd):
    with Environment(game(LAPTOP)) as environment:
        first = environment.reset()
        assert first == Observation(
            text=(
                "You are in the middle of a room. Looking quickly around you, you see a bed 1, a "
                "desk 1, a drawer 2, a drawer 1, a garbagecan 1, a shelf 1, and a sidetable 1.\n"
                "Your task is to: look at laptop under the desklamp."
            ),
            admissible=(
                "go to bed 1", "go to desk 1", "go to drawer 1", "go to drawer 2",
                "go to garbagecan 1", "go to shelf 1", "go to sidetable 1", "help", "inventory",
                "look",
            ),
        )  # fmt: skip
        desk = environment.step("go to desk 1")
        assert desk.text == (
            "You arrive at desk 1. On the desk 1, you see a cellphone 2, a cellphone 1, a desklamp "
            "1, a keychain 1, a laptop 1, a pen 2, a pen 1, a pencil 1, a tissuebox 3, and a "
            "tissuebox 1."
        )
        assert "take laptop 1 from desk 1" in desk.admissible
        for wrong in ("take laptop 1 from bed 1", "put laptop 1 in/on desk 1", "dance", ""):
            refused = environment.step(wrong)
            assert refused == dataclasses.replace(desk, text=NOTHING_HAPPENS)
        environment.step("take laptop 1 from desk 1")
        assert environment.step("inventory").text == "You are carrying: a laptop 1."
        last = environment.step("use desklamp 1")
        assert (last.won, last.done, last.reward) == (True, True, 1.0)
        with pytest.raises(RuntimeError, match="reset it first"):
            environment.step("look")
        assert environment.reset() == first
    assert capfd.readouterr() == ("", "")


def test_environments_are_independent_and_closed_ones_are_used_up():
    one, other = game(BOTTLES), game(LAPTOP)
    alone = play_walkthrough(one), play_walkthrough(other)
    with Environment(one) as left, Environment(other) as right:
        with pytest.raises(RuntimeError, match="reset it first"):
            left.step("look")
        together = [left.reset()], [right.reset()]
        for i in range(max(len(one.walkthrough), len(other.walkthrough))):
            if i < len(one.walkthrough):
                together[0].append(left.step(one.walkthrough[i]))
            if i < len(other.walkthrough):
                together[1].append(right.step(other.walkthrough[i]))
    assert together == alone
    left.close()
    with pytest.raises(RuntimeError, match="closed"):
        left.reset()
    with pytest.raises(RuntimeError, match="reset it first"):
        right.step("look")


SCRIPT = f"""
import hashlib, os, sys
from coretail.alfworld.environment import play
from coretail.alfworld.games import find_games, read_game
from pathlib import Path
arguments = list(sys.argv)
[game] = [read_game(f) for f in find_games(Path(sys.argv[1])) if f.task == {BOTTLES!r}]
told, again = [play(game, [*game.walkthrough[:4], "look", "dance"]) for _ in range(2)]
assert told == again
assert sys.argv == arguments
assert "ALFWORLD_DATA" not in os.environ
mapped = {{line.split(maxsplit=5)[5] for line in open("/proc/self/maps") if "libdownward" in line}}
assert len(mapped) == 1, mapped
print(hashlib.sha256(repr(told).encode()).hexdigest())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_it_tells_the_same_in_every_process_and_leaves_nothing_behind(tmp_path):
    told = set()
    for hash_seed in ("1", "2"):
        environment = {
            name: value for name, value in os.environ.items() if name != "ALFWORLD_DATA"
        } | {"HOME": str(tmp_path), "PYTHONHASHSEED": hash_seed}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(OFFICIAL)],
            cwd=ROOT / "scripts", env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        # The process also has to end well: an unloaded planner would crash it at its end.
        assert (done.returncode, done.stderr) == (0, "")
        told.add(done.stdout)
    assert len(told) == 1
    assert list(tmp_path.iterdir()) == []


def replaced(one, key, old, new):
    text = getattr(one, key)
    assert old in text
    return dataclasses.replace(one, **{key: text.replace(old, new)})


@pytest.mark.parametrize(
    ("key", "old", "new"),
    [
        ("pddl_problem", "(:goal", "(:g"),
        ("pddl_problem", ")", ""),
        ("pddl_problem", "(atLocation agent1", "(atLocation agent2"),
        ("pddl_problem", "(objectType ?o1 SprayBottleType)", "(objectType ?o1)"),
        ("pddl_problem", "(canContain GarbageCanType SprayBottleType)", ""),
        ("pddl_problem", "agent1", "agént1"),
        ("pddl_domain", "(:types", "(:kinds"),
        ("pddl_domain", "(:action PickupObject", "(:action"),
        ("grammar", '"intro"', '"introduction"'),
        ("grammar", "action look", "action"),
        ("grammar", "#look.feedback#", "{nobody.name}"),
    ],
)
def test_a_corrupt_game_is_refused_by_name(key, old, new):
    one = game(BOTTLES)
    with pytest.raises(InputError, match="the game is corrupt") as caught:
        play(replaced(one, key, old, new), ["look"])
    assert str(one.file) in str(caught.value)


def test_a_corrupt_game_does_not_spoil_the_next():
    one = game(BOTTLES)
    before = play(one, one.walkthrough[:2])
    for key, old in (("pddl_problem", "(:goal"), ("grammar", '"intro"')):
        with pytest.raises(InputError, match="corrupt"):
            Environment(replaced(one, key, old, "(:x")).reset()
    assert play(one, one.walkthrough[:2]) == before


def test_a_game_that_is_won_before_it_begins_is_refused():
    one = game(BOTTLES)
    start = one.pddl_problem.index("(:goal")
    idle = dataclasses.replace(one, pddl_problem=one.pddl_problem[:start] + "(:goal (and)))")
    with pytest.raises(InputError, match="the goal holds before the first step"):
        play_walkthrough(idle)


def test_a_walkthrough_that_does_not_win_is_refused():
    one = game(LAPTOP)
    short = dataclasses.replace(one, walkthrough=one.walkthrough[:-1])
    with pytest.raises(InputError, match="'walkthrough' does not win the game; leave") as caught:
        play_walkthrough(short)
    assert str(one.file) in str(caught.value)
    wrong = dataclasses.replace(one, walkthrough=("open bed 1", *one.walkthrough[1:]))
    with pytest.raises(InputError, match="nothing happens at 'open bed 1'"):
        play_walkthrough(wrong)


def test_playing_stops_where_the_game_ends():
    one = game(LAPTOP)
    assert len(play(one, [*one.walkthrough, "look", "look"])) == 1 + len(one.walkthrough)
