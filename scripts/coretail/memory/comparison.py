"""Compare memory policies on common trajectories: losses per seed, paired by step."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coretail import stats
from coretail.errors import InputError

POWER = 0.8


@dataclass(frozen=True, slots=True)
class Losses:
    """A policy's losses on one trajectory, as sums over steps.

    Attributes
    ----------
    steps
        Per part of the trajectory (a stratum, or one step that a model was asked at) its weight
        and the sum of its losses, weighted; parts that were not scored are left out.
    strata
        The stratum of each part.
    """

    steps: dict[Any, tuple[float, float]] = field(default_factory=dict)
    strata: dict[Any, str] = field(default_factory=dict)

    def add(self, part: Any, stratum: str, weight: float, loss: float) -> None:
        """Add a part."""
        self.steps[part] = (weight, loss)
        self.strata[part] = stratum

    def mean(self, prefix: str, within: Iterable[Any] | None = None) -> float | None:
        """Return the mean loss over the parts whose stratum begins with ``prefix``.

        Parameters
        ----------
        prefix
            ``tail``, ``tail_first``, ``head``, ...
        within
            Only these parts; all if None.

        Returns
        -------
        float or None
            None if no such part was scored.
        """
        allowed = self.steps if within is None else within
        parts = [
            self.steps[part]
            for part in allowed
            if part in self.steps and self.strata[part].startswith(prefix)
        ]
        weight = sum(part[0] for part in parts)
        return sum(part[1] for part in parts) / weight if weight else None


def free_losses(rows: Iterable[Mapping[str, Any]], predictor: str) -> dict[int, Losses]:
    """Return the losses of a free predictor by seed, from rows of ``memory_losses``."""
    by_seed: dict[int, Losses] = {}
    for row in rows:
        losses = by_seed.setdefault(row["seed"], Losses())
        losses.add(row["stratum"], row["stratum"], row["n"], row[predictor])
    return by_seed


def asked_losses(rows: Iterable[Mapping[str, Any]]) -> dict[int, Losses]:
    """Return the losses of a model by seed, from rows of ``memory_asked``.

    A step without a score (a refusal, a filtered reply, a full context window) is left out.
    """
    by_seed: dict[int, Losses] = {}
    for row in rows:
        losses = by_seed.setdefault(row["seed"], Losses())
        if row["correct"] is not None:
            weight = row["weight"]
            losses.add(row["step"], row["stratum"], weight, weight * (not row["correct"]))
    return by_seed


@dataclass(frozen=True, slots=True)
class Comparison:
    """A policy against a reference, paired by seed and step.

    Attributes
    ----------
    difference
        Mean over seeds of the policy's mean loss minus the reference's, over the parts that both
        have a score for, with its t interval.
    reduction
        The same relative to the reference: the mean of 1 - policy / reference.
    detectable
        The smallest difference that as many seeds, varying as these do, show with power 0.8 at
        the 5% level; None if undefined.
    reading
        ``lower``, ``higher`` or ``no difference shown``, by the interval of the difference;
        ``equal`` where no seed differs, ``no interval`` where there is none.
    """

    difference: stats.Interval
    reduction: stats.Interval
    detectable: float | None
    reading: str


def compare(
    policy: Mapping[int, Losses], reference: Mapping[int, Losses], prefix: str = "tail"
) -> Comparison:
    """Compare the losses of two policies.

    Raises
    ------
    InputError
        If they have not the same seeds: a missing partner is an error, never dropped.
    """
    if set(policy) != set(reference):
        raise InputError(
            f"compare: seeds {sorted(policy)} and {sorted(reference)}; both need the same seeds"
        )
    pairs = []
    for seed in sorted(policy):
        common = [part for part in policy[seed].steps if part in reference[seed].steps]
        pairs.append((policy[seed].mean(prefix, common), reference[seed].mean(prefix, common)))
    return compare_values([pair[0] for pair in pairs], [pair[1] for pair in pairs])


def compare_values(policy: Sequence[float | None], reference: Sequence[float | None]) -> Comparison:
    """Compare two policies by one value per seed, in the same order."""
    differences = [
        None if own is None or other is None else own - other
        for own, other in zip(policy, reference, strict=True)
    ]
    difference = stats.t_interval(differences)
    defined = [value for value in differences if value is not None]
    sd = statistics.stdev(defined) if len(defined) > 1 else 0.0
    if defined and not any(defined):
        reading = "equal"
    elif difference.low is None or difference.high is None:
        reading = "no interval"
    elif difference.high < 0:
        reading = "lower"
    elif difference.low > 0:
        reading = "higher"
    else:
        reading = "no difference shown"
    return Comparison(
        difference=difference,
        reduction=stats.paired_reduction(reference, policy),
        detectable=stats.minimum_detectable_difference(len(defined), sd, power=POWER)
        if sd
        else None,
        reading=reading,
    )
