"""Audit the memory traces that the configuration names."""

import pyarrow as pa

from _entry import Job, run
from coretail import artefacts
from coretail.audit import Thresholds
from coretail.errors import InputError
from coretail.logs import Request, read_log
from coretail.render.style import save_figure
from coretail.render.trace import figure_traces
from coretail.trace_audit import (
    audit_trace,
    first_half_counts,
    trace_curves,
    trace_items,
    trace_record,
)


def main(job: Job) -> None:
    """Write one row per trace, one per item, and a figure of all traces."""
    settings = job.settings
    if not settings["traces"]:
        raise InputError("traces: none in the configuration; name at least one file")
    records, items, curves = [], [], []
    for trace, path in zip(settings["traces"], job.inputs("logs"), strict=True):
        name = trace["name"]
        log = read_log(path, Request(**{k: v for k, v in trace.items() if k != "name"}))
        result = audit_trace(
            log.counts,
            codes=log.codes,
            steps=log.steps,
            replicates=settings["replicates"],
            ks=settings["ks"],
            thresholds=Thresholds(**settings["thresholds"]),
        )
        halves = None if log.codes is None else first_half_counts(log.codes, log.counts.size)
        source = {"layout": log.layout, "order": log.order, "notes": log.notes}
        records.append(trace_record(name, source, result))
        curves += trace_curves(records[-1], log.counts, halves)
        columns = trace_items(name, log.counts, log.ids, halves)
        items.append(artefacts.table("trace_items", columns))
    audits = artefacts.table_of_rows("trace_audits", records)
    artefacts.write(job.output("audits"), "trace_audits", audits, job.spec)
    artefacts.write(job.output("accesses"), "trace_items", pa.concat_tables(items), job.spec)
    save_figure(figure_traces(records, curves), job.output("pdf"), job.output("png"))


if __name__ == "__main__":
    run(main, globals()["snakemake"])
