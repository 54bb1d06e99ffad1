"""The command line: ``python -m coretail audit log.parquet``."""

import argparse
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coretail import __version__
from coretail.errors import InputError

if TYPE_CHECKING:
    from coretail.audit import AuditResult
    from coretail.logs import Log, Request
    from coretail.trace_audit import TraceAudit

AUDITED = 0
BAD_INPUT = 2
NOT_AUDITABLE = 3
BROKEN_PIPE = 128 + 13

_WIDTH = 100

# Draws beyond which a user is told how long the bootstrap takes, and nanoseconds a draw costs.
_MANY_DRAWS = 3_000_000_000
_DRAW_NS = 12

_DESCRIPTION = """\
Audit how an agent used its memory. LOG is a log with one row per access, or a table of counts:
Parquet, CSV, TSV, JSON, JSON lines, or plain text with one count a line; gzip and zstd are
unpacked; - is the standard input. Several files are several samples.

Columns are guessed by their names, and the guess is shown. Ids are compared as text. Accesses are
taken in the order of their time, and accesses at one time are one step; without a time, in the
order of the rows. Rows that repeat one another are accesses. Where a column of counts is guessed,
each row is as many accesses as it says, added up per item, and a time is not used; with --time,
--rank or --file-order each row is one access."""

_EPILOG = """\
exit status: 0 audited, 2 bad input (the first offender is named), 3 not auditable (the reason is
in the result); of several files the worst: 2, then 3

examples:
  coretail audit retrievals.jsonl --id memory_id --time timestamp
  coretail audit counts.txt --json
  coretail audit run1.parquet run2.parquet --out audits"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    argv
        Arguments without the program's name; those of the process by default.
    """
    arguments = _parser().parse_args(argv)
    try:
        status = _audit(arguments)
        sys.stdout.flush()
    except InputError as error:
        _complain(error)
        return BAD_INPUT
    except BrokenPipeError:
        # Who reads the output (head, less) has left; what is still buffered goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="coretail", description="Measure how a language agent uses its memory."
    )
    parser.add_argument("--version", action="version", version=f"coretail {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    audit = commands.add_parser(
        "audit",
        help="audit logs of memory accesses",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    audit.add_argument("logs", nargs="+", metavar="LOG", help="file to audit")
    audit.add_argument(
        "--format",
        choices=("parquet", "csv", "tsv", "json", "jsonl", "counts", "ids"),
        help="format (default: by the name or the first bytes); ids: plain text, one id a line",
    )
    columns = audit.add_argument_group("columns (by default guessed)")
    columns.add_argument("--id", metavar="COLUMN", help="the accessed item")
    columns.add_argument("--time", metavar="COLUMN", help="when: a number or an ISO 8601 time")
    columns.add_argument(
        "--rank", metavar="COLUMN", help="place among the items retrieved at once, 1 the best"
    )
    columns.add_argument(
        "--count", metavar="COLUMN", help="accesses of an item: the file is a table of counts"
    )
    columns.add_argument(
        "--file-order", action="store_true", help="take accesses in the order of the rows"
    )
    columns.add_argument(
        "--max-rank", type=int, metavar="K", help="leave out accesses with a rank above K"
    )
    output = audit.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="print one JSON object")
    output.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="also write Parquet tables and a figure there, all or nothing; a new directory",
    )
    method = audit.add_argument_group("method")
    method.add_argument(
        "--replicates", type=int, default=2500, help="bootstrap replicates (default 2500; 0: none)"
    )
    method.add_argument(
        "--permutations",
        type=int,
        default=499,
        help="permutations of the stationarity check (default 499)",
    )
    method.add_argument(
        "--seed", type=int, default=0, help="seed of bootstrap and permutations (default 0)"
    )
    method.add_argument(
        "--ks",
        choices=("full", "observed"),
        default="full",
        help=(
            "where the Kolmogorov-Smirnov distance is taken: over all integers from the cutoff up "
            "(full, default), or of P(X < x) at the counts that occur (observed)"
        ),
    )
    method.add_argument("--x-min", type=int, help="a known cutoff; by default it is fitted")
    method.add_argument(
        "--min-tail", type=int, default=1, help="fewest counts a fitted tail may have (default 1)"
    )
    method.add_argument("--jobs", type=int, default=1, help="threads of the bootstrap (default 1)")
    return parser


@dataclass(frozen=True, slots=True)
class _Trace:
    """One audited file: what it was, its audit, its items and their rows for ``--out``."""

    sample: str
    source: dict[str, Any]
    result: "TraceAudit"
    items: dict[str, Any]


def _audit(arguments: argparse.Namespace) -> int:
    from coretail.logs import Request

    samples = _sample_names(arguments.logs)
    if arguments.out is not None:
        _check_new(arguments.out)
    request = Request(
        format=arguments.format,
        id=arguments.id,
        time=arguments.time,
        rank=arguments.rank,
        count=arguments.count,
        file_order=arguments.file_order,
        max_rank=arguments.max_rank,
    )
    traces: list[_Trace] = []
    for sample, path in zip(samples, arguments.logs, strict=True):
        try:
            trace = _audit_file(sample, path, request, arguments)
        except InputError as error:
            _complain(error)
            continue
        if not arguments.json:
            print(_describe(trace), end="\n\n" if path != arguments.logs[-1] else "\n")
        traces.append(trace)
    complete = len(traces) == len(samples)
    if arguments.json and traces:
        content = {
            "coretail": __version__,
            "traces": [
                {"sample": t.sample, "source": t.source, **t.result.to_dict()} for t in traces
            ],
        }
        print(json.dumps(content, indent=2, allow_nan=False))
    if arguments.out is not None:
        if not complete:
            raise InputError(f"{arguments.out}: nothing written, since a file could not be audited")
        _write(arguments.out, traces, arguments)
    if not complete:
        return BAD_INPUT
    verdicts = {trace.result.audit.verdict for trace in traces}
    return NOT_AUDITABLE if "not_auditable" in verdicts else AUDITED


def _audit_file(
    sample: str, path: str, request: "Request", arguments: argparse.Namespace
) -> _Trace:
    from coretail.logs import read_log
    from coretail.trace_audit import audit_trace, first_half_counts, trace_items

    log = read_log(path, request)
    draws = log.counts.size * arguments.replicates
    if draws > _MANY_DRAWS:
        minutes = draws * _DRAW_NS / 60e9
        _complain(
            f"{log.name}: {log.counts.size:,} items x {arguments.replicates:,} replicates take "
            f"about {minutes:.0f} CPU minutes; fewer --replicates take less"
        )
    result = audit_trace(
        log.counts,
        codes=log.codes,
        steps=log.steps,
        replicates=arguments.replicates,
        permutations=arguments.permutations,
        seed=arguments.seed,
        ks=arguments.ks,
        x_min=arguments.x_min,
        min_tail=arguments.min_tail,
        jobs=arguments.jobs,
    )
    halves = None if log.codes is None else first_half_counts(log.codes, log.counts.size)
    return _Trace(sample, _source(log), result, trace_items(sample, log.counts, log.ids, halves))


def _source(log: "Log") -> dict[str, Any]:
    return {
        "file": log.name,
        "format": log.format,
        "compression": log.compression,
        "layout": log.layout,
        "columns": log.columns.present(),
        "guessed": list(log.columns.guessed),
        "order": log.order,
        "notes": list(log.notes),
    }


def _sample_names(paths: Sequence[str]) -> list[str]:
    """Return the shortest endings of the paths, of equal length, that tell them apart."""
    if twice := [path for path in paths if paths.count(path) > 1]:
        raise InputError(f"{twice[0]}: given twice; several files are several samples")
    parts = [Path(path).parts or (".",) for path in paths]
    for depth in range(1, max(map(len, parts)) + 1):
        names = ["/".join(part[-depth:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    return list(paths)


def _check_new(out: Path) -> None:
    """Refuse, before the audit, a directory that is in use or cannot be made."""
    try:
        target = out.resolve()
        if target.exists() and not (target.is_dir() and not any(target.iterdir())):
            raise InputError(f"{out}: already there; give a new directory, or remove it")
        base = next(path for path in (target, *target.parents) if path.exists())
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{out}: cannot be written: {reason}") from error
    if not base.is_dir():
        raise InputError(f"{out}: cannot be written: {base} is not a directory; give another")
    if not os.access(base, os.W_OK | os.X_OK):
        raise InputError(f"{out}: cannot be written: no permission in {base}; give another")


def _write(out: Path, traces: Sequence[_Trace], arguments: argparse.Namespace) -> None:
    """Write all artefacts into a directory beside ``out``, then give it its name.

    An empty directory that is there stays, as it may be the working directory or a mounted one:
    the artefacts are made in a directory within it, then moved up.
    """
    import pyarrow as pa

    from coretail import artefacts
    from coretail.render.style import save_figure
    from coretail.render.trace import figure_traces
    from coretail.trace_audit import trace_curves, trace_record

    records = [trace_record(t.sample, t.source, t.result) for t in traces]
    curves = [
        point
        for record, t in zip(records, traces, strict=True)
        for point in trace_curves(record, t.items["accesses"], t.items["first_half"])
    ]
    items = [artefacts.table("trace_items", t.items) for t in traces]
    settings = {
        name: value
        for name, value in vars(arguments).items()
        if name not in ("command", "logs", "out", "json", "jobs")
    }
    spec = {
        "rule": "coretail audit",
        "settings": settings,
        "code": f"coretail {__version__}",
        "upstream": {},
    }
    target = out.resolve()
    there = target.exists()
    name = f".coretail.{os.getpid()}.part"
    part = target / name if there else target.with_name(name)
    moved: list[Path] = []
    try:
        part.mkdir(parents=True)
        table = artefacts.table_of_rows("trace_audits", records)
        artefacts.write(part / "trace_audits.parquet", "trace_audits", table, spec)
        artefacts.write(part / "trace_items.parquet", "trace_items", pa.concat_tables(items), spec)
        figure = figure_traces(records, curves)
        save_figure(figure, part / "trace_figure.pdf", part / "trace_figure.png")
        if not there:
            part.replace(target)
        else:
            for file in sorted(part.iterdir()):
                moved.append(file.rename(target / file.name))
    except OSError as error:
        for file in moved:
            file.unlink(missing_ok=True)
        raise InputError(f"{out}: cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _describe(trace: _Trace) -> str:
    source, result = trace.source, trace.result
    columns = ", ".join(
        f"{role} {name!r}" + (" (guessed)" if role in source["guessed"] else "")
        for role, name in source["columns"].items()
    )
    kind = "one row per access" if source["layout"] == "accesses" else "table of counts"
    packed = f", {source['compression']}" if source["compression"] else ""
    shape, halves, spectrum = result.concentration, result.stationarity, result.spectrum
    lines = [
        trace.sample,
        _line("read as", f"{source['format']}{packed}, {kind}; {columns}"),
        _line("order", source["order"]),
        *(_line("note", note) for note in source["notes"]),
        "",
        _line("verdict", result.in_words),
        _line("reason", f"{result.audit.verdict}: {result.audit.reason}"),
        _line("tau", f"{_number(result.tau.value)}: {result.tau.reason}"),
        "",
        _line("accesses", f"{result.n_accesses:,} of {result.n_items:,} items"),
        _line("gini", _or_reason(shape.gini, shape.reasons.get("gini"))),
        _line("top 10%", f"{_percent(shape.top10_share)} of accesses"),
        _line("max/median", _number(shape.max_median)),
        _line("singletons", f"{shape.singletons:,} items with one access"),
        "",
        *_describe_audit(result.audit),
        *_describe_reliability(result),
        _line(
            "spectrum",
            spectrum.reason
            if spectrum.exponent is None
            else f"exponent {_number(spectrum.exponent)} ± {_number(spectrum.exponent_se)}, most "
            f"accessed item, {spectrum.n:,} steps",
        ),
    ]
    if halves.reason is not None:
        lines.append(_line("halves", halves.reason))
    else:
        lines += [
            _line(
                "halves",
                f"first / second, p {_number(halves.p)} of so large a difference "
                f"({halves.permutations:,} permutations of {halves.blocks} blocks)",
            ),
            _line(
                "  gini",
                f"{_number(halves.gini_first)} / {_number(halves.gini_second)}, "
                f"p {_number(halves.p_gini)}",
            ),
            _line(
                "  top 10%",
                f"{_percent(halves.top_share_first)} / {_percent(halves.top_share_second)} of "
                f"accesses, p {_number(halves.p_top_share)}",
            ),
            _line(
                "  overlap",
                f"{_percent(halves.overlap)} of the halves' top 10%, p {_number(halves.p_overlap)}",
            ),
        ]
    return "\n".join([*lines, "", *(_line("limit", limit) for limit in result.limits)])


def _describe_audit(result: "AuditResult") -> list[str]:
    lines = [_line("n", f"{result.n:,} items, {result.n_distinct:,} distinct counts")]
    if result.x_min is not None:
        given = "given" if result.x_min_known else f"fitted, ks: {result.ks_rule}"
        lines += [
            _line("x_min", f"{result.x_min:,} ({given})"),
            _line("n_tail", f"{result.n_tail:,}"),
            _line("alpha", f"{_number(result.alpha)} ± {_number(result.alpha_se)}"),
            _line("ks", _number(result.ks)),
            _line("p_gof", f"{_number(result.p_gof)} ({result.replicates:,} replicates)"),
        ]
    for law, fit in result.fits.items():
        figures = {name: value for name, value in fit.to_dict().items() if name != "note"}
        text = ", ".join(f"{k} {_number(v)}" for k, v in figures.items() if v is not None)
        lines.append(f"  {law}: {text}" + (f" ({fit.note})" if fit.note else ""))
    for name, pair in result.comparisons.items():
        note = "indistinguishable" if pair.indistinguishable else pair.reason
        lines.append(
            f"  {name}: R {_number(pair.R)}, sigma {_number(pair.sigma)}, z {_number(pair.z)}, "
            f"p {_number(pair.p)}" + (f" ({note})" if note else "")
        )
    return lines


def _describe_reliability(result: "TraceAudit") -> list[str]:
    trust = result.reliability
    if trust.reason is not None:
        return [_line("calibration", trust.reason)]
    band = f"from {trust.n_tail_low:,}"
    if trust.n_tail_high is not None:
        band += f" to {trust.n_tail_high:,}"
    lines = [
        _line(
            "calibration",
            "share of samples of a known law that get this verdict [95%], or the right one, "
            f"among samples with n_tail {band}",
        )
    ]
    for rate in trust.rates:
        own = "no verdict of its own" if rate.right is None else f"the right one {rate.right:.1%}"
        text = "none with such a tail"
        if rate.share is not None:
            text = (
                f"{rate.share:.1%} [{rate.share_low:.1%}, {rate.share_high:.1%}] of "
                f"{rate.samples:,}; {own}"
            )
        lines.append(f"  {rate.law}: {text}")
    if trust.right is not None:
        lines.append(
            _line(
                "trust",
                f"{trust.right:.1%} [{trust.right_low:.1%}, {trust.right_high:.1%}] of the "
                f"{trust.verdicts:,} samples with this verdict are of the law that it names (were "
                f"the {len(trust.rates)} laws, and tails of all sizes, equally frequent)",
            )
        )
    return lines


def _line(label: str, text: object) -> str:
    return textwrap.fill(
        f"  {label:<11} {text}",
        width=_WIDTH,
        subsequent_indent=14 * " ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _number(value: float | None) -> str:
    if value is None:
        return "undefined"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _percent(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.1%}"


def _or_reason(value: float | None, reason: str | None) -> str:
    return f"undefined ({reason})" if value is None else _number(value)


def _complain(message: object) -> None:
    print(f"coretail: {message}", file=sys.stderr)
