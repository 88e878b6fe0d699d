"""The real Paddle refuses mixed precision on the CPU with a warning. Here its Python code is told that it
computes on a GPU; the arithmetic that follows runs on the CPU. In static mode no such thing is needed."""

import contextlib
import sys


class _Gpu:
    """A place that says it is a GPU."""

    @staticmethod
    def is_gpu_place():
        return True

    @staticmethod
    def is_xpu_place():
        return False

    is_custom_place = is_xpu_place


class _Tracer:
    """Paddle's tracer, but for the place."""

    def __init__(self, tracer):
        object.__setattr__(self, "_tracer", tracer)

    def __getattr__(self, name):
        return _Gpu() if name == "_expected_place" else getattr(self._tracer, name)

    def __setattr__(self, name, value):
        setattr(self._tracer, name, value)


@contextlib.contextmanager
def pretended(oracle):
    """While it lasts, guards, decorate and GradScaler of the oracle work."""
    guards, scalers = sys.modules["paddle.amp.auto_cast"], sys.modules["paddle.amp.grad_scaler"]
    real = guards._dygraph_tracer
    changes = [
        (guards, "_dygraph_tracer", lambda: _Tracer(real())),
        (scalers, "_dygraph_tracer", lambda: _Tracer(real())),
        (guards, "_is_gpu_float16_supported", lambda *a: True),
        (guards, "_is_gpu_bfloat16_supported", lambda *a: True),
    ]
    before = [(module, name, getattr(module, name)) for module, name, _ in changes]
    for change in changes:
        setattr(*change)
    try:
        with oracle.amp.auto_cast(dtype="float16"):
            pass  # the scaler wants to know that float16 is used
        yield oracle
    finally:
        for change in before:
            setattr(*change)
