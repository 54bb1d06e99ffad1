# Synthetic Graph World.


rule build_world:
    message:
        "World {wildcards.family}, {wildcards.n_nodes} states"
    output:
        nodes="results/worlds/{family}/{n_nodes}/nodes.parquet",
        edges="results/worlds/{family}/{n_nodes}/edges.parquet",
    params:
        spec=spec(
            "build_world",
            seeds=config["seeds"],
            vocabulary=config["worlds"]["vocabulary"],
        ),
    log:
        "results/logs/build_world/{family}-{n_nodes}.log",
    benchmark:
        "results/benchmarks/build_world/{family}-{n_nodes}.tsv"
    conda:
        "../../envs/coretail.yaml"
    script:
        "../../scripts/build_world.py"
