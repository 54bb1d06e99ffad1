"""Map how long a tail random walks leave, over graph sizes and numbers of steps."""

from _entry import Job, run
from coretail import artefacts
from coretail.audit import find_cutoff, sample_of
from coretail.rollouts.walk import random_walk
from coretail.worlds.topology import PAPER_SIZE, build_topology


def main(job: Job) -> None:
    """Write one row per family, size, number of steps and seed."""
    settings = dict(job.settings)
    sizes, lengths = settings.pop("sizes"), settings.pop("steps")
    first, rule = settings.pop("first_seed"), settings.pop("ks")
    seeds = range(first, first + settings.pop("n_seeds"))
    report = job.progress("worlds", len(sizes) * len(seeds))
    rows = []
    for position, n_nodes in enumerate(sizes):
        for seed in seeds:
            report(position * len(seeds) + seed - first)
            world = build_topology(
                job.wildcards["family"], n_nodes, seed, scale=n_nodes > PAPER_SIZE
            )
            for steps in lengths:
                access = random_walk(world, steps=steps, **settings).access
                access = access[access > 0]
                cutoff = find_cutoff(sample_of(access), ks=rule)
                rows.append(
                    {
                        "family": world.family,
                        "n_nodes": n_nodes,
                        "seed": seed,
                        "n_steps": steps,
                        "n_items": access.size,
                        "x_min": cutoff.x_min,
                        "n_tail": cutoff.n_tail,
                        "reason": cutoff.reason or "",
                    }
                )
    artefacts.write(
        job.output("auditable"), "auditable", artefacts.table_of_rows("auditable", rows), job.spec
    )


if __name__ == "__main__":
    run(main, globals()["snakemake"])
