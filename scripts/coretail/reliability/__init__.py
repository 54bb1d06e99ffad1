"""How far a verdict of the audit can be trusted: by samples whose law is known.

The numbers are those of the pipeline's calibration (:mod:`coretail.audit.calibration`), in the file
``calibration.json`` beside this module, which says by which command (``python -m
coretail.reliability``) and from which configuration it was made. Samples have a tail of a known
size from a known law; the audit finds a tail of its own, often shorter. A user knows only the
latter: the trust in a verdict is therefore read among samples whose audit found about as long a
tail, whatever their true size, with all calibrated sizes alike. How long a tail has to be is read
by the true size.
"""

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from coretail.audit.verdict import VERDICTS, Thresholds, Verdict
from coretail.stats import wilson_interval

FILE = "calibration.json"

RATE = 0.8
"""The rate from which on a tail is called long enough."""

BANDS = (0, 50, 100, 150, 200, 300, 500, 1000, 2000, 5000)
"""Lower ends of the bands of n_tail, as the audit finds it; the last has no upper end."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Samples of one law and true tail size whose audit found an n_tail of one band, by verdict."""

    law: str
    n_tail: int
    band: int
    verdict: Verdict
    count: int


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The shipped calibration.

    Attributes
    ----------
    ks, thresholds
        The audit's settings; it says nothing of others.
    laws
        The true laws.
    cells
        Numbers of samples.
    """

    ks: str
    thresholds: Thresholds
    laws: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class LawRate:
    """What became of the samples of one true law.

    Attributes
    ----------
    law
        The law.
    samples
        Its samples in the band.
    share, share_low, share_high
        Share of them that got the verdict in question, with Wilson's 95% interval; None where
        there are no samples.
    right
        Share of them that got the verdict of their own law; None where there is no such verdict
        (the exponential law) or no sample.
    """

    law: str
    samples: int
    share: float | None
    share_low: float | None
    share_high: float | None
    right: float | None


@dataclass(frozen=True, slots=True)
class Reliability:
    """How often samples of known laws with about this n_tail get this verdict.

    Attributes
    ----------
    n_tail_low, n_tail_high
        The band of n_tail, both ends in it; the last has no high end.
    rates
        Per true law.
    verdicts
        Samples in the band with this verdict, of all laws.
    right, right_low, right_high
        Share of them that are of the law that the verdict names, with Wilson's 95% interval; None
        for verdicts that name no law, or of no samples. Laws and true sizes are equally frequent
        in the calibration: elsewhere they may not be.
    reason
        Why nothing is said, and the rest is empty; otherwise None.
    """

    n_tail_low: int | None = None
    n_tail_high: int | None = None
    rates: tuple[LawRate, ...] = ()
    verdicts: int = 0
    right: float | None = None
    right_low: float | None = None
    right_high: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Need:
    """How long a tail of one law has to be.

    Attributes
    ----------
    law
        The true law.
    auditable_from
        Smallest calibrated size of the true tail from which on at least ``RATE`` of the samples
        are auditable; None if none is.
    right_from
        The same for the verdict of the law; None if none is, or there is no such verdict.
    best_right, best_right_at
        Largest share with that verdict and its size; None where there is no such verdict.
    largest
        The largest size calibrated.
    """

    law: str
    auditable_from: int | None
    right_from: int | None
    best_right: float | None
    best_right_at: int | None
    largest: int


@cache
def shipped() -> Calibrated:
    """Return the calibration in the package's data."""
    content = json.loads(files(__name__).joinpath(FILE).read_text(encoding="utf-8"))
    settings = content["configuration"]
    return Calibrated(
        ks=settings["ks"],
        thresholds=Thresholds(**settings["thresholds"]),
        laws=tuple(content["laws"]),
        cells=tuple(Cell(*row) for row in content["cells"]),
    )


def reliability(calibrated: Calibrated, verdict: Verdict, n_tail: int) -> Reliability:
    """Return how often samples with about this n_tail get this verdict.

    Parameters
    ----------
    calibrated
        The calibration.
    verdict, n_tail
        What the audit found.
    """
    place = bisect_right(BANDS, n_tail) - 1
    counts: Counter[tuple[str, Verdict]] = Counter()
    for cell in calibrated.cells:
        if cell.band == BANDS[place]:
            counts[cell.law, cell.verdict] += cell.count
    rates = []
    for law in calibrated.laws:
        samples = sum(counts[law, each] for each in VERDICTS)
        hits = counts[law, verdict]
        share = wilson_interval(hits, samples)
        own = own_verdict(law)
        rates.append(
            LawRate(
                law=law,
                samples=samples,
                share=share.estimate,
                share_low=share.low,
                share_high=share.high,
                right=counts[law, own] / samples if samples and own is not None else None,
            )
        )
    named = next((law for law in calibrated.laws if own_verdict(law) == verdict), None)
    verdicts = sum(counts[law, verdict] for law in calibrated.laws)
    right = None if named is None else wilson_interval(counts[named, verdict], verdicts)
    return Reliability(
        n_tail_low=BANDS[place],
        n_tail_high=BANDS[place + 1] - 1 if place + 1 < len(BANDS) else None,
        rates=tuple(rates),
        verdicts=verdicts,
        right=None if right is None else right.estimate,
        right_low=None if right is None else right.low,
        right_high=None if right is None else right.high,
    )


def needs(calibrated: Calibrated, rate: float = RATE) -> tuple[Need, ...]:
    """Return, per law, how long its tail has to be.

    Parameters
    ----------
    calibrated
        The calibration.
    rate
        The share of samples asked for.
    """
    totals: Counter[tuple[str, int]] = Counter()
    counts: Counter[tuple[str, int, Verdict]] = Counter()
    for cell in calibrated.cells:
        totals[cell.law, cell.n_tail] += cell.count
        counts[cell.law, cell.n_tail, cell.verdict] += cell.count
    out = []
    for law in calibrated.laws:
        sizes = sorted(size for other, size in totals if other == law)
        own = own_verdict(law)
        auditable = {s: 1 - counts[law, s, "not_auditable"] / totals[law, s] for s in sizes}
        right = {} if own is None else {s: counts[law, s, own] / totals[law, s] for s in sizes}
        best = max(right, key=lambda size: right[size]) if right else None
        out.append(
            Need(
                law=law,
                auditable_from=_reached(auditable, rate),
                right_from=_reached(right, rate),
                best_right=None if best is None else right[best],
                best_right_at=best,
                largest=sizes[-1],
            )
        )
    return tuple(out)


def own_verdict(law: str) -> Verdict | None:
    """Return the verdict that names a law, None for the exponential law."""
    return next((verdict for verdict in VERDICTS if verdict == f"{law}_compatible"), None)


def _reached(shares: Mapping[int, float], rate: float) -> int | None:
    found = None
    for size in sorted(shares, reverse=True):
        if shares[size] < rate:
            break
        found = size
    return found
