"""All tables and figures in the paper's order, as one Markdown page and as one LaTeX document."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coretail.render.tables import escape_latex, escape_markdown

_PREAMBLE = r"""\documentclass[10pt]{article}
\usepackage[T1]{fontenc}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\usepackage[a4paper,landscape,margin=15mm]{geometry}
\usepackage{array,booktabs,caption,graphicx,longtable}
% Tables and figures keep the paper's numbers, which stand in their titles.
\captionsetup{labelformat=empty,justification=raggedright,singlelinecheck=false}
\setlength{\LTcapwidth}{\textwidth}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt}
% Scales what is wider than the page down to it.
\newcommand{\fit}[1]{\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{#1}}
"""


@dataclass(frozen=True, slots=True)
class Picture:
    """One figure.

    Attributes
    ----------
    title, caption
        Plain text; the title names the figure, for example ``Figure 4: topology audit``.
    png, pdf
        Its files, seen from where the paper stands, parts separated by ``/``.
    """

    title: str
    caption: str
    png: str
    pdf: str


@dataclass(frozen=True, slots=True)
class Tables:
    """What one rule made: one or more tables, as rendered before.

    Attributes
    ----------
    markdown
        Each with a heading of the third level.
    latex
        The same in the same order.
    """

    markdown: str
    latex: str


@dataclass(frozen=True, slots=True)
class Section:
    """A heading in plain text and what stands under it."""

    heading: str
    parts: tuple[Picture | Tables, ...]


def read_caption(text: str) -> tuple[str, str]:
    """Return title and caption of a caption's file: its first paragraph and the rest, unwrapped.

    The file is plain text that reads the same as reStructuredText.
    """
    title, *rest = (" ".join(part.split()) for part in text.strip().split("\n\n"))
    return title.removesuffix("."), " ".join(rest)


def to_markdown(title: str, opening: Sequence[str], sections: Sequence[Section]) -> str:
    """Return the page as Markdown.

    Parameters
    ----------
    title, opening
        Heading of the page and the paragraphs below it, plain text.
    sections
        In the paper's order.
    """
    blocks = [f"# {escape_markdown(title)}", *map(escape_markdown, opening)]
    for section in sections:
        blocks.append(f"## {escape_markdown(section.heading)}")
        for part in section.parts:
            if isinstance(part, Tables):
                blocks.append(part.markdown.strip())
            else:
                alternative = escape_markdown(part.title).replace("]", r"\]")
                blocks += [
                    f"### {escape_markdown(part.title)}",
                    f"![{alternative}](<{part.png}>)",
                    escape_markdown(part.caption),
                ]
    return "\n\n".join(blocks) + "\n"


def to_latex(title: str, opening: Sequence[str], sections: Sequence[Section]) -> str:
    """Return the page as a LaTeX document; the parameters are those of :func:`to_markdown`."""
    lines = [
        *(_PREAMBLE + r"\begin{document}").split("\n"),
        rf"\begin{{center}}\Large\bfseries {escape_latex(title)}\end{{center}}",
    ]
    for paragraph in opening:
        lines += [escape_latex(paragraph), ""]
    for section in sections:
        lines += ["", rf"\section*{{{escape_latex(section.heading)}}}"]
        for part in section.parts:
            if isinstance(part, Tables):
                lines += _tables(part)
            else:
                lines += _picture(part)
        # No figure or table leaves its section.
        lines += [r"\clearpage"]
    return "\n".join([*lines, r"\end{document}"]) + "\n"


def _picture(picture: Picture) -> Iterator[str]:
    yield r"\begin{figure}[!htbp]"
    yield r"\centering"
    yield (
        r"\includegraphics[width=\linewidth,height=0.72\textheight,keepaspectratio]"
        f"{{{picture.pdf}}}"
    )
    yield rf"\caption{{\textbf{{{escape_latex(picture.title)}.}} {escape_latex(picture.caption)}}}"
    yield r"\end{figure}"


def _tables(tables: Tables) -> Iterator[str]:
    # LaTeX would number the tables itself, and its source has no numbers.
    numbers = iter(re.findall(r"^### (Table \w+)?", tables.markdown, re.MULTILINE))

    def caption(_: re.Match[str]) -> str:
        number = next(numbers, "")
        return rf"\caption{{\textbf{{{number}.}} " if number else r"\caption{"

    source = re.sub(r"\\caption\{", caption, tables.latex.strip())
    source = source.replace(r"\begin{tabular}", r"\fit{\begin{tabular}")
    source = source.replace(r"\end{tabular}", r"\end{tabular}}")
    source = re.sub(r"\\begin\{table\*?\}", r"\\begin{table}[!htbp]", source)
    source = source.replace(r"\end{table*}", r"\end{table}")
    yield r"{\scriptsize\setlength{\tabcolsep}{3pt}"
    yield source
    yield r"\par}"
