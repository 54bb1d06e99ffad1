# What all rules share: the checked configuration, specifications, the check of earlier results.
import shlex
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

ROOT = Path(workflow.basedir)
sys.path.insert(0, str(ROOT / "scripts"))

# Snakemake puts the interpreter's path into a shell command without quotes.
if shlex.quote(sys.executable) != sys.executable and not sys.executable.startswith("'"):
    sys.executable = shlex.quote(sys.executable)

from coretail import manifest, provenance
from coretail.config import check, read_yaml
from coretail.errors import InputError
from coretail.worlds.topology import FAMILIES, check_world


def checked(config, files):
    """Return the configuration with numbers as declared, or stop with all that is wrong with it."""
    try:
        for file in files:
            read_yaml(Path(file))
        config = check(config, read_yaml(ROOT / "workflow/schemas/config.schema.yaml"))
        worlds, auditable, cells = (
            config["worlds"],
            config["auditable"],
            config["cells"],
        )
        for key, families, sizes, scale in [
            ("worlds.sizes", worlds["families"], worlds["sizes"], False),
            ("ladder.sizes", worlds["families"], config["ladder"]["sizes"], False),
            ("auditable.sizes", auditable["families"], auditable["sizes"], True),
            ("cells.n_nodes", cells["families"], [cells["n_nodes"]], False),
        ]:
            for family in families:
                for n_nodes in sizes:
                    try:
                        check_world(family, n_nodes, scale=scale)
                    except InputError as error:
                        raise InputError(f"{key}: {error}") from None
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
    # Lists that mean sets stand in one order, so that writing them in another changes nothing.
    config["seeds"].sort()
    config["worlds"]["families"].sort(key=FAMILIES.index)
    config["worlds"]["sizes"].sort()
    config["ladder"]["sizes"].sort()
    config["calibration"]["n_tails"].sort()
    config["auditable"]["families"].sort(key=FAMILIES.index)
    config["auditable"]["sizes"].sort()
    config["auditable"]["steps"].sort()
    config["cells"]["families"].sort(key=FAMILIES.index)
    return config


config = checked(config, workflow.configfiles)

# The paper's values stand beside ours in some tables: part of their settings, no input file.
PAPER = read_yaml(ROOT / "workflow/resources/paper_values.yaml")

# The random walk's memory, as its other uses share it.
STORE = {
    key: config["random_walk"][key]
    for key in ["capacity", "k", "retriever", "reads_feed_frequency"]
}

SPECS = {}


def spec(name, *upstream, **settings):
    """Return the specification of a rule: the slice of the configuration that its results depend
    on, the hash of scripts/<name>.py and of the library modules that it imports, and its lineage,
    the rules named in `upstream`."""
    SPECS[name] = provenance.specification(
        name,
        ROOT / "scripts" / f"{name}.py",
        settings,
        {source: SPECS[source] for source in upstream},
    )
    return SPECS[name]


def walks(name):
    """Return one file of each random-walk cell."""
    return [
        f"results/rollouts/random_walk/{family}/{n_nodes}/{name}.parquet"
        for family in config["worlds"]["families"]
        for n_nodes in config["worlds"]["sizes"]
    ]


def refuse_damaged(artefacts):
    """Stop before any job starts if an earlier result is not as its rule wrote it."""
    lines = manifest.damaged(map(Path, artefacts))
    if lines:
        raise WorkflowError(
            "Earlier results are damaged or foreign; nothing was changed. Put the right files back, "
            "or delete these, and the workflow makes them again:\n  "
            + "\n  ".join(lines)
        )


wildcard_constraints:
    family="|".join(FAMILIES),
    n_nodes=r"\d+",
