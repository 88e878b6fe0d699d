"""Meta-learning (MAML): an initialisation from which one gradient step learns new digits.

    python -m paddle_jax examples/maml.py

A task is to tell three of the ten digits apart, from five pictures of each. The classifier takes one step of
gradient descent on these (the inner loop); the outer loop asks how good it then is on other pictures and
moves the initialisation, which needs the derivative of the inner gradient: second derivatives of softmax
cross-entropy, which the real Paddle does not have. `paddle.func.vmap` runs all tasks of a batch at once.
Source: C. Finn, P. Abbeel, S. Levine, Model-Agnostic Meta-Learning for Fast Adaptation of Deep
Networks, ICML 2017.
"""

import argparse
import sys
import time

import numpy as np
import paddle
from paddle import nn
from sklearn.datasets import load_digits

WAYS, SHOTS, ASKED = 3, 5, 15


def tasks(random, pixels, labels, digits, count):
    """Arrays of `count` tasks: pictures and classes to learn from, pictures and classes to be asked about."""
    found = [[], [], [], []]
    for _ in range(count):
        chosen = random.choice(digits, WAYS, replace=False)
        rows = np.concatenate(
            [random.choice(np.flatnonzero(labels == d), SHOTS + ASKED, replace=False)[None] for d in chosen]
        )
        classes = np.arange(WAYS)[:, None]
        for part, of in zip(
            found,
            (rows[:, :SHOTS], classes.repeat(SHOTS, 1), rows[:, SHOTS:], classes.repeat(ASKED, 1)),
            strict=True,
        ):
            part.append(of.reshape(-1))
    learn, to, asked, answers = map(np.stack, found)
    return [paddle.to_tensor(a) for a in (pixels[learn], to, pixels[asked], answers)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--tasks", type=int, default=16, help="tasks in a batch")
    parser.add_argument("--inner-rate", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    paddle.seed(args.seed)
    random = np.random.RandomState(args.seed)

    pixels, labels = load_digits(return_X_y=True)
    pixels = (pixels / 16).astype("float32")
    net = nn.Sequential(nn.Linear(64, 40), nn.Tanh(), nn.Linear(40, WAYS))

    def loss(state, x, y):
        return nn.functional.cross_entropy(paddle.func.functional_call(net, state, x), y)

    def adapted(state, x, y):
        """One step of gradient descent on a task."""
        gradients = paddle.func.grad(loss)(state, x, y)
        return {name: value - args.inner_rate * gradients[name] for name, value in state.items()}

    def one_task(state, x, y, asked, answers):
        after = adapted(state, x, y)
        right = paddle.argmax(paddle.func.functional_call(net, after, asked), 1) == answers
        return loss(after, asked, answers), right.astype("float32").mean()

    many = paddle.func.vmap(one_task, in_axes=(None, 0, 0, 0, 0))
    optimizer = paddle.optimizer.Adam(3e-3, parameters=net.parameters())
    start = time.perf_counter()
    for step in range(1, args.steps + 1):
        losses, accuracy = many(
            dict(net.named_parameters()), *tasks(random, pixels, labels, np.arange(7), args.tasks)
        )
        losses.mean().backward()
        optimizer.step()
        optimizer.clear_grad()
        if step % max(1, args.steps // 5) == 0:
            each = (time.perf_counter() - start) / step * 1e3
            print(
                f"step {step:4d}  accuracy after one inner step {float(accuracy.mean()):.3f}  "
                f"{each:.1f} ms each",
                flush=True,
            )
    _, accuracy = many(dict(net.named_parameters()), *tasks(random, pixels, labels, np.arange(5, 10), 64))
    print(f"accuracy on tasks with digits 7, 8, 9, never seen before: {float(accuracy.mean()):.3f}")
    if args.steps >= parser.get_default("steps") and not float(accuracy.mean()) > 0.8:
        sys.exit(f"accuracy {float(accuracy.mean()):.3f} is below 0.8")


if __name__ == "__main__":
    main()
