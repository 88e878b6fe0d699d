"""vmap: a function of one sample becomes a function of a batch."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from paddle_jax._core.execution.trace import trace
from paddle_jax._core.tensors.held_values import numpy_dtype, plain_shape
from paddle_jax._core.tensors.tensor import wrap
from paddle_jax.func.arguments import Arguments, dispatch, finish

if TYPE_CHECKING:
    from paddle_jax._core.execution.trace import Traced
    from paddle_jax._core.tensors.tensor import Tensor


_RANDOMNESS = ("different", "same")


def vmap(
    func: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0, randomness: str = "different"
) -> Callable[..., Any]:
    """Makes a function of single samples work on a batch at once, without a loop.

    Args:
        func: function of Tensors, or of lists, dicts and Layers of Tensors. It may use layers and
            Tensors from outside.
        in_axes: int, None or a tuple with an entry per positional argument (entries may be nested like the
            argument): the axis along which the samples of an argument lie; None for an argument that all
            samples share. Keyword arguments are batched along axis 0.
        out_axes: the same for the results; None for a result that is the same for all samples.
        randomness: "different": each sample draws its own random numbers (dropout masks, say); "same":
            all draw the same.
    Returns:
        A function. Its results have the batch axis where `out_axes` says.
    Raises:
        ValueError: no argument is batched, lengths of the batch differ, an axis does not exist, or `func`
            changes a Tensor from outside (such as the running statistics of a BatchNorm in training)
            differently for each sample.
    Example:
        >>> dot = paddle.func.vmap(lambda a, b: (a * b).sum(), in_axes=(0, None))
        >>> dot(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), paddle.to_tensor([1.0, 10.0])).tolist()
        [21.0, 43.0]
    """
    if randomness not in _RANDOMNESS:
        raise ValueError(
            f"vmap: randomness: got {randomness!r}; allowed are {', '.join(map(repr, _RANDOMNESS))}"
        )

    @ft.wraps(func)
    def batched(*args: Any, **kwargs: Any) -> Any:
        given = Arguments(args, kwargs)
        axes = _axes_of(given, in_axes, kwargs)
        size = _size(given.tensors, axes)
        structs = [_one(t, axis) for t, axis in zip(given.tensors, axes, strict=True)]
        indexed = randomness == "different"
        # The number of the sample goes into the keys of random numbers.
        if indexed:
            structs.append(jax.ShapeDtypeStruct((), "uint32"))
        run = trace(lambda *tensors: given.call(func, tensors), structs, indexed)
        n = len(run.structs) - len(run.changed)
        # A Tensor outside has one value for all samples.
        outs = tuple(_out_axes(run, out_axes, n)) + (None,) * len(run.changed)
        key = (tuple(axes), outs, size)

        def make(fn: Callable[..., Any]) -> Callable[..., Any]:
            return lambda *arrays: jax.vmap(
                fn, in_axes=(*axes, *[0] * indexed, *[None] * len(run.taken)), out_axes=outs, axis_size=size
            )(*arrays)

        if indexed:
            index = [wrap(jnp.arange(size, dtype="uint32"))]
        else:
            index = []
        try:
            out = dispatch("vmap", run, make, key, [*given.tensors, *index])
        except ValueError as error:
            # JAX's message knows nothing of the function's results.
            if "out_axes" not in str(error):
                raise
            raise ValueError(_unbatched(run, outs[:n])) from None
        return finish(run, out)

    return batched


def _unbatched(run: Traced, axes: Sequence[int | None]) -> str:
    # `out_axes` is None for it, see `outs`: the samples would give it different values.
    if run.changed and None not in axes:
        return (
            f"vmap: the function gives {run.changed[0].name} from outside another value for each sample; "
            "return the value instead, or call eval() on layers that keep statistics"
        )
    return (
        "vmap: out_axes: got None for a result that differs between samples; "
        "allowed is the axis where the samples are to lie"
    )


def _broadcast_axes(name: str, axes: Sequence[Any], structure: Sequence[Any]) -> list[Any]:
    """The entry of `axes`, a prefix of a structure, for each leaf of it."""

    def is_none(x: Any) -> bool:
        return x is None

    try:
        return jax.tree.leaves(jax.tree.broadcast(axes, structure, is_leaf=is_none), is_leaf=is_none)
    except ValueError as error:
        raise ValueError(
            f"vmap: {name}: got {axes!r}, which does not fit what it stands for: {error}"
        ) from None


def _axes_of(
    given: Arguments, in_axes: Sequence[Any] | int | None, kwargs: dict[str, Any]
) -> list[Any | None]:
    """The batch axis of each Tensor among the arguments, counted from the front."""
    if isinstance(in_axes, list | tuple):
        if len(in_axes) != len(given.args):
            raise ValueError(
                f"vmap: in_axes: got {len(in_axes)} entries; "
                f"the function was called with {len(given.args)} positional arguments"
            )
        in_axes = tuple(in_axes)
    # Keyword arguments are batched along axis 0.
    axes = _broadcast_axes("in_axes", (in_axes, 0), (given.args, kwargs))
    return [_front("in_axes", axes[i], t.ndim) for i, t in zip(given.at, given.tensors, strict=True)]


def _front(name: str, axis: int | None, ndim: int) -> int | None:
    if axis is None:
        return None
    if not isinstance(axis, int) or not -ndim <= axis < ndim:
        raise ValueError(
            f"vmap: {name}: got {axis!r} for a Tensor of {ndim} axes; "
            f"allowed are None and integers from {-ndim} to {ndim - 1}"
        )
    return axis % ndim


def _size(tensors: Sequence[Tensor], axes: Sequence[int | None]) -> int:
    sizes = {plain_shape(t)[axis] for t, axis in zip(tensors, axes, strict=True) if axis is not None}
    if len(sizes) != 1:
        if sizes:
            found = f"got batches of {sorted(sizes)}; they must have the same length"
        else:
            found = "got no Tensor with a batch axis; give at least one"
        raise ValueError(f"vmap: {found}; see in_axes")
    return sizes.pop()


def _one(tensor: Tensor, axis: int | None) -> Any:
    shape = plain_shape(tensor)
    if axis is not None:
        shape = shape[:axis] + shape[axis + 1 :]
    return jax.ShapeDtypeStruct(shape, numpy_dtype(tensor))


def _out_axes(run: Traced, out_axes: Sequence[int] | int | None, n: int) -> list[int | None]:
    """The batch axis of each Tensor among the results."""
    # An axis for all results, or a structure of axes that is a prefix of that of the results.
    if isinstance(out_axes, int | None):
        each = [out_axes] * n
    else:
        places = run.rebuild(list(range(n)))
        each = _broadcast_axes("out_axes", out_axes, places)
    return [_front("out_axes", axis, len(s.shape) + 1) for axis, s in zip(each, run.structs[:n], strict=True)]
