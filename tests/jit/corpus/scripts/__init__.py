"""Scripts by subject; importing the modules adds them."""

from tests.jit.corpus.scripts import arguments, effects, gradients, precision, state, training
