"""Describe the run: its configuration, its models and the versions of what computed it."""

import importlib.metadata
from html import escape
from typing import Any

import yaml

from _entry import Job, run
from coretail.provenance import package_versions
from coretail.render.tables import Column, TableSpec, html_page, text, to_html

# They change no result, so artefacts do not name them; a reader may want to.
TOOLS = ("coretail", "snakemake")


def main(job: Job) -> None:
    """Write one page."""
    settings = job.settings["configuration"]
    source = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True, width=100)
    configuration = (
        "<section>\n<h2>Configuration</h2>\n"
        "<p>All values in force, defaults included, whatever files they came from. How completions "
        "are fetched changes no result and is left out, and so is every path.</p>\n"
        f"<pre>{escape(source)}</pre>\n</section>\n"
    )
    page = html_page("Configuration and versions", [to_html(versions()), configuration])
    job.output("html").write_text(page, encoding="utf-8")


def versions() -> TableSpec:
    """Return the table of versions."""
    found = {name: importlib.metadata.version(name) for name in installed(TOOLS)}
    rows: list[dict[str, Any]] = [
        {"package": name, "version": version}
        for name, version in (found | package_versions()).items()
    ]
    return TableSpec(
        name="versions",
        title="Versions",
        caption="What computed these results. Every Parquet file names those that can change it, "
        "with the hash of the code that made it, in its metadata.",
        columns=(
            Column("Package", ("package",), text(), "left"),
            Column("Version", ("version",), text(), "left"),
        ),
        rows=tuple(rows),
    )


def installed(names: tuple[str, ...]) -> list[str]:
    """Return those that are installed as packages."""
    return [name for name in names if any(importlib.metadata.Distribution.discover(name=name))]


if __name__ == "__main__":
    run(main, globals()["snakemake"])
