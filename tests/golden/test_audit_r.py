"""Cutoff, exponent and distance against R's poweRlaw, whose distance is over all integers."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from coretail.audit import audit_counts
from coretail.audit.laws import draw, lognormal, power_law, truncated_power_law
from coretail.streams import stream

SHAPES = {
    "power-law": power_law(3, 2.2),
    "truncated": truncated_power_law(2, 1.5, 0.02),
    "log-normal": lognormal(1, 1.5, 1.0),
    "gaps": power_law(1, 1.9),
}


@pytest.fixture(scope="module")
def rscript():
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("Rscript is not installed (Debian: r-cran-powerlaw)")
    probe = subprocess.run([program, "-e", "library(poweRlaw)"], capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip("R lacks the package poweRlaw (Debian: r-cran-powerlaw)")
    return program


@pytest.fixture(scope="module")
def samples():
    drawn = {}
    for name, shape in SHAPES.items():
        rng = stream("poweRlaw", name)
        body = rng.integers(1, 4, 60)
        tail = draw(shape, 240, rng).astype(np.int64)
        if name == "gaps":
            # Powers of two: between data values the distance grows.
            tail = 2 ** np.floor(np.log2(tail)).astype(np.int64)
        drawn[name] = np.concatenate([body, tail])
    return drawn


@pytest.fixture(scope="module")
def theirs(rscript, samples, tmp_path_factory):
    folder = tmp_path_factory.mktemp("counts")
    paths = []
    for name, values in samples.items():
        paths.append(folder / f"{name}.txt")
        paths[-1].write_text("\n".join(map(str, values.tolist())) + "\n")
    script = Path(__file__).with_name("poweRlaw.R")
    command = [rscript, str(script), *map(str, paths)]
    output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    lines = [tuple(map(float, line.split())) for line in output.stdout.splitlines()]
    return dict(zip(samples, lines, strict=True))


@pytest.mark.parametrize("name", SHAPES)
def test_the_same_cutoff_exponent_and_distance(name, samples, theirs):
    ours = audit_counts(samples[name], replicates=0, ks="full")
    x_min, alpha, distance = theirs[name]
    assert ours.x_min == x_min
    assert ours.alpha == pytest.approx(alpha, rel=1e-4)
    assert ours.ks == pytest.approx(distance, abs=1e-5)


def test_the_samples_tell_the_rules_apart(samples):
    distances = {
        name: [audit_counts(values, replicates=0, ks=ks).ks for ks in ("full", "observed")]
        for name, values in samples.items()
    }
    assert any(abs(full - observed) > 1e-3 for full, observed in distances.values())
