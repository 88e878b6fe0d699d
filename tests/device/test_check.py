"""`paddle.utils.run_check()` and `python -m paddle_jax check`, and NaN found in steps that are compiled."""

import os
import socket
import subprocess
import sys

import jax
import numpy as np
import pytest

import paddle_jax
from paddle_jax.__main__ import main
from paddle_jax._core.base.vlog import Verbose
from paddle_jax.utils import install_check


@pytest.mark.own_process
def test_run_check_prints_as_the_oracle(oracle, capfd):
    def printed(module):
        capfd.readouterr()
        module.utils.run_check()
        return [
            line
            for line in capfd.readouterr().out.splitlines()
            if line.startswith(("Running", "PaddlePaddle"))
        ]

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


def test_what_several_devices_need(monkeypatch, capsys):
    port = socket.create_server(("127.0.0.1", 0))
    with port:
        # planted: somebody has it
        monkeypatch.setenv("PADDLE_CURRENT_ENDPOINT", f"127.0.0.1:{port.getsockname()[1]}")
        assert install_check.check() == 1
    assert "ports: FAILED: 127.0.0.1" in capsys.readouterr().out
    assert install_check._ports_work()[0]
    devices = jax.devices()[:1] * 2
    # planted: one device adds wrongly
    monkeypatch.setattr(install_check, "_summed", lambda devices: np.array([3.0, 2.0]))
    assert install_check._collectives_work(devices) == (
        False,
        "collectives on 2 cpu devices: FAILED: the sum of 1 to 2 is [3.0, 2.0]",
    )
    monkeypatch.setattr(install_check, "_summed", lambda devices: 1 / 0)
    assert "FAILED: ZeroDivisionError" in install_check._collectives_work(devices)[1]


def test_the_command_with_several_devices():
    flags = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=2"
    env = os.environ | {"XLA_FLAGS": flags}
    done = subprocess.run(
        [sys.executable, "-m", "paddle_jax", "check"],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        env=env,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "collectives on 2 cpu devices: ok" in done.stdout


def test_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "paddle_jax", "check"],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for text in (
        "PaddlePaddle 3.3.1",
        "jaxlib ",
        "compiled programs",
        "device Place(cpu)",
        "training on Place(cpu): ok",
        "ports: 127.0.0.1 accepts",
        "everything works",
    ):
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
        # the flag has a program of its own, which looks
        assert run.get_traced_count() == 1 + (tool == "flag")


def test_a_compiled_step_that_is_looked_at(paddle):
    """Compiled once; a step that gives NaN changes no parameter or state; the first operation is named, of
    the backward pass too."""
    paddle.seed(3)
    net = paddle.nn.Linear(3, 2)
    opt = paddle.optimizer.Adam(0.1, parameters=net.parameters())

    def step(x, y):
        loss = ((net(x) * y).sqrt().sum(-1) + 1).log().mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    run = paddle.jit.to_static(step, full_graph=True)
    line = f"test_check.py:{step.__code__.co_firstlineno + 1}"
    net.weight.set_value(paddle.ones([3, 2]))
    x, y = paddle.ones([4, 3]), paddle.ones([4, 2])
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    try:
        first = [run(x, y).item() for _ in range(3)]
        before = [
            v.numpy() for v in (*net.parameters(), *opt.state_dict().values()) if isinstance(v, paddle.Tensor)
        ]
        with pytest.raises(
            RuntimeError,
            match=r"sqrt at .*shape \[4, 2\] has 8 NaN and 0 infinite values, "
            r"the first is nan at \[0, 0\]",
        ) as error:
            run(x, -y).item()
        assert line in str(error.value)
        with pytest.raises(RuntimeError, match=r"sqrt_grad at .*all operands are finite"):
            run(x, y * paddle.to_tensor([0.0, 1.0])).item()
        after = [
            v.numpy() for v in (*net.parameters(), *opt.state_dict().values()) if isinstance(v, paddle.Tensor)
        ]
        assert all((a == b).all() for a, b in zip(before, after, strict=True))
        assert run(x, y).item() < first[0] and run.get_traced_count() == 1
    finally:
        paddle.set_flags({"FLAGS_check_nan_inf": False})
    assert paddle.isnan(run(x, -y)).item()


def test_the_flag_sees_bfloat16(paddle):
    x = paddle.to_tensor([-1.0], dtype="bfloat16")
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    try:
        with pytest.raises(RuntimeError, match="log at"):
            paddle.log(x)
    finally:
        paddle.set_flags({"FLAGS_check_nan_inf": False})


@pytest.mark.parametrize("mode", ["eager", "to_static"])
def test_the_first_bad_element_is_named(mode, paddle):
    def f(x):
        return paddle.log(x) * 2

    run = paddle.jit.to_static(f) if mode == "to_static" else f
    good, bad = paddle.ones([2, 3]), paddle.to_tensor([[1.0, 2.0, 3.0], [4.0, -1.0, 0.0]])
    run(good)
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    try:
        run(good)
        with pytest.raises(
            RuntimeError,
            match=r"log at .*test_check.py:\d+: output 0 of shape \[2, "
            r"3\] has 1 NaN and 1 infinite values",
        ) as error:
            run(bad)
        assert "the first is nan at [1, 1]; all operands are finite" in str(error.value)
        with pytest.raises(
            RuntimeError,
            match=r"scale .*operand 0 had such values already|multiply "
            r".*operand 0 had such values already",
        ):
            paddle.to_tensor([float("inf")]) * 2.0
        with pytest.raises(RuntimeError, match="it is -inf; all"):
            paddle.log(paddle.to_tensor(0.0))
    finally:
        paddle.set_flags({"FLAGS_check_nan_inf": False})


def test_levels_of_messages(paddle, monkeypatch, capsys):
    def said(level):
        monkeypatch.setattr(Verbose, "level", level)
        paddle.set_flags({"FLAGS_check_nan_inf": False})  # looks again what is to be watched
        capsys.readouterr()
        (paddle.ones([2, 4]).tanh() + 1).numpy()
        return capsys.readouterr().err

    line = f"test_check.py:{said.__code__.co_firstlineno + 4}"
    try:
        assert said(0) == ""
        assert "paddle_jax: 2 recorded operations run at" in said(2)
        loud = said(3)
        assert "tanh(float32[2, 4])" in loud and line in loud
    finally:
        said(0)


def test_levels_by_kind_of_message(paddle, capsys):
    def said(module_levels):
        capsys.readouterr()
        with paddle.base.framework.vlog_guard(module_levels):
            (paddle.ones([2, 4]).tanh() + 1).numpy()
        return capsys.readouterr().err

    assert "tanh(float32[2, 4])" in said({"operation": 3})
    assert "recorded operations run at" in said({"segment": 2}) and "tanh(" not in said({"segment": 2})
    assert said({"*": 3, "operation": 0, "segment": 0}) == said(0) == ""
    assert said({"dygraph_functions": 9}) == ""  # a file of Paddle's
    paddle.base.core.set_vlog_level({"*": 2})
    assert "recorded operations run at" in said({})
    paddle.base.core.set_vlog_level(0)
    assert said({}) == ""
    with pytest.raises(TypeError, match="set_vlog_level: module_levels: got 'x'"):
        paddle.base.core.set_vlog_level("x")


def test_levels_in_the_environment():
    program = (
        "import paddle_jax as paddle; (paddle.ones([2, 4]).tanh() + 1).numpy(); "
        "paddle.base.core.set_vlog_level({'operation': 0}); paddle.exp(paddle.ones([3]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"GLOG_vmodule": "operation=3,x=y"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0 and "tanh(float32[2, 4])" in done.stderr and "exp(" not in done.stderr, (
        done.stderr
    )


def test_levels_of_stacks(paddle):
    def refused():
        with pytest.raises(ValueError, match="add") as error:
            paddle.add(paddle.ones([2, 3]), paddle.ones([2, 4]))
        return error.value.__cause__

    assert refused() is None
    paddle.set_flags({"FLAGS_call_stack_level": 2})
    try:
        assert isinstance(refused(), TypeError)  # JAX's own
    finally:
        paddle.set_flags({"FLAGS_call_stack_level": 1})


@pytest.mark.parametrize(
    "arguments, text",
    [(["check", "--target"], "expected one argument"), (["check", "now"], "unrecognized arguments: now")],
)
def test_wrong_usage_of_the_command(capsys, arguments, text):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2 and text in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_a_reader_that_has_gone_is_no_error(option):
    command = [sys.executable, "-m", "paddle_jax", option]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 0
