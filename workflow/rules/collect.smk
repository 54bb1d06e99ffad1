# Named targets, and the list of all artefacts: `rule all` asks for every one, so that a file lost
# in the middle of the chain is made again.
TABLES = {
    "table1": rules.make_table1.output,
    "table_spectrum": rules.make_table_spectrum.output,
    "table_ladder": rules.make_table_ladder.output,
}
FIGURES = {
    "figure1": rules.plot_figure1.output,
    "figure3": rules.plot_figure3.output,
    "figure_sigma": rules.plot_figure_sigma.output,
}
WORLDS = {"family": config["worlds"]["families"], "n_nodes": config["worlds"]["sizes"]}
ARTEFACTS = [
    *expand(rules.build_world.output, **WORLDS),
    *expand(rules.walk_randomly.output, **WORLDS),
    *rules.make_table_ladder.input.ladder,
    *rules.measure_concentration.output,
    *rules.measure_spectra.output,
    *(file for files in [*TABLES.values(), *FIGURES.values()] for file in files),
]

refuse_damaged(ARTEFACTS)


rule tables:
    input:
        *TABLES.values(),
    message:
        "Done: tables"


rule figures:
    input:
        *FIGURES.values(),
    message:
        "Done: figures"


rule table1:
    input:
        TABLES["table1"],
    message:
        "Done: table1"


rule table_spectrum:
    input:
        TABLES["table_spectrum"],
    message:
        "Done: table_spectrum"


rule table_ladder:
    input:
        TABLES["table_ladder"],
    message:
        "Done: table_ladder"


rule figure1:
    input:
        FIGURES["figure1"],
    message:
        "Done: figure1"


rule figure3:
    input:
        FIGURES["figure3"],
    message:
        "Done: figure3"


rule figure_sigma:
    input:
        FIGURES["figure_sigma"],
    message:
        "Done: figure_sigma"
