"""A memory policy in the closed loop: what it shows decides where the agent goes.

The loop is that of :func:`coretail.rollouts.semantic.rollout`. In each state the policy is asked
before an action is chosen, and its context stands in the prompt that asks for one; when the
transition is walked it is asked once more, for the state and the action, as on a frozen trajectory
(:mod:`coretail.memory.frozen`), and only then does it learn where they led.
"""

from dataclasses import replace

import numpy as np

from coretail.memory.frozen import Coverage, Step, coverage, take_step
from coretail.memory.policies import Context, Policy
from coretail.memory.view import NO_ACTION, WorldView
from coretail.rollouts.walk import Counters


class PolicyMemory:
    """A memory policy as the memory of an agent.

    Parameters
    ----------
    view
        The world.
    policy
        The policy, empty.

    Attributes
    ----------
    steps : list of Step
        What the policy did at each step for the state and the action.
    read : list of Context
        What it showed in each state before an action was chosen, which the agent read.
    """

    def __init__(self, view: WorldView, policy: Policy) -> None:
        self._view = view
        self._policy = policy
        self._known: set[int] = set()
        self.steps: list[Step] = []
        self.read: list[Context] = []

    def recall(self, state: int) -> tuple[list[int], str | None]:
        """Return the transitions that the policy shows in a state, and its text."""
        context = self._policy.pack(self._policy.rank(state, NO_ACTION), state, NO_ACTION)
        self.read.append(context)
        return list(context.shown), context.text

    def learn(self, edge: int, source: int, target: int) -> None:
        """Take in the transition that was just walked."""
        self.steps.append(take_step(self._view, self._policy, len(self.steps), edge))
        self._policy.write(edge)
        self._known.add(edge)

    def __len__(self) -> int:
        """Return how many distinct transitions were written."""
        return len(self._known)

    @property
    def counters(self) -> Counters:
        """Reads and writes; a policy says nothing of rejections and evictions."""
        return Counters(
            reinforced=len(self.steps) - len(self._known),
            admitted=len(self._known),
            rejected=0,
            evicted=0,
            reads=sum(len(context.shown) for context in self.read),
        )

    def coverage(self) -> Coverage:
        """Return how much of what was visited the policy holds, and the agent was shown."""
        edges = np.array([step.edge for step in self.steps], np.int64)
        final = self._policy.rank(int(self._view.targets[edges[-1]]), NO_ACTION)
        acted = [
            replace(step, context=context)
            for step, context in zip(self.steps, self.read, strict=True)
        ]
        return coverage(self._view, edges, final, acted)
