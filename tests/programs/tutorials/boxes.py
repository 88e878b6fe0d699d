# %% import
import paddle
import paddle.nn.functional as F
# %% corners and centers
def corner_to_center(b):
    x1, y1, x2, y2 = b[:, 0], b[:, 1], b[:, 2], b[:, 3]
    return paddle.stack(((x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1), axis=-1)
def center_to_corner(b):
    cx, cy, w, h = b[:, 0], b[:, 1], b[:, 2], b[:, 3]
    return paddle.stack((cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2), axis=-1)
boxes = paddle.to_tensor([[60.0, 45, 378, 516], [400, 112, 655, 493]])
corner_to_center(boxes)
center_to_corner(corner_to_center(boxes)) == boxes
# %% anchors
def anchors(h, w, sizes, ratios):
    per = len(sizes) + len(ratios) - 1
    size, ratio = paddle.to_tensor(sizes), paddle.to_tensor(ratios)
    cy, cx = (paddle.arange(h) + 0.5) / h, (paddle.arange(w) + 0.5) / w
    sy, sx = paddle.meshgrid(cy, cx)
    sy, sx = sy.reshape([-1]), sx.reshape([-1])
    ws = paddle.concat((size * paddle.sqrt(ratio[0]), size[0] * paddle.sqrt(ratio[1:]))) * h / w
    hs = paddle.concat((size / paddle.sqrt(ratio[0]), size[0] / paddle.sqrt(ratio[1:])))
    shifts = paddle.stack((-ws, -hs, ws, hs)).T.tile([h * w, 1]) / 2
    grid = paddle.repeat_interleave(paddle.stack([sx, sy, sx, sy], axis=1), per, axis=0)
    return (grid + shifts).unsqueeze(0)
Y = anchors(2, 3, [0.75, 0.5], [1.0, 2.0])
Y.shape
Y.reshape([2, 3, 3, 4])[1, 1, 0]
# %% intersection over union
def iou(a, b):
    area = lambda x: (x[:, 2] - x[:, 0]) * (x[:, 3] - x[:, 1])
    upper, lower = paddle.maximum(a[:, None, :2], b[:, :2]), paddle.minimum(a[:, None, 2:], b[:, 2:])
    inters = (lower - upper).clip(min=0)
    inter = inters[:, :, 0] * inters[:, :, 1]
    return inter / (area(a)[:, None] + area(b) - inter)
truth = paddle.to_tensor([[0.1, 0.08, 0.52, 0.92], [0.55, 0.2, 0.9, 0.88]])
found = paddle.to_tensor([[0.0, 0.1, 0.2, 0.3], [0.15, 0.2, 0.4, 0.4], [0.63, 0.05, 0.88, 0.98], [0.66, 0.45, 0.8, 0.8], [0.57, 0.3, 0.92, 0.9]])
J = iou(found, truth)
J
# %% assignment
best = J.max(axis=1)
which = J.argmax(axis=1)
chosen = paddle.nonzero(best >= 0.5).reshape([-1])
chosen, which[chosen]
assigned = paddle.full([5], -1, "int64")
assigned[chosen] = which[chosen]
assigned
# %% offsets
def offsets(anchors, assigned, eps=1e-6):
    a, b = corner_to_center(anchors), corner_to_center(assigned)
    return paddle.concat([10 * (b[:, :2] - a[:, :2]) / a[:, 2:], 5 * paddle.log(eps + b[:, 2:] / a[:, 2:])], axis=1)
offsets(found[2:], truth[[1, 1, 1]])
# %% suppression
def nms(boxes, scores, limit):
    B, keep = paddle.argsort(scores, descending=True), []
    while B.numel() > 0:
        i = B[0]
        keep.append(int(i))
        if B.numel() == 1:
            break
        overlap = iou(boxes[i].reshape([-1, 4]), boxes[B[1:]].reshape([-1, 4])).reshape([-1])
        B = B[1:][overlap <= limit]
    return keep
b = paddle.to_tensor([[0.1, 0.08, 0.52, 0.92], [0.08, 0.2, 0.56, 0.95], [0.15, 0.3, 0.62, 0.91], [0.55, 0.2, 0.9, 0.88]])
nms(b, paddle.to_tensor([0.9, 0.8, 0.7, 0.95]), 0.5)
# %% class predictions
logits = paddle.to_tensor([[2.0, 0.5, 0.1], [0.1, 3.0, 0.2]])
F.softmax(logits, axis=-1).max(axis=-1), F.softmax(logits, -1).argmax(-1)
F.smooth_l1_loss(paddle.to_tensor([0.5, 2.0]), paddle.zeros([2]), reduction="none")
F.l1_loss(paddle.to_tensor([0.5, 2.0]), paddle.zeros([2]))
