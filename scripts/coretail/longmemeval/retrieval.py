"""Rank the sessions of a haystack for a question: BM25, and graph memory.

**Terms.** A text's words are its runs of letters, digits and inner apostrophes, in lower case,
each reduced by Harman's S-stemmer (1991) so that singular and plural agree; function words
(:data:`FUNCTION_WORDS`) are left out.

**Entities** of a text, found by rules without a model:

* *names*: maximal runs of capitalised words that are no function words ("Lake Michigan"). The
  word that begins a sentence belongs to a name only if the haystack never writes it in lower
  case. A name of one word is the term of that word;
* *numbers with nouns*: a number and the word behind it ("38 coins"), or an amount of money;
* *content words*: terms of three letters or more that occur at least :data:`FREQUENCY_FLOOR`
  times in the haystack, are a name of one word, or occur in the question.

**Graph memory** is the bipartite graph of sessions and entities; an edge weighs 1 + ln(times that
the session names the entity). Personalised PageRank (damping :data:`DAMPING`) restarts at the
question's entities, each with weight 1 / (sessions that name it), the node specificity of HippoRAG
(Gutiérrez et al., 2024). Its fixed point is solved for directly, so that no tolerance enters. Its
scores are fused with BM25's by the mean of both, each divided by its largest (a convex
combination; Bruch et al., 2023).

All rankings are by falling score, rounded to 12 significant digits, ties in the haystack's order.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coretail.longmemeval.records import Session

FREQUENCY_FLOOR = 2
DAMPING = 0.85
K1, B = 1.5, 0.75

HEAD_SHARE = 0.5
"""A session is in a ranking's head if it scores at least this share of the best."""
FULL_HEAD = 5
"""So many sessions in the head make the whole of the part ``spread``."""
RELAXATION_PARTS: Mapping[str, float] = {"counting": 0.5, "entities": 0.25, "spread": 0.25}
"""What each part of :func:`relaxation` adds at most; in all 1."""

FUNCTION_WORDS = frozenset({
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are",
    "aren't", "as", "at", "be", "because", "been", "before", "being", "both", "but", "by",
    "can", "can't", "could", "couldn't", "did", "didn't", "do", "does", "doesn't", "doing",
    "don't", "down", "during", "each", "few", "for", "from", "further", "had", "hadn't",
    "has", "hasn't", "have", "haven't", "having", "he", "her", "here", "hers", "herself",
    "him", "himself", "his", "how", "i", "i'd", "i'll", "i'm", "i've", "if", "in", "into",
    "is", "isn't", "it", "it's", "its", "itself", "just", "let", "let's", "many", "me",
    "more", "most", "much", "my", "myself", "no", "nor", "not", "now", "of", "off", "on",
    "once", "only", "or", "other", "our", "ours", "out", "over", "own", "same", "she",
    "should", "so", "some", "such", "than", "that", "that's", "the", "their", "theirs",
    "them", "themselves", "then", "there", "there's", "these", "they", "they're", "this",
    "those", "through", "to", "too", "under", "until", "up", "us", "very", "was", "wasn't",
    "we", "we're", "were", "weren't", "what", "what's", "when", "where", "which", "while",
    "who", "whom", "whose", "why", "will", "with", "won't", "would", "wouldn't", "yes",
    "you", "you'd", "you'll", "you're", "you've", "your", "yours", "yourself",
})  # fmt: skip
"""Closed-class words of English and their contractions, which carry no topic."""

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_NAME = re.compile(r"[A-Z]\w*(?:['’]\w+)*(?:[ -][A-Z]\w*(?:['’]\w+)*)*")
# A number and the word behind it. What stands before is looked at afterwards: a pattern that begins
# with a digit is several times faster to search for.
_QUANTITY = re.compile(r"([0-9][0-9,]*(?:\.[0-9]+)?)(?:[ -]([A-Za-z]{3,}))?")
_MONEY = frozenset("$€£")
_SENTENCE_ENDS = frozenset(".!?:\n")
_BETWEEN = " \t\"'“”‘’(*#-"

_TIMES_OF_HABIT = (
    r"(?:other|time|moment|day|night|morning|afternoon|evening|week|weekday|weekend|month|year"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
)
_COUNTING = re.compile(
    r"\bhow (?:many|much|often|long)\b|\btotal\b|\bin all\b|\baltogether\b|\boverall\b"
    r"|\bcombined\b|\bsum\b|\baverage\b|\bpercentage\b|\b(?:what|which) different\b"
    # No telephone number of a person, no shopping list, no habit, no parcel.
    r"|(?<!phone )\bnumber of (?!(?:a|an|the|my|our|his|her|their|this|that)\b)"
    r"|(?:(?:^|[.!?,;:]\s*|\bplease )|\b(?:can|could|would|will) you )(?:please )?list\b"
    r"|\ball (?:of|the|my) (?!(?:time|way|best|same|while|sudden|a sudden)\b)"
    rf"|\b(?:each|every)\b(?! {_TIMES_OF_HABIT}\b)"
    r"|\b(?:in which|what|chronological) order\b|\bin order (?:of|from)\b"
    r"|\bthe (?:\w+ )?order (?:of|in which|they|these|those)\b"
    r"|\bfirst to last\b|\bearliest to latest\b"
    r"|(?<!\bat )\b(?:most|least)\b(?! (?:recent|recently|likely|of the time)\b)",
    re.IGNORECASE,
)
_COORDINATION = re.compile(
    r"\w (?:and|or|versus|compared (?:to|with)) \w|\bbetween\b", re.IGNORECASE
)
QUOTED = re.compile(r"(?<!\w)['\"“‘]((?:[^'\"“”‘’]|(?<=\w)['’](?=\w)){2,})['\"”’](?!\w)")
"""What stands in quotation marks, such as a title."""


class Ranked(NamedTuple):
    """A session in a ranking.

    Attributes
    ----------
    session_id
        Its id.
    position
        Its position in the haystack, from 0.
    score
        At least 0: BM25's sum, or graph memory's fused score, at most 1.
    """

    session_id: str
    position: int
    score: float


class RankedTurn(NamedTuple):
    """A turn's position within its session, from 0, and its BM25 score."""

    position: int
    score: float


@dataclass(frozen=True, slots=True)
class Relaxation:
    """How far a query asks to relax compression.

    Attributes
    ----------
    value
        From 0 (keep τ) to 1 (τ = 0, uniform allocation).
    reasons
        What each part that contributed has seen, by the names in :data:`RELAXATION_PARTS`.
    """

    value: float
    reasons: Mapping[str, str]

    def tau(self, tau: float) -> float:
        """Return the effective exponent, τ · (1 − value)."""
        return tau * (1.0 - self.value)


class SessionIndex:
    """BM25 over the sessions of one haystack (Lucene's variant, k1 = 1.5, b = 0.75).

    Parameters
    ----------
    sessions
        The haystack, possibly empty.

    Attributes
    ----------
    texts
        Per session, its turns' texts joined by line breaks.
    words
        Per session, how often it has each word, in the case in which it is written.
    """

    def __init__(self, sessions: Sequence[Session]) -> None:
        self.sessions = tuple(sessions)
        self.texts = tuple("\n".join(turn.content for turn in s.turns) for s in self.sessions)
        self.words = tuple(Counter(_WORD.findall(text)) for text in self.texts)
        self.terms = tuple(_terms(words) for words in self.words)
        self._bm25 = _Bm25(self.terms)

    def scores(self, question: str) -> NDArray[np.float64]:
        """Return BM25's score of each session, shape (n_sessions,)."""
        return self._bm25.scores(question)

    def rank(self, question: str) -> list[Ranked]:
        """Return all sessions, best first."""
        return _ranking(self.sessions, self.scores(question))


class GraphMemory:
    """Sessions and the entities they name, ranked by personalised PageRank fused with BM25.

    Parameters
    ----------
    sessions
        The haystack, possibly empty.
    index
        The BM25 index of the same sessions, where there is one already.
    """

    def __init__(self, sessions: Sequence[Session], index: SessionIndex | None = None) -> None:
        from scipy import sparse

        self.sessions = tuple(sessions)
        self._index = SessionIndex(self.sessions) if index is None else index
        # A capitalised word is in here only if it stands in lower case somewhere too.
        self._written = frozenset().union(*self._index.words)
        phrases, names = [], set()
        for text in self._index.texts:
            counts, single = self._phrases(text)
            phrases.append(counts)
            names |= single
        named = [terms | counts for terms, counts in zip(self._index.terms, phrases, strict=True)]
        entities = dict.fromkeys(chain.from_iterable(named))
        self._columns = {entity: column for column, entity in enumerate(entities)}
        rows = np.repeat(np.arange(len(named)), [len(counts) for counts in named])
        columns = np.array([self._columns[e] for counts in named for e in counts], np.int64)
        times = np.array([n for counts in named for n in counts.values()], float)
        shape = (len(named), len(entities))
        self._weights = sparse.csc_array((1.0 + np.log(times), (rows, columns)), shape=shape)
        always = names.union(*phrases)
        often = np.bincount(columns, times, shape[1]) >= FREQUENCY_FLOOR
        self._kept = np.array(
            [_is_entity(e) and (n or e in always) for e, n in zip(entities, often, strict=True)],
            np.bool_,
        )

    def entities(self, text: str) -> list[str]:
        """Return the entities of ``text`` that the haystack names too, in a fixed order."""
        found = {*_terms(Counter(_WORD.findall(text))), *self._phrases(text)[0]}
        known = (entity for entity in found & self._columns.keys() if _is_entity(entity))
        return sorted(known, key=self._columns.__getitem__)

    def pagerank(self, question: str) -> NDArray[np.float64]:
        """Return each session's personalised PageRank, shape (n_sessions,); 0 without a seed.

        A walk restarts with probability 1 − d at the question's entities. With the transition
        matrices S (sessions to entities) and E (entities to sessions) and the restart v over
        entities, the sessions' part x of the stationary distribution satisfies
        x = d Eᵀ((1 − d) v + d Sᵀ x): as many linear equations as there are sessions.
        """
        from scipy import sparse

        seeds = [self._columns[entity] for entity in self.entities(question)]
        if not seeds:
            return np.zeros(len(self.sessions))
        kept = self._kept.copy()
        kept[seeds] = True
        weights = self._weights[:, np.flatnonzero(kept)]
        specificity = np.zeros(len(kept))
        specificity[seeds] = 1.0 / np.diff(self._weights.indptr)[seeds]
        restart = specificity[kept] / specificity.sum()
        # A session without entities is never reached, whatever its row is divided by.
        of_session = np.maximum(weights.sum(axis=1), 1.0)
        to_sessions = weights @ sparse.diags_array(1.0 / weights.sum(axis=0))
        back = (to_sessions @ (sparse.diags_array(1.0 / of_session) @ weights).T).toarray()
        step = np.eye(len(back)) - DAMPING**2 * back
        return np.linalg.solve(step, DAMPING * (1.0 - DAMPING) * (to_sessions @ restart))

    def rank(self, question: str) -> list[Ranked]:
        """Return all sessions, best first."""
        parts = (self._index.scores(question), self.pagerank(question))
        shares = [part / (part.max(initial=0.0) or 1.0) for part in parts]
        return _ranking(self.sessions, np.mean(shares, axis=0))

    def topics(self) -> list[str | None]:
        """Return each session's topic, None for a session without entities.

        That is its entity with the largest w · ln(1 + N / n), with the edge's weight w, N sessions
        and n that name the entity; ties go to the entity that the haystack names first.
        """
        from scipy import sparse

        columns = np.flatnonzero(self._kept)
        weights = self._weights[:, columns]
        specific = np.log1p(len(self.sessions) / np.diff(weights.indptr))
        scores = (weights @ sparse.diags_array(specific)).tocsr()
        scores.sort_indices()
        entities = list(self._columns)
        topics: list[str | None] = []
        for first, end in pairwise(scores.indptr.tolist()):
            best = first + int(np.argmax(scores.data[first:end])) if end > first else None
            topics.append(None if best is None else entities[columns[scores.indices[best]]])
        return topics

    def _phrases(self, text: str) -> tuple[Counter[str], set[str]]:
        """Return how often ``text`` has each entity of more than one term, and one-word names."""
        phrases = Counter(_quantities(text))
        single = set()
        for name in _names(text, self._written):
            if len(name) > 1:
                phrases[" ".join(map(_term, name))] += 1
            else:
                single.add(_term(name[0]))
        return phrases, single


def best_turns(session: Session, question: str) -> list[RankedTurn]:
    """Return the turns of a session by their BM25 score for the question, best first.

    The turns are the collection whose frequencies count; ties keep the session's order.
    """
    terms = [_terms(Counter(_WORD.findall(turn.content))) for turn in session.turns]
    scores = _Bm25(terms).scores(question)
    return [RankedTurn(position, score) for position, score in _order(scores)]


def relaxation(question: str, ranked: Sequence[Ranked]) -> Relaxation:
    """Return how far a query asks to relax core-tail compression (paper, Appendix B).

    The value is the sum of three parts, each at most what :data:`RELAXATION_PARTS` says:

    ``counting``
        Whole, if the question counts, sums, compares or orders ("how many", "in all", "the most",
        "in which order"). Words that only look like it do not count: a habit's "every day", "at
        most", "most recent", an order that was placed, a list that is not asked for.
    ``entities``
        Whole, if the question names two or more things: different names (sentences' first words
        aside) and quoted titles, or words joined by "and", "or", "between" or "compared to". Names
        and titles that agree in their terms, such as "Emma" and "Emma's", are one.
    ``spread``
        By how many sessions stand in the ranking's head, those that score at least
        :data:`HEAD_SHARE` of the best: none of it for one session, all of it from
        :data:`FULL_HEAD` on, and in proportion between.

    Parameters
    ----------
    question
        The query. The rule knows nothing else of it, in particular not its type.
    ranked
        The sessions, best first.
    """
    reasons = {}
    parts = 0.0
    # What a title says asks for nothing and names nothing else.
    titles = QUOTED.findall(question)
    unquoted = QUOTED.sub(lambda match: "," * len(match[0]), question)
    if counting := _COUNTING.search(unquoted):
        reasons["counting"] = f"asks {counting[0].strip(' .!?,;:').lower()!r}"
        parts += RELAXATION_PARTS["counting"]
    # As if all its words were known in lower case, so that none counts for beginning a sentence.
    written = {word.lower() for word in _WORD.findall(unquoted)}
    names = (" ".join(name) for name in _names(unquoted, written))
    named: dict[tuple[str, ...], str] = {}
    for thing in chain(titles, names):
        named.setdefault(_key(thing), re.sub(r"['’]s$", "", thing))
    if len(named) > 1:
        reasons["entities"] = f"names {', '.join(named.values())}"
    elif joined := _COORDINATION.search(unquoted):
        reasons["entities"] = f"joins {joined[0]!r}"
    if "entities" in reasons:
        parts += RELAXATION_PARTS["entities"]
    best = ranked[0].score if ranked else 0.0
    head = sum(best > 0 and item.score >= HEAD_SHARE * best for item in ranked)
    if head > 1:
        reasons["spread"] = f"{head} sessions in the head"
        parts += RELAXATION_PARTS["spread"] * min(1.0, (head - 1) / (FULL_HEAD - 1))
    return Relaxation(parts, reasons)


def _key(thing: str) -> tuple[str, ...]:
    """Return a thing's terms, or its words if all of them are function words."""
    words = _WORD.findall(thing.lower())
    return tuple(filter(None, map(_term, words))) or tuple(words)


class _Bm25:
    """BM25 over documents given as counts of terms."""

    def __init__(self, documents: Sequence[Mapping[str, int]]) -> None:
        from bm25s import BM25

        # The package asks for its own debugging lines, one per index.
        logging.getLogger("bm25s").setLevel(logging.WARNING)
        self._n_documents = len(documents)
        entities = dict.fromkeys(chain.from_iterable(documents))
        self._vocabulary = {term: number for number, term in enumerate(entities)}
        if self._vocabulary:
            ids = [
                [self._vocabulary[term] for term, n in counts.items() for _ in range(n)]
                for counts in documents
            ]
            self._index = BM25(k1=K1, b=B, method="lucene", dtype="float64", backend="numpy")
            self._index.index(
                (ids, self._vocabulary), create_empty_token=False, show_progress=False
            )

    def scores(self, query: str) -> NDArray[np.float64]:
        terms = _terms(Counter(_WORD.findall(query)))
        known = [self._vocabulary[term] for term in terms if term in self._vocabulary]
        if not known:
            return np.zeros(self._n_documents)
        return self._index.get_scores_from_ids(known)


def _terms(words: Mapping[str, int]) -> dict[str, int]:
    """Return how often each term occurs among words given in the case they are written in."""
    terms: dict[str, int] = {}
    for word, n in words.items():
        if term := _term(word):
            terms[term] = terms.get(term, 0) + n
    return terms


@lru_cache(maxsize=1 << 18)
def _term(word: str) -> str:
    """Return the word's term; empty for a function word."""
    word = word.lower().replace("’", "'")
    return "" if word in FUNCTION_WORDS else stem(word)


def stem(word: str) -> str:
    """Return a word in lower case without the ending of its plural or its possessive.

    Harman, D. (1991), How effective is suffixing?, Journal of the American Society for Information
    Science 42, 7-15: the S-stemmer.
    """
    word = word.removesuffix("'s")
    if len(word) > 3:
        if word.endswith("ies") and word[-4] not in "ae":
            return word[:-3] + "y"
        if word.endswith("es") and word[-3] not in "aeo":
            return word[:-1]
        if word.endswith("s") and word[-2] not in "us":
            return word[:-1]
    return word


def _is_entity(key: str) -> bool:
    """Return whether a term is a content word; a key of more than one term always is an entity."""
    return " " in key or key[0] in _MONEY or (len(key) >= 3 and not key[0].isdigit())


def _names(text: str, written: Set[str]) -> list[list[str]]:
    """Return the names in ``text``, in order, each as its words; ``written`` are known words."""
    names = []
    for match in _NAME.finditer(text):
        run = match[0].replace("-", " ").split(" ")
        if run[0].lower() in written and _begins_sentence(text, match.start()):
            del run[0]
        part: list[str] = []
        for word in run:
            if _term(word):
                part.append(word)
            elif part:
                names.append(part)
                part = []
        if part:
            names.append(part)
    return names


def _begins_sentence(text: str, position: int) -> bool:
    before = text[max(0, position - 8) : position].rstrip(_BETWEEN)
    return position == 0 or not before or before[-1] in _SENTENCE_ENDS


def _quantities(text: str) -> Iterator[str]:
    for match in _QUANTITY.finditer(text):
        before = text[match.start() - 1] if match.start() else " "
        number = match[1].replace(",", "")
        if before in _MONEY:
            yield before + number
        elif match[2] and not (before.isalnum() or before in "._") and (term := _term(match[2])):
            yield f"{number} {term}"


def _ranking(sessions: Sequence[Session], scores: NDArray[np.float64]) -> list[Ranked]:
    return [Ranked(sessions[i].session_id, i, score) for i, score in _order(scores)]


def _order(scores: NDArray[np.float64]) -> list[tuple[int, float]]:
    """Return positions with their scores, best first, ties by position."""
    rounded = [float(f"{score:.12g}") for score in scores.tolist()]
    return sorted(enumerate(rounded), key=lambda item: -item[1])
