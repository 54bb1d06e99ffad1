"""Make Appendix C's pairs: one memory, written verbose and compact, by graph memory and CTWM."""

from html import escape
from typing import Any

from _entry import Job, run
from _memory import run_of, view_of
from coretail import artefacts
from coretail.memory.frozen import Step, replay
from coretail.memory.policies import make_policy
from coretail.memory.view import WorldView
from coretail.prompts import context_prompt
from coretail.render.tables import escape_latex, html_page

TITLE = "Appendix C: the same memory in each encoding"
POLICIES = ("graph", "ctwm")
ENCODINGS = ("verbose", "compact")
Rows = list[dict[str, Any]]


def main(job: Job) -> None:
    """Write the contexts of one step, the last repeated meeting at a tail state."""
    settings = job.settings
    walk = artefacts.read(job.input("trajectories"), "memory_trajectories").to_pylist()
    seed = settings["seeds"][0]
    own = [row for row in walk if row["seed"] == seed]
    chosen = max(own, key=lambda row: (row["stratum"] == "tail_repeated", row["step"]))
    view = view_of(chosen["family"], chosen["n_nodes"], seed, settings["vocabulary"])
    edges = [row["edge"] for row in own[: chosen["step"] + 1]]
    rows = []
    for policy in POLICIES:
        for encoding in ENCODINGS:
            key, limits = run_of(settings, policy, "slots", encoding)
            *_, step = replay(view, edges, make_policy(policy, view, limits))
            rows.append(
                {
                    "workload": "synthetic",
                    "policy": policy,
                    "encoding": encoding,
                    "tau": key["tau"],
                    "seed": seed,
                    "step": step.number,
                    "prompt": question(view, step),
                    "context": step.context.text,
                    "local_tokens": step.context.tokens,
                }
            )
    content = artefacts.table_of_rows("table_contexts", rows)
    artefacts.write(job.output("contexts"), "table_contexts", content, job.spec)
    for name, write in {"markdown": markdown, "latex": latex, "html": html}.items():
        job.output(name).write_text(write(rows), encoding="utf-8")


def question(view: WorldView, step: Step) -> str:
    """Return the last message of the prompt, which holds the context."""
    state, action, _ = view.transition(step.edge)
    return context_prompt(state, action, step.context.text)[-1].content


def about(rows: Rows) -> str:
    """Return what the page shows, in words."""
    return (
        f"Synthetic Graph World, seed {rows[0]['seed']}, step {rows[0]['step']}: what a model is "
        "asked, after the instructions and worked examples that all calls share. Tokens are those "
        "of the context by the local counter."
    )


def heading(row: dict[str, Any]) -> str:
    """Return what tells one prompt from the others."""
    tau = "" if row["tau"] is None else f", τ = {row['tau']:g}"
    return f"{row['policy']}, {row['encoding']}{tau}: {row['local_tokens']} tokens"


def markdown(rows: Rows) -> str:
    """Return the prompts as Markdown."""
    parts = [f"### {TITLE}", "", about(rows)]
    for row in rows:
        parts += ["", f"**{heading(row)}**", "", "```text", row["prompt"], "```"]
    return "\n".join(parts) + "\n"


def latex(rows: Rows) -> str:
    """Return the prompts as LaTeX source."""
    parts = [rf"\paragraph{{{escape_latex(TITLE)}}} {escape_latex(about(rows))}"]
    for row in rows:
        lines = r"\\{}".join(map(escape_latex, row["prompt"].splitlines()))
        parts += [
            "",
            rf"\textbf{{{escape_latex(heading(row))}}}\par",
            rf"{{\ttfamily {lines}\par}}",
        ]
    return "\n".join(parts) + "\n"


def html(rows: Rows) -> str:
    """Return the prompts as a whole HTML page."""
    parts = [f"<h2>{escape(TITLE)}</h2>\n<p>{escape(about(rows))}</p>\n"]
    for row in rows:
        parts.append(f"<h3>{escape(heading(row))}</h3>\n<pre>{escape(row['prompt'])}</pre>\n")
    return html_page(TITLE, parts)


if __name__ == "__main__":
    run(main, globals()["snakemake"])
