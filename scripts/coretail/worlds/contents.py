"""What the states of a world are called and hold (paper, Section 5, Setup)."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from coretail.streams import stream
from coretail.worlds import words
from coretail.worlds.checks import check_choice
from coretail.worlds.topology import Topology

VOCABULARIES: tuple[str, ...] = ("natural", "symbolic")

FEWEST_ENTITIES, MOST_ENTITIES = 3, 8
FEWEST_RELATIONS, MOST_RELATIONS = 2, 6
FEWEST_CONSTRAINTS, MOST_CONSTRAINTS = 1, 4


@dataclass(frozen=True, slots=True)
class Contents:
    """Names and payloads of the states; each list has one entry per state.

    Attributes
    ----------
    names
        A unique name.
    entities
        Three to eight distinct things found in the state.
    relations
        Two to six (entity, relation, entity) among the state's entities, at most one per pair.
    constraints
        One to four rules that hold in the state.
    actions
        ``actions[s][i]`` is the name of action ``i`` of state ``s``; names differ within a state.
    """

    names: list[str]
    entities: list[list[str]]
    relations: list[list[tuple[str, str, str]]]
    constraints: list[list[str]]
    actions: list[list[str]]


def build_contents(topology: Topology, vocabulary: str = "natural") -> Contents:
    """Draw the contents of a world's states.

    Both vocabularies word the same draws: two states share an entity in the one exactly if they
    share it in the other.

    ``natural`` makes each state a kind of place with a quality ("quiet bakery"), with things of
    such a place. There are 2,440 such names; further states get them again with a number
    ("quiet bakery 2"). An action is named after the place, or a thing, of one state drawn from
    those that it can lead to. ``symbolic`` has bare identifiers (``ent_17``), and its actions
    (``act_0``) hint at nothing.

    All states of ``baseline-symmetric`` have one and the same payload; their names are numbered,
    and tell apart nothing else.

    Raises
    ------
    InputError
        For an unknown vocabulary.
    """
    check_choice("vocabulary", vocabulary, VOCABULARIES)
    natural = vocabulary == "natural"
    symmetric = topology.family == "baseline-symmetric"
    rng = stream(*topology.key, "contents")
    draws = _draw(1 if symmetric else topology.n_nodes, rng)
    entities, relations, constraints = _payloads(draws, natural=natural)
    n_actions = topology.n_actions.tolist()
    if symmetric:
        n = topology.n_nodes
        return Contents(
            names=[f"room {state}" if natural else f"state_{state}" for state in range(n)],
            entities=[list(entities[0]) for _ in range(n)],
            relations=[list(relations[0]) for _ in range(n)],
            constraints=[list(constraints[0]) for _ in range(n)],
            actions=_plain_actions(n_actions, words.BLIND_ACTIONS if natural else None),
        )
    return Contents(
        names=(
            [_natural_name(number) for number in draws.names.tolist()]
            if natural
            else [f"state_{state}" for state in range(topology.n_nodes)]
        ),
        entities=entities,
        relations=relations,
        constraints=constraints,
        actions=(
            _hinting_actions(topology, draws.places.tolist(), entities, rng)
            if natural
            else _plain_actions(n_actions, None)
        ),
    )


_PLACES = tuple(words.PLACES)
_THINGS = tuple(sorted({thing for things in words.PLACES.values() for thing in things}))
_THINGS_OF_PLACE = tuple(
    tuple(_THINGS.index(thing) for thing in things) for things in words.PLACES.values()
)
_PAIRS = tuple(tuple(combinations(range(n), 2)) for n in range(MOST_ENTITIES + 1))
_N_NAMES = len(words.QUALITIES) * len(_PLACES)


@dataclass(frozen=True, slots=True)
class _Draws:
    """The random choices behind the payloads; one row per state."""

    names: NDArray[np.int64]
    places: NDArray[np.int64]
    n_entities: list[int]
    entity_order: list[list[int]]
    n_relations: list[int]
    pair_keys: NDArray[np.float64]
    relations: list[list[int]]
    reversed: list[list[bool]]
    n_constraints: list[int]
    constraint_order: list[list[int]]


def _draw(n: int, rng: np.random.Generator) -> _Draws:
    def order(n_options: int, n_kept: int) -> list[list[int]]:
        keys = rng.random((n, n_options))
        return np.argsort(keys, axis=1, kind="stable")[:, :n_kept].tolist()

    def count(low: int, high: int) -> list[int]:
        return rng.integers(low, high, n, endpoint=True).tolist()

    # Rounds of all names, each in its own random order: no name comes again before all are used.
    rounds = [rng.permutation(_N_NAMES) + _N_NAMES * i for i in range(-(-n // _N_NAMES))]
    names = np.concatenate(rounds)[:n]
    shape = (n, MOST_RELATIONS)
    return _Draws(
        names=names,
        places=names % len(_PLACES),
        n_entities=count(FEWEST_ENTITIES, MOST_ENTITIES),
        entity_order=order(len(_THINGS_OF_PLACE[0]), MOST_ENTITIES),
        n_relations=count(FEWEST_RELATIONS, MOST_RELATIONS),
        pair_keys=rng.random((n, len(_PAIRS[MOST_ENTITIES]))),
        relations=rng.integers(len(words.RELATIONS), size=shape).tolist(),
        reversed=(rng.random(shape) < 0.5).tolist(),
        n_constraints=count(FEWEST_CONSTRAINTS, MOST_CONSTRAINTS),
        constraint_order=order(len(words.CONSTRAINTS), MOST_CONSTRAINTS),
    )


def _payloads(
    draws: _Draws, *, natural: bool
) -> tuple[list[list[str]], list[list[tuple[str, str, str]]], list[list[str]]]:
    """Word the entities, relations and constraints of each state."""

    def wording(prefix: str, natural_words: tuple[str, ...]) -> Callable[[int], str]:
        texts = natural_words if natural else [f"{prefix}_{i}" for i in range(len(natural_words))]
        return texts.__getitem__

    thing, relation, constraint = (
        wording("ent", _THINGS),
        wording("rel", words.RELATIONS),
        wording("con", words.CONSTRAINTS),
    )
    entities, relations, constraints = [], [], []
    for state, place in enumerate(draws.places.tolist()):
        n_entities = draws.n_entities[state]
        own = _THINGS_OF_PLACE[place]
        here = [thing(own[i]) for i in draws.entity_order[state][:n_entities]]
        pairs = _PAIRS[n_entities]
        chosen = draws.pair_keys[state, : len(pairs)].argsort()[: draws.n_relations[state]]
        among = []
        for i, pair in enumerate(chosen.tolist()):
            first, second = pairs[pair]
            if draws.reversed[state][i]:
                first, second = second, first
            among.append((here[first], relation(draws.relations[state][i]), here[second]))
        entities.append(here)
        relations.append(among)
        rules = draws.constraint_order[state][: draws.n_constraints[state]]
        constraints.append([constraint(i) for i in rules])
    return entities, relations, constraints


def _natural_name(number: int) -> str:
    again, combination = divmod(number, _N_NAMES)
    quality, place = divmod(combination, len(_PLACES))
    name = f"{words.QUALITIES[quality]} {_PLACES[place]}"
    return f"{name} {again + 1}" if again else name


def _plain_actions(n_actions: list[int], names: tuple[str, ...] | None) -> list[list[str]]:
    return [[names[i] if names else f"act_{i}" for i in range(n)] for n in n_actions]


def _hinting_actions(
    topology: Topology, places: list[int], entities: list[list[str]], rng: np.random.Generator
) -> list[list[str]]:
    """Name each action after a place or a thing of one state that it can lead to."""
    begins = np.flatnonzero(
        np.concatenate(
            [[True], (np.diff(topology.actions) != 0) | (np.diff(topology.sources) != 0)]
        )
    )
    lengths = np.diff(np.concatenate([begins, [topology.n_edges]]))
    shown = topology.targets[begins + (rng.random(len(begins)) * lengths).astype(np.int64)]
    templates = words.TOWARDS_PLACE + words.TOWARDS_THING
    # A state's actions take different templates, so their names differ.
    orders = np.argsort(rng.random((topology.n_nodes, len(templates))), axis=1, kind="stable")
    n_actions = topology.n_actions
    own = np.arange(len(begins)) - np.repeat(np.cumsum(n_actions) - n_actions, n_actions)
    template_of = orders[np.repeat(np.arange(topology.n_nodes), n_actions), own].tolist()
    picks = rng.random(len(begins)).tolist()
    names = []
    for target, template, pick in zip(shown.tolist(), template_of, picks, strict=True):
        if template < len(words.TOWARDS_PLACE):
            hint = _PLACES[places[target]]
        else:
            things = entities[target]
            hint = things[int(pick * len(things))]
        names.append(templates[template].format(hint))
    ends = np.cumsum(n_actions).tolist()
    return [names[end - n : end] for end, n in zip(ends, n_actions.tolist(), strict=True)]
