"""Let a language model play ALFWorld's games in one setting, with one memory."""

from collections import Counter
from pathlib import Path
from typing import Any

from _entry import Job, run
from _model import client
from coretail import artefacts
from coretail.alfworld.agent import Episode, Play, play_episode
from coretail.alfworld.demonstrations import (
    Demonstration,
    Step,
    fitting_demonstrations,
    shortage,
)
from coretail.alfworld.games import game_folder, parse_game
from coretail.alfworld.memory import Memory
from coretail.alfworld.prompts import TEMPLATES

STATUSES = ("chosen", "retried", "random")
UNUSED = ("unusable", "refusal", "content_filter")


def main(job: Job) -> None:
    """Write the steps and one row per episode."""
    settings = job.settings
    style, cap, n_shown = (settings["play"][name] for name in ("style", "steps", "demonstrations"))
    play = Play(job.wildcards["setting"], style, cap, settings["attempts"], settings["seed"])
    games = artefacts.read_rows(job.input("games"), "alfworld_games")
    games = [row for row in games if row["episode"] is not None]
    known = read_demonstrations(job.input("demonstrations"))
    rows: dict[str, list[dict[str, Any]]] = {"steps": [], "episodes": []}
    with client(job) as model:
        report = job.progress("steps", cap * len(games), detail=model.counters.line)
        for number, row in enumerate(games):
            key = {
                "model": settings["model"]["name"],
                "setting": play.setting,
                "policy": job.wildcards["policy"],
                "encoding": job.wildcards["encoding"],
                "data": row["data"],
                "episode": row["episode"],
                "game": row["game"],
            }
            common = {"task_type": row["task_type"], "template": TEMPLATES[style].version}
            folder = game_folder(Path(row["game"]))
            # What is decided here is the same for all memories, so that they stay in pairs.
            if reason := row["reason"] or shortage(known, folder, n_shown):
                rows["episodes"].append(key | common | summary("unplayable", reason))
                continue
            game = parse_game(folder, row["game_file"], row["trajectory_file"])
            shown = fitting_demonstrations(known, folder)[:n_shown]
            memory = Memory(
                job.wildcards["policy"],
                slots=settings["slots"],
                tau=settings["tau"],
                encoding=job.wildcards["encoding"],  # type: ignore[arg-type]
            )
            done = play_episode(
                game,
                memory,
                model,
                play,
                shown,
                rule=job.spec["rule"],
                progress=lambda steps, before=number * cap: report(before + steps),  # type: ignore[misc]
            )
            rows["steps"] += [key | step for step in steps_of(done)]
            rows["episodes"].append(key | common | summary(done.end, done.reason, done))
    for name, content in rows.items():
        schema = f"alfworld_{name}"
        artefacts.write(
            job.output(name), schema, artefacts.table_of_rows(schema, content), job.spec
        )


def read_demonstrations(path: Path) -> list[Demonstration]:
    """Return the demonstrations that an earlier rule wrote."""
    return [
        Demonstration(**(row | {"steps": tuple(Step(**step) for step in row["steps"])}))
        for row in artefacts.read_rows(path, "alfworld_demonstrations")
    ]


def steps_of(done: Episode) -> list[dict[str, Any]]:
    """Return one row per step of an episode."""
    return [
        {
            "step": number,
            "command": step.command,
            "observation": step.observation,
            "status": step.status,
            "order": list(step.order),
            "position": step.position,
            "calls": len(step.replies),
            "prompt_tokens": step.prompt_tokens,
            "cached_tokens": step.cached_tokens,
            "completion_tokens": step.completion_tokens,
            "memory_items": step.held,
            "memory_shown": step.shown,
            "memory_tokens": step.memory_tokens,
        }
        for number, step in enumerate(done.steps)
    ]


def summary(end: str, reason: str, done: Episode | None = None) -> dict[str, Any]:
    """Return what became of an episode."""
    steps = () if done is None else done.steps
    statuses: Counter[str] = Counter(step.status for step in steps)
    replies: Counter[str] = Counter(reply for step in steps for reply in step.replies)
    tokens = sum(step.prompt_tokens for step in steps)
    return {
        "end": end,
        "reason": reason,
        "success": end == "won",
        "steps": len(steps),
        **{name: statuses[name] for name in STATUSES},
        "calls": replies.total(),
        **{name: replies[name] for name in UNUSED},
        "prompt_tokens": tokens,
        "prompt_tokens_per_step": tokens / len(steps) if steps else None,
        "cached_tokens": sum(step.cached_tokens for step in steps),
        "completion_tokens": sum(step.completion_tokens for step in steps),
    }


if __name__ == "__main__":
    run(main, globals()["snakemake"])
