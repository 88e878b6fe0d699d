"""The Profiler: when to record, and what to do with what was recorded."""

from __future__ import annotations

import datetime
import enum
import os
import pathlib
import socket
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import jax

from paddle_jax._core.tensors.memory_report import live_tensors
from paddle_jax.framework.addresses import check_local
from paddle_jax.profiler import probes
from paddle_jax.profiler.accelerator import Trace
from paddle_jax.profiler.event_type import TracerEventType
from paddle_jax.profiler.profiler_statistic import SortedKeys, _build_table
from paddle_jax.profiler.recording import Recording, Rows, profiler_event, range_of
from paddle_jax.profiler.result import ProfilerResult
from paddle_jax.profiler.timeline import write
from paddle_jax.profiler.timer import benchmark

__all__ = []


class SummaryView(enum.Enum):
    """A part of the summary.

    Args:
        value: int, the number of a member.
    Example:
        >>> paddle.profiler.SummaryView.KernelView.name
        'KernelView'
    """

    (
        DeviceView,
        OverView,
        ModelView,
        DistributedView,
        KernelView,
        OperatorView,
        MemoryView,
        MemoryManipulationView,
        UDFView,
    ) = range(9)


class ProfilerState(enum.Enum):
    """What a Profiler does in a step.

    CLOSED: nothing. READY: nothing yet, recording is about to begin. RECORD: records. RECORD_AND_RETURN:
    records, and hands over what there is at the end of the step.

    Args:
        value: int, the number of a member.
    Example:
        >>> states = paddle.profiler.make_scheduler(closed=1, ready=1, record=1)
        >>> states(0) == paddle.profiler.ProfilerState.CLOSED
        True
    """

    CLOSED, READY, RECORD, RECORD_AND_RETURN = range(4)


class ProfilerTarget(enum.Enum):
    """The kind of device that a Profiler records.

    Args:
        value: int, the number of a member.
    Example:
        >>> profiler = paddle.profiler.Profiler(targets=[paddle.profiler.ProfilerTarget.CPU])
    """

    CPU, GPU, XPU, CUSTOM_DEVICE = range(4)


_ON = (ProfilerState.RECORD, ProfilerState.RECORD_AND_RETURN)


def make_scheduler(
    *, closed: int, ready: int, record: int, repeat: int = 0, skip_first: int = 0
) -> Callable[..., Any]:
    """A function from the number of a step to a ProfilerState: `closed` steps off, `ready` steps ready,
    `record` steps recorded, again and again.

    Args:
        closed, ready: int, 0 or more.
        record: int, 1 or more; the last of these steps is RECORD_AND_RETURN.
        repeat: int, how many rounds; 0: without end. Default 0.
        skip_first: int, steps before the first round. Default 0.
    Returns:
        function from int to ProfilerState.
    Raises:
        AssertionError: a number is too small.
    Example:
        >>> state = paddle.profiler.make_scheduler(closed=1, ready=1, record=2)
        >>> [state(step).name for step in range(4)]
        ['CLOSED', 'READY', 'RECORD', 'RECORD_AND_RETURN']
    """
    if not (closed >= 0 and ready >= 0 and record > 0 and repeat >= 0 and skip_first >= 0):
        raise AssertionError(
            f"make_scheduler: got closed={closed}, ready={ready}, record={record}, "
            f"repeat={repeat}, skip_first={skip_first}; "
            "record must be at least 1, the others 0"
        )
    if closed == 0 and ready == 0:
        warnings.warn(
            "make_scheduler: recording begins at once, so the first steps, which compile, are part of it",
            stacklevel=2,
        )
    # A cycle of the schedule; they follow each other.
    span = closed + ready + record

    def state(step: Any) -> ProfilerState:
        at = step - skip_first
        if at < 0 or repeat and at // span >= repeat:
            return ProfilerState.CLOSED
        at %= span
        if at < closed:
            return ProfilerState.CLOSED
        if at < closed + ready:
            return ProfilerState.READY
        # The last step of a cycle hands the recording over.
        if at < span - 1:
            return ProfilerState.RECORD
        return ProfilerState.RECORD_AND_RETURN

    return state


def _always(step: int) -> Any:
    return ProfilerState.RECORD


def _scheduler(given: Callable[..., Any] | Sequence[int] | None) -> Callable[..., Any]:
    if isinstance(given, tuple | list):
        if not (len(given) == 2 and given[1] > max(given[0], 0)):
            raise AssertionError(
                f"Profiler: scheduler: got {given}; the first step must come before the last"
            )
        first = max(given[0], 0)
        last = given[1]
        # One step to get ready, if there is room for it.
        ready = min(first, 1)
        return make_scheduler(closed=first - ready, ready=ready, record=last - first, repeat=1)
    if callable(given):
        return given
    return _always


def _exporter(dir_name: str, worker_name: str | None, ending: str, format: str) -> Callable[..., Any]:
    check_local("Profiler", "dir_name", dir_name)
    pathlib.Path(dir_name).mkdir(parents=True, exist_ok=True)

    def handler(prof: Profiler) -> None:
        # A name for each machine, process and time: no recording overwrites another.
        worker = worker_name or f"host_{socket.gethostname()}pid_{os.getpid()}"
        now = datetime.datetime.now().strftime("%Y_%m_%d_%H_%M_%S_%f")
        prof.export(str(pathlib.Path(dir_name) / f"{worker}_time_{now}{ending}"), format)

    return handler


def export_chrome_tracing(dir_name: str, worker_name: str | None = None) -> Callable[..., Any]:
    """A function for `on_trace_ready` that writes a chrome trace (`.paddle_trace.json`) and, beside it, a
    page to look at in a browser (`.html`).

    Args:
        dir_name: str, a folder; it is made.
        worker_name: str, the beginning of the name of the files. Default: machine and process.
    Returns:
        function of a Profiler.
    Differs from Paddle: there is a page beside the trace.
    Example:
        >>> import pathlib, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> with paddle.profiler.Profiler(on_trace_ready=paddle.profiler.export_chrome_tracing(folder)):
        ...     x = paddle.ones([2]).exp()
        >>> sorted(path.suffix for path in pathlib.Path(folder).iterdir())
        ['.html', '.json']
    """
    return _exporter(dir_name, worker_name, ".paddle_trace.json", "json")


def export_protobuf(dir_name: str, worker_name: str | None = None) -> Callable[..., Any]:
    """A function for `on_trace_ready` that writes what `load_profiler_result` reads.

    Args:
        dir_name: str, a folder; it is made.
        worker_name: str, the beginning of the name of the file. Default: machine and process.
    Returns:
        function of a Profiler.
    Differs from Paddle: the file is compressed JSON.
    Example:
        >>> import pathlib, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> with paddle.profiler.Profiler(on_trace_ready=paddle.profiler.export_protobuf(folder)):
        ...     x = paddle.ones([2]).exp()
        >>> [path.suffix for path in pathlib.Path(folder).iterdir()]
        ['.pb']
    """
    return _exporter(dir_name, worker_name, ".paddle_trace.pb", "pb")


def _supported() -> list[ProfilerTarget]:
    # Several names, as versions of JAX differ.
    kinds = {device.platform for device in jax.local_devices()}
    found = [ProfilerTarget.CPU]
    if kinds & {"gpu", "cuda", "rocm"}:
        found.append(ProfilerTarget.GPU)
    return [*found, ProfilerTarget.CUSTOM_DEVICE]


def _targets(given: Sequence[ProfilerTarget] | None) -> list[ProfilerTarget] | set[Any]:
    supported = _supported()
    if given is None:
        return supported
    for target in given:
        if target not in supported:
            warnings.warn(
                f"Profiler: targets: {target} is not there; "
                f"this machine has {', '.join(t.name for t in supported)}",
                stacklevel=3,
            )
    return {target for target in given if target in supported}


class Profiler:
    """Records what a program does, step by step: operations with the lines they stand in, compilations,
    batches being loaded, phases of training.

    Args:
        targets: list of ProfilerTarget. Default: all that there are. With an accelerator among them JAX's own
            profiler runs along.
        scheduler: function from the number of a step to a ProfilerState (see make_scheduler); (first, last +
            1): these steps; None: all of them.
        on_trace_ready: function of the Profiler, called when a recording is complete. Default: a chrome trace
            in ./profiler_log/.
        record_shapes: bool, shapes and dtypes of operands. Default False.
        profile_memory: bool, sizes of results, and the memory in use. Default False.
        timer_only: bool, only the time per step (`step_info`). Default False.
        emit_nvtx, custom_device_types, with_flops: accepted.
    Attributes:
        timer_only, record_shapes, profile_memory, with_flops, emit_nvtx: as given.
        targets: list of ProfilerTargets.
        scheduler: function from the number of a step to a ProfilerState.
        on_trace_ready: function that is called when a recording is complete.
        step_num: int, the present step.
        previous_state, current_state: ProfilerState.
        record_event: RecordEvent of the present step, or None.
        profiler_result: ProfilerResult of the last recording, or None.
        profiler: the recording that is on, or None.
        _step_start: when the step began, or None.
        _memory: (bytes in use, at most).
        _trace: the trace of the device, or None.
    Raises:
        AssertionError: scheduler is a pair of which the second number is not the greater.
    Example:
        >>> prof = paddle.profiler.Profiler(
        ...     scheduler=(1, 3), on_trace_ready=lambda prof: print("recorded until step", prof.step_num))
        >>> prof.start()
        >>> for _ in range(4):
        ...     x = paddle.ones([2]).exp().sum()
        ...     prof.step()
        recorded until step 3
        >>> prof.stop()
    """

    current_state: Any
    previous_state: Any
    step_num: int

    def __init__(
        self,
        *,
        targets: Any = None,
        scheduler: Callable[..., Any] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        timer_only: bool = False,
        emit_nvtx: bool = False,
        custom_device_types: Any = [],  # noqa: B006
        with_flops: bool = False,
    ) -> None:
        self.targets: list[ProfilerTarget] | set[Any] = _targets(targets)
        self.scheduler: Callable[..., Any] = _scheduler(scheduler)
        # Only recordings are written; without one nothing is ready.
        if not timer_only:
            self.on_trace_ready = on_trace_ready or export_chrome_tracing("./profiler_log/")
        else:
            self.on_trace_ready: Callable[..., Any] = on_trace_ready
        self.step_num, self.previous_state, self.current_state = 0, ProfilerState.CLOSED, self.scheduler(0)
        self.record_event: Any = None
        self.profiler_result: ProfilerResult | None = None
        self.profiler: Rows | None = None
        self.timer_only = timer_only
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.with_flops = with_flops
        self.emit_nvtx = emit_nvtx
        self._step_start = None
        self._memory = (0, 0)
        self._trace = None

    def __enter__(self) -> Profiler:
        self.start()
        return self

    def __exit__(self, exc_type: type | None, exc_val: BaseException | None, exc_tb: Any) -> None:
        self.stop()

    def start(self) -> None:
        """Begins with the first step.

        Raises:
            RuntimeError: another Profiler records.
        """
        benchmark().begin()
        if self.timer_only:
            probes.time_batches(self)
            return
        if self.current_state in _ON:
            self._begin()

    def step(self, num_samples: int | None = None) -> None:
        """Ends a step and begins the next.

        Args:
            num_samples: int, how many samples it was, for `step_info`. Default None.
        """
        benchmark().step(num_samples)
        if self.timer_only:
            return
        self._note_step()
        self.step_num += 1
        self.previous_state, self.current_state = self.current_state, self.scheduler(self.step_num)
        before = self.previous_state in _ON
        now = self.current_state in _ON
        if before and (not now or self.previous_state is ProfilerState.RECORD_AND_RETURN):
            whole = self.previous_state is ProfilerState.RECORD_AND_RETURN
            if not whole:
                warnings.warn(
                    f"Profiler: scheduler: RECORD in step {self.step_num - 1}, "
                    f"{self.current_state.name} in the next: on_trace_ready is not called; "
                    "the last recorded step must be RECORD_AND_RETURN",
                    stacklevel=2,
                )
            self._finish(whole)
            # What was handed over is followed by a new recording.
            before = False
        if now and not before:
            self._begin()

    def stop(self) -> None:
        """Ends the last step and, if a recording is on, hands it over.

        Raises:
            RuntimeError: it has not been started.
        """
        benchmark().end()
        if self.timer_only:
            probes.leave_batches(self)
            return
        if self.profiler is not None:
            try:
                self._note_step()
            finally:  # the next recording can begin, whatever happens here
                self._finish()
        elif self.current_state in _ON:
            raise RuntimeError("Profiler.stop: it has not been started; call start()")

    def _begin(self) -> None:
        # The probes stand in one place of the process, for one recording.
        if Recording.rows is not None:
            raise RuntimeError("Profiler: another Profiler is recording; stop it first")
        self.profiler = Rows(self.record_shapes, self.profile_memory)
        self._memory = (0, 0)
        # On a CPU the recording has the operations already.
        if jax.default_backend() != "cpu" and set(self.targets) - {ProfilerTarget.CPU}:
            self._trace = Trace()
        probes.install(self.profiler)
        self._step_start = self.profiler.begin()

    def _note_step(self) -> None:
        rows = self.profiler
        if rows is not None:
            now = time.perf_counter_ns()
            rows.add(
                (
                    range_of,
                    f"ProfileStep#{self.step_num}",
                    TracerEventType.ProfileStep,
                    self._step_start,
                    now,
                    threading.get_ident(),
                )
            )
            if self.profile_memory:
                held = live_tensors().nbytes
                self._memory = held, max(held, self._memory[1])
                # Measuring memory takes time that is not the program's.
                rows.add((profiler_event, now, time.perf_counter_ns(), threading.get_ident()))
            self._step_start = time.perf_counter_ns()

    def _finish(self, whole: bool = True) -> None:
        rows = self.profiler
        self.profiler = None
        rows.close()  # what taking out the probes needs is not the program's
        probes.remove()
        trace = self._trace
        self._trace = None
        if trace is not None:
            trace.stop()
        self.profiler_result = ProfilerResult.of(rows, self._memory, () if trace is None else trace.kernels)
        if whole and self.on_trace_ready:
            self.on_trace_ready(self)

    def step_info(self, unit: str | None = None) -> str:
        """One line about the steps since it was last asked: time per step, time to read a batch,
        samples per second.

        Args:
            unit: str, what samples are called. Default "samples".
        Returns:
            str, empty before the first step.
        """
        return benchmark().step_info(unit)

    def export(self, path: str = "", format: str = "json") -> None:
        """Writes the recording.

        Args:
            path: str, the file.
            format: "json": a chrome trace, and a page to look at beside it (`.html`); "pb": for
                `load_profiler_result`. Default "json".
        """
        if self.profiler_result is None:
            return
        # A page beside the trace: it needs no other program to be read.
        if format == "json":
            write(self.profiler_result, pathlib.Path(path).with_suffix(".html"))
        self.profiler_result.save(path, format)

    def summary(
        self,
        sorted_by: Any = SortedKeys.CPUTotal,
        op_detail: bool = True,
        thread_sep: bool = False,
        time_unit: str = "ms",
        views: Any = None,
    ) -> None:
        """Prints tables of the recording.

        Args:
            sorted_by: SortedKeys, the order of the operations. Default CPUTotal.
            op_detail: bool, how each operation ran (compiled, interpreted, in a compiled
                program). Default True.
            thread_sep: bool, tables by thread. Default False.
            time_unit: "s", "ms", "us" or "ns". Default "ms".
            views: SummaryView or a list of them. Default None: all.
        """
        if isinstance(views, SummaryView):
            views = [views]
        if self.profiler_result is not None:
            if views is None:
                names = None
            else:
                names = {view.name for view in views}
            print(
                _build_table(
                    self.profiler_result,
                    sorted_by,
                    op_detail,
                    thread_sep,
                    time_unit,
                    views=names,
                    memory=self.profile_memory,
                )
            )
