"""`paddle.static.nn`: parameters, results and running statistics as those of the real Paddle's older
programs, which have no gradients any more."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import paddle_jax
from tests.static.nn_cases import CASES, run


@pytest.fixture(scope="module")
def old(oracle, tmp_path_factory):
    """What the real Paddle gives, from a process of its own."""
    path = tmp_path_factory.mktemp("old") / "found.pkl"
    command = [sys.executable, "-m", "tests.static.nn_cases", str(path)]
    done = subprocess.run(
        command,
        env={**os.environ, "FLAGS_enable_pir_api": "0"},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return pickle.loads(path.read_bytes())  # noqa: S301  written by the line above


@pytest.mark.parametrize("name", CASES)
def test_as_the_old_programs(name, old, static):
    shapes, want, state = old[name]
    got_shapes, got, got_state = run(paddle_jax, name, static[0].Executor())
    assert got_shapes == shapes
    assert len(got) == len(want)
    for a, b in zip([*got, *got_state], [*want, *state], strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


def test_spectral_norm_divides_by_the_largest_singular_value(static):
    S, main, startup = static
    weight = S.create_parameter([3, 4], "float32")
    out = S.nn.spectral_norm(weight, power_iters=30)
    exe = S.Executor()
    exe.run(startup)
    value, normalized = exe.run(main, fetch_list=[weight, out])
    np.testing.assert_allclose(normalized, value / np.linalg.svd(value)[1][0], rtol=1e-4)


def test_a_shared_name_is_one_parameter(static):
    S, main, _ = static
    x = S.data("x", [None, 3])
    for _ in range(2):
        S.nn.fc(x, 3, weight_attr="shared", bias_attr=False)
    assert [p.name for p in main.all_parameters()] == ["shared"]
    with pytest.raises(ValueError, match="shared"):
        S.nn.fc(x, 5, weight_attr="shared", bias_attr=False)


def test_python_functions_with_gradients(static, capfd):
    S, main, _ = static
    x, out = S.data("x", [None, 2]), S.data("out", [None, 2])
    x.stop_gradient = False
    calls = []

    def backward(x, y, dy):
        calls.append(x.shape)
        return 3 * x**2 * dy

    y = S.py_func(lambda a: a**3, x, out, backward)
    (grad,) = S.gradients(y, x)
    S.py_func(lambda a: print("seen", a.sum()), x, None)
    value = np.array([[1, 2], [3, 4], [5, 6]], "float32")
    got, slope = S.Executor().run(main, {"x": value}, [y, grad])
    np.testing.assert_allclose(got, value**3)
    np.testing.assert_allclose(slope, 3 * value**2)
    assert calls == [(3, 2)]
    import jax

    jax.effects_barrier()
    assert "seen 21.0" in capfd.readouterr().out


def test_own_gradients(static):
    S, main, startup = static
    x, w = (
        S.data("x", [2]),
        S.create_parameter([2], "float32", default_initializer=paddle_jax.nn.initializer.Constant(2.0)),
    )
    x.stop_gradient = False
    y = S.nn.static_pylayer(lambda a: a * w, [x], lambda g: g * 10)
    (grad,) = S.gradients(y.sum(), x)
    exe = S.Executor()
    exe.run(startup)
    got = exe.run(main, {"x": np.array([1, 2], "float32")}, [y, grad])
    assert [g.tolist() for g in got] == [[2, 4], [10, 10]]
    with pytest.raises(ValueError, match="gradients"):
        S.nn.static_pylayer(lambda a: a, [x], lambda g: [g, g])
    with pytest.raises(TypeError):
        S.nn.static_pylayer(lambda a: a, x)


class Scaled(paddle_jax.autograd.PyLayer):
    """Doubles; its gradient is a hundred times the saved input."""

    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x, x * 3)
        return x * factor, x + 1

    @staticmethod
    def backward(ctx, first, second):
        x, tripled = ctx.saved_tensor()
        return first * x * 100 + second * tripled


def test_layers_with_their_own_gradient(static):
    S, main, _ = static
    x = S.data("x", [2])
    x.stop_gradient = False
    first, second = Scaled.apply(x, 2)
    (grad,) = S.gradients(first.sum() + second.sum(), x)
    got = S.Executor().run(main, {"x": np.array([1, 2], "float32")}, [first, second, grad])
    assert [g.tolist() for g in got] == [[2, 4], [2, 3], [103, 206]]


def test_recomputing_is_recorded(static):
    S, main, _ = static
    x = S.data("x", [2])
    x.stop_gradient = False
    y = paddle_jax.distributed.fleet.utils.recompute(lambda a: a * a, x)
    (grad,) = S.gradients(y, x)
    assert [g.tolist() for g in S.Executor().run(main, {"x": np.array([1, 2], "float32")}, [y, grad])] == [
        [1, 4],
        [2, 4],
    ]
