"""Newton's method with Hessian-vector products: softmax regression on handwritten digits to machine accuracy.

    python -m paddle_jax examples/newton_cg.py

The Hessian of 650 parameters is never formed. Conjugate gradients solve H p = -g with products
`paddle.func.hvp(loss, (w,), (p,))`, forward mode over reverse mode, which costs about three gradients. The
real Paddle has no second derivative of softmax cross-entropy: this program needs paddle_jax. Source: J.
Nocedal, S. J. Wright, Numerical Optimization, 2nd ed., Springer 2006, algorithm 7.1.
"""

import argparse
import sys

import paddle
from sklearn.datasets import load_digits


def solve(product, gradient, iterations):
    """Conjugate gradients for H p = -g, to the accuracy that Newton's method can use."""
    target = float(gradient.norm()) * min(0.5, float(gradient.norm()) ** 0.5)
    p, r = paddle.zeros_like(gradient), gradient
    d, rr = -r, (r * r).sum()
    for _ in range(iterations):
        hd = product(d)
        step = rr / (d * hd).sum()
        p, r = p + step * d, r + step * hd
        before, rr = rr, (r * r).sum()
        if float(rr) ** 0.5 < target:
            break
        d = -r + rr / before * d
    return p


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=1797)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--decay", type=float, default=1e-3)
    args = parser.parse_args()
    paddle.set_default_dtype("float64")

    pixels, labels = load_digits(return_X_y=True)
    x = paddle.to_tensor(pixels[: args.samples] / 16.0)
    y = paddle.to_tensor(labels[: args.samples])

    def loss(w):
        scores = x @ w[:-1] + w[-1]
        return paddle.nn.functional.cross_entropy(scores, y) + 0.5 * args.decay * (w * w).sum()

    w = paddle.zeros([65, 10])
    for step in range(1, args.steps + 1):
        value, gradient = paddle.func.value_and_grad(loss)(w)
        size = float(gradient.norm())
        print(f"step {step:2d}  loss {float(value):.6f}  gradient {size:.1e}", flush=True)
        if size < 1e-10:
            break
        w = w + solve(lambda v: paddle.func.hvp(loss, (w,), (v,)), gradient, 250)  # noqa: B023  used at once
    accuracy = float((paddle.argmax(x @ w[:-1] + w[-1], 1) == y).astype("float64").mean())
    print(f"accuracy on the training data {accuracy:.4f}, gradient {size:.1e}")
    if args.steps >= parser.get_default("steps") and not size < 1e-9:
        sys.exit(f"the gradient {size:.1e} is above 1e-9")


if __name__ == "__main__":
    main()
