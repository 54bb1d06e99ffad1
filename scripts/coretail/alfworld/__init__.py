"""ALFWorld (Shridhar et al., 2021): its games, and how they are played.

The games are read from the official layout or made here; they are played by the ``alfworld`` and
``textworld`` packages, which are imported only where a game is made or played.
"""
