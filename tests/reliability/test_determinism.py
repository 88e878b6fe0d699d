"""FLAGS_cudnn_deterministic: the same bits in two runs, after a resume, for any number of workers, and
whatever a process did before."""

import os
from pathlib import Path

import jax
import pytest

from tests import forked_python

PROGRAM = Path(__file__).with_name("determinism_program.py")


def digests(folder, workers, start, stop, *more, flag="1"):
    """The lines of a run in a process of its own."""
    env = os.environ | {"FLAGS_cudnn_deterministic": flag}
    words = [str(word) for word in (workers, start, stop, folder / "checkpoint.pd", *more)]
    done = forked_python.run([PROGRAM, *words], 200, env)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The run that others are compared with."""
    found = digests(tmp_path_factory.mktemp("whole"), 0, 0, 3)
    assert len(set(found)) == 3
    return found


def test_two_runs_with_any_number_of_workers(whole, tmp_path):
    assert digests(tmp_path, 2, 0, 3) == whole


def test_after_a_resume(whole, tmp_path):
    assert digests(tmp_path, 0, 0, 1) + digests(tmp_path, 1, 1, 3) == whole


def test_a_compiled_step(tmp_path):
    whole = digests(tmp_path, 0, 0, 2, "compiled")
    assert digests(tmp_path, 0, 0, 1, "compiled") + digests(tmp_path, 0, 1, 2, "compiled") == whole


def test_noise_of_workers(tmp_path):
    assert digests(tmp_path, 1, 0, 1, "noise") == digests(tmp_path, 3, 0, 1, "noise")


def test_two_runs_without_the_flag(tmp_path):
    assert digests(tmp_path, 0, 0, 2, flag="0") == digests(tmp_path, 0, 0, 2, flag="0")


def test_what_was_done_before_does_not_matter(paddle):
    x = paddle.randn([7, 30])

    def bits():
        y = x.detach()
        y.stop_gradient = False
        loss = (paddle.nn.functional.softmax(y @ x.t() / 3.0) * paddle.tanh(y.sum(1, keepdim=True))).sum()
        loss.backward()
        return loss.numpy().tobytes() + y.grad.numpy().tobytes()

    paddle.set_flags({"FLAGS_cudnn_deterministic": True})
    try:
        first = bits()
        paddle.set_flags({"FLAGS_deferred_min_repeats": 1})
        assert {bits() for _ in range(4)} == {first}
    finally:
        paddle.set_flags({"FLAGS_cudnn_deterministic": False, "FLAGS_deferred_min_repeats": 0})
    assert paddle.get_flags("FLAGS_cudnn_deterministic") == {"FLAGS_cudnn_deterministic": False}


def test_a_sum_whose_order_would_change_is_told_to_xla(paddle, monkeypatch):
    """What makes scatter-add deterministic on a GPU is a flag that XLA reads when it starts."""
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=false")
    paddle.ones([1]).numpy()
    try:
        paddle.set_flags({"FLAGS_cudnn_deterministic": True})
        assert os.environ["XLA_FLAGS"] == "--xla_cpu_enable_fast_math=false --xla_gpu_deterministic_ops=true"
        monkeypatch.setenv("XLA_FLAGS", "")
        monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
        with pytest.raises(RuntimeError, match="after the device was first used"):
            paddle.set_flags({"FLAGS_cudnn_deterministic": True})
    finally:
        monkeypatch.undo()
        paddle.set_flags({"FLAGS_cudnn_deterministic": False})
