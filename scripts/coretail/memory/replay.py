"""Frozen-trajectory replay: what makes two encodings of one memory differ in the closed loop.

Two encodings of one policy lead an agent on different trajectories, and on its own each has some
loss. Replaying both encodings on both trajectories gives four losses L(encoding, trajectory), which
part the live difference L(e, trajectory of e) - L(f, trajectory of f) into

* *trajectory*: the same encoding on the one trajectory and on the other,
* *reading*: the one encoding and the other on the same trajectory, where both rank alike,
* *retrieval*: the same, where they do not. Encodings of one policy share the ranking map, so there
  is nothing of it (Theorem A.7); that is counted by the rankings' hashes, not assumed.

A difference can be parted in two orders, first the trajectory and then the encoding or the reverse.
Each part is the mean of both orders (the Shapley value), so that parts sum to the live
difference whatever the interaction is.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from coretail.memory.comparison import Losses

ENCODINGS = ("compact", "verbose")
"""The first encoding's loss minus the second's is the difference."""
TERMS = ("live", "trajectory", "reading", "retrieval")
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Parts:
    """A live difference of one world and seed, taken apart.

    Attributes
    ----------
    losses : dict
        Mean loss by (encoding, trajectory); None where no step was scored.
    n_steps : dict
        Steps by trajectory that are scored under both encodings.
    live
        L(first, trajectory of first) - L(second, trajectory of second); None where a loss is.
    trajectory, reading, retrieval
        Its parts, which sum to it; None where it is.
    """

    losses: dict[tuple[str, str], float | None]
    n_steps: dict[str, int]
    live: float | None
    trajectory: float | None
    reading: float | None
    retrieval: float | None


def take_apart(
    losses: Mapping[tuple[str, str], Losses],
    changed: Mapping[str, Collection[int]],
    prefix: str = "tail",
) -> Parts:
    """Take the live difference between two encodings apart (paper, Section 5.5).

    Parameters
    ----------
    losses
        By (encoding, trajectory), a trajectory being named by the encoding that led to it; both of
        :data:`ENCODINGS`, each with steps as its parts. Only steps count that are scored under
        both encodings.
    changed
        Per trajectory the steps at which the rankings are not all the same.
    prefix
        Strata that count: ``tail``, or all for an empty text.
    """
    first, second = ENCODINGS
    means: dict[tuple[str, str], float | None] = {}
    effects: dict[str, dict[bool, float]] = {}
    n_steps = {}
    for walked in ENCODINGS:
        one, other = losses[first, walked], losses[second, walked]
        common = [
            step
            for step in one.steps
            if step in other.steps and one.strata[step].startswith(prefix)
        ]
        n_steps[walked] = len(common)
        means[first, walked] = one.mean(prefix, common)
        means[second, walked] = other.mean(prefix, common)
        weight = sum(one.steps[step][0] for step in common)
        effects[walked] = {
            differs: math.fsum(
                one.steps[step][1] - other.steps[step][1]
                for step in common
                if (step in changed[walked]) is differs
            )
            / (weight or 1.0)
            for differs in (False, True)
        }
    own, crossed = means[first, first], means[first, second]
    back, theirs = means[second, first], means[second, second]
    if own is None or crossed is None or back is None or theirs is None:
        return Parts(means, n_steps, None, None, None, None)
    return Parts(
        losses=means,
        n_steps=n_steps,
        live=_exact(own - theirs),
        trajectory=_exact(((own - crossed) + (back - theirs)) / 2),
        reading=_exact((effects[first][False] + effects[second][False]) / 2),
        retrieval=_exact((effects[first][True] + effects[second][True]) / 2),
    )


def _exact(difference: float) -> float:
    """Return a difference of means, 0 where it is the rounding of their sums alone."""
    return 0.0 if abs(difference) < _ROUNDING else difference


def changed_steps(recorded: Sequence[str], *replays: Sequence[str]) -> set[int]:
    """Return the steps at which a replay does not rank as was recorded.

    Parameters
    ----------
    recorded
        Hash of the ranking at each step (:func:`coretail.memory.frozen.ranking_hash`).
    *replays
        The same of replays of all these steps.
    """
    return {
        step
        for replay in replays
        for step, (then, now) in enumerate(zip(recorded, replay, strict=True))
        if then != now
    }
