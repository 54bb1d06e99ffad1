# What gathers everything: the paper's page, and Snakemake's report.


report: "../report/workflow.rst"


# The configuration as it can be shown: no path, and nothing of how completions are fetched.
CONFIGURATION = {
    **{key: config[key] for key in config if key not in ["llm", "models", "traces"]},
    "models": [identity(model) for model in MODELS],
    "alfworld": {
        **config["alfworld"],
        **{
            key: "given" if config["alfworld"][key] else None
            for key in ["games", "demonstrations"]
        },
    },
    "longmemeval": {
        **config["longmemeval"],
        "questions": "given" if config["longmemeval"]["questions"] else None,
    },
}
SECTIONS = [
    [heading.partition(" ")[2], list(names)] for heading, names in CONTENTS.items()
]
CAPTIONS = {
    path.stem: path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "workflow/report").glob("*.rst"))
}
# What the paper's page shows: Markdown and LaTeX of the tables, both kinds of the figures' files.
PAGES = {
    kind: [
        file
        for files in results.values()
        for file in files
        if str(file).endswith(f".{ending}")
    ]
    for kind, ending, results in [
        ("markdown", "md", TABLES),
        ("latex", "tex", TABLES),
        ("png", "png", FIGURES),
        ("pdf", "pdf", FIGURES),
    ]
}
SPEAKING = [
    MODELS[model]["name"]
    for model in MODELS
    if model in [*(rollout[0] for rollout in ROLLOUTS), *READERS, *PLAYERS, *ANSWERERS]
]


rule describe_run:
    output:
        html=shown("configuration", "results/report/configuration.html"),
    log:
        "results/logs/describe_run.log",
    benchmark:
        "results/benchmarks/describe_run.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec("describe_run", configuration=CONFIGURATION),
    message:
        "Configuration and versions"
    script:
        "../../scripts/describe_run.py"


rule make_paper:
    input:
        **PAGES,
    output:
        markdown="results/report/paper.md",
        latex="results/report/paper.tex",
    log:
        "results/logs/make_paper.log",
    benchmark:
        "results/benchmarks/make_paper.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "make_paper",
            *[name for name in SPECS if name.startswith(("make_table", "plot_"))],
            # The ledger judges all of them, and stands at the end.
            sections=[*SECTIONS[1:], SECTIONS[0]],
            captions=CAPTIONS,
            models=SPEAKING,
        ),
    message:
        "All tables and figures in the paper's order"
    script:
        "../../scripts/make_paper.py"


# Not part of `rule all`, which needs no LaTeX.
rule make_paper_pdf:
    input:
        latex="results/report/paper.tex",
        figures=PAGES["pdf"],
    output:
        pdf="results/report/paper.pdf",
    log:
        "results/logs/make_paper_pdf.log",
    benchmark:
        "results/benchmarks/make_paper_pdf.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec("make_paper_pdf", "make_paper"),
    message:
        "The same as a PDF"
    script:
        "../../scripts/make_paper_pdf.py"


ARTEFACTS += [*rules.describe_run.output, *rules.make_paper.output]

refuse_damaged(dict.fromkeys(ARTEFACTS))


# Hands over to a second Snakemake, which reads what this one did and writes its own kind of report.
# It holds times of day, so it is no artefact, and not part of `rule all`.
rule make_report:
    input:
        ARTEFACTS,
    output:
        report="results/report/report.html",
    log:
        "results/logs/make_report.log",
    benchmark:
        "results/benchmarks/make_report.tsv"
    handover: True
    params:
        spec=spec("make_report", "describe_run", "make_paper", contents=CONTENTS),
    message:
        "Report: everything in one file"
    script:
        "../../scripts/make_report.py"


for name, files in {
    "paper": rules.make_paper.output,
    "paper_pdf": rules.make_paper_pdf.output,
    "report": rules.make_report.output,
}.items():

    rule:
        name:
            name
        input:
            files,
        message:
            f"Done: {name}"
