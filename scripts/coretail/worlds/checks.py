"""Checks of parameters that a user gives."""

import numpy as np

from coretail.errors import InputError


def check_integer(key: str, value: object, low: int, high: int, context: str = "") -> None:
    """Refuse anything but an integer from ``low`` to ``high``.

    Raises
    ------
    InputError
        Naming the key, the value, the context and what is allowed.
    """
    integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not integer or not low <= value <= high:  # type: ignore[operator]
        raise InputError(
            f"{key}: {value!r} is not allowed{context and ' ' + context}; "
            f"allowed are integers from {low} to {high}"
        )


def check_choice(key: str, value: str, allowed: tuple[str, ...]) -> None:
    """Refuse a value that is not among those allowed.

    Raises
    ------
    InputError
        Naming the key, the value and what is allowed.
    """
    if value not in allowed:
        raise InputError(f"{key}: {value!r} is unknown; allowed are {', '.join(allowed)}")
