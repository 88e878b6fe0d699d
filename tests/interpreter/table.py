"""Runs the cases of the op table through plans, and checks every kernel that was met against XLA.

A plan computes what the next kernel gets, so nothing is compiled on the way; at the end of a case all its
kernels are compiled as one program.

Unit tests of `_core.kernels`, `_core.lazy` and `_core.numpy_backend`.
"""

import contextlib
import re

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core as jex

import paddle_jax
from paddle_jax._core.kernels import kernel as kernels
from paddle_jax._core.kernels.jaxpr_tracing import trace_function
from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.transfer import to_array
from paddle_jax._core.numpy_backend import Refusal, plan
from tests.ops import harness as h


def contents(jaxpr):
    """All that equations say: primitives, parameters, which operands they have, and their full types.

    The text of a jaxpr says less, and takes longer than a trace.
    """
    numbers = {}

    def named(variable):
        if isinstance(variable, jex.Literal):
            return type(variable.val), str(variable.val), variable.aval
        return numbers.setdefault(variable, len(numbers)), variable.aval, variable.aval.weak_type

    lists = [jaxpr.constvars, jaxpr.invars, jaxpr.outvars]
    equations = [
        (
            eqn.primitive.name,
            list(map(named, eqn.invars)),
            [(name, _parameter_contents(value)) for name, value in sorted(eqn.params.items())],
            list(map(named, eqn.outvars)),
        )
        for eqn in jaxpr.eqns
    ]
    return equations, [list(map(named, variables)) for variables in lists]


def _parameter_contents(value):
    """A parameter, with what its equations say."""
    if isinstance(value, jex.ClosedJaxpr):
        return contents(value.jaxpr)
    if isinstance(value, jex.Jaxpr):
        return contents(value)
    if isinstance(value, tuple | list):
        return list(map(_parameter_contents, value))
    return re.sub(r"0x[0-9a-f]+", "", str(value))


class Record:
    """What one case ran: [(kernel's name, closed jaxpr, operands, results)], the reasons of what had no plan,
    and the kernels that this package traces to other equations than JAX does."""

    def __init__(self):
        self.ran, self.refused, self.seen, self.unlike = [], {}, set(), []

    def compute(self, kernel, values):
        values = [to_array(v) if type(v) is LazyArray else v for v in values]
        if not kernel.deferrable or any(isinstance(v, jax.core.Tracer) for v in values):
            return self.compiled(kernel, values)
        arrays = [np.asarray(v) for v in values]
        key = (kernel, *[(a.shape, a.dtype) for a in arrays])
        try:
            closed, shape = jax.make_jaxpr(kernel.fn, return_shape=True)(*values)
            results = plan(closed)(*arrays)
        except Refusal as reason:
            self.refused.setdefault(str(reason), kernel.name)
            return self.compiled(kernel, values)
        if key not in self.seen:
            self.seen.add(key)
            # Not `kernel.equations_for`: a template that other tests left has numbers of another class.
            own = trace_function(kernel.fn, kernel.name, list(map(jax.typeof, values)))
            if contents(own.jaxpr) != contents(closed.jaxpr):
                self.unlike.append(f"{kernel.name}: {own.jaxpr}\nJAX: {closed.jaxpr}")
            self.ran.append((kernel.name, closed, arrays, results))
        return jax.tree.unflatten(jax.tree.structure(shape), [jnp.asarray(r) for r in results])

    def problems(self):
        """Texts of what differs from XLA's results."""
        ran = [each for each in self.ran if each[1].jaxpr.outvars]
        operands = [arrays for _, _, arrays, _ in ran]
        theirs = jax.jit(
            lambda lists: [jex.jaxpr_as_fun(each[1])(*a) for each, a in zip(ran, lists, strict=True)]
        )(operands)
        yield from self.wrong_layouts()
        for (name, _, arrays, ours), want in zip(ran, theirs, strict=True):
            for k, (a, b) in enumerate(zip(ours, map(np.asarray, want), strict=True)):
                if a.dtype != jax.dtypes.float0 and (text := difference(a, b)):
                    yield f"{_where(name, arrays, k)}: {text}"

    def wrong_layouts(self):
        """Texts of results that are no compact array of the dtype and shape that the equations say."""
        for name, closed, arrays, ours in self.ran:
            for k, (a, aval) in enumerate(zip(ours, closed.out_avals, strict=True)):
                if type(a) is not np.ndarray or not a.flags.c_contiguous:
                    yield f"{_where(name, arrays, k)}: {type(a)}, not compact"
                elif (a.dtype, a.shape) != (aval.dtype, aval.shape):
                    yield f"{_where(name, arrays, k)}: {a.dtype}{a.shape}, XLA {aval.dtype}{aval.shape}"

    @contextlib.contextmanager
    def watching(self):
        self.compiled, kernels.compute = kernels.compute, self.compute
        mode = paddle_jax.get_flags("FLAGS_deferred")
        paddle_jax.set_flags({"FLAGS_deferred": "off"})
        try:
            yield self
        finally:
            kernels.compute = self.compiled
            paddle_jax.set_flags(mode)


def _where(name, arrays, index):
    """The name of a result in messages."""
    shapes = ", ".join(f"{x.dtype}{list(x.shape)}" for x in arrays)
    return f"{name}({shapes})[{index}]"


def difference(a, b):
    """None when kernels of many primitives agree: exactly, or for floats within the rounding of a
    few dozen steps."""
    name = str(a.dtype)
    if a.dtype.kind not in "fVc":
        return None if a.tobytes() == b.tobytes() else f"{a.ravel()[:5]}, XLA {b.ravel()[:5]}"
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    return h.difference(a.astype(wide), b.astype(wide), name)


def run(public, case, record):
    """Runs one case: the call, its gradient and the gradient of that."""
    with record.watching():
        maker = h.Maker(paddle_jax)
        try:
            out = eval(f"__call__({case.lstrip('~ ')})", {**maker.env(), "__call__": public})  # noqa: S307
            outs = h.flat(out, paddle_jax.Tensor)
            first = h.first_gradient(
                paddle_jax, h.Result(tensors=outs, leaves=maker.leaves), create_graph=True
            )
            if first:
                h.second_gradient(paddle_jax, first, maker.leaves)
        except (
            ValueError,
            TypeError,
            IndexError,
            RuntimeError,
            NotImplementedError,
            AssertionError,
            KeyError,
            AttributeError,
        ):
            pass  # cases of bad input; what ran before is still checked
