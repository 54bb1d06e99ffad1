"""What the audit says of samples whose law is known.

A sample has a tail of exactly ``n_tail`` draws from a known law, from x_min = 20 up, and a body
below it: a quarter as many values, uniform on 1 to 19, a shape that none of the laws continues. It
is audited at the known cutoff and with the cutoff fitted.

The laws are those that one fits to the access counts of 100,000-step random walks with retrieval on
graphs of 500 and 1,000 states, whose tails start near 20 and hold some 900 items. There the maximum
likelihood lies in these ranges, and the calibration takes a round value from each:

- power law, alpha from 1.8 to 3.3: 2.2;
- truncated power law, alpha from 1.3 to 1.9 and lambda from 0.001 to 0.005: 1.5 and 0.0025;
- log-normal, mu from 0 to 2 and sigma from 1.7 to 2.2: 1.5 and 1.8;
- exponential, lambda from 0.011 to 0.026: 0.012.

So the four look alike over the range of the data: laws that differ at a glance calibrate nothing.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from coretail.audit.bootstrap import goodness_of_fit
from coretail.audit.engine import LAMBDA, AuditResult, audit_counts
from coretail.audit.kernels import Floats
from coretail.audit.laws import (
    LAWS,
    Law,
    Shape,
    draw,
    exponential,
    fit_laws,
    lognormal,
    power_law,
    truncated_power_law,
)
from coretail.audit.sample import Rule, sample_of, tail_of
from coretail.audit.verdict import VERDICTS, Thresholds, Verdict
from coretail.errors import InputError
from coretail.streams import stream

X_MIN = 20

N_TAILS = (50, 200, 1000, 5000)

TRUE_LAWS: MappingProxyType[Law, Shape] = MappingProxyType(
    {
        "power_law": power_law(X_MIN, 2.2),
        "truncated_power_law": truncated_power_law(X_MIN, 1.5, 0.0025),
        "lognormal": lognormal(X_MIN, 1.5, 1.8),
        "exponential": exponential(X_MIN, 0.012),
    }
)


@dataclass(frozen=True, slots=True)
class CalibrationSample:
    """One sample of a calibration cell.

    Attributes
    ----------
    law, n_tail
        The true law and the true size of the tail.
    index
        Number of the sample in its cell.
    p_known
        Bootstrap p of the true law at the known cutoff; None for the exponential law, for which
        the audit has no bootstrap.
    p_refitted
        Bootstrap p of the power law with the cutoff fitted, in sample and replicates.
    x_min, n_tail_fitted, alpha
        The audit's cutoff, the observations from there up, and the exponent.
    ratio, z
        Lambda and its z.
    verdict
        The audit's verdict, with the cutoff fitted.
    """

    law: Law
    n_tail: int
    index: int
    p_known: float | None
    p_refitted: float | None
    x_min: int | None
    n_tail_fitted: int
    alpha: float | None
    ratio: float | None
    z: float | None
    verdict: Verdict

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a JSON-able dict."""
        return asdict(self)


def sample_from(shape: Shape, n_tail: int, rng: np.random.Generator) -> Floats:
    """Return ``n_tail`` draws of a law and a quarter as many values below it, shape (n,)."""
    tail = draw(shape, n_tail, rng)
    below = int(shape.x_min) - 1
    body = 1.0 + np.floor(rng.random(n_tail // 4 if below else 0) * below)
    return np.concatenate([body, tail])


def calibrate_cell(
    law: Law,
    n_tail: int,
    *,
    samples: int = 200,
    replicates: int = 200,
    seed: int = 0,
    ks: Rule = "full",
    thresholds: Thresholds | None = None,
    shape: Shape | None = None,
    jobs: int = 1,
) -> list[CalibrationSample]:
    """Audit ``samples`` samples of one law and tail size.

    Parameters
    ----------
    law, n_tail
        The cell.
    samples, replicates
        Samples in the cell, and bootstrap replicates of each p.
    seed
        Seed; every sample has its own stream, whatever else is run.
    ks
        Rule of the Kolmogorov-Smirnov distance.
    thresholds
        Thresholds of the verdict; the paper's by default.
    shape
        The law's parameters, those of ``TRUE_LAWS`` by default.
    jobs
        Threads.

    Raises
    ------
    InputError
        If the law is unknown or a size is not positive.
    """
    if law not in TRUE_LAWS:
        raise InputError(f"law: {law!r} is not one of {', '.join(TRUE_LAWS)}")
    for name, number in (("n_tail", n_tail), ("samples", samples), ("replicates", replicates)):
        if number < 1:
            raise InputError(f"{name}: {number} is not a positive integer")
    true = TRUE_LAWS[law] if shape is None else shape
    rows = []
    for index in range(samples):
        key = ("calibration", law, n_tail, index)
        values = sample_from(true, n_tail, stream(*key, int(seed)))
        result = audit_counts(
            values,
            replicates=replicates,
            seed=seed,
            key=key,
            ks=ks,
            thresholds=thresholds,
            jobs=jobs,
        )
        rows.append(
            _row(
                law,
                n_tail,
                index,
                _known_p(law, true, values, replicates, (int(seed), *key), ks, jobs),
                result,
            )
        )
    return rows


def _known_p(
    law: Law,
    true: Shape,
    values: Floats,
    replicates: int,
    key: Sequence[str | int],
    ks: Rule,
    jobs: int,
) -> float | None:
    if law == "exponential":
        return None
    tail = tail_of(sample_of(values), int(true.x_min))
    if tail.values.size < 3:
        return None
    fits, _ = fit_laws(tail, full=ks == "full")
    return goodness_of_fit(
        tail,
        fits[law],
        replicates=replicates,
        key=("known", *key),
        refit=False,
        full=ks == "full",
        jobs=jobs,
    ).p


def _row(
    law: Law, n_tail: int, index: int, p_known: float | None, result: AuditResult
) -> CalibrationSample:
    pair = result.comparisons.get(LAMBDA)
    return CalibrationSample(
        law=law,
        n_tail=n_tail,
        index=index,
        p_known=p_known,
        p_refitted=result.p_gof,
        x_min=result.x_min,
        n_tail_fitted=result.n_tail,
        alpha=result.alpha,
        ratio=None if pair is None else pair.R,
        z=None if pair is None else pair.z,
        verdict=result.verdict,
    )


@dataclass(frozen=True, slots=True)
class ConfusionCount:
    """How many samples of a law and tail size got a verdict."""

    law: Law
    n_tail: int
    verdict: Verdict
    count: int
    samples: int

    @property
    def share(self) -> float:
        """Share of the cell's samples."""
        return self.count / self.samples


def confusion(rows: Sequence[CalibrationSample]) -> list[ConfusionCount]:
    """Return the counts of every verdict, zeros included, per true law and tail size."""
    counts = Counter((row.law, row.n_tail, row.verdict) for row in rows)
    totals = Counter((row.law, row.n_tail) for row in rows)
    return [
        ConfusionCount(law, n_tail, verdict, counts[law, n_tail, verdict], totals[law, n_tail])
        for law in LAWS
        for n_tail in sorted({size for other, size in totals if other == law})
        for verdict in VERDICTS
    ]


@dataclass(frozen=True, slots=True)
class NullP:
    """How uniform the bootstrap p is under its own null.

    Attributes
    ----------
    law, n_tail, cutoff
        The cell; ``known`` or ``refitted`` cutoff.
    samples
        Samples with a defined p.
    below
        Share with p below the threshold: at most the threshold, but for chance, in a test that
        keeps its level.
    below_se
        Monte Carlo standard error of a share equal to the threshold.
    distance, distance_p
        Kolmogorov-Smirnov distance of the p from the uniform law and its asymptotic p.
    """

    law: Law
    n_tail: int
    cutoff: str
    samples: int
    below: float
    below_se: float
    distance: float
    distance_p: float


def null_p(rows: Sequence[CalibrationSample], threshold: float = 0.10) -> list[NullP]:
    """Return the level of each law's p at the known cutoff, and of the power law's at the refitted.

    Parameters
    ----------
    rows
        Samples of any number of cells.
    threshold
        The level looked at.
    """
    from scipy.special import kolmogorov

    cells: dict[tuple[Law, int, str], list[float]] = {}
    for row in rows:
        if row.p_known is not None:
            cells.setdefault((row.law, row.n_tail, "known"), []).append(row.p_known)
        if row.law == "power_law" and row.p_refitted is not None:
            cells.setdefault((row.law, row.n_tail, "refitted"), []).append(row.p_refitted)
    out = []
    for (law, n_tail, cutoff), values in sorted(cells.items()):
        p = np.sort(values)
        m = p.size
        # A p of k / replicates jumps where the uniform law does not: compare at the jumps only.
        grid = np.unique(p)
        distance = float(np.max(np.abs(np.searchsorted(p, grid, side="right") / m - grid)))
        out.append(
            NullP(
                law=law,
                n_tail=n_tail,
                cutoff=cutoff,
                samples=m,
                below=float(np.mean(p < threshold)),
                below_se=float(np.sqrt(threshold * (1.0 - threshold) / m)),
                distance=distance,
                distance_p=float(kolmogorov(np.sqrt(m) * distance)),
            )
        )
    return out
