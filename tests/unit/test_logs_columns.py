import itertools

import pytest

from coretail.errors import InputError
from coretail.logs.columns import GUESSES, ROLES, Columns, Request, choose


@pytest.mark.parametrize(
    ("available", "expected"),
    [
        (["id", "ts"], {"id": "id", "time": "ts"}),
        # The event has an id of its own: the item's is the surer guess.
        (["id", "Memory ID", "step"], {"id": "Memory ID", "time": "step"}),
        (["item", "time", "rank"], {"id": "item", "time": "time", "rank": "rank"}),
        # Without a time there is nothing that a rank would order.
        (["item", "rank"], {"id": "item"}),
        (["item", "count"], {"id": "item", "count": "count"}),
        (["count"], {"count": "count"}),
        # With a time it has the counts of a period; the time orders nothing within it.
        (["item", "count", "timestamp"], {"id": "item", "count": "count"}),
        (["memory_id", "t", "date", "hits"], {"id": "memory_id", "count": "hits"}),
        (["x", "doc-id"], {"id": "doc-id"}),
    ],
)
def test_columns_are_guessed_by_name(available, expected):
    columns = choose(available, Request(), "log")
    assert columns.present() == expected
    assert set(columns.guessed) == set(expected)


def test_what_is_asked_for_is_not_guessed():
    columns = choose(["a", "b", "rank", "t"], Request(id="rank", time="b"), "log")
    assert columns == Columns(id="rank", time="b", guessed=())
    columns = choose(["id", "n", "t"], Request(count="n"), "log")
    assert columns == Columns(id="id", count="n", guessed=("id",))


def test_the_order_of_the_rows_needs_no_time():
    columns = choose(["id", "time", "rank", "count"], Request(file_order=True), "log")
    assert columns.present() == {"id": "id"}
    columns = choose(["id", "pos"], Request(max_rank=3), "log")
    assert columns.present() == {"id": "id", "rank": "pos"}


def test_counts_beside_a_time_are_a_guess_that_is_said_with_its_option():
    available = ["item", "count", "created_at"]
    columns = choose(available, Request(), "log")
    (note,) = columns.notes
    assert "taken as 'count' accesses (guessed), added up per 'item'" in note
    assert "'created_at' is not used" in note
    assert "with --time created_at each row is one access" in note
    assert columns.other_reading == "--time created_at"
    # Named, it is no guess.
    assert choose(available, Request(count="count"), "log").notes == ()
    assert choose(["item", "count"], Request(), "log").notes == ()


@pytest.mark.parametrize(
    ("request_", "option"),
    [
        (Request(time="step"), "--time"),
        (Request(rank="rank"), "--rank"),
        (Request(max_rank=2), "--max-rank"),
        (Request(file_order=True), "--file-order"),
    ],
)
def test_an_option_of_accesses_outdoes_a_guessed_count_and_it_is_said(request_, option):
    columns = choose(["item", "step", "rank", "count"], request_, "log")
    assert columns.count is None
    (note,) = columns.notes
    assert note.startswith(f"'count' is not read: with {option} each row is one access")
    assert "--count count" in note


@pytest.mark.parametrize(
    ("available", "request_", "message"),
    [
        (["a", "b"], Request(id="c"), "no column 'c' (--id); the columns are 'a', 'b'"),
        (["id", "b"], Request(time="c"), "no column 'c' (--time); the columns are 'id', 'b'"),
        (["a", "b"], Request(), "the columns are 'a', 'b'; name one with --id or --count"),
        ([], Request(), "the columns are none"),
        # Totals per day are no counts per item, unless their owner says so.
        (["date", "count"], Request(), "id of an accessed item; the columns are 'date', 'count'"),
        (["id"], Request(max_rank=2), "--max-rank 2 needs a column of ranks"),
        (["id", "id"], Request(), "column 'id' stands twice"),
        (["id", "n", "t"], Request(count="n", time="t"), "has no time or rank"),
        (["id", "t"], Request(time="t", file_order=True), "exclude each other"),
        ([f"c{n}" for n in range(99)], Request(), "'c29', ...;"),
    ],
)
def test_what_is_missing_or_contradictory_is_said(available, request_, message):
    with pytest.raises(InputError) as error:
        choose(available, request_, "log.csv")
    assert message in str(error.value)
    assert str(error.value).startswith("log.csv: ")


def test_no_name_is_guessed_for_two_roles():
    assert set(GUESSES) == set(ROLES)
    for first, second in itertools.combinations(GUESSES.values(), 2):
        assert not set(first) & set(second)
