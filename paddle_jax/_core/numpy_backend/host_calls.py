"""What TPUs have no implementation of runs on the host, within compiled programs.

The primitives of JAX get a rule for TPUs here, so their derivatives and batching stay those of JAX:

    eig, schur, hessenberg    TPUs have none
    fft, lu, nextafter        TPUs have none of 64 bits
    svd                       of 64 bits and complex; that of float32 is lowered without 64-bit numbers,
                              with which XLA's compiler fails

Operands and results cross as float32: a number of 64 bits as the pair whose sum it is, which is how a TPU
holds it. So nothing is lost.
"""

from __future__ import annotations

import contextlib
import functools as ft
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src import callback  # the public `pure_callback` wants a device of the platform
from jax._src.core import Primitive
from jax._src.interpreters import mlir as inner_mlir
from jax._src.lax import fft as lax_fft
from jax._src.lax import linalg as lax_linalg
from jax.core import ShapedArray
from jax.interpreters import mlir

from paddle_jax._core.base.caller_info import line_name, user_line
from paddle_jax._core.numpy_backend.rules import RULES, Refusal

_FOLDERS = tuple(
    str(Path(sys.modules[package].__file__ or "").parent) + os.sep
    for package in ("paddle_jax", "jax", "numpy")
)
_PLATFORM = "tpu"
_warned: set[tuple[str, str]] = set()


def _split(x: Any, numpy: Any) -> list[Any]:
    """A value as arrays of float32 (or as it is, if it has 32 bits or is no floating number)."""
    if x.dtype.kind == "c":
        return [*_split(numpy.real(x), numpy), *_split(numpy.imag(x), numpy)]
    if x.dtype != np.float64:
        return [x]
    with np.errstate(over="ignore", invalid="ignore"):  # a number beyond float32 is infinite, as on a TPU
        high = x.astype(np.float32)
        low = (x - high.astype(np.float64)).astype(np.float32)
    low = numpy.where(numpy.isfinite(high), low, np.float32(0))
    # The sum of -0.0 and 0.0 has no sign.
    return [high, numpy.where(x == 0, high, low)]


def _join(parts: Sequence[Any], dtype: np.dtype) -> Any:
    """The value that `_split` has made parts of."""
    if dtype.kind == "c":
        half = len(parts) // 2
        real_dtype = np.dtype("float64" if dtype == np.complex128 else "float32")
        real, imaginary = (_join(each, real_dtype) for each in (parts[:half], parts[half:]))
        if isinstance(real, np.ndarray | np.generic):
            found = np.empty(real.shape, dtype)
            found.real, found.imag = real, imaginary  # a product with 1j turns infinite parts into NaN
            return found
        return lax.complex(real, imaginary)
    if dtype != np.float64:
        return parts[0]
    # A float64 travels as two numbers of float32, whose sum it is.
    return parts[0].astype(np.float64) + parts[1].astype(np.float64)


def _count(dtype: np.dtype) -> int:
    """How many parts a value has."""
    return {"float64": 2, "complex64": 2, "complex128": 4}.get(dtype.name, 1)


def _part_shapes(avals: Sequence[Any]) -> list[ShapedArray]:
    found = []
    for aval in avals:
        dtype = np.dtype("float32") if aval.dtype.kind in "fc" else aval.dtype
        found += [ShapedArray(aval.shape, dtype)] * _count(aval.dtype)
    return found


def _parted(parts: Sequence[Any], avals: Sequence[Any]) -> list[Any]:
    """The values of these avals from the parts of all of them."""
    found = []
    rest = list(parts)
    for aval in avals:
        count = _count(aval.dtype)
        found.append(_join(rest[:count], aval.dtype))
        rest = rest[count:]
    return found


def _on_host(run: Callable[..., Any], ins: Sequence[Any], outs: Sequence[Any], several: bool) -> Any:
    """The function of parts, in NumPy, that the program calls."""

    def call(*parts: Any) -> tuple[np.ndarray, ...]:
        results = run(*_parted([np.asarray(part) for part in parts], ins))
        if not several:
            results = [results]
        made = [_split(np.asarray(each, aval.dtype), np) for each, aval in zip(results, outs, strict=True)]
        return tuple([np.asarray(part) for parts in made for part in parts])

    return call


class _NoDevice:
    """Stands for the client of a platform that a program is only compiled for.

    Attributes:
        platform: str.
    """

    platform = _PLATFORM

    def make_python_callback_from_host_send_and_recv(self, *_: Any) -> Any:
        """Nothing: the program does not run here."""
        return None


def _lower_call(context: Any, *operands: Any, call: Any, results: Any) -> Any:
    """Lowers a call of the host."""
    module = context.module_context
    if module.backend is None or module.backend.platform != module.platforms[0]:
        try:
            module.get_backend()
        except (RuntimeError, ValueError):  # no such device here
            context = context.replace(module_context=module.replace(backend=_NoDevice()))
    found, _, _ = callback.emit_python_callback(
        context,
        call,
        None,
        list(operands),
        context.avals_in,
        context.avals_out,
        has_side_effect=False,
        returns_token=False,
    )
    return found


_call_p = Primitive("paddle_host_call")
_call_p.multiple_results = True
_call_p.def_abstract_eval(lambda *operands, call, results: list(results))
mlir.register_lowering(_call_p, _lower_call, cacheable=False)


def _line_of(context: Any) -> str:
    """The user's line that an equation comes from; else the one that runs now."""
    for frame in context.traceback.frames if context.traceback is not None else ():
        if not frame.file_name.startswith(_FOLDERS):
            return line_name(frame.file_name, frame.line_num)
    return user_line()


def _warn(name: str, context: Any) -> None:
    """Says once for each line that something runs on the host."""
    line = _line_of(context)
    if (name, line) in _warned:
        return
    _warned.add((name, line))
    warnings.warn(
        f"{name}: TPUs have no implementation of it, so it runs on the host each time ({line}); call it "
        "outside of the training step, or in 32 bits, if that takes too long",
        stacklevel=2,
    )


def host_function(
    primitive: Any, params: dict[str, Any], ins: Sequence[Any], outs: Sequence[Any]
) -> Callable[..., list[Any]]:
    """What a primitive computes, as a function for `jax.jit` that calls the host.

    Args:
        primitive: one that NumPy has a rule for.
        params: its parameters.
        ins, outs: avals of its operands and results.
    """
    run = RULES[primitive.name](params, ins, outs)
    call = _on_host(run, ins, outs, primitive.multiple_results)

    def called(*values: Any) -> list[Any]:
        parts = [part for value in values for part in _split(value, jnp)]
        results = _call_p.bind(*parts, call=call, results=tuple(_part_shapes(outs)))
        return _parted(results, outs)

    return called


def _by_host(primitive: Any) -> Callable[..., Any]:
    """The rule that lowers a primitive to a call of the host."""
    name = primitive.name

    def rule(context: Any, *operands: Any, **params: Any) -> Any:
        function = host_function(primitive, params, context.avals_in, context.avals_out)
        _warn(name, context)
        return mlir.lower_fun(function, multiple_results=True)(context, *operands)

    return rule


def _where_wide(primitive: Any, own: Any, in_32_bits: bool, narrow: Sequence[str]) -> Callable[..., Any]:
    """As `_by_host`, for operands that are not of the dtypes `narrow`; else JAX's own rule.

    in_32_bits: whether JAX's own rule is applied without numbers of 64 bits.
    """
    by_host = _by_host(primitive)

    def rule(context: Any, *operands: Any, **params: Any) -> Any:
        floating = [aval for aval in (*context.avals_in, *context.avals_out) if aval.dtype.kind in "fc"]
        if any(aval.dtype.name not in narrow for aval in floating):
            with contextlib.suppress(Refusal):  # NumPy has no form of it with these parameters
                return by_host(context, *operands, **params)
        # A program for several platforms has the number of its platform as an operand of 64 bits.
        if not in_32_bits or len(context.module_context.platforms) > 1:
            return own(context, *operands, **params)
        with jax.enable_x64(False):
            return own(context, *operands, **params)

    return rule


def _register(primitive: Any, rule: Callable[..., Any]) -> None:
    """Registers a rule for TPUs. Each equation gets its own channels."""
    mlir.register_lowering(primitive, rule, platform=_PLATFORM, cacheable=False)


def _take_results_as_list(lower: Callable[..., Any], context: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`mlir.lower_per_platform`, which adds a list to the results of an equation.

    Those of an equation whose rule is not cached are a tuple, so JAX fails where it lowers one for several
    platforms.
    """
    if type(context.avals_out) is tuple:
        context.avals_out = list(context.avals_out)
    return lower(context, *args, **kwargs)


def start() -> None:
    """Registers the rules."""
    inner_mlir.lower_per_platform = ft.partial(_take_results_as_list, inner_mlir.lower_per_platform)
    for primitive in (lax_linalg.eig_p, lax_linalg.schur_p, lax_linalg.hessenberg_p):
        if primitive.name in RULES:
            _register(primitive, _by_host(primitive))
    for primitive, in_32_bits, narrow in (
        (lax_fft.fft_p, False, ("float32", "complex64")),
        (lax_linalg.svd_p, True, ("float32",)),
        (lax_linalg.lu_p, False, ("float32", "complex64")),
        (lax.nextafter_p, False, ("float32", "float16")),
    ):
        own = mlir._platform_specific_lowerings[_PLATFORM].get(primitive) or mlir._lowerings.get(primitive)
        if own is not None:
            rule = _where_wide(primitive, own.rule, in_32_bits, narrow)
            _register(primitive, rule)
