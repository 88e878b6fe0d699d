"""Gradients: accumulation, hooks, freeing, pruning, higher orders, PyLayer."""

import gc
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest


def leaf(paddle, values):
    return paddle.to_tensor(np.asarray(values, np.float64), stop_gradient=False)


def test_gradients_accumulate_and_clear(paddle):
    x = leaf(paddle, [1.0, 2.0])
    (x * x).sum().backward()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [5.0, 7.0]
    x.clear_gradient()
    assert x.grad.tolist() == [0.0, 0.0]
    x.clear_gradient(set_to_zero=False)
    assert x.grad is None


def test_a_tensor_used_many_times(paddle):
    x = leaf(paddle, [2.0])
    y = x * x
    (y * y + y * x).backward()
    np.testing.assert_allclose(x.grad.numpy(), 4 * 2.0**3 + 3 * 2.0**2)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_orders(paddle, order):
    x = leaf(paddle, 0.37)
    y, reference = paddle.tanh(x * x), lambda v: jnp.tanh(v * v)
    for _ in range(order):
        (y,) = paddle.grad(y, x, create_graph=True)
        reference = jax.grad(reference)
    np.testing.assert_allclose(y.item(), reference(0.37), rtol=1e-12)


def test_second_backward_is_refused_and_retain_graph_allows_it(paddle):
    x = leaf(paddle, [1.0])
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0]
    with pytest.raises(RuntimeError, match="retain_graph"):
        y.backward()


def test_grad_prunes_and_reports_unused(paddle):
    x, z = leaf(paddle, [1.0]), leaf(paddle, [1.0])
    with pytest.raises(ValueError, match="allow_unused"):
        paddle.grad(x * x, [x, z])
    got = paddle.grad(x * x, [x, z], allow_unused=True)
    assert got[1] is None
    assert got[0].tolist() == [2.0]
    assert x.grad is None


def test_grad_of_an_intermediate_result(paddle):
    x = leaf(paddle, [3.0])
    y = x * x
    assert paddle.grad(y * y, y)[0].tolist() == [18.0]


def test_no_grad_vars_cut_the_path(paddle):
    x = leaf(paddle, [3.0])
    y = x * x
    (g,) = paddle.grad(y * x, x, no_grad_vars=[y])
    assert g.tolist() == [9.0]


def test_hooks_change_the_gradient_in_order_and_can_be_removed(paddle):
    x = leaf(paddle, [1.0])
    y = x * 2
    seen = []
    first = y.register_hook(lambda g: seen.append("a") or g * 10)
    y.register_hook(lambda g: seen.append("b") or g + 1)
    y.backward(retain_graph=True)
    assert seen == ["a", "b"]
    assert x.grad.tolist() == [22.0]
    assert first.remove()
    with pytest.warns(RuntimeWarning, match="removed before"):
        assert not first.remove()
    x.clear_gradient()
    y.backward()
    assert x.grad.tolist() == [4.0]


def test_leaf_hook_sees_the_complete_gradient_once(paddle):
    x = leaf(paddle, [1.0])
    seen = []
    x.register_hook(lambda g: seen.append(g.tolist()))
    (x * 2 + x * 3).backward()
    assert seen == [[5.0]]
    with pytest.raises(RuntimeError):
        paddle.ones([1]).register_hook(lambda g: g)


def test_retain_grads(paddle):
    x = leaf(paddle, [2.0])
    y = x * x
    y.retain_grads()
    (y * 3).backward()
    assert y.grad.tolist() == [3.0]


def test_modes(paddle):
    x = leaf(paddle, [1.0])
    with paddle.no_grad():
        assert (x * 2).stop_gradient
        with paddle.enable_grad():
            assert not (x * 2).stop_gradient

    @paddle.no_grad()
    def off():
        return x * 2

    @paddle.no_grad
    def bare():
        yield x * 2
        yield paddle.is_grad_enabled()

    assert off().stop_gradient
    assert [v.stop_gradient if hasattr(v, "shape") else v for v in bare()] == [True, False]
    assert paddle.is_grad_enabled()
    paddle.set_grad_enabled(False)
    assert not paddle.is_grad_enabled()
    paddle.set_grad_enabled(True)
    with paddle.set_grad_enabled(False):
        assert not paddle.is_grad_enabled()
    assert paddle.is_grad_enabled()


def test_in_place_on_results_and_refused_on_leaves(paddle):
    x = leaf(paddle, [1.0, 2.0])
    y = x * 2
    y[0] = 5.0
    y.tanh_()
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [0.0, 2 * (1 - np.tanh(4.0) ** 2)])
    for change in (lambda: x.tanh_(), lambda: x.__setitem__(0, 1.0), lambda: x.add_(x)):
        with pytest.raises(ValueError, match="leaf"):
            change()
    with paddle.no_grad():
        x[0] = 7.0
    assert x.tolist() == [7.0, 2.0]


def test_values_saved_for_backward_are_those_of_the_time_of_use(paddle):
    x = leaf(paddle, [3.0])
    y = x * 1
    z = y * y
    y.add_(paddle.ones([1], "float64"))
    z.backward()
    assert x.grad.tolist() == [6.0]


def test_a_dropped_result_frees_its_history(paddle):
    x = leaf(paddle, [1.0])
    y = x * 2
    node = weakref.ref(y._node)
    del y
    gc.collect()
    assert node() is None


def test_long_chain_does_not_recurse(paddle):
    x = leaf(paddle, [1.0])
    y = x
    for _ in range(3000):
        y = y * 1.0
    y.backward()
    assert x.grad.tolist() == [1.0]
    del y


class Cube:
    """Built per test run, since PyLayer comes from the fixture's package."""

    @staticmethod
    def make(paddle):
        class Layer(paddle.autograd.PyLayer):
            @staticmethod
            def forward(ctx, x, factor=1.0):
                ctx.save_for_backward(x)
                ctx.factor = factor
                return x**3 * factor

            @staticmethod
            def backward(ctx, g):
                (x,) = ctx.saved_tensor()
                return g * 3 * x**2 * ctx.factor

        return Layer


def test_pylayer_and_its_double_backward(paddle):
    x = leaf(paddle, [2.0])
    y = Cube.make(paddle).apply(x, factor=2.0)
    (g,) = paddle.grad(y, x, create_graph=True)
    assert g.tolist() == [24.0]
    assert paddle.grad(g, x)[0].tolist() == [24.0]


def test_pylayer_counts_gradients(paddle):
    class Wrong(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g, g

    with pytest.raises(ValueError, match="2 gradients for 1"):
        Wrong.apply(leaf(paddle, [1.0])).backward()


def test_shape_of_the_starting_gradient_is_checked(paddle):
    x = leaf(paddle, [1.0, 2.0])
    with pytest.raises(AssertionError):
        (x * 2).backward(paddle.ones([3]))
    with pytest.raises(AssertionError):
        paddle.grad([], [x])


def test_leaves_that_are_zero_keep_their_place_in_higher_orders(paddle):
    x = paddle.to_tensor(0.0, stop_gradient=False)
    (g,) = paddle.grad(x * x * x + x * x, x, create_graph=True)
    (h,) = paddle.grad(g, x, create_graph=True)
    assert (g.item(), h.item(), paddle.grad(h, x)[0].item()) == (0.0, 2.0, 6.0)
    v = leaf(paddle, [0.0, 1.0])
    (g,) = paddle.grad((v**3).sum(), v, create_graph=True)
    assert paddle.grad(g.sum(), v)[0].tolist() == [0.0, 6.0]
