"""Compiled numerics of the audit: normalisers, fits, distances, samplers, bootstrap.

Every law lives on the integers x >= q (its cutoff) and is written relative to its value at q, so
that nothing over- or underflows: with k = x - q and L = ln(x / q),

- power law: f = exp(-alpha L),
- truncated power law: f = exp(-alpha L - lam k),
- exponential: f = exp(-lam k),
- log-normal: the mass of [x - 1/2, x + 1/2) of a log-normal density conditioned on t >= t0 with
  t0 = q - 1/2; with y = ln(t / t0) the density of y is proportional to exp(-eta1 y - eta2 y^2).

Samples are sorted unique values (float64 holding integers) and their counts. Values above 2**53
are the nearest doubles. All functions stay in this module, since the compiler's cache does not
notice edits of other modules.
"""

import math

import numpy as np
import numpy.typing as npt
from numba import njit

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# Without the interpreter's lock, so that blocks of a bootstrap run on threads.
kernel = njit(cache=True, nogil=True, error_model="numpy")

POWER_LAW = 0
TRUNCATED_POWER_LAW = 1
LOGNORMAL = 2
EXPONENTIAL = 3

# Draws beyond this are set to it: they exceed every count by hundreds of orders of magnitude, and
# powers of them must not overflow.
LARGEST_DRAW = 1e200

# B_2j / (2j)! of the Euler-Maclaurin formula.
_EULER = np.array(
    [
        1 / 12,
        -1 / 720,
        1 / 30240,
        -1 / 1209600,
        1 / 47900160,
        -691 / 1307674368000,
        1 / 74724249600,
        -3617 / 10670622842880000,
        43867 / 5109094217170944000,
        -174611 / 802857662698291200000,
    ]
)
# Coefficients of f', f''', f^(5), f^(7) of the midpoint Euler-Maclaurin formula.
_MIDPOINT = np.array([1 / 24, -7 / 5760, 31 / 967680, -127 / 154828800])
_BINOMIAL = np.array([[math.comb(m, i) for i in range(7)] for m in range(7)], dtype=np.float64)
_FACTORIAL = np.array([math.factorial(i) for i in range(8)], dtype=np.float64)

_TABLED = 4096.0
_LOGS = np.log(np.maximum(np.arange(_TABLED), 1.0))


def _unit_legendre(n: int) -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return (nodes + 1) / 2, weights / 2


_X4, _W4 = _unit_legendre(4)
_X8, _W8 = _unit_legendre(8)
_X16, _W16 = _unit_legendre(16)

_DROP = 42.0  # e^-42 = 6e-19: what is left out of an integral or a sum
_DIRECT = 400  # widest support, in integers, that is summed term by term
_SMOOTH_FROM = 64.0  # below it terms are summed one by one
_MAX_NEWTON = 200
# Newton's decrement, per observation, whose step ends a search: the next would be its square.
_QUADRATIC = 1e-12


@kernel
def log_ratio(q: float, k: float) -> float:
    """Return ln((q + k) / q)."""
    if q + k < _TABLED and q == np.floor(q) and k == np.floor(k):
        return _LOGS[int(q + k)] - _LOGS[int(q)]
    return math.log1p(k / q)


@kernel
def log1pmx(t: float) -> float:
    """Return ln(1 + t) - t without cancellation, for t > -1."""
    if abs(t) > 0.06:
        return math.log1p(t) - t
    total = 0.0
    for j in range(14, 1, -1):
        total = total * (-t) + 1.0 / j
    return -t * t * total


@kernel
def zeta_scaled(alpha: float, q: float) -> float:
    """Return zeta(alpha, q) q^alpha, the sum over k >= 0 of (1 + k / q)^-alpha, alpha > 1."""
    total = 0.0
    k = 0.0
    need = alpha + 12.0
    while q + k < need:
        w = math.exp(-alpha * log_ratio(q, k))
        total += w
        if w < 1e-18 * total:
            return total
        k += 1.0
    a = q + k
    scale = math.exp(-alpha * log_ratio(q, k)) if k > 0.0 else 1.0
    tail = a / (alpha - 1.0) + 0.5
    inverse = 1.0 / a
    p = alpha * inverse
    for j in range(_EULER.size):
        term = _EULER[j] * p
        tail += term
        if abs(term) < 1e-17 * tail:
            break
        p *= ((alpha + 2 * j + 1) * inverse) * ((alpha + 2 * j + 2) * inverse)
    return total + scale * tail


@kernel
def zeta_moments(alpha: float, q: float) -> tuple[float, float, float]:
    """Return (Z, mean, variance) of L = ln(x / q) under the power law; see :func:`zeta_scaled`."""
    z = 0.0
    z1 = 0.0
    z2 = 0.0
    k = 0.0
    need = alpha + 12.0
    while q + k < need:
        lr = log_ratio(q, k)
        w = math.exp(-alpha * lr)
        z += w
        z1 += lr * w
        z2 += lr * lr * w
        if k > 0.0 and lr * lr * w < 1e-18 * z2:
            mean = z1 / z
            return z, mean, z2 / z - mean * mean
        k += 1.0
    a = q + k
    shift = 0.0
    scale = 1.0
    if k > 0.0:
        shift = log_ratio(q, k)
        scale = math.exp(-alpha * shift)
    am1 = alpha - 1.0
    b = a / am1 + 0.5
    b1 = -a / (am1 * am1)
    b2 = 2.0 * a / (am1 * am1 * am1)
    inverse = 1.0 / a
    p = alpha * inverse
    p1 = inverse
    p2 = 0.0
    for j in range(_EULER.size):
        e = _EULER[j]
        b += e * p
        b1 += e * p1
        b2 += e * p2
        if abs(e * p) < 1e-17 * b and abs(e * p1) < 1e-17 * abs(b1):
            break
        f1 = (alpha + 2 * j + 1) * inverse
        f2 = (alpha + 2 * j + 2) * inverse
        f = f1 * f2
        df = (f1 + f2) * inverse
        p2 = p2 * f + 2.0 * p1 * df + 2.0 * p * inverse * inverse
        p1 = p1 * f + p * df
        p *= f
    z += scale * b
    z1 += scale * (shift * b - b1)
    z2 += scale * (shift * shift * b - 2.0 * shift * b1 + b2)
    mean = z1 / z
    return z, mean, z2 / z - mean * mean


@kernel
def _power_law_guess(mean_log: float, q: float) -> float:
    """Return a first alpha: the better of a continuous law from q - 1/2 and a geometric one."""
    step = log_ratio(q, 1.0)
    geometric = math.log1p(step / mean_log) / step
    continuous = 1.0 + 1.0 / (mean_log + 0.5 * step)
    return max(geometric, continuous)


@kernel
def _power_law_step(alpha: float, mean_log: float, q: float) -> tuple[float, float]:
    """Return a Newton step for alpha and the variance of L at ``alpha``.

    On ln E[L] from the left and on 1 / E[L] from the right, where neither can overshoot; near the
    root 1 / E[L] is almost linear in alpha.
    """
    _, mean, variance = zeta_moments(alpha, q)
    ratio = mean / mean_log
    slope = variance / mean
    if ratio > 1.5:
        return math.log(ratio) / slope, variance
    return max((ratio - 1.0) / slope, 0.9 * (1.0 - alpha)), variance


@kernel
def fit_power_law(mean_log: float, q: float) -> tuple[float, float]:
    """Return (alpha, variance of L) of the maximum-likelihood power law.

    ``mean_log`` is the mean of ln(x / q), positive; alpha has no upper bound.
    """
    alpha = _power_law_guess(mean_log, q)
    variance = 0.0
    for _ in range(_MAX_NEWTON):
        delta, variance = _power_law_step(alpha, mean_log, q)
        alpha += delta
        # The error is of the order of the squared relative step.
        if abs(delta) <= 1e-7 * (alpha - 1.0):
            break
    return alpha, variance


@kernel
def tail_sums(u: Floats, c: Ints) -> tuple[Floats, Floats]:
    """Return counts of values >= u[i], shape (m + 1,), and sums of ln(x / u[i]) over them."""
    m = u.size
    tc = np.zeros(m + 1)
    sl = np.zeros(m)
    for i in range(m - 1, -1, -1):
        tc[i] = tc[i + 1] + c[i]
        if i < m - 1:
            sl[i] = sl[i + 1] + tc[i + 1] * math.log1p((u[i + 1] - u[i]) / u[i])
    return tc, sl


@kernel
def _gap(
    u: Floats,
    lnu: Floats,
    tc: Floats,
    i: int,
    q: float,
    lnq: float,
    alpha: float,
    z: float,
    full: bool,
    j: int,
) -> tuple[float, float, float]:
    """Return (distance, P(X >= u_j), P(X > u_j)) at data value j of the tail that starts at i."""
    lr = math.log1p((u[j] - q) / q) if alpha > 50.0 else lnu[j] - lnq
    e = math.exp(-alpha * lr) / z
    above = e * zeta_scaled(alpha, u[j])
    beyond = above - e
    d = abs(tc[j] / tc[i] - above)
    if full:
        d = max(d, abs(tc[j + 1] / tc[i] - beyond))
    return d, above, beyond


@kernel
def power_law_distance(
    u: Floats,
    lnu: Floats,
    tc: Floats,
    i: int,
    q: float,
    alpha: float,
    z: float,
    full: bool,
    limit: float,
    hint: int,
) -> tuple[float, int]:
    """Return the Kolmogorov-Smirnov distance and where it is attained, or a value above ``limit``.

    Both survival functions fall, so between two data values the distance is bounded by the values
    at its ends: blocks that cannot hold the maximum are never entered. As soon as one distance
    exceeds ``limit`` the search stops.
    """
    m = u.size
    lnq = lnu[i] if q == u[i] else math.log(q)
    best = -1.0
    where = i
    if i <= hint < m:
        best, _, _ = _gap(u, lnu, tc, i, q, lnq, alpha, z, full, hint)
        where = hint
        if best > limit:
            return best, where
    n = tc[i]
    stack_lo = np.empty(64, dtype=np.int64)
    stack_hi = np.empty(64, dtype=np.int64)
    stack_lo_beyond = np.empty(64)
    stack_hi_above = np.empty(64)
    d, _, beyond = _gap(u, lnu, tc, i, q, lnq, alpha, z, full, i)
    if d > best:
        best, where = d, i
    if best > limit:
        return best, where
    if i == m - 1:
        return best, where
    d, above, _ = _gap(u, lnu, tc, i, q, lnq, alpha, z, full, m - 1)
    if d > best:
        best, where = d, m - 1
    stack_lo[0] = i
    stack_hi[0] = m - 1
    stack_lo_beyond[0] = beyond
    stack_hi_above[0] = above
    top = 1
    while top > 0:
        if best > limit:
            return best, where
        top -= 1
        lo = stack_lo[top]
        hi = stack_hi[top]
        lo_beyond = stack_lo_beyond[top]
        hi_above = stack_hi_above[top]
        if hi - lo < 2:
            continue
        bound = max(tc[lo + 1] / n - hi_above, lo_beyond - tc[hi] / n)
        if bound <= best:
            continue
        mid = (lo + hi) // 2
        d, above, beyond = _gap(u, lnu, tc, i, q, lnq, alpha, z, full, mid)
        if d > best:
            best, where = d, mid
        stack_lo[top] = lo
        stack_hi[top] = mid
        stack_lo_beyond[top] = lo_beyond
        stack_hi_above[top] = above
        stack_lo[top + 1] = mid
        stack_hi[top + 1] = hi
        stack_lo_beyond[top + 1] = beyond
        stack_hi_above[top + 1] = hi_above
        top += 2
    return best, where


@kernel
def scan(
    u: Floats, tc: Floats, sl: Floats, full: bool, min_tail: float, guess: float
) -> tuple[int, float, float]:
    """Return (index of the best cutoff, alpha, distance); index -1 where there is no candidate.

    Candidates are all values but the two largest that leave at least ``min_tail`` observations;
    of equal distances the smallest cutoff wins. ``guess`` is a cutoff to try first (or 0): it only
    saves time, as does the sparse first pass.
    """
    m = u.size
    last = m - 3
    while last >= 0 and tc[last] < min_tail:
        last -= 1
    if last < 0:
        return -1, 0.0, 0.0
    lnu = np.log(u)
    best_i = -1
    best_alpha = 0.0
    best_d = math.inf
    hint = -1
    start = -1
    if guess > 0.0:
        start = min(last, int(np.searchsorted(u, guess)))
        best_i = start
        best_alpha, _ = fit_power_law(sl[start] / tc[start], u[start])
        z = zeta_scaled(best_alpha, u[start])
        best_d, hint = power_law_distance(
            u, lnu, tc, start, u[start], best_alpha, z, full, math.inf, -1
        )
    stride = max(1, int(math.sqrt(last + 1)))
    for phase in range(2):
        for i in range(last + 1):
            if (i % stride == 0) != (phase == 0) or i == start:
                continue
            q = u[i]
            mean_log = sl[i] / tc[i]
            if hint >= i:
                # Most candidates fall at the place where the last one fell, and an approximate
                # alpha shows it: a survival function moves by at most |error| / (e (alpha - 1)).
                # The error of the continuous law is (alpha - 1)(alpha - 5) / (12 q^2) of alpha - 1,
                # and that after a Newton step far smaller than the step.
                alpha = 1.0 + 1.0 / (mean_log + 0.5 / q)
                ratio = alpha / q
                if ratio < 0.25:
                    margin = 0.5 * ratio * ratio
                else:
                    alpha = _power_law_guess(mean_log, q)
                    delta, _ = _power_law_step(alpha, mean_log, q)
                    alpha += delta
                    margin = abs(delta) / (alpha - 1.0)
                if margin < 0.1:
                    z = zeta_scaled(alpha, q)
                    d, _, _ = _gap(u, lnu, tc, i, q, lnu[i], alpha, z, full, hint)
                    if d > best_d + margin:
                        continue
            alpha, _ = fit_power_law(mean_log, q)
            z = zeta_scaled(alpha, q)
            d, hint = power_law_distance(u, lnu, tc, i, q, alpha, z, full, best_d, hint)
            if d < best_d or (d == best_d and i < best_i):
                best_i, best_alpha, best_d = i, alpha, d
    return best_i, best_alpha, best_d


# Truncated power law ------------------------------------------------------------------------------


@kernel
def _log_f(alpha: float, lam: float, q: float, k: float) -> float:
    return -alpha * math.log1p(k / q) - lam * k


@kernel
def _peak(alpha: float, lam: float, q: float) -> float:
    """Return the k >= 0 at which exp(-alpha L - lam k) is largest."""
    if alpha >= 0.0:
        return 0.0
    return max(0.0, -alpha / lam - q)


@kernel
def _fall(alpha: float, lam: float, q: float, upwards: bool) -> float:
    """Return k where exp(-alpha L - lam k) has fallen to e^-42 of its peak, above or below it.

    0 below the peak where it has not fallen so far by k = 0, infinity above it where it never does.
    """
    peak = _peak(alpha, lam, q)
    level = _log_f(alpha, lam, q, peak) - _DROP
    if not upwards:
        if _log_f(alpha, lam, q, 0.0) >= level:
            return 0.0
        lo, hi = 0.0, peak
        for _ in range(60):
            mid = 0.5 * (lo + hi)
            if _log_f(alpha, lam, q, mid) < level:
                lo = mid
            else:
                hi = mid
            if hi - lo <= 1e-3 * (peak - lo):
                break
        return lo
    width = 1.0
    while _log_f(alpha, lam, q, peak + width) > level:
        width *= 4.0
        if width > 1e300:
            return math.inf
    lo = 0.0 if width == 1.0 else width / 4.0
    hi = width
    while hi - lo > 0.02 * hi:
        mid = 0.5 * (lo + hi)
        if _log_f(alpha, lam, q, peak + mid) > level:
            lo = mid
        else:
            hi = mid
    return peak + hi


@kernel
def _midpoint_correction(alpha: float, lam: float, y: float) -> float:
    """Return sum f(x) from y + 1/2 up less the integral of f from y up, over f(y)."""
    q = np.zeros(8)
    s = np.empty(7)
    s[0] = -(lam + alpha / y)
    for j in range(1, 7):
        s[j] = -alpha * (-1.0) ** j * _FACTORIAL[j] / y ** (j + 1)
    q[0] = 1.0
    for m in range(7):
        for i in range(m + 1):
            q[m + 1] += _BINOMIAL[m, i] * s[i] * q[m - i]
    return _MIDPOINT[0] * q[1] + _MIDPOINT[1] * q[3] + _MIDPOINT[2] * q[5] + _MIDPOINT[3] * q[7]


@kernel
def _midpoint_jet(alpha: float, lam: float, y: float, out: Floats) -> None:
    """Fill ``out`` with the correction and its derivatives: 1, a, l, aa, al, ll."""
    jets = np.zeros((8, 6))
    jets[0, 0] = 1.0
    for m in range(7):
        for i in range(m + 1):
            b = _BINOMIAL[m, i]
            slope = -((-1.0) ** i) * _FACTORIAL[i] / y ** (i + 1) * b
            s = slope * alpha
            sl = 0.0
            if i == 0:
                s -= lam
                sl = -1.0
            low = jets[m - i]
            up = jets[m + 1]
            up[0] += s * low[0]
            up[1] += s * low[1] + slope * low[0]
            up[2] += s * low[2] + sl * low[0]
            up[3] += s * low[3] + 2.0 * slope * low[1]
            up[4] += s * low[4] + slope * low[2] + sl * low[1]
            up[5] += s * low[5] + 2.0 * sl * low[2]
    for t in range(6):
        out[t] = 0.0
        for r in range(4):
            out[t] += _MIDPOINT[r] * jets[2 * r + 1, t]


@kernel
def log_less_line(q: float, k: float, beta: float) -> float:
    """Return v = ln((q + k) / q) - beta k without cancellation."""
    r = k / q
    if r > 0.06:
        return math.log1p(r) - beta * k
    return log1pmx(r) + k * (1.0 / q - beta)


@kernel
def truncated_moments(
    alpha: float, lam: float, q: float, beta: float
) -> tuple[float, float, float, float, float, float]:
    """Return (ln Z, E v, E k, var v, cov(v, k), var k) of the truncated power law, lam > 0.

    Z is the sum over k >= 0 of (1 + k / q)^-alpha exp(-lam k), that is the Lerch transcendent
    Phi(e^-lam, alpha, q) q^alpha; v = L - beta k. The pair (v, k) spans the same family as (L, k);
    with beta the slope of L at a typical k it is far from collinear, however narrow the tail is
    beside q. Terms are summed directly where the support is short or the terms are not smooth;
    beyond, the sum is a Gauss-Legendre integral in ln x with the midpoint Euler-Maclaurin
    correction. ``alpha`` may be negative.
    """
    peak = _peak(alpha, lam, q)
    top = _log_f(alpha, lam, q, peak)
    # Moments up to k^2 and the Jacobian x of ln x weigh the far tail by x^3.
    k_hi = _fall(alpha - 3.0, lam, q, True)
    k_lo = np.floor(_fall(alpha, lam, q, False))
    k_ref = np.floor(peak)
    v_ref = log_less_line(q, k_ref, beta)
    l_ref = math.log1p(k_ref / q)
    s0 = 0.0
    sv = 0.0
    sk = 0.0
    svv = 0.0
    svk = 0.0
    skk = 0.0
    direct_to = math.inf
    if k_hi - k_lo > _DIRECT:
        direct_to = max(_SMOOTH_FROM - q, 0.0)
    k = k_lo
    while k <= k_hi and k < direct_to:
        f = math.exp(-alpha * log_ratio(q, k) - lam * k - top)
        dv = log_less_line(q, k, beta) - v_ref
        dk = k - k_ref
        s0 += f
        sv += f * dv
        sk += f * dk
        svv += f * dv * dv
        svk += f * dv * dk
        skk += f * dk * dk
        k += 1.0
    if direct_to < math.inf:
        y = max(q + k_lo, q + k) - 0.5
        t0 = math.log1p((y - q) / q)
        t1 = math.log1p(k_hi / q)
        panels = int(min(1e4, max(6.0, np.ceil((t1 - t0) / 1.25))))
        h = (t1 - t0) / panels
        for p in range(panels):
            for g in range(16):
                t = t0 + h * (p + _X16[g])
                kk = q * math.expm1(t)
                f = math.exp(-alpha * t - lam * kk - top) * h * _W16[g] * (q + kk)
                # L is the variable itself: v needs no logarithm where it does not cancel.
                dv = (t - beta * kk if t > 0.06 else log_less_line(q, kk, beta)) - v_ref
                dk = kk - k_ref
                s0 += f
                sv += f * dv
                sk += f * dk
                svv += f * dv * dv
                svk += f * dv * dk
                skk += f * dk * dk
        f = math.exp(_log_f(alpha, lam, q, y - q) - top)
        if f > 1e-18 * s0:
            jet = np.empty(6)
            _midpoint_jet(alpha, lam, y, jet)
            dl = t0 - l_ref
            dk = y - q - k_ref
            c0 = f * jet[0]
            cl = f * (dl * jet[0] - jet[1])
            ck = f * (dk * jet[0] - jet[2])
            cll = f * (dl * dl * jet[0] - 2.0 * dl * jet[1] + jet[3])
            clk = f * (dl * dk * jet[0] - dl * jet[2] - dk * jet[1] + jet[4])
            ckk = f * (dk * dk * jet[0] - 2.0 * dk * jet[2] + jet[5])
            s0 += c0
            sv += cl - beta * ck
            sk += ck
            svv += cll - 2.0 * beta * clk + beta * beta * ckk
            svk += clk - beta * ckk
            skk += ckk
    ev = sv / s0
    ek = sk / s0
    return (
        top + math.log(s0),
        v_ref + ev,
        k_ref + ek,
        svv / s0 - ev * ev,
        svk / s0 - ev * ek,
        skk / s0 - ek * ek,
    )


@kernel
def power_law_mean_k(alpha: float, q: float) -> float:
    """Return E[x - q] under the power law: infinite for alpha <= 2."""
    if alpha <= 2.0:
        return math.inf
    if _fall(alpha - 1.0, 0.0, q, True) <= _DIRECT:
        s0 = 0.0
        sk = 0.0
        k = 0.0
        while True:
            f = math.exp(-alpha * log_ratio(q, k))
            s0 += f
            sk += f * k
            if k > 0.0 and f * k < 1e-18 * sk:
                return sk / s0
            k += 1.0
    return q * (zeta_scaled(alpha - 1.0, q) / zeta_scaled(alpha, q) - 1.0)


@kernel
def _profile_alpha(
    mean_log: float, q: float, beta: float, alpha: float, lam: float
) -> tuple[float, float]:
    """Return (alpha, E k) that maximise the truncated law's likelihood at a given lam > 0."""
    _, ev, ek, vvv, vvk, vkk = truncated_moments(alpha, lam, q, beta)
    for _ in range(_MAX_NEWTON):
        gradient = ev + beta * ek - mean_log
        curvature = vvv + 2.0 * beta * vvk + beta * beta * vkk
        delta = gradient / curvature
        trial = truncated_moments(alpha + delta, lam, q, beta)
        for _halving in range(60):
            # The gradient falls in alpha, so a smaller one of either sign is progress.
            if abs(trial[1] + beta * trial[2] - mean_log) < abs(gradient):
                break
            delta *= 0.5
            trial = truncated_moments(alpha + delta, lam, q, beta)
        alpha += delta
        _, ev, ek, vvv, vvk, vkk = trial
        if abs(delta) <= 1e-7 * max(1.0, abs(alpha)):
            break
    return alpha, ek


@kernel
def _bracket_truncated(
    mean_log: float, mean_k: float, q: float, beta: float, alpha: float, lam: float
) -> tuple[float, float]:
    """Return a (alpha, lam) near the maximum, by bisection of the profile likelihood in ln lam.

    The profile is concave, so its slope E k - mean k changes its sign once. A maximum below
    1e-14 / mean k is returned as lam = 0: the likelihoods differ by less than 1e-13 there.
    """
    floor = 1e-14 / mean_k
    alpha, ek = _profile_alpha(mean_log, q, beta, alpha, lam)
    factor = 8.0 if ek > mean_k else 0.125
    low = high = lam
    for _ in range(_MAX_NEWTON):
        low, high = (high, high * factor) if factor > 1.0 else (low * factor, low)
        alpha, ek = _profile_alpha(mean_log, q, beta, alpha, high if factor > 1.0 else low)
        if (ek > mean_k) != (factor > 1.0):
            break
        if low < floor:
            return alpha, 0.0
    while high > 1.3 * low:
        mid = math.sqrt(low * high)
        alpha, ek = _profile_alpha(mean_log, q, beta, alpha, mid)
        if ek > mean_k:
            low = mid
        else:
            high = mid
    return alpha, math.sqrt(low * high)


@kernel
def _without_truncation(
    alpha: float, mean_log: float, q: float
) -> tuple[float, float, float, bool]:
    return alpha, 0.0, -alpha * mean_log - math.log(zeta_scaled(alpha, q)), True


@kernel
def fit_truncated(
    mean_log: float,
    mean_v: float,
    mean_k: float,
    q: float,
    beta: float,
    alpha: float,
    free: bool,
    start_alpha: float,
    start_lam: float,
) -> tuple[float, float, float, bool]:
    """Return (alpha, lam, log-likelihood per observation, converged) of the truncated power law.

    ``alpha`` is the pure power law's estimate, ``mean_v`` the mean of L - beta k. The likelihood is
    concave in (alpha, lam). lam = 0 is the maximum exactly if the pure power law's mean of k does
    not exceed the sample's (Karush-Kuhn-Tucker); otherwise damped Newton steps inside lam > 0.
    With ``free`` false alpha >= 0 is imposed too; where it binds the fit is the exponential law.
    ``start_lam > 0`` starts the search at the values given.
    """
    if power_law_mean_k(alpha, q) <= mean_k:
        return _without_truncation(alpha, mean_log, q)
    lam_geometric = math.log1p(1.0 / mean_k)
    if start_lam > 0.0:
        a, lam = start_alpha, start_lam
        logz, ev, ek, vvv, vvk, vkk = truncated_moments(a, lam, q, beta)
        value = -a * mean_log - lam * mean_k - logz
    else:
        # The better of the exponential law and a slightly truncated power law.
        a, lam = 0.0, lam_geometric
        logz, ev, ek, vvv, vvk, vkk = truncated_moments(a, lam, q, beta)
        value = -lam * mean_k - logz
        lam_other = 0.1 * lam_geometric
        other = truncated_moments(alpha, lam_other, q, beta)
        value_other = -alpha * mean_log - lam_other * mean_k - other[0]
        if value_other > value:
            a, lam, value = alpha, lam_other, value_other
            logz, ev, ek, vvv, vvk, vkk = other
    converged = False
    cut = 0
    for _ in range(_MAX_NEWTON):
        if cut == 3:
            # Near lam = 0 the curvature may grow without bound and hold Newton's steps there.
            a, lam = _bracket_truncated(mean_log, mean_k, q, beta, alpha, 0.01 * lam_geometric)
            if lam == 0.0:
                return _without_truncation(alpha, mean_log, q)
            logz, ev, ek, vvv, vvk, vkk = truncated_moments(a, lam, q, beta)
            value = -a * mean_log - lam * mean_k - logz
            cut += 1
        gv = ev - mean_v
        gk = ek - mean_k
        det = vvv * vkk - vvk * vvk
        if not det > 0.0:
            break
        da = (vkk * gv - vvk * gk) / det
        dr = (vvv * gk - vvk * gv) / det
        decrement = gv * da + gk * dr
        dlam = dr - beta * da
        step = 1.0
        if lam + dlam <= 0.0:
            step = -0.9 * lam / dlam
            cut += 1
        accepted = False
        for _halving in range(60):
            a_new = a + step * da
            lam_new = lam + step * dlam
            trial = truncated_moments(a_new, lam_new, q, beta)
            value_new = -a_new * mean_log - lam_new * mean_k - trial[0]
            if value_new >= value + 1e-4 * step * decrement or decrement < 1e-13:
                accepted = True
                break
            step *= 0.5
        if not accepted:
            converged = decrement < 1e-9
            break
        a, lam, value = a_new, lam_new, value_new
        logz, ev, ek, vvv, vvk, vkk = trial
        if lam < 1e-16 / mean_k:
            return _without_truncation(alpha, mean_log, q)
        if step == 1.0 and decrement < _QUADRATIC:
            converged = True
            break
    if not free and (a < 0.0 or not converged):
        # The exponential law is the bound's maximum; without convergence it is only taken where
        # the gradient there says that alpha would fall below zero.
        e = truncated_moments(0.0, lam_geometric, q, beta)
        if e[1] <= mean_v:
            return 0.0, lam_geometric, -lam_geometric * mean_k - e[0], True
    return a, lam, value, converged


@kernel
def _truncated_mass(alpha: float, lam: float, q: float, x1: float, x2: float) -> float:
    """Return the sum of f over the integers from x1 to x2 - 1, relative to f(q); alpha >= 0."""
    total = 0.0
    x = x1
    while x < x2:
        rest = x2 - x
        if rest > 32.0 and x >= _SMOOTH_FROM and lam + alpha / x < 0.45:
            break
        f = math.exp(-alpha * log_ratio(q, x - q) - lam * (x - q))
        total += f
        if f < 1e-22:
            return total
        x += 1.0
    if x >= x2:
        return total
    y1 = x - 0.5
    y2 = x2 - 0.5
    t1 = math.log1p((y1 - q) / q)
    span = math.log(y2 / y1)
    fall = alpha * span + lam * (y2 - y1)
    if fall > _DROP:
        k_end = x - q + _fall(alpha, lam, x, True)
        y2 = min(y2, q + k_end)
        span = math.log(y2 / y1)
        fall = _DROP
    panels = int(min(1e4, max(1.0, np.ceil(max(span / 1.25, fall / 12.0)))))
    h = span / panels
    integral = 0.0
    for p in range(panels):
        for g in range(16):
            t = t1 + h * (p + _X16[g])
            kk = q * math.expm1(t)
            integral += math.exp(-alpha * t - lam * kk) * _W16[g] * (q + kk)
    total += integral * h
    total += math.exp(_log_f(alpha, lam, q, y1 - q)) * _midpoint_correction(alpha, lam, y1)
    total -= math.exp(_log_f(alpha, lam, q, y2 - q)) * _midpoint_correction(alpha, lam, y2)
    return total


# Log-normal ---------------------------------------------------------------------------------------


@kernel
def _side(slope: float, e: float, width: float, sums: Floats, sign: float) -> None:
    """Add to ``sums`` the moments 0 to 4 of sign * z under exp(-slope z - e z^2), 0 <= z <= width.

    ``slope`` and ``e`` are not negative, so the integrand falls; it is cut where it is e^-42.
    """
    reach = 2.0 * _DROP / (slope + math.sqrt(slope * slope + 4.0 * _DROP * e))
    h = min(width, reach)
    linear = slope * h
    square = e * h * h
    # Orders at which Gauss-Legendre's error is below 1e-14 for either part of the exponent.
    if linear < 0.3 and square < 0.01:
        for g in range(4):
            z = h * _X4[g]
            w = h * _W4[g] * math.exp(-z * (slope + e * z))
            d = sign * z
            sums[0] += w
            sums[1] += w * d
            sums[2] += w * d * d
            sums[3] += w * d * d * d
            sums[4] += w * d * d * d * d
    elif linear < 4.0 and square < 1.0:
        for g in range(8):
            z = h * _X8[g]
            w = h * _W8[g] * math.exp(-z * (slope + e * z))
            d = sign * z
            sums[0] += w
            sums[1] += w * d
            sums[2] += w * d * d
            sums[3] += w * d * d * d
            sums[4] += w * d * d * d * d
    else:
        panels = 1 if linear + square < 12.0 else 3
        part = h / panels
        for p in range(panels):
            for g in range(16):
                z = part * (p + _X16[g])
                w = part * _W16[g] * math.exp(-z * (slope + e * z))
                d = sign * z
                sums[0] += w
                sums[1] += w * d
                sums[2] += w * d * d
                sums[3] += w * d * d * d
                sums[4] += w * d * d * d * d


@kernel
def _interval(s: float, e: float, w: float, sums: Floats) -> tuple[float, float]:
    """Integrate exp(-s z - e z^2) over 0 <= z <= w (w may be infinite; then e > 0 or s > 0).

    Returns the peak's place and ln of its height; ``sums`` gets the moments 0 to 4 of the distance
    from the peak, relative to its height.
    """
    sums[:] = 0.0
    if s >= 0.0:
        _side(s, e, w, sums, 1.0)
        return 0.0, 0.0
    peak = w
    if e > 0.0 and -s / (2.0 * e) < w:
        peak = -s / (2.0 * e)
    else:
        _side(-(s + 2.0 * e * w), e, w, sums, -1.0)
        return w, -w * (s + e * w)
    _side(0.0, e, peak, sums, -1.0)
    _side(0.0, e, w - peak, sums, 1.0)
    return peak, -peak * (s + e * peak)


@kernel
def _is_narrow(slope: float, e: float, w: float) -> bool:
    return abs(slope) * w < 0.1 and e * w * w < 0.01


@kernel
def _narrow_mean(slope: float, e: float, w: float) -> float:
    """Return the mean of exp(-slope d - e d^2) over -w/2 <= d <= w/2, to 1e-15 if narrow."""
    m2 = w * w / 12.0
    m4 = w * w * w * w / 80.0
    m6 = m2 * m4 * 960.0 / 448.0
    s2 = slope * slope
    return (
        1.0
        + (0.5 * s2 - e) * m2
        + (s2 * s2 / 24.0 - 0.5 * s2 * e + 0.5 * e * e) * m4
        + (s2 * s2 * s2 / 720.0 - s2 * s2 * e / 24.0 + 0.25 * s2 * e * e - e * e * e / 6.0) * m6
    )


@kernel
def lognormal_log_mass(eta1: float, eta2: float, y: float, width: float, sums: Floats) -> float:
    """Return ln of the integral of exp(-eta1 t - eta2 t^2) over y <= t <= y + width."""
    mid = y + 0.5 * width
    slope = eta1 + 2.0 * eta2 * mid
    if _is_narrow(slope, eta2, width):
        return -mid * (eta1 + eta2 * mid) + math.log(width * _narrow_mean(slope, eta2, width))
    _, height = _interval(eta1 + 2.0 * eta2 * y, eta2, width, sums)
    return -y * (eta1 + eta2 * y) + height + math.log(sums[0])


@kernel
def _lognormal_moments(
    eta1: float, eta2: float, y: float, width: float, sums: Floats, out: Floats
) -> None:
    """Fill ``out``: ln mass, E t, E t^2, var t, cov(t, t^2), var t^2 on y <= t <= y + width."""
    mid = y + 0.5 * width
    slope = eta1 + 2.0 * eta2 * mid
    if _is_narrow(slope, eta2, width):
        w2 = width * width
        u2 = w2 / 12.0
        u4 = w2 * w2 / 80.0
        u6 = w2 * w2 * w2 / 448.0
        s2 = slope * slope
        mean = _narrow_mean(slope, eta2, width)
        b2 = 0.5 * s2 - eta2
        b3 = slope * (eta2 - s2 / 6.0)
        m1 = (
            -slope * u2
            + b3 * u4
            + slope * (s2 * eta2 / 6.0 - s2 * s2 / 120.0 - 0.5 * eta2 * eta2) * u6
        ) / mean
        m2 = (u2 + b2 * u4 + (s2 * s2 / 24.0 - 0.5 * s2 * eta2 + 0.5 * eta2 * eta2) * u6) / mean
        m3 = (-slope * u4 + b3 * u6) / mean
        m4 = (u4 + b2 * u6) / mean
        peak = 0.5 * width
        ln_mass = -mid * (eta1 + eta2 * mid) + math.log(width * mean)
    else:
        peak, height = _interval(eta1 + 2.0 * eta2 * y, eta2, width, sums)
        s0 = sums[0]
        m1 = sums[1] / s0
        m2 = sums[2] / s0
        m3 = sums[3] / s0
        m4 = sums[4] / s0
        ln_mass = -y * (eta1 + eta2 * y) + height + math.log(s0)
    c = y + peak
    var = m2 - m1 * m1
    cov = m3 - m1 * m2
    out[0] = ln_mass
    out[1] = c + m1
    out[2] = c * c + 2.0 * c * m1 + m2
    out[3] = var
    out[4] = 2.0 * c * var + cov
    out[5] = 4.0 * c * c * var + 4.0 * c * cov + m4 - m2 * m2


@kernel
def _lognormal_derivatives(
    ys: Floats, ws: Floats, c: Floats, n: float, eta1: float, eta2: float, out: Floats
) -> None:
    """Fill ``out``, all per observation: log-likelihood, gradient (2), Hessian (3), Fisher (3)."""
    sums = np.empty(5)
    mom = np.empty(6)
    for r in range(6):
        out[r] = 0.0
    for j in range(ys.size):
        _lognormal_moments(eta1, eta2, ys[j], ws[j], sums, mom)
        share = c[j] / n
        out[0] += share * mom[0]
        out[1] -= share * mom[1]
        out[2] -= share * mom[2]
        out[3] += share * mom[3]
        out[4] += share * mom[4]
        out[5] += share * mom[5]
    _lognormal_moments(eta1, eta2, 0.0, math.inf, sums, mom)
    out[0] -= mom[0]
    out[1] += mom[1]
    out[2] += mom[2]
    for r in range(3):
        out[3 + r] -= mom[3 + r]
        out[6 + r] = mom[3 + r]


@kernel
def _climb_lognormal(
    ys: Floats, ws: Floats, cs: Floats, n: float, eta1: float, eta2: float
) -> tuple[float, float, float, bool]:
    """Return (eta1, eta2, log-likelihood per observation, converged) from a start in eta2 >= 0."""
    out = np.empty(9)
    trial = np.empty(9)
    _lognormal_derivatives(ys, ws, cs, n, eta1, eta2, out)
    converged = False
    for _ in range(_MAX_NEWTON):
        g1 = out[1]
        g2 = out[2]
        if eta2 == 0.0 and g2 <= 0.0:
            converged = True
            break
        h11 = -out[3]
        h12 = -out[4]
        h22 = -out[5]
        enough = _QUADRATIC
        if not (h11 > 0.0 and h11 * h22 - h12 * h12 > 1e-10 * h11 * h22):
            enough = 1e-20
            h11 = out[6]
            h12 = out[7]
            h22 = out[8]
        det = h11 * h22 - h12 * h12
        if not det > 0.0:
            break
        d1 = (h22 * g1 - h12 * g2) / det
        d2 = (h11 * g2 - h12 * g1) / det
        if eta2 == 0.0 and d2 < 0.0:
            d1 = g1 / h11
            d2 = 0.0
        decrement = g1 * d1 + g2 * d2
        step = 1.0
        if eta2 + d2 < 0.0:
            step = -eta2 / d2
        accepted = False
        for _halving in range(60):
            a1 = eta1 + step * d1
            a2 = max(0.0, eta2 + step * d2)
            if a2 > 0.0 or a1 > 0.0:
                _lognormal_derivatives(ys, ws, cs, n, a1, a2, trial)
                if trial[0] >= out[0] + 1e-4 * step * decrement or decrement < 1e-13:
                    accepted = True
                    break
            step *= 0.5
        if not accepted:
            converged = decrement < 1e-9
            break
        eta1, eta2 = a1, a2
        out, trial = trial, out
        if step == 1.0 and decrement < enough:
            converged = True
            break
    return eta1, eta2, out[0], converged


@kernel
def fit_lognormal(
    u: Floats, c: Ints, i: int, q: float, eta1: float, eta2: float
) -> tuple[float, float, float, float, bool]:
    """Return (eta1, eta2, log-likelihood per observation, that of its limit eta2 = 0, converged).

    First the limit eta2 = 0, a power law of exponent 1 + eta1; where the gradient there points to
    eta2 <= 0 it is the maximum. Otherwise Newton steps inside eta2 >= 0, damped, with the Fisher
    information in place of an indefinite Hessian. With eta2 > 0, ``eta1, eta2`` start the search;
    where they lead to a maximum inside, the limit is not computed (NaN).
    """
    m = u.size - i
    t0 = q - 0.5
    ys = np.empty(m)
    ws = np.empty(m)
    cs = np.empty(m)
    n = 0.0
    mean_log = 0.0
    for j in range(m):
        x = u[i + j]
        ys[j] = math.log1p((x - q) / t0)
        ws[j] = math.log1p(1.0 / (x - 0.5))
        cs[j] = c[i + j]
        n += cs[j]
        mean_log += cs[j] * (ys[j] + 0.5 * ws[j])
    mean_log /= n
    out = np.empty(9)
    if eta2 > 0.0:
        a1, a2, value, converged = _climb_lognormal(ys, ws, cs, n, eta1, eta2)
        if converged and a2 > 0.0:
            return a1, a2, value, math.nan, True
    # The limit: the discretised Pareto law, a concave problem in eta1 alone.
    b = 1.0 / mean_log
    converged = False
    for _ in range(_MAX_NEWTON):
        _lognormal_derivatives(ys, ws, cs, n, b, 0.0, out)
        curvature = -out[3] if out[3] < 0.0 else out[6]
        step = max(out[1] / curvature, -0.9 * b)
        b += step
        if abs(step) <= 1e-10 * b:
            converged = True
            break
    _lognormal_derivatives(ys, ws, cs, n, b, 0.0, out)
    limit = out[0]
    if out[2] <= 0.0:
        return b, 0.0, limit, limit, converged
    a1, a2, value, converged = _climb_lognormal(ys, ws, cs, n, b, 0.0)
    if value < limit:
        return b, 0.0, limit, limit, converged
    return a1, a2, value, limit, converged


# Any law: log mass, distance, draws ---------------------------------------------------------------
# A law is its number and two parameters: alpha, 0 | alpha, lam | eta1, eta2 | 0, lam. Its
# log-normaliser comes with it, so that it is computed once.


@kernel
def log_normaliser(law: int, a: float, b: float, q: float) -> float:
    """Return ln of the sum of f over x >= q, f(q) being 1 (log-normal: of the integral over y)."""
    if law == LOGNORMAL:
        sums = np.empty(5)
        return lognormal_log_mass(a, b, 0.0, math.inf, sums)
    if law == EXPONENTIAL:
        return -math.log(-math.expm1(-b))
    if law == TRUNCATED_POWER_LAW and b > 0.0:
        return truncated_moments(a, b, q, 0.0)[0]
    return math.log(zeta_scaled(a, q))


@kernel
def log_mass(law: int, a: float, b: float, q: float, log_z: float, x: float) -> float:
    """Return ln P(X = x) given X >= q."""
    k = x - q
    if law == LOGNORMAL:
        sums = np.empty(5)
        y = math.log1p(k / (q - 0.5))
        return lognormal_log_mass(a, b, y, math.log1p(1.0 / (x - 0.5)), sums) - log_z
    if law == POWER_LAW:
        return -a * log_ratio(q, k) - log_z
    return -a * log_ratio(q, k) - b * k - log_z


@kernel
def log_masses(law: int, a: float, b: float, q: float, x: Floats) -> Floats:
    """Return ln P(X = x) given X >= q for every x, shape (m,)."""
    log_z = log_normaliser(law, a, b, q)
    out = np.empty(x.size)
    for j in range(x.size):
        out[j] = log_mass(law, a, b, q, log_z, x[j])
    return out


@kernel
def _mass_between(
    law: int, a: float, b: float, q: float, log_z: float, x1: float, x2: float, sums: Floats
) -> float:
    """Return P(x1 <= X < x2) given X >= q, q <= x1 < x2; x2 may be infinite. Not POWER_LAW."""
    if law == LOGNORMAL:
        y = math.log1p((x1 - q) / (q - 0.5))
        width = math.log1p((x2 - x1) / (x1 - 0.5))
        return math.exp(lognormal_log_mass(a, b, y, width, sums) - log_z)
    if law == EXPONENTIAL:
        return -math.exp(-b * (x1 - q)) * math.expm1(-b * (x2 - x1))
    return _truncated_mass(a, b, q, x1, x2) * math.exp(-log_z)


@kernel
def survival(law: int, a: float, b: float, q: float, log_z: float, x: float) -> float:
    """Return P(X >= x) given X >= q."""
    if law == POWER_LAW or (law == TRUNCATED_POWER_LAW and b == 0.0):
        return math.exp(-a * math.log1p((x - q) / q) - log_z) * zeta_scaled(a, x)
    if law == EXPONENTIAL:
        return math.exp(-b * (x - q))
    if law == TRUNCATED_POWER_LAW:
        # The tail from x is a truncated power law again, from a cutoff of x.
        return math.exp(_log_f(a, b, q, x - q) + truncated_moments(a, b, x, 0.0)[0] - log_z)
    sums = np.empty(5)
    return _mass_between(law, a, b, q, log_z, x, math.inf, sums)


@kernel
def law_distance(
    law: int, a: float, b: float, q: float, u: Floats, tc: Floats, i: int, full: bool
) -> float:
    """Return the Kolmogorov-Smirnov distance of the tail u[i:] from a law fitted from q up."""
    if law == TRUNCATED_POWER_LAW and b == 0.0:
        law = POWER_LAW
    log_z = log_normaliser(law, a, b, q)
    if law == POWER_LAW:
        d, _ = power_law_distance(u, np.log(u), tc, i, q, a, math.exp(log_z), full, math.inf, -1)
        return d
    m = u.size
    n = tc[i]
    sums = np.empty(5)
    above = 1.0
    if u[i] > q:
        above -= _mass_between(law, a, b, q, log_z, q, u[i], sums)
    best = 0.0
    for j in range(i, m):
        beyond = above - math.exp(log_mass(law, a, b, q, log_z, u[j]))
        best = max(best, abs(tc[j] / n - above))
        if full:
            best = max(best, abs(tc[j + 1] / n - beyond))
        above = beyond
        if j + 1 < m and u[j + 1] > u[j] + 1.0:
            above -= _mass_between(law, a, b, q, log_z, u[j] + 1.0, u[j + 1], sums)
    return best


@kernel
def sampler_table(
    law: int, a: float, b: float, q: float, n: float
) -> tuple[Floats, Ints, Floats, Floats]:
    """Return what :func:`draw` needs: survival at q, q + 1, ..., a guide into it, and a far table.

    The first table ends where fewer than 1 / 64 of ``n`` draws are expected beyond, or after 4096
    integers. The far table holds growing steps beyond it and is used by the truncated law alone.
    """
    if law == TRUNCATED_POWER_LAW and b == 0.0:
        law = POWER_LAW
    log_z = log_normaliser(law, a, b, q)
    size = 64
    while size < 4096 and survival(law, a, b, q, log_z, q + size) > 1.0 / (64.0 * n):
        size *= 2
    table = np.empty(size + 1)
    table[size] = survival(law, a, b, q, log_z, q + size)
    for t in range(size - 1, 0, -1):
        table[t] = table[t + 1] + math.exp(log_mass(law, a, b, q, log_z, q + t))
    table[0] = 1.0
    buckets = 2 * size
    guide = np.zeros(buckets, dtype=np.int64)
    t = 0
    for bucket in range(buckets - 1, -1, -1):
        level = (bucket + 1.0) / buckets
        while t < size and table[t + 1] >= level:
            t += 1
        guide[bucket] = t
    far_x = np.empty(0)
    far_s = np.empty(0)
    if law == TRUNCATED_POWER_LAW:
        x = q + size
        steps = 1
        while survival(law, a, b, q, log_z, x) > 1e-17 and steps < 4000:
            x += np.ceil(0.25 * (x - q))
            steps += 1
        far_x = np.empty(steps)
        far_s = np.empty(steps)
        x = q + size
        for r in range(steps):
            far_x[r] = x
            far_s[r] = survival(law, a, b, q, log_z, x)
            x += np.ceil(0.25 * (x - q))
    return table, guide, far_x, far_s


@kernel
def _far_draw(
    law: int,
    a: float,
    b: float,
    q: float,
    log_z: float,
    start: float,
    start_s: float,
    far_x: Floats,
    far_s: Floats,
    v: float,
) -> float:
    """Return the largest integer x >= start with P(X >= x) >= v, where P(X >= start) = start_s."""
    if law == EXPONENTIAL:
        return max(start, q + np.floor(-math.log(v) / b))
    if law == LOGNORMAL:
        # ln P(T >= t0 e^y) is concave and falls: Newton's steps approach the root from above.
        sums = np.empty(5)
        y = math.log1p((start - q) / (q - 0.5))
        goal = math.log(v) + log_z
        for _ in range(_MAX_NEWTON):
            _, height = _interval(a + 2.0 * b * y, b, math.inf, sums)
            tail = math.log(sums[0]) + height
            delta = (tail - y * (a + b * y) - goal) * math.exp(tail)
            y += delta
            if abs(delta) <= 1e-12 * y:
                break
        if y > 660.0:
            return LARGEST_DRAW
        return min(LARGEST_DRAW, max(start, q + np.floor((q - 0.5) * math.expm1(y))))
    if law == POWER_LAW:
        # Survival continued to real x is smooth here; ln survival is almost linear in ln x.
        log_x = math.log1p((start - q) / q) + math.log(start_s / v) / (a - 1.0)
        goal = math.log(v) + log_z
        limit = math.log(LARGEST_DRAW / q)
        for _ in range(_MAX_NEWTON):
            if log_x > limit:
                return LARGEST_DRAW
            x = q * math.exp(log_x)
            z = zeta_scaled(a, max(x, start))
            delta = (-a * log_x + math.log(z) - goal) * z / x
            log_x += delta
            if abs(delta) <= 1e-13 * max(1.0, log_x):
                break
        return max(start, np.floor(q * math.exp(log_x)))
    lo = 0
    hi = far_x.size
    while hi - lo > 1:
        mid = (lo + hi) // 2
        if far_s[mid] >= v:
            lo = mid
        else:
            hi = mid
    x1 = far_x[lo]
    base = far_s[lo]
    low = x1
    high = x1 + np.ceil(0.25 * (x1 - q))
    while high - low > 1.0:
        mid_x = np.floor(0.5 * (low + high))
        if mid_x <= low or mid_x >= high:
            break
        if base - _truncated_mass(a, b, q, x1, mid_x) * math.exp(-log_z) >= v:
            low = mid_x
        else:
            high = mid_x
    return low


@kernel
def draw(
    law: int,
    a: float,
    b: float,
    q: float,
    size: int,
    table: Floats,
    guide: Ints,
    far_x: Floats,
    far_s: Floats,
    rng: np.random.Generator,
) -> Floats:
    """Return ``size`` draws of a law by inversion of its survival function, in floats."""
    if law == TRUNCATED_POWER_LAW and b == 0.0:
        law = POWER_LAW
    log_z = log_normaliser(law, a, b, q)
    last = table.size - 1
    out = np.empty(size)
    for r in range(size):
        v = 1.0 - rng.random()
        t = guide[min(guide.size - 1, int(v * guide.size))]
        while t < last and table[t + 1] >= v:
            t += 1
        if t < last:
            out[r] = q + t
        else:
            out[r] = _far_draw(law, a, b, q, log_z, q + last, table[last], far_x, far_s, v)
    return out


# Bootstrap ----------------------------------------------------------------------------------------


@kernel
def tail_means(u: Floats, c: Ints, i: int, q: float) -> tuple[float, float, float, float]:
    """Return (mean of L, of v, of k, beta) over the tail u[i:]; see :func:`truncated_moments`."""
    n = 0.0
    mean_log = 0.0
    mean_k = 0.0
    for j in range(i, u.size):
        n += c[j]
        mean_log += c[j] * math.log1p((u[j] - q) / q)
        mean_k += c[j] * (u[j] - q)
    mean_k /= n
    beta = 1.0 / (q + mean_k)
    mean_v = 0.0
    for j in range(i, u.size):
        mean_v += c[j] * log_less_line(q, u[j] - q, beta)
    return mean_log / n, mean_v / n, mean_k, beta


@kernel
def own_distance(
    law: int,
    u: Floats,
    c: Ints,
    tc: Floats,
    i: int,
    q: float,
    full: bool,
    a: float,
    b: float,
) -> float:
    """Fit a law to the tail u[i:] from q up and return its distance; NaN without convergence.

    ``a, b`` start the search.
    """
    if law == LOGNORMAL:
        a, b, _, _, converged = fit_lognormal(u, c, i, q, a, b)
        if not converged:
            return math.nan
        return law_distance(law, a, b, q, u, tc, i, full)
    mean_log, mean_v, mean_k, beta = tail_means(u, c, i, q)
    alpha, _ = fit_power_law(mean_log, q)
    if law == POWER_LAW:
        return law_distance(law, alpha, 0.0, q, u, tc, i, full)
    a, b, _, converged = fit_truncated(mean_log, mean_v, mean_k, q, beta, alpha, False, a, b)
    if not converged:
        return math.nan
    return law_distance(law, a, b, q, u, tc, i, full)


@kernel
def bootstrap(
    law: int,
    a: float,
    b: float,
    q: float,
    below_u: Floats,
    below_index: Ints,
    n: int,
    refit: bool,
    full: bool,
    min_tail: float,
    table: Floats,
    guide: Ints,
    far_x: Floats,
    far_s: Floats,
    replicates: int,
    attempts: int,
    rng: np.random.Generator,
) -> Floats:
    """Return the distances of samples drawn from a law above q and from the data below it.

    Parameters
    ----------
    below_u, below_index
        Distinct values below q, and for every observation below q (sorted) the index of its value.
    n
        Observations in a sample: each is one of those below q, or a draw, in their proportion.
    refit
        Whether the cutoff is scanned anew. Otherwise it is known, and nothing may be below it.
    replicates
        How many.
    attempts
        Samples tried per replicate: one without a cutoff is drawn again, since the null
        distribution is that of samples that have one. NaN where all fail.
    """
    drawn = POWER_LAW if law == TRUNCATED_POWER_LAW and b == 0.0 else law
    log_z = log_normaliser(drawn, a, b, q)
    last = table.size - 1
    n_below = below_index.size
    scale = 1.0 / (n - n_below)
    buckets = guide.size
    below_c = np.empty(below_u.size, dtype=np.int64)
    tail_c = np.empty(last, dtype=np.int64)
    far = np.empty(n)
    out = np.full(replicates, math.nan)
    for r in range(replicates):
        for _ in range(attempts):
            below_c[:] = 0
            tail_c[:] = 0
            n_far = 0
            top = -1
            for first in range(0, n, 4096):
                # The same numbers as one at a time, in half the time.
                for uniform in rng.random(min(4096, n - first)):
                    place = uniform * n
                    if place < n_below:
                        below_c[below_index[int(place)]] += 1
                        continue
                    # Given that it is above the cutoff, the place is uniform there.
                    v = max((n - place) * scale, 1e-17)
                    t = guide[min(buckets - 1, int(v * buckets))]
                    while t < last and table[t + 1] >= v:
                        t += 1
                    if t < last:
                        tail_c[t] += 1
                        top = max(top, t)
                    else:
                        far[n_far] = _far_draw(
                            drawn, a, b, q, log_z, q + last, table[last], far_x, far_s, v
                        )
                        n_far += 1
            far_sorted = np.sort(far[:n_far])
            m_max = below_u.size + top + 1 + n_far
            u = np.empty(m_max)
            c = np.empty(m_max, dtype=np.int64)
            m = 0
            for j in range(below_u.size):
                if below_c[j] > 0:
                    u[m] = below_u[j]
                    c[m] = below_c[j]
                    m += 1
            for t in range(top + 1):
                if tail_c[t] > 0:
                    u[m] = q + t
                    c[m] = tail_c[t]
                    m += 1
            for j in range(n_far):
                if m > 0 and u[m - 1] == far_sorted[j]:
                    c[m - 1] += 1
                else:
                    u[m] = far_sorted[j]
                    c[m] = 1
                    m += 1
            if m < 3:
                continue
            u = u[:m]
            c = c[:m]
            tc, sl = tail_sums(u, c)
            if not refit:
                d = own_distance(law, u, c, tc, 0, q, full, a, b)
            else:
                i, _, d = scan(u, tc, sl, full, min_tail, q)
                if i < 0:
                    continue
                if law == LOGNORMAL:
                    # The same law seen from another cutoff.
                    eta1 = a + 2.0 * b * math.log((u[i] - 0.5) / (q - 0.5))
                    d = own_distance(law, u, c, tc, i, u[i], full, eta1, b)
                elif law != POWER_LAW:
                    d = own_distance(law, u, c, tc, i, u[i], full, a, b)
            if d == d:
                out[r] = d
                break
    return out
