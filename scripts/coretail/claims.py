"""The claims ledger: what the paper says, what came out here, and a verdict by rule.

``workflow/resources/claims.yaml`` lists the paper's claims. Each names the quantity of a Parquet
file that answers it and how it is judged; :func:`answer` reads the quantity, :func:`judge` applies
the rule, :func:`ledger` does both for all claims and :func:`summary` counts the verdicts.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa

from coretail import artefacts
from coretail.config import read_yaml
from coretail.errors import InputError
from coretail.schemas import SCHEMAS
from coretail.stats import exact_interval

REPRODUCED = "reproduced"
SELECTED = "consistent, definition selected"
SAME_DIRECTION = "same direction"
NOT_REPRODUCED = "not reproduced"
CONTRADICTED = "contradicted"
NOT_TESTABLE = "not testable here"
VERDICTS = (REPRODUCED, SELECTED, SAME_DIRECTION, NOT_REPRODUCED, CONTRADICTED, NOT_TESTABLE)

# Level of the tables' intervals, and of the exact ones made here; a p below ALPHA is significant.
ALPHA = 0.05

# Per way to take a number from rows: the fields that it needs, and those that it may have.
_TAKES: dict[str, tuple[set[str], set[str]]] = {
    "row": ({"value"}, {"minus", "low", "high", "n", "p", "complement"}),
    "range": ({"value"}, {"complement"}),
    "count": ({"holds"}, set()),
    "rising": ({"value", "by", "along"}, set()),
    "points": ({"value", "label"}, {"low", "high", "n", "p"}),
    "spread": ({"value", "label"}, set()),
}

# Per kind of judgement: the ways to take its number, and the settings that it may have.
_KINDS: dict[str, tuple[set[str], set[str]]] = {
    "interval": ({"row", "range"}, {"reference", "rounding", "selected"}),
    "sign": ({"row"}, {"reference"}),
    "ordering": ({"points", "spread"}, set()),
    "proportion": ({"row", "count", "rising"}, {"reference"}),
    "range": ({"row", "range"}, {"reference", "rounding"}),
    "trend": ({"points"}, set()),
    "equivalence": ({"row", "range"}, {"margin"}),
    "proposition": ({"row", "count"}, set()),
}

_CONDITIONS: dict[str, Callable[[Any, Any], bool]] = {
    "is": lambda value, wanted: value == wanted,
    "above": lambda value, bound: value > bound,
    "below": lambda value, bound: value < bound,
    "at_least": lambda value, bound: value >= bound,
    "at_most": lambda value, bound: value <= bound,
    "contains": lambda value, part: part in value,
    "lacks": lambda value, parts: not any(part in value for part in _listed(parts)),
}


@dataclass(frozen=True, slots=True)
class Paper:
    """What the paper says of one quantity; a kind of claim uses some of the fields.

    Attributes
    ----------
    text
        For a reader.
    value
        A number, or the share of a proportion.
    low, high
        A range.
    count, n
        A count of n.
    direction
        ``above`` or ``below`` the reference; ``rising``, ``falling`` or ``none`` for a trend.
    order
        Groups of labels, highest first; the labels of one group are not compared.
    at
        The points of a trend, in order.
    """

    text: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    count: int | None = None
    n: int | None = None
    direction: str = ""
    order: tuple[tuple[str, ...], ...] = ()
    at: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Quantity:
    """Where our number stands.

    Attributes
    ----------
    file
        Parquet file, as the workflow names it.
    where
        Per column the value, or values, that a row must have.
    needs
        Per column a condition without which the rows test nothing.
    take
        ``row``: one row's columns; ``range``: least and largest of a column; ``count``: rows that
        satisfy ``holds``, of all; ``rising``: groups ``by`` whose column rises strictly ``along``
        another, of all; ``points``: a column per ``label``; ``spread``: largest minus least of a
        column per ``label``.
    value, minus, low, high, n, p
        Columns: the number, what is subtracted from it (an interval is then its difference's),
        the limits of its 95% interval, how many it rests on, its p.
    label, by, along
        Columns of ``points``, ``spread`` and ``rising``.
    holds
        Per column the condition that ``count`` counts. A missing value satisfies none.
    complement
        Whether 1 − value is meant.
    """

    file: str
    where: Mapping[str, Any]
    needs: Mapping[str, Mapping[str, Any]]
    take: str
    value: str = ""
    minus: str = ""
    low: str = ""
    high: str = ""
    n: str = ""
    p: str = ""
    label: str = ""
    by: str = ""
    along: str = ""
    holds: Mapping[str, Mapping[str, Any]] | None = None
    complement: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        named = (self.value, self.minus, self.low, self.high, self.n, self.p)
        others = (self.label, self.by, self.along)
        used = (*self.where, *self.needs, *named, *others, *(self.holds or ()))
        return tuple(dict.fromkeys(filter(None, used)))


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim of the paper.

    Attributes
    ----------
    id
        Unique; its group is the part before the first dot.
    place
        Section, table or figure of the paper.
    claim
        The claim in one sentence.
    kind
        How it is judged: see :func:`judge`.
    paper
        What the paper says.
    quantity
        What answers it.
    from_model
        Whether a language model's runs produce our number.
    paper_model
        The paper's language model; ``None`` if it names none.
    reference
        The value that means no effect; ``None`` where there is none.
    rounding
        Half a unit of the paper's last printed place.
    margin
        Largest difference that counts as none.
    selected
        Whether our definition was chosen with the paper's value in view.
    """

    id: str
    place: str
    claim: str
    kind: str
    paper: Paper
    quantity: Quantity
    from_model: bool
    paper_model: str | None = None
    reference: float | None = None
    rounding: float = 0.0
    margin: float | None = None
    selected: bool = False

    @property
    def group(self) -> str:
        """The part of the paper that it belongs to."""
        return self.id.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Point:
    """One of several values: its label, value and 95% interval."""

    label: Any
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came out here.

    Attributes
    ----------
    value
        The number; ``None`` if there is none (several points, or nothing to test with).
    low, high
        Its 95% interval, or a range; ``None`` where undefined.
    n
        What it rests on; the total of a count.
    p
        Its p, where the quantity names one.
    points
        The values of an ordering or a trend.
    model
        The language model that produced it; ``None`` if none did.
    reason
        Why something is ``None``; empty if nothing is.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    p: float | None = None
    points: tuple[Point, ...] = ()
    model: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict (one of :data:`VERDICTS`), as it is worded, and why."""

    name: str
    text: str
    why: str


def read_claims(path: Path, paper_values: Mapping[str, Any]) -> list[Claim]:
    """Return the claims of a file.

    The file holds ``paper_model`` and ``claims``, a list. A claim with ``each`` stands for several:
    one per entry (a list of mappings) or per combination (a mapping of lists), which fill the
    ``{placeholders}`` of its texts. A mapping ``{values: [key, ...]}`` stands for an entry of the
    paper's values; a step that is a mapping selects the one entry of a list that agrees with it.

    Parameters
    ----------
    path
        The YAML file.
    paper_values
        The contents of ``workflow/resources/paper_values.yaml``.

    Raises
    ------
    InputError
        If a key is unknown or missing, an id stands twice, a reference leads nowhere, or a claim
        cannot be judged as it says. The message names file, claim, key and remedy.
    """
    content = read_yaml(path)
    if not isinstance(content, Mapping) or set(content) != {"paper_model", "claims"}:
        raise InputError(f"{path}: give paper_model: and claims:, and nothing else")
    claims: list[Claim] = []
    for raw in content["claims"]:
        for entry in _expanded(raw, path):
            place = f"{path}: claim {entry.get('id', '(without id)')!r}"
            claims.append(_claim(entry, paper_values, content["paper_model"], place))
    twice = [name for name, count in Counter(claim.id for claim in claims).items() if count > 1]
    if twice:
        raise InputError(f"{path}: {twice[0]!r} is the id of two claims; give each its own")
    return claims


def files(claims: Iterable[Claim]) -> list[str]:
    """Return the files that answer the claims, each once, in their order."""
    return list(dict.fromkeys(claim.quantity.file for claim in claims))


def read_tables(paths: Iterable[Path]) -> dict[str, pa.Table]:
    """Return the tables by path, without those that do not exist.

    Raises
    ------
    InputError
        If a file is damaged, or is not the artefact of its name.
    """
    tables = {}
    for path in paths:
        if path.exists():
            if path.stem not in SCHEMAS:
                raise InputError(f"{path}: no artefact has this name; see coretail.schemas")
            tables[path.as_posix()] = artefacts.read(path, path.stem)
    return tables


def models(claim: Claim, tables: Mapping[str, pa.Table]) -> list[str | None]:
    """Return the language models that produced a claim's rows; [None] if none did.

    Raises
    ------
    InputError
        If the table lacks a column.
    """
    if not claim.from_model or claim.quantity.file not in tables:
        return [None]
    return list(dict.fromkeys(row["model"] for row in _rows(claim, tables))) or [None]


def answer(claim: Claim, tables: Mapping[str, pa.Table], model: str | None = None) -> Answer:
    """Return what came out here for one claim.

    Parameters
    ----------
    claim
        The claim.
    tables
        The tables that there are, by path (:func:`read_tables`).
    model
        The language model whose rows count; may be left out where there is only one.

    Returns
    -------
    Answer
        Without a value, and with the reason, if the table or the rows do not exist, or do not
        satisfy what the claim needs.

    Raises
    ------
    InputError
        If the table lacks a column, has several rows where the claim means one, or several models
        and none is named.
    """
    quantity = claim.quantity
    if quantity.file not in tables:
        return Answer(model=model, reason=f"{quantity.file} is not part of this run")
    rows = _rows(claim, tables)
    if claim.from_model:
        if model is None and len(found := {row["model"] for row in rows}) > 1:
            raise InputError(f"claim {claim.id!r}: {quantity.file} has {sorted(found)}; name one")
        rows = [row for row in rows if model in (None, row["model"])]
    if not rows:
        wanted = ", ".join(f"{key} = {value}" for key, value in quantity.where.items())
        return Answer(model=model, reason=f"no row of {quantity.file} has {wanted}")
    if claim.from_model:
        model = rows[0]["model"]
    for row in rows:
        for column, condition in quantity.needs.items():
            if not _holds(row, {column: condition}):
                why = f"{column}: {row[column]}" if row[column] is not None else row.get("reason")
                return Answer(model=model, reason=why or f"{column} is undefined")
    return replace(_TAKERS[quantity.take](claim, rows), model=model)


def judge(claim: Claim, answer: Answer) -> Verdict:
    """Return the verdict on one claim.

    Where the quantity has a reference (no effect), the rule for its interval is one: apart from the
    reference on the paper's side, it is *reproduced* if it also agrees with the paper, else *same
    direction*; apart on the other side, *contradicted*; not apart, *same direction* if the estimate
    lies on the paper's side, else *not reproduced*. Without a reference it is *reproduced* or *not
    reproduced*. To agree means, by kind:

    ``interval``
        The interval holds the paper's value, up to its rounding. Values that are equal in all of
        several runs have no interval: the estimate itself is then compared.
    ``sign``
        Nothing more: the claim is the direction. Where a two-sided p is named, it must be below
        0.05, too, or decides alone where there is no interval.
    ``proportion``
        The same count of the same n, which is *reproduced* at once, or the exact binomial
        interval holds the paper's share.
    ``range``
        At least half of our range lies within the paper's.

    The other kinds:

    ``ordering``
        *reproduced* if every pair stands in the paper's order with separate intervals, *same
        direction* if every pair's values do, *contradicted* if a pair is reversed with separate
        intervals.
    ``trend``
        Rising or falling: *reproduced* if the values are strictly monotone and the one-sided p
        (Page's L) is below 0.05, where one is named; *same direction* if one of the two holds;
        *contradicted* if they are strictly monotone the other way. None: *reproduced* if one value
        lies below an earlier one and one above, each with separate intervals; *contradicted* if
        they are strictly monotone; else *same direction*.
    ``equivalence``
        *reproduced* if the interval lies within the margin around the paper's value, *same
        direction* if the estimate does, *contradicted* if the interval lies outside.
    ``proposition``
        *reproduced* if it holds in all cases, else *contradicted*.

    A quantity whose definition was selected with the paper in view is at most *consistent,
    definition selected*. For another model than the paper's the worst is *not reproduced with*
    that model.
    """
    if answer.value is None and not answer.points:
        return Verdict(NOT_TESTABLE, NOT_TESTABLE, answer.reason or "undefined here")
    name, why = _RULES[claim.kind](claim, answer)
    if name == REPRODUCED and claim.selected:
        name = SELECTED
    text = name
    if (
        claim.from_model
        and name in (NOT_REPRODUCED, CONTRADICTED)
        and (claim.paper_model is None or answer.model != claim.paper_model)
    ):
        name, text = NOT_REPRODUCED, f"{NOT_REPRODUCED} with {answer.model or 'another model'}"
    return Verdict(name, text, why)


def ledger(claims: Iterable[Claim], tables: Mapping[str, pa.Table]) -> list[dict[str, Any]]:
    """Return one row per claim, and per language model where several answer it.

    Raises
    ------
    InputError
        As :func:`answer`.
    """
    rows = []
    for claim in claims:
        for model in models(claim, tables):
            found = answer(claim, tables, model)
            verdict = judge(claim, found)
            rows.append(
                {
                    "id": claim.id,
                    "group": claim.group,
                    "place": claim.place,
                    "claim": claim.claim,
                    "kind": claim.kind,
                    "paper": claim.paper.text,
                    "ours": show(claim, found),
                    "value": found.value,
                    "low": found.low,
                    "high": found.high,
                    "n": found.n,
                    "model": found.model,
                    "verdict": verdict.name,
                    "verdict_text": verdict.text,
                    "why": verdict.why,
                    "file": claim.quantity.file,
                }
            )
    return rows


def summary(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the ledger in one line: how many claims, and how often each verdict."""
    counts = Counter(row["verdict"] for row in rows)
    n_claims = len({row["id"] for row in rows})
    verdicts = ", ".join(f"{counts[name]} {name}" for name in VERDICTS if counts[name])
    return f"{n_claims} claims, {len(rows)} answers: {verdicts or 'none'}."


def show(claim: Claim, answer: Answer) -> str:
    """Return an answer for a reader; empty if there is none."""
    if answer.points:
        return ", ".join(
            f"{point.label}: {_interval_text(point.value, point.low, point.high)}"
            for point in answer.points
        )
    if answer.value is None:
        return ""
    if claim.kind in ("proportion", "proposition"):
        return f"{_number(answer.value)} of {answer.n}"
    shown = _interval_text(answer.value, answer.low, answer.high)
    if answer.p is not None:
        shown += f", p = {answer.p:.3g}"
    return shown if answer.n is None else f"{shown}, n = {answer.n}"


# Reading the file.


def _expanded(raw: Mapping[str, Any], path: Path) -> Iterator[dict[str, Any]]:
    entry = dict(raw)
    each = entry.pop("each", [{}])
    if isinstance(each, Mapping):
        each = [
            dict(zip(each, values, strict=True)) for values in itertools.product(*each.values())
        ]
    for fillings in each:
        try:
            yield _filled(entry, fillings)
        except (IndexError, KeyError, ValueError) as error:
            raise InputError(
                f"{path}: claim {entry.get('id')!r}: {{{error.args[0]}}} is none of the keys of "
                f"each, {sorted(fillings)}"
            ) from None


def _filled(value: Any, fillings: Mapping[str, Any]) -> Any:
    """Fill placeholders; a text that is one placeholder becomes its value, of whatever type."""
    if isinstance(value, Mapping):
        return {key: _filled(item, fillings) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, fillings) for item in value]
    if isinstance(value, str):
        name = value[1:-1]
        whole = value == f"{{{name}}}" and name in fillings
        return fillings[name] if whole else value.format_map(fillings)
    return value


def _claim(
    entry: Mapping[str, Any],
    paper_values: Mapping[str, Any],
    paper_model: str | None,
    place: str,
) -> Claim:
    always = {"id", "place", "claim", "kind", "paper", "quantity", "from_model"}
    kind = entry.get("kind")
    if kind not in _KINDS:
        raise InputError(f"{place}: kind: {kind!r} is none of {', '.join(_KINDS)}")
    takes, settings = _KINDS[kind]
    _check_keys(entry, always, settings | {"quote"}, place)
    if not isinstance(entry["from_model"], bool):
        raise InputError(f"{place}: from_model: {entry['from_model']!r}; give true or false")
    quantity = _quantity(entry["quantity"], f"{place}: quantity")
    if quantity.take not in takes:
        raise InputError(
            f"{place}: quantity.take: {quantity.take!r} gives no {kind}; use one of "
            f"{', '.join(sorted(takes))}"
        )
    needed = {"n"} if kind in ("proportion", "proposition") and quantity.take == "row" else set()
    if kind in ("interval", "range") and quantity.take == "row":
        needed = {"low", "high"}
    for key in sorted(needed):
        if not getattr(quantity, key):
            raise InputError(f"{place}: quantity.{key}: missing; a {kind} needs this column")
    reference = _setting(entry, "reference", 0.0 if kind == "sign" else None, place)
    margin = _setting(entry, "margin", None, place)
    if kind == "equivalence" and (margin is None or margin <= 0):
        raise InputError(f"{place}: margin: {margin}; give a number above 0")
    said = _resolved(entry["paper"], paper_values, f"{place}: paper")
    paper = _paper(kind, said, reference, f"{place}: paper")
    if "quote" in entry:
        quote = _resolved(entry["quote"], paper_values, f"{place}: quote")
        paper = replace(paper, text=f"{quote} ({paper.text})")
    return Claim(
        id=str(entry["id"]),
        place=entry["place"],
        claim=entry["claim"],
        kind=kind,
        paper=paper,
        quantity=quantity,
        from_model=entry["from_model"],
        paper_model=paper_model,
        reference=reference,
        rounding=_setting(entry, "rounding", 0.0, place) or 0.0,
        margin=margin,
        selected=entry.get("selected", False),
    )


def _setting(entry: Mapping[str, Any], key: str, default: float | None, place: str) -> float | None:
    if key not in entry:
        return default
    try:
        return _finite(entry[key])
    except (TypeError, ValueError):
        raise InputError(f"{place}: {key}: {entry[key]!r}; give a number") from None


def _quantity(raw: Mapping[str, Any], place: str) -> Quantity:
    take = raw.get("take", "row")
    if take not in _TAKES:
        raise InputError(f"{place}.take: {take!r} is none of {', '.join(_TAKES)}")
    required, optional = _TAKES[take]
    _check_keys(raw, {"file"} | required, {"where", "needs", "take"} | optional, place)
    for key in ("needs", "holds"):
        for column, condition in raw.get(key, {}).items():
            if unknown := sorted(set(condition) - set(_CONDITIONS)):
                raise InputError(
                    f"{place}.{key}.{column}: {unknown[0]!r} is none of {', '.join(_CONDITIONS)}"
                )
    return Quantity(**{"where": {}, "needs": {}, **raw, "take": take})


def _paper(kind: str, said: Any, reference: float | None, place: str) -> Paper:
    """Return what the paper says, in the form that the kind is judged by."""
    try:
        paper = _PAPER_FORMS[kind](said)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{place}: {said!r} is no {kind}; {_PAPER_HINTS[kind]}") from None
    if kind == "sign" and paper.direction and reference is not None:
        return replace(paper, text=f"{paper.direction} {_number(reference)}")
    if reference is None:
        return paper
    centre = paper.value
    if paper.low is not None and paper.high is not None:
        centre = (paper.low + paper.high) / 2
    if centre is None or centre == reference:
        raise InputError(f"{place}: {said!r} lies on neither side of the reference {reference}")
    return replace(paper, direction="above" if centre > reference else "below")


def _number_form(said: Any) -> Paper:
    return Paper(_number(_finite(said)), value=_finite(said))


def _sign_form(said: Any) -> Paper:
    if said in ("above", "below"):
        return Paper(said, direction=said)
    return _number_form(said)


def _proportion_form(said: Any) -> Paper:
    if isinstance(said, Mapping):
        count, n = int(said["count"]), int(said["n"])
        if set(said) != {"count", "n"} or not 0 <= count <= n or n == 0:
            raise ValueError
        return Paper(f"{count} of {n}", value=count / n, count=count, n=n)
    if not 0 <= _finite(said) <= 1:
        raise ValueError
    return Paper({0: "none", 1: "all"}.get(said, _number(said)), value=float(said))


def _range_form(said: Any) -> Paper:
    low, high = _finite(said["low"]), _finite(said["high"])
    if low > high:
        raise ValueError
    return Paper(f"{_number(low)} to {_number(high)}", low=low, high=high)


def _ordering_form(said: Any) -> Paper:
    order = tuple(tuple(_listed(group)) for group in said)
    labels = [label for group in order for label in group]
    if isinstance(said, str) or len(order) < 2 or len(set(labels)) < len(labels):
        raise ValueError
    return Paper(" > ".join(" ~ ".join(map(str, group)) for group in order), order=order)


def _trend_form(said: Any) -> Paper:
    direction, at = said["direction"], tuple(map(_finite, said["at"]))
    if direction not in ("rising", "falling", "none") or len(at) < 3 or sorted(at) != list(at):
        raise ValueError
    shown = "not monotone" if direction == "none" else direction
    return Paper(f"{shown} over {len(at)} values", direction=direction, at=at)


def _proposition_form(said: Any) -> Paper:
    if said != "holds":
        raise ValueError
    return Paper("holds")


_PAPER_FORMS: dict[str, Callable[[Any], Paper]] = {
    "interval": _number_form,
    "sign": _sign_form,
    "ordering": _ordering_form,
    "proportion": _proportion_form,
    "range": _range_form,
    "trend": _trend_form,
    "equivalence": _number_form,
    "proposition": _proposition_form,
}
_PAPER_HINTS = {
    "interval": "give a number",
    "sign": "give a number, above or below",
    "ordering": "give a list of labels or groups of labels, highest first",
    "proportion": "give {count: 5, n: 6} or a share",
    "range": "give {low: ..., high: ...}",
    "trend": "give {direction: rising, falling or none, at: [ascending points]}",
    "equivalence": "give a number",
    "proposition": "write holds",
}


def _resolved(said: Any, paper_values: Mapping[str, Any], place: str) -> Any:
    if not isinstance(said, Mapping) or set(said) != {"values"}:
        return said
    found: Any = paper_values
    for step in said["values"]:
        if isinstance(step, Mapping):
            entries = found if isinstance(found, list) else []
            agreeing = [
                entry
                for entry in entries
                if all(entry.get(key) == value for key, value in step.items())
            ]
            if len(agreeing) != 1:
                raise InputError(
                    f"{place}: {len(agreeing)} of the paper's values agree with {step} in "
                    f"{said['values']}; name one"
                )
            found = agreeing[0]
        elif isinstance(found, Mapping) and step in found:
            found = found[step]
        else:
            raise InputError(
                f"{place}: the paper's values have no {step!r} of {said['values']}; see "
                "paper_values.yaml"
            )
    return found


def _check_keys(raw: Mapping[str, Any], required: set[str], optional: set[str], place: str) -> None:
    if unknown := sorted(set(raw) - required - optional):
        raise InputError(
            f"{place}: {unknown[0]}: unknown key; known here are "
            f"{', '.join(sorted(required | optional))}"
        )
    if missing := sorted(required - set(raw)):
        raise InputError(f"{place}: {missing[0]}: missing")


# Taking an answer from rows.


def _rows(claim: Claim, tables: Mapping[str, pa.Table]) -> list[dict[str, Any]]:
    quantity, table = claim.quantity, tables[claim.quantity.file]
    needed = (*quantity.columns, *(["model"] if claim.from_model else []))
    if missing := [column for column in needed if column not in table.column_names]:
        raise InputError(
            f"claim {claim.id!r}: {quantity.file} has no column {missing[0]!r}; it has "
            f"{', '.join(table.column_names)}"
        )
    return [
        row
        for row in table.to_pylist()
        if all(row[column] in _listed(wanted) for column, wanted in quantity.where.items())
    ]


def _holds(row: Mapping[str, Any], conditions: Mapping[str, Mapping[str, Any]]) -> bool:
    return all(
        row[column] is not None and _CONDITIONS[name](row[column], wanted)
        for column, condition in conditions.items()
        for name, wanted in condition.items()
    )


def _take_row(claim: Claim, rows: Sequence[Mapping[str, Any]]) -> Answer:
    quantity = claim.quantity
    if len(rows) > 1:
        raise InputError(
            f"claim {claim.id!r}: {len(rows)} rows of {quantity.file} have "
            f"{dict(quantity.where)}; name more columns"
        )
    (row,) = rows
    value, low, high, n, p = (
        row[column] if column else None
        for column in (quantity.value, quantity.low, quantity.high, quantity.n, quantity.p)
    )
    reason = row.get("reason") or ""
    if quantity.minus:
        value = (
            None if value is None or row[quantity.minus] is None else value - row[quantity.minus]
        )
    if value is None:
        return Answer(reason=reason or f"{quantity.value} is undefined")
    if quantity.p and p is None:
        return Answer(reason=reason or f"{quantity.p} is undefined")
    if quantity.complement:
        value, low, high = (None if x is None else 1 - x for x in (value, high, low))
    return Answer(value, low, high, n, p, reason=reason)


def _take_range(claim: Claim, rows: Sequence[Mapping[str, Any]]) -> Answer:
    column = claim.quantity.value
    values = [row[column] for row in rows if row[column] is not None]
    if not values:
        return Answer(reason=f"{column} is undefined in every row")
    if claim.quantity.complement:
        values = [1 - value for value in values]
    return Answer(median(values), min(values), max(values), len(values))


def _take_count(claim: Claim, rows: Sequence[Mapping[str, Any]]) -> Answer:
    return Answer(sum(_holds(row, claim.quantity.holds or {}) for row in rows), n=len(rows))


def _take_rising(claim: Claim, rows: Sequence[Mapping[str, Any]]) -> Answer:
    quantity = claim.quantity
    groups: dict[Any, list[tuple[Any, Any]]] = {}
    for row in rows:
        groups.setdefault(row[quantity.by], []).append((row[quantity.along], row[quantity.value]))
    series = [[value for _, value in sorted(points)] for points in groups.values()]
    if any(len(values) < 2 or None in values for values in series):
        return Answer(reason=f"{quantity.value} is not defined at two {quantity.along} or more")
    return Answer(sum(_rises(values) for values in series), n=len(series))


def _take_points(claim: Claim, rows: Sequence[Mapping[str, Any]]) -> Answer:
    quantity = claim.quantity
    found: dict[Any, Mapping[str, Any]] = {}
    for row in rows:
        if row[quantity.label] in found:
            raise InputError(
                f"claim {claim.id!r}: several rows of {quantity.file} have {quantity.label} = "
                f"{row[quantity.label]}; name more columns"
            )
        found[row[quantity.label]] = row
    labels: tuple[Any, ...] = claim.paper.at or tuple(itertools.chain(*claim.paper.order))
    for label in labels:
        if label not in found or found[label][quantity.value] is None:
            return Answer(reason=f"no {quantity.value} where {quantity.label} = {label}")
    rows = [found[label] for label in labels]
    points = tuple(
        Point(
            label,
            row[quantity.value],
            *(row[column] if column else None for column in (quantity.low, quantity.high)),
        )
        for label, row in zip(labels, rows, strict=True)
    )
    if not quantity.p:
        return Answer(points=points)
    if any(row[quantity.p] is None for row in rows):
        return Answer(reason=f"{quantity.p} is undefined")
    n = min(row[quantity.n] for row in rows) if quantity.n else None
    return Answer(p=max(row[quantity.p] for row in rows), n=n, points=points)


def _take_spread(claim: Claim, rows: Sequence[Mapping[str, Any]]) -> Answer:
    quantity = claim.quantity
    values: dict[Any, list[float]] = {}
    for row in rows:
        if row[quantity.value] is not None:
            values.setdefault(row[quantity.label], []).append(row[quantity.value])
    labels = list(itertools.chain(*claim.paper.order))
    for label in labels:
        if len(values.get(label, [])) < 2:
            return Answer(
                reason=f"fewer than two {quantity.value} where {quantity.label} = {label}"
            )
    return Answer(
        points=tuple(Point(label, max(values[label]) - min(values[label])) for label in labels)
    )


_TAKERS: dict[str, Callable[[Claim, Sequence[Mapping[str, Any]]], Answer]] = {
    "row": _take_row,
    "range": _take_range,
    "count": _take_count,
    "rising": _take_rising,
    "points": _take_points,
    "spread": _take_spread,
}


# Judging.


def _judge_interval(claim: Claim, answer: Answer) -> tuple[str, str]:
    value, low, high = _values(answer)
    if (low is None or high is None) and (answer.n or 0) > 1:
        low = high = value
    if low is None or high is None:
        return NOT_TESTABLE, answer.reason or "no interval"
    assert claim.paper.value is not None
    agrees = low - claim.rounding <= claim.paper.value <= high + claim.rounding
    what = "holds" if agrees else "does not hold"
    return _sided(claim, agrees, value, low, high, f"the interval {what} the paper's value")


def _judge_sign(claim: Claim, answer: Answer) -> tuple[str, str]:
    value, low, high = _values(answer)
    if answer.p is not None and claim.reference is not None:
        if answer.p >= ALPHA:
            low = high = claim.reference
        elif low is None:
            low = high = value
    return _sided(claim, True, value, low, high, "")


def _judge_proportion(claim: Claim, answer: Answer) -> tuple[str, str]:
    count, _, _ = _values(answer)
    if not answer.n:
        return NOT_TESTABLE, answer.reason or "no case"
    if (count, answer.n) == (claim.paper.count, claim.paper.n):
        return REPRODUCED, "the same count"
    interval = exact_interval(round(count), answer.n)
    low, high = interval.low, interval.high
    assert claim.paper.value is not None
    assert low is not None
    assert high is not None
    agrees = low <= claim.paper.value <= high
    what = "holds" if agrees else "does not hold"
    why = f"the exact interval [{_number(low)}, {_number(high)}] {what} the paper's share"
    return _sided(claim, agrees, count / answer.n, low, high, why)


def _judge_range(claim: Claim, answer: Answer) -> tuple[str, str]:
    value, low, high = _values(answer)
    if low is None or high is None:
        return NOT_TESTABLE, answer.reason or "no range"
    assert claim.paper.low is not None
    assert claim.paper.high is not None
    bottom, top = claim.paper.low - claim.rounding, claim.paper.high + claim.rounding
    if high > low:
        share = max(0.0, min(high, top) - max(low, bottom)) / (high - low)
    else:
        share = float(bottom <= low <= top)
    return _sided(
        claim, share >= 0.5, value, low, high, f"{share:.0%} of our range lies in the paper's"
    )


def _sided(
    claim: Claim, agrees: bool, value: float, low: float | None, high: float | None, why: str
) -> tuple[str, str]:
    """Return the verdict of an interval on its reference; see :func:`judge`."""
    if claim.reference is None:
        return (REPRODUCED if agrees else NOT_REPRODUCED), why
    # Seen from the paper's side, what counts is above 0.
    sign = 1 if claim.paper.direction == "above" else -1
    distance = sign * (value - claim.reference)
    limits = [sign * (x - claim.reference) for x in (low, high) if x is not None]
    whole = len(limits) == 2
    if whole and min(limits) > 0:
        found, side = (REPRODUCED if agrees else SAME_DIRECTION), "apart from it"
    elif whole and max(limits) < 0:
        found, side = CONTRADICTED, "on the other side of it"
    elif distance > 0:
        found, side = SAME_DIRECTION, "on the paper's side of it, but not apart"
    else:
        found, side = NOT_REPRODUCED, "not on the paper's side of it"
    about = f"reference {_number(claim.reference)}: {side}"
    return found, f"{why}; {about}" if why else about


def _judge_ordering(claim: Claim, answer: Answer) -> tuple[str, str]:
    at = {point.label: point for point in answer.points}
    pairs = [
        (at[upper], at[lower])
        for position, group in enumerate(claim.paper.order)
        for below in claim.paper.order[position + 1 :]
        for upper in group
        for lower in below
    ]
    if reversed_pairs := [(a, b) for a, b in pairs if _separate(b, a)]:
        a, b = reversed_pairs[0]
        return CONTRADICTED, f"{b.label} is above {a.label}, their intervals apart"
    if wrong := [(a, b) for a, b in pairs if a.value <= b.value]:
        a, b = wrong[0]
        return NOT_REPRODUCED, f"{a.label} is not above {b.label}"
    if all(_separate(a, b) for a, b in pairs):
        return REPRODUCED, "every pair in the paper's order, all intervals apart"
    return SAME_DIRECTION, "every pair in the paper's order, not all intervals apart"


def _separate(upper: Point, lower: Point) -> bool:
    return upper.low is not None and lower.high is not None and upper.low > lower.high


def _judge_trend(claim: Claim, answer: Answer) -> tuple[str, str]:
    values = [point.value for point in answer.points]
    rises, falls = _rises(values), _rises(values[::-1])
    if claim.paper.direction == "none":
        if rises or falls:
            return CONTRADICTED, f"strictly {'rising' if rises else 'falling'}"
        pairs = list(itertools.combinations(answer.points, 2))
        up = any(_separate(later, earlier) for earlier, later in pairs)
        down = any(_separate(earlier, later) for earlier, later in pairs)
        if up and down:
            return REPRODUCED, "it rises and falls, intervals apart"
        return SAME_DIRECTION, "not monotone, but no rise and fall with intervals apart"
    wanted, other = (rises, falls) if claim.paper.direction == "rising" else (falls, rises)
    if other:
        return CONTRADICTED, "strictly monotone the other way"
    significant = answer.p is None or answer.p < ALPHA
    why = f"{'' if wanted else 'not '}strictly {claim.paper.direction}"
    if answer.p is not None:
        why += f"; p = {answer.p:.3g}"
    if wanted and significant:
        return REPRODUCED, why
    if wanted or (answer.p is not None and significant):
        return SAME_DIRECTION, why
    return NOT_REPRODUCED, why


def _judge_equivalence(claim: Claim, answer: Answer) -> tuple[str, str]:
    value, low, high = _values(answer)
    assert claim.margin is not None
    assert claim.paper.value is not None
    bottom, top = claim.paper.value - claim.margin, claim.paper.value + claim.margin
    band = f"[{_number(bottom)}, {_number(top)}]"
    if low is not None and high is not None:
        if bottom < low and high < top:
            return REPRODUCED, f"the interval lies within {band}"
        if high < bottom or top < low:
            return CONTRADICTED, f"the interval lies outside {band}"
    if bottom < value < top:
        return SAME_DIRECTION, f"the estimate lies within {band}, not the whole interval"
    return NOT_REPRODUCED, f"the estimate lies outside {band}"


def _judge_proposition(claim: Claim, answer: Answer) -> tuple[str, str]:
    holding, _, _ = _values(answer)
    if not answer.n:
        return NOT_TESTABLE, answer.reason or "no case"
    if holding == answer.n:
        return REPRODUCED, "it holds in every case"
    return CONTRADICTED, f"it fails in {answer.n - round(holding)} cases"


_RULES: dict[str, Callable[[Claim, Answer], tuple[str, str]]] = {
    "interval": _judge_interval,
    "sign": _judge_sign,
    "ordering": _judge_ordering,
    "proportion": _judge_proportion,
    "range": _judge_range,
    "trend": _judge_trend,
    "equivalence": _judge_equivalence,
    "proposition": _judge_proposition,
}


def _values(answer: Answer) -> tuple[float, float | None, float | None]:
    assert answer.value is not None
    return answer.value, answer.low, answer.high


def _rises(values: Sequence[float]) -> bool:
    return all(a < b for a, b in itertools.pairwise(values))


def _finite(value: Any) -> float:
    if isinstance(value, bool) or not math.isfinite(value):
        raise ValueError
    return float(value)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _number(value: float) -> str:
    return f"{value:.5g}".replace("-", "−")


def _interval_text(value: float, low: float | None, high: float | None) -> str:
    limits = "" if low is None or high is None else f" [{_number(low)}, {_number(high)}]"
    return _number(value) + limits
