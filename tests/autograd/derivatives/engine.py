"""Checks rows: phi(t) = <w, f(x + t v)>, its derivatives by nested reverse mode, by forward mode and mixed,
against difference quotients.

phi_0 is phi, phi_k the k-th derivative at t that `paddle.grad(..., create_graph=True)` gives when it is
nested k times, contracted with v each time. phi_k must be the difference quotient of phi_(k-1) over seven
points. A row is traced once for all points: under `jax.vmap` the trace takes twice the time. NumPy runs its
equations, which takes a tenth of the time that XLA takes to compile them; tests/interpreter compares the two.
"""

import dataclasses
import zlib

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import jaxpr_as_fun

from paddle_jax._core import numpy_backend

NAMES = "xyzwabcdeg"
STEP = 1 / 256
POINTS = np.arange(-3, 4)
# first derivative, error of order 6 (Fornberg 1988, table 1)
WEIGHTS = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60
FLOATS = ("float32", "float64", "complex64", "complex128")


@dataclasses.dataclass(frozen=True)
class Row:
    """An expression for an op.

    text: in terms of p (the module), F (p.nn.functional), L (p.linalg) and the inputs x, y, z, w, a, b...
    orders: how many orders pytest checks; most: how many the tool does. eager: it needs values on the host,
    so it is not run inside a trace, and why. step: of the difference quotient, where the usual one is too
    long. rtol: what the derivative of rank k must agree to.
    """

    op: str
    text: str
    inputs: tuple
    orders: int = 4
    eager: str = ""
    step: float = STEP
    rtol: float = 1e-6
    note: str = ""
    most: int = 4

    @property
    def key(self):
        """What the row is known by: its expression, with the kinds of its inputs where that is not all."""
        return f"{self.op}: {self.text}" + (f" [{self.note}]" if self.note else "")

    def given(self):
        r = np.random.RandomState(zlib.crc32(self.key.encode()) % 2**31)
        return [make(r) for make in self.inputs]


def flat(value, kind):
    """The Tensors of a nested result."""
    if isinstance(value, kind):
        return [value]
    return [t for v in value for t in flat(v, kind)] if isinstance(value, list | tuple) else []


def outputs(p, row, tensors):
    """The floating results of the expression, complex ones as pairs of real numbers."""
    p.seed(5)
    names = {"p": p, "F": p.nn.functional, "L": p.linalg, **dict(zip(NAMES, tensors, strict=False))}
    found = [t for t in flat(eval(row.text, names), p.Tensor) if str(t.dtype).rsplit(".", 1)[-1] in FLOATS]  # noqa: S307
    return [p.as_real(t) if "complex" in str(t.dtype) else t for t in found]


def pairs(z):
    """Complex numbers as pairs of real ones."""
    return np.stack([z.real, z.imag], -1)


class Problem:
    """A row with its point, direction and covectors, for one engine. `leaf` makes a Tensor of an array."""

    def __init__(self, p, row):
        self.p, self.row, self.given = p, row, row.given()
        self.moved = [g for g in self.given if g.direction is not None]
        self.base = [pairs(g.value) if np.iscomplexobj(g.value) else g.value for g in self.moved]
        self.direction = [pairs(g.direction) if np.iscomplexobj(g.value) else g.direction for g in self.moved]
        self.constants = [p.to_tensor(g.value) if g.direction is None else None for g in self.given]
        self.covectors = None

    def outs(self, leaves):
        ready = iter(leaves)
        made = [next(ready) if c is None else c for c in self.constants]
        made = [
            self.p.as_complex(t) if np.iscomplexobj(g.value) and g.direction is not None else t
            for t, g in zip(made, self.given, strict=True)
        ]
        return outputs(self.p, self.row, made)

    def start(self):
        """Runs the expression once, to learn what it returns, and draws the covectors."""
        found = [t.numpy() for t in self.outs([self.p.to_tensor(b) for b in self.base])]
        r = np.random.RandomState(11)
        self.covectors = [r.uniform(0.5, 1.5, f.shape) * r.choice([-1, 1], f.shape) for f in found]
        return found

    def series(self, leaves, order, contract, tensor):
        """phi_0 .. phi_order at the leaves. `contract(tensors, arrays)` is their inner product, `tensor`
        makes a constant."""
        outs = self.outs(leaves)
        weights = self.covectors
        found = [contract(outs, weights)]
        for _ in range(order):
            kept = [(t, w) for t, w in zip(outs, weights, strict=True) if not t.stop_gradient and t.size]
            if not kept:
                found.append(0.0)
                outs, weights = [], []
                continue
            grads = self.p.grad(
                [t for t, _ in kept],
                leaves,
                grad_outputs=[tensor(w) for _, w in kept],
                create_graph=True,
                allow_unused=True,
            )
            live = [(g, d) for g, d in zip(grads, self.direction, strict=True) if g is not None]
            outs, weights = [g for g, _ in live], [d for _, d in live]
            found.append(contract(outs, weights))
        return found


class Ours(Problem):
    """A row on paddle_jax."""

    def at(self, t, order):
        """phi_0 .. phi_order at x + t v, for a number t or one that JAX traces."""
        from paddle_jax._core.tensors.tensor import wrap

        leaves = [
            wrap(jnp.asarray(b) + t * jnp.asarray(d)) for b, d in zip(self.base, self.direction, strict=True)
        ]
        for leaf in leaves:
            leaf.stop_gradient = False

        def contract(tensors, arrays):
            return sum([jnp.sum(t._value * w) for t, w in zip(tensors, arrays, strict=True)], jnp.zeros(()))

        return [
            jnp.asarray(v, "float64")
            for v in self.series(leaves, order, contract, lambda w: wrap(jnp.asarray(w)))
        ]

    def run(self, order):
        """(phi_0..phi_order at each point; forward-mode derivatives 1..order; forward over
        reverse, order 2 and 3)."""
        ts = jnp.asarray(POINTS * self.row.step)
        if self.row.eager:
            return np.array([[float(v) for v in self.at(t, order)] for t in ts]), None, None

        def table(t):
            return [jnp.stack(self.at(t, order))]

        def other_modes(t):
            function = _traced(lambda t: self.at(t, 0), t)
            for _ in range(order):
                function = _with_next_derivative(function)
            forward = function(t)[1:]
            first_ones = _traced(lambda t: self.at(t, min(order - 1, 2))[1:], t)
            mixed = jax.jvp(first_ones, (t,), (jnp.ones_like(t),))[1]
            return jnp.stack(forward), jnp.stack(mixed)

        reverse = _runner(table, ts[3])
        others = _runner(other_modes, ts[3])(ts[3])
        return [np.stack([np.asarray(reverse(t)[0]) for t in ts]), *[np.asarray(v) for v in others]]


def _runner(function, argument):
    """The function, traced once and run by NumPy, or compiled where NumPy has no rule."""
    program = jax.jit(function)
    try:
        plan = numpy_backend.plan(program.trace(argument).jaxpr)
    except numpy_backend.Refusal:
        return program
    return lambda argument: plan(np.asarray(argument))


def _traced(function, argument):
    """The equations of the function, as a function: JAX derives them faster than Python code."""
    return jaxpr_as_fun(jax.make_jaxpr(function)(argument))


def _with_next_derivative(function):
    """A function of a number with derivatives 0 to k gives those up to k + 1: one pass in place of one an
    order."""

    def extended(t):
        found, tangents = jax.jvp(function, (t,), (jnp.ones_like(t),))
        return [*found, tangents[-1]]

    return extended


def problems(p, row, order):
    """What is wrong with the derivatives of a row up to `order`: {"1": text, ..., "forward": text, "mixed":
    text}; empty when all is right."""
    problem = Ours(p, row)
    for f in problem.start():
        if not np.all(np.isfinite(f)):
            return {"0": "the value is not finite"}
    return judged(row, *problem.run(order))


def judged(row, table, forward=None, mixed=None):
    """Compares phi_k with the difference quotient of phi_(k-1), and the other modes with phi_k."""
    wrong, middle = {}, table[3]
    for k in range(1, table.shape[1]):
        quotient = float(WEIGHTS @ table[:, k - 1]) / row.step
        size = max(1.0, np.abs(table[:, k - 1]).max(), np.abs(table[:, k]).max())
        if not abs(middle[k] - quotient) <= row.rtol * size:
            wrong[str(k)] = f"order {k} is {middle[k]:.9g}, differences give {quotient:.9g}"
    for name, values, want in (("forward", forward, middle[1:]), ("mixed", mixed, middle[2:4])):
        if values is not None:
            bad = [
                i
                for i, (v, w) in enumerate(zip(values, want, strict=True))
                if not abs(v - w) <= 1e-8 * max(1.0, abs(w))
            ]
            if bad:
                wrong[name] = f"{name} mode gives {values.tolist()}, reverse {want.tolist()}"
    return wrong
