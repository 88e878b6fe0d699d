"""Random functionals by their distributions: how much is dropped, what is shared, what is preserved."""

import jax
import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax.tensor.inner import chosen_at_random

F = paddle.nn.functional
N = 20000


@pytest.fixture(autouse=True)
def seeded():
    paddle.seed(1234)


def ones(*shape):
    return paddle.ones(list(shape))


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_dropout_keeps_the_right_share_and_the_mean(p):
    out = F.dropout(ones(N), p).numpy()
    kept = out != 0
    assert abs(kept.mean() - (1 - p)) < 5 * np.sqrt(p * (1 - p) / N)
    np.testing.assert_allclose(out[kept], 1 / (1 - p), rtol=1e-6)


def test_downscale_in_infer_scales_outside_training_only():
    kept = F.dropout(ones(N), 0.3, mode="downscale_in_infer").numpy()
    assert set(np.unique(kept)) == {0.0, 1.0}
    np.testing.assert_allclose(
        F.dropout(ones(4), 0.3, training=False, mode="downscale_in_infer").numpy(), 0.7, rtol=1e-6
    )


def test_draws_differ_and_the_seed_repeats_them():
    first, second = F.dropout(ones(100)).numpy(), F.dropout(ones(100)).numpy()
    assert (first != second).any()
    paddle.seed(1234)
    np.testing.assert_array_equal(F.dropout(ones(100)).numpy(), first)


def test_evaluation_draws_no_random_numbers():
    state = paddle.get_rng_state()[0].numpy()
    for f in (F.dropout, F.dropout2d, F.alpha_dropout):
        f(ones(2, 3, 4, 4), training=False)
    F.rrelu(ones(3), training=False)
    F.scaled_dot_product_attention(
        ones(1, 3, 2, 4), ones(1, 3, 2, 4), ones(1, 3, 2, 4), dropout_p=0.5, training=False
    )
    np.testing.assert_array_equal(paddle.get_rng_state()[0].numpy(), state)


@pytest.mark.parametrize(("axis", "shared"), [(0, (1,)), (1, (0,)), ([0], (1,))])
def test_axis_shares_one_draw(axis, shared):
    out = F.dropout(ones(200, 100), 0.5, axis=axis).numpy()
    assert (out == np.take(out, [0], axis=shared[0])).all()
    assert 0.3 < (out != 0).mean() < 0.7


def test_channel_dropout_takes_whole_channels():
    for out, axes in (
        (F.dropout2d(ones(20, 30, 4, 4)), (2, 3)),
        (F.dropout2d(ones(20, 4, 4, 30), data_format="NHWC"), (1, 2)),
        (F.dropout3d(ones(20, 30, 2, 2, 2)), (2, 3, 4)),
        (F.dropout1d(ones(20, 30, 5)), (2,)),
    ):
        array = out.numpy()
        assert (array == array.max(axes, keepdims=True)).all()
        assert 0.4 < (array != 0).mean() < 0.6


def test_alpha_dropout_preserves_mean_and_variance():
    x = paddle.to_tensor(np.random.RandomState(0).randn(N).astype("float32"))
    out = F.alpha_dropout(x, 0.3).numpy()
    assert abs(out.mean()) < 0.05
    assert abs(out.std() - 1) < 0.05


def test_feature_alpha_dropout_takes_whole_channels():
    x = paddle.to_tensor(np.random.RandomState(0).randn(20, 50, 6).astype("float32"))
    out = F.feature_alpha_dropout(x, 0.5).numpy()
    constant = np.ptp(out, axis=2) == 0
    assert 0.4 < constant.mean() < 0.6


def test_gradient_of_dropout_uses_the_same_mask():
    x = paddle.ones([1000])
    x.stop_gradient = False
    out = F.dropout(x, 0.4)
    (grad,) = paddle.grad(out.sum(), [x])
    np.testing.assert_allclose(grad.numpy(), out.numpy())


def test_inplace_dropout_changes_its_argument():
    x = ones(1000)
    out = F.dropout(x, 0.5, inplace=True)
    assert out is x
    assert set(np.unique(x.numpy())) == {0.0, 2.0}


def test_rrelu_slopes_are_uniform():
    slopes = -F.rrelu(-ones(N), 0.2, 0.6).numpy()
    assert 0.2 <= slopes.min() < 0.21
    assert 0.59 < slopes.max() <= 0.6
    assert abs(slopes.mean() - 0.4) < 0.01
    np.testing.assert_allclose(F.rrelu(-ones(2), 0.2, 0.6, training=False).numpy(), -0.4, rtol=1e-6)


def test_gumbel_softmax_draws_by_the_probabilities():
    p = np.array([0.1, 0.2, 0.7], "float32")
    logits = paddle.to_tensor(np.tile(np.log(p), (N, 1)))
    hard = F.gumbel_softmax(logits, hard=True).numpy()
    np.testing.assert_allclose(hard.sum(1), 1, rtol=1e-6)
    np.testing.assert_allclose(hard.mean(0), p, atol=0.02)
    soft = F.gumbel_softmax(logits, temperature=0.5).numpy()
    np.testing.assert_allclose(soft.sum(1), 1, rtol=1e-5)
    np.testing.assert_allclose(np.bincount(soft.argmax(1)) / N, p, atol=0.02)


@pytest.mark.parametrize("axis", [-1, 0])
def test_hard_gumbel_softmax_is_exactly_one_hot(axis):
    logits = paddle.to_tensor(np.random.RandomState(1).randn(40, 30).astype("float32"))
    found = F.gumbel_softmax(logits, temperature=0.7, hard=True, axis=axis).numpy()
    assert set(np.unique(found)) == {0.0, 1.0}
    assert (found.sum(axis) == 1).all()


def test_frequencies_of_ids_change_gradients_alone():
    weight = paddle.to_tensor(np.random.RandomState(1).randn(40, 30).astype("float32"))
    ids = paddle.to_tensor(np.repeat(np.arange(40), 3))
    found = F.embedding(ids, weight, scale_grad_by_freq=True).numpy()
    np.testing.assert_array_equal(found, weight.numpy()[ids.numpy()])


def test_lengths_in_ctc_loss_change_gradients_alone():
    random = np.random.RandomState(1)
    logits = paddle.to_tensor(random.randn(12, 40, 5).astype("float32"))
    labels = paddle.to_tensor(random.randint(1, 5, (40, 3)))
    lengths = paddle.to_tensor([0, *random.randint(7, 13, (39,))])  # Paddle has the loss 0 without frames
    count = paddle.full([40], 3, "int64")
    plain, divided = (
        F.ctc_loss(logits, labels, lengths, count, reduction="none", norm_by_times=by).numpy()
        for by in (False, True)
    )
    np.testing.assert_array_equal(divided, plain)


def test_attention_dropout_keeps_the_mean():
    x = paddle.to_tensor(np.random.RandomState(0).randn(16, 16, 4, 8).astype("float32"))
    plain = F.scaled_dot_product_attention(x, x, x).numpy()
    dropped = F.scaled_dot_product_attention(x, x, x, dropout_p=0.5).numpy()
    assert (plain != dropped).any()
    assert abs((plain - dropped).mean()) < 0.04


def test_class_center_sample_keeps_the_present_and_fills_up():
    label = paddle.to_tensor([7, 3, 7])
    new, picked = F.class_center_sample(label, 100, 10)
    picked = picked.numpy()
    assert len(set(picked)) == 10
    np.testing.assert_array_equal(picked[:2], [3, 7])
    np.testing.assert_array_equal(picked[new.numpy()], [7, 3, 7])


def test_fractional_pooling_regions_are_random():
    x = paddle.arange(400, dtype="float32").reshape([1, 1, 20, 20])
    seen = {tuple(F.fractional_max_pool2d(x, 7).numpy().ravel()) for _ in range(8)}
    assert len(seen) > 1


@pytest.mark.parametrize(
    "chance", [0.0, 1e-9, 2.0**-23, 0.1, 1 / 3, 0.5, 0.9, 1 - 2.0**-23, 1 - 2.0**-25, 1.0]
)
def test_elements_are_chosen_as_by_jax(chance):
    key = jax.random.key(5)
    expected = jax.random.bernoulli(key, np.float32(chance), (50, 400))
    np.testing.assert_array_equal(chosen_at_random(key, chance, (50, 400)), expected)


@pytest.mark.parametrize("step", [-1, 0, 1])
def test_the_chance_decides_at_the_border(step):
    """A chance of one more than the bits of an element chooses it, one of the bits themselves does not."""
    key = jax.random.key(6)
    border = float(jax.random.uniform(key, (1,), np.float32)[0])
    chosen = chosen_at_random(key, border + step * 2.0**-23, (1,))
    assert bool(chosen[0]) == (step > 0)
