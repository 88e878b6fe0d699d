"""A variational autoencoder of handwritten digits, written with paddle.distribution.

    python -m paddle_jax examples/vae.py  # on JAX
    python examples/vae.py                # the same file with the real Paddle

The images are scikit-learn's (8 x 8 pixels from 0 to 1, nothing is downloaded). A pixel is continuous between
0 and 1, so its distribution is the continuous Bernoulli one (Loaiza-Ganem and Cunningham, 2019). The program
maximises the evidence lower bound by gradients through samples, estimates the log-likelihood of test images
by importance sampling (Burda, Grosse and Salakhutdinov, 2016), and draws new digits.
"""

import argparse
import math
import time

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.distribution import ContinuousBernoulli, Normal, kl_divergence
from sklearn.datasets import load_digits

SHADES = " .:-=+*#%@"


class Autoencoder(nn.Layer):
    """An encoder from images to distributions of codes, and a decoder from codes to
    distributions of images."""

    def __init__(self, pixels, width, codes):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(pixels, width),
            nn.GELU(),
            nn.Linear(width, width),
            nn.GELU(),
            nn.Linear(width, 2 * codes),
        )
        self.decoder = nn.Sequential(
            nn.Linear(codes, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, pixels)
        )
        self.prior = Normal(paddle.zeros([codes]), paddle.ones([codes]))

    def encode(self, images):
        """The approximate distribution of the code of each image."""
        loc, scale = self.encoder(images).chunk(2, -1)
        return Normal(loc, F.softplus(scale) + 1e-3)

    def decode(self, codes):
        """The distribution of the pixels of the image of each code."""
        return ContinuousBernoulli(F.sigmoid(self.decoder(codes)))

    def lower_bound(self, images):
        """The evidence lower bound of each image, from one sample of its code."""
        posterior = self.encode(images)
        fit = self.decode(posterior.rsample()).log_prob(images).sum(-1)
        return fit - kl_divergence(posterior, self.prior).sum(-1)

    def log_likelihood(self, images, samples):
        """An estimate from below of the log-probability of each image, from many samples of its code."""
        posterior = self.encode(images)
        codes = posterior.sample([samples])
        weights = self.prior.log_prob(codes).sum(-1) - posterior.log_prob(codes).sum(-1)
        weights += self.decode(codes).log_prob(images).sum(-1)
        return paddle.logsumexp(weights, 0) - math.log(samples)


def read_images(samples):
    """Images as rows of 64 numbers from 0 to 1, shuffled."""
    images = (load_digits().data / 16).astype("float32")
    return images[np.random.default_rng(0).permutation(len(images))[:samples]]


def train(model, images, epochs, batch_size, learning_rate):
    """Adam with a cosine schedule; prints the mean lower bound now and then."""
    steps = epochs * max(1, len(images) // batch_size)
    schedule = paddle.optimizer.lr.CosineAnnealingDecay(learning_rate, T_max=steps)
    optimizer = paddle.optimizer.Adam(schedule, parameters=model.parameters())
    rng, start = np.random.default_rng(1), time.perf_counter()
    for epoch in range(1, epochs + 1):
        order, bounds = rng.permutation(len(images)), []
        for first in range(0, len(images) - batch_size + 1, batch_size):
            loss = -model.lower_bound(paddle.to_tensor(images[order[first : first + batch_size]])).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            schedule.step()
            bounds.append(loss)
        if epoch % max(1, epochs // 8) == 0 or epoch == epochs:
            bound = -float(paddle.stack(bounds).mean())
            print(
                f"epoch {epoch:4d}/{epochs}  lower bound {bound:7.3f}  "
                f"({(time.perf_counter() - start) / epoch:.2f} s per epoch)",
                flush=True,
            )


@paddle.no_grad()
def evaluate(model, images, samples):
    """The mean estimate of the log-likelihood, in nats per image."""
    return float(model.log_likelihood(paddle.to_tensor(images), samples).mean())


@paddle.no_grad()
def draw(model, count):
    """New digits side by side, as text."""
    images = model.decode(model.prior.sample([count])).mean.reshape([count, 8, 8]).numpy()
    shades = (images * (len(SHADES) - 1)).astype(int)
    return "\n".join(
        "   ".join("".join(SHADES[s] * 2 for s in image[row]) for image in shades) for row in range(8)
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--epochs", type=int, default=120)
    parser.add_argument("--batch-size", type=int, default=100)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--codes", type=int, default=8, help="length of a code")
    parser.add_argument("--samples", type=int, default=1797, help="number of images")
    parser.add_argument("--importance-samples", type=int, default=200)
    parser.add_argument("--learning-rate", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    paddle.seed(options.seed)
    images = read_images(options.samples)
    held_out = len(images) // 6
    model = Autoencoder(images.shape[1], options.width, options.codes)
    train(model, images[held_out:], options.epochs, options.batch_size, options.learning_rate)
    print(draw(model, 6))
    test = evaluate(model, images[:held_out], options.importance_samples)
    print(f"log-likelihood of test images: {test:.2f} nats per image (uniform pixels: 0.00)")


if __name__ == "__main__":
    main()
