"""Op bodies without loops, which JAX traces in half the time.

Each function of `jax.numpy` is compiled, so a trace through it makes a jaxpr of its own for each shape.
Without that (`jax.disable_jit`) the same equations come out, but a loop would be unrolled. So a body is
traced that way only if its code, with all it calls of this package, names nothing but functions that are
known to have none.
"""

from __future__ import annotations

import builtins
import functools as ft
import opcode
import types
from collections.abc import Iterator
from typing import Any

from jax._src import config as jax_config

from paddle_jax._core.base.dtype import DType
from paddle_jax._core.base.interrupt_safe import AtomicContext
from paddle_jax._core.tensors.tensor import Tensor

# names of functions, methods and attributes of JAX and NumPy behind which there is no loop
_KNOWN = frozenset(
    """
    abs add all any append arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin
    argsort array asarray associative_scan astype at atleast_2d bernoulli bfloat16 bincount
    bitcast_convert_type bits bool_ broadcast_arrays broadcast_in_dim broadcast_shapes broadcast_to
    broadcasted_iota ceil clip clz complex complex128 complex64 concatenate config conj
    conv_general_dilated convert_element_type copy copysign cos cosh count counts cross cumlogsumexp
    cummax cummin cumprod cumsum custom_jvp custom_jvp_call default_backend defjvp det diag diagonal
    diff div dot dot_general dtype dtypes dynamic_slice dynamic_slice_in_dim eigh einsum elu empty eps
    equal erf erf_inv erfinv exp exp2 expand_dims expm1 extend eye factorial fftshift fill find finfo
    flip float16 float32 float64 floating floor floor_divide fold fold_in ft full full_like functools
    gather GatherDimensionNumbers ge gelu get greater greater_equal groups gt gumbel hypot ifftshift
    iinfo imag index index_in_dim index_of inexact inf insert int16 int32 int64 int8 integer inv invert
    is_finite isalpha isascii isclose iscomplexobj isfinite isinf isnan isneginf isposinf isreal
    isscalar issubdtype item items itemsize itertools jax jax_default_device jnp join jvp key_data keys
    kind kron lax le left_shift length less less_equal linalg linspace log log10 log1p log2 log_sigmoid
    log_softmax logaddexp logical_and logical_not logical_or logical_xor logistic logsumexp lower lt
    make_array math matmul max maximum mean meshgrid min minimum mod moveaxis mul multiply name __name__
    nan nan_to_num ndarray ndim ndindex ne neg negative nextafter nn norm normal not_equal np number
    numpy one_hot ones ones_like out outer pad partial partition permute_dims pi platform pop power
    primals prod product promote_types qr random ravel real reciprocal reduce reduce_max reduce_min
    reduce_sum relu remainder repeat replace reshape result_type rev rfind right_shift roll rot90 round
    rsqrt scipy select select_n set shape sigmoid sign signbit silu sin sinc sinh size sizes slice
    slice_in_dim sliced slogdet softmax softplus sort sorted special split sqrt square squeeze stack
    startswith stop_gradient strides strip sub subtract sum svd swapaxes symbolic_zeros T take
    take_along_axis tan tangents tanh tensordot tile tolist top_k trace transpose triangular_solve tril
    tril_indices triu triu_indices true_divide trunc type uint32 uint64 uint8 uniform upper values var
    vmap where wrap_key_data zeros zeros_like
""".split()
)
_LOOPS = "paddle_jax._core.kernels.loop_template"  # the module whose functions make loops
_passed: set[Any] = set()  # functions that are known to be straight
_GLOBAL = opcode.opmap["LOAD_GLOBAL"]
_EXTENDED = opcode.opmap["EXTENDED_ARG"]
_PLAIN = (str, int, float, complex, bool, bytes, type(None), slice)


def is_loop_free(thing: Any) -> bool:
    """Whether no code that is reached from a function, or another thing that code refers to, has a
    loop of JAX in it."""
    seen = set(_passed)
    if not _straight(thing, seen):
        return False
    # Only now: what a function with a loop reaches was not looked at to the end.
    _passed.update(seen)
    return True


def _straight(thing: Any, seen: set[Any]) -> bool:
    """As `is_loop_free`. seen: functions that are known to be straight, or that are being looked at."""
    if isinstance(thing, (*_PLAIN, DType)):
        return True
    if isinstance(thing, type):
        return _straight_class(thing, seen)
    if isinstance(thing, tuple | list | frozenset | set):
        return all(_straight(each, seen) for each in thing)
    if isinstance(thing, dict):
        return all(_straight(each, seen) for each in thing.values())
    if isinstance(thing, types.ModuleType):
        return True  # what is taken from it stands among the names
    if isinstance(thing, ft.partial):
        return all(_straight(each, seen) for each in (thing.func, *thing.args, *thing.keywords.values()))
    if isinstance(getattr(thing, "fun", None), types.FunctionType) and type(thing).__name__ == "custom_jvp":
        # A function with a rule of its own is as straight as its body.
        thing = thing.fun
    if not isinstance(thing, types.FunctionType) or not _of_package(thing.__module__):
        return _is_known(thing)
    return _straight_function(thing, seen)


def _is_known(thing: Any) -> bool:
    """Whether a function or class of JAX or NumPy is in the list of those without a loop."""
    return getattr(thing, "__name__", "") in _KNOWN and not _of_package(getattr(thing, "__module__", None))


def _straight_class(cls: type, seen: set[Any]) -> bool:
    if issubclass(cls, (*_PLAIN, BaseException)):
        return True
    if not _of_package(cls.__module__):
        return _is_known(cls)
    return cls is Tensor or all(_straight(member, seen) for member in vars(cls).values() if _written(member))


def _straight_function(thing: types.FunctionType, seen: set[Any]) -> bool:
    if thing.__module__ == _LOOPS:
        return False
    # else the machinery has no loops over arrays of an op
    if thing in seen or thing.__module__.startswith("paddle_jax._core."):
        return True
    seen.add(thing)
    cells = [cell.cell_contents for cell in thing.__closure__ or () if cell != types.CellType()]
    kept = [*cells, *(thing.__defaults__ or ()), *(thing.__kwdefaults__ or {}).values()]
    return all(_straight(each, seen) for each in kept) and _code(thing.__code__, thing.__globals__, seen)


def _written(method: Any) -> bool:
    """Whether an attribute of a class is a function that somebody wrote, and not one that
    `dataclasses` makes."""
    return isinstance(method, types.FunctionType) and method.__code__.co_filename != "<string>"


def _code(code: types.CodeType, names: dict[str, Any], seen: set[Any]) -> bool:
    """Whether all names in a code object are known, or functions of the package of which the same is true."""
    # Code objects list globals and attributes together; only the bytecode tells them apart.
    loaded = {code.co_names[i] for i in _globals(code.co_code)}
    modules = [
        names[n]
        for n in loaded
        if isinstance(names.get(n), types.ModuleType) and _of_package(names[n].__name__)
    ]
    if not all(_straight(names[n], seen) if n in names else hasattr(builtins, n) for n in loaded):
        return False
    # An attribute may be a function of one of our modules.
    for name in code.co_names:
        if name not in loaded and name not in _KNOWN:
            own = [vars(module)[name] for module in modules if name in vars(module)]
            if not own or not all(_straight(each, seen) for each in own):
                return False
    return all(_code(inner, names, seen) for inner in code.co_consts if isinstance(inner, types.CodeType))


def _globals(code: bytes) -> Iterator[int]:
    """The positions of the names that bytecode loads as globals; a tenth of what `dis` takes."""
    high = 0
    # An instruction has two bytes.
    for at in range(0, len(code), 2):
        if code[at] == _EXTENDED:
            # The upper bytes of a long number come first.
            high = (high | code[at + 1]) << 8
            continue
        if code[at] == _GLOBAL:
            # The lowest bit says whether a call follows.
            yield (high | code[at + 1]) >> 1
        high = 0


def _of_package(module: str | None) -> bool:
    """Whether a module, by its name, is one of this package; code that was executed from a text has none."""
    return (module or "").partition(".")[0] == "paddle_jax"


class without_inner_jit(AtomicContext):
    """A block in which functions that are compiled run as Python: `jax.disable_jit`, and
    nothing is left behind."""

    def steps(self) -> tuple[list[Any], list[Any]]:
        state = jax_config.disable_jit
        return [(state.set_local, True)], [(state.set_local, state.get_local())]
