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


rule roll_semantic:
    input:
        nodes="results/worlds/{family}/{n_nodes}/nodes.parquet",
        edges="results/worlds/{family}/{n_nodes}/edges.parquet",
    output:
        steps="results/rollouts/semantic/{model}/{goal}/{family}/{n_nodes}/steps.parquet",
        counts="results/rollouts/semantic/{model}/{goal}/{family}/{n_nodes}/counts.parquet",
        summary="results/rollouts/semantic/{model}/{goal}/{family}/{n_nodes}/summary.parquet",
    log:
        "results/logs/roll_semantic/{model}-{goal}-{family}-{n_nodes}.log",
    benchmark:
        "results/benchmarks/roll_semantic/{model}-{goal}-{family}-{n_nodes}.tsv"
    conda:
        "../../envs/coretail.yaml"
    resources:
        llm_slots=1,
    params:
        spec=asked(
            "roll_semantic",
            "build_world",
            steps=config["cells"]["steps"],
            eviction=config["random_walk"]["evictions"][0],
            capacity=config["random_walk"]["capacity"],
            k=config["random_walk"]["k"],
            reads_feed_frequency=config["random_walk"]["reads_feed_frequency"],
            patience=config["semantic"]["patience"],
            style=config["semantic"]["style"],
            temperature=config["semantic"]["temperature"],
            seed=config["semantic"]["seed"],
            attempts=config["semantic"]["attempts"],
        ),
    message:
        "{wildcards.model} on {wildcards.family}, {wildcards.n_nodes} states, {wildcards.goal}"
    script:
        "../../scripts/roll_semantic.py"


rule test_competence:
    input:
        nodes="results/worlds/{family}/{n_nodes}/nodes.parquet",
        edges="results/worlds/{family}/{n_nodes}/edges.parquet",
    output:
        competence="results/rollouts/competence/{model}/{family}/{n_nodes}.parquet",
    log:
        "results/logs/test_competence/{model}-{family}-{n_nodes}.log",
    benchmark:
        "results/benchmarks/test_competence/{model}-{family}-{n_nodes}.tsv"
    conda:
        "../../envs/coretail.yaml"
    resources:
        llm_slots=1,
    params:
        spec=asked(
            "test_competence",
            "build_world",
            n_tasks=config["semantic"]["competence_tasks"],
            seed=config["semantic"]["seed"],
        ),
    message:
        "Competence gate of {wildcards.model}"
    script:
        "../../scripts/test_competence.py"


rule roll_random_agents:
    input:
        nodes="results/worlds/{family}/{n_nodes}/nodes.parquet",
        edges="results/worlds/{family}/{n_nodes}/edges.parquet",
    output:
        agents="results/rollouts/random_agents/{family}/{n_nodes}.parquet",
    log:
        "results/logs/roll_random_agents/{family}-{n_nodes}.log",
    benchmark:
        "results/benchmarks/roll_random_agents/{family}-{n_nodes}.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "roll_random_agents",
            "build_world",
            steps=config["cells"]["steps"],
            patience=config["semantic"]["patience"],
            n_agents=config["semantic"]["n_random_agents"],
        ),
    message:
        "Random agents on {wildcards.family}, {wildcards.n_nodes} states"
    script:
        "../../scripts/roll_random_agents.py"


# Asks for every completion of the configuration, then writes what the journals hold to
# workflow/recordings. Without outputs: it runs whenever it is asked for.
rule record:
    input:
        semantic("summary"),
        competence=[
            f"results/rollouts/competence/{model}/{GATE_FAMILY}/{config['cells']['n_nodes']}.parquet"
            for model in MODELS
        ],
        asked=ASKED,
        live=live_asked(SHOWN),
        sought=expand("results/tau/rollouts/semantic/{run}.parquet", run=SOUGHT),
        episodes=episodes("episodes"),
        answers=ANSWERS,
        judged=JUDGED,
    log:
        "results/logs/record.log",
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec("record"),
    message:
        "Recordings of all completions"
    script:
        "../../scripts/record.py"
