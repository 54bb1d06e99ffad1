# ALFWorld: games, episodes of models that play them, and what two memories cost in them; then
# LongMemEval's tables and those over all workloads, Table 5 and Appendix B's, which read both.

# The gate's tables stand beside these as soon as any model is asked with a memory, and say of each
# whether it passes.
GATE_IF_ASKED = GATE_FILES if READERS or SEEKERS or PLAYERS or ANSWERERS else {}


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
            # Not by a loop over the settings, of which each has more keys.
            demonstrations={
                "short_walk": config["alfworld"]["settings"]["short_walk"][
                    "demonstrations"
                ],
                "long_walk": config["alfworld"]["settings"]["long_walk"][
                    "demonstrations"
                ],
                "one_shot": config["alfworld"]["settings"]["one_shot"][
                    "demonstrations"
                ],
                "three_shot": config["alfworld"]["settings"]["three_shot"][
                    "demonstrations"
                ],
            },
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
        **GATE_IF_ASKED,
        episodes=episodes("episodes"),
    output:
        markdown="results/tables/table_alfworld.md",
        latex="results/tables/table_alfworld.tex",
        html=shown("table_alfworld", "results/tables/table_alfworld.html"),
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


rule make_table_longmemeval:
    input:
        **GATE_IF_ASKED,
        contexts="results/longmemeval/contexts.parquet",
        answers=ANSWERS,
        judged=JUDGED,
    output:
        markdown="results/tables/table_longmemeval.md",
        latex="results/tables/table_longmemeval.tex",
        html=shown("table_longmemeval", "results/tables/table_longmemeval.html"),
        table_longmemeval_retrieval="results/tables/table_longmemeval_retrieval.parquet",
        table_longmemeval="results/tables/table_longmemeval.parquet",
        table_longmemeval_pairs="results/tables/table_longmemeval_pairs.parquet",
    log:
        "results/logs/make_table_longmemeval.log",
    benchmark:
        "results/benchmarks/make_table_longmemeval.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "make_table_longmemeval",
            "rank_sessions",
            "answer_questions",
            "judge_answers",
            "make_table_gate",
            models=[MODELS[model]["name"] for model in ANSWERERS],
            gate=GATE,
            **config["longmemeval"]["parity"],
        ),
    message:
        "Tables of LongMemEval"
    script:
        "../../scripts/make_table_longmemeval.py"


# What the tables over all workloads show beside a row: whether its data are the benchmark's, and who
# was asked. Without a model on the synthetic graphs the free predictor's steps stand in.
WORKLOAD_DATA = {
    "alfworld": "benchmark" if config["alfworld"]["games"] else "stand-in",
}
FREE = not READERS and {"graph", "ctwm"} <= set(COMPARED)


rule make_table5:
    input:
        **GATE_IF_ASKED,
        asked=ASKED,
        trajectories=(rules.freeze_trajectories.output.trajectories if FREE else []),
        steps=(
            expand(
                "results/memory/frozen/agents/{policy}/steps.parquet",
                policy=["graph", "ctwm"],
            )
            if FREE
            else []
        ),
        alfworld=(rules.make_table_alfworld.output.table_alfworld if PLAYERS else []),
        longmemeval=rules.make_table_longmemeval.output.table_longmemeval,
        longmemeval_pairs=rules.make_table_longmemeval.output.table_longmemeval_pairs,
    output:
        markdown="results/tables/table5.md",
        latex="results/tables/table5.tex",
        html=shown("table5", "results/tables/table5.html"),
        table5="results/tables/table5.parquet",
    log:
        "results/logs/make_table5.log",
    benchmark:
        "results/benchmarks/make_table5.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "make_table5",
            "replay_policies",
            "ask_policies",
            "make_table_alfworld",
            "make_table_longmemeval",
            "make_table_gate",
            seeds=config["seeds"],
            models={
                "memory": config["memory"]["models"],
                "alfworld": config["alfworld"]["models"],
                "longmemeval": config["longmemeval"]["models"],
            },
            data=WORKLOAD_DATA,
            gate=GATE,
            paper=PAPER["table5"],
            **config["longmemeval"]["parity"],
        ),
    message:
        "Table 5: token reduction over all workloads"
    script:
        "../../scripts/make_table5.py"


rule make_table_benchmarks:
    input:
        **GATE_IF_ASKED,
        alfworld=(rules.make_table_alfworld.output.table_alfworld if PLAYERS else []),
        memories=(
            rules.make_table_alfworld.output.table_alfworld_memories if PLAYERS else []
        ),
        longmemeval=rules.make_table_longmemeval.output.table_longmemeval,
        longmemeval_pairs=rules.make_table_longmemeval.output.table_longmemeval_pairs,
    output:
        markdown="results/tables/table_benchmarks.md",
        latex="results/tables/table_benchmarks.tex",
        html=shown("table_benchmarks", "results/tables/table_benchmarks.html"),
        table_benchmarks="results/tables/table_benchmarks.parquet",
    log:
        "results/logs/make_table_benchmarks.log",
    benchmark:
        "results/benchmarks/make_table_benchmarks.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "make_table_benchmarks",
            "make_table_alfworld",
            "make_table_longmemeval",
            "make_table_gate",
            models={
                "alfworld": config["alfworld"]["models"],
                "longmemeval": config["longmemeval"]["models"],
            },
            data=WORKLOAD_DATA,
            gate=GATE,
            paper=PAPER["appendix_b"],
        ),
    message:
        "Appendix B: successes on the benchmarks"
    script:
        "../../scripts/make_table_benchmarks.py"
