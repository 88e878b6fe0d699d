"""Attention functions of incubate.nn against NumPy; masks against the real Paddle."""

import importlib

import numpy as np
import pytest

from tests.incubate import references as R
from tests.nn.scripts import same

rng = np.random.RandomState(5)
A = [
    "import importlib",
    "A = importlib.import_module(paddle.__name__ + '.incubate.nn.attn_bias')",
    "ones = lambda *s: paddle.ones(list(s))",
    (
        "B, C, P = A.BlockDiagonalMask, A.BlockDiagonalCausalMask, "
        "A.BlockDiagonalCausalWithOffsetPaddedKeysMask"
    ),
]
SCRIPTS = {
    "masks": [
        *A,
        *[
            f"{line}.numpy()"
            for line in (
                "B.from_seqlens([2, 1]).materialize([3, 3])",
                "B.from_seqlens([2, 1], [1, 3]).materialize([3, 4], 'float64')",
                "B.from_seqlens([2, 1], [1, 3]).make_causal().materialize([1, 2, 3, 4])",
                "B.from_seqlens([2, 1]).materialize([4, 4])",
                "C.from_seqlens([2, 3]).materialize([5, 5])",
                "A.LowerTriangularMask().materialize([2, 3])",
                "A.LowerTriangularMask().materialize([1, 2, 3, 3])",
                "A.LowerTriangularMask().add_bias(ones(1, 1, 3, 3)).materialize([1, 1, 3, 3])",
                "P.from_seqlens([2, 1], 4, [3, 2]).materialize([3, 8])",
                "P.from_seqlens([2, 1], 4, [3, 2], paddle.to_tensor([1, 0])).materialize([3, 8])",
                "P.from_seqlens([2, 1], 4, [3, 2]).materialize([3, 9])",
                "P.from_seqlens([2, 1], 4, [3])",
                "P.from_seqlens([2, 1], 4, [5, 1])",
                "B.from_seqlens([2, 1], [3])",
            )
        ],
        "repr(B.from_seqlens([2, 1]))",
        "repr(P.from_seqlens([2, 1], 4, [3, 2]))",
        "hash(B.from_seqlens([2, 1]))",
    ],
    "lists": [
        *A,
        "m, x = B.from_tensor_list([ones(1, 2, 2, 4), ones(2, 3, 2, 4) * 2])",
        "x.numpy(), m._batch_sizes, [t.shape for t in m.split(x)]",
        "[t.numpy() for t in m.split_queries(x)], [t.shape for t in m.split_kv(x)]",
        "m.split(x[:, :2])",
        "m.split(ones(2, 8, 2, 4))",
        "m, q, k, v = B.from_tensor_lists_qkv([ones(1, 2, 2, 4)], [ones(1, 3, 2, 4)])",
        "q.shape, k.shape, v",
        "m.split(q)",
        "[list(i) for i in m.k_seqinfo.intervals()], m.k_seqinfo.max_seqlen",
        "A.PaddedSeqLenInfo.from_seqlens([1])",
        "p = A.PaddedSeqLenInfo.from_seqlens_padded([3, 2], 4)",
        "list(p.intervals()), p.seqlen.numpy()",
        "p.split(ones(1, 8))",
        "A.AttentionBias()",
    ],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
@pytest.mark.filterwarnings("ignore")
def test_masks_alike(script, oracle, paddle):
    same(script, oracle, paddle)


def drawn(*shape):
    return rng.randn(*shape)


def near(got, want):
    np.testing.assert_allclose(np.asarray(got.numpy()), want, rtol=1e-6, atol=1e-6)


def swapped(x):
    return np.swapaxes(x, 1, 2)


Q, K, V = drawn(2, 3, 4, 5), drawn(2, 4, 4, 5), drawn(2, 4, 4, 5)  # batch, length, heads, width


def test_dot_product_attention(paddle):
    t, call, bias = (
        paddle.to_tensor,
        paddle.incubate.nn.functional.fused_dot_product_attention,
        drawn(2, 1, 3, 4),
    )
    near(call(t(Q), t(K), t(V), t(bias)), swapped(R.attend(swapped(Q), swapped(K), swapped(V), bias)))
    near(
        call(t(K), t(K), t(V), is_causal=True, scaling_factor=1.0),
        swapped(R.attend(swapped(K) * 5**0.5, swapped(K), swapped(V), R.causal(4, 4))),
    )
    for bad in (dict(attn_mask=t(bias).astype("int32")), dict(attn_mask=t(bias), is_causal=True)):
        with pytest.raises(AssertionError, match="attn_mask"):
            call(t(Q), t(K), t(V), **bad)


def test_memory_efficient_attention(paddle):
    module = importlib.import_module("paddle_jax.incubate.nn.memory_efficient_attention")
    t, call, bias = paddle.to_tensor, module.memory_efficient_attention, drawn(2, 4, 4, 4)
    q, k, v = swapped(drawn(2, 4, 4, 5)), swapped(K), swapped(V)
    given = [t(swapped(x)) for x in (q, k, v)]
    near(call(*given), swapped(R.attend(q, k, v)))
    near(call(*given, attn_bias=t(bias), scale=1.0), swapped(R.attend(q * 5**0.5, k, v, bias)))
    near(call(*given, attn_bias=module.LowerTriangularMask()), swapped(R.attend(q, k, v, R.causal(4, 4))))
    near(
        call(*given, attn_bias=module.LowerTriangularMask().add_bias(t(bias))),
        swapped(R.attend(q, k, v, R.causal(4, 4) + bias)),
    )
    blocks = np.where(np.arange(4)[:, None] // 2 == np.arange(4) // 2, 0.0, -1e9)
    near(
        call(*given, attn_bias=module.BlockDiagonalMask.from_seqlens([2, 2])),
        swapped(R.attend(q, k, v, blocks)),
    )
    near(
        call(*given, attn_bias=module.BlockDiagonalCausalMask.from_seqlens([2, 2])),
        swapped(R.attend(q, k, v, blocks + R.causal(4, 4))),
    )
    with pytest.raises(AssertionError, match="attn_bias"):
        call(*given, attn_bias=3)


@pytest.mark.parametrize("causal", [True, False])
def test_lengths(paddle, causal):
    t, q, k, v = paddle.to_tensor, drawn(2, 4, 3, 5), drawn(2, 2, 5, 5), drawn(2, 2, 5, 5)
    mask, lengths, keys = drawn(2, 1, 3, 5), np.array([[3], [2]]), np.array([[5], [4]])
    got = paddle.incubate.nn.functional.variable_length_memory_efficient_attention(
        t(q), t(k), t(v), t(lengths.astype("int32")), t(keys.astype("int32")), t(mask), None, causal, 2
    )
    hidden = (
        np.where(np.arange(5) < keys[:, :, None, None], 0.0, -1e9)
        + mask
        + (R.causal(3, 5) if causal else 0.0)
    )
    near(got, R.attend(q, k, v, hidden) * (np.arange(3)[:, None] < lengths[:, :, None, None]))


@pytest.mark.parametrize("merged", [True, False])
@pytest.mark.parametrize("gated", [True, False])
def test_gate_attention(paddle, merged, gated):
    x, w, gate, gate_bias, out, bias = (
        drawn(2, 3, 4, 6),
        drawn(3, 2, 5, 6),
        drawn(6, 2, 5),
        drawn(2, 5),
        drawn(2, 5, 6),
        drawn(6),
    )
    pair, mask, t = drawn(2, 2, 4, 4), drawn(2, 3, 1, 1, 4), paddle.to_tensor
    q, k, v = (np.einsum("brqn,hwn->brhqw", x, part) for part in w)
    y = np.swapaxes(
        R.softmax(np.einsum("brhqw,brhkw->brhqk", q, k) / 5**0.5 + mask + pair[:, None]) @ v, 2, 3
    )
    y = y / (1 + np.exp(-(np.einsum("brqn,nhw->brqhw", x, gate) + gate_bias))) if gated else y
    apart = {
        f"{name}_weight": t(np.transpose(part, [2, 0, 1]))
        for name, part in zip(("query", "key", "value"), w, strict=True)
    }
    weights = dict(qkv_weight=t(w)) if merged else apart
    weights |= dict(gate_linear_weight=t(gate), gate_linear_bias=t(gate_bias)) if gated else {}
    call = paddle.incubate.nn.functional.fused_gate_attention
    got = call(
        t(x),
        out_linear_weight=t(out),
        out_linear_bias=t(bias),
        nonbatched_bias=t(pair),
        attn_mask=t(mask),
        has_gating=gated,
        merge_qkv=merged,
        **weights,
    )
    near(got, np.einsum("brqhw,hwo->brqo", y, out) + bias)
    with pytest.raises(ValueError, match="weight"):
        call(
            t(x),
            out_linear_weight=t(out),
            merge_qkv=not merged,
            has_gating=False,
            **{k: v for k, v in weights.items() if "gate" not in k},
        )


@pytest.mark.parametrize("groups", [2, 1])
def test_decoding(paddle, groups):
    batch, heads, width, steps, t = 2, 2, 4, 4, paddle.to_tensor
    x, bias = drawn(steps, batch, (heads + 2 * groups) * width), drawn(heads + 2 * groups, width)
    start = np.array([0, 1])  # the second sequence begins with one position that is in the cache already
    cache = t(np.zeros((2, batch, groups, 6, width)))
    old = drawn(2, groups, width)
    cache[:, 1, :, 0] = t(old)
    angles = (start + np.arange(steps)[:, None])[..., None] / 10.0 ** (np.arange(0, width, 2) / width)
    for step in range(steps):
        wide = np.concatenate([angles[step]] * 2, -1)
        rotary = np.stack([np.cos(wide), np.sin(wide)])[:, :, None, None]
        out, same = paddle.incubate.nn.functional.masked_multihead_attention(
            t(x[step]),
            cache,
            t(bias),
            sequence_lengths=t((start + step).astype("int32")[:, None]),
            rotary_tensor=t(rotary),
            rotary_emb_dims=1,
            use_neox_rotary_style=True,
        )
        assert same is cache
        made = (x[: step + 1].reshape(step + 1, batch, -1, width) + bias).transpose(1, 2, 0, 3)
        q, k, v = np.split(made, [heads, heads + groups], 1)
        turn = angles[: step + 1].transpose(1, 0, 2)[:, None]
        q, k = R.rope(q, turn, False), R.rope(k, turn, False)
        for b in range(batch):
            keys, values = (
                np.concatenate([o[None, :, None], p[b : b + 1]], 2) if b else p[:1]
                for o, p in zip(old, (k, v), strict=True)
            )
            np.testing.assert_allclose(
                out[b].numpy(), R.attend(q[b : b + 1, :, -1:], keys, values).reshape(-1), rtol=1e-6, atol=1e-6
            )


def test_decoding_with_a_mask_and_what_it_refuses(paddle):
    t, call, x = paddle.to_tensor, paddle.incubate.nn.functional.masked_multihead_attention, drawn(1, 12)
    past, mask = drawn(2, 1, 1, 2, 4), drawn(1, 1, 1, 3)
    cache = t(np.concatenate([past, np.zeros((2, 1, 1, 2, 4))], 3))
    out, cache = call(t(x), cache, src_mask=t(mask))
    q, k, v = x.reshape(3, 1, 1, 1, 4)
    near(
        out, R.attend(q, np.concatenate([past[0], k], 2), np.concatenate([past[1], v], 2), mask).reshape(1, 4)
    )
    near(cache[:, :, :, 2], np.stack([k, v])[:, :, :, 0])
    for bad in (
        dict(),
        dict(src_mask=t(mask), seq_len=2),
        dict(src_mask=t(mask), rotary_emb_dims=2),
        dict(src_mask=t(mask), qkv_out_scale=t(x[0])),
    ):
        with pytest.raises(ValueError, match="masked_multihead_attention"):
            call(t(x), cache, **bad)


def test_lengths_and_experts(paddle):
    F, t = paddle.incubate.nn.functional, paddle.to_tensor
    a, b = F.blha_get_max_len(t([[3], [5]], dtype="int32"), t([4, 1], dtype="int32"), paddle.ones([2]))
    assert a.tolist() == [5] and b.tolist() == [4] and a.dtype == paddle.int32
    x, weights, rows = drawn(6, 3), drawn(4, 2), np.array([[0, 5], [1, 1], [4, 2], [3, 0]])
    near(F.moe_combine(t(x), t(weights), t(rows.astype("int32"))), (x[rows] * weights[..., None]).sum(1))
    with pytest.raises(ValueError, match="moe_combine"):
        F.moe_combine(t(x), t(weights), t(rows[:2]))
