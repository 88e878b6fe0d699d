"""Functionals where one call is not the whole story: state, equal lowerings, names shared with paddle.*,
sequences of lengths."""

import numpy as np
import pytest

import paddle_jax as paddle
from tests.ops import harness as h

F = paddle.nn.functional


def randn(seed, *shape):
    return np.random.RandomState(seed).randn(*shape).astype("float32")


def tensor(array, grad=False):
    t = paddle.to_tensor(array)
    t.stop_gradient = not grad
    return t


@pytest.mark.parametrize(
    "case",
    [
        "f(1,2,4,5), [2,3]",
        "f(1,2,4,5), 2, 2, 1, 1",
        "f(1,2,4,5), 2, 2, [1,0,0,1], [1,2]",
        "d(1,2,4,5), 2, 2, [1,0]",
        "f(2,4,5), 2",
        "f(1,2,4,5), 7",
        "f(1,2,4,5), 2, 0",
        "f(0,2,4,5), 2",
    ],
)
def test_unfold_as_the_oracle(oracle, case):
    want, got = h.evaluate(oracle, oracle.nn.functional.unfold, case), h.evaluate(paddle, F.unfold, case)
    if want.error is not None:
        assert h.same_refusal(got.error, want.error)
        return
    assert got.error is None
    assert h.compare_outputs(got, want) is None
    assert h.compare_gradients(h.first_gradient(paddle, got), h.first_gradient(oracle, want)) is None


@pytest.mark.parametrize("case", ["f(2,3)", "f(2,3), 0", "f(2,3), dim=1, dtype='float64'", "d()"])
def test_paddle_softmax_as_the_oracle(oracle, case):
    want, got = h.evaluate(oracle, oracle.softmax, case), h.evaluate(paddle, paddle.softmax, case)
    assert got.error is None and h.compare_outputs(got, want) is None


@pytest.mark.parametrize("momentum", [0.9, 0.5])
def test_batch_norm_updates_its_statistics_as_the_oracle(oracle, momentum):
    results = []
    for m in (oracle, paddle):
        mean, variance, x = (
            m.to_tensor(randn(0, 3)),
            m.to_tensor(np.abs(randn(1, 3))),
            m.to_tensor(randn(2, 4, 3, 5)),
        )
        before = mean
        for _ in range(2):
            m.nn.functional.batch_norm(x, mean, variance, training=True, momentum=momentum)
        assert before is mean
        results.append((mean.numpy(), variance.numpy()))
    for got, want in zip(*results[::-1], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_batch_norm_leaves_statistics_alone_outside_training_and_for_one_value():
    mean, variance = paddle.zeros([3]), paddle.ones([3])
    F.batch_norm(tensor(randn(0, 4, 3)), mean, variance)
    one = F.batch_norm(tensor(randn(0, 1, 3)), mean, variance, training=True)
    np.testing.assert_array_equal(one.numpy(), randn(0, 1, 3))
    assert mean.tolist() == [0, 0, 0] and variance.tolist() == [1, 1, 1]


def test_batch_norm_second_derivative():
    x = tensor(randn(0, 6, 2).astype("float64"), True)
    mean, variance = paddle.zeros([2], "float64"), paddle.ones([2], "float64")

    def slope(t):
        moved = tensor(x.numpy() + t, True)
        y = F.batch_norm(moved, mean, variance, training=True)
        return paddle.grad((y**3).sum(), [moved], create_graph=True)[0], moved

    g, moved = slope(0.0)
    u = np.random.RandomState(5).randn(6, 2)
    exact = (paddle.grad((g * tensor(u)).sum(), [moved])[0].numpy() * u).sum()
    e = 1e-5
    numeric = ((slope(e * u)[0].numpy() - slope(-e * u)[0].numpy()) * u).sum() / (2 * e)
    assert abs(exact - numeric) < 1e-5 * max(1, abs(numeric))


SHAPES = [
    ((2, 4, 5, 5), (6, 4, 3, 3), dict(padding=1)),
    ((2, 4, 5, 6), (6, 4, 3, 2), dict(stride=2, dilation=2, padding=2)),
    ((2, 4, 9, 9), (6, 4, 1, 1), dict(stride=2)),
    ((2, 4, 7, 7), (6, 4, 1, 1), dict(padding=1)),
]


@pytest.mark.parametrize(("xs", "ws", "options"), SHAPES)
@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
def test_small_convolutions_equal_the_general_one(monkeypatch, xs, ws, options, data_format):
    """The CPU lowerings for small outputs and 1x1 kernels compute what XLA's convolution computes,
    gradients included."""
    from paddle_jax.nn.functional import convolve

    x, w = randn(0, *xs).astype("float64"), randn(1, *ws).astype("float64")
    x = x if data_format == "NCHW" else np.ascontiguousarray(x.transpose(0, 2, 3, 1))

    def run():
        a, b = tensor(x, True), tensor(w, True)
        F.conv2d.op.kernels.clear()
        F.conv2d.op.fast.clear()
        y = F.conv2d(a, b, data_format=data_format, **options)
        return [y, *paddle.grad((y * y).sum(), [a, b])]

    special = run()
    monkeypatch.setattr(convolve, "on_cpu", lambda: False)
    general = run()
    F.conv2d.op.kernels.clear()
    F.conv2d.op.fast.clear()
    for s, g in zip(special, general, strict=True):
        np.testing.assert_allclose(s.numpy(), g.numpy(), rtol=1e-10, atol=1e-10)


def test_transposed_convolution_is_the_adjoint():
    x, w = tensor(randn(0, 2, 3, 7, 6), True), tensor(randn(1, 4, 3, 3, 2))
    y = F.conv2d(x, w, stride=2, padding=1)
    ct = tensor(randn(2, *y.shape))
    (grad,) = paddle.grad(y, [x], grad_outputs=ct)
    back = F.conv2d_transpose(ct, w, stride=2, padding=1, output_size=[7, 6])
    np.testing.assert_allclose(back.numpy(), grad.numpy(), rtol=1e-4, atol=1e-5)


def test_fold_is_the_adjoint_of_unfold():
    x = tensor(randn(0, 2, 3, 6, 5), True)
    columns = F.unfold(x, [2, 3], 2, [1, 0, 0, 1])
    ct = tensor(randn(1, *columns.shape))
    (grad,) = paddle.grad(columns, [x], grad_outputs=ct)
    np.testing.assert_allclose(
        F.fold(ct, [6, 5], [2, 3], 2, [1, 0, 0, 1]).numpy(), grad.numpy(), rtol=1e-5, atol=1e-6
    )


def test_unpooling_puts_maxima_back():
    x = tensor(randn(0, 2, 3, 6, 6))
    value, place = F.max_pool2d(x, 2, return_mask=True)
    back = F.max_unpool2d(value, place, 2).numpy()
    np.testing.assert_array_equal(back[back != 0], x.numpy()[back != 0])
    assert (back != 0).sum() == 2 * 3 * 9


def test_large_and_small_pooling_windows_agree():
    """Windows above the slicing limit go through reduce_window; max of a 7x7 window is the max of
    seven 7x1 maxima."""
    x = tensor(randn(0, 1, 2, 12, 12))
    once = F.max_pool2d(x, 7, 1)
    twice = F.max_pool2d(F.max_pool2d(x, [7, 1], 1), [1, 7], 1)
    np.testing.assert_array_equal(once.numpy(), twice.numpy())
    mean = F.avg_pool2d(F.avg_pool2d(x, [7, 1], 1), [1, 7], 1)
    np.testing.assert_allclose(F.avg_pool2d(x, 7, 1).numpy(), mean.numpy(), rtol=1e-5, atol=1e-6)


def test_unpadded_attention_equals_each_sequence_alone():
    q, starts = randn(0, 7, 2, 4), [0, 3, 7]
    cu = paddle.to_tensor(starts, dtype="int32")
    for causal in (False, True):
        out, _ = F.flash_attention.flash_attn_unpadded(
            tensor(q), tensor(q), tensor(q), cu, cu, 4, 4, 0.5, causal=causal
        )
        third = F.flash_attention_v3_varlen(
            tensor(q), tensor(q), tensor(q), cu, cu, 4, 4, softmax_scale=0.5, causal=causal
        )[0]
        for a, b in zip(starts, starts[1:], strict=False):
            part = tensor(q[None, a:b])
            want = F.scaled_dot_product_attention(part, part, part, is_causal=causal, scale=0.5).numpy()[0]
            np.testing.assert_allclose(out.numpy()[a:b], want, rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(third.numpy()[a:b], want, rtol=1e-5, atol=1e-6)


def test_flashmask_equals_the_dense_mask():
    x = tensor(randn(0, 1, 4, 2, 8))
    rows = np.array([2, 4, 3, 4])
    dense = (np.arange(4)[:, None] >= np.arange(4)) & (np.arange(4)[:, None] < rows[None])
    got = F.flashmask_attention(
        x, x, x, paddle.to_tensor(rows.reshape(1, 1, 4, 1).astype("int32")), causal=True
    )
    want = F.scaled_dot_product_attention(x, x, x, paddle.to_tensor(dense))
    np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-5, atol=1e-6)


def test_sparse_attention_equals_the_dense_mask():
    x = randn(0, 1, 1, 3, 4)
    offset, columns = np.array([[[0, 2, 3, 5]]], "int32"), np.array([[[0, 2, 1, 0, 1]]], "int32")
    dense = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0]], bool)
    got = F.sparse_attention(tensor(x), tensor(x), tensor(x), tensor(offset), tensor(columns)).numpy()[0, 0]
    rows = tensor(x.transpose(0, 2, 1, 3))
    want = F.scaled_dot_product_attention(rows, rows, rows, paddle.to_tensor(dense)).numpy()[0, :, 0]
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_embedding_gives_no_gradient_to_padding_and_shortens_rows():
    w = tensor(randn(0, 4, 3), True)
    ids = paddle.to_tensor([1, 2, 1])
    (grad,) = paddle.grad(F.embedding(ids, w, padding_idx=1).sum(), [w])
    assert grad.numpy()[1].tolist() == [0, 0, 0] and grad.numpy()[2].tolist() == [1, 1, 1]
    table = tensor(randn(0, 4, 3) * 10)
    F.embedding(ids, table, max_norm=1.0)
    norms = np.linalg.norm(table.numpy(), axis=1)
    np.testing.assert_allclose(norms[[1, 2]], 1, rtol=1e-5)
    np.testing.assert_array_equal(table.numpy()[[0, 3]], (randn(0, 4, 3) * 10)[[0, 3]])


def test_bad_ids_in_compiled_code_give_nan():
    import jax

    w = paddle.ones([3, 2])
    out = jax.jit(lambda i: F.embedding(paddle.to_tensor(i), w)._value)(np.array([0, 5]))
    assert np.isnan(np.asarray(out)[1]).all() and not np.isnan(np.asarray(out)[0]).any()


def test_margin_cross_entropy_without_margin_is_cross_entropy():
    cos, label = tensor(np.tanh(randn(0, 3, 5))), paddle.to_tensor([1, 4, 0])
    got = F.margin_cross_entropy(cos, label, 1.0, 0.0, 0.0, scale=8.0)
    np.testing.assert_allclose(got.item(), F.cross_entropy(cos * 8, label).item(), rtol=1e-4)


def test_rms_norm_follows_its_formula():
    x = randn(0, 2, 3, 4)
    want = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(F.rms_norm(tensor(x), 4).numpy(), want, rtol=1e-5)
