"""`import paddle` as paddle_jax: in fresh interpreters, since it changes the import system."""

import subprocess
import sys

import pytest

CHECK = """
import sys, paddle, paddle.nn as nn, paddle.autograd
from paddle.autograd import PyLayer
import paddle_jax
assert paddle is paddle_jax and nn is paddle_jax.nn and sys.modules["paddle.autograd"] is paddle_jax.autograd
assert paddle.autograd.__spec__.name == "paddle_jax.autograd"
try:
    import paddle.no_such_module
except ModuleNotFoundError as error:
    assert "paddle.no_such_module" in str(error)
print("args", sys.argv[1:], __name__)
"""


def run(*args, cwd=None):
    return subprocess.run(
        [sys.executable, *map(str, args)], capture_output=True, text=True, cwd=cwd, timeout=120
    )


PROCESSES = """
import multiprocessing, pathlib, sys
from concurrent.futures import ProcessPoolExecutor

import paddle

class Pair:
    def __init__(self, x):
        self.x, self.folder = x, pathlib.Path(paddle.__file__).parent.name

def double(x):
    return Pair(x * 2)

if __name__ == "__main__":
    x = paddle.ones([3]) + 1
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(sys.argv[1])) as pool:
        for pair in pool.map(double, [x, x + 1]):
            print(pair.folder, pair.x.tolist(), type(pair) is Pair)
"""


def test_script_and_its_arguments(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(CHECK + "import neighbour\n")
    (tmp_path / "neighbour.py").write_text("import paddle\n")
    done = run("-m", "paddle_jax", script, "a", "--b")
    assert done.returncode == 0, done.stderr
    assert "args ['a', '--b'] __main__" in done.stdout


def test_module(tmp_path):
    (tmp_path / "program.py").write_text(CHECK)
    done = run("-m", "paddle_jax", "-m", "program", "x", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "args ['x'] __main__" in done.stdout


@pytest.mark.parametrize("arguments", [("program.py", "spawn"), ("-m", "program", "forkserver")])
def test_processes_that_the_program_starts(arguments, tmp_path):
    (tmp_path / "program.py").write_text(PROCESSES)
    done = run("-m", "paddle_jax", *arguments, cwd=tmp_path)
    assert done.stdout.splitlines() == [f"paddle_jax {[number] * 3} True" for number in (4.0, 6.0)], (
        done.stderr
    )


COMMANDS = """
import os, subprocess, sys
import paddle

where = "import paddle, paddle.nn.functional as F; from paddle import nn; print(paddle.__file__.split(chr(47))[-2], paddle.__name__, nn.__name__)"
if sys.argv[1] == "command":
    for flags in ([], ["-W", "ignore"]):
        print(subprocess.run([sys.executable, *flags, "-c", where], capture_output=True, text=True).stdout.strip())
    print(subprocess.run([sys.executable, "-m", "beside"], capture_output=True, text=True).stdout.strip())
else:
    from joblib import Parallel, delayed

    def doubled(x):
        import paddle
        return paddle.__file__.split(chr(47))[-2], (x * 2).tolist()

    print(*Parallel(n_jobs=2)(delayed(doubled)(paddle.full([2], i)) for i in range(2)))
"""  # noqa: E501


def test_commands_that_the_program_starts(tmp_path):
    (tmp_path / "program.py").write_text(COMMANDS)
    (tmp_path / "beside.py").write_text(
        "import paddle.nn as nn, subprocess, sys\nprint(nn.Linear.__module__, flush=True)\n"
        "subprocess.run([sys.executable, '-c', 'import paddle; print(paddle.Tensor)'])\n"
    )
    done = run("-m", "paddle_jax", "program.py", "command", cwd=tmp_path)
    lines = ["paddle_jax paddle paddle.nn"] * 2 + ["paddle.nn.layer.common", "<class 'paddle.Tensor'>"]
    assert done.stdout.splitlines() == lines, done.stderr


def test_workers_of_joblib(tmp_path):
    pytest.importorskip("joblib")
    (tmp_path / "program.py").write_text(COMMANDS)
    done = run("-m", "paddle_jax", "program.py", "joblib", cwd=tmp_path)
    assert done.stdout == "('paddle_jax', [0.0, 0.0]) ('paddle_jax', [2.0, 2.0])\n", done.stderr


def test_commands_find_the_real_paddle_where_paddle_jax_is_not(oracle, tmp_path):
    check = (
        "import os, subprocess, sys, paddle_jax.alias as alias; alias.install_as_paddle(); "
        "os.chdir(sys.argv[1]); code = 'import paddle, paddle.nn; "
        "print(paddle.__file__.split(chr(47))[-2], paddle.nn.Linear.__module__)'; block = 'import sys; "
        "sys.modules[\"paddle_jax\"] = None; '; print(subprocess.run([sys.executable, '-c', "
        "block + code], capture_output=True, text=True).stdout, subprocess.run([sys.executable, '-c', "
        "code], capture_output=True, text=True, env=alias.environment_before()).stdout)"
    )
    done = run("-c", check, tmp_path)
    assert done.stdout.split() == ["paddle", "paddle.nn.layer.common"] * 2, done.stderr


def test_code_on_the_command_line_is_the_main_module():
    done = run(
        "-m",
        "paddle_jax",
        "-c",
        "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A, __name__)",
    )
    assert done.stdout == "True __main__\n", done.stderr


PROGRAM = """
import atexit, os, sys
print(__file__, sys.argv[0], __name__, __spec__, sys.modules["__main__"].__dict__ is globals())
os.chdir("/")
late = "at the end"
atexit.register(lambda: print(late, sys.modules["__main__"].late))
def failing():
    raise KeyError("missing")
failing()
"""


def test_a_script_runs_as_python_runs_it(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    theirs, ours = run("program.py", cwd=tmp_path), run("-m", "paddle_jax", "program.py", cwd=tmp_path)
    assert (ours.returncode, ours.stdout, ours.stderr) == (1, theirs.stdout, theirs.stderr)
    (tmp_path / "wrong.py").write_text("x = (1,\n")
    theirs, ours = run("wrong.py", cwd=tmp_path), run("-m", "paddle_jax", "wrong.py", cwd=tmp_path)
    assert (ours.returncode, ours.stderr) == (1, theirs.stderr)


def test_variables_are_there_after_the_script(tmp_path):
    (tmp_path / "program.py").write_text("import paddle\nx = paddle.ones([2])\n")
    command = [sys.executable, "-i", "-m", "paddle_jax", "program.py"]
    done = subprocess.run(
        command, input="print(x.tolist())\n", capture_output=True, text=True, cwd=tmp_path, timeout=120
    )
    assert "[1.0, 1.0]" in done.stdout, done.stderr


def test_exit_status_and_errors(tmp_path):
    script = tmp_path / "program.py"
    script.write_text("import sys; sys.exit(7)")
    assert run("-m", "paddle_jax", script).returncode == 7
    missing = run("-m", "paddle_jax", tmp_path / "none.py")
    assert missing.returncode == 2
    assert "does not exist" in missing.stderr
    assert run("-m", "paddle_jax").returncode == 2


def test_never_by_itself():
    check = (
        "assert 'paddle' not in sys.modules; assert not any('alias' in type(f).__module__ for f "
        "in sys.meta_path)"
    )
    done = run("-c", f"import paddle_jax, sys; {check}")
    assert done.returncode == 0, done.stderr


def test_refused_when_the_real_paddle_is_imported(oracle):
    import paddle_jax

    with pytest.raises(RuntimeError, match="already imported"):
        paddle_jax.install_as_paddle()
