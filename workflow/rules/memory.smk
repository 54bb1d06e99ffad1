# Memory policies on frozen trajectories: what each ranks, shows and predicts.
# {driver} is `agents` (random agents, no model) or `rollouts-` and a model, whose own rollouts are
# replayed.

# The runs of each policy as [budget, encoding]: the paper's comparison and, for some, its two
# companions and the verbose encoding.
ABLATION = ["graph", "ctwm", "graph_ctwm"]
RUNS = {
    policy: [
        ["slots", encoding]
        for encoding in ["compact", "verbose"]
        if encoding == "compact"
        or policy in ABLATION
        or f"{policy}-verbose" in config["memory"]["asked_cells"]
    ]
    for policy in COMPARED
}
COMPANIONS = {
    policy: [[budget, "compact"] for budget in ["tokens", "capacity"]]
    for policy in ["flat", *ABLATION]
}


wildcard_constraints:
    driver=r"agents|rollouts-[\w.-]+",
    budget="slots|tokens|capacity",
    policy=r"\w+",
    encoding="compact|verbose",
    shown="compact|verbose",


rule freeze_trajectories:
    output:
        trajectories="results/memory/trajectories/agents.parquet",
    log:
        "results/logs/freeze_trajectories.log",
    benchmark:
        "results/benchmarks/freeze_trajectories.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "freeze_trajectories",
            driver="agents",
            first_seed=config["seeds"][0],
            vocabulary=config["worlds"]["vocabulary"],
            **{
                key: config["memory"][key]
                for key in ["family", "n_nodes", "steps", "n_seeds"]
            },
        ),
    message:
        "Trajectories of random agents"
    script:
        "../../scripts/freeze_trajectories.py"


rule freeze_rollouts:
    input:
        steps=f"results/rollouts/semantic/{{model}}/seek/{config['memory']['family']}/{config['cells']['n_nodes']}/steps.parquet",
    output:
        trajectories="results/memory/trajectories/rollouts-{model}.parquet",
    log:
        "results/logs/freeze_rollouts/{model}.log",
    benchmark:
        "results/benchmarks/freeze_rollouts/{model}.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=for_model(
            "freeze_rollouts",
            "roll_semantic",
            vocabulary=config["worlds"]["vocabulary"],
        ),
    message:
        "Trajectories of {wildcards.model}"
    script:
        "../../scripts/freeze_rollouts.py"


rule replay_policies:
    input:
        trajectories="results/memory/trajectories/{driver}.parquet",
    output:
        steps="results/memory/frozen/{driver}/{policy}/steps.parquet",
        losses="results/memory/frozen/{driver}/{policy}/losses.parquet",
        coverage="results/memory/frozen/{driver}/{policy}/coverage.parquet",
    log:
        "results/logs/replay_policies/{driver}-{policy}.log",
    benchmark:
        "results/benchmarks/replay_policies/{driver}-{policy}.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=replayed(
            "replay_policies",
            "freeze_trajectories",
            "freeze_rollouts",
            runs=[
                {policy: RUNS[policy] + COMPANIONS.get(policy, []) for policy in RUNS},
                RUNS,
            ],
            seeds=config["seeds"],
            vocabulary=config["worlds"]["vocabulary"],
            **{
                key: config["memory"][key]
                for key in ["slots", "tau", "tokens", "capacity"]
            },
        ),
    message:
        "{wildcards.policy} on the trajectories of {wildcards.driver}"
    script:
        "../../scripts/replay_policies.py"


rule ask_policies:
    input:
        trajectories="results/memory/trajectories/{driver}.parquet",
    output:
        asked="results/memory/asked/{model}/{driver}/{budget}/{policy}-{encoding}.parquet",
    log:
        "results/logs/ask_policies/{model}-{driver}-{budget}-{policy}-{encoding}.log",
    benchmark:
        "results/benchmarks/ask_policies/{model}-{driver}-{budget}-{policy}-{encoding}.tsv"
    conda:
        "../../envs/coretail.yaml"
    resources:
        llm_slots=1,
    params:
        spec=asked(
            "ask_policies",
            "freeze_trajectories",
            "freeze_rollouts",
            seeds=config["seeds"],
            vocabulary=config["worlds"]["vocabulary"],
            seed=config["semantic"]["seed"],
            **{
                key: config["memory"][key]
                for key in ["slots", "tau", "tokens", "capacity", "asked"]
            },
        ),
    message:
        "{wildcards.model} reads {wildcards.policy}, {wildcards.encoding}"
    script:
        "../../scripts/ask_policies.py"


# In the closed loop the model acts with a policy, and predicts on the trajectory that it then took; on
# that trajectory the policy is also replayed, in both encodings.
rule roll_closed_loop:
    input:
        agents="results/memory/trajectories/agents.parquet",
    output:
        trajectories="results/memory/trajectories/live-{model}-{policy}-{encoding}.parquet",
        steps="results/memory/closed_loop/{model}/{policy}-{encoding}/steps.parquet",
        choices="results/memory/closed_loop/{model}/{policy}-{encoding}/choices.parquet",
        summary="results/memory/closed_loop/{model}/{policy}-{encoding}/summary.parquet",
    log:
        "results/logs/roll_closed_loop/{model}-{policy}-{encoding}.log",
    benchmark:
        "results/benchmarks/roll_closed_loop/{model}-{policy}-{encoding}.tsv"
    conda:
        "../../envs/coretail.yaml"
    resources:
        llm_slots=1,
    params:
        spec=asked(
            "roll_closed_loop",
            "freeze_trajectories",
            seeds=config["seeds"],
            vocabulary=config["worlds"]["vocabulary"],
            steps=config["memory"]["closed_loop"]["steps"],
            slots=config["memory"]["slots"],
            tau=config["memory"]["tau"],
            **{
                key: config["semantic"][key]
                for key in ["patience", "style", "temperature", "seed", "attempts"]
            },
        ),
    message:
        "{wildcards.model} acts with {wildcards.policy}, {wildcards.encoding}"
    script:
        "../../scripts/roll_closed_loop.py"


rule replay_closed_loop:
    input:
        trajectories="results/memory/trajectories/live-{model}-{policy}-{encoding}.parquet",
    output:
        replays="results/memory/closed_loop/{model}/{policy}-{encoding}/replays.parquet",
    log:
        "results/logs/replay_closed_loop/{model}-{policy}-{encoding}.log",
    benchmark:
        "results/benchmarks/replay_closed_loop/{model}-{policy}-{encoding}.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "replay_closed_loop",
            "roll_closed_loop",
            vocabulary=config["worlds"]["vocabulary"],
            slots=config["memory"]["slots"],
            tau=config["memory"]["tau"],
        ),
    message:
        "Replay of {wildcards.model} with {wildcards.policy}, {wildcards.encoding}"
    script:
        "../../scripts/replay_closed_loop.py"


rule ask_closed_loop:
    input:
        trajectories="results/memory/trajectories/live-{model}-{policy}-{encoding}.parquet",
    output:
        asked="results/memory/closed_loop/{model}/{policy}-{encoding}/asked-{shown}.parquet",
    log:
        "results/logs/ask_closed_loop/{model}-{policy}-{encoding}-{shown}.log",
    benchmark:
        "results/benchmarks/ask_closed_loop/{model}-{policy}-{encoding}-{shown}.tsv"
    conda:
        "../../envs/coretail.yaml"
    resources:
        llm_slots=1,
    params:
        spec=asked(
            "ask_closed_loop",
            "roll_closed_loop",
            vocabulary=config["worlds"]["vocabulary"],
            seed=config["semantic"]["seed"],
            **{key: config["memory"][key] for key in ["slots", "tau", "asked"]},
        ),
    message:
        "{wildcards.model} reads {wildcards.policy}, {wildcards.shown}, where it went by {wildcards.encoding}"
    script:
        "../../scripts/ask_closed_loop.py"
