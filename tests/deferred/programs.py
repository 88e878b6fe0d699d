"""Random Paddle programs as text.

A program is a list of units (one statement or block each): a set-up that runs once and a body that runs a few
times. The generator knows shape, dtype and a bound of every variable without running anything, so a program
depends on its seed alone and every unit is valid Paddle. A unit can be left out: what then misses its
variables raises NameError in every engine alike, which is no difference, so shrinking is plain deletion.

A *safe* program stays where the real Paddle and paddle_jax promise the same: nothing is changed in place that
a view or the tape still holds. A *wild* one does not care and is only compared between the
tiers of paddle_jax.
"""

import dataclasses
import math
import random
import textwrap

FLOATS = ("float32", "float64")
BOUND = 50.0  # values beyond are squashed, so that rounding is not magnified without end

PREAMBLE = """import numpy as np
import {module} as paddle
F = paddle.nn.functional
def see(tag, *values):
    for v in values:
        print(tag, (v.dtype, v.shape, v.stop_gradient, v.numpy()) if isinstance(v, paddle.Tensor) else v)
"""


@dataclasses.dataclass
class Group:
    """Variables that share memory in the real Paddle. saved: the tape may hold the value."""

    members: int = 1
    saved: bool = False


@dataclasses.dataclass(eq=False)
class Var:
    """What the generator knows of a variable. mag bounds the absolute values; leaf: made by the user; state:
    survives to the next repetition.

    hookable: False for results of a PyLayer, whose hooks the real Paddle ignores.
    """

    name: str
    shape: tuple
    dtype: str
    grad: bool = False
    mag: float = 2.0
    leaf: bool = False
    state: bool = False
    hookable: bool = True
    group: Group = dataclasses.field(default_factory=Group)

    @property
    def size(self):
        return math.prod(self.shape)

    @property
    def is_float(self):
        return self.dtype in FLOATS


@dataclasses.dataclass
class Unit:
    """Text of one statement or block. floats: results to which a rounding study may add noise."""

    text: str
    floats: tuple = ()


@dataclasses.dataclass
class Program:
    """Set-up and body as units.

    tainted: holds values of random numbers, which differ between engines. mixed: float64 values were made
    from float32 ones.
    """

    seed: int
    safe: bool
    setup: list
    body: list
    last: list
    repeats: int
    tainted: bool = False
    mixed: bool = False

    def text(self, noise=False):
        """The script without its preamble; with `noise`, float results pass through `jitter`."""

        def lines(units):
            return [u.text + "".join(f"\n{n} = jitter({n})" for n in u.floats if noise) for u in units]

        body = textwrap.indent("\n".join(lines(self.body)) or "pass", "    ")
        return (
            "\n".join(
                [
                    f"paddle.seed({self.seed})",
                    *lines(self.setup),
                    f"for k in range({self.repeats}):",
                    body,
                    *lines(self.last),
                ]
            )
            + "\n"
        )

    def script(self, module="paddle_jax"):
        """The whole program, to be run on its own."""
        return PREAMBLE.format(module=module) + self.text()

    def parts(self):
        return [self.setup, self.body, self.last]

    def replaced(self, part, units):
        """A copy with one of its three parts replaced."""
        parts = self.parts()
        parts[part] = units
        return dataclasses.replace(self, setup=parts[0], body=parts[1], last=parts[2])


class Builder:
    """State of the generator while it writes one program."""

    def __init__(self, seed, safe, randomness):
        self.r = random.Random(seed)
        self.safe, self.randomness = safe, randomness
        self.pool, self.units, self.setup = [], [], []
        self.grad_on, self.in_loop, self.count, self.tainted, self.mixed = True, False, 0, False, False
        self.made = set()  # set-up that units share, written once

    # choosing -----------------------------------------------------------------------------------------------

    def chance(self, p):
        return self.r.random() < p

    def pick(self, test=lambda v: True):
        """A variable for which `test` holds, recent ones more likely; None without one."""
        found = [v for v in self.pool if test(v)]
        if not found:
            return None
        return self.r.choice(found[-4:] if self.chance(0.6) else found)

    def floating(self, test=lambda v: True):
        return self.pick(lambda v: v.is_float and test(v))

    # writing ------------------------------------------------------------------------------------------------

    def fresh(self):
        self.count += 1
        return f"v{self.count}"

    def tag(self):
        self.count += 1
        return f'"t{self.count}"'

    def unit(self, text, *floats):
        self.units.append(Unit(text, floats))
        return True

    def once(self, key, text):
        """Writes set-up text the first time it is asked for; whether it was."""
        if key in self.made:
            return False
        self.made.add(key)
        self.setup.append(Unit(text))
        return True

    def use(self, *operands, recorded):
        if recorded:
            for v in operands:
                v.group.saved = True

    def add(self, shape, dtype, operands=(), mag=2.0, view=None, differentiable=True, name=None):
        """Registers a result and returns its variable."""
        self.mixed |= dtype == "float64" and any(v.dtype == "float32" for v in operands)
        grad = self.grad_on and differentiable and dtype in FLOATS and any(v.grad for v in operands)
        self.use(*operands, recorded=grad)
        group = Group(saved=grad)
        if view is not None:
            group = view.group
            group.members += 1
        var = Var(name or self.fresh(), tuple(shape), dtype, grad, mag, group=group)
        self.pool.append(var)
        return var

    def emit(self, expression, shape, dtype, operands, mag=2.0, view=None, differentiable=True):
        """Writes `v7 = expression`, squashed when its bound is too large."""
        if mag > BOUND:
            expression, mag, view = (
                (f"paddle.tanh({expression})", 1.0, None)
                if dtype in FLOATS
                else (f"({expression}) % 7", 7.0, None)
            )
        var = self.add(shape, dtype, operands, mag, view, differentiable)
        self.unit(f"{var.name} = {expression}", *([var.name] if dtype in FLOATS else []))
        self.trim()
        return var

    def trim(self):
        """Lets old results go: half of them by name (`del`), the others when their name is used again in the
        next repetition."""
        results = [v for v in self.pool if not v.state and not v.leaf]
        if len(results) > 12:
            old = self.r.choice(results[:8])
            self.pool.remove(old)
            if self.chance(0.5) and not self.in_loop:
                self.unit(f"del {old.name}")

    def block(self, header, write, count):
        """Writes units made by `write()` under a header line."""
        outer, self.units = self.units, []
        for _ in range(count):
            write()
        inner, self.units = self.units, outer
        text = "\n".join(u.text for u in inner) or "pass"
        return self.unit(header + "\n" + textwrap.indent(text, "    "))

    # in place -----------------------------------------------------------------------------------------------

    def may_change(self, v):
        """Whether an in-place operation on v means the same in the real Paddle and here."""
        if not self.safe:
            return not (v.leaf and v.grad and self.grad_on) and not (self.in_loop and v.state)
        return v.group.members == 1 and not v.group.saved and not v.grad and not self.in_loop

    def target(self, test=lambda v: True):
        """A variable to change in place, or None. Now and then one that is made for it, so that gradients
        pass through the change."""
        v = self.pick(lambda v: test(v) and self.may_change(v))
        if v is not None and self.chance(0.5):
            return v
        source = self.pick(lambda v: test(v) and v.dtype != "bool")
        if source is None:
            return v
        copy = self.emit(
            self.r.choice(["{0}.clone()", "{0} * 1", "paddle.assign({0})"]).format(source.name),
            source.shape,
            source.dtype,
            [source],
            source.mag,
        )
        return copy


SOURCES = {  # (name, shape, dtype, grad)
    "a": ((2, 3), "float32", True),
    "b": ((3,), "float32", True),
    "c": ((2, 3), "float32", False),
    "w": ((3, 3), "float32", True),
    "d": ((2, 3), "float64", True),
    "e": ((), "float32", True),
    "g": ((1, 3), "float32", False),
    "z": ((0, 3), "float32", False),
    "i": ((3,), "int64", False),
    "j": ((2, 3), "int64", False),
    "m": ((2, 3), "bool", False),
    "q": ((2, 1, 3), "float32", True),
}


def source_line(name, index):
    shape, dtype, grad = SOURCES[name]
    state = f"np.random.RandomState({index})"
    if dtype == "bool":
        return f"{name} = paddle.to_tensor({state}.randint(0, 2, {shape}).astype('bool'))"
    made = f"{state}.randint(-3, 4, {shape})" if dtype == "int64" else f"{state}.uniform(-2, 2, {shape})"
    return f"{name} = paddle.to_tensor(np.asarray({made}, '{dtype}')" + (
        ", stop_gradient=False)" if grad else ")"
    )


def sources(builder, more):
    names = ["a", "b", "c", *builder.r.sample(sorted(set(SOURCES) - {"a", "b", "c"}), more)]
    for index, name in enumerate(names):
        shape, dtype, grad = SOURCES[name]
        builder.setup.append(Unit(source_line(name, index)))
        builder.pool.append(
            Var(name, shape, dtype, grad, 3.0 if dtype == "int64" else 2.0, leaf=grad, state=True)
        )
    builder.setup.append(Unit("n = 0"))


def finish(builder):
    """The end of the body: state for the next repetition, and what is looked at."""
    b = builder
    for state in [v for v in b.pool if v.state and v.is_float and not v.grad]:
        new = b.pick(lambda v, s=state: not v.state and v.shape == s.shape and v.dtype == s.dtype)
        if new is not None and b.chance(0.7):
            b.unit(
                f"{state.name} = paddle.tanh({new.name}).detach()"
                if b.chance(0.5)
                else f"{state.name} = ({new.name} * 0.5).clip(-2, 2).detach()"
            )
    b.unit(f"n += {b.r.choice([1, 1, 3])}")
    shown = b.r.sample(b.pool, min(len(b.pool), b.r.randint(1, 3)))
    if b.chance(0.8):
        b.unit(f'see("end", {", ".join(v.name for v in shown)})')


def last_units(builder):
    everything = [v for v in builder.pool if v.state] + [v for v in builder.pool if not v.state][-4:]
    units = [Unit(f'see("last", {v.name})') for v in everything]
    return units + [Unit(f'see("grad", {v.name}.grad)') for v in everything if v.leaf]


def generate(seed, safe=True, randomness=None, short=False):
    """The program of a seed. randomness: may draw random numbers (default: one program in five). short: few
    units and tensors, quick to compile."""
    from tests.deferred import blocks, statements

    r = random.Random(seed * 7919 + 17)
    randomness = r.random() < 0.2 if randomness is None else randomness
    length = (
        r.choice([4, 6, 8, 10, 12, 15])
        if short
        else r.choice([8, 12, 20, 30, 40, 60, 100 if seed % 5 == 0 else 30, 200 if seed % 10 == 0 else 15])
    )
    b = Builder(seed, safe, randomness)
    sources(b, r.randint(0, 2) if short else r.randint(1, 5))
    families = statements.FAMILIES | blocks.FAMILIES
    choices, weights = list(families), [families[f] for f in families]
    while sum(u.text.count("\n") + 1 for u in b.units) < length:
        b.r.choices(choices, weights)[0](b)
    finish(b)
    repeats = r.choice([1, 2, 3, 4, 4, 5, 6]) if length < 100 else r.choice([1, 2, 3])
    return Program(seed, safe, b.setup, b.units, last_units(b), repeats, b.tainted, b.mixed)
