"""Options of the compiler: programs run the same with them, and the user's own settings stay.

Unit tests of `_core.base.compiler`.
"""

import os
import subprocess
import sys
import types
from pathlib import Path

import jax
import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax._core.base import compiler


def test_the_users_choice_stays(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_backend_optimization_level=0")
    assert compiler.quick_options() == {}


def test_xla_takes_what_it_is_told(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "")
    function = jax.jit(lambda x: [x + 1, x * 2], compiler_options=compiler.quick_options())
    np.testing.assert_array_equal(function(np.ones(3))[1], [2, 2, 2])


def test_each_way_to_compile_a_program():
    layer, x = paddle.nn.Linear(3, 2), paddle.ones([4, 3])
    want = np.tanh(x.numpy() @ layer.weight.numpy() + layer.bias.numpy())
    paddle.set_flags({"FLAGS_deferred_min_repeats": 1})
    np.testing.assert_allclose(paddle.tanh(layer(x)).numpy(), want, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        paddle.jit.to_static(lambda x: paddle.tanh(layer(x)))(x).numpy(), want, rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize(
    "name, value, parameters",
    [
        ("MALLOC_ARENA_MAX", "3", [-1, -2, -3]),
        ("GLIBC_TUNABLES", "glibc.malloc.arena_max=3", [-1, -2, -3]),
        ("GLIBC_TUNABLES", "glibc.malloc.trim_threshold=3:glibc.malloc.mmap_threshold=3", [-8, -2]),
        ("MALLOC_TRIM_THRESHOLD_", "3", [-8, -2, -3]),
        ("MALLOC_TOP_PAD_", "3", [-8, -1, -3]),
        ("MALLOC_MMAP_THRESHOLD_", "3", [-8, -1, -2]),
        ("OTHER", "1", [-8, -1, -2, -3]),
    ],
)
def test_malloc_settings_of_the_environment_stay(name, value, parameters, monkeypatch):
    calls = []
    library = types.SimpleNamespace(mallopt=lambda *arguments: calls.append(arguments))
    monkeypatch.setattr(compiler.ctypes, "CDLL", lambda name: library)
    monkeypatch.setenv(name, value)
    compiler.tune_malloc()
    assert [parameter for parameter, _ in calls] == parameters


def test_what_the_system_lacks_is_left_out(monkeypatch):
    monkeypatch.setattr(compiler.ctypes, "CDLL", lambda name: object())
    with compiler.trimmed_memory("segment"):
        compiler.tune_malloc()


def test_an_error_of_the_compiler_is_passed_on():
    with pytest.raises(KeyError), compiler.trimmed_memory("segment"):
        raise KeyError


@pytest.mark.parametrize(
    "seconds, between, trims",
    [
        (0.001, 1.0, 200),  # a small heap: before and after each program
        (0.09, 1.0, 50),  # a large one: before each second program, as it pauses for 1.8 seconds
        (0.1, 0.01, 1),  # the programs of the test take a second together
        (1.0, 1.0, 5),
    ],
)
def test_trimming_takes_a_twentieth_of_the_time_at_most(seconds, between, trims, monkeypatch):
    """A hundred programs; a simulated clock runs between them and while memory is given back alone."""
    calls, clock = [], types.SimpleNamespace(now=100.0)

    def call(name, *arguments):
        calls.append((name, *arguments))
        clock.now += seconds

    monkeypatch.setattr(compiler, "time", types.SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(compiler, "_call_glibc", call)
    monkeypatch.setattr(compiler._LastTrim, "end", 0.0)
    monkeypatch.setattr(compiler._LastTrim, "seconds", 0.0)
    start = clock.now
    for _ in range(100):
        with compiler.trimmed_memory("segment"):
            clock.now += between / 2
        clock.now += between / 2
        with compiler.trimmed_memory("operation"):
            pass
    assert set(calls) == {("malloc_trim", 0)}
    assert len(calls) == trims
    assert (len(calls) - 1) * seconds <= (clock.now - start) / 20


PROGRAM = """
import numpy as np
import paddle_jax as paddle

x = paddle.to_tensor(np.random.RandomState(0).randn(3, 3).astype("float32"))
L = paddle.linalg

def model(x, y):
    for _ in range(650):
        y = paddle.tanh(y) * 1.01
    others = [paddle.inverse(x), L.det(x), L.eigh(x + x.t()), L.eigvals(x + x.t()), L.eigvalsh(x + x.t())]
    others += [L.matrix_power(x, 2), L.multi_dot([x, x, x]), L.norm(x), L.qr(x), L.slogdet(x)]
    solved = L.solve(x, x)
    others += [L.svd(x), L.svdvals(x), L.triangular_solve(x, x), paddle.mm(x, x), paddle.t(x)]
    return solved, y, [*others, paddle.tril(x, -1)]

solved = paddle.jit.to_static(model, full_graph=True)(x, paddle.ones([4]))[0]
print(abs(solved.numpy() - np.eye(3)).max() < 1e-4)
"""


def test_a_large_program_of_linear_algebra(tmp_path):
    """With `xla_cpu_use_fusion_emitters=False` XLA took the transpose, and `solve` was wrong."""
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "XLA_FLAGS": "", "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    command = [sys.executable, "program.py"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout == "True\n", done.stderr
