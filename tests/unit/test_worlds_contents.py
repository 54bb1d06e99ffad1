import re

import numpy as np
import pytest

from coretail.errors import InputError
from coretail.worlds import words
from coretail.worlds.contents import VOCABULARIES, Contents, build_contents
from coretail.worlds.topology import FAMILIES, build_topology

THINGS = {thing for things in words.PLACES.values() for thing in things}


def place_of(name: str) -> str:
    bare = re.sub(r" \d+$", "", name)
    return bare.split(" ", 1)[1]


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_state_has_as_much_as_the_world_promises(family, vocabulary):
    world = build_topology(family, 100, 42)
    contents = build_contents(world, vocabulary)
    assert len(set(contents.names)) == 100
    for s in range(100):
        entities, relations = contents.entities[s], contents.relations[s]
        assert 3 <= len(entities) == len(set(entities)) <= 8
        assert 2 <= len(relations) <= 6
        assert all(a in entities and b in entities and a != b for a, _, b in relations)
        assert len({frozenset((a, b)) for a, _, b in relations}) == len(relations)
        assert 1 <= len(contents.constraints[s]) == len(set(contents.constraints[s])) <= 4
        actions = contents.actions[s]
        assert len(actions) == len(set(actions)) == world.n_actions[s]


def test_counts_cover_their_ranges():
    contents = build_contents(build_topology("uniform", 1000, 42))
    assert {len(x) for x in contents.entities} == {3, 4, 5, 6, 7, 8}
    assert {len(x) for x in contents.relations} == {2, 3, 4, 5, 6}
    assert {len(x) for x in contents.constraints} == {1, 2, 3, 4}
    forwards = [
        here.index(a) < here.index(b)
        for here, relations in zip(contents.entities, contents.relations, strict=True)
        for a, _, b in relations
    ]
    assert 0.45 < np.mean(forwards) < 0.55


def test_natural_states_are_places_with_the_things_of_such_places():
    world = build_topology("uniform", 1000, 42)
    contents = build_contents(world)
    for name, entities in zip(contents.names, contents.entities, strict=True):
        quality, place = name.split(" ", 1)
        assert quality in words.QUALITIES
        assert set(entities) <= set(words.PLACES[place])


@pytest.mark.parametrize("family", ["uniform", "scale-free", "modular"])
def test_natural_actions_name_a_place_or_thing_that_they_lead_towards(family):
    world = build_topology(family, 500, 42)
    contents = build_contents(world)
    towards_places = 0
    for s in range(500):
        for a, action in enumerate(contents.actions[s]):
            begin, end = world.segment(s, a)
            reached = world.targets[begin:end].tolist()
            places = {place_of(contents.names[t]) for t in reached}
            things = {thing for t in reached for thing in contents.entities[t]}
            hint = action.rsplit(" the ", 1)[1]
            towards_places += hint in places
            assert hint in places | things
    assert 0.4 < towards_places / world.n_actions.sum() < 0.6


def test_names_stay_unique_beyond_their_supply():
    contents = build_contents(build_topology("uniform", 5000, 42))
    n_names = len(words.QUALITIES) * len(words.PLACES)
    assert len(set(contents.names)) == 5000
    assert not any(name[-1].isdigit() for name in contents.names[:n_names])
    assert all(name.endswith(" 2") for name in contents.names[n_names : 2 * n_names])
    assert contents.names[2 * n_names].endswith(" 3")


def renaming(of: list[str], to: list[str]) -> dict[str, str]:
    return dict(zip(of, to, strict=True))


def flat(contents: Contents) -> tuple[list[str], list[str], list[str]]:
    return (
        [x for xs in contents.entities for x in xs],
        [r for rs in contents.relations for _, r, _ in rs],
        [c for cs in contents.constraints for c in cs],
    )


def test_the_symbolic_vocabulary_renames_the_natural_one():
    world = build_topology("uniform", 1000, 42)
    natural, symbolic = build_contents(world, "natural"), build_contents(world, "symbolic")
    patterns = (r"ent_\d+", r"rel_\d+", r"con_\d+")
    for of, to, pattern in zip(flat(natural), flat(symbolic), patterns, strict=True):
        new = renaming(of, to)
        assert [new[x] for x in of] == to
        assert len(set(new.values())) == len(new)
        assert all(re.fullmatch(pattern, x) for x in to)
    new = renaming(flat(natural)[0], flat(symbolic)[0])
    assert [[(new[a], new[b]) for a, _, b in rs] for rs in natural.relations] == [
        [(a, b) for a, _, b in rs] for rs in symbolic.relations
    ]
    assert symbolic.names[17] == "state_17"
    assert all(
        names == [f"act_{i}" for i in range(n)]
        for names, n in zip(symbolic.actions, world.n_actions, strict=True)
    )


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_states_of_the_symmetric_baseline_differ_in_nothing_but_their_number(vocabulary):
    contents = build_contents(build_topology("baseline-symmetric", 100, 42), vocabulary)
    for payload in (contents.entities, contents.relations, contents.constraints, contents.actions):
        assert all(own == payload[0] for own in payload)
    assert contents.names[3] == ("room 3" if vocabulary == "natural" else "state_3")
    assert contents.actions[0] == (
        ["take the left path", "take the middle path", "take the right path"]
        if vocabulary == "natural"
        else ["act_0", "act_1", "act_2"]
    )


def test_a_key_gives_one_content():
    world = build_topology("uniform", 100, 42)
    assert build_contents(world) == build_contents(world)
    assert build_contents(world) != build_contents(build_topology("uniform", 100, 43))


def test_an_unknown_vocabulary_is_refused():
    with pytest.raises(InputError, match=r"vocabulary: 'latin' is unknown; allowed are natural, "):
        build_contents(build_topology("uniform", 100, 42), "latin")


def test_the_words_are_distinct_and_enough():
    assert len(set(words.QUALITIES)) == len(words.QUALITIES)
    assert len(THINGS) == sum(len(things) for things in words.PLACES.values())
    assert not THINGS & set(words.PLACES)
    assert {len(things) for things in words.PLACES.values()} == {10}
    assert len(words.QUALITIES) * len(words.PLACES) >= 1000
    for texts in (words.RELATIONS, words.CONSTRAINTS):
        assert len(set(texts)) == len(texts)
    templates = words.TOWARDS_PLACE + words.TOWARDS_THING
    assert len(set(templates)) == len(templates)
    assert all(template.endswith(" the {}") for template in templates)
