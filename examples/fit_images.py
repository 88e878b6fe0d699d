"""Train an image classifier with paddle.Model: fit, callbacks, checkpoints, going on from one, a model file.

    python -m paddle_jax examples/fit_images.py             # on JAX
    python examples/fit_images.py                           # the same file with the real Paddle
    python -m paddle_jax examples/fit_images.py --resume    # goes on from the last checkpoint

The images are drawn by the program: noisy rings, crosses, stripes and checks of random place, size and
brightness. The program ends with exit code 1 when a full-size run stays below 95 % accuracy, or when the
reloaded model answers differently.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import paddle
from paddle import nn
from paddle.io import Dataset
from paddle.static import InputSpec

GOAL, SIZE = 0.95, 24
KINDS = ("ring", "cross", "stripes", "checks")


def picture(kind, rng):
    """One float32 image [1, SIZE, SIZE]."""
    y, x = np.mgrid[0:SIZE, 0:SIZE] - rng.uniform(SIZE * 0.35, SIZE * 0.65, (2, 1, 1))
    size, width = rng.uniform(5, 9), rng.uniform(1.2, 2.2)
    shape = {
        "ring": abs(np.hypot(x, y) - size) < width,
        "cross": ((abs(x) < width) | (abs(y) < width)) & (np.maximum(abs(x), abs(y)) < size),
        "stripes": (np.sin(2 * x / width) > 0) & (np.hypot(x, y) < size),
        "checks": (np.sin(2 * x / width) * np.sin(2 * y / width) > 0) & (np.hypot(x, y) < size),
    }[kind]
    image = rng.uniform(0.5, 1.0) * shape + rng.normal(0, 0.2, (SIZE, SIZE))
    return image[None].astype("float32")


class Shapes(Dataset):
    """Drawn when they are asked for; the same number gives the same image."""

    def __init__(self, count, seed):
        super().__init__()
        self.count, self.seed = count, seed

    def __getitem__(self, index):
        rng = np.random.default_rng([self.seed, index])
        label = index % len(KINDS)
        return picture(KINDS[label], rng), np.array([label], "int64")

    def __len__(self):
        return self.count


def network():
    return nn.Sequential(
        nn.Conv2D(1, 16, 3, padding=1),
        nn.BatchNorm2D(16),
        nn.ReLU(),
        nn.MaxPool2D(2),
        nn.Conv2D(16, 32, 3, padding=1),
        nn.BatchNorm2D(32),
        nn.ReLU(),
        nn.MaxPool2D(2),
        nn.Conv2D(32, 32, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2D(2),
        nn.Flatten(),
        nn.Linear(128, len(KINDS)),
    )


def prepared(args, steps):
    """A Model with its optimizer, loss and metric."""
    model = paddle.Model(
        network(),
        InputSpec([None, 1, SIZE, SIZE], "float32", "image"),
        InputSpec([None, 1], "int64", "label"),
    )
    rate = paddle.optimizer.lr.CosineAnnealingDecay(args.learning_rate, T_max=args.epochs * steps)
    optimizer = paddle.optimizer.AdamW(rate, parameters=model.parameters(), weight_decay=1e-3)
    model.prepare(optimizer, nn.CrossEntropyLoss(), paddle.metric.Accuracy())
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--learning-rate", type=float, default=3e-3)
    parser.add_argument(
        "--images", type=int, default=1600, help="how many images to train on; a fifth of that to test"
    )
    parser.add_argument("--workers", type=int, default=0, help="processes that draw the images")
    parser.add_argument("--folder", default="shapes", help="where checkpoints and the model file go")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint in the folder")
    args = parser.parse_args()

    paddle.seed(1)
    np.random.seed(1)
    train, test = Shapes(args.images, seed=0), Shapes(args.images // 5, seed=1)
    model = prepared(args, steps=-(-len(train) // args.batch_size))
    model.summary((1, 1, SIZE, SIZE))
    if args.resume:
        model.load(f"{args.folder}/final")
        print(f"going on from {args.folder}/final")
    best = paddle.callbacks.EarlyStopping("acc", mode="max", patience=3, verbose=0)
    model.fit(
        train,
        test,
        batch_size=args.batch_size,
        epochs=args.epochs,
        log_freq=25,
        num_workers=args.workers,
        save_dir=args.folder,
        save_freq=max(args.epochs // 2, 1),
        callbacks=[best],
    )
    score = model.evaluate(test, batch_size=64, verbose=0)["acc"]

    model.save(f"{args.folder}/shapes", training=False)
    served = paddle.jit.load(f"{args.folder}/shapes")
    images = np.stack([test[i][0] for i in range(8)])
    ours = model.predict_batch([images])[0]
    there = served(paddle.to_tensor(images)).numpy()
    print("the first eight images:", ", ".join(KINDS[k] for k in ours.argmax(axis=1)))
    print(
        f"{len(list(Path(args.folder).glob('*.pdparams')))} checkpoints in {args.folder}; "
        f"test accuracy {score:.4f}"
    )
    if not np.allclose(ours, there, atol=1e-4):
        sys.exit("the model file answers differently from the model")
    if (
        score < GOAL
        and args.images >= parser.get_default("images")
        and args.epochs >= parser.get_default("epochs")
    ):
        sys.exit(f"test accuracy {score:.4f} is below the goal of {GOAL}")


if __name__ == "__main__":
    main()
