"""What belongs to the process: its environment, context variables, threads, modules; NumPy arrays
changed in place."""

import contextvars
import os
import sys
import threading
import types

import numpy as np

import paddle_jax as paddle
from tests.jit.changes.cases import CASES, Box, case


@case
def an_environment_variable():
    os.environ["PADDLE_JAX_TEST_SCALE"] = "2"
    return (
        (lambda x: x * float(os.environ["PADDLE_JAX_TEST_SCALE"])),
        lambda: os.environ.update(PADDLE_JAX_TEST_SCALE="3"),
    )


@case
def an_environment_variable_by_get():
    os.environ.pop("PADDLE_JAX_TEST_SCALE", None)
    return (
        (lambda x: x * float(os.environ.get("PADDLE_JAX_TEST_SCALE", "2"))),
        lambda: os.environ.update(PADDLE_JAX_TEST_SCALE="3"),
    )


@case
def getenv():
    os.environ["PADDLE_JAX_TEST_SCALE"] = "2"
    return (
        (lambda x: x * float(os.getenv("PADDLE_JAX_TEST_SCALE"))),
        lambda: os.environ.update(PADDLE_JAX_TEST_SCALE="3"),
    )


@case
def a_context_variable():
    scale = contextvars.ContextVar("scale")
    scale.set(2.0)
    return (lambda x: x * scale.get()), lambda: scale.set(3.0)


@case
def a_thread_local():
    held = threading.local()
    held.scale = 2.0
    return (lambda x: x * held.scale), lambda: setattr(held, "scale", 3.0)


@case
def an_import_inside():
    module = types.ModuleType("paddle_jax_test_settings")
    module.scale = 2.0
    sys.modules[module.__name__] = module

    def run(x):
        from paddle_jax_test_settings import scale  # pyright: ignore

        return x * scale

    return run, lambda: setattr(module, "scale", 3.0)


@case
def a_module_imported_inside():
    module = types.ModuleType("paddle_jax_test_settings")
    module.scale = 2.0
    sys.modules[module.__name__] = module

    def run(x):
        import paddle_jax_test_settings as settings  # pyright: ignore

        return x * settings.scale

    return run, lambda: setattr(module, "scale", 3.0)


def _array_of(size, inside):
    def make():
        held = np.full([size], 2.0, "float32")
        owner = Box(held=held)
        read = (lambda: owner.held) if inside else (lambda: held)
        return (lambda x: x * paddle.to_tensor(read()).sum()), lambda: held.fill(3.0)

    return make


for _size in (1, 64, 65, 1000, 100_000):
    for _inside in (False, True):
        CASES[f"an array of {_size} changed in place{' in an object' if _inside else ''}"] = _array_of(
            _size, _inside
        )


@case
def one_element_of_an_array():
    held = np.arange(200.0)
    return (lambda x: x * float(held[150])), lambda: held.__setitem__(150, 1.0)


@case
def a_view_of_an_array():
    held = np.full([4], 2.0)
    view = held[1:3]
    return (lambda x: x * float(view[0])), lambda: held.fill(3.0)
