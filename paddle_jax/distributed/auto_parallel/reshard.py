"""Tensors brought into another layout, with their gradients.

For the tape this is the identity: a gradient goes back to the layout that the value came from.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.kernel import ADD
from paddle_jax._core.tape.node import GraphFreedError, Node, source_of
from paddle_jax._core.tensors.held_values import held_value, holds_uninitialized, replace_held
from paddle_jax._core.tensors.tensor import init_tensor, read_raw, wrap
from paddle_jax.distributed.auto_parallel.layout import (
    DENSE,
    devices_of,
    layout_of,
    put_in_layout,
    requested_layout,
)

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.distributed.auto_parallel.layout import DistLayout


class ReshardNode(Node):
    """A value in another layout. back: the DistLayout it came from, DENSE, or None where its gradient may
    lie as it likes."""

    __slots__ = ("back",)

    def __init__(self, tensor: Any, back: Any) -> None:
        super().__init__(ADD, (), (0,), (source_of(tensor),), 1)
        self.back: Any = back

    def name(self) -> str:
        return "ReshardGradNode"

    def pull(self, cts: Any, create_graph: Any = False, kept: Any = None) -> Any:
        if self.values is None:
            raise GraphFreedError()
        # A gradient of the gradient needs the way back on the tape too.
        if create_graph:
            return [reshard_tensor(cts[0], self.back) if self.back is not None else cts[0]]
        # With None as `back` the gradient stays where it is.
        return (put_in_layout(cts[0], self.back),)


def reshard_tensor(tensor: Any, layout: Any) -> Any:
    """A Tensor in another layout, recorded on the tape."""
    old = read_raw(tensor)
    new = put_in_layout(old, layout)
    if local.ctx.grad and not tensor.stop_gradient:
        # On the same devices the gradient may stay as it comes, unless the user asked for a layout.
        elsewhere = layout is DENSE or devices_of(old) != devices_of(new)
        back = requested_layout(tensor) or (layout_of(tensor) or DENSE if elsewhere else None)
        out = wrap(new, False, ReshardNode(tensor, back), 0)
    else:
        out = wrap(new)
    if layout is not DENSE:
        out._dist = layout
    return out


def move(tensor: Any, layout: Any) -> None:
    """Brings a leaf, such as a Parameter, into another layout in place."""
    value = put_in_layout(held_value(tensor), layout)
    if holds_uninitialized(tensor):
        # a parameter made under LazyGuard gets its values later
        replace_held(tensor, value)
        tensor._after_filling(partial(move, layout=layout))
    else:
        tensor._rebind(value)
    tensor._dist = layout


def copy_of(tensor: Tensor, layout: DistLayout, like: Any) -> Tensor:
    """A Tensor of the class and with the attributes of another, a leaf in another layout."""
    # Around `__init__`, which would make another value and another name.
    made = like.__new__(like)
    init_tensor(made, put_in_layout(read_raw(tensor), layout), tensor.stop_gradient)
    made.persistable = tensor.persistable
    made._dist = layout
    made.__dict__.update(tensor.__dict__)
    # Its values come later, and have to be put into the layout then.
    if holds_uninitialized(made):
        made._after_filling(partial(move, layout=layout))
    return made
