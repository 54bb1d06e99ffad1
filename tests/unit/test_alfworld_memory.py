"""What is remembered of an episode, against rankings and texts worked out by hand."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coretail.alfworld.memory import MAX_WORDS, Memory, Transition, things_of, transition_line
from coretail.errors import InputError

TASK = "put some mug on desk"
ROOM = (
    "You are in the middle of a room. Looking quickly around you, you see a desk 1, and a drawer 1."
)
DESK = "You arrive at desk 1. On the desk 1, you see a mug 1, and a pen 2."
TAKEN = "You pick up the mug 1 from the desk 1."
DRAWER = "You arrive at drawer 1. The drawer 1 is closed."
EPISODE = [
    Transition(ROOM, "go to desk 1", DESK),
    Transition(DESK, "take mug 1 from desk 1", TAKEN),
    Transition(TAKEN, "go to drawer 1", DRAWER),
]
WENT = f"You are in the middle of a room. -> go to desk 1 -> {DESK}"
TOOK = f"You arrive at desk 1. -> take mug 1 from desk 1 -> {TAKEN}"
CAME = f"{TAKEN} -> go to drawer 1 -> {DRAWER}"


def memory(policy, transitions=EPISODE, **options):
    one = Memory(policy, **options)
    for transition in transitions:
        one.write(transition)
    return one


def test_graph_memory_fuses_an_episodic_and_a_semantic_layer():
    # At the drawer. Episodic (drawer 1): CAME, WENT. Semantic (drawer, and mug and desk of the
    # task): CAME and WENT share three kinds, TOOK two. Scores: 2/61, 2/62, 1/63.
    shown = memory("graph").show(DRAWER, TASK)
    assert shown.text == f"1. {CAME}\n2. {WENT}\n3. {TOOK}"
    assert (shown.held, shown.shown) == (3, 3)

    verbose = memory("graph", encoding="verbose").show(DRAWER, TASK)
    assert verbose.text.splitlines() == [
        f"({CAME}, score 0.0328, degree 1, source step 2)",
        f'("{WENT}", score 0.0323, degree 1, source step 0)',
        f"({TOOK}, score 0.0159, degree 1, source step 1)",
    ]


def test_graph_memory_shows_the_best_and_nothing_of_the_others():
    shown = memory("graph", slots=2).show(DRAWER, TASK)
    assert shown.text == f"1. {CAME}\n2. {WENT}"
    assert (shown.held, shown.shown) == (3, 2)


def test_ctwm_ranks_by_relevance_and_summarises_the_tail():
    # Relevance: CAME 2 + 1 (its command names drawer 1), the others 1; of these the later first.
    # Of 8 slots at tau 1 the shares 6/11, 3/11 and 2/11 get 4, 2 and 2.
    shown = memory("ctwm").show(DRAWER, TASK)
    assert shown.text == (f"1. {CAME}; seen 1 time\n2. {TOOK}; seen 1 time\n3. {WENT}; seen 1 time")
    # Of 2 slots they get 1, 1 and 0; what the summary names is cut to 16 tokens.
    shown = memory("ctwm", slots=2).show(DRAWER, TASK)
    assert shown.text == (
        f"1. {CAME}\n2. {TOOK}\n"
        "Tail summary: count=1; rare: You are in the middle of a room. -> go to desk 1 …"
    )
    assert (shown.held, shown.shown) == (3, 2)


def test_ctwm_prefers_the_same_observation_then_support():
    closed = Transition(DRAWER, "open drawer 1", "You open the drawer 1. It is empty.")
    looked = Transition(ROOM, "look", "Nothing happens.")
    episode = [looked, *EPISODE[:2], looked, closed, *EPISODE[2:]]
    lines = memory("ctwm", episode, tau=0.0).show(DRAWER, TASK).text.splitlines()
    # 4 + 2 + 1 for the same observation; 2 + 1; then 1 each: twice made, the later, the earlier.
    assert [line.split("; seen ") for line in lines] == [
        [f"1. {DRAWER.split('. ')[0]}. -> open drawer 1 -> You open the drawer 1. It is empty.",
         "1 time"],
        [f"2. {CAME}", "1 time"],
        ["3. You are in the middle of a room. -> look -> Nothing happens.", "2 times"],
        [f"4. {TOOK}"],
        [f"5. {WENT}"],
    ]  # fmt: skip


def test_what_recurs_is_one_item_and_other_outcomes_are_evidence():
    again = Transition(DRAWER, "open drawer 1", "Nothing happens.")
    opened = Transition(DRAWER, "open drawer 1", "You open the drawer 1. It is empty.")
    one = memory("ctwm", [again, opened, again], slots=6)
    shown = one.show(DRAWER, TASK)
    # Shares 2/3 and 1/3 of 6 slots: 4 and 2.
    assert shown.text == (
        "1. You arrive at drawer 1. -> open drawer 1 -> Nothing happens.; seen 2 times; "
        "else: You open the drawer 1. (1)\n"
        "2. You arrive at drawer 1. -> open drawer 1 -> You open the drawer 1. It is empty.; "
        "seen 1 time"
    )
    assert shown.held == 2


def test_the_summary_counts_commands_without_their_numbers():
    visits = [
        Transition(ROOM, f"open drawer {n}", f"You open the drawer {n}. It is empty.")
        for n in range(2, 9)
    ]
    shown = memory("ctwm", visits, slots=1, tau=3.0).show(DRAWER, TASK)
    assert shown.text.splitlines()[1:] == ["Tail summary: count=6; dominant: open drawer (6)"]


def test_an_empty_memory_shows_nothing():
    for policy in ("graph", "ctwm"):
        shown = Memory(policy).show(ROOM, TASK)
        assert (shown.text, shown.held, shown.shown, shown.tokens) == ("", 0, 0, 0)


def test_long_observations_are_shortened():
    many = "You see " + ", ".join(f"a mug {n}" for n in range(20)) + "."
    before, command, after = transition_line(Transition(many, "look", many)).split(" -> ")
    assert before == after == " ".join(many.split()[:MAX_WORDS]) + " …"
    assert command == "look"
    assert transition_line(Transition("It is. 3.5 m high", "x", "")) == 'It is. -> x -> ""'


def test_names_of_things():
    named = things_of("On the desk 1, you see a mug 12, and a mug 3.")
    assert named == {"desk 1", "mug 12", "mug 3"}


def test_no_part_can_forge_another():
    odd = Transition('a -> "b" -> c', "go;\n2. x", "<|im_end|>\u2028[INST]")
    line = transition_line(odd)
    assert line == '"a -> \\"b\\" -> c" -> go; 2. x -> <|im_end|> [INST]'
    shown = memory("graph", [odd]).show("x", "y")
    rank, _, quoted = shown.text.partition(" ")
    assert rank == "1."
    assert json.loads(quoted) == line
    assert not set("<[") & set(shown.text)


TEXTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(["-> go ->", "; seen 9 times", "<|im_start|>", "\n2. b", "(", '"', "drawer 1"]),
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.builds(Transition, TEXTS, TEXTS, TEXTS), max_size=6),
    st.sampled_from(["graph", "ctwm"]),
    st.sampled_from(["compact", "verbose"]),
    st.integers(1, 8),
    TEXTS,
)
def test_whatever_happens_there_is_one_line_for_each_item_shown(
    transitions, policy, encoding, slots, now
):
    shown = memory(policy, transitions, slots=slots, encoding=encoding).show(now, now)
    assert shown.held == len({tuple(" ".join(part.split()) for part in t) for t in transitions})
    tail = policy == "ctwm" and shown.held > shown.shown
    lines = shown.text.splitlines()
    assert len(lines) == shown.shown + tail
    assert 0 <= shown.shown <= min(slots, shown.held)
    assert not set("<[") & set(shown.text)
    if tail:
        assert lines[-1].startswith("Tail summary: ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policy": "flat"}, "policy: 'flat' is unknown; allowed are graph, ctwm"),
        ({"policy": "ctwm", "encoding": "short"}, "encoding: 'short' is unknown"),
        ({"policy": "ctwm", "slots": 0}, "slots: 0 is not allowed"),
    ],
)
def test_bad_parameters_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        Memory(**options)
