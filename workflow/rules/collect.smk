# Named targets, and the list of all artefacts: `rule all` asks for every one, so that a file lost
# in the middle of the chain is made again.
TABLES = {
    "table1": rules.make_table1.output,
    "table_spectrum": rules.make_table_spectrum.output,
    "table_ladder": rules.make_table_ladder.output,
    "table_audit": rules.make_table_audit.output,
    "table_calibration": rules.make_table_calibration.output,
    "table_controls": rules.make_table_controls.output,
    "table_tau": rules.make_table_tau.output,
    "table_cutoffs": rules.make_table_cutoffs.output,
    "table_tau_choice": rules.make_table_tau_choice.output,
    "table_propositions": rules.make_table_propositions.output,
    "table3": rules.make_table3.output,
    "table4": rules.make_table4.output,
    "table_contexts": rules.make_table_contexts.output,
    "table_longmemeval": rules.make_table_longmemeval.output,
    "table5": rules.make_table5.output,
    "table_benchmarks": rules.make_table_benchmarks.output,
}
FIGURES = {
    "figure1": rules.plot_figure1.output,
    "figure2": rules.plot_figure2.output,
    "figure3": rules.plot_figure3.output,
    "figure5": rules.plot_figure5.output,
    "figure7": rules.plot_figure7.output,
    "figure8": rules.plot_figure8.output,
    "figure_sigma": rules.plot_figure_sigma.output,
    "figure_calibration": rules.plot_figure_calibration.output,
    "figure_auditable": rules.plot_figure_auditable.output,
}

# Of models that choose by meaning.
if ROLLOUTS:
    TABLES["table2"] = rules.make_table2.output
    TABLES["table_gate"] = rules.make_table_gate.output
    FIGURES["figure4"] = [
        f"results/figures/figure4/{model}-{goal}.{kind}"
        for model, goal in dict.fromkeys(rollout[:2] for rollout in ROLLOUTS)
        for kind in ["pdf", "png"]
    ]
    for figure in ["figure1_semantic", "figure1_joint"]:
        FIGURES[figure] = [
            f"results/figures/{figure}/{model}.{kind}"
            for model, goal, family in ROLLOUTS
            if (goal, family) == ("seek", GATE_FAMILY)
            for kind in ["pdf", "png"]
        ]
    FIGURES["figure_positions"] = rules.plot_figure_positions.output

# Of models that act with a memory.
if LIVE:
    TABLES["table_closed_loop"] = rules.make_table_closed_loop.output
if TWICE_LIVE:
    TABLES["table_replay"] = rules.make_table_replay.output
    FIGURES["figure6"] = rules.plot_figure6.output

if PLAYERS:
    TABLES["table_alfworld"] = rules.make_table_alfworld.output


# Judges the tables of this run alone: what another configuration left is no answer.
rule make_ledger:
    input:
        tables=[
            file
            for files in TABLES.values()
            for file in files
            if str(file).endswith(".parquet")
        ],
    output:
        markdown="results/tables/ledger.md",
        latex="results/tables/ledger.tex",
        html=shown("ledger", "results/tables/ledger.html"),
        ledger="results/tables/ledger.parquet",
    log:
        "results/logs/make_ledger.log",
    benchmark:
        "results/benchmarks/make_ledger.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "make_ledger",
            "make_table1",
            "make_table_spectrum",
            "make_table_ladder",
            "make_table_audit",
            "make_table_calibration",
            "make_table_controls",
            "make_table2",
            "make_table_gate",
            "make_table3",
            "make_table4",
            "make_table_closed_loop",
            "make_table_replay",
            "make_table_contexts",
            "make_table_tau",
            "make_table_cutoffs",
            "make_table_tau_choice",
            "make_table_propositions",
            "make_table_longmemeval",
            "make_table5",
            "make_table_benchmarks",
            claims=read_yaml(ROOT / "workflow/resources/claims.yaml"),
            paper=PAPER,
        ),
    message:
        "Claims ledger"
    script:
        "../../scripts/make_ledger.py"


TABLES["ledger"] = rules.make_ledger.output

WORLDS = {
    "family": config["worlds"]["families"],
    "n_nodes": config["worlds"]["sizes"],
}
CELLS = {
    "family": config["cells"]["families"],
    "n_nodes": config["cells"]["n_nodes"],
}
ARTEFACTS = [
    *expand(rules.build_world.output, **WORLDS),
    *expand(rules.build_world.output, **CELLS),
    *expand(rules.walk_randomly.output, **WORLDS),
    *rules.make_table_ladder.input.ladder,
    *rules.measure_concentration.output,
    *rules.measure_spectra.output,
    *rules.make_table_audit.input.audits,
    *rules.make_table_calibration.input.calibration,
    *rules.make_table_controls.input.controls,
    *expand(rules.walk_controls.output.bands, **CELLS),
    *semantic("steps"),
    *semantic("counts"),
    *semantic("summary"),
    *rules.plot_figure_auditable.input.auditable,
    *rules.freeze_trajectories.output,
    *frozen("steps"),
    *frozen("losses"),
    *frozen("coverage"),
    *ASKED,
    *live_trajectories(),
    *live("steps"),
    *live("choices"),
    *live("summary"),
    *live("replays", TWICE_LIVE),
    *live_asked(SHOWN),
    *rules.allocate_tau.output,
    *rules.sweep_tau.output,
    *expand(
        "results/tau/{name}/semantic/{run}.parquet",
        name=["sweep", "counts", "rollouts"],
        run=SOUGHT,
    ),
    *rules.choose_tau.output,
    *rules.make_table_tau_choice.input.evaluation,
    *(rules.build_games.output if PLAYERS else []),
    *episodes("steps"),
    *episodes("episodes"),
    *rules.rank_sessions.output,
    *ANSWERS,
    *JUDGED,
    *(file for files in [*TABLES.values(), *FIGURES.values()] for file in files),
]

refuse_damaged(dict.fromkeys(ARTEFACTS))


rule tables:
    input:
        *TABLES.values(),
    message:
        "Done: all tables"


rule figures:
    input:
        *FIGURES.values(),
    message:
        "Done: all figures"


for name, files in {**TABLES, **FIGURES}.items():

    rule:
        name:
            name
        input:
            files,
        message:
            f"Done: {name}"
