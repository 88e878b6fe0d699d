"""Finding where numbers go wrong: checks for NaN and infinity, counts of operations by precision, where
operations run one by one."""

from __future__ import annotations

import contextlib
import enum
import functools as ft
import pathlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from paddle_jax._core.base.caller_info import user_line
from paddle_jax._core.kernels.kernel import compute
from paddle_jax._core.lazy.recording import change_settings
from paddle_jax._core.lazy.settings import settings
from paddle_jax._core.lazy.transfer import to_numpy
from paddle_jax._core.tensors.held_values import holds_tracer, numpy_dtype
from paddle_jax._core.tensors.tensor import Tensor, wrap

if TYPE_CHECKING:
    from paddle_jax._core.kernels.kernel import Kernel
    from paddle_jax.nn.layer.layers import Layer


_SHORT = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64"}
_COLUMNS = ("float16", "bfloat16", "float32")


class DebugMode(enum.Enum):
    """What a check does.

    CHECK_NAN_INF_AND_ABORT: prints a line and raises where a result is NaN or infinite. CHECK_NAN_INF: prints
    only. CHECK_ALL_FOR_OVERFLOW: prints float32 results that float16 cannot hold. CHECK_ALL:
    prints every result.
    """

    CHECK_NAN_INF_AND_ABORT, CHECK_NAN_INF, CHECK_ALL_FOR_OVERFLOW, CHECK_ALL = range(4)


def check_numerics(
    tensor: Tensor, op_type: str, var_name: str, debug_mode: DebugMode = DebugMode.CHECK_NAN_INF_AND_ABORT
) -> tuple[Tensor, Tensor]:
    """Looks for NaN, infinity and zeros in a tensor, and prints a line if the mode says so.

    Args:
        tensor: Tensor of a floating or complex dtype.
        op_type: str, the operation it comes from, for the line.
        var_name: str, its name, for the line.
        debug_mode: DebugMode. Default CHECK_NAN_INF_AND_ABORT.
    Returns:
        (Tensor [3] int64, how many are NaN, infinite, zero; Tensor [3] float32, the greatest, the
        least, the mean).
    Raises:
        RuntimeError: there are NaN or infinite values and the mode says to abort, or the tensor is
            of another dtype.
    Example:
        >>> counts, values = paddle.amp.debugging.check_numerics(paddle.to_tensor([1.0, 0.0, 2.0]), "op", "x")
        >>> counts.tolist(), values.tolist()
        ([0, 0, 1], [2.0, 0.0, 1.0])
    """
    value = tensor._value
    # V: bfloat16, which is not one of NumPy's dtypes.
    if value.dtype.kind not in "fcV":
        raise RuntimeError(
            f"check_numerics: tensor: got {value.dtype}; it must have a floating or complex dtype"
        )
    counts, values = _statistics(value)
    _report(value, counts, values, op_type, var_name, debug_mode, print)
    return wrap(jnp.asarray(counts, np.int64)), wrap(jnp.asarray(values, np.float32))


@jax.jit
def _numbers(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """(counts of NaN, infinity, zero; greatest, least, mean) of an array."""
    if jnp.iscomplexobj(x):
        wide = jnp.abs(x)
    else:
        wide = x.astype(jnp.promote_types(x.dtype, jnp.float32))
    counts = jnp.stack([jnp.isnan(x).sum(), jnp.isinf(x).sum(), (x == 0).sum()])
    # All but NaN.
    known = jnp.isfinite(wide) | jnp.isinf(wide)
    most = jnp.max(jnp.where(known, wide, -jnp.inf))
    least = jnp.min(jnp.where(known, wide, jnp.inf))
    return counts, jnp.stack([most, least, wide.mean()])


def _statistics(value: Any) -> Sequence[np.ndarray]:
    if not value.size:
        return np.zeros(3, np.int64), np.zeros(3, np.float32)
    return [to_numpy(found, "amp.debugging") for found in _numbers(value)]


def _report(
    value: Any,
    counts: Any,
    values: Any,
    op_type: str,
    var_name: str,
    mode: DebugMode,
    write: Callable[[str], Any],
) -> None:
    """Writes the line for one result, and raises, as the mode says."""
    nan, inf, zero = map(int, counts)
    most, least, mean = map(float, values)
    is_bad = nan + inf > 0
    # It fits in float32 but would not in float16.
    overflows = value.dtype == np.float32 and max(most, -least) > float(jnp.finfo(jnp.float16).max)
    if not is_bad and not (
        mode is DebugMode.CHECK_ALL or mode is DebugMode.CHECK_ALL_FOR_OVERFLOW and overflows
    ):
        return
    device = next(iter(value.devices())).platform
    where = (
        f"[device={device}, op={op_type}, tensor={var_name}, "
        f"dtype={_SHORT.get(value.dtype.name, value.dtype.name)}]"
    )
    if is_bad:
        numbers = f"num_nan={nan}, num_inf={inf}, num_zero={zero}"
    else:
        numbers = f"num_zero={zero}"
    write(
        f"[PRECISION]{' [ERROR]' * is_bad} in {where}, numel={value.size}, {numbers}, max={most:e}, "
        f"min={least:e}, mean={mean:e}"
    )
    if is_bad and mode is DebugMode.CHECK_NAN_INF_AND_ABORT:
        raise RuntimeError(
            f"check_numerics: there are NAN or INF ({numbers}) in {where} at {user_line()}; "
            "the operands of the operation tell where they come from"
        )


def check_layer_numerics(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates the `forward` of a Layer: prints a line where its first input or a result holds
    NaN or infinity.

    Args:
        func: `forward(self, x, ...)`.
    Raises:
        RuntimeError: the first input is no Tensor.
    Example:
        >>> class Log(paddle.nn.Layer):
        ...     @paddle.amp.debugging.check_layer_numerics
        ...     def forward(self, x):
        ...         return x.log()
        >>> Log()(paddle.ones([2])).tolist()
        [0.0, 0.0]
    """

    @ft.wraps(func)
    def wrapper(self: Layer, *args: Any, **kwargs: Any) -> Any:
        if not args or not isinstance(args[0], Tensor):
            raise RuntimeError(
                f"check_layer_numerics: the first input of {type(self).__name__} must be a Tensor"
            )
        out = func(self, *args, **kwargs)
        # A Tracer has no values to look at.
        for name, tensor in (
            ("input", args[0]),
            *[("output", t) for t in (out if isinstance(out, tuple | list) else [out])],
        ):
            if isinstance(tensor, Tensor) and numpy_dtype(tensor).kind in "fcV" and not holds_tracer(tensor):
                check_numerics(tensor, type(self).__name__, name, DebugMode.CHECK_NAN_INF)
        return out

    return wrapper


class TensorCheckerConfig:
    """What `enable_tensor_checker` checks.

    Args:
        enable: bool.
        debug_mode: DebugMode. Default CHECK_NAN_INF_AND_ABORT.
        output_dir: str, a folder for a file of the lines; None: they are printed. Default None.
        checked_op_list: list of names of operations to check. Default None: all.
        skipped_op_list: list of names of operations not to check. Default None.
        debug_step: [first, last + 1] of the calls of `enable_tensor_checker` that count. Default None: all.
        stack_height_limit: accepted.
    Attributes:
        enable, output_dir, stack_height_limit, checked_op_list, skipped_op_list, debug_step: as given.
        debug_mode: DebugMode.
        start_step, end_step: int or None, the steps that are checked.
        current_step_id: int, the present step.
    Raises:
        ValueError: a list is none.
        AssertionError: debug_step is not two growing numbers.
    Differs from Paddle: no seed is set or printed; operations of the backward pass are checked too.
    Example:
        >>> config = paddle.amp.debugging.TensorCheckerConfig(enable=True)
        >>> paddle.amp.debugging.enable_tensor_checker(config)
        >>> paddle.ones([2]).log().tolist()
        [0.0, 0.0]
        >>> paddle.amp.debugging.disable_tensor_checker()
    """

    end_step: int | None
    start_step: int | None

    current_step_id = 0

    def __init__(
        self,
        enable: bool,
        debug_mode: DebugMode = DebugMode.CHECK_NAN_INF_AND_ABORT,
        output_dir: str | None = None,
        checked_op_list: Sequence[str] | None = None,
        skipped_op_list: Sequence[str] | None = None,
        debug_step: Sequence[int] | None = None,
        stack_height_limit: int = 1,
    ) -> None:
        for name, value in (
            ("checked_op_list", checked_op_list),
            ("skipped_op_list", skipped_op_list),
            ("debug_step", debug_step),
        ):
            if value is not None and not isinstance(value, list | tuple):
                raise ValueError(
                    f"TensorCheckerConfig: {name}: got {type(value).__name__}; it must be a list or tuple"
                )
        if debug_step is not None and not (len(debug_step) == 2 and debug_step[0] < debug_step[1]):
            raise AssertionError(
                f"TensorCheckerConfig: debug_step: got {debug_step}; it must hold two growing numbers"
            )
        self.enable = enable
        self.debug_mode: DebugMode = DebugMode(debug_mode)
        self.output_dir = output_dir
        self.stack_height_limit = stack_height_limit
        self.checked_op_list = checked_op_list
        self.skipped_op_list = skipped_op_list
        self.debug_step = debug_step
        self.start_step, self.end_step = debug_step or (None, None)

    def update_and_check_step_id(self) -> bool:
        """Counts a step; whether it is to be checked."""
        if not self.enable:
            return False
        step = self.current_step_id
        self.current_step_id: int = self.current_step_id + 1
        return self.debug_step is None or self.debug_step[0] <= step < self.debug_step[1]

    def start_check_nan_inf(self) -> None:
        """Checks from now on."""
        _set_watched(checker=self)

    def stop_check_nan_inf(self) -> None:
        """Checks no more."""
        _set_watched(checker=None)

    def check(self, name: str, results: Sequence[Any]) -> None:
        """Checks the results of an operation, known by these names."""
        names = name.split()
        if (
            any(n in (self.skipped_op_list or ()) for n in names)
            or self.checked_op_list is not None
            and not {*names} & {*self.checked_op_list}
        ):
            return
        for value in results:
            if value.dtype.kind in "fcV":
                _report(value, *_statistics(value), names[0], "", self.debug_mode, self._write)

    def _write(self, line: str) -> None:
        if self.output_dir is None:
            print(line)
            return
        folder = pathlib.Path(self.output_dir)
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "worker_0.log").open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def enable_tensor_checker(checker_config: TensorCheckerConfig) -> None:
    """Checks the results of all operations, forward and backward, from now on; each then runs at once.

    Args:
        checker_config: TensorCheckerConfig.
    Example:
        >>> paddle.amp.debugging.enable_tensor_checker(paddle.amp.debugging.TensorCheckerConfig(enable=False))
    """
    if checker_config.update_and_check_step_id():
        checker_config.start_check_nan_inf()
    else:
        checker_config.stop_check_nan_inf()


def disable_tensor_checker() -> None:
    """Checks no more.

    Example:
        >>> paddle.amp.debugging.disable_tensor_checker()
    """
    _set_watched(checker=None)


def enable_operator_stats_collection() -> None:
    """Counts the operations that run from now on, by precision.

    Example:
        >>> paddle.amp.debugging.enable_operator_stats_collection()
        >>> x = paddle.ones([2]).exp()
        >>> paddle.amp.debugging.disable_operator_stats_collection() # doctest: +ELLIPSIS
        <---...
    """
    _set_watched(counts={})


def disable_operator_stats_collection() -> None:
    """Prints the table of counts, and counts no more."""
    watcher = settings.executor
    if not isinstance(watcher, _Watcher) or watcher.counts is None:
        return
    counts = watcher.counts
    _set_watched(counts=None)
    print(f"<{' op list ':-^120}>")
    print(
        "<--------------- Op Name ---------------- | -- FP16 Calls --- | -- BF16 Calls --- | --- FP32 "
        "Calls--- | -- Other Calls -->"
    )
    for name in sorted(counts):
        print(f"  {name:<40}|{'|'.join(f'  {count:<17}' for count in counts[name])}")
    print(f"<{f' op count: {len(counts)} ':-^120}>")


@contextlib.contextmanager
def collect_operator_stats() -> Iterator[None]:
    """Counts the operations of a block by precision, and prints the table at its end.

    Example:
        >>> with paddle.amp.debugging.collect_operator_stats(): # doctest: +ELLIPSIS
        ...     x = paddle.ones([2]).exp()
        <---...
    """
    enable_operator_stats_collection()
    try:
        yield
    finally:
        disable_operator_stats_collection()


class _Watcher:
    """Runs kernels for a thread (`Frame.executor`): counts them and checks what they give. inner: what
    ran them before."""

    def __init__(self, inner: Callable[..., Any] | None) -> None:
        self.inner = inner
        self.counts = None
        self.checker = None

    def __call__(self, kernel: Kernel, values: Sequence[Any]) -> Any:
        out = (self.inner or compute)(kernel, values)
        results = out if isinstance(out, tuple | list) else [out]
        if self.counts is not None and kernel.declaration is not None:
            # The first floating operand decides; without one the first floating result.
            dtype = next((v.dtype.name for v in (*values, *results) if v.dtype.kind in "fV"), "")
            row = self.counts.setdefault(_name(kernel).split()[-1], [0, 0, 0, 0])
            row[_COLUMNS.index(dtype) if dtype in _COLUMNS else 3] += 1
        if self.checker is not None and not any(isinstance(r, jax.core.Tracer) for r in results):
            self.checker.check(_name(kernel), results)
        return out


def _name(kernel: Kernel) -> str:
    """The names of a kernel: ours, and that of Paddle's lists."""
    declaration = kernel.declaration
    if declaration is None:
        return kernel.name
    names = declaration[0].record.amp or declaration[0].name
    return f"{declaration[0].name} {names[1] if isinstance(names, tuple) else names}"


def _set_watched(**changes: Any) -> None:
    """Changes what is watched; when nothing is left to watch operations run as before."""
    if isinstance(settings.executor, _Watcher):
        watcher = settings.executor
    else:
        watcher = _Watcher(settings.executor)
    for name, value in changes.items():
        setattr(watcher, name, value)
    idle = watcher.counts is None and watcher.checker is None
    wanted = watcher.inner if idle else watcher
    if settings.executor is not wanted:
        change_settings(executor=wanted)


__all__ = [
    "DebugMode",
    "TensorCheckerConfig",
    "check_layer_numerics",
    "check_numerics",
    "collect_operator_stats",
    "disable_operator_stats_collection",
    "disable_tensor_checker",
    "enable_operator_stats_collection",
    "enable_tensor_checker",
]
