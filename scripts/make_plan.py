"""Tell what the configuration will ask of language models, and what it could then show."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from _closed_loop import driver_of
from _entry import LOGGER, Job, run
from _longmemeval import data_of, limits_of
from _memory import run_of, view_of
from _model import JOURNALS, RECORDINGS
from coretail import artefacts, planning
from coretail.concentration import concentration
from coretail.llm.models import ApiModel, Model, model_from
from coretail.llm.request import Request
from coretail.longmemeval.contexts import Haystack
from coretail.longmemeval.records import Question, read_questions
from coretail.memory.asking import ask
from coretail.memory.frozen import (
    Step,
    Trajectory,
    least_visited,
    sample_steps,
    take_step,
    trajectory,
)
from coretail.memory.live import PolicyMemory
from coretail.memory.policies import Policy, make_policy
from coretail.memory.selection import SelectedMemory
from coretail.memory.view import WorldView
from coretail.planning import Counted, Part, PlanningClient, Power
from coretail.prompts import ACTION_TEMPLATES, PREDICTION_TEMPLATE
from coretail.render.tables import (
    Column,
    TableSpec,
    decimal,
    integer,
    significant,
    text,
    to_markdown,
)
from coretail.rollouts.competence import CONDITIONS, predict, prediction_tasks
from coretail.rollouts.semantic import ModelChooser, RandomChooser, Rollout, rollout
from coretail.rollouts.walk import random_walk
from coretail.worlds.environment import start_state

if TYPE_CHECKING:
    from coretail.alfworld.agent import Play
    from coretail.alfworld.demonstrations import Demonstration

TABLES = Path("results/tables")
# Questions and control walks behind an estimate: more would hardly change it, and take minutes.
SAMPLED_QUESTIONS = 60
SAMPLED_CONTROLS = 50
AGENTS = "agents"
ENCODING = "compact"
TOKENS = "prompt tokens, CTWM over graph memory - 1"
SHARE = "share of graph memory's"
Tokens = dict[Any, float]


class Askers:
    """Planning clients, one per model and rule."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._clients: dict[tuple[str, str], PlanningClient] = {}

    def entry(self, model: str) -> dict[str, Any]:
        """Return a model's entry in the configuration."""
        name = self.name(model)
        (entry,) = (one for one in self._job.access["models"] if one["name"] == name)
        return {key: entry[key] for key in entry if key not in ("families", "goals")}

    def name(self, model: str) -> str:
        """Return a model's name, given that which it has in paths."""
        return str(self._job.settings["models"][model]["name"])

    def model(self, model: str) -> Model:
        """Return a model as the configuration describes it."""
        return model_from(self.entry(model))

    def priced(self, model: str) -> bool:
        """Return whether a model's prices are known."""
        return not isinstance(self.model(model), ApiModel) or bool(self.entry(model).get("prices"))

    def client(self, model: str, rule: str) -> PlanningClient:
        """Return the client that knows what the rule's own client would find."""
        key = model, rule
        if key not in self._clients:
            # As coretail.llm.client: an embedded model that has to compute looks into no recording.
            known = [] if self._job.access["backend"] == "embedded" else [RECORDINGS]
            known += sorted((JOURNALS / rule).glob("*.journal"))
            self._clients[key] = PlanningClient(self.model(model), known)
        return self._clients[key]

    def window(self, model: str) -> int | None:
        """Return a model's context window in tokens; None where it is not known."""
        return getattr(self.model(model), "context_tokens", None)


def main(job: Job) -> None:
    """Print the plan and write it to results/tables."""
    askers, settings = Askers(job), job.settings
    parts: list[Part] = []
    power: list[Power] = []
    stages = {
        "competence gate": gate,
        "rollouts": rollouts,
        "memory predictions": predictions,
        "closed loop": closed_loop,
        "τ sweep": tau_sweep,
        "ALFWorld": games,
        "LongMemEval": questions,
        "judging model": judgements,
    }
    for name, stage in stages.items():
        LOGGER.info("%s", name)
        found, shown = stage(job, askers)
        parts += found
        power += shown
    power += papers_tail_error(settings["paper"]["tail_error"])
    models = {
        askers.name(model): (askers.model(model), askers.priced(model))
        for model in settings["models"]
    }
    rows = planning.plan_rows(parts, models)
    TABLES.mkdir(parents=True, exist_ok=True)
    tables = [plan_table(rows, idle(settings)), power_table(power)]
    page = "\n".join(map(to_markdown, tables))
    with whole(TABLES / "plan.parquet") as path:
        artefacts.write(path, "plan", artefacts.table_of_rows("plan", rows), job.spec)
    with whole(TABLES / "plan_power.parquet") as path:
        content = artefacts.table_of_rows("plan_power", [asdict(line) for line in power])
        artefacts.write(path, "plan_power", content, job.spec)
    with whole(TABLES / "plan.md") as path:
        path.write_text(page, encoding="utf-8")
    print(page)


@contextmanager
def whole(final: Path) -> Iterator[Path]:
    """Give a name to write to, which becomes ``final`` at the end, or nothing does."""
    path = final.with_name(f".unfinished-{final.name}")
    try:
        yield path
        os.replace(path, final)
    finally:
        path.unlink(missing_ok=True)


Found = tuple[list[Part], list[Power]]


def gate(job: Job, askers: Askers) -> Found:
    """Return what the competence gate asks."""
    settings = job.settings
    n_tasks, seeds = settings["semantic"]["competence_tasks"], settings["seeds"]
    parts = []
    for model in settings["models"]:
        client = askers.client(model, "test_competence")
        client.reply = planning.moved
        counted = Counted()
        for seed in seeds:
            view = cell_view(job, settings["gate"], seed)
            client.begin()
            predict(
                client,
                prediction_tasks(view.topology, view.contents, n_tasks),
                seed=settings["semantic"]["seed"],
            )
            counted += planning.separate(client)
        n = n_tasks * len(CONDITIONS) * len(seeds)
        parts.append(
            Part(
                askers.name(model),
                "competence gate",
                settings["gate"],
                n,
                n,
                counted,
                PREDICTION_TEMPLATE.max_tokens,
            )
        )
    return parts, []


def rollouts(job: Job, askers: Askers) -> Found:
    """Return what the rollouts in the worlds of `cells` ask, and what they can show."""
    settings = job.settings
    steps, seeds = settings["cells"]["steps"], settings["seeds"]
    parts = []
    for model, goal, family in settings["rollouts"]:
        client = askers.client(model, "roll_semantic")
        counted = Counted()
        for seed in seeds:
            view = cell_view(job, family, seed)
            client.begin(model, goal, *view.topology.key, most=planning.SAMPLED_CALLS, chain=True)
            counted += acted(job, client, view, steps, goal, **settings["store"])[0]
        parts.append(
            act_part(job, askers.name(model), "rollouts", f"{goal}, {family}", steps, counted)
        )
    return parts, gini_power(job, askers)


def acted(
    job: Job, client: PlanningClient, view: WorldView, steps: int, goal: str, **memory: Any
) -> tuple[Counted, Rollout | None]:
    """Return what a model that acts in a world asks, and its rollout if it was followed whole."""
    semantic = job.settings["semantic"]
    chooser = ModelChooser(
        client,
        view.topology.key,
        **{key: semantic[key] for key in ("style", "temperature", "seed", "attempts")},
    )
    done: list[Rollout] = []

    def act(progress: Callable[[int], None]) -> None:
        done.append(
            rollout(
                view.topology,
                view.contents,
                chooser,
                steps=steps,
                goal=goal,
                patience=semantic["patience"],
                progress=progress,
                **memory,
            )
        )

    counted = planning.chain(client, steps, act)
    return counted, done[0] if done else None


def act_part(job: Job, model: str, stage: str, part: str, steps: int, counted: Counted) -> Part:
    """Return the line of rollouts, one per seed."""
    semantic, n = job.settings["semantic"], steps * len(job.settings["seeds"])
    # Replies have the same bound whatever the goal.
    longest = ACTION_TEMPLATES[semantic["style"], "seek"].max_tokens
    return Part(model, stage, part, n, n * semantic["attempts"], counted, longest)


def closed_loop(job: Job, askers: Askers) -> Found:
    """Return what models ask that act with a memory policy, and that then predict on their way."""
    settings = job.settings
    steps = settings["memory"]["closed_loop"]["steps"]
    parts = []
    for model in settings["readers"]:
        name = askers.name(model)
        for policy, encoding in settings["live_cells"]:
            shown = [other for same, other in settings["live_cells"] if same == policy]
            counted, asked = Counted(), dict.fromkeys(shown, Counted())
            n_asked = 0
            for seed in settings["seeds"]:
                view, agent = frozen(job, seed)
                client = askers.client(model, "roll_closed_loop")
                client.begin(model, policy, encoding, *view.topology.key, chain=True)
                memory = PolicyMemory(view, policy_of(job, f"{policy}-{encoding}", view))
                found, done = acted(job, client, view, steps, "seek", memory=memory)
                counted += found
                assert done is not None
                walk = trajectory(view, done.walk.edges, least_visited(view.sources[agent.edges]))
                driver = driver_of(name, policy, encoding)
                n_asked += asked_steps(job, view, walk, driver)[0].size
                for other in shown:
                    client = askers.client(model, "ask_closed_loop")
                    asked[other] += predicted(
                        job, askers, model, client, f"{policy}-{other}", view, walk, driver
                    )
            cell = f"{policy}-{encoding}"
            parts.append(act_part(job, name, "closed loop", cell, steps, counted))
            parts += [
                predict_part(
                    name, "closed loop, predictions", f"{cell}, {other} shown", n_asked, own
                )
                for other, own in asked.items()
            ]
    return parts, []


def tau_sweep(job: Job, askers: Askers) -> Found:
    """Return what models ask that seek while an exponent chooses what they read."""
    settings, tau = job.settings, job.settings["tau"]
    memory, steps = settings["memory"], settings["tau"]["semantic_steps"]
    parts = []
    for model in settings["seekers"]:
        client = askers.client(model, "sweep_tau_semantic")
        for value in tau["values"]:
            counted = Counted()
            for seed in settings["seeds"]:
                view = view_of(memory["family"], memory["n_nodes"], seed, settings["vocabulary"])
                client.begin(model, value, *view.topology.key, chain=True)
                selected = SelectedMemory(
                    view,
                    value,
                    steps=steps,
                    pool=tau["pool"],
                    k=tau["k"],
                    capacity=settings["store"]["capacity"],
                )
                counted += acted(job, client, view, steps, "seek", memory=selected)[0]
            parts.append(
                act_part(job, askers.name(model), "τ sweep", f"τ = {value:g}", steps, counted)
            )
    return parts, []


def gini_power(job: Job, askers: Askers) -> list[Power]:
    """Return what the primary test of the rollouts can show, by some matched random walks."""
    settings = job.settings
    cells, seeds = settings["cells"], settings["seeds"]
    families: dict[str, list[str]] = {}
    for model, goal, family in settings["rollouts"]:
        if goal == "seek":
            families.setdefault(model, []).append(family)
    power = []
    for model, own in families.items():
        shift = planning.detectable_shift(len(seeds), cells["n_controls"], len(own))
        for family in own:
            sd = control_sd(job, family)
            power.append(
                Power(
                    "Gini against matched random walks, Fisher over seeds, Holm over topologies",
                    f"{askers.name(model)}, seek, {family}",
                    "seeds",
                    len(seeds),
                    "Gini",
                    sd,
                    f"{SAMPLED_CONTROLS} matched random walks, seed {seeds[0]}, walked for this",
                    None if shift is None else shift * sd,
                    None,
                    None,
                    f"normal controls; every seed differs alike; the first of Holm's {len(own)} "
                    "levels",
                    "; ".join(
                        filter(
                            None,
                            [
                                f"{cells['n_controls']} controls cannot reject" * (shift is None),
                                "the paper gives no such difference",
                            ],
                        )
                    ),
                )
            )
    return power


def control_sd(job: Job, family: str) -> float:
    """Return the standard deviation of the Gini of matched random walks in a cell."""
    settings = job.settings
    topology = cell_view(job, family, settings["seeds"][0]).topology
    values = []
    for replicate in range(1, SAMPLED_CONTROLS + 1):
        access = random_walk(
            topology,
            steps=settings["cells"]["steps"],
            start=start_state(topology),
            replicate=replicate,
            retriever=settings["retriever"],
            **settings["store"],
        ).access
        values.append(concentration(access[access > 0]).gini)
    return float(np.std([value for value in values if value is not None], ddof=1))


def predictions(job: Job, askers: Askers) -> Found:
    """Return what models that predict from memories on frozen trajectories ask and can show."""
    settings, memory = job.settings, job.settings["memory"]
    parts: list[Part] = []
    power: list[Power] = []
    for model in settings["readers"]:
        name, client = askers.name(model), askers.client(model, "ask_policies")
        walks = {seed: frozen(job, seed) for seed in settings["seeds"]}
        n = sum(asked_steps(job, *walk, AGENTS)[0].size for walk in walks.values())
        tokens: dict[str, Tokens] = {}
        for cell in memory["asked_cells"]:
            counted = Counted()
            for seed, (view, walk) in walks.items():
                counted += predicted(job, askers, model, client, cell, view, walk, AGENTS)
                note_tokens(tokens, cell, seed, client)
            parts.append(predict_part(name, "memory predictions", cell, n, counted))
        power += tail_power(job, name, walks)
        power += token_power(
            f"{name}, memory predictions, {ENCODING}",
            "seeds",
            len(walks),
            tokens,
            "prompts built for this plan, by the local counter",
            "the t interval over seeds; calls not weighted by their strata",
            settings["paper"]["tokens"]["memory"],
        )
    return parts, power


def predicted(
    job: Job,
    askers: Askers,
    model: str,
    client: PlanningClient,
    cell: str,
    view: WorldView,
    walk: Trajectory,
    driver: str,
) -> Counted:
    """Return what a model is asked that predicts at a sample of the steps of a trajectory."""
    chosen = set(asked_steps(job, view, walk, driver)[0].tolist())
    policy = policy_of(job, cell, view)

    def steps() -> Iterator[Step]:
        for number, edge in enumerate(walk.edges.tolist()):
            if number in chosen:
                yield take_step(view, policy, number, edge)
            policy.write(edge)

    client.reply = planning.moved
    client.begin()
    ask(
        client,
        view,
        steps(),
        window=askers.window(model),
        seed=job.settings["semantic"]["seed"],
    )
    return planning.separate(client)


def predict_part(model: str, stage: str, part: str, n: int, counted: Counted) -> Part:
    """Return the line of predictions, which are asked for once."""
    return Part(model, stage, part, n, n, counted, PREDICTION_TEMPLATE.max_tokens)


def tail_power(job: Job, model: str, walks: dict[int, tuple[WorldView, Trajectory]]) -> list[Power]:
    """Return what the tail error of CTWM minus graph memory can show."""
    paper = job.settings["paper"]["tail_error"]
    gap = abs(paper["graph"] - paper["ctwm"])
    sizes = []
    for view, walk in walks.values():
        chosen, weights = asked_steps(job, view, walk, AGENTS)
        if walk.tail[chosen].any():
            sizes.append(planning.effective_size(weights[walk.tail[chosen]]))
    spread = sum(share * (1 - share) for share in paper.values())
    sd = float(np.sqrt(spread * np.mean(1 / np.array(sizes)))) if sizes else None
    effect = f"{np.mean(sizes):.0f}" if sizes else "no"
    comparison = ("tail error, CTWM minus graph memory", f"{model}, memory predictions, {ENCODING}")
    lines = [
        planning.paired(
            *comparison,
            "seeds",
            len(walks),
            "tail error",
            sd,
            f"binomial at the paper's {paper['graph']} and {paper['ctwm']}, {effect} tail steps a "
            "seed in effect, strata weighted",
            "steps and policies independent; seeds differ by nothing else",
            gap,
        )
    ]
    table = TABLES / "table3.parquet"
    own = {
        "model": model,
        "driver": AGENTS,
        "budget": "slots",
        "policy": "ctwm",
        "encoding": ENCODING,
        "predictor": "model",
    }
    for row in known_rows(table, "table3", own):
        limits = row["difference_low"], row["difference_high"]
        if None not in limits:
            lines.append(
                planning.paired(
                    *comparison,
                    "seeds",
                    len(walks),
                    "tail error",
                    planning.sd_of_interval(*limits, row["n_seeds"]),
                    f"observed over {row['n_seeds']} seeds in {table}",
                    "the t interval over seeds; as many steps asked as there",
                    gap,
                )
            )
    return lines


def papers_tail_error(paper: dict[str, float]) -> list[Power]:
    """Return how many tail steps show the paper's tail errors to differ."""
    graph, ctwm = paper["graph"], paper["ctwm"]
    both = f"tail error {graph} against {ctwm} (Table 3)"
    designs = [
        (
            "steps of each policy, unpaired",
            planning.unpaired_size(graph, ctwm),
            "two independent proportions, by the normal distribution",
        ),
        (
            "paired steps, policies independent",
            planning.mcnemar_size(graph * (1 - ctwm), (1 - graph) * ctwm),
            "McNemar's exact test; whether one errs says nothing of the other",
        ),
        (
            "paired steps, CTWM never worse",
            planning.mcnemar_size(graph - ctwm, 0.0),
            "McNemar's exact test; CTWM is right wherever graph memory is: the fewest that can do",
        ),
    ]
    return [
        Power(
            both,
            "any model",
            unit,
            None,
            "tail error",
            None,
            "binomial",
            None,
            graph - ctwm,
            n,
            f"{assumption}; tail steps independent, one world",
            "not a comparison of this configuration",
        )
        for unit, n, assumption in designs
    ]


def games(job: Job, askers: Askers) -> Found:
    """Return what models that play ALFWorld ask and can show."""
    settings, alfworld = job.settings, job.settings["alfworld"]
    if not settings["players"]:
        return [], []
    from coretail.alfworld.agent import Play
    from coretail.alfworld.demonstrations import shortage
    from coretail.alfworld.games import game_folder
    from coretail.alfworld.prompts import TEMPLATES
    from play_alfworld import read_demonstrations

    (path,) = job.inputs("games")
    sound = [
        row
        for row in artefacts.read_rows(path, "alfworld_games")
        if row["episode"] is not None and row["playable"]
    ]
    known = read_demonstrations(job.inputs("demonstrations")[0])
    parts: list[Part] = []
    power: list[Power] = []
    for model in settings["players"]:
        for setting in settings["order"]:
            rules = alfworld["settings"][setting]
            n_shown = rules["demonstrations"]
            playable = [
                row for row in sound if not shortage(known, game_folder(Path(row["game"])), n_shown)
            ]
            play = Play(
                setting,
                rules["style"],
                rules["steps"],
                settings["semantic"]["attempts"],
                settings["semantic"]["seed"],
            )
            for cell in alfworld["cells"]:
                # The engine takes seconds to load a game.
                count = partial(
                    count_game, job, askers, model, cell, play, playable, known, n_shown
                )
                counted = planning.of_prefix(len(playable), count)
                n = play.steps * len(playable)
                parts.append(
                    Part(
                        askers.name(model),
                        f"ALFWorld{stand_in(playable[0]['data']) if playable else ''}",
                        f"{setting}, {cell}",
                        n,
                        n * play.attempts,
                        counted,
                        TEMPLATES[play.style].max_tokens,
                    )
                )
            power.append(alfworld_power(job, askers.name(model), setting, len(playable)))
    return parts, power


def count_game(
    job: Job,
    askers: Askers,
    model: str,
    cell: Any,
    play: "Play",
    playable: Sequence[dict[str, Any]],
    known: Sequence["Demonstration"],
    n_shown: int,
    position: int,
) -> Counted:
    """Return what a model asks that plays one of the games with one memory."""
    from coretail.alfworld.agent import play_episode
    from coretail.alfworld.demonstrations import fitting_demonstrations
    from coretail.alfworld.games import game_folder, parse_game
    from coretail.alfworld.memory import Memory

    alfworld, row = job.settings["alfworld"], playable[position]
    game = parse_game(game_folder(Path(row["game"])), row["game_file"], row["trajectory_file"])
    policy, _, encoding = cell.partition("-")
    memory = Memory(policy, slots=alfworld["slots"], tau=alfworld["tau"], encoding=encoding)
    client = askers.client(model, "play_alfworld")
    client.begin(model, cell, row["game"], play.setting, chain=True)
    shown = fitting_demonstrations(known, game.folder)[:n_shown]

    def act(progress: Callable[[int], None]) -> None:
        play_episode(game, memory, client, play, shown, progress=progress)

    return planning.chain(client, play.steps, act)


def alfworld_power(job: Job, model: str, setting: str, n: int) -> Power:
    """Return what the tokens per step of CTWM against graph memory can show in a setting."""
    table = TABLES / "table_alfworld.parquet"
    sd, source = None, "unknown before the first run, whose table is read here"
    own = {
        "model": model,
        "configuration": f"alfworld_{setting}",
        "encoding": ENCODING,
        "reference_encoding": ENCODING,
    }
    for row in known_rows(table, "table_alfworld", own):
        limits = row["tokens_reduction_low"], row["tokens_reduction_high"]
        if None not in limits:
            sd = planning.sd_of_interval(*limits, row["n"])
            source = f"observed over {row['n']} games in {table}"
    return planning.paired(
        TOKENS,
        f"{model}, ALFWorld, {setting}, {ENCODING}",
        "games",
        n,
        SHARE,
        sd,
        source,
        "the t interval over games",
        job.settings["paper"]["tokens"]["alfworld"],
    )


def questions(job: Job, askers: Askers) -> Found:
    """Return what models that answer LongMemEval's questions ask and can show."""
    settings = job.settings
    conversations = settings["longmemeval"]
    if not settings["answerers"]:
        return [], []
    from coretail.longmemeval.answering import (
        ANSWER_TEMPLATE,
        TAIL_TEMPLATE,
        ask_question,
        summarise_tail,
    )

    total, chosen, benchmark = sampled_questions(job)
    limits = limits_of(conversations)
    cells = [(budget, cell) for budget, own in conversations["cells"].items() for cell in own]
    summarised = conversations["tail"] == "model"
    parts: list[Part] = []
    power: list[Power] = []
    for model in settings["answerers"]:
        client = askers.client(model, "answer_questions")
        counted = dict.fromkeys(cells, Counted())
        tokens: dict[str, Tokens] = {}
        asking: dict[str, Any] = {
            "window": askers.window(model),
            "seed": settings["semantic"]["seed"],
        }
        for question in chosen:
            haystack = Haystack(question, limits)

            def reply(request: Request, answer: str = question.answer) -> str:
                # A summary is taken to fill its budget.
                return "note " * request.max_tokens if request.template == TAIL_TEMPLATE else answer

            client.reply = reply
            for budget, cell in cells:
                method, _, encoding = cell.partition("-")
                note = None
                if summarised:
                    client.begin()
                    tail = haystack.tail(method, encoding, budget)
                    summary = summarise_tail(client, question, tail, limits.slot_tokens, **asking)
                    counted[budget, cell] += planning.separate(client)
                    if summary.failure is not None:
                        continue
                    note = summary.text
                context = haystack.context(method, encoding, budget, note)
                client.begin()
                ask_question(client, question, context.text, **asking)
                counted[budget, cell] += planning.separate(client)
                if budget == "slots":
                    note_tokens(tokens, cell, question.question_id, client)
        scale = total / max(len(chosen), 1)
        parts += [
            Part(
                askers.name(model),
                benchmark,
                f"{cell}, equal {budget}",
                total,
                total * (1 + (summarised and cell.startswith("ctwm"))),
                counted[budget, cell].times(scale),
                max(ANSWER_TEMPLATE.max_tokens, limits.slot_tokens if summarised else 0),
            )
            for budget, cell in cells
        ]
        where = f"{askers.name(model)}, {benchmark}, {ENCODING}, equal slots"
        power += token_power(
            where,
            "questions",
            total,
            tokens,
            f"prompts of {len(chosen)} of {total} questions, by the local counter",
            "the t interval over questions",
            settings["paper"]["tokens"]["longmemeval"],
        )
        power.append(parity_power(where, total, conversations["parity"]["margin"]))
    return parts, power


def parity_power(where: str, n: int, margin: float) -> Power:
    """Return how many questions show accuracies to be at parity."""
    # Every tenth question answered by one method alone, as often by either.
    discordant = 0.1
    needed = planning.parity_size(discordant, margin)
    return Power(
        f"accuracy, parity within {margin:g}",
        where,
        "questions",
        n,
        "accuracy",
        float(np.sqrt(discordant)),
        "assumed: one question in ten is answered by one method alone",
        None,
        margin,
        needed,
        "two one-sided tests at 5%, no true difference",
        "a test of equivalence detects no difference",
    )


def judgements(job: Job, askers: Askers) -> Found:
    """Return what the model asks for that judges replies."""
    settings = job.settings
    conversations = settings["longmemeval"]
    if not (settings["answerers"] and settings["judges"]):
        return [], []
    from coretail.longmemeval.answering import JUDGE_MAX_TOKENS, ask_judge

    total, chosen, benchmark = sampled_questions(job)
    n = total * sum(map(len, conversations["cells"].values())) * len(settings["answerers"])
    parts = []
    for model in settings["judges"]:
        client = askers.client(model, "judge_answers")
        client.reply = lambda _: "yes"
        client.begin()
        for question in chosen:
            ask_judge(client, question, question.answer, seed=settings["semantic"]["seed"])
        counted = planning.separate(client).times(n / max(len(chosen), 1))
        parts.append(
            Part(
                askers.name(model),
                f"{benchmark}, judging",
                "all replies",
                n,
                n,
                counted,
                JUDGE_MAX_TOKENS,
            )
        )
    return parts, []


def stand_in(data: str) -> str:
    """Return what follows a benchmark's name where its data only stand in for it."""
    return " (stand-in)" if data == "stand-in" else ""


def cell_view(job: Job, family: str, seed: int) -> WorldView:
    """Return a world of `cells`."""
    return view_of(family, job.settings["cells"]["n_nodes"], seed, job.settings["vocabulary"])


def frozen(job: Job, seed: int) -> tuple[WorldView, Trajectory]:
    """Return the world and the trajectory on which memories are compared."""
    memory = job.settings["memory"]
    view = view_of(memory["family"], memory["n_nodes"], seed, job.settings["vocabulary"])
    agent = RandomChooser(view.topology.key)
    walked = rollout(
        view.topology, view.contents, agent, steps=memory["steps"], goal="explore"
    ).walk.edges
    return view, trajectory(view, walked)


def asked_steps(
    job: Job, view: WorldView, walk: Trajectory, driver: str
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the steps that a model is asked at, and how many each stands for."""
    most = job.settings["memory"]["asked"]
    return sample_steps(walk.strata, most, *view.topology.key, "asked steps", driver)


def policy_of(job: Job, cell: str, view: WorldView) -> Policy:
    """Return the memory of a cell such as ctwm-compact."""
    name, _, encoding = cell.partition("-")
    _, limits = run_of(job.settings["memory"], name, "slots", encoding)
    return make_policy(name, view, limits)


def note_tokens(tokens: dict[str, Tokens], cell: str, unit: Any, client: PlanningClient) -> None:
    """Note the prompt tokens per call, by the local counter."""
    calls = client.held + client.made
    if calls.n:
        tokens.setdefault(cell, {})[unit] = calls.local_prompt / calls.n


def token_power(
    where: str,
    unit: str,
    n: int,
    tokens: dict[str, Tokens],
    source: str,
    assumption: str,
    target: float,
) -> list[Power]:
    """Return what the relative difference of prompt tokens can show; nothing without both."""
    ctwm, graph = (tokens.get(f"{name}-{ENCODING}", {}) for name in ("ctwm", "graph"))
    shares = [ctwm[key] / graph[key] - 1 for key in graph if key in ctwm]
    if not shares:
        return []
    sd = float(np.std(shares, ddof=1)) if len(shares) > 1 else None
    return [planning.paired(TOKENS, where, unit, n, SHARE, sd, source, assumption, target)]


def sampled_questions(job: Job) -> tuple[int, list[Question], str]:
    """Return the number of usable questions, evenly spaced ones of them, and what they are."""
    (path,) = job.inputs("questions")
    found = [(isinstance(record, Question), record.generated) for record in read_questions(path)]
    places = np.flatnonzero([usable for usable, _ in found])
    spaced = np.linspace(0, places.size - 1, min(SAMPLED_QUESTIONS, places.size)).astype(int)
    wanted = set(places[spaced].tolist())
    chosen = [
        record
        for position, record in enumerate(read_questions(path))
        if position in wanted and isinstance(record, Question)
    ]
    benchmark = f"LongMemEval{stand_in(data_of(generated for _, generated in found))}"
    return int(places.size), chosen, benchmark


def known_rows(path: Path, name: str, key: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a table of an earlier run that agree with a key; none without a run."""
    if not path.exists():
        return []
    rows = artefacts.read_rows(path, name)
    return [row for row in rows if all(row[column] == value for column, value in key.items())]


def idle(settings: dict[str, Any]) -> list[str]:
    """Return which stages ask nobody, and what would make them ask."""
    stages = {
        "memory.models": ("memory predictions and closed loop", settings["readers"]),
        "tau.models": ("τ sweep", settings["seekers"]),
        "alfworld.models": ("ALFWorld", settings["players"]),
        "longmemeval.models": ("LongMemEval", settings["answerers"]),
    }
    return [
        f"{stage}: nobody is asked, for {key} is empty"
        for key, (stage, models) in stages.items()
        if not models
    ]


def plan_table(rows: Sequence[dict[str, Any]], idle: Sequence[str]) -> TableSpec:
    """Return the table of calls, tokens and money."""
    ratios = {row["model"]: row["ratio"] for row in rows}
    return TableSpec(
        name="plan",
        title="Plan: what language models will be asked",
        caption="Calls, tokens and money of this configuration, before anything is spent.",
        columns=(
            Column("model", ("model",), text(), "left"),
            Column("stage", ("stage",), text(), "left"),
            Column("part", ("part",), text(), "left"),
            Column("steps", ("steps",), integer()),
            Column("expected", ("calls",), integer(), group="calls"),
            Column("at most", ("calls_most",), integer(), group="calls"),
            Column("held", ("calls_held",), integer(), group="calls"),
            Column("to ask", ("calls_left",), integer(), group="calls"),
            Column("prompt tokens a call", ("prompt_tokens_per_call",), decimal(0)),
            Column("prompt", ("prompt_tokens",), integer(), group="tokens to ask"),
            Column("reply", ("reply_tokens",), integer(), group="tokens to ask"),
            Column("at most", ("tokens_most",), integer(), group="tokens to ask"),
            Column("expected", ("money",), decimal(2), group="money"),
            Column("at most", ("money_most",), decimal(2), group="money"),
        ),
        rows=tuple(rows),
        notes=(
            "Made by the code that asks, with a client that asks nobody: prompts are the real ones "
            "of this configuration, choices that no recording or journal holds are random. A step "
            "with one action asks for nothing. Held: calls whose replies recordings or journals "
            f"have. A rollout is followed {planning.SAMPLED_CALLS} calls beyond the first that is "
            "not held; of ALFWorld's games the first few are taken to be held, and a few stand for "
            f"the rest, as do at most {SAMPLED_QUESTIONS} questions of LongMemEval. At most: every "
            "reply is unusable until the last attempt and as long as its bound; retries of failed "
            "requests come on top.",
            "Tokens to ask are counted by the local counter, without the model's chat template, "
            "times the reported over the counted tokens of the calls that are held: "
            + "; ".join(f"{model}: {ratio:.3f}" for model, ratio in ratios.items())
            + " (1 where none is held). Money: by the prices in the configuration, nothing cached.",
            *idle,
        ),
        blocks="model",
    )


def power_table(power: Sequence[Power]) -> TableSpec:
    """Return the table of what comparisons can show."""
    return TableSpec(
        name="plan_power",
        title="Plan: what the comparisons could show",
        caption="The smallest difference that is shown with power 0.8 at the 5% level, and the n "
        "that shows the paper's.",
        columns=(
            Column("comparison", ("comparison",), text(), "left"),
            Column("where", ("where",), text(), "left"),
            Column("unit", ("unit",), text(), "left"),
            Column("n", ("n",), integer()),
            Column("detectable", ("detectable",), significant(2)),
            Column("in", ("difference_in",), text(), "left"),
            Column("sd", ("sd",), significant(2)),
            Column("sd from", ("sd_source",), text(), "left"),
            Column("paper's", ("target",), significant(3)),
            Column("n for it", ("n_needed",), integer()),
            Column("assumes", ("assumption",), text(), "left"),
        ),
        rows=tuple(asdict(line) for line in power),
        notes=(
            "Steps of one world depend on each other, and the analysis plan's unit is the seed or "
            "the game or the question: a number of steps is the least that could do.",
        ),
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
