"""From a recording to a PIR program and its parameters."""

import contextlib

import numpy as np

from paddle_jax._core.lazy.lengths import Length, has_lengths, is_length
from paddle_jax._core.lazy.transfer import to_array, to_numpy
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.export_errors import NotWritable
from paddle_jax.framework.model_files import decompositions  # noqa: F401  registers ExportRules
from paddle_jax.framework.model_files.builder import Builder
from paddle_jax.framework.model_files.writing import apply


def write(recording, names):
    """(JSON bytes, {name: array}, names of operations that are not Paddle's) of a recording.

    Args:
        recording: see _program/export_trace.py.
        names: names of the inputs.
    Raises:
        NotWritable: an operation has no form in PIR.
    """
    w, values = Builder(), {}
    for symbol, name in zip(recording.inputs, names, strict=True):
        values[symbol] = w.data(name, symbol.dtype.name, recording.shapes[symbol])
    with _resolving(w, recording, values):
        for step in recording.steps:
            _write_step(w, recording, values, step)
        for at, symbol in enumerate(recording.outputs):
            w.fetch(_operand(w, recording, values, symbol), at)
    return w.document(), w.arrays, sorted(w.extension_names)


@contextlib.contextmanager
def _resolving(w, recording, values):
    """In the block leaves of expressions are the Values of these Symbols. What is cached for a block stays
    there."""
    outer, cache = w.resolve, dict(w.cache)

    def resolve(number):
        symbol = recording.numbered[number]
        if symbol not in values and symbol not in recording.tensors:
            raise NotWritable("a length of a result that is not known before it is computed")
        return _operand(w, recording, values, symbol)

    def likely(number):
        symbol = recording.numbered[number]
        is_made = symbol in values or symbol in recording.tensors
        return None if is_made else recording.likely.get(number)

    before = w.likely
    w.resolve, w.likely = resolve, likely
    try:
        yield
    finally:
        w.resolve, w.likely, w.cache = outer, before, cache


def _write_step(w, recording, values, step):
    try:
        _written(w, recording, values, step)
    except NotWritable as error:
        error.location = error.location or step.location
        raise


def _written(w, recording, values, step):
    out = [(symbol.dtype.name, recording.shapes[symbol]) for symbol in step.outputs]
    if step.blocks:
        found = (_write_cond if step.name == "cond" else _write_while)(w, recording, values, step, out)
    elif step.op is None:
        if step.inputs or len(out) != 1:
            raise NotWritable(f"{step.name} is code of a composite operation, which has no form in PIR")
        found = [_filled(w, step.kernel, out[0])]
    else:
        found = apply(w, step.op, step.attrs, _operands(w, recording, values, step), out)
    for symbol, value in zip(step.outputs, found, strict=False):
        values[symbol] = value


def _flag(w, value):
    """A condition as a 0-D tensor."""
    return value if value.shape == [] else w.op("reshape", [value, w.ints([])], ("bool", []))


def _ends(w, recording, values, symbols, kinds):
    """The results of a block in the types the operation gives. What is not made in the block is copied:
    Paddle computes in place on results."""
    found = [_operand(w, recording, values, symbol) for symbol in symbols]
    made, done = {out["%"] for op in w.ops for out in op["O"]}, []
    for value, (dtype, _) in zip(found, kinds, strict=True):
        new = value.number not in made or value in done
        done.append(
            w.op("cast", [value], (dtype, value.shape), dtype=dtype)
            if value.dtype != dtype
            else w.op("assign", [value], value.type)
            if new
            else value
        )
    return done


def _write_cond(w, recording, values, step, out):
    test, regions = _flag(w, _operand(w, recording, values, step.inputs[0])), []
    for _, steps, results in step.blocks:
        inner = dict(values)
        with w.block() as region, _resolving(w, recording, inner):
            for one in steps:
                _write_step(w, recording, inner, one)
            w.yields(_ends(w, recording, inner, results, out))
        regions.append(region)
    return w.control_flow("if", [test], regions, out)


def _write_while(w, recording, values, step, out):
    (carried, tests, (answer,)), (taken, steps, results) = step.blocks
    starts = [
        w.op("assign", [v], v.type)
        for v in [_operand(w, recording, values, symbol) for symbol in step.inputs[: len(carried)]]
    ]

    def tested(env):
        with _resolving(w, recording, env):
            for one in tests:
                _write_step(w, recording, env, one)
            return _flag(w, _operand(w, recording, env, answer))

    first = tested(values | dict(zip(carried, starts, strict=True)))
    with w.block(out) as region:
        inner = values | dict(zip(taken, region.args, strict=True))
        with _resolving(w, recording, inner):
            for one in steps:
                _write_step(w, recording, inner, one)
            new = _ends(w, recording, inner, results, out)
        w.yields([tested(values | dict(zip(carried, new, strict=True))), *new])
    return w.control_flow("while", [first, *starts], [region], out)


def _filled(w, kernel, kind):
    """A kernel without operands: an array of one number, or known numbers."""
    dtype, shape = kind
    array = np.asarray(kernel.fn())
    if not any(isinstance(n, Length) for n in shape):
        return w.constant(array)
    if array.size and (array == array.flat[0]).all():
        return w.op("full_with_tensor", [w.full(array.flat[0], dtype), w.ints(shape)], kind, dtype=dtype)
    raise NotWritable(f"{kernel.name} makes numbers that depend on lengths of the inputs")


def _operands(w, recording, values, step):
    rest, found = iter(step.inputs), []
    for name, count in zip(step.op.tensors, step.layout, strict=True):
        if count == -1:
            found.append(None)
        elif count == -2:
            found.append(_one(w, recording, values, next(rest), raw=name == "starts"))
        else:
            found.append([_one(w, recording, values, next(rest)) for _ in range(count)])
    return found


def _one(w, recording, values, symbol, raw=False):
    """An operand as a Value; with `raw` the numbers of a constant."""
    if raw and symbol in recording.tensors:
        known = recording.tensors[symbol]
        return _flat(known) if has_lengths(known) else np.asarray(_array(known)).ravel().tolist()
    return _operand(w, recording, values, symbol)


def _array(known):
    return to_numpy(to_array(known._raw if isinstance(known, Tensor) else known))


def _operand(w, recording, values, symbol):
    found = values.get(symbol)
    if found is None:
        found = values[symbol] = _made(w, recording, symbol)
    return found


def _made(w, recording, symbol):
    known, kind = recording.tensors[symbol], (symbol.dtype.name, recording.shapes[symbol])
    if isinstance(known, list | tuple) or is_length(known):
        return _numbers(w, known, kind)
    if hasattr(known, "number"):
        return w.op(
            "full_with_tensor",
            [w.number(known.number, kind[0], (1,)), w.ints(known.shape)],
            kind,
            dtype=kind[0],
        )
    if hasattr(known, "step"):
        return _ramp(w, known, kind)
    if isinstance(known, Tensor) and (known.persistable or id(known) in recording.stored):
        if id(known) not in w.stored:
            w.stored[id(known)] = known, w.parameter(known.name, _array(known), not known.stop_gradient)
        return w.stored[id(known)][1]
    return w.constant(_array(known))


def _numbers(w, known, kind):
    """A tensor of numbers of which some depend on lengths."""
    items = [w.number(n, kind[0]) for n in _flat(known)]
    if not kind[1]:
        return items[0]
    joined = w.op("stack", [w.combine(items)], (kind[0], [len(items)]), axis=0)
    return w.op("reshape", [joined, w.ints(kind[1])], kind) if len(kind[1]) > 1 else joined


def _flat(numbers):
    if not isinstance(numbers, list | tuple):
        return [numbers]
    return [n for item in numbers for n in _flat(item)]


def _ramp(w, known, kind):
    """start, start + step, ...: counted from 0, then scaled."""
    length = known.shape[0]
    zero, one = w.full(0, "int64", ()), w.full(1, "int64", ())
    found = w.op("arange", [zero, w.length(length), one], ("int64", [length]), dtype="int64")
    if kind[0] != "int64":
        found = w.op("cast", [found], kind, dtype=kind[0])
    if (known.start, known.step) == (0, 1):
        return found
    return w.op("scale", [found, w.full(known.step)], kind, bias=known.start)
