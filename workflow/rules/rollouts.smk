# Rollouts: the random-walk control and the retriever ladder.


rule walk_randomly:
    input:
        edges="results/worlds/{family}/{n_nodes}/edges.parquet",
    output:
        counts="results/rollouts/random_walk/{family}/{n_nodes}/counts.parquet",
        visits="results/rollouts/random_walk/{family}/{n_nodes}/visits.parquet",
        steps="results/rollouts/random_walk/{family}/{n_nodes}/steps.parquet",
        summary="results/rollouts/random_walk/{family}/{n_nodes}/summary.parquet",
    log:
        "results/logs/walk_randomly/{family}-{n_nodes}.log",
    benchmark:
        "results/benchmarks/walk_randomly/{family}-{n_nodes}.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "walk_randomly",
            "build_world",
            **config["random_walk"],
        ),
    message:
        "Random walk on {wildcards.family}, {wildcards.n_nodes} states"
    script:
        "../../scripts/walk_randomly.py"


# The ladder's many seeds are not worlds of their own: a topology is a function of its key, and the
# job builds those it walks.
rule climb_ladder:
    output:
        ladder="results/rollouts/ladder/{family}/{n_nodes}.parquet",
    log:
        "results/logs/climb_ladder/{family}-{n_nodes}.log",
    benchmark:
        "results/benchmarks/climb_ladder/{family}-{n_nodes}.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "climb_ladder",
            first_seed=config["seeds"][0],
            n_seeds=config["ladder"]["n_seeds"],
            rungs=config["ladder"]["rungs"],
            eviction=config["ladder"]["eviction"],
            steps=config["random_walk"]["steps"],
            capacity=config["random_walk"]["capacity"],
            k=config["random_walk"]["k"],
            reads_feed_frequency=config["random_walk"]["reads_feed_frequency"],
        ),
    message:
        "Retriever ladder on {wildcards.family}, {wildcards.n_nodes} states"
    script:
        "../../scripts/climb_ladder.py"
