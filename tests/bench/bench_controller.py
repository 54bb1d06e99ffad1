"""The controller: packing many items, and shares and slots of a million ranks."""

from collections.abc import Callable, Iterator
from statistics import median
from time import process_time

from coretail.controller import ENCODINGS, Item, allocate, integer_slots, pack

RUNS = 15
ITEMS = 10_000
TOKENS = 4_096
RANKS = 1_000_000


def benchmarks() -> Iterator[dict]:
    """Yield the rows of this part."""
    for name, items in (("transitions", transitions(ITEMS)), ("paragraphs", paragraphs(ITEMS))):
        for encoding in ENCODINGS:
            yield packing(name, items, encoding)
    few, many = transitions(ITEMS // 10), transitions(ITEMS * 10)
    yield row(
        f"controller: pack {len(many):,} items, {TOKENS:,} tokens: time per item",
        f"the same with {len(few):,} items",
        [
            ratio * len(many) / len(few)
            for ratio in paired(lambda: pack(few, tokens=TOKENS), lambda: pack(many, tokens=TOKENS))
        ],
    )
    yield row(
        f"controller: shares of {RANKS:,} ranks",
        "plain Python",
        paired(lambda: plain_shares(RANKS, 1.0), lambda: allocate(RANKS, 1.0), runs=5),
    )
    shares = allocate(RANKS, 1.0)
    values = shares.tolist()
    yield row(
        f"controller: {RANKS // 2:,} slots of {RANKS:,} shares",
        "plain Python",
        paired(
            lambda: plain_slots(values, RANKS // 2),
            lambda: integer_slots(shares, RANKS // 2),
            runs=5,
        ),
    )


def packing(name: str, items: list[Item], encoding: str) -> dict:
    """Compare packing with the time that it may take."""
    seconds = []
    for _ in range(RUNS):
        begin = process_time()
        pack(items, tokens=TOKENS, encoding=encoding)
        seconds.append(process_time() - begin)
    return row(
        f"controller: pack {len(items):,} {name}, {TOKENS:,} tokens, {encoding} "
        f"({median(seconds) * 1e3:.1f} ms of processor time)",
        "the required 20 ms",
        [20e-3 / time for time in seconds],
    )


def transitions(n: int) -> list[Item]:
    """Return short items, of a few types."""
    return [
        Item(
            f"quiet room {i} -> open the door -> room {7 * i % 1000}",
            type=f"open the door of wing {i % 40}",
            count=1 + i % 5,
            details=(f"seen {1 + i % 5} times", "also led to the garden", "holds a lamp"),
            fields=(("score", f"{1 / (i + 1):.2f}"), ("degree", str(i % 9))),
        )
        for i in range(n)
    ]


def paragraphs(n: int) -> list[Item]:
    """Return items that are too long for their slots, each of its own type."""
    text = "On that day we spoke of the journey, and what it would take to get there by ship. " * 20
    return [Item(f"{i}: {text}", type=f"session {i}") for i in range(n)]


def plain_shares(n: int, tau: float) -> list[float]:
    """Return the shares without numpy."""
    weights = [rank**-tau for rank in range(1, n + 1)]
    total = sum(weights)
    return [weight / total for weight in weights]


def plain_slots(shares: list[float], budget: int) -> list[int]:
    """Return slots by largest remainder without numpy."""
    quotas = [share * budget for share in shares]
    slots = [int(quota) for quota in quotas]
    order = sorted(range(len(shares)), key=lambda i: slots[i] - quotas[i])
    for index in order[: budget - sum(slots)]:
        slots[index] += 1
    return slots


def paired(
    baseline: Callable[[], object], ours: Callable[[], object], runs: int = RUNS
) -> list[float]:
    """Time both in turn; return the baseline's time over ours for each pair."""
    baseline(), ours()
    ratios = []
    for _ in range(runs):
        begin = process_time()
        baseline()
        between = process_time()
        ours()
        ratios.append((between - begin) / (process_time() - between))
    return ratios


def row(name: str, baseline: str, ratios: list[float]) -> dict:
    """Return one row of the benchmark."""
    return {
        "name": name,
        "baseline": baseline,
        "ratio_median": median(ratios),
        "ratio_low": min(ratios),
        "ratio_high": max(ratios),
        "runs": len(ratios),
    }
