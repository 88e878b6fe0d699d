"""Tracebacks show the user's frames: in terminals, threads, logs, IPython, pytest, worker processes.

Unit tests of `_core.base.hidden_frames`.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import paddle_jax as paddle
from paddle_jax._core.base.hidden_frames import Trimmed, format_error
from tests.core import mistakes

ROOT = Path(__file__).parents[2]
LAYER = "import paddle_jax as paddle\nnet = paddle.nn.Linear(3, 4)\nnet(paddle.ones([2, 5]))\n"


def run(arguments, folder, **variables):
    """What a process writes to its standard error and output."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", mistakes.MISTAKES)
def test_a_mistake_prints_few_lines(name):
    error = mistakes.run(paddle, name)
    assert error is not None
    text = format_error(error)
    assert len(text.splitlines()) <= 12, text
    assert "paddle_jax/" not in text.replace("inside paddle_jax", ""), text
    assert f"/programs/{name}.py" in text


def test_compiled_code_shows_its_source_line():
    for name, line in {
        "compiled: an exception of one's own": "x = {}['key']",
        "compiled: in a branch": "x = x @ x",
    }.items():
        assert line in format_error(mistakes.run(paddle, name))


def test_level_two_shows_all_frames():
    error = mistakes.run(paddle, "linear with wrong features")
    few = format_error(error)
    paddle.set_flags({"FLAGS_call_stack_level": 2})
    try:
        assert "nn/layer/layers.py" in format_error(error)
    finally:
        paddle.set_flags({"FLAGS_call_stack_level": 1})
    assert "hidden; FLAGS_call_stack_level=2 shows them" in few


MISSPELT = [
    ("paddle.nn.Linear(2, 2).weigth", "weight"),
    ("paddle.optimizer.SGD(parameters=[]).stepp", "step"),
    ("paddle.optimizer.Adamm", "Adam"),
    ("paddle.nn.functional.relou", "relu"),
    ("paddle.grad_of_the_moon", None),
    ("call(paddle.nn.Linear(2, 2), paddle.ones([1, 2]))", "result"),
]


@pytest.mark.parametrize(("code", "meant"), MISSPELT, ids=[code for code, _ in MISSPELT])
def test_misspelt_names(code, meant):
    """As Python's own display says; frames of the package lie between the user's and the error."""

    def call(layer, x):
        def hook(*_):
            result = x
            return resutl or result  # noqa: F821  misspelt

        layer.register_forward_post_hook(hook)
        return layer(x)

    with pytest.raises((AttributeError, NameError)) as caught:
        eval(code, {"paddle": paddle, "call": call})  # noqa: S307
    text = format_error(caught.value)
    if meant is None:
        assert "Did you mean" not in text
    else:
        assert text.rstrip().endswith(f"Did you mean: {meant!r}?"), text


def test_members_of_groups_show_the_users_frames():
    errors = [mistakes.run(paddle, name) for name in ("operator @", "reshape")]
    group = ExceptionGroup("outer", [errors[0], ExceptionGroup("inner", [errors[1]])])
    text = format_error(group)
    assert text.count("paddle_jax hidden") == 2 and "_core" not in text, text
    assert sum("/programs/" in line for line in text.splitlines()) == 2
    assert all(not hasattr(error, "__notes__") for error in errors)


def test_debuggers_stop_in_the_users_frame():
    error = mistakes.run(paddle, "an exception of one's own in forward")
    Trimmed(error)
    frame = error.__traceback__
    while frame.tb_next is not None:
        frame = frame.tb_next
    assert frame.tb_frame.f_code.co_name == "forward"


def test_chains_of_the_user_stay():
    try:
        try:
            paddle.ones([2]).reshape([3])
        except ValueError as error:
            raise KeyError("mine") from error
    except KeyError as error:
        text = format_error(error)
        Trimmed(error).restore_chain()
        assert isinstance(error.__cause__, ValueError)
    assert text.count("Traceback") == 2 and "direct cause" in text


@pytest.mark.parametrize("start", [[], ["-m", "paddle_jax"]], ids=["python", "python -m paddle_jax"])
def test_terminals(tmp_path, start):
    (tmp_path / "program.py").write_text(LAYER)
    text = run([*start, "program.py"], tmp_path)
    assert len(text.splitlines()) <= 12
    lines = [line for line in text.splitlines() if line.strip(" ~^")]  # Python 3.13 marks each call
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[3].endswith("hidden; FLAGS_call_stack_level=2 shows them")
    assert lines[4].startswith("ValueError")
    assert "layers.py" in run([*start, "program.py"], tmp_path, FLAGS_call_stack_level="2")


def test_logs_and_threads(tmp_path):
    program = (
        "import logging, threading\nimport paddle_jax as paddle\n"
        "def wrong():\n    paddle.ones([2]).reshape([3])\n"
        "try:\n    wrong()\nexcept ValueError:\n    logging.exception('logged')\n"
        "thread = threading.Thread(target=wrong)\nthread.start()\nthread.join()\n"
    )
    (tmp_path / "program.py").write_text(program)
    text = run(["program.py"], tmp_path)
    assert text.count("paddle.ones([2]).reshape([3])") == 2 and text.count("hidden;") == 2
    assert "_core" not in text


def test_pytest(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import paddle_jax as paddle\ndef test_it():\n    paddle.ones([2]).reshape([3])\n"
    )
    (tmp_path / "test_file.py").write_text("import paddle_jax as paddle\npaddle.ones([2]).reshape([4])\n")
    arguments = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--continue-on-collection-errors"]
    # where CI is set, the summary at the end repeats whole messages
    text = run(arguments, tmp_path, CI="", BUILD_NUMBER="")
    assert "test_it.py:3: ValueError" in text and "test_file.py:2: in <module>" in text
    assert text.count("hidden;") == 2
    assert "_core" not in text
    assert "_core" in run([*arguments, "--full-trace"], tmp_path)


def test_ipython(tmp_path):
    pytest.importorskip("IPython")
    cell = LAYER.removeprefix("import paddle_jax as paddle\n")
    program = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance(colors='nocolor')\n"
        "shell.run_cell('import paddle_jax as paddle')\n"
        f"shell.run_cell({cell!r})\n"
        "trace = shell.InteractiveTB.tb\n"
        "while trace.tb_next is not None:\n    trace = trace.tb_next\n"
        "print('stops in', trace.tb_frame.f_code.co_name)\n"
        "shell.run_cell('paddle.nn.functional.relou')\n"
    )
    (tmp_path / "program.py").write_text(program)
    text, _, misspelt = run(["program.py"], tmp_path, IPYTHONDIR=str(tmp_path)).partition("AttributeError")
    assert misspelt.rstrip().endswith("Did you mean: 'relu'?")
    text = text.rpartition("-" * 70)[0]  # of the first error alone
    assert "stops in <module>" in text and "hidden;" in text
    assert "_core" not in text and len(text.splitlines()) <= 12, text


def test_workers_name_the_file(tmp_path):
    (tmp_path / "program.py").write_text(
        "import paddle_jax as paddle\n"
        "class Data(paddle.io.Dataset):\n"
        "    def __len__(self):\n        return 2\n"
        "    def __getitem__(self, i):\n        return {}[i]\n"
        "if __name__ == '__main__':\n"
        "    list(paddle.io.DataLoader(Data(), num_workers=1))\n"
    )
    text = run(["program.py"], tmp_path)
    assert 'program.py", line 6, in __getitem__' in text and "dynamic" not in text
    assert "fetcher.py" not in text and len(text.splitlines()) <= 12, text


def test_workers_refuse_a_batch_in_few_lines(tmp_path):
    """No frame is the user's there."""
    (tmp_path / "program.py").write_text(
        "import paddle_jax as paddle\n"
        "if __name__ == '__main__':\n"
        "    list(paddle.io.DataLoader([[1.0], [1.0, 2.0]], batch_size=2, num_workers=1))\n"
    )
    lines = run(["program.py"], tmp_path).splitlines()
    assert lines[-1].startswith("DataLoader: worker 0") and lines[-1].endswith("raised this")
    assert len(lines) <= 8, lines


def test_groups_that_tasks_raise(tmp_path):
    (tmp_path / "program.py").write_text(
        "import asyncio\nimport paddle_jax as paddle\n"
        "async def wrong():\n    paddle.ones([2]).reshape([3])\n"
        "async def main():\n    async with asyncio.TaskGroup() as tasks:\n"
        "        tasks.create_task(wrong())\n"
        "asyncio.run(main())\n"
    )
    text = run(["program.py"], tmp_path)
    assert text.count("frames inside paddle_jax hidden") == 1 and "_core" not in text


@pytest.mark.parametrize(
    "statement", ["traceback.print_exc()", "print(traceback.format_exc(), file=sys.stderr)"]
)
def test_exceptions_that_a_program_prints(tmp_path, statement):
    (tmp_path / "program.py").write_text(
        "import sys, traceback\nimport paddle_jax as paddle\n"
        f"try:\n    paddle.ones([2, 3]) @ paddle.ones([2, 3])\nexcept ValueError as error:\n    {statement}\n"
        "    depth = len(traceback.extract_tb(error.__traceback__))\n    print(depth, file=sys.stderr)\n"
    )
    *lines, depth = run(["program.py"], tmp_path).split()
    text = " ".join(lines)
    assert "paddle_jax hidden" in text and "_core" not in text and text.count(" File ") == 1
    assert int(depth) > 1  # the exception itself is whole


def test_interrupts(tmp_path):
    (tmp_path / "program.py").write_text(
        "import paddle_jax as paddle\nprint('ready', flush=True)\nx = paddle.ones([50, 50])\n"
        "while True:\n    x = paddle.tanh(x @ x)\n    x.sum().item()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        child.stdout.readline()
        time.sleep(1)
        child.send_signal(signal.SIGINT)
        _, text = child.communicate(timeout=60)
    finally:
        child.kill()
    assert text.splitlines()[-1] == "KeyboardInterrupt"
    assert len(text.splitlines()) <= 12 and "_core" not in text, text
