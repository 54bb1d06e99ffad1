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

# The verdicts of coretail.audit.verdict, which is not imported: every entry reads this module, and
# would depend on all of the audit's code.
_VERDICTS = (
    "not_auditable",
    "truncated_power_law_compatible",
    "lognormal_compatible",
    "power_law_compatible",
    "undecided",
)


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


def _comparison(prefix: str, what: str) -> tuple[pa.Field, ...]:
    number = pa.float64()
    return (
        _field(f"{prefix}_R", number, f"log-likelihood ratio, {what}; > 0 favours the first", True),
        _field(f"{prefix}_sigma", number, "its standard error, sqrt(n_tail) * sd of terms", True),
        _field(f"{prefix}_z", number, "Vuong's z, or the signed root of the nested test", True),
        _field(f"{prefix}_p", number, "two-sided p of z (half the chi-square p if nested)", True),
        _field(
            f"{prefix}_indistinguishable", pa.bool_(), "|R| below the gate: z means nothing", True
        ),
    )


def _fit(law: str, what: str, **parameters: str) -> tuple[pa.Field, ...]:
    number = pa.float64()
    return (
        *(
            _field(f"{law}_{key}", number, f"{what}: {text}", True)
            for key, text in parameters.items()
        ),
        _field(f"{law}_loglik", number, f"{what}: log-likelihood of the tail", True),
        _field(f"{law}_p_gof", number, f"{what}: its own bootstrap p, where it matters", True),
        _field(f"{law}_note", pa.string(), f"{what}: what is to be known of the fit", True),
    )


_AUDIT = (
    _field("ks_rule", TEXT, "Kolmogorov-Smirnov rule of the cutoff: full or observed"),
    _field("n", pa.int64(), "items audited"),
    _field("n_tail", pa.int64(), "items at or above x_min; 0 without a cutoff"),
    _field("x_min", pa.int64(), "cutoff of the tail", True),
    _field("alpha", pa.float64(), "exponent of the discrete power law above x_min", True),
    _field("alpha_se", pa.float64(), "its standard error at this cutoff", True),
    _field("ks", pa.float64(), "Kolmogorov-Smirnov distance of the power law", True),
    _field("loglik", pa.float64(), "log-likelihood of the tail under the power law", True),
    _field("p_gof", pa.float64(), "bootstrap p of the power law, x_min refitted", True),
    _field("replicates", pa.int32(), "defined bootstrap replicates behind p_gof"),
    _field("verdict", TEXT, "verdict of the audit"),
    _field("reason", pa.string(), "reason for the verdict"),
    *_comparison("lambda", "truncated power law against log-normal (the paper's Lambda)"),
    *_comparison("lambda_free", "the same with the truncated law's alpha unbounded"),
    *_comparison("power_law_vs_lognormal", "power law against log-normal"),
    *_comparison("power_law_vs_exponential", "power law against exponential"),
    *_comparison("truncated_vs_power_law", "truncated against pure power law, nested"),
    *_fit(
        "truncated_power_law",
        "truncated power law",
        alpha="exponent, bounded by alpha >= 0",
        alpha_free="exponent without the bound",
        lambda_free="rate without the bound on alpha",
        **{"lambda": "rate of the exponential cutoff"},
    ),
    *_fit(
        "lognormal",
        "discretised log-normal",
        mu="mu of ln x; null where it degenerates to a power law",
        sigma="sigma of ln x; null where it degenerates to a power law",
        eta1="(ln(x_min - 1/2) - mu) / sigma^2",
        eta2="1 / (2 sigma^2); 0 is a power law with alpha = 1 + eta1",
    ),
    *_fit("exponential", "exponential on integers", **{"lambda": "rate"}),
    _field("package_version", TEXT, "version of the powerlaw package, if it was asked", True),
    _field("package_x_min", pa.int64(), "powerlaw package: cutoff", True),
    _field("package_n_tail", pa.int64(), "powerlaw package: items at or above it", True),
    _field("package_alpha", pa.float64(), "powerlaw package: exponent", True),
    _field("package_R", pa.float64(), "powerlaw package: truncated against log-normal", True),
    _field("package_z", pa.float64(), "powerlaw package: normalised ratio", True),
    _field("package_p", pa.float64(), "powerlaw package: p of the ratio", True),
    _field("package_reason", pa.string(), "powerlaw package: why figures are missing", True),
)

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
    "audits": _schema(
        "Tail audit of each random-walk cell, per kind of count and Kolmogorov-Smirnov rule",
        _FAMILY,
        _N_NODES,
        _SEED,
        _EVICTION,
        _KIND,
        *_AUDIT,
    ),
    "calibration": _schema(
        "Audits of samples whose law is known; one row per sample",
        _field("law", TEXT, "true law of the tail"),
        _field("n_tail", pa.int64(), "true size of the tail"),
        _field("index", pa.int32(), "number of the sample in its cell"),
        _field("p_known", pa.float64(), "bootstrap p of the true law at the known x_min", True),
        _field("p_refitted", pa.float64(), "bootstrap p of the power law, x_min refitted", True),
        _field("x_min", pa.int64(), "cutoff that the audit chose (the true one is 5)", True),
        _field("n_tail_fitted", pa.int64(), "observations from there up"),
        _field("alpha", pa.float64(), "exponent from there up", True),
        _field("ratio", pa.float64(), "Lambda: truncated power law against log-normal", True),
        _field("z", pa.float64(), "Vuong's z of Lambda", True),
        _field("verdict", TEXT, "verdict of the audit"),
    ),
    "auditable": _schema(
        "Random walks of N steps on |V| states: how long the tail of access counts is",
        _FAMILY,
        _N_NODES,
        _SEED,
        _field("n_steps", pa.int64(), "steps N of the walk"),
        _field("n_items", pa.int64(), "items with a count of at least 1"),
        _field("x_min", pa.int64(), "cutoff of the tail", True),
        _field("n_tail", pa.int64(), "items at or above x_min; 0 without a cutoff"),
        _REASON,
    ),
    "controls": _schema(
        "Matched random walks: every statistic of each control walk of each cell",
        _FAMILY,
        _N_NODES,
        _SEED,
        _field("replicate", pa.int32(), "0: a further walk, to be judged; 1 .. n: the controls"),
        _field("n_steps", pa.int64(), "steps N of the walk"),
        _field("start", pa.int32(), "state the walk started in"),
        _field("gini", pa.float64(), "Gini coefficient of access counts >= 1", True),
        _field("max_median", pa.float64(), "largest access count over the median", True),
        _field("n_tail", pa.int64(), "items at or above the audit's x_min; 0 without a cutoff"),
        _field("x_min", pa.int64(), "cutoff of the tail", True),
        _field("alpha", pa.float64(), "exponent of the power law above x_min", True),
        _field("lambda_per_tail", pa.float64(), "Lambda / n_tail, nats per observation", True),
        _field("exponent_top", pa.float64(), "spectral exponent of the top item's accesses", True),
        _field("exponent_events", pa.float64(), "spectral exponent of access events", True),
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
    "table_audit_cells": _schema(
        "Audit of the access counts of every random-walk cell, by the first cutoff rule",
        _EVICTION,
        _FAMILY,
        _N_NODES,
        _SEED,
        *(
            field
            for field in _AUDIT
            if field.name
            in {
                "n",
                "n_tail",
                "x_min",
                "alpha",
                "alpha_se",
                "p_gof",
                "lambda_R",
                "lambda_sigma",
                "lambda_z",
                "lambda_indistinguishable",
                "verdict",
                "reason",
            }
        ),
    ),
    "table_audit_verdicts": _schema(
        "Counts of every verdict over the random-walk cells",
        _EVICTION,
        _KIND,
        _field("ks_rule", TEXT, "Kolmogorov-Smirnov rule of the cutoff"),
        _field("n_cells", pa.int32(), "cells: families x sizes x seeds"),
        _field("n_long_tail", pa.int32(), "cells whose n_tail reaches the threshold"),
        _field("n_auditable", pa.int32(), "auditable cells (Assumption 3.3)"),
        _field("n_accepted", pa.int32(), "cells whose power law has p_gof >= threshold"),
        _field("n_both", pa.int32(), "cells that are both"),
        _field("pass_rate", pa.float64(), "share of cells that are power-law-compatible", True),
        _field("pass_rate_low", pa.float64(), "lower limit of Wilson's 95% interval", True),
        _field("pass_rate_high", pa.float64(), "upper limit of Wilson's 95% interval", True),
        *(_field(verdict, pa.int32(), "cells with this verdict") for verdict in _VERDICTS),
    ),
    "table_calibration_levels": _schema(
        "Bootstrap p under its own null: share below the threshold, distance from uniform",
        _field("law", TEXT, "true law"),
        _field("n_tail", pa.int64(), "true size of the tail"),
        _field("cutoff", TEXT, "known or refitted x_min"),
        _field("samples", pa.int32(), "samples with a defined p"),
        _field("below", pa.float64(), "share of samples with p below the threshold"),
        _field("below_low", pa.float64(), "lower limit of Wilson's 95% interval"),
        _field("below_high", pa.float64(), "upper limit of Wilson's 95% interval"),
        _field("below_se", pa.float64(), "Monte Carlo standard error of a share at its level"),
        _field("distance", pa.float64(), "Kolmogorov-Smirnov distance of p from uniform"),
        _field("distance_p", pa.float64(), "asymptotic p of that distance"),
    ),
    "table_calibration_confusion": _schema(
        "Samples of known law by verdict",
        _field("law", TEXT, "true law"),
        _field("n_tail", pa.int64(), "true size of the tail"),
        _field("verdict", TEXT, "verdict of the audit"),
        _field("count", pa.int32(), "samples with this verdict"),
        _field("samples", pa.int32(), "samples of this law and size"),
        _field("share", pa.float64(), "count / samples"),
        _field("share_low", pa.float64(), "lower limit of Wilson's 95% interval"),
        _field("share_high", pa.float64(), "upper limit of Wilson's 95% interval"),
    ),
    "table_controls": _schema(
        "A further random walk judged by its matched controls",
        _field("statistic", TEXT, "statistic of the trace"),
        _FAMILY,
        _N_NODES,
        _SEED,
        _field("n_steps", pa.int64(), "steps N of the walk and of every control"),
        _field("value", pa.float64(), "statistic of the walk that is judged", True),
        _field("control_median", pa.float64(), "median over the controls", True),
        _field("control_low", pa.float64(), "2.5% quantile of the controls", True),
        _field("control_high", pa.float64(), "97.5% quantile of the controls", True),
        _field("n_controls", pa.int32(), "controls with a defined value"),
        _field("n_undefined", pa.int32(), "controls without one"),
        _field("p", pa.float64(), "two-sided empirical p", True),
        _field("p_holm", pa.float64(), "Holm's p over the cells of the statistic", True),
        _REASON,
    ),
}
