"""What the controller accepts as a number."""

import math
import operator
from numbers import Real
from typing import SupportsIndex

from coretail.errors import InputError


def whole_number(name: str, value: SupportsIndex, minimum: int, maximum: int) -> int:
    """Return ``value`` as an int; raise InputError unless it is one from minimum to maximum."""
    try:
        number = operator.index(value)
    except TypeError:
        number = minimum - 1
    if isinstance(value, bool) or not minimum <= number <= maximum:
        raise InputError(f"{name}={value!r}: give a whole number from {minimum} to {maximum}")
    return number


def exponent(tau: float) -> float:
    """Return ``tau`` as a float; raise InputError unless it is a finite number, not negative."""
    number = math.nan
    if isinstance(tau, Real) and not isinstance(tau, bool):
        try:
            number = float(tau)
        except OverflowError:
            number = math.inf
    if not (math.isfinite(number) and number >= 0):
        raise InputError(
            f"tau={tau!r}: give a finite number from 0 (equal shares) up, or 'auto' with an audit"
        )
    return number
