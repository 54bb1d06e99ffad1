# What a configuration will ask of language models, and what it could then show: before anything is
# spent, without a model, its weights or a key.


# Without outputs, and not part of `rule all`: it runs whenever it is asked for, since what it tells
# depends on recordings, journals and earlier results, too. It writes results/tables/plan*.
rule plan:
    input:
        games=rules.build_games.output.games if PLAYERS else [],
        demonstrations=rules.build_games.output.demonstrations if PLAYERS else [],
        questions=QUESTIONS if ANSWERERS else [],
    log:
        "results/logs/make_plan.log",
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "make_plan",
            models={model: identity(model) for model in MODELS},
            rollouts=ROLLOUTS,
            gate=GATE_FAMILY,
            readers=READERS,
            players=PLAYERS,
            answerers=ANSWERERS,
            judges=JUDGES,
            seeds=config["seeds"],
            vocabulary=config["worlds"]["vocabulary"],
            retriever=config["random_walk"]["retriever"],
            store={
                "eviction": config["random_walk"]["evictions"][0],
                **{
                    key: config["random_walk"][key]
                    for key in ["capacity", "k", "reads_feed_frequency"]
                },
            },
            alfworld={
                key: config["alfworld"][key]
                for key in ["cells", "slots", "tau", "settings"]
            },
            longmemeval={
                key: config["longmemeval"][key]
                for key in [
                    "slots",
                    "slot_tokens",
                    "tau",
                    "tokens",
                    "tail",
                    "cells",
                    "parity",
                ]
            },
            seekers=SEEKERS,
            live_cells=LIVE_CELLS,
            order=SETTINGS,
            # Of Table 3; and differences of prompt tokens, as shares: Table 4 (compact at matched
            # encoding), Section 5.7 (ALFWorld's smallest; LongMemEval).
            paper={
                "tail_error": {"graph": 0.932, "ctwm": 0.805},
                "tokens": {"memory": 0.027, "alfworld": 0.04, "longmemeval": 0.2448},
            },
            **{key: config[key] for key in ["cells", "semantic", "memory", "tau"]},
        ),
    message:
        "Plan: calls, tokens and money of this configuration"
    script:
        "../../scripts/make_plan.py"
