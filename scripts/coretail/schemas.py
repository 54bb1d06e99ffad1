"""The columns of every Parquet file that the pipeline writes, each with its meaning and unit.

The descriptions are stored in the files (field metadata ``description``): a newcomer who opens
one sees them.
"""

from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Schema:
    """One kind of artefact."""

    description: str
    version: int
    arrow: pa.Schema


TEXT = pa.dictionary(pa.int32(), pa.string())


def _schema(description: str, *fields: pa.Field, version: int = 1) -> Schema:
    return Schema(description, version, pa.schema(list(fields)))


def _field(name: str, kind: pa.DataType, description: str, optional: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=optional, metadata={"description": description})


_FAMILY = _field("family", TEXT, "graph family of the world")
_N_NODES = _field("n_nodes", pa.int32(), "number of states |V| of the world")
_SEED = _field("seed", pa.int32(), "seed of the cell (world and walk)")
_EVICTION = _field("eviction", TEXT, "eviction rule of the bounded store")
_KIND = _field("kind", TEXT, "what is counted per item: access, read or write")
_REASON = _field("reason", pa.string(), "why values of this row are undefined; empty if none is")

_CONCENTRATION = (
    _field("n_items", pa.int64(), "items with a count of at least 1"),
    _field("total", pa.int64(), "sum of the counts"),
    _field("gini", pa.float64(), "Gini coefficient over items with count >= 1", True),
    _field("skew", pa.float64(), "population skewness g1 of the counts", True),
    _field("max_median", pa.float64(), "largest count over median count", True),
    _field("top10_share", pa.float64(), "share of all counts in the top ceil(n/10) items", True),
    _field("singletons", pa.int64(), "items with a count of exactly 1"),
    _field(
        "sigma_top10",
        pa.float64(),
        "population standard deviation of ln(count) over the top ceil(n/10) items",
        True,
    ),
    _REASON,
)

SCHEMAS: dict[str, Schema] = {
    "nodes": _schema(
        "States of the graph worlds with their contents; one row per state",
        _FAMILY,
        _N_NODES,
        _SEED,
        _field("node", pa.int32(), "state's index, 0 .. n_nodes - 1"),
        _field("name", pa.string(), "state's name, as an agent reads it"),
        _field("entities", pa.list_(pa.string()), "3 to 8 entities found here"),
        _field(
            "relations",
            pa.list_(
                pa.struct(
                    [("subject", pa.string()), ("verb", pa.string()), ("object", pa.string())]
                )
            ),
            "2 to 6 relations among the entities",
        ),
        _field("constraints", pa.list_(pa.string()), "1 to 4 constraints that hold here"),
        _field("actions", pa.list_(pa.string()), "names of the 1 to 3 actions, by action index"),
    ),
    "edges": _schema(
        "Directed edges of the graph worlds in CSR order; an edge is a transition (s, a, s')",
        _FAMILY,
        _N_NODES,
        _SEED,
        _field("edge", pa.int32(), "edge's index, by source, then target: the memory item's id"),
        _field("source", pa.int32(), "state s that the edge leaves"),
        _field("target", pa.int32(), "state s' that the edge reaches"),
        _field("action", pa.int8(), "index of the action a of s that may lead along this edge"),
    ),
    "walk_counts": _schema(
        "Random walk: how often each memory item (edge) was written and read over the whole run",
        _FAMILY,
        _N_NODES,
        _SEED,
        _EVICTION,
        _field("edge", pa.int32(), "memory item: the edge's index in the world"),
        _field("reads", pa.int64(), "times the item was handed to the agent"),
        _field("writes", pa.int64(), "times the transition was walked and offered to the store"),
        _field("access", pa.int64(), "access count: reads + writes"),
    ),
    "walk_visits": _schema(
        "Random walk: visits of each state (the trajectory is the same for all eviction rules)",
        _FAMILY,
        _N_NODES,
        _SEED,
        _field("node", pa.int32(), "state's index"),
        _field("visits", pa.int64(), "steps that started in this state"),
    ),
    "walk_steps": _schema(
        "Random walk: one row per step, in order",
        _FAMILY,
        _N_NODES,
        _SEED,
        _EVICTION,
        _field("step", pa.int32(), "step's index from 0"),
        _field("edge", pa.int32(), "transition walked and written at this step"),
        _field("reads", pa.int16(), "items read at this step, before the write"),
        _field("events", pa.int16(), "access events at this step: reads + 1 write"),
        _field("top_accessed", pa.bool_(), "the run's most accessed item was read or written"),
    ),
    "walk_summary": _schema(
        "Random walk: bookkeeping of the bounded store, one row per run",
        _FAMILY,
        _N_NODES,
        _SEED,
        _EVICTION,
        _field("retriever", TEXT, "retriever of the run"),
        _field("steps", pa.int64(), "steps N"),
        _field("capacity", pa.int32(), "most items that the store holds"),
        _field("k", pa.int16(), "most items read at a step"),
        _field("start", pa.int32(), "state the walk started in"),
        _field("mean_degree", pa.float64(), "mean out-degree of the world"),
        _field("reads", pa.int64(), "items read over the run"),
        _field("reinforced", pa.int64(), "writes of an item that was stored"),
        _field("admitted", pa.int64(), "writes that brought a new item into the store"),
        _field("rejected", pa.int64(), "writes of a new item that the store did not take"),
        _field("evicted", pa.int64(), "items that left the store"),
    ),
    "concentration": _schema(
        "Concentration of the counts of each random-walk cell",
        _FAMILY,
        _N_NODES,
        _SEED,
        _EVICTION,
        _KIND,
        _field("gini_all_edges", pa.float64(), "Gini coefficient with uncounted edges as 0", True),
        *_CONCENTRATION,
    ),
    "spectra": _schema(
        "Welch spectrum's log-log slope of each random-walk cell",
        _FAMILY,
        _N_NODES,
        _SEED,
        _EVICTION,
        _field("series", TEXT, "top_accessed (0/1 per step) or events (access events per step)"),
        _field("exponent", pa.float64(), "minus the slope: S(f) ~ 1 / f^exponent", True),
        _field("exponent_se", pa.float64(), "standard error of the slope's regression", True),
        _field("n_steps", pa.int64(), "length of the series"),
        _field("n_frequencies", pa.int32(), "frequencies in the regression"),
        _REASON,
    ),
    "ladder": _schema(
        "Retriever ladder: concentration of access counts per family, size, rung and seed",
        _FAMILY,
        _N_NODES,
        _SEED,
        _field("rung", TEXT, "retriever; the four share the trajectory of their (world, seed)"),
        *_CONCENTRATION,
    ),
    "table1_cells": _schema(
        "Table 1, cells: sigma_top10 of access counts per eviction rule, family and size",
        _EVICTION,
        _FAMILY,
        _N_NODES,
        _field("seeds", pa.list_(pa.int32()), "seeds of the cell, in the order of sigma_seeds"),
        _field("mean_degree", pa.float64(), "mean out-degree of the cell's worlds"),
        _field("sigma_seeds", pa.list_(pa.float64()), "sigma_top10 of each seed"),
        _field("sigma", pa.float64(), "mean of sigma_top10 over seeds", True),
        _field("sigma_low", pa.float64(), "lower limit of its 95% t interval", True),
        _field("sigma_high", pa.float64(), "upper limit of its 95% t interval", True),
        _field("n_seeds", pa.int32(), "seeds with a defined value"),
        _field("paper_sigma", pa.float64(), "the paper's value, where it gives one", True),
        _REASON,
    ),
    "table1_trends": _schema(
        "Table 1, trends: least-squares line of sigma_top10 on ln |V| per eviction rule and family",
        _EVICTION,
        _FAMILY,
        _field("slope", pa.float64(), "mean over seeds of the slope of sigma on ln |V|", True),
        _field("slope_low", pa.float64(), "lower limit of its 95% t interval", True),
        _field("slope_high", pa.float64(), "upper limit of its 95% t interval", True),
        _field("r2", pa.float64(), "R^2 of the line through the means over seeds", True),
        _field("r2_low", pa.float64(), "smallest R^2 of a seed's own line", True),
        _field("r2_high", pa.float64(), "largest R^2 of a seed's own line", True),
        _field("n_seeds", pa.int32(), "seeds with a defined value at every size"),
        _field("paper_slope", pa.float64(), "the paper's slope, where it gives one", True),
        _field("paper_r2", pa.float64(), "the paper's R^2, where it gives one", True),
        _REASON,
    ),
    "table1_noise": _schema(
        "Table 1, noise level: sigma_top10 of uniform minus baseline-symmetric, one law twice",
        _EVICTION,
        _N_NODES,
        _field("difference", pa.float64(), "difference of the means over seeds", True),
        _field("difference_low", pa.float64(), "lower limit of Welch's 95% t interval", True),
        _field("difference_high", pa.float64(), "upper limit of Welch's 95% t interval", True),
        _field("n_seeds", pa.int32(), "values behind the difference, both families together"),
        _REASON,
    ),
    "table_spectrum": _schema(
        "Spectral exponents of the random-walk traces: range per eviction rule, series and family",
        _EVICTION,
        _field("series", TEXT, "series whose spectrum was taken"),
        _field("family", TEXT, "graph family, or all families"),
        _field("n_traces", pa.int32(), "traces with a defined exponent"),
        _field("n_undefined", pa.int32(), "traces without one"),
        _field("exponent_median", pa.float64(), "median exponent", True),
        _field("exponent_low", pa.float64(), "smallest exponent", True),
        _field("exponent_high", pa.float64(), "largest exponent", True),
        _field("paper_low", pa.float64(), "lower end of the paper's range", True),
        _field("paper_high", pa.float64(), "upper end of the paper's range", True),
        _REASON,
    ),
    "table_ladder": _schema(
        "Retriever ladder: Gini of access counts per family, size and rung, over seeds",
        _FAMILY,
        _N_NODES,
        _field("rung", TEXT, "retriever; symmetric_payload is another world under state_frequency"),
        _field("gini", pa.float64(), "mean Gini over seeds", True),
        _field("gini_low", pa.float64(), "lower limit of its 95% t interval", True),
        _field("gini_high", pa.float64(), "upper limit of its 95% t interval", True),
        _field("n_seeds", pa.int32(), "seeds with a defined value"),
        _field("reduction", pa.float64(), "relative reduction against state_frequency", True),
        _field("reduction_low", pa.float64(), "lower limit of its 95% interval", True),
        _field("reduction_high", pa.float64(), "upper limit of its 95% interval", True),
        _field("pairing", TEXT, "how the reduction was compared"),
        _field("paper", pa.string(), "what the paper says of this rung; empty if nothing"),
        _REASON,
    ),
}
