"""Import ``alfworld`` and ``textworld``: late, with a remedy, and without side effects."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from coretail.errors import InputError

_PACKAGES = ("alfworld", "textworld", "fast_downward")


@contextmanager
def game_packages() -> Iterator[None]:
    """Surround imports from the packages that play games.

    ``alfworld`` creates the directory that ``ALFWORLD_DATA`` names (its user cache by default)
    when it is imported, and sets the variable. Here neither happens, so that a read-only home
    does.

    Raises
    ------
    InputError
        If one of the packages is not installed.
    """
    before = os.environ.get("ALFWORLD_DATA")
    os.environ["ALFWORLD_DATA"] = tempfile.gettempdir()
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _PACKAGES:
            raise
        raise InputError(
            f"ALFWorld: the package {error.name!r} is not installed. Install the extra "
            "`alfworld` of coretail: pip install 'coretail[alfworld]'"
        ) from error
    finally:
        if before is None:
            del os.environ["ALFWORLD_DATA"]
        else:
            os.environ["ALFWORLD_DATA"] = before
