"""Handwritten digits on several processes: each reads its part of every batch, and gradients are averaged.

    python -m paddle_jax -m paddle.distributed.launch --nproc_per_node 2 examples/digits_parallel.py
    python -m paddle.distributed.launch --nproc_per_node 2 examples/digits_parallel.py    # the real Paddle

The data are the 1797 scanned 8x8 digits that come with scikit-learn; nothing is downloaded. With one process
the program runs as well. It ends with exit code 1 when a full-size run stays below 96 % test accuracy.
"""

import argparse
import sys
import time

import numpy as np
import paddle
import paddle.distributed as dist
from paddle import nn
from paddle.io import DataLoader, DistributedBatchSampler, TensorDataset
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

GOAL = 0.96


def digits(samples):
    """Training and test sets of images, float32 [n, 64] in 0..1, and labels."""
    data = load_digits()
    images, labels = (data.data[:samples] / 16.0).astype("float32"), data.target[:samples].astype("int64")
    parts = train_test_split(images, labels, test_size=0.2, random_state=0, stratify=labels)
    return [TensorDataset([paddle.to_tensor(parts[i]), paddle.to_tensor(parts[i + 2])]) for i in range(2)]


def accuracy(net, data):
    """Share of digits the network names correctly. Each process looks at its part of the data, and the
    counts are added up."""
    net.eval()
    counts = np.zeros(2, "float32")
    with paddle.no_grad():
        for i in range(dist.get_rank(), len(data), dist.get_world_size()):
            image, label = data[i]
            counts += [float(net(image.unsqueeze(0)).argmax()) == float(label), 1]
    net.train()
    total = paddle.to_tensor(counts)
    if dist.is_initialized():
        dist.all_reduce(total)
    right, seen = total.tolist()
    return right / seen


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=64, help="of all processes together")
    parser.add_argument("--learning-rate", type=float, default=3e-3)
    parser.add_argument(
        "--samples", type=int, default=None, help="use only the first SAMPLES digits (for a quick try)"
    )
    args = parser.parse_args()

    if dist.get_world_size() > 1:
        dist.init_parallel_env()
    rank, size = dist.get_rank(), dist.get_world_size()
    paddle.seed(1 + rank)
    train_set, test_set = digits(args.samples)
    net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
    if size > 1:
        net = paddle.DataParallel(net)  # all processes start with the parameters of the first one
    optimizer = paddle.optimizer.Adam(args.learning_rate, parameters=net.parameters())
    sampler = DistributedBatchSampler(train_set, args.batch_size // size, shuffle=True)
    loader, loss_of, start = (
        DataLoader(train_set, batch_sampler=sampler),
        nn.CrossEntropyLoss(),
        time.perf_counter(),
    )
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for images, labels in loader:
            loss = loss_of(net(images), labels)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
        if rank == 0 and epoch % 5 == 4:
            print(
                f"epoch {epoch + 1:2d}/{args.epochs}  loss of the last batch {float(loss):.4f}  "
                f"{time.perf_counter() - start:.1f} s",
                flush=True,
            )
    score = accuracy(net, test_set)
    if rank == 0:
        print(f"{size} processes, {len(train_set)} training digits: test accuracy {score:.4f}", flush=True)
    if args.samples is None and args.epochs >= parser.get_default("epochs") and score < GOAL:
        sys.exit(f"test accuracy {score:.4f} is below the goal of {GOAL}")


if __name__ == "__main__":
    main()
