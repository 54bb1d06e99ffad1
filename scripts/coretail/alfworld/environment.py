"""Play one ALFWorld game through TextWorld.

A game is a PDDL problem in a world of receptacles and objects, with a grammar that puts states
into words. It is deterministic: the same commands give the same texts in every process.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ClassVar, Self

from coretail.alfworld._packages import game_packages
from coretail.alfworld.games import Game
from coretail.errors import InputError

_BANNER = "-= Welcome to TextWorld"
NOTHING_HAPPENS = "Nothing happens."


class UnplayableGame(InputError):  # noqa: N818 - what is wrong, and with this game alone
    """A game is corrupt, or is not won by its own walkthrough."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What the player reads.

    Attributes
    ----------
    text
        The game's words, without the banner that precedes the first observation. The first one
        ends with a line that states the task.
    admissible
        The commands that the game accepts now, each once, in alphabetical order. A policy that
        shows them to a model should shuffle them.
    won
        Whether the task is done.
    done
        Whether the game is over: it only ends when it is won, so step caps are the caller's.
    reward
        1.0 if the task is done, else 0.0.
    """

    text: str
    admissible: tuple[str, ...]
    won: bool = False
    done: bool = False
    reward: float = 0.0


class Environment:
    """One game, to be played as often as wanted; a context manager.

    Parameters
    ----------
    game
        The game, from :func:`coretail.alfworld.games.read_game`.

    Raises
    ------
    UnplayableGame
        If the game is corrupt; also while it is played.
    InputError
        If the packages are missing.

    Notes
    -----
    Loading costs 0.3 to 2 seconds and so does a reset, for the engine translates the problem each
    time; a step costs 40 to 100 ms. Environments are independent of each other.
    """

    # Copies of the planner's library that no open environment uses. A copy is 33 MB of temporary
    # disk and cannot be unloaded (the process would crash at its end), so it is used again.
    _idle: ClassVar[list[Any]] = []

    def __init__(self, game: Game) -> None:
        with game_packages():
            import fast_downward
        self._game = game
        self._running = False
        self._library: Any = self._idle.pop() if self._idle else fast_downward.load_lib()
        self._engine = _engine(self._library)
        try:
            with self._engine_errors():
                self._engine.load(
                    {
                        "pddl_domain": game.pddl_domain,
                        "grammar": game.grammar,
                        "pddl_problem": game.pddl_problem,
                    }
                )
        except InputError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def reset(self) -> Observation:
        """Start the game anew and return its first observation."""
        if self._engine is None:
            raise RuntimeError("the environment is closed")
        with self._engine_errors():
            state = self._engine.reset()
        if state["won"]:
            raise UnplayableGame(f"{self._game.file}: the goal holds before the first step")
        self._running = True
        lines = [line for line in state.feedback.splitlines() if line]
        return Observation(
            text="\n".join(line for line in lines if not line.startswith(_BANNER)),
            admissible=tuple(state["admissible_commands"]),
        )

    def step(self, command: str) -> Observation:
        """Give a command and return what comes of it.

        A command that is not admissible changes nothing, and the text says so.
        """
        if not self._running:
            raise RuntimeError("the game is not running: reset it first")
        with self._engine_errors():
            state, score, done = self._engine.step(command)
        self._running = not done
        return Observation(
            text=state.feedback.strip(),
            admissible=tuple(state["admissible_commands"]),
            won=bool(state["won"]),
            done=bool(done),
            reward=float(score),
        )

    def close(self) -> None:
        """Release the engine; closing twice does no harm."""
        if self._library is not None:
            self._idle.append(self._library)
        self._library = self._engine = None
        self._running = False

    @contextmanager
    def _engine_errors(self) -> Iterator[None]:
        """Name the game in whatever the engine raises, and restore the arguments it overwrites."""
        arguments = sys.argv
        try:
            yield
        # The translator leaves by SystemExit where a problem does not fit its domain.
        except (Exception, SystemExit) as error:
            reason = str(error).strip().partition("\n")[0]
            raise UnplayableGame(
                f"{self._game.file}: the game is corrupt, ALFWorld cannot play it "
                f"({type(error).__name__}: {reason[:200]}); fetch it again or leave it out"
            ) from error
        finally:
            sys.argv = arguments


def _engine(library: Any) -> Any:
    """Return TextWorld's engine for PDDL games, on a given copy of the planner's library."""
    with game_packages():
        import textworld
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
        from textworld.envs import PddlEnv

    class Engine(PddlEnv):
        def __init__(self, infos: Any) -> None:
            textworld.Environment.__init__(self, infos)  # PddlEnv's would load a further copy
            self.downward_lib = library

    infos = textworld.EnvInfos(won=True, admissible_commands=True)
    return AlfredDemangler(Engine(infos), shuffle=False)


def play(game: Game, commands: Iterable[str]) -> list[Observation]:
    """Play commands from the start, until they end or the game does.

    Returns
    -------
    The first observation, then one for each command given.
    """
    with Environment(game) as environment:
        observations = [environment.reset()]
        for command in commands:
            observations.append(environment.step(command))
            if observations[-1].done:
                break
    return observations


def play_walkthrough(game: Game) -> list[Observation]:
    """Play a game's own walkthrough to its end, and return all observations.

    Raises
    ------
    UnplayableGame
        If the game is corrupt, or its walkthrough does not win it.
    """
    observations = play(game, game.walkthrough)
    if not observations[-1].won:
        refused = [
            command
            for command, observation in zip(game.walkthrough, observations[1:], strict=True)
            if observation.text == NOTHING_HAPPENS
        ]
        detail = f"; nothing happens at {refused[0]!r}" if refused else ""
        raise UnplayableGame(
            f"{game.file}: 'walkthrough' does not win the game{detail}; leave the game out"
        )
    return observations
