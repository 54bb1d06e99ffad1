# What all rules share: the checked configuration, specifications, the check of earlier results.
import re
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
from coretail.alfworld.games import GAME_FILE, TRAJECTORY_FILE, default_root
from coretail.config import check, located, read_yaml
from coretail.errors import InputError
from coretail.llm import model_from
from coretail.worlds.topology import FAMILIES, check_world

provenance.prefer(ROOT / "scripts")


def checked(config, files):
    """Return the configuration with numbers as declared, or stop with all that is wrong with it.

    `files` are those that were merged, the last one on top."""
    sources = []
    try:
        for file in files:
            sources.append((file, read_yaml(file)))
        schema = read_yaml(ROOT / "workflow/schemas/config.schema.yaml")
        config = check(config, schema, sources)
        worlds, auditable, cells, memory = (
            config["worlds"],
            config["auditable"],
            config["cells"],
            config["memory"],
        )
        for key, families, sizes, scale in [
            ("worlds.sizes", worlds["families"], worlds["sizes"], False),
            ("ladder.sizes", worlds["families"], config["ladder"]["sizes"], False),
            ("auditable.sizes", auditable["families"], auditable["sizes"], True),
            ("cells.n_nodes", cells["families"], [cells["n_nodes"]], False),
            ("memory.n_nodes", [memory["family"]], [memory["n_nodes"]], False),
        ]:
            for family in families:
                for n_nodes in sizes:
                    try:
                        check_world(family, n_nodes, scale=scale)
                    except InputError as error:
                        raise InputError(f"{key}: {error}") from None
        names = [entry["name"] for entry in config["models"]]
        if len(set(names)) < len(names):
            raise InputError(f"models: {names}: a name stands twice")
        for key in ["memory", "tau", "alfworld", "longmemeval"]:
            if unknown := set(config[key]["models"]).difference(names):
                raise InputError(
                    f"{key}.models: {sorted(unknown)} are not among models {names}; a configuration "
                    f"that replaces models must set {key}.models too, to some of its names or []"
                )
        conversations = config["longmemeval"]
        judges = [entry["name"] for entry in config["models"] if "base_url" in entry]
        if conversations["judge_model"] not in [None, *judges]:
            raise InputError(
                f"longmemeval.judge_model: {conversations['judge_model']!r} is none of the models "
                f"with a base_url, {judges}; name one of them, or null for no judge but the rules"
            )
        paths = [re.sub(r"[^\w.-]+", "_", name) for name in names]
        if len(set(paths)) < len(paths):
            raise InputError(f"models: {names}: two names give the same path")
        samples = [trace["name"] for trace in config["traces"]]
        if len(set(samples)) < len(samples):
            raise InputError(f"traces: {samples}: a name stands twice")
        if config["tau"]["k"] > config["tau"]["pool"]:
            raise InputError(
                f"tau.k: {config['tau']['k']} is more than tau.pool, {config['tau']['pool']}"
            )
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
        raise WorkflowError(located(str(error), config, sources)) from None
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
    config["tau"]["values"].sort()
    return config


# Of the workflow's own file Snakemake names a copy in its cache; those of the command line, which
# lie on top of it, are paths.
config = checked(
    config,
    [
        ROOT / "config/config.yaml",
        *(file for file in workflow.configfiles if isinstance(file, Path)),
    ],
)

# The paper's values stand beside ours in some tables: part of their settings, no input file.
PAPER = read_yaml(ROOT / "workflow/resources/paper_values.yaml")

# What the report and the paper's page show: headings, and under each results with their labels.
CONTENTS = read_yaml(ROOT / "workflow/report/contents.yaml")

# The random walk's memory, as its other uses share it.
STORE = {
    key: config["random_walk"][key]
    for key in ["capacity", "k", "retriever", "reads_feed_frequency"]
}

# Models by the name that they have in paths.
MODELS = {re.sub(r"[^\w.-]+", "_", entry["name"]): entry for entry in config["models"]}

# What a model chooses in: (model, goal, family).
ROLLOUTS = [
    (model, goal, family)
    for model, entry in MODELS.items()
    for goal in ["seek", "explore"]
    for family in config["cells"]["families"]
    if family in config["semantic"][goal]
    and family in entry.get("families", config["cells"]["families"])
    and goal in entry.get("goals", [goal])
]

# The competence gate's tasks are drawn in worlds of this family. It is passed with at least such a
# share copied from memory, and less than such a share guessed without one.
GATE_FAMILY = "scale-free"
GATE = {"copied": 0.8, "guessed": 0.2}

# Models that predict from what memory policies show, by the name that they have in paths; and the
# gate's tables, which then stand beside the policies'.
READERS = [
    model
    for model, entry in MODELS.items()
    if entry["name"] in config["memory"]["models"]
]
GATE_FILES = {
    name: f"results/tables/table_{name}.parquet" for name in ["competence", "hits"]
}
GATE_TABLES = GATE_FILES if READERS else {}

# Models that seek while τ chooses what they read, and the runs, as model and τ.
SEEKERS = [
    model for model, entry in MODELS.items() if entry["name"] in config["tau"]["models"]
]
SOUGHT = [f"{model}/{tau}" for model in SEEKERS for tau in config["tau"]["values"]]

# Models that play ALFWorld.
PLAYERS = [
    model
    for model, entry in MODELS.items()
    if entry["name"] in config["alfworld"]["models"]
]
SETTINGS = ["short_walk", "long_walk", "one_shot", "three_shot"]

# What the models predict from. On their own rollouts hardly a tail state is met twice.
ASKED = [
    f"results/memory/asked/{model}/agents/slots/{cell}.parquet"
    for model in READERS
    for cell in config["memory"]["asked_cells"]
]

# Models that act with a memory in the closed loop, as (model, policy, encoding); and per run each
# encoding of its policy that others of its runs have. Replay takes apart where there are two.
LIVE_CELLS = [
    tuple(cell.split("-")) for cell in config["memory"]["closed_loop"]["cells"]
]
LIVE = [(model, *cell) for model in READERS for cell in LIVE_CELLS]
SHOWN = [
    (model, policy, encoding, shown)
    for model, policy, encoding in LIVE
    for other, shown in LIVE_CELLS
    if other == policy
]
TWICE_LIVE = [
    (model, policy, encoding)
    for model, policy, encoding, shown in SHOWN
    if encoding != shown
]

# Memory policies that are replayed.
COMPARED = list(
    dict.fromkeys(
        config["memory"]["policies"]
        + [cell.partition("-")[0] for cell in config["memory"]["asked_cells"]]
    )
)

# Models that answer LongMemEval's questions, and the one that judges beside the deterministic judge,
# by the names that they have in paths; and their files.
ANSWERERS = [
    model
    for model, entry in MODELS.items()
    if entry["name"] in config["longmemeval"]["models"]
]
JUDGES = [
    model
    for model, entry in MODELS.items()
    if entry["name"] == config["longmemeval"]["judge_model"]
]
ANSWERED = [
    f"{model}/{budget}/{cell}.parquet"
    for model in ANSWERERS
    for budget, cells in config["longmemeval"]["cells"].items()
    for cell in cells
]
ANSWERS = [f"results/longmemeval/answers/{file}" for file in ANSWERED]
JUDGED = [f"results/longmemeval/judged/{file}" for file in ANSWERED if JUDGES]

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


def identity(model):
    """Return what of a model decides its replies, as it stands in artefacts: no path, no address."""
    entry = MODELS[model]
    access = {
        key: value for key, value in entry.items() if key not in ("families", "goals")
    }
    try:
        label = model_from(access).label()
    except InputError as error:
        raise WorkflowError(str(error)) from None
    behaviour = ["context_tokens", "structured", "token_limit", "extra", "omit"]
    return {
        "name": entry["name"],
        "identity": label,
        **{key: access[key] for key in behaviour if key in access},
    }


def asked(name, *upstream, **settings):
    """Return a function of a job's wildcards: the specification of a rule that asks one model.

    What reads the rule's outputs depends on all models."""
    models = {model: identity(model) for model in MODELS}
    spec(name, *upstream, models=models, **settings)
    return lambda wildcards: provenance.specification(
        name,
        ROOT / "scripts" / f"{name}.py",
        {"model": models[wildcards.model], **settings},
        {source: SPECS[source] for source in upstream},
    )


def asked_in(name, *upstream, plays, **settings):
    """Return what `asked` does, for a rule that asks in one of several settings, `plays`."""
    models = {model: identity(model) for model in MODELS}
    spec(name, *upstream, models=models, plays=plays, **settings)
    return lambda wildcards: provenance.specification(
        name,
        ROOT / "scripts" / f"{name}.py",
        {
            "model": models[wildcards.model],
            "play": plays[wildcards.setting],
            **settings,
        },
        {source: SPECS[source] for source in upstream},
    )


def for_model(name, *upstream, **settings):
    """Return a function of a job's wildcards: the specification of a figure of one model."""
    spec(name, *upstream, **settings)
    return lambda wildcards: provenance.specification(
        name,
        ROOT / "scripts" / f"{name}.py",
        {"model": MODELS[wildcards.model]["name"], **settings},
        {source: SPECS[source] for source in upstream},
    )


def replayed(name, agents, rollouts, runs, **settings):
    """Return a function of a job's wildcards: the specification of a rule that replays one
    driver's trajectories, made by the rule `agents` or `rollouts`, through the `runs` of one
    policy."""
    spec(name, agents, rollouts, runs=runs, **settings)
    return lambda wildcards: provenance.specification(
        name,
        ROOT / "scripts" / f"{name}.py",
        {"runs": runs[wildcards.driver != "agents"][wildcards.policy], **settings},
        {
            source: SPECS[source]
            for source in [agents if wildcards.driver == "agents" else rollouts]
        },
    )


def frozen(name):
    """Return one file of each replay."""
    return [
        f"results/memory/frozen/{driver}/{policy}/{name}.parquet"
        for driver in ["agents", *(f"rollouts-{model}" for model in READERS)]
        for policy in COMPARED
    ]


def live(name, runs=LIVE):
    """Return one file of each closed-loop run."""
    return [
        f"results/memory/closed_loop/{model}/{policy}-{encoding}/{name}.parquet"
        for model, policy, encoding in runs
    ]


def live_trajectories(runs=LIVE):
    """Return the trajectory of each closed-loop run."""
    return [
        f"results/memory/trajectories/live-{model}-{policy}-{encoding}.parquet"
        for model, policy, encoding in runs
    ]


def live_asked(runs):
    """Return what is predicted on closed-loop runs; `runs` as in SHOWN."""
    return [
        f"results/memory/closed_loop/{model}/{policy}-{encoding}/asked-{shown}.parquet"
        for model, policy, encoding, shown in runs
    ]


def episodes(name):
    """Return one file of all episodes of each model, setting and memory in ALFWorld."""
    return [
        f"results/alfworld/episodes/{model}/{setting}/{cell}/{name}.parquet"
        for model in PLAYERS
        for setting in SETTINGS
        for cell in config["alfworld"]["cells"]
    ]


def benchmark_games(place):
    """Return the files of the games in a directory of ALFWorld's layout; none for None.

    `downloaded` is where alfworld-download puts the split valid_seen."""
    if place is None:
        return []
    root = default_root() if place == "downloaded" else Path(place).expanduser()
    files = (
        file
        for name in [GAME_FILE, TRAJECTORY_FILE]
        for file in root.glob(f"*/*/{name}")
    )
    return sorted(map(str, files))


def semantic(name):
    """Return one file of each semantic rollout."""
    n_nodes = config["cells"]["n_nodes"]
    return [
        f"results/rollouts/semantic/{model}/{goal}/{family}/{n_nodes}/{name}.parquet"
        for model, goal, family in ROLLOUTS
    ]


def walks(name):
    """Return one file of each random-walk cell."""
    return [
        f"results/rollouts/random_walk/{family}/{n_nodes}/{name}.parquet"
        for family in config["worlds"]["families"]
        for n_nodes in config["worlds"]["sizes"]
    ]


def shown(name, path):
    """Return an output that the report shows as the result `name` of contents.yaml."""
    heading = next(heading for heading, names in CONTENTS.items() if name in names)
    caption = ROOT / "workflow/report" / f"{name}.rst"
    return report(
        path,
        caption=f"../report/{caption.name if caption.exists() else 'table.rst'}",
        category=heading,
        labels={"Result": CONTENTS[heading][name]},
    )


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
    goal="seek|explore",
    model=r"[\w.-]+",
