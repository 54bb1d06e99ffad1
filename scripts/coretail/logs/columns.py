"""Which column of a table says what: as asked, or guessed by its name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from coretail.errors import InputError

Role = Literal["id", "time", "rank", "count"]
ROLES: tuple[Role, ...] = ("id", "time", "rank", "count")

# Names by which a column is guessed, surest first: a log's bare "id" is often that of the event.
GUESSES: Mapping[Role, tuple[str, ...]] = MappingProxyType(
    {
        "id": (
            "memory_id",
            "item_id",
            "mem_id",
            "memory",
            "item",
            "doc_id",
            "document_id",
            "chunk_id",
            "node_id",
            "edge_id",
            "entry_id",
            "document",
            "chunk",
            "node",
            "edge",
            "key",
            "uuid",
            "id",
        ),
        "time": ("step", "time", "timestamp", "ts", "datetime", "turn", "t", "date", "created_at"),
        "rank": ("rank", "position", "pos"),
        "count": (
            "count",
            "counts",
            "access_count",
            "access",
            "accesses",
            "n_accesses",
            "hits",
            "frequency",
            "freq",
        ),
    }
)

_SHOWN = 30


@dataclass(frozen=True, slots=True)
class Request:
    """How a file is to be read; what is None is guessed.

    Attributes
    ----------
    format
        One of :data:`coretail.logs.source.FORMATS`.
    id, time, rank, count
        Columns: the accessed item; when (a number or an ISO 8601 time); its place among the items
        retrieved at once, 1 the best; how often it was accessed, in a table of counts.
    file_order
        Take accesses in the order of the rows, whatever their times.
    max_rank
        Leave out accesses of a larger rank.
    """

    format: str | None = None
    id: str | None = None
    time: str | None = None
    rank: str | None = None
    count: str | None = None
    file_order: bool = False
    max_rank: int | None = None


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns that are read, by role; ``guessed`` are the roles that nobody named.

    ``notes`` say which reading was chosen of a table that allows two, and what changes it.
    ``other_reading`` is the option that does, where counts were guessed beside a time; else None.
    """

    id: str | None = None
    time: str | None = None
    rank: str | None = None
    count: str | None = None
    guessed: tuple[Role, ...] = ()
    notes: tuple[str, ...] = ()
    other_reading: str | None = None

    def present(self) -> dict[Role, str]:
        """Return the columns that are read by their role."""
        return {role: name for role in ROLES if (name := getattr(self, role)) is not None}


def choose(available: Sequence[str], request: Request, where: str) -> Columns:
    """Return the columns to read.

    A table is one of counts if a column of counts is asked for, or if one is there by name and no
    other option says that each row is an access. With a time beside it, it has counts per period:
    they are added up, the time is not used, and a note says so. A rank is guessed only where it is
    used: to order accesses of one time, or for ``max_rank``.

    Raises
    ------
    InputError
        If a column that was asked for is not there or stands twice, no column of ids or counts is
        found, or what was asked contradicts itself. The message lists the columns there are.
    """
    asked = {role: name for role in ROLES if (name := getattr(request, role)) is not None}
    shown = ", ".join(map(repr, available[:_SHOWN])) + (", ..." if len(available) > _SHOWN else "")
    for role, name in asked.items():
        if name not in available:
            raise InputError(
                f"{where}: no column {name!r} (--{role}); the columns are {shown or 'none'}"
            )
    if request.file_order and request.time is not None:
        raise InputError(f"{where}: --time {request.time} and --file-order exclude each other")
    if request.count is not None and (asked.keys() & {"time", "rank"} or request.max_rank):
        raise InputError(f"{where}: --count names a table of counts, which has no time or rank")

    free = {normal(name): name for name in reversed(available) if name not in set(asked.values())}

    def find(role: Role) -> str | None:
        return asked.get(role) or next((free[n] for n in GUESSES[role] if n in free), None)

    notes: list[str] = []
    other_reading = None
    time = None if request.file_order else find("time")
    count = find("count")
    of_accesses = next(
        (
            option
            for option, given in (
                ("--time", request.time),
                ("--rank", request.rank),
                ("--max-rank", request.max_rank),
                ("--file-order", request.file_order),
            )
            if given
        ),
        None,
    )
    # Counts and times without an item are a series of totals, which only its owner can name.
    of_counts = request.count is not None or not (of_accesses or (time and find("id") is None))
    if count is not None and of_counts:
        chosen = {"id": find("id"), "count": count}
        if request.count is None and time is not None:
            other_reading = f"--time {time}"
            notes.append(
                f"each row was taken as {count!r} accesses (guessed), added up per "
                f"{chosen['id']!r}; {time!r} is not used, so nothing is said of their order; with "
                f"{other_reading} each row is one access"
            )
    else:
        ranked = request.rank or time or request.max_rank
        chosen = {"id": find("id"), "time": time, "rank": find("rank") if ranked else None}
        if chosen["id"] is None:
            nor = "" if count is not None and of_accesses is None else ", nor like a count"
            raise InputError(
                f"{where}: no column looks like the id of an accessed item{nor}; the "
                f"columns are {shown or 'none'}; name one with --id or --count"
            )
        if count is not None and count not in chosen.values():
            notes.append(
                f"{count!r} is not read: with {of_accesses} each row is one access; with "
                f"--count {count} instead, a row is as many as it says"
            )
        if request.max_rank is not None and chosen["rank"] is None:
            raise InputError(
                f"{where}: --max-rank {request.max_rank} needs a column of ranks; the columns are "
                f"{shown}; name one with --rank"
            )
    for name in chosen.values():
        if name is not None and list(available).count(name) > 1:
            raise InputError(f"{where}: column {name!r} stands twice; rename one of them")
    guessed = tuple(role for role in ROLES if chosen.get(role) and role not in asked)
    return Columns(**chosen, guessed=guessed, notes=tuple(notes), other_reading=other_reading)


def normal(name: str) -> str:
    """Return a column's name as guesses compare it."""
    return name.strip().lower().replace("-", "_").replace(" ", "_")
