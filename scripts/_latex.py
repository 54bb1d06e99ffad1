"""LaTeX where it is installed: found when it is needed, never required."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from coretail.errors import InputError

# In the order of preference. Tectonic comes last, since it fetches what it lacks.
PROGRAMS = ("pdflatex", "lualatex", "xelatex", "tectonic")
# A longtable's columns settle within three runs.
RUNS = 3
LINES = 15


def latex_program() -> str | None:
    """Return the name of the LaTeX that is installed, or ``None``."""
    return next((name for name in PROGRAMS if shutil.which(name)), None)


def typeset(source: Path, target: Path) -> str:
    """Typeset a LaTeX document and return the name of the program that did.

    Parameters
    ----------
    source
        The document. What it includes is named from its own folder.
    target
        The PDF to write.

    Raises
    ------
    InputError
        If there is no LaTeX, or it refuses the document.
    """
    program = latex_program()
    if program is None:
        raise InputError(
            f"{source}: no LaTeX to typeset it with; install one of {', '.join(PROGRAMS)} (Debian: "
            "apt install texlive-latex-recommended lmodern), or typeset it elsewhere"
        )
    with tempfile.TemporaryDirectory() as folder:
        if program == "tectonic":
            command, runs = [program, "--outdir", folder, source.name], 1
        else:
            flags = ["-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error"]
            command, runs = [program, *flags, f"-output-directory={folder}", source.name], RUNS
        for _ in range(runs):
            done = subprocess.run(
                command,
                cwd=source.parent,
                env=os.environ | {"SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                check=False,
            )
            if done.returncode:
                said = done.stdout.decode(errors="replace").strip().splitlines()[-LINES:]
                raise InputError(f"{source}: {program} refuses it:\n" + "\n".join(said))
        shutil.copyfile(Path(folder) / source.with_suffix(".pdf").name, target)
    return program
