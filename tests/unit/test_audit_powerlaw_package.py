import json
import sys

import numpy as np
import pytest

from coretail.audit import audit_counts
from coretail.audit.laws import draw, power_law
from coretail.audit.powerlaw_package import powerlaw_report
from coretail.errors import InputError
from coretail.streams import stream


@pytest.fixture(scope="module")
def values():
    drawn = draw(power_law(2, 2.2), 150, stream("package"))
    return np.minimum(drawn, 300)


def test_package_and_audit_agree_where_they_ask_the_same_question(values):
    report = powerlaw_report(values, alpha_bounded=False, compare=False)
    ours = audit_counts(values, ks="observed", replicates=0)
    assert report.x_min == ours.x_min
    assert report.n_tail == ours.n_tail
    assert report.alpha == pytest.approx(ours.alpha, abs=1e-3)
    assert report.R is None
    assert report.reason is None


def test_version_and_comparison_are_reported(values):
    import powerlaw

    report = powerlaw_report(values)
    assert report.version == powerlaw.__version__
    assert report.alpha_bounded
    assert report.alpha <= 3
    assert report.R is not None
    assert report.z is not None
    assert 0 <= report.p <= 1
    json.dumps(report.to_dict(), allow_nan=False)


def test_the_package_s_bound_on_alpha_shows():
    values = np.repeat([2, 3, 4, 5], [981, 17, 2, 1])
    assert audit_counts(values, replicates=0).alpha > 9
    assert powerlaw_report(values, compare=False).alpha <= 3


@pytest.mark.parametrize("values", [[5] * 50, [5] * 30 + [9] * 20])
def test_what_the_package_cannot_do_is_a_reason(values):
    report = powerlaw_report(values)
    assert report.alpha is None
    assert report.reason.startswith("powerlaw ")


def test_without_the_package_there_is_an_error_with_a_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "powerlaw", None)
    with pytest.raises(InputError, match="install powerlaw"):
        powerlaw_report([1, 2, 3])


def test_values_that_are_no_counts_are_named():
    with pytest.raises(InputError, match="position 1"):
        powerlaw_report([1, 0, 3])
