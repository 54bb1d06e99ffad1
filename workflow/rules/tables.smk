# Tables: Markdown, LaTeX and Parquet from one description each.


rule make_table1:
    input:
        concentration="results/audits/concentration.parquet",
        summary=walks("summary"),
    output:
        markdown="results/tables/table1.md",
        latex="results/tables/table1.tex",
        html=shown("table1", "results/tables/table1.html"),
        cells="results/tables/table1_cells.parquet",
        trends="results/tables/table1_trends.parquet",
        noise="results/tables/table1_noise.parquet",
    log:
        "results/logs/make_table1.log",
    benchmark:
        "results/benchmarks/make_table1.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec("make_table1", "measure_concentration", paper=PAPER["table1"]),
    message:
        "Table 1: finite-size trend under random-walk driving"
    script:
        "../../scripts/make_table1.py"


rule make_table_spectrum:
    input:
        spectra="results/audits/spectra.parquet",
    output:
        markdown="results/tables/table_spectrum.md",
        latex="results/tables/table_spectrum.tex",
        html=shown("table_spectrum", "results/tables/table_spectrum.html"),
        spectrum="results/tables/table_spectrum.parquet",
    log:
        "results/logs/make_table_spectrum.log",
    benchmark:
        "results/benchmarks/make_table_spectrum.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "make_table_spectrum",
            "measure_spectra",
            paper=PAPER["spectral_exponent"],
        ),
    message:
        "Table of spectral exponents"
    script:
        "../../scripts/make_table_spectrum.py"


rule make_table_ladder:
    input:
        ladder=expand(
            "results/rollouts/ladder/{family}/{n_nodes}.parquet",
            family=config["worlds"]["families"],
            n_nodes=config["ladder"]["sizes"],
        ),
    output:
        markdown="results/tables/table_ladder.md",
        latex="results/tables/table_ladder.tex",
        html=shown("table_ladder", "results/tables/table_ladder.html"),
        ladder="results/tables/table_ladder.parquet",
    log:
        "results/logs/make_table_ladder.log",
    benchmark:
        "results/benchmarks/make_table_ladder.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec("make_table_ladder", "climb_ladder", paper=PAPER["ladder"]),
    message:
        "Table of the retriever ladder"
    script:
        "../../scripts/make_table_ladder.py"


rule make_table_audit:
    input:
        audits=expand(
            "results/audits/random_walk/{family}/{n_nodes}.parquet",
            family=config["worlds"]["families"],
            n_nodes=config["worlds"]["sizes"],
        ),
    output:
        markdown="results/tables/table_audit.md",
        latex="results/tables/table_audit.tex",
        html=shown("table_audit", "results/tables/table_audit.html"),
        cells="results/tables/table_audit_cells.parquet",
        verdicts="results/tables/table_audit_verdicts.parquet",
    log:
        "results/logs/make_table_audit.log",
    benchmark:
        "results/benchmarks/make_table_audit.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "make_table_audit",
            "audit_walks",
            ks=config["audit"]["ks"][0],
            n_tail=config["audit"]["thresholds"]["n_tail"],
            p_gof=config["audit"]["thresholds"]["p_gof"],
        ),
    message:
        "Table of the random walks' audits"
    script:
        "../../scripts/make_table_audit.py"


rule make_table_calibration:
    input:
        calibration=expand(
            "results/audits/calibration/{law}.parquet",
            law=config["calibration"]["laws"],
        ),
    output:
        markdown="results/tables/table_calibration.md",
        latex="results/tables/table_calibration.tex",
        html=shown("table_calibration", "results/tables/table_calibration.html"),
        levels="results/tables/table_calibration_levels.parquet",
        confusion="results/tables/table_calibration_confusion.parquet",
    log:
        "results/logs/make_table_calibration.log",
    benchmark:
        "results/benchmarks/make_table_calibration.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "make_table_calibration",
            "calibrate_audit",
            p_gof=config["audit"]["thresholds"]["p_gof"],
        ),
    message:
        "Tables of the audit's calibration"
    script:
        "../../scripts/make_table_calibration.py"


rule make_table_controls:
    input:
        controls=expand(
            "results/audits/controls/{family}/{n_nodes}.parquet",
            family=config["cells"]["families"],
            n_nodes=config["cells"]["n_nodes"],
        ),
    output:
        markdown="results/tables/table_controls.md",
        latex="results/tables/table_controls.tex",
        html=shown("table_controls", "results/tables/table_controls.html"),
        controls="results/tables/table_controls.parquet",
    log:
        "results/logs/make_table_controls.log",
    benchmark:
        "results/benchmarks/make_table_controls.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec("make_table_controls", "walk_controls"),
    message:
        "Table of the matched controls"
    script:
        "../../scripts/make_table_controls.py"


rule make_table_gate:
    input:
        competence=[
            f"results/rollouts/competence/{model}/{GATE_FAMILY}/{config['cells']['n_nodes']}.parquet"
            for model in MODELS
        ],
        steps=semantic("steps"),
        summary=semantic("summary"),
        agents=expand(
            "results/rollouts/random_agents/{family}/{n_nodes}.parquet",
            family=config["cells"]["families"],
            n_nodes=config["cells"]["n_nodes"],
        ),
    output:
        markdown="results/tables/table_gate.md",
        latex="results/tables/table_gate.tex",
        html=shown("table_gate", "results/tables/table_gate.html"),
        competence="results/tables/table_competence.parquet",
        hits="results/tables/table_hits.parquet",
        positions="results/tables/table_positions.parquet",
    log:
        "results/logs/make_table_gate.log",
    benchmark:
        "results/benchmarks/make_table_gate.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "make_table_gate",
            "test_competence",
            "roll_semantic",
            "roll_random_agents",
        ),
    message:
        "Tables of the competence gate"
    script:
        "../../scripts/make_table_gate.py"


rule make_table2:
    input:
        audits="results/audits/semantic/audits.parquet",
        tests="results/audits/semantic/tests.parquet",
        effects="results/audits/semantic/effects.parquet",
        summary=semantic("summary"),
        competence="results/tables/table_competence.parquet",
        hits="results/tables/table_hits.parquet",
    output:
        markdown="results/tables/table2.md",
        latex="results/tables/table2.tex",
        html=shown("table2", "results/tables/table2.html"),
        table2="results/tables/table2.parquet",
    log:
        "results/logs/make_table2.log",
    benchmark:
        "results/benchmarks/make_table2.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "make_table2",
            "audit_semantic",
            "make_table_gate",
            gate=GATE,
            paper=PAPER["table2"],
        ),
    message:
        "Table 2: topologies under semantic policy"
    script:
        "../../scripts/make_table2.py"


rule make_table3:
    input:
        **GATE_TABLES,
        losses=frozen("losses"),
        coverage=frozen("coverage"),
        asked=ASKED,
    output:
        markdown="results/tables/table3.md",
        latex="results/tables/table3.tex",
        html=shown("table3", "results/tables/table3.html"),
        table3="results/tables/table3.parquet",
    log:
        "results/logs/make_table3.log",
    benchmark:
        "results/benchmarks/make_table3.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "make_table3",
            "replay_policies",
            "ask_policies",
            "make_table_gate",
            policies=config["memory"]["policies"],
            models=[MODELS[model]["name"] for model in READERS],
            gate=GATE,
        ),
    message:
        "Table 3: memory policies"
    script:
        "../../scripts/make_table3.py"


rule make_table4:
    input:
        **GATE_TABLES,
        losses=frozen("losses"),
        asked=ASKED,
    output:
        markdown="results/tables/table4.md",
        latex="results/tables/table4.tex",
        html=shown("table4", "results/tables/table4.html"),
        table4="results/tables/table4.parquet",
        table4_effects="results/tables/table4_effects.parquet",
    log:
        "results/logs/make_table4.log",
    benchmark:
        "results/benchmarks/make_table4.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "make_table4",
            "replay_policies",
            "ask_policies",
            "make_table_gate",
            models=[MODELS[model]["name"] for model in READERS],
            gate=GATE,
        ),
    message:
        "Table 4: encoding by allocation"
    script:
        "../../scripts/make_table4.py"


rule make_table_closed_loop:
    input:
        **GATE_TABLES,
        summary=live("summary"),
        trajectories=live_trajectories(),
        steps=live("steps"),
        asked=live_asked([(*run, run[-1]) for run in LIVE]),
    output:
        markdown="results/tables/table_closed_loop.md",
        latex="results/tables/table_closed_loop.tex",
        html=shown("table_closed_loop", "results/tables/table_closed_loop.html"),
        table_closed_loop="results/tables/table_closed_loop.parquet",
        table_closed_loop_effects="results/tables/table_closed_loop_effects.parquet",
    log:
        "results/logs/make_table_closed_loop.log",
    benchmark:
        "results/benchmarks/make_table_closed_loop.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "make_table_closed_loop",
            "roll_closed_loop",
            "ask_closed_loop",
            "make_table_gate",
            gate=GATE,
        ),
    message:
        "Memory policies in the closed loop"
    script:
        "../../scripts/make_table_closed_loop.py"


rule make_table_replay:
    input:
        **GATE_TABLES,
        summary=live("summary", TWICE_LIVE),
        trajectories=live_trajectories(TWICE_LIVE),
        steps=live("steps", TWICE_LIVE),
        replays=live("replays", TWICE_LIVE),
        asked=live_asked([run for run in SHOWN if run[:3] in TWICE_LIVE]),
    output:
        markdown="results/tables/table_replay.md",
        latex="results/tables/table_replay.tex",
        html=shown("table_replay", "results/tables/table_replay.html"),
        table_replay="results/tables/table_replay.parquet",
        table_replay_parts="results/tables/table_replay_parts.parquet",
        table_replay_seeds="results/tables/table_replay_seeds.parquet",
    log:
        "results/logs/make_table_replay.log",
    benchmark:
        "results/benchmarks/make_table_replay.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "make_table_replay",
            "replay_closed_loop",
            "ask_closed_loop",
            "make_table_gate",
            gate=GATE,
        ),
    message:
        "Table of frozen-trajectory replay"
    script:
        "../../scripts/make_table_replay.py"


rule make_table_contexts:
    input:
        trajectories="results/memory/trajectories/agents.parquet",
    output:
        markdown="results/tables/table_contexts.md",
        latex="results/tables/table_contexts.tex",
        html=shown("table_contexts", "results/tables/table_contexts.html"),
        contexts="results/tables/table_contexts.parquet",
    log:
        "results/logs/make_table_contexts.log",
    benchmark:
        "results/benchmarks/make_table_contexts.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "make_table_contexts",
            "freeze_trajectories",
            seeds=config["seeds"],
            vocabulary=config["worlds"]["vocabulary"],
            **{
                key: config["memory"][key]
                for key in ["slots", "tau", "tokens", "capacity"]
            },
        ),
    message:
        "Appendix C: contexts in each encoding"
    script:
        "../../scripts/make_table_contexts.py"
