"""Rollouts in a world: the random-walk control and its bounded memory."""
