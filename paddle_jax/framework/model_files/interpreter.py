"""Running a PIR program: every operation is looked up in the rules and dispatched to our own operations.

Values are Tensors (on the tape, traceable by JAX), ndarrays where they are known on the host, or lists of
either. Results are the same whether a program runs operation by operation or, as `Runner` does, as one
compiled kernel per input shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.errors import TracedValueError
from paddle_jax._core.base.state import Context, local
from paddle_jax._core.execution.dispatch import run
from paddle_jax._core.kernels.kernel import Kernel, compute
from paddle_jax._core.lazy.lazy_array import from_numpy, persistent_from_numpy
from paddle_jax._core.runner.new_shapes import NewShapes
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.held_values import (
    computed_array,
    holds_tracer,
    numpy_dtype,
    plain_shape,
)
from paddle_jax._core.tensors.tensor import Tensor, host_value, read_raw, wrap
from paddle_jax.framework.model_files import extension_ops, gradient_ops
from paddle_jax.framework.model_files.constant_folding import HOST, fold, known
from paddle_jax.framework.model_files.paddle_only_ops import RANDOM
from paddle_jax.framework.model_files.reading import rule_of
from paddle_jax.framework.model_files.reading_helpers import as_tensor
from paddle_jax.framework.pickle_names import CorruptFileError, shortened

if TYPE_CHECKING:
    from paddle_jax.framework.model_files.program import Block, Op, Program


# result -> operand it is written into; else the first into the first
# `batch_norm_` updates its statistics, operands 1 and 2. `array_pop` has no underscore, and changes its list.
WRITTEN = {"assign_out_": {0: 1}, "batch_norm_": {1: 1, 2: 2}, "array_pop": {0: 0}}
_SKIP = ("parameter", "data", "fetch")
_CONTROL = ("if", "while", "pylayer")
_MAX_KERNELS = 128  # of one program, for as many shapes of its inputs


class UnknownOpError(NotImplementedError, ValueError):
    """A program holds operations that cannot be run here. Also a ValueError: the name of an operation may
    have been damaged."""


def walk(block: Block) -> Iterator[Any]:
    """All operations of a block and of those inside it."""
    for op in block.ops:
        yield op
        for inner in op.blocks:
            yield from walk(inner)


def _is_known(name: str) -> bool:
    """Whether there is a rule for an operation."""
    return any(one in HOST or rule_of(one) for one in (name, name.removesuffix("_")))


# A name with an underscore runs as the one without.
def check(program: Program) -> None:
    """Raises UnknownOpError naming all operations of a program that have no rule."""
    found = list(walk(program.block))
    # Gradients are run by their forward operation, which they must be matched with.
    of_gradients = gradient_ops.pulls(found, _is_known)
    for op, pull in of_gradients.items():
        op.pull = pull
    ops = {op.name for op in found if op not in of_gradients} - {*_SKIP, *_CONTROL, "cf.yield"}
    ops = {name for name in ops if extension_ops.find(name) is None and not gradient_ops.is_direct(name)}
    unknown = sorted(name for name in ops if not _is_known(name))
    if unknown:
        raise UnknownOpError(
            f"{program.file}: the model uses operations that are not known here: "
            f"{shortened(', '.join(unknown))}"
        )


def is_random(program: Program) -> bool:
    """Whether a program draws random numbers."""
    own = (extension_ops.find(op.name) for op in walk(program.block))
    return any(op.random for op in own if op is not None) or any(
        op.name in RANDOM for op in walk(program.block)
    )


def to_tensor(value: Tensor) -> Tensor:
    """A Tensor of a value of a program; a list of one stands for its item."""
    if isinstance(value, list) and len(value) == 1:
        return to_tensor(value[0])
    if isinstance(value, Tensor):
        return value
    return wrap(from_numpy(np.asarray(value)))


def written_operands(name: str) -> dict[int, int]:
    """The operands that an operation writes into, by the result that they get."""
    return WRITTEN.get(name, {0: 0} if name.endswith("_") else {})


def run_block(block: Block, env: Any) -> list[Any | None] | None:
    """Runs the operations of a block; `env` is {number: value} and is filled. Returns what
    the block yields."""
    for op in block.ops:
        # Their values are there before the run, or are taken from `env` afterwards.
        if op.name in _SKIP:
            continue
        operands = _operands(op, env)
        if op.name == "cf.yield":
            return operands
        if op.name in _CONTROL:
            results = _CONTROLS[op.name](op, operands, env)
        elif op.pull is not None:
            results = _pulled_back(op, operands, env)
        else:
            results = _apply(op, operands)
        for number, value in zip(op.outputs, results, strict=False):
            env[number] = value
        # In place: the operand has the new value from here on.
        if op.outputs:
            for result, operand in written_operands(op.name).items():
                if op.inputs[operand]:
                    env[op.inputs[operand]] = env[op.outputs[result]]
        _detach(op.cut, env)
    return None


def _detach(numbers: set[int], env: dict[Any, Any]) -> None:
    """Ends gradients at values. What an operation like `share_data_` has written into keeps its own."""
    for number in numbers:
        if isinstance(env.get(number), Tensor):
            env[number] = env[number].detach()


def _operands(op: Op, env: dict[Any, Any]) -> list[Any]:
    """The operands of an operation."""
    # A gradient may take results that the operation here does not have. It needs none of them.
    if op.pull is not None:
        return [env.get(n) for n in op.inputs]
    return [env[n] if n else None for n in op.inputs]


class MissingAttributeError(CorruptFileError, AttributeError):
    """An operation of a program lacks an attribute."""


class _Attributes:
    """The attributes of an operation by name."""

    def __init__(self, op: Callable[..., Any]) -> None:
        self.__dict__.update(op.attrs, _name=op.name)

    def __getattr__(self, name: str) -> Any:
        raise MissingAttributeError(
            f"operation {self._name} has no attribute {name!r}; the model is damaged, or of another version"
        )


def _apply(
    op: Callable[..., Any], operands: Sequence[Tensor | np.ndarray | None]
) -> list[Any] | tuple[Tensor | None, ...]:
    attrs = _Attributes(op)
    # Gradients that have a rule of their own.
    if gradient_ops.is_direct(op.name):
        return [gradient_ops.direct(op, operands)]
    # Sizes first: numbers on the host stay numbers.
    folded = fold(op, attrs, operands)
    if folded is not None:
        return [folded]
    own = extension_ops.find(op.name)
    if own is not None:
        found = extension_ops.call(own, attrs.attributes, operands, as_tensor)
    else:
        found = (rule_of(op.name) or rule_of(op.name.removesuffix("_")))(attrs, *operands)
    if len(op.outputs) == 1:
        return [found]
    if isinstance(found, tuple | list):
        return found
    return [found]


def _pulled_back(op: Op, operands: Sequence[Any], env: dict[Any, Any]) -> Sequence[Any]:
    """The results of an operation that computes gradients."""
    values = [env[n] if n else None for n in op.pull.forward.inputs]
    return gradient_ops.pulled_back(op.pull, operands, values, _apply)


def _if(
    op: Callable[..., Any], operands: Sequence[Tensor], env: dict[Any, Any]
) -> list[Any | None] | list[Any]:
    test, (yes, no) = operands[0], op.blocks
    # Known on the host or computed: only the branch that is taken runs.
    if known(test) or not holds_tracer(test):
        if bool(test if known(test) else host_value(test, "pd_op.if")):
            taken = yes
        else:
            taken = no
        return run_block(taken, env) or []

    # Values from outside that a block writes into are further results of both.
    written = _written(op, env)

    def branch(block: Block) -> Callable[..., Any]:
        def traced() -> list[jax.Array]:
            inside = dict(env)
            found = run_block(block, inside) or []
            return [_array(value) for value in [*found, *[inside[n] for n in written]]]

        return traced

    try:
        # `lax.cond` wants equal shapes, and the file does not promise them.
        arrays = jax.lax.cond(read_raw(test).reshape(()), branch(yes), branch(no))
    except TypeError as error:
        raise TracedValueError("pd_op.if", "its branches give other shapes") from error
    found = [_wrap(array) for array in arrays]
    env.update(zip(written, found[len(found) - len(written) :], strict=True))
    return found[: len(found) - len(written)]


def _while(op: Callable[..., Any], operands: Sequence[Tensor], env: dict[Any, Any]) -> Any:
    test = operands[0]
    values = operands[1:]
    body = op.blocks[0]
    # Outside of a trace, or with known numbers: a loop of Python, whose shapes may change.
    while known(test) or not holds_tracer(test):
        if not bool(test if known(test) else host_value(test, "pd_op.while")):
            return values
        env.update(zip(body.args, values, strict=True))
        test, *found = run_block(body, env)
        # Paddle's loops take shape [1] for a number, and so do older files.
        values = [_shaped_as(old, new) for old, new in zip(values, found, strict=True)]
    written = _written(op, env)
    values = [*values, *[env[n] for n in written]]
    _no_lists("while", values)
    types_of = [np.asarray(value).dtype if known(value) else numpy_dtype(value) for value in values]

    def step(state: Any) -> Any:
        inside = dict(env)
        inside.update(zip([*body.args, *written], map(_wrap, state[1:]), strict=True))
        found = [_array(value) for value in [*run_block(body, inside), *[inside[n] for n in written]]]
        # Dtypes and shapes as at the start: `lax.while_loop` wants them unchanged.
        return [
            found[0].reshape(()),
            *[a.astype(t).reshape(s.shape) for a, t, s in zip(found[1:], types_of, state[1:], strict=True)],
        ]

    start = [_array(test).reshape(()), *[_array(value) for value in values]]
    try:
        _, *arrays = jax.lax.while_loop(lambda state: state[0], step, start)
    except TypeError as error:
        raise TracedValueError("pd_op.while", "its variables change their shapes") from error
    found = [_wrap(array) for array in arrays]
    env.update(zip(written, found[len(body.args) :], strict=True))
    return found[: len(body.args)]


def _shaped_as(old: Tensor, new: Tensor) -> Tensor:
    """The new value of a variable of a loop, in the shape of the old one where both have one element."""
    # More elements are another shape, and stay.
    if isinstance(old, list) or isinstance(new, list) or np.size(old) != 1 or np.size(new) != 1:
        return new
    if new.ndim == old.ndim:
        return new
    return new.reshape(old.shape)


def _pylayer(op: Any, operands: Any, env: Any) -> list[Any | None] | None:
    """The forward part; derivatives are its own."""
    return run_block(op.blocks[0], env)


_CONTROLS = {"if": _if, "while": _while, "pylayer": _pylayer}


def _written(op: Callable[..., Any], env: dict[Any, Any]) -> list[Any]:
    """Numbers of the values from outside that the blocks of an operation write into."""
    ops = [one for block in op.blocks for one in walk(block)]
    inputs = [
        one.inputs[k] for one in ops for k in written_operands(one.name).values() if k < len(one.inputs)
    ]
    # Values from around the block alone.
    found = [n for n in dict.fromkeys(inputs) if n in env and not any(n in one.outputs for one in ops)]
    _no_lists(op.name, [env[n] for n in found])
    return found


def _no_lists(name: str, values: Sequence[Tensor]) -> None:
    if any(isinstance(value, list) for value in values):
        raise TracedValueError(name, "a list of tensors that changes there runs operation by operation only")


def _array(value: Tensor) -> jax.Array:
    if isinstance(value, Tensor):
        return computed_array(value)
    return jnp.asarray(value)


def _wrap(array: jax.Array) -> Tensor:
    # Whole numbers have no gradient. `V` is the kind of bfloat16.
    return wrap(array, array.dtype.kind not in "fcV")


class Runner:
    """A program that is called: `runner(parameters, inputs)` with Tensors gives a list of
    Tensors, on the tape.

    New shapes of inputs run operation by operation; shapes that come again and again are compiled whole. A
    program whose shapes depend on values, or that draws random numbers, always runs operation by operation.

    Attributes:
        program: what is run.
        kernels: the compiled forms by shapes of the inputs; None: nothing is compiled.
        new_shapes: counts the calls with other shapes.
    """

    def __init__(self, program: Program) -> None:
        check(program)
        self.program = program
        # Random numbers would be compiled in.
        self.kernels: dict[Any, Any] | None = None if is_random(program) else {}
        self.new_shapes: NewShapes = NewShapes()
        self._names = list(program.parameters)

    def __call__(self, parameters: dict[str, Any], inputs: Sequence[Tensor]) -> list[Tensor]:
        operands = [*(parameters[name] for name in self._names), *inputs]
        # Recorded operation by operation, so that the recording sees them.
        if self.kernels is None or local.ctx.frame.single_steps:
            return self.steps(operands)
        shapes = tuple([plain_shape(one) for one in inputs])
        kernel = self._compiled(shapes)
        if kernel is None:
            return self.new_shapes.run(shapes, lambda: self.steps(operands))
        try:
            return list(run(kernel, operands))
        except TracedValueError:
            # It asks for values: running it as a whole is not possible, now and later.
            self.kernels = None
            return self.steps(operands)

    def arrays(self, parameters: dict[str, Any], inputs: Any) -> list[jax.Array] | tuple[jax.Array, ...]:
        """The results as arrays, without the tape: parameters and inputs are arrays."""
        operands = [*(parameters[name] for name in self._names), *inputs]
        if self.kernels is not None:
            shapes = tuple([one.shape for one in inputs])
            kernel = self._compiled(shapes)
            if kernel is None:
                return self.new_shapes.run(shapes, lambda: self._array_steps(operands))
            try:
                return compute(kernel, operands)
            except TracedValueError:
                self.kernels = None
        return self._array_steps(operands)

    def steps(self, operands: Sequence[Tensor]) -> list[Any | Tensor | Any]:
        """Runs operation by operation."""
        numbers = [
            *(self.program.parameters[name][0] for name in self._names),
            *(feed[1] for feed in self.program.feeds),
        ]
        # States of dropout: nothing reads them.
        env = dict.fromkeys(self.program.absent)
        env.update(zip(numbers, operands, strict=True))
        run_block(self.program.block, env)
        return [to_tensor(env[fetch[1]]) for fetch in self.program.fetches]

    def _array_steps(self, operands: Sequence[jax.Array | np.ndarray]) -> list[Any | jax.Array]:
        with no_grad():
            tensors = [
                wrap(persistent_from_numpy(one) if type(one) is np.ndarray else one) for one in operands
            ]
            return [_array(value) for value in self.steps(tensors)]

    def _compiled(self, shapes: Sequence[Any]) -> Any:
        """The kernel for these shapes of inputs; None where they run operation by operation."""
        kernel = self.kernels.get(shapes)
        if kernel is None and not self.new_shapes.runs_op_by_op(shapes):
            kernel = Kernel("run_program", self._pure)
            # compiled on its own, not once more together with what surrounds it
            kernel.deferrable = False
            self.kernels[shapes] = kernel
            # The oldest form.
            if len(self.kernels) > _MAX_KERNELS:
                self.kernels.pop(next(iter(self.kernels)), None)
        return kernel

    def _pure(self, *arrays: Any) -> tuple[Any | jax.Array, ...]:
        """The program as a function of arrays, for compiling: operations run at once inside the trace,
        whatever the thread's modes are."""
        # A Context without modes: the caller's mixed precision must not change the program.
        outer = local.ctx
        local.ctx = Context()
        local.ctx.segment = local.ctx.frame.executor = None
        try:
            return tuple([_array(value) for value in self.steps([_wrap(a) for a in arrays])])
        finally:
            local.ctx = outer
