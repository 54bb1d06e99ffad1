"""Random streams, each derived from the whole key of the cell that it serves.

Two cells that differ in any part of their key (family, size, seed, purpose, ...) get independent
streams, and one cell gets the same stream whatever else runs, in whatever order, on any number of
cores.
"""

import hashlib
import json

import numpy as np

Key = str | int | float | bool


def entropy(*key: Key) -> int:
    """Return the 128-bit integer that seeds the stream of ``key``.

    Parameters
    ----------
    *key
        The parts of the cell's key, in a fixed order. Their types count: ``1`` and ``"1"`` are
        different keys.
    """
    text = json.dumps(key, ensure_ascii=True, separators=(",", ":"))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def stream(*key: Key) -> np.random.Generator:
    """Return a PCG64 generator for ``key``; see :func:`entropy`."""
    return np.random.Generator(np.random.PCG64(entropy(*key)))
