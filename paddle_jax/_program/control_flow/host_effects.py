"""What a compiled program does on the host: print tensors, check assertions."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from paddle_jax._core.base.error_translation import RuntimeErrors
from paddle_jax._core.base.state import local
from paddle_jax._core.tensors import place as places
from paddle_jax._core.tensors.printing import text_of
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.control_flow.region import is_traced


def show(*values: Any, **kwargs: Any) -> None:
    """`print`: at the time the program comes to it, traced Tensors as they would print eagerly."""
    tensors = [v for v in values if is_traced(v)]
    # The texts are made now; of traced Tensors the values come with the call.
    stops, place = [t.stop_gradient for t in tensors], str(places.current())
    texts = [None if is_traced(v) else (str(v),) for v in values]

    def written(*arrays: Any) -> None:
        # From the last one, as `pop` takes them.
        shown = [text_of(np.asarray(a), place, stop) for a, stop in zip(arrays, stops, strict=True)][::-1]
        print(*[shown.pop() if text is None else text[0] for text in texts], **kwargs)

    # `ordered`: prints come in the order of the code.
    jax.debug.callback(written, *map(_array, tensors), ordered=True)


def check(holds: Tensor, error: Exception) -> None:
    """Raises an exception where the program comes to it, if `holds` is False; it arrives where the program
    was called, or a result is looked at."""

    def checked(holds: Any) -> None:
        if not holds:
            # JAX wraps the exception in one of its own; the call of the program raises this one.
            RuntimeErrors.pending.append(error.with_traceback(None))  # of an earlier raise
            raise type(error)(*error.args)

    local.ctx.frame.emit_check(error, lambda: jax.debug.callback(checked, _array(holds)))


def _array(tensor: Tensor) -> Any:
    return local.ctx.frame.operands([tensor])[0]
