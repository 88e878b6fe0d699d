"""Gradients of weights that wait until the program asks for them, against the real Paddle."""

import importlib

import numpy as np
import pytest

import paddle_jax

INPUTS = np.random.default_rng(0).normal(size=(2, 3, 4)).astype("float32")


def part_of(module):
    return importlib.import_module(f"{module.__name__}.distributed.fleet.meta_parallel.zero_bubble_utils")


def gradients(module, is_split, has_bias, axes):
    """Gradients before and after the weights have theirs, of two backward passes."""
    part = part_of(module)
    store = part.WeightGradStore
    store.clear()
    layer = part.SplitBWLinear(4, 2, bias_attr=None if has_bias else False)
    layer.weight.set_value(np.linspace(-1, 1, 8, dtype="float32").reshape(4, 2))
    data = INPUTS if axes == 3 else INPUTS[0]
    x = module.to_tensor(data, stop_gradient=False)
    store.enabled = is_split
    for factor in (1.0, 2.0):
        (layer(x).tanh() * factor).sum().backward()
        store.flush()
    store.enabled = False
    early = layer.weight.grad is None
    store.pop()
    first = layer.weight.grad.numpy()
    store.pop()
    with pytest.raises(AssertionError):
        store.pop()
    found = [first, layer.weight.grad.numpy(), x.grad.numpy()]
    if has_bias:
        found.append(layer.bias.grad.numpy())
    return early, found


@pytest.mark.parametrize("is_split", [False, True])
@pytest.mark.parametrize(("has_bias", "axes"), [(True, 3), (False, 2)])
def test_split_layer(is_split, has_bias, axes, oracle):
    found, wanted = (gradients(module, is_split, has_bias, axes) for module in (paddle_jax, oracle))
    assert found[0] == wanted[0] == is_split
    for a, b in zip(found[1], wanted[1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_wide_gradients():
    """A weight with `main_grad` gets float32 sums there; a frozen one gets none."""
    part = part_of(paddle_jax)
    weight = paddle_jax.ones([4, 2], "bfloat16")
    part.grad_weight_fn(paddle_jax.ones([3, 4], "bfloat16"), weight, paddle_jax.ones([3, 2], "bfloat16"))
    assert weight.grad is None
    weight.stop_gradient = False
    weight.main_grad = None
    for _ in range(2):
        part.grad_weight_fn(paddle_jax.ones([3, 4], "bfloat16"), weight, paddle_jax.ones([3, 2], "bfloat16"))
    assert weight.grad is None and weight.main_grad.dtype == paddle_jax.float32
    assert weight.main_grad.tolist() == [[6.0, 6.0]] * 4
