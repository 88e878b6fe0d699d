"""Random generators of Python and NumPy during a run that is going to be repeated as one program."""

import pickle
import random

import numpy as np

from paddle_jax._core.base.errors import Unsupported


class HostRandom:
    """Refuses code that draws random numbers of NumPy or Python, which would be the same at each call, and
    puts those generators back.

    generators: those that the code may use besides the ones that NumPy and Python have for everybody.
    """

    def __init__(self, generators):
        self.generators, self.before, self.moved = [np.random, random, *generators], (), None

    def begin(self):
        """Notes the states."""
        self.before = list(map(_state_of, self.generators))

    def end(self):
        """Puts the states back, and notes a generator that had moved."""
        for generator, before in zip(self.generators, self.before, strict=False):  # none before `begin`
            if pickle.dumps(_state_of(generator)) != pickle.dumps(before):
                self.moved = generator
                _set_state(generator, before)

    def check(self):
        """Refuses if one had moved."""
        if self.moved is not None:
            raise Unsupported(
                f"random numbers of {'Python' if hasattr(self.moved, 'getstate') else 'NumPy'} "
                "are drawn inside the function, which would be the same at each call; "
                "draw them with Paddle (paddle.rand), or pass them in"
            )


def _state_of(generator):
    """The state of a random generator of Python or NumPy, or of the modules' own."""
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    return generator.getstate() if hasattr(generator, "getstate") else generator.get_state()


def _set_state(generator, state):
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = state
    else:
        (generator.setstate if hasattr(generator, "getstate") else generator.set_state)(state)
