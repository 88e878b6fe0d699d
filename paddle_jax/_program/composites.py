"""Composites seen from outside: the Tensors in their arguments, whether two runs did the same, and composites
that become one operation."""

import jax.numpy as jnp

from paddle_jax._core.base.interrupt_safe import swapped_attributes
from paddle_jax._core.base.state import local
from paddle_jax._core.execution.frame import Frame
from paddle_jax._core.execution.python_state import map_tensors, tensors_in
from paddle_jax._core.execution.trace import Trace
from paddle_jax._core.lazy.segment import FIRST_LIMIT, Segment
from paddle_jax._core.lazy.settings import settings
from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._core.lazy.transfer import to_array, to_numpy
from paddle_jax._core.tensors.tensor import wrap


class Random(Exception):  # noqa: N818  a message from inside a composite to whoever records it
    """Raised by a composite that draws random numbers and has been given none."""


class _Draws(Trace):
    """The run of a composite as one operation. base: seed words and offset of its random numbers, or None."""

    def __init__(self, base):
        super().__init__()
        self.base = base

    def _base(self, generator):
        if self.base is None:
            raise Random
        return *self.base, self.drawn.setdefault(generator, (self.base, None, generator._offset))[2]

    def taken(self):
        """How many random numbers it has drawn, which do not count as draws of the generators."""
        counts = [generator._offset - start for generator, (*_, start) in self.drawn.items()]
        for generator, (*_, start) in self.drawn.items():
            generator._offset = start
        return sum(counts)


class OpaqueCall:
    """The function of a composite that is one operation: it runs the composite's code on arrays.

    random: whether the last two operands are those of a random op; draws: how many random numbers it takes.
    writes: positions of the operands that it changes in place, whose new values come last. layout: what the
    code returned. free: for each result whether no gradient flows into it. public: the function that users
    call for it, or its code.
    """

    once = True  # one call has it alone, so nothing is kept for the next

    def __init__(self, fn, args, kwargs, tensors, writes, random, public=None):
        self.public = public or fn
        self.fn, self.args, self.kwargs, self.writes, self.random = fn, args, kwargs, writes, random
        self.stops, self.draws, self.layout, self.free = [t.stop_gradient for t in tensors], 0, None, []
        self.amp = local.ctx.amp

    def __call__(self, *arrays):
        base = arrays[-2:] if self.random else None
        given = [wrap(a, stop) for a, stop in zip(arrays, self.stops, strict=False)]
        rest = iter(given)
        args, kwargs = map_tensors((self.args, self.kwargs), lambda _: next(rest))
        trace = _Draws(base)
        with computing(self.amp), trace:
            try:
                out = self.fn(*args, **kwargs)
            finally:
                self.draws = trace.taken()
            results = [*tensors_in(out), *[given[i] for i in self.writes]]
            found, self.free = [to_array(t._raw) for t in results], [t.stop_gradient for t in results]
            self.layout = map_tensors(out, lambda _: _Slot())
        return tuple(map(jnp.asarray, found))

    def on_tensors(self, tensors):
        """The results as Tensors, with their place on the tape."""
        rest = iter(tensors)
        args, kwargs = map_tensors((self.args, self.kwargs), lambda _: next(rest))
        out = self.public(*args, **kwargs)
        return tuple([*tensors_in(out), *[tensors[i] for i in self.writes]])

    def rebuild(self, found):
        """What the function returned, with the given Tensors."""
        rest = iter(found)
        return map_tensors(self.layout, lambda _: next(rest), _Slot)


class _Slot:
    """Stands for a Tensor in what a function returned."""


def computing(amp=None):
    """Inside the block operations run instead of being recorded (on traced arrays, or at once), with the
    mixed precision they were recorded in."""
    return swapped_attributes(local.ctx, frame=Frame().nest_in(local.ctx.frame), segment=None, amp=amp)


def running():
    """Inside the block operations run as in eager mode, in a segment of their own."""
    frame = Frame().nest_in(local.ctx.frame)
    deferring = settings.mode != "off" and frame.executor is None
    segment = Segment(min(FIRST_LIMIT, settings.max_ops)) if deferring else None
    return swapped_attributes(local.ctx, frame=frame, segment=segment, amp=None)


def same(one, other):
    """Whether two probe runs (results, operations, number of draws, changes) called the same kernels on
    the same operands."""
    (out, ops, count, changed), (out2, ops2, count2, changed2) = one, other
    if (
        len(ops) != len(ops2)
        or count != count2
        or [id(t) for t, _, _ in changed] != [id(t) for t, _, _ in changed2]
    ):
        return False
    known = {}

    def equal(a, b):
        if a is b or known.get(b) is a:
            return True
        if a.kind != b.kind or a.kind not in ("constant", "random"):
            return False
        if a.kind == "random":
            return a.value == b.value
        return not _differ(a.value, b.value)

    for a, b in zip(ops, ops2, strict=True):
        if (
            a.kernel is not b.kernel
            or a.stops != b.stops
            or not all(equal(x, y) for x, y in zip(a.inputs, b.inputs, strict=True))
        ):
            return False
        known.update(zip(b.outputs, a.outputs, strict=True))
    plain = [map_tensors(o, lambda t: None) for o in (out, out2)]
    results = zip(tensors_in(out), tensors_in(out2), strict=True)
    try:
        if not bool(plain[0] == plain[1]):
            return False
    except Exception:  # what cannot be compared differs
        return False
    for a, b in [
        *[(x._raw, y._raw) for x, y in results],
        *[(x[1], y[1]) for x, y in zip(changed, changed2, strict=True)],
    ]:
        if (
            type(a) is not type(b)
            or (type(a) is Symbol and not equal(a, b))
            or (type(a) is not Symbol and _differ(a, b))
        ):
            return False
    return True


def _differ(a, b):
    x, y = to_numpy(to_array(a)), to_numpy(to_array(b))
    return x.shape != y.shape or x.dtype != y.dtype or x.tobytes() != y.tobytes()


__all__ = ["Random", "OpaqueCall", "computing", "running", "same"]
