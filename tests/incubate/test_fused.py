"""Fused functions: against the real Paddle where its CPU build has them, elsewhere against the
formula in NumPy."""

import numpy as np
import pytest

from tests.cpu import no_avx512
from tests.incubate import references as R
from tests.nn.scripts import same

WAVE = (
    "wave = lambda *shape: paddle.to_tensor(np.cos(np.arange(np.prod(shape)) * 1.3 + "
    "len(shape)).reshape(shape).astype('float32'))"
)
FUSED = [
    "import importlib",
    "FF = importlib.import_module(paddle.__name__ + '.incubate.nn.functional')",
    "I = paddle.incubate",
    WAVE,
    "x, w, b, r = wave(3, 4), wave(4), wave(4) * 2, wave(3, 4) + 1",
]
SCRIPTS = {
    "rms norm": [
        *FUSED,
        *[
            f"FF.fused_rms_norm({call})[0].numpy()"
            for call in (
                "x, w, b, 1e-5, 1",
                "x, w, None, 0.1, 1",
                "x, w, None, 1e-5, -1",
                "x, wave(12), None, 1e-5, 0",
                "x, w, b, 1e-5, 1, bias=b",
                "x, b[:3], None, 1e-5, 1",
                "x, w, None, 1e-5, 2",
                "x, w, b, 1e-5, 1, b, r",
                "x, w, None, 1e-5, 1, residual=r",
                "wave(2, 3, 4), wave(12), None, 1e-5, 1",
            )
        ],
        "FF.fused_rms_norm(x, w, b, 1e-5, 1, b, r)[1].numpy()",
        "len(FF.fused_rms_norm(x, w, b, 1e-5))",
    ],
    "layer norm": [
        *FUSED,
        *[
            f"[t.numpy() for t in FF.fused_layer_norm({call})]"
            for call in (
                "x, w, b, 1e-5, residual=r",
                "x, w, b, 1e-5, 0.5, 1, b, r",
                "x, w, None, 1e-5, residual=r",
                "x, w[:3], b, 1e-5, residual=r",
            )
        ],
        *[
            f"FF.fused_layer_norm({call})[0].numpy()"
            for call in (
                "x, w, b, 1e-5",
                "x, w, b, 1e-5, bias=b",
                "x, wave(12), wave(12), 1e-5, begin_norm_axis=0",
                "x, None, None, 1e-5, 0.5, bias=b, residual=r",
            )
        ],
        "[t.numpy() for t in FF.fused_layer_norm(x, w, b, 1e-5)[2:]]",
    ],
    "products": [
        *FUSED,
        *[
            f"FF.{call}.numpy()"
            for call in (
                "fused_matmul_bias(x, x.t())",
                "fused_matmul_bias(x, x, None, True)",
                "fused_matmul_bias(x, x, None, False, True)",
                "fused_linear(x, wave(4, 2))",
                "fused_linear(x, wave(2, 4), None, True)",
                "fused_linear(x, x)",
            )
        ],
    ],
    "dropout and sum": [
        *FUSED,
        *[
            f"FF.fused_dropout_add({call}).numpy()"
            for call in (
                "x, r, 0.0",
                "x, r, 1.0",
                "x, r, 0.25, False",
                "x, r, 0.25, False, 'downscale_in_infer'",
                "x, r, 2.0",
                "x, r, 'a'",
                "x, r, 0.5, True, 'a'",
            )
        ],
    ],
    "others": [
        *FUSED,
        "FF.swiglu(x).numpy()",
        "FF.swiglu(x, r).numpy()",
        "I.softmax_mask_fuse(wave(2, 3, 4, 4), wave(2, 1, 4, 4)).numpy()",
        "I.softmax_mask_fuse(wave(2, 3, 4, 4), wave(2, 3, 4, 4))",
        "I.softmax_mask_fuse(wave(2, 3, 4, 4), wave(2, 4, 4))",
        *[f"I.identity_loss(x, {how}).numpy()" for how in (0, 1, 2, 3, "'sum'", "'Mean'", "'none'", "'a'")],
        "I.identity_loss(x).shape",
    ],
    "layers": [
        "N = paddle.incubate.nn",
        WAVE,
        "N.FusedLinear(3, 4)",
        "N.FusedLinear(3, 4, transpose_weight=True).weight.shape",
        "N.FusedLinear(3, 4, bias_attr=False).bias",
        "[p.name for p in N.FusedLinear(3, 4).parameters()]",
        "N.FusedDropoutAdd(0.3, name='a')",
        "N.FusedDropout(0.3)",
        "N.FusedDropout(2.0)",
        "N.FusedDropout('a')",
        "N.FusedDropout(0.5, mode='a')",
        "N.FusedDropout(0.3, axis=1)",
        "N.FusedDropoutAdd(0.3).eval()(wave(3), wave(3)).numpy()",
        "N.FusedDropout(0.3).eval()(wave(3)).numpy()",
        *[
            f"N.{call}"
            for call in (
                "FusedMultiHeadAttention(0, 2)",
                "FusedMultiHeadAttention(8, 3)",
                "FusedMultiHeadAttention(8, 0)",
                "FusedMultiHeadAttention(8, 2, need_weights=True)",
                "FusedMultiHeadAttention(8, 2, normalize_before=True)",
                "FusedFeedForward(0, 3)",
                "FusedFeedForward(3, 0)",
                "FusedFeedForward(3, 4)",
                "FusedTransformerEncoderLayer(8, 2, 0)",
                "FusedTransformerEncoderLayer(8, 2, 16, weight_attr=[None])",
                "FusedTransformerEncoderLayer(8, 2, 16)",
                "FusedMultiTransformer(8, 2, 16)",
                "FusedMultiTransformer(8, 3, 16, num_layers=1)",
                "FusedMultiTransformer(8, 2, 16, num_layers=1)",
                "FusedBiasDropoutResidualLayerNorm(0)",
            )
        ],
        *[
            f"[(k, p.name, p.shape) for k, p in N.{call}.named_parameters()]"
            for call in (
                "FusedMultiHeadAttention(8, 2)",
                "FusedMultiHeadAttention(8, 2, normalize_before=True, transpose_qkv_wb=True)",
                "FusedMultiHeadAttention(8, 2, qkv_bias_attr=False, linear_bias_attr=False)",
                "FusedFeedForward(8, 16)",
                "FusedFeedForward(8, 16, normalize_before=True, linear1_bias_attr=False)",
                "FusedTransformerEncoderLayer(8, 2, 16, bias_attr=False)",
                "FusedMultiTransformer(8, 2, 16, num_layers=2)",
                "FusedMultiTransformer(8, 2, 16, num_layers=1, trans_qkvw=False, norm_type='rmsnorm')",
                (
                    "FusedMultiTransformer(8, 2, 16, qkv_weight_attrs=[None, None], "
                    "qkv_bias_attrs=[paddle.ParamAttr(name='q1'), None])"
                ),
                "FusedMultiTransformer(8, 2, 16, num_layers=1, activation='swiglu', gqa_group_size=1)",
                "FusedBiasDropoutResidualLayerNorm(8)",
                "FusedBiasDropoutResidualLayerNorm(8, bias_attr=False)",
            )
        ],
        "paddle.seed(1)",
        "m = N.FusedMultiHeadAttention(64, 2)",
        (
            "[bool(abs(p).max() <= bound) and bool(abs(p).max() > bound * 0.9) for p, bound in "
            "((m.qkv_weight, "
            "(6 / 10240) ** 0.5), (m.linear_weight, (6 / 128) ** 0.5))], m.ln_scale.numpy()"
        ),
    ],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
@pytest.mark.filterwarnings("ignore")
def test_behaves_alike(script, oracle, paddle):
    if script in (SCRIPTS["rms norm"], SCRIPTS["layer norm"]) and no_avx512():
        pytest.skip("the real Paddle's kernel ends in an illegal instruction: this CPU has no AVX-512")
    same(script, oracle, paddle)


def wave(*shape, at=0.0, scale=1.0):
    return (scale * np.sin(np.arange(np.prod(shape)) * 0.9 + at)).reshape(shape)


def close(got, want, tolerance=1e-10):
    np.testing.assert_allclose(np.asarray(got.numpy()), want, rtol=tolerance, atol=tolerance)


X, W, B = wave(3, 4), wave(4, 4, at=1, scale=0.7), wave(4, at=2)
TABLE = wave(8, 4, at=3)
Q = wave(2, 3, 4, 4, at=5)  # batch, length, heads, width
ANGLES = np.arange(3)[:, None] / 10000.0 ** (np.arange(0, 4, 2) / 4)
IDS = np.array([[0, 3, 1], [7, 2, 2]])
CASES = {
    "linear and relu": ("fused_linear_activation", (X, W, B), dict(activation="relu"), R.relu(X @ W + B)),
    "linear and gelu": (
        "fused_linear_activation",
        (X, W, B),
        dict(trans_y=True, activation="gelu"),
        R.gelu_tanh(X @ W.T + B),
    ),
    "linear alone": ("fused_linear_activation", (X.T, W, B), dict(trans_x=True), X @ W + B),
    "product and bias": ("fused_matmul_bias", (X, W, B), {}, X @ W + B),
    "linear": ("fused_linear", (X, W, B), dict(transpose_weight=True), X @ W.T + B),
    "bias and gelu": ("fused_bias_act", (X, B), {}, R.gelu(X + B)),
    "bias and relu": ("fused_bias_act", (X, B), dict(act_method="relu"), R.relu(X + B)),
    "swiglu": ("fused_bias_act", (X,), dict(act_method="swiglu"), R.swiglu(X)),
    "geglu": ("fused_bias_act", (X, B), dict(act_method="geglu"), R.gelu((X + B)[:, :2]) * (X + B)[:, 2:]),
    "shift and smooth": ("fused_bias_act", (X, B, None, B, X), {}, (R.gelu(X + B) + B) * X),
    "normalised sum": (
        "fused_bias_dropout_residual_layer_norm",
        (X, 2 * X, B, B, W[0]),
        dict(dropout_rate=0.0),
        R.norm(3 * X + B, B, W[0]),
    ),
    "rms with inverse": (
        "fused_rms_norm_ext",
        (X, B, 0.1),
        {},
        (R.rms(X, B, epsilon=0.1), 1 / np.sqrt((X * X).mean(-1) + 0.1)),
    ),
    "rms": ("fast_rms_norm", (X, B), {}, R.rms(X, B)),
    "layer norm": ("fast_ln", (X, B, W[0]), {}, R.norm(X, B, W[0])),
    "rope of neighbours": (
        "fused_rotary_position_embedding",
        (Q, Q[:, :, :2]),
        dict(rotary_emb_base=10000.0),
        (R.rope(Q, ANGLES[:, None], True), R.rope(Q[:, :, :2], ANGLES[:, None], True), None),
    ),
    "rope of halves": (
        "fused_rotary_position_embedding",
        (Q, None, Q),
        dict(use_neox_rotary_style=False),
        (R.rope(Q, ANGLES[:, None], False), None, R.rope(Q, ANGLES[:, None], False)),
    ),
    "rope by position": (
        "fused_rotary_position_embedding",
        (Q,),
        dict(position_ids=IDS, use_neox_rotary_style=False, rotary_emb_base=10.0),
        (R.rope(Q, IDS[:, :, None, None] / 10.0 ** (np.arange(0, 4, 2) / 4), False), None, None),
    ),
    "rope, length first": (
        "fused_rotary_position_embedding",
        (Q.swapaxes(0, 1),),
        dict(time_major=True),
        (R.rope(Q, ANGLES[:, None], True).swapaxes(0, 1), None, None),
    ),
    "rope by tables": (
        "fused_rotary_position_embedding",
        (Q, None, None, np.sin(TABLE), np.cos(TABLE).reshape(1, 8, 1, 4)),
        dict(position_ids=IDS, use_neox_rotary_style=False),
        (
            (
                Q * np.cos(TABLE)[IDS][:, :, None]
                + np.concatenate([-Q[..., 2:], Q[..., :2]], -1) * np.sin(TABLE)[IDS][:, :, None]
            ),
            None,
            None,
        ),
    ),
}


def given(paddle, value):
    return paddle.to_tensor(value) if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_computes_the_formula(case, paddle):
    name, args, kwargs, want = case
    got = getattr(paddle.incubate.nn.functional, name)(
        *[given(paddle, a) for a in args], **{k: given(paddle, v) for k, v in kwargs.items()}
    )
    for one, expected in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
        assert (
            one is None
            if expected is None
            else close(one, expected, 1e-6 if "rotary" in name else 1e-10) is None
        )


BAD = {
    "activation": lambda F, x, w: F.fused_linear_activation(x, w, None, activation="tanh"),
    "act_method": lambda F, x, w: F.fused_bias_act(x, act_method="tanh"),
    "compute_dtype": lambda F, x, w: F.fused_bias_act(x.astype("int32")),
    "quant_round_type": lambda F, x, w: F.fused_rms_norm(
        x, w[0], None, 1e-5, quant_scale=1.0, quant_round_type=2
    ),
    "ring_id": lambda F, x, w: F.fused_feedforward(x, w, w, ring_id=0),
    "sin, cos": lambda F, x, w: F.fused_rotary_position_embedding(x.reshape([1, 3, 1, 4]), sin=w),
    "sin": lambda F, x, w: F.fused_rotary_position_embedding(x.reshape([1, 3, 1, 4]), sin=w[:2], cos=w[:2]),
    "q": lambda F, x, w: F.fused_rotary_position_embedding(x),
    "num_heads": lambda F, x, w: F.fused_multi_head_attention(
        x.unsqueeze(0), w, w, num_heads=3, transpose_qkv_wb=True
    ),
    "qkv_weight": lambda F, x, w: F.fused_multi_head_attention(x.unsqueeze(0), w, w),
    "time_step": lambda F, x, w: F.fused_multi_transformer(
        x.unsqueeze(0), *[[w]] * 12, time_step=paddle_step()
    ),
    "norm_type": lambda F, x, w: F.fused_multi_transformer(x.unsqueeze(0), *[[w]] * 12, norm_type="a"),
    "beam_offset": lambda F, x, w: F.fused_multi_transformer(x.unsqueeze(0), *[[w]] * 12, beam_offset=w),
}


def paddle_step():
    import paddle_jax

    return paddle_jax.to_tensor([1])


@pytest.mark.parametrize("what", BAD)
def test_refuses_and_names_the_argument(what, paddle):
    with pytest.raises(ValueError, match=f": {what}"):
        BAD[what](paddle.incubate.nn.functional, paddle.to_tensor(X), paddle.to_tensor(W))


def test_int8_results(paddle):
    F = paddle.incubate.nn.functional
    x = paddle.to_tensor([[0.5, 1.5, -2.5, 300.0]])
    even, away = (
        F.fused_bias_act(
            x,
            act_method="relu",
            quant_scale=0.01,
            quant_round_type=kind,
            quant_max_bound=100.0,
            quant_min_bound=-100.0,
        )
        for kind in (0, 1)
    )
    assert (
        even.dtype == paddle.int8 and even.tolist() == [[0, 2, 0, 100]] and away.tolist() == [[1, 2, 0, 100]]
    )
    scaled = F.fused_bias_act(
        paddle.to_tensor([[2, -4]], dtype="int32"),
        None,
        paddle.to_tensor([0.5, 1.0]),
        act_method="relu",
        compute_dtype="fp32",
    )
    assert scaled.dtype == paddle.float32 and scaled.tolist() == [[1.0, 0.0]]


def test_half_precision_stays(paddle):
    F, x, w = (
        paddle.incubate.nn.functional,
        paddle.ones([2, 4], dtype="bfloat16"),
        paddle.ones([4], dtype="bfloat16"),
    )
    made = [
        F.fused_rms_norm(x, w, w, 1e-5)[0],
        F.fused_layer_norm(x, w, w, 1e-5)[0],
        F.fast_ln(x, w, w),
        F.fused_rms_norm_ext(x, w)[0],
        F.fused_rotary_position_embedding(x.reshape([1, 2, 1, 4]))[0],
    ]
    assert {t.dtype for t in made} == {paddle.bfloat16}


def test_upper_triangle(paddle):
    x = wave(2, 3, 4, 4)
    close(
        paddle.incubate.softmax_mask_fuse_upper_triangle(paddle.to_tensor(x)), R.softmax(x + R.causal(4, 4))
    )
    with pytest.raises(ValueError, match=r"\[2, 4\]"):
        paddle.incubate.softmax_mask_fuse_upper_triangle(paddle.ones([2, 4]))


def test_gradients_are_those_of_the_unfused(paddle):
    F, nn = paddle.incubate.nn.functional, paddle.nn.functional
    x, w, b, r = (paddle.to_tensor(v, stop_gradient=False) for v in (X, W, B, 2 * X))

    def grads(loss):
        return [
            g.numpy()
            for g in paddle.grad(loss.square().sum(), [x, w, b, r], allow_unused=True)
            if g is not None
        ]

    pairs = [
        (F.fused_linear_activation(x + 0 * r, w, b, activation="relu"), nn.relu(nn.linear(x + 0 * r, w, b))),
        (F.fused_rms_norm(x, b, w[0], 1e-5, 1, b, r)[0], nn.rms_norm(x + b + r, 4, b, 1e-5) + w[0]),
        (
            F.fused_layer_norm(x, b, w[0], 1e-5, 0.5, 1, b, r)[0],
            nn.layer_norm(x + b + 0.5 * r, 4, b, w[0], 1e-5),
        ),
        (
            F.fused_bias_dropout_residual_layer_norm(x, r, b, w[0], w[1], 0.0),
            nn.layer_norm(r + x + b, 4, w[0], w[1]),
        ),
    ]
    for fused, plain in pairs:
        for got, want in zip(grads(fused), grads(plain), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


def test_dropout_while_training(paddle):
    x, zero = paddle.ones([200, 50]), paddle.zeros([200, 50])
    for out in (paddle.incubate.nn.FusedDropoutAdd(0.3)(x, zero), paddle.incubate.nn.FusedDropout(0.3)(x)):
        values = out.numpy()
        assert abs((values == 0).mean() - 0.3) < 0.03 and np.allclose(values[values != 0], 1 / 0.7)
    rows = paddle.incubate.nn.FusedDropout(0.5, axis=0)(x).numpy()
    assert all(len(set(row.tolist())) == 1 for row in rows) and 0.3 < (rows[:, 0] == 0).mean() < 0.7


def test_the_mask_of_a_fused_softmax_is_a_constant(oracle):
    import paddle_jax

    for engine in (oracle, paddle_jax):
        x = engine.full([1, 2, 2, 32], 0.5)
        mask = engine.full([1, 1, 2, 32], 0.5)
        x.stop_gradient = mask.stop_gradient = False
        engine.incubate.softmax_mask_fuse(x, mask)[0, 0, 0, 0].backward()
        assert x.grad is not None and mask.grad is None
