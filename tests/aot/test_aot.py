"""`paddle_jax.aot`: reports of programs compiled for other chips.

They are checked on the CPU, and with the compilers for GPUs and TPUs where these are installed
(`pip install 'paddle_jax[aot]'`, or PADDLE_JAX_COMPILERS).
"""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import paddle_jax as paddle
import paddle_jax.aot as aot
from paddle_jax.aot import capture, commands, compilers, hlo, target
from paddle_jax.aot.chips import CHIPS
from paddle_jax.aot.collectives import collectives
from paddle_jax.static import InputSpec


def needs(chip):
    """A parameter that is skipped where the compiler for a chip is missing."""
    lacking = compilers.missing(CHIPS[chip.partition(":")[0]].platform)
    why = f"the compiler for {chip} is not installed ({', '.join(lacking)})"
    return pytest.param(chip, marks=pytest.mark.skipif(bool(lacking), reason=why))


ELSEWHERE = [needs(chip) for chip in ("v5e", "v5p", "h100", "b200")]


def training_step():
    """(step, batch): a step of a small network, not decorated."""
    net = paddle.nn.Sequential(paddle.nn.Linear(64, 128), paddle.nn.ReLU(), paddle.nn.Linear(128, 10))
    adam = paddle.optimizer.Adam(parameters=net.parameters())

    def step(x, y):
        loss = paddle.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    return step, (paddle.randn([32, 64]), paddle.randint(0, 10, [32]))


@pytest.mark.parametrize(
    ("text", "platform", "devices"),
    [
        ("cpu", "cpu", 1),
        ("cpu:8", "cpu", 8),
        ("v5e", "tpu", 1),
        ("v5e:2x4", "tpu", 8),
        ("V5E:8", "tpu", 8),
        ("v5p:2x2x2", "tpu", 8),
        ("v5p:8", "tpu", 8),
        ("h100", "cuda", 1),
        ("h100:8", "cuda", 8),
    ],
)
def test_names_of_targets(text, platform, devices):
    found = target.parse(text)
    assert (found.platform, found.devices) == (platform, devices)


@pytest.mark.parametrize(
    ("function", "settings", "kind", "text"),
    [
        (abs, {"target": "v9"}, ValueError, "chips are cpu, v5e"),
        (abs, {"target": "v5e:3x3"}, ValueError, "such as v5e:2x4"),
        (abs, {"target": "v5p:2x2x2x2"}, ValueError, "3 dimensions"),
        (abs, {"target": "h100:2x2"}, ValueError, "only TPUs have a topology"),
        (abs, {"target": "h100:none"}, ValueError, "comes a number"),
        (abs, {"target": 8}, TypeError, "must be a str"),
        (8, {}, TypeError, "must be a function"),
    ],
)
def test_wrong_arguments(function, settings, kind, text):
    with pytest.raises(kind, match=text):
        aot.compile(function, paddle.ones([2]), **settings)


def test_missing_compiler(monkeypatch):
    monkeypatch.setattr(compilers, "missing", lambda platform: ["libtpu"])
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'paddle_jax\[aot\]'"):
        aot.compile(paddle.tanh, paddle.ones([2]), target="v5e")
    assert aot.targets()["v5e"] == "TPU v5e: libtpu is missing"


def test_a_compiler_that_takes_too_long_or_is_killed(monkeypatch):
    host = target.parse("cpu")
    with pytest.raises(compilers.CompilerError, match="took more than 0.001 s"):
        compilers.compile_module(host, b"", 1, timeout=0.001)

    def kill(stream, header, body):
        for process in compilers._processes.values():
            process.process.kill()
            process.process.wait()

    # As the system does where memory is short.
    monkeypatch.setattr(compilers, "send", kill)
    with pytest.raises(compilers.CompilerError, match="the compiler has ended"):
        compilers.compile_module(host, b"", 1, timeout=100)


def test_not_traceable():
    def step(x):
        return x + len(["a", "b"][int(x.sum())])

    with pytest.raises(RuntimeError, match=r"step cannot be traced as a whole: .*test_aot.py:\d+"):
        aot.compile(step, paddle.ones([2]))


def test_open_shape():
    with pytest.raises(ValueError, match="fixed shapes"):
        aot.compile(paddle.tanh, InputSpec([None, 2], "float32"))


def test_report_of_a_step():
    step, batch = training_step()
    before = [float(step(*batch)) for _ in range(2)]
    report = aot.compile(step, *batch)
    parameters = 64 * 128 + 128 + 128 * 10 + 10
    states = 2 * 4 + 8  # powers of the two rates, and the learning rate
    data = 32 * 64 * 4 + 32 * 8
    assert report.compiles and report.devices == 1
    assert report.arguments == 3 * 4 * parameters + states + data  # two moments for each parameter
    assert report.products == {"f32": 2 * 32 * (64 * 128 * 2 + 128 * 10 * 3)}
    assert report.results - report.shared < 1024 < report.temporaries
    assert report.seconds is None and report.collectives == []
    assert "step compiles for the processor" in str(report) and "<table>" in report._repr_html_()
    after = float(step(*batch))
    assert after < before[1] < before[0]  # compiling has changed nothing


def test_a_program_that_jaxlib_cannot_read(monkeypatch):
    """A libtpu that is newer than jaxlib: it compiles, and what only the text tells is not known."""
    step, batch = training_step()
    known = aot.compile(step, *batch, target="cpu")

    def compile_module(*arguments, **settings):
        reply, _ = compile_as_before(*arguments, **settings)
        return {**reply, "unreadable": "RET_CHECK failure\nmore"}, ""

    compile_as_before = compilers.compile_module
    monkeypatch.setattr(compilers, "compile_module", compile_module)
    report = aot.compile(step, *batch, target="cpu")
    assert report.compiles and report.peak == known.peak and report.products == known.products
    assert report.seconds is None and not report.bytes
    assert "read and written" in str(known) and "read and written" not in str(report)
    assert "jaxlib cannot read the program" in str(report) and "(RET_CHECK failure)" in str(report)


def test_memory_agrees_with_jax():
    """The figures of XLA for the same function in this process."""

    def f(x, y):
        return paddle.tanh(x @ y) @ y, (x * y).sum()

    def same(x, y):
        product = jax.numpy.tanh(jax.numpy.matmul(x, y))
        return jax.numpy.matmul(product, y), (x * y).sum()

    shape = [256, 256]
    memory = jax.jit(same).lower(*[jax.ShapeDtypeStruct(shape, "float32")] * 2).compile().memory_analysis()
    report = aot.compile(f, *[InputSpec(shape, "float32")] * 2)
    assert report.arguments == memory.argument_size_in_bytes == 2 * 4 * 256**2
    assert report.results == memory.output_size_in_bytes
    assert report.temporaries == memory.temp_size_in_bytes


def test_layers_and_compiled_functions():
    layer = paddle.nn.Linear(4, 3)
    x = InputSpec([8, 4], "float32")
    plain = aot.compile(layer, x)
    compiled = aot.compile(paddle.jit.to_static(layer), x)
    assert plain.arguments == compiled.arguments == 4 * (8 * 4 + 4 * 3 + 3)
    assert plain.products == compiled.products == {"f32": 2 * 8 * 4 * 3}


@pytest.mark.parametrize(
    ("function", "shape", "products"),
    [
        (lambda x: x.astype("bfloat16") @ x.astype("bfloat16"), [8, 8], {"bf16": 1024}),
        (lambda x: x.astype("float64") @ x.astype("float64"), [8, 8], {"f64": 1024}),
        (lambda x: x.astype("complex64") @ x.astype("complex64"), [8, 8], {"f32": 4096}),
        (
            lambda x: paddle.nn.functional.conv2d(x, x[:3, :, :3, :3], padding=1),
            [4, 2, 8, 8],
            {"f32": 2 * 4 * 3 * 64 * 2 * 9},
        ),
        (paddle.tanh, [8, 8], {}),
    ],
)
def test_operations(function, shape, products):
    assert aot.compile(function, InputSpec(shape, "float32")).products == products


def test_bytes_of_a_program():
    """A copy of a matrix by a loop: what is cut is counted, not the whole."""
    text = """HloModule m
%body (p: (s32[], f32[8,16], f32[8,16])) -> (s32[], f32[8,16], f32[8,16]) {
  %p = (s32[], f32[8,16]{1,0}, f32[8,16]{1,0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[8,16]{1,0} get-tuple-element(%p), index=1
  %y = f32[8,16]{1,0} get-tuple-element(%p), index=2
  %zero = s32[] constant(0)
  %row = f32[1,16]{1,0} dynamic-slice(%x, %i, %zero), dynamic_slice_sizes={1,16}
  %new = f32[8,16]{1,0} dynamic-update-slice(%y, %row, %i, %zero)
  ROOT %t = (s32[], f32[8,16]{1,0}, f32[8,16]{1,0}) tuple(%i, %x, %new)
}
ENTRY %main (a: f32[8,16]) -> f32[8,16] {
  %a = f32[8,16]{1,0} parameter(0)
  %n = s64[] constant(0)
  %wide = s64[4]{0} broadcast(%n), dimensions={}
  %start = (s32[], f32[8,16]{1,0}, f32[8,16]{1,0}) tuple(%zero.1, %a, %a)
  %w = (s32[], f32[8,16]{1,0}, f32[8,16]{1,0}) while(%start), condition=%c, body=%body, \
backend_config={"known_trip_count":{"n":"8"}}
  ROOT %out = f32[8,16]{1,0} get-tuple-element(%w), index=2
}
"""
    program = hlo.parse(text)
    row = 16 * 4
    assert program.bytes_moved() == 8 * (2 * row + 2 * row) + (4 * 8 + 8)
    assert [each.name for each in program.wide_instructions()] == ["wide"]


@pytest.mark.parametrize("chip", ELSEWHERE)
def test_elsewhere(chip):
    """A step compiles for a chip that is not there, and this process stays as it is."""
    devices = jax.devices()
    step, batch = training_step()
    losses = [float(step(*batch))]
    report = aot.compile(step, *batch, target=chip)
    losses.append(float(step(*batch)))
    assert report.compiles and report.fits
    assert 0 < report.arguments < report.peak < 16 << 20
    assert report.seconds is not None and report.seconds > 0
    assert losses[1] < losses[0] and jax.devices() == devices
    assert "libtpu" not in sys.modules and "jax_plugins.xla_cuda12" not in sys.modules


WEIGHT = np.arange(16, dtype="float32").reshape(2, 8)


def second_derivative(x):
    """The second derivatives by the first of two columns, as a PINN has them."""
    x.stop_gradient = False
    u = paddle.tanh(x @ paddle.to_tensor(WEIGHT)).sum()
    (first,) = paddle.grad(u, x, create_graph=True)
    return paddle.grad(first[:, 0].sum(), x)[0]


@pytest.mark.parametrize(("platform", "hidden"), [("tpu", 1), ("cuda", 0), ("cpu", 0)])
def test_constants_in_constants_are_hidden_on_tpus(platform, hidden):
    """A column of ones in a matrix of zeros, whose product the compiler for TPUs cannot fold."""
    traced = capture.trace(second_derivative, [InputSpec([64, 2], "float32")], {}, platform).traced
    text = traced.lower(lowering_platforms=(platform,)).as_text()
    assert "dynamic_update_slice" in text
    assert text.count("stablehlo.optimization_barrier") == hidden


def test_second_derivatives_on_a_tpu():
    lacking = compilers.missing("tpu")
    if lacking:
        pytest.skip(f"the compiler for v5e is not installed ({', '.join(lacking)})")
    report = aot.compile(second_derivative, InputSpec([64, 2], "float32"), target="v5e")
    assert report.compiles, report.error


def step_of(width, dtype="float32"):
    """(step, network, optimizer) of a network of one square matrix."""
    paddle.seed(0)
    paddle.set_default_dtype(dtype)
    net = paddle.nn.Linear(width, width)
    paddle.set_default_dtype("float32")
    adam = paddle.optimizer.AdamW(parameters=net.parameters(), multi_precision=True)

    def step(x):
        loss = net(x).square().mean()
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    return step, net, adam


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_parameters_without_values(dtype):
    """Parameters made under LazyGuard count as those with values, and stay as they are."""
    found = []
    for guard in (contextlib.nullcontext(), paddle.LazyGuard()):
        with guard:
            step, net, adam = step_of(8, dtype)
        traced = capture.trace(step, [InputSpec([2, 8], dtype)], {}, "cuda")
        found.append([(x.shape, str(x.dtype)) for x in traced.operands])
    assert found[0] == found[1]
    assert repr(net.weight).endswith("Tensor(Not initialized)")
    assert adam.get_opti_var_name_list() == []
    # afterwards it trains as a network with values from the beginning
    step_with_values, _, _ = step_of(8, dtype)
    paddle.seed(0)
    for parameter in net.parameters():
        parameter.initialize()
    x = paddle.ones([2, 8], dtype)
    assert step(x).item() == step_with_values(x).item()
    assert len(adam.get_opti_var_name_list()) == 8


def test_a_network_larger_than_the_memory():
    """A matrix of 256 GiB, with two states of the same size."""
    with paddle.LazyGuard():
        step, _, _ = step_of(1 << 18)
    traced = capture.trace(step, [InputSpec([1, 1 << 18], "float32")], {}, "tpu")
    assert sum(x.size for x in traced.operands) > 3 * 2**36


def test_parameters_without_values_that_the_host_reads():
    with paddle.LazyGuard():
        net = paddle.nn.Layer()
        net.count = net.create_parameter(
            [1], dtype="int32", default_initializer=paddle.nn.initializer.Constant(3)
        )
    with pytest.raises(RuntimeError, match="is not initialized: it was made under paddle.LazyGuard"):
        aot.compile(lambda x: x * int(net.count), InputSpec([2], "float32"))


@pytest.mark.slow
@pytest.mark.parametrize("chip", [needs("cpu:8"), needs("v5e:2x4"), needs("h100:8")])
def test_sharded(chip):
    code = f"""
import numpy as np, paddle_jax as paddle, paddle_jax.aot as aot, paddle_jax.distributed as dist
mesh = dist.ProcessMesh(np.arange(8), dim_names=["dp"])
net = paddle.nn.Linear(64, 64)
dist.shard_layer(net, mesh)
x = dist.shard_tensor(np.ones((32, 64), "float32"), mesh, [dist.Shard(0)])
def step(x):
    loss = net(x).sum()
    loss.backward()
    return net.weight.grad
report = aot.compile(step, x, target={chip!r})
assert report.compiles and report.devices == 8, report
assert {{c.kind for c in report.collectives}} & {{"all-reduce", "reduce-scatter"}}, report
assert report.products["f32"] == 2 * 32 * 64 * 64 / 8, report.products
plan = dist.plan(step, x, target={chip!r})
assert (plan.devices, plan.arguments, plan.moved) == (8, report.arguments, report.moved), plan
assert plan.tensors[0][2] == mesh, plan
try:
    aot.compile(step, x, target={chip!r}.partition(":")[0])
except ValueError as error:
    assert "the program runs on 8" in str(error)
else:
    raise SystemExit("no error")
"""
    environment = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "NPROC": "8"}
    subprocess.run([sys.executable, "-c", code], check=True, timeout=250, env={**os.environ, **environment})


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the peak cannot be set back")
def test_memory_of_a_real_run():
    """The memory of a CPU process grows by what the report says of a step with large temporaries."""
    code = """
import ctypes, re
import paddle_jax as paddle, paddle_jax.aot as aot
trim = ctypes.CDLL("libc.so.6").malloc_trim
def memory(kind):
    return int(re.search(kind + r":\\s+(\\d+) kB", open("/proc/self/status").read())[1]) * 1024
@paddle.jit.to_static
def f(x):
    y = paddle.sort(x, axis=0) @ x
    return (paddle.sort(paddle.sort(y * x, axis=1), axis=0) * y).sum()
x = paddle.ones([2000, 2000]) * 2
for _ in range(3):
    float(f(x))  # the first calls compile
growths = []
for _ in range(5):
    trim(0)
    open("/proc/self/clear_refs", "w").write("5")  # the peak begins again
    before = memory("VmRSS")
    float(f(x))
    growths.append(memory("VmHWM") - before)  # less where memory of the run before is still there
report = aot.compile(f, x)
print(max(growths), report.peak - report.arguments, report.arguments)
"""
    out = subprocess.run(
        [sys.executable, "-c", code], check=True, timeout=250, capture_output=True, text=True
    )
    real, said, matrix = map(int, out.stdout.split())
    assert matrix == 4 * 2000**2
    assert 0.95 * said < real < 1.1 * said, (real, said)


SCRIPT = """
import sys, paddle
net = paddle.nn.Linear(64, 64)
sgd = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for i in range(int(sys.argv[1])):
    loss = net(paddle.ones([32, 64])).square().mean()
    loss.backward()
    sgd.step()
    sgd.clear_grad()
    print("loss", float(loss) < 10)
@paddle.jit.to_static
def product(x):
    return x @ x
if sys.argv[1] == "5":
    product(paddle.ones([4, 4]))
"""


@pytest.mark.parametrize(
    ("arguments", "status", "texts"),
    [
        (
            ["--target", "cpu", "5"],
            0,
            ["operations at", "product compiles", f"{2 * 2 * 32 * 64 * 64 // 1000} k"],
        ),
        (["--target", "cpu", "1"], 2, ["nothing was compiled"]),
        (["--target", "v9", "1"], 2, ["chips are cpu"]),
    ],
)
def test_compile_a_script(tmp_path, arguments, status, texts):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "paddle_jax", "compile", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    output = done.stdout + done.stderr
    assert done.returncode == status, output
    assert all(text in output for text in texts), output


def test_check_a_target(capsys):
    assert commands.check_target("cpu") == 0
    assert "step compiles for the processor of this machine" in capsys.readouterr().out
    assert commands.check_target("v9") == 2


GROUPS = "replica_groups=mesh['a'=8] {'a'}"


@pytest.mark.parametrize(
    ("shape", "kind", "result", "received"),
    [
        # starts of combined ones: operands, then results
        ("((f32[64]{0}, bf16[8,4]{1,0}), (f32[8]{0}, bf16[1,4]{1,0}))", "reduce-scatter", 40, 280),
        ("((f32[8]{0}, bf16[1,4]{1,0}), (f32[64]{0}, bf16[8,4]{1,0}))", "all-gather", 320, 280),
        ("(f32[8]{0}, f32[64]{0})", "all-gather", 256, 224),
        ("(f32[8]{0}, /*index=1*/f32[64]{0})", "all-reduce", 288, 504),
        ("f32[64]{0}", "all-reduce", 256, 448),
    ],
)
def test_bytes_of_asynchronous_collectives(shape, kind, result, received):
    text = f"ENTRY %main (p: f32[]) -> f32[] {{\n  %x = {shape} {kind}-start(%p), {GROUPS}\n}}"
    (found,) = collectives(hlo.parse(text))
    assert (found.kind, found.result, found.nbytes) == (kind, result, received)
