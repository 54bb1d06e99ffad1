"""Make the replay table: what makes two encodings of one memory differ in the closed loop."""

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from _closed_loop import Runs, check_pairs, free_losses, read_runs
from _entry import Job, run
from _gate import competent_models, gate_note
from _policies import Rows, limits
from _tables import write_texts
from coretail import artefacts
from coretail.errors import InputError
from coretail.memory.comparison import Losses, asked_losses, compare_values
from coretail.memory.replay import ENCODINGS, TERMS, Parts, changed_steps, take_apart
from coretail.render import tables

PREDICTORS = ("vote", "model")
STEPS = {"tail": "tail", "all": ""}
# Of one seed by (encoding, trajectory): a replay's steps, and losses.
Replays = dict[tuple[str, str], Rows]
Crossed = dict[tuple[str, str], Losses]


def main(job: Job) -> None:
    """Write all differences taken apart, the one that claims rest on, and each seed's."""
    runs = read_runs(job)
    replays = by_run(artefacts.read_all(job.inputs("replays"), "memory_steps").to_pylist())
    asked = by_run(artefacts.read_all(job.inputs("asked"), "memory_asked").to_pylist())
    competent = competent_models(job)
    parts: Rows = []
    seeds: Rows = []
    for acted in both_encodings(runs):
        actor = acted["compact"]
        again = {seed: crossed(replays, acted, seed) for seed in actor.summary}
        replies = {seed: crossed(asked, acted, seed) for seed in actor.summary}
        changed = {
            seed: {
                walked: changed_steps(
                    rankings(own.steps[seed]),
                    *(rankings(again[seed][shown, walked]) for shown in ENCODINGS),
                )
                for walked, own in acted.items()
            }
            for seed in actor.summary
        }
        checks = {
            "abs_difference": max(exactness(acted, seed, again[seed]) for seed in again),
            "mismatches": sum(mismatches(acted, seed, again[seed]) for seed in again),
            "competent": competent[actor.model],
        }
        for predictor, steps in itertools.product(PREDICTORS, STEPS):
            key = {
                "model": actor.model,
                "policy": actor.policy,
                "predictor": predictor,
                "steps": steps,
            }
            apart = {}
            for seed, cell in actor.summary.items():
                losses = (
                    asked_of(replies[seed], seed)
                    if predictor == "model"
                    else voted_of(acted, again[seed], seed)
                )
                apart[seed] = take_apart(losses, changed[seed], STEPS[steps])
                seeds.append(seed_row(key, cell, apart[seed]))
            parts.append(parts_row(key, acted, apart) | checks)
    for row in parts:
        shown = row["reading_difference"] in ("lower", "higher")
        row["conclusive"] = shown and row["competent"]
    primary = [row for row in parts if (row["predictor"], row["steps"]) == ("model", "tail")]
    for name, rows in (
        ("table_replay", primary),
        ("table_replay_parts", parts),
        ("table_replay_seeds", seeds),
    ):
        artefacts.write(job.output(name), name, artefacts.table_of_rows(name, rows), job.spec)
    groups = dict.fromkeys((row["model"], row["policy"]) for row in parts)
    write_texts(
        job,
        [
            table([row for row in parts if (row["model"], row["policy"]) == group])
            for group in groups
        ],
    )


def by_run(rows: Rows) -> dict[tuple[str, str, int], Rows]:
    """Return rows by the encoding that is shown, who walked, and seed."""
    found: dict[tuple[str, str, int], Rows] = {}
    for row in rows:
        found.setdefault((row["encoding"], row["driver"], row["seed"]), []).append(row)
    return found


def crossed(
    rows: Mapping[tuple[str, str, int], Rows], acted: Mapping[str, Runs], seed: int
) -> Replays:
    """Return the rows of one seed by (encoding, trajectory)."""
    return {
        (shown, walked): rows[shown, own.driver, seed]
        for walked, own in acted.items()
        for shown in ENCODINGS
    }


def both_encodings(runs: Mapping[str, Runs]) -> Iterator[dict[str, Runs]]:
    """Yield, per model and policy that acted in both encodings, its runs by encoding.

    Raises
    ------
    InputError
        If an encoding is missing, or its runs are no partners.
    """
    for actor in dict.fromkeys((own.model, own.policy) for own in runs.values()):
        acted = {own.encoding: own for own in runs.values() if (own.model, own.policy) == actor}
        if set(acted) != set(ENCODINGS):
            raise InputError(
                f"replay: {actor[0]} acted with {actor[1]} in {sorted(acted)} alone; put both "
                "encodings into memory.closed_loop.cells"
            )
        check_pairs(acted["compact"], acted["verbose"])
        yield acted


def voted_of(acted: Mapping[str, Runs], again: Replays, seed: int) -> Crossed:
    """Return the losses of vote."""
    return {
        (shown, walked): free_losses(acted[walked].walk[seed], steps, "vote")
        for (shown, walked), steps in again.items()
    }


def asked_of(replies: Replays, seed: int) -> Crossed:
    """Return the losses of the model."""
    return {cell: asked_losses(rows)[seed] for cell, rows in replies.items()}


def rankings(rows: Rows) -> list[str]:
    """Return the hash of each step's ranking."""
    return [row["ranking"] for row in rows]


def mismatches(acted: Mapping[str, Runs], seed: int, again: Replays) -> int:
    """Return how many rankings of all replays are not as recorded."""
    return sum(
        len(changed_steps(rankings(acted[walked].steps[seed]), rankings(steps)))
        for (_, walked), steps in again.items()
    )


def exactness(acted: Mapping[str, Runs], seed: int, again: Replays) -> float:
    """Return the largest |replay - live| of a step's loss under the run's own encoding."""
    differences = []
    for (walked, own), predictor in itertools.product(acted.items(), ("top1", "vote")):
        live = free_losses(own.walk[seed], own.steps[seed], predictor)
        replayed = free_losses(own.walk[seed], again[walked, walked], predictor)
        differences += [abs(live.steps[s][1] - replayed.steps[s][1]) for s in live.steps]
    return max(differences)


def seed_row(key: dict[str, Any], cell: Mapping[str, Any], found: Parts) -> dict[str, Any]:
    """Return what one seed gives."""
    return {
        **key,
        **{name: cell[name] for name in ("family", "n_nodes", "seed")},
        **{f"{shown}_on_{walked}": loss for (shown, walked), loss in found.losses.items()},
        **{f"n_on_{walked}": n for walked, n in found.n_steps.items()},
        **{term: getattr(found, term) for term in TERMS},
    }


def parts_row(
    key: dict[str, Any], acted: Mapping[str, Runs], apart: Mapping[int, Parts]
) -> dict[str, Any]:
    """Return the parts of a live difference over seeds."""
    cell = next(iter(acted["compact"].summary.values()))
    found = {
        term: compare_values([getattr(parts, term) for parts in apart.values()], [0.0] * len(apart))
        for term in TERMS
    }
    live = found["live"]
    excluded = any(own.excluded for own in acted.values())
    return {
        **key,
        **{name: cell[name] for name in ("family", "n_nodes", "tau")},
        "n_steps": cell["steps"],
        "n_seeds": live.difference.n,
        "n_scored": sum(sum(parts.n_steps.values()) for parts in apart.values()),
        **{
            name: value
            for term in TERMS
            for name, value in limits(term, found[term].difference).items()
        },
        "detectable": live.detectable,
        "detectable_trajectory": found["trajectory"].detectable,
        "reading_difference": "excluded" if excluded else live.reading,
        "marked": max(own.marked for own in acted.values()),
        "reason": live.difference.reason,
    }


def table(rows: Rows) -> tables.TableSpec:
    """Return the description of one model's and policy's table."""
    first = rows[0]
    undefined = "no step was scored, or no interval: one seed, or all alike"
    columns = [
        tables.Column(
            f"{title} [95%]",
            (term, f"{term}_low", f"{term}_high"),
            tables.interval(3),
            missing=undefined,
        )
        for term, title in zip(
            TERMS, ("Live difference", "Trajectory", "Reading", "Retrieval"), strict=True
        )
    ]
    return tables.TableSpec(
        name=re.sub(r"[^\w-]+", "_", f"table_replay_{first['model']}_{first['policy']}"),
        title=f"Frozen-trajectory replay of {first['policy']}: {first['model']}",
        caption=(
            f"{first['family']}, |V| = {first['n_nodes']}, {first['n_steps']} steps, "
            f"{first['n_seeds']} seeds. Live difference: loss of the compact encoding minus that "
            "of the verbose, each on the trajectory that the model took with it. It is the sum of "
            "what the trajectory makes, of the other encoding read on the same trajectory "
            "(reading), and of steps at which the rankings differ (retrieval), each the mean of "
            "both orders; means over seeds with t intervals. Steps: those at the common tail set, "
            "or all. n: scored steps. Detectable: the smallest live difference shown with power "
            "0.8."
        ),
        columns=(
            tables.Column("Predictor", ("predictor",), tables.text(), "left"),
            tables.Column("Steps", ("steps",), tables.text(), "left"),
            *columns,
            tables.Column(
                "Detectable",
                ("detectable",),
                tables.decimal(3),
                missing="no variation, or one seed",
            ),
            tables.Column("n", ("n_scored",), tables.integer()),
            tables.Column("Live difference is", ("reading_difference",), tables.text(), "left"),
        ),
        rows=tuple(rows),
        notes=(
            f"Replayed under its own encoding, a step's loss by top1 and vote differs from the "
            f"live one by at most {first['abs_difference']:g}; {first['mismatches']} rankings "
            "differ from those recorded live.",
            "vote does not see the encoding, so that it has no reading.",
            verdict(rows),
            gate_note(first),
        ),
        layout="page",
    )


def verdict(rows: Rows) -> str:
    """Return whether the rows take a difference apart that is there."""
    (primary,) = (row for row in rows if (row["predictor"], row["steps"]) == ("model", "tail"))
    if primary["conclusive"]:
        return "The model's live difference at the tail set is shown, and these are its parts."
    return (
        "No live difference of the model at the tail set is shown, so that its parts explain "
        "nothing: this replay is not conclusive."
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
