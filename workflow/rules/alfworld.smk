# ALFWorld: games, episodes of models that play them, and what two memories cost in them.


wildcard_constraints:
    setting="|".join(SETTINGS),


rule build_games:
    input:
        games=benchmark_games(config["alfworld"]["games"]),
        demonstrations=(
            [config["alfworld"]["demonstrations"]]
            if config["alfworld"]["demonstrations"]
            else []
        ),
    output:
        games="results/alfworld/games.parquet",
        demonstrations="results/alfworld/demonstrations.parquet",
    log:
        "results/logs/build_games.log",
    benchmark:
        "results/benchmarks/build_games.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        # Where games lie decides nothing, and stays out of what is written.
        spec=spec(
            "build_games",
            given=config["alfworld"]["games"] is not None,
            read=config["alfworld"]["demonstrations"] is not None,
            **{
                key: config["alfworld"][key]
                for key in ["episodes", "per_type", "rooms", "seed"]
            },
        ),
    message:
        "ALFWorld games"
    script:
        "../../scripts/build_games.py"


rule play_alfworld:
    input:
        games="results/alfworld/games.parquet",
        demonstrations="results/alfworld/demonstrations.parquet",
    output:
        steps="results/alfworld/episodes/{model}/{setting}/{policy}-{encoding}/steps.parquet",
        episodes="results/alfworld/episodes/{model}/{setting}/{policy}-{encoding}/episodes.parquet",
    log:
        "results/logs/play_alfworld/{model}-{setting}-{policy}-{encoding}.log",
    benchmark:
        "results/benchmarks/play_alfworld/{model}-{setting}-{policy}-{encoding}.tsv"
    conda:
        "../../envs/coretail.yaml"
    resources:
        llm_slots=1,
    params:
        spec=asked_in(
            "play_alfworld",
            "build_games",
            plays=config["alfworld"]["settings"],
            slots=config["alfworld"]["slots"],
            tau=config["alfworld"]["tau"],
            seed=config["semantic"]["seed"],
            attempts=config["semantic"]["attempts"],
        ),
    message:
        "{wildcards.model} plays ALFWorld, {wildcards.setting}, {wildcards.policy}-{wildcards.encoding}"
    script:
        "../../scripts/play_alfworld.py"


rule make_table_alfworld:
    input:
        **(GATE_FILES if PLAYERS else {}),
        episodes=episodes("episodes"),
    output:
        markdown="results/tables/table_alfworld.md",
        latex="results/tables/table_alfworld.tex",
        table_alfworld="results/tables/table_alfworld.parquet",
        table_alfworld_memories="results/tables/table_alfworld_memories.parquet",
    log:
        "results/logs/make_table_alfworld.log",
    benchmark:
        "results/benchmarks/make_table_alfworld.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "make_table_alfworld",
            "play_alfworld",
            "make_table_gate",
            models=[MODELS[model]["name"] for model in PLAYERS],
            gate=GATE,
        ),
    message:
        "Table: ALFWorld"
    script:
        "../../scripts/make_table_alfworld.py"
