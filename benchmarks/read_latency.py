"""Single operations whose result is looked at straight away, as in a notebook, a debugger or a test, against
the real Paddle.

    python -m benchmarks.read_latency [--repeat 3]

Prints microseconds per call of both engines, each in processes of its own that take turns (the least of all
rounds), and their ratio; and the geometric mean of the ratios.
"""

import argparse
import math

from benchmarks.fresh import last_line

CALLS = """x[i].numpy()|float(x[i].sum())|float((x * y).sum())|(x + 1).numpy()|paddle.tanh(x).numpy()
int(x.argmax())|bool((x > 0).all())
paddle.nonzero(v > 0.5).shape|layer(x).numpy()|x.sum().item()|(x + y).shape
paddle.to_tensor([1.0, 2.0, i]).numpy()|[each for each in v]
(x + y).tolist()|int(F.softmax(v).argmax())|(x @ y.t()).numpy()|x.mean().item() + x.max().item()
float(paddle.linalg.norm(v))
paddle.concat([x, y]).numpy()|x.sum() > 3 and 1"""

DRIVER = """
import importlib, json, sys, time
import numpy as np
paddle = importlib.import_module(sys.argv[1])
random = np.random.RandomState(0)
x, y, v = (paddle.to_tensor(random.rand(*shape).astype("float32")) for shape in ((64, 8), (64, 8), (8,)))
names = {"paddle": paddle, "F": paddle.nn.functional, "x": x, "y": y, "v": v, "layer": paddle.nn.Linear(8, 4)}
found = {}
for text in sys.argv[2].split("|"):
    call = eval("lambda i: " + text, names)
    for i in range(60):
        call(i)
    rounds = []
    for _ in range(12):
        start = time.perf_counter()
        for i in range(50):
            call(i)
        rounds.append((time.perf_counter() - start) / 50)
    found[text] = min(rounds) * 1e6
print(json.dumps(found))
"""


def once(module, calls):
    """{call: microseconds}."""
    return last_line(DRIVER, module, calls)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    calls, ratios = CALLS.replace("\n", "|"), []
    runs = [
        [once(module, calls) for module in ("paddle_jax", "paddle")]
        for _ in range(parser.parse_args().repeat)
    ]
    print(f"{'call':38} {'ours us':>8} {'Paddle':>8} {'ratio':>6}")
    for text in calls.split("|"):
        ours, theirs = (min(run[side][text] for run in runs) for side in (0, 1))
        ratios.append(ours / theirs)
        print(f"{text:38} {ours:8.1f} {theirs:8.1f} {ratios[-1]:6.2f}")
    print(f"geometric mean of the ratios: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")


if __name__ == "__main__":
    main()
