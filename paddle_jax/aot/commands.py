"""`python -m paddle_jax compile script.py --target h100`, and `python -m paddle_jax check --target h100`."""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import pathlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

from paddle_jax import aot, nn, optimizer
from paddle_jax._core.base.event_log import compile_listeners
from paddle_jax._core.lazy.recording import change_settings
from paddle_jax._core.lazy.settings import settings
from paddle_jax.aot import capture, compilers
from paddle_jax.aot.report import Report
from paddle_jax.aot.target import Target, parse
from paddle_jax.tensor.random import randn

_PACKAGES = {"cpu": ("jaxlib",), "tpu": ("libtpu",), "cuda": ("jax-cuda12-pjrt", "nvidia-cuda-nvcc-cu12")}
_REPEATS = 2  # runs of a sequence of operations, after which it is compiled


class _Collector:
    """Traces for a target what a program compiles while it runs.

    Attributes:
        platform: str, that of the target.
        found: list of Traced.
        failures: list of str, what could not be traced.
    """

    def __init__(self, platform: str) -> None:
        self.platform = platform
        self.found: list[capture.Traced] = []
        self.failures: list[str] = []
        self._tracing = False

    def __call__(self, kind: str, program: Any, arguments: Any) -> None:
        # Tracing for the target compiles too; that is no part of the program.
        if self._tracing:
            return
        self._tracing = True
        try:
            if kind == "segment":
                structs = program.argument_structs(arguments)
                self.found.append(capture.trace_segment(program, structs, self.platform))
            else:
                args, kwargs = arguments
                self.found.append(capture.trace(program, args, kwargs, self.platform))
        except RuntimeError as error:
            self.failures.append(str(error))
        finally:
            self._tracing = False


def compile_script(argv: Sequence[str], run: Callable[[list[str]], Any]) -> int:
    """The command `compile`: runs a script here, and compiles for a target what recurs in it.

    Args:
        argv: the arguments of the command.
        run: function that runs a script with its arguments.
    Returns:
        0 if everything compiles and fits, 1 if not, 2 for wrong usage.
    """
    parser = argparse.ArgumentParser(
        prog="python -m paddle_jax compile", description="compiles for a target what a script compiles here"
    )
    parser.add_argument("script")
    parser.add_argument("--target", required=True, help=f"chip: {', '.join(aot.targets())}; v5e:2x4, h100:8")
    given, rest = parser.parse_known_args(list(argv))
    target = _target(given.target)
    if target is None:
        return 2
    if not pathlib.Path(given.script).exists():
        print(f"python -m paddle_jax compile: {given.script} does not exist", file=sys.stderr)
        return 2
    collector = _Collector(target.platform)
    with _collecting(collector):
        try:
            run([given.script, *rest])
        except SystemExit:
            pass  # the programs that it has compiled until then count
    return _print_reports(collector, target)


def _target(text: str) -> Target | None:
    """The target that a text names; None, with a message, where there is none."""
    try:
        target = parse(text)
        compilers.require(target)
    except (ValueError, ModuleNotFoundError) as error:
        print(error, file=sys.stderr)
        return None
    return target


@contextlib.contextmanager
def _collecting(collector: _Collector) -> Any:
    """A block in which what recurs is compiled soon, and collected."""
    before = settings.min_repeats, settings.background
    change_settings(min_repeats=_REPEATS, background=False)
    compile_listeners.append(collector)
    try:
        yield
    finally:
        compile_listeners.remove(collector)
        change_settings(min_repeats=before[0], background=before[1])


def _print_reports(collector: _Collector, target: Target) -> int:
    """Compiles and prints what was collected; returns the status of the command."""
    good = not collector.failures
    for failure in collector.failures:
        print(failure)
    for traced in collector.found:
        try:
            report = aot.report_of(traced, target)
        except ValueError as error:
            print(error)
            return 2
        good = good and report.compiles and report.fits is not False
        report.show()
        print()
    if not collector.found and not collector.failures:
        print(
            "nothing was compiled: the script has no to_static function, and no sequence of operations that "
            f"ran {_REPEATS} times"
        )
        return 2
    return 0 if good else 1


def check_target(text: str) -> int:
    """The command `check --target`: says whether the compiler of a target is there and works.

    Returns:
        0 if a small training step compiles, 1 if not, 2 for wrong usage.
    """
    target = _target(text)
    if target is None:
        return 2
    for package in _PACKAGES[target.platform]:
        print(f"{package} {_version(package)}")
    report = _step_report(text)
    report.show()
    return 0 if report.compiles else 1


def _version(package: str) -> str:
    """The version of an installed package."""
    for found in importlib.metadata.distributions(path=compilers.search_path(), name=package):
        return found.version
    return "of an unknown version"


def _step_report(text: str) -> Report:
    """The report of a small training step."""
    net = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 1))
    sgd = optimizer.SGD(0.02, parameters=net.parameters())

    def step(x: Any, y: Any) -> Any:
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        sgd.step()
        sgd.clear_grad()
        return loss

    return aot.compile(step, randn([8, 16]), randn([8, 1]), target=text)
