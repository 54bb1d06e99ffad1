"""The audit of one agent's memory trace: how concentrated, which law, whether it is stationary.

Everything here works on arrays: which item each access was of (``codes``), at which step
(``steps``), and how often each item was accessed (``counts``). :mod:`coretail.logs` reads them
from files.
"""

import math
from collections.abc import Iterator, Mapping
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
class Shortfall:
    """How much longer a log would have to be for an auditable tail: a rough extrapolation.

    Attributes
    ----------
    wanted
        Fewest observations of an auditable tail.
    factor
        How many times the present tail that is.
    more_accesses, more_items
        Accesses and items to be added if the tail grows in proportion to both; None where there
        is no tail to extrapolate from.
    """

    wanted: int
    factor: float | None
    more_accesses: int | None
    more_items: int | None


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
    missing = shortfall(shape.total, values.size, result)
    return TraceAudit(
        n_accesses=shape.total,
        n_items=values.size,
        concentration=shape,
        audit=result,
        spectrum=spectrum,
        stationarity=halves,
        tau=tau_from_audit(result.verdict, result.alpha, result.p_gof, result.n_tail),
        shortfall=missing,
        limits=tuple(_limits(result, spectrum, halves, missing)),
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


def shortfall(n_accesses: int, n_items: int, audit: AuditResult) -> Shortfall | None:
    """Return how much longer the log would have to be, None if its tail is long enough.

    A rough extrapolation: that n_tail grows in proportion to the accesses and the items, at the
    same cutoff. A memory that has met all its items, or a cutoff that moves, needs more.
    """
    wanted = audit.thresholds.n_tail
    if audit.n_tail >= wanted:
        return None
    if audit.n_tail == 0:
        return Shortfall(wanted, None, None, None)
    factor = wanted / audit.n_tail
    return Shortfall(
        wanted,
        factor,
        math.ceil((factor - 1) * n_accesses),
        math.ceil((factor - 1) * n_items),
    )


def _limits(
    audit: AuditResult, spectrum: Spectrum, halves: Stationarity, missing: Shortfall | None
) -> Iterator[str]:
    if missing is not None and missing.factor is None:
        yield (
            f"There is no tail, so nothing says how many more accesses would give one of "
            f"{missing.wanted}."
        )
    elif missing is not None:
        yield (
            f"The tail has {audit.n_tail:,} items, fewer than {missing.wanted:,}. If it grows in "
            f"proportion (a rough guess), {missing.more_accesses:,} more accesses and "
            f"{missing.more_items:,} more items, {missing.factor:.1f} times this log, would do."
        )
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
