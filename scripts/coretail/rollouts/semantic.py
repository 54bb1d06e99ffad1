"""Rollouts of an agent that chooses its actions, by meaning or at random (paper, Section 5.3).

At each step the agent retrieves from its bounded memory, chooses an action, is moved by the
environment and writes the transition that it walked: the random walk's loop
(:mod:`coretail.rollouts.walk`), with a choice in place of a uniform successor. Given the model's
replies a rollout is deterministic, so one that was stopped is simply run again: the replies that
it had are known to the client by then.

Two controls share a cell's start (:func:`~coretail.worlds.environment.start_state`) and number of
steps. The *random walk* takes a uniform successor and is what audits compare with. The *random
agent* (:class:`RandomChooser`) takes a uniform action, which is not a uniform successor where
actions lead to unequally many states; it shows what an agent with the same choices finds by chance.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from coretail.errors import InputError
from coretail.llm.client import Client, ReplyStatus
from coretail.llm.request import Request
from coretail.prompts import (
    GOALS,
    SHOWN_SUCCESSORS,
    STYLES,
    Option,
    Situation,
    Transition,
    action_prompt,
    action_schema,
    action_template,
    parse_action,
)
from coretail.rollouts.store import RETRIEVER, BoundedStore, cell_store
from coretail.rollouts.walk import Counters, Walk, check_walk
from coretail.streams import entropy, stream
from coretail.worlds.contents import Contents
from coretail.worlds.environment import Environment, start_state
from coretail.worlds.topology import MAX_ACTIONS, Topology

STATUSES: tuple[str, ...] = ("single", "chosen", "retried", "random")
SINGLE, CHOSEN, RETRIED, RANDOM = range(4)
RECENT_STATES = 5


class RolloutStopped(InputError):  # noqa: N818 - the name of what happened
    """A rollout could not go on; there is no part of a result.

    Attributes
    ----------
    step
        The step that could not be taken, which is the number of steps done.
    steps
        The number of steps of the whole rollout.
    """

    def __init__(self, cell: str, step: int, steps: int, reason: str) -> None:
        super().__init__(f"{cell}: stopped at step {step} of {steps}: {reason}")
        self.step = step
        self.steps = steps


@dataclass(frozen=True, slots=True)
class Decision:
    """What a chooser made of one situation.

    Attributes
    ----------
    position
        Index of the option chosen, in the order shown; None if no reply named one.
    replies
        What became of each completion that was asked for, in order.
    prompt_tokens, completion_tokens
        Of all completions together, as reported.
    """

    position: int | None
    replies: tuple[ReplyStatus, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Chooser(Protocol):
    """Chooses one of at least two options."""

    def choose(self, situation: Situation, step: int) -> Decision:
        """Return the decision at a step."""
        ...


class Memory(Protocol):
    """What an agent keeps of its transitions, and what it is handed of it."""

    def recall(self, state: int) -> tuple[list[int], str | None]:
        """Return the transitions handed out in a state, and their text if it is not their lines."""
        ...

    def learn(self, edge: int, source: int, target: int) -> None:
        """Take in the transition that was just walked."""
        ...

    def __len__(self) -> int:
        """Return how many transitions are stored."""
        ...

    @property
    def counters(self) -> Counters:
        """Bookkeeping of all retrievals and writes so far."""
        ...


class ModelChooser:
    """Asks a language model.

    Parameters
    ----------
    client
        Access to the model.
    cell
        Key of the world's cell.
    style
        ``direct`` asks for the action alone, ``react`` for a short thought before it (Yao et al.,
        2023).
    temperature
        Sampling temperature. At 0 equal prompts share one completion; above it each step has a
        sampling seed of its own.
    seed
        Seed of the sampling.
    attempts
        Most completions for one choice: after a reply that names no option, a refusal or a
        filtered reply, the next replicate is asked for.
    rule
        Names the run in messages.

    Raises
    ------
    InputError
        For a parameter outside its range.
    """

    def __init__(
        self,
        client: Client,
        cell: tuple[str, int, int],
        *,
        style: str = "react",
        temperature: float = 0.0,
        seed: int = 0,
        attempts: int = 2,
        rule: str = "rollout",
    ) -> None:
        _check_choice("style", style, STYLES)
        _check_at_least("attempts", attempts, 1)
        self._client = client
        self._cell = cell
        self._style = style
        self._temperature = temperature
        self._seed = seed
        self._attempts = attempts
        self._rule = rule

    def choose(self, situation: Situation, step: int) -> Decision:
        """Return the model's decision.

        Raises
        ------
        CallFailed
            There was no answer after all retries.
        InputError
            As :meth:`coretail.llm.client.Client.complete`.
        """
        template = action_template(situation, self._style)
        request = Request(
            messages=action_prompt(situation, self._style),
            max_tokens=template.max_tokens,
            temperature=self._temperature,
            seed=self._sampling_seed(step),
            schema=action_schema(situation.options, self._style),
            template=template.version,
        )
        choice = self._client.choose(
            request,
            lambda text: parse_action(text, situation.options, self._style),
            f"{self._rule}, {cell_name(self._cell)}, step {step}",
            self._attempts,
        )
        return Decision(
            choice.position, choice.replies, choice.prompt_tokens, choice.completion_tokens
        )

    def _sampling_seed(self, step: int) -> int:
        if self._temperature == 0:
            return self._seed
        return entropy(*self._cell, "sampling", self._seed, step) % 2**31


class RandomChooser:
    """Takes a uniform action, without a model.

    Parameters
    ----------
    cell
        Key of the world's cell.
    replicate
        Distinguishes independent random agents in one world.
    """

    def __init__(self, cell: tuple[str, int, int], replicate: int = 0) -> None:
        self._rng = stream(*cell, "random agent", replicate)

    def choose(self, situation: Situation, step: int) -> Decision:
        """Return a uniform decision."""
        return Decision(int(self._rng.random() * len(situation.options)))


class Errands:
    """The entities that an agent has to find, one after the other.

    Each is drawn uniformly from the world's distinct entities, whatever the agent does: the i-th
    errand is the same for all agents of a cell. It is found when the agent enters a state that
    holds the entity, the state that it was given the errand in not counting until it is entered
    again, and given up after ``patience`` steps.

    Parameters
    ----------
    topology, contents
        The world.
    patience
        Most steps for one errand.
    replicate
        Distinguishes independent sequences of errands.

    Attributes
    ----------
    entities
        The world's distinct entities, sorted.
    current
        Index of the entity to find now.
    number
        How many errands ended before this one.
    found, given_up
        How many errands ended in either way.

    Raises
    ------
    InputError
        The world holds no entities, or ``patience`` is below 1.
    """

    def __init__(
        self, topology: Topology, contents: Contents, *, patience: int = 25, replicate: int = 0
    ) -> None:
        _check_at_least("patience", patience, 1)
        self.entities = tuple(sorted({name for held in contents.entities for name in held}))
        if not self.entities:
            raise InputError("goal: seek needs a world with entities; take goal: explore")
        self._held = contents.entities
        self._patience = patience
        self._rng = stream(*topology.key, "errands", replicate)
        self._steps = 0
        self.number = self.found = self.given_up = 0
        self.current = self._draw()

    @property
    def entity(self) -> str:
        """The entity to find now."""
        return self.entities[self.current]

    def enter(self, state: int) -> bool:
        """Note that the agent entered a state; return whether the errand is found there."""
        self._steps += 1
        found = self.entity in self._held[state]
        if found or self._steps == self._patience:
            self.found += found
            self.given_up += not found
            self.number += 1
            self._steps = 0
            self.current = self._draw()
        return found

    def _draw(self) -> int:
        return int(self._rng.random() * len(self.entities))


@dataclass(frozen=True, slots=True)
class Hits:
    """How many errands of a trajectory were found.

    Attributes
    ----------
    found, given_up
        How many errands ended in either way; one more was open at the end.
    steps
        Steps of the trajectory.
    """

    found: int
    given_up: int
    steps: int

    @property
    def rate(self) -> float | None:
        """The share of the ended errands that were found; None if none ended."""
        ended = self.found + self.given_up
        return self.found / ended if ended else None


def hits(
    topology: Topology,
    contents: Contents,
    edges: Sequence[int] | NDArray[np.integer],
    *,
    patience: int = 25,
    replicate: int = 0,
) -> Hits:
    """Return how many errands a given trajectory finds, that of a random walk for example."""
    errands = Errands(topology, contents, patience=patience, replicate=replicate)
    for state in topology.targets[np.asarray(edges, dtype=np.int64)].tolist():
        errands.enter(state)
    return Hits(errands.found, errands.given_up, len(edges))


@dataclass(frozen=True, slots=True, eq=False)
class Rollout:
    """What an agent did. Per-step arrays have one entry per step, in order.

    Tokens that the server's prompt cache held are not among the fields: they depend on what it
    was asked before, so that an interrupted and an undisturbed run differ in them.

    Attributes
    ----------
    walk
        The trajectory and the memory's counts, as of a random walk.
    states, actions, next_states : int32, int8, int32 arrays, shape (steps,)
        The transitions; the edges are ``walk.edges``.
    hints : int32 array, shape (steps, k), or as wide as another memory handed out
        The edges handed to the agent, best first; -1 behind the last.
    statuses : int8 array, shape (steps,)
        Index into :data:`STATUSES`: ``single`` (the only action was taken, nobody was asked),
        ``chosen``, ``retried`` (chosen by a later reply), ``random`` (no reply named an action,
        and a uniform one was taken).
    n_options : int8 array, shape (steps,)
        The number of actions.
    order : int8 array, shape (steps, 3)
        The actions in the order in which they were shown; -1 behind the last, and for ``single``.
    positions : int8 array, shape (steps,)
        The place of the action taken in that order, from 0; -1 for ``single``.
    calls : int16 array, shape (steps,)
        Completions asked for.
    prompt_tokens, completion_tokens : int32 arrays, shape (steps,)
        Of all completions of the step, as reported.
    goals : int32 array, shape (steps,)
        Index into ``entities`` of the entity to find; -1 without a goal.
    errands : int32 array, shape (steps,)
        Number of the errand, from 0; -1 without a goal.
    found : bool array, shape (steps,)
        Whether the step entered a state that holds the entity.
    entities
        The world's distinct entities, sorted; empty without a goal.
    hits
        The errands' outcome; None without a goal.
    replies
        How many completions were ``usable``, ``unusable``, ``refusal`` and ``content_filter``.
    """

    walk: Walk
    states: NDArray[np.int32]
    actions: NDArray[np.int8]
    next_states: NDArray[np.int32]
    hints: NDArray[np.int32]
    statuses: NDArray[np.int8]
    n_options: NDArray[np.int8]
    order: NDArray[np.int8]
    positions: NDArray[np.int8]
    calls: NDArray[np.int16]
    prompt_tokens: NDArray[np.int32]
    completion_tokens: NDArray[np.int32]
    goals: NDArray[np.int32]
    errands: NDArray[np.int32]
    found: NDArray[np.bool_]
    entities: tuple[str, ...]
    hits: Hits | None
    replies: dict[str, int]

    def status_counts(self) -> dict[str, int]:
        """Return how many steps have each status."""
        counts = np.bincount(self.statuses, minlength=len(STATUSES))
        return dict(zip(STATUSES, counts.tolist(), strict=True))


def cell_name(cell: tuple[str, int, int]) -> str:
    """Return how messages call a cell."""
    family, n_nodes, seed = cell
    return f"{family} with {n_nodes} states, seed {seed}"


def rollout(
    topology: Topology,
    contents: Contents,
    chooser: Chooser,
    *,
    steps: int,
    goal: str = "seek",
    patience: int = 25,
    capacity: int = 200,
    k: int = 3,
    eviction: str = "reservoir",
    reads_feed_frequency: bool = False,
    replicate: int = 0,
    start: int | None = None,
    memory: Memory | None = None,
    progress: Callable[[int], None] | None = None,
) -> Rollout:
    """Let an agent act in a world.

    Every random stream derives from the world's cell and what it is for: the start and, by
    replicate, the errands, the environment, the order of options, the choice where no reply was
    usable, and the memory. None of them depends on who chooses, so agents of one cell are paired.

    Parameters
    ----------
    topology, contents
        The world.
    chooser
        Chooses where there is more than one action.
    steps
        The number of steps, 1 to 1,000,000,000.
    goal
        ``seek``: the agent has an entity to find (:class:`Errands`). ``explore``: no task.
    patience
        Steps after which an entity that was not found is given up.
    capacity, k, eviction, reads_feed_frequency
        The memory; see :func:`coretail.rollouts.walk.random_walk`. Retrieval is by
        ``state_frequency``.
    replicate
        Distinguishes independent rollouts in one world.
    start
        The state to start in; :func:`start_state` if None.
    memory
        Another memory than the bounded store, which ``capacity``, ``k``, ``eviction`` and
        ``reads_feed_frequency`` describe.
    progress
        Called with the number of steps done after each.

    Raises
    ------
    RolloutStopped
        The chooser could not go on: the budget is spent, the endpoint fails, a recording is
        missing. The cause is the exception that says so.
    InputError
        For a parameter outside its range.
    """
    check_walk(steps, capacity, k, eviction, RETRIEVER)
    _check_choice("goal", goal, GOALS)
    if start is None:
        start = start_state(topology)
    elif not 0 <= start < topology.n_nodes:
        raise InputError(
            f"start: {start} is not a state of this world; "
            f"allowed are integers from 0 to {topology.n_nodes - 1}"
        )
    agent = _Agent(
        signs=_Signs(topology, contents),
        chooser=chooser,
        order=stream(*topology.key, "option order", replicate),
        fallback=stream(*topology.key, "fallback", replicate),
    )
    errands = (
        Errands(topology, contents, patience=patience, replicate=replicate)
        if goal == "seek"
        else None
    )
    if memory is None:
        memory = _StoreMemory(
            cell_store(
                topology,
                start=start,
                capacity=capacity,
                k=k,
                eviction=eviction,
                reads_feed_frequency=reads_feed_frequency,
                replicate=replicate,
            )
        )
    environment = Environment(topology, replicate=replicate)
    taken: list[_Step] = []
    state = start
    for number in range(steps):
        hints, context = memory.recall(state)
        step = _Step(state, hints, context)
        if errands is not None:
            step.goal, step.errand = errands.current, errands.number
        try:
            agent.act(step, errands.entity if errands else None, number)
        except InputError as error:
            raise RolloutStopped(cell_name(topology.key), number, steps, str(error)) from error
        step.edge = environment.step(state, step.action)
        state = int(topology.targets[step.edge])
        memory.learn(step.edge, step.state, state)
        step.stored = len(memory)
        if errands is not None:
            step.found = errands.enter(state)
        taken.append(step)
        if progress is not None:
            progress(number + 1)
    return _result(topology, taken, k, memory.counters, errands)


class _StoreMemory:
    """The bounded store as the memory of an agent."""

    def __init__(self, store: BoundedStore) -> None:
        self._store = store

    def recall(self, state: int) -> tuple[list[int], str | None]:
        return self._store.retrieve(state), None

    def learn(self, edge: int, source: int, target: int) -> None:
        self._store.write(edge, source, target)

    def __len__(self) -> int:
        return len(self._store)

    @property
    def counters(self) -> Counters:
        return self._store.counters


@dataclass(slots=True)
class _Step:
    """One step, as far as it has come."""

    state: int
    hints: list[int]
    context: str | None = None
    goal: int = -1
    errand: int = -1
    status: int = SINGLE
    action: int = 0
    order: list[int] = field(default_factory=list)
    position: int = -1
    decision: Decision = field(default_factory=lambda: Decision(None))
    edge: int = -1
    stored: int = 0
    found: bool = False


class _Signs:
    """What a world's actions and transitions look like to an agent."""

    def __init__(self, topology: Topology, contents: Contents) -> None:
        self.topology = topology
        self.contents = contents
        self._options: dict[int, tuple[Option, ...]] = {}
        self._sources = topology.sources

    def options(self, state: int) -> tuple[Option, ...]:
        """Return the actions of a state, by action.

        Which successors are shown where there are more than fit is drawn once per world, so that
        an action keeps its look.
        """
        if state not in self._options:
            names = self.contents.actions[state]
            self._options[state] = tuple(
                self._option(state, action, name) for action, name in enumerate(names)
            )
        return self._options[state]

    def _option(self, state: int, action: int, name: str) -> Option:
        begin, end = self.topology.segment(state, action)
        targets = self.topology.targets[begin:end]
        keys = stream(*self.topology.key, "signs", state, action).random(len(targets))
        shown = targets[np.argsort(keys, kind="stable")[:SHOWN_SUCCESSORS]].tolist()
        towards = tuple(self.contents.names[target] for target in shown)
        return Option(name, towards, len(targets) - len(shown))

    def transition(self, edge: int) -> Transition:
        """Return a transition by its names."""
        source, target = int(self._sources[edge]), int(self.topology.targets[edge])
        action = self.contents.actions[source][int(self.topology.actions[edge])]
        return Transition(self.contents.names[source], action, self.contents.names[target])


class _Agent:
    """Shows a state to the chooser and takes its choice, or one at random."""

    def __init__(
        self,
        signs: _Signs,
        chooser: Chooser,
        order: np.random.Generator,
        fallback: np.random.Generator,
    ) -> None:
        self._signs = signs
        self._chooser = chooser
        self._order = order
        self._fallback = fallback
        self._recent: list[str] = []

    def act(self, step: _Step, goal: str | None, number: int) -> None:
        """Choose the action of a step."""
        contents = self._signs.contents
        options = self._signs.options(step.state)
        if len(options) > 1:
            step.order = np.argsort(self._order.random(len(options)), kind="stable").tolist()
            situation = Situation(
                goal=goal,
                state=contents.names[step.state],
                entities=tuple(contents.entities[step.state]),
                constraints=tuple(contents.constraints[step.state]),
                memory=tuple(map(self._signs.transition, step.hints)),
                recent=tuple(self._recent),
                options=tuple(options[action] for action in step.order),
                context=step.context,
            )
            step.decision = self._chooser.choose(situation, number)
            if step.decision.position is None:
                step.status = RANDOM
                step.position = int(self._fallback.random() * len(options))
            else:
                step.status = RETRIED if len(step.decision.replies) > 1 else CHOSEN
                step.position = step.decision.position
            step.action = step.order[step.position]
        self._recent = [*self._recent, contents.names[step.state]][-RECENT_STATES:]


def _result(
    topology: Topology, taken: list[_Step], k: int, counters: Counters, errands: Errands | None
) -> Rollout:
    """Return the rollout of all steps taken."""
    steps = len(taken)
    width = max(k, *(len(step.hints) for step in taken))

    def column(values: Iterable[int], kind: type[_Number]) -> NDArray[_Number]:
        return np.fromiter(values, kind, steps)

    def table(rows: Iterable[list[int]], width: int, kind: type[_Number]) -> NDArray[_Number]:
        return np.array([row + [-1] * (width - len(row)) for row in rows], dtype=kind)

    edges = column((step.edge for step in taken), np.int32)
    states = column((step.state for step in taken), np.int32)
    hints = table((step.hints for step in taken), width, np.int32)
    reads = np.bincount(hints[hints >= 0], minlength=topology.n_edges).astype(np.int64)
    writes = np.bincount(edges, minlength=topology.n_edges).astype(np.int64)
    # Only transitions that were walked can have been read; of equals this is the lowest edge.
    top = np.argmax(reads + writes)
    replies = Counter(reply for step in taken for reply in step.decision.replies)
    return Rollout(
        walk=Walk(
            reads=reads,
            writes=writes,
            visits=np.bincount(states, minlength=topology.n_nodes).astype(np.int64),
            edges=edges,
            n_reads=column((len(step.hints) for step in taken), np.int16),
            top_accessed=(edges == top) | (hints == top).any(axis=1),
            stored=column((step.stored for step in taken), np.int32),
            counters=counters,
            start=taken[0].state,
        ),
        states=states,
        actions=column((step.action for step in taken), np.int8),
        next_states=topology.targets[edges].astype(np.int32),
        hints=hints,
        statuses=column((step.status for step in taken), np.int8),
        n_options=column((max(1, len(step.order)) for step in taken), np.int8),
        order=table((step.order for step in taken), MAX_ACTIONS, np.int8),
        positions=column((step.position for step in taken), np.int8),
        calls=column((len(step.decision.replies) for step in taken), np.int16),
        prompt_tokens=column((step.decision.prompt_tokens for step in taken), np.int32),
        completion_tokens=column((step.decision.completion_tokens for step in taken), np.int32),
        goals=column((step.goal for step in taken), np.int32),
        errands=column((step.errand for step in taken), np.int32),
        found=column((step.found for step in taken), np.bool_),
        entities=errands.entities if errands else (),
        hits=Hits(errands.found, errands.given_up, steps) if errands else None,
        replies={reply: replies[reply] for reply in _REPLIES},
    )


_Number = TypeVar("_Number", bound=np.generic)
_REPLIES: tuple[ReplyStatus, ...] = ("usable", "unusable", "refusal", "content_filter")


def _check_choice(key: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InputError(f"{key}: {value!r} is unknown; allowed are {', '.join(allowed)}")


def _check_at_least(key: str, value: int, low: int) -> None:
    if value < low:
        raise InputError(f"{key}: {value!r} is not allowed; allowed are integers from {low}")
