"""Fifty mistakes in short programs, and how many lines each prints.

    python -m tests.core.mistakes ENGINE

ENGINE is `paddle` or `paddle_jax`. It prints for each mistake the lines of the text that ends the program.
"""

import ast
import importlib
import linecache
import statistics
import subprocess
import sys
import traceback
import warnings
from types import ModuleType

HEAD = "nn, F, Tensor = paddle.nn, paddle.nn.functional, paddle.Tensor\n"

LAYER = """class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
    def forward(self, x):
        return {}
net = Net()
net({})
"""

STATIC = """@paddle.jit.to_static(full_graph=True)
def f(x):
    {}
    return x
f(paddle.ones([2, 3]))
"""

DATA = """class Data(paddle.io.Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, i):
        return {}
for batch in paddle.io.DataLoader(Data(), batch_size=2):
    {}
"""

STEP = """net = nn.Linear(4, 2)
opt = paddle.optimizer.Adam(parameters={})
loss = {}
loss.backward()
opt.step()
"""

LIMIT = 30  # seconds that a mistake may take in a process of its own

MISTAKES = {
    "matmul of shapes that do not fit": "paddle.matmul(paddle.ones([2, 3]), paddle.ones([2, 3]))",
    "operator @": "paddle.ones([2, 3]) @ paddle.ones([2, 3])",
    "addition of shapes that do not fit": "paddle.ones([2, 3]) + paddle.ones([2, 4])",
    "addition in place": "paddle.ones([2, 3]).add_(paddle.ones([4, 4]))",
    "addition of a text": "paddle.ones([2]) + 'a'",
    "addition of None": "paddle.ones([2]) + None",
    "reshape": "paddle.ones([2, 3]).reshape([4, 2])",
    "reshape with two -1": "paddle.ones([2, 3]).reshape([-1, -1])",
    "transpose": "paddle.ones([2, 3]).transpose([0, 1, 2])",
    "concat of a tensor": "paddle.concat(paddle.ones([2]))",
    "concat of shapes that do not fit": "paddle.concat([paddle.ones([2, 3]), paddle.ones([2, 4])])",
    "stack of shapes that do not fit": "paddle.stack([paddle.ones([2]), paddle.ones([3])])",
    "sum over an axis that is not there": "paddle.ones([2, 3]).sum(axis=5)",
    "softmax over an axis that is not there": "F.softmax(paddle.ones([2, 3]), axis=4)",
    "split into unequal parts": "paddle.split(paddle.ones([5, 2]), 3)",
    "index out of range": "paddle.ones([2])[5]",
    "too many indices": "paddle.ones([2])[0, 0]",
    "assignment of a shape that does not fit": "x = paddle.ones([2, 3])\nx[0] = paddle.ones([5])",
    "unknown dtype": "paddle.ones([2], dtype='float33')",
    "unknown function": "paddle.onse([2])",
    "unknown method": "paddle.ones([2]).summ()",
    "unknown argument": "paddle.ones([2]).sum(axes=0)",
    "missing argument": "paddle.matmul(paddle.ones([2]))",
    "ragged list": "paddle.to_tensor([[1.0, 2.0], [3.0]])",
    "item of many": "paddle.ones([2, 3]).item()",
    "float of many": "float(paddle.ones([2, 3]))",
    "cast to a wrong dtype": "paddle.ones([2]).astype('image')",
    "linear with wrong features": "nn.Linear(3, 4)(paddle.ones([2, 5]))",
    "convolution with wrong channels": "nn.Conv2D(3, 4, 3)(paddle.ones([1, 1, 8, 8]))",
    "convolution of three axes": "nn.Conv2D(3, 4, 3)(paddle.ones([3, 8, 8]))",
    "a batch in Sequential": (
        "net = nn.Sequential(nn.Conv2D(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(10, 2))\n"
        "net(paddle.ones([1, 3, 8, 8]))"
    ),
    "layer norm of a wrong size": "nn.LayerNorm(4)(paddle.ones([2, 5]))",
    "batch norm of wrong channels": "nn.BatchNorm2D(4)(paddle.ones([2, 5, 3, 3]))",
    "LSTM of a wrong size": "nn.LSTM(4, 8)(paddle.ones([2, 3, 5]))",
    "attention of a wrong size": "nn.MultiHeadAttention(8, 2)(paddle.ones([1, 3, 6]))",
    "heads that do not divide": "nn.MultiHeadAttention(8, 3)",
    "a list for a layer": "nn.Linear(3, 4)([1.0, 2.0, 3.0])",
    "None for a layer": "nn.ReLU()(None)",
    "forward of a layer of one's own": LAYER.format("self.fc(x)", "paddle.ones([2, 3])"),
    "an attribute that is not there": LAYER.format("self.missing(x)", "paddle.ones([2, 4])"),
    "an exception of one's own in forward": LAYER.format("{}['key']", "paddle.ones([2, 4])"),
    "backward twice": "x = paddle.ones([2], 'float32')\nx.stop_gradient = False\ny = (x * x).sum()\n"
    "y.backward()\ny.backward()",
    "cross entropy with wrong labels": ("F.cross_entropy(paddle.ones([2, 3]), paddle.ones([3, 1], 'int64'))"),
    "loss of shapes that do not fit": "F.mse_loss(paddle.ones([2, 3]), paddle.ones([2, 4]))",
    "optimizer with a layer": STEP.format("net", "net(paddle.ones([1, 4])).sum()"),
    "optimizer with a text": STEP.format("'weight'", "net(paddle.ones([1, 4])).sum()"),
    "a hook that raises": (
        "def hook(grad):\n    raise KeyError('hook')\n"
        "x = paddle.ones([2])\nx.stop_gradient = False\nx.register_hook(hook)\n(x * 2).sum().backward()"
    ),
    "compiled: shapes that do not fit": STATIC.format("x = x @ x"),
    "compiled: an exception of one's own": STATIC.format("x = {}['key']"),
    "compiled: in a branch": STATIC.format("if x.sum() > 0:\n        x = x @ x"),
    "compiled: branches of two types": STATIC.format(
        "if x.sum() > 0:\n        y = x\n    else:\n        y = 'none'\n    x = y"
    ),
    "samples of different shapes": DATA.format("paddle.ones([i + 1]).numpy()", "pass"),
    "an exception in a data set": DATA.format("{}[i]", "pass"),
    "a batch that does not fit": DATA.format("paddle.ones([3]).numpy()", "nn.Linear(4, 2)(batch[0])"),
    "a collate function that raises": (
        "data = [1, 2, 3]\nfor x in paddle.io.DataLoader(data, collate_fn=lambda rows: rows['x']):\n    pass"
    ),
    "load of a file that is not there": "paddle.load('nothing.pdparams')",
    "load of an address whose library is missing": "paddle.load('oss://bucket/w.pdparams')",
    "load_state_dict of a name": "nn.Linear(3, 4).set_state_dict('w.pdparams')",
    "a step without parameters": "paddle.optimizer.Adam(parameters=[]).step()",
    "a gradient of another shape from a hook": (
        "x = paddle.ones([3])\nx.stop_gradient = False\ny = x * 2\n"
        "y.register_hook(lambda grad: grad[:2])\ny.sum().backward()"
    ),
    "a device that is not there": "paddle.set_device('nothing')",
    "a state dict of a list": "nn.Linear(3, 4).set_state_dict([1, 2])",
}


def run(paddle: ModuleType, name: str) -> BaseException | None:
    """The exception that a mistake raises, with a traceback that begins in the program."""
    source = HEAD + MISTAKES[name]
    file = f"/programs/{name}.py"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(source, file, "exec"), {"paddle": paddle, "__name__": "__main__"})
    except Exception as error:
        return error.with_traceback(error.__traceback__ and error.__traceback__.tb_next)
    return None


def lines_of(engine: str, name: str) -> tuple[int, str] | None:
    """How many lines a mistake prints, and the exception; None without one."""
    paddle = importlib.import_module(engine)
    error = run(paddle, name)
    if error is None:
        return None
    if engine == "paddle_jax":
        text = importlib.import_module("paddle_jax._core.base.hidden_frames").format_error(error)
    else:
        text = "".join(traceback.format_exception(error))
    return len(text.splitlines()), type(error).__name__


def lines_of_process(engine: str, name: str) -> tuple[int, str] | None:
    """As `lines_of` in a process of its own: Paddle waits for ever where a data set raises."""
    code = f"from tests.core.mistakes import lines_of; print(lines_of({engine!r}, {name!r}), flush=True)"
    # Paddle's reader threads keep a process from ending.
    code += "; import os; os._exit(0)"
    try:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return None
    return ast.literal_eval(done.stdout.splitlines()[-1])


def main(engine: str) -> None:
    """Prints the lines of each mistake, and their median and maximum."""
    measure = lines_of if engine == "paddle_jax" else lines_of_process
    counts = []
    for name in MISTAKES:
        found = measure(engine, name)
        if found is None:
            print(f"  -  {name}: no exception")
            continue
        counts.append(found[0])
        print(f"{found[0]:3}  {name}: {found[1]}")
    print(f"{len(counts)} mistakes: median {statistics.median(counts)}, at most {max(counts)} lines")


if __name__ == "__main__":
    main(*sys.argv[1:])
