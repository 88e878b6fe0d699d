"""The precision of float32 products: flags, blocks, threads, gradients, and what XLA is asked for.

Unit tests of `_core.kernels.product_precision`.
"""

import re
import threading

import pytest

import paddle_jax as paddle
from paddle_jax._core.kernels import product_precision
from paddle_jax.aot import capture, compilers, work
from paddle_jax.aot import compile as compile_for
from paddle_jax.aot.chips import CHIPS

FLAGS = ("FLAGS_matmul_precision", "FLAGS_allow_tf32_cublas", "FLAGS_allow_tf32_cudnn")
F = paddle.nn.functional


@pytest.fixture(autouse=True)
def highest():
    yield
    paddle.set_flags({"FLAGS_matmul_precision": "highest"})


def traced(function, *shapes, platform="cuda"):
    return capture.trace(function, [paddle.zeros(shape) for shape in shapes], {}, platform)


def kinds(function, *shapes, platform="cuda"):
    """{"dot" or "conv": set of precisions} of the products of a traced function."""
    found = {}
    jaxpr = work.live(traced(function, *shapes, platform=platform).traced.jaxpr.jaxpr)
    for equation, _, _ in work.equations(jaxpr):
        kind = {"dot_general": "dot", "conv_general_dilated": "conv"}.get(equation.primitive.name)
        if kind is not None:
            found.setdefault(kind, set()).add(equation.params["precision"][0].name.lower())
    return found


def both(x, image):
    return x @ x, F.conv2d(image, image[:2])


SHAPES = [4, 4], [2, 3, 5, 5]


@pytest.mark.parametrize(
    ("flags", "products", "convolutions"),
    [
        ({}, "highest", "highest"),
        ({"FLAGS_matmul_precision": "high"}, "high", "high"),
        ({"FLAGS_matmul_precision": "default"}, "default", "default"),
        ({"FLAGS_allow_tf32_cublas": True}, "high", "highest"),
        ({"FLAGS_allow_tf32_cudnn": True}, "highest", "high"),
        ({"FLAGS_matmul_precision": "default", "FLAGS_allow_tf32_cudnn": False}, "default", "highest"),
    ],
)
def test_flags(flags, products, convolutions):
    paddle.set_flags(flags)
    assert kinds(both, *SHAPES) == {"dot": {products}, "conv": {convolutions}}
    shown = paddle.get_flags(list(FLAGS))
    assert shown["FLAGS_allow_tf32_cublas"] == (products != "highest")
    assert shown["FLAGS_allow_tf32_cudnn"] == (convolutions != "highest")


def test_switches_of_the_core():
    core = paddle.base.core
    assert (core.get_cublas_switch(), core.get_cudnn_switch()) == (False, False)
    core.set_cublas_switch(True)
    assert (core.get_cublas_switch(), core.get_cudnn_switch()) == (True, False)
    assert kinds(both, *SHAPES) == {"dot": {"high"}, "conv": {"highest"}}


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: paddle.set_flags({"FLAGS_matmul_precision": "exact"}), "allowed are highest, high, default"),
        (lambda: paddle.matmul_precision("tf32"), "allowed are highest, high, default"),
    ],
)
def test_unknown_precision(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_a_block_ends():
    with paddle.matmul_precision("high"):
        with paddle.matmul_precision("highest"):
            assert kinds(both, *SHAPES) == {"dot": {"highest"}, "conv": {"highest"}}
        assert kinds(both, *SHAPES) == {"dot": {"high"}, "conv": {"high"}}
    assert kinds(both, *SHAPES) == {"dot": {"highest"}, "conv": {"highest"}}


def test_another_thread_has_its_own():
    found = []
    with paddle.matmul_precision("default"):
        thread = threading.Thread(target=lambda: found.append(kinds(both, *SHAPES)))
        thread.start()
        thread.join()
    assert found == [{"dot": {"highest"}, "conv": {"highest"}}]
    paddle.set_flags({"FLAGS_matmul_precision": "high"})
    thread = threading.Thread(target=lambda: found.append(kinds(both, *SHAPES)))
    thread.start()
    thread.join()
    assert found[1] == {"dot": {"high"}, "conv": {"high"}}


def power(x, count):
    """A product in a block, differentiated outside of it."""
    x.stop_gradient = False
    with paddle.matmul_precision("high"):
        y = paddle.tanh(x @ x) @ x
    for _ in range(count):
        y = paddle.grad(y.sum(), x, create_graph=True)[0]
    return y


@pytest.mark.parametrize("order", [1, 2, 3])
def test_gradients_keep_it(order):
    assert kinds(lambda x: power(x, order), [4, 4]) == {"dot": {"high"}}


@pytest.mark.parametrize("order", [1, 2])
def test_gradients_of_the_highest_keep_it(order):
    def f(x):
        x.stop_gradient = False
        y = paddle.tanh(x @ x) @ x
        with paddle.matmul_precision("default"):
            for _ in range(order):
                y = paddle.grad(y.sum(), x, create_graph=True)[0]
            return y

    assert kinds(f, [4, 4]) == {"dot": {"highest"}}


def test_gradients_of_convolutions_keep_it():
    def f(x, weight):
        weight.stop_gradient = False
        with paddle.matmul_precision("high"):
            y = F.conv2d(x, weight) ** 2
        first = paddle.grad(y.sum(), weight, create_graph=True)[0]
        return paddle.grad((first**2).sum(), weight)[0]

    assert kinds(f, [2, 3, 5, 5], [2, 3, 3, 3]) == {"conv": {"high"}}


def test_recomputed_parts_keep_it():
    def f(x):
        x.stop_gradient = False
        with paddle.matmul_precision("high"):
            y = paddle.distributed.fleet.utils.recompute(lambda x: paddle.tanh(x @ x), x)
        return paddle.grad(y.sum(), x)[0]

    assert kinds(f, [4, 4]) == {"dot": {"high"}}


def test_compiled_functions_know_it():
    @paddle.jit.to_static
    def f(x):
        return x @ x

    x = paddle.ones([3, 3])
    for _ in range(2):
        for precision in ("highest", "high"):
            with paddle.matmul_precision(precision):
                assert f(x).sum() == 27
    assert len(f._programs) == 2


@pytest.mark.parametrize("platform", ["cuda", "tpu", "rocm"])
@pytest.mark.parametrize("precision", ["highest", "high", "default"])
def test_lowered_programs_have_it(platform, precision):
    with paddle.matmul_precision(precision):
        program = traced(both, *SHAPES, platform=platform).traced
    lowered = program.lower(lowering_platforms=(platform,)).as_text()
    found = re.findall(r"\b(HIGHEST|HIGH|DEFAULT)\b", lowered)
    assert set(found) == {precision.upper()} and len(found) >= 4  # two operands of two products


@pytest.mark.parametrize("chip", ["h100", "v5e"])
def test_compiled_programs_have_it(chip):
    lacking = compilers.missing(CHIPS[chip].platform)
    if lacking:
        pytest.skip(f"the compiler for {chip} is not installed ({', '.join(lacking)})")
    for precision in ("highest", "high"):
        with paddle.matmul_precision(precision):
            report = compile_for(both, *map(paddle.zeros, SHAPES), target=chip)
        found = re.findall(r"operand_precision=\{(\w+),(\w+)\}", report.text)
        assert set(found) == {(precision, precision)}


@pytest.mark.parametrize(
    ("environment", "products", "convolutions"),
    [
        ({"NVIDIA_TF32_OVERRIDE": "0", "FLAGS_matmul_precision": "high"}, "highest", "highest"),
        ({"NVIDIA_TF32_OVERRIDE": "1"}, "high", "high"),
        ({"FLAGS_matmul_precision": "default", "FLAGS_allow_tf32_cublas": "0"}, "highest", "default"),
    ],
)
def test_the_environment(monkeypatch, environment, products, convolutions):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    product_precision.start()
    assert product_precision.current() == (products, convolutions)
    with paddle.matmul_precision("high"):
        inside = "highest" if environment.get("NVIDIA_TF32_OVERRIDE") == "0" else "high"
        assert product_precision.current() == (inside, inside)


def test_an_unknown_value_of_the_environment(monkeypatch):
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "yes")
    with pytest.warns(UserWarning, match="0 forbids TF32 and 1 allows it"):
        product_precision.start()
