"""Make ALFWorld games: homes with a task, its plan, and things that it has nothing to do with.

The rules, the words and the goals are ALFWorld's own (``alfred.pddl``, ``alfred.twl2``,
``alfworld.gen``); rooms, places and contents are drawn here. Such games stand in for the
benchmark where its files are absent: they are shaped like it, and no part of it.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from coretail.alfworld._packages import game_packages
from coretail.alfworld.environment import play_walkthrough
from coretail.alfworld.games import (
    GAME_FILE,
    GENERATED,
    TASK_TYPES,
    TRAJECTORY_FILE,
    Game,
    GameFolder,
    game_folder,
    parse_game,
)
from coretail.errors import InputError
from coretail.streams import stream

# What stands in a room: the kind of receptacle and the most of its kind. Of cabinets, drawers and
# shelves any number up to it is drawn; all others are there.
ROOMS: Mapping[str, Mapping[str, int]] = {
    "Bathroom": {
        "BathtubBasin": 1,
        "Cabinet": 2,
        "CounterTop": 1,
        "GarbageCan": 1,
        "HandTowelHolder": 1,
        "SinkBasin": 1,
        "Toilet": 1,
        "TowelHolder": 1,
    },
    "Bedroom": {
        "Bed": 1,
        "Desk": 1,
        "Drawer": 3,
        "Dresser": 1,
        "Safe": 1,
        "Shelf": 2,
        "SideTable": 1,
    },
    "Kitchen": {
        "Cabinet": 4,
        "CoffeeMachine": 1,
        "CounterTop": 1,
        "DiningTable": 1,
        "Drawer": 2,
        "Fridge": 1,
        "GarbageCan": 1,
        "Microwave": 1,
        "SinkBasin": 1,
        "StoveBurner": 1,
    },
    "LivingRoom": {
        "ArmChair": 1,
        "CoffeeTable": 1,
        "Drawer": 2,
        "Shelf": 3,
        "SideTable": 1,
        "Sofa": 1,
    },
}
_COUNTED = ("Cabinet", "Drawer", "Shelf")
_LAMP = "DeskLamp"
_LAMP_PLACES = ("Desk", "Dresser", "SideTable")
# How a task changes its object: the class of objects that allow it, where, and the command.
_TREATMENTS = {
    "pick_clean_then_place_in_recep": ("Cleanable", "SinkBasin", "clean"),
    "pick_heat_then_place_in_recep": ("Heatable", "Microwave", "heat"),
    "pick_cool_then_place_in_recep": ("Coolable", "Fridge", "cool"),
}
# The kinds that the domain's actions name, whether or not a game has a thing of that kind.
_NAMED_RECEPTACLE_KINDS = ("Fridge", "Microwave", "SinkBasin")
_NAMED_OBJECT_KINDS = ("ButterKnife", "Knife")
_PARTS = {"SinkBasin": "Sink", "BathtubBasin": "Bathtub"}
_GRID = 40  # locations along each side of a home


@dataclass(frozen=True, slots=True)
class BuiltGame:
    """A game that was made, as the contents of its two files.

    Attributes
    ----------
    folder
        Its place in the layout, relative to a root.
    game_file, trajectory_file
        The contents of ``game.tw-pddl`` and ``traj_data.json``.
    """

    folder: GameFolder
    game_file: bytes
    trajectory_file: bytes

    @property
    def game(self) -> Game:
        """The game as :func:`coretail.alfworld.games.read_game` would return it."""
        return parse_game(self.folder, self.game_file, self.trajectory_file)


def build_games(seed: int, per_type: int = 3, rooms: int = 2) -> list[BuiltGame]:
    """Make games as :func:`draw_games` does, and check each by playing its walkthrough.

    Playing costs one to three seconds a game.
    """
    drawn = draw_games(seed, per_type, rooms)
    for built in drawn:
        play_walkthrough(built.game)
    return drawn


def draw_games(seed: int, per_type: int = 3, rooms: int = 2) -> list[BuiltGame]:
    """Make games of all six task types, each with a walkthrough.

    Parameters
    ----------
    seed
        Names the streams that everything is drawn from: one seed gives the same bytes, and fewer
        games of a type are the first of more.
    per_type
        Games for each task type; no two of a type share object and receptacle.
    rooms
        Rooms in each home, 1 to 4: the one that suits the task, and others. Two rooms have some
        19 receptacles and 27 objects.

    Returns
    -------
    The games, sorted by task type in the order of :data:`coretail.alfworld.games.TASK_TYPES`.

    Raises
    ------
    InputError
        If a parameter is outside its range, or ``alfworld`` is not installed.
    """
    if per_type < 1:
        raise InputError(f"ALFWorld games: per_type is {per_type}, at least 1 is needed")
    if not 1 <= rooms <= len(ROOMS):
        raise InputError(f"ALFWorld games: rooms is {rooms}, it must be 1 to {len(ROOMS)}")
    rules = _Rules.load()
    drawn = []
    for task_type in TASK_TYPES:
        goals = _goals(rules, task_type)
        order = stream("alfworld", "goals", task_type, seed).permutation(len(goals))
        distinct: dict[tuple[str, str], _Goal] = {}
        for goal in (goals[i] for i in order):
            distinct.setdefault((goal.object, goal.receptacle), goal)
        if per_type > len(distinct):
            raise InputError(
                f"ALFWorld games: per_type is {per_type}, but {task_type} has {len(distinct)} "
                "different goals"
            )
        for index, goal in enumerate(list(distinct.values())[:per_type]):
            drawn.append(_build(rules, task_type, goal, rooms, seed, index))
    return drawn


def write_game(built: BuiltGame, root: Path) -> Path:
    """Write a game into the official layout under ``root`` and return its trial's folder.

    Each file appears whole or not at all, and the game file, without which a folder is not taken
    for a game's, appears last.
    """
    folder = root / built.folder.path
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (
        (TRAJECTORY_FILE, built.trajectory_file),
        (GAME_FILE, built.game_file),
    ):
        partial = folder / f"{name}.partial"
        partial.write_bytes(content)
        partial.replace(folder / name)
    return folder


@dataclass(frozen=True, slots=True)
class _Rules:
    """What ALFWorld says about its world, in sorted and immutable form."""

    domain: str
    grammar: str
    goals: Mapping[str, Mapping[str, str | Sequence[str]]]
    task_rooms: Mapping[str, Sequence[str]]
    scenes: Mapping[str, range]
    contents: Mapping[str, Sequence[str]]
    abilities: Mapping[str, frozenset[str]]
    openable: frozenset[str]
    containers: frozenset[str]
    number: Callable[[Sequence[str]], dict[str, str]]

    @classmethod
    def load(cls) -> "_Rules":
        with game_packages():
            from alfworld.agents.utils.misc import Demangler
            from alfworld.gen import constants
            from alfworld.gen.goal_library import gdict
            from alfworld.info import ALFRED_PDDL_PATH, ALFRED_TWL2_PATH

        def number(identifiers: Sequence[str]) -> dict[str, str]:
            """Return the names by which a player knows things: their kind and a number."""
            infos = {name: SimpleNamespace(id=name.lower()) for name in identifiers}
            demangler = Demangler(game_infos=infos, shuffle=False)
            return {name: demangler.demangle_alfred_name(name.lower()) for name in identifiers}

        return cls(
            domain=Path(ALFRED_PDDL_PATH).read_text(encoding="utf-8"),
            grammar=Path(ALFRED_TWL2_PATH).read_text(encoding="utf-8"),
            goals=gdict,
            task_rooms={name: sorted(rooms) for name, rooms in constants.GOALS_VALID.items()},
            scenes=constants.SCENE_TYPE,
            contents={
                receptacle: sorted(kind for kind in kinds if not kind.endswith("Sliced"))
                for receptacle, kinds in constants.VAL_RECEPTACLE_OBJECTS.items()
            },
            abilities={
                name: frozenset(kinds) for name, kinds in constants.VAL_ACTION_OBJECTS.items()
            },
            openable=frozenset(constants.OPENABLE_CLASS_LIST),
            containers=frozenset(constants.MOVABLE_RECEPTACLES),
            number=number,
        )


@dataclass(frozen=True, slots=True)
class _Goal:
    """A task: its room, its object's kind, and the kind of receptacle or lamp."""

    room: str
    object: str
    receptacle: str


@dataclass(slots=True)
class _Home:
    """Things and where they are: receptacles by location, objects by receptacle; names to kinds."""

    receptacles: dict[str, str] = field(default_factory=dict)
    locations: dict[str, str] = field(default_factory=dict)
    objects: dict[str, str] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    start: str = ""

    def of_kind(self, *kinds: str) -> list[str]:
        """Return the receptacles of some kinds."""
        return [name for name, kind in self.receptacles.items() if kind in kinds]


def _goals(rules: _Rules, task_type: str) -> list[_Goal]:
    """Return all goals of a task type that the rooms allow, in a fixed order."""
    ability, station, _ = _TREATMENTS.get(task_type, ("", "", ""))
    goals = []
    for room in rules.task_rooms[task_type]:
        if room not in ROOMS:
            continue
        holders: dict[str, list[str]] = {}
        for receptacle in ROOMS[room]:
            for kind in rules.contents[receptacle]:
                holders.setdefault(kind, []).append(receptacle)
        for kind, receptacles in sorted(holders.items()):
            if ability and kind not in rules.abilities[ability]:
                continue
            if task_type == "look_at_obj_in_light":
                goals.append(_Goal(room, kind, _LAMP))
            elif len(receptacles) > 1:  # it has to come from a receptacle of another kind
                goals += [_Goal(room, kind, target) for target in receptacles if target != station]
    return goals


def _build(
    rules: _Rules, task_type: str, goal: _Goal, rooms: int, seed: int, index: int
) -> BuiltGame:
    """Make one game."""
    draw = stream("alfworld", "game", task_type, seed, index)
    home = _furnish(goal.room, rooms, draw)
    targets, lamp = _place(rules, home, task_type, goal, draw)
    scenes = rules.scenes[goal.room]
    scene = int(draw.integers(scenes.start, scenes.stop))
    template = draw.choice(np.array(rules.goals[task_type]["templates"]))
    words = {"obj": goal.object, "recep": goal.receptacle, "toggle": goal.receptacle}
    sentence = str(template).format(**{key: word.lower() for key, word in words.items()})

    trial = f"trial_seed{seed}_{index}"
    task = f"{task_type}-{goal.object}-None-{goal.receptacle}-{scene}"
    game = {
        "pddl_domain": rules.domain,
        "grammar": rules.grammar.replace("UNKNOWN GOAL", sentence),
        "pddl_problem": _problem(rules, home, trial, _goal_text(rules, task_type, words)),
        "walkthrough": _walkthrough(rules, home, task_type, goal, targets, lamp),
        "solvable": True,
    }
    looks = task_type == "look_at_obj_in_light"
    trajectory = {
        "task_id": trial,
        "task_type": task_type,
        "pddl_params": {
            "object_target": goal.object,
            "object_sliced": False,
            "mrecep_target": "",
            "parent_target": "" if looks else goal.receptacle,
            "toggle_target": goal.receptacle if looks else "",
        },
        "scene": {"floor_plan": f"FloorPlan{scene}", "scene_num": scene},
        "origin": GENERATED,
    }
    return BuiltGame(game_folder(Path(task) / trial), _json(game), _json(trajectory))


def _furnish(room: str, rooms: int, draw: np.random.Generator) -> _Home:
    """Return a home with its receptacles, each at a location of its own, and nothing in them."""
    others = [name for name in ROOMS if name != room]
    chosen = [room, *draw.permutation(others)[: rooms - 1].tolist()]
    kinds = [
        kind
        for name in chosen
        for kind, most in ROOMS[name].items()
        for _ in range(int(draw.integers(1, most + 1)) if kind in _COUNTED else most)
    ]
    home = _Home()
    spots = draw.permutation(_GRID * _GRID)[: len(kinds) + 1].tolist()
    home.start, *locations = (
        f"loc_bar_{_signed(spot // _GRID)}_bar_{_signed(spot % _GRID)}_bar_0_bar_60"
        for spot in spots
    )
    names = _names(kinds, draw)
    home.receptacles = dict(zip(names, kinds, strict=True))
    home.locations = dict(zip(names, locations, strict=True))
    return home


def _place(
    rules: _Rules, home: _Home, task_type: str, goal: _Goal, draw: np.random.Generator
) -> tuple[list[str], str]:
    """Put the task's objects and others into a home; return the former and the lamp, if any.

    The objects of the task's kind are the task's alone and do not stand where they have to go.
    Receptacles hold up to three other things, closed ones up to two.
    """
    sources = [
        name
        for name, kind in home.receptacles.items()
        if goal.object in rules.contents[kind] and kind != goal.receptacle
    ]
    needed = 2 if task_type == "pick_two_obj_and_place" else 1
    things = [(goal.object, sources[draw.integers(len(sources))]) for _ in range(needed)]
    if task_type == "look_at_obj_in_light":
        stands = home.of_kind(*_LAMP_PLACES)
        things.append((_LAMP, stands[draw.integers(len(stands))]))
    for name, kind in home.receptacles.items():
        others = [other for other in rules.contents[kind] if other != goal.object]
        most = 2 if kind in rules.openable else 3
        for _ in range(int(draw.integers(most + 1)) if others else 0):
            things.append((others[draw.integers(len(others))], name))
    kinds = [kind for kind, _ in things]
    names = _names(kinds, draw)
    home.objects = dict(zip(names, kinds, strict=True))
    home.places = {name: place for name, (_, place) in zip(names, things, strict=True)}
    targets = [name for name, kind in home.objects.items() if kind == goal.object]
    lamp = next((name for name, kind in home.objects.items() if kind == _LAMP), "")
    return targets, lamp


def _walkthrough(
    rules: _Rules, home: _Home, task_type: str, goal: _Goal, targets: Sequence[str], lamp: str
) -> list[str]:
    """Return the commands that carry out a task, for a player who knows where everything is."""
    names = rules.number([*home.receptacles, *home.objects])
    commands: list[str] = []
    opened: set[str] = set()
    here = ""

    def go(receptacle: str, *, reach: bool) -> None:
        """Go to a receptacle, and open it if the player has to reach into it."""
        nonlocal here
        if receptacle != here:
            commands.append(f"go to {names[receptacle]}")
            here = receptacle
        if reach and home.receptacles[receptacle] in rules.openable and receptacle not in opened:
            commands.append(f"open {names[receptacle]}")
            opened.add(receptacle)

    for target in targets:
        go(home.places[target], reach=True)
        commands.append(f"take {names[target]} from {names[home.places[target]]}")
        if task_type in _TREATMENTS:
            _, kind, verb = _TREATMENTS[task_type]
            station = home.of_kind(kind)[0]
            go(station, reach=False)
            commands.append(f"{verb} {names[target]} with {names[station]}")
        if lamp:
            go(home.places[lamp], reach=True)
            commands.append(f"use {names[lamp]}")
        else:
            # Both of two objects have to go into the same receptacle.
            receptacle = home.of_kind(goal.receptacle)[0]
            go(receptacle, reach=True)
            commands.append(f"move {names[target]} to {names[receptacle]}")
    return commands


def _goal_text(rules: _Rules, task_type: str, words: Mapping[str, str]) -> str:
    """Return the goal of a problem, and the parenthesis that closes the problem."""
    text = str(rules.goals[task_type]["pddl"])
    return text.format(**words).replace(" # ", " - ")


def _problem(rules: _Rules, home: _Home, trial: str, goal: str) -> str:
    """Return the PDDL problem of a home."""
    object_kinds = sorted({*home.objects.values(), *_NAMED_OBJECT_KINDS})
    receptacle_kinds = sorted({*home.receptacles.values(), *_NAMED_RECEPTACLE_KINDS})
    declared = {
        "agent": ["agent1"],
        "otype": [f"{kind}Type" for kind in object_kinds],
        "rtype": [f"{kind}Type" for kind in receptacle_kinds],
        "object": list(home.objects),
        "receptacle": list(home.receptacles),
        "location": [home.start, *home.locations.values()],
    }
    objects = [f"{name} - {kind}" for kind, names in declared.items() for name in names]
    facts = [
        *(
            f"canContain {receptacle}Type {kind}Type"
            for receptacle in receptacle_kinds
            for kind in object_kinds
            if kind in rules.contents[receptacle]
        ),
        *_receptacle_facts(rules, home),
        *_object_facts(rules, home),
        f"atLocation agent1 {home.start}",
    ]
    lines = [
        f"(define (problem plan_{trial})",
        "(:domain alfred)",
        "(:objects",
        *(f"    {line}" for line in objects),
        ")",
        "(:init",
        *(f"    ({fact})" for fact in facts),
        ")",
    ]
    return "\n".join(lines) + goal


def _receptacle_facts(rules: _Rules, home: _Home) -> Iterator[str]:
    for name, kind in home.receptacles.items():
        yield f"receptacleType {name} {kind}Type"
        yield f"receptacleAtLocation {name} {home.locations[name]}"
        if kind in rules.openable:
            yield f"openable {name}"


def _object_facts(rules: _Rules, home: _Home) -> Iterator[str]:
    for name, kind in home.objects.items():
        yield f"objectType {name} {kind}Type"
        yield f"inReceptacle {name} {home.places[name]}"
        yield f"objectAtLocation {name} {home.locations[home.places[name]]}"
        if kind != _LAMP:
            yield f"pickupable {name}"
        if kind in rules.containers:
            yield f"isReceptacleObject {name}"
        for ability, kinds in sorted(rules.abilities.items()):
            if kind in kinds:
                yield f"{ability.lower()} {name}"


def _names(kinds: Sequence[str], draw: np.random.Generator) -> list[str]:
    """Return one identifier for each thing: its kind and three coordinates in metres."""
    names: dict[str, str] = {}
    for kind in kinds:
        name = ""
        while not name or name in names:
            position = "_bar_".join(_coordinate(value) for value in draw.integers(-499, 500, 3))
            part = f"_bar_{kind}" if kind in _PARTS else ""
            name = f"{_PARTS.get(kind, kind)}_bar_{position}{part}"
        names[name] = kind
    return list(names)


def _coordinate(centimetres: int) -> str:
    sign = "minus" if centimetres < 0 else "plus"
    metres, rest = divmod(abs(int(centimetres)), 100)
    return f"_{sign}_{metres:02d}_dot_{rest:02d}"


def _signed(cell: int) -> str:
    """Return a coordinate of a location, counted from the middle of the grid."""
    offset = cell - _GRID // 2
    return f"_minus_{-offset}" if offset < 0 else str(offset)


def _json(content: Mapping[str, object]) -> bytes:
    return (json.dumps(content, sort_keys=True) + "\n").encode()
