"""Tables and figures from plain rows; knows nothing of where the rows come from.

``style`` holds the look and the writing of figures, ``tables`` renders one description of a table
as Markdown and LaTeX, and every figure has a module of its own, so that a change to one figure
redraws that figure alone.
"""
