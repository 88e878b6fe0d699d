"""Trains epochs start..stop of a small network, from a checkpoint where start is not 0, and prints a digest
of its parameters after each.

    python determinism_program.py workers start stop checkpoint [compiled]
"""

import hashlib
import sys

import numpy as np

import paddle_jax as paddle


class Noisy(paddle.io.Dataset):
    """Rows that only their index decides, with noise where worker processes draw it."""

    def __getitem__(self, index):
        row = np.sin(np.arange(16, dtype="float32") * (index + 1))
        # what workers seed
        noise = np.random.rand(16).astype("float32") if paddle.io.get_worker_info() else 0.0  # noqa: NPY002
        return row + noise * ("noise" in sys.argv), np.float32(index % 3)

    def __len__(self):
        return 24


def main(workers, start, stop, path):
    paddle.seed(7)
    net = paddle.nn.Sequential(
        paddle.nn.Linear(16, 33),
        paddle.nn.LayerNorm(33),
        paddle.nn.Dropout(0.3),
        paddle.nn.GELU(),
        paddle.nn.Linear(33, 1),
    )
    embedding = paddle.nn.Embedding(3, 16)
    opt = paddle.optimizer.AdamW(0.01, parameters=[*net.parameters(), *embedding.parameters()])

    def step(x, y):
        loss = ((net(x + embedding(y.astype("int64")))[:, 0] - y) ** 2).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    run = paddle.jit.to_static(step) if "compiled" in sys.argv else step
    if start:
        saved = paddle.load(path)
        net.set_state_dict(saved["net"])
        embedding.set_state_dict(saved["embedding"])
        opt.set_state_dict(saved["opt"])
        paddle.set_rng_state(saved["rng"])
    for epoch in range(start, stop):
        np.random.seed(epoch)  # noqa: NPY002  what samplers draw from
        for x, y in paddle.io.DataLoader(Noisy(), batch_size=8, num_workers=workers, shuffle=True):
            run(x, y)
        digest = hashlib.sha256(
            b"".join(p.numpy().tobytes() for p in (*net.parameters(), *embedding.parameters()))
        )
        print(epoch, digest.hexdigest())
    paddle.save(
        {
            "net": net.state_dict(),
            "embedding": embedding.state_dict(),
            "opt": opt.state_dict(),
            "rng": paddle.get_rng_state(),
        },
        path,
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]), sys.argv[4])
