"""Mixed precision: the guard `auto_cast`, and `decorate`, which prepares models and
optimizers for level O2."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base import dtype as dtypes
from paddle_jax._core.base.interrupt_safe import AtomicContext
from paddle_jax._core.base.state import Precision, local
from paddle_jax.amp.amp_lists import black_list, white_list
from paddle_jax.amp.policy import LOW, Policy, policy
from paddle_jax.device import other_names
from paddle_jax.nn.layer.convert import convert_tensor
from paddle_jax.nn.layer.layers import Layer
from paddle_jax.nn.layer.norm import (
    BatchNorm,
    BatchNorm1D,
    BatchNorm2D,
    BatchNorm3D,
    InstanceNorm1D,
    InstanceNorm2D,
    InstanceNorm3D,
    LayerNorm,
    SyncBatchNorm,
)
from paddle_jax.optimizer.optimizer import Optimizer

if TYPE_CHECKING:
    from paddle_jax._annotations import DTypeLike


_BATCH = (BatchNorm, BatchNorm1D, BatchNorm2D, BatchNorm3D, SyncBatchNorm)
# layers that stay float32
_KEPT = {"bfloat16": _BATCH, "float16": (*_BATCH, LayerNorm, InstanceNorm1D, InstanceNorm2D, InstanceNorm3D)}


_GIVEN = ("enable", "custom_white_list", "custom_black_list", "level", "dtype", "use_promote")


class _Guard(contextlib.ContextDecorator, AtomicContext):
    """A block, or calls of a function, with a policy of mixed precision."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__()
        self._arguments = arguments

    def steps(self) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        enable, custom_white_list, custom_black_list, level, dtype, use_promote = self._arguments
        name = _low("auto_cast", dtype, enable)
        if enable:
            policy_of_block = _policy(level, name, custom_white_list, custom_black_list, use_promote)
        else:
            policy_of_block = None
        ctx = local.ctx
        # GradScaler asks for the dtype of the last guard.
        if policy_of_block is not None:
            Precision.dtype = name
            ctx.frame.on_precision(name)
        arguments = dict(zip(_GIVEN, self._arguments, strict=True))
        return (
            [(setattr, ctx, "amp", policy_of_block), (setattr, ctx, "amp_arguments", arguments)],
            [(setattr, ctx, "amp", ctx.amp), (setattr, ctx, "amp_arguments", ctx.amp_arguments)],
        )


def amp_guard(
    enable: bool = True,
    custom_white_list: Iterable[str] | None = None,
    custom_black_list: Iterable[str] | None = None,
    level: str = "O1",
    dtype: DTypeLike = "float16",
    use_promote: bool = True,
) -> _Guard:
    """Runs operations in mixed precision: a context manager, or a decorator of a function.
    See `auto_cast`."""
    return _Guard(enable, custom_white_list, custom_black_list, level, dtype, use_promote)


def auto_cast(
    enable: bool = True,
    custom_white_list: Iterable[str] | None = None,
    custom_black_list: Iterable[str] | None = None,
    level: str = "O1",
    dtype: DTypeLike = "float16",
    use_promote: bool = True,
) -> _Guard:
    """Runs operations in mixed precision: a context manager, or a decorator of a function.

    float32, float16 and bfloat16 operands of operations are cast, nothing else; gradients flow
    through the casts.

    Args:
        enable: False: operations run in the dtypes of their operands, also inside another
            guard. Default True.
        custom_white_list: set, list or tuple of Paddle's names of operations that run in low precision,
            besides `white_list()`.
        custom_black_list: names of those that run in float32, besides `black_list()`.
        level: "O1": as the lists say; other operations run in float32 if an operand is float32, else in low
            precision. "O2": as O1 with a short black list, for models that `decorate` has cast. "OD": the
            white list in low precision, everything else in float32. "O0": off.
        dtype: "float16" or "bfloat16". Default "float16".
        use_promote: with False, level O2 runs all but the black list in low precision. Default True.
    Returns:
        Context manager, which is also a decorator.
    Raises:
        ValueError: level or dtype is none of these, or a name is in both custom lists.
    Differs from Paddle: works on every device, also with float16 on the CPU.
    Example:
        >>> x = paddle.ones([2, 3]); layer = paddle.nn.Linear(3, 4)
        >>> with paddle.amp.auto_cast(dtype="bfloat16"):
        ...     y = layer(x)
        ...     loss = y.exp().mean()
        >>> y.dtype, loss.dtype
        (<DataType.BFLOAT16: 16>, <DataType.FLOAT32: 10>)
    """
    return amp_guard(enable, custom_white_list, custom_black_list, level, dtype, use_promote)


def autocast(
    device_type: str, dtype: DTypeLike = "float16", enabled: bool = True, cache_enabled: bool = True
) -> _Guard:
    """As `auto_cast` at level O1, with PyTorch's arguments.

    Args:
        device_type: accepted; the guard concerns every device.
        dtype, enabled: as of `auto_cast`.
        cache_enabled: accepted; XLA merges equal casts of a compiled program.
    Returns:
        Context manager, which is also a decorator.
    Differs from Paddle: works on every device; Paddle warns on a CPU and does nothing.
    Example:
        >>> with paddle.autocast("cpu", dtype="bfloat16"):
        ...     paddle.matmul(paddle.ones([2, 2]), paddle.ones([2, 2])).dtype
        <DataType.BFLOAT16: 16>
    """
    return amp_guard(enable=enabled, dtype=dtype)


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether the calling thread is inside an `auto_cast` guard that is on.

    Args:
        device_type: accepted.
    Returns:
        bool.
    Differs from Paddle: works on every device; Paddle warns on a CPU and does nothing.
    Example:
        >>> with paddle.amp.auto_cast():
        ...     paddle.is_autocast_enabled()
        True
    """
    return local.ctx.amp is not None


def amp_state() -> dict[str, Any] | None:
    """The arguments of the innermost `auto_cast` guard that the calling thread is inside of, a
    dict; None outside.

    Example:
        >>> from paddle_jax.amp.auto_cast import amp_state
        >>> with paddle.amp.auto_cast(level="O2"):
        ...     amp_state()["level"]
        'O2'
    """
    return local.ctx.amp_arguments


def get_autocast_dtype(device_type: str | None = None) -> str:
    """The dtype of the `auto_cast` guard around, "float16" outside of any.

    Args:
        device_type: accepted.
    Returns:
        str: "float16" or "bfloat16".
    Differs from Paddle: works on every device; Paddle warns on a CPU and does nothing.
    Example:
        >>> with paddle.amp.auto_cast(dtype="bfloat16"):
        ...     paddle.get_autocast_dtype()
        'bfloat16'
    """
    if local.ctx.amp is None:
        return "float16"
    return local.ctx.amp.dtype


get_autocast_cpu_dtype = get_autocast_dtype
get_autocast_gpu_dtype = get_autocast_dtype


def amp_decorate(
    models: Any,
    optimizers: Any = None,
    level: str = "O1",
    dtype: DTypeLike = "float16",
    master_weight: bool | None = None,
    save_dtype: str | None = None,
    master_grad: bool = False,
    excluded_layers: Any = None,
) -> Any:
    """Prepares models and optimizers for mixed precision, in place.

    At level O2 parameters and buffers become float16 or bfloat16, but for those of BatchNorm layers (with
    float16 also of LayerNorm and InstanceNorm), and the optimizers keep float32 copies of them. Level O1
    changes nothing.

    Args:
        models: Layer, or list of Layers.
        optimizers: Optimizer, or list of them. Default None.
        level: "O1" or "O2". Default "O1".
        dtype: "float16" or "bfloat16". Default "float16".
        master_weight: False: no float32 copies. Default None: there are.
        save_dtype: at level O2, dtype of the floating values that `state_dict()` of the models gives. Default
            None: their own.
        master_grad: True: the gradients of parameters of low precision are float32. Default False.
        excluded_layers: Layer, class of Layers, or list of such, which stay as they are. Default None.
    Returns:
        models, or (models, optimizers) where optimizers are given.
    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: level, dtype or save_dtype is none of those allowed.
    Differs from Paddle: works on every device; Paddle warns on a CPU and does nothing.
    Example:
        >>> net = paddle.nn.Sequential(paddle.nn.Linear(2, 2), paddle.nn.BatchNorm1D(2))
        >>> opt = paddle.optimizer.AdamW(parameters=net.parameters())
        >>> net, opt = paddle.amp.decorate(net, opt, level="O2", dtype="bfloat16")
        >>> net[0].weight.dtype, net[1].weight.dtype
        (<DataType.BFLOAT16: 16>, <DataType.FLOAT32: 10>)
    """
    if level not in ("O1", "O2"):
        raise ValueError(f"decorate: level: got {level!r}; it must be 'O1' or 'O2'")
    name = _low("decorate", dtype)
    nets = _listed("models", models, Layer)
    steppers = [] if optimizers is None else _listed("optimizers", optimizers, Optimizer)
    saved = None if save_dtype is None else _saved_dtype(save_dtype)
    if level == "O2":
        instances, kinds = _excluded(excluded_layers)
        for net in nets:
            for layer in net.sublayers(include_self=True):
                if not isinstance(layer, (*_KEPT[name], *kinds)) and id(layer) not in instances:
                    _cast(layer, name, master_grad)
        for optimizer in steppers:
            optimizer._multi_precision = master_weight is not False
        Precision.master_grads = Precision.master_grads or master_grad
    if level == "O2" and saved is not None:
        for net in nets:
            net.register_state_dict_hook(
                lambda values: {k: v.astype(saved) if v.dtype.is_floating else v for k, v in values.items()}
            )
    return models if optimizers is None else (models, optimizers)


decorate = amp_decorate


def _policy(
    level: str,
    dtype: str,
    custom_white: Iterable[str] | None,
    custom_black: Iterable[str] | None,
    use_promote: bool,
) -> Policy | None:
    """The Policy of a guard; None at level O0."""
    name = level.upper() if isinstance(level, str) else level
    if name not in ("O0", "OD", "O1", "O2"):
        raise ValueError(f"auto_cast: level: got {level!r}; it must be 'O0', 'OD', 'O1' or 'O2'")
    if name == "O0":
        return None
    added_to_white = frozenset(custom_white or ())
    added_to_black = frozenset(custom_black or ())
    if added_to_white & added_to_black:
        raise ValueError(
            "auto_cast: custom_white_list and custom_black_list: "
            f"both have {sorted(added_to_white & added_to_black)}; a name belongs to one of them"
        )
    white = frozenset(white_list()[dtype][name])
    black = frozenset(black_list()[dtype][name])
    return policy(
        name,
        dtype,
        bool(use_promote),
        (white | added_to_white) - added_to_black,
        (black | added_to_black) - added_to_white,
    )


def _low(where: str, dtype: Any, needed: Any = True) -> str:
    """The name of a low-precision dtype."""
    try:
        name = dtypes.convert(dtype).np.name
    except TypeError:
        name = dtype
    if needed and name not in LOW:
        raise ValueError(f"{where}: dtype: got {dtype!r}; it must be 'float16' or 'bfloat16'")
    return name


def _listed(name: str, value: Any, kind: type) -> list[Any]:
    if isinstance(value, list | tuple):
        items = list(value)
    else:
        items = [value]
    if not all(isinstance(v, kind) for v in items):
        raise TypeError(
            f"decorate: {name}: got {', '.join(type(v).__name__ for v in items)}; "
            f"it must be one {kind.__name__} or a list of them"
        )
    return items


def _saved_dtype(dtype: str) -> str:
    if dtype not in ("float16", "bfloat16", "float32", "float64"):
        raise ValueError(
            f"decorate: save_dtype: got {dtype!r}; it must be 'float16', 'bfloat16', 'float32' or 'float64'"
        )
    return dtype


def _excluded(layers: Any) -> tuple[set[int], list[type[Layer]]]:
    """(ids of Layers, classes) that stay as they are."""
    if layers is None:
        listed = []
    elif isinstance(layers, list | tuple):
        listed = layers
    else:
        listed = [layers]
    ids = {
        id(part)
        for layer in listed
        if isinstance(layer, Layer)
        for part in layer.sublayers(include_self=True)
    }
    kinds = [kind for kind in listed if not isinstance(kind, Layer)]
    for kind in kinds:
        if not (isinstance(kind, type) and issubclass(kind, Layer)):
            raise TypeError(
                f"decorate: excluded_layers: got {kind!r}; it must hold Layers and classes of Layers"
            )
    return ids, kinds


def _cast(layer: Layer, name: str, master_grad: bool) -> None:
    """Casts what a Layer itself owns."""
    layer._dtype = dtypes.convert(name)
    for tensor in (*layer._parameters.values(), *layer._buffers.values()):
        if tensor is not None:
            convert_tensor(tensor, LOW[name], None, True)
    for param in layer._parameters.values():
        if param is not None and master_grad:
            param.master_grad = True


other_names.amp._auto_cast = staticmethod(auto_cast)

__all__ = [
    "amp_decorate",
    "amp_guard",
    "auto_cast",
    "autocast",
    "decorate",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_autocast_gpu_dtype",
    "is_autocast_enabled",
]
