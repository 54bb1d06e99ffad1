"""Self-made games: solvable, unlike each other, the same from the same seed, with distractors."""

import hashlib
import importlib.util
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from coretail.alfworld import building
from coretail.alfworld.building import ROOMS, build_games, draw_games, write_game
from coretail.alfworld.environment import NOTHING_HAPPENS, Environment
from coretail.alfworld.games import TASK_TYPES, find_games, read_game
from coretail.errors import InputError

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("alfworld") is None, reason="the package alfworld is not installed"
)

COORDINATE = r"_(?:plus|minus)_\d\d_dot_\d\d"
NAME = re.compile(rf"([A-Za-z]+)((?:_bar_{COORDINATE}){{3}})(?:_bar_([A-Za-z]+))?")
STATIONS = {"clean": "SinkBasin", "heat": "Microwave", "cool": "Fridge"}
WORDS = {"clean": "clean", "heat": "hot", "cool": "cool"}


class Problem:
    """What a problem says, read without the code that wrote it."""

    def __init__(self, text):
        objects, rest = text.split("(:init")
        facts, self.goal = rest.split("(:goal")
        self.declared = dict(re.findall(r"(\w+) - (\w+)", objects))
        self.facts = defaultdict(list)
        for predicate, arguments in re.findall(r"\((\w+) ([^()]+)\)", facts):
            self.facts[predicate].append(tuple(arguments.split()))
        self.kinds = {name: kind.removesuffix("Type") for name, kind in self.facts["objectType"]}
        self.receptacles = {
            name: kind.removesuffix("Type") for name, kind in self.facts["receptacleType"]
        }
        self.place = dict(self.facts["inReceptacle"])


def games(seed, per_type=2, rooms=2):
    return [built.game for built in draw_games(seed, per_type, rooms)]


@pytest.mark.parametrize("task_type", TASK_TYPES)
def test_the_walkthrough_wins_with_its_last_command_and_wrong_commands_do_nothing(task_type):
    game = next(game for game in games(42, 1) if game.task_type == task_type)
    with Environment(game) as environment:
        first = environment.reset()
        assert first.text.endswith(f"\nYour task is to: {game.task}.")
        admissible = first.admissible
        assert environment.step("take moon 1 from sky 1").text == NOTHING_HAPPENS
        for position, command in enumerate(game.walkthrough, start=1):
            assert command in admissible
            step = environment.step(command)
            admissible = step.admissible
            assert step.won is step.done is (position == len(game.walkthrough))


def test_every_game_that_is_built_is_played(monkeypatch):
    played = []
    monkeypatch.setattr(building, "play_walkthrough", lambda game: played.append(game.folder.key))
    built = build_games(5, 2)
    assert built == draw_games(5, 2)
    assert played == [one.folder.key for one in built]


def test_three_games_of_each_type_are_made_and_no_two_are_alike():
    made = games(42, 3)
    assert [game.task_type for game in made] == [name for name in TASK_TYPES for _ in range(3)]
    assert len({game.folder.key for game in made}) == 18
    assert len({game.pddl_problem for game in made}) == 18
    targets = Counter(
        (game.task_type, game.folder.object_target, game.folder.receptacle_target) for game in made
    )
    assert set(targets.values()) == {1}


def test_one_seed_gives_one_set_of_games():
    three, two = draw_games(9, 3), draw_games(9, 2)
    assert [three[3 * i + j] for i in range(6) for j in range(2)] == two
    assert not {one.game_file for one in three} & {one.game_file for one in draw_games(10, 3)}
    code = (
        "import hashlib\n"
        "from coretail.alfworld.building import draw_games\n"
        "files = b''.join(one.game_file + one.trajectory_file for one in draw_games(9, 3))\n"
        "print(hashlib.sha256(files).hexdigest())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "scripts", capture_output=True, text=True,
        env=os.environ | {"PYTHONHASHSEED": "3"}, check=True,
    )  # fmt: skip
    files = b"".join(one.game_file + one.trajectory_file for one in three)
    assert done.stdout.strip() == hashlib.sha256(files).hexdigest()


@pytest.mark.parametrize("rooms", [1, 2, 4])
@pytest.mark.parametrize("seed", range(4))
def test_a_home_is_consistent(seed, rooms):
    from alfworld.gen.constants import OPENABLE_CLASS_LIST, VAL_RECEPTACLE_OBJECTS

    for game in games(seed, 2, rooms):
        problem = Problem(game.pddl_problem)
        names = [*problem.kinds, *problem.receptacles]
        assert len(set(names)) == len(names)
        for name, kind in (problem.kinds | problem.receptacles).items():
            match = NAME.fullmatch(name)
            basin = {"Sink": "SinkBasin", "Bathtub": "BathtubBasin"}.get(match[1])
            assert (match[3] or match[1], match[3]) == (kind, basin)
        # Each receptacle has a place of its own, and the agent starts at none of them.
        locations = dict(problem.facts["receptacleAtLocation"])
        assert set(locations) == set(problem.receptacles)
        assert len(set(locations.values())) == len(locations)
        ((agent, start),) = problem.facts["atLocation"]
        assert (agent, problem.declared[start]) == ("agent1", "location")
        assert start not in locations.values()
        # Each object is in one receptacle that can hold it; a lamp stands on furniture.
        assert len(problem.facts["inReceptacle"]) == len(problem.kinds) == len(problem.place)
        for name, kind in problem.kinds.items():
            holder = problem.receptacles[problem.place[name]]
            if kind == "DeskLamp":
                assert holder in {"Desk", "Dresser", "SideTable"}
                assert (name,) not in problem.facts["pickupable"]
            else:
                assert kind in VAL_RECEPTACLE_OBJECTS[holder]
                assert (name,) in problem.facts["pickupable"]
            assert (name, locations[problem.place[name]]) in problem.facts["objectAtLocation"]
        allowed = {(r.removesuffix("Type"), o.removesuffix("Type"))
                   for r, o in problem.facts["canContain"]}  # fmt: skip
        for receptacle in set(problem.receptacles.values()):
            for kind in set(problem.kinds.values()):
                can = kind in VAL_RECEPTACLE_OBJECTS[receptacle]
                assert ((receptacle, kind) in allowed) is can
        assert {name for (name,) in problem.facts["openable"]} == {
            name for name, kind in problem.receptacles.items() if kind in OPENABLE_CLASS_LIST
        }
        assert {"opened", "isClean", "isHot", "isCool", "isToggled", "holds"}.isdisjoint(
            problem.facts
        )


@pytest.mark.parametrize("seed", range(4))
def test_a_task_fits_its_home_and_is_not_done_yet(seed):
    for game in games(seed, 3):
        problem, folder = Problem(game.pddl_problem), game.folder
        targets = [name for name, kind in problem.kinds.items() if kind == folder.object_target]
        assert len(targets) == (2 if game.task_type == "pick_two_obj_and_place" else 1)
        assert f"{folder.object_target}Type" in problem.goal
        assert f"{folder.receptacle_target}Type" in problem.goal
        assert folder.object_target.lower() in game.task
        assert folder.receptacle_target.lower() in game.task
        if game.task_type == "look_at_obj_in_light":
            assert Counter(problem.kinds.values())["DeskLamp"] == 1
            assert game.walkthrough[-1] == "use desklamp 1"
            continue
        assert folder.receptacle_target in problem.receptacles.values()
        for target in targets:
            assert problem.receptacles[problem.place[target]] != folder.receptacle_target
        verb = game.task_type.split("_")[1]
        if verb in STATIONS:
            station = STATIONS[verb]
            assert station in problem.receptacles.values()
            assert folder.receptacle_target != station
            assert re.search(rf"\b({verb}|{WORDS[verb]})\b", game.task)
            (change,) = [step for step in game.walkthrough if step.startswith(verb)]
            assert f" with {station.lower()} " in change
            assert (targets[0],) in problem.facts[f"{verb}able"]


@pytest.mark.parametrize("rooms", [1, 2, 3, 4])
def test_homes_have_several_rooms_worth_of_places_and_other_things(rooms):
    smallest = sorted(
        sum(1 if kind in {"Cabinet", "Drawer", "Shelf"} else most for kind, most in room.items())
        for room in ROOMS.values()
    )
    for game in games(1, 2, rooms):
        problem = Problem(game.pddl_problem)
        assert len(problem.receptacles) >= sum(smallest[:rooms])
        others = set(problem.kinds.values()) - {game.folder.object_target, "DeskLamp"}
        if rooms > 1:
            assert len(others) >= 8
        assert others


def test_games_are_written_whole_and_read_back(tmp_path):
    drawn = draw_games(3, 2)
    for _ in range(2):  # writing them again changes nothing
        for built in drawn:
            write_game(built, tmp_path)
    found = [read_game(folder) for folder in find_games(tmp_path)]
    assert len(found) == 12
    assert all(game.generated for game in found)
    expected = {built.folder.key: built.game for built in drawn}
    for game in found:
        other = expected[game.folder.key]
        assert (game.sha256, game.task, game.walkthrough) == (
            other.sha256, other.task, other.walkthrough,
        )  # fmt: skip
    files = Counter(path.name for path in tmp_path.rglob("*") if path.is_file())
    assert files == {"game.tw-pddl": 12, "traj_data.json": 12}


def test_a_game_whose_writing_was_cut_off_is_not_taken_for_one(tmp_path):
    built = draw_games(3, 1)[0]
    folder = tmp_path / built.folder.path
    (folder / "game.tw-pddl.partial").mkdir(parents=True)  # where the second file would be written
    with pytest.raises(OSError, match="partial"):
        write_game(built, tmp_path)
    with pytest.raises(InputError, match="no games"):
        find_games(tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"per_type": 0}, "per_type is 0, at least 1"),
        ({"per_type": 41}, "per_type is 41, but pick_heat_then_place_in_recep has 40 different"),
        ({"rooms": 0}, "rooms is 0, it must be 1 to 4"),
        ({"rooms": 5}, "rooms is 5, it must be 1 to 4"),
    ],
)
def test_parameters_outside_their_range_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        draw_games(1, **options)
