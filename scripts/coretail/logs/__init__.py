"""Read an agent's memory log: which item was accessed, when, or how often.

:func:`read_log` reads Parquet, CSV, TSV, JSON, JSON lines and plain text, compressed or not, with
one row per access or one row per item and its count. What was guessed, and what was unusual in
the rows, is in the :class:`Log` that it returns.
"""

from coretail.logs.columns import ROLES, Columns, Request
from coretail.logs.log import Log, read_log
from coretail.logs.source import FORMATS

__all__ = ["FORMATS", "ROLES", "Columns", "Log", "Request", "read_log"]
