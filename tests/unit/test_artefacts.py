import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coretail import artefacts
from coretail.errors import InputError
from coretail.schemas import SCHEMAS

SPEC = {"rule": "walk_randomly", "settings": {"steps": 3}, "code": "c0de", "upstream": {}}
COLUMNS = {
    "family": "uniform",
    "n_nodes": 100,
    "seed": 42,
    "node": np.arange(3),
    "visits": [1, 0, 2],
}


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "visits.parquet"
    artefacts.write(file, "walk_visits", artefacts.table("walk_visits", COLUMNS), SPEC)
    return file


def test_round_trip_with_metadata_that_explains_the_file(path):
    table = artefacts.read(path, "walk_visits")
    assert table["visits"].to_pylist() == [1, 0, 2]
    assert table["family"].to_pylist() == ["uniform"] * 3
    schema = pq.read_schema(path)
    assert b"visits" in schema.metadata[b"coretail.description"]
    assert schema.metadata[b"coretail.rule"] == b"walk_randomly"
    assert json.loads(schema.metadata[b"coretail.config"]) == {"steps": 3}
    assert "numpy" in json.loads(schema.metadata[b"coretail.packages"])
    for field in schema:
        assert field.metadata[b"description"]


def test_every_column_of_every_schema_is_described():
    for name, schema in SCHEMAS.items():
        assert schema.description, name
        for field in schema.arrow:
            assert field.metadata[b"description"].strip(), (name, field.name)


def test_the_same_content_gives_the_same_bytes(path, tmp_path):
    again = tmp_path / "again.parquet"
    parts = [
        artefacts.table("walk_visits", COLUMNS | {"node": [i], "visits": [n]})
        for i, n in enumerate([1, 0, 2])
    ]
    joined = pa.concat_tables(parts).combine_chunks()
    artefacts.write(again, "walk_visits", joined, SPEC)
    assert again.read_bytes() == path.read_bytes()


def test_missing_values_need_an_optional_column(tmp_path):
    columns = COLUMNS | {"visits": [1, None, 2]}
    with pytest.raises(ValueError, match=r"walk_visits.visits: 1 missing"):
        artefacts.write(
            tmp_path / "x", "walk_visits", artefacts.table("walk_visits", columns), SPEC
        )
    row = dict.fromkeys(SCHEMAS["table1_noise"].arrow.names)
    row |= {"eviction": "reservoir", "n_nodes": 1, "n_seeds": 0, "reason": "none"}
    table = artefacts.table_of_rows("table1_noise", [row])
    artefacts.write(tmp_path / "y", "table1_noise", table, SPEC)
    assert artefacts.read_rows(tmp_path / "y", "table1_noise") == [row]
    table = artefacts.table_of_rows("table1_noise", [row | {"difference": float("nan")}])
    with pytest.raises(ValueError, match=r"table1_noise.difference: NaN"):
        artefacts.write(tmp_path / "z", "table1_noise", table, SPEC)


def test_groups_keep_the_order_of_rows():
    table = pa.table({"a": ["y", "x", "y", "x"], "b": [1, 1, 1, 2], "v": [0, 1, 2, 3]})
    found = [(key, rows["v"].to_pylist()) for key, rows in artefacts.groups(table, ["a", "b"])]
    assert found == [
        ({"a": "y", "b": 1}, [0, 2]),
        ({"a": "x", "b": 1}, [1]),
        ({"a": "x", "b": 2}, [3]),
    ]


def test_wrong_columns_and_lengths_are_refused():
    with pytest.raises(ValueError, match=r"\['extra'\] are unexpected, \['visits'\] are missing"):
        artefacts.table(
            "walk_visits", {k: v for k, v in COLUMNS.items() if k != "visits"} | {"extra": 1}
        )
    with pytest.raises(ValueError, match="unequal lengths"):
        artefacts.table("walk_visits", COLUMNS | {"visits": [1]})
    with pytest.raises(ValueError, match="lacks"):
        artefacts.table_of_rows("walk_visits", [{"family": "uniform"}])


def test_a_truncated_file_is_named(path):
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"visits.parquet: damaged or not Parquet.*walk_visits"):
        artefacts.read(path, "walk_visits")


def test_a_flipped_bit_in_a_page_is_noticed(path):
    data = bytearray(path.read_bytes())
    footer = int.from_bytes(data[-8:-4], "little")
    noticed = 0
    for position in range(4, len(data) - footer - 8):
        damaged = bytearray(data)
        damaged[position] ^= 1
        path.write_bytes(damaged)
        try:
            assert artefacts.read(path, "walk_visits")["visits"].to_pylist() == [1, 0, 2]
        except InputError:
            noticed += 1
    assert noticed > 20


def test_foreign_files_are_named(path, tmp_path):
    with pytest.raises(InputError, match=r"the artefact 'walk_visits'.*expected.*'edges'"):
        artefacts.read(path, "edges")
    foreign = tmp_path / "foreign.parquet"
    pq.write_table(pa.table({"a": [1]}), foreign)
    with pytest.raises(InputError, match=r"foreign.parquet: not an artefact.*'edges'"):
        artefacts.read(foreign, "edges")
    with pytest.raises(InputError, match=r"absent.parquet: missing"):
        artefacts.read(tmp_path / "absent.parquet", "edges")


def test_a_column_of_another_type_is_named(path):
    table = pq.read_table(path)
    position = table.column_names.index("visits")
    changed = table.set_column(position, "visits", table["visits"].cast(pa.int32()))
    pq.write_table(changed.replace_schema_metadata(table.schema.metadata), path)
    with pytest.raises(InputError, match=r"column 'visits' of rule 'walk_randomly'"):
        artefacts.read(path, "walk_visits")
    assert artefacts.read(path, "walk_visits", ["node"]).num_rows == 3
