"""Worker processes of whole programs: the main module, Ctrl-C, the end of the interpreter, and where the
server comes from.

Unit tests of `_core.process.forkserver`.
"""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from paddle_jax._core.process import forkserver
from tests import forked_python
from tests.io.test_workers import assert_gone

pytestmark = pytest.mark.skipif(not forkserver.available, reason="no worker processes on this system")


HEAD = """
import os, signal, sys, time, collections
signal.signal(signal.SIGINT, signal.default_int_handler)  # what started the tests may have it ignored
import numpy as np
import paddle
from paddle.io import DataLoader, Dataset
table = np.arange(100.0) * 2
Row = collections.namedtuple("Row", "value pid")
class Data(Dataset):
    def __init__(self, count=6, wait=0.0):
        self.count, self.wait = count, wait
    def __len__(self):
        return self.count
    def __getitem__(self, i):
        time.sleep(self.wait)
        return float(table[i % 100]), os.getpid()
paddle.ones([2]).sum().item()  # JAX runs, its threads too
"""


def program(tmp_path, text):
    path = tmp_path / "program.py"
    path.write_text(HEAD + textwrap.dedent(text))
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(
            [str(Path(__file__).resolve().parents[2]), os.environ.get("PYTHONPATH", "")]
        )
    }
    return forked_python.start(["-m", "paddle_jax", path], environment, tmp_path)


def finished(process, code=0, seconds=120):
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert process.returncode == code, out + err
    return out, err


def shared_blocks():
    return set(Path("/dev/shm").iterdir()) if Path("/dev/shm").is_dir() else set()


def test_a_script_without_a_guard(tmp_path):
    """Data set, collate function and named tuple of the main module; results have its classes."""
    before = shared_blocks()
    out, err = finished(
        program(
            tmp_path,
            """
        collate = lambda rows: Row([value for value, _ in rows], rows[0][1])
        loader = DataLoader(Data(), batch_size=2, num_workers=2, collate_fn=collate)
        batches = list(loader)
        assert all(type(batch) is list or type(batch) is Row for batch in batches)
        print([batch[0] for batch in batches], *{batch[1] for batch in batches} - {os.getpid()})
        class Mine(Exception): pass
        class Bad(Data):
            def __getitem__(self, i): raise Mine("here")
        try:
            list(DataLoader(Bad(), num_workers=1))
        except Mine as error:
            print("caught", error, "in __getitem__" in error.__notes__[0])
    """,
        )
    )
    assert out.startswith("[[0.0, 2.0], [4.0, 6.0], [8.0, 10.0]]") and "caught here True" in out and err == ""
    assert_gone(map(int, out.splitlines()[0].split("]]")[1].split()))
    assert shared_blocks() <= before


def started(process):
    """The processes that a program names in its first line."""
    return [int(word) for word in process.read_line().split()]


NAMED = """
    from paddle_jax._core.process import forkserver
    loader = DataLoader(Data(1000, 0.01), num_workers=2, persistent_workers=True, batch_size=2)
    batches = iter(loader)
    pids = {int(next(batches)[1][0]) for _ in range(4)}
    print(forkserver._Server.process.pid, *pids, flush=True)
"""


def test_ctrl_c(tmp_path):
    before = shared_blocks()
    process = program(
        tmp_path,
        NAMED
        + """
    try:
        for batch in batches:
            pass
    except KeyboardInterrupt:
        print("interrupted")
    """,
    )
    pids = started(process)
    assert len(pids) == 3
    time.sleep(0.3)
    for pid in (process.pid, *pids):  # as a terminal sends it
        os.kill(pid, signal.SIGINT)
    out, err = finished(process)
    assert out == "interrupted\n" and err == ""
    assert_gone(pids)
    assert shared_blocks() <= before


def test_workers_that_are_not_wanted_any_more_say_nothing(tmp_path):
    """The program was interrupted before they had their data, or had said that they can use it."""
    out, err = finished(
        program(
            tmp_path,
            """
        from paddle_jax.io.dataloader.process import ProcessWorker
        def interrupted(*args):
            raise KeyboardInterrupt
        for name in ("wait_until_set_up", "give"):
            whole = getattr(ProcessWorker, name)
            setattr(ProcessWorker, name, interrupted)
            try:
                list(DataLoader(Data(), num_workers=2))
            except KeyboardInterrupt:
                print("interrupted")
            setattr(ProcessWorker, name, whole)
        time.sleep(1)
        print(len(list(DataLoader(Data(), num_workers=2))))
    """,
        )
    )
    assert (out, err) == ("interrupted\ninterrupted\n6\n", "")


@pytest.mark.skipif(sys.platform != "linux", reason="the program is forked on Linux only")
def test_ctrl_c_while_the_program_is_forked(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        HEAD.replace(
            "paddle.ones([2]).sum().item()",
            """
os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGINT))
try:
    paddle.device.get_available_device()
except KeyboardInterrupt:
    print("interrupted")
print(paddle.ones([2]).sum().item())
""",
        )
    )
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    done = forked_python.run(["-m", "paddle_jax", path], 120, environment)
    assert (done.stdout, done.stderr) == ("interrupted\n2.0\n", "")


IN_A_COMPILED_FUNCTION = """
import os, sys, types
import paddle_jax as paddle

hooks = types.ModuleType("hooks")  # the user's code, which runs at each fork
exec("def hook(): pass", hooks.__dict__)
os.register_at_fork(before=hooks.hook)
rows = paddle.zeros([2, 2])

@paddle.jit.to_static
def function(m):
    rows[1][0] += 1
    return m + rows

class Data(paddle.io.Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, i):
        return paddle.to_tensor(float(i), stop_gradient=False) * 2

for _ in range(2):
    with paddle.no_grad():
        print(function(paddle.ones([2, 2])).tolist())
flow = lambda batch: [not x.stop_gradient for x in batch]
print(list(paddle.io.DataLoader(Data(), batch_size=2, num_workers=2, collate_fn=flow)))
"""


def test_the_server_starts_inside_a_compiled_function(tmp_path):
    """The workers are not in that function, and the user's hooks of the fork are no part of it."""
    path = tmp_path / "program.py"
    path.write_text(IN_A_COMPILED_FUNCTION)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    done = forked_python.run([path], 120, environment)
    assert done.stdout.splitlines() == [
        "[[1.0, 1.0], [2.0, 1.0]]",
        "[[1.0, 1.0], [3.0, 1.0]]",
        "[[True, True], [True, True]]",
    ], done.stderr
    assert done.stderr == ""


ENDS = {
    "falls off the end": ("", 0), "exit": ("    os._exit(5)\n", 5), "error": ("    raise SystemExit(4)\n", 4),
    "killed": ("    os.kill(os.getpid(), 9)\n", -9), "terminated": ("    os.kill(os.getpid(), 15)\n", -15),
}  # fmt: skip


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(end, marks=([] if end in ("falls off the end", "killed") else pytest.mark.slow))
        for end in ENDS
    ],
)
def test_no_process_outlives_the_program(tmp_path, end):
    process = program(tmp_path, NAMED + ENDS[end][0])
    pids = started(process)
    finished(process, ENDS[end][1])
    assert len(pids) == 3
    assert_gone(pids)


def test_a_fork_of_the_program_leaves_the_workers_alone(tmp_path):
    process = program(
        tmp_path,
        NAMED
        + """
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    print(int(next(batches)[1][0]) in pids)
    """,
    )
    pids = started(process)
    assert finished(process)[0] == "True\n"
    assert_gone(pids)


# where the server comes from --------------------------------------------------------------------------------

WHO = """
    from paddle_jax._core.process import forkserver
    print("made", type(forkserver._Server.process).__name__)
    loader = DataLoader(Data(4), batch_size=None, num_workers=2)
    print(sorted(int(value) for value, pid in loader if int(pid) != os.getpid()))
    print("then", type(forkserver._Server.process).__name__)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the program is forked on Linux only")
@pytest.mark.parametrize(
    "before, made, then",
    [
        ("", "_ForkedServer", "_ForkedServer"),
        ("del DataLoader", "NoneType", "Popen"),
        (
            "import threading; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
            "NoneType",
            "Popen",
        ),
    ],
    ids=["foreseen", "unforeseen", "with threads"],
)
def test_the_program_is_forked_before_it_has_threads(tmp_path, before, made, then):
    text = (
        HEAD.replace(
            "paddle.ones([2])",
            f"print('once', end=' ')\n{before}\npaddle.device.get_available_device()\npaddle.ones([2])",
        )
        + "from paddle.io import DataLoader\n"
    )
    path = tmp_path / "program.py"
    path.write_text(
        text + textwrap.dedent(WHO).replace("num_workers", "**{'num_' 'workers'").replace("=2)", ": 2})")
    )
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(
            [str(Path(__file__).resolve().parents[2]), os.environ.get("PYTHONPATH", "")]
        )
    }
    done = forked_python.run(["-m", "paddle_jax", path], 120, environment)
    assert (done.stdout, done.stderr) == (f"once made {made}\n[0, 2, 4, 6]\nthen {then}\n", "")
