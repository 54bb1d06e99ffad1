"""A file's lock, for what only one process of a machine should do at a time."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path, waiting: str, report: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of a file, which is made where it is absent and stays.

    Parameters
    ----------
    path
        The file.
    waiting
        Reported if another process holds the lock.
    report
        Called with ``waiting``.

    Raises
    ------
    OSError
        The file cannot be made.
    """
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(waiting)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
