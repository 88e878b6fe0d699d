"""What a compiled program does on the host: print tensors, check assertions."""

import jax
import numpy as np

from paddle_jax._core import place as places
from paddle_jax._core.printing import text_of
from paddle_jax._core.tensor import Tensor
from paddle_jax.jit.dy2static.parts import is_traced


def show(*values, **kwargs):
    """`print`, where a value is traced: at the time the program comes to it, as it would print eagerly."""
    tensors = [v for v in values if is_traced(v)]
    stops, place = [t.stop_gradient for t in tensors], str(places.current())

    def written(*arrays):
        arrays = iter(zip(arrays, stops, strict=True))
        print(*[_text(*next(arrays), place) if is_traced(v) else v for v in values], **kwargs)

    jax.debug.callback(written, *[_array(t) for t in tensors], ordered=False)


def _text(array, stop, place):
    return text_of(np.asarray(array), place, stop)


def _array(tensor):
    from paddle_jax._core.state import local

    trace = local.ctx.trace
    return tensor._raw if trace is None else trace.operands([tensor], False)[0]


def check(holds: Tensor, message):
    """Raises AssertionError where the program comes to it, if `holds` is False; it arrives with the results."""
    text = None if message is None else message()

    def checked(holds):
        if not holds:
            raise AssertionError(*([] if text is None else [text]))

    jax.debug.callback(checked, _array(holds))
