"""An anchor-free detector of coloured boxes: focal, distribution and generalised IoU losses, dynamic
assignment of labels, suppression at the end."""

import numpy as np
import paddle
import paddle.nn.functional as F
from common import settled, written
from paddle import nn

KINDS, SIDE, STRIDES, BINS = 3, 48, (4, 8), 4


def scenes(count, seed=0):
    """Images, boxes [count, 2, 4] and kinds [count, 2]; a box of zeros is none."""
    rng = np.random.default_rng(seed)
    images, boxes, kinds = (
        rng.normal(0, 0.2, [count, 3, SIDE, SIDE]),
        np.zeros([count, 2, 4]),
        rng.integers(0, KINDS, [count, 2]),
    )
    for image, own, which in zip(images, boxes, kinds, strict=True):
        for at in range(1 + rng.integers(2)):
            (x, y), (w, h) = rng.integers(0, SIDE - 22, 2), rng.integers(10, 22, 2)
            image[which[at], y : y + h, x : x + w] += 1.5
            own[at] = x, y, x + w, y + h
    return images.astype("float32"), boxes.astype("float32"), kinds


def block(inputs, outputs, stride=1):
    return nn.Sequential(
        nn.Conv2D(inputs, outputs, 3, stride, 1, bias_attr=False), nn.GroupNorm(4, outputs), nn.Swish()
    )


class Attention(nn.Layer):
    """Channels weighted by their means (effective squeeze and excitation)."""

    def __init__(self, channels):
        super().__init__()
        self.fc = nn.Conv2D(channels, channels, 1)

    def forward(self, x):
        return x * F.hardsigmoid(self.fc(F.adaptive_avg_pool2d(x, 1)))


class Detector(nn.Layer):
    def __init__(self, width=16):
        super().__init__()
        self.stem, self.fine = block(3, width, 2), nn.Sequential(block(width, width, 2), Attention(width))
        self.coarse, self.lateral = block(width, width, 2), nn.Conv2D(width, width, 1)
        shy = nn.initializer.Constant(-np.log(99.0))
        self.kind = nn.Conv2D(width, KINDS, 3, padding=1, bias_attr=paddle.ParamAttr(initializer=shy))
        self.sides = nn.Conv2D(width, 4 * (BINS + 1), 3, padding=1)
        self.scales = nn.LayerList([Scale() for _ in STRIDES])
        self.register_buffer("steps", paddle.arange(BINS + 1, dtype="float32"), persistable=False)

    def forward(self, image):
        """Scores [N, P, kinds] before the sigmoid, distances to the sides in strides [N, P, 4], and their
        bins before softmax."""
        fine = self.fine(self.stem(image))
        coarse = self.coarse(fine)
        fine = fine + F.interpolate(self.lateral(coarse), scale_factor=2.0, mode="nearest")
        kinds, bins = [], []
        for feature, scale in zip((fine, coarse), self.scales, strict=True):
            kinds.append(self.kind(feature).flatten(2).transpose([0, 2, 1]))
            bins.append(scale(self.sides(feature)).flatten(2).transpose([0, 2, 1]))
        kinds, bins = paddle.concat(kinds, 1), paddle.concat(bins, 1)
        bins = bins.reshape([0, 0, 4, BINS + 1])
        return kinds, paddle.matmul(F.softmax(bins, -1), self.steps.unsqueeze(-1)).squeeze(-1), bins


class Scale(nn.Layer):
    def __init__(self):
        super().__init__()
        self.scale = self.create_parameter([1], default_initializer=nn.initializer.Constant(1.0))

    def forward(self, x):
        return x * self.scale


def grid():
    """Centres [P, 2] and strides [P, 1] of all places."""
    centres, strides = [], []
    for stride in STRIDES:
        line = (paddle.arange(SIDE // stride, dtype="float32") + 0.5) * stride
        y, x = paddle.meshgrid(line, line)
        centres.append(paddle.stack([x.flatten(), y.flatten()], -1))
        strides.append(paddle.full([centres[-1].shape[0], 1], stride, "float32"))
    return paddle.concat(centres), paddle.concat(strides)


def boxes_of(centres, sides):
    return paddle.concat([centres - sides[..., :2], centres + sides[..., 2:]], -1)


def overlap(one, other, generalised=False):
    """Intersection over union of boxes that broadcast, or its generalisation (Rezatofighi et al., 2019)."""
    low, high = paddle.maximum(one[..., :2], other[..., :2]), paddle.minimum(one[..., 2:], other[..., 2:])
    common = paddle.clip(high - low, min=0).prod(-1)
    union = (one[..., 2:] - one[..., :2]).prod(-1) + (other[..., 2:] - other[..., :2]).prod(-1) - common
    iou = common / (union + 1e-9)
    if not generalised:
        return iou
    hull = (paddle.maximum(one[..., 2:], other[..., 2:]) - paddle.minimum(one[..., :2], other[..., :2])).prod(
        -1
    )
    return iou - (hull - union) / (hull + 1e-9)


@paddle.no_grad()
def assigned(scores, boxes, centres, wanted, kinds, most=5):
    """Which box each place is to find, by score and overlap (Feng et al., 2021): box numbers, targets of the
    score, and whether there is one."""
    real = (wanted[..., 2] > 0).unsqueeze(-1)
    iou = overlap(boxes.unsqueeze(1), wanted.unsqueeze(2))
    score = paddle.take_along_axis(scores.transpose([0, 2, 1]), kinds.unsqueeze(-1), 1)
    away = paddle.concat([centres - wanted[..., None, :2], wanted[..., None, 2:] - centres], -1)
    inside = away.min(-1) > 0
    metric = paddle.where(inside & real, score * iou.pow(6) + 1e-9, paddle.zeros_like(iou))
    best, places = paddle.topk(metric, most, axis=-1)
    chosen = paddle.put_along_axis(paddle.zeros_like(metric), places, (best > 0).astype("float32"), -1)
    crowded = (chosen.sum(1, keepdim=True) > 1).expand_as(chosen)
    single = F.one_hot(iou.argmax(1), iou.shape[1]).transpose([0, 2, 1])
    chosen = paddle.where(crowded, single * (chosen.sum(1, keepdim=True) > 0).astype("float32"), chosen)
    numbers, positive = chosen.argmax(1), chosen.sum(1) > 0
    metric = metric * chosen
    target = (metric / (metric.max(-1, keepdim=True) + 1e-9) * (iou * chosen).max(-1, keepdim=True)).max(1)
    return numbers, target, positive


def losses_of(net, image, wanted, kinds, centres, strides):
    logits, sides, bins = net(image)
    boxes = boxes_of(centres, sides * strides)
    numbers, target, positive = assigned(F.sigmoid(logits), boxes, centres, wanted, kinds)
    kind = paddle.take_along_axis(kinds, numbers, 1)
    quality = F.one_hot(kind, KINDS) * (target * positive.astype("float32")).unsqueeze(-1)
    score = F.sigmoid(logits)
    weight = paddle.where(quality > 0, quality, 0.75 * score.detach().pow(2.0))
    count = paddle.clip(quality.sum(), min=1.0)
    focal = F.binary_cross_entropy(score, quality, weight, reduction="sum") / count
    if int(positive.sum()) == 0:
        return focal, boxes.sum() * 0.0, bins.sum() * 0.0
    rows = paddle.nonzero(positive)
    own = paddle.gather_nd(wanted, paddle.stack([rows[:, 0], numbers[positive]], -1))
    share = paddle.masked_select(target, positive)
    giou = ((1 - overlap(boxes[positive], own, True)) * share).sum() / count
    place = paddle.index_select(paddle.concat([centres, strides], 1), rows[:, 1])
    goal = paddle.concat([place[:, :2] - own[:, :2], own[:, 2:] - place[:, :2]], -1) / place[:, 2:]
    goal = paddle.clip(goal, 0, BINS - 0.01)
    left = goal.astype("int64")
    part, found = goal - left.astype("float32"), bins[positive]
    near = F.cross_entropy(found, left, reduction="none").squeeze(-1) * (1 - part)
    far = F.cross_entropy(found, left + 1, reduction="none").squeeze(-1) * part
    return focal, giou, ((near + far).mean(-1) * share).sum() / count


def kept(boxes, scores):
    """(kind, score, x1, y1, x2, y2) of one image: the best of each kind that do not overlap."""
    best, kind = scores.max(-1), scores.argmax(-1)
    sure = paddle.nonzero(best > 0.2).flatten()
    if sure.shape[0] == 0:
        return paddle.zeros([0, 6])
    boxes, best, kind = boxes[sure], best[sure], kind[sure]
    left = paddle.vision.ops.nms(boxes, 0.5, best, kind, list(range(KINDS)), min(5, sure.shape[0]))
    return paddle.concat([kind[left].unsqueeze(1).astype("float32"), best[left].unsqueeze(1), boxes[left]], 1)


def main():
    images, wanted, kinds = scenes(8)
    net, (centres, strides) = settled(Detector()), grid()
    rate = paddle.optimizer.lr.LinearWarmup(paddle.optimizer.lr.CosineAnnealingDecay(5e-3, 60), 5, 0.0, 5e-3)
    optimizer = paddle.optimizer.AdamW(
        rate,
        parameters=net.parameters(),
        weight_decay=0.01,
        grad_clip=nn.ClipGradByGlobalNorm(10.0),
        apply_decay_param_fun=lambda name: not name.endswith(".b_0"),
    )
    losses, image, boxes, which = [], *map(paddle.to_tensor, (images, wanted, kinds))
    for step in range(40):
        part = slice(step % 2 * 4, step % 2 * 4 + 4)
        terms = losses_of(net, image[part], boxes[part], which[part], centres, strides)
        (terms[0] + 2.0 * terms[1] + 0.5 * terms[2]).backward()
        optimizer.step()
        optimizer.clear_grad()
        rate.step()
        losses.append([float(term) for term in terms])
    net.eval()
    with paddle.no_grad():
        logits, sides, _ = net(image)
        scores, found = F.sigmoid(logits), boxes_of(centres, sides * strides)
        rows = [kept(*one) for one in zip(found, scores, strict=True)]
        out, index, counts = paddle._C_ops.multiclass_nms3(
            found, scores.transpose([0, 2, 1]), None, 0.2, 50, 5, 0.5, True, 1.0, -1
        )
        lowered, _, _ = paddle.vision.ops.matrix_nms(
            found, scores.transpose([0, 2, 1]), 0.2, 0.1, 50, 5, background_label=-1
        )
    written(
        losses=losses,
        scores=scores,
        found=found,
        kept=paddle.concat(rows),
        out=out,
        index=index,
        counts=counts,
        lowered=lowered,
    )


main()
