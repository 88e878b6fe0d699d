"""Random generators of Python and NumPy during a run that is repeated as one program."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterable
from typing import Any

import numpy as np

from paddle_jax._core.base.errors import Unsupported


class HostRandom:
    """Refuses code that draws random numbers of NumPy or Python, and restores the generators.

    The numbers would be the same at each call of the program.

    Attributes:
        generators: the global generators of NumPy and Python, and others that the code may use.
        states: their states from before the run.
        moved: a generator that has drawn, or None.
    """

    def __init__(self, generators: Iterable[Any]) -> None:
        # Those of the modules, and those that the observer has found in variables.
        self.generators = [np.random, random, *generators]
        self.states: list[Any] = []
        self.moved: Any = None

    def begin(self) -> None:
        """Saves the states."""
        self.states = list(map(_state_of, self.generators))

    def end(self) -> None:
        """Restores the states, and remembers a generator that has drawn."""
        for generator, before in zip(self.generators, self.states, strict=False):  # none before `begin`
            # States of NumPy hold arrays, which `==` does not compare as a whole.
            if pickle.dumps(_state_of(generator)) != pickle.dumps(before):
                self.moved = generator
                _set_state(generator, before)

    def check(self) -> None:
        """Raises Unsupported if a generator has drawn."""
        if self.moved is None:
            return
        if hasattr(self.moved, "getstate"):
            library = "Python"
        else:
            library = "NumPy"
        raise Unsupported(
            f"random numbers of {library} are drawn inside the function, which would be the same at each "
            "call; draw them with Paddle (paddle.rand), or pass them in"
        )


def _state_of(generator: Any) -> Any:
    """The state of a random generator of Python or NumPy, or of the global one of either module."""
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    if hasattr(generator, "getstate"):
        return generator.getstate()
    return generator.get_state()


def _set_state(generator: Any, state: Any) -> None:
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = state
    elif hasattr(generator, "getstate"):
        generator.setstate(state)
    else:
        generator.set_state(state)
