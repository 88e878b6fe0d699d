"""Bringing values into another layout. To the tape that is the identity: a gradient goes back to the layout
that the value came from."""

import functools as ft

import jax
from jax import lax

from paddle_jax._core.base.state import local
from paddle_jax._core.kernels.kernel import ADD, Kernel, execute
from paddle_jax._core.lazy.device_put import put_uncommitted
from paddle_jax._core.lazy.devices import default_device, jax_device
from paddle_jax._core.lazy.lazy_array import LazyArray
from paddle_jax._core.lazy.multi_device import MultiDevice, to_addressable
from paddle_jax._core.lazy.symbol import Symbol
from paddle_jax._core.lazy.transfer import to_array
from paddle_jax._core.tape.node import GraphFreedError, Node, source_of
from paddle_jax._core.tensors.tensor import init_tensor, read_raw, wrap
from paddle_jax.distributed.auto_parallel.spread import noted, spread_of

DENSE = "dense"  # the layout of a value on the default device alone


class Moved(Node):
    """A value in another layout. back: the Spread it came from, DENSE, or None where its gradient may
    lie as it likes."""

    __slots__ = ("back",)

    def __init__(self, tensor, back):
        super().__init__(ADD, (), (0,), (source_of(tensor),), 1)
        self.back = back

    def name(self):
        return "ReshardGradNode"

    def pull(self, cts, create_graph=False, kept=None):
        if self.values is None:
            raise GraphFreedError(
                "(Fatal) backward: this part of the tape was freed by an earlier backward; "
                "pass retain_graph=True there"
            )
        if create_graph:
            return [moved(cts[0], self.back) if self.back is not None else cts[0]]
        return (placed(cts[0], self.back),)


def placed(raw, spread):
    """What a Tensor holds, in another layout: a Spread, or DENSE."""
    if spread is None:
        return raw
    if type(raw) is Symbol:
        raise NotImplementedError(
            "reshard: a Variable of a static program lies nowhere; "
            "leave static mode, and compile with jit.to_static"
        )
    if isinstance(raw, jax.core.Tracer):
        return raw if spread is DENSE else execute(_constraint(spread.sharding(raw.shape)), (raw,))
    if spread is DENSE:
        return _gathered(raw)
    sharding = spread.sharding(raw.shape)
    if local.ctx.frame.eager and len(sharding.device_set) > 1 and devices_of(raw) == sharding.device_set:
        return execute(_constraint(sharding), (raw,))
    return MultiDevice.block_if_needed(jax.device_put)(to_array(raw), sharding)


@ft.lru_cache(maxsize=4096)
def _constraint(sharding):
    return Kernel("reshard", lambda x: lax.with_sharding_constraint(x, sharding))


def devices_of(raw):
    """The devices of a value, as far as they are known without running anything; None otherwise."""
    if type(raw) is not LazyArray:
        return getattr(getattr(raw, "sharding", None), "device_set", None)
    return raw.device if raw.array is not None else raw.segment.device


def _gathered(raw):
    """The whole value on the default device."""
    array = to_array(raw)
    if not isinstance(array, jax.Array) or len(array.sharding.device_set) == 1:
        return put_uncommitted(array, jax_device(default_device()))
    array = to_addressable(array)
    parts = (
        {shard.device: shard.data for shard in array.addressable_shards} if array.is_fully_replicated else {}
    )
    here = jax_device(default_device())
    return put_uncommitted(parts[here] if here in parts else jax.device_put(array, here), here)


def moved(tensor, spread):
    """A Tensor in another layout, recorded on the tape."""
    old = read_raw(tensor)
    new = placed(old, spread)
    if local.ctx.grad and not tensor.stop_gradient:
        elsewhere = spread is DENSE or devices_of(old) != devices_of(new)
        back = noted(tensor) or (spread_of(tensor) or DENSE if elsewhere else None)
        out = wrap(new, False, Moved(tensor, back), 0)
    else:
        out = wrap(new)
    if spread is not DENSE:
        out._dist = spread
    return out


def copy_of(tensor, spread, like):
    """A Tensor of the class and with the attributes of another, a leaf in another layout."""
    made = like.__new__(like)
    init_tensor(made, placed(read_raw(tensor), spread), tensor.stop_gradient)
    made.persistable, made._dist = tensor.persistable, spread
    made.__dict__.update(tensor.__dict__)
    return made
