"""Programs rewritten into mixed precision: casts are put between their operations, and their parameters get
a low precision."""

from __future__ import annotations

import contextlib
import copy
from typing import TYPE_CHECKING

import numpy as np

from paddle_jax._core.lazy.aval import aval_of
from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._core.ops.op import OPS
from paddle_jax._core.tensors.tensor import wrap
from paddle_jax._program.evaluate import Gradient
from paddle_jax._program.operation import Operation
from paddle_jax._program.scope import global_scope
from paddle_jax._program.shape_inference import infer
from paddle_jax._program.variable import ParameterVariable
from paddle_jax.amp.policy import FLOAT32, FLOATS, LOW
from paddle_jax.static.amp.fp16_lists import AutoMixedPrecisionLists, low_dtype
from paddle_jax.static.guards import name_scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from paddle_jax._core.lazy.aval import Aval
    from paddle_jax._core.tensors.place import Place
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax._program.program import Program
    from paddle_jax._program.scope import Scope
    from paddle_jax.amp.policy import Policy

_GUARD = "__use_fp16__"
_NORMS = {"batch_norm_train", "batch_norm_infer", "layer_norm"}  # their parameters stay float32


@contextlib.contextmanager
def fp16_guard() -> Iterator[None]:
    """Marks the operations of a program that may run in low precision, for `cast_model_to_fp16` and
    `decorate` at level O2.

    Example:
        >>> paddle.enable_static()
        >>> with paddle.static.program_guard(paddle.static.Program()):
        ...     x = paddle.static.data("x", [2, 3])
        ...     with paddle.static.amp.fp16_guard():
        ...         y = x * 2.0
        >>> paddle.disable_static()
    """
    # By the name scope, as operations carry it to `cast_model_to_fp16`.
    with name_scope(_GUARD):
        yield


def cast_model_to_fp16(
    program: Program,
    amp_lists: AutoMixedPrecisionLists | None = None,
    use_fp16_guard: bool = True,
    dest_type: str = "float16",
    level: str = "O2",
    use_promote: bool = False,
) -> set[str]:
    """Rewrites a program into mixed precision, in place. Gradients and updates come afterwards.

    Args:
        program: Program without gradients.
        amp_lists: AutoMixedPrecisionLists. Default: those of Paddle.
        use_fp16_guard: only operations recorded inside `fp16_guard` get a low precision. Default True.
        dest_type: "float16" or "bfloat16". Default "float16".
        level: "O1" or "O2"; at O2 parameters get a low precision too, but for those of
            BatchNorm and LayerNorm.
        use_promote: at level O2, operations with a float32 operand that are on no list run in
            float32. Default False.
    Returns:
        set of the names of the parameters whose values `cast_parameters_to_fp16` has to cast.
    Raises:
        ValueError: the program has gradients.
    Differs from Paddle: works for the programs that Paddle 3.3.1 makes; Paddle's raises for them.
    Example:
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     y = paddle.static.nn.fc(paddle.static.data("x", [2, 3]), 4)
        >>> names = paddle.static.amp.cast_model_to_fp16(main, use_fp16_guard=False, dest_type="bfloat16")
        >>> len(names), y.dtype
        (2, <DataType.BFLOAT16: 16>)
        >>> paddle.disable_static()
    """
    # Casts between gradients and their operations would break the pairs.
    if any(isinstance(op, Gradient) for op in program.ops):
        raise ValueError(
            "cast_model_to_fp16: program: it has gradients; call it before minimize or append_backward"
        )
    dtype = low_dtype("cast_model_to_fp16", dest_type)
    lists = amp_lists or AutoMixedPrecisionLists(dtype=dtype)
    policy = lists.policy(level, dtype, use_promote)
    kept = set(lists.black_varnames or ())

    def lowered(op: Operation) -> bool:
        # Composites, branches and updates keep the dtypes that they were recorded with.
        made = op.kernel.declaration is not None and (not use_fp16_guard or _GUARD in op.scope)
        return made and not any(s.name in kept for s in (*op.inputs, *op.outputs))

    # Before parameters change: what operations were recorded with.
    before = {s: s.dtype for op in program.ops for s in (*op.inputs, *op.outputs)}
    if level == "O2":
        names = _lower_parameters(program, lowered, LOW[dtype])
    else:
        names = set()
    _Rewriting(program, policy, lowered, before).run()
    return names


class _Rewriting:
    """Puts casts before the operations of a program. casts: what has been cast already, by
    Symbol and dtype.

    Attributes:
        program, policy, lowered, before: as given.
        casts: dict of the casts that exist, by Symbol and dtype.
        ops: list of the operations of the result.
    """

    def __init__(
        self,
        program: Program,
        policy: Policy,
        lowered: Callable[[Operation], bool],
        before: dict[Symbol, np.dtype],
    ) -> None:
        self.program = program
        self.policy = policy
        self.lowered = lowered
        self.before = before
        self.casts = {}
        self.ops = []

    def run(self) -> None:
        program = self.program
        # In order: each operation sees the new dtypes of its operands.
        for op in program.ops:
            self.ops.append(self._rewritten(op))
        # A stored value keeps its dtype in the Scope.
        for name, symbol in program.writes.items():
            program.current_symbols[name] = self._cast(symbol, program.scope_symbols[name].dtype)
        program.ops[:] = self.ops
        program.changed()

    def _rewritten(self, op: Operation) -> Operation:
        """A copy of an operation with operands that are cast. Clones of the program share the operation."""
        changed = copy.copy(op)
        changed.inputs = self._inputs(op)
        for out in op.outputs:
            # That of a clone stays with the program from which gradients are taken.
            if out.op is op:
                out.op = changed
        # Its results have other dtypes now.
        if op.kernel.declaration is not None:
            for out, pair in zip(op.outputs, infer(op.kernel, changed.inputs).avals, strict=True):
                out.avals = pair
        return changed

    def _inputs(self, op: Operation) -> list[Symbol]:
        """The operands of an operation, cast; those of operations that are no single call keep the dtypes
        they were recorded with."""
        if op.kernel.declaration is None:
            return [self._cast(s, self.before[s]) for s in op.inputs]
        if not self.lowered(op):
            return [self._cast(s, FLOAT32) for s in op.inputs]
        made, _, attrs = op.kernel.declaration
        target, count = self.policy.target(
            made, [wrap(s.value if type(s.value) is LazyArray else s) for s in op.inputs], attrs
        )
        if target is None:
            return op.inputs
        return [self._cast(s, target) if count is None or i < count else s for i, s in enumerate(op.inputs)]

    def _cast(self, symbol: Symbol, dtype: np.dtype) -> Symbol:
        # Only floating dtypes are cast.
        if symbol.dtype not in FLOATS or symbol.dtype == dtype or dtype not in FLOATS:
            return symbol
        # One cast for all operations that want it.
        found = self.casts.get((symbol, dtype))
        if found is None:
            cast = Operation(OPS["cast"].kernel((-2,), (dtype.name,)), [symbol], (False,))
            found = self.casts[symbol, dtype] = Symbol(
                _as(symbol.avals, dtype), "result", self.program, op=cast
            )
            cast.outputs = [found]
            self.ops.append(cast)
        return found


def _as(avals: Sequence[Aval], dtype: np.dtype) -> tuple[Aval, Aval]:
    first, second = (aval_of(a.shape, dtype) for a in avals)
    return first, second


def _lower_parameters(program: Program, lowered: Callable[[Operation], bool], dtype: np.dtype) -> set[str]:
    """Gives a low precision to the Parameters that only operations of low precision use;
    returns their names."""
    kept = set()
    used = set()
    # A parameter that one operation wants in float32 stays float32.
    for op in program.ops:
        if lowered(op) and op.name not in _NORMS:
            target = used
        else:
            target = kept
        target.update(s.name for s in op.inputs if s.kind == "variable")
    names = set()
    for name in used - kept:
        variable = program.vars.get(name)
        if isinstance(variable, ParameterVariable) and variable.avals[0].dtype == FLOAT32:
            names.add(name)
            variable._avals = program.scope_symbols[name].avals = _as(variable.avals, dtype)
            if name in program.values:
                program.values[name] = np.asarray(program.values[name]).astype(dtype)
    return names


def cast_parameters_to_fp16(
    place: Place,
    program: Program,
    scope: Scope | None = None,
    to_fp16_var_names: Iterable[str] | None = None,
    dest_type: str = "float16",
    rewrite_master_weight: bool = False,
    master_weights: dict[str, Tensor] = {},  # noqa: B006
) -> None:
    """Casts the values of parameters in a Scope.

    Args:
        place: accepted: values stay where they are.
        program: Program that `cast_model_to_fp16` rewrote.
        scope: Scope. Default: the global one.
        to_fp16_var_names: names of parameters. Default: all parameters of the program with a low precision.
        dest_type: "float16" or "bfloat16". Default "float16".
        rewrite_master_weight: also give the float32 copies that optimizers keep the values from before the
            cast. Default False.
        master_weights: dict from name of a parameter to the Variable of its float32 copy.
    Differs from Paddle: works for the programs that Paddle 3.3.1 makes; Paddle's raises for them.
    Example:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.nn.fc(paddle.static.data("x", [2, 3]), 4)
        >>> names = paddle.static.amp.cast_model_to_fp16(main, use_fp16_guard=False)
        >>> _ = paddle.static.Executor().run(startup)
        >>> paddle.static.amp.cast_parameters_to_fp16(paddle.CPUPlace(), main, to_fp16_var_names=names)
        >>> paddle.disable_static()
    """
    values = (scope or global_scope()).values
    dtype = LOW[low_dtype("cast_parameters_to_fp16", dest_type)]
    low = [
        name
        for name, variable in program.vars.items()
        if isinstance(variable, ParameterVariable) and variable.avals[0].dtype == dtype
    ]
    if to_fp16_var_names is not None:
        low = to_fp16_var_names
    for name in low:
        value = values.get(name)
        # Already cast, or no number that is.
        if value is not None and value.dtype in FLOATS and value.dtype != dtype:
            if rewrite_master_weight and name in master_weights:
                values[master_weights[name].name] = value.astype(FLOAT32)
            values[name] = value.astype(dtype)


__all__ = ["cast_model_to_fp16", "cast_parameters_to_fp16", "fp16_guard"]
