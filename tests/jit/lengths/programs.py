"""Whole random programs."""

import dataclasses
import random

import numpy as np

from tests.jit.lengths import statements, tensors
from tests.jit.lengths.numbers import Numbers

HEAD = """\
import math
import numpy as np
import {module} as P
F = P.nn.functional

def program({arguments}):
"""
FIXED = ((2, 8, 3), (1, 1, 1), (3, 5, 5), (4, 4, 4), (1, 16, 7), (2, 31, 2))  # two more are random


@dataclasses.dataclass(frozen=True)
class Program:
    """A function of a tensor of three axes, and perhaps of a whole number, a Tensor without axes.

    Attributes:
        seed: int.
        body: text of the function's body.
        shapes: tuple of the shapes that it is tried with.
        arguments: tuple of the names of its arguments, ("x",) or ("x", "n").
    """

    seed: int
    body: str
    shapes: tuple
    arguments: tuple

    def source(self, module):
        """The source of a module. module: str, "paddle" or "paddle_jax"."""
        return HEAD.format(module=module, arguments=", ".join(self.arguments)) + self.body

    def arrays(self):
        """The arrays of the arguments for each shape."""
        rng = np.random.default_rng(self.seed)
        return [
            (rng.normal(size=shape).astype("float32"), np.asarray(rng.integers(1, 9)))[: len(self.arguments)]
            for shape in self.shapes
        ]


class Maker:
    """Makes the lines of a program. rng: random.Random. n: Numbers."""

    def __init__(self, rng):
        self.rng = rng
        self.n = Numbers(rng, ["x.shape[0]", "x.shape[1]", "x.shape[2]", "h", "w"])
        self.sizes = ["n"]
        self.count = 0

    def fresh(self):
        """A number for a new name."""
        self.count += 1
        return self.count

    def axis(self):
        """An axis and its length as a text."""
        axis = self.rng.choice((0, 1, 1, 2, 2))
        return axis, f"x.shape[{axis}]"

    def statement(self, kinds):
        """The lines of one statement. kinds: tuple of functions that make some, and their weights."""
        (chosen,) = self.rng.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])
        return chosen(self)

    def block(self):
        """The lines of a branch: names that it sets are not known outside."""
        n = self.n
        kept = list(n.wholes), list(n.fractions), list(n.answers)
        lines = []
        for _ in range(self.rng.choice((1, 1, 2))):
            kind = self.rng.choice(
                (
                    statements.added,
                    statements.cut,
                    statements.padded,
                    statements.added,
                    statements.reshaped,
                    statements.named,
                )
            )
            lines += kind(self)
        n.wholes, n.fractions, n.answers = kept
        return lines


KINDS = {
    "numbers": statements.PLAIN + statements.CONTROL,
    "loops": ((statements.cuts_in_a_loop, 3), (statements.cut, 1)),
    "whiles": (
        (statements.cuts_in_a_while, 4),
        (statements.cut_where_it_is_long, 1),
        (statements.cut, 1),
    ),
    "tensors": (*tensors.KINDS, (tensors.controlled, 2)),
    "static": tensors.KINDS,  # no Python control flow, and no numbers
}


def generate(seed, kind="numbers") -> Program:
    """The program of a seed. kind: one of KINDS."""
    rng = random.Random(seed)
    maker = Maker(rng)
    has_numbers = kind in ("numbers", "loops", "whiles")
    lines = ["b, h, w = x.shape", "outs = []"] if has_numbers else ["outs = []"]
    for _ in range(rng.choice((1, 1, 2, 2, 3, 4))):
        lines += maker.statement(KINDS[kind])
    is_early = any("    return x +" in line for line in lines)
    if not has_numbers:
        lines.append("x = x + n")
    lines.append("return x" if is_early else "return [x, *outs]")
    shapes = [*FIXED, *[tuple([rng.randint(1, 4), rng.randint(1, 40), rng.randint(1, 40)]) for _ in range(2)]]
    body = "".join([f"    {line}\n" for line in lines])
    return Program(seed, body, tuple(shapes), ("x",) if has_numbers else ("x", "n"))
