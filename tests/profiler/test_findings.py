"""Planted faults that a recording has to name, in every way a program can run."""

import time

import numpy as np
import pytest

from paddle_jax.profiler import profiler_statistic
from paddle_jax.profiler.profiler_statistic import where_the_time_went
from paddle_jax.profiler.result import operations
from tests.deferred import compiled as compiled_segments

MODES = ["new", "recurring", "off", "to_static"]
STEPS = 12


def lines(result):
    """{(file:line, operation): nanoseconds}."""
    found = {}
    for name, where, _, ns, _, _ in operations(result):
        key = where.split("/")[-1], name
        found[key] = found.get(key, 0) + ns
    return found


def record(paddle, step, mode, steps=STEPS):
    """The recording of a function that returns a Tensor, met before or not."""
    if mode == "new":
        compiled_segments.forget()  # a test before may have had the same sequence compiled
    if mode == "off":
        paddle.set_flags({"FLAGS_deferred": "off"})
    if mode == "recurring":
        paddle.set_flags({"FLAGS_deferred_min_repeats": 2})
    if mode == "to_static":
        step = paddle.jit.to_static(step)
    for _ in range(4 if mode != "new" else 0):
        step().numpy()
    prof = paddle.profiler.Profiler(on_trace_ready=lambda p: None)
    with prof:
        for _ in range(steps if mode != "new" else 1):
            step().numpy()
            prof.step()
    return prof.profiler_result


@pytest.fixture(autouse=True)
def flags(paddle):
    yield
    paddle.set_flags({"FLAGS_deferred": "sync", "FLAGS_deferred_min_repeats": 0})


@pytest.mark.parametrize("mode", MODES)
def test_a_slow_operation_is_named_with_its_line(mode, paddle):
    a, b = paddle.randn([500, 500]), paddle.randn([8, 8])
    a.numpy()

    def step():
        c = paddle.tanh(b) * 2
        d = paddle.matmul(a, a).sum()  # planted
        return (c + b).sum() + d

    result = record(paddle, step, mode)
    found = lines(result)
    (where, name), _ = max(found.items(), key=lambda item: item[1])
    assert where == f"test_findings.py:{step.__code__.co_firstlineno + 2}"
    assert name in ("matmul", "dot_general")
    how = {how for op, _, how, *_ in operations(result) if op == name}
    expected = {
        "new": {"interpreted", "compiled op"},
        "recurring": {"compiled program"},
        "off": {"compiled op"},
        "to_static": {"compiled program"},
    }
    assert how <= expected[mode]


@pytest.mark.parametrize("mode", MODES)
def test_results_are_the_same(mode, paddle):
    def trained(recording):
        paddle.seed(3)
        net = paddle.nn.Sequential(
            paddle.nn.Linear(6, 5), paddle.nn.Dropout(0.3), paddle.nn.Tanh(), paddle.nn.Linear(5, 1)
        )
        opt = paddle.optimizer.Adam(0.1, parameters=net.parameters())
        x = paddle.randn([4, 6])

        def step():
            loss = (net(x) ** 2).mean()
            loss.backward()
            opt.step()
            opt.clear_grad()
            return loss

        run = paddle.jit.to_static(step) if mode == "to_static" else step
        losses = [run().item() for _ in range(5)]
        prof = paddle.profiler.Profiler(on_trace_ready=lambda p: None)
        if recording:
            prof.start()
        for _ in range(5):
            losses.append(run().item())
            if recording:
                prof.step()
        if recording:
            prof.stop()
        return losses, prof, run

    paddle.set_flags(
        {
            "FLAGS_deferred": "off" if mode == "off" else "sync",
            "FLAGS_deferred_min_repeats": 2 if mode == "recurring" else 0,
        }
    )
    plain, (recorded, prof, run) = trained(False)[0], trained(True)
    # what an earlier test has compiled already differs in the last bits from what is new
    np.testing.assert_allclose(plain, recorded, rtol=2e-6)
    assert len(prof.profiler_result.find("ProfileStep#3")) == 1
    if mode == "to_static":
        assert run.get_traced_count() == 1  # what was compiled before the recording is used in it


def test_loading_is_named(paddle):
    class Slow(paddle.io.Dataset):
        def __getitem__(self, index):
            time.sleep(0.01)
            return paddle.ones([2]).numpy()

        def __len__(self):
            return 12

    prof = paddle.profiler.Profiler(on_trace_ready=lambda p: None)
    with prof:
        for batch in paddle.io.DataLoader(Slow(), batch_size=4):
            batch[0].sum().item()
            prof.step()
    went = where_the_time_went(prof.profiler_result)
    assert max(went, key=went.get) == "loading data"
    assert went["loading data"] > 0.1e9
    assert sum(went.values()) == prof.profiler_result.span[1] - prof.profiler_result.span[0]


def test_compiling_is_named(paddle):
    @paddle.jit.to_static
    def planted(x):
        for _ in range(15):
            x = paddle.tanh(x @ x) + x
        return x

    with paddle.profiler.Profiler(on_trace_ready=lambda p: None) as prof:
        planted(paddle.ones([4, 4])).numpy()
    went = where_the_time_went(prof.profiler_result)
    assert max(went, key=went.get) in ("compiling", "tracing what is new")
    assert went["compiling"] > 0.01e9
    text = profiler_statistic._build_table(prof.profiler_result)
    assert "planted" in text[text.index("Compilation Summary") :].split("---\n\n")[0]


def test_reading_in_a_loop_is_named(paddle):
    x = paddle.randn([20])
    with paddle.profiler.Profiler(on_trace_ready=lambda p: None) as prof:
        for i in range(20):
            float((x * 2)[i])  # planted
    text = profiler_statistic._build_table(prof.profiler_result)
    table = text[text.index("Why Pending Operations Ran") :]
    assert "a value was asked for" in table
    line = test_reading_in_a_loop_is_named.__code__.co_firstlineno + 4
    assert f"test_findings.py:{line}" in table


def test_programs_of_the_executor_are_seen(paddle):
    paddle.enable_static()
    try:
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            x = paddle.static.data("x", [300, 300])
            y = paddle.tanh(x[0]).sum() + paddle.matmul(x, x).sum()
        exe = paddle.static.Executor()
        exe.run(startup)
        feed = {"x": np.ones([300, 300], "float32")}
        exe.run(main, feed=feed, fetch_list=[y])
        with paddle.profiler.Profiler(on_trace_ready=lambda p: None) as prof:
            for _ in range(3):
                exe.run(main, feed=feed, fetch_list=[y])
    finally:
        paddle.disable_static()
    found = lines(prof.profiler_result)
    assert max(found, key=found.get)[1] == "matmul"
    events = [event for event in prof.profiler_result.events if event.name.startswith("static program")]
    assert len(events) == 3
    assert events[0].where.endswith(
        f"test_findings.py:{test_programs_of_the_executor_are_seen.__code__.co_firstlineno + 13}"
    )


def test_memory_of_results(paddle, capsys):
    prof = paddle.profiler.Profiler(on_trace_ready=lambda p: None, profile_memory=True)
    with prof:
        big = paddle.ones([1000, 100]).exp()
        big.numpy()
        prof.step()
    prof.summary(views=paddle.profiler.SummaryView.MemoryView)
    text = capsys.readouterr().out
    assert "400000" in text
    assert where_the_time_went(prof.profiler_result)["the Profiler itself"] > 0
    assert prof.profiler_result.memory[0] >= 400000
