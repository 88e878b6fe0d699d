"""Attention in rings of devices, against plain attention on one device."""

import jax
import numpy as np
import pytest

import paddle_jax as paddle
import paddle_jax.distributed as dist
from paddle_jax.distributed import Replicate, Shard
from paddle_jax.distributed.auto_parallel import ring_attention as rings
from paddle_jax.nn.functional.sdpa import Attention
from tests.distributed import gpt

MESHES = [
    dist.ProcessMesh(np.arange(3), ["sep"]),
    dist.ProcessMesh(np.arange(8).reshape(2, 2, 2), ["dp", "sep", "mp"]),
    dist.ProcessMesh(np.arange(8), ["sep"]),
]
CUT = {"dp": Shard(0), "sep": Shard(1), "mp": Shard(2)}
plain = paddle.nn.functional.scaled_dot_product_attention


def arrays(length, key_heads=4, dtype="float32"):
    random = np.random.RandomState(0)
    shapes = [(2, length, heads, 8) for heads in (4, key_heads, key_heads, 4)]
    *operands, weight = (paddle.to_tensor(random.randn(*shape), dtype=dtype) for shape in shapes)
    for operand in operands:
        operand.stop_gradient = False
    return operands, weight


def on_mesh(tensors, mesh):
    places = [CUT[name] for name in mesh.dim_names]
    return [dist.shard_tensor(tensor, mesh, places, stop_gradient=False) for tensor in tensors]


@pytest.mark.parametrize("mesh", MESHES, ids=str)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("key_heads", "scale", "dtype"), [(2, 0.5, "float32"), (4, None, "bfloat16")])
def test_as_on_one_device(mesh, causal, key_heads, scale, dtype):
    length = 4 * mesh.get_dim_size("sep")
    operands, weight = arrays(length, key_heads, dtype)
    wanted = plain(*operands, is_causal=causal, scale=scale)
    (wanted * weight).sum().backward()
    given = on_mesh(operands, mesh)
    out = rings.ring_attention(*given, mesh, "sep", causal, scale)
    (out * weight).sum().backward()
    assert out.placements[mesh.dim_names.index("sep")] == Shard(1) and out.dtype == wanted.dtype
    near = {"rtol": 1e-5, "atol": 2e-6} if dtype == "float32" else {"rtol": 0.05, "atol": 0.05}
    pairs = [(out, wanted), *((mine.grad, theirs.grad) for mine, theirs in zip(given, operands, strict=True))]
    for mine, theirs in pairs:
        np.testing.assert_allclose(mine.astype("float32").numpy(), theirs.astype("float32").numpy(), **near)


def test_no_device_has_all_keys():
    """Keys and values travel by permutations; nothing is gathered, forward or backward."""
    mesh = MESHES[2]
    kernel = rings._kernel(rings.Ring("sep", 8, True, 1.0), mesh, None, 4)
    sharding = rings._cut(mesh, "sep", None, 4).sharding((2, 16, 4, 8))
    struct = jax.ShapeDtypeStruct((2, 16, 4, 8), np.float32, sharding=sharding)
    total = lambda *operands: kernel.fn(*operands).sum()  # noqa: E731
    text = jax.jit(jax.grad(total, (0, 1, 2))).lower(struct, struct, struct).compile().as_text()
    assert "collective-permute" in text and "all-gather" not in text and "all-to-all" not in text


class Attend(paddle.nn.Layer):
    def forward(self, q, k, v, mask=None):
        return plain(q, k, v, attn_mask=mask, is_causal=mask is None)


def test_context_parallel_runs_in_rings(monkeypatch):
    calls = []
    whole = rings.ring_attention
    monkeypatch.setattr(rings, "ring_attention", lambda *a: calls.append(a) or whole(*a))
    mesh = MESHES[1]
    layer = dist.parallelize(
        paddle.nn.Sequential(Attend()),
        None,
        mesh,
        {"cp_config": {"parallelize_plan": {"0": dist.ContextParallel("p2p")}}},
    )[0][0]
    operands, _ = arrays(8)
    given = [dist.shard_tensor(tensor, mesh, [Replicate()] * 3) for tensor in operands]
    np.testing.assert_allclose(
        layer(*given).numpy(), plain(*operands, is_causal=True).numpy(), rtol=1e-5, atol=1e-6
    )
    assert len(calls) == 1
    mask = paddle.to_tensor(np.random.RandomState(1).rand(2, 4, 8, 8) > 0.3)
    np.testing.assert_allclose(
        layer(*given, mask).numpy(), plain(*operands, attn_mask=mask).numpy(), rtol=1e-5, atol=1e-6
    )
    short = [tensor[:, :6] for tensor in operands]  # 6 positions do not make 4 pieces
    np.testing.assert_allclose(
        layer(*short).numpy(), plain(*short, is_causal=True).numpy(), rtol=1e-5, atol=1e-6
    )
    with pytest.raises(ValueError, match="batch"):
        layer(given[0], given[1][:1], given[2])
    assert len(calls) == 1 and Attention.replacement is None
    with pytest.raises(ValueError, match=r"multiple of 4, for 2 devices"):
        rings.ring_attention(*on_mesh(short, mesh), mesh, "sep", True)


def test_a_sequence_is_cut_in_its_order():
    mesh = dist.ProcessMesh(np.arange(8).reshape(2, 4), ["dp", "sep"])
    values = np.arange(64.0, dtype="float32").reshape(2, 8, 4)
    tensor = dist.shard_tensor(values, mesh, [Shard(0), Replicate()], stop_gradient=False)
    cut = rings.shard_seq_load_balance(tensor, 1)
    assert cut.placements == [Shard(0), Shard(1)] and np.array_equal(cut.numpy(), values)
    whole = rings.unshard_seq_load_balance(cut, 1)
    assert whole.placements == [Shard(0), Replicate()] and np.array_equal(whole.numpy(), values)
    (whole * whole).sum().backward()
    np.testing.assert_array_equal(tensor.grad.numpy(), 2 * values)
    with pytest.raises(ValueError, match="one must be 'sep'"):
        rings.shard_seq_load_balance(paddle.ones([2, 8]), 1)


@pytest.mark.parametrize("degrees", [{"cp": 2, "mp": 2, "dp": 2}, {"sep": 4}], ids=str)
def test_fleet_trains_with_rings(degrees):
    wanted = gpt.train({}, 3)[0]
    np.testing.assert_allclose(gpt.train(degrees, 3)[0], wanted, rtol=1e-5)
