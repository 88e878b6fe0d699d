"""Copies of Programs: whole, and for testing."""

from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._program.control_flow.blocks import Block, with_blocks
from paddle_jax._program.evaluate import Gradient
from paddle_jax._program.program import Operation, Program
from paddle_jax._program.variable import Variable as Recorded
from paddle_jax.nn.functional.norm import batch_norm_infer
from paddle_jax.tensor.creation import clone as identity

_TRAINING = ("optimizer_step", "gradients")


def copied(program, for_test=False):
    """A Program with the same operations; its Variables are those of the original."""
    found = Program()
    for name in ("data", "vars", "values", "inits", "current", "homes", "taken", "rates"):
        setattr(found, name, dict(getattr(program, name)))
    found.fetched = list(program.fetched)
    found.ops, found.random_seed, found.draws, found.words = (
        list(program.ops),
        program.random_seed,
        program.draws,
        program.words,
    )
    if for_test:
        _tested(found)
    return found


def shortened(program, targets):
    """A Program with those operations that Variables need, and the inputs and Parameters of these."""
    if not isinstance(targets, list | tuple) or not all(isinstance(v, Recorded) for v in targets):
        raise TypeError(f"Program._prune: targets: got {targets!r}; it must be a list of Variables")
    ends = [v._raw for v in targets]
    found = copied(program)
    found.ops = program.pruned(ends)
    used = {symbol for op in found.ops for symbol in op.inputs} | set(ends)
    made = {symbol for op in found.ops for symbol in op.outputs}
    found.data = {name: v for name, v in program.data.items() if v._raw in used}
    found.vars = {
        name: v
        for name, v in program.vars.items()
        if v._raw in used or {program.homes.get(name), program.current.get(name)} & (used | made)
    }
    found.current = {
        name: symbol if symbol in made else program.homes[name]
        for name, symbol in program.current.items()
        if name in found.vars
    }
    return found


def _tested(program):
    """Takes training out: gradients and updates go, normalisation uses running statistics,
    nothing is dropped."""
    kept, gone = [], set()
    for op in program.ops:
        if isinstance(op, Gradient) or op.name in _TRAINING or any(s in gone for s in op.inputs):
            gone.update(op.outputs)
        else:
            kept.append(op)
    program.ops = kept
    evaluated(program, gone)


def evaluated(program, gone=()):
    """Makes operations what they are outside training; what a Program stores of those that are gone
    it stores no more."""
    program.ops, instead = _all(program.ops)
    program.changed()
    gone = {*gone, *instead}
    for name, symbol in list(program.current.items()):
        if symbol in gone:
            program.current[name] = program.homes[name]


def _all(ops):
    """(what operations are outside training, {Symbol of a result that is gone: what stays in its place})."""
    changed, instead = [], {}
    for op in ops:
        inputs = [instead.get(s, s) for s in op.inputs]
        changed.append(_evaluation(op, inputs))
        if op.name == "batch_norm_train":  # the running mean and variance
            instead.update(zip(op.outputs[1:], inputs[1:3], strict=True))
    return changed, instead


def _evaluation(op, inputs):
    """What an operation is outside training, with these operands."""
    made = op.kernel.made_of
    if hasattr(op.kernel.fn, "parts"):
        return _replaced(op, with_blocks(op.kernel, _block), inputs, op.many, len(op.outputs))
    if op.name == "batch_norm_train":
        attrs = dict(zip(made[0].attrs, made[2], strict=True))
        kernel = batch_norm_infer.op.kernel(made[1], (attrs["epsilon"], attrs["data_format"]))
        return _replaced(op, kernel, inputs, None)
    if op.name in ("_drop", "_alpha_drop"):
        attrs = dict(zip(made[0].attrs, made[2], strict=True))
        kernel = identity.op.kernel((-2,), ())
        if not attrs.get("upscale", True):
            keep = 1 - attrs["p"]
            kernel = Kernel("scale", lambda x: x * keep)
        return _replaced(op, kernel, inputs[:1], None)
    return op if inputs == op.inputs else _replaced(op, op.kernel, inputs, op.many, len(op.outputs))


def _block(block):
    """A block of a branch or loop, outside training."""
    changed = Block()
    changed.inputs, (changed.ops, instead) = block.inputs, _all(block.ops)
    changed.results = [instead.get(s, s) for s in block.results]
    return changed


def _replaced(op, kernel, inputs, many, count=1):
    found = Operation(kernel, list(inputs), op.stops[: len(inputs)], many, op.scope, op.host)
    found.outputs, found.where = op.outputs[:count], op.where
    return found


__all__ = ["copied", "shortened"]
