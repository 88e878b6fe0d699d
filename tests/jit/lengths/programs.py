"""Whole random programs."""

import dataclasses
import random

import numpy as np

from tests.jit.lengths import statements
from tests.jit.lengths.numbers import Numbers

HEAD = """\
import math
import numpy as np
import {module} as P
F = P.nn.functional

def program(x):
"""
FIXED = ((2, 8, 3), (1, 1, 1), (3, 5, 5), (4, 4, 4), (1, 16, 7), (2, 31, 2))  # two more are random


@dataclasses.dataclass(frozen=True)
class Program:
    """A function of a tensor of three axes.

    Attributes:
        seed: int.
        body: text of the function's body.
        shapes: tuple of the shapes that it is tried with.
    """

    seed: int
    body: str
    shapes: tuple

    def source(self, module):
        """The source of a module. module: str, "paddle" or "paddle_jax"."""
        return HEAD.format(module=module) + self.body

    def arrays(self):
        """The array of each shape."""
        rng = np.random.default_rng(self.seed)
        return [rng.normal(size=shape).astype("float32") for shape in self.shapes]


class Maker:
    """Makes the lines of a program. rng: random.Random. n: Numbers."""

    def __init__(self, rng):
        self.rng = rng
        self.n = Numbers(rng, ["x.shape[0]", "x.shape[1]", "x.shape[2]", "h", "w"])
        self.count = 0
        self.depth = 0

    def fresh(self):
        """A number for a new name."""
        self.count += 1
        return self.count

    def axis(self):
        """An axis and its length as a text."""
        axis = self.rng.choice((0, 1, 1, 2, 2))
        return axis, f"x.shape[{axis}]"

    def statement(self, with_control):
        """The lines of one statement."""
        kinds = statements.PLAIN + (statements.CONTROL if with_control else ())
        chosen, = self.rng.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])
        return chosen(self)

    def block(self):
        """The lines of a branch: names that it sets are not known outside."""
        n = self.n
        kept = list(n.wholes), list(n.fractions), list(n.answers)
        lines = []
        for _ in range(self.rng.choice((1, 1, 2))):
            kind = self.rng.choice((statements.added, statements.cut, statements.padded, statements.added,
                                    statements.reshaped, statements.named))
            lines += kind(self)
        n.wholes, n.fractions, n.answers = kept
        return lines


def generate(seed) -> Program:
    """The program of a seed."""
    rng = random.Random(seed)
    maker = Maker(rng)
    lines = ["b, h, w = x.shape", "outs = []"]
    for _ in range(rng.choice((1, 1, 2, 2, 3, 4))):
        lines += maker.statement(True)
    is_early = any("    return x +" in line for line in lines)
    lines.append("return x" if is_early else "return [x, *outs]")
    shapes = [*FIXED, *[tuple([rng.randint(1, 4), rng.randint(1, 40), rng.randint(1, 40)]) for _ in range(2)]]
    return Program(seed, "".join([f"    {line}\n" for line in lines]), tuple(shapes))
