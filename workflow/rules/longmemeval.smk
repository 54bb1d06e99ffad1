# LongMemEval: questions on long conversations, from a file of the benchmark or a generated stand-in,
# what each method ranks and shows of their haystacks, and models' replies.

# Where the questions are. What they are, the benchmark's or generated, their records say.
SOURCE = config["longmemeval"]["questions"]
QUESTIONS = (
    SOURCE
    if isinstance(SOURCE, str)
    else f"results/longmemeval/{'fetched' if SOURCE else 'sample'}.json"
)


wildcard_constraints:
    method="bm25|graph|ctwm|ctwm_relaxed",


rule sample_questions:
    output:
        questions="results/longmemeval/sample.json",
    log:
        "results/logs/sample_questions.log",
    benchmark:
        "results/benchmarks/sample_questions.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec("sample_questions", **config["longmemeval"]["sample"]),
    message:
        "Generated stand-in for LongMemEval"
    script:
        "../../scripts/sample_questions.py"


rule fetch_questions:
    output:
        questions="results/longmemeval/fetched.json",
    log:
        "results/logs/fetch_questions.log",
    benchmark:
        "results/benchmarks/fetch_questions.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "fetch_questions",
            **(SOURCE if isinstance(SOURCE, dict) else {"url": None, "sha256": None}),
        ),
    message:
        "LongMemEval from its address"
    script:
        "../../scripts/fetch_questions.py"


rule rank_sessions:
    input:
        questions=QUESTIONS,
    output:
        contexts="results/longmemeval/contexts.parquet",
    log:
        "results/logs/rank_sessions.log",
    benchmark:
        "results/benchmarks/rank_sessions.tsv"
    conda:
        "../../envs/coretail.yaml"
    params:
        spec=spec(
            "rank_sessions",
            "sample_questions",
            "fetch_questions",
            **{
                key: config["longmemeval"][key]
                for key in ["slots", "slot_tokens", "tau", "tokens"]
            },
        ),
    message:
        "Sessions ranked and packed"
    script:
        "../../scripts/rank_sessions.py"


rule answer_questions:
    input:
        questions=QUESTIONS,
    output:
        answers="results/longmemeval/answers/{model}/{budget}/{method}-{encoding}.parquet",
    log:
        "results/logs/answer_questions/{model}-{budget}-{method}-{encoding}.log",
    benchmark:
        "results/benchmarks/answer_questions/{model}-{budget}-{method}-{encoding}.tsv"
    conda:
        "../../envs/coretail.yaml"
    resources:
        llm_slots=1,
    params:
        spec=asked(
            "answer_questions",
            "sample_questions",
            "fetch_questions",
            seed=config["semantic"]["seed"],
            **{
                key: config["longmemeval"][key]
                for key in ["slots", "slot_tokens", "tau", "tokens", "tail"]
            },
        ),
    message:
        "{wildcards.model} answers from {wildcards.method}, {wildcards.encoding}, equal {wildcards.budget}"
    script:
        "../../scripts/answer_questions.py"


rule judge_answers:
    input:
        questions=QUESTIONS,
        answers="results/longmemeval/answers/{model}/{budget}/{method}-{encoding}.parquet",
    output:
        judged="results/longmemeval/judged/{model}/{budget}/{method}-{encoding}.parquet",
    log:
        "results/logs/judge_answers/{model}-{budget}-{method}-{encoding}.log",
    benchmark:
        "results/benchmarks/judge_answers/{model}-{budget}-{method}-{encoding}.tsv"
    conda:
        "../../envs/coretail.yaml"
    resources:
        llm_slots=1,
    params:
        spec=spec(
            "judge_answers",
            "answer_questions",
            seed=config["semantic"]["seed"],
            model=identity(JUDGES[0]) if JUDGES else None,
        ),
    message:
        "Replies of {wildcards.model} judged, {wildcards.method}, equal {wildcards.budget}"
    script:
        "../../scripts/judge_answers.py"
