"""The report as a reader meets it: one file, offline, the ledger first."""

import json
import re
import shutil
import subprocess

import pytest

from _latex import latex_program

pytestmark = pytest.mark.workflow

CHROMIUM = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "chrome"])), None)
# What a browser fetches on its own. Links that a reader may click are no requests.
FETCHED = re.compile(
    r"""<(?:script|img|iframe|embed|source|video|audio)\b[^>]*?\bsrc\s*=\s*["']?(?!data:)[^"'\s>]"""
    r"""|<link\b[^>]*?\bhref\s*=|@import\b|\burl\(\s*["']?(?:https?:)?//""",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def made(finished, tmp_path_factory):
    """A finished run with its report."""
    path = tmp_path_factory.mktemp("reported") / "a path"
    shutil.copytree(finished.path, path)
    workflow = type(finished)(path)
    workflow.run("report")
    return workflow


@pytest.fixture(scope="module")
def report(made):
    return (made.path / "results/report/report.html").read_text(encoding="utf-8")


def variable(report, name):
    """Return one of the values that the page's scripts draw."""
    start = re.search(rf'<script id="[\w-]+">\s*var {name} = ', report)
    return json.JSONDecoder().raw_decode(report, start.end())[0]


def test_the_report_shows_every_table_and_figure_the_ledger_first(made, report):
    categories = variable(report, "categories")
    first, *_, last = sorted(categories)
    assert first == "1 Claims ledger"
    assert categories[first] == {"Other": ["results/tables/ledger.html"]}
    assert categories[last] == {"Other": ["results/report/configuration.html"]}
    shown = {path for groups in categories.values() for paths in groups.values() for path in paths}
    results = made.path / "results"
    there = [*results.glob("tables/*.html"), *results.glob("figures/**/*.png")]
    assert {str(path.relative_to(made.path)) for path in there} < shown
    assert all((results / "tables" / f"{name}.html").exists() for name in ["table1", "table3"])


def test_labels_are_short_and_captions_stand_under_them(report):
    results = variable(report, "results")
    for path, result in results.items():
        assert list(result["labels"]) == ["Result"], path
        assert 0 < len(result["labels"]["Result"]) <= 60, path
        assert len(result["caption"]) > 40, path
        assert "system-message" not in result["caption"], path
    assert "table1_cells.parquet" in results["results/tables/table1.html"]["caption"]
    assert "update-and-retrieval loop" in results["results/figures/figure2.png"]["caption"]
    opening = variable(report, "workflow_desc")
    assert "system-message" not in opening
    assert re.search(r"\d+ claims, \d+ answers", opening)
    assert "SmolLM2-135M-Instruct" in opening


def test_the_report_names_every_rule_that_ran(report):
    assert {"walk_randomly", "make_ledger", "plot_figure2"} <= set(variable(report, "rules"))


def test_nothing_in_the_report_is_fetched(report):
    assert FETCHED.search("<script async src=https://a.b/c.js>")
    assert FETCHED.search("background: url('//a.b/c.png')")
    # Its own scripts hold markup in their strings; none of it names a place elsewhere.
    markup = re.sub(r"<script[^>]*>.*?</script>", "<script></script>", report, flags=re.DOTALL)
    assert FETCHED.findall(markup) == []
    for result in variable(report, "results").values():
        assert result["data_uri"].startswith("data:")


def test_pages_of_tables_and_configuration_need_nothing_else(made):
    pages = [*made.path.glob("results/tables/*.html"), *made.path.glob("results/report/*n.html")]
    assert len(pages) > 10
    for page in pages:
        assert not re.search(r"<(?:script|link|img|iframe)\b|url\(|@import", page.read_text()), page


def test_the_configuration_page_holds_no_path(made):
    made_page = (made.path / "results/report/configuration.html").read_text(encoding="utf-8")
    assert "steps: 400" in made_page
    assert "SmolLM2-135M-Instruct" in made_page
    assert str(made.path) not in made_page
    assert "backend" not in made_page


def test_the_papers_page_is_whole(made):
    folder = made.path / "results/report"
    page = (folder / "paper.md").read_text(encoding="utf-8")
    pictures = re.findall(r"!\[[^\n]*\]\(<(.*)>\)", page)
    assert {"../figures/figure1.png", "../figures/figure2.png"} <= set(pictures)
    assert all((folder / path).exists() for path in pictures)
    places = [
        page.index(f"\n### {title}")
        for title in ["Figure 1", "Figure 2", "Table 1", "Figure 3", "Table 3", "Table 4"]
    ]
    assert places == sorted(places)
    assert page.index("\n### Claims ledger") > places[-1]
    source = (folder / "paper.tex").read_text(encoding="utf-8")
    assert all((folder / path).exists() for path in re.findall(r"\]\{(\.\./figures/.*)\}", source))
    log = (made.path / "results/logs/make_paper.log").read_text()
    assert ("paper_pdf" in log) is (latex_program() is not None)


# Opens everything that a reader could open, one after the other.
VISIT = """<script>
const steps = [
  () => app.setView({content: "stats"}),
  () => app.showReportInfo(),
  ...Object.keys(categories).map(category => () => app.showCategory(category)),
  ...Object.entries(results).flatMap(([path, result]) => [
    () => app.showResultInfo(path),
    () => app.setView({
      content: result.mime_type.startsWith("image") ? "img" : "html",
      contentPath: result.data_uri,
      resultPath: path,
    }),
  ]),
  () => app.setView({navbarMode: "menu", content: "rulegraph"}),
  () => { document.title = "visited"; },
];
steps.forEach((step, position) => setTimeout(step, 200 * (position + 1)));
</script>
"""
# Warnings of what Snakemake's report itself is made with: how its style sheet would rather be used,
# and the version of the charts of run times.
USUAL = (
    "cdn.tailwindcss.com should not be used in production",
    "The input spec uses Vega-Lite v3",
)


def browse(page, folder):
    """Return a page as Chromium drew it, its console, and the requests that it made."""
    log = folder / "net.json"
    done = subprocess.run(
        [
            *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
            *("--disable-background-networking", "--disable-extensions", "--disable-sync"),
            *("--dump-dom", "--virtual-time-budget=60000", "--enable-logging=stderr", "--v=0"),
            # Nothing gets out, whatever asks for it.
            *("--proxy-server=127.0.0.1:9", f"--log-net-log={log}"),
            f"--user-data-dir={folder}",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=280,
    )
    console = [
        line
        for line in done.stderr.splitlines()
        if "CONSOLE" in line and not any(usual in line for usual in USUAL)
    ]
    events = [event.get("params", {}) for event in json.loads(log.read_text())["events"]]
    # The browser asks for things of its own; those have no page that they come from.
    requests = [
        event["url"]
        for event in events
        if "url" in event and event.get("initiator", "not an origin") != "not an origin"
    ]
    return done.stdout, console, requests


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_browser_would_notice_an_error_and_a_request(tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<script>nothing();</script><img src='http://example.org/a.png'>")
    _, console, requests = browse(page, tmp_path)
    assert len(console) == 1
    assert "ReferenceError" in console[0]
    assert requests == ["http://example.org/a.png"]


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_the_report_opens_in_a_browser_offline(report, tmp_path):
    """Every view of it, without an error on the console, and without a request."""
    page = tmp_path / "report.html"
    page.write_text(VISIT.join(report.rsplit("</body>", 1)), encoding="utf-8")
    drawn, console, requests = browse(page, tmp_path)
    assert console == []
    assert requests == []
    assert "<title>visited</title>" in drawn
    # The page drew itself: the menu with its headings in order, and the ledger's summary.
    headings = re.findall(r">(\d [A-Z][^<]*)<", drawn.partition('id="app"')[2])
    assert headings[0] == "1 Claims ledger"
    assert headings == sorted(headings)
    assert "claims, " in drawn
