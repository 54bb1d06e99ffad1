"""What the README shows is run as it stands."""

import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_example_of_the_controller(tmp_path, monkeypatch, capsys):
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "counts.txt").write_text("".join(f"{1 + 300 // n}\n" for n in range(1, 301)))
    exec(compile(example, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert printed.startswith(
        "1. order 41 ships from Turin\n2. user prefers trains\n3. user lives in Bern\n"
        "Tail summary: count=2; rare: trip moved to May, likes window seats\n"
        "1 core 1 "
    )
    tau = float(printed.splitlines()[-1].split()[0])
    assert 0 < tau <= 2


@pytest.mark.parametrize(
    "path", sorted(set(re.findall(r"`((?:config|workflow|docs)/[\w./-]+)`", README)))
)
def test_paths_that_the_readme_names_exist(path):
    assert (Path(__file__).parents[2] / path.rstrip("/")).exists() or path == "workflow/recordings/"
