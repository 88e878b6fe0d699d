"""Programs of the persistent cache that a later process finds without tracing them.

Unit tests of `_core.kernels.kernel`, `_core.lazy`, `_core.ops.op` and `_core.runner`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.xla_metadata import set_xla_metadata
from jax.extend.core import Primitive
from jax.interpreters import mlir

from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.lazy.aval import as_aval
from paddle_jax._core.lazy.segment import infer_signature
from paddle_jax._core.ops.op import op
from paddle_jax._core.runner import background_compiler
from paddle_jax._core.runner.program_digest import digest_of

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import json, os, sys
import numpy as np
import paddle_jax as paddle
from paddle_jax._core.runner import background_compiler, loaded_programs, stored_programs

traced, called = [], []
module = stored_programs.StoredProgram.module
stored_programs.StoredProgram.module = lambda self: traced.append(1) or module(self)
call = loaded_programs.LoadedProgram.__call__
loaded_programs.LoadedProgram.__call__ = lambda self, *given: called.append(1) or call(self, *given)
if "OTHER_JAX" in os.environ:
    loaded_programs.pxla = None
paddle.seed(1)
net = paddle.nn.Sequential(
    paddle.nn.Conv2D(1, 4, 3), paddle.nn.BatchNorm2D(4), paddle.nn.GELU(), paddle.nn.MaxPool2D(2),
    paddle.nn.Flatten(), paddle.nn.Dropout(0.3), paddle.nn.Linear(36, 5),
)
adam = paddle.optimizer.Adam(0.01, parameters=net.parameters())
rng = np.random.default_rng(0)
losses = []
for _ in range(8):
    x = paddle.to_tensor(rng.standard_normal((6, 1, 8, 8)).astype("float32"))
    loss = paddle.nn.functional.cross_entropy(net(x), paddle.to_tensor(rng.integers(0, 5, 6)))
    loss.backward()
    adam.step()
    adam.clear_grad()
    losses.append(float(loss))
    background_compiler.finish()
print(json.dumps([losses, len(traced), paddle.explain().compiles, len(called)]))
"""


ON_A_MESH = """
import json
import numpy as np
import paddle_jax as paddle
from paddle_jax import distributed as dist

mesh = dist.ProcessMesh([0, 1, 2, 3], dim_names=["x"])
numbers = np.arange(64, dtype=np.float32).reshape(8, 8) / 100
results = []
for placement in (None, dist.Shard(0), dist.Shard(1), dist.Replicate()):
    for _ in range(3):
        x = paddle.to_tensor(numbers)
        if placement is not None:
            x = dist.shard_tensor(x, mesh, [placement])
        y = (x * 2 + 1).abs().sqrt()
        results.append((y @ y).sum(0).tolist())
print(json.dumps([results, paddle.explain().events]))
"""

ON_ANOTHER_DEVICE = """
import json
import jax
import numpy as np
import paddle_jax as paddle
from paddle_jax._core.runner import background_compiler

numbers = np.arange(16, dtype=np.float32).reshape(4, 4)
results = []
with jax.default_device(jax.devices()[1]):
    for _ in range(6):
        x = paddle.to_tensor(numbers)
        results.append((((x @ x) * 2 + 1).sqrt() * x).sum(0).tolist())
        background_compiler.finish()
print(json.dumps([results, paddle.explain().events, paddle.explain().compiles]))
"""

# Functions of LAPACK, each in a segment of its own.
FACTORS = """
import json
import numpy as np
import paddle_jax as paddle
from paddle_jax._core.runner import background_compiler, stored_programs

traced = []
module = stored_programs.StoredProgram.module
stored_programs.StoredProgram.module = lambda self: traced.append(1) or module(self)
a = np.random.default_rng(0).standard_normal((5, 5)).astype("float32")
x = paddle.to_tensor(a @ a.T + 5 * np.eye(5, dtype="float32"))
functions = [
    lambda x: paddle.linalg.inv(x),
    lambda x: paddle.linalg.cholesky(x),
    lambda x: paddle.linalg.solve(x, x + 1),
    lambda x: paddle.linalg.eigh(x)[0],
    lambda x: paddle.linalg.svd(x)[1],
    lambda x: paddle.linalg.qr(x)[1].abs(),
]
results = []
for function in functions:
    for _ in range(4):
        y = function(x * 2 + 0.5) + 1
        value = (y * y).sum()
        results.append(float(value))
        background_compiler.finish()
print(json.dumps([results, len(traced), paddle.explain().compiles]))
"""


def run(folder, program=PROGRAM, **variables):
    """What a program prints in a process of its own.

    PROGRAM prints (losses, number of traced modules, number of compiled segments, number of calls without
    `jax.jit`).
    """
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "FLAGS_compile_cache": str(folder),
        "FLAGS_deferred_background": "1",
        "FLAGS_deferred_min_repeats": "2",
        "PYTHONHASHSEED": "random",
        **variables,
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=environment,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def damage_names(folder):
    """Writes something else into the files with the keys of JAX."""
    for number, file in enumerate(folder.glob("alias-*")):
        file.write_bytes([b"", b"\xff", b"unknown", b"../../x", b"k" * 5000][number % 5])


def delete_programs(folder):
    for file in folder.glob("*-cache"):
        file.unlink()


def empty_programs(folder):
    for file in folder.glob("*-cache"):
        file.write_bytes(b"no program")


@pytest.mark.skipif(background_compiler.processors() < 2, reason="needs a second processor")
def test_a_later_process_traces_nothing(tmp_path):
    tmp_path.chmod(0o700)
    losses, traced, compiled, called = run(tmp_path)
    assert traced > 0 and compiled > 0 and called == 0
    aliases = len(list(tmp_path.glob("alias-*")))
    assert aliases > 0
    again, traced, compiled_again, called = run(tmp_path)
    assert [again, traced, compiled_again] == [losses, 0, compiled] and called > 1
    assert run(tmp_path, OTHER_JAX="1") == [losses, 0, compiled, 0]
    for damage in (damage_names, delete_programs):
        damage(tmp_path)
        again, traced, compiled_again, _ = run(tmp_path)
        assert again == losses and traced > 0 and compiled_again == compiled
        assert run(tmp_path) == [losses, 0, compiled, called]
    # JAX compiles what it cannot read, and keeps the file.
    empty_programs(tmp_path)
    again, *_, called = run(tmp_path)
    assert again == losses and called == 0
    assert len(list(tmp_path.glob("alias-*"))) == aliases


@pytest.mark.skipif(background_compiler.processors() < 2, reason="needs a second processor")
def test_a_later_process_finds_the_functions_of_lapack(tmp_path):
    tmp_path.chmod(0o700)
    results, traced, compiled = run(tmp_path, FACTORS)
    assert traced > 0 and compiled > 0
    again, traced, compiled_again = run(tmp_path, FACTORS)
    assert (traced, compiled_again) == (0, compiled)
    np.testing.assert_allclose(again, results, rtol=1e-5)


@pytest.mark.skipif(background_compiler.processors() < 2, reason="needs a second processor")
def test_a_program_is_loaded_for_the_device_of_its_segment(tmp_path):
    tmp_path.chmod(0o700)
    x = np.arange(16.0).reshape(4, 4)
    want = (np.sqrt(x @ x * 2 + 1) * x).sum(0)
    for _ in range(2):
        results, events, compiles = run(
            tmp_path, ON_ANOTHER_DEVICE, XLA_FLAGS="--xla_force_host_platform_device_count=2"
        )
        assert [event for event in events if "failed" in event] == []
        assert compiles > 0
        np.testing.assert_allclose(results, [want] * 6, rtol=1e-5)


def test_devices_do_not_share_programs(tmp_path):
    tmp_path.chmod(0o700)
    results, events = run(
        tmp_path,
        ON_A_MESH,
        XLA_FLAGS="--xla_force_host_platform_device_count=4",
        FLAGS_deferred_background="0",
    )
    assert [event for event in events if "failed" in event] == []
    assert sum(event.startswith("compiled") for event in events) == 2  # for one device, and for four
    y = np.sqrt(np.arange(64.0).reshape(8, 8) / 50 + 1)
    np.testing.assert_allclose(results, [(y @ y).sum(0)] * len(results), rtol=1e-5)


def digest(function, *structs, parts=(), positions=None):
    """The digest of a segment that calls a function once, traced afresh."""
    avals = tuple(as_aval(jax.core.ShapedArray(s.shape, s.dtype)) for s in structs)
    signature = infer_signature(Kernel("f", function), avals)
    leaves = positions or [~i for i in range(len(avals))]
    return digest_of(parts, [(signature, *leaves)], avals)


X = jax.ShapeDtypeStruct((3, 4), np.float32)
Y = jax.ShapeDtypeStruct((4, 3), np.float32)
SQUARE = jax.ShapeDtypeStruct((4, 4), np.float32)
KEY = jax.ShapeDtypeStruct((2,), np.uint32)


@jax.custom_jvp
def doubled(x):
    return 2 * x


doubled.defjvp(lambda primals, tangents: (2 * primals[0], 2 * tangents[0]))


def loop(steps, factor):
    return lambda x: jax.lax.fori_loop(0, steps, lambda _, value: value * factor, x)


def uniform(is_partitionable):
    def numbers(key):
        with jax.threefry_partitionable(is_partitionable):
            return jax.random.uniform(jax.random.wrap_key_data(key), (3, 4))

    return numbers


def sine_with_metadata(value):
    def sine(x):
        with set_xla_metadata(note=value):
            return jnp.sin(x)

    return sine


def rows(x):
    return jax.lax.scan(lambda carry, row: (jnp.sin(carry) * row, carry), x[0], x)


CONSTANT = np.arange(4, dtype=np.float32)
PROGRAMS = {
    "add": (lambda x: x + 1, X),
    "add another number": (lambda x: x + 2, X),
    "add a nearby number": (lambda x: x + np.nextafter(np.float32(1), np.float32(2)), X),
    "add NaN": (lambda x: x + np.nan, X),
    "subtract zero": (lambda x: x - 0.0, X),
    "subtract minus zero": (lambda x: x - (-0.0), X),
    "another shape": (lambda x: x + 1, Y),
    "another dtype": (lambda x: x + 1, jax.ShapeDtypeStruct((3, 4), np.float64)),
    "a constant": (lambda x: x + np.arange(4, dtype=np.float32), X),
    "another constant": (lambda x: x + np.arange(4, dtype=np.float32)[::-1], X),
    "a constant of an inner function": (lambda x: jax.jit(lambda v: v + CONSTANT)(x), X),
    "another constant of an inner function": (lambda x: jax.jit(lambda v: v + CONSTANT[::-1])(x), X),
    "first minus second": (lambda x, y: x - y, X, X),
    "second minus first": (lambda x, y: y - x, X, X),
    "product": (lambda x, y: jnp.matmul(x, y, precision="highest"), X, Y),
    "product in bfloat16": (lambda x, y: jnp.matmul(x, y, precision="default"), X, Y),
    "transposed product": (lambda x: x.T @ x, SQUARE),
    "product with transposed": (lambda x: x @ x.T, SQUARE),
    "sum of rows": (lambda x: x.sum(0), SQUARE),
    "sum of columns": (lambda x: x.sum(1), SQUARE),
    "largest": (lambda x: x.max(0), SQUARE),
    "row": (lambda x: x[1], SQUARE),
    "another row": (lambda x: x[2], SQUARE),
    "gather": (lambda x: x[jnp.array([0, 1])], SQUARE),
    "gather, clipped": (lambda x: x.at[jnp.array([0, 9])].get(mode="clip"), SQUARE),
    "scatter": (lambda x: x.at[jnp.array([0, 1])].set(0), SQUARE),
    "scatter, added": (lambda x: x.at[jnp.array([0, 1])].add(1), SQUARE),
    "loop": (loop(3, 2), X),
    "longer loop": (loop(4, 2), X),
    "loop with another body": (loop(3, 3), X),
    "loop over rows": (rows, X),
    "gradient of a loop": (jax.grad(lambda x: rows(x)[0].sum()), X),
    "gradient of the results of a loop": (jax.grad(lambda x: rows(x)[1].sum()), X),
    "choice": (lambda x: jax.lax.cond(x[0, 0] > 0, lambda v: v, lambda v: -v, x), X),
    "the other choice": (lambda x: jax.lax.cond(x[0, 0] > 0, lambda v: -v, lambda v: v, x), X),
    "rule for derivatives": (doubled, X),
    "random": (lambda key: jax.random.uniform(jax.random.wrap_key_data(key), (3,)), KEY),
    "more random": (lambda key: jax.random.normal(jax.random.wrap_key_data(key), (3,)), KEY),
    "random in parts": (uniform(True), KEY),
    "random as a whole": (uniform(False), KEY),
    "metadata": (sine_with_metadata("a"), X),
    "other metadata": (sine_with_metadata("b"), X),
    "two results": (lambda x: (x, -x), X),
    "two results, exchanged": (lambda x: (-x, x), X),
}


def test_each_program_has_a_digest_of_its_own():
    digests = {name: digest(*program) for name, program in PROGRAMS.items()}
    assert None not in digests.values()
    assert len(set(digests.values())) == len(digests)
    assert digests == {name: digest(*program) for name, program in PROGRAMS.items()}


def test_the_order_of_arguments_counts():
    def subtract(x, y):
        return x - y

    digests = [
        digest(subtract, X, X),
        digest(subtract, X, X, positions=[~1, ~0]),
        digest(subtract, X, X, positions=[~0, ~0]),
        digest(subtract, X, X, parts=((0,), (1,))),
        digest(subtract, X, X, parts=((1,), (0,))),
    ]
    assert None not in digests and len(set(digests)) == len(digests)


@op("a b c d e f", register=False, method=False, constant="f e d c b a")
def total(a, b, c, d, e, f):
    return a + b + c + d + e + f


def test_constant_operands_have_the_same_order_in_each_process():
    closed = jax.make_jaxpr(total.op._bind((-2,) * 6, ()))(*[np.float32(1)] * 6)
    stopped = [e.invars[0] for e in closed.eqns if e.primitive.name == "stop_gradient"]
    assert stopped == closed.jaxpr.invars[::-1]


def host_sine(x):
    return jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def printed(x):
    jax.debug.print("{}", x)
    return x


def after_a_token(x):
    jax.lax.create_token(x)
    return x + 1


@pytest.mark.parametrize("function", [host_sine, printed, after_a_token], ids=["callback", "print", "token"])
def test_code_outside_of_the_equations_has_none(function):
    assert digest(function, X) is None


def test_a_primitive_of_others_has_none():
    primitive = Primitive("negated")
    primitive.def_abstract_eval(lambda x: x)
    mlir.register_lowering(primitive, mlir.lower_fun(jnp.negative, multiple_results=False))
    assert digest(primitive.bind, X) is None


def test_a_large_constant_has_none():
    array = np.ones((1 << 18) + 1, np.float32)
    assert digest(lambda x: x + array, jax.ShapeDtypeStruct(array.shape, array.dtype)) is None
