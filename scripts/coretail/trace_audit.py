"""The audit of one agent's memory trace: how concentrated, which law, whether it is stationary.

Everything here works on arrays: which item each access was of (``codes``), at which step
(``steps``), and how often each item was accessed (``counts``). :mod:`coretail.logs` reads them
from files.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from coretail.audit import AuditResult, Rule, Thresholds, Verdict, audit_counts
from coretail.audit.laws import survival
from coretail.audit.record import audit_record, fitted_shapes
from coretail.concentration import Concentration, concentration
from coretail.counts import Counts, as_counts
from coretail.errors import InputError
from coretail.reliability import RATE, Need, Reliability, needs, reliability, shipped
from coretail.spectrum import Spectrum, welch_slope
from coretail.streams import stream

if TYPE_CHECKING:
    from coretail.controller import Tau

BLOCKS = 20
"""Blocks of the stationarity check; half of them are a half of the log."""

LEVEL = 0.05
"""Smallest p of the stationarity check at which the halves are not said to differ."""

VERDICTS_IN_WORDS: Mapping[Verdict, str] = {
    "not_auditable": "not auditable: this log cannot tell which law its tail follows",
    "truncated_power_law_compatible": "compatible with a truncated power law",
    "lognormal_compatible": "compatible with a log-normal law",
    "power_law_compatible": "compatible with a power law",
    "undecided": "undecided: auditable, but no law is both compatible and preferred",
}

_FEWEST_PER_BLOCK = 10

# Parts of a log by which the growth of its tail is told, from the whole down to a quarter.
_PART_SIZES = tuple(2.0 ** (-k / 4) for k in range(9))
_FEWEST_PARTS = 5
# Below this exponent even twice the tail takes a log 1,000 times as long; nor is more believed.
_FLAT = 0.1
_FARTHEST = 1000
_POINTS = 400


@dataclass(frozen=True, slots=True)
class Stationarity:
    """Whether a log's first half of accesses looks like its second.

    Attributes
    ----------
    gini_first, gini_second
        Gini coefficient of each half, over the items accessed in it.
    top_share_first, top_share_second
        Share of each half's accesses that go to the ceil(n / 10) most accessed items of the whole
        log.
    overlap
        Share of the most accessed items of one half that are also among those of the other: the k
        best of each, k a tenth (rounded up) of the items of the half that has fewer.
    p_gini, p_top_share, p_overlap
        Permutation p of the difference in each (of a small overlap).
    p
        The smallest of them times three, at most 1: their first step in Holm's correction.
    blocks, permutations
        Blocks permuted, and permutations drawn.
    reason
        Why everything above is undefined, and so None; otherwise None.
    """

    gini_first: float | None = None
    gini_second: float | None = None
    top_share_first: float | None = None
    top_share_second: float | None = None
    overlap: float | None = None
    p_gini: float | None = None
    p_top_share: float | None = None
    p_overlap: float | None = None
    p: float | None = None
    blocks: int = 0
    permutations: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Growth:
    """How the tail of this very log grew with its length.

    Attributes
    ----------
    exponent
        b of n_tail ~ accesses**b, by least squares over the parts with a tail; None with
        ``reason``.
    accesses, n_tails
        Length of each part and its n_tail, longest first: the whole log, and shorter parts.
    parts
        ``beginnings`` of a log, or ``random`` parts of a table of counts.
    reason
        Why there is no exponent; otherwise None.
    """

    exponent: float | None
    accesses: tuple[int, ...]
    n_tails: tuple[int, ...]
    parts: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """A tail to be reached, and how much longer the log would have to be.

    Attributes
    ----------
    law
        The law whose calibration asks for it; None for the audit's own threshold.
    n_tail
        Its size; None where no calibrated size is enough.
    factor, more_accesses
        How many times this log, and accesses to be added, if n_tail goes on growing as
        :class:`Growth` says; None where it does not grow or the factor is beyond 1,000.
    """

    law: str | None
    n_tail: int | None
    factor: float | None
    more_accesses: int | None


@dataclass(frozen=True, slots=True)
class Shortfall:
    """What a log lacks to an auditable tail.

    Attributes
    ----------
    wanted
        Fewest observations of an auditable tail.
    factor, more_accesses
        Of this threshold, as in :class:`Target`.
    growth
        How n_tail grew so far.
    rate
        The share of samples that the targets ask for.
    targets
        Per law, the tail from which on that share of the calibration's samples is auditable; empty
        where the calibration does not apply.
    """

    wanted: int
    factor: float | None
    more_accesses: int | None
    growth: Growth
    rate: float
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class TraceAudit:
    """What is known of a trace.

    Attributes
    ----------
    n_accesses, n_items
        Accesses, and items accessed at least once.
    concentration
        Concentration of the counts.
    audit
        Tail audit of the counts.
    spectrum
        Welch spectrum of the most accessed item's accesses per step.
    stationarity
        First half against second.
    tau
        Recommended allocation exponent of the core-tail controller, with its reason.
    reliability
        How often samples of known laws with such a tail get this verdict.
    needs
        How long a tail of each law has to be; empty where the calibration does not apply.
    shortfall
        What is missing to an auditable tail; None where nothing is.
    limits
        What the audit cannot say, one sentence each.
    """

    n_accesses: int
    n_items: int
    concentration: Concentration
    audit: AuditResult
    spectrum: Spectrum
    stationarity: Stationarity
    tau: "Tau"
    reliability: Reliability
    needs: tuple[Need, ...]
    shortfall: Shortfall | None
    limits: tuple[str, ...]

    @property
    def in_words(self) -> str:
        """The verdict in words."""
        return VERDICTS_IN_WORDS[self.audit.verdict]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a JSON-able dict."""
        return {
            "n_accesses": self.n_accesses,
            "n_items": self.n_items,
            "in_words": self.in_words,
            "concentration": self.concentration.to_dict(),
            "audit": self.audit.to_dict(),
            "spectrum": self.spectrum.to_dict(),
            "stationarity": asdict(self.stationarity),
            "tau": {
                "value": self.tau.value,
                "weight": self.tau.weight,
                "reason": self.tau.reason,
            },
            "reliability": asdict(self.reliability),
            "needs": [asdict(need) for need in self.needs],
            "shortfall": None if self.shortfall is None else asdict(self.shortfall),
            "limits": list(self.limits),
        }


def audit_trace(
    counts: npt.ArrayLike,
    *,
    codes: npt.NDArray[np.integer[Any]] | None = None,
    steps: npt.NDArray[np.integer[Any]] | None = None,
    replicates: int = 2500,
    permutations: int = 499,
    seed: int = 0,
    ks: Rule = "full",
    x_min: int | None = None,
    min_tail: int = 1,
    thresholds: Thresholds | None = None,
    jobs: int = 1,
) -> TraceAudit:
    """Audit one trace.

    Parameters
    ----------
    counts
        Accesses of each item, shape (n_items,), each at least 1.
    codes
        The item of each access in order, positions in ``counts``, shape (n_accesses,); None where
        the order is not known.
    steps
        The step of each access, from 0, ascending; by default every access is a step.
    replicates, seed, ks, x_min, min_tail, thresholds, jobs
        As in :func:`coretail.audit.audit_counts`, whose result this contains.
    permutations
        Permutations of the stationarity check.

    Raises
    ------
    InputError
        If a count is not a positive integer, ``codes`` do not give ``counts``, or another argument
        is not among those allowed.
    """
    from coretail.controller import tau_from_audit

    values = as_counts(counts)
    if codes is not None and not np.array_equal(np.bincount(codes, minlength=1), values):
        raise InputError("codes: the accesses do not give the counts; count them with bincount")
    result = audit_counts(
        values,
        replicates=replicates,
        seed=seed,
        ks=ks,
        x_min=x_min,
        min_tail=min_tail,
        thresholds=thresholds,
        jobs=jobs,
    )
    shape = concentration(values)
    if codes is None:
        unknown = "the order of the accesses is not known"
        spectrum = Spectrum(0, 0, 0, None, None, unknown)
        halves = Stationarity(reason=unknown)
    else:
        spectrum = welch_slope(top_series(codes, steps, int(values.argmax())))
        halves = stationarity(codes, values.size, permutations=permutations, seed=seed)
    other = _not_calibrated(result, ks, x_min, min_tail)
    trust = _reliability(result) if other is None else Reliability(reason=other)
    wanted = needs(shipped()) if other is None else ()
    missing = None
    if result.n_tail < result.thresholds.n_tail:
        growth = tail_growth(
            values, codes, seed=seed, ks=ks, x_min=x_min, min_tail=min_tail, n_tail=result.n_tail
        )
        missing = shortfall(shape.total, result, growth, wanted)
    return TraceAudit(
        n_accesses=shape.total,
        n_items=values.size,
        concentration=shape,
        audit=result,
        spectrum=spectrum,
        stationarity=halves,
        tau=tau_from_audit(result.verdict, result.alpha, result.p_gof, result.n_tail),
        reliability=trust,
        needs=wanted,
        shortfall=missing,
        limits=tuple(_limits(result, spectrum, halves, missing, wanted)),
    )


def top_series(
    codes: npt.NDArray[np.integer[Any]], steps: npt.NDArray[np.integer[Any]] | None, item: int
) -> npt.NDArray[np.float64]:
    """Return the accesses of one item at each step, shape (n_steps,).

    0 or 1 where a step accesses an item at most once, as in the paper's temporal test. Steps are
    those of the log: no time passes in between.
    """
    hit = codes == item
    if steps is None:
        return hit.astype(np.float64)
    return np.bincount(steps[hit], minlength=int(steps[-1]) + 1).astype(np.float64)


def stationarity(
    codes: npt.NDArray[np.integer[Any]], n_items: int, *, permutations: int = 499, seed: int = 0
) -> Stationarity:
    """Compare the first half of a log's accesses with the second.

    The null hypothesis is that the log is stationary. Successive accesses depend on each other, so
    not accesses but blocks of them are permuted [1]_: the log is cut into 20 blocks of equal
    length, and half of them, drawn at random, stand for its first half. Dependence within a block
    stays as it is. Dependence that reaches further makes p too small (repeats of one item, on
    average a quarter of a block long, doubled a nominal 0.1), as does any drift: a memory that
    still grows is not stationary. p = (1 + permutations at least as extreme) / (1 + all) [2]_.

    Parameters
    ----------
    codes
        The item of each access in order, shape (n_accesses,).
    n_items
        Number of items.
    permutations
        Random permutations.
    seed
        Seed of their stream.

    Raises
    ------
    InputError
        If ``permutations`` is below 1.

    References
    ----------
    .. [1] C. Kirch (2007), Block permutation principles for the change analysis of dependent data,
       Journal of Statistical Planning and Inference 137.
    .. [2] B. Phipson and G. K. Smyth (2010), Permutation p-values should never be zero,
       Statistical Applications in Genetics and Molecular Biology 9(1).
    """
    from scipy.sparse import csc_array

    if permutations < 1:
        raise InputError(f"permutations: {permutations} is not an integer of at least 1")
    if codes.size < BLOCKS * _FEWEST_PER_BLOCK:
        return Stationarity(
            reason=f"{codes.size:,} accesses are too few for {BLOCKS} blocks of at least "
            f"{_FEWEST_PER_BLOCK}"
        )
    if n_items < 2:
        return Stationarity(reason="one item only")
    bounds = np.linspace(0, codes.size, BLOCKS + 1).astype(np.int64)
    columns = [np.unique(codes[low:high], return_counts=True) for low, high in pairwise(bounds)]
    ends = np.cumsum([0, *(items.size for items, _ in columns)])
    per_block = csc_array(
        (
            np.concatenate([numbers for _, numbers in columns]),
            np.concatenate([items for items, _ in columns]),
            ends,
        ),
        shape=(n_items, BLOCKS),
    )
    total = np.asarray(per_block.sum(axis=1)).ravel()
    top = _best(total, math.ceil(n_items / 10))

    def compare(in_first: npt.NDArray[np.int64]) -> tuple[float, ...]:
        first = per_block @ in_first
        second = total - first
        parts = (first, second)
        ginis = [_gini(part) for part in parts]
        shares = [float(part[top].sum() / part.sum()) for part in parts]
        size = math.ceil(min(int(np.count_nonzero(part)) for part in parts) / 10)
        common = np.intersect1d(_best(first, size), _best(second, size), assume_unique=True)
        return (*ginis, *shares, common.size / size)

    half = np.repeat(np.array([1, 0]), BLOCKS // 2)
    observed = compare(half)
    rng = stream("stationarity", seed)
    extreme = np.zeros(3, np.int64)
    distance = _distances(observed)
    for _ in range(permutations):
        # Sums in another order differ in their last digits.
        extreme += _distances(compare(rng.permutation(half))) >= distance - 1e-12
    p_gini, p_share, p_overlap = ((1 + extreme) / (1 + permutations)).tolist()
    gini_first, gini_second, share_first, share_second, overlap = observed
    return Stationarity(
        gini_first=gini_first,
        gini_second=gini_second,
        top_share_first=share_first,
        top_share_second=share_second,
        overlap=overlap,
        p_gini=p_gini,
        p_top_share=p_share,
        p_overlap=p_overlap,
        p=min(1.0, 3 * min(p_gini, p_share, p_overlap)),
        blocks=BLOCKS,
        permutations=permutations,
    )


def _gini(counts: Counts) -> float:
    """Return the Gini coefficient of the items used, 0 for one item.

    As :func:`coretail.concentration.gini`, in integers: accesses of one log are few enough, and
    some hundred permutations want no floating-point product, whose threads get in each other's way.
    """
    used = np.sort(counts[counts > 0])
    cumulated = np.cumsum(used)
    return float((used.size + 1 - 2 * int(cumulated.sum()) / int(cumulated[-1])) / used.size)


def _distances(values: tuple[float, ...]) -> npt.NDArray[np.float64]:
    gini_first, gini_second, share_first, share_second, overlap = values
    return np.array([abs(gini_first - gini_second), abs(share_first - share_second), 1 - overlap])


def _best(counts: Counts, size: int) -> npt.NDArray[np.intp]:
    """Return the items with the largest counts, ties to the lower index."""
    keys = counts * counts.size - np.arange(counts.size)
    return np.argpartition(keys, counts.size - size)[counts.size - size :]


def _not_calibrated(audit: AuditResult, ks: Rule, x_min: int | None, min_tail: int) -> str | None:
    """Return why the calibration says nothing of an audit with these settings, else None."""
    calibrated = shipped()
    reason = None
    if ks != calibrated.ks:
        reason = f"it was made with ks {calibrated.ks}"
    elif audit.thresholds != calibrated.thresholds:
        reason = "it was made with other thresholds"
    elif x_min is not None or min_tail != 1:
        reason = "it was made with a fitted x_min and no smallest tail"
    elif audit.verdict != "not_auditable" and audit.p_gof is None:
        reason = "it was made with bootstrap replicates"
    return None if reason is None else f"the calibration does not apply: {reason}"


def _reliability(audit: AuditResult) -> Reliability:
    fewest = audit.thresholds.n_tail
    if audit.n_tail < fewest:
        return Reliability(
            reason=f"with n_tail below {fewest:,} every sample is not auditable, whatever its law"
        )
    return reliability(shipped(), audit.verdict, audit.n_tail)


def tail_growth(
    counts: Counts,
    codes: npt.NDArray[np.integer[Any]] | None,
    *,
    n_tail: int,
    seed: int = 0,
    ks: Rule = "full",
    x_min: int | None = None,
    min_tail: int = 1,
) -> Growth:
    """Return how n_tail grew with the length of a log.

    Its beginnings of 1/4, ..., 1/2, ..., 1 of the accesses are audited, the cutoff fitted in each.
    Where the order is not known, every access is kept with that chance instead: the growth is then
    that of a log whose accesses are independent of one another.

    Parameters
    ----------
    counts, codes
        As in :func:`audit_trace`.
    n_tail
        That of the whole.
    seed
        Seed of the random parts.
    ks, x_min, min_tail
        Settings of the audit.
    """
    rng = stream("tail-growth", seed)
    total = int(counts.sum(dtype=np.float64)) if codes is None else codes.size
    accesses, tails = [total], [n_tail]
    for size in _PART_SIZES[1:]:
        if codes is None:
            part = rng.binomial(counts, size)
            accesses.append(int(part.sum(dtype=np.float64)))
        else:
            accesses.append(int(codes.size * size))
            part = np.bincount(codes[: accesses[-1]])
        part = part[part > 0]
        audit = audit_counts(part, replicates=0, ks=ks, x_min=x_min, min_tail=min_tail)
        tails.append(audit.n_tail)
    parts = "random" if codes is None else "beginnings"
    lengths, sizes = np.array(accesses, float), np.array(tails)
    with_tail = sizes > 0
    if n_tail == 0 or with_tail.sum() < _FEWEST_PARTS:
        reason = "there is no tail" if n_tail == 0 else "too few parts of it have a tail"
        return Growth(None, tuple(accesses), tuple(tails), parts, reason)
    exponent = np.polyfit(np.log(lengths[with_tail]), np.log(sizes[with_tail]), 1)[0]
    return Growth(float(exponent), tuple(accesses), tuple(tails), parts)


def shortfall(
    n_accesses: int, audit: AuditResult, growth: Growth, wanted: Sequence[Need] = ()
) -> Shortfall | None:
    """Return how much longer the log would have to be, None if its tail is long enough.

    Parameters
    ----------
    n_accesses
        Its length.
    audit
        Its audit.
    growth
        How its tail grew so far; it is taken to go on growing so.
    wanted
        How long the calibration asks a tail to be.
    """
    fewest = audit.thresholds.n_tail
    if audit.n_tail >= fewest:
        return None

    def target(law: str | None, n_tail: int | None) -> Target:
        if n_tail is None or growth.exponent is None or growth.exponent < _FLAT:
            return Target(law, n_tail, None, None)
        # In logarithms: a power beyond all floats is none that anybody waits for.
        log_factor = math.log(n_tail / audit.n_tail) / growth.exponent
        if log_factor > math.log(_FARTHEST):
            return Target(law, n_tail, None, None)
        factor = math.exp(log_factor)
        return Target(law, n_tail, factor, math.ceil((factor - 1) * n_accesses))

    own = target(None, fewest)
    return Shortfall(
        wanted=fewest,
        factor=own.factor,
        more_accesses=own.more_accesses,
        growth=growth,
        rate=RATE,
        targets=tuple(target(need.law, need.auditable_from) for need in wanted),
    )


def _missing(audit: AuditResult, missing: Shortfall) -> Iterator[str]:
    """Say how many more accesses an auditable tail takes."""
    growth, wanted = missing.growth, missing.wanted
    if not audit.n_tail:
        yield f"There is no tail: nothing says how many more accesses would give one of {wanted:,}."
        return
    if growth.exponent is None:
        yield (
            f"The tail has {audit.n_tail:,} items, fewer than {wanted:,}; nothing says how many "
            f"more accesses would do: {growth.reason}."
        )
        return
    whole, half, quarter = (growth.n_tails[k] for k in (0, 4, 8))
    what = "a beginning" if growth.parts == "beginnings" else "a random part"
    grew = (
        f"The tail has {audit.n_tail:,} items, fewer than {wanted:,}. In {what} of a quarter, a "
        f"half and the whole of this log n_tail is {quarter:,}, {half:,} and {whole:,}, over "
        f"{len(growth.n_tails)} such parts about accesses^{growth.exponent:.2f}"
    )
    if missing.factor is None:
        slow = "does not grow" if growth.exponent < _FLAT else "grows too slowly"
        yield (
            f"{grew}: it {slow}, so more accesses of this kind are not known to help (more than "
            f"{_FARTHEST:,} times this log)."
        )
        return
    yield (
        f"{grew}. If it goes on so (an assumption: one log's growth is known roughly, and a memory "
        f"that has met all its items gains little), {missing.more_accesses:,} more "
        f"accesses, {missing.factor:.1f} times this log, would reach {wanted:,}."
    )
    if missing.targets:
        yield (
            f"By calibration at least {missing.rate:.0%} of samples are auditable from a true tail "
            "of " + "; ".join(_target_in_words(target) for target in missing.targets) + "."
        )


def _target_in_words(target: Target) -> str:
    law = _law(target.law)
    if target.n_tail is None:
        return f"no size tried ({law})"
    if target.factor is None:
        return f"{target.n_tail:,} ({law}; more than {_FARTHEST:,} times this log)"
    return (
        f"{target.n_tail:,} ({law}; {target.more_accesses:,} more accesses, "
        f"{target.factor:.1f} times this log)"
    )


def _law(name: str | None) -> str:
    return str(name).replace("lognormal", "log-normal").replace("_", " ")


def _right_in_words(wanted: Sequence[Need], rate: float) -> str:
    parts = [
        f"{_law(need.law)}s from a tail of {need.right_from:,}"
        if need.right_from is not None
        else f"{_law(need.law)}s at no size up to {need.largest:,} (at most {need.best_right:.0%}, "
        f"at {need.best_right_at:,}): there a longer log does not help"
        for need in wanted
        if need.best_right is not None
    ]
    return (
        f"By calibration the audit gives at least {rate:.0%} of samples the verdict of their law: "
        + "; ".join(parts)
        + ". Its four laws have the parameters of random walks; of others it says nothing."
    )


def _limits(
    audit: AuditResult,
    spectrum: Spectrum,
    halves: Stationarity,
    missing: Shortfall | None,
    wanted: Sequence[Need],
) -> Iterator[str]:
    if missing is not None:
        yield from _missing(audit, missing)
    if wanted:
        yield _right_in_words(wanted, RATE)
    pair = audit.comparisons.get("power_law_vs_lognormal")
    if missing is None and pair is not None and pair.prefers(audit.thresholds.z) is None:
        z = "undefined" if pair.z is None else f"{pair.z:.2g}"
        yield f"The tail does not tell a power law from a log-normal (z = {z})."
    if audit.n_tail and audit.p_gof is None:
        yield "Without bootstrap replicates there is no goodness of fit, and no verdict from it."
    if halves.p is not None and halves.p < LEVEL:
        yield (
            f"First and second half differ (p = {halves.p:.2g}): one law for the whole log may "
            "describe neither."
        )
    if halves.reason is not None:
        yield f"Nothing is said of whether the log is stationary: {halves.reason}."
    if spectrum.reason is not None:
        yield f"Nothing is said of how accesses correlate in time: {spectrum.reason}."
    yield (
        "Accesses reinforce each other, so counts are not independent draws and every p is "
        "approximate; only a control with the same memory and random choices can show that the "
        "agent's choices, not its retriever, make the tail."
    )


def trace_record(sample: str, log: Mapping[str, Any], result: TraceAudit) -> dict[str, Any]:
    """Return one row of the artefact ``trace_audits``.

    Parameters
    ----------
    sample
        Name of the sample.
    log
        What is known of its file: ``layout``, ``order``, ``notes``.
    result
        Its audit.
    """
    shape, halves, spectrum = result.concentration, result.stationarity, result.spectrum
    undefined = {**shape.reasons, "spectrum": spectrum.reason, "halves": halves.reason}
    audit = audit_record(result.audit)
    return {
        "sample": sample,
        "layout": log["layout"],
        "order": log["order"],
        "n_items": shape.n,
        "total": shape.total,
        "gini": shape.gini,
        "skew": shape.skew,
        "max_median": shape.max_median,
        "top10_share": shape.top10_share,
        "singletons": shape.singletons,
        "sigma_top10": shape.sigma_top10,
        **{name: value for name, value in audit.items() if not name.startswith("package_")},
        "exponent": spectrum.exponent,
        "exponent_se": spectrum.exponent_se,
        "n_steps": spectrum.n,
        "gini_first": halves.gini_first,
        "gini_second": halves.gini_second,
        "top_share_first": halves.top_share_first,
        "top_share_second": halves.top_share_second,
        "overlap": halves.overlap,
        "p_gini": halves.p_gini,
        "p_top_share": halves.p_top_share,
        "p_overlap": halves.p_overlap,
        "p_halves": halves.p,
        "permutations": halves.permutations,
        "tau": result.tau.value,
        "tau_weight": result.tau.weight,
        "tau_reason": result.tau.reason,
        "more_accesses": None if result.shortfall is None else result.shortfall.more_accesses,
        "undefined": "; ".join(f"{name}: {why}" for name, why in undefined.items() if why),
        "limits": " ".join(result.limits),
        "notes": "; ".join(log["notes"]),
    }


def trace_curves(
    record: Mapping[str, Any], counts: Counts, first_half: Counts | None = None
) -> list[dict[str, Any]]:
    """Return the points of one sample's figure: ``sample, curve, x, y``.

    Parameters
    ----------
    record
        The sample's row of ``trace_audits``.
    counts
        Accesses of each item, shape (n_items,).
    first_half
        Those among the first half of all accesses, shape (n_items,); None where the order is not
        known.

    Returns
    -------
    list of dict
        Curves ``ccdf`` and one per fitted law (count x, share y of items with at least x), thinned
        to some hundred points; ``lorenz`` and, where the order is known, ``lorenz_first`` and
        ``lorenz_second`` (share x of the items, least accessed first, and share y of accesses).
    """
    ordered = np.sort(counts)
    values, starts = np.unique(ordered, return_index=True)
    curves: dict[str, tuple[npt.NDArray[Any], npt.NDArray[Any]]] = {
        "ccdf": (values, (ordered.size - starts) / ordered.size)
    }
    for law, shape in fitted_shapes(dict(record)).items():
        x = np.unique(np.geomspace(record["x_min"], 2 * values[-1], 200).round())
        share = survival(shape, x) * record["n_tail"] / record["n"]
        # A law goes on without end; the data end at one item.
        seen = share * record["n"] >= 0.5
        curves[law] = (x[seen], share[seen])
    parts = {"lorenz": counts}
    if first_half is not None:
        parts |= {"lorenz_first": first_half, "lorenz_second": counts - first_half}
    for name, part in parts.items():
        used = np.sort(part[part > 0])
        if used.size:
            share = np.concatenate([[0.0], np.cumsum(used) / used.sum(dtype=np.float64)])
            curves[name] = (np.linspace(0, 1, used.size + 1), share)
    return [
        {"sample": record["sample"], "curve": name, "x": float(x[at]), "y": float(y[at])}
        for name, (x, y) in curves.items()
        for at in _thinned(x.size, logarithmic=not name.startswith("lorenz"))
    ]


def _thinned(size: int, *, logarithmic: bool) -> npt.NDArray[np.intp]:
    """Return at most some hundred positions of a curve, both ends among them.

    A cumulative distribution is thinned where its many single counts lie close together on a
    logarithmic axis, a Lorenz curve evenly and again towards its steep end.
    """
    if size <= _POINTS:
        return np.arange(size)
    even = np.linspace(0, size - 1, _POINTS // 2)
    close = np.geomspace(1, size, _POINTS // 2)
    return np.unique(
        np.concatenate([even, close - 1 if logarithmic else size - close]).astype(np.intp)
    )


def first_half_counts(codes: npt.NDArray[np.integer[Any]], n_items: int) -> Counts:
    """Return each item's accesses among the first half of all, shape (n_items,).

    The halves are those of :func:`stationarity`.
    """
    return np.bincount(codes[: codes.size // 2], minlength=n_items).astype(np.int64)


def trace_items(
    sample: str, counts: Counts, ids: Any = None, first_half: Counts | None = None
) -> dict[str, Any]:
    """Return the columns of the artefact ``trace_items``: items by rank, ties in their order.

    Parameters
    ----------
    sample
        Name of the sample.
    counts, first_half
        Accesses of each item, and those among the first half of all, shape (n_items,).
    ids
        The items' ids, an Arrow array of shape (n_items,).
    """
    order = np.argsort(-counts, kind="stable")
    return {
        "sample": sample,
        "rank": np.arange(1, counts.size + 1),
        "id": None if ids is None else ids.take(order),
        "accesses": counts[order],
        "first_half": None if first_half is None else first_half[order],
    }
