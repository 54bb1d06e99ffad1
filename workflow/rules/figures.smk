# Figures: vector PDF and PNG, from Parquet alone.


rule plot_figure1:
    input:
        counts=expand(
            "results/rollouts/random_walk/{family}/{n_nodes}/counts.parquet",
            family=config["worlds"]["families"],
            n_nodes=config["figures"]["n_nodes"],
        ),
        audits=expand(
            "results/audits/random_walk/{family}/{n_nodes}.parquet",
            family=config["worlds"]["families"],
            n_nodes=config["figures"]["n_nodes"],
        ),
    output:
        pdf="results/figures/figure1.pdf",
        png=shown("figure1", "results/figures/figure1.png"),
    log:
        "results/logs/plot_figure1.log",
    benchmark:
        "results/benchmarks/plot_figure1.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "plot_figure1",
            "walk_randomly",
            "audit_walks",
            eviction=config["random_walk"]["evictions"][0],
            ks=config["audit"]["ks"][0],
        ),
    message:
        "Figure 1, random-walk panel"
    script:
        "../../scripts/plot_figure1.py"


rule plot_figure2:
    output:
        pdf="results/figures/figure2.pdf",
        png=shown("figure2", "results/figures/figure2.png"),
    log:
        "results/logs/plot_figure2.log",
    benchmark:
        "results/benchmarks/plot_figure2.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "plot_figure2",
            tau=config["memory"]["tau"],
            slots=config["memory"]["slots"],
        ),
    message:
        "Figure 2: the update-and-retrieval loop"
    script:
        "../../scripts/plot_figure2.py"


rule plot_figure3:
    input:
        ladder="results/tables/table_ladder.parquet",
    output:
        pdf="results/figures/figure3.pdf",
        png=shown("figure3", "results/figures/figure3.png"),
    log:
        "results/logs/plot_figure3.log",
    benchmark:
        "results/benchmarks/plot_figure3.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec("plot_figure3", "make_table_ladder"),
    message:
        "Figure 3: the retriever ladder"
    script:
        "../../scripts/plot_figure3.py"


rule plot_figure_sigma:
    input:
        cells="results/tables/table1_cells.parquet",
    output:
        pdf="results/figures/figure_sigma.pdf",
        png=shown("figure_sigma", "results/figures/figure_sigma.png"),
    log:
        "results/logs/plot_figure_sigma.log",
    benchmark:
        "results/benchmarks/plot_figure_sigma.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec("plot_figure_sigma", "make_table1"),
    message:
        "Companion picture of Table 1"
    script:
        "../../scripts/plot_figure_sigma.py"


rule plot_figure_calibration:
    input:
        calibration=expand(
            "results/audits/calibration/{law}.parquet",
            law=config["calibration"]["laws"],
        ),
        confusion="results/tables/table_calibration_confusion.parquet",
    output:
        pdf="results/figures/figure_calibration.pdf",
        png=shown("figure_calibration", "results/figures/figure_calibration.png"),
    log:
        "results/logs/plot_figure_calibration.log",
    benchmark:
        "results/benchmarks/plot_figure_calibration.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "plot_figure_calibration",
            "make_table_calibration",
            p_gof=config["audit"]["thresholds"]["p_gof"],
        ),
    message:
        "Figure of the audit's calibration"
    script:
        "../../scripts/plot_figure_calibration.py"


rule plot_figure_auditable:
    input:
        auditable=expand(
            "results/audits/auditable/{family}.parquet",
            family=config["auditable"]["families"],
        ),
    output:
        pdf="results/figures/figure_auditable.pdf",
        png=shown("figure_auditable", "results/figures/figure_auditable.png"),
    log:
        "results/logs/plot_figure_auditable.log",
    benchmark:
        "results/benchmarks/plot_figure_auditable.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "plot_figure_auditable",
            "map_auditable",
            n_tail=config["audit"]["thresholds"]["n_tail"],
        ),
    message:
        "Map of auditable random walks"
    script:
        "../../scripts/plot_figure_auditable.py"


rule plot_figure4:
    input:
        counts=lambda wildcards: [
            f"results/rollouts/semantic/{model}/{goal}/{family}/{config['cells']['n_nodes']}/counts.parquet"
            for model, goal, family in ROLLOUTS
            if (model, goal) == (wildcards.model, wildcards.goal)
        ],
        audits="results/audits/semantic/audits.parquet",
        tests="results/audits/semantic/tests.parquet",
        bands=expand(
            "results/audits/controls/{family}/{n_nodes}-bands.parquet",
            family=config["cells"]["families"],
            n_nodes=config["cells"]["n_nodes"],
        ),
    output:
        pdf="results/figures/figure4/{model}-{goal}.pdf",
        png=shown("figure4", "results/figures/figure4/{model}-{goal}.png"),
    log:
        "results/logs/plot_figure4/{model}-{goal}.log",
    benchmark:
        "results/benchmarks/plot_figure4/{model}-{goal}.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=for_model("plot_figure4", "audit_semantic", "walk_controls"),
    message:
        "Figure 4: {wildcards.model}, {wildcards.goal}"
    script:
        "../../scripts/plot_figure4.py"


rule plot_figure1_semantic:
    input:
        counts=f"results/rollouts/semantic/{{model}}/seek/{GATE_FAMILY}/{config['cells']['n_nodes']}/counts.parquet",
        edges=f"results/worlds/{GATE_FAMILY}/{config['cells']['n_nodes']}/edges.parquet",
    output:
        pdf="results/figures/figure1_semantic/{model}.pdf",
        png=shown("figure1_semantic", "results/figures/figure1_semantic/{model}.png"),
    log:
        "results/logs/plot_figure1_semantic/{model}.log",
    benchmark:
        "results/benchmarks/plot_figure1_semantic/{model}.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=for_model(
            "plot_figure1_semantic",
            "roll_semantic",
            steps=config["cells"]["steps"],
            eviction=config["random_walk"]["evictions"][0],
            **STORE,
        ),
    message:
        "Figure 1, semantic half: {wildcards.model}"
    script:
        "../../scripts/plot_figure1_semantic.py"


rule plot_figure1_joint:
    input:
        walks=rules.plot_figure1.input.counts,
        counts=f"results/rollouts/semantic/{{model}}/seek/{GATE_FAMILY}/{config['cells']['n_nodes']}/counts.parquet",
        edges=f"results/worlds/{GATE_FAMILY}/{config['cells']['n_nodes']}/edges.parquet",
    output:
        pdf="results/figures/figure1_joint/{model}.pdf",
        png=shown("figure1_joint", "results/figures/figure1_joint/{model}.png"),
    log:
        "results/logs/plot_figure1_joint/{model}.log",
    benchmark:
        "results/benchmarks/plot_figure1_joint/{model}.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=for_model(
            "plot_figure1_joint",
            "walk_randomly",
            "roll_semantic",
            walk={
                "steps": config["cells"]["steps"],
                "eviction": config["random_walk"]["evictions"][0],
                **STORE,
            },
            taus=sorted({0.5, config["memory"]["tau"], 2.0}),
        ),
    message:
        "Figure 1, both halves: {wildcards.model}"
    script:
        "../../scripts/plot_figure1_joint.py"


rule plot_figure_positions:
    input:
        positions="results/tables/table_positions.parquet",
    output:
        pdf="results/figures/figure_positions.pdf",
        png=shown("figure_positions", "results/figures/figure_positions.png"),
    log:
        "results/logs/plot_figure_positions.log",
    benchmark:
        "results/benchmarks/plot_figure_positions.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec("plot_figure_positions", "make_table_gate"),
    message:
        "Figure of choices by position"
    script:
        "../../scripts/plot_figure_positions.py"


rule plot_figure5:
    input:
        table4="results/tables/table4.parquet",
    output:
        pdf="results/figures/figure5.pdf",
        png=shown("figure5", "results/figures/figure5.png"),
    log:
        "results/logs/plot_figure5.log",
    benchmark:
        "results/benchmarks/plot_figure5.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec("plot_figure5", "make_table4"),
    message:
        "Figure 5: encoding by allocation"
    script:
        "../../scripts/plot_figure5.py"


rule plot_figure8:
    input:
        table5="results/tables/table5.parquet",
    output:
        pdf="results/figures/figure8.pdf",
        png=shown("figure8", "results/figures/figure8.png"),
    log:
        "results/logs/plot_figure8.log",
    benchmark:
        "results/benchmarks/plot_figure8.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec("plot_figure8", "make_table5"),
    message:
        "Figure 8: all workloads"
    script:
        "../../scripts/plot_figure8.py"


rule plot_figure6:
    input:
        table_replay_parts="results/tables/table_replay_parts.parquet",
        table_replay_seeds="results/tables/table_replay_seeds.parquet",
    output:
        pdf="results/figures/figure6.pdf",
        png=shown("figure6", "results/figures/figure6.png"),
    log:
        "results/logs/plot_figure6.log",
    benchmark:
        "results/benchmarks/plot_figure6.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec("plot_figure6", "make_table_replay"),
    message:
        "Figure 6: frozen-trajectory replay"
    script:
        "../../scripts/plot_figure6.py"
