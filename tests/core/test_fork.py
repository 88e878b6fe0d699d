"""Forked children: one that computes is told at once what to use instead of waiting for ever; one that does
not compute notices nothing.

Each runs in a process of its own with a time limit, since what is tested is that nothing hangs.
"""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no os.fork on this platform")

PARENT = """
import copy, multiprocessing, os, sys, warnings
warnings.simplefilter("error")
import numpy as np
import paddle_jax as paddle
sys.path.insert(0, {folder!r})
x, big = paddle.to_tensor([1.0, 2.0, 3.0]), paddle.ones([500, 500])
(big @ big).sum().item()
layer = paddle.nn.Linear(3, 3)
optimizer = paddle.optimizer.Adam(0.1, parameters=layer.parameters())
for _ in range(3):
    layer(paddle.ones([2, 3])).sum().backward()
    optimizer.step()
    optimizer.clear_grad()
double = paddle.jit.to_static(lambda a: a * 2)
double(x)
paddle.save(layer.state_dict(), {folder!r} + "/a.pdparams")

def in_child(call):
    reader, writer = os.pipe()
    if os.fork() == 0:
        try:
            text = "fine " + str(call())
        except BaseException as error:
            text = type(error).__name__ + " " + str(error)
        os.write(writer, text.encode())
        os._exit(0)
    os.close(writer)
    os.wait()
    with open(reader) as stream:
        return stream.read()
"""

COMPUTES = """
x + 1                                   # recorded only
big @ big
paddle.to_tensor([1, 2])
paddle.to_tensor(np.ones(3, "int64"))
paddle.sinh(x)
paddle.rand([2])
paddle.zeros([3])
x[0]
x.astype("int32")
layer(paddle.ones([2, 3]))
double(x)
optimizer.state_dict()
paddle.load({folder!r} + "/a.pdparams")
paddle.set_flags({"FLAGS_deferred": "off"}) or x + 1
paddle.set_flags({"FLAGS_check_nan_inf": False}) or x + 1
[t.start() or t.join() or got[0] for got in [[]] for t in [__import__("threading").Thread(target=lambda: got.append(repr(caught(lambda: x + 1))))]]
"""  # noqa: E501

READS = """
x.numpy().tolist()
x.tolist()
x.shape
str(x)
x.place
copy.deepcopy(layer) and 1
layer.state_dict().keys() and 1
paddle.save(layer.state_dict(), {folder!r} + "/b.pdparams")
paddle.async_save(layer.state_dict(), {folder!r} + "/c.pdparams") or paddle.clear_async_save_task_queue()
len(paddle.load({folder!r} + "/a.pdparams", return_numpy=True))
paddle.set_flags({"FLAGS_deferred": "sync"})
"""


def lines(text):
    return [line.split("  #")[0].strip() for line in text.strip().splitlines()]


def run(program, tmp_path, **env):
    program = program.replace("{folder!r}", repr(str(tmp_path)))
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("tier", ["sync", "off"])
def test_computing_is_refused_and_reading_is_not(tmp_path, tier):
    caught = (
        "def caught(f):\n    try:\n        return f()\n    except Exception as error:\n        return error\n"
    )
    calls = "".join(f"print(in_child(lambda: {line}))\n" for line in lines(COMPUTES) + lines(READS))
    got = run(PARENT + caught + calls + "print((x + 1).tolist())", tmp_path, FLAGS_deferred=tier)
    refused, fine = got[: len(lines(COMPUTES))], got[len(lines(COMPUTES)) : -1]
    for line, said in zip(lines(COMPUTES), refused, strict=True):
        assert "ForkedError" in said and "spawn" in said and "forkserver" in said and "DataLoader" in said, (
            line,
            said,
        )
    assert len([line for line in fine if line.startswith("fine ")]) == len(lines(READS)), fine
    assert got[-1] == "[2.0, 3.0, 4.0]"  # the parent goes on


def test_a_child_forked_before_anything_was_computed_works(tmp_path):
    program = """
import os, warnings
warnings.simplefilter("error")
import paddle_jax as paddle
if os.fork() == 0:
    print((paddle.ones([3]) * 2).tolist(), flush=True)
    os._exit(0)
os.wait()
print((paddle.ones([3]) * 3).tolist())
"""
    assert run(program, tmp_path) == ["[2.0, 2.0, 2.0]", "[3.0, 3.0, 3.0]"]


WORK = "import paddle_jax as paddle\n\n\ndef work(n):\n    return (paddle.ones([n]) * n).sum().item()\n"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_multiprocessing(tmp_path, method):
    (tmp_path / "worker.py").write_text(WORK)
    program = (
        PARENT
        + f"""
if __name__ == "__main__":
    import worker
    with multiprocessing.get_context({method!r}).Pool(2) as pool:
        try:
            print(pool.map(worker.work, [2, 3]))
        except RuntimeError as error:
            print(type(error).__name__)
"""
    )
    script = tmp_path / "program.py"
    script.write_text(program.replace("{folder!r}", repr(str(tmp_path))))
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.split("\n")[0] == ("ForkedError" if method == "fork" else "[4.0, 9.0]")
