"""Milliseconds per step of `paddle.Model.fit` and `evaluate`, epoch by epoch: the first epochs compile.

    python benchmarks/fit.py paddle_jax lenet
    python benchmarks/fit.py paddle mlp --batch-size 128

Data are random images in memory; the numbers include reading, metrics and callbacks.
"""

import argparse
import importlib
import time

import numpy as np

SAMPLES = 2048


def model(p, kind):
    """A prepared Model."""
    nn = p.nn
    net = (
        p.vision.models.LeNet()
        if kind == "lenet"
        else nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    )
    made = p.Model(net)
    made.prepare(
        p.optimizer.Adam(1e-3, parameters=made.parameters()), nn.CrossEntropyLoss(), p.metric.Accuracy()
    )
    return made


def images(p):
    generator = np.random.default_rng(0)
    pixels = generator.standard_normal((SAMPLES, 1, 28, 28), "float32")
    labels = generator.integers(0, 10, (SAMPLES, 1))

    class Images(p.io.Dataset):
        def __getitem__(self, index):
            return pixels[index], labels[index]

        def __len__(self):
            return SAMPLES

    return Images()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engine", choices=["paddle_jax", "paddle"])
    parser.add_argument("network", choices=["lenet", "mlp"])
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=8)
    args = parser.parse_args()
    p = importlib.import_module(args.engine)
    made, data, steps = model(p, args.network), images(p), SAMPLES // args.batch_size
    times = {"fit": [], "evaluate": []}

    class Watch(p.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            self.start = time.perf_counter()

        def on_epoch_end(self, epoch, logs=None):
            times["fit"].append(time.perf_counter() - self.start)

    made.fit(data, batch_size=args.batch_size, epochs=args.epochs, verbose=0, callbacks=Watch())
    for _ in range(args.epochs):
        start = time.perf_counter()
        made.evaluate(data, batch_size=args.batch_size, verbose=0)
        times["evaluate"].append(time.perf_counter() - start)
    for name, found in times.items():
        print(
            f"{args.engine} {args.network} {name}: "
            f"{' '.join(f'{seconds / steps * 1e3:.1f}' for seconds in found)} ms per step"
        )


if __name__ == "__main__":
    main()
