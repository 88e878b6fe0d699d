"""Trains models for some steps: `curve_problems.py FOLDER FILE STEPS NAME...` writes their losses
into an .npz file.

Whoever runs first in the folder leaves the initial weights there for the other. Under mixed precision the
losses have the name of the level behind that of the model. A vision network may be asked for as "NAME
float64"; then the weights are written, too, as "NAME float64/KEY".
"""

import contextlib
import functools as ft
import sys
from pathlib import Path

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.vision import models

FOLDER, FILE, STEPS = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
NAMES = sys.argv[4:]


class Translator(nn.Layer):
    """A Transformer that learns to write a sequence of digits backwards."""

    def __init__(self, width=32):
        super().__init__()
        self.embed, self.place = nn.Embedding(12, width), nn.Embedding(16, width)
        self.body = nn.Transformer(width, 4, 2, 2, 64, dropout=0.0)
        self.head = nn.Linear(width, 12)

    def embedded(self, tokens, first=0):
        return self.embed(tokens) + self.place(paddle.arange(first, first + tokens.shape[1]))

    def forward(self, source, target):
        mask = self.body.generate_square_subsequent_mask(target.shape[1])
        return self.head(self.body(self.embedded(source), self.embedded(target), None, mask, None))

    def written(self, source, length):
        """Scores of each next token, one position at a time, with caches of the decoder."""
        memory, tokens, scores = (
            self.body.encoder(self.embedded(source)),
            paddle.full([len(source), 1], 10, "int64"),
            [],
        )
        cache = self.body.decoder.gen_cache(memory)
        for at in range(length):
            out, cache = self.body.decoder(self.embedded(tokens, at), memory, None, None, cache)
            scores.append(self.head(out)[:, 0])
            tokens = scores[-1].argmax(-1, keepdim=True)
        return paddle.stack(scores, 1)


def translator(random):
    source = random.integers(0, 10, (STEPS, 8, 6))
    target = np.concatenate([np.full((STEPS, 8, 1), 10), source[..., ::-1]], -1)

    def loss(net, step):
        scores = net(paddle.to_tensor(source[step]), paddle.to_tensor(target[step, :, :-1]))
        return F.cross_entropy(scores.reshape([-1, 12]), paddle.to_tensor(target[step, :, 1:].reshape(-1)))

    return Translator, loss, lambda net: net.written(paddle.to_tensor(source[0]), 6)


class Tagger(nn.Layer):
    """A bidirectional LSTM of two layers; tells of each step whether the sum so far is positive."""

    def __init__(self):
        super().__init__()
        self.body, self.head = nn.LSTM(3, 16, num_layers=2, direction="bidirect"), nn.Linear(32, 2)

    def forward(self, x):
        return self.head(self.body(x)[0])


def tagger(random):
    x = random.standard_normal((STEPS, 8, 12, 3)).astype("float32")
    labels = (x.sum(-1).cumsum(-1) > 0).astype("int64")

    def loss(net, step):
        return F.cross_entropy(
            net(paddle.to_tensor(x[step])).reshape([-1, 2]), paddle.to_tensor(labels[step].reshape(-1))
        )

    return Tagger, loss, lambda net: net(paddle.to_tensor(x[0]))


class Reader(nn.Layer):
    """Convolutions over time and a score of each symbol at each step."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv1D(6, 24, 3, padding=1), nn.ReLU(), nn.Conv1D(24, 6, 3, padding=1))

    def forward(self, x):
        return self.body(x).transpose([2, 0, 1])


def reader(random):
    labels = random.integers(1, 6, (STEPS, 4, 5))
    x = np.zeros((STEPS, 4, 6, 20), "float32")
    for step, row, at in np.ndindex(STEPS, 4, 5):
        x[step, row, labels[step, row, at], 4 * at + 1 : 4 * at + 3] = 1
    x += 0.1 * random.standard_normal(x.shape).astype("float32")
    lengths = [paddle.to_tensor(np.full(4, n, "int64")) for n in (20, 5)]

    def loss(net, step):
        scores = net(paddle.to_tensor(x[step])).astype("float32")
        return F.ctc_loss(scores, paddle.to_tensor(labels[step].astype("int32")), *lengths)

    return Reader, loss, lambda net: net(paddle.to_tensor(x[0]))


PICTURED = {
    "mobile": lambda: models.mobilenet_v3_small(num_classes=3, scale=0.5),
    "resnet18": lambda: models.resnet18(num_classes=3),
    "mobilenet_v2": lambda: models.mobilenet_v2(num_classes=3, scale=0.25),
    "squeezenet1_1": lambda: models.squeezenet1_1(num_classes=3),
    "shufflenet_v2": lambda: models.shufflenet_v2_x0_25(num_classes=3),
    "densenet121": lambda: models.densenet121(num_classes=3),
    # its own classifier has 120 million weights and drops half of what it sees
    "vgg11": lambda: nn.Sequential(
        models.vgg11(num_classes=0, with_pool=False), nn.Flatten(), nn.Linear(512, 3)
    ),
}
# Sides of the pictures, where not 64: the least that five halvings leave a pixel of.
SIDES = {"vgg11": 32, "resnet18": 32}
# Pictures in a batch, where not 8: a network that normalises nothing over the batch needs no more.
BATCHES = {"vgg11": 2}


def pictured(name, random, dtype="float32"):
    """A network that tells pictures of three shades apart."""
    paddle.set_default_dtype(dtype)
    side, batch = SIDES.get(name, 64), BATCHES.get(name, 8)
    x = random.standard_normal((STEPS, batch, 3, side, side)).astype(dtype)
    labels = random.integers(0, 3, (STEPS, batch))
    x += 2 * np.eye(3, dtype=dtype)[labels][..., None, None]

    def loss(net, step):
        return F.cross_entropy(net(paddle.to_tensor(x[step])), paddle.to_tensor(labels[step]))

    def build():
        net = PICTURED[name]()
        for layer in net.sublayers():
            if isinstance(layer, nn.Dropout):
                layer.p = 0.0
            # the real Paddle keeps both as float32, so float64 has them exactly only if that does
            if isinstance(layer, nn.BatchNorm2D):
                layer._epsilon, layer._momentum = 2.0**-17, 0.875
        return net

    return build, loss, None


def started(build, name):
    """A net with the weights that lie in the folder, or whose weights are put there.

    NAME~SEED: each weight is moved to a neighbouring number, with SEED 0 none.
    """
    name, _, seed = name.partition("~")
    paddle.seed(7)
    net, file = build(), FOLDER / f"{name}.npz"
    if seed:
        random = np.random.default_rng(int(seed))
        with np.load(file) as kept:
            for key in kept:
                side = random.choice([-np.inf, np.inf], kept[key].shape).astype(kept[key].dtype)
                net.state_dict()[key].set_value(kept[key] if seed == "0" else np.nextafter(kept[key], side))
        return net
    if file.exists():
        with np.load(file) as kept:
            net.set_state_dict({key: paddle.to_tensor(kept[key]) for key in kept})
    else:
        np.savez(file, **{key: value.numpy() for key, value in net.state_dict().items()})
    return net


def curve(name, make, level, rate=3e-3):
    """(losses, what the trained net gives, the net)."""
    build, loss_of, last = make(np.random.default_rng(0))
    net = started(build, name)
    # at ten times this rate the real Paddle does not keep its own curve when last bits of weights change
    if last is None:
        optimizer = paddle.optimizer.Momentum(rate / 10, 0.875, parameters=net.parameters())
    else:
        optimizer = paddle.optimizer.Adam(rate, parameters=net.parameters())
    if level == "O2":
        net, optimizer = paddle.amp.decorate(net, optimizer, level="O2", dtype="bfloat16")
    losses = []
    for step in range(STEPS):
        with paddle.amp.auto_cast(level=level, dtype="bfloat16") if level else contextlib.nullcontext():
            loss = loss_of(net, step)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(float(loss.astype("float64")))
    if last is None or level:
        return np.array(losses), np.zeros(1), net
    net.eval()
    with paddle.no_grad():
        return np.array(losses), last(net).numpy(), net


found, engine = {}, Path(paddle.__file__).parent.name
# the real Paddle's CPU build casts nothing
levels = (None, "O1", "O2") if engine == "paddle_jax" else (None,)
for name in NAMES:
    kind, _, dtype = name.partition("~")[0].partition(" ")
    sequences = {call.__name__: call for call in (translator, tagger, reader)}
    make = sequences.get(kind) or ft.partial(pictured, kind, dtype=dtype or "float32")
    for level in levels if name in (*sequences, "mobile") else (None,):
        label = name + (f" {level}" if level else "")
        try:
            found[label], result, net = curve(name, make, level)
        except Exception as error:
            print(label, type(error).__name__, str(error)[:300], flush=True)
            continue
        if not level:
            found[f"{label}, results"] = result
        if kind in PICTURED and dtype:
            found.update({f"{label}/{key}": value.numpy() for key, value in net.state_dict().items()})
np.savez(FILE, engine=engine, **found)
