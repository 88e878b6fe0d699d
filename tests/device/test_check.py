"""`paddle.utils.run_check()` and `python -m paddle_jax check`, and NaN found in steps that are compiled."""

import subprocess
import sys

import pytest

import paddle_jax
from paddle_jax.utils import install_check


@pytest.mark.own_process
def test_run_check_prints_as_the_oracle(oracle, capfd):
    def printed(module):
        capfd.readouterr()
        module.utils.run_check()
        return [line for line in capfd.readouterr().out.splitlines() if line.startswith(("Running", "PaddlePaddle"))]

    assert printed(paddle_jax) == printed(oracle)


def test_run_check_leaves_the_random_state(paddle):
    paddle.seed(5)
    first = paddle.rand([3]).tolist()
    paddle.seed(5)
    paddle.utils.run_check()
    assert paddle.rand([3]).tolist() == first


def test_a_device_that_does_not_train_is_reported(monkeypatch, capsys):
    monkeypatch.setattr(install_check, "_trained", lambda place: ([1.0, 0.5, 0.9], 0.1))
    with pytest.raises(RuntimeError, match="does not fall"):
        paddle_jax.utils.run_check()
    assert install_check.check() == 1
    assert "FAILED: the loss" in capsys.readouterr().out
    monkeypatch.setattr(install_check, "_trained", lambda place: 1 / 0)
    assert install_check.check() == 1
    assert "FAILED: ZeroDivisionError" in capsys.readouterr().out


def test_the_command():
    done = subprocess.run([sys.executable, "-m", "paddle_jax", "check"], capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for text in ("PaddlePaddle 3.3.1", "jaxlib ", "compiled programs", "device Place(cpu)", "training on Place(cpu): ok", "everything works"):
        assert text in done.stdout


@pytest.mark.parametrize("tool", ["flag", "checker"])
@pytest.mark.parametrize("mode", ["eager", "to_static"])
def test_a_nan_in_a_step_is_named_with_its_line(mode, tool, paddle):
    net, factor = paddle.nn.Linear(3, 1), paddle.to_tensor(1.0)
    opt = paddle.optimizer.SGD(0.0, parameters=net.parameters())

    def step(x):
        y = net(x).abs() + 1
        loss = paddle.log(y * factor).mean()  # planted: a negative factor
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    run = paddle.jit.to_static(step) if mode == "to_static" else step
    x = paddle.ones([4, 3])
    for _ in range(3):
        assert run(x).item() > 0  # compiled before anybody looks for NaN
    factor.set_value(paddle.to_tensor(-1.0))
    line = f"test_check.py:{step.__code__.co_firstlineno + 2}"
    debugging = paddle.amp.debugging
    try:
        if tool == "flag":
            paddle.set_flags({"FLAGS_check_nan_inf": True})
        else:
            debugging.enable_tensor_checker(debugging.TensorCheckerConfig(enable=True))
        with pytest.raises(RuntimeError, match=r"log\b.*") as error:
            run(x)
    finally:
        debugging.disable_tensor_checker()
        paddle.set_flags({"FLAGS_check_nan_inf": False})
    assert line in str(error.value)
    assert paddle.isnan(run(x)).item()  # nobody looks any more
    if mode == "to_static":
        assert run.get_traced_count() == 1


def test_the_flag_sees_bfloat16(paddle):
    x = paddle.to_tensor([-1.0], dtype="bfloat16")
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    try:
        with pytest.raises(RuntimeError, match="log at"):
            paddle.log(x)
    finally:
        paddle.set_flags({"FLAGS_check_nan_inf": False})
