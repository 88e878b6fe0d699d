"""Has another thread compute a small product with XLA, once in each process.

XLA's library for products (oneDNN) generates its code at the first one. That takes 20 to 50 ms, which would
be a part of a step.
"""

from __future__ import annotations

import functools as ft
import os
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import numpy as np

from paddle_jax._core.base.interrupt_safe import preserved_tracing
from paddle_jax._core.lazy.devices import default_device
from paddle_jax._core.runner import stored_programs
from paddle_jax._core.runner.background_compiler import submit_operation, submit_to_compiler
from paddle_jax._core.runner.program_digest import digest_of_name
from paddle_jax._core.runner.stored_programs import PlainProgram, StoredProgram

_MATRIX = np.zeros((4, 4), np.float32)


class _State:
    """What was done.

    Attributes:
        process: int, id of the process that has computed a first product, or 0.
    """

    process = 0


def compute_first_product() -> None:
    """Computes a small product in another thread, unless that was done."""
    if _State.process == os.getpid():
        return
    _State.process = os.getpid()
    program = _program()
    if program.is_in_cache():
        submit_to_compiler(ft.partial(_load_and_compute, program))
    else:
        submit_operation(ft.partial(_lower, program))


def _load_and_compute(program: StoredProgram | PlainProgram) -> None:
    loaded = program.load("operation", default_device())
    if loaded is None:
        submit_operation(ft.partial(_lower, program))
    else:
        loaded(([], [_MATRIX]), _wait_for)


def _program() -> StoredProgram | PlainProgram:
    digest = digest_of_name("first product") if stored_programs.is_possible() else None
    if digest is None:
        return PlainProgram(_product_with_transposed, None)
    result = jax.ShapeDtypeStruct(_MATRIX.shape, _MATRIX.dtype)
    return StoredProgram(_product_with_transposed, digest, [result], None)


def _product_with_transposed(_: Sequence[Any], matrices: Sequence[Any]) -> list[Any]:
    """The product of a matrix, transposed, with itself: gradients have such products."""
    return [matrices[0].T @ matrices[0]]


def _wait_for(results: Iterator[Any]) -> Iterator[Any]:
    return (array.block_until_ready() for array in results)


def _lower(program: StoredProgram | PlainProgram) -> None:
    """Lowers the product, which takes the interpreter's lock, and has another thread compute it."""
    with preserved_tracing():
        if not program.is_in_cache():
            program.prepare(([], [_MATRIX]))
        lowered = program.function.lower([], [_MATRIX])
    submit_to_compiler(ft.partial(_compute, lowered, program))


def _compute(lowered: Any, _: StoredProgram | PlainProgram) -> None:
    """Computes the product. The program must live as long: JAX finds the real module by it."""
    with preserved_tracing():
        lowered.compile()([], [_MATRIX])[0].block_until_ready()
