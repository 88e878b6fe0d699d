"""Checks for NaN and infinity, and counts of operations, against the oracle."""

import re

import numpy as np
import pytest

import paddle_jax as paddle

VALUES = [[1.0, 0.0, 2.0], [1.0, 0.0, float("inf"), -3.0], [-float("inf")], [70000.0, -1.0]]


def lines(text):
    return [
        re.sub(r"tensor=\w*", "tensor=", line) for line in text.splitlines() if line.startswith("[PRECISION]")
    ]


@pytest.mark.parametrize("mode", list(paddle.amp.debugging.DebugMode), ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("values", VALUES, ids=str)
def test_check_numerics_as_the_oracle(values, dtype, mode, oracle, capfd):
    def run(module):
        chosen = module.amp.debugging.DebugMode[mode.name]
        try:
            counts, numbers = module.amp.debugging.check_numerics(
                module.to_tensor(values, dtype), "op", "x", chosen
            )
        except RuntimeError:
            return RuntimeError
        return counts.tolist(), [str(x) for x in numbers.tolist()]

    want = run(oracle)
    printed = lines(capfd.readouterr().out)
    assert run(paddle) == want
    assert bool(lines(capfd.readouterr().out)) == bool(printed)


def test_modes_and_refusals():
    assert [(m.name, m.value) for m in paddle.amp.debugging.DebugMode][:2] == [
        ("CHECK_NAN_INF_AND_ABORT", 0),
        ("CHECK_NAN_INF", 1),
    ]
    for kwargs, error in (
        ({"debug_step": 3}, ValueError),
        ({"debug_step": [3]}, AssertionError),
        ({"debug_step": [3, 1]}, AssertionError),
        ({"checked_op_list": "x"}, ValueError),
    ):
        with pytest.raises(error):
            paddle.amp.debugging.TensorCheckerConfig(enable=True, **kwargs)
    with pytest.raises(RuntimeError):
        paddle.amp.debugging.check_numerics(paddle.to_tensor([1]), "op", "x")


CHECKS = [
    {},
    {"debug_mode": "CHECK_NAN_INF"},
    {"debug_mode": "CHECK_ALL"},
    {"skipped_op_list": ["log"]},
    {"checked_op_list": ["elementwise_div"]},
    {"enable": False},
]


@pytest.mark.own_process  # the real Paddle keeps the lists of an earlier configuration
@pytest.mark.parametrize("more", CHECKS, ids=str)
def test_tensor_checker_as_the_oracle(more, oracle, capfd):
    def run(module):
        debugging = module.amp.debugging
        settings = {"enable": True, **more}
        if "debug_mode" in settings:
            settings["debug_mode"] = debugging.DebugMode[settings["debug_mode"]]
        x, zero, seen = module.to_tensor([-1.0]), module.to_tensor([0.0]), []
        debugging.enable_tensor_checker(debugging.TensorCheckerConfig(**settings))
        try:
            for call in (lambda: module.log(x), lambda: x / zero, lambda: module.exp(x)):
                try:
                    call()
                    seen.append(None)
                except RuntimeError:
                    seen.append(RuntimeError)
        finally:
            debugging.disable_tensor_checker()
        module.log(x)
        return seen

    want = run(oracle)
    printed = lines(capfd.readouterr().out)
    assert run(paddle) == want
    assert len(lines(capfd.readouterr().out)) == len(printed)


def test_tensor_checker_sees_gradients_and_steps(tmp_path, capfd):
    x = paddle.to_tensor([0.0, 1.0], stop_gradient=False)
    config = paddle.amp.debugging.TensorCheckerConfig(
        enable=True, debug_step=[1, 2], output_dir=str(tmp_path)
    )
    seen = []
    for _ in range(3):
        paddle.amp.debugging.enable_tensor_checker(config)
        try:
            x.sqrt().sum().backward()
            seen.append(False)
        except RuntimeError:
            seen.append(True)
    paddle.amp.debugging.disable_tensor_checker()
    assert seen == [False, True, False] and "op=sqrt_grad" in (tmp_path / "worker_0.log").read_text()


def test_counts_as_the_oracle(oracle, capsys):
    def run(module):
        w = module.ones([3, 3])
        w.stop_gradient = False
        with module.amp.debugging.collect_operator_stats():
            y = module.nn.functional.softmax(module.matmul(w, w).exp() * w)
            (y.sum() + module.mean(y) - module.tanh(w).sum()).backward()
            y.astype("float64") + y.astype("float64")
        return capsys.readouterr().out.splitlines()

    want, got = run(oracle), run(paddle)
    rows = [
        line.split()
        for line in want
        if line.startswith("  ") and not line.startswith(("  full_", "  fill_constant"))
    ]
    assert got[:2] == want[:2]
    assert [line.split() for line in got if line.startswith("  ")] == rows


def test_counts_are_those_after_the_casts(capsys):
    with paddle.amp.debugging.collect_operator_stats(), paddle.amp.auto_cast(dtype="bfloat16"):
        paddle.matmul(paddle.ones([2, 2]), paddle.ones([2, 2]))
    assert re.search(r"matmul_v2 +\|  0 +\|  1 ", capsys.readouterr().out)


def test_layers_are_checked(capsys):
    class Log(paddle.nn.Layer):
        @paddle.amp.debugging.check_layer_numerics
        def forward(self, x):
            return x.log()

    assert np.isnan(Log()(paddle.to_tensor([-1.0])).item()) and "tensor=output" in capsys.readouterr().out
    Log()(paddle.ones([2]))
    assert not capsys.readouterr().out
    with pytest.raises(RuntimeError):
        Log()(3)
