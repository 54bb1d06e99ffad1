"""Make ALFWorld games, or take the benchmark's, play their walkthroughs, and note both.

The table holds the games themselves, so that what follows does not depend on where they came from.
"""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from _entry import LOGGER, Job, run
from coretail import artefacts
from coretail.alfworld.building import draw_games
from coretail.alfworld.demonstrations import (
    Demonstration,
    demonstrate,
    read_demonstrations,
    shortage,
)
from coretail.alfworld.environment import UnplayableGame
from coretail.alfworld.games import (
    GAME_FILE,
    TASK_TYPES,
    TRAJECTORY_FILE,
    Game,
    GameFolder,
    find_games,
    game_folder,
    parse_game,
)
from coretail.errors import InputError


class Files(NamedTuple):
    """A game's place in the layout and its two files; None for a file that cannot be read."""

    folder: GameFolder
    game: bytes | None
    trajectory: bytes | None


def main(job: Job) -> None:
    """Write the games, the first of which are played, and the demonstrations."""
    settings = job.settings
    files = given(job) if settings["given"] else made(settings)
    if len(files) < settings["episodes"]:
        raise InputError(
            f"alfworld.episodes: {settings['episodes']} games are to be played, but there are "
            f"{len(files)}, at most {settings['per_type']} of a task type; lower it, raise "
            "alfworld.per_type, or give more games"
        )
    rows: list[dict[str, Any]] = []
    shown: list[Demonstration] = []
    generated = not settings["given"]
    report = job.progress("games", len(files))
    for number, one in enumerate(files):
        report(number)
        game, demonstration, reason = checked(one)
        if reason:
            LOGGER.warning("%s", reason)
        if demonstration is not None:
            shown.append(demonstration)
        generated = generated or (game is not None and game.generated)
        rows.append(
            {
                "episode": number if number < settings["episodes"] else None,
                "game": one.folder.key,
                "task_type": one.folder.task_type,
                "task": None if game is None else game.task,
                "walkthrough": None if game is None else len(game.walkthrough),
                "sha256": None if game is None else game.sha256,
                "playable": demonstration is not None,
                "reason": reason,
                "game_file": one.game,
                "trajectory_file": one.trajectory,
            }
        )
    # What a mixture gives is no number of the benchmark.
    data = "stand-in" if generated else "benchmark"
    if settings["read"]:
        (path,) = job.inputs("demonstrations")
        shown = read_demonstrations(path)
    played = [
        one.folder
        for one, row in zip(files, rows, strict=True)
        if row["episode"] is not None and row["playable"]
    ]
    for setting, n in settings["demonstrations"].items():
        check_demonstrations(shown, played, setting, n)
    for name, content in (
        ("games", [row | {"data": data} for row in rows]),
        ("demonstrations", [asdict(one) for one in shown]),
    ):
        schema = f"alfworld_{name}"
        artefacts.write(
            job.output(name), schema, artefacts.table_of_rows(schema, content), job.spec
        )


def made(settings: dict[str, Any]) -> list[Files]:
    """Return games that are made here, in the order in which they are played."""
    built = draw_games(settings["seed"], settings["per_type"], settings["rooms"])
    return in_turn([Files(one.folder, one.game_file, one.trajectory_file) for one in built])


def given(job: Job) -> list[Files]:
    """Return the first games of each task type in the directory, in the order of playing."""
    paths = job.inputs("games")
    if not paths:
        raise InputError(
            f"alfworld.games: no games of the layout <task>/<trial>/{GAME_FILE} there; give the "
            "directory of one split of ALFWorld's games, which `alfworld-download` fetches"
        )
    taken: Counter[str] = Counter()
    files = []
    for folder in by_trial(find_games(paths[0].parents[2])):
        taken[folder.task_type] += 1
        if taken[folder.task_type] <= job.settings["per_type"]:
            game, trajectory = (read(folder.path / name) for name in (GAME_FILE, TRAJECTORY_FILE))
            # Where the directory lies decides nothing, and stays out of what is written.
            files.append(Files(game_folder(Path(folder.key)), game, trajectory))
    return in_turn(files)


def by_trial(folders: list[GameFolder]) -> list[GameFolder]:
    """Return one trial of each task, then the second of each, and so on.

    A trial is no demonstration for others of its task.
    """
    met: Counter[str] = Counter()
    trials = []
    for folder in folders:
        trials.append(met[folder.task])
        met[folder.task] += 1
    ranked = sorted(zip(trials, folders, strict=True), key=lambda pair: pair[0])
    return [folder for _, folder in ranked]


def in_turn(files: list[Files]) -> list[Files]:
    """Return games one task type after the other, then the second of each, and so on."""
    by_type = {name: [one for one in files if one.folder.task_type == name] for name in TASK_TYPES}
    places = {
        one.folder: (place, number)
        for number, alike in enumerate(by_type.values())
        for place, one in enumerate(alike)
    }
    return sorted(files, key=lambda one: places[one.folder])


def check_demonstrations(
    known: list[Demonstration], played: list[GameFolder], setting: str, n: int
) -> None:
    """Say which games cannot be played in a setting, for want of demonstrations.

    Raises
    ------
    InputError
        If none can.
    """
    reasons = [reason for folder in played if (reason := shortage(known, folder, n))]
    remedy = (
        "lower that number, raise alfworld.per_type where there are more games, or name a file in "
        "alfworld.demonstrations that has so many"
    )
    if reasons and len(reasons) == len(played):
        raise InputError(
            f"alfworld.settings.{setting}.demonstrations: {n} is too many for each game that is to "
            f"be played, such as {reasons[0]}; {remedy}"
        )
    for reason in reasons:
        LOGGER.warning("%s: %s; it is not played there; %s", setting, reason, remedy)


def read(path: Path) -> bytes | None:
    """Return a file's content, None if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return None


def checked(files: Files) -> tuple[Game | None, Demonstration | None, str]:
    """Return a game, the demonstration that its walkthrough makes, and why one of them is None."""
    try:
        if files.game is None or files.trajectory is None:
            missing = GAME_FILE if files.game is None else TRAJECTORY_FILE
            raise InputError(f"{files.folder.path / missing}: cannot be read; fetch it again")
        game = parse_game(files.folder, files.game, files.trajectory)
    except InputError as error:
        return None, None, str(error)
    try:
        return game, demonstrate(game), ""
    except UnplayableGame as error:
        return game, None, str(error)


if __name__ == "__main__":
    run(main, globals()["snakemake"])
