"""Recomputing in parts, and under every path that programs import it from, against the real Paddle."""

import importlib

import numpy as np
import pytest

import paddle_jax

PATHS = {"recompute": ["distributed.fleet.utils", "distributed.fleet.recompute",
                       "distributed.fleet.recompute.recompute"],
         "recompute_sequential": ["distributed.fleet.recompute", "distributed.fleet.recompute.recompute",
                                  "incubate.distributed.fleet"],
         "recompute_hybrid": ["distributed.fleet.recompute", "distributed.fleet.recompute.recompute_hybrid",
                              "incubate.distributed.fleet"]}


def functions(module, name):
    return [getattr(importlib.import_module(f"{module.__name__}.{path}"), name) for path in PATHS[name]]


@pytest.mark.parametrize("name", PATHS)
def test_paths(name, oracle):
    for module in (oracle, paddle_jax):
        assert all(callable(function) for function in functions(module, name))
    ours = functions(paddle_jax, name)
    assert all(function is ours[0] for function in ours)


def trained(module, ctx, count):
    """Which layers ran in the forward and in the backward pass; the result and all gradients."""
    calls = []

    class Layer(module.nn.Layer):
        def __init__(self, number):
            super().__init__()
            self.linear, self.number = module.nn.Linear(2, 2), number
            self.linear.weight.set_value(np.float32([[0.5, number], [-1.0, 0.25]]))

        def forward(self, x):
            calls.append(self.number)
            return module.tanh(self.linear(x))

    net = module.nn.Sequential(*[Layer(number) for number in range(count)])
    x = module.to_tensor(np.float32([[1.0, -2.0]]), stop_gradient=False)
    out = functions(module, "recompute_sequential")[0](ctx, net, x)
    forward, calls = calls[:], calls.clear() or calls
    out.sum().backward()
    return forward, sorted(calls), [out.numpy(), x.grad.numpy(), *[p.grad.numpy() for p in net.parameters()]]


@pytest.mark.parametrize("count", [1, 3, 4])
@pytest.mark.parametrize("ctx", [{}, {"segments": 1}, {"segments": 2},
                                 {"segments": 2, "preserve_rng_state": False}])
def test_parts(ctx, count, oracle):
    if ctx.get("segments", 1) > count:
        for module in (oracle, paddle_jax):
            with pytest.raises(ValueError, match="range|segments"):
                trained(module, ctx, count)
        return
    (want_forward, want_again, want), (forward, again, got) = (
        trained(module, ctx, count) for module in (oracle, paddle_jax))
    assert (forward, again) == (want_forward, want_again)
    for a, b in zip(got, want, strict=True):  # the real Paddle takes a batch for a list of its rows
        np.testing.assert_allclose(a.reshape(-1), b.reshape(-1), rtol=1e-5, atol=1e-6)


def test_more_parts_than_the_real_paddle_runs():
    _, again, got = trained(paddle_jax, {"segments": 3}, 4)
    assert again == [0, 1]
    for a, b in zip(got, trained(paddle_jax, {}, 4)[2], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_hybrid_needs_a_group(oracle):
    for module in (oracle, paddle_jax):
        with pytest.raises(AssertionError, match="mp_group"):
            functions(module, "recompute_hybrid")[0]({}, module.nn.Linear(2, 2), module.ones([1, 2]))


def test_hybrid_draws_the_same_numbers_again():
    x = paddle_jax.ones([64], "float32")
    x.stop_gradient = False
    ctx = {"mp_group": paddle_jax.distributed.new_group([0]), "offload": False, "partition": False}
    out = functions(paddle_jax, "recompute_hybrid")[0](ctx, paddle_jax.nn.Dropout(0.5), x)
    out.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), out.numpy())
