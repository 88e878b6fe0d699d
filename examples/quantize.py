"""Handwritten digits in 8 bits: train a small network, convert it after training (PTQ), go on training it
with 3-bit weights (QAT).

    python -m paddle_jax examples/quantize.py            # on JAX
    python examples/quantize.py                          # the same file with the real Paddle

The data are the 1797 scanned 8x8 digits that come with scikit-learn; nothing is downloaded. The program ends
with exit code 1 when a full-size run loses more than 1 % of accuracy in 8 bits.
"""

import argparse
import sys

import numpy as np
import paddle
from paddle import nn
from paddle.quantization import PTQ, QAT, QuantConfig
from paddle.quantization.observers import AbsmaxObserver
from paddle.quantization.quanters import FakeQuanterWithAbsMaxObserver
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def network(classes=10):
    """Two convolutions, then two linear layers."""
    return nn.Sequential(
        nn.Conv2D(1, 16, kernel_size=3, padding=1),
        nn.ReLU(),
        nn.MaxPool2D(2),
        nn.Conv2D(16, 32, kernel_size=3, padding=1),
        nn.ReLU(),
        nn.MaxPool2D(2),
        nn.Flatten(),
        nn.Linear(32 * 2 * 2, 64),
        nn.ReLU(),
        nn.Linear(64, classes),
    )


def train(net, images, labels, epochs, rate=2e-3, batch=64):
    """Adam on shuffled batches."""
    optimizer = paddle.optimizer.Adam(rate, parameters=net.parameters())
    order = np.random.RandomState(0)
    net.train()
    for _ in range(epochs):
        for rows in np.array_split(order.permutation(len(images)), max(1, len(images) // batch)):
            loss = nn.functional.cross_entropy(
                net(paddle.to_tensor(images[rows])), paddle.to_tensor(labels[rows])
            )
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()


def accuracy(net, images, labels):
    net.eval()
    with paddle.no_grad():
        return float((net(paddle.to_tensor(images)).argmax(1).numpy() == labels).mean())


def after_training(net, images):
    """The network with 8-bit weights and activations, from the largest magnitudes of a few hundred images."""
    net.eval()
    ptq = PTQ(QuantConfig(activation=AbsmaxObserver(quant_bits=8), weight=AbsmaxObserver(quant_bits=8)))
    watched = ptq.quantize(net)
    with paddle.no_grad():
        watched(paddle.to_tensor(images))
    return ptq.convert(watched)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--samples", type=int, default=1797)
    options = parser.parse_args(argv)
    paddle.seed(1)
    images, labels = load_digits(return_X_y=True)
    images = (images[: options.samples].reshape(-1, 1, 8, 8) / 16).astype("float32")
    x, tx, y, ty = train_test_split(
        images, labels[: options.samples].astype("int64"), test_size=0.25, random_state=0
    )

    net = network()
    train(net, x, y, options.epochs)
    before = accuracy(net, tx, ty)
    print(f"float32                              {before:.4f}")
    after = accuracy(after_training(net, x[:300]), tx, ty)
    print(f"8 bits, converted after training     {after:.4f}")

    for trained in (False, True):
        config = QuantConfig(
            activation=FakeQuanterWithAbsMaxObserver(), weight=FakeQuanterWithAbsMaxObserver(bit_length=3)
        )
        model = QAT(config).quantize(net.train())
        if trained:
            train(model, x, y, max(1, options.epochs // 3), rate=5e-4)
        else:
            with paddle.no_grad():
                for _ in range(60):  # only the scales are found
                    model(paddle.to_tensor(x[:300]))
        print(
            f"3-bit weights, {'trained with them' if trained else 'not trained with them':21s} "
            f"{accuracy(model, tx, ty):.4f}"
        )
    return int(options.samples == 1797 and options.epochs >= 15 and after < before - 0.01)


if __name__ == "__main__":
    sys.exit(main())
