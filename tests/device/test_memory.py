"""What is said when there is no memory, and the flags about it.

Unit tests of `_core.base` and `_core.lazy.transfer`.
"""

import ast
import os
import pathlib
import subprocess
import sys
import types
import weakref

import jax
import numpy as np
import pytest

import paddle_jax
from paddle_jax._core.base import memory_flags, out_of_memory, vlog
from paddle_jax._core.lazy import transfer
from tests import forked_python

COLLECTS_GARBAGE = True  # errors list the live Tensors

PROGRAM = """
import gc, pathlib, resource, sys
import paddle_jax as paddle

net = paddle.nn.Linear(200, 300)
x = paddle.ones([40000])
x.numpy()
held = paddle.rand([700, 900])  # line 7
held.numpy()
kept = []
for _ in range(6):
    loss = (net(paddle.rand([500, 200])) ** 2).mean()  # line 11
    kept.append(loss)  # planted: its history
    loss.item()

now = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + (2 << 30), now + (2 << 30)))

def eager():
    paddle.expand(x, [60000, 40000]).clone().numpy()  # line 19

def compiled():
    run = paddle.jit.to_static(lambda v: paddle.sort(paddle.expand(v, [60000, 40000]), axis=0))
    with paddle.no_grad():
        run(x).numpy()

def filled():
    paddle.ones([60000, 40000]).numpy()

before = paddle.metrics.snapshot()["malloc_failed"]
for job in (eager, compiled, filled):
    paddle.set_flags({"FLAGS_interpreter": job is not compiled})
    try:
        job()
    except MemoryError as error:
        print("---", job.__name__, type(error).__name__, paddle.metrics.snapshot()["malloc_failed"] - before)
        print(error)
print("==", paddle.tanh(x).shape)
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """{what was run: the lines of the exception}."""
    script = tmp_path_factory.mktemp("memory") / "program.py"
    script.write_text(PROGRAM.lstrip(), encoding="utf-8")
    done = forked_python.run([script], 200)
    assert "== paddle.Size([40000])" in done.stdout, done.stdout + done.stderr
    parts = [part.splitlines() for part in done.stdout.split("--- ")[1:]]
    return {lines[0].split()[0]: lines for lines in parts}


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is Linux's")
@pytest.mark.parametrize(("job", "number"), [("eager", 1), ("compiled", 2), ("filled", 3)])
def test_a_lack_of_memory_names_what_holds_it(job, number, said):
    lines = said[job]
    assert lines[0] == f"{job} OutOfMemoryError {number}"
    assert lines[1].startswith("(ResourceExhausted) ")
    assert "there is no memory for " in lines[1] and "GiB" in lines[1]
    table = [line for line in lines if "program.py:" in line and line[0].isdigit()]
    assert any("float32[700, 900]" in line and line.endswith("program.py:7") for line in table), lines
    assert any("mean" in line and line.endswith("program.py:11") for line in table), lines
    assert any("kept for backward passes" in line and "loss.item()" in line for line in lines)


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is Linux's")
def test_the_operation_is_named(said):
    assert "recorded at" in said["eager"][1] and said["eager"][1].endswith("program.py:19")
    assert "[60000, 40000]" in said["filled"][1]


FULL = """
import pathlib, resource, sys
import numpy as np
import paddle_jax as paddle

kind = sys.argv[1]
paddle.randn([2, 2]).tanh()[0, 0].item()
paddle.ones([2, 2]).sum().item()

def limit(more):
    now = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + more, now + more))

def program():
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 4])
        y = paddle.nn.functional.dropout(paddle.nn.Linear(4, 3)(x))
        big = paddle.expand(y.reshape([-1, 1]), [60000, 40000])
        z = paddle.sort(big.detach(), axis=0)
        loss = y.mean()
        paddle.optimizer.SGD(0.1).minimize(loss)
    exe = paddle.static.Executor()
    exe.run(startup)
    limit(2 << 30)
    exe.run(main, feed={"x": np.ones([20000, 4], "float32")}, fetch_list=[loss, z])

held = []
make = {"ones": lambda: paddle.ones([10000, 10000]),
        "tanh": lambda: paddle.tanh(held[-1] if held else paddle.full([10000, 10000], 0.5)) * 2,
        "randn": lambda: paddle.randn([10000, 10000])}
try:
    if kind == "static":
        program()
    limit(1600 << 20)
    for _ in range(40):
        held.append(make[kind]())
        held[-1][0, 0].item()  # a number: what waits for ever if its operand was never computed
except MemoryError as error:
    print(f"--- {type(error).__name__} after {len(held)}")
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is Linux's")
@pytest.mark.parametrize("kind", ["ones", "tanh", "randn", "static"])
def test_a_process_that_runs_out_of_memory_ends(kind, tmp_path):
    script = tmp_path / "full.py"
    script.write_text(FULL.lstrip(), encoding="utf-8")
    done = forked_python.run([script, kind], 100)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and lines[0].startswith("--- OutOfMemoryError after "), (
        done.stdout + done.stderr
    )
    assert lines[1].startswith("(ResourceExhausted) ")
    if kind != "static":
        assert any("float32[10000, 10000]" in line for line in lines[2:])
        return
    assert "Executor.run: there is no memory for" in lines[1]
    assert lines[3].startswith("8.9 GiB  float32[60000, 40000]  ")
    number = 1 + next(i for i, line in enumerate(FULL.lstrip().splitlines()) if "paddle.expand" in line)
    assert any("expand, recorded at " in line and line.endswith(f"full.py:{number}") for line in lines), lines
    assert any("linear_0.w_0" in line and "run the startup program" in line for line in lines), lines


def test_what_counts_as_a_lack_of_memory(paddle):
    found = out_of_memory.out_of_memory(
        "matmul", MemoryError("Unable to allocate 13.4 GiB for an array with shape (60000, 60000)")
    )
    assert isinstance(found, MemoryError)
    assert "matmul: there is no memory for 13.4 GiB" in str(found)
    assert "for 5.0 GiB" in str(
        out_of_memory.out_of_memory(
            "x", jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: allocating 5368709120 bytes.")
        )
    )
    assert out_of_memory.is_out_of_memory(
        jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4.00GiB.")
    )
    assert not out_of_memory.is_out_of_memory(jax.errors.JaxRuntimeError("INTERNAL: something else"))
    assert not out_of_memory.is_out_of_memory(found)  # told once


class Lost:
    """An array that could not be computed."""

    shape, dtype, ndim, size = (2,), np.dtype("float32"), 1, 2

    def __init__(self, said):
        self.said = said

    def is_ready(self):
        """What has failed is as ready as it will be."""
        return True

    def block_until_ready(self):
        """As of JAX's arrays."""
        raise jax.errors.JaxRuntimeError(self.said)


def test_a_read_of_what_was_not_computed_is_told(paddle, monkeypatch):
    monkeypatch.setattr(transfer, "ArrayImpl", Lost)
    with pytest.raises(
        MemoryError,
        match=r"^\(ResourceExhausted\) jit.save, of a value that is computed "
        r"now: there is no memory for 4.0 GiB",
    ):
        transfer.to_numpy(
            Lost("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4.00GiB."), "jit.save"
        )
    with pytest.raises(
        RuntimeError,
        match=r"^\(External\) reading, of a value that is computed now: "
        r"the device failed: INTERNAL: no such stream;",
    ):
        transfer.to_numpy(Lost("INTERNAL: no such stream\nstack"))


READS = {
    "asarray",
    "array",
    "ascontiguousarray",
    "array_equal",
    "float",
    "int",
    "bool",
    "nonzero",
    "device_get",
}
RAW = {"materialize", "to_array", "to_jax_array", "read_raw"}


def test_values_are_looked_at_in_one_place():
    """An array's own look ends the process, or speaks JAX's language, where the values could not be computed;
    `looked_at` tells of it."""
    past = []
    for file in pathlib.Path(paddle_jax.__file__).parent.rglob("*.py"):
        source = file.read_text(encoding="utf-8")
        if "_value" not in source and not any(name in source for name in RAW):
            continue
        for node in ast.walk(ast.parse(source)):
            if (
                isinstance(node, ast.Call)
                and getattr(node.func, "attr", getattr(node.func, "id", "")) in READS
                and node.args
            ):
                given = node.args[0]
                raw = (
                    getattr(given, "attr", "") == "_value"
                    or isinstance(given, ast.Call)
                    and getattr(given.func, "id", "") in RAW
                )
                module = ast.unparse(getattr(node.func, "value", ast.Name("")))
                if raw and module not in ("jnp", "jax.numpy"):
                    past.append(f"{file}:{node.lineno}")
    assert not past


class Full:
    """An accelerator without memory."""

    platform = "gpu"

    def memory_stats(self):
        """As XLA gives them."""
        return {"bytes_in_use": 7 << 30, "bytes_limit": 8 << 30}

    def __str__(self):
        return "cuda:0"


def test_an_accelerator_says_how_full_it_is(paddle, monkeypatch):
    monkeypatch.setattr(
        out_of_memory, "jax", types.SimpleNamespace(config=types.SimpleNamespace(jax_default_device=Full()))
    )
    assert (
        "7.0 GiB of the 8.0 GiB that this program may use of cuda:0 are in use" in out_of_memory._device_use()
    )


def test_what_a_step_needs_is_known_before_it_runs(paddle):
    net = paddle.nn.Linear(300, 500)
    opt = paddle.optimizer.Adam(parameters=net.parameters())

    def step(x):
        loss = (net(x) ** 2).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    found = paddle_jax.distributed.plan(step, paddle.ones([64, 300]))
    held = 4 * (300 * 500 + 500)
    assert found.arguments >= 3 * held + 64 * 300 * 4  # parameters, two moments, the batch
    assert found.peak >= found.arguments
    assert "at most" in repr(found)


# flags ------------------------------------------------------------------------------------------------------

READ = """
import os
import paddle_jax
print({k: v for k, v in os.environ.items() if k.startswith(("XLA_CLIENT", "XLA_PYTHON", "TF_FORCE"))})
"""


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "XLA_CLIENT_MEM_FRACTION": "0.92"}),
        (
            {"FLAGS_allocator_strategy": "naive_best_fit", "FLAGS_fraction_of_gpu_memory_to_use": "0.5"},
            {"XLA_PYTHON_CLIENT_PREALLOCATE": "true", "XLA_CLIENT_MEM_FRACTION": "0.5"},
        ),
        (
            {"FLAGS_use_cuda_managed_memory": "1", "XLA_PYTHON_CLIENT_MEM_FRACTION": "0.3"},
            {
                "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
                "XLA_PYTHON_CLIENT_MEM_FRACTION": "0.3",
                "TF_FORCE_UNIFIED_MEMORY": "1",
            },
        ),
    ],
)
def test_flags_in_the_environment(given, expected):
    plain = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("XLA_CLIENT", "XLA_PYTHON", "GLOG", "FLAGS_alloc"))
    }
    done = subprocess.run(
        [sys.executable, "-c", READ],
        env=plain | given,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert ast.literal_eval(done.stdout) == expected, done.stderr
    said = [line for line in done.stderr.splitlines() if line.startswith("paddle_jax: FLAGS_")]
    assert len(said) == bool(any(k.startswith("FLAGS") for k in given))


def test_set_flags_before_the_device_is_used(paddle, monkeypatch, capsys):
    monkeypatch.setattr(vlog.Verbose, "level", 0)
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    monkeypatch.setenv("XLA_CLIENT_MEM_FRACTION", "0.92")
    before = paddle.get_flags(["FLAGS_allocator_strategy", "FLAGS_fraction_of_gpu_memory_to_use"])
    paddle.ones([1]).numpy()
    try:
        paddle.set_flags(
            {"FLAGS_allocator_strategy": "naive_best_fit", "FLAGS_fraction_of_gpu_memory_to_use": 0.25}
        )
        assert (os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"], os.environ["XLA_CLIENT_MEM_FRACTION"]) == (
            "true",
            "0.25",
        )
        assert "FLAGS_fraction_of_gpu_memory_to_use=0.25" in capsys.readouterr().err
        monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
        with pytest.raises(RuntimeError, match="after the device was first used"):
            paddle.set_flags({"FLAGS_fraction_of_gpu_memory_to_use": 0.5})
    finally:
        monkeypatch.setattr(jax, "default_backend", lambda: "cpu")
        paddle.set_flags(before)


def test_values_that_are_not_allowed(paddle):
    with pytest.raises(ValueError, match="auto_growth, naive_best_fit, thread_local"):
        memory_flags.allocator_strategy("nonsense")
    with pytest.raises(ValueError, match="at most 1"):
        memory_flags.fraction_of_gpu_memory_to_use(1.5)


def test_live_tensors_beside_dead_weak_proxies():
    class Thing:
        pass

    thing = Thing()
    held = [weakref.proxy(thing), paddle_jax.ones([7, 11, 13])]
    del thing
    assert any(group.shape == (7, 11, 13) for group in paddle_jax.live_tensors())
    del held
