# Memory traces of your own agents (`traces:` in the configuration). Not part of `rule all`.


rule audit_traces:
    input:
        logs=[trace["file"] for trace in config["traces"]],
    output:
        audits="results/traces/trace_audits.parquet",
        accesses="results/traces/trace_items.parquet",
        pdf="results/traces/trace_figure.pdf",
        png="results/traces/trace_figure.png",
    log:
        "results/logs/audit_traces.log",
    benchmark:
        "results/benchmarks/audit_traces.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        # Where a file lies decides nothing, and stays out of what is written.
        spec=spec(
            "audit_traces",
            traces=[
                {key: value for key, value in trace.items() if key != "file"}
                for trace in config["traces"]
            ],
            replicates=config["audit"]["replicates"],
            ks=config["audit"]["ks"][0],
            thresholds=config["audit"]["thresholds"],
        ),
    message:
        "Audits of the memory traces of your own agents"
    script:
        "../../scripts/audit_traces.py"
