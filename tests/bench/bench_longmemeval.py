"""Reading and ranking LongMemEval at the size of its ``s`` file, on generated text.

Each measurement runs in a process of its own, so that its peak memory is its own. Seconds are CPU
seconds, which other processes do not lengthen; all of it is one thread.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from coretail.longmemeval.records import QUESTION_TYPES, format_date
from coretail.streams import stream

QUESTIONS = 500
SESSIONS = 50
CHARACTERS = 10_000
BUDGET_SECONDS, BUDGET_MB = 60.0, 1000.0
# The benchmark's haystacks share their sessions too.
POOL = 1000

_RANK = """
from coretail.longmemeval.records import read_questions
from coretail.longmemeval.retrieval import GraphMemory, SessionIndex
for question in read_questions(Path(sys.argv[1])):
    index = SessionIndex(question.sessions)
    index.rank(question.question)
    GraphMemory(question.sessions, index).rank(question.question)
"""
_READ = """
from coretail.longmemeval.records import read_questions
for question in read_questions(Path(sys.argv[1])):
    pass
"""
_LOAD = """
json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
"""
_MEASURED = """
import json, resource, sys, time
from pathlib import Path
{work}
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
print(json.dumps([time.process_time(), peak]))
"""


def benchmarks() -> Iterator[dict[str, object]]:
    """Yield the rows of this part."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "generated.json"
        write_benchmark(path)
        size = f"{path.stat().st_size / 1e6:.0f} MB"
        seconds, peak = measured(_RANK, path)
        what = f"read and rank {QUESTIONS} questions of {SESSIONS} sessions, {size}, both ways"
        budget = BUDGET_SECONDS * QUESTIONS / 500
        yield row(f"{what} ({seconds:.1f} CPU s)", f"a budget of {budget:.3g} s", budget, seconds)
        yield row(
            f"{what}: peak memory ({peak:.0f} MB)",
            f"a budget of {BUDGET_MB:.0f} MB",
            BUDGET_MB,
            peak,
        )
        streamed, loaded = measured(_READ, path), measured(_LOAD, path)
        yield row(f"read {size} with all checks", "json.loads", loaded[0], streamed[0])
        yield row(f"read {size}: peak memory", "json.loads", loaded[1], streamed[1])


def measured(work: str, path: Path) -> tuple[float, float]:
    """Return CPU seconds and peak memory in MB of a process that does ``work`` on ``path``."""
    command = [sys.executable, "-c", _MEASURED.format(work=work), str(path)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    seconds, peak = json.loads(output)
    return seconds, peak


def write_benchmark(path: Path) -> None:
    """Write a file in the official format with sessions drawn from a pool."""
    rng = stream("bench", "longmemeval")
    words = vocabulary(rng)
    # Zipf's law, as in real text: a few words make most of it, and many occur once.
    shares = 1.0 / np.arange(1, len(words) + 1)
    pool = [conversation(rng, words, shares / shares.sum()) for _ in range(POOL)]
    first = datetime(2023, 1, 1)
    dates = [format_date(first + timedelta(hours=7 * n)) for n in range(SESSIONS + 1)]
    with path.open("w", encoding="utf-8") as file:
        for number in range(QUESTIONS):
            chosen = rng.choice(POOL, SESSIONS, replace=False).tolist()
            record = {
                "question_id": f"q{number}",
                "question_type": QUESTION_TYPES[number % len(QUESTION_TYPES)],
                "question": f"How many {' '.join(rng.choice(words, 8))}?",
                "answer": number,
                "question_date": dates[-1],
                "haystack_session_ids": [f"s{n}" for n in chosen],
                "haystack_dates": dates[:-1],
                "haystack_sessions": [pool[n] for n in chosen],
                "answer_session_ids": [f"s{chosen[0]}"],
            }
            file.write(",\n" if number else "[\n")
            json.dump(record, file)
        file.write("\n]\n")


def vocabulary(rng: np.random.Generator) -> list[str]:
    """Return made-up words, one in eight a capitalised one, one in thirty a number."""
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = ["".join(rng.choice(letters, length)) for length in rng.integers(2, 10, 20_000)]
    words[3::8] = [word.capitalize() for word in words[3::8]]
    words[7::30] = [str(number) for number in rng.integers(1, 5000, len(words[7::30]))]
    return words


def conversation(
    rng: np.random.Generator, words: list[str], shares: np.ndarray
) -> list[dict[str, str]]:
    """Return ten turns of about CHARACTERS in all, in sentences of twelve words."""
    drawn = rng.choice(len(words), CHARACTERS // 7, p=shares).tolist()
    sentences = [" ".join(words[n] for n in drawn[i : i + 12]) for i in range(0, len(drawn), 12)]
    per_turn = -(-len(sentences) // 10)
    return [
        {
            "role": ("user", "assistant")[place % 2],
            "content": ". ".join(sentences[i : i + per_turn]),
        }
        for place, i in enumerate(range(0, len(sentences), per_turn))
    ]


def row(name: str, baseline: str, reference: float, ours: float) -> dict[str, object]:
    """Return one row of the benchmark."""
    ratio = reference / ours
    return {
        "name": name,
        "baseline": baseline,
        "ratio_median": ratio,
        "ratio_low": ratio,
        "ratio_high": ratio,
        "runs": 1,
    }
