"""The paper's page, Figure 2, Figure 1 whole, tables as HTML."""

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from matplotlib.text import Text

from coretail.controller.allocation import allocate
from coretail.errors import InputError
from coretail.render import paper
from coretail.render.joint import figure1_joint
from coretail.render.loop import figure2
from coretail.render.paper import Picture, Section, Tables, read_caption
from coretail.render.style import save_figure
from coretail.render.tables import (
    Column,
    TableSpec,
    decimal,
    escape_latex,
    html_page,
    text,
    to_html,
    to_latex,
    to_markdown,
)

ROOT = Path(__file__).parents[2]
COLUMNS = (
    Column("Family & size", ("family",), text(), "left"),
    Column("Gini", ("gini",), decimal(2), group="access"),
    Column("σ", ("sigma",), decimal(1), group="access"),
)
ROWS = (
    {"family": "<b>scale-free</b>", "gini": 0.75, "sigma": 1.0, "reason": ""},
    {"family": "modular\nfive blocks", "gini": None, "sigma": 2.25, "reason": "one item < 2"},
)
SPEC = TableSpec("demo", "Table 3: a & b", "Means.", COLUMNS, ROWS, ("A note.",), blocks="family")

HTML = """\
<section id="demo">
<h2>Table 3: a &amp; b</h2>
<p>Means.</p>
<table>
<thead>
<tr><th colspan="1" class="center"></th><th colspan="2" class="center">access</th></tr>
<tr><th class="left">Family &amp; size</th><th class="right">Gini</th><th class="right">σ</th></tr>
</thead>
<tbody>
<tr><td class="left">&lt;b&gt;scale-free&lt;/b&gt;</td><td class="right">0.75</td>\
<td class="right">1.0</td></tr>
<tr class="block"><td class="left">modular<br>five blocks</td>\
<td class="right">—<sup>a</sup></td><td class="right">2.2</td></tr>
</tbody>
</table>
<p class="note">A note.</p>
<p class="note"><sup>a</sup> one item &lt; 2</p>
</section>
"""


class Reader(HTMLParser):
    """Collects open elements, cells per row and references."""

    def __init__(self):
        super().__init__()
        self.open, self.cells, self.references = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.cells.append(0)
        if tag in ("td", "th"):
            self.cells[-1] += int(dict(attrs).get("colspan", 1))
        self.references += [value for name, value in attrs if name in ("href", "src")]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_html_is_golden():
    assert to_html(SPEC) == HTML


def test_an_html_page_is_whole_and_needs_nothing_else():
    reader = Reader()
    reader.feed(html_page("a < b", [to_html(SPEC)]))
    assert reader.open == []
    assert reader.cells == [3, 3, 3, 3]
    assert reader.references == []
    assert "<title>a &lt; b</title>" in html_page("a < b", [])


def test_html_refuses_a_missing_value_without_a_reason():
    rows = ({"family": "x", "gini": None, "sigma": 1.0, "reason": ""},)
    with pytest.raises(ValueError, match="missing value without a reason"):
        to_html(TableSpec("demo", "T", "C", COLUMNS, rows))


def long_table(words):
    columns = (
        Column("Claim", ("claim",), text(), "left"),
        Column("Why", ("why",), text(), "left"),
        Column("n", ("n",), text()),
    )
    rows = ({"claim": words, "why": 2 * words, "n": "7"},)
    return to_latex(TableSpec("demo", "T", "C", columns, rows, layout="long"))


def test_long_texts_wrap_in_a_longtable_where_lines_would_not_fit():
    assert r"\begin{longtable}{@{}llr@{}}" in long_table("a few words")
    wide = long_table("word " * 30)
    shares = [float(share) for share in re.findall(r"p\{([\d.]+)\\linewidth\}", wide)]
    # Both exceed the bound of a column's wish, so they share alike what n (1 + 2 of 150) leaves.
    assert shares == [pytest.approx((0.94 - 3 / 150) / 2, abs=1e-3)] * 2
    assert wide.count("r@{}}") == 1


def test_a_hat_and_brackets_are_mathematics():
    assert escape_latex("α̂ = ⌈x̂⌉") == r"$\hat{\alpha}$ = $\lceil\hat{x}\rceil$"


def test_a_caption_is_its_first_paragraph_and_the_rest():
    assert read_caption("Figure 1: a\nloop.\n\nIt goes\nround.\n\nAnd on.\n") == (
        "Figure 1: a loop",
        "It goes round. And on.",
    )
    assert read_caption("alone") == ("alone", "")


SECTIONS = (
    Section(
        "Random walks (5.1)",
        (
            Tables(to_markdown(SPEC), to_latex(SPEC)),
            Picture("Figure 4: x_y", "50% of |V|.", "../figures/4/a b.png", "../figures/4/a b.pdf"),
        ),
    ),
    Section("Appendix", (Tables("### No number\n\ntext", "\\caption{No number. C}\n"),)),
)


def test_the_page_has_everything_in_order():
    page = paper.to_markdown("Title", ["First."], SECTIONS)
    assert [line for line in page.splitlines() if line.startswith(("#", "!"))] == [
        "# Title",
        "## Random walks (5.1)",
        "### Table 3: a & b",
        "### Figure 4: x_y",
        "![Figure 4: x_y](<../figures/4/a b.png>)",
        "## Appendix",
        "### No number",
    ]
    assert "| <b>scale-free" not in page
    assert "50% of |V|." in page
    assert page.endswith("text\n")


def test_the_document_keeps_the_papers_numbers():
    source = paper.to_latex("Title", ["50% & more."], SECTIONS)
    assert r"50\% \& more." in source
    assert r"\caption{\textbf{Table 3.} a \& b. Means.}" in source
    assert r"\caption{No number. C}" in source
    assert r"{../figures/4/a b.pdf}" in source
    assert r"\caption{\textbf{Figure 4: x\_y.} 50\% of $|$V$|$.}" in source
    # All inside the page: a tabular is scaled.
    assert source.count(r"\fit{\begin{tabular}") == source.count(r"\end{tabular}}") == 1
    assert source.index("Table 3") < source.index("Figure 4") < source.index("Appendix")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_the_document_typesets(tmp_path):
    from _latex import typeset

    wide = Tables("### Ledger", long_table("word μ ≤ 3 " * 30))
    folder = tmp_path / "a path"
    (folder / "figures").mkdir(parents=True)
    save_figure(figure2(1.0, 8), folder / "figures/m-1.5B.pdf")
    sections = [
        Section("One", (Tables(to_markdown(SPEC), to_latex(SPEC)), wide)),
        Section("Two", (Picture("Figure 2: τ", "C", "m.png", "figures/m-1.5B.pdf"),)),
    ]
    source = folder / "paper.tex"
    source.write_text(paper.to_latex("Title", ["First."], sections), encoding="utf-8")
    typeset(source, folder / "paper.pdf")
    assert (folder / "paper.pdf").read_bytes().startswith(b"%PDF-")
    assert sorted(path.name for path in folder.iterdir()) == ["figures", "paper.pdf", "paper.tex"]


def test_without_latex_the_error_says_what_to_install(tmp_path, monkeypatch):
    from _latex import latex_program, typeset

    monkeypatch.setenv("PATH", str(tmp_path))
    assert latex_program() is None
    with pytest.raises(InputError, match=r"paper\.tex: no LaTeX.*pdflatex.*apt install"):
        typeset(tmp_path / "paper.tex", tmp_path / "paper.pdf")


def words(figure):
    return [item.get_text() for item in figure.findobj(Text) if item.get_text()]


def test_figure2_shows_the_controllers_own_slots(tmp_path):
    figure = figure2(1.0, 8)
    # By hand: H(12) = 3.1032, quotas 2.58, 1.29, 0.86, 0.64, 0.52, 0.43, ...: 2 + 1 whole slots,
    # five more to the remainders 0.86, 0.64, 0.58 (rank 1), 0.52, 0.43.
    bars = [bar.get_height() for container in figure.axes[0].containers for bar in container]
    assert len(bars) == 12
    slots = np.array(bars[:6]) / bars[1]
    assert slots == pytest.approx([3, 1, 1, 1, 1, 1])
    assert max(bars[6:]) < bars[1] / 2
    shown = words(figure)
    assert "core: ranks 1–6, in order" in shown
    assert any("$B$ = 8" in line and r"$\tau$ = 1" in line for line in shown)
    save_figure(figure, tmp_path / "a.pdf")
    save_figure(figure2(1.0, 8), tmp_path / "b.pdf")
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()


@pytest.mark.parametrize(("tau", "slots"), [(0.0, 1), (2.0, 25), (0.5, 500)])
def test_figure2_holds_its_words(tau, slots):
    figure = figure2(tau, slots)
    figure.draw_without_rendering()
    page = figure.bbox
    boxes = [item.get_window_extent() for item in figure.findobj(Text) if item.get_text()]
    assert all(page.x0 <= box.x0 and box.x1 <= page.x1 for box in boxes)
    for position, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[position + 1 :])


def distribution(counts, **key):
    counts = np.sort(counts)
    ranks = [{**key, "rank": r, "count": int(c)} for r, c in enumerate(counts[::-1], start=1)]
    shares = [{**key, "x": int(x), "ccdf": float((counts >= x).mean())} for x in np.unique(counts)]
    return ranks, shares


def joint(taus=(0.5, 1.0), size=1000):
    walks, drivers, others = ([], []), ([], []), ([], [])
    for seed in (42, 43):
        for rows, part in zip(
            walks,
            distribution([1, 2, 2, 9], family="uniform", n_nodes=1000, seed=seed),
            strict=True,
        ):
            rows += part
        for rows, part in zip(
            walks, distribution([1, 3, 8], family="mixed", n_nodes=size, seed=seed), strict=True
        ):
            rows += part
        for rows, part in zip(drivers, distribution([1, 1, 2, 4], seed=seed), strict=True):
            rows += part
        for rows, part in zip(others, distribution([1, 2, 2, 3], seed=seed), strict=True):
            rows += part
    return figure1_joint(*walks, *drivers, *others, 1000, "A-Model-1.5B", 300, taus)


def test_figure1_joins_its_halves_and_the_allocation():
    figure = joint()
    assert figure.get_suptitle() == "semantic policy: A-Model-1.5B"
    panels = [ax for ax in figure.axes if ax.axison]
    titles = [ax.get_title(loc="left").split("$")[-1].strip() for ax in panels]
    assert titles == ["random walks", "semantic policy", "controlled allocation", "", "", ""]
    by_rank, in_sum = (
        {tuple(np.round(line.get_ydata(), 6)) for line in ax.get_lines()}
        for ax in (panels[2], panels[5])
    )
    measured = (0.5, 0.25, 0.125, 0.125)
    budget = {tau: tuple(np.round(allocate(4, tau), 6)) for tau in (0.5, 1.0)}
    assert by_rank == {measured, *budget.values()}
    assert budget[1.0] == (0.48, 0.24, 0.16, 0.12)
    assert (0.5, 0.75, 0.875, 1.0) in in_sum
    legends = " ".join(
        item.get_text() for ax in figure.axes if ax.legend_ for item in ax.legend_.findobj(Text)
    )
    for part in ["2 seeds per family", "N = 300 steps", "semantic policy, 2 seeds", "seed 42"]:
        assert part in legends


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"size": 500}, r"several sizes \[500, 1000\]"),
        ({"taus": ()}, "0 exponents"),
        ({"taus": (1, 2, 3, 4, 5)}, "5 exponents"),
    ],
)
def test_figure1_refuses_what_it_cannot_show(settings, message):
    with pytest.raises(InputError, match=message):
        joint(**settings)


def test_versions_name_what_is_installed():
    code = (
        "import describe_run as d; spec = d.versions(); "
        "print([row['package'] for row in spec.rows], d.installed(('no-such-package', 'numpy')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT / "scripts",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "'python'" in done.stdout
    assert "'snakemake'" in done.stdout
    assert done.stdout.rstrip().endswith("['numpy']")
