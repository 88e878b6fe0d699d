"""The first training steps of vision networks in a fresh process with an empty compile cache, against
the real Paddle.

    python -m benchmarks.first_step [--repeat 3] [network ...]

One image of 224x224, forward, backward and a step of Momentum. Prints seconds of processor time (which other
work on the machine disturbs less than wall time) of the first and of the fifth step, of both engines, the
least of the repeats, and their ratios.
"""

import argparse

from benchmarks.fresh import last_line

NETWORKS = [
    "mobilenet_v1",
    "mobilenet_v2",
    "mobilenet_v3_small",
    "shufflenet_v2_x1_0",
    "squeezenet1_1",
    "resnet18",
    "googlenet",
]

DRIVER = """
import importlib, json, sys, time
import numpy as np
paddle = importlib.import_module(sys.argv[1])
importlib.import_module(sys.argv[1] + ".vision.models")
paddle.seed(0)
net = getattr(paddle.vision.models, sys.argv[2])(num_classes=10)
optimizer = paddle.optimizer.Momentum(0.01, parameters=net.parameters())
image = paddle.to_tensor(np.random.RandomState(0).randn(1, 3, 224, 224).astype("float32"))
label = paddle.to_tensor([3])
times = []
for _ in range(5):
    start = time.process_time()
    out = net(image)
    loss = paddle.nn.functional.cross_entropy(out[0] if isinstance(out, (list, tuple)) else out, label)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    float(loss)
    times.append(time.process_time() - start)
print(json.dumps(times))
"""


def once(module, network):
    """Seconds of each step."""
    return last_line(DRIVER, module, network)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    print(
        f"{'network':20} {'first: ours':>11} {'Paddle':>7} {'ratio':>6} {'fifth: ours':>12} "
        f"{'Paddle':>7} {'ratio':>6}"
    )
    for network in given.networks:
        runs = [[once(module, network) for module in ("paddle_jax", "paddle")] for _ in range(given.repeat)]
        first, fifth = ([min(run[side][step] for run in runs) for side in (0, 1)] for step in (0, 4))
        figures = (
            f"{first[0]:11.2f} {first[1]:7.2f} {first[0] / first[1]:6.2f} {fifth[0]:12.3f} "
            f"{fifth[1]:7.3f} {fifth[0] / fifth[1]:6.2f}"
        )
        print(f"{network:20} {figures}", flush=True)


if __name__ == "__main__":
    main()
