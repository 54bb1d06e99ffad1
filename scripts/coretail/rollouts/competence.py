"""Can a model carry a claim at all? Its accuracy on tasks that memory answers, and its habits.

The gate's tasks ask where an action leads, given five memories of which at most one answers. All
conditions are made of the same transitions, so they are paired:

=========  =================================================================================
condition  the five memories
=========  =================================================================================
rank_1     the answer first, four others behind it
rank_3     the answer third
rank_5     the answer last
absent     five others, none with this state and action
empty      none at all
shuffled   as rank_3, with the next states dealt out anew: the line with this state and
           action names a wrong one
=========  =================================================================================

A model that reads its memory is right at every rank, and wrong without the answer and where the
memory is shuffled. One that is as right there does not use its memory. The others are transitions
that touch the same state, as retrieval would hand them out, filled up with random ones; none
names the right next state.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coretail.errors import InputError
from coretail.llm.client import Client
from coretail.predictions import PredictionStatus, predict_next
from coretail.prompts import Transition, field, prediction_prompt
from coretail.rollouts.semantic import CHOSEN, RETRIED, Rollout, cell_name
from coretail.streams import stream
from coretail.worlds.contents import Contents
from coretail.worlds.topology import MAX_ACTIONS, Topology

CONDITIONS: tuple[str, ...] = ("rank_1", "rank_3", "rank_5", "absent", "empty", "shuffled")
MEMORIES = 5


@dataclass(frozen=True, slots=True)
class PredictionTask:
    """One question of the gate.

    Attributes
    ----------
    condition
        One of :data:`CONDITIONS`.
    number
        Number of the transition asked for; the same in all conditions.
    edge
        The transition asked for.
    memories
        What the model is given, best first.
    transition
        The transition asked for, by its names.
    """

    condition: str
    number: int
    edge: int
    memories: tuple[Transition, ...]
    transition: Transition


@dataclass(frozen=True, slots=True)
class Prediction:
    """A model's reply to one task.

    Attributes
    ----------
    task
        The task.
    status
        ``answered``; ``malformed`` (the reply is no transition from this state by this action);
        or why there was no reply: ``refusal``, ``content_filter``.
    predicted
        The next state's name, as prompts write it; None unless ``answered``.
    correct
        Whether it is the right one; None where there was no reply, which is not scored.
    prompt_tokens, completion_tokens
        As reported.
    """

    task: PredictionTask
    status: PredictionStatus
    predicted: str | None
    correct: bool | None
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How a model did in one condition.

    Attributes
    ----------
    condition
        One of :data:`CONDITIONS`.
    n
        Replies that were scored; malformed ones count as wrong.
    correct
        Right ones.
    malformed
        Replies that were no such transition.
    from_memory
        Answers that are the next state of one of the memories given.
    unanswered
        Tasks without a reply.
    """

    condition: str
    n: int
    correct: int
    malformed: int
    from_memory: int
    unanswered: int

    @property
    def accuracy(self) -> float | None:
        """The share of right replies; None if none was scored."""
        return self.correct / self.n if self.n else None


def prediction_tasks(
    topology: Topology,
    contents: Contents,
    n: int,
    *,
    conditions: Sequence[str] = CONDITIONS,
    replicate: int = 0,
) -> list[PredictionTask]:
    """Draw the gate's tasks in a world, ``n`` per condition.

    Parameters
    ----------
    topology, contents
        The world.
    n
        Transitions to ask for, drawn uniformly from the world's, with replacement.
    conditions
        The conditions, a part of :data:`CONDITIONS`.
    replicate
        Distinguishes independent sets of tasks.

    Raises
    ------
    InputError
        For parameters outside their range, or a world with too few transitions for the memories.
    """
    for condition in conditions:
        if condition not in CONDITIONS:
            raise InputError(
                f"conditions: {condition!r} is unknown; allowed are {', '.join(CONDITIONS)}"
            )
    if n < 1:
        raise InputError(f"n: {n!r} is not allowed; allowed are integers from 1")
    rng = stream(*topology.key, "competence", replicate)
    sources = topology.sources
    tasks = []
    for number in range(n):
        edge = int(rng.random() * topology.n_edges)
        others = _others(topology, sources, edge, rng)
        offset = 1 + int(rng.random() * (MEMORIES - 1))
        answer, *wrong = (_named(topology, contents, sources, e) for e in (edge, *others))
        for condition in conditions:
            memories = _memories(condition, answer, wrong, offset)
            tasks.append(PredictionTask(condition, number, edge, tuple(memories), answer))
    return tasks


def predict(
    client: Client,
    tasks: Iterable[PredictionTask],
    *,
    seed: int = 0,
    rule: str = "competence",
    cell: tuple[str, int, int] | None = None,
) -> list[Prediction]:
    """Ask a model all tasks, at temperature 0.

    Parameters
    ----------
    client
        Access to the model.
    tasks
        The tasks.
    seed
        Seed of the endpoint's sampler.
    rule, cell
        Name the run in messages.

    Raises
    ------
    CallFailed
        There was no answer after all retries.
    InputError
        As :meth:`coretail.llm.client.Client.complete`.
    """
    where = rule if cell is None else f"{rule}, {cell_name(cell)}"
    predictions = []
    for task in tasks:
        state, action, next_state = task.transition
        context = f"{where}, {task.condition}, task {task.number}"
        reply = predict_next(
            client, prediction_prompt(state, action, task.memories), state, action, context, seed
        )
        predictions.append(
            Prediction(
                task=task,
                status=reply.status,
                predicted=reply.predicted,
                correct=reply.predicted == field(next_state) if reply.scored else None,
                prompt_tokens=reply.prompt_tokens,
                completion_tokens=reply.completion_tokens,
            )
        )
    return predictions


def accuracies(predictions: Sequence[Prediction]) -> list[Accuracy]:
    """Return the accuracy in each condition that occurs, in the order of :data:`CONDITIONS`."""
    result = []
    for condition in CONDITIONS:
        of_condition = [p for p in predictions if p.task.condition == condition]
        scored = [p for p in of_condition if p.correct is not None]
        if of_condition:
            result.append(
                Accuracy(
                    condition=condition,
                    n=len(scored),
                    correct=sum(p.correct is True for p in scored),
                    malformed=sum(p.status == "malformed" for p in scored),
                    from_memory=sum(
                        p.predicted in [field(m.next_state) for m in p.task.memories]
                        for p in scored
                    ),
                    unanswered=len(of_condition) - len(scored),
                )
            )
    return result


@dataclass(frozen=True, slots=True, eq=False)
class Positions:
    """How often the option at each place was chosen, among steps with equally many options.

    Attributes
    ----------
    n_options
        The number of options.
    counts : int64 array, shape (n_options,)
        Choices by place in the order shown.
    chi2, p
        Pearson's test against uniform; None without a choice.
    reason
        Why the test is undefined; empty if it is not.
    """

    n_options: int
    counts: NDArray[np.int64]
    chi2: float | None
    p: float | None
    reason: str


def positions(rollouts: Sequence[Rollout]) -> list[Positions]:
    """Return how often a model chose by place, for each number of options.

    Options are shown in an order drawn anew for each call, so a chooser that goes by anything but
    the place chooses each equally often. Steps that were not the model's choice do not count.
    """
    from scipy.special import chdtrc

    result = []
    for n_options in range(2, MAX_ACTIONS + 1):
        counts = np.zeros(n_options, dtype=np.int64)
        for run in rollouts:
            chosen = np.isin(run.statuses, (CHOSEN, RETRIED)) & (run.n_options == n_options)
            counts += np.bincount(run.positions[chosen], minlength=n_options)
        n = int(counts.sum())
        if n == 0:
            result.append(Positions(n_options, counts, None, None, "no choice was made"))
            continue
        expected = n / n_options
        chi2 = float(((counts - expected) ** 2).sum() / expected)
        result.append(Positions(n_options, counts, chi2, float(chdtrc(n_options - 1, chi2)), ""))
    return result


def _others(
    topology: Topology, sources: NDArray[np.int32], edge: int, rng: np.random.Generator
) -> list[int]:
    """Draw transitions that do not answer, those that touch the state first; in random order."""
    state, target = sources[edge], topology.targets[edge]
    answers = (sources == state) & (topology.actions == topology.actions[edge])
    # A transition back from the right next state would give its name away.
    names_it = (topology.targets == target) | (sources == target)
    eligible = np.flatnonzero(~answers & ~names_it)
    if len(eligible) < MEMORIES:
        raise InputError(
            f"competence: {cell_name(topology.key)} has too few transitions for {MEMORIES} "
            "memories beside the answer; take a larger world"
        )
    eligible = eligible[np.argsort(rng.random(len(eligible)), kind="stable")]
    touching = (sources[eligible] == state) | (topology.targets[eligible] == state)
    chosen = eligible[np.argsort(~touching, kind="stable")][:MEMORIES]
    return chosen[np.argsort(rng.random(MEMORIES), kind="stable")].tolist()


def _named(
    topology: Topology, contents: Contents, sources: NDArray[np.int32], edge: int
) -> Transition:
    source, target = int(sources[edge]), int(topology.targets[edge])
    action = contents.actions[source][int(topology.actions[edge])]
    return Transition(contents.names[source], action, contents.names[target])


def _memories(
    condition: str, answer: Transition, others: list[Transition], offset: int
) -> list[Transition]:
    if condition == "empty":
        return []
    if condition == "absent":
        return others
    rank = {"rank_1": 1, "rank_5": 5}.get(condition, 3)
    memories = [*others[: rank - 1], answer, *others[rank - 1 : MEMORIES - 1]]
    if condition != "shuffled":
        return memories
    dealt = [memories[(i + offset) % MEMORIES].next_state for i in range(MEMORIES)]
    return [
        memory._replace(next_state=next_state)
        for memory, next_state in zip(memories, dealt, strict=True)
    ]
