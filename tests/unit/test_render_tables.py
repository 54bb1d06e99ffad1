"""One description of a table as Markdown and LaTeX."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coretail.render.tables import (
    Column,
    TableSpec,
    decimal,
    escape_latex,
    integer,
    interval,
    p_value,
    percent,
    percent_interval,
    plus_minus,
    points,
    significant,
    text,
    to_latex,
    to_markdown,
)

COLUMNS = (
    Column("Family", ("family",), text(), align="left"),
    Column("n_tail", ("n_tail",), integer(), latex_header=r"$n_{\mathrm{tail}}$"),
    Column("Gini | 95%", ("gini", "gini_low", "gini_high"), interval(2), group="access"),
    Column("Seeds", ("seeds",), points(2), align="center", group="access"),
    Column("p", ("p",), p_value()),
)
ROWS = (
    {
        "family": "scale-free",
        "n_tail": 35000,
        "gini": 0.8,
        "gini_low": 0.74,
        "gini_high": 0.87,
        "seeds": [0.78, 0.8, 0.82],
        "p": 0.0004,
        "reason": "",
    },
    {
        "family": "a|b_c",
        "n_tail": 7,
        "gini": 0.5,
        "gini_low": None,
        "gini_high": None,
        "seeds": [0.5],
        "p": None,
        "reason": "n_tail < 100",
    },
    {
        "family": "modular",
        "n_tail": 0,
        "gini": None,
        "gini_low": None,
        "gini_high": None,
        "seeds": [0.25, None],
        "p": 0.25,
        "reason": "a single item",
    },
)


def spec(**changes):
    settings = {
        "name": "demo",
        "title": "Table 9: A demonstration",
        "caption": "Means of 3 seeds & 95% t intervals, by |V|.",
        "columns": COLUMNS,
        "rows": ROWS,
        "notes": ("The rule is `full`.",),
    }
    return TableSpec(**(settings | changes))


MARKDOWN = r"""### Table 9: A demonstration

Means of 3 seeds & 95% t intervals, by |V|.

| Family     | n_tail | access: Gini \| 95% |    access: Seeds     |             p |
| :--------- | -----: | ------------------: | :------------------: | ------------: |
| scale-free | 35,000 |   0.80 [0.74, 0.87] |  0.78 / 0.80 / 0.82  |        <0.001 |
| a\|b_c     |      7 |    0.50<sup>a</sup> |         0.50         | —<sup>a</sup> |
| modular    |      0 |       —<sup>b</sup> | 0.25 / —<sup>b</sup> |         0.250 |

The rule is \`full\`.

<sup>a</sup> n_tail < 100

<sup>b</sup> a single item
"""


def test_markdown_is_golden():
    assert to_markdown(spec()) == MARKDOWN


def test_markdown_columns_line_up():
    table = [line for line in to_markdown(spec()).split("\n") if line.startswith("|")]
    assert len({len(line) for line in table}) == 1
    bars = [[match.start() for match in re.finditer(r"(?<!\\)\|", line)] for line in table]
    assert all(positions == bars[0] for positions in bars)


LATEX = r"""% Needs booktabs.
\begin{table}
\centering
\caption{A demonstration. Means of 3 seeds \& 95\% t intervals, by $|$V$|$.}
\label{tab:demo}
\begin{tabular}{@{}lrrcr@{}}
\toprule
\multicolumn{2}{c}{} & \multicolumn{2}{c}{access} & \multicolumn{1}{c}{} \\
\cmidrule(lr){3-4}
Family & $n_{\mathrm{tail}}$ & Gini $|$ 95\% & Seeds & p \\
\midrule
scale-free & 35,000 & 0.80 [0.74, 0.87] & 0.78 / 0.80 / 0.82 & $<$0.001 \\
a$|$b\_c & 7 & 0.50\textsuperscript{a} & 0.50 & ---\textsuperscript{a} \\
modular & 0 & ---\textsuperscript{b} & 0.25 / ---\textsuperscript{b} & 0.250 \\
\bottomrule
\end{tabular}
\par\smallskip
\begin{minipage}{\linewidth}\footnotesize
The rule is `full`.\par
\textsuperscript{a}~n\_tail $<$ 100\par
\textsuperscript{b}~a single item
\end{minipage}
\end{table}
"""


def test_latex_is_golden():
    assert to_latex(spec()) == LATEX


@pytest.mark.parametrize("layout", ["column", "page", "long"])
def test_latex_is_well_formed(layout):
    source = to_latex(spec(layout=layout, blocks="family"))
    opened = re.findall(r"\\begin\{([a-z*]+)\}", source)
    closed = re.findall(r"\\end\{([a-z*]+)\}", source)
    assert sorted(opened) == sorted(closed)
    assert {"column": "table", "page": "table*", "long": "longtable"}[layout] in opened
    assert source.count("{") - source.count(r"\{") == source.count("}") - source.count(r"\}")
    assert len(re.findall(r"(?<!\\)\$", source)) % 2 == 0
    for row in source.split("\n"):
        if row.endswith(r" \\") and "multicolumn" not in row:
            assert len(re.findall(r"(?<!\\)&", row)) == len(COLUMNS) - 1
    assert source.count(r"\midrule") == (4 if layout == "long" else 3)
    assert source.count(r"\toprule") == (2 if layout == "long" else 1)
    assert source.count(r"\bottomrule") == 1


def test_latex_row_cannot_start_like_an_argument_of_the_line_break():
    rows = tuple({**ROWS[0], "family": name} for name in ("plain", "[0, 1]", "*"))
    source = to_latex(spec(rows=rows))
    assert "\n{}[0, 1] &" in source
    assert "\n{}* &" in source


def test_rendering_is_deterministic_and_does_not_depend_on_the_order_of_keys():
    shuffled = tuple(dict(reversed(row.items())) for row in ROWS)
    assert to_markdown(spec(rows=shuffled)) == to_markdown(spec())
    assert to_latex(spec(rows=shuffled)) == to_latex(spec())


def test_a_missing_value_needs_a_reason():
    table = spec(rows=({**ROWS[1], "reason": ""},))
    for render in (to_markdown, to_latex):
        with pytest.raises(ValueError, match=r"row 0, column 'Gini . 95%': a missing value"):
            render(table)


def test_a_columns_own_reason_stands_for_the_rows():
    columns = (
        Column("Family", ("family",), text()),
        Column("Paper", ("p",), decimal(3), missing="not printed in the paper"),
    )
    shown = to_markdown(spec(columns=columns, rows=(ROWS[1],)))
    assert "—<sup>a</sup>" in shown
    assert "<sup>a</sup> not printed in the paper" in shown
    assert "n_tail < 100" not in shown


def test_a_table_without_rows_keeps_its_head():
    assert to_markdown(spec(rows=())).count("\n|") == 2
    assert r"\bottomrule" in to_latex(spec(rows=()))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"columns": (Column("X", ("nowhere",), text()),)}, r"row 0 lacks \['nowhere'\]"),
        ({"columns": (Column("X", (), text()),)}, "column 'X' shows no field"),
        ({"blocks": "nowhere"}, r"row 0 lacks \['nowhere'\]; its fields are \['family'"),
        ({"rows": (ROWS[0], {"family": "x"})}, r"row 1 lacks \['gini', "),
        ({"rows": (ROWS[0], {**ROWS[0], "gini": math.nan})}, "row 1, gini: nan"),
        ({"rows": ({**ROWS[0], "gini_high": math.inf},)}, "row 0, gini_high: inf"),
        ({"rows": ({**ROWS[0], "seeds": [0.1, math.nan]},)}, r"row 0, seeds: \[0.1, nan\]"),
    ],
)
def test_a_description_that_does_not_fit_its_rows_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        spec(**changes)


@pytest.mark.parametrize(
    ("write", "values", "expected"),
    [
        (text(), ("scale-free",), "scale-free"),
        (integer(), (35000,), "35,000"),
        (integer(), (-1200,), "−1,200"),
        (decimal(2), (0.805,), "0.81"),
        (decimal(2), (-0.8,), "−0.80"),
        (decimal(2), (-0.001,), "0.00"),
        (decimal(1), (12345.67,), "12,345.7"),
        (significant(3), (0.012449,), "0.0124"),
        (significant(3), (9.996,), "10.0"),
        (significant(3), (0.00099996,), "0.00100"),
        (significant(3), (1234.0,), "1,230"),
        (significant(2), (-2.5,), "−2.5"),
        (significant(1), (0.25,), "0.2"),
        (significant(2), (3e-7,), "3.0 × 10⁻⁷"),
        (significant(2), (-1.25e12,), "−1.2 × 10¹²"),
        (significant(2), (0.0,), "0"),
        (interval(2), (0.8, 0.74, 0.87), "0.80 [0.74, 0.87]"),
        (interval(2), (0.8, -0.74, 0.87), "0.80 [−0.74, 0.87]"),
        (interval(2), (0.8, None, None), "0.80"),
        (percent(1), (0.4519,), "45.2%"),
        (percent_interval(1), (0.4519, 0.401, 0.503), "45.2% [40.1, 50.3]"),
        (percent_interval(0), (0.4519, None, None), "45%"),
        (plus_minus(2), (2.5149, 0.031), "2.51 ± 0.03"),
        (plus_minus(2), (2.5149, None), "2.51"),
        (p_value(), (0.0416,), "0.042"),
        (p_value(), (0.001,), "0.001"),
        (p_value(), (0.00099,), "<0.001"),
        (p_value(2), (0.0,), "<0.01"),
        (p_value(), (1.0,), "1.000"),
        (points(2), ([0.141, -0.15, None],), "0.14 / −0.15 / —"),
    ],
)
def test_numbers_are_written_as_a_paper_writes_them(write, values, expected):
    assert write(*values) == expected


@pytest.mark.parametrize(
    ("plain", "source"),
    [
        (r"50% of $3 & #1_a {x} ~ ^ \n", None),
        ("σ₁₀₀ ≥ α", r"$\sigma_{100}$ $\ge$ $\alpha$"),
        ("R² = 10⁻⁷", r"R$^{2}$ = 10$^{-7}$"),
        ("$σ", r"\$$\sigma$"),
        ("−0.5 ± 0.1 — 3–8", r"$-$0.5 $\pm$ 0.1 --- 3--8"),
        ("Barabási", "Barabási"),
        ("a\nb", "a b"),
    ],
)
def test_latex_escaping(plain, source):
    expected = source or (
        r"50\% of \$3 \& \#1\_a \{x\} \textasciitilde{} \textasciicircum{} \textbackslash{}n"
    )
    assert escape_latex(plain) == expected


@given(st.text())
def test_escaped_text_holds_no_active_character(plain):
    source = escape_latex(plain)
    bare = re.sub(r"\$[^$]*\$", "", source.replace(r"\$", ""))
    bare = re.sub(r"\\(textbackslash|textasciitilde|textasciicircum|dots)\{\}", "", bare)
    bare = re.sub(r"\\[{}&%#_]", "", bare).replace("~", "", plain.count("\u00a0"))
    assert not set(bare) & set("\\{}&%$#_~^")


@pytest.mark.parametrize(
    ("plain", "shown"),
    [
        ("a|b", r"a\|b"),
        ("**x** `y` ~z~ $1", r"\*\*x\*\* \`y\` \~z\~ \$1"),
        ("[0, 1] and [a](b)", r"[0, 1] and [a\](b)"),
        ("_x_ but ent_17", r"\_x\_ but ent_17"),
        ("<b> and p < 0.1, <0.001", "&lt;b> and p < 0.1, <0.001"),
        ("a\nb", "a<br>b"),
        (r"a\|b", r"a\\\|b"),
    ],
)
def test_markdown_escaping(plain, shown):
    table = spec(rows=({**ROWS[0], "family": plain},))
    row = to_markdown(table).split("\n")[6]
    assert row.startswith(f"| {shown} ")
