"""Worlds made by hand for tests of memories: small enough to check by eye."""

from collections.abc import Iterable, Mapping

import numpy as np

from coretail.memory.view import WorldView
from coretail.worlds.contents import Contents
from coretail.worlds.topology import Topology

Edge = tuple[str, str, str]

# Ids follow the order: 0 barn, 1 cave, 2 dock, 3 fort, 4 gate.
ENTITIES = {
    "barn": ["hay", "rope"],
    "cave": ["bat"],
    "dock": ["rope", "net"],
    "fort": [],
    "gate": ["hay", "rope", "key"],
}
EDGES: list[Edge] = [
    ("barn", "go on", "cave"),  # 0
    ("barn", "go on", "dock"),  # 1
    ("barn", "turn left", "fort"),  # 2
    ("cave", "turn left", "barn"),  # 3
    ("dock", "go on", "barn"),  # 4
    ("dock", "go on", "gate"),  # 5
    ("fort", "look up", "cave"),  # 6
    ("gate", "go on", "barn"),  # 7
]
# barn, cave, barn, dock, barn, cave, barn, fort, cave, barn
WALK = [0, 3, 1, 4, 0, 3, 2, 6, 3]
BARN, CAVE, DOCK, FORT, GATE = range(5)
GO_ON = 0


def world(
    entities: Mapping[str, list[str]] = ENTITIES, edges: Iterable[Edge] = EDGES, seed: int = 1
) -> WorldView:
    """Return the world of some named edges, which are grouped by state and then by action.

    States are numbered in the order of ``entities``, edges in their own order, a state's actions in
    the order in which its edges name them.
    """
    names, edges = list(entities), list(edges)
    sources = [names.index(source) for source, _, _ in edges]
    assert sources == sorted(sources)
    actions: list[list[str]] = [[] for _ in names]
    numbers = []
    for source, (_, action, _) in zip(sources, edges, strict=True):
        if action not in actions[source]:
            actions[source].append(action)
        numbers.append(actions[source].index(action))
    topology = Topology(
        family="by hand",
        n_nodes=len(names),
        seed=seed,
        indptr=np.searchsorted(sources, np.arange(len(names) + 1)).astype(np.int64),
        targets=np.array([names.index(target) for _, _, target in edges], np.int32),
        actions=np.array(numbers, np.int8),
    )
    none: list[list[str]] = [[] for _ in names]
    contents = Contents(names, list(entities.values()), [[] for _ in names], none, actions)
    return WorldView(topology, contents)


def complete(names: list[str], entities: Mapping[str, list[str]] | None = None) -> WorldView:
    """Return a world in which ``go`` leads from each state to the first half of the others.

    ``look around`` leads to the second half.
    """
    edges = []
    for source in names:
        others = [name for name in names if name != source]
        half = (len(others) + 1) // 2
        edges += [(source, "go", other) for other in others[:half]]
        edges += [(source, "look around", other) for other in others[half:]]
    return world(entities or {name: [] for name in names}, edges)
