"""Synthetic Graph World: topologies, contents of the states, and the environment."""
