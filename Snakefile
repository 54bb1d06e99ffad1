# coretail: every table and figure of "Heavy-Tailed Memory Traces in Long-Horizon Language Agents".
#
#   snakemake --cores N                                    everything, with config/config.yaml
#   snakemake --cores N --configfile config/smoke.yaml     everything, small
#   snakemake --cores N table1 figure3                     some of it
#   snakemake --cores N report                             one page that shows it all
#
# Nothing computes here: rules stand in workflow/rules, one file per stage; entry scripts in
# scripts; the library in scripts/coretail.
from snakemake.utils import min_version

min_version("9.27")


configfile: workflow.source_path("config/config.yaml")


include: "workflow/rules/common.smk"
include: "workflow/rules/worlds.smk"
include: "workflow/rules/rollouts.smk"
include: "workflow/rules/audits.smk"
include: "workflow/rules/memory.smk"
include: "workflow/rules/longmemeval.smk"
include: "workflow/rules/traces.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/tau.smk"
include: "workflow/rules/alfworld.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/plan.smk"
include: "workflow/rules/collect.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        ARTEFACTS,
    message:
        "Done: everything"


onsuccess:
    if workflow.is_main_process:
        print(
            "Tables: results/tables (*.md to read), figures: results/figures, all of them: "
            "results/report/paper.md"
        )
