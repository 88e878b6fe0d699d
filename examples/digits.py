"""Handwritten digits: train a small convolutional network, save it, load it into a fresh
network, evaluate again.

    python -m paddle_jax examples/digits.py            # on JAX
    python examples/digits.py                          # the same file with the real Paddle

The data are the 1797 scanned 8x8 digits that come with scikit-learn; nothing is downloaded. The program ends
with exit code 1 when a full-size run stays below 97 % test accuracy.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import paddle
from paddle import nn
from paddle.io import DataLoader, Dataset
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

GOAL = 0.97


class Digits(Dataset):
    """Images as float32 [1, 8, 8] in 0..1, labels as int64."""

    def __init__(self, images, labels):
        super().__init__()
        self.images = (images / 16.0).astype("float32")[:, None]
        self.labels = labels.astype("int64")

    def __getitem__(self, index):
        return self.images[index], self.labels[index]

    def __len__(self):
        return len(self.labels)


class ConvNet(nn.Layer):
    """Two convolutions with batch normalisation, then two linear layers."""

    def __init__(self, classes=10):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2D(1, 16, kernel_size=3, padding=1),
            nn.BatchNorm2D(16),
            nn.ReLU(),
            nn.MaxPool2D(2),
            nn.Conv2D(16, 32, kernel_size=3, padding=1),
            nn.BatchNorm2D(32),
            nn.ReLU(),
            nn.MaxPool2D(2),
        )
        self.head = nn.Sequential(
            nn.Flatten(), nn.Linear(32 * 2 * 2, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, classes)
        )

    def forward(self, x):
        return self.head(self.features(x))


def accuracy(net, loader):
    """Share of digits the network names correctly."""
    net.eval()
    right = seen = 0
    with paddle.no_grad():
        for images, labels in loader:
            right += int((net(images).argmax(axis=1) == labels).sum())
            seen += labels.shape[0]
    net.train()
    return right / seen


def train(net, loader, test_loader, epochs, learning_rate):
    """Adam with a cosine learning rate; prints one line per epoch."""
    schedule = paddle.optimizer.lr.CosineAnnealingDecay(learning_rate, T_max=epochs)
    optimizer = paddle.optimizer.Adam(learning_rate=schedule, parameters=net.parameters())
    loss_of = nn.CrossEntropyLoss()
    history = []
    for epoch in range(1, epochs + 1):
        start, losses = time.perf_counter(), []
        for images, labels in loader:
            loss = loss_of(net(images), labels)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(float(loss))
        schedule.step()
        score, seconds = accuracy(net, test_loader), time.perf_counter() - start
        print(
            f"epoch {epoch:2d}/{epochs}  loss {np.mean(losses):.4f}  test accuracy {score:.4f}  "
            f"{seconds:.2f} s",
            flush=True,
        )
        history.append((np.mean(losses), score))
    return history


def draw(history, file):
    """Draws loss and accuracy by epoch, if matplotlib is installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("pip install matplotlib to have the curves drawn")
        return
    figure = Figure(figsize=(8, 3), layout="constrained")
    epochs = range(1, len(history) + 1)
    titles = ("training loss", "test accuracy")
    for axes, title, values in zip(figure.subplots(1, 2), titles, zip(*history, strict=True), strict=True):
        axes.plot(epochs, values, marker="o")
        axes.set(title=title, xlabel="epoch")
    figure.savefig(file)
    print(f"drew the curves: {file}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--learning-rate", type=float, default=5e-3)
    parser.add_argument(
        "--samples", type=int, default=None, help="use only the first SAMPLES digits (for a quick try)"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", default="digits.pdparams", help="file that receives the weights")
    args = parser.parse_args()

    paddle.seed(args.seed)
    np.random.seed(args.seed)  # DataLoader(shuffle=True) draws its order from NumPy
    digits = load_digits()
    images, labels = digits.images[: args.samples], digits.target[: args.samples]
    split = train_test_split(images, labels, test_size=0.2, random_state=0, stratify=labels)
    train_set, test_set = Digits(split[0], split[2]), Digits(split[1], split[3])
    loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=256)

    net = ConvNet()
    size = sum(int(np.prod(p.shape)) for p in net.parameters())
    print(
        f"{len(train_set)} training and {len(test_set)} test digits, {size} parameters, "
        f"device {paddle.get_device()}"
    )
    history = train(net, loader, test_loader, args.epochs, args.learning_rate)
    score = accuracy(net, test_loader)

    paddle.save(net.state_dict(), args.save)
    fresh = ConvNet()
    fresh.set_state_dict(paddle.load(args.save))
    again = accuracy(fresh, test_loader)
    print(f"saved {args.save}; test accuracy {score:.4f}, after reloading {again:.4f}")
    if again != score:
        sys.exit("the reloaded network answers differently from the saved one")
    if args.samples is None and again < GOAL and args.epochs >= parser.get_default("epochs"):
        sys.exit(f"test accuracy {again:.4f} is below the goal of {GOAL}")
    draw(history, Path(args.save).with_suffix(".png"))
    print(
        "next: examples/fit_images.py trains by paddle.Model; examples/deploy.py saves a model and serves it"
    )


if __name__ == "__main__":
    main()
