"""Memory policies on one frozen trajectory: what each ranks, shows and predicts at every step.

All policies are fed the same transitions, so that steps are paired and nothing diverges. Before a
transition is written, the policy is asked for the state and action that led to it; the free
predictors answer from its ranking (``top1``) or from what it shows (``vote``).

The frozen map is checked, not assumed: every step keeps a hash of its ranking, and two runs that
claim one ranking map must have the same hashes (Theorem A.7).
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coretail.errors import InputError
from coretail.memory.policies import Context, Policy
from coretail.memory.rankings import Ranking
from coretail.memory.view import WorldView
from coretail.streams import Key, stream

NOTHING = -1
STRATA: tuple[str, ...] = ("tail_first", "tail_repeated", "head_first", "head_repeated")


@dataclass(frozen=True, slots=True)
class Step:
    """What a policy did at one step.

    Attributes
    ----------
    number
        The step.
    edge
        The transition that was walked.
    n_ranked
        Transitions that the policy could name.
    ranking_hash
        The ranking, as 16 hexadecimal digits of a SHA-256 over its transitions in order.
    match_rank
        Rank, from 1, of the best transition with this state and action; 0 if there is none.
    top1, vote
        The next state predicted; -1 for none.
    context
        What it showed.
    """

    number: int
    edge: int
    n_ranked: int
    ranking_hash: str
    match_rank: int
    top1: int
    vote: int
    context: Context


def replay(view: WorldView, trajectory: Sequence[int], policy: Policy) -> Iterator[Step]:
    """Feed a trajectory to an empty memory and yield what it did at each step.

    Parameters
    ----------
    view
        The world.
    trajectory
        The transitions walked, in order.
    policy
        The memory.
    """
    for number, edge in enumerate(trajectory):
        yield take_step(view, policy, number, edge)
        policy.write(edge)


def take_step(view: WorldView, policy: Policy, number: int, edge: int) -> Step:
    """Return what a policy does at the state and action of a transition that it does not know."""
    state, action = int(view.sources[edge]), int(view.actions[edge])
    ranking = policy.rank(state, action)
    context = policy.pack(ranking, state, action)
    places = np.flatnonzero(view.matches(ranking.edges, state, action))
    return Step(
        number=number,
        edge=edge,
        n_ranked=len(ranking),
        ranking_hash=ranking_hash(ranking),
        match_rank=int(places[0]) + 1 if places.size else 0,
        top1=int(view.targets[ranking.edges[places[0]]]) if places.size else NOTHING,
        vote=vote(view, context, state, action),
        context=context,
    )


def ranking_hash(ranking: Ranking) -> str:
    """Return 16 hexadecimal digits that name the order of a ranking."""
    return hashlib.sha256(ranking.edges.astype("<i8").tobytes()).hexdigest()[:16]


def vote(view: WorldView, context: Context, state: int, action: int) -> int:
    """Return the next state for which a context speaks most, -1 if it names none.

    Every transition shown with this state and action gives its slots to its next state. What a
    summary names counts only where those leave a tie or nothing at all, with the count that the
    summary gives, as the paper's budget rule has it (Appendix C). Of equals the first in ``shown``
    wins, then the first in ``named``.
    """
    begin, end = view.topology.segment(state, action)
    # An edge has a next state of its own within its state, so that edges can stand for them.
    votes: dict[int, list[int]] = {}
    for edge, slots in zip(context.shown, context.slots, strict=True):
        if begin <= edge < end:
            votes.setdefault(edge, [0, 0])[0] += slots
    for edge, count in context.named.items():
        if begin <= edge < end:
            votes.setdefault(edge, [0, 0])[1] += count
    return int(view.targets[max(votes, key=votes.__getitem__)]) if votes else NOTHING


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """What the evaluation of all policies on one trajectory shares.

    Attributes
    ----------
    edges : int64 array, shape (steps,)
        The transitions walked.
    tail : bool array, shape (steps,)
        Whether the state is one of the floor(n / 2) least visited of the n visited states.
    first : bool array, shape (steps,)
        Whether state and action meet for the first time.
    floor_predictor : float64 array, shape (steps,)
        The smallest expected error of any predictor: the next state is uniform among the m that
        the action can lead to, so 1 - 1 / m.
    floor_memory : float64 array, shape (steps,)
        The same of one that knows what was walked before and nothing else: 1 at a first meeting.
    """

    edges: NDArray[np.int64]
    tail: NDArray[np.bool_]
    first: NDArray[np.bool_]
    floor_predictor: NDArray[np.float64]
    floor_memory: NDArray[np.float64]

    @property
    def strata(self) -> NDArray[np.int8]:
        """Index into :data:`STRATA` of each step; shape (steps,)."""
        return (2 * ~self.tail + ~self.first).astype(np.int8)


def trajectory(
    view: WorldView, edges: ArrayLike, tail_states: NDArray[np.integer] | None = None
) -> Trajectory:
    """Return what the evaluation of a trajectory needs.

    Parameters
    ----------
    view
        The world.
    edges
        The transitions walked, in order; shape (steps,), each leaving the state that the one
        before enters.
    tail_states
        A common tail set; that of the trajectory itself if None.

    Raises
    ------
    InputError
        If the transitions are no walk in this world.
    """
    walked = np.asarray(edges, np.int64)
    if ((walked < 0) | (walked >= view.topology.n_edges)).any():
        raise InputError("trajectory: a transition is none of this world's")
    if (view.sources[walked[1:]] != view.targets[walked[:-1]]).any():
        raise InputError("trajectory: a transition does not leave the state entered before it")
    states = view.sources[walked]
    if tail_states is None:
        tail_states = least_visited(states)
    _, segment, sizes = np.unique(
        np.stack([view.sources, view.actions]), axis=1, return_inverse=True, return_counts=True
    )
    first = np.zeros(walked.size, np.bool_)
    first[np.unique(segment[walked], return_index=True)[1]] = True
    best = 1 - 1 / sizes[segment[walked]]
    return Trajectory(
        edges=walked,
        tail=np.isin(states, tail_states),
        first=first,
        floor_predictor=best,
        floor_memory=np.where(first, 1.0, best),
    )


def least_visited(states: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the floor(n / 2) least visited of the n states visited, ties by id."""
    visited, visits = np.unique(states, return_counts=True)
    return visited[np.lexsort((visited, visits))][: visited.size // 2].astype(np.int64)


def sample_steps(
    strata: NDArray[np.integer], per_stratum: int, *key: Key
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Draw the steps at which a model is asked: the same ones for every policy.

    Parameters
    ----------
    strata
        Each step's stratum; shape (steps,).
    per_stratum
        Most steps of each stratum.
    *key
        Key of the random stream.

    Returns
    -------
    steps : int64 array, shape (n,)
        The steps, ascending; without replacement, uniform within their strata.
    weights : float64 array, shape (n,)
        How many steps each stands for: the size of its stratum over the steps drawn from it.
    """
    rng = stream(*key)
    steps: list[int] = []
    weights: dict[int, float] = {}
    for stratum in range(len(STRATA)):
        members = np.flatnonzero(strata == stratum)
        drawn = members[np.argsort(rng.random(members.size), kind="stable")[:per_stratum]]
        steps += drawn.tolist()
        weights |= dict.fromkeys(drawn.tolist(), members.size / max(drawn.size, 1))
    steps.sort()
    return np.array(steps, np.int64), np.array([weights[step] for step in steps])


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of what was visited a memory holds, as shares.

    Attributes
    ----------
    store_states, store_transitions
        What it could still name after the last step, over what was visited.
    exposed_states, exposed_transitions
        What stood by name in any context, over what was visited.
    """

    store_states: float
    store_transitions: float
    exposed_states: float
    exposed_transitions: float


def coverage(
    view: WorldView, edges: NDArray[np.int64], final: Ranking, steps: Sequence[Step]
) -> Coverage:
    """Return the coverage of a policy on a trajectory.

    Parameters
    ----------
    view
        The world.
    edges
        The transitions walked.
    final
        The policy's ranking after the last step.
    steps
        What it did.
    """
    exposed = {edge for step in steps for edge in (*step.context.shown, *step.context.named)}

    def shares(named: set[int]) -> tuple[float, float]:
        known = _states(view, np.array(sorted(named), np.int64))
        return len(known) / len(_states(view, edges)), len(named) / np.unique(edges).size

    return Coverage(*shares(set(final.edges.tolist())), *shares(exposed))


def _states(view: WorldView, edges: NDArray[np.int64]) -> set[int]:
    return {*view.sources[edges].tolist(), *view.targets[edges].tolist()}
