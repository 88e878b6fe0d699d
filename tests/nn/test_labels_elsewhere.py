"""Class numbers where a GPU or TPU is the target: no matrix of zeros and ones, no 64-bit instructions."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax.aot import capture
from paddle_jax.nn.functional import classification
from paddle_jax.static import InputSpec
from paddle_jax.tensor import lowering

LABELS = [0, 4, 5, -1, 2**32 + 1, -(2**32) + 1, 2**31, -(2**31) - 1, -(2**62), 2]


@pytest.fixture
def elsewhere(monkeypatch):
    monkeypatch.setattr(lowering, "on_cpu", lambda: False)
    monkeypatch.setattr(classification, "on_cpu", lambda: False)


def test_narrowed_numbers(elsewhere):
    got = jax.jit(lowering.narrowed)(jnp.asarray(LABELS))
    want = [n if -(2**31) <= n < 2**31 else -(2**31) for n in LABELS]
    assert got.dtype == jnp.int32 and got.tolist() == want


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_labels_as_by_lookup(elsewhere, axis):
    """A label that does not exist gives NaN, and no label takes the number of another one."""
    values = jnp.asarray(np.random.default_rng(0).normal(size=(5, len(LABELS))), jnp.float32)
    label = jnp.asarray(LABELS)[None]
    want = [[values[n, i] if 0 <= n < 5 else np.nan for i, n in enumerate(LABELS)]]
    if axis != 0:
        values, label, want = values.T, label.T, np.transpose(want)
    got = classification._matching(values, lowering.narrowed(label), axis)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("weighted", [False, True])
def test_cross_entropy_as_on_a_cpu(elsewhere, weighted):
    """The loss and its gradient, against the formula in NumPy."""
    numbers = np.random.default_rng(1)
    scores = numbers.normal(size=(6, 5)).astype("float32")
    label = np.array([0, 1, 4, -100, 2, 2])
    weight = numbers.random(5).astype("float32") if weighted else None
    fn = classification.cross_entropy_hard.op.fn
    given = None if weight is None else jnp.asarray(weight)
    loss, grad = jax.value_and_grad(fn)(
        jnp.asarray(scores), jnp.asarray(label)[:, None], given, reduction="sum"
    )
    shares = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    known = np.where(label == -100, 0, label)
    factors = np.where(label == -100, 0, 1.0 if weight is None else weight[known])
    rows = np.arange(6)
    np.testing.assert_allclose(loss, -(np.log(shares[rows, known]) * factors).sum(), rtol=1e-5)
    one_hot = np.eye(5)[known]
    np.testing.assert_allclose(grad, (shares - one_hot) * factors[:, None], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("platform", ["cuda", "tpu"])
def test_no_scatter(platform):
    """The gradient writes no matrix of zeros, and nothing of the labels is computed in 64 bits."""

    def step(x, y):
        x.stop_gradient = False
        loss = paddle.nn.functional.cross_entropy(x, y)
        return loss, paddle.grad(loss, x)[0]

    traced = capture.trace(step, [InputSpec([8, 32], "float32"), InputSpec([8], "int64")], {}, platform)
    text = traced.traced.lower(lowering_platforms=(platform,)).as_text()
    assert "stablehlo.scatter" not in text and "stablehlo.gather" not in text
    assert not re.search(
        r"stablehlo\.(?!bitcast|reshape|broadcast|constant)\w+ .*-> tensor<8(x1)?xi64>", text
    )
