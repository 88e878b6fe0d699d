"""Attention by the fused kernels of GPUs and TPUs: what is lowered, values, gradients and memory."""

import json
import os
import re
import subprocess
import sys
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paddle_jax as paddle
from paddle_jax._core.lazy.devices import lowered_for
from paddle_jax.aot import capture, compilers
from paddle_jax.aot import compile as compile_for
from paddle_jax.aot.chips import CHIPS
from paddle_jax.nn.functional import fused_attention, kernel_versions, pallas_attention, sdpa
from paddle_jax.static import InputSpec
from tests import forked_python
from tests.nn import divided_attention

F = paddle.nn.functional
CUDNN = "__cudnn$fmha"
PALLAS = "tpu_custom_call"


def with_gradients(causal, mask_gradient=False, order=1):
    """A function of (q, k, v[, mask]) that gives the result and gradients of q, k and v."""

    def f(q, k, v, *masks):
        for operand in (q, k, v):
            operand.stop_gradient = False
        for mask in masks:
            mask.stop_gradient = not mask_gradient
        y = F.scaled_dot_product_attention(q, k, v, masks[0] if masks else None, is_causal=causal)
        if not order:
            return y
        grads = paddle.grad((y * y).sum(), [q, k, v, *(masks if mask_gradient else ())], create_graph=True)
        if order == 1:
            return y, *grads
        return paddle.grad(sum((g * g).sum() for g in grads), [q, k, v])

    return f


def specs(length, heads, key_heads, width, dtype, mask=None):
    shapes = [[2, length, heads, width], [2, length, key_heads, width], [2, length, key_heads, width]]
    found = [InputSpec(shape, dtype) for shape in shapes]
    if mask is not None:
        found.append(InputSpec(*mask))
    return found


def lowered(function, operands, platform):
    traced = capture.trace(function, operands, {}, platform).traced
    return traced.lower(lowering_platforms=(platform,)).as_text()


# (heads of the keys, width, dtype, causal, mask, kernels of cuda, kernels of tpu)
CASES = [
    (4, 64, "bfloat16", False, None, 2, 3),
    (4, 64, "bfloat16", True, None, 2, 3),
    (4, 128, "float16", True, None, 2, 0),
    (2, 64, "bfloat16", True, None, 2, 3),
    (4, 64, "float32", True, None, 0, 3),
    (4, 64, "float64", True, None, 0, 0),
    (4, 20, "bfloat16", True, None, 0, 3),
    (4, 64, "bfloat16", False, ([2, 1, 1, 192], "bool"), 2, 3),
    (4, 64, "bfloat16", False, ([192, 192], "bool"), 2, 0),
    (4, 64, "bfloat16", False, ([2, 4, 192, 192], "bfloat16"), 2, 0),
]


@pytest.mark.parametrize(("key_heads", "width", "dtype", "causal", "mask", "cuda", "tpu"), CASES)
def test_kernels(key_heads, width, dtype, causal, mask, cuda, tpu):
    """One kernel for the result, and one or two for the gradients, in what is lowered for the platform."""
    operands = specs(192, 4, key_heads, width, dtype, mask)
    function = with_gradients(causal)
    found = lowered(function, operands, "cuda")
    assert len(set(re.findall(r"@(__cudnn\$fmha\w+)", found))) == cuda
    assert bool(re.search(PALLAS, lowered(function, operands, "tpu"))) == bool(tpu)
    for platform in ("rocm", "cpu"):
        text = lowered(function, operands, platform)
        assert CUDNN not in text and PALLAS not in text


@pytest.mark.parametrize(
    ("capability", "width", "kernels"), [("8.0", 256, 0), ("9.0", 256, 2), ("9.0", 264, 0)]
)
def test_wide_heads(capability, width, kernels):
    """cuDNN takes heads of 256 from Hopper on."""
    operands = specs(192, 4, 4, width, "bfloat16")
    with lowered_for(capability):
        found = lowered(with_gradients(True), operands, "cuda")
    assert len(set(re.findall(r"@(__cudnn\$fmha\w+)", found))) == kernels


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda module: None, "has no module for them"),
        (lambda module: types.SimpleNamespace(), "has no _flash_attention_impl"),
        (
            lambda module: types.SimpleNamespace(**(vars(module) | {"_flash_attention_bwd_dq": lambda q: q})),
            "has other parameters of _flash_attention_bwd_dq",
        ),
    ],
)
def test_another_version_of_jax(monkeypatch, change, words):
    """Kernels with other private functions are not called, and one warning says why."""
    changed = change(pallas_attention._kernels())
    monkeypatch.setattr(pallas_attention, "_kernels", lambda: changed)
    monkeypatch.setattr(kernel_versions, "_verdicts", {})
    operands = specs(192, 4, 4, 64, "bfloat16")
    with pytest.warns(UserWarning, match=f"JAX {re.escape(jax.__version__)} {words}") as caught:
        text = lowered(with_gradients(True), operands, "tpu")
    assert PALLAS not in text
    assert len(caught) == 1


@pytest.mark.parametrize("platform", ["cuda", "tpu"])
def test_without_kernels(platform):
    """Dropout, short sequences, gradients of the mask: the plain formula."""
    operands = specs(192, 4, 4, 64, "bfloat16")
    mask = [*operands, InputSpec([192, 192], "bfloat16")]

    def dropped(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, dropout_p=0.5)

    short = specs(16, 4, 4, 64, "bfloat16")
    for text in (
        lowered(dropped, operands, platform),
        lowered(with_gradients(True), short, platform),
    ):
        assert CUDNN not in text and PALLAS not in text
    assert f"{CUDNN}ScaleBiasSoftmaxBackward" not in lowered(with_gradients(False, True), mask, platform)


# (names of the mesh axes of 2 and 4, cuts of the input, cuts of the weight, heads of keys, shape of the
# queries on one device or None for the plain formula)
DIVISIONS = [
    (("dp", "mp"), ("dp",), (None, "mp"), 8, (4, 128, 2, 64)),
    (("dp", "mp"), ("dp",), (None, "mp"), 2, (4, 128, 2, 64)),  # two devices share a head of keys
    (("x", "y"), ("x",), (None, "y"), 8, (4, 128, 2, 64)),
    (("dp", "sharding"), (("dp", "sharding"),), ("sharding",), 8, (1, 128, 8, 64)),
    (("pp", "mp"), (), (None, "mp"), 8, (8, 128, 2, 64)),
    (("dp", "mp"), (), (), 8, None),
]


@pytest.mark.parametrize("platform", ["cuda", "tpu"])
@pytest.mark.parametrize(("names", "of_input", "of_weight", "key_heads", "part"), DIVISIONS)
def test_kernels_of_several_devices(platform, names, of_input, of_weight, key_heads, part):
    """Each device runs the kernels with its part of the batch and of the heads."""
    mesh = divided_attention.abstract_mesh((2, 4), names)

    def struct(shape, cuts):
        layout = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*cuts))
        return jax.ShapeDtypeStruct(shape, jnp.bfloat16, sharding=layout)

    def loss(x, weight):
        made = (x @ weight).reshape(8, 128, 8 + 2 * key_heads, 64)
        q, k, v = jnp.split(made, [8, 8 + key_heads], axis=2)
        return fused_attention.fused_attention(q, k, v, None, True, None)

    operands = struct((8, 128, 512), of_input), struct((512, (8 + 2 * key_heads) * 64), of_weight)
    text = jax.jit(loss).trace(*operands).lower(lowering_platforms=(platform,)).as_text()
    kernel = CUDNN if platform == "cuda" else PALLAS
    assert (kernel in text) == (part is not None)
    if part is not None:
        entered = re.search(r"sdy.manual_computation.*?\n? *\(%\w+: tensor<([\dx]+)xbf16>", text)
        assert tuple(map(int, entered[1].split("x"))) == part


def test_heads_that_do_not_divide():
    """Four heads on three devices: the plain formula, which XLA divides."""
    mesh = divided_attention.abstract_mesh((3,), ("mp",))
    layout = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(None, "mp"))
    struct = jax.ShapeDtypeStruct((2, 129, 4, 64), jnp.bfloat16, sharding=layout)

    def attend(q, k, v):
        return fused_attention.fused_attention(q, k, v, None, True, None)

    text = jax.jit(attend).trace(*[struct] * 3).lower(lowering_platforms=("cuda",)).as_text()
    assert CUDNN not in text


def test_values_on_several_devices():
    """Attention and its gradients by parts, in a process with four devices, against the whole."""
    flags = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"
    done = forked_python.run(["-m", "tests.nn.divided_attention"], 200, {**os.environ, "XLA_FLAGS": flags})
    assert done.returncode == 0, done.stderr[-3000:]


def operands_of(length, heads, key_heads, width, seed=0):
    numbers = np.random.default_rng(seed)
    shapes = [(1, length, heads, width), (1, length, key_heads, width), (1, length, key_heads, width)]
    return [jnp.asarray(numbers.normal(size=shape), jnp.float32) for shape in shapes]


@pytest.mark.parametrize(
    ("length", "key_heads", "causal", "masked"),
    [(128, 2, False, False), (100, 1, True, False), (130, 2, False, True)],
)
def test_values_of_the_kernels_of_tpus(length, key_heads, causal, masked):
    """The kernels of Pallas, interpreted, against the plain formula."""
    from jax.experimental.pallas import tpu

    q, k, v = operands_of(length, 2, key_heads, 16)
    ct = jnp.asarray(np.random.default_rng(1).normal(size=q.shape), jnp.float32)
    mask = None
    if masked:
        mask = jnp.asarray(np.random.default_rng(2).random((1, 1, 1, length)) < 0.7)
    settings = {"causal": causal, "scale": 0.3, "precision": "highest"}
    given = [q, k, v] if mask is None else [q, k, v, mask]
    out, log = fused_attention._plain(*given, **settings)
    grads = fused_attention._plain_grad(*given, out, log, ct, **settings)
    assert pallas_attention.takes(q, k, v, mask)
    with tpu.force_tpu_interpret_mode():
        found, found_log = pallas_attention.forward(q, k, v, mask, causal, 0.3)
        found_grads = pallas_attention.backward(q, k, v, mask, out, log, ct, causal, 0.3)
    for got, want in zip([found, found_log, *found_grads], [out, log, *grads], strict=True):
        assert got.shape == want.shape and got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("masked", [False, True])
def test_values_of_the_primitive(monkeypatch, order, masked):
    """The primitive and its gradients, computed here, against attention as it is on a CPU."""
    arrays = [*map(np.asarray, operands_of(64, 2, 1, 8))]
    if masked:
        arrays.append(np.random.default_rng(3).normal(size=(64, 64)).astype("float32"))
    function = with_gradients(not masked, False, order)

    def values():
        found = function(*map(paddle.to_tensor, arrays))
        return [each.numpy() for each in (found if isinstance(found, list | tuple) else [found])]

    want = values()
    sdpa.attend.op.kernels.clear()
    sdpa.attend.op.fast.clear()
    monkeypatch.setattr(sdpa, "traced_platform", lambda: "cuda")
    try:
        found = values()
        names = [entry.name for entry in sdpa.attend.op.kernels.values()]
    finally:
        sdpa.attend.op.kernels.clear()
        sdpa.attend.op.fast.clear()
    assert names
    for got, expected in zip(found, want, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)


def test_queries_that_see_no_key():
    out = fused_attention._with_nan(jnp.ones((1, 2, 3, 4)), jnp.asarray([[[[True, False], [False, False]]]]))
    assert np.isnan(np.asarray(out)).any((0, 2, 3)).tolist() == [False, True]


def test_transformations_of_the_primitive():
    """`vmap` and forward mode, against the same of the plain formula."""
    q, k, v = operands_of(64, 2, 2, 8)

    def fused(q):
        return fused_attention.fused_attention(q, k, v, None, True, None)

    def plain(q):
        return fused_attention._plain(q, k, v, causal=True, scale=8**-0.5, precision="highest")[0]

    many = jnp.stack([q, 2 * q])
    np.testing.assert_allclose(jax.vmap(fused)(many), jax.vmap(plain)(many), rtol=1e-5, atol=1e-5)
    got, want = (jax.jvp(f, (q,), (jnp.ones_like(q),)) for f in (fused, plain))
    np.testing.assert_allclose(got[1], want[1], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("chip", "calls"), [("h100", "__cudnn$fmhaSoftmax"), ("v5e", PALLAS)])
def test_compiled_programs(chip, calls):
    """What the compilers make of it: one forward kernel in a step, memory that grows with the length."""
    lacking = compilers.missing(CHIPS[chip].platform)
    if lacking:
        pytest.skip(f"the compiler for {chip} is not installed ({', '.join(lacking)})")
    reports = [
        compile_for(with_gradients(True), *specs(length, 2, 2, 64, "bfloat16"), target=chip)
        for length in (1024, 4096)
    ]
    assert all(f'custom_call_target="{calls}"' in report.text for report in reports)
    short, long = (report.peak for report in reports)
    assert long < 4.5 * short
    products = 7 * 0.5 * 2 * 2 * 2 * 1024**2 * 64  # seven products of a batch of 2 with 2 heads, half of them
    assert reports[0].products == {"bf16": products}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chip", "calls"),
    [("h100:8", ["__cudnn$fmhaSoftmax", "__cudnn$fmhaSoftmaxBackward"]), ("v5e:2x4", [PALLAS])],
)
def test_compiled_programs_of_several_devices(chip, calls):
    """A step with dp 2 and mp 4 runs the kernels with 2 of 4 rows and 2 of 8 heads; only gradients travel."""
    lacking = compilers.missing(CHIPS[chip.partition(":")[0]].platform)
    if lacking:
        pytest.skip(f"the compiler for {chip} is not installed ({', '.join(lacking)})")
    done = subprocess.run(
        [sys.executable, "-m", "tests.nn.divided_attention", chip],
        timeout=280,
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=8"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert set(calls) <= set(found["calls"])
    assert "bf16[2,2,256,64]" in found["shapes"]
    assert found["collectives"] == ["all-reduce"]
