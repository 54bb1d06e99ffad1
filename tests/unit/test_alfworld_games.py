"""Games on the disk: the layout, the two files, and every way in which they can be broken."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coretail.alfworld._packages import game_packages
from coretail.alfworld.commands import Command, parse_command
from coretail.alfworld.environment import Environment
from coretail.alfworld.games import (
    TASK_TYPES,
    default_root,
    find_games,
    game_folder,
    read_game,
)
from coretail.errors import InputError

ROOT = Path(__file__).parents[2]
OFFICIAL = ROOT.parent / "shared" / "data" / "alfworld" / "valid_seen"
needs_official = pytest.mark.skipif(
    not OFFICIAL.is_dir(), reason="the published ALFWorld games are not beside the project"
)

TASK = "pick_and_place_simple-Egg-None-Microwave-4"
GAME = {
    "pddl_domain": "(define (domain alfred))",
    "pddl_problem": "(define (problem plan))",
    "grammar": '{"task": [{"rhs": "Your task is to: put some egg on microwave."}]}',
    "walkthrough": ["go to microwave 1", "open microwave 1"],
    "solvable": True,
}
TRAJECTORY = {"task_type": "pick_and_place_simple", "pddl_params": {"object_target": "Egg"}}


def lay(root, task=TASK, trial="trial_1", game=GAME, trajectory=TRAJECTORY):
    """Write a game as given, objects as JSON and bytes as they are; None leaves the file out."""
    folder = root / task / trial
    folder.mkdir(parents=True)
    for name, content in (("game.tw-pddl", game), ("traj_data.json", trajectory)):
        if content is not None:
            raw = content if isinstance(content, bytes) else json.dumps(content).encode()
            (folder / name).write_bytes(raw)
    return folder


def without(content, key):
    return {name: value for name, value in content.items() if name != key}


def test_games_are_found_in_order_with_what_their_names_say(tmp_path):
    light = "look_at_obj_in_light-CD-None-DeskLamp-302"
    for task, trial in [(TASK, "trial_2"), (light, "trial_9"), (TASK, "trial_1")]:
        lay(tmp_path, task, trial)
    (tmp_path / "notes.txt").write_text("no folder")

    found = find_games(tmp_path)

    assert [one.key for one in found] == [f"{light}/trial_9", f"{TASK}/trial_1", f"{TASK}/trial_2"]
    first, second, _ = found
    assert (first.task_type, first.object_target) == ("look_at_obj_in_light", "CD")
    assert (first.receptacle_target, first.scene) == ("DeskLamp", 302)
    assert (second.movable_target, second.receptacle_target, second.scene) == ("", "Microwave", 4)
    assert second.path == tmp_path / TASK / "trial_1"


def test_what_text_games_do_not_have_is_passed_over(tmp_path):
    lay(tmp_path)
    lay(tmp_path, "pick_and_place_with_movable_recep-Fork-Bowl-Fridge-12")
    lay(tmp_path, "pick_and_place_simple-AppleSliced-None-Fridge-2")
    lay(tmp_path, trial="trial_without_a_game", game=None)
    assert [one.key for one in find_games(tmp_path)] == [f"{TASK}/trial_1"]


def test_a_folder_that_cannot_be_a_root_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"nowhere: does not exist.*alfworld-download"):
        find_games(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"file: is not a folder"):
        find_games(tmp_path / "file")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty: no games of the layout.*alfworld-download"):
        find_games(tmp_path / "empty")
    lay(tmp_path / "data" / "valid_seen")
    lay(tmp_path / "data" / "train")
    with pytest.raises(InputError, match=r"give one of its folders: train, valid_seen"):
        find_games(tmp_path / "data")


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("eggs", "'eggs' is not named"),
        ("pick_and_place_simple-Egg-None-Microwave", "is not named"),
        ("pick_and_place_simple-Egg--Microwave-4", "is not named"),
        ("pick_and_place_simple-Egg-None-Microwave-four", "is not named"),
        ("juggle-Egg-None-Microwave-4", "task type 'juggle' is not one of pick_and_place_simple"),
    ],
)
def test_a_folder_with_another_name_is_refused(tmp_path, task, message):
    lay(tmp_path, task)
    with pytest.raises(InputError, match=message) as caught:
        find_games(tmp_path)
    assert str(tmp_path / task) in str(caught.value)


def test_the_default_root_is_where_the_package_downloads_to(monkeypatch, tmp_path):
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path))
    assert default_root("train") == tmp_path / "json_2.1.1" / "train"
    monkeypatch.delenv("ALFWORLD_DATA")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_root() == tmp_path / ".cache" / "alfworld" / "json_2.1.1" / "valid_seen"
    with pytest.raises(InputError, match="split 'test' is not one of train, valid_seen"):
        default_root("test")


def test_a_game_is_read(tmp_path):
    folder = lay(tmp_path)
    game = read_game(game_folder(folder))
    assert game.task == "put some egg on microwave"
    assert game.task_type == "pick_and_place_simple"
    assert game.walkthrough == ("go to microwave 1", "open microwave 1")
    assert game.pddl_problem == "(define (problem plan))"
    assert game.sha256 == hashlib.sha256((folder / "game.tw-pddl").read_bytes()).hexdigest()
    assert not game.generated


def test_a_sentence_with_quotation_marks_is_read(tmp_path):
    grammar = r'"rhs": "Your task is to: put the \"good\" egg away"'
    folder = lay(tmp_path, game={**GAME, "grammar": grammar})
    assert read_game(game_folder(folder)).task == 'put the "good" egg away'


@pytest.mark.parametrize(
    ("sentence", "task"),
    [("put\tan egg away", "put\tan egg away"), ("put an\negg away.", "put an\negg away")],
)
def test_a_sentence_with_tabs_and_line_breaks_is_read(tmp_path, sentence, task):
    folder = lay(tmp_path, game={**GAME, "grammar": f'"Your task is to: {sentence}"'})
    assert read_game(game_folder(folder)).task == task


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        (r"put \xe9gg away", r"is no JSON text (Invalid \escape"),
        (r"put Tom\'s egg away", "'grammar': the task sentence"),
        (r"put an \u00 egg away", "'grammar': the task sentence"),
        (r"put an \udc00 egg away", r"\udc00 is half of a character"),
    ],
)
def test_a_sentence_with_an_unknown_escape_is_refused(tmp_path, sentence, words):
    folder = lay(tmp_path, game={**GAME, "grammar": f'"Your task is to: {sentence}"'})
    with pytest.raises(InputError) as caught:
        read_game(game_folder(folder))
    assert words in str(caught.value)
    assert str(folder / "game.tw-pddl") in str(caught.value)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b'{"grammar": "\\ud800"}', r"\\ud800 is half of a character"),
        (b'{"walkthrough": [' + b"1" * 5000 + b"]}", "not JSON, or cut off"),
        (b"[" * 200_000, "not JSON, or cut off"),
    ],
)
def test_a_file_that_python_cannot_hold_is_refused(tmp_path, raw, words):
    folder = lay(tmp_path, game=raw)
    with pytest.raises(InputError, match=words) as caught:
        read_game(game_folder(folder))
    assert str(folder / "game.tw-pddl") in str(caught.value)


@pytest.mark.parametrize("key", list(GAME))
def test_a_game_without_a_key_is_refused(tmp_path, key):
    folder = lay(tmp_path, game=without(GAME, key))
    with pytest.raises(InputError, match=f"the key '{key}' is missing") as caught:
        read_game(game_folder(folder))
    assert str(folder / "game.tw-pddl") in str(caught.value)


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (None, "No such file or directory"),
        (json.dumps(GAME).encode()[:150], "not JSON, or cut off"),
        (b"", "not JSON, or cut off"),
        (b'{"grammar": "\xff\xfe"}', "byte 0xff at offset 13 is not UTF-8"),
        (b"[]", "a JSON object is expected, not list"),
        (b"[" * 100_000, "not JSON, or cut off"),
        ({**GAME, "solvable": False}, "'solvable' is false: the game cannot be won"),
        ({**GAME, "solvable": None}, "'solvable' is NoneType, where bool is expected"),
        ({**GAME, "walkthrough": None}, "'walkthrough' is NoneType, where list is expected"),
        ({**GAME, "walkthrough": []}, "'walkthrough' is not a list of one or more commands"),
        ({**GAME, "walkthrough": ["look", 3]}, "'walkthrough' is not a list of one or more"),
        (
            {**GAME, "walkthrough": ["put egg 1 in/on microwave 1"]},
            "'walkthrough': 'put egg 1 in/on microwave 1' is not a command",
        ),
        ({**GAME, "grammar": ["look"]}, "'grammar' is list, where str is expected"),
        ({**GAME, "pddl_problem": "(define\0)"}, "'pddl_problem' has a NUL character"),
        ({**GAME, "grammar": "nothing"}, "'grammar' has no task sentence"),
        ({**GAME, "grammar": '"Your task is to: UNKNOWN GOAL."'}, "'grammar' has no task sentence"),
        ({**GAME, "grammar": '"Your task is to: ."'}, "'grammar' has no task sentence"),
    ],
)
def test_a_broken_game_file_is_refused(tmp_path, game, message):
    folder = lay(tmp_path, game=game)
    with pytest.raises(InputError, match=message) as caught:
        read_game(game_folder(folder))
    assert str(folder / "game.tw-pddl") in str(caught.value)


@pytest.mark.parametrize(
    ("trajectory", "message"),
    [
        (None, "No such file or directory"),
        (b'{"task_type"', "not JSON, or cut off"),
        (b"\x80", "byte 0x80 at offset 0 is not UTF-8"),
        (without(TRAJECTORY, "task_type"), "the key 'task_type' is missing"),
        (without(TRAJECTORY, "pddl_params"), "the key 'pddl_params' is missing"),
        ({**TRAJECTORY, "pddl_params": []}, "'pddl_params' is list, where dict is expected"),
        ({**TRAJECTORY, "task_type": "juggle"}, "'task_type' 'juggle' is not one of"),
        (
            {**TRAJECTORY, "task_type": "look_at_obj_in_light"},
            "'look_at_obj_in_light', but the folder's name says 'pick_and_place_simple'",
        ),
    ],
)
def test_a_broken_trajectory_file_is_refused(tmp_path, trajectory, message):
    folder = lay(tmp_path, trajectory=trajectory)
    with pytest.raises(InputError, match=message) as caught:
        read_game(game_folder(folder))
    assert str(folder / "traj_data.json") in str(caught.value)


@needs_official
def test_all_published_games_are_read():
    games = [read_game(folder) for folder in find_games(OFFICIAL)]
    assert len(games) == 18
    assert sorted(game.task_type for game in games) == sorted(TASK_TYPES * 3)
    assert not any(game.generated for game in games)
    tasks = {game.folder.task: game.task for game in games}
    # Read off the files.
    assert tasks["pick_and_place_simple-Egg-None-Microwave-4"] == "put some egg on microwave"
    assert tasks["look_at_obj_in_light-CD-None-DeskLamp-302"] == "examine the cd with the desklamp"
    assert tasks["pick_two_obj_and_place-Knife-None-Drawer-18"] == (
        "find two knife and put them in drawer"
    )
    egg = next(game for game in games if game.folder.object_target == "Egg")
    assert egg.sha256 == "03a0f16c2c3cc460316449644c2bcb6313c79ed41f43f7ea998a5729edd6d9a4"


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("look", Command("look")),
        ("go to sinkbasin 1", Command("go to", ("sinkbasin 1",))),
        ("take egg 12 from fridge 1", Command("take", ("egg 12", "fridge 1"))),
        ("move egg 1 to fridge 1", Command("move", ("egg 1", "fridge 1"))),
        ("clean mug 2 with sinkbasin 1", Command("clean", ("mug 2", "sinkbasin 1"))),
        ("use desklamp 1", Command("use", ("desklamp 1",))),
    ],
)
def test_commands_are_taken_apart(text, command):
    assert parse_command(text) == command


@pytest.mark.parametrize(
    "text",
    ["", "dance", "look ", "go to", "go to fridge", "put egg 1 in/on fridge 1",
     "take egg 1 to fridge 1", "move egg 1 from fridge 1", "heat egg 1", "look 1"],
)  # fmt: skip
def test_other_texts_are_no_commands(text):
    with pytest.raises(ValueError, match="not a command"):
        parse_command(text)


things = st.builds("{} {}".format, st.from_regex(r"[a-z]{1,12}", fullmatch=True), st.integers(1))


@settings(max_examples=50)
@given(things, things, st.sampled_from([("take", "from"), ("move", "to"), ("cool", "with")]))
def test_any_two_things_are_told_apart(first, second, words):
    verb, preposition = words
    command = parse_command(f"{verb} {first} {preposition} {second}")
    assert command == Command(verb, (first, second))


def test_reading_imports_no_game_engine():
    code = (
        "import sys\n"
        "import coretail.alfworld.building, coretail.alfworld.demonstrations\n"
        "sys.exit(any(name in sys.modules for name in ('alfworld', 'textworld', 'spacy')))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT / "scripts", check=False)
    assert done.returncode == 0


def test_a_missing_engine_is_an_error_with_a_remedy(tmp_path, monkeypatch):
    game = read_game(game_folder(lay(tmp_path)))
    monkeypatch.setitem(sys.modules, "fast_downward", None)
    with pytest.raises(InputError, match=r"'fast_downward' is not installed.*coretail\[alfworld\]"):
        Environment(game)
    with pytest.raises(ModuleNotFoundError, match="no_such_module"), game_packages():
        import no_such_module  # noqa: F401


@pytest.mark.parametrize("before", [None, "/elsewhere"])
def test_imports_leave_the_environment_as_it_was(monkeypatch, before):
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    if before is not None:
        monkeypatch.setenv("ALFWORLD_DATA", before)
    with game_packages():
        assert Path(os.environ["ALFWORLD_DATA"]).is_dir()
    assert os.environ.get("ALFWORLD_DATA") == before
