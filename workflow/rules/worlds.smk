# Synthetic Graph World.


rule build_world:
    output:
        nodes="results/worlds/{family}/{n_nodes}/nodes.parquet",
        edges="results/worlds/{family}/{n_nodes}/edges.parquet",
    log:
        "results/logs/build_world/{family}-{n_nodes}.log",
    benchmark:
        "results/benchmarks/build_world/{family}-{n_nodes}.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "build_world",
            seeds=config["seeds"],
            vocabulary=config["worlds"]["vocabulary"],
        ),
    message:
        "World {wildcards.family}, {wildcards.n_nodes} states"
    script:
        "../../scripts/build_world.py"
