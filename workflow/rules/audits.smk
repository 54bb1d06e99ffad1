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
