"""Build the worlds of one family and size, one per seed: states with contents, edges."""

import numpy as np
import pyarrow as pa

from _entry import Job, run
from coretail import artefacts
from coretail.worlds.contents import build_contents
from coretail.worlds.topology import build_topology


def main(job: Job) -> None:
    """Write the states and the edges of all seeds."""
    family, n_nodes = job.wildcards["family"], int(job.wildcards["n_nodes"])
    nodes, edges = [], []
    for seed in job.settings["seeds"]:
        topology = build_topology(family, n_nodes, seed)
        contents = build_contents(topology, job.settings["vocabulary"])
        key = {"family": family, "n_nodes": n_nodes, "seed": seed}
        nodes.append(
            artefacts.table(
                "nodes",
                {
                    **key,
                    "node": np.arange(n_nodes),
                    "name": contents.names,
                    "entities": contents.entities,
                    "relations": [
                        [
                            {"subject": subject, "verb": verb, "object": object_}
                            for subject, verb, object_ in relations
                        ]
                        for relations in contents.relations
                    ],
                    "constraints": contents.constraints,
                    "actions": contents.actions,
                },
            )
        )
        edges.append(
            artefacts.table(
                "edges",
                {
                    **key,
                    "edge": np.arange(topology.n_edges),
                    "source": topology.sources,
                    "target": topology.targets,
                    "action": topology.actions,
                },
            )
        )
    artefacts.write(job.output("nodes"), "nodes", pa.concat_tables(nodes), job.spec)
    artefacts.write(job.output("edges"), "edges", pa.concat_tables(edges), job.spec)


if __name__ == "__main__":
    run(main, globals()["snakemake"])
