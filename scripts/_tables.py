"""What every table's entry script shares: one description, written as Markdown, LaTeX and HTML."""

from collections.abc import Sequence

from _entry import Job
from coretail.render.tables import TableSpec, html_page, to_html, to_latex, to_markdown


def write_texts(job: Job, specs: Sequence[TableSpec]) -> None:
    """Write tables, one after the other, to the outputs ``markdown``, ``latex`` and ``html``."""
    job.output("markdown").write_text("\n".join(map(to_markdown, specs)), encoding="utf-8")
    job.output("latex").write_text("\n".join(map(to_latex, specs)), encoding="utf-8")
    page = html_page(specs[0].title, map(to_html, specs))
    job.output("html").write_text(page, encoding="utf-8")
