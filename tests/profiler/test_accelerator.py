"""What is taken from JAX's own profile of an accelerator, and that the profile is taken only
where there is one."""

import jax

import paddle_jax
from paddle_jax.profiler import accelerator, profiler


def event(pid, tid, name, dur):
    return {"ph": "X", "pid": pid, "tid": tid, "name": name, "dur": dur}


def test_kernels_of_devices_only():
    def meta(pid, name):
        return {"ph": "M", "pid": pid, "name": "process_name", "args": {"name": name}}

    def row(pid, tid, name):
        return {"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": name}}

    trace = {
        "traceEvents": [
            meta(1, "/device:GPU:0"),
            meta(2, "/host:CPU"),
            meta(3, "/device:TPU:0"),
            row(1, 7, "Stream #13(Compute)"),
            row(1, 8, "Framework Name Scope"),
            row(2, 7, "python"),
            row(3, 2, "XLA Ops"),
            row(3, 3, "XLA Modules"),
            event(1, 7, "gemm", 30),
            event(1, 7, "gemm", 50),
            event(1, 8, "jit_step", 500),
            event(2, 7, "python call", 900),
            event(3, 2, "fusion", 40),
            event(3, 3, "jit_step", 700),
        ]
    }
    found = accelerator.kernels(trace)
    assert [(name, calls) for name, _, calls in found] == [("gemm", 2), ("fusion", 1)]
    assert abs(found[0][1] - 80e-6) < 1e-12
    assert accelerator.kernels({}) == []


class Pretended:
    """JAX's profile of an accelerator, without one."""

    made = 0

    def __init__(self):
        type(self).made += 1
        self.kernels = []

    def stop(self):
        self.kernels = [("planted_gemm", 0.02, 3)]


def test_an_accelerator_is_profiled_along(monkeypatch, capsys):
    monkeypatch.setattr(profiler, "Trace", Pretended)
    with paddle_jax.profiler.Profiler(on_trace_ready=lambda p: None):
        pass
    assert Pretended.made == 0
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    with paddle_jax.profiler.Profiler(on_trace_ready=lambda p: None) as prof:
        paddle_jax.ones([2]).numpy()
    assert Pretended.made == 1
    prof.summary(views=paddle_jax.profiler.SummaryView.DeviceView)
    text = capsys.readouterr().out
    assert "planted_gemm" in text
    assert "20.000" in text


def test_jax_profile_of_this_machine_can_be_read(tmp_path):
    trace = accelerator.Trace()
    jax.numpy.ones([10]).sum().block_until_ready()
    trace.stop()
    assert trace.kernels == []  # a CPU is no accelerator
