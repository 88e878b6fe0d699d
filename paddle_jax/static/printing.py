"""`Print`: shows a Variable's value whenever the program runs."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import jax

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy.transfer import to_numpy
from paddle_jax._core.tensors import place as places
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.operation import Operation
from paddle_jax.tensor.creation import assign

if TYPE_CHECKING:
    import numpy as np

_PHASES = ("FORWARD", "BACKWARD", "BOTH")


def Print(
    input: Tensor,
    first_n: int = -1,
    message: str | None = None,
    summarize: int = 20,
    print_tensor_name: bool = True,
    print_tensor_type: bool = True,
    print_tensor_shape: bool = True,
    print_tensor_layout: bool = True,
    print_tensor_lod: bool = True,
    print_phase: str = "both",
) -> Tensor:
    """Shows the value of a Variable whenever the program runs.

    Args:
        input: Variable.
        first_n: int, how often it is shown; negative: always.
        message: str that is shown before it.
        summarize: int, how many elements are shown; -1: all.
        print_tensor_name, print_tensor_type, print_tensor_shape, print_tensor_layout, print_tensor_lod: bool,
            what else is shown.
        print_phase: "forward", "backward" or "both"; only the value is shown, with "backward" nothing.
    Returns:
        A Variable with the same value.
    Raises:
        TypeError: input is no Tensor.
        ValueError: print_phase is something else.
    Example:
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2])
        ...     y = paddle.static.Print(x, message="here it is", print_tensor_name=False) * 1
        >>> y.shape
        paddle.Size([2])
        >>> paddle.disable_static()
    """
    if not isinstance(input, Tensor):
        raise TypeError(f"Print: input: got {type(input).__name__}; it must be a Variable")
    if str(print_phase).upper() not in _PHASES:
        raise ValueError(
            f"Print: print_phase: got {print_phase!r}; allowed are 'forward', 'backward' and 'both'"
        )
    name, count, place = input.name, itertools.count(), str(places.current())
    # `lod` and `layout` are shown as for Paddle's ordinary Tensors; they have no meaning here.
    parts = [
        ("lod", print_tensor_lod, lambda a: "{}"),
        ("place", True, lambda a: place),
        ("shape", print_tensor_shape, lambda a: list(a.shape)),
        ("layout", print_tensor_layout, lambda a: "NCHW"),
        ("dtype", print_tensor_type, lambda a: dtypes.convert(a.dtype)._key),
    ]

    def show(value: np.ndarray) -> None:
        array = to_numpy(value, "Print")
        # Counted before, so that values which are not shown count as well.
        if 0 <= first_n <= next(count):
            return
        lines = [f"Variable: {name}"] if print_tensor_name else []
        lines += [f"  - message: {message}"] if message else []
        lines += [f"  - {what}: {get(array)}" for what, wanted, get in parts if wanted]
        if summarize < 0:
            shown = array.ravel()
        else:
            shown = array.ravel()[:summarize]
        print("\n".join([*lines, f"  - data: [{' '.join(map(str, shown.tolist()))}]"]))

    recorder = local.ctx.frame
    # In dynamic mode the value is there.
    if not recorder.recording:
        if str(print_phase).upper() != "BACKWARD":
            show(input.numpy())
        return assign(input)
    # The gradient is not shown, so "backward" shows nothing.
    if str(print_phase).upper() != "BACKWARD":
        # No result: `effects` of `Program.pruned` keeps such operations.
        kernel = Kernel("print", lambda x: (jax.debug.callback(show, x), ())[1])
        recorder.ops.append(Operation(kernel, [recorder.symbol(input)], (True,), tuple, recorder.name_scope))
        recorder.program.changed()
    return assign(input)


__all__ = ["Print"]
