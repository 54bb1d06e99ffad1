"""What a memory knows of a world: the names, things and words by which transitions are related."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from coretail.controller import Item
from coretail.prompts import Transition, field, transition_line
from coretail.worlds.contents import Contents
from coretail.worlds.topology import Topology

NO_ACTION = -1
"""The action of a query that is made before an action is chosen."""

# Of each word the transitions that have it and how often; and the square of each bag's length.
_Index = tuple[dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]], NDArray[np.int64]]


class WorldView:
    """Relations between the transitions of a world, as far as their texts show them.

    A transition is an edge of the world; its text is that of :meth:`transition`. Nothing here
    depends on what an agent did, so that all policies in one world share one view.

    Parameters
    ----------
    topology, contents
        The world.

    Attributes
    ----------
    topology, contents
        The world.
    sources, actions, targets : integer arrays, shape (n_edges,)
        State, action and next state of each transition.
    verbs : int32 array, shape (n_edges,)
        Number of the action's name; equal names have equal numbers.
    """

    def __init__(self, topology: Topology, contents: Contents) -> None:
        self.topology = topology
        self.contents = contents
        self.sources = topology.sources
        self.actions = topology.actions
        self.targets = topology.targets
        names = sorted({name for held in contents.actions for name in held})
        self._verb_of = {name: number for number, name in enumerate(names)}
        self.verbs = np.fromiter(
            (
                self._verb_of[contents.actions[state][action]]
                for state, action in zip(self.sources.tolist(), self.actions.tolist(), strict=True)
            ),
            np.int32,
            topology.n_edges,
        )
        self._holders: dict[str, list[int]] = {}
        for state, held in enumerate(contents.entities):
            for entity in held:
                self._holders.setdefault(entity, []).append(state)
        self._shared: dict[int, NDArray[np.int32]] = {}
        self._names = [field(name) for name in contents.names]
        self._entities = [[field(entity) for entity in held] for held in contents.entities]
        self._lines: dict[int, str] = {}
        self._edges: dict[str, int] = {}
        self._items: dict[tuple[int, int], Item] = {}
        self._words: _Index | None = None

    def verb(self, state: int, action: int) -> int:
        """Return the number of the name of an action of a state; -1 for :data:`NO_ACTION`."""
        if action == NO_ACTION:
            return -1
        return self._verb_of[self.contents.actions[state][action]]

    def transition(self, edge: int) -> Transition:
        """Return a transition by its names."""
        source = int(self.sources[edge])
        action = self.contents.actions[source][int(self.actions[edge])]
        return Transition(
            self.contents.names[source], action, self.contents.names[int(self.targets[edge])]
        )

    def name(self, state: int) -> str:
        """Return a state's name as prompts write it."""
        return self._names[state]

    def entities(self, state: int) -> list[str]:
        """Return what a state holds, as prompts write it."""
        return self._entities[state]

    def line(self, edge: int) -> str:
        """Return a transition as prompts write it."""
        if edge not in self._lines:
            line = transition_line(self.transition(edge))
            self._lines[edge], self._edges[line] = line, edge
        return self._lines[edge]

    def edge(self, line: str) -> int:
        """Return the transition of a line that :meth:`line` gave."""
        return self._edges[line]

    def item(self, edge: int, count: int) -> Item:
        """Return a transition that was walked ``count`` times as the controller counts it."""
        item = self._items.get((edge, count))
        if item is None:
            item = Item(self.line(edge), type=self.line(edge), count=count)
            self._items[edge, count] = item
        return item

    def matches(self, edges: NDArray[np.int64], state: int, action: int) -> NDArray[np.bool_]:
        """Return which transitions are of a state and an action; shape as ``edges``."""
        begin, end = self.topology.segment(state, action)
        return (begin <= edges) & (edges < end)

    def shared_entities(self, state: int) -> NDArray[np.int32]:
        """Return how many entities each state shares with ``state``; shape (n_nodes,)."""
        if state not in self._shared:
            counts = np.zeros(self.topology.n_nodes, np.int32)
            for entity in self.contents.entities[state]:
                counts[self._holders[entity]] += 1
            self._shared[state] = counts
        return self._shared[state]

    def similarity(self, state: int, action: int) -> NDArray[np.float64]:
        """Return the cosine between the words of a query and of each transition.

        Parameters
        ----------
        state, action
            The query; its words are those of the state's and the action's names, of the state's
            alone for :data:`NO_ACTION`.

        Returns
        -------
        float64 array, shape (n_edges,)
            Cosine of the bags of words, in [0, 1]; equal ones are equal to the last bit.
        """
        if self._words is None:
            self._words = self._index()
        postings, squares = self._words
        names = [self.contents.names[state]]
        if action != NO_ACTION:
            names.append(self.contents.actions[state][action])
        query = Counter(_bag(*names))
        dots = np.zeros(self.topology.n_edges, np.int64)
        for word, times in query.items():
            edges, counts = postings[word]
            dots[edges] += times * counts
        square = sum(times**2 for times in query.values())
        # A quotient of whole numbers is rounded once, so that equal cosines stay equal. Names
        # without a word are like nothing.
        cosines: NDArray[np.float64] = np.sqrt(dots**2 / np.maximum(squares * square, 1))
        return cosines

    def _index(self) -> _Index:
        occurrences: dict[str, tuple[list[int], list[int]]] = {}
        squares = np.zeros(self.topology.n_edges, np.int64)
        for edge in range(self.topology.n_edges):
            bag = Counter(_bag(*self.transition(edge)))
            squares[edge] = sum(times**2 for times in bag.values())
            for word, times in bag.items():
                edges, counts = occurrences.setdefault(word, ([], []))
                edges.append(edge)
                counts.append(times)
        return {
            word: (np.array(edges), np.array(counts))
            for word, (edges, counts) in occurrences.items()
        }, squares


def _bag(*texts: str) -> list[str]:
    return [word for text in texts for word in text.casefold().split()]
