"""`paddle.summary`: the layers of a network as a table."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax._core.tape.grad_mode import no_grad
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax._program.input_spec import InputSpec
from paddle_jax.jit.io import evaluating
from paddle_jax.nn import LayerList, Sequential
from paddle_jax.nn.layer.rnn import RNNBase
from paddle_jax.tensor.creation import ones

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paddle_jax.nn.layer.layers import Layer

__all__ = []

_WIDTHS = (15, 20, 20, 15)
_TITLES = ("Layer (type)", "Input Shape", "Output Shape", "Param #")
_MEGABYTE = 1024**2


def summary(net: Layer, input_size: Any = None, dtypes: Any = None, input: Any = None) -> dict[str, Any]:
    """Prints the layers of a network with the shapes of their inputs and outputs and the numbers of
    their parameters.

    The network is called once in evaluation mode. A row is a Layer that is called, containers and the network
    itself left out.

    Args:
        net: Layer.
        input_size: tuple of ints, InputSpec, or a list of them for several inputs. None and
            -1 are taken as 1.
        dtypes: str, or a list with one per input. Default "float32".
        input: Tensor to call the network with, in place of `input_size`; or a list or dict that
            `forward` takes as it is.
    Returns:
        Dict with "total_params" and "trainable_params".
    Raises:
        ValueError: neither `input_size` nor `input` is given, or a length is 0.
    Example:
        >>> net = paddle.nn.Sequential(paddle.nn.Linear(3, 2))
        >>> counts = paddle.summary(net, (1, 3))  # doctest: +ELLIPSIS
        -----...
        Total params: 8
        Trainable params: 8
        ...
        >>> int(counts["total_params"])
        8
    """
    if input_size is None and input is None:
        raise ValueError("summary: input_size: neither input_size nor input is given; give one of them")
    with evaluating(net):
        text, counts = summary_string(net, _sizes(input_size) if input is None else None, dtypes, input)
    print(text)
    return counts


def summary_string(
    model: Layer, input_size: Any = None, dtypes: Any = None, input: Any = None
) -> tuple[str, dict[str, np.int64]]:
    """(text, counts) of `summary`; `input_size` is a list of tuples."""
    rows = {}
    hooks = []
    inner = model.sublayers()
    inside = inside_recurrent(model)
    for layer in [*inner, model]:
        # Containers only call what is in them, and would be counted twice.
        container = isinstance(layer, Sequential | LayerList) and not isinstance(layer, RNNBase)
        if (
            not container
            # The model has a row of its own only where nothing in it has one.
            and (layer is not model or not inner or isinstance(layer, RNNBase))
            and layer not in inside
        ):
            hooks.append(
                layer.register_forward_post_hook(lambda layer, args, out: _note(rows, layer, args, out))
            )
    try:
        with no_grad():
            if input is not None:
                model(input)
            else:
                model(*_create_inputs(input_size, dtypes))
    finally:
        for hook in hooks:
            hook.remove()
    if input is not None:
        given = _shapes_in(input)
    else:
        given = [list(size) for size in input_size]
    return _table(rows, given)


def inside_recurrent(model: Layer) -> set[Layer]:
    """The Layers within LSTM, GRU and SimpleRNN, which count as one each."""
    return {
        inner
        for layer in model.sublayers(include_self=True)
        if isinstance(layer, RNNBase)
        for inner in layer.sublayers()
    }


def _sizes(size: Any) -> list[Any]:
    """A list of tuples of lengths that are known."""
    if isinstance(size, numbers.Integral):
        return [_known((size,))]
    if isinstance(size, InputSpec):
        return [_known(size.shape)]
    if isinstance(size, tuple | list) and all(
        each is None or isinstance(each, numbers.Integral) for each in size
    ):
        # A tuple is one shape; in a list each number is the length of an input.
        if isinstance(size, tuple):
            return [_known(size)]
        return [_known((each,)) for each in size]
    if isinstance(size, tuple | list):
        return [found for each in size for found in _sizes(each)]
    raise TypeError(
        f"summary: input_size: got {size!r}; it must be a tuple of ints, an InputSpec, or a list of them"
    )


def _known(shape: Any) -> tuple[int, ...]:
    for length in shape:
        if length == 0:
            raise ValueError(f"summary: input_size: got {tuple(shape)}; lengths must be greater than zero")
    # An open length may be any; one is the cheapest.
    return tuple(1 if length is None or length < 0 else int(length) for length in shape)


def _create_inputs(sizes: Sequence[Any], dtypes: Any) -> list[Tensor]:
    if isinstance(dtypes, list | tuple):
        dtypes = list(dtypes)
    else:
        dtypes = [dtypes or "float32"] * len(sizes)
    return [ones(list(size), dtype) for size, dtype in zip(sizes, dtypes, strict=True)]


def _shape(value: Any, other: Any = None) -> Any:
    """Shapes of Tensors, nested like the value."""
    if isinstance(value, Tensor):
        return [int(length) for length in value.shape]
    if isinstance(value, list | tuple):
        return [_shape(each, other) for each in value]
    return other


def _shapes_in(value: Any) -> list[Any]:
    """The shapes of all Tensors in an input."""
    if isinstance(value, dict | list | tuple):
        return [
            shape
            for each in (value.values() if isinstance(value, dict) else value)
            for shape in _shapes_in(each)
        ]
    if isinstance(value, Tensor):
        return [_shape(value)]
    return []


def _count(parameters: Iterable[Tensor]) -> int:
    return int(sum(np.prod(parameter.shape, dtype=np.int64) for parameter in parameters))


def _note(rows: dict[str, Any], layer: Layer, args: Any, out: Any) -> None:
    """A Layer was called: makes or renews its row."""
    kind = type(layer).__name__
    # Names count from 0, the table from 1.
    number = int(layer._full_name.rsplit("_", 1)[-1])
    own = [*layer.parameters(include_sublayers=isinstance(layer, RNNBase)), *_statistics(layer)]
    trainable = sum(_count([parameter]) for parameter in own if not parameter.stop_gradient)
    rows[f"{kind}-{number + 1}"] = (_shape(args), _output(out), _count(own), trainable)


def _statistics(layer: Layer) -> list[Tensor]:
    """The running statistics of batch normalisation: Paddle counts them as parameters that
    are not trained."""
    return [layer._buffers[name] for name in ("_mean", "_variance") if layer._buffers.get(name) is not None]


def _output(out: Any) -> Any:
    if isinstance(out, list | tuple):
        return [_output(each) for each in out]
    return _shape(out, [])


def _elements(shape: Any) -> int:
    """Numbers in Tensors of these shapes."""
    if shape and isinstance(shape[0], list):
        return sum(_elements(each) for each in shape)
    if shape:
        return int(np.prod(shape, dtype=np.int64))
    return 0


def _table(rows: dict[str, Any], given: Sequence[Any]) -> tuple[str, dict[str, np.int64]]:
    cells = [(name, str(taken), str(made), f"{count:,}") for name, (taken, made, count, _) in rows.items()]
    widths = [max([width, *(len(row[i]) for row in cells)]) for i, width in enumerate(_WIDTHS)]
    rule = sum(widths) + 5
    total = sum(row[2] for row in rows.values())
    trainable = sum(row[3] for row in rows.values())
    # Paddle counts 4 bytes for each number.
    sizes = [
        sum(_elements(shape) for shape in given) * 4 / _MEGABYTE,
        # Results, and their gradients.
        2 * sum(_elements(row[1]) for row in rows.values()) * 4 / _MEGABYTE,
        total * 4 / _MEGABYTE,
    ]
    lines = [
        "-" * rule,
        _line(_TITLES, widths),
        "=" * rule,
        *(_line(row, widths) for row in cells),
        "=" * rule,
        f"Total params: {total:,}",
        f"Trainable params: {trainable:,}",
        f"Non-trainable params: {total - trainable:,}",
        "-" * rule,
        f"Input size (MB): {sizes[0]:.2f}",
        f"Forward/backward pass size (MB): {sizes[1]:.2f}",
        f"Params size (MB): {sizes[2]:.2f}",
        f"Estimated Total Size (MB): {sum(sizes):.2f}",
        "-" * rule,
        "",
    ]
    return "\n".join(lines), {"total_params": np.int64(total), "trainable_params": np.int64(trainable)}


def _line(cells: Sequence[Any], widths: Sequence[int]) -> str:
    return " ".join(f"{cell:^{width}}" for cell, width in zip(cells, widths, strict=True))
