"""What the generated questions ask, and what has been said about it before.

Every kind of plot is a function that draws its details, and words its question and the statements
that answer it in several ways. A statement is made in a session of its own, on a given day, and no
other session speaks of the same thing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from coretail.longmemeval.records import QuestionType, Role

_T = TypeVar("_T")


class Draw:
    """Draws from sequences with one stream."""

    def __init__(self, stream: np.random.Generator) -> None:
        self._stream = stream

    def pick(self, values: Sequence[_T]) -> _T:
        """Return one of the values."""
        return values[int(self._stream.integers(len(values)))]

    def several(self, values: Sequence[_T], n: int) -> list[_T]:
        """Return ``n`` different positions' values, in random order."""
        return [values[i] for i in self._stream.choice(len(values), n, replace=False).tolist()]

    def whole(self, low: int, high: int) -> int:
        """Return an integer from ``low`` to ``high``, both included."""
        return int(self._stream.integers(low, high + 1))

    def days(self, n: int, shortest: int = 2, longest: int = 15) -> list[int]:
        """Return ``n`` ascending days, the first within ``longest`` of the start."""
        return np.cumsum([self.whole(shortest, longest) for _ in range(n)]).tolist()


@dataclass(frozen=True, slots=True)
class Told:
    """One statement, in a session of its own.

    Attributes
    ----------
    day
        Days from the beginning of the haystack.
    request
        What the user asks for in the same turn, or of the assistant before its turn.
    text
        The statement.
    keys
        The strings of ``text`` from which the answer follows, the session's date aside.
    role
        Who makes it.
    """

    day: int
    request: str
    text: str
    keys: tuple[str, ...]
    role: Role = "user"


@dataclass(frozen=True, slots=True)
class Plot:
    """A question with its evidence.

    Attributes
    ----------
    question, answer
        Their texts.
    told
        The statements, by day.
    asked
        The question's day, on or after the last statement's.
    secrets
        Words that must not occur outside the evidence, lest the answer be found or changed there.
    """

    question: str
    answer: str
    told: tuple[Told, ...]
    asked: int
    secrets: tuple[str, ...]


Kind = Callable[[Draw, bool], Plot]
"""Draws a plot; with True, one whose question asks for something that has not been said."""

PETS = ("parrot", "hamster", "rabbit", "tortoise", "gecko", "budgie", "ferret", "guinea pig")
PET_NAMES = (
    "Biscuit", "Mango", "Pepper", "Ziggy", "Olive", "Waffles", "Clover", "Truffle", "Nimbus",
    "Juniper", "Pickle", "Cosmo",
)  # fmt: skip
GOODS = (
    "desk lamp", "rain jacket", "suitcase", "coffee grinder", "bookcase", "yoga mat", "toaster",
    "wall clock", "office chair", "backpack", "blender", "rug",
)  # fmt: skip
SHOPS = (
    "Marlow & Finch", "The Corner Depot", "Harbour Outfitters", "Bluebird Emporium", "Tillman's",
    "Oakridge Traders", "Lantern House", "Pine & Pebble", "Quincy's", "The Old Foundry",
)  # fmt: skip
JOURNEYS = (
    "commute to the office", "trip to my parents' house", "way to the climbing hall",
    "drive to the lake cabin", "ride to the sailing club", "walk to the allotment",
)  # fmt: skip
RELATIVES = (
    "grandmother", "uncle", "cousin", "godmother", "brother-in-law", "aunt", "stepfather", "niece",
)  # fmt: skip
GIFTS = (
    "a pocket watch", "a ukulele", "a chess set", "a hand-knitted scarf", "a telescope",
    "a pasta machine", "a leather journal", "a pair of binoculars", "a record player",
    "a snow globe",
)  # fmt: skip
ROOMS = ("hallway", "nursery", "guest room", "study", "attic", "utility room", "dining room")
COLOURS = (
    "sage green", "mustard yellow", "navy blue", "terracotta", "lilac", "charcoal grey",
    "turquoise", "burgundy", "ivory", "coral pink",
)  # fmt: skip
COURSES = (
    "pottery class", "Portuguese course", "fencing lesson", "choir rehearsal", "salsa class",
    "drawing group", "archery practice", "bread-baking course", "chess club", "debating circle",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
CITIES = (
    "Lisbon", "Krakow", "Montreal", "Adelaide", "Bologna", "Kyoto", "Valparaiso", "Ghent",
    "Tallinn", "Cape Town", "Oaxaca", "Galway",
)  # fmt: skip
CUISINES = (
    "Ethiopian", "Georgian", "Vietnamese", "Peruvian", "Lebanese", "Korean", "Greek", "Moroccan",
)  # fmt: skip
RESTAURANTS = (
    "Saffron Courtyard", "Little Tamarind", "The Copper Ladle", "Casa Amarela", "Juno's Table",
    "Blue Cardamom", "The Velvet Fig", "Harvest & Ember", "Night Heron", "Paper Lantern",
)  # fmt: skip
OCCASIONS = ("a quiet dinner", "a birthday party", "lunch with colleagues", "a first date")
DISHES = (
    "rye loaf", "lemon tart", "cinnamon buns", "onion focaccia", "plum cake", "seeded crackers",
    "pumpkin gnocchi", "walnut scones",
)  # fmt: skip
BOOKS = (
    "The Salt Meridian", "Letters to a Cartographer", "A Ladder of Rain", "Winter in the Archive",
    "The Glassblower's Ledger", "Seven Quiet Harbours", "The Moth Ferry", "An Atlas of Smoke",
    "Copper Orchard", "The Second Tide",
)  # fmt: skip
SUBJECTS = ("polar exploration", "map making", "medieval trade", "deep-sea diving", "codebreaking")
TRAILS = (
    "Heron Ridge Trail", "Old Quarry Loop", "Juniper Canyon Path", "Three Lakes Circuit",
    "Millstone Way", "Foxglove Ramble", "Granite Saddle Route",
)  # fmt: skip
APPS = ("Tidewise", "Nestling", "Ledgerlark", "Mosswork", "Quillo", "Penguin Post", "Brightloop")
PURPOSES = (
    "tracking household bills", "identifying birdsong", "planning meals", "learning to type",
    "keeping a gratitude diary", "sharing chores",
)  # fmt: skip

CAMERAS = ("Fujifilm X-T4", "Nikon Z6", "Canon R8", "Olympus OM-5", "Pentax K-3")
STYLES = (
    "street scenes at night", "macro shots of insects", "long exposures of waterfalls",
    "portraits in natural light", "wildlife from a hide",
)  # fmt: skip
AVERSIONS = ("mushrooms", "dairy", "shellfish", "red meat", "gluten", "coriander")
HOLIDAYS = (
    "hiking from hut to hut", "small fishing villages", "cities with old tram lines",
    "cycling along canals", "cabins without internet",
)  # fmt: skip
MEANS = ("sleeper train", "ferry", "camper van", "long-distance coach", "bicycle")
ACHES = ("left knee", "lower back", "right shoulder", "wrist", "ankle")
SPORTS = ("swimming", "rowing on the machine", "pilates", "Nordic walking", "water aerobics")
GENRES = (
    "slow-burning mysteries", "epistolary novels", "dry satire", "family sagas", "nature writing",
    "magical realism",
)  # fmt: skip
SETTINGS = ("Iceland", "the Scottish islands", "Buenos Aires", "the Ottoman court", "New Zealand")

COLLECTIONS: Mapping[str, tuple[str, ...]] = {
    "houseplants": (
        "peace lily", "snake plant", "rubber fig", "string of pearls", "calathea", "monstera",
        "spider plant",
    ),
    "board games": (
        "copy of Harvest Moonrise", "copy of Sky Bazaar", "copy of Lost Viaduct",
        "copy of Tiny Monarchs", "copy of Fjord Runners", "copy of Paper Dragons",
    ),
    "fountain pens": (
        "brass demonstrator", "piston filler", "vintage celluloid pen", "lacquered pen",
        "music-nib pen", "pocket pen",
    ),
    "garden tools": (
        "hedge trimmer", "hand trowel", "hoe", "pair of secateurs", "bulb planter", "leaf rake",
    ),
    "baking tins": (
        "madeleine tray", "bundt mould", "tart ring", "springform tin", "muffin tray", "loaf tin",
    ),
    "camping items": (
        "dome tent", "headlamp", "camp stove", "sleeping mat", "folding kettle", "water filter",
    ),
}  # fmt: skip
PROJECTS: Mapping[str, tuple[str, ...]] = {
    "bathroom renovation": ("tiles", "a new basin", "grout", "a towel rail", "a mirror cabinet"),
    "balcony makeover": ("planters", "a folding table", "outdoor cushions", "decking boards"),
    "home recording corner": ("a microphone", "foam panels", "a mixer", "headphones"),
    "aquarium": ("a filter", "gravel", "a lid with lights", "driftwood", "a heater"),
    "canoe restoration": ("varnish", "new thwarts", "brass screws", "a paddle", "epoxy"),
    "costume for the carnival": ("velvet", "feathers", "a mask", "face paint", "silver braid"),
}
ROUTES = (
    "the river path", "the coastal road", "the old railway line", "the vineyard loop",
    "the reservoir track", "the forest lane", "the canal towpath",
)  # fmt: skip
CHARITIES = (
    "food bank", "animal shelter", "repair cafe", "beach clean-up", "reading scheme",
    "soup kitchen", "tree nursery",
)  # fmt: skip
PRICED = (
    "espresso machine", "road bike", "electric piano", "sewing machine", "standing desk",
    "winter coat", "robot vacuum", "digital camera", "kayak", "sofa bed",
)  # fmt: skip

EVENTS: tuple[tuple[str, str], ...] = (
    ("planted the apple tree", "planting the apple tree"),
    ("repaired the garden gate", "repairing the garden gate"),
    ("passed my driving test", "passing my driving test"),
    ("gave blood for the first time", "giving blood for the first time"),
    ("finished the mosaic table", "finishing the mosaic table"),
    ("ran the harbour half marathon", "running the harbour half marathon"),
    ("cleared out the basement", "clearing out the basement"),
    ("signed the lease for the studio", "signing the lease for the studio"),
    ("sang at the open mic evening", "singing at the open mic evening"),
    ("took the puppy to its first training", "taking the puppy to its first training"),
    ("handed in my thesis", "handing in my thesis"),
    ("had my wisdom tooth pulled", "having my wisdom tooth pulled"),
    ("sold the old motorbike", "selling the old motorbike"),
    ("visited the glass museum", "visiting the glass museum"),
    ("installed the rain barrel", "installing the rain barrel"),
    ("started the sourdough culture", "starting the sourdough culture"),
)
"""What one does on one day: in the past tense, and as a gerund."""
AUDIENCES = (
    "subscribers to my newsletter", "followers of my pottery page", "members in my hiking group",
    "pupils in my guitar school", "hens in the coop", "stamps in my album",
    "signatures on my petition", "beehives on the meadow",
)  # fmt: skip
THINGS = (
    "spare keys", "passport", "grandfather's violin", "sewing kit", "ski boots", "tax papers",
    "vinyl records", "telescope tripod",
)  # fmt: skip
PLACES = (
    "the hall cupboard", "the drawer under the bed", "the cellar", "the blue trunk", "my locker",
    "the loft", "the filing cabinet", "the garage shelf",
)  # fmt: skip
DISTANCES = ("five-kilometre run", "rowing course", "swim across the bay", "cycling hill climb")
FRIENDS = ("Imogen", "Rafael", "Noor", "Tobias", "Ayumi", "Declan", "Priya", "Soren")

TIDYING = (
    "Can you give me some advice on keeping a house tidy?",
    "How do people manage to stay organised at home?",
)
SHOPPING = (
    "What should I look for when I compare products online?",
    "Do you have tips for avoiding impulse purchases?",
)
LEISURE = (
    "What would be a relaxing way to spend a free evening?",
    "Can you think of something fun for a rainy afternoon?",
)
PLANNING = (
    "Could you help me plan the coming week?",
    "I would like to make better use of my mornings. Where do I start?",
)


@dataclass(frozen=True, slots=True)
class Script:
    """A kind of plot that only fills in wordings.

    Attributes
    ----------
    slots
        Names and the values they are drawn from; several names, separated by spaces, get different
        values of one vocabulary.
    told
        Per statement, its wordings with slots in braces, in the order in which they are made.
    questions
        Wordings of the question.
    answer
        Its answer.
    requests
        What the user asks for in the same turn, or asks the assistant, slots allowed.
    subject
        The slot that a question without an answer takes another value for.
    role
        Who makes the statements.
    """

    slots: Mapping[str, Sequence[str] | range]
    told: tuple[tuple[str, ...], ...]
    questions: tuple[str, ...]
    answer: str
    requests: tuple[str, ...]
    subject: str = ""
    role: Role = "user"

    def __call__(self, draw: Draw, missing: bool) -> Plot:
        """Draw a plot; see :data:`Kind`."""
        values: dict[str, str] = {}
        other = ""
        for names, vocabulary in self.slots.items():
            each = names.split()
            drawn = [str(value) for value in draw.several(vocabulary, len(each) + 1)]
            values |= dict(zip(each, drawn, strict=False))
            if self.subject in each:
                other = drawn[-1]
        days = draw.days(len(self.told))
        told = []
        for day, wordings in zip(days, self.told, strict=True):
            wording = draw.pick(wordings)
            keys = tuple(value for name, value in values.items() if f"{{{name}}}" in wording)
            request = draw.pick(self.requests).format(**values)
            told.append(Told(day, request, wording.format(**values), keys, self.role))
        asked = days[-1] + draw.whole(3, 40)
        secrets = tuple(values.values())
        if missing:
            question = draw.pick(self.questions).format(**values | {self.subject: other})
            answer = _not_said(values[self.subject], other)
            return Plot(question, answer, tuple(told), asked, (*secrets, other))
        question = draw.pick(self.questions).format(**values)
        return Plot(question, self.answer.format(**values), tuple(told), asked, secrets)


def _not_said(said: str, missing: str) -> str:
    return f"The information provided is not enough. You mentioned {said} but not {missing}."


def _collected(draw: Draw, missing: bool) -> Plot:
    (collection, things), (other, _) = draw.several(list(COLLECTIONS.items()), 2)
    n_sessions = draw.whole(2, 3)
    # One or two things a session, and at least three in all.
    numbers = [2, *(draw.whole(1, 2) for _ in range(n_sessions - 1))]
    names = draw.several(things, sum(numbers))
    told, rest = [], list(names)
    for day, number in zip(draw.days(n_sessions), numbers, strict=True):
        bought, rest = rest[:number], rest[number:]
        both = " and ".join(f"a {name}" for name in bought)
        text = draw.pick((
            f"I bought {both}, so my {collection} are growing in number.",
            f"I went out for bread and came home with {both} for my {collection}.",
            f"I treated myself to {both}; I can't stop buying {collection}.",
        ))  # fmt: skip
        told.append(Told(day, draw.pick(SHOPPING), text, (*bought, collection)))
    asked = other if missing else collection
    question = draw.pick((
        f"How many {asked} did I buy in all?",
        f"Over our conversations, how many {asked} have I bought altogether?",
        f"Counting everything, how many {asked} have I added?",
    ))  # fmt: skip
    answer = _not_said(f"buying {collection}", other) if missing else str(len(names))
    return _gathered(draw, question, answer, told, (*names, collection, other))


def _gathered(
    draw: Draw, question: str, answer: str, told: Sequence[Told], secrets: tuple[str, ...]
) -> Plot:
    return Plot(question, answer, tuple(told), told[-1].day + draw.whole(2, 30), secrets)


@dataclass(frozen=True, slots=True)
class Sum:
    """A kind of plot that tells amounts in several sessions and asks for their sum.

    Attributes
    ----------
    topics
        What the amounts are for, and the items that they are told of; the question names the
        topic.
    amounts
        What an amount is drawn from, without repetition within one plot.
    told, questions
        Wordings with ``{topic}``, and in statements ``{item}`` and ``{amount}``.
    unit
        The answer, with the sum in place of ``{total}``.
    requests
        What the user asks for in the same turn.
    """

    topics: Mapping[str, Sequence[str]]
    amounts: range
    told: tuple[str, ...]
    questions: tuple[str, ...]
    unit: str
    requests: tuple[str, ...]

    def __call__(self, draw: Draw, missing: bool) -> Plot:
        """Draw a plot; see :data:`Kind`."""
        (topic, items), (other, _) = draw.several(list(self.topics.items()), 2)
        n = draw.whole(2, 3)
        chosen, amounts = draw.several(items, n), draw.several(self.amounts, n)
        told = [
            Told(
                day,
                draw.pick(self.requests),
                draw.pick(self.told).format(topic=topic, item=item, amount=amount),
                (item, str(amount), topic),
            )
            for day, item, amount in zip(draw.days(n), chosen, amounts, strict=True)
        ]
        question = draw.pick(self.questions).format(topic=other if missing else topic)
        answer = _not_said(topic, other) if missing else self.unit.format(total=sum(amounts))
        return _gathered(
            draw,
            question,
            answer,
            told,
            (topic, other, *chosen, *map(str, [*amounts, sum(amounts)])),
        )


def _price_difference(draw: Draw, missing: bool) -> Plot:
    dear, cheap, other = draw.several(PRICED, 3)
    low = draw.whole(6, 30) * 10
    high = low + draw.whole(2, 30) * 10
    prices = {dear: high, cheap: low}
    told = []
    for day, item in zip(draw.days(2), draw.several((dear, cheap), 2), strict=True):
        text = draw.pick((
            f"I paid ${prices[item]} for my {item}.",
            f"my {item} cost me ${prices[item]}, which felt fair.",
            f"I finally ordered the {item}; the bill was ${prices[item]}.",
        ))  # fmt: skip
        told.append(Told(day, draw.pick(SHOPPING), text, (item, str(prices[item]))))
    asked = other if missing else cheap
    question = draw.pick((
        f"How much more did I pay for the {dear} than for the {asked}?",
        f"What is the difference in price between my {dear} and my {asked}?",
    ))  # fmt: skip
    answer = _not_said(f"the {dear} and the {cheap}", f"the {other}") if missing else ""
    numbers = [str(n) for n in (high, low, high - low)]
    secrets = (dear, cheap, other, *numbers)
    return _gathered(draw, question, answer or f"${high - low}", told, secrets)


def _happened(draw: Draw, events: Sequence[tuple[str, str]]) -> list[Told]:
    """Return a statement per event, made on its day."""
    return [
        Told(
            day,
            draw.pick((*LEISURE, *PLANNING)),
            draw.pick((
                f"I {past} today.",
                f"today I {past}, and I am still a little excited about it.",
                f"it is done: I {past} this morning.",
                f"I {past} today, with some help from a neighbour.",
            )),
            (past,),
        )
        for day, (past, _) in zip(draw.days(len(events), 3, 25), events, strict=True)
    ]  # fmt: skip


def _days_between(draw: Draw, missing: bool) -> Plot:
    (a, b, other) = draw.several(EVENTS, 3)
    told = _happened(draw, (a, b))
    last = other if missing else b
    question = draw.pick((
        f"How many days passed between the day I {a[0]} and the day I {last[0]}?",
        f"How many days lie between {a[1]} and {last[1]}?",
        f"How many days after {a[1]} came {last[1]}?",
    ))  # fmt: skip
    answer = f"{told[1].day - told[0].day} days"
    return _dated(draw, question, answer, told, (a, b), other if missing else None)


def _dated(
    draw: Draw,
    question: str,
    answer: str,
    told: Sequence[Told],
    events: Sequence[tuple[str, str]],
    missing: tuple[str, str] | None,
    asked: int | None = None,
) -> Plot:
    if missing is not None:
        answer = _not_said(" and ".join(gerund for _, gerund in events), missing[1])
        events = (*events, missing)
    secrets = tuple(text for event in events for text in event)
    day = told[-1].day + draw.whole(3, 40) if asked is None else asked
    return Plot(question, answer, tuple(told), day, secrets)


def _days_ago(draw: Draw, missing: bool) -> Plot:
    event, other = draw.several(EVENTS, 2)
    told = _happened(draw, (event,))
    past, gerund = other if missing else event
    question = draw.pick((
        f"How many days ago was it that I {past}?",
        f"How many days have passed since I {past}?",
        f"It feels like yesterday, but how many days ago did I talk about {gerund}?",
    ))  # fmt: skip
    ago = draw.whole(3, 40)
    answer, asked = f"{ago} days", told[0].day + ago
    return _dated(draw, question, answer, told, (event,), other if missing else None, asked)


def _which_first(draw: Draw, missing: bool) -> Plot:
    a, b, other = draw.several(EVENTS, 3)
    told = _happened(draw, (a, b))
    options = draw.several((a[1], other[1] if missing else b[1]), 2)
    question = draw.pick((
        f"Which came first, {options[0]} or {options[1]}?",
        f"What did I do first, {options[0]} or {options[1]}?",
        f"Of these two, which was earlier, {options[0]} or {options[1]}?",
    ))  # fmt: skip
    return _dated(draw, question, a[1], told, (a, b), other if missing else None)


def _order_of_three(draw: Draw, missing: bool) -> Plot:
    *events, other = draw.several(EVENTS, 4)
    told = _happened(draw, events)
    asked = [*events[:2], other] if missing else events
    listed = ", ".join(gerund for _, gerund in draw.several(asked, 3))
    question = draw.pick((
        f"In which order did I do these three things: {listed}?",
        f"What is the order of these events, from first to last: {listed}?",
    ))  # fmt: skip
    answer = f"First {events[0][1]}, then {events[1][1]}, and finally {events[2][1]}."
    return _dated(draw, question, answer, told, events, other if missing else None)


KINDS: Mapping[QuestionType, Mapping[str, Kind]] = {
    "single-session-user": {
        "pet name": Script(
            {"pet": PETS, "name": PET_NAMES},
            ((
                "I adopted a {pet} and named it {name}.",
                "my new {pet} is called {name} and has settled in well.",
                "I have to be home early, since {name}, my {pet}, needs feeding.",
            ),),
            (
                "What is the name of my {pet}?",
                "What did I call my {pet}?",
                "Which name does my {pet} have?",
            ),
            "{name}", TIDYING, subject="pet",
        ),
        "shop": Script(
            {"item": GOODS, "shop": SHOPS},
            ((
                "I found my new {item} at {shop}.",
                "I bought a {item} from {shop} last weekend.",
                "I am very happy with the {item} that I got at {shop}.",
            ),),
            (
                "Where did I buy my {item}?",
                "Which shop does my {item} come from?",
                "At what store did I get my {item}?",
            ),
            "{shop}", SHOPPING, subject="item",
        ),
        "journey": Script(
            {"journey": JOURNEYS, "minutes": range(12, 58)},
            ((
                "my {journey} takes {minutes} minutes these days.",
                "I listen to podcasts, since my {journey} lasts {minutes} minutes.",
            ),),
            (
                "How long does my {journey} take?",
                "How many minutes do I need for my {journey}?",
            ),
            "{minutes} minutes", LEISURE, subject="journey",
        ),
        "gift": Script(
            {"relative": RELATIVES, "gift": GIFTS},
            ((
                "my {relative} gave me {gift} for my birthday.",
                "I unwrapped {gift} on my birthday, a present from my {relative}.",
            ),),
            (
                "What did my {relative} give me for my birthday?",
                "Which birthday present did I get from my {relative}?",
            ),
            "{gift}", LEISURE, subject="relative",
        ),
        "colour": Script(
            {"room": ROOMS, "colour": COLOURS},
            ((
                "I painted the {room} {colour} over the holidays.",
                "I am waiting for the paint to dry: the {room} is {colour} now.",
            ),),
            (
                "What colour did I paint the {room}?",
                "Which colour does the {room} have since I painted it?",
            ),
            "{colour}", TIDYING, subject="room",
        ),
        "hour": Script(
            {"course": COURSES, "hour": range(3, 10), "minute": range(10, 60, 5)},
            ((
                "my {course} starts at {hour}:{minute} pm.",
                "I have to leave in good time, since my {course} begins at {hour}:{minute} pm.",
            ),),
            ("At what time does my {course} start?", "When does my {course} begin?"),
            "{hour}:{minute} pm", PLANNING, subject="course",
        ),
    },
    "single-session-assistant": {
        "restaurant": Script(
            {"city": CITIES, "cuisine": CUISINES, "best other": RESTAURANTS, "occasion": OCCASIONS},
            ((
                "For {cuisine} food in {city}, {best} is the right place for {occasion}. "
                "{other} is cheaper, but loud.",
                "I would book {best} in {city}: good {cuisine} cooking, and it suits {occasion}. "
                "If it is full, {other} is around the corner.",
            ),),
            (
                "Which {cuisine} restaurant in {city} did you recommend for {occasion}?",
                "You named a {cuisine} restaurant in {city} for {occasion}. What was it called?",
            ),
            "{best}", ("Where can I eat {cuisine} food in {city}? It is for {occasion}.",),
            role="assistant",
        ),
        "recipe": Script(
            {"dish": DISHES, "flour": range(205, 500, 15), "rest": range(20, 95, 5)},
            ((
                "For the {dish}, weigh out {flour} grams of flour and let the dough rest for "
                "{rest} minutes.",
                "Let the dough rest for {rest} minutes; the {dish} need no more than {flour} grams "
                "of flour.",
            ),),
            (
                "How many grams of flour did you say I need for the {dish}?",
                "In your recipe for the {dish}, how much flour was there?",
            ),
            "{flour} grams", ("How do I make {dish} at home?", "I want to try {dish}. Any recipe?"),
            role="assistant",
        ),
        "list": Script(
            {"subject": SUBJECTS, "one two three four": BOOKS},
            (("Four books on {subject}: {one}; {two}; {three}; and {four}.",
              "On {subject} I suggest, in this order: {one}; {two}; {three}; and last {four}."),),
            (
                "What was the third of the books on {subject} that you suggested?",
                "You gave me a list of books on {subject}. Which one was number three?",
            ),
            "{three}", ("What should I read about {subject}?",),
            role="assistant",
        ),
        "trail": Script(
            {"trail": TRAILS, "km": range(6, 29)},
            ((
                "The {trail} is {km} kilometres long, with shade for most of the way.",
                "Allow a whole morning for the {trail}: it has {km} kilometres.",
            ),),
            (
                "How long is the {trail}, according to you?",
                "How many kilometres did you say the {trail} has?",
            ),
            "{km} kilometres", ("Is the {trail} suitable for children?",),
            role="assistant",
        ),
        "app": Script(
            {"purpose": PURPOSES, "app other": APPS},
            ((
                "For {purpose} I would choose {app}; {other} looks nicer, but it wants an account.",
                "Try {app}, which is made for {purpose}. {other} does too much at once.",
            ),),
            (
                "Which app did you advise me to use for {purpose}?",
                "What was the app for {purpose} that you preferred?",
            ),
            "{app}", ("Is there a good app for {purpose}?",),
            role="assistant",
        ),
    },
    "single-session-preference": {
        "photography": Script(
            {"camera": CAMERAS, "style": STYLES},
            (("I take my pictures with a {camera}, mostly {style}.",
              "I love {style}, and my {camera} is always with me."),),
            ("What accessories could improve my photography?",
             "I have some money left for my photography. What would you get?"),
            "The user would prefer suggestions that fit their {camera} and their interest in "
            "{style}, not equipment for another make or another kind of picture.",
            SHOPPING,
        ),
        "cooking": Script(
            {"aversion": AVERSIONS, "cuisine": CUISINES},
            (("I don't eat {aversion}, and I could have {cuisine} dishes every day.",
              "I am fond of {cuisine} cooking, as long as it comes without {aversion}."),),
            ("What could I cook for dinner tonight?",
             "Friends are coming over. Which dinner would you suggest?"),
            "The user would prefer {cuisine} dishes or ones like them, and nothing that contains "
            "{aversion}.",
            LEISURE,
        ),
        "holiday": Script(
            {"holiday": HOLIDAYS, "means": MEANS},
            (("I like holidays with {holiday}, and I get there by {means} if I can.",
              "I never fly: I travel by {means}, best of all for {holiday}."),),
            ("Where should I go on holiday next summer?",
             "I have two weeks off. Any ideas for a trip?"),
            "The user would prefer destinations for {holiday} that can be reached by {means}, not "
            "trips that need a flight.",
            PLANNING,
        ),
        "exercise": Script(
            {"ache": ACHES, "sport": SPORTS},
            (("my {ache} hurts when I jump, so I keep to {sport}.",
              "I enjoy {sport}, which is kind to my bad {ache}."),),
            ("Can you put together a workout for this week?",
             "How can I get fitter before the summer?"),
            "The user would prefer exercise such as {sport} that spares the {ache}; they would not "
            "like a plan with jumps or heavy strain on it.",
            LEISURE,
        ),
        "reading": Script(
            {"genre": GENRES, "setting": SETTINGS},
            (("I read {genre} more than anything else, above all if they are set in {setting}.",
              "I have a weakness for {genre} and for stories about {setting}."),),
            ("What should I read next?", "Can you recommend a book for the train?"),
            "The user would prefer {genre}, if possible set in {setting}, to a list of "
            "bestsellers.",
            PLANNING,
        ),
    },
    "multi-session": {
        "collection": _collected,
        "spending": Sum(
            PROJECTS, range(15, 240, 5),
            ("I spent ${amount} on {item} for the {topic}.",
             "I ordered {item} for ${amount}; the {topic} moves on."),
            ("How much money did I spend on the {topic} in total?",
             "What has the {topic} cost me in all so far?"),
            "${total}", SHOPPING,
        ),
        "distance": Sum(
            {"by bicycle": ROUTES, "on foot": ROUTES, "on skates": ROUTES}, range(4, 31),
            ("I covered {amount} kilometres {topic} along {item}.",
             "I did {amount} kilometres {topic} today, all of it on {item}."),
            ("How many kilometres did I cover {topic} in all?",
             "What is the total distance that I have done {topic}?"),
            "{total} kilometres", LEISURE,
        ),
        "volunteering": Sum(
            {"as a volunteer": CHARITIES, "on paid shifts": CHARITIES}, range(2, 10),
            ("I worked {amount} hours {topic} at the {item}.",
             "I was at the {item} for {amount} hours, {topic}."),
            ("How many hours did I work {topic} altogether?",
             "Over all places, how many hours have I put in {topic}?"),
            "{total} hours", PLANNING,
        ),
        "pages": Sum(
            {"in French": BOOKS, "in Spanish": BOOKS, "in Danish": BOOKS}, range(140, 480),
            ("I finished {item}, which I read {topic}; it has {amount} pages.",
             "I read all {amount} pages of {item} {topic}."),
            ("How many pages have I read {topic} in all?",
             "What is the total number of pages that I read {topic}?"),
            "{total} pages", LEISURE,
        ),
        "price difference": _price_difference,
    },
    "temporal-reasoning": {
        "days between": _days_between,
        "which first": _which_first,
        "days ago": _days_ago,
        "order": _order_of_three,
    },
    "knowledge-update": {
        "audience": Script(
            {"audience": AUDIENCES, "old new": range(23, 180)},
            (("I have {old} {audience} at the moment.", "I counted {old} {audience} today."),
             ("I have {new} {audience} now.", "I checked again: there are {new} {audience}.")),
            ("How many {audience} do I have now?", "What is the latest number of {audience}?"),
            "{new}", PLANNING, subject="audience",
        ),
        "place": Script(
            {"thing": THINGS, "old new": PLACES},
            (("I keep my {thing} in {old}.", "I have put my {thing} in {old}."),
             ("I moved my {thing} to {new}.", "my {thing} found a better home in {new}.")),
            ("Where do I keep my {thing}?", "Where do I have to look for my {thing}?"),
            "{new}", TIDYING, subject="thing",
        ),
        "record": Script(
            {"distance": DISTANCES, "old": range(41, 59), "new": range(24, 40)},
            (("I managed the {distance} in {old} minutes, my best so far.",
              "my record for the {distance} stands at {old} minutes."),
             ("I have a new record for the {distance}: {new} minutes.",
              "I beat my own time on the {distance} and needed only {new} minutes.")),
            ("What is my personal best on the {distance}?",
             "How many minutes is my record for the {distance}?"),
            "{new} minutes", LEISURE, subject="distance",
        ),
        "weekday": Script(
            {"course": COURSES, "old new": WEEKDAYS},
            (("my {course} is on {old}.", "I keep {old} evening free for my {course}."),
             ("my {course} has moved to {new}.", "from now on I have my {course} on {new}.")),
            ("On which day of the week is my {course}?", "Which day is my {course} on now?"),
            "{new}", PLANNING, subject="course",
        ),
        "friend": Script(
            {"friend": FRIENDS, "old new": CITIES},
            (("my friend {friend} lives in {old}.", "I got a postcard from {friend} in {old}, "
              "where my friend lives."),
             ("my friend {friend} has moved to {new}.",
              "I helped {friend} settle in {new}, which is home to my friend now.")),
            ("In which city does {friend} live now?", "Where does my friend {friend} live?"),
            "{new}", PLANNING, subject="friend",
        ),
    },
}  # fmt: skip
"""The kinds of plots per question type, each under a name."""

ABSTAINING: tuple[QuestionType, ...] = (
    "single-session-user",
    "multi-session",
    "temporal-reasoning",
    "knowledge-update",
)
"""The question types that have abstention questions, as in the benchmark."""
