"""Cutoff and exponent against igraph's plfit, which compares P(X < x) at the data's values."""

import igraph
import numpy as np
import pytest

from coretail.audit import audit_counts
from coretail.audit.laws import draw, lognormal, power_law, truncated_power_law
from coretail.streams import stream

SHAPES = {
    "power-law": power_law(4, 2.4),
    "steep": power_law(20, 4.5),
    "truncated": truncated_power_law(3, 1.6, 0.01),
    "log-normal": lognormal(1, 2.0, 1.1),
}


def sample(name, size, repeat):
    rng = stream("igraph", name, size, repeat)
    body = rng.integers(1, 6, size // 3)
    return np.concatenate([body, draw(SHAPES[name], size, rng).astype(np.int64)])


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("size", [120, 1500])
@pytest.mark.parametrize("repeat", range(4))
def test_the_same_cutoff_exponent_and_distance(name, size, repeat):
    values = sample(name, size, repeat)
    theirs = igraph.power_law_fit(values.tolist(), method="discrete", p_precision=0.5)
    ours = audit_counts(values, replicates=0, ks="observed")
    assert ours.x_min == int(theirs.xmin)
    if theirs.alpha < 6 and ours.n_tail >= 50:
        assert ours.alpha == pytest.approx(theirs.alpha, rel=1e-5)
        assert ours.ks == pytest.approx(theirs.D, abs=1e-5)
