"""Recording a function for a model file: which operations it runs, and which of their numbers depend on
lengths that are not fixed.

The function runs twice, with different lengths in place of the unknown ones. What differs between the two
runs is a `Length`; if the runs call different operations, the code looks at the lengths in a way that a
program cannot hold. Each axis gets lengths of its own, with a difference of its own, so that it can be told
which length a number is made of; where axes turn out to belong together, all get the same.
"""

import dataclasses
import itertools
from typing import Any

import jax.numpy as jnp
import numpy as np

from paddle_jax._core.capture.environment import sequence_of, tensors_in
from paddle_jax._core.deferred.value import aval_of, concrete, looked_at
from paddle_jax._core.errors import TracedValueError, Unsupported
from paddle_jax._core.ops.dispatch import run
from paddle_jax._core.ops.kernel import Kernel
from paddle_jax._core.ops.op import Op
from paddle_jax._core.runtime.origins import user_line
from paddle_jax._core.tensor import Tensor, wrap
from paddle_jax._core.values.symbol import NoValueError, Symbol, SymbolError
from paddle_jax.framework.pir.builder import Length, NotWritable, uniform
from paddle_jax.static.composites import computing
from paddle_jax.static.program import Program
from paddle_jax.static.recorder import Recorder
from paddle_jax.static.variable import Variable, variable

# (first run, second run) for each axis: odd, so that half of a length is seen to be rounded; multiples of 32,
# for models that halve lengths again and again; the same for all axes; short ones, for tables of few
# positions.
_ODD = ((97, 198), (103, 212), (107, 220), (109, 236), (113, 244), (127, 264))
_EVEN = ((96, 192), (160, 480), (160, 800), (160, 1120), (32, 352), (32, 416))
_SHORT = ((5, 8), (7, 12), (9, 16), (11, 18), (13, 24), (15, 28))
_SMALL = 64  # elements up to which operations on constants are carried out while recording
_SAME = ((97, 198),) * len(_ODD)


@dataclasses.dataclass(slots=True, eq=False)
class Step:
    """One operation of a recording."""

    kernel: Kernel
    op: Op | None  # as it was declared; None: of no declared op
    attrs: dict  # its attributes by name, with Lengths
    layout: Any  # how the operands are laid out, as in `kernel.made_of`
    inputs: list  # operands, Symbols
    outputs: list  # results, Symbols
    # of `cond` and `while`: (Symbols that come in, Steps, Symbols of the results) for each
    blocks: list | tuple = ()
    place: str | None = None  # `file:line` of the user's code

    @property
    def name(self):
        return self.kernel.name


@dataclasses.dataclass(slots=True, eq=False)
class Filled:
    """An array of one number whose shape depends on the inputs."""

    number: complex
    dtype: str
    shape: list  # with Lengths


@dataclasses.dataclass(slots=True, eq=False)
class Ramp:
    """start, start + step, ... of a length that depends on the inputs."""

    start: complex
    step: complex
    dtype: str
    shape: list  # with one Length


@dataclasses.dataclass(slots=True, eq=False)
class Recording:
    """What a function does."""

    inputs: list  # Symbols
    outputs: list  # Symbols
    places: dict  # {Operation: `file:line`}
    steps: list = dataclasses.field(default_factory=list)  # in order
    tensors: dict = dataclasses.field(default_factory=dict)  # {Symbol: the eager Tensor or what else it is}
    shapes: dict = dataclasses.field(default_factory=dict)  # {Symbol: shape, with Lengths}
    stored: set = dataclasses.field(default_factory=set)  # ids of Tensors stored beside the Parameters

    def prune(self):
        """Leaves out the steps that no output needs."""
        needed, kept = set(self.outputs), []
        for step in reversed(self.steps):
            if needed.intersection(step.outputs):
                needed.update(step.inputs)
                kept.append(step)
        self.steps = kept[::-1]


class _Known(Variable):
    """A Variable whose lengths are known: it can be counted and taken apart."""

    # a Variable's refuses
    __iter__, __len__, size = Tensor.__iter__, Tensor.__len__, Tensor.size  # pyright: ignore[reportAssignmentType]


class Curable(NotWritable):
    """What converting the control flow of the function may cure."""


class _OpenLoop(Exception):  # noqa: N818  a message from inside a loop to whoever records it
    """A loop takes other numbers of steps for other lengths. code: of its body."""

    def __init__(self, code):
        self.code = code


class _Recorder(Recorder):
    """A recorder that runs everything under a probe, so that all code sees lengths.

    open: codes of loops' bodies of which other lengths take other numbers of steps; loops: the loops of each
    run, as `loop` gives them. places: {Operation: line of the user's code}. refusal: why the code cannot be
    recorded, though it may have caught that.
    """

    single_steps = True  # a program inside the function is recorded operation by operation
    kind = _Known

    def __init__(self, converted=False, open_loops=()):
        super().__init__(Program())
        self.depth, self.converted, self.open, self.loops, self.places, self.refusal = (
            1, converted, open_loops, ([], []), {}, None)

    def control_flow(self, args, plain, converted):
        return plain()

    def refused(self, error):
        self.refusal = self.refusal or error

    def loop(self, code, steps=0):
        mine = self.loops[self.probe]
        mine.append([code, steps, code in self.open])
        if self.probe and steps:
            self.compare(len(mine))
        return mine[-1]

    def compare(self, until):
        """Raises _OpenLoop for the first loop that takes other numbers of steps in both runs."""
        for (code, steps, known), (other, more, _) in list(zip(*self.loops, strict=False))[:until]:
            if code is other and steps != more and not known:
                raise _OpenLoop(code)

    def take_in(self, tensor, name=None):
        raw = tensor._raw
        aval, taken = aval_of(raw.shape, raw.dtype), self.program.taken
        taken[id(tensor)] = tensor, raw, Symbol((aval, aval), "constant", self.program, value=tensor)
        return taken[id(tensor)]

    def call(self, kernel, tensors):
        """Records a call. What is known from lengths and small constants stays known."""
        made = kernel.made_of
        if made is not None and made[0].name == "shape":
            return wrap(jnp.asarray(np.array(tensors[0].shape, np.int64)))
        held = [t._raw for t in tensors]
        if held and not any(type(raw) is Symbol or t.persistable or raw.size > _SMALL
                            for raw, t in zip(held, tensors, strict=True)):
            with computing():
                found = run(kernel, tensors)
            if all(t._raw.size <= _SMALL for t in tensors_in(found)):
                return found
        return super().call(kernel, tensors)

    def add(self, *args):
        results = super().add(*args)
        self.places[self.ops[-1]] = user_line()
        return results


def record(function, specs, converted=None) -> Recording:
    """Runs a function on descriptions of its arguments.

    Args:
        function: callable.
        specs: list of InputSpecs (nested in lists and dicts if need be), and other values, which are
            passed as they are.
        converted: function that gives the function with control flow on Tensors converted, which is tried
            where it asks for values or does different things for different lengths.
    Raises:
        NotWritable, Unsupported: the function needs values, or does different things for different lengths.
    """
    is_open = any(n == -1 for spec in _specs(specs) for n in spec.shape)
    sets, first = (_ODD, _EVEN, _SHORT, _SAME) if is_open else (_ODD,), None
    for probes in sets:
        try:
            return _record(function, specs, _Recorder(), probes)
        except Curable as error:
            first = first or error
            if converted is not None:
                try:
                    return _converted(converted(), specs, sets)
                except Exception as refusal:
                    first, converted = refusal, None
        except Exception as error:  # an operation may refuse these lengths
            first = first or error
    raise first


def _converted(function, specs, sets):
    """As `record` for a converted function. Loops are steps one after the other, until they are seen to take
    other numbers of them for other lengths; that is found with short lengths."""
    first, open_loops = None, set()
    for probes in (_SHORT, *sets):
        found = None
        while found is None:
            try:
                found = _record(function, specs, _Recorder(True, open_loops), probes)
            except _OpenLoop as loop:
                open_loops.add(loop.code)
            except Exception as error:
                found = error
        if isinstance(found, Recording) and (probes is not _SHORT or first is not None or len(sets) == 1):
            return found
        if isinstance(found, Exception):
            first = first or found
    raise first


def by_key(mapping):
    """The keys of a dict in the order in which its items become inputs, which is Paddle's."""
    try:
        return sorted(mapping)
    except TypeError:
        return sorted(mapping, key=lambda key: (type(key).__name__, str(key)))


def _specs(value):
    if isinstance(value, list | tuple):
        return [s for v in value for s in _specs(v)]
    if isinstance(value, dict):
        return [s for v in value.values() for s in _specs(v)]
    return [value] if hasattr(value, "shape") and hasattr(value, "dtype") else []


def _record(function, specs, recorder, probes):
    inputs, runs = [], []
    arguments = [_argument(spec, recorder, probes, inputs) for spec in specs]
    try:
        for run in (0, 1):
            recorder.probe = run
            runs.append(_one_run(function, arguments, recorder))
    except (NotWritable, Unsupported, _OpenLoop):
        raise
    except Exception as error:
        cause = error
        while cause is not None and not isinstance(cause, SymbolError | NoValueError | TracedValueError):
            cause = cause.__context__
        if cause is None:
            raise
        raise Curable(f"the value of a tensor is asked for: {cause}") from cause
    recorder.compare(None)
    return _merged(recorder, inputs, *runs)


def _argument(value, recorder, probes, inputs):
    """What stands for an argument: Variables for InputSpecs, whose Symbols are added to inputs."""
    if isinstance(value, list | tuple):
        return sequence_of(type(value), [_argument(v, recorder, probes, inputs) for v in value])
    if isinstance(value, dict):
        items = {key: _argument(value[key], recorder, probes, inputs) for key in by_key(value)}
        return {key: items[key] for key in value}
    if not _specs(value):
        return value
    pair = [aval_of(tuple(probes[min(axis, len(probes) - 1)][run] if n == -1 else n
                          for axis, n in enumerate(value.shape)), np.dtype(value.dtype.np)) for run in (0, 1)]
    inputs.append(Symbol(tuple(pair), "data", recorder.program, value.name))
    return variable(inputs[-1], value.stop_gradient, _Known)


def _one_run(function, arguments, recorder):
    """(Symbols of the results, operations) of one run of the function."""
    with recorder:
        mark = recorder.mark()
        try:
            out = [recorder.symbol(t) for t in tensors_in(function(*arguments))]
        finally:
            ops, _, _ = recorder.back(mark)
        if recorder.refusal is not None:
            raise recorder.refusal
        return out, ops


def _merged(recorder, inputs, first, second):
    recording = Recording(inputs, first[0], recorder.places)
    partner = {symbol: symbol for symbol in inputs}
    for symbol in inputs:
        recording.shapes[symbol] = _shape(symbol.avals[0].shape, symbol.avals[1].shape)
    recording.steps.extend(_steps(recording, partner, first[1], second[1]))
    if len(first[0]) != len(second[0]):
        raise Curable("it returns other numbers of tensors for other lengths; "
                      "give these lengths as numbers in input_spec")
    for a, b in zip(first[0], second[0], strict=True):
        _pair(recording, partner, a, b)
    return recording


def _steps(recording, partner, ops, others):
    steps = []
    for a, b in itertools.zip_longest(ops, others):
        here = recording.places.get(a or b)
        if a is None or b is None or a.name != b.name:
            one, other = ("nothing" if op is None else op.name for op in (a, b))
            raise Curable(f"it runs {one} for one set of lengths and {other} for another; "
                          "give these lengths as numbers in input_spec", here)
        try:
            steps.append(_step(recording, partner, a, b))
        except NotWritable as error:
            error.place = error.place or here
            raise
        steps[-1].place = here
    return steps


def _step(recording, partner, a, b):
    made, other = a.kernel.made_of, b.kernel.made_of
    if (len(a.inputs) != len(b.inputs) or len(a.outputs) != len(b.outputs)
            or (made is None) != (other is None)):
        raise Curable(f"it calls {a.name} in different ways for different lengths; "
                      "give these lengths as numbers in input_spec")
    for x, y in zip(a.inputs, b.inputs, strict=True):
        _pair(recording, partner, x, y)
    for x, y in zip(a.outputs, b.outputs, strict=True):
        partner[x] = y
        recording.shapes[x] = _shape(x.avals[0].shape, y.avals[1].shape)
    if made is None:
        blocks = _control(recording, partner, a, b) if hasattr(a.kernel.fn, "parts") else ()
        return Step(a.kernel, None, {}, None, a.inputs, a.outputs, blocks)
    op, layout, values = made
    if other[0] is not op or other[1] != layout:
        raise Curable(f"it calls {op.name} in different ways for different lengths; "
                      "give these lengths as numbers in input_spec")
    attrs = {name: _attribute(op.name, x, y) for name, x, y in zip(op.attrs, values, other[2], strict=True)}
    return Step(a.kernel, op, attrs, layout, a.inputs, a.outputs)


def _control(recording, partner, a, b):
    """The blocks of a `cond` (both branches) or `while` (test and body)."""
    done = []
    for one, two in zip(a.kernel.fn.parts, b.kernel.fn.parts, strict=True):
        for x, y in zip(one.inputs, two.inputs, strict=True):
            partner[x] = y
            recording.shapes[x] = _shape(x.avals[0].shape, y.avals[1].shape)
        steps = _steps(recording, partner, one.ops, two.ops)
        for x, y in zip(one.results, two.results, strict=True):
            _pair(recording, partner, x, y)
        done.append((one.inputs, steps, one.results))
    return done


def _pair(recording, partner, x, y):
    """Notes that x of the first run is y of the second."""
    if partner.get(x) is y:
        return
    if x.kind == y.kind == "random":
        return
    if x.kind != "constant" or y.kind != "constant":
        raise NotWritable("it uses different tensors for different lengths; "
                          "give these lengths as numbers in input_spec")
    partner[x] = y
    recording.shapes[x] = _shape(x.avals[0].shape, y.avals[0].shape)
    if x.value is y.value:
        recording.tensors[x] = x.value
        return
    one, two = (looked_at(concrete(s.value._raw if isinstance(s.value, Tensor) else s.value)) for s in (x, y))
    if one.shape != two.shape:
        recording.tensors[x] = _made(one, two, recording.shapes[x])
    elif np.array_equal(one, two, equal_nan=one.dtype.kind in "fc"):
        recording.tensors[x] = one
    else:
        if (one != np.round(one)).any() or (two != np.round(two)).any():
            raise NotWritable("it uses a fraction made of lengths that are not fixed; "
                              "give these lengths as numbers in input_spec")
        recording.tensors[x] = [_attribute("an operand", int(p), int(q))
                            for p, q in zip(one.ravel(), two.ravel(), strict=True)]


def _made(one, two, shape):
    """The Filled or Ramp that both arrays, which differ in shape, are."""
    if (one.size and two.size and uniform(one) and uniform(two)
            and np.array_equal(one.flat[0], two.flat[0], equal_nan=one.dtype.kind in "fc")):
        return Filled(one.flat[0].item(), one.dtype.name, shape)
    if one.ndim == two.ndim == 1 and min(one.size, two.size) > 1 and one.dtype.kind in "if":
        step = one[1] - one[0]
        if all(np.allclose(a, one[0] + step * np.arange(a.size), rtol=1e-6, atol=0) for a in (one, two)):
            return Ramp(one[0].item(), step.item(), one.dtype.name, shape)
    raise NotWritable("it makes a tensor whose numbers depend on lengths that are not fixed; "
                      "give these lengths as numbers in input_spec")


def _shape(one, two):
    if len(one) != len(two):
        raise NotWritable("a result has another number of axes for other lengths")
    return [a if a == b else Length(a, b) for a, b in zip(one, two, strict=True)]


def _attribute(name, one, two):
    """An attribute of both runs: the value, with Lengths for ints that differ."""
    if isinstance(one, tuple) and isinstance(two, tuple) and len(one) == len(two):
        return tuple([_attribute(name, a, b) for a, b in zip(one, two, strict=True)])
    if type(one) is int and type(two) is int and one != two:
        return Length(one, two)
    if one == two or one is two or (one != one and two != two):
        return one
    raise NotWritable(f"{name}: {one!r} for one set of lengths and {two!r} for another; "
                      "give these lengths as numbers in input_spec")
