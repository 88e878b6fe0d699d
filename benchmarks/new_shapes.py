"""Models that are asked for ever other widths, in a fresh process with an empty compile cache, against
the real Paddle.

    python -m benchmarks.new_shapes [--widths 60] [--every] [way ...]

A small recogniser of text (two convolutions, a bidirectional LSTM, a linear layer) is saved and asked for as
many widths. Prints seconds of all calls, the whole time of the process, and how much memory the widths after
the tenth add, of both engines. With `--every` a recogniser without an LSTM is asked for every width from 32,
in random order. 10 000 widths take one to two minutes.
"""

import argparse
import time

from benchmarks.fresh import last_line

WAYS = ["predictor", "load", "executor", "to_static", "eager"]

DRIVER = """
import importlib, json, resource, sys, tempfile, time
import numpy as np
paddle = importlib.import_module(sys.argv[1])
way, widths, every = sys.argv[2], int(sys.argv[3]), sys.argv[4] == "every"
nn = paddle.nn

class Recogniser(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2D(3, 16, 3, stride=2, padding=1), nn.BatchNorm2D(16), nn.Hardswish(),
            nn.Conv2D(16, 32, 3, stride=(2, 1), padding=1), nn.BatchNorm2D(32), nn.Hardswish())
        self.rnn = None if every else nn.LSTM(32, 24, direction="bidirectional")
        self.head = nn.Linear(32 if every else 48, 40)

    def forward(self, x):
        y = self.body(x).mean(axis=2).transpose([0, 2, 1])
        if self.rnn is not None:
            y, _ = self.rnn(y)
        return nn.functional.softmax(self.head(y), axis=-1)

def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20

net = Recogniser()
net.eval()
prefix = tempfile.mkdtemp() + "/net"
spec = [paddle.static.InputSpec([None, 3, 16, None], "float32", "x")]
if way == "eager":
    call = lambda x: net(paddle.to_tensor(x)).numpy()
elif way == "to_static":
    static = paddle.jit.to_static(net)
    call = lambda x: static(paddle.to_tensor(x)).numpy()
else:
    paddle.jit.save(net, prefix, input_spec=spec)
if way == "load":
    loaded = paddle.jit.load(prefix)
    loaded.eval()
    call = lambda x: loaded(paddle.to_tensor(x)).numpy()
elif way == "predictor":
    config = paddle.inference.Config(prefix + ".json", prefix + ".pdiparams")
    config.disable_gpu()
    config.disable_glog_info()
    predictor = paddle.inference.create_predictor(config)
    call = lambda x: predictor.run([paddle.to_tensor(x)])[0].numpy()
elif way == "executor":
    paddle.enable_static()
    executor = paddle.static.Executor(paddle.CPUPlace())
    program, feeds, fetches = paddle.static.load_inference_model(prefix, executor)
    call = lambda x: executor.run(program, feed={feeds[0]: x}, fetch_list=fetches)[0]
rng = np.random.default_rng(0)
start, sizes = time.perf_counter(), []
for k in rng.permutation(widths) if every else range(widths):
    width = 32 + k if every else 32 + 4 * k
    x = rng.random((1, 3, 16, width), dtype="float32")
    assert call(x).shape == (1, (width + 1) // 2, 40)
    sizes.append(memory())
print(json.dumps([time.perf_counter() - start, sizes[-1] - sizes[min(9, widths - 1)]]))
"""


def once(module, way, widths, every):
    """(seconds of the calls, of the process, MiB that widths after the tenth add)."""
    start = time.perf_counter()
    seconds, added = last_line(DRIVER, module, way, str(widths), "every" if every else "some")
    return seconds, time.perf_counter() - start, added


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ways", nargs="*", default=WAYS)
    parser.add_argument("--widths", type=int, default=60)
    parser.add_argument("--every", action="store_true", help="widths without gaps, in random order")
    given = parser.parse_args()
    print(
        f"{'way':10} {'calls: ours':>11} {'Paddle':>7} {'whole: ours':>11} {'Paddle':>7} {'ratio':>6} "
        f"{'MiB: ours':>9} {'Paddle':>7}"
    )
    for way in given.ways:
        ours, paddle = (once(module, way, given.widths, given.every) for module in ("paddle_jax", "paddle"))
        print(
            f"{way:10} {ours[0]:11.2f} {paddle[0]:7.2f} {ours[1]:11.2f} {paddle[1]:7.2f} "
            f"{ours[1] / paddle[1]:6.2f} {ours[2]:9.0f} {paddle[2]:7.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
