"""Programs for GPUs and TPUs have no 64-bit instructions for random bits and row numbers.

Unit tests of `_core.kernels` and `nn.functional.input`.
"""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.interpreters import mlir

import paddle_jax as paddle
from paddle_jax._core.kernels import loop_counts, random_counts
from paddle_jax.aot import capture, compilers, hlo
from paddle_jax.aot import compile as compile_for
from paddle_jax.aot.chips import CHIPS
from paddle_jax.geometric.pooling import pooled, rows_at
from paddle_jax.nn.functional.input import _lookup
from paddle_jax.static import InputSpec
from paddle_jax.tensor import lowering

F = paddle.nn.functional
NUMBERS = InputSpec([16], "int64")
ROWS = InputSpec([8, 4], "float32")


def dropped(x):
    return F.dropout(x, 0.5)


def placed(x):
    """Rows by numbers that are made in the program."""
    weight = paddle.ones([16, 4])
    weight.stop_gradient = False
    numbers = paddle.arange(x.shape[0])
    rows = F.embedding(numbers, weight) + F.embedding(numbers.flip(0), weight)
    return paddle.grad((rows * x).sum(), weight)


def gathered(x, source, target):
    x.stop_gradient = False
    found = pooled(rows_at(x, source), target, 8, "mean")  # what send_u_recv does once it has checked
    return found, paddle.grad((found * found).sum(), x)[0]


CASES = [(dropped, [ROWS]), (placed, [ROWS]), (gathered, [ROWS, NUMBERS, NUMBERS])]


@pytest.mark.parametrize("shape", [(1,), (7,), (2, 3, 5), (1, 4), (0, 3)])
def test_counters(shape):
    """Both halves of the numbers of the elements, against NumPy's."""
    upper, lower = jax.jit(lambda: random_counts.halves(shape=shape))()
    assert upper.dtype == lower.dtype == jnp.uint32 and not np.any(upper)
    np.testing.assert_array_equal(lower, np.arange(np.prod(shape)).reshape(shape))


@pytest.mark.parametrize(("reverse", "unroll"), [(False, 1), (True, 1), (False, 2), (True, 3)])
def test_scans_count_in_32_bits(reverse, unroll):
    """The rule for GPUs and TPUs against `lax.scan` on the CPU, and no 64-bit counter in what is lowered."""

    def cumulated(xs):
        def step(total, x):
            return total + x, total * x

        return jax.lax.scan(step, jnp.float32(0.5), xs, reverse=reverse, unroll=unroll)

    xs = np.arange(1, 8, dtype="float32")
    (equation,) = jax.make_jaxpr(cumulated)(xs).eqns
    settings = equation.params | {"length": np.int32(7)}
    found = jax.jit(lambda *operands: loop_counts._implementation(*operands, **settings))(np.float32(0.5), xs)
    for got, want in zip(found, cumulated(xs), strict=True):
        np.testing.assert_array_equal(got, want)
    traced = jax.jit(cumulated).trace(xs)
    assert "i64>" in traced.lower(lowering_platforms=("cpu",)).as_text().replace("dense", "")
    for platform in ("cuda", "tpu"):
        assert not re.search(
            r"stablehlo.*tensor<i64>", traced.lower(lowering_platforms=(platform,)).as_text()
        )


def test_many_counters_keep_64_bits():
    """An array of 2**32 elements is lowered, and still numbered in 64 bits."""
    draw = jax.jit(lambda key: jax.random.bits(key, (1 << 16, 1 << 16), jnp.uint8))
    struct = jax.eval_shape(lambda: jax.random.key(0))
    text = draw.trace(struct).lower(lowering_platforms=("cuda",)).as_text()
    assert "65536x65536xui64" in text


@pytest.mark.parametrize(
    "numbers",
    [
        np.arange(6),
        np.array([[3, -1], [2**31 - 1, -(2**31)]]),
        np.array([2**31, -(2**31) - 1, 2**40 + 5, -(2**63), 2**63 - 1]),
        np.full((2, 3), 7),
        np.zeros((0, 2), "int64"),
    ],
)
@pytest.mark.parametrize("platform", ["cuda", "tpu"])
def test_constant_indices(monkeypatch, platform, numbers):
    """The halves of constants are constants, with the values that NumPy gives."""
    monkeypatch.setattr(lowering, "on_cpu", lambda: False)
    kept = []
    constant = mlir.ir_constant
    monkeypatch.setattr(mlir, "ir_constant", lambda value: kept.append(value) or constant(value))
    traced = jax.jit(lambda: lowering.narrowed(jnp.asarray(numbers))).trace()
    assert "bitcast_convert" not in traced.lower(lowering_platforms=(platform,)).as_text()
    np.testing.assert_array_equal(kept[-1], numbers[..., None].view("int32"))
    fits = numbers == numbers.astype("int32")
    found = jax.jit(lambda: lowering.narrowed(jnp.asarray(numbers)))()
    np.testing.assert_array_equal(found, np.where(fits, numbers, np.iinfo("int32").min))


@pytest.mark.parametrize("platform", ["cuda", "tpu"])
def test_random_bits(platform):
    traced = capture.trace(dropped, [ROWS], {}, platform).traced
    assert not re.search(r"tensor<8x4xui64>", traced.lower(lowering_platforms=(platform,)).as_text())
    assert re.search(r"tensor<8x4xui64>", traced.lower(lowering_platforms=("cpu",)).as_text())


def test_values_of_narrowed_numbers(monkeypatch):
    """Rows by narrowed numbers, against NumPy; a number that does not exist gives NaN."""
    monkeypatch.setattr(lowering, "on_cpu", lambda: False)
    rows = np.random.default_rng(0).normal(size=(5, 3)).astype("float32")
    numbers = np.array([0, 4, 2**32 + 1, 5, -(2**40), 2])
    exists = (numbers >= 0) & (numbers < 5)
    want = np.where(exists[:, None], rows[np.where(exists, numbers, 0)], np.nan)
    np.testing.assert_array_equal(_lookup.op.fn(jnp.asarray(numbers), jnp.asarray(rows), -1), want)
    some = numbers[exists]
    np.testing.assert_array_equal(rows_at.op.fn(jnp.asarray(rows), jnp.asarray(some)), rows[some])
    total = np.zeros((5, 3))
    np.add.at(total, some, rows[:3])
    found = pooled.op.fn(jnp.asarray(rows[:3]), jnp.asarray(some), 5, "sum")
    np.testing.assert_allclose(found, total, rtol=1e-6)


@pytest.mark.parametrize(("function", "operands"), CASES, ids=[case[0].__name__ for case in CASES])
def test_compiled(function, operands):
    lacking = compilers.missing(CHIPS["h100"].platform)
    if lacking:
        pytest.skip(f"the compiler for h100 is not installed ({', '.join(lacking)})")
    report = compile_for(function, *operands, target="h100")
    assert report.compiles and report.wide == []


def test_bytes_of_64_bits():
    """Of a loop that carries a counter and a matrix only the counter counts."""
    text = """HloModule m
ENTRY %main (a: (s64[], f32[8])) -> f32[8] {
  %a = (s64[], f32[8]{0}) parameter(0)
  %w = (s64[], f32[8]{0}) while(%a), condition=%c, body=%b
  ROOT %out = f32[8]{0} get-tuple-element(%w), index=1
}
"""
    assert [each.wide_bytes for each in hlo.parse(text).wide_instructions()] == [8]
