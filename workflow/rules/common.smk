# What all rules share: the checked configuration, specifications, the check of earlier results.
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

ROOT = Path(workflow.basedir)
sys.path.insert(0, str(ROOT / "scripts"))

from coretail import manifest, provenance
from coretail.config import check, read_yaml
from coretail.errors import InputError
from coretail.rollouts.rules import check_walk
from coretail.worlds.families import FAMILIES, check_world


def checked(config, files):
    """Return the configuration with numbers as declared, or stop with all that is wrong with it."""
    try:
        for file in files:
            read_yaml(Path(file))
        config = check(config, read_yaml(ROOT / "workflow/schemas/config.schema.yaml"))
        for key in ["worlds", "ladder"]:
            for family in config["worlds"]["families"]:
                for n_nodes in config[key]["sizes"]:
                    check_world(family, n_nodes, key=f"{key}.sizes")
        if config["figures"]["n_nodes"] not in config["worlds"]["sizes"]:
            raise InputError(
                f"figures.n_nodes: {config['figures']['n_nodes']} is not one of worlds.sizes "
                f"{config['worlds']['sizes']}"
            )
        if config["spectrum"]["segment"] > config["random_walk"]["steps"]:
            raise InputError(
                f"spectrum.segment: {config['spectrum']['segment']} is longer than "
                f"random_walk.steps, {config['random_walk']['steps']}"
            )
    except InputError as error:
        raise WorkflowError(str(error)) from None
    return config


config = checked(config, workflow.configfiles)

SPECS = {}


def spec(rule, *upstream, **settings):
    """Return the specification of a rule: the slice of the configuration that its results depend
    on, the hash of scripts/<rule>.py and of the library modules that it imports, and its lineage,
    the rules named in `upstream`."""
    SPECS[rule] = provenance.specification(
        rule,
        ROOT / "scripts" / f"{rule}.py",
        settings,
        {name: SPECS[name] for name in upstream},
    )
    return SPECS[rule]


def refuse_damaged(artefacts):
    """Stop before any job starts if an earlier result is not as its rule wrote it."""
    lines = manifest.damaged(map(Path, artefacts))
    if lines:
        raise WorkflowError(
            "Earlier results are damaged or foreign; nothing was changed. Put the right files back, "
            "or delete these, and the workflow makes them again:\n  " + "\n  ".join(lines)
        )


wildcard_constraints:
    family="|".join(FAMILIES),
    n_nodes=r"\d+",
