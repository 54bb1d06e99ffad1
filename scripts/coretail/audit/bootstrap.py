"""Semi-parametric bootstrap of a law's goodness of fit."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from coretail.audit import kernels
from coretail.audit.laws import Fit
from coretail.audit.sample import Tail
from coretail.streams import Key, stream

# Replicates drawn from one stream: the unit of work of a thread.
_BLOCK = 100
# Samples drawn for one replicate before it counts as undefined.
_ATTEMPTS = 20
# Distances equal but for rounding are ties, and ties count against the law's rejection.
_TIE = 1e-12


@dataclass(frozen=True, slots=True)
class GoodnessOfFit:
    """A bootstrap p.

    Attributes
    ----------
    p
        Share of the defined replicates whose distance is at least the sample's; None where
        undefined.
    replicates
        Defined replicates.
    reason
        Why ``p`` is None, else None.
    """

    p: float | None
    replicates: int
    reason: str | None = None


def goodness_of_fit(
    tail: Tail,
    fit: Fit,
    *,
    replicates: int,
    key: Sequence[Key],
    refit: bool = True,
    full: bool = True,
    min_tail: int = 1,
    jobs: int = 1,
) -> GoodnessOfFit:
    """Return the bootstrap p of a law fitted to a tail.

    Every replicate has the sample's size: each of its observations is, with the sample's own
    proportions, one of the sample's values below the cutoff or a draw from the fitted law above
    it. In the replicate the power law's cutoff is scanned anew, the law is fitted from there, and
    its Kolmogorov-Smirnov distance is compared with the sample's. Replicates without a cutoff
    (fewer than three distinct values) are drawn again.

    Parameters
    ----------
    tail
        The tail that ``fit`` was fitted to.
    fit
        Power law, truncated power law or log-normal.
    replicates
        How many; 0 gives no p.
    key
        Key of the sample's random stream, the seed included. Replicates come in blocks of 100 with
        a stream each, so that p does not depend on ``jobs``.
    refit
        False where the cutoff is known: then the tail's size and cutoff are kept as they are.
    full
        Whether distances are taken over all integers.
    min_tail
        Fewest observations that a candidate cutoff may leave.
    jobs
        Threads.
    """
    if replicates <= 0:
        return GoodnessOfFit(None, 0, "no bootstrap was run")
    if fit.shape is None or fit.ks is None:
        return GoodnessOfFit(None, 0, fit.note)
    sample, start = tail.sample, tail.start
    lower = start if refit else 0
    below = np.repeat(np.arange(lower), sample.counts[:lower])
    shape = fit.shape
    law = (shape.number, shape.first, shape.second, shape.x_min)
    table = kernels.sampler_table(*law, float(tail.n))

    def block(index: int) -> kernels.Floats:
        return kernels.bootstrap(
            *law,
            sample.values[:lower],
            below,
            below.size + tail.n,
            refit,
            full,
            float(min_tail),
            *table,
            min(_BLOCK, replicates - index * _BLOCK),
            _ATTEMPTS,
            stream("bootstrap", fit.law, *key, index),
        )

    blocks = range(-(-replicates // _BLOCK))
    if jobs > 1 and len(blocks) > 1:
        with ThreadPoolExecutor(jobs) as pool:
            distances = np.concatenate(list(pool.map(block, blocks)))
    else:
        distances = np.concatenate([block(index) for index in blocks])
    defined = int(np.isfinite(distances).sum())
    if defined == 0:
        return GoodnessOfFit(None, 0, "no replicate has a cutoff")
    # A comparison with NaN is false: undefined replicates count neither way.
    exceeding = int(np.sum(distances >= fit.ks * (1.0 - _TIE)))
    return GoodnessOfFit(exceeding / defined, defined)
