"""`paddle.device` on a machine with only a CPU as the real Paddle there; memory figures and streams on a
pretended accelerator."""

import pickle
import types
import warnings

import jax
import pytest

import paddle_jax
from paddle_jax.device import memory, streams

COLLECTS_GARBAGE = True  # empty_cache does

REFUSED = [
    *[
        f"device.{name}"
        for name in (
            "max_memory_allocated",
            "max_memory_reserved",
            "reset_max_memory_allocated",
            "reset_max_memory_reserved",
            "reset_peak_memory_stats",
            "get_device_name",
            "get_device_capability",
            "get_device_properties",
            "current_stream",
            "Event",
            "Stream",
            "ipc_collect",
        )
    ],
    *[
        f"device.cuda.{name}"
        for name in (
            "max_memory_allocated",
            "max_memory_reserved",
            "memory_allocated",
            "memory_reserved",
            "get_device_name",
            "reset_max_memory_allocated",
            "reset_max_memory_reserved",
            "get_device_capability",
            "synchronize",
            "get_device_properties",
            "Event",
            "Stream",
        )
    ],
    *[
        f"device.xpu.{name}"
        for name in (
            "max_memory_allocated",
            "memory_allocated",
            "memory_reserved",
            "memory_total",
            "memory_used",
            "empty_cache",
            "reset_max_memory_allocated",
            "synchronize",
            "Event",
            "Stream",
            "current_stream",
        )
    ],
    *[
        f"cuda.{name}"
        for name in (
            "current_stream",
            "get_device_name",
            "get_device_properties",
            "get_device_capability",
            "mem_get_info",
            "max_memory_allocated",
            "max_memory_reserved",
            "reset_max_memory_allocated",
            "reset_max_memory_reserved",
            "synchronize",
        )
    ],
    "device.custom_device.Stream",
    "device.custom_device.Event",
    "device.custom_device.get_device_properties",
]
ANSWERED = [
    "device.device_count",
    "device.is_available",
    "device.get_available_device",
    "device.get_all_device_type",
    "device.cuda.device_count",
    "device.xpu.device_count",
    "device.cuda.empty_cache",
    "device.is_current_stream_capturing",
    "device.is_bf16_supported",
    "device.current_device",
    "device.device_to_place",
    "cuda.is_available",
    "cuda.is_initialized",
    "cuda.current_device",
    "cuda.device_count",
    "cuda.is_current_stream_capturing",
]


def named(module, path):
    for part in path.split("."):
        module = getattr(module, part)
    return module


@pytest.mark.parametrize("path", REFUSED)
def test_refused_without_an_accelerator_as_the_oracle(path, oracle):
    with warnings.catch_warnings(), pytest.raises(Exception) as theirs:  # noqa: PT011  whichever it raises
        warnings.simplefilter("ignore")
        named(oracle, path)()
    with pytest.raises(type(theirs.value)):
        named(paddle_jax, path)()


@pytest.mark.parametrize("path", ANSWERED)
def test_answered_as_the_oracle(path, oracle):
    ours, theirs = named(paddle_jax, path)(), named(oracle, path)()
    assert str(ours) == str(theirs) and ours.__class__.__name__ == theirs.__class__.__name__


TEXTS = [
    ("cuda", 1),
    ("cuda:1",),
    ("cpu",),
    ("cpu", 0),
    ("xpu",),
    ("gpu", 0),
    (3,),
    ("GPU:2",),
    ("abc",),
    (None,),
    (1.5,),
    ("cuda:x",),
]


def described(module, given):
    try:
        device = module.device.Device(*given)
    except Exception as error:
        return type(error).__name__
    copied = pickle.loads(pickle.dumps(device))
    return (
        str(device),
        repr(device),
        device.type,
        device.index,
        device == module.device(*given),
        copied,
        isinstance(device, str),
    )


@pytest.mark.parametrize("given", TEXTS)
def test_devices_as_text_as_the_oracle(given, oracle):
    assert described(paddle_jax, given) == described(oracle, given)


def torch_names(module):
    state = module.cuda.get_rng_state()
    first = module.rand([3])
    module.cuda.set_rng_state(state)
    again = bool((first == module.rand([3])).all())
    module.cuda.manual_seed_all(3)
    with module.device.Device("cpu") as device:
        inside = str(device), module.get_device()
    modules = [
        module.device.get_device_module(d).__name__.partition(".")[2]
        for d in ("cpu", "cuda", "gpu:0", "xpu", "npu", None)
    ]
    with module.device.stream(None), module.cuda.StreamContext(None):
        pass
    on = module.ones([1], device=module.device("cpu")).device
    refused = []
    for call in (
        lambda: module.device.get_device_module("gpu_pinned"),
        lambda: module.device.device_to_place("gpu"),
        lambda: module.device.device_to_place(1),
        lambda: module.cuda.set_device(0),
        lambda: module.device.extract_device_id("cpu", "f"),
    ):
        try:
            call()
        except Exception as error:
            refused.append(type(error).__name__.replace("NoAccelerator", "ValueError"))
    module.cuda.set_device("cpu")
    return again, inside, modules, on, on.type, on.index, refused


def test_names_as_in_pytorch_as_the_oracle(oracle):
    assert torch_names(paddle_jax) == torch_names(oracle)


def test_mixed_precision_as_in_pytorch(paddle):
    with paddle.device.amp.autocast(dtype=paddle.bfloat16):
        assert paddle.matmul(paddle.ones([2, 2]), paddle.ones([2, 2])).dtype == paddle.bfloat16


def contexts(module):
    found = []
    for make in (
        lambda: module.device.device("cpu"),
        lambda: module.device.device(0),
        lambda: module.device.device(None),
        lambda: module.device.stream_guard(None),
        lambda: module.device.StreamContext(),
        lambda: module.device.device_guard("cpu"),
    ):
        with make() as given:
            found.append((given, module.get_device()))
    for bad in ("gpu:0", "abc", -1):
        try:
            module.device.device(bad)
        except Exception as error:
            found.append(type(error).__name__)
    try:
        module.device.set_stream(3)
    except Exception as error:
        found.append(type(error).__name__)
    return found


def test_contexts_as_the_oracle(oracle):
    assert contexts(paddle_jax) == contexts(oracle)


class Pretended:
    """An accelerator with the figures of a real one."""

    platform, device_kind, id, compute_capability, core_count = "gpu", "NVIDIA Pretended", 0, "9.0", 132

    def __init__(self, **figures):
        self.figures = figures

    def memory_stats(self):
        return self.figures


@pytest.fixture
def gpu(monkeypatch):
    device = Pretended(bytes_in_use=100, peak_bytes_in_use=500, pool_bytes=800, bytes_limit=10_000)
    monkeypatch.setattr(
        memory,
        "jax",
        types.SimpleNamespace(
            local_devices=lambda: [device],
            device_put=lambda x, d: jax.numpy.asarray(x),
            block_until_ready=jax.block_until_ready,
        ),
    )
    monkeypatch.setattr(memory._Resets, "peaks", {})
    return device


def test_memory_figures(gpu, paddle, capsys):
    cuda = paddle.device.cuda
    assert (cuda.memory_allocated(), cuda.max_memory_allocated(), cuda.memory_reserved(0)) == (100, 500, 800)
    assert paddle.device.max_memory_allocated() == 500
    cuda.reset_max_memory_allocated()
    assert cuda.max_memory_allocated() == 100
    gpu.figures["bytes_in_use"] = 300
    assert cuda.memory_allocated() == 300
    gpu.figures["bytes_in_use"] = 50
    assert cuda.max_memory_allocated() == 300  # what was seen; XLA does not say more below its own peak
    gpu.figures["peak_bytes_in_use"] = 700
    assert cuda.max_memory_allocated() == 700
    paddle.device.reset_peak_memory_stats()
    assert cuda.max_memory_allocated() == 50
    assert cuda.get_device_properties() == ("NVIDIA Pretended", 9, 0, 10_000, 132)
    assert cuda.get_device_capability() == (9, 0)
    cuda.memory_summary()
    assert "10,000" in capsys.readouterr().out
    with pytest.raises(ValueError, match="got 3; there are 1"):
        cuda.memory_allocated(3)
    with pytest.raises(ValueError, match="must be an accelerator"):
        cuda.memory_allocated(paddle.CPUPlace())


def test_streams(gpu, paddle, monkeypatch):
    monkeypatch.setattr(streams, "_Current", type("_Current", (), {"stream": None}))
    first, second = paddle.device.cuda.Stream(), paddle.device.Stream()
    assert first == second == paddle.device.current_stream()
    begin, end = paddle.device.Event(enable_timing=True), first.record_event()
    with pytest.raises(RuntimeError, match="has not been recorded"):
        begin.elapsed_time(end)
    begin.record()
    end.record(second)
    assert 0 < begin.elapsed_time(end) < 10_000
    assert begin.query()
    assert paddle.device.set_stream(second) == first
