"""Tests in processes of their own: for what makes the real Paddle compile, save or crash, which depends on
what a process did before.

A test with `@pytest.mark.own_process` that uses the oracle runs in a fork which ends after it. Three
processes make that quick: a server imports both engines, once; a fork of it collects the tests of a file; and
a fork of that runs one test and hands its reports on, which then count as if the test had run where it was
asked for. Nothing is computed before the last fork. `PADDLE_JAX_TEST_PROCESSES=shared` runs such tests like
all others (to debug one).

Run as a program this file is the server. Requests and answers are lines of JSON: {"file", "root"} chooses a
file, {"test", "seconds"} runs one of its tests, {} leaves the file.
"""

import contextlib
import gc
import importlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

SHARED = "PADDLE_JAX_TEST_PROCESSES"
LIMIT = 300  # seconds for one test, unless its mark says otherwise


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

    def run(self, item, seconds):
        """How a test went: {"how": text, "reports": list, "log": text}."""
        if self.file != item.path:
            if self.file is not None:
                self.ask({})
            ready = self.ask({"file": str(item.path), "root": str(item.config.rootpath)})
            self.file = item.path if ready["how"] == "ready" else None
            if self.file is None:
                return ready
        answer = self.ask({"test": item.nodeid, "seconds": seconds})
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


def reports(server, item, seconds):
    """The reports of a test that runs in a process of its own."""
    from _pytest.reports import TestReport

    started = time.time()
    answer = server.run(item, seconds)
    if answer.get("reports"):
        return [_report(item.config, data) for data in answer["reports"]]
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
    for, each in a fork."""

    def __init__(self, requests, answers, log):
        self.requests, self.answers, self.log = requests, answers, log

    def pytest_runtestloop(self, session):
        gc.collect()
        gc.freeze()
        items = {item.nodeid: item for item in session.items}
        _answer(self.answers, {"how": _unfit() or "ready"})
        while request := json.loads(self.requests.readline() or "{}"):
            os.ftruncate(self.log, 0)
            item = items.get(request["test"])
            answer = self.run(item, request["seconds"]) if item else {"how": "there is no such test"}
            _answer(
                self.answers,
                answer | {"log": os.pread(self.log, 1 << 20, 0).decode(errors="replace")[-6000:]},
            )
        _answer(self.answers, {"how": "left"})
        return True

    def run(self, item, seconds):
        """One test in a fork."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "reports.json"
            child = os.fork()
            if not child:
                os.setsid()
                _test(item, file)
            how = _ended(child, seconds)
            return {"how": how, "reports": json.loads(file.read_text()) if file.exists() else []}


def _unfit():
    """Why this process must not be forked: after the first computation there are threads."""
    from jax._src.xla_bridge import backends_are_initialized

    return "the file computes something when it is imported" if backends_are_initialized() else None


def _test(item, file):
    """Runs a test in this process and ends it."""
    from _pytest.runner import runtestprotocol
    from _pytest.warnings import catch_warnings_for_item

    code = 1
    try:
        with catch_warnings_for_item(config=item.config, ihook=item.ihook, when="runtest", item=item):
            found = runtestprotocol(item, log=False, nextitem=None)
        part = file.with_suffix(".part")
        part.write_text(
            json.dumps(
                [
                    item.config.hook.pytest_report_to_serializable(config=item.config, report=report)
                    for report in found
                ]
            )
        )
        part.rename(file)
        code = 0
    finally:
        os._exit(code)


def _ended(child, seconds):
    """How a process ended, within the time it has."""
    until = time.monotonic() + seconds
    while not (done := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > until:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return f"not done within {seconds} s"
        time.sleep(0.005)
    code = os.waitstatus_to_exitcode(done[1])
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
