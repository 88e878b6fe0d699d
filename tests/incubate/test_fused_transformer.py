"""Fused blocks of Transformers against the formula in NumPy."""

import numpy as np
import pytest

from tests.incubate import references as R

rng = np.random.RandomState(4)
BATCH, LENGTH, HEADS, WIDTH, INNER = 2, 3, 2, 4, 6
N = HEADS * WIDTH
ACTS = {"relu": R.relu, "gelu": R.gelu, "silu": R.silu, "swiglu": R.swiglu}


def drawn(*shape):
    return rng.randn(*shape) * 0.5


X = drawn(BATCH, LENGTH, N)


def near(got, want):
    np.testing.assert_allclose(np.asarray(got.numpy()), want, rtol=1e-7, atol=1e-7)


def heads(x, weight, bias):
    """Queries, keys, values [batch, heads, length, width] by weights [3, heads, width, n]."""
    return np.einsum("bln,chwn->cbhlw", x, weight) + (0 if bias is None else bias[:, None, :, None])


@pytest.mark.parametrize("activation", ["relu", "gelu", "silu"])
@pytest.mark.parametrize("pre", [True, False])
def test_feed_forward(paddle, activation, pre):
    w1, b1, w2, b2, scale, bias = drawn(N, INNER), drawn(INNER), drawn(INNER, N), drawn(N), drawn(N), drawn(N)
    t = paddle.to_tensor
    inner = ACTS[activation]((R.norm(X, scale, bias) if pre else X) @ w1 + b1) @ w2 + b2
    options = dict(dropout1_rate=0.0, dropout2_rate=0.0, activation=activation, pre_layer_norm=pre)
    options |= {f"ln{1 if pre else 2}_scale": t(scale), f"ln{1 if pre else 2}_bias": t(bias)}
    call = paddle.incubate.nn.functional.fused_feedforward
    near(
        call(t(X), t(w1), t(w2), t(b1), t(b2), **options),
        X + inner if pre else R.norm(X + inner, scale, bias),
    )
    near(
        call(t(X), t(w1), t(w2), t(b1), t(b2), add_residual=False, **options),
        inner if pre else R.norm(inner, scale, bias),
    )


@pytest.mark.parametrize("other_form", [True, False])
@pytest.mark.parametrize("pre", [True, False])
def test_attention(paddle, pre, other_form):
    weight, qkv_bias, out, out_bias, scale, bias = (
        drawn(3, HEADS, WIDTH, N),
        drawn(3, HEADS, WIDTH),
        drawn(N, N),
        drawn(N),
        drawn(N),
        drawn(N),
    )
    t, mask = paddle.to_tensor, drawn(BATCH, 1, LENGTH, LENGTH)
    q, k, v = heads(R.norm(X, scale, bias, 1e-4) if pre else X, weight, qkv_bias)
    made = R.joined(R.attend(q, k, v, mask)) @ out + out_bias
    given = (
        (t(weight.reshape(3 * N, N).T), t(qkv_bias.reshape(-1))) if other_form else (t(weight), t(qkv_bias))
    )
    norm = (
        dict(pre_ln_scale=t(scale), pre_ln_bias=t(bias), pre_ln_epsilon=1e-4)
        if pre
        else dict(ln_scale=t(scale), ln_bias=t(bias), ln_epsilon=1e-4)
    )
    got = paddle.incubate.nn.functional.fused_multi_head_attention(
        t(X),
        given[0],
        t(out),
        pre,
        qkv_bias=given[1],
        linear_bias=t(out_bias),
        attn_mask=t(mask),
        dropout_rate=0.0,
        attn_dropout_rate=0.0,
        num_heads=HEADS,
        transpose_qkv_wb=other_form,
        **norm,
    )
    near(got, X + made if pre else R.norm(X + made, scale, bias, 1e-4))


def test_attention_with_cache_and_bool_mask(paddle):
    t, layer = (
        paddle.to_tensor,
        paddle.incubate.nn.FusedMultiHeadAttention(N, HEADS, normalize_before=True).eval().astype("float64"),
    )
    x = t(X)
    seen = paddle.tril(paddle.ones([LENGTH, LENGTH], dtype="bool"))
    whole = layer(x, attn_mask=seen)
    cache, steps = paddle.zeros([2, BATCH, HEADS, 0, WIDTH], dtype="float64"), []
    for i in range(LENGTH):
        y, cache = layer(x[:, i : i + 1], cache=cache)
        steps.append(y)
    assert cache.shape == [2, BATCH, HEADS, LENGTH, WIDTH]
    near(paddle.concat(steps, 1), whole.numpy())
    q, k, v = heads(R.norm(X), layer.qkv_weight.numpy(), None)
    near(whole, X + R.joined(R.attend(q, k, v, R.causal(LENGTH, LENGTH))) @ layer.linear_weight.numpy())


def test_encoder_layer_is_the_ordinary_one(paddle):
    for before in (True, False):
        fused = paddle.incubate.nn.FusedTransformerEncoderLayer(
            N, HEADS, INNER, normalize_before=before
        ).eval()
        plain = paddle.nn.TransformerEncoderLayer(N, HEADS, INNER, normalize_before=before).eval()
        for i, p in enumerate(fused.parameters()):
            p.set_value(np.sin(np.arange(p.size) * 0.7 + i).reshape(p.shape).astype("float32"))
        f, g = fused.fused_attn, fused.ffn
        for part, of in enumerate((plain.self_attn.q_proj, plain.self_attn.k_proj, plain.self_attn.v_proj)):
            of.weight.set_value(f.qkv_weight[part].reshape([N, N]).t())
            of.bias.set_value(f.qkv_bias[part].reshape([N]))
        norms = (
            ((f.pre_ln_scale, f.pre_ln_bias), (g._ln1_scale, g._ln1_bias))
            if before
            else ((f.ln_scale, f.ln_bias), (g._ln2_scale, g._ln2_bias))
        )
        pairs = [
            (plain.self_attn.out_proj.weight, f.linear_weight),
            (plain.self_attn.out_proj.bias, f.linear_bias),
            (plain.linear1.weight, g._linear1_weight),
            (plain.linear1.bias, g._linear1_bias),
            (plain.linear2.weight, g._linear2_weight),
            (plain.linear2.bias, g._linear2_bias),
            (plain.norm1.weight, norms[0][0]),
            (plain.norm1.bias, norms[0][1]),
            (plain.norm2.weight, norms[1][0]),
            (plain.norm2.bias, norms[1][1]),
        ]
        for to, source in pairs:
            to.set_value(source)
        x = paddle.to_tensor(X.astype("float32"))
        mask = paddle.tril(paddle.ones([LENGTH, LENGTH], dtype="int64"))
        np.testing.assert_allclose(fused(x, mask).numpy(), plain(x, mask).numpy(), rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(
            paddle.jit.to_static(fused)(x, mask).numpy(), plain(x, mask).numpy(), rtol=1e-4, atol=1e-4
        )


def stack(layers, groups=None, inner=INNER, halves=1):
    shape = [3, HEADS, WIDTH] if groups is None else [HEADS + 2 * groups, WIDTH]
    kinds = dict(
        ln_scales=[N],
        ln_biases=[N],
        qkv_weights=[*shape, N],
        qkv_biases=shape,
        linear_weights=[N, N],
        linear_biases=[N],
        ffn_ln_scales=[N],
        ffn_ln_biases=[N],
        ffn1_weights=[N, inner * halves],
        ffn1_biases=[inner * halves],
        ffn2_weights=[inner, N],
        ffn2_biases=[N],
    )
    return {kind: [drawn(*of) for _ in range(layers)] for kind, of in kinds.items()}


def reference(
    x,
    w,
    pre=True,
    mask=0.0,
    act="gelu",
    norm=R.norm,
    alpha=1.0,
    angles=None,
    neighbours=True,
    groups=None,
    prefix=None,
):
    """The stack in NumPy; prefix: keys and values that come before, one array for each layer."""
    for i in range(len(w["ln_scales"])):
        first, second = (w["ln_scales"][i], w["ln_biases"][i]), (w["ffn_ln_scales"][i], w["ffn_ln_biases"][i])
        weight, bias = w["qkv_weights"][i], w["qkv_biases"][i]
        y = norm(x, *first) if pre else x
        flat = np.einsum("bln,hwn->bhlw", y, weight.reshape(-1, WIDTH, N)) + bias.reshape(-1, WIDTH)[:, None]
        q, k, v = np.split(flat, [HEADS, HEADS + (groups or HEADS)], 1)
        if angles is not None:
            q, k = R.rope(q, angles, neighbours), R.rope(k, angles, neighbours)
        if prefix is not None:
            k, v = np.concatenate([prefix[i][0], k], 2), np.concatenate([prefix[i][1], v], 2)
        x = x * alpha + R.joined(R.attend(q, k, v, mask)) @ w["linear_weights"][i] + w["linear_biases"][i]
        x = x if pre else norm(x, *first)
        y = norm(x, *second) if pre else x
        x = (
            x * alpha
            + ACTS[act](y @ w["ffn1_weights"][i] + w["ffn1_biases"][i]) @ w["ffn2_weights"][i]
            + w["ffn2_biases"][i]
        )
        x = x if pre else norm(x, *second)
    return x


def run(paddle, x, w, **options):
    weights = {kind: [paddle.to_tensor(v) for v in values] for kind, values in w.items()}
    return paddle.incubate.nn.functional.fused_multi_transformer(paddle.to_tensor(x), **weights, **options)


STACKS = {
    "plain": {},
    "normalised after": dict(pre=False),
    "relu, alpha": dict(act="relu", alpha=0.5),
    "swiglu": dict(act="swiglu", halves=2),
    "rms": dict(norm=R.rms),
    "shared keys": dict(groups=1),
}


@pytest.mark.parametrize("options", STACKS.values(), ids=STACKS)
def test_stack(paddle, options):
    options = dict(options)
    halves = options.pop("halves", 1)
    w = stack(2, options.get("groups"), halves=halves)
    want = reference(X, w, mask=R.causal(LENGTH, LENGTH), **options)
    got = run(
        paddle,
        X,
        w,
        pre_layer_norm=options.get("pre", True),
        activation=options.get("act", "gelu"),
        residual_alpha=options.get("alpha", 1.0),
        norm_type="rmsnorm" if options.get("norm") else "layernorm",
        gqa_group_size=options.get("groups", -1),
        attn_mask=paddle.to_tensor(R.causal(LENGTH, LENGTH)[None, None]),
    )
    near(got, want)


@pytest.mark.parametrize("neighbours", [True, False])
def test_decoding_step_by_step(paddle, neighbours):
    w, steps = stack(2), 5
    x = drawn(BATCH, steps, N)
    angles = np.arange(steps)[:, None] / 100.0 ** (np.arange(0, WIDTH, 2) / WIDTH)
    wide = np.repeat(angles, 2, -1) if neighbours else np.concatenate([angles, angles], -1)
    rotary = np.broadcast_to(
        np.stack([np.cos(wide), np.sin(wide)])[:, None, None], (2, BATCH, 1, steps, WIDTH)
    )
    want = reference(x, w, mask=R.causal(steps, steps), angles=angles, neighbours=neighbours)
    caches = [paddle.zeros([2, BATCH, HEADS, 7, WIDTH], dtype="float64") for _ in range(2)]
    options = dict(
        cache_kvs=caches,
        rotary_embs=paddle.to_tensor(rotary),
        rotary_emb_dims=1,
        use_neox_rotary_style=not neighbours,
    )
    first, same = run(
        paddle,
        x[:, :2],
        w,
        attn_mask=paddle.to_tensor(R.causal(2, 2)[None, None]),
        **{**options, "rotary_embs": paddle.to_tensor(rotary[:, :, :, :2])},
    )
    assert same is caches
    made = [first.numpy()]
    for step in range(2, steps):
        out, _ = run(
            paddle, x[:, step : step + 1], w, time_step=paddle.to_tensor([step], dtype="int32"), **options
        )
        made.append(out.numpy())
    np.testing.assert_allclose(np.concatenate(made, 1), want, rtol=1e-6, atol=1e-6)


def test_lengths_and_prefix(paddle):
    w, lengths = stack(1), np.array([3, 2])
    hidden = np.where(np.arange(LENGTH) < lengths[:, None], 0.0, -1e9)[:, None, None]
    got = run(paddle, X, w, seq_lens=paddle.to_tensor(lengths))
    near(got, reference(X, w, mask=hidden))
    prefix = [drawn(2, BATCH, HEADS, 2, WIDTH)]
    near(run(paddle, X, w, pre_caches=[paddle.to_tensor(prefix[0])]), reference(X, w, prefix=prefix))


def test_multi_transformer_layer_in_compiled_function(paddle):
    layer = paddle.incubate.nn.FusedMultiTransformer(
        N, HEADS, INNER, num_layers=2, qkv_bias_attrs=[None, None]
    ).eval()
    x = paddle.to_tensor(X.astype("float32"))
    np.testing.assert_allclose(paddle.jit.to_static(layer)(x).numpy(), layer(x).numpy(), rtol=1e-5, atol=1e-5)
