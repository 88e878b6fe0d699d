"""DataLoader against the real Paddle's: samples per second, start-up of the workers, and a soak. Each engine
runs in fresh processes, in turn.

    python benchmarks/loader.py                    # throughput and start-up, 2 and 4 workers
    python benchmarks/loader.py --soak 200         # epochs with persistent workers: what they keep

`jpeg`: 224x224 images decoded, cropped, flipped and normalised; `tiny`: 4 numbers. An epoch with persistent
workers; the first one counts as start-up until its first batch is there, the fastest of the
others as throughput.
"""

import argparse
import importlib
import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

# samples, batch size, numbers in a sample
CASES = {"jpeg": (512, 32, 3 * 224 * 224), "tiny": (20_000, 64, 4)}


def dataset(paddle, kind):
    """Pictures made once in memory as JPEG files, or rows of numbers."""
    count, _, width = CASES[kind]
    if kind == "tiny":
        rows = np.random.default_rng(0).standard_normal((count, width)).astype("float32")

        def item(index):
            return rows[index], index % 10
    else:
        from PIL import Image

        random, files = np.random.default_rng(0), []
        for _ in range(16):
            memory = io.BytesIO()
            small = Image.fromarray(random.integers(0, 256, (32, 32, 3), dtype="uint8"))
            small.resize((256, 256)).save(memory, "JPEG")
            files.append(memory.getvalue())
        T = paddle.vision.transforms
        steps = T.Compose(
            [T.RandomCrop(224), T.RandomHorizontalFlip(), T.ToTensor(), T.Normalize([0.5] * 3, [0.5] * 3)]
        )

        def item(index):
            return steps(Image.open(io.BytesIO(files[index % 16])).convert("RGB")), index % 10

    class Samples(paddle.io.Dataset):
        def __getitem__(self, index):
            return item(index)

        def __len__(self):
            return count

    return Samples()


def loader(paddle, kind, workers):
    return paddle.io.DataLoader(
        dataset(paddle, kind),
        batch_size=CASES[kind][1],
        num_workers=workers,
        persistent_workers=True,
        shuffle=True,
    )


def resident():
    """MB of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def measure(engine, kind, workers, epochs):
    """What one process finds."""
    paddle = importlib.import_module(engine)
    paddle.set_device("cpu")
    batches, times, began = loader(paddle, kind, workers), [], 0.0
    for _ in range(epochs):
        start = time.perf_counter()
        for images, _ in batches:
            began = began or time.perf_counter() - start
            images.numpy()
        times.append(time.perf_counter() - start)
    return {"start": began, "rate": CASES[kind][0] / min(times[1:])}


def soak(engine, epochs):
    """Memory, descriptors, children and shared memory every tenth of the epochs."""
    paddle = importlib.import_module(engine)
    CASES["tiny"] = (1000, 50, 256)  # batches of 50 KB, which travel in mapped memory
    batches = loader(paddle, "tiny", 2)
    for epoch in range(1, epochs + 1):
        for rows, _ in batches:
            rows.numpy()
        if epoch % max(1, epochs // 10) == 0 or epoch == 1:
            descriptors, blocks = (len(list(Path(f).iterdir())) for f in ("/proc/self/fd", "/dev/shm"))
            children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
            print(f"| {epoch} | {resident():.1f} | {descriptors} | {len(children)} | {blocks} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--soak", type=int, default=0, help="number of epochs")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args.one[0], args.one[1], int(args.one[2]), args.epochs)))
        return
    if args.soak:
        print("| epoch | MB | descriptors | children | blocks in /dev/shm |\n| --- | --- | --- | --- | --- |")
        soak("paddle_jax", args.soak)
        return
    # An installed package has its modules compiled: without that the first batch would wait for Python's
    # compiler, in one of the engines.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    print(
        "| samples | workers | ours, per s | oracle, per s | ours / oracle | first batch: "
        "ours, s | oracle, s |\n" + "| --- " * 7 + "|"
    )
    for kind in CASES:
        for workers in (2, 4):
            found = {"paddle_jax": [], "paddle": []}
            for _ in range(args.rounds):
                for engine, results in found.items():
                    command = [
                        sys.executable,
                        "-W",
                        "ignore",
                        __file__,
                        "--one",
                        engine,
                        kind,
                        str(workers),
                        "--epochs",
                        str(args.epochs),
                    ]
                    done = subprocess.run(
                        command, env=environment, capture_output=True, text=True, timeout=300, check=True
                    )
                    results.append(json.loads(done.stdout.splitlines()[-1]))
            a, b = (max(r["rate"] for r in results) for results in found.values())
            c, d = (min(r["start"] for r in results) for results in found.values())
            print(f"| {kind} | {workers} | {a:.0f} | {b:.0f} | {a / b:.2f} | {c:.2f} | {d:.2f} |", flush=True)


if __name__ == "__main__":
    main()
