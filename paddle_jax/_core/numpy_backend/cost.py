"""What a plan costs and what compiling costs, estimated from counts: never from a clock, so that
decisions repeat.

The constants were measured on two cores of a Xeon with AVX-512 (jaxlib 0.10, NumPy 2.3); within a factor of
about three they hold elsewhere.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from paddle_jax._core.lazy.recorder import extension
from paddle_jax._core.numpy_backend.rules import Avals, Params, Run, is_low, size_of

CALL = 1e-6  # seconds per call of a plan
STEP = 1e-6 if extension is None else 5e-7  # seconds per equation, whatever its size
# nanoseconds per element of four bytes of the largest array of an equation, where nothing is said below
PER_ELEMENT = 0.08


def _each(nanoseconds: Any, names: Any) -> Any:
    return dict.fromkeys(names.split(), nanoseconds)


ELEMENT = {
    **_each(
        0.01,
        "broadcast_in_dim reshape squeeze transpose slice rev iota copy stop_gradient "
        "unstack split real imag",
    ),
    **_each(
        0.3,
        "exp log sin cos tanh logistic exp2 log1p expm1 tan sinh cosh cbrt asin acos atan asinh "
        "atanh sqrt rsqrt log2 one_minus_square select_n",
    ),
    **_each(0.15, "masked_product masked_selection pad"),
    **_each(0.2, "convert_element_type clamp"),
    **_each(0.4, "reduce_sum reduce_prod"),
    **_each(0.5, "pow atan2 shift_left shift_right_logical shift_right_arithmetic"),
    **_each(0.9, "reduce_max reduce_min sign nextafter"),
    **_each(1.6, "acosh"),
    **_each(3.0, "running_sum cumsum cumprod cummax cummin"),
    **_each(4.0, "erf erfc"),
    **_each(9.0, "erf_inv lgamma digamma bessel_i0e bessel_i1e cumlogsumexp"),
    **_each(12.0, "rem"),
    **_each(12.0 if extension is None else 2.5, "threefry2x32 random_bits random_split"),
    **_each(100.0, "igamma igammac polygamma zeta regularized_incomplete_beta"),
}
SEVERAL = {  # seconds for the many NumPy calls of one equation
    **_each(4e-5 if extension is None else 2e-6, "threefry2x32 random_bits random_split"),
    **_each(1.5e-5 if extension is None else 1e-6, "random_fold_in"),
    **_each(1e-5, "conv_general_dilated erf_inv fft"),
    **_each(
        8e-6,
        "scatter scatter-add scatter-mul scatter-min scatter-max top_k select_and_scatter_add "
        "reduce_window_sum reduce_window_max",
    ),
    **_each(3e-6, "gather sort reduce_window"),
}
FLOPS = 1e11  # per second, of a matrix product in float32

# of nn/functional/convolution_terms.py
CONVOLUTIONS = ("convolution_result", "convolution_image", "convolution_kernel")
COMPILE_BASE = 0.03  # seconds XLA takes for the smallest program, and for each equation more:
COMPILE_EQUATION = 0.001
COMPILE = {
    **_each(0.0001, "broadcast_in_dim reshape squeeze slice stop_gradient copy convert_element_type iota"),
    **_each(
        0.012,
        "reduce_sum reduce_max reduce_min reduce_prod reduce_and reduce_or argmax argmin "
        "transpose gather concatenate joined_row pad sort",
    ),
    **_each(0.025, "scatter scatter-add scatter-mul scatter-min scatter-max dynamic_update_slice fft"),
    **_each(
        0.025, "reduce_window reduce_window_max reduce_window_min reduce_window_sum select_and_scatter_add"
    ),
    **_each(
        0.06,
        "while scan cond conv_general_dilated lgamma digamma bessel_i0e bessel_i1e lu qr svd eigh "
        "eig cholesky triangular_solve top_k",
    ),
    **_each(0.12, "running_sum cumsum cumprod cummax cummin cumlogsumexp polygamma zeta"),
    **_each(1.0, "igamma igammac regularized_incomplete_beta"),
    **dict.fromkeys(CONVOLUTIONS, 0.1),
    **_each(0.1, "random_bits threefry2x32"),
    **_each(0.03, "random_fold_in random_split"),
}


def cost(name: str, params: Params, ins: Avals, outs: Avals, run: Run) -> float:
    """Estimated seconds of one equation in NumPy; of one trip for a loop of unknown length."""
    inner = getattr(run, "inner", None)
    if inner is not None:
        # A loop costs its body for each trip, a choice its dearest branch.
        trips = getattr(run, "trips", 1)
        return STEP * (1 + trips) + trips * (
            max(p.cost for p in inner) if name == "cond" else sum(p.cost for p in inner)
        )
    return STEP + SEVERAL.get(name, 0) + arithmetic(name, params, ins, outs)


def arithmetic(name: str, params: Params, ins: Avals, outs: Avals) -> float:
    """Estimated seconds of one equation without a jaxpr inside, beside the calls of NumPy."""
    special = SPECIAL.get(name)
    if special is not None:
        return special(params, ins, outs)
    sizes = [size_of(a) * weight(a.dtype) for a in (*ins, *outs)]
    return elementwise_cost(name)[1] * max(sizes, default=0)


def elementwise_cost(name: str) -> tuple[float, float]:
    """(estimated seconds of one equation, of each element more) of a primitive that is not in SPECIAL."""
    return STEP + SEVERAL.get(name, 0), 1e-9 * ELEMENT.get(name, PER_ELEMENT)


def compile_cost(name: str, run: Run | None) -> float:
    """Estimated seconds that one more equation adds to a compilation.

    Args:
        name: that of its primitive.
        run: its function; None: without the jaxprs in it.
    """
    return inner_compile_cost(run) + COMPILE.get(name, COMPILE_EQUATION)


def inner_compile_cost(run: Run | None) -> float:
    """Estimated seconds that the jaxprs in an equation add to a compilation."""
    return sum([p.compile_cost - COMPILE_BASE for p in getattr(run, "inner", ())])


@functools.cache
def weight(dtype: Any) -> float:
    """How much an element costs, compared with float32."""
    if not isinstance(dtype, np.dtype):
        return 2
    if is_low(dtype):
        # float16, bfloat16
        if dtype.kind == "f":
            return 8
        return 4
    return max(dtype.itemsize / 4, 0.5) * (3 if dtype.kind == "c" else 1)


def _product(dtype: np.dtype) -> Any:
    """How much a multiplication and addition in a matrix product costs, compared with float32."""
    if dtype.kind in "iub":
        return 50.0  # no BLAS
    return (4.0 if dtype.kind == "c" else 1.0) * max(dtype.itemsize / 4, 1)


def _dot_general(params: Params, ins: Avals, outs: Avals) -> float:
    (left, _), _ = params["dimension_numbers"]
    flops = 2 * size_of(outs[0]) * math.prod(ins[0].shape[k] for k in left)
    return flops / FLOPS * _product(outs[0].dtype) + 1e-10 * sum(
        size_of(a) * (weight(a.dtype) - 0.5) for a in (*ins, *outs)
    )


def _convolution(params: Params, ins: Avals, outs: Avals) -> float:
    dims = params["dimension_numbers"]
    window = math.prod(ins[1].shape[k] for k in dims.rhs_spec[1:])
    places = size_of(outs[0]) // max(outs[0].shape[dims.out_spec[1]], 1)
    columns = places * window * params["feature_group_count"] * params["batch_group_count"]
    return 2 * size_of(outs[0]) * window / (0.5 * FLOPS) * _product(outs[0].dtype) + 6e-10 * columns * max(
        outs[0].dtype.itemsize / 4, 1
    )


def _by_taps(params: Params, ins: Avals, outs: Avals) -> float:
    shapes = params["shapes"]
    dtype = outs[0].dtype
    window = math.prod(shapes.weight[2:])
    met = math.prod(shapes.x[:2]) * math.prod(shapes.out[2:]) * window
    each = 1.5e-6 * window + 8e-10 * met * max(dtype.itemsize / 4, 1)
    return each + 2 * math.prod(shapes.out) * shapes.weight[1] * window / (0.5 * FLOPS) * _product(dtype)


def _polynomial(params: Params, ins: Avals, outs: Avals) -> float:
    return 1e-9 * (len(ins) - 1) * (300 + 2 * PER_ELEMENT * size_of(outs[0]) * weight(outs[0].dtype))


def _sort(params: Params, ins: Avals, outs: Avals) -> float:
    n = max(map(size_of, ins))
    length = ins[0].shape[params.get("dimension", -1)] if ins[0].shape else 1
    return 3e-9 * n * (math.log2(max(length, 2)) + len(ins))


def _gather(params: Params, ins: Avals, outs: Avals) -> float:
    return 1e-9 * (2 * math.prod(ins[1].shape[:-1]) + 0.1 * size_of(outs[0]))


def _scatter(params: Params, ins: Avals, outs: Avals) -> float:
    return 1e-9 * (2 * math.prod(ins[1].shape[:-1]) + 1.2 * size_of(ins[2]) + 0.1 * size_of(ins[0]))


def _windows(params: Params, ins: Avals, outs: Avals) -> float:
    return 1e-9 * size_of(outs[0]) * math.prod(params["window_dimensions"]) * 0.7


def _integer_division(params: Params, ins: Avals, outs: Avals) -> float:
    nanoseconds = 4.5 if outs[0].dtype.kind in "iu" else 0.09 * weight(outs[0].dtype)
    return 1e-9 * size_of(outs[0]) * nanoseconds


def _remainder(params: Params, ins: Avals, outs: Avals) -> float:
    nanoseconds = 3.0 if outs[0].dtype.kind in "iu" else ELEMENT["rem"]
    return 1e-9 * size_of(outs[0]) * nanoseconds * weight(outs[0].dtype)


def _factorisation(params: Params, ins: Avals, outs: Avals) -> float:
    n = max(ins[0].shape[-2:], default=1)
    matrices = size_of(ins[0]) // max(math.prod(ins[0].shape[-2:]), 1)
    return matrices * (5e-6 + 20 * n**3 / FLOPS * _product(outs[0].dtype))


def _fft(params: Params, ins: Avals, outs: Avals) -> float:
    n = max(size_of(ins[0]), size_of(outs[0]))
    return 5e-10 * n * math.log2(max(n, 2))


SPECIAL = {
    "dot_general": _dot_general,
    "conv_general_dilated": _convolution,
    "sort": _sort,
    "top_k": _sort,
    "gather": _gather,
    "polynomial": _polynomial,
    "div": _integer_division,
    "rem": _remainder,
    "fft": _fft,
    "select_and_scatter_add": lambda params, ins, outs: 20 * _windows(params, ins, ins[:1]),
    **dict.fromkeys(("scatter", "scatter-add", "scatter-mul", "scatter-min", "scatter-max"), _scatter),
    **dict.fromkeys(CONVOLUTIONS, _by_taps),
    **dict.fromkeys(
        ("reduce_window", "reduce_window_sum", "reduce_window_max", "reduce_window_min"), _windows
    ),
    **dict.fromkeys(
        (
            "cholesky",
            "lu",
            "qr",
            "svd",
            "eig",
            "eigh",
            "schur",
            "triangular_solve",
            "hessenberg",
            "tridiagonal",
        ),
        _factorisation,
    ),
}
