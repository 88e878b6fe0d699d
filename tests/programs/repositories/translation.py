"""A conditional GAN: spectral norm, hinge losses, two optimizers in turn, a penalty of the gradient, averaged
weights, a pool of images."""

import copy

import numpy as np
import paddle
import paddle.nn.functional as F
from common import settled, written
from paddle import nn

KINDS, NOISE = 4, 6


class Conditioned(nn.Layer):
    """Instance normalisation whose scale and offset come from the label."""

    def __init__(self, channels):
        super().__init__()
        self.norm = nn.InstanceNorm2D(channels, weight_attr=False, bias_attr=False)
        self.scale = nn.Embedding(
            KINDS, 2 * channels, weight_attr=paddle.ParamAttr(initializer=nn.initializer.Normal(0, 0.02))
        )

    def forward(self, x, kind):
        scale, offset = paddle.split(self.scale(kind).unsqueeze([2, 3]), 2, axis=1)
        return self.norm(x) * (1 + scale) + offset


class Generator(nn.Layer):
    def __init__(self, width=8):
        super().__init__()
        self.start = nn.Linear(NOISE, 2 * width * 16)
        self.ups = nn.LayerList(
            [nn.Conv2DTranspose(2 * width, width, 4, 2, 1), nn.Conv2DTranspose(width, width, 4, 2, 1)]
        )
        self.norms = nn.LayerList([Conditioned(width), Conditioned(width)])
        self.out = nn.Sequential(nn.Pad2D(1, "reflect"), nn.Conv2D(width, 1, 3), nn.Tanh())

    def forward(self, noise, kind):
        x = self.start(noise).reshape([noise.shape[0], -1, 4, 4])
        for up, norm in zip(self.ups, self.norms, strict=True):
            x = F.leaky_relu(norm(up(x), kind), 0.2)
        return self.out(x)


class Critic(nn.Layer):
    """Patches of an image judged, with the label as a projection (Miyato and Koyama, 2018)."""

    def __init__(self, width=8):
        super().__init__()
        layers = [
            nn.utils.spectral_norm(nn.Conv2D(1, width, 4, 2, 1)),
            nn.LeakyReLU(0.2),
            nn.utils.spectral_norm(nn.Conv2D(width, 2 * width, 4, 2, 1)),
            nn.LeakyReLU(0.2),
        ]
        self.body, self.patch, self.kind = (
            nn.Sequential(*layers),
            nn.Conv2D(2 * width, 1, 1),
            nn.Embedding(KINDS, 2 * width),
        )

    def forward(self, image, kind):
        seen = self.body(image)
        return self.patch(seen) + (seen.mean([2, 3]) * self.kind(kind)).sum(1).reshape([-1, 1, 1, 1])


class Pool:
    """Earlier images, some of which are shown to the critic again."""

    def __init__(self, size):
        self.size, self.images, self.rng = size, [], np.random.default_rng(7)

    def query(self, images):
        chosen = []
        for image in images.detach():
            image = image.unsqueeze(0)
            if len(self.images) < self.size:
                self.images.append(image)
            elif self.rng.random() > 0.5:
                at = self.rng.integers(self.size)
                image, self.images[at] = self.images[at], image
            chosen.append(image)
        return paddle.concat(chosen, axis=0)


def wanting(net, answer):
    for parameter in net.parameters():
        parameter.stop_gradient = not answer


def hinge(scores, real):
    return F.relu(1 - scores if real else 1 + scores).mean()


def average(kept, net, share):
    """Moves averaged weights towards those of the network."""
    now = dict(net.named_parameters())
    with paddle.no_grad():
        for name, value in kept.named_parameters():
            value.set_value(share * value + (1 - share) * now[name])


def critic_step(critic, optimizer, real, fake, kind, regularised):
    real.stop_gradient = False
    scores = critic(real, kind)
    loss = hinge(scores, True) + hinge(critic(fake, kind), False)
    if regularised:
        (slope,) = paddle.grad(scores.sum(), [real], create_graph=True)
        loss = loss + 0.5 * slope.square().sum([1, 2, 3]).mean()
    optimizer.clear_grad()
    loss.backward()
    optimizer.step()
    return float(loss)


def main():
    rng, grid = np.random.default_rng(0), np.linspace(-1, 1, 16)
    generator, critic = settled(Generator()), settled(Critic(), 1)
    for layer in critic.sublayers():  # the vectors of spectral norm begin with random numbers
        for name, value in layer.named_buffers(include_sublayers=False):
            if name.endswith(("_u", "_v")):
                start = rng.normal(size=value.shape)
                value.set_value((start / np.linalg.norm(start)).astype("float32"))
    kept, pool = copy.deepcopy(generator), Pool(12)
    rates = [
        paddle.optimizer.lr.LambdaDecay(rate, lambda epoch: 1 - max(0, epoch - 10) / 11)
        for rate in (2e-3, 4e-3)
    ]
    first, second = (
        paddle.optimizer.Adam(rate, 0.0, 0.9, parameters=net.parameters())
        for rate, net in zip(rates, (generator, critic), strict=True)
    )
    losses = []
    for step in range(20):
        labels = rng.integers(0, KINDS, 8)
        images = np.sin(
            3 * grid[:, None] * np.cos(labels)[:, None, None] + 3 * grid * np.sin(labels)[:, None, None]
        )[:, None]
        kind, real = paddle.to_tensor(labels), paddle.to_tensor(images.astype("float32"))
        fake = generator(paddle.to_tensor(rng.normal(size=[8, NOISE]).astype("float32")), kind)
        wanting(critic, True)
        judged = critic_step(critic, second, real, pool.query(fake), kind, step % 4 == 0)
        wanting(critic, False)
        loss = -critic(fake, kind).mean() + 0.1 * F.l1_loss(fake, real)
        first.clear_grad()
        loss.backward()
        first.step()
        average(kept, generator, 0.9)
        for rate in rates:
            rate.step()
        losses.append([judged, float(loss)])
    kept.eval()
    with paddle.no_grad():
        shown = kept(paddle.ones([KINDS, NOISE]), paddle.arange(KINDS))
    state = critic.state_dict()
    written(
        losses=losses,
        shown=shown,
        names=sorted(state),
        scores=critic(shown, paddle.arange(KINDS)).detach(),
        rate=first.get_lr(),
    )


main()
