"""Parameters and other persistable Variables of static Programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base import unique_name
from paddle_jax._core.base.state import local
from paddle_jax._program.parameters import declare_variable
from paddle_jax.nn.layer.parameter import create_parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paddle_jax._annotations import DTypeLike
    from paddle_jax._core.tensors.tensor import Tensor


def create_global_var(
    shape: Sequence[int],
    value: float,
    dtype: DTypeLike,
    persistable: bool = False,
    force_cpu: bool = False,
    name: str | None = None,
) -> Tensor:
    """Creates a Variable that lives in the Scope and starts with one value.

    Args:
        shape: list of ints.
        value: number that running the startup program fills it with.
        dtype: dtype.
        persistable: accepted: it lives in the Scope either way.
        force_cpu: accepted.
        name: str. Default: generated.
    Returns:
        Variable.
    Raises:
        AssertionError: no static program is recorded. TypeError: shape is no list.
    Differs from Paddle: it works; Paddle 3.3.1 raises.
    Example:
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     count = paddle.static.create_global_var([1], 3.0, "float32", persistable=True,
        ...                                             name="my_count")
        >>> _ = paddle.static.Executor().run(startup)
        >>> np.array(paddle.static.global_scope().find_var("my_count").get_tensor()).tolist()
        [3.0]
        >>> paddle.disable_static()
    """
    recorder = local.ctx.frame
    if not recorder.recording:
        raise AssertionError(
            "create_global_var: it belongs to a static program; call paddle.enable_static() first"
        )
    if not isinstance(shape, list | tuple | np.ndarray):
        raise TypeError(f"create_global_var: shape: got {type(shape).__name__}; it must be a list of ints")
    kind = dtypes.convert(dtype).np
    lengths = tuple(int(n) for n in shape)
    return declare_variable(
        recorder.program,
        name or unique_name.generate("global_var"),
        lengths,
        kind,
        lambda: np.full(lengths, value, kind),
    )


__all__ = ["create_global_var", "create_parameter"]
