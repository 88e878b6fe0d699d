"""Handwritten digits in mixed precision: the whole training step, with loss scaling, as one compiled program.

    python -m paddle_jax examples/mixed_precision.py --dtype float16 --level O2
    python examples/mixed_precision.py      # with the real Paddle, which needs a GPU for it

The data are the 1797 scanned 8x8 digits that come with scikit-learn. One batch is made to overflow: its step
is skipped and the scale halved. The program ends with exit code 1 when a full-size run stays below 97
% test accuracy.
"""

import argparse
import sys
import time

import numpy as np
import paddle
from paddle import nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

GOAL = 0.97


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
        nn.Flatten(),
        nn.Linear(128, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument(
        "--samples", type=int, default=None, help="use only the first SAMPLES digits (for a quick try)"
    )
    parser.add_argument("--dtype", default="float16", choices=["float16", "bfloat16"])
    parser.add_argument("--level", default="O1", choices=["O0", "O1", "O2"])
    args = parser.parse_args()

    paddle.seed(1)
    digits = load_digits()
    images, labels = (
        (digits.images[: args.samples] / 16.0).astype("float32")[:, None],
        digits.target[: args.samples],
    )
    x, x_test, y, y_test = train_test_split(images, labels, test_size=0.2, random_state=0, stratify=labels)

    net = network()
    opt = paddle.optimizer.AdamW(3e-3, parameters=net.parameters())
    if args.level == "O2":
        net, opt = paddle.amp.decorate(net, opt, level="O2", dtype=args.dtype)
    scaler = paddle.amp.GradScaler(
        enable=args.dtype == "float16" and args.level != "O0",
        init_loss_scaling=4096.0,
        incr_every_n_steps=200,
    )

    @paddle.jit.to_static
    def step(images, labels):
        with paddle.amp.auto_cast(level=args.level, dtype=args.dtype):
            loss = nn.functional.cross_entropy(net(images), labels)
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        opt.clear_grad()
        return loss

    order = np.random.default_rng(0)
    for epoch in range(1, args.epochs + 1):
        start, losses = time.perf_counter(), []
        indices = order.permutation(len(x))
        for i in range(len(x) // 32):
            batch = indices[32 * i : 32 * i + 32]
            losses.append(step(paddle.to_tensor(x[batch]), paddle.to_tensor(y[batch])))
        print(
            f"epoch {epoch:2d}/{args.epochs}  loss {np.mean([float(v) for v in losses]):.4f}  "
            f"{time.perf_counter() - start:.2f} s",
            flush=True,
        )

    if scaler.is_enable():
        weights, scale = net[0].weight.numpy(), float(scaler.state_dict()["scale"][0])
        statistics = {name: value.numpy() for name, value in net.state_dict().items()}
        step(paddle.to_tensor(np.full_like(x[:32], np.inf)), paddle.to_tensor(y[:32]))
        now = float(scaler.state_dict()["scale"][0])
        same = bool((net[0].weight.numpy() == weights).all())
        print(
            f"a batch that overflows: scale {scale:.0f} -> {now:.0f}, "
            f"weights {'unchanged' if same else 'changed'}"
        )
        if not same or now != scale / 2:
            sys.exit("the step that overflowed was not skipped")
        net.set_state_dict(statistics)  # the running statistics of BatchNorm have seen the infinite batch

    net.eval()
    with paddle.no_grad(), paddle.amp.auto_cast(level=args.level, dtype=args.dtype):
        score = float(
            (net(paddle.to_tensor(x_test)).argmax(axis=1) == paddle.to_tensor(y_test))
            .astype("float32")
            .mean()
        )
    print(f"{args.dtype} at level {args.level}: test accuracy {score:.4f}")
    if args.samples is None and score < GOAL and args.epochs >= parser.get_default("epochs"):
        sys.exit(f"test accuracy {score:.4f} is below the goal of {GOAL}")


if __name__ == "__main__":
    main()
