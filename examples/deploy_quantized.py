"""LeNet in 8 bits from training to serving: quantized after training (PTQ) or trained with rounding (QAT),
written as a model file, served.

    python -m paddle_jax examples/deploy_quantized.py  # on JAX
    python examples/deploy_quantized.py      # the real Paddle 3.3.1 reads its own first file wrongly

The data are scikit-learn's scanned digits. Each network is served from its file, which has to give the
answers that the network in memory gives. The program ends with exit code 1 when it does not, or when a
full-size run loses more than 1.5 % of accuracy in 8 bits.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import paddle
from paddle import nn
from paddle.quantization import PTQ, QAT, QuantConfig
from paddle.quantization.observers import AbsmaxObserver
from paddle.quantization.quanters import FakeQuanterWithAbsMaxObserver
from paddle.static import InputSpec
from paddle.vision.models import LeNet
from sklearn.datasets import load_digits

BATCH = 50  # of calls to the model files


def read_digits(samples):
    """(images to train on, labels, images held out, labels): 28 x 28 pixels from 0 to 1, as
    LeNet wants them."""
    images, labels = load_digits(return_X_y=True)
    images = np.pad(np.kron(images.reshape(-1, 8, 8) / 16, np.ones((3, 3))), [(0, 0), (2, 2), (2, 2)])
    order = np.random.default_rng(0).permutation(len(images))[:samples]
    images, labels = images[order, None].astype("float32"), labels[order].astype("int64")
    held_out = max(BATCH, len(images) // 4 // BATCH * BATCH)
    return images[held_out:], labels[held_out:], images[:held_out], labels[:held_out]


def train(net, images, labels, epochs, rate):
    """Adam on shuffled batches."""
    optimizer, order = paddle.optimizer.Adam(rate, parameters=net.parameters()), np.random.default_rng(1)
    net.train()
    for _ in range(epochs):
        for rows in np.array_split(order.permutation(len(images)), max(1, len(images) // 64)):
            loss = nn.functional.cross_entropy(
                net(paddle.to_tensor(images[rows])), paddle.to_tensor(labels[rows])
            )
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
    net.eval()


def after_training(net, images):
    """8-bit weights and activations; the ranges are those of a few hundred images."""
    ptq = PTQ(QuantConfig(activation=AbsmaxObserver(quant_bits=8), weight=AbsmaxObserver(quant_bits=8)))
    watched = ptq.quantize(net)
    with paddle.no_grad():
        watched(paddle.to_tensor(images[:300]))
    return ptq.convert(watched)


def in_training(net, images, labels, epochs):
    """Trained on while weights and activations are rounded to 8 bits."""
    rounded = QAT(
        QuantConfig(activation=FakeQuanterWithAbsMaxObserver(), weight=FakeQuanterWithAbsMaxObserver())
    ).quantize(net.train())
    train(rounded, images, labels, epochs, 3e-4)
    return rounded


def served(net, path, images):
    """(what the model file answers, what the network answers, kilobytes of the file, ms per batch)."""
    paddle.jit.save(net, str(path), [InputSpec([BATCH, 1, 28, 28], "float32", "image")])
    model, answers, times = paddle.jit.load(str(path)), [], []
    model.eval()
    for batch in images.reshape(-1, BATCH, 1, 28, 28):
        start = time.perf_counter()
        answers.append(model(paddle.to_tensor(batch)).numpy())
        times.append(time.perf_counter() - start)
    with paddle.no_grad():
        expected = np.concatenate(
            [net(paddle.to_tensor(batch)).numpy() for batch in images.reshape(-1, BATCH, 1, 28, 28)]
        )
    return (
        np.concatenate(answers),
        expected,
        Path(f"{path}.pdiparams").stat().st_size / 1000,
        1000 * min(times),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--samples", type=int, default=1797)
    parser.add_argument("--folder", default="quantized", help="where the model files go")
    args = parser.parse_args()
    paddle.seed(0)
    x, y, test, labels = read_digits(args.samples)
    net = LeNet()
    train(net, x, y, args.epochs, 2e-3)
    found, failures = {}, []
    Path(args.folder).mkdir(exist_ok=True)
    for name, make in {
        "float32": lambda: net,
        "8 bits after training": lambda: after_training(net, x),
        "8 bits in training": lambda: in_training(net, x, y, max(1, args.epochs // 4)),
    }.items():
        answers, expected, size, spent = served(make(), Path(args.folder) / name.replace(" ", "_"), test)
        found[name] = float((answers.argmax(1) == labels).mean())
        difference = float(np.abs(answers - expected).max() / np.abs(expected).max())
        print(
            f"{name:22s} accuracy {found[name]:.4f}  {size:5.0f} kB  {spent:6.2f} ms per {BATCH} images",
            flush=True,
        )
        if difference > 0.02:
            failures.append(f"{name}: the model file answers differently, by {difference:.3f}")
    if args.samples == 1797 and args.epochs >= 12 and min(found.values()) < found["float32"] - 0.015:
        failures.append("8 bits lose more than 1.5 % of accuracy")
    print("served as the networks in memory answer" if not failures else "; ".join(failures))
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
