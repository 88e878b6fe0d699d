"""Tests in processes of their own: for what makes the real Paddle compile, save or crash, which depends on
what a process did before.

A test with `@pytest.mark.own_process` that uses the oracle runs in a fork. Three processes make that quick. A
server imports both engines, once. A fork of it collects the tests of a file. A fork of that runs tests and
hands their reports on, which count as if each test had run where it was asked for. Nothing is computed before
the last fork. `PADDLE_JAX_TEST_PROCESSES=shared` runs such tests like all others (to debug one).

The last fork runs tests of its file one after another, since a new process spends most of its time on the
first trace of each operation. A test that does not pass after others runs again in a new process. That result
counts, and the summary names the test. `own_process(alone=True)` gives a test a process to itself at once: it
is for calls that damage the memory of the process.

Run as a program this file is the server. Requests and answers are lines of JSON: {"file", "root"} chooses a
file, {"test", "seconds", "alone"} runs one of its tests, {} leaves the file.
"""

import contextlib
import gc
import importlib
import importlib.util
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

SHARED = "PADDLE_JAX_TEST_PROCESSES"
LIMIT = 300  # seconds for one test, unless its mark says otherwise
AGAIN = "ran again in a new process"  # the property of a report that says so


class Server:
    """The server as the process of the tests sees it; started when first needed, and again
    when it has died."""

    def __init__(self):
        self.process, self.file = None, None

    def ask(self, request):
        """The answer to a request; None when the server died over it."""
        if self.process is None or self.process.poll() is not None:
            command, folder = [sys.executable, "-m", "tests.own_process"], Path(__file__).resolve().parents[1]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            self.process = subprocess.Popen(command, cwd=folder, env=os.environ | {SHARED: "shared"}, **pipes)
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        answer = self.process.stdout.readline()
        return json.loads(answer) if answer else {"how": "the server of processes died"}

    def run(self, item, seconds, alone):
        """How a test went: {"how": text, "reports": list, "again": bool, "log": text}."""
        if self.file != item.path:
            if self.file is not None:
                self.ask({})
            ready = self.ask({"file": str(item.path), "root": str(item.config.rootpath)})
            self.file = item.path if ready["how"] == "ready" else None
            if self.file is None:
                return ready
        answer = self.ask({"test": item.nodeid, "seconds": seconds, "alone": alone})
        self.file = self.file if "reports" in answer else None
        return answer

    def stop(self):
        """Ends the server."""
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process.stdout.close()
            self.process = self.file = None


def guard(paddle):
    """Makes the real Paddle refuse what belongs into a process of its own."""

    def refused(name):
        def refuse(*args, **kwargs):
            raise AssertionError(
                f"paddle.{name} of the real Paddle is called in the process of all tests; "
                "mark the test `own_process`"
            )

        return refuse

    for name in (
        "save",
        "enable_static",
        "jit.save",
        "jit.to_static",
        "inference.create_predictor",
        "onnx.export",
    ):
        owner = paddle
        *path, last = name.split(".")
        for part in path:
            owner = getattr(owner, part)
        setattr(owner, last, refused(name))


def reports(server, item, mark):
    """The reports of a test that runs in a process of its own; mark: `own_process` with its arguments."""
    from _pytest.reports import TestReport

    started = time.time()
    answer = server.run(item, mark.kwargs.get("seconds", LIMIT), mark.kwargs.get("alone", False))
    if answer.get("reports"):
        found = [_report(item.config, data) for data in answer["reports"]]
        for report in found:
            if answer["again"] and report.when == "call":
                report.user_properties.append((AGAIN, item.nodeid))
        return found
    text = f"{item.nodeid}, in a process of its own: {answer['how']}\n{answer.get('log', '')}"
    return [
        TestReport(
            item.nodeid,
            item.location,
            {},
            "failed",
            text,
            "call",
            (),
            time.time() - started,
            started,
            time.time(),
        )
    ]


def _report(config, data):
    """A report from its JSON, which has lists for tuples: pytest's summary wants the place and reason of a
    skip as a tuple."""
    report = config.hook.pytest_report_from_serializable(config=config, data=data)
    if isinstance(report.longrepr, list):
        report.longrepr = tuple(report.longrepr)
    return report


class Collected:
    """A pytest plugin: instead of running the tests of a session it runs those that are asked
    for, in forks."""

    def __init__(self, requests, answers, log):
        self.requests, self.answers, self.log = requests, answers, log
        self.runner = None

    def pytest_runtestloop(self, session):
        gc.collect()
        gc.freeze()
        items = {item.nodeid: item for item in session.items}
        _answer(self.answers, {"how": _unfit() or "ready"})
        while request := json.loads(self.requests.readline() or "{}"):
            item = items.get(request["test"])
            answer = self.run(items, request) if item else {"how": "there is no such test"}
            _answer(
                self.answers,
                answer | {"log": os.pread(self.log, 1 << 20, 0).decode(errors="replace")[-6000:]},
            )
        self.end_runner()
        _answer(self.answers, {"how": "left"})
        return True

    def run(self, items, request):
        """One test in a fork. The result of a process that ran other tests counts only if the test passes."""
        if request["alone"]:
            self.end_runner()
        shared = self.runner is not None
        answer = self.run_once(items, request)
        again = shared and not _passed(answer)
        if again:
            answer = self.run_once(items, request)
        if request["alone"]:
            self.end_runner()
        return answer | {"again": again}

    def run_once(self, items, request):
        """One test in the present fork, or in a new one; a fork in which a test fails ends."""
        os.ftruncate(self.log, 0)
        if self.runner is None:
            self.runner = Runner(items)
        answer = self.runner.run(request["test"], request["seconds"])
        if not _passed(answer):
            self.end_runner()
        return answer

    def end_runner(self):
        if self.runner is not None:
            self.runner.end()
            self.runner = None


def _passed(answer):
    """Whether every phase of a test passed or was skipped."""
    found = answer["reports"]
    return bool(found) and all(report["outcome"] in ("passed", "skipped") for report in found)


class Runner:
    """A fork that runs tests: names of tests go to it, a line comes back for each, and a file has the
    reports."""

    def __init__(self, items):
        self.folder = tempfile.TemporaryDirectory()
        names, self.names = os.pipe()
        self.lines, lines = os.pipe()
        self.process = os.fork()
        if not self.process:
            os.setsid()
            os.close(self.names)
            os.close(self.lines)
            _run_tests(items, names, lines, Path(self.folder.name) / "reports.json")
        os.close(names)
        os.close(lines)

    def run(self, name, seconds):
        """How a test ended, with its reports: none where the process ended over it."""
        os.write(self.names, f"{name}\n".encode())
        how = self.wait(time.monotonic() + seconds) or f"not done within {seconds} s"
        file = Path(self.folder.name) / "reports.json"
        found = json.loads(file.read_text()) if file.exists() else []
        file.unlink(missing_ok=True)
        return {"how": how, "reports": found}

    def wait(self, until):
        """Waits for the end of a test or of the process; None after the time."""
        while time.monotonic() < until:
            if select.select([self.lines], [], [], 0.05)[0] and os.read(self.lines, 1):
                return "done"
            # a process that the test started may hold the pipe open
            ended, status = os.waitpid(self.process, os.WNOHANG)
            if ended:
                self.process = None
                return _ended(status)
        return None

    def end(self):
        """Ends the process: at once where a test is not done."""
        os.close(self.names)
        os.close(self.lines)
        if self.process is not None:
            os.killpg(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        self.folder.cleanup()


def _unfit():
    """Why this process must not be forked: after the first computation there are threads."""
    if "jax" not in sys.modules:
        return None
    from jax._src.xla_bridge import backends_are_initialized

    return "the file computes something when it is imported" if backends_are_initialized() else None


def _run_tests(items, names, lines, file):
    """Runs the tests that are named in this process, until no name comes, and ends it."""
    code = 1
    try:
        with os.fdopen(names) as stream:
            while name := stream.readline():
                _test(items[name.removesuffix("\n")], file)
                os.write(lines, b"\n")
        code = 0
    finally:
        os._exit(code)


def _test(item, file):
    """Runs a test in this process and writes its reports."""
    from _pytest.runner import runtestprotocol
    from _pytest.warnings import catch_warnings_for_item

    with catch_warnings_for_item(config=item.config, ihook=item.ihook, when="runtest", item=item):
        found = runtestprotocol(item, log=False, nextitem=None)
    to_data = item.config.hook.pytest_report_to_serializable
    part = file.with_suffix(".part")
    part.write_text(json.dumps([to_data(config=item.config, report=report) for report in found]))
    part.rename(file)


def _ended(status):
    """How a process ended, in words."""
    code = os.waitstatus_to_exitcode(status)
    return f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"


def _answer(stream, answer):
    stream.write(json.dumps(answer) + "\n")
    stream.flush()


def _collect(request, requests, answers):
    """Collects the tests of a file in this process, a fork of the server, serves them and
    ends the process."""
    import pytest

    code = 1
    try:
        with tempfile.TemporaryFile() as log:
            for stream in (1, 2):
                os.dup2(log.fileno(), stream)
            os.chdir(request["root"])
            code = int(
                pytest.main(
                    ["-q", "-p", "no:cacheprovider", "--rootdir", request["root"], request["file"]],
                    plugins=[Collected(requests, answers, log.fileno())],
                )
            )
            if code:
                _answer(
                    answers,
                    {
                        "how": "the tests of the file could not be collected\n"
                        + os.pread(log.fileno(), 6000, 0).decode(errors="replace")
                    },
                )
    finally:
        os._exit(code)


def main():
    """Serves requests until there are no more."""
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    for name in ("paddle", "paddle_jax", "pytest"):
        if importlib.util.find_spec(name) is not None:
            importlib.import_module(name)
    gc.collect()
    gc.freeze()
    while line := requests.readline():
        request = json.loads(line)
        if not request:
            _answer(answers, {"how": "left"})
            continue
        child = os.fork()
        if not child:
            _collect(request, requests, answers)
        _, status = os.waitpid(child, 0)
        if os.waitstatus_to_exitcode(status) < 0:
            _answer(answers, {"how": "the process that had collected the file died"})


if __name__ == "__main__":
    main()
