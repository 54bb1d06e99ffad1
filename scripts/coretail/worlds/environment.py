"""The environment that answers an agent's actions in a world."""

from coretail.streams import stream
from coretail.worlds.topology import Topology


class Environment:
    """Draws the next state for the action that an agent takes.

    The next state is uniform within the action's segment of successors. The draw is keyed by the
    world's cell, the state, the action and how often that action was taken in that state before:
    two policies that take the same action at the same visit meet the same successor, whatever
    they did otherwise.

    Parameters
    ----------
    topology
        The world.
    replicate
        Distinguishes independent environments of one world.
    """

    def __init__(self, topology: Topology, *, replicate: int = 0) -> None:
        self._topology = topology
        self._replicate = replicate
        self._visits: dict[tuple[int, int], int] = {}

    def visits(self, state: int, action: int) -> int:
        """Return how often an action was taken in a state."""
        return self._visits.get((state, action), 0)

    def step(self, state: int, action: int) -> int:
        """Take an action in a state; return the index of the edge walked.

        Raises
        ------
        InputError
            If the state has no such action.
        """
        begin, end = self._topology.segment(state, action)
        visit = self.visits(state, action)
        self._visits[state, action] = visit + 1
        rng = stream(
            *self._topology.key, "environment", self._replicate, int(state), int(action), visit
        )
        return begin + int(rng.random() * (end - begin))


def start_state(topology: Topology) -> int:
    """Return the state in which an agent and all its matched controls start in a world.

    Drawn uniformly from the cell's own stream.
    """
    return int(stream(*topology.key, "start").random() * topology.n_nodes)
