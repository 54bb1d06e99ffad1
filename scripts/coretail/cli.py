"""The command line: ``python -m coretail audit counts.txt``."""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from coretail import __version__
from coretail.errors import InputError

if TYPE_CHECKING:
    from coretail.audit import AuditResult

AUDITED = 0
BAD_INPUT = 2
NOT_AUDITABLE = 3

# Draws beyond which a user is told how long the bootstrap takes, and nanoseconds a draw costs.
_MANY_DRAWS = 3_000_000_000
_DRAW_NS = 12

_EPILOG = """\
exit status: 0 audited, 2 bad input (the first offender is named), 3 not auditable (the reason is
in the result)"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    argv
        Arguments without the program's name; those of the process by default.
    """
    arguments = _parser().parse_args(argv)
    try:
        return _audit(arguments)
    except InputError as error:
        print(f"coretail: {error}", file=sys.stderr)
        return BAD_INPUT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="coretail", description="Measure how a language agent uses its memory."
    )
    parser.add_argument("--version", action="version", version=f"coretail {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    audit = commands.add_parser(
        "audit",
        help="audit a file of counts for a heavy tail",
        description=(
            "Audit counts (how often each memory item was used) for a heavy tail: cutoff, "
            "exponent, bootstrap goodness of fit, likelihood ratios against truncated power law, "
            "log-normal and exponential, and a verdict."
        ),
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    audit.add_argument("file", help="one positive integer a line, UTF-8; - is the standard input")
    audit.add_argument("--json", action="store_true", help="print one JSON object")
    audit.add_argument(
        "--replicates", type=int, default=2500, help="bootstrap replicates (default 2500; 0: none)"
    )
    audit.add_argument("--seed", type=int, default=0, help="seed of the bootstrap (default 0)")
    audit.add_argument(
        "--ks",
        choices=("full", "observed"),
        default="full",
        help=(
            "where the Kolmogorov-Smirnov distance is taken: over all integers from the cutoff up "
            "(full, default), or of P(X < x) at the counts that occur (observed)"
        ),
    )
    audit.add_argument("--x-min", type=int, help="a known cutoff; by default it is fitted")
    audit.add_argument(
        "--min-tail", type=int, default=1, help="fewest counts a fitted tail may have (default 1)"
    )
    audit.add_argument("--jobs", type=int, default=1, help="threads of the bootstrap (default 1)")
    return parser


def _audit(arguments: argparse.Namespace) -> int:
    from coretail.counts import read_counts

    counts = read_counts(arguments.file)
    draws = counts.size * arguments.replicates
    if draws > _MANY_DRAWS:
        minutes = draws * _DRAW_NS / 60e9
        print(
            f"coretail: {counts.size:,} counts x {arguments.replicates:,} replicates take about "
            f"{minutes:.0f} CPU minutes; fewer --replicates take less",
            file=sys.stderr,
        )
    from coretail.audit import audit_counts

    result = audit_counts(
        counts,
        replicates=arguments.replicates,
        seed=arguments.seed,
        ks=arguments.ks,
        x_min=arguments.x_min,
        min_tail=arguments.min_tail,
        jobs=arguments.jobs,
    )
    if arguments.json:
        print(json.dumps(result.to_dict(), indent=2, allow_nan=False))
    else:
        print(_describe(result))
    return NOT_AUDITABLE if result.verdict == "not_auditable" else AUDITED


def _describe(result: "AuditResult") -> str:
    lines = [f"n          {result.n:,} counts, {result.n_distinct:,} distinct values"]
    if result.x_min is not None:
        given = "given" if result.x_min_known else f"fitted, ks: {result.ks_rule}"
        lines += [
            f"x_min      {result.x_min:,} ({given})",
            f"n_tail     {result.n_tail:,}",
            f"alpha      {_number(result.alpha)} ± {_number(result.alpha_se)}",
            f"ks         {_number(result.ks)}",
            f"loglik     {_number(result.loglik)}",
            f"p_gof      {_number(result.p_gof)} ({result.replicates:,} replicates)",
            "",
        ]
    for law, fit in result.fits.items():
        figures = {name: value for name, value in fit.to_dict().items() if name != "note"}
        text = ", ".join(f"{k} {_number(v)}" for k, v in figures.items() if v is not None)
        lines.append(f"{law}: {text}" + (f" ({fit.note})" if fit.note else ""))
    if result.comparisons:
        lines.append("")
    for name, pair in result.comparisons.items():
        note = "indistinguishable" if pair.indistinguishable else pair.reason
        lines.append(
            f"{name}: R {_number(pair.R)}, sigma {_number(pair.sigma)}, z {_number(pair.z)}, "
            f"p {_number(pair.p)}" + (f" ({note})" if note else "")
        )
    if result.comparisons:
        lines.append("")
    lines.append(f"verdict    {result.verdict}: {result.reason}")
    return "\n".join(lines)


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.6g}"
