"""From training to serving: a training step compiled whole, a model file, and a predictor that
several threads use.

    python -m paddle_jax examples/deploy.py            # on JAX
    python examples/deploy.py                          # the same file with the real Paddle

The model file (`digits.json` and `digits.pdiparams`) is Paddle's own format: either of the two loads what the
other has written (`--serve-only` takes a file that is there). The data are scikit-learn's scanned digits.
"""

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import paddle
from paddle import nn
from paddle.static import InputSpec
from sklearn.datasets import load_digits


class Classifier(nn.Layer):
    """A small residual network on 8x8 images."""

    def __init__(self, width=32, classes=10):
        super().__init__()
        self.stem = nn.Conv2D(1, width, 3, padding=1)
        self.norm = nn.BatchNorm2D(width)
        self.block = nn.Conv2D(width, width, 3, padding=1)
        self.pool = nn.AdaptiveAvgPool2D(2)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(4 * width, classes)

    def forward(self, image):
        x = nn.functional.relu(self.norm(self.stem(image)))
        x = nn.functional.relu(x + self.block(x))
        return self.head(self.drop(self.pool(x).flatten(1)))


def train(net, images, labels, steps, batch):
    """Adam on random batches; forward, backward and update are one compiled function."""
    optimizer = paddle.optimizer.Adam(learning_rate=2e-3, parameters=net.parameters(), weight_decay=1e-4)

    def step(x, y):
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    step = paddle.jit.to_static(step)
    start = time.perf_counter()
    for i in range(1, steps + 1):
        chosen = np.random.randint(0, len(images), batch)
        loss = step(paddle.to_tensor(images[chosen]), paddle.to_tensor(labels[chosen]))
        if i % 100 == 0 or i == steps:
            print(f"step {i:4d}  loss {float(loss):.4f}  {time.perf_counter() - start:.1f} s", flush=True)


def serve(path, images, labels, threads):
    """Accuracy of the model file: a pool of predictors, one per thread, batches of different lengths."""
    config = paddle.inference.Config(f"{path}.json", f"{path}.pdiparams")
    pool = paddle.inference.PredictorPool(config, threads)

    def answer(job):
        number, part = job
        predictor = pool.retrieve(number)
        right = 0
        for rows in part:
            handle = predictor.get_input_handle(predictor.get_input_names()[0])
            handle.copy_from_cpu(images[rows])
            predictor.run()
            scores = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
            right += int((scores.argmax(axis=1) == labels[rows]).sum())
        return right

    batches = np.array_split(np.arange(len(images)), 7)
    with ThreadPoolExecutor(threads) as executor:
        return sum(executor.map(answer, [(n, batches[n::threads]) for n in range(threads)])) / len(images)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--path", default="digits", help="the model file without its endings")
    parser.add_argument("--serve-only", action="store_true", help="serve a model file that is there")
    args = parser.parse_args()

    paddle.seed(1)
    np.random.seed(1)
    digits = load_digits()
    images, labels = (digits.images / 16.0).astype("float32")[:, None], digits.target.astype("int64")
    order = np.random.permutation(len(images))
    known, held_out = order[:1400], order[1400:]
    if not args.serve_only:
        net = Classifier()
        train(net, images[known], labels[known], args.steps, args.batch)
        net.eval()
        with paddle.no_grad():
            scores = net(paddle.to_tensor(images[held_out])).numpy()
        expected = float((scores.argmax(axis=1) == labels[held_out]).mean())
        paddle.jit.save(net, args.path, input_spec=[InputSpec([None, 1, 8, 8], "float32", "image")])
    served = serve(args.path, images[held_out], labels[held_out], args.threads)
    if not args.serve_only and abs(served - expected) > 1 / len(held_out):
        sys.exit(f"the model file answers differently: {served:.4f}, the network {expected:.4f}")
    print(f"accuracy of {args.path}.json on {len(held_out)} digits not trained on: {served:.4f}")
    if not args.serve_only and args.steps >= 500 and served < 0.97:
        sys.exit("accuracy is below 0.97")


if __name__ == "__main__":
    main()
