# Memory policies on frozen trajectories: what each ranks, shows and predicts.
# {driver} is `agents` (random agents, no model) or `rollouts-` and a model, whose own rollouts are
# replayed.

# Policies by budget, as policy-encoding: the paper's comparison, and its two companions.
COMPANIONS = ["flat-compact", "graph-compact", "ctwm-compact", "graph_ctwm-compact"]
FROZEN = {
    "slots": list(
        dict.fromkeys(
            [f"{policy}-compact" for policy in config["memory"]["policies"]]
            + ["graph-verbose", "ctwm-verbose", "graph_ctwm-verbose"]
            + config["memory"]["asked_cells"]
        )
    ),
    "tokens": COMPANIONS,
    "capacity": COMPANIONS,
}


def frozen(name, drivers, budgets=FROZEN):
    """Return one file of each replay."""
    return [
        f"results/memory/frozen/{driver}/{budget}/{cell}/{name}.parquet"
        for driver in drivers
        for budget in budgets
        for cell in FROZEN[budget]
    ]


wildcard_constraints:
    driver=r"agents|rollouts-[\w.-]+",
    budget="slots|tokens|capacity",
    policy=r"\w+",
    encoding="compact|verbose",


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
        steps="results/memory/frozen/{driver}/{budget}/{policy}-{encoding}/steps.parquet",
        losses="results/memory/frozen/{driver}/{budget}/{policy}-{encoding}/losses.parquet",
        coverage="results/memory/frozen/{driver}/{budget}/{policy}-{encoding}/coverage.parquet",
    log:
        "results/logs/replay_policies/{driver}-{budget}-{policy}-{encoding}.log",
    benchmark:
        "results/benchmarks/replay_policies/{driver}-{budget}-{policy}-{encoding}.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "replay_policies",
            "freeze_trajectories",
            "freeze_rollouts",
            seeds=config["seeds"],
            vocabulary=config["worlds"]["vocabulary"],
            **{
                key: config["memory"][key]
                for key in ["slots", "tau", "tokens", "capacity"]
            },
        ),
    message:
        "{wildcards.policy}, {wildcards.encoding}, {wildcards.budget}, on {wildcards.driver}"
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
