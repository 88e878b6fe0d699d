"""When a Profiler records, what it hands over, and what it leaves behind."""

import gc
import json
import re
import threading
import warnings

import pytest

import paddle_jax
from paddle_jax.profiler import probes
from paddle_jax.profiler.recording import Recording
from paddle_jax.profiler.result import ProfilerResult
from paddle_jax.profiler.timer import benchmark

SCHEDULES = [
    dict(closed=1, ready=1, record=2),
    dict(closed=1, ready=1, record=2, repeat=2, skip_first=1),
    dict(closed=0, ready=0, record=1),
    dict(closed=0, ready=1, record=3, repeat=1),
    dict(closed=2, ready=0, record=1, skip_first=3),
    dict(closed=0, ready=0, record=2),
    dict(closed=-1, ready=1, record=1),
    dict(closed=1, ready=1, record=0),
    dict(closed=1, ready=-1, record=1),
    dict(closed=1, ready=1, record=1, repeat=-1),
    dict(closed=1, ready=1, record=1, skip_first=-1),
]
NUMBER = re.compile(r"\d+\.\d+")


def outcome(function):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function()
        except Exception as error:
            return type(error).__name__


@pytest.mark.parametrize("kwargs", SCHEDULES, ids=repr)
def test_schedules_as_the_oracle(kwargs, oracle):
    def states(module):
        state = module.profiler.make_scheduler(**kwargs)
        return [state(step).name for step in range(14)]

    assert outcome(lambda: states(paddle_jax)) == outcome(lambda: states(oracle))


@pytest.mark.parametrize(
    "name", ["ProfilerState", "ProfilerTarget", "SummaryView", "SortedKeys", "TracerEventType"]
)
def test_members_as_the_oracle(name, oracle):
    ours, theirs = (getattr(module.profiler, name).__members__ for module in (paddle_jax, oracle))
    assert {key: value.value for key, value in ours.items()} == {
        key: value.value for key, value in theirs.items()
    }


def ranges(module):
    P = module.profiler
    return [
        None,
        (0, 3),
        (1, 3),
        (2, 5),
        [1, 3],
        (-1, 2),
        (3, 1),
        (0, 0),
        P.make_scheduler(closed=0, ready=0, record=2, skip_first=1),
        P.make_scheduler(closed=2, ready=0, record=2),
        P.make_scheduler(closed=0, ready=1, record=2),
        lambda step: P.ProfilerState.RECORD if 1 < step < 4 else P.ProfilerState.CLOSED,
    ]


def lived(module, scheduler):
    """The states of a Profiler through eight steps, and when it handed over what."""
    calls, states = [], []

    def ready(prof):
        calls.append((prof.step_num, prof.current_state.name, prof.previous_state.name))

    prof = module.profiler.Profiler(scheduler=scheduler, on_trace_ready=ready)
    prof.start()
    try:
        for _ in range(8):
            states.append(prof.current_state.name)
            module.ones([2])
            prof.step()
    finally:
        prof.stop()
        vars(prof).clear()  # the oracle has one recorder, which the next Profiler wants
        gc.collect()
    return states, calls


@pytest.mark.parametrize("which", range(12))
def test_states_as_the_oracle(which, oracle):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = ranges(paddle_jax)[which], ranges(oracle)[which]
    assert outcome(lambda: lived(paddle_jax, ours)) == outcome(lambda: lived(oracle, theirs))


def test_a_schedule_that_loses_its_recording_warns(paddle):
    prof = paddle.profiler.Profiler(
        scheduler=lambda step: paddle.profiler.ProfilerState(2 if step < 2 else 0),
        on_trace_ready=lambda p: 1 / 0,
    )
    prof.start()
    prof.step()
    with pytest.warns(UserWarning, match="RECORD in step 1, CLOSED in the next"):
        prof.step()
    prof.stop()


def infos(module, samples, unit, timer_only):
    prof, found = module.profiler.Profiler(timer_only=timer_only, on_trace_ready=lambda p: None), []
    prof.start()
    found.append(prof.step_info())
    for _ in range(3):
        prof.step(samples)
    found += [prof.step_info(unit), prof.step_info()]
    prof.stop()
    found.append(prof.summary() if timer_only else None)
    vars(prof).clear()
    gc.collect()
    return [text if text is None else NUMBER.sub("#", text) for text in found]


@pytest.mark.parametrize(
    ("samples", "unit", "timer_only"),
    [(None, None, True), (4, None, True), (4, "images", True), (None, "images", False)],
)
def test_step_info_as_the_oracle(samples, unit, timer_only, oracle):
    assert infos(paddle_jax, samples, unit, timer_only) == infos(oracle, samples, unit, timer_only)


def timed(module, capsys):
    """What is printed when a Profiler that only measures time has seen 20 batches."""

    class Numbers(module.io.Dataset):
        def __getitem__(self, index):
            return module.ones([2]).numpy()

        def __len__(self):
            return 80

    prof = module.profiler.Profiler(timer_only=True)
    prof.start()
    for _ in module.io.DataLoader(Numbers(), batch_size=4):
        prof.step(4)
    info = prof.step_info()
    capsys.readouterr()
    prof.stop()
    return NUMBER.sub("#", info), re.sub(r"\s*#\s*", "#", NUMBER.sub("#", capsys.readouterr().out))


def test_timer_only_as_the_oracle(oracle, capsys):
    ours = timed(paddle_jax, capsys)
    assert ours == timed(oracle, capsys)
    assert "reader_cost" in ours[0]
    assert "Reader Ratio" in ours[1]


def test_a_profiler_that_was_not_started(paddle):
    prof = paddle.profiler.Profiler(on_trace_ready=lambda p: None)
    prof.step()
    assert prof.summary() is None
    assert prof.export("nowhere/at/all") is None
    with pytest.raises(RuntimeError, match="start"):
        prof.stop()


def originals():
    return {
        (owner, name): vars(owner)[name]
        for owner, name in (
            (probes.kernels, "compute"),
            (probes.run_segment, "interpret"),
            (probes.run_segment, "_run_ops"),
            (probes.segment, "read_pending"),
            (probes.segment, "read_held"),
            (probes.segment.Segment, "run_short_segment"),
            (probes.programs.CompiledSegment, "__call__"),
            (probes.compiled.CompiledFunction, "__call__"),
            (probes.backward, "backward"),
            (probes.Layer, "__call__"),
            (probes.Optimizer, "_step_group"),
            (probes._DataLoaderIterBase, "__next__"),
        )
    }


def test_nothing_stays_behind(paddle):
    before = originals()
    with pytest.raises(ZeroDivisionError), paddle.profiler.Profiler(on_trace_ready=lambda p: None):
        assert originals() != before
        assert paddle.profiler.utils.in_profiler_mode()
        paddle.ones([2]).numpy()
        _ = 1 / 0
    assert originals() == before
    assert Recording.rows is None
    with paddle.profiler.Profiler(timer_only=True):
        assert probes._DataLoaderIterBase.__next__ is not before[probes._DataLoaderIterBase, "__next__"]
    assert originals() == before


class Numbers(paddle_jax.io.Dataset):
    def __getitem__(self, index):
        return index

    def __len__(self):
        return 8


def test_operations_that_come_again(paddle):
    """A recording has the operations of a segment that has run before, as often as it runs."""
    for _ in range(3):
        with paddle.profiler.Profiler(on_trace_ready=lambda p: None) as prof:
            for _ in range(2):
                float(paddle.ones([3]).exp().sum())
        operations = [event.name for event in prof.profiler_result.events if event.type.name == "Operator"]
        assert operations == ["exp", "sum"] * 2


@pytest.mark.parametrize("timer_begins", [True, False])
@pytest.mark.parametrize("timer_ends", [True, False])
def test_a_timer_beside_a_recording(timer_begins, timer_ends, paddle):
    """Whichever begins or ends first, the other one goes on; at the end nothing stays behind."""
    before = originals()
    recording = paddle.profiler.Profiler(on_trace_ready=lambda p: None)
    timer = paddle.profiler.Profiler(timer_only=True)
    first, second = (timer, recording) if timer_begins else (recording, timer)
    first.start()
    second.start()
    loader = iter(paddle.io.DataLoader(Numbers(), batch_size=2))
    next(loader)
    read = benchmark()._read
    first, second = (timer, recording) if timer_ends else (recording, timer)
    first.stop()
    next(loader)
    # Something in eager mode, which a recording has as an operation.
    float(paddle.ones([3]).exp().sum())
    assert benchmark()._read > read > 0
    second.stop()
    assert originals() == before
    assert len(recording.profiler_result.find("DataLoader")) == (2 if timer_ends else 1)
    names = {event.name for event in recording.profiler_result.events}
    assert ("exp" in names) == timer_ends


def test_two_timers(paddle):
    before = originals()
    first, second = (paddle.profiler.Profiler(timer_only=True) for _ in range(2))
    first.start()
    second.start()
    first.stop()
    # Once more changes nothing.
    first.stop()
    assert originals() != before
    second.stop()
    assert originals() == before


def test_two_at_a_time_are_refused(paddle):
    with (
        paddle.profiler.Profiler(on_trace_ready=lambda p: None),
        pytest.raises(RuntimeError, match="another Profiler"),
    ):
        paddle.profiler.Profiler(on_trace_ready=lambda p: None).start()
    assert Recording.rows is None


def test_spans_of_nvtx(paddle):
    with paddle.profiler.Profiler(on_trace_ready=lambda p: None) as prof:
        paddle.cuda.nvtx.range_push("outer")
        paddle.device.nvtx.range_push("inner")
        paddle.cuda.nvtx.range_pop()
        paddle.cuda.nvtx.range_pop()
        paddle.cuda.nvtx.range_pop()  # nothing is open
    outer, inner = (prof.profiler_result.find(name)[0] for name in ("outer", "inner"))
    assert outer.start_ns <= inner.start_ns <= inner.end_ns <= outer.end_ns


def test_ranges(paddle):
    event = paddle.profiler.RecordEvent("by hand", paddle.profiler.TracerEventType.Forward)
    with event:  # nothing records
        pass

    @paddle.profiler.RecordEvent("decorated")
    def function():
        """Its text."""
        return 3

    with paddle.profiler.Profiler(on_trace_ready=lambda p: None) as prof:
        event.begin()
        with paddle.profiler.RecordEvent("inner"):
            assert function() == 3
        event.end()
        event.end()
    result = prof.profiler_result
    outer, inner, decorated = (result.find(name)[0] for name in ("by hand", "inner", "decorated"))
    assert (
        outer.start_ns
        <= inner.start_ns
        <= decorated.start_ns
        <= decorated.end_ns
        <= inner.end_ns
        <= outer.end_ns
    )
    assert outer.type is paddle.profiler.TracerEventType.Forward
    assert inner.type is paddle.profiler.TracerEventType.PythonUserDefined
    assert len(result.find("by hand")) == 1
    assert function.__doc__ == "Its text."
    root = result.get_data()[outer.thread]
    (step,) = root.children_node
    assert [node.name for node in step.children_node] == ["by hand"]
    assert step.children_node[0].children_node[0].children_node[0].name == "decorated"


@pytest.fixture
def recorded(paddle):
    net = paddle.nn.Sequential(paddle.nn.Linear(43, 31), paddle.nn.Tanh())
    opt = paddle.optimizer.SGD(parameters=net.parameters())
    prof = paddle.profiler.Profiler(on_trace_ready=lambda p: None, record_shapes=True)
    with prof:
        for _ in range(2):
            # a size that no other test has: an operation has the line that called it first
            loss = net(paddle.ones([2, 43])).sum()
            loss.backward()
            opt.step()
            opt.clear_grad()
            float(loss)
            prof.step()
    return prof


def test_chrome_trace(recorded, tmp_path):
    path = tmp_path / "folder" / "trace.json"
    path.parent.mkdir()
    recorded.export(str(path))
    trace = json.loads(path.read_text())
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    names = {event["name"].split("[")[0] for event in events}
    assert {
        "ProfileStep#0",
        "ProfileStep#1",
        "Gradient Backward",
        "Optimization Step",
        "Sequential",
        "Linear",
        "linear",
    } <= names
    assert {event["cat"] for event in events} >= {
        "ProfileStep",
        "Operator",
        "Forward",
        "Backward",
        "Optimization",
    }
    linear = next(
        event for event in events if event["name"].startswith("linear[") and event["cat"] == "Operator"
    )
    assert linear["args"]["input_shapes"] == [[2, 43], [43, 31], [31]]
    assert linear["args"]["input_dtypes"] == ["float32"] * 3
    assert linear["args"]["where"].split("/")[-1].startswith("test_profiler.py:")
    steps = sorted(
        (event for event in events if event["cat"] == "ProfileStep"), key=lambda event: event["ts"]
    )
    assert steps[0]["ts"] + steps[0]["dur"] <= steps[1]["ts"] + 2
    page = path.with_suffix(".html").read_text()
    assert "test_profiler.py:" in page
    assert page.count("<rect") >= len(events)
    slowest = page.partition("<h2>Slowest lines</h2>")[2].partition("</table>")[0]
    times = [float(cells[1]) for cells in (row.split("<td>")[1:] for row in slowest.split("<tr>")[2:])]
    assert times == sorted(times, reverse=True) and "test_profiler.py:" in slowest
    assert "<h2>Compiled, and why</h2>" in page and 'type="search"' in page


def test_files_are_read_back(recorded, paddle, tmp_path):
    path = str(tmp_path / "steps.pb")
    recorded.export(path, format="pb")
    ours, read = recorded.profiler_result, paddle.profiler.load_profiler_result(path)
    assert [(e.name, e.type, e.start_ns, e.end_ns, e.how, e.where, e.shapes) for e in read.events] == [
        (e.name, e.type, e.start_ns, e.end_ns, e.how, e.where, e.shapes) for e in ours.events
    ]
    assert read.get_extra_info() == ours.get_extra_info()
    text, again = (capture(part) for part in (ours, read))
    assert text == again


def capture(result):
    from paddle_jax.profiler.profiler_statistic import _build_table

    return _build_table(result)


@pytest.mark.parametrize("content", [b"", b"nothing", b"\x1f\x8b\x08\x00garbage", b"(lp0\n."])
def test_foreign_files_are_refused(content, paddle, tmp_path):
    (tmp_path / "file.pb").write_bytes(content)
    with pytest.raises(ValueError, match=r"file\.pb was not written by"):
        paddle.profiler.load_profiler_result(str(tmp_path / "file.pb"))
    with pytest.raises(TypeError):
        paddle.profiler.load_profiler_result(3)


def test_files_of_the_handlers(paddle, tmp_path):
    for make, ending in (
        (paddle.profiler.export_chrome_tracing, ".paddle_trace.json"),
        (paddle.profiler.export_protobuf, ".paddle_trace.pb"),
    ):
        with paddle.profiler.Profiler(on_trace_ready=make(str(tmp_path / "deep" / "er"), "worker")):
            paddle.ones([2]).exp().numpy()
        assert any(
            path.name.startswith("worker_time_") and path.name.endswith(ending)
            for path in (tmp_path / "deep" / "er").iterdir()
        )


def test_targets(paddle):
    with pytest.warns(UserWarning, match="XPU is not there"):
        assert paddle.profiler.Profiler(targets=[paddle.profiler.ProfilerTarget.XPU]).targets == set()
    assert paddle.profiler.ProfilerTarget.CPU in paddle.profiler.Profiler().targets


@pytest.mark.parametrize("views", [None, "OperatorView", "OverView"])
def test_tables(recorded, views, paddle, capsys):
    recorded.summary(
        views=None if views is None else paddle.profiler.SummaryView[views],
        time_unit="us",
        sorted_by=paddle.profiler.SortedKeys.CPUMin,
    )
    text = capsys.readouterr().out
    present = {
        title: title in text
        for title in ("Overview Summary", "Model Summary", "Operator Summary", "Device Summary")
    }
    assert present == {
        "Overview Summary": views != "OperatorView",
        "Model Summary": views is None,
        "Operator Summary": views != "OverView",
        "Device Summary": views is None,
    }
    assert "Time unit: us" in text


def test_tables_by_thread(paddle, capsys):
    """Tables of the process are there once, also those of accelerators and of memory."""
    prof = paddle.profiler.Profiler(on_trace_ready=lambda p: None, profile_memory=True)
    with prof:
        for target in (lambda: float(paddle.ones([3]).exp().sum()),) * 2:
            thread = threading.Thread(target=target)
            thread.start()
            thread.join()
        prof.step()
    prof.profiler_result.device = [("a_kernel", 0.25, 3), ("another", 0.75, 1)]
    prof.summary(thread_sep=True)
    text = capsys.readouterr().out
    assert text.count("Overview Summary") == text.count("Thread ") >= 2
    for title in ("Device Summary", "Accelerator Summary", "Memory Summary", "Memory of live tensors"):
        assert text.count(title) == 1
    assert re.search(r"a_kernel +3 +250.000 +25.00", text)
    prof.summary(thread_sep=True, views=paddle.profiler.SummaryView.DeviceView)
    assert "Thread " not in capsys.readouterr().out


def test_a_part_of_a_result_has_all_else():
    whole = ProfilerResult([], (0, 1), 2, 3.0, {4: "main"}, 5, (6, 7), [("kernel", 0.5, 8)])
    part, whole = vars(whole.only(["event"])), vars(whole)
    assert part == {**whole, "events": ["event"]}
