"""The conservative tail audit: cutoff, exponent, goodness of fit, alternatives, verdict.

:func:`audit_counts` audits one vector of counts; ``laws`` has the four laws by themselves,
``sample`` the cutoff alone, ``calibration`` what the verdicts are worth on known laws and
``empirical`` the comparison with matched controls.
"""

from coretail.audit.comparison import Comparison
from coretail.audit.engine import LAMBDA, AuditResult, audit_counts
from coretail.audit.laws import LAWS, Fit, Law
from coretail.audit.sample import RULES, Cutoff, Rule, find_cutoff, sample_of
from coretail.audit.verdict import VERDICTS, Thresholds, Verdict

__all__ = [
    "LAMBDA",
    "LAWS",
    "RULES",
    "VERDICTS",
    "AuditResult",
    "Comparison",
    "Cutoff",
    "Fit",
    "Law",
    "Rule",
    "Thresholds",
    "Verdict",
    "audit_counts",
    "find_cutoff",
    "sample_of",
]
