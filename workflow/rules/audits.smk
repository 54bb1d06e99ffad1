# What the rollouts' counts and series look like.


rule measure_concentration:
    input:
        counts=walks("counts"),
    output:
        concentration="results/audits/concentration.parquet",
    log:
        "results/logs/measure_concentration.log",
    benchmark:
        "results/benchmarks/measure_concentration.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec("measure_concentration", "walk_randomly"),
    message:
        "Concentration of the random walks' counts"
    script:
        "../../scripts/measure_concentration.py"


rule measure_spectra:
    input:
        steps=walks("steps"),
    output:
        spectra="results/audits/spectra.parquet",
    log:
        "results/logs/measure_spectra.log",
    benchmark:
        "results/benchmarks/measure_spectra.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec("measure_spectra", "walk_randomly", **config["spectrum"]),
    message:
        "Welch spectra of the access series"
    script:
        "../../scripts/measure_spectra.py"


rule audit_walks:
    input:
        counts="results/rollouts/random_walk/{family}/{n_nodes}/counts.parquet",
    output:
        audits="results/audits/random_walk/{family}/{n_nodes}.parquet",
    log:
        "results/logs/audit_walks/{family}-{n_nodes}.log",
    benchmark:
        "results/benchmarks/audit_walks/{family}-{n_nodes}.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec("audit_walks", "walk_randomly", **config["audit"]),
    message:
        "Audits of random walks on {wildcards.family}, {wildcards.n_nodes} states"
    script:
        "../../scripts/audit_walks.py"


rule calibrate_audit:
    output:
        calibration="results/audits/calibration/{law}.parquet",
    log:
        "results/logs/calibrate_audit/{law}.log",
    benchmark:
        "results/benchmarks/calibrate_audit/{law}.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "calibrate_audit",
            n_tails=config["calibration"]["n_tails"],
            samples=config["calibration"]["samples"],
            replicates=config["calibration"]["replicates"],
            ks=config["audit"]["ks"][0],
            thresholds=config["audit"]["thresholds"],
        ),
    message:
        "Calibration of the audit: {wildcards.law}"
    script:
        "../../scripts/calibrate_audit.py"


# A map over many sizes: the job builds the topologies that it walks.
rule map_auditable:
    output:
        auditable="results/audits/auditable/{family}.parquet",
    log:
        "results/logs/map_auditable/{family}.log",
    benchmark:
        "results/benchmarks/map_auditable/{family}.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "map_auditable",
            sizes=config["auditable"]["sizes"],
            steps=config["auditable"]["steps"],
            first_seed=config["seeds"][0],
            n_seeds=config["auditable"]["n_seeds"],
            ks=config["audit"]["ks"][0],
            eviction=config["random_walk"]["evictions"][0],
            **STORE,
        ),
    message:
        "Map of auditable random walks on {wildcards.family}"
    script:
        "../../scripts/map_auditable.py"


rule walk_controls:
    input:
        edges="results/worlds/{family}/{n_nodes}/edges.parquet",
    output:
        controls="results/audits/controls/{family}/{n_nodes}.parquet",
        bands="results/audits/controls/{family}/{n_nodes}-bands.parquet",
    log:
        "results/logs/walk_controls/{family}-{n_nodes}.log",
    benchmark:
        "results/benchmarks/walk_controls/{family}-{n_nodes}.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "walk_controls",
            "build_world",
            steps=config["cells"]["steps"],
            n_controls=config["cells"]["n_controls"],
            ks=config["audit"]["ks"][0],
            eviction=config["random_walk"]["evictions"][0],
            **STORE,
        ),
    message:
        "Matched control walks on {wildcards.family}, {wildcards.n_nodes} states"
    script:
        "../../scripts/walk_controls.py"


rule audit_semantic:
    input:
        counts=semantic("counts"),
        steps=semantic("steps"),
        edges=expand(
            "results/worlds/{family}/{n_nodes}/edges.parquet",
            family=config["cells"]["families"],
            n_nodes=config["cells"]["n_nodes"],
        ),
        controls=expand(
            "results/audits/controls/{family}/{n_nodes}.parquet",
            family=config["cells"]["families"],
            n_nodes=config["cells"]["n_nodes"],
        ),
    output:
        audits="results/audits/semantic/audits.parquet",
        tests="results/audits/semantic/tests.parquet",
        effects="results/audits/semantic/effects.parquet",
    log:
        "results/logs/audit_semantic.log",
    benchmark:
        "results/benchmarks/audit_semantic.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "audit_semantic",
            "roll_semantic",
            "walk_controls",
            replicates=config["audit"]["replicates"],
            thresholds=config["audit"]["thresholds"],
            ks=config["audit"]["ks"][0],
        ),
    message:
        "Audits of the semantic rollouts, against matched random walks"
    script:
        "../../scripts/audit_semantic.py"
