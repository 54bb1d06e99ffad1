"""A slow, literal audit for the tests: definitions written down, without any of the engine."""

import math
from collections import Counter

import numpy as np
from scipy.optimize import brentq
from scipy.special import zeta


def log_likelihood(values, alpha, q):
    return -alpha * math.fsum(map(math.log, values)) - len(values) * math.log(zeta(alpha, q))


def exponent(values, q):
    """Return the maximum-likelihood alpha: the root of the mean of ln x less its expectation."""
    mean = math.fsum(math.log(x) for x in values) / len(values)

    def excess(alpha):
        h = 1e-5 * (alpha - 1)
        slope = (math.log(zeta(alpha + h, q)) - math.log(zeta(alpha - h, q))) / (2 * h)
        return -slope - mean

    high = 2.0
    while excess(high) > 0:
        high = 1 + 2 * (high - 1)
    return brentq(excess, 1 + 1e-6, high, xtol=1e-13, rtol=1e-13)


def distance(values, alpha, q, full):
    """Return the Kolmogorov-Smirnov distance, integer by integer."""
    counts = Counter(values)
    n = len(values)
    at_least = n
    largest = 0.0
    for x in range(q, max(values) + 1):
        above = zeta(alpha, x) / zeta(alpha, q)
        if full or x in counts:
            largest = max(largest, abs(at_least / n - above))
        at_least -= counts[x]
    if full:
        largest = max(largest, zeta(alpha, max(values) + 1) / zeta(alpha, q))
    return largest


def scan(values, full=True, min_tail=1):
    """Return (x_min, alpha, distance) over all candidate cutoffs."""
    best = None
    for q in sorted(set(values))[:-2]:
        tail = [x for x in values if x >= q]
        if len(tail) < min_tail:
            continue
        alpha = exponent(tail, q)
        d = distance(tail, alpha, q, full)
        if best is None or d < best[2] - 1e-12:
            best = (q, alpha, d)
    return best


def quantile(alpha, q, v):
    """Return the largest x with P(X >= x) >= v."""
    low, high = q, q + 1
    while zeta(alpha, high) / zeta(alpha, q) >= v:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if zeta(alpha, middle) / zeta(alpha, q) >= v:
            low = middle
        else:
            high = middle
    return low


def replicate(values, alpha, q, rng):
    """Return one semi-parametric replicate, drawing as the engine does."""
    n = len(values)
    below = sorted(x for x in values if x < q)
    out = []
    for _ in range(n):
        place = rng.random() * n
        if place < len(below):
            out.append(below[int(place)])
        else:
            out.append(quantile(alpha, q, (n - place) / (n - len(below))))
    return out


def expand(histogram):
    return np.repeat(list(histogram), list(histogram.values()))
