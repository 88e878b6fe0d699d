"""`paddle.flops`: how many multiplications with additions a network takes."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax import nn
from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax.hapi.model_summary import inside_recurrent
from paddle_jax.hapi.static_flops import Table
from paddle_jax.jit.io import evaluating
from paddle_jax.nn import Layer
from paddle_jax.tensor.creation import to_tensor
from paddle_jax.tensor.random import randn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paddle_jax._core.tensors.tensor import Tensor

__all__ = []


def flops(
    net: Any,
    input_size: Sequence[int],
    custom_ops: dict[type, Callable[..., None]] = None,
    print_detail: bool = False,
) -> int:
    """Counts the operations of the Layers of a network: of convolutions, linear layers, average pooling,
    batch normalisation.

    Args:
        net: Layer.
        input_size: list of ints, shape of the input.
        custom_ops: dict `{class: function(layer, inputs, output)}`; the function adds to `layer.total_ops`.
        print_detail: print a table with one row per Layer. Default False.
    Returns:
        int; -1 if `net` is no Layer.
    Example:
        >>> net = paddle.nn.Sequential(paddle.nn.Linear(3, 2))
        >>> n = paddle.flops(net, [5, 3])  # doctest: +ELLIPSIS
        <class '...Linear'>'s flops has been counted
        Total Flops: 30     Total Params: 8
        >>> n
        30
    """
    if not isinstance(net, Layer):
        warnings.warn(f"flops: net: got {type(net).__name__}; it must be a Layer", stacklevel=2)
        return -1
    return dynamic_flops(net, randn(list(input_size)), custom_ops=custom_ops, print_detail=print_detail)


def count_convNd(m: _Counted, x: Any, y: Any) -> None:  # noqa: N802  Paddle's name
    """A convolution: the elements of a filter, and one for the bias, per output."""
    taken = np.prod(m.weight.shape[2:]) * m._in_channels / m._groups
    m.total_ops += int(abs(y.size * (taken + (m.bias is not None))))


def count_leaky_relu(m: _Counted, x: Any, y: Any) -> None:
    """One per input."""
    m.total_ops += x[0].size


def count_bn(m: _Counted, x: Any, y: Any) -> None:
    """Two per input."""
    if not m.training:
        m.total_ops += 2 * x[0].size


def count_linear(m: _Counted, x: Any, y: Any) -> None:
    """The inputs of a row per output."""
    m.total_ops += m.weight.shape[0] * y.size


def count_avgpool(m: _Counted, x: Any, y: Any) -> None:
    """One per output."""
    m.total_ops += y.size


def count_adap_avgpool(m: _Counted, x: Any, y: Any) -> None:
    """The elements that are averaged, and one for the division, per output."""
    window = [taken // made for taken, made in zip(x[0].shape[2:], y.shape[2:], strict=True)]
    m.total_ops += (int(np.prod(window)) + 1) * y.size


def count_zero_ops(m: _Counted, x: Any, y: Any) -> None:
    """None."""


def count_parameters(m: _Counted, x: Any, y: Any) -> None:
    """Notes the number of parameters."""
    own = [
        *m.parameters(include_sublayers=False),
        # Paddle counts the running statistics as parameters.
        *(m._buffers[name] for name in ("_mean", "_variance") if name in m._buffers),
    ]
    m.total_params = sum(parameter.size for parameter in own)


def count_io_info(m: _Counted, x: Any, y: Any) -> None:
    """Notes the shapes of the first input and of the output."""
    m.input_shape = to_tensor(x[0].shape)
    m.output_shape = to_tensor(y[0].shape if isinstance(y, list | tuple) else y.shape)


register_hooks: dict[Any, Callable[..., Any]] = {
    nn.Conv1D: count_convNd,
    nn.Conv2D: count_convNd,
    nn.Conv3D: count_convNd,
    nn.Conv1DTranspose: count_convNd,
    nn.Conv2DTranspose: count_convNd,
    nn.Conv3DTranspose: count_convNd,
    nn.layer.norm.BatchNorm2D: count_bn,
    nn.BatchNorm: count_bn,
    nn.ReLU: count_zero_ops,
    nn.ReLU6: count_zero_ops,
    nn.LeakyReLU: count_leaky_relu,
    nn.Linear: count_linear,
    nn.Dropout: count_zero_ops,
    nn.AvgPool1D: count_avgpool,
    nn.AvgPool2D: count_avgpool,
    nn.AvgPool3D: count_avgpool,
    nn.AdaptiveAvgPool1D: count_adap_avgpool,
    nn.AdaptiveAvgPool2D: count_adap_avgpool,
    nn.AdaptiveAvgPool3D: count_adap_avgpool,
}


class _Counted:
    """What was counted of a Layer; stands in for it where a count is noted."""

    def __init__(self, layer: Layer) -> None:
        # Past `__getattr__`, which reads it.
        self.__dict__["layer"] = layer
        self.total_ops = self.total_params = 0
        self.input_shape: Any = None
        self.output_shape: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.layer, name)


def dynamic_flops(
    model: Layer,
    inputs: Tensor,
    custom_ops: dict[type, Callable[..., None]] = None,
    print_detail: bool = False,
) -> int:
    """See `flops`; takes the input itself."""
    found = {}  # Layer: what was counted, in the order of the tree
    hooks = []
    reported = set()
    inside = inside_recurrent(model)
    # A model without sublayers is named in the report, and counts nothing.
    for layer in model.sublayers() or [model]:
        # Its parts are counted.
        if next(iter(layer.children()), None) is not None:
            continue
        count = _counter(type(layer), custom_ops or {}, reported)
        # The model has no row of its own; what is within a recurrent layer belongs to that.
        if layer is model or layer in inside:
            continue
        found[layer] = entry = _Counted(layer)
        hooks.append(
            layer.register_forward_post_hook(
                lambda _, x, y, count=count, entry=entry: _called(count, entry, x, y)
            )
        )
    try:
        with evaluating(model), no_grad():
            model(inputs)
    finally:
        for hook in hooks:
            hook.remove()
    # Only what was called has shapes.
    rows = [entry for entry in found.values() if entry.input_shape is not None]
    total = int(sum(int(entry.total_ops) for entry in rows))
    params = int(sum(int(entry.total_params) for entry in rows))
    if print_detail:
        table = Table(["Layer Name", "Input Shape", "Output Shape", "Params", "Flops"])
        for entry in rows:
            table.add_row(
                [
                    entry.full_name(),
                    entry.input_shape.tolist(),
                    entry.output_shape.tolist(),
                    int(entry.total_params),
                    int(entry.total_ops),
                ]
            )
        table.print_table()
    print(f"Total Flops: {total}     Total Params: {params}")
    return total


def _counter(kind: type, custom: dict[type, Callable[..., None]], reported: set[type]) -> Callable[..., None]:
    """The function that counts for a class; says once which one it is."""
    if kind in custom:
        count = custom[kind]
        text = f"Customize Function has been applied to {kind}"
    elif kind in register_hooks:
        count = register_hooks[kind]
        text = f"{kind}'s flops has been counted"
    else:
        count = count_zero_ops
        text = f"Cannot find suitable count function for {kind}. Treat it as zero FLOPs."
    if kind not in reported:
        print(text)
        reported.add(kind)
    return count


def _called(count: Callable[..., None], entry: _Counted, x: Any, y: Any) -> None:
    count(entry, x, y)
    count_parameters(entry, x, y)
    count_io_info(entry, x, y)
