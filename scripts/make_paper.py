"""Make the paper's page: all tables and figures in the paper's order, as Markdown and LaTeX."""

import os
from pathlib import Path

from _entry import LOGGER, Job, run
from _latex import latex_program
from coretail.render.paper import Picture, Section, Tables, read_caption, to_latex, to_markdown

TITLE = "Heavy-Tailed Memory Traces in Long-Horizon Language Agents: what came out here"
ELSEWHERE = "Further tables and figures"


def main(job: Job) -> None:
    """Write what this run made; a result that no section names stands at the end."""
    captions = job.settings["captions"]
    home = job.output("markdown").parent
    parts: dict[str, list[Picture | Tables]] = {}
    sources = zip(job.inputs("markdown"), job.inputs("latex"), strict=True)
    for markdown, latex in sources:
        tables = Tables(markdown.read_text(encoding="utf-8"), latex.read_text(encoding="utf-8"))
        parts[markdown.stem] = [tables]
    for png, pdf in zip(job.inputs("png"), job.inputs("pdf"), strict=True):
        # A figure of one model lies in the figure's folder.
        single = png.parent.name == "figures"
        name = png.stem if single else png.parent.name
        title, caption = read_caption(captions.get(name, name))
        picture = Picture(
            title if single else f"{title} ({png.stem})",
            caption,
            *(Path(os.path.relpath(path, home)).as_posix() for path in (png, pdf)),
        )
        parts.setdefault(name, []).append(picture)
    sections = [
        Section(heading, tuple(part for name in names for part in parts.pop(name, [])))
        for heading, names in job.settings["sections"]
    ]
    sections.append(Section(ELSEWHERE, tuple(part for rest in parts.values() for part in rest)))
    sections = [section for section in sections if section.parts]
    opening = introduction(job.settings["models"])
    for name, write in {"markdown": to_markdown, "latex": to_latex}.items():
        job.output(name).write_text(write(TITLE, opening, sections), encoding="utf-8")
    program = latex_program()
    LOGGER.info(
        "paper.tex: %s",
        f"`snakemake paper_pdf` typesets it with {program}"
        if program
        else "written, but no PDF: no LaTeX is installed (pdflatex, lualatex, xelatex or tectonic)",
    )


def introduction(models: list[str]) -> list[str]:
    """Return the opening paragraphs."""
    spoken = (
        f"Language models in this run: {', '.join(models)}. The paper does not name its model, so "
        "what rests on one of these is never a verdict on the paper's own; each such row names "
        "its model."
        if models
        else "No language model is part of this run."
    )
    return [
        "Every table and figure of the paper as this workflow made them, in the paper's order, and "
        "what stands beside them here. The claims ledger at the end says of each of the paper's "
        "claims what became of it.",
        spoken,
    ]


if __name__ == "__main__":
    run(main, globals()["snakemake"])
