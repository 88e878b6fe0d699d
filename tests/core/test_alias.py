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
    return subprocess.run([sys.executable, *map(str, args)], capture_output=True, text=True, cwd=cwd, timeout=120)

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
    assert done.stdout.splitlines() == [f"paddle_jax {[number] * 3} True" for number in (4.0, 6.0)], done.stderr


def test_code_on_the_command_line_is_the_main_module():
    done = run("-m", "paddle_jax", "-c", "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A, __name__)")
    assert done.stdout == "True __main__\n", done.stderr


def test_exit_status_and_errors(tmp_path):
    script = tmp_path / "program.py"
    script.write_text("import sys; sys.exit(7)")
    assert run("-m", "paddle_jax", script).returncode == 7
    missing = run("-m", "paddle_jax", tmp_path / "none.py")
    assert missing.returncode == 2
    assert "does not exist" in missing.stderr
    assert run("-m", "paddle_jax").returncode == 2


def test_never_by_itself():
    check = "assert 'paddle' not in sys.modules; assert not any('alias' in type(f).__module__ for f in sys.meta_path)"
    done = run("-c", f"import paddle_jax, sys; {check}")
    assert done.returncode == 0, done.stderr


def test_refused_when_the_real_paddle_is_imported(oracle):
    import paddle_jax

    with pytest.raises(RuntimeError, match="already imported"):
        paddle_jax.install_as_paddle()
