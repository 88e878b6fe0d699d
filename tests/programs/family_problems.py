"""Trains small models of several families from fixed weights: `family_problems.py FOLDER FILE` writes the
losses of each into an .npz file.

The graph networks, the autoencoder, the oscillator and LeNet are those of the examples.
"""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.distribution import (
    AffineTransform,
    ChainTransform,
    Independent,
    Normal,
    TanhTransform,
    Transform,
    TransformedDistribution,
)

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def example(name):
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def settled(net, seed=0, spread=0.3):
    """Gives each parameter with several axes normal numbers from NumPy, so that both engines begin alike."""
    rng = np.random.default_rng(seed)
    for value in net.parameters():
        if len(value.shape) > 1:
            value.set_value((rng.standard_normal(value.shape) * spread).astype("float32"))
    return net


def trained(net, loss_of, steps=15, rate=0.01):
    """The losses of some steps of Adam."""
    optimizer, losses = paddle.optimizer.Adam(rate, parameters=net.parameters()), []
    for step in range(steps):
        loss = loss_of(step)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss))
    return np.array(losses)


def graph(kind):
    """Nodes of a graph of digits classified; 8 sampled neighbours are all there are."""
    module = example("graph_network")
    pixels, labels, edges, shown, _ = module.digits(300, 8, 5)
    net, x = settled(module.Network(kind, 64, 16, 10, 8), spread=0.2), paddle.to_tensor(pixels)
    return trained(
        net,
        lambda step: F.cross_entropy(net(edges, x, paddle.to_tensor(shown)), paddle.to_tensor(labels[shown])),
    )


def vae():
    """The autoencoder, with noise from NumPy."""
    module = example("vae")
    images, noise = module.read_images(200), np.random.default_rng(1)
    net = settled(module.Autoencoder(64, 32, 4), spread=0.15)
    drawn, Normal.rsample = (
        Normal.rsample,
        lambda self, shape=(): (
            self.loc + self.scale * paddle.to_tensor(noise.standard_normal(self.loc.shape).astype("float32"))
        ),
    )
    try:
        return trained(net, lambda step: -net.lower_bound(paddle.to_tensor(images)).mean())
    finally:
        Normal.rsample = drawn


class Coupling(Transform):
    """Half of the coordinates scaled and shifted by what a network says of the other half (Dinh,
    Sohl-Dickstein and Bengio, 2017)."""

    _type = paddle.distribution.transform.Type.BIJECTION

    def __init__(self, net, first):
        super().__init__()
        self.net, self.first = net, first

    def _halves(self, v):
        kept, moved = (v[..., :1], v[..., 1:])[:: 1 if self.first else -1]
        scale, shift = self.net(kept).chunk(2, -1)
        return kept, moved, paddle.tanh(scale), shift

    def _joined(self, kept, moved):
        return paddle.concat([kept, moved] if self.first else [moved, kept], -1)

    def _forward(self, x):
        kept, moved, scale, shift = self._halves(x)
        return self._joined(kept, moved * paddle.exp(scale) + shift)

    def _inverse(self, y):
        kept, moved, scale, shift = self._halves(y)
        return self._joined(kept, (moved - shift) * paddle.exp(-scale))

    def _forward_log_det_jacobian(self, x):
        return self._halves(x)[2].sum(-1)

    @property
    def _domain(self):
        return paddle.distribution.variable.Independent(paddle.distribution.variable.real, 1)

    _codomain = _domain


def flow():
    """A normalising flow of four couplings, by maximum likelihood of two moons."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, np.pi, 200)
    moons = np.stack([np.cos(angle), np.sin(angle)], -1) * np.where(np.arange(200) % 2, 1, -1)[
        :, None
    ] + 0.05 * rng.standard_normal((200, 2))
    nets = settled(
        nn.LayerList([nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 2)) for _ in range(4)])
    )
    base = Independent(Normal(paddle.zeros([2]), paddle.ones([2])), 1)
    whole = TransformedDistribution(base, [Coupling(net, at % 2 == 0) for at, net in enumerate(nets)])
    data = paddle.to_tensor(moons.astype("float32"))
    return trained(nets, lambda step: -whole.log_prob(data).mean(), steps=30, rate=0.02)


def squashed():
    """Density of a chain of the library's own transforms, its numbers learned."""
    box = nn.Linear(2, 2)
    settled(box)
    data = paddle.to_tensor(np.random.default_rng(0).uniform(-0.9, 0.9, 100).astype("float32"))

    def loss(step):
        chain = ChainTransform(
            [AffineTransform(box.weight[0, 0], F.softplus(box.weight[1, 1])), TanhTransform()]
        )
        return (
            -TransformedDistribution(Normal(paddle.zeros([1]), paddle.ones([1])), [chain])
            .log_prob(data)
            .mean()
        )

    return trained(box, loss)


def regression():
    """Bayesian regression by samples of the coefficients: [largest difference of mean, of deviation] from the
    posterior that is known."""
    rng = np.random.default_rng(0)
    x = np.stack([np.ones(60), rng.uniform(-1, 1, 60)], -1).astype("float32")
    y = (x @ np.array([0.5, -1.0]) + 0.3 * rng.standard_normal(60)).astype("float32")
    cover = np.linalg.inv(x.T @ x / 0.09 + np.eye(2))
    loc, raw = (
        paddle.create_parameter([2], "float32", default_initializer=nn.initializer.Constant(v))
        for v in (0.0, -1.0)
    )
    prior, xs, ys = Normal(paddle.zeros([2]), paddle.ones([2])), paddle.to_tensor(x), paddle.to_tensor(y)
    schedule = paddle.optimizer.lr.CosineAnnealingDecay(0.05, 400)
    optimizer = paddle.optimizer.Adam(schedule, parameters=[loc, raw])
    for _ in range(400):
        guess = Normal(loc, F.softplus(raw))
        draws = guess.rsample([32])
        fit = Normal(draws @ xs.T, paddle.to_tensor(0.3)).log_prob(ys).sum(-1).mean()
        (paddle.distribution.kl_divergence(guess, prior).sum() - fit).backward()
        optimizer.step()
        optimizer.clear_grad()
        schedule.step()
    deviation = np.diag(np.linalg.inv(cover)) ** -0.5  # of the best factorised guess
    return np.array(
        [
            np.abs(loc.numpy() - cover @ x.T @ y / 0.09).max(),
            np.abs(F.softplus(raw).numpy() / deviation - 1).max(),
        ]
    )


def oscillator():
    """The oscillator with learned noise: second derivatives in the loss."""
    module = example("learned_noise")
    t = np.random.default_rng(0).uniform(0, module.END, (40, 1))
    times, measured = (paddle.to_tensor(v.astype("float32")) for v in (t, module.exact(t)))
    places = paddle.linspace(0, module.END, 20).unsqueeze(-1)
    times.stop_gradient = places.stop_gradient = False
    net = settled(module.Oscillator(8), spread=0.5)
    return trained(net, lambda step: net.surprise(times, measured, places))


def rounded():
    """LeNet trained while weights and activations are rounded to 8 bits; scores after conversion without
    training follow the losses."""
    module = example("deploy_quantized")
    x, y, test, _ = module.read_digits(250)
    net = settled(module.LeNet(), spread=0.1)
    converted = module.after_training(net.eval(), x)
    with paddle.no_grad():
        scores = converted(paddle.to_tensor(test)).numpy()
    quanter = module.FakeQuanterWithAbsMaxObserver()
    model = module.QAT(module.QuantConfig(quanter, quanter)).quantize(net.train())
    x, y = paddle.to_tensor(x[:64]), paddle.to_tensor(y[:64])
    return np.concatenate(
        [trained(model, lambda step: F.cross_entropy(model(x), y), steps=8, rate=1e-3), scores.ravel()]
    )


def main():
    found = {name: graph(name) for name in ("gcn", "gat", "sage")}
    found |= {call.__name__: call() for call in (vae, flow, squashed, regression, oscillator, rounded)}
    np.savez(sys.argv[2], engine=Path(paddle.__file__).parent.name, **found)


main()
