"""Memory policies: what an agent keeps of its transitions, in which order, and what it is shown."""
