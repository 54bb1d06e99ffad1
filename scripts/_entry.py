"""What every entry script shares: its log, its outputs written whole or not at all.

An entry script defines ``main(job)`` and ends with ``run(main, snakemake)``. Whatever happens in
between, the rule's own log has it.
"""

import logging
import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coretail import manifest
from coretail.errors import InputError

LOGGER = logging.getLogger("coretail")


class Job:
    """One run of one rule, as an entry script sees it.

    Attributes
    ----------
    spec : dict
        The rule's specification; ``settings`` is its slice of the configuration.
    wildcards : dict
        The job's wildcards, as text.
    config : dict
        The whole configuration, for what runs the workflow again. No result may depend on it.
    access : dict
        How completions come (the configuration's ``llm`` block and ``models``): no part of the
        specification, since it changes no result.
    """

    def __init__(self, snakemake: Any) -> None:
        self._input = snakemake.input
        self._final = {name: Path(path) for name, path in snakemake.output.items()}
        self._threads = snakemake.threads
        self.spec: dict[str, Any] = snakemake.params.spec
        self.settings: dict[str, Any] = self.spec["settings"]
        self.wildcards: dict[str, str] = dict(snakemake.wildcards.items())
        self.config: dict[str, Any] = snakemake.config
        self.access: dict[str, Any] = {
            **snakemake.config["llm"],
            "models": snakemake.config["models"],
        }

    def input(self, name: str) -> Path:
        """Return the path of one input."""
        return Path(self._input[name])

    def inputs(self, name: str) -> list[Path]:
        """Return the paths of an input that is a list."""
        paths = self._input[name]
        return [Path(paths)] if isinstance(paths, str) else [Path(path) for path in paths]

    def output(self, name: str) -> Path:
        """Return where to write one output: a temporary name beside the final one.

        The name keeps its ending, since writers choose their format by it.
        """
        final = self._final[name]
        return final.with_name(f".unfinished-{final.name}")

    def progress(
        self, what: str, total: int, detail: Callable[[], str] = str
    ) -> Callable[[int], None]:
        """Return a function that takes the work done so far and says so at most every 5 s.

        ``detail`` returns what else there is to tell.
        """
        started = last = time.monotonic()

        def report(done: int) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= 5 and done < total:
                last = now
                left = (now - started) * (total - done) / max(done, 1)
                LOGGER.info("%s: %d of %d, about %.0f s left %s", what, done, total, left, detail())

        return report

    def finish(self) -> None:
        """Note the outputs' hashes and give them their final names."""
        written = {final: self.output(name) for name, final in self._final.items()}
        manifest.record(self.spec["rule"], written)
        for final, temporary in written.items():
            os.replace(temporary, final)

    def discard(self) -> None:
        """Remove what was written under temporary names."""
        for name in self._final:
            self.output(name).unlink(missing_ok=True)


def run(main: Callable[[Job], None], snakemake: Any) -> None:
    """Run one entry: progress to the terminal and the log, any traceback to the log.

    An :class:`~coretail.errors.InputError` ends with its message alone on the terminal.
    """
    log = Path(snakemake.log[0])
    to_file = logging.FileHandler(log, mode="w", encoding="utf-8")
    to_file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    to_terminal = logging.StreamHandler(sys.stderr)
    label = " ".join([snakemake.rule, *map(str, snakemake.wildcards)])
    to_terminal.setFormatter(logging.Formatter(f"{label}: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[to_file, to_terminal], force=True)
    LOGGER.setLevel(logging.INFO)
    logging.captureWarnings(True)
    try:
        job = Job(snakemake)
        try:
            main(job)
            job.finish()
        except BaseException:
            job.discard()
            raise
    except InputError as error:
        LOGGER.error("%s", error)
        sys.exit(1)
    except BaseException as error:
        LOGGER.error("%s: %s; the traceback is in %s", type(error).__name__, error, log)
        to_file.close()
        with log.open("a", encoding="utf-8") as file:
            traceback.print_exc(file=file)
        sys.exit(1)
