"""Segments squares and discs in noise: pyramid pooling, an auxiliary head, and cross-entropy of hard pixels
with Dice and Lovasz losses."""

import sys
from pathlib import Path

import numpy as np
import paddle
import paddle.nn.functional as F
from common import settled, written
from paddle import nn

CLASSES, IGNORED = 3, 255


def scenes(count, side=32, seed=0):
    """Images with one square (1) and one disc (2) each, and a border of pixels that do not count."""
    rng, (rows, columns) = np.random.default_rng(seed), np.indices([side, side])
    images, labels = rng.normal(0, 0.3, [count, 3, side, side]), np.zeros([count, side, side], "int64")
    for image, label in zip(images, labels, strict=True):
        (r, c), (y, x) = rng.integers(4, side - 12, [2, 2])
        square = (abs(rows - r - 4) < 5) & (abs(columns - c - 4) < 5)
        disc = (rows - y - 4) ** 2 + (columns - x - 4) ** 2 < 20
        for kind, mask in ((1, square), (2, disc)):
            label[mask] = kind
            image[:, mask] += np.array([[1.0], [-1.0 + kind], [0.5 * kind]])
        label[:1] = IGNORED
    return images.astype("float32"), labels


class ConvNormAct(nn.Sequential):
    def __init__(self, inputs, outputs, size=3, **more):
        super().__init__(
            nn.Conv2D(inputs, outputs, size, padding=size // 2, bias_attr=False, **more),
            nn.BatchNorm2D(outputs),
            nn.ReLU(),
        )


class PyramidPooling(nn.Layer):
    def __init__(self, channels, sizes=(1, 2, 4)):
        super().__init__()
        self.stages = nn.LayerList(
            [nn.Sequential(nn.AdaptiveAvgPool2D(size), nn.Conv2D(channels, channels, 1)) for size in sizes]
        )

    def forward(self, x):
        size, total = paddle.shape(x)[2:], None
        for stage in self.stages:
            wide = F.interpolate(stage(x), size, mode="bilinear", align_corners=False)
            total = wide if total is None else total + wide
        return paddle.concat([x, total], axis=1)


class Segmenter(nn.Layer):
    def __init__(self, width=8):
        super().__init__()
        slow = paddle.ParamAttr(learning_rate=0.5)
        self.stem, self.down = ConvNormAct(3, width), ConvNormAct(width, 2 * width, stride=2)
        self.deep = nn.Sequential(
            ConvNormAct(2 * width, 2 * width, groups=2, stride=2),
            ConvNormAct(2 * width, 2 * width, dilation=1),
        )
        self.pool, self.gate = PyramidPooling(2 * width), nn.Conv2D(2, 1, 3, padding=1)
        self.head = nn.Conv2D(4 * width + width, CLASSES, 1)
        self.auxiliary = nn.Conv2D(2 * width, CLASSES, 1, weight_attr=slow)

    def forward(self, x):
        fine = self.stem(x)
        middle = self.down(fine)
        deep = F.interpolate(self.pool(self.deep(middle)), paddle.shape(fine)[2:], mode="bilinear")
        seen = paddle.concat([deep.mean(1, keepdim=True), deep.max(1, keepdim=True)], axis=1)
        out = [self.head(paddle.concat([deep * F.sigmoid(self.gate(seen)), fine], axis=1))]
        if self.training:
            out.append(self.auxiliary(middle))
        return [F.interpolate(one, paddle.shape(x)[2:], mode="bilinear", align_corners=True) for one in out]


def hard_pixels(logits, label, share=0.5):
    """Cross-entropy of the pixels that are least sure of their class (Shrivastava et al., 2016)."""
    valid = (label != IGNORED).astype("float32")
    losses = F.cross_entropy(
        logits.transpose([0, 2, 3, 1]), label, ignore_index=IGNORED, reduction="none"
    ).squeeze(-1)
    right = paddle.take_along_axis(
        F.softmax(logits, 1), paddle.where(label == IGNORED, paddle.zeros_like(label), label).unsqueeze(1), 1
    )
    count = int(share * float(valid.sum()))
    bound = paddle.sort((right.squeeze(1) + (1 - valid)).flatten())[count]
    kept = (right.squeeze(1) <= bound).astype("float32") * valid
    kept.stop_gradient = True
    return (losses * kept).sum() / kept.sum()


def dice(logits, label):
    valid = (label != IGNORED).astype("float32").unsqueeze(1)
    wanted = F.one_hot(paddle.clip(label, 0, CLASSES - 1), CLASSES).transpose([0, 3, 1, 2]) * valid
    given = F.softmax(logits, 1) * valid
    common, total = (given * wanted).sum([0, 2, 3]), (given * given + wanted).sum([0, 2, 3])
    return (1 - (2 * common + 1) / (total + 1)).mean()


def lovasz(logits, label):
    """The piecewise linear extension of the intersection over union (Berman et al., 2018)."""
    kept = paddle.nonzero(label.flatten() != IGNORED).squeeze(-1)
    given = paddle.gather(F.softmax(logits, 1).transpose([0, 2, 3, 1]).reshape([-1, CLASSES]), kept)
    label, parts = paddle.gather(label.flatten(), kept), []
    for kind in range(CLASSES):
        wanted = (label == kind).astype("float32")
        if float(wanted.sum()) == 0:
            continue
        errors = paddle.abs(wanted - given[:, kind])
        order = paddle.argsort(errors, descending=True)
        errors, wanted = paddle.gather(errors, order), paddle.gather(wanted, order)
        jaccard = 1 - (wanted.sum() - wanted.cumsum()) / (wanted.sum() + (1 - wanted).cumsum())
        jaccard[1:] = jaccard[1:] - jaccard[:-1].clone()
        parts.append(paddle.dot(errors, jaccard.detach()))
    return paddle.add_n(parts) / len(parts)


def confusion(given, label):
    """Pixels by (wanted, given) class."""
    kept = label != IGNORED
    pairs = paddle.masked_select(label, kept) * CLASSES + paddle.masked_select(given, kept)
    return paddle.bincount(pairs, minlength=CLASSES**2).reshape([CLASSES, CLASSES])


def main():
    images, labels = scenes(8)
    net = settled(Segmenter())
    rate = paddle.optimizer.lr.LinearWarmup(
        paddle.optimizer.lr.PolynomialDecay(0.1, 24, end_lr=1e-3, power=0.9), 4, 0.01, 0.1
    )
    optimizer = paddle.optimizer.Momentum(
        rate, 0.9, net.parameters(), weight_decay=4e-5, grad_clip=nn.ClipGradByGlobalNorm(5.0)
    )
    losses = []
    for step in range(24):
        part = slice(step % 2 * 4, step % 2 * 4 + 4)
        image, label = paddle.to_tensor(images[part]), paddle.to_tensor(labels[part])
        main_head, auxiliary = net(image)
        terms = [loss(main_head, label) for loss in (hard_pixels, dice, lovasz)]
        terms.append(F.cross_entropy(auxiliary, label, axis=1, ignore_index=IGNORED))
        (terms[0] + 0.5 * terms[1] + 0.5 * terms[2] + 0.4 * terms[3]).backward()
        optimizer.step()
        optimizer.clear_gradients()
        rate.step()
        losses.append([float(term) for term in terms])
    net.eval()
    x = paddle.to_tensor(images)
    with paddle.no_grad():
        out = net(x)[0]
    matrix = confusion(paddle.argmax(out, 1), paddle.to_tensor(labels))
    path = str(Path(sys.argv[1]) / f"segmenter_{Path(paddle.__file__).parent.name}")
    paddle.jit.save(net, path, [paddle.static.InputSpec([None, 3, None, None], "float32")])
    again = paddle.jit.load(path)(x)
    again = again[0] if isinstance(again, list | tuple) else again
    written(losses=losses, out=out, matrix=matrix, again=again, variance=net.stem[1]._variance)


main()
