# The exponent τ: what it asks for, what comes of it where it chooses the reads (Figure 7, Appendix
# D), and by which τ to pack a context (fixed, from an audit, and the bound).

TAU_CHOICES = [f"{tau:g}" for tau in config["tau"]["values"]]
if (default := f"{config['memory']['tau']:g}") not in TAU_CHOICES:
    TAU_CHOICES.append(default)
TAU_CHOICES += ["auto", "oracle"]
# One file of the random walks, and one per model and τ.
SWEEPS = [
    "results/tau/sweep/random_walk.parquet",
    *expand("results/tau/sweep/semantic/{run}.parquet", run=SOUGHT),
]


wildcard_constraints:
    choice=r"[\d.e+-]+|auto|oracle",
    tau=r"[\d.e+-]+",


rule allocate_tau:
    output:
        allocation="results/tau/allocation.parquet",
    log:
        "results/logs/allocate_tau.log",
    benchmark:
        "results/benchmarks/allocate_tau.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "allocate_tau",
            values=config["tau"]["values"],
            n_ranked=config["tau"]["n_ranked"],
            slots=config["memory"]["slots"],
        ),
    message:
        "Shares and slots by rank, per τ"
    script:
        "../../scripts/allocate_tau.py"


rule sweep_tau:
    output:
        sweep="results/tau/sweep/random_walk.parquet",
        counts="results/tau/counts/random_walk.parquet",
    log:
        "results/logs/sweep_tau.log",
    benchmark:
        "results/benchmarks/sweep_tau.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "sweep_tau",
            first_seed=config["seeds"][0],
            capacity=config["random_walk"]["capacity"],
            vocabulary=config["worlds"]["vocabulary"],
            family=config["memory"]["family"],
            n_nodes=config["memory"]["n_nodes"],
            **{
                key: config["tau"][key]
                for key in ["values", "pool", "k", "n_seeds", "steps"]
            },
        ),
    message:
        "Reads chosen by τ, on random walks"
    script:
        "../../scripts/sweep_tau.py"


# One job per model and τ, so that what is stopped loses little and several can be asked at a time.
rule sweep_tau_semantic:
    output:
        sweep="results/tau/sweep/semantic/{model}/{tau}.parquet",
        counts="results/tau/counts/semantic/{model}/{tau}.parquet",
        rollouts="results/tau/rollouts/semantic/{model}/{tau}.parquet",
    log:
        "results/logs/sweep_tau_semantic/{model}-{tau}.log",
    benchmark:
        "results/benchmarks/sweep_tau_semantic/{model}-{tau}.tsv"
    conda:
        "../../envs/coretail.yaml"
    resources:
        llm_slots=1,
    params:
        spec=asked(
            "sweep_tau_semantic",
            seeds=config["seeds"],
            capacity=config["random_walk"]["capacity"],
            vocabulary=config["worlds"]["vocabulary"],
            family=config["memory"]["family"],
            n_nodes=config["memory"]["n_nodes"],
            pool=config["tau"]["pool"],
            k=config["tau"]["k"],
            steps=config["tau"]["semantic_steps"],
            **{
                key: config["semantic"][key]
                for key in ["patience", "style", "temperature", "seed", "attempts"]
            },
        ),
    message:
        "{wildcards.model} seeks and reads what τ = {wildcards.tau} chooses"
    script:
        "../../scripts/sweep_tau_semantic.py"


rule choose_tau:
    input:
        trajectories="results/memory/trajectories/agents.parquet",
    output:
        auto="results/tau/auto.parquet",
    log:
        "results/logs/choose_tau.log",
    benchmark:
        "results/benchmarks/choose_tau.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "choose_tau",
            "freeze_trajectories",
            replicates=config["audit"]["replicates"],
            thresholds=config["audit"]["thresholds"],
            ks=config["audit"]["ks"][0],
        ),
    message:
        "τ from the audit of each trajectory's first half"
    script:
        "../../scripts/choose_tau.py"


rule evaluate_tau:
    input:
        trajectories="results/memory/trajectories/agents.parquet",
        auto="results/tau/auto.parquet",
    output:
        evaluation="results/tau/evaluation/{choice}.parquet",
    log:
        "results/logs/evaluate_tau/{choice}.log",
    benchmark:
        "results/benchmarks/evaluate_tau/{choice}.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "evaluate_tau",
            "freeze_trajectories",
            "choose_tau",
            slots=config["memory"]["slots"],
            vocabulary=config["worlds"]["vocabulary"],
        ),
    message:
        "Tail error and context length by τ: {wildcards.choice}"
    script:
        "../../scripts/evaluate_tau.py"


rule make_table_tau:
    input:
        **(GATE_FILES if SEEKERS else {}),
        allocation="results/tau/allocation.parquet",
        sweep=SWEEPS,
        rollouts=expand("results/tau/rollouts/semantic/{run}.parquet", run=SOUGHT),
    output:
        markdown="results/tables/table_tau.md",
        latex="results/tables/table_tau.tex",
        html=shown("table_tau", "results/tables/table_tau.html"),
        tau="results/tables/table_tau.parquet",
    log:
        "results/logs/make_table_tau.log",
    benchmark:
        "results/benchmarks/make_table_tau.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "make_table_tau",
            "allocate_tau",
            "sweep_tau",
            "sweep_tau_semantic",
            "make_table_gate",
            models=[MODELS[model]["name"] for model in SEEKERS],
            gate=GATE,
        ),
    message:
        "Table of the τ sweep"
    script:
        "../../scripts/make_table_tau.py"


rule make_table_cutoffs:
    input:
        sweep=SWEEPS,
    output:
        markdown="results/tables/table_cutoffs.md",
        latex="results/tables/table_cutoffs.tex",
        html=shown("table_cutoffs", "results/tables/table_cutoffs.html"),
        cutoffs="results/tables/table_cutoffs.parquet",
        taus="results/tables/table_cutoffs_taus.parquet",
    log:
        "results/logs/make_table_cutoffs.log",
    benchmark:
        "results/benchmarks/make_table_cutoffs.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "make_table_cutoffs",
            "sweep_tau",
            "sweep_tau_semantic",
            models=[MODELS[model]["name"] for model in SEEKERS],
            seeds=config["seeds"],
        ),
    message:
        "Appendix D: the cutoff under the τ sweep"
    script:
        "../../scripts/make_table_cutoffs.py"


rule make_table_tau_choice:
    input:
        evaluation=expand("results/tau/evaluation/{choice}.parquet", choice=TAU_CHOICES),
        auto="results/tau/auto.parquet",
    output:
        markdown="results/tables/table_tau_choice.md",
        latex="results/tables/table_tau_choice.tex",
        html=shown("table_tau_choice", "results/tables/table_tau_choice.html"),
        choice="results/tables/table_tau_choice.parquet",
        choice_seeds="results/tables/table_tau_choice_seeds.parquet",
    log:
        "results/logs/make_table_tau_choice.log",
    benchmark:
        "results/benchmarks/make_table_tau_choice.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "make_table_tau_choice",
            "choose_tau",
            "evaluate_tau",
            tau=config["memory"]["tau"],
        ),
    message:
        "Table of the choice of τ"
    script:
        "../../scripts/make_table_tau_choice.py"


rule make_table_propositions:
    output:
        markdown="results/tables/table_propositions.md",
        latex="results/tables/table_propositions.tex",
        html=shown("table_propositions", "results/tables/table_propositions.html"),
        propositions="results/tables/table_propositions.parquet",
    log:
        "results/logs/make_table_propositions.log",
    benchmark:
        "results/benchmarks/make_table_propositions.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "make_table_propositions",
            sizes=[1, 2, 10, 1000, 100000, 1000000],
            # Beyond the swept values, where shares underflow and where they tie.
            taus=sorted({0.0, 1e-6, 50.0, 700.0, *config["tau"]["values"]}),
        ),
    message:
        "Appendix A on the shipped allocator"
    script:
        "../../scripts/make_table_propositions.py"


rule plot_figure7:
    input:
        tau="results/tables/table_tau.parquet",
        sweep=SWEEPS,
    output:
        pdf="results/figures/figure7.pdf",
        png=shown("figure7", "results/figures/figure7.png"),
    log:
        "results/logs/plot_figure7.log",
    benchmark:
        "results/benchmarks/plot_figure7.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "plot_figure7",
            "make_table_tau",
            "sweep_tau",
            "sweep_tau_semantic",
        ),
    message:
        "Figure 7: concentration against τ"
    script:
        "../../scripts/plot_figure7.py"
