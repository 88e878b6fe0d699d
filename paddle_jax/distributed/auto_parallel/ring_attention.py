"""Attention over a sequence that is cut among devices: keys and values travel round a ring.

Each device keeps its queries. In each of n hops it computes with the keys and values of another device, and
adds the result by their log-sum-exp; the next keys and values travel meanwhile. No device ever has all keys.

For causal attention each device computes with the pieces r and 2n - 1 - r of 2n: so each has the same work in
each hop, half of that without a mask. Pieces come to their devices before and go back after.

See: Liu et al., Ring Attention with Blockwise Transformers for Near-Infinite Context, 2023 (the ring); Dao et
al., FlashAttention, 2022 (the backward pass from log-sum-exp).
"""

from __future__ import annotations

import functools as ft
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from paddle_jax._core.base.interrupt_safe import swapped_attributes
from paddle_jax._core.execution.dispatch import run
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.tensors.tensor import Tensor
from paddle_jax.distributed.auto_parallel.layout import DistLayout, requested_layout
from paddle_jax.distributed.auto_parallel.placement_type import Replicate, Shard
from paddle_jax.distributed.auto_parallel.process_mesh import ProcessMesh
from paddle_jax.distributed.auto_parallel.reshard import reshard_tensor
from paddle_jax.nn.functional.sdpa import Attention

__all__ = []

_SAME, _EARLIER, _LATER = range(3)  # whose keys a device has in a hop, compared with its own


class Ring(NamedTuple):
    """A ring of devices.

    Attributes:
        axis: name of the mesh dimension.
        size: how many devices it has.
        causal: whether a position sees only itself and earlier ones.
        scale: factor of the products.
    """

    axis: str
    size: int
    causal: bool
    scale: float

    def onward(self, arrays: Any) -> Any:
        """The arrays of the device before."""
        steps = [(place, (place + 1) % self.size) for place in range(self.size)]
        return jax.tree.map(lambda array: lax.ppermute(array, self.axis, steps), arrays)

    def case(self, hop: Any) -> Any:
        """Whose keys this device has in a hop: one of _SAME, _EARLIER, _LATER."""
        place = lax.axis_index(self.axis)
        source = (place - hop) % self.size
        return jnp.where(source == place, _SAME, jnp.where(source < place, _EARLIER, _LATER))


def ring_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mesh: ProcessMesh,
    mesh_dim: str = "sep",
    is_causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """softmax(scale * query @ key^T) @ value for each head, of a sequence that is cut along a dimension of a
    mesh. Keys and values travel round the devices; no device has all of them. Gradients flow through.

    Args:
        query: Tensor [batch, sequence, heads, width] on the mesh.
        key, value: Tensors [batch, sequence, key heads, width]; fewer heads are shared by neighbouring
            query heads.
        mesh: ProcessMesh.
        mesh_dim: str, the dimension along which the sequence is cut.
        is_causal: position i sees keys 0..i only.
        scale: factor of the products. Default None: 1 / sqrt(width).
    Returns:
        Tensor of the shape of the query, cut along the sequence.
    Raises:
        ValueError: the sequence does not divide (see `fits`).
    """
    size = mesh.get_dim_size(mesh_dim)
    if not fits(query, key, mesh, mesh_dim, is_causal):
        raise ValueError(
            f"ring_attention: query: got shapes {list(query.shape)} and {list(key.shape)}; the sequences "
            f"must be equal and a multiple of {size * (2 if is_causal else 1)}, for {size} devices"
        )
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    own = requested_layout(query)
    placements = None if own is None or own.mesh != mesh else own.placements
    kernel = _kernel(Ring(mesh_dim, size, bool(is_causal), scale), mesh, placements, key.shape[2])
    out = run(kernel, (query, key, value))
    out._dist = _cut(mesh, mesh_dim, placements, key.shape[2])
    return out


def fits(query: Tensor, key: Tensor, mesh: ProcessMesh, mesh_dim: str, is_causal: bool) -> bool:
    """Whether sequences divide among the devices: into one piece each, for causal attention two."""
    length = query.shape[1]
    pieces = mesh.get_dim_size(mesh_dim) * (2 if is_causal else 1)
    return length == key.shape[1] and length % pieces == 0


def attention_in_rings(
    mesh: ProcessMesh, mesh_dim: str, placements: list[Any] | None = None
) -> swapped_attributes:
    """A block in which attention without mask and dropout runs as `ring_attention`, if the sequence divides.

    Args:
        mesh: ProcessMesh.
        mesh_dim: str, the dimension along which sequences are cut.
        placements: how queries, keys and values lie. Default None: as they were put last.
    """

    def attend(q: Any, k: Any, v: Any, is_causal: Any, scale: Any) -> Any:
        if not fits(q, k, mesh, mesh_dim, is_causal):
            # None lets the ordinary attention run.
            return None
        if placements is not None:
            q = reshard_tensor(q, DistLayout(mesh, placements))
        return ring_attention(q, k, v, mesh, mesh_dim, is_causal, scale)

    return swapped_attributes(Attention, replacement=attend)


def shard_seq_load_balance(tensor: Tensor, seq_dim: int) -> Tensor:
    """A Tensor on a mesh, cut along an axis among the devices of the dimension "sep".

    Differs from Paddle: positions keep their order, since attention in a ring balances its work itself.

    Args:
        tensor: Tensor on a mesh with a dimension "sep".
        seq_dim: int, the axis.
    Raises:
        ValueError: the mesh has no dimension "sep".
    """
    return _along_sep(tensor, Shard(seq_dim))


def unshard_seq_load_balance(tensor: Tensor, seq_dim: int) -> Tensor:
    """What `shard_seq_load_balance` has cut, whole on all devices of the dimension "sep".

    Args:
        tensor: Tensor on a mesh with a dimension "sep".
        seq_dim: int, the axis.
    Raises:
        ValueError: the mesh has no dimension "sep".
    """
    return _along_sep(tensor, Replicate())


def _along_sep(tensor: Any, placement: Any) -> Tensor:
    """A Tensor with another placement along the dimension "sep" of its mesh."""
    mesh = tensor.process_mesh
    if mesh is None or "sep" not in mesh.dim_names:
        names = None if mesh is None else mesh.dim_names
        raise ValueError(
            f"shard_seq_load_balance: tensor: the dimensions of its mesh are {names}; one must be 'sep'"
        )
    placements = list(tensor.placements)
    placements[mesh.dim_names.index("sep")] = placement
    return reshard_tensor(tensor, DistLayout(mesh, placements))


def _cut(mesh: Any, mesh_dim: Any, placements: Any, key_heads: Any) -> DistLayout:
    """The DistLayout that cuts the sequence; batch and heads stay cut as they are, as far as they divide."""
    found = list(DistLayout(mesh, placements or []).placements)
    kept = [*found, *[None] * (mesh.ndim - len(found))]
    made = []
    for name, length, own in zip(mesh.dim_names, mesh.shape, kept, strict=True):
        if name == mesh_dim:
            made.append(Shard(1))
        # A cut of heads stays where each device gets whole key heads.
        elif own is not None and (own.is_shard(0) or (own.is_shard(2) and key_heads % length == 0)):
            made.append(own)
        else:
            made.append(Replicate())
    return DistLayout(mesh, made)


@ft.lru_cache(maxsize=256)
def _kernel(ring: Ring, mesh: ProcessMesh, placements: tuple[Any, ...] | None, key_heads: int) -> Kernel:
    layout = _cut(mesh, ring.axis, placements, key_heads)
    return Kernel("ring_attention", ft.partial(_whole, ring, layout))


def _whole(ring: Any, layout: Any, q: Any, k: Any, v: Any) -> Any:
    """The function of whole arrays."""
    spec = layout.sharding(q.shape).spec
    return jax.shard_map(
        ft.partial(_on_each, ring),
        mesh=layout.mesh.jax_mesh(),
        in_specs=(spec, spec, spec),
        out_specs=spec,
        check_vma=False,
    )(q, k, v)


def _on_each(ring: Any, q: Any, k: Any, v: Any) -> Any:
    """What each device computes from its pieces."""
    if not ring.causal:
        return _attend(ring, q, k, v)
    # Pieces are exchanged before and behind, so that all devices have the same work.
    q, k, v = (_balanced(ring, array) for array in (q, k, v))
    return _in_order(ring, _attend(ring, q, k, v))


# the order of pieces ----------------------------------------------------------------------------------------


def _owner(size: int, piece: int) -> int:
    """The device that computes with a piece of 2 * size."""
    return min(piece, 2 * size - 1 - piece)


def _balanced(ring: Any, array: Any) -> jax.Array:
    """From pieces 2r and 2r + 1 to pieces r and 2n - 1 - r."""
    first, second = jnp.split(array, 2, axis=1)
    even = lax.ppermute(first, ring.axis, [(r, _owner(ring.size, 2 * r)) for r in range(ring.size)])
    odd = lax.ppermute(second, ring.axis, [(r, _owner(ring.size, 2 * r + 1)) for r in range(ring.size)])
    return jnp.concatenate(_swapped_if_odd(ring, even, odd), axis=1)


def _in_order(ring: Any, array: Any) -> jax.Array:
    """The way back."""
    first, second = jnp.split(array, 2, axis=1)
    even, odd = _swapped_if_odd(ring, first, second)
    first = lax.ppermute(even, ring.axis, [(_owner(ring.size, 2 * r), r) for r in range(ring.size)])
    second = lax.ppermute(odd, ring.axis, [(_owner(ring.size, 2 * r + 1), r) for r in range(ring.size)])
    return jnp.concatenate([first, second], axis=1)


def _swapped_if_odd(ring: Any, one: Any, other: Any) -> tuple[jax.Array, jax.Array]:
    """On a device of odd number the piece of even number is the later one."""
    odd = lax.axis_index(ring.axis) % 2 == 1
    return jnp.where(odd, other, one), jnp.where(odd, one, other)


# the ring ---------------------------------------------------------------------------------------------------


@ft.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _attend(ring: Any, q: Any, k: Any, v: Any) -> Any:
    return _forward(ring, q, k, v)[0]


def _forward(
    ring: Any, q: Any, k: Any, v: Any
) -> tuple[jax.Array, tuple[Any, Any, Any, jax.Array, jax.Array]]:
    """(results, what the backward pass needs)."""
    # Sums over the hops would lose digits in half precision.
    wide = jnp.promote_types(q.dtype, jnp.float32)
    rows = (*q.shape[:3], v.shape[3])

    def hop(carry: Any, number: Any) -> Any:
        pair, out, lse = carry
        # Before the block, which does not need it: the device can compute and send at once.
        following = ring.onward(pair)
        out, lse = _by_case(ring, number, add_block, (q, *pair, out, lse), ring.scale)
        return (following, out, lse), None

    # -inf is the log-sum-exp over no keys.
    start = ((k, v), jnp.zeros(rows, wide), jnp.full(q.shape[:3], -jnp.inf, wide))
    (_, out, lse), _ = lax.scan(hop, start, jnp.arange(ring.size))
    out = out.astype(q.dtype)
    return out, (q, k, v, out, lse)


def _backward(ring: Any, kept: Any, cotangent: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The gradients of queries stay; those of keys and values travel with them, and are home after n hops."""
    q, k, v, out, lse = kept
    wide = lse.dtype
    cotangent = cotangent.astype(wide)
    # The part of the derivative of softmax that all keys have in common.
    delta = jnp.sum(cotangent * out.astype(wide), axis=-1)

    def hop(carry: Any, number: Any) -> Any:
        pair, (dk, dv), dq = carry
        operands = (q, *pair, lse, cotangent, delta, dq, dk, dv)
        dq, dk, dv = _by_case(ring, number, block_gradients, operands, ring.scale)
        return (ring.onward(pair), ring.onward((dk, dv)), dq), None

    zeros = [jnp.zeros(array.shape, wide) for array in (q, k, v)]
    start = ((k, v), (zeros[1], zeros[2]), zeros[0])
    (_, (dk, dv), dq), _ = lax.scan(hop, start, jnp.arange(ring.size))
    return dq.astype(q.dtype), dk.astype(k.dtype), dv.astype(v.dtype)


_attend.defvjp(_forward, _backward)


def _by_case(ring: Any, hop: Any, function: Any, operands: Any, scale: Any) -> Any:
    """Runs a function of a block for the queries and keys that see each other in a hop."""
    if not ring.causal:
        return function(*operands, scale=scale, mask=False, queries=slice(None), keys=slice(None))
    half = operands[0].shape[1] // 2
    earlier, later = slice(None, half), slice(half, None)
    everything = slice(None)
    shapes = {
        _SAME: {"mask": True, "queries": everything, "keys": everything},
        # its second piece is later than all queries here
        _EARLIER: {"mask": False, "queries": everything, "keys": earlier},
        # its pieces lie between the two of this device
        _LATER: {"mask": False, "queries": later, "keys": everything},
    }
    branches = [ft.partial(function, scale=scale, **shapes[case]) for case in range(3)]
    return lax.switch(ring.case(hop), branches, *operands)


def _grouped(q: Any, key_heads: Any) -> Any:
    """[batch, query, key heads, queries per key head, width]"""
    return q.reshape(*q.shape[:2], key_heads, q.shape[2] // key_heads, q.shape[3])


def _scores(q: Any, k: Any, scale: Any, mask: Any, bias: Any = None) -> Any:
    """[batch, key heads, queries per key head, query, key], float32 at least; `bias` is added."""
    wide = jnp.promote_types(q.dtype, jnp.float32)
    scores = jnp.einsum("bqhgd,bkhd->bhgqk", _grouped(q, k.shape[2]), k, preferred_element_type=wide) * scale
    if mask:
        seen = jnp.tril(jnp.ones(scores.shape[-2:], bool))
        scores = jnp.where(seen, scores, -jnp.inf)
    if bias is not None:
        scores = scores + bias.astype(scores.dtype)
    return scores


def _finite(lse: Any) -> Any:
    """Zero for queries that have seen no key yet: their weights are then zero, and not NaN."""
    return jnp.where(jnp.isneginf(lse), 0, lse)


def _per_query(values: Any, key_heads: Any) -> Any:
    """[batch, query, heads] as the first axes of scores."""
    rows = values.reshape(*values.shape[:2], key_heads, values.shape[2] // key_heads)
    return rows.transpose(0, 2, 3, 1)


def add_block(
    q: Any,
    k: Any,
    v: Any,
    out: Any,
    lse: Any,
    *,
    scale: Any,
    mask: Any,
    queries: Any,
    keys: Any,
    bias: Any = None,
    drop_factors: Any = None,
) -> tuple[Any, Any]:
    """Adds the attention of some queries to some keys to what others have given.

    bias is added to the scores; drop_factors is what dropout multiplies weights by, after the softmax.
    """
    k, v = k[:, keys], v[:, keys]
    old_out, old_lse = out[:, queries], lse[:, queries]
    scores = _scores(q[:, queries], k, scale, mask, bias)
    block_lse = jax.nn.logsumexp(scores, axis=-1)
    weights = jnp.exp(scores - _finite(block_lse)[..., None])
    if drop_factors is not None:
        weights = weights * drop_factors
    block = jnp.einsum("bhgqk,bkhd->bqhgd", weights.astype(v.dtype), v, preferred_element_type=out.dtype)
    block = block.reshape(old_out.shape)
    # from the axes of scores to those of queries
    block_lse = block_lse.transpose(0, 3, 1, 2).reshape(old_lse.shape)
    # Two softmaxes are joined by their log-sum-exp: each counts by its share of the sum.
    new_lse = jnp.logaddexp(old_lse, block_lse)
    old_share = jnp.exp(old_lse - _finite(new_lse))[..., None]
    share = jnp.exp(block_lse - _finite(new_lse))[..., None]
    new_out = old_out * old_share + block * share
    return out.at[:, queries].set(new_out), lse.at[:, queries].set(new_lse)


def block_gradients(
    q: Any,
    k: Any,
    v: Any,
    lse: Any,
    cotangent: Any,
    delta: Any,
    dq: Any,
    dk: Any,
    dv: Any,
    *,
    scale: Any,
    mask: Any,
    queries: Any,
    keys: Any,
    bias: Any = None,
    drop_factors: Any = None,
) -> tuple[Any, Any, Any]:
    """Adds the gradients of a block to those of queries, keys and values. bias and drop_factors are those of
    `add_block`."""
    heads = k.shape[2]
    q, k, v = q[:, queries], k[:, keys], v[:, keys]
    # The log-sum-exp is that of all hops, so these are the weights of the whole softmax.
    weights = jnp.exp(_scores(q, k, scale, mask, bias) - _per_query(lse[:, queries], heads)[..., None])
    rows = _grouped(cotangent[:, queries], heads)
    # Dropout follows the softmax, so the values were mixed by the weights that it left.
    mixed = weights if drop_factors is None else weights * drop_factors
    of_values = jnp.einsum("bhgqk,bqhgd->bkhd", mixed, rows)
    of_weights = jnp.einsum("bqhgd,bkhd->bhgqk", rows, v.astype(rows.dtype))
    if drop_factors is not None:
        of_weights = of_weights * drop_factors
    of_scores = weights * (of_weights - _per_query(delta[:, queries], heads)[..., None]) * scale
    of_keys = jnp.einsum("bhgqk,bqhgd->bkhd", of_scores, _grouped(q, heads).astype(rows.dtype))
    of_queries = jnp.einsum("bhgqk,bkhd->bqhgd", of_scores, k.astype(rows.dtype)).reshape(q.shape)
    return (
        dq.at[:, queries].add(of_queries),
        dk.at[:, keys].add(of_keys),
        dv.at[:, keys].add(of_values),
    )
