from pathlib import Path

import pytest

from coretail import provenance
from coretail.provenance import canonical, code_hash, digest, specification


@pytest.fixture
def tree(tmp_path):
    """A scripts folder: the entry reads lib.a at the top, lib.b inside a function."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "entry.py").write_text(
        "import json\nfrom lib import a\n\ndef main():\n    from lib.b import f\n"
    )
    (tmp_path / "lib/__init__.py").write_text("")
    (tmp_path / "lib/a.py").write_text("from . import deep\n")
    (tmp_path / "lib/b.py").write_text("f = 1\n")
    (tmp_path / "lib/deep.py").write_text("x = 1\n")
    (tmp_path / "lib/words.txt").write_text("one\n")
    (tmp_path / "lib/unused.py").write_text("y = 1\n")
    provenance._local_imports.cache_clear()
    return tmp_path


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("entry.py", True),
        ("lib/__init__.py", True),
        ("lib/a.py", True),
        ("lib/b.py", True),
        ("lib/deep.py", True),
        ("lib/words.txt", True),
        ("lib/unused.py", False),
    ],
)
def test_the_code_hash_covers_what_the_entry_imports(tree, file, counts):
    before = code_hash(tree / "entry.py")
    path = tree / file
    path.write_text(path.read_text() + "# edited\n")
    assert (code_hash(tree / "entry.py") != before) is counts


def test_the_code_hash_ignores_times_and_the_place(tree, tmp_path_factory):
    before = code_hash(tree / "entry.py")
    (tree / "entry.py").touch()
    other = tmp_path_factory.mktemp("elsewhere") / "scripts"
    tree.rename(other)
    assert code_hash(other / "entry.py") == before


def test_order_of_keys_means_nothing_and_swapped_values_do():
    one = {"a": 1, "b": {"c": 2, "d": [3, 4]}}
    assert digest(one) == digest({"b": {"d": [3, 4], "c": 2}, "a": 1})
    assert list(canonical({"b": 1, "a": 2})) == ["a", "b"]
    assert digest({"a": 1, "b": 2}) != digest({"a": 2, "b": 1})
    assert digest([3, 4]) != digest([4, 3])


def test_a_change_upstream_changes_the_specification(tree):
    def downstream(steps):
        first = specification("walk", tree / "entry.py", {"steps": steps}, {})
        second = specification("count", tree / "entry.py", {}, {"walk": first})
        return specification("table", tree / "entry.py", {}, {"count": second})

    assert downstream(10) == downstream(10)
    assert downstream(10) != downstream(11)


def test_every_entry_script_hashes_more_than_itself():
    for script in sorted((Path(__file__).parents[2] / "scripts").glob("[a-z]*.py")):
        files = provenance._closure(script, script.parent)
        assert {script.name, "_entry.py", "manifest.py"} <= {file.name for file in files}
