"""coretail: measure and control how a language agent uses its memory.

The library behind the pipeline. It knows nothing of Snakemake; importing this package alone
imports nothing heavy.
"""

__version__ = "0.1.0"
