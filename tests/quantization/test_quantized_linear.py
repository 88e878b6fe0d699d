"""Weights in 8 and 4 bits: integers and scales against the real Paddle, products against NumPy."""

import numpy as np
import pytest

rng = np.random.RandomState(0)
WEIGHT, X, BIAS = (
    rng.randn(256, 32).astype("float32"),
    rng.randn(5, 3, 256).astype("float32"),
    rng.randn(32).astype("float32"),
)
BITS = {"weight_only_int8": 8, "weight_only_int4": 4, "llm.int8": 8}


def whole_numbers(weight, bits):
    """Integers [out, in] of what `weight_quantize` gives."""
    if bits == 8:
        return weight.astype(int)
    halves = (
        np.stack([weight.view("uint8") & 15, weight.view("uint8") >> 4], 1)
        .reshape(-1, weight.shape[1])
        .astype(int)
    )
    return np.where(halves > 7, halves - 16, halves)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(
    ("algo", "group_size"),
    [("llm.int8", -1), *((algo, size) for algo in list(BITS)[:2] for size in (-1, 64, 128))],
)
def test_integers_and_scales_are_those_of_the_oracle(oracle, paddle, dtype, algo, group_size):
    (theirs, scales), (ours, own) = (
        p.nn.quant.weight_quantize(p.to_tensor(WEIGHT).astype(dtype), algo, arch=80, group_size=group_size)
        for p in (oracle, paddle)
    )
    assert (
        ours.shape == list(theirs.shape)
        and str(own.dtype) == str(scales.dtype)
        and own.shape == list(scales.shape)
    )
    np.testing.assert_array_equal(own.astype("float32").numpy(), scales.astype("float32").numpy())
    theirs = theirs.numpy()
    if algo == "llm.int8":
        np.testing.assert_array_equal(ours.numpy(), theirs)
        return
    halves = theirs.view("uint8").astype(int)  # in the order of tensor cores, and made positive
    theirs = halves - 128 if BITS[algo] == 8 else np.r_[halves & 15, halves >> 4] - 8
    np.testing.assert_array_equal(
        np.sort(whole_numbers(ours.numpy(), BITS[algo]).ravel()), np.sort(theirs.ravel())
    )


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize(
    ("algo", "group_size"),
    [("llm.int8", -1), *((algo, size) for algo in list(BITS)[:2] for size in (-1, 64, 128))],
)
def test_products(paddle, dtype, algo, group_size):
    quant, bits = paddle.nn.quant, BITS[algo]
    weight, x, bias = (paddle.to_tensor(v).astype(dtype) for v in (WEIGHT, X, BIAS))
    whole, scale = quant.weight_quantize(weight, algo, group_size=group_size)
    rows = scale.astype("float32").numpy()
    rows = rows[None] if group_size == -1 else np.repeat(rows, group_size, 0)
    known = whole_numbers(whole.numpy(), bits).T * rows
    assert np.abs(known - weight.astype("float32").numpy()).max() <= rows.max() * 0.51
    back = quant.weight_dequantize(whole, scale, algo, "float32", group_size)
    np.testing.assert_allclose(back.numpy(), known, rtol=1e-6)
    if algo == "llm.int8":
        got = quant.llm_int8_linear(x, whole, bias, scale)
    else:
        got = quant.weight_only_linear(x, whole, bias, scale, f"int{bits}", group_size=group_size)
    want = x.astype("float32").numpy() @ known + bias.astype("float32").numpy()
    assert got.shape == [5, 3, 32] and got.dtype == x.dtype
    near = {"float32": 1e-5, "float16": 2e-3, "bfloat16": 2e-2}[dtype] + (0.012 if algo == "llm.int8" else 0)
    assert np.abs(got.astype("float32").numpy() - want).max() <= near * np.abs(want).max()


def test_features_with_large_numbers_are_not_rounded(paddle):
    x = X.copy()
    x[..., 7] *= 1000
    whole, scale = paddle.nn.quant.weight_quantize(paddle.to_tensor(WEIGHT), "llm.int8")
    want = x @ (whole.numpy().T * scale.numpy())
    far, none = (
        np.abs(
            paddle.nn.quant.llm_int8_linear(paddle.to_tensor(x), whole, None, scale, threshold).numpy() - want
        ).max()
        for threshold in (6.0, 1e9)
    )
    assert far < 0.5 and none > 10 * far


@pytest.mark.parametrize("group_size", [-1, 64])
def test_gradients_flow_to_input_and_bias(paddle, group_size):
    whole, scale = paddle.nn.quant.weight_quantize(paddle.to_tensor(WEIGHT), group_size=group_size)
    x, bias, out = (
        paddle.to_tensor(v, stop_gradient=False) for v in (X, BIAS, rng.randn(5, 3, 32).astype("float32"))
    )
    (
        paddle.nn.quant.weight_only_linear(x, whole, bias, scale, group_size=group_size) * out.detach()
    ).sum().backward()
    known = paddle.nn.quant.weight_dequantize(
        whole, scale, out_dtype="float32", group_size=group_size
    ).numpy()
    np.testing.assert_allclose(x.grad.numpy(), out.numpy() @ known.T, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(bias.grad.numpy(), out.numpy().sum((0, 1)), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("algo", "group_size"),
    [("llm.int8", -1), *((algo, size) for algo in list(BITS)[:2] for size in (-1, 128))],
)
@pytest.mark.parametrize("rows", [(), (2, 3)])
def test_large_weights_are_taken_in_blocks(paddle, algo, group_size, rows):
    quant, large = paddle.nn.quant, rng.randn(640, 1024).astype("float32")
    x = paddle.to_tensor(rng.randn(*rows, 640).astype("float32"), stop_gradient=False)
    whole, scale = quant.weight_quantize(paddle.to_tensor(large), algo, group_size=group_size)
    known = quant.weight_dequantize(whole, scale, algo, "float32", group_size).numpy()
    if algo == "llm.int8":
        got = quant.llm_int8_linear(x, whole, None, scale, threshold=1.0)
    else:
        got = quant.weight_only_linear(x, whole, None, scale, f"int{BITS[algo]}", group_size=group_size)
        got.sum().backward()
        np.testing.assert_allclose(
            x.grad.numpy(), np.broadcast_to(known.sum(1), x.shape), rtol=1e-3, atol=1e-2
        )
    want = x.numpy() @ known
    assert (
        got.shape == [*rows, 1024]
        and np.abs(got.numpy() - want).max() <= (0.02 if algo == "llm.int8" else 1e-5) * np.abs(want).max()
    )


REFUSED = [
    "weight_quantize(w, arch=80, group_size=32)",
    "weight_quantize(w, 'foo', arch=80)",
    "weight_quantize(w, arch=12)",
    "weight_quantize(w[0], arch=80)",
    "weight_quantize(w.astype('int32'), arch=80)",
    "weight_only_linear(w, q, group_size=32)",
    "weight_only_linear(w, q)",
    "weight_dequantize(q, w[0], group_size=32)",
    "llm_int8_linear(w, q)",
]


@pytest.mark.parametrize("call", REFUSED)
def test_refusals(oracle, paddle, call):
    raised = []
    for p in (oracle, paddle):
        w = p.to_tensor(WEIGHT).astype("float16")
        names = {name: getattr(p.nn.quant, name) for name in p.nn.quant.__all__} | {
            "w": w,
            "q": p.zeros([32, 256], "int8"),
        }
        with pytest.raises(Exception) as error:
            eval(call, names)
        raised.append(next(c for c in type(error.value).__mro__ if c.__module__ == "builtins"))
    assert raised[0] is raised[1]


def test_a_compiled_function_and_a_feature_scale(paddle):
    whole, scale = paddle.nn.quant.weight_quantize(paddle.to_tensor(WEIGHT))
    x = paddle.to_tensor(X)
    smooth = paddle.linspace(0.5, 2.0, 256)
    quant = paddle.nn.quant
    linear = paddle.jit.to_static(
        lambda v: quant.weight_only_linear(quant.apply_per_channel_scale(v, smooth), whole, None, scale)
    )
    want = (X * smooth.numpy()) @ (whole.numpy().T * scale.numpy())
    np.testing.assert_allclose(linear(x).numpy(), want, rtol=1e-3, atol=1e-3)
