# What the rollouts' counts and series look like.


def walks(name):
    """Return one file of each random-walk cell."""
    return expand(
        "results/rollouts/random_walk/{family}/{n_nodes}/" + name + ".parquet",
        family=config["worlds"]["families"],
        n_nodes=config["worlds"]["sizes"],
    )


rule measure_concentration:
    message:
        "Concentration of the random walks' counts"
    input:
        counts=walks("counts"),
    output:
        concentration="results/audits/concentration.parquet",
    params:
        spec=spec("measure_concentration", "walk_randomly"),
    log:
        "results/logs/measure_concentration.log",
    benchmark:
        "results/benchmarks/measure_concentration.tsv"
    conda:
        "../../envs/coretail.yaml"
    script:
        "../../scripts/measure_concentration.py"


rule measure_spectra:
    message:
        "Welch spectra of the access series"
    input:
        steps=walks("steps"),
    output:
        spectra="results/audits/spectra.parquet",
    params:
        spec=spec("measure_spectra", "walk_randomly", **config["spectrum"]),
    log:
        "results/logs/measure_spectra.log",
    benchmark:
        "results/benchmarks/measure_spectra.tsv"
    conda:
        "../../envs/coretail.yaml"
    script:
        "../../scripts/measure_spectra.py"
