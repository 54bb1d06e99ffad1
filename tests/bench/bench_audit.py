"""The audit, against igraph's plfit and the ``powerlaw`` package, on random walks' access counts.

CPU seconds, all engines in one process on the same samples. Where an engine is too slow to be run
in full, its cost is that of fewer replicates, scaled; the row says so.
"""

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator
from statistics import median
from time import process_time

import igraph
import numpy as np
import powerlaw

from coretail.audit import audit_counts, find_cutoff, sample_of
from coretail.audit.engine import compare_laws
from coretail.audit.laws import fit_laws
from coretail.audit.sample import tail_of
from coretail.rollouts.walk import random_walk
from coretail.worlds.topology import FAMILIES, build_topology

Counts = np.ndarray

SIZES = (100, 500, 1000)
SEEDS = (42, 43, 44)
REPLICATES = 100


def benchmarks() -> Iterator[dict]:
    cells = [access_counts(family, n, seed) for family in FAMILIES for n in SIZES for seed in SEEDS]
    # One cell per family and two sizes: the smallest graphs' samples and those of the middle.
    chosen = [cells[9 * f + 3 * s] for f in range(len(FAMILIES)) for s in (0, 1)]
    audit_counts(chosen[0], replicates=2)

    igraph_audits = [cpu(lambda c=c: igraph_p(c, REPLICATES)) for c in chosen]
    our_audits = [cpu(lambda c=c: audit_counts(c, replicates=REPLICATES)) for c in chosen]
    yield row(
        f"audit with {REPLICATES} replicates, alternatives included",
        f"igraph power_law_fit with a p of {REPLICATES} replicates",
        ratios(igraph_audits, our_audits),
    )
    exact = [cpu(lambda c=c: package_fit(c)) for c in chosen[:8]]
    yield row(
        f"audit with {REPLICATES} replicates, alternatives included",
        f"powerlaw {powerlaw.__version__} exact: one fit x {REPLICATES + 1} (extrapolated)",
        ratios([(REPLICATES + 1) * t for t in exact], our_audits),
    )
    fits = [cpu(lambda c=c: find_cutoff(sample_of(c)), repeats=20) for c in chosen[:8]]
    yield row("cutoff and exponent", f"powerlaw {powerlaw.__version__} exact", ratios(exact, fits))
    yield four_fits(chosen[:8])
    yield whole_grid(cells)


def four_fits(samples: list[Counts]) -> dict:
    def ours(tail: object) -> None:
        fits, free = fit_laws(tail)
        compare_laws(tail, fits, free, gate=0.5)

    theirs, own = [], []
    for counts in samples:
        sample = sample_of(counts)
        tail = tail_of(sample, find_cutoff(sample).x_min)
        fit = package_fit(counts)
        theirs.append(cpu(lambda f=fit: package_ratios(f)))
        own.append(cpu(lambda t=tail: ours(t), repeats=20))
    return row(
        f"four tail fits with their ratios ({1000 * median(own):.2g} ms a sample)",
        f"powerlaw {powerlaw.__version__}: three ratios of the same laws, from its own cutoff",
        ratios(theirs, own),
    )


def whole_grid(cells: list[Counts]) -> dict:
    few, many = 10, 2500
    theirs = many / few * sum(cpu(lambda c=c: igraph_p(c, few)) for c in cells)
    begin = process_time()
    for number, counts in enumerate(cells):
        audit_counts(counts, replicates=many, key=(number,))
    own = process_time() - begin
    return row(
        f"{len(cells)} samples x {many:,} replicates ({own:.0f} CPU s)",
        f"igraph, {few} replicates x {many // few} (extrapolated: {theirs:,.0f} CPU s)",
        [theirs / own],
    )


def access_counts(family: str, n: int, seed: int) -> Counts:
    access = random_walk(build_topology(family, n, seed), steps=100_000).access
    return access[access > 0]


def igraph_p(counts: Counts, replicates: int) -> None:
    # plfit draws 0.25 / precision^2 replicates.
    precision = 0.5 / replicates**0.5
    igraph.power_law_fit(counts.tolist(), method="discrete", p_precision=precision)


def package_fit(counts: Counts) -> powerlaw.Fit:
    with quiet():
        fit = powerlaw.Fit(counts, discrete=True, estimate_discrete=False, verbose=0)
        fit.power_law  # noqa: B018  (fitted on access)
    return fit


def package_ratios(fit: powerlaw.Fit) -> None:
    with quiet():
        for pair in (
            ("truncated_power_law", "lognormal"),
            ("power_law", "lognormal"),
            ("power_law", "exponential"),
        ):
            fit.distribution_compare(*pair)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def cpu(work: Callable[[], object], repeats: int = 1) -> float:
    begin = process_time()
    for _ in range(repeats):
        work()
    return (process_time() - begin) / repeats


def ratios(baseline: list[float], ours: list[float]) -> list[float]:
    return [b / o for b, o in zip(baseline, ours, strict=False)]


def row(name: str, baseline: str, values: list[float]) -> dict:
    return {
        "name": name,
        "baseline": baseline,
        "ratio_median": median(values),
        "ratio_low": min(values),
        "ratio_high": max(values),
        "runs": len(values),
    }
