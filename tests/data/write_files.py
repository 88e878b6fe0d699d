"""Writes one file of each kind that programs keep: what an older version wrote has to be read by a newer one.

    python tests/data/write_files.py

`tests/framework/test_older_files.py` reads them. They stay as they are while the formats are promised; add
files for a new kind, do not write the old ones again. `own_operations.json` is of a version that saved `rot90`,
`quantile`, `cdist` and `view` as operations of paddle_jax, which are saved in parts today.
"""

import pickle
import sys
from pathlib import Path

import numpy as np

import paddle_jax as paddle

FOLDER = Path(__file__).parent / "files"
NUMBERS = np.linspace(-1, 1, 12).reshape(4, 3).astype("float32")


def trained():
    """A network after one step, and its optimizer."""
    paddle.seed(0)
    net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.Tanh(), paddle.nn.Linear(4, 2))
    optimizer = paddle.optimizer.Adam(
        paddle.optimizer.lr.StepDecay(0.1, step_size=2), parameters=net.parameters()
    )
    net(paddle.to_tensor(NUMBERS)).sum().backward()
    optimizer.step()
    return net, optimizer


def values():
    """Objects that programs put into pickles of their own."""
    return {
        "tensor": paddle.to_tensor(NUMBERS),
        "bfloat16": paddle.to_tensor([1.0, 2.0], dtype="bfloat16"),
        "complex": paddle.to_tensor([1 + 2j]),
        "dtype": paddle.float16,
        "place": paddle.CPUPlace(),
        "shape": paddle.zeros([2, 3]).shape,
        "parameter": paddle.nn.Linear(2, 2).weight,
        "spec": paddle.static.InputSpec([None, 3], "float32", "x"),
        "linear": paddle.nn.Linear(3, 2),
        "scheduler": paddle.optimizer.lr.StepDecay(0.1, step_size=2),
    }


def static_model(prefix):
    paddle.enable_static()
    program = paddle.static.Program()
    with paddle.static.program_guard(program, paddle.static.Program()):
        x = paddle.static.data("x", [None, 3], "float32")
        y = paddle.exp(x) * 2
    executor = paddle.static.Executor(paddle.CPUPlace())
    paddle.static.save_inference_model(prefix, [x], [y], executor, program=program)
    paddle.disable_static()


def main():
    if FOLDER.exists():
        sys.exit(f"{FOLDER.name}/ exists already; its files are kept as they were written")
    FOLDER.mkdir()
    net, optimizer = trained()
    paddle.save(net.state_dict(), str(FOLDER / "net.pdparams"))
    paddle.save(optimizer.state_dict(), str(FOLDER / "net.pdopt"))
    paddle.save(net.state_dict(), str(FOLDER / "net.safetensors"), safetensors=True)
    saved = {"dtype": paddle.float16, "place": paddle.CPUPlace(), "shape": paddle.zeros([2, 3]).shape}
    paddle.save(saved | {"tensor": paddle.ones([2]), "list": [1, 2.0]}, str(FOLDER / "values.pdparams"))
    paddle.jit.save(net, str(FOLDER / "model"), input_spec=[paddle.static.InputSpec([None, 3])])
    paddle.distributed.save_state_dict(net.state_dict(), str(FOLDER / "checkpoint"))
    (FOLDER / "values.pickle").write_bytes(pickle.dumps(values()))
    static_model(str(FOLDER / "static"))
    np.savez(FOLDER / "expected.npz", x=NUMBERS, y=net(paddle.to_tensor(NUMBERS)).numpy())


if __name__ == "__main__":
    main()
