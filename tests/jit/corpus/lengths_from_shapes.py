"""Code as people write it, with lengths taken from shapes: Tensors [batch, time, 4], and images
[batch, 4, height, width]."""

import numpy as np

from tests.jit.corpus.program import program


def normal(*shape):
    return np.random.RandomState(0).randn(*shape).astype("float32")


# files and the real Paddle differ by that in sums, powers and interpolations
PRECISION = (1e-4, 1e-4)
SEQUENCES = [normal(2, 5, 4)], [normal(3, 8, 4)]
IMAGES = [normal(2, 4, 8, 8)], [normal(3, 4, 12, 16)]
sequence = program(*SEQUENCES, shapes=[[None, None, 4]], precision=PRECISION)
# The real Paddle has no gradients of results of integers.
integers = program(*SEQUENCES, shapes=[[None, None, 4]], precision=PRECISION, gradients=False)
image = program(*IMAGES, shapes=[[None, 4, None, None]], precision=PRECISION)


def image_of_even_lengths(text):
    """As `image`. A StableHLO file is for all lengths, and odd ones do not fit: the text is of the error."""
    shapes = [[None, 4, None, None]]
    return program(*IMAGES, shapes=shapes, precision=PRECISION, refused_by={"stablehlo": text})


@sequence
def setitem(paddle, x):
    y = x.clone()
    y[:, 0] = 1.0
    y[:, -1] = x[:, 0] * 2
    y[:, 1:3, 0] = 0
    return y


@sequence
def mask(paddle, x):
    F = paddle.nn.functional
    n = x.shape[1]
    m = paddle.tril(paddle.ones([n, n]))
    return F.softmax(
        paddle.where(m > 0, paddle.matmul(x, x, transpose_y=True), paddle.full_like(m, -1000000000.0)), -1
    )


@sequence
def mask2(paddle, x):
    F = paddle.nn.functional
    n = x.shape[1]
    m = paddle.triu(paddle.full([n, n], float("-inf")), 1)
    return F.softmax(paddle.matmul(x, x, transpose_y=True) + m, -1)


@sequence
def loop(paddle, x):
    out = []
    for i in range(3):
        out.append(x[:, :, i])
    return paddle.stack(out, -1)


@sequence
def gather_last(paddle, x):
    idx = paddle.argmax(x[:, :, 0], axis=1)
    return paddle.take_along_axis(x, idx.unsqueeze([1, 2]).expand([x.shape[0], 1, 4]), 1)


@sequence
def onehot(paddle, x):
    F = paddle.nn.functional
    return F.one_hot(paddle.argmax(x, -1), 4).sum(1)


@sequence
def norm_pool(paddle, x):
    m = (x[:, :, :1] > 0).astype(x.dtype)
    return (x * m).sum(1) / m.sum(1).clip(min=1e-06)


@sequence
def split_heads(paddle, x):
    b, t, d = x.shape
    return x.reshape([b, t, 2, 2]).transpose([0, 2, 1, 3]).flatten(2)


@sequence
def neg_slice(paddle, x):
    return (x[:, :-1] - x[:, 1:], x[:, -2:], x[-1], x[:, ::2], x[..., None], x[:, None])


@sequence
def pos(paddle, x):
    p = paddle.arange(x.shape[1], dtype="float32") / x.shape[1]
    return x + p.unsqueeze(-1)


@sequence
def sincos(paddle, x):
    p = paddle.arange(x.shape[1]).astype("float32").unsqueeze(1)
    f = paddle.exp(paddle.arange(0, 4, 2).astype("float32") * -0.5)
    return x + paddle.concat([paddle.sin(p * f), paddle.cos(p * f)], -1)


@sequence
def dropout_train(paddle, x):
    F = paddle.nn.functional
    return F.dropout(x, 0.3, training=False) + F.dropout2d(x.unsqueeze(1), 0.1, training=False).squeeze(1)


@sequence
def mean_dims(paddle, x):
    return (x.mean(), x.mean(-1, keepdim=True), x.std(-1), x.var(axis=-1), x.max(axis=[1, 2]), x.sum((0, 1)))


@sequence
def kw(paddle, x):
    F = paddle.nn.functional
    return (F.pad(x, [1, 1], value=2.0, data_format="NLC"), x)


@sequence
def interp(paddle, x):
    F = paddle.nn.functional
    y = x.unsqueeze(1)
    return (F.interpolate(y, size=[y.shape[2] * 2, 8], mode="bilinear"), F.interpolate(y, scale_factor=2.0))


@sequence
def bool_ops(paddle, x):
    return (
        (x > 0) & (x < 1),
        ~(x > 0),
        paddle.logical_or(x > 0, x < -1),
        (x > 0).any(1),
        (x > 0).all(-1),
        (x == x).astype("int32").sum(),
    )


@integers
def topk(paddle, x):
    v, i = paddle.topk(x, 2, -1)
    return (v, i, paddle.sort(x, 1), paddle.argsort(x, -1, descending=True))


@integers
def dtypes(paddle, x):
    return (
        x.astype("float16").astype("float32"),
        x.astype("int32") + 1,
        x.astype("bool"),
        (x * 10).astype("int64") // 3,
        (x * 10).astype("int64") % 3,
    )


@sequence
def numbers(paddle, x):
    return (
        x * 2 + 1,
        1 - x,
        2 / x.abs().clip(min=0.1),
        x**2,
        2**x,
        -x,
        abs(x),
        x // 0.5,
        x % 0.7,
        x.pow(3),
        x * True,
    )


@sequence
def cumul(paddle, x):
    return (x.cumsum(1), x.cumsum(), paddle.cumprod(x, 1), paddle.logcumsumexp(x, 1))


@sequence
def meshgrid(paddle, x):
    g = paddle.stack(paddle.meshgrid(paddle.arange(x.shape[1]), paddle.arange(4)), -1)
    return g.astype("float32") + x.mean()


@sequence
def where3(paddle, x):
    return (
        paddle.where(x > 0, x, paddle.zeros_like(x)),
        paddle.where(x > 0, x, -x),
        paddle.masked_fill(x, x < 0, 0.0),
    )


@sequence
def chunk(paddle, x):
    a, b = x.chunk(2, -1)
    c, d = paddle.split(x, [1, 3], -1)
    e = x.unbind(-1)
    return (a * b, c, d, e[0] + e[1])


@sequence
def repeat(paddle, x):
    return (
        x.tile([1, 2, 1]),
        paddle.repeat_interleave(x, 2, 1),
        x[:1].expand([3, x.shape[1], 4]),
        x[:1].expand_as(x),
        paddle.broadcast_to(x[:, :1], x.shape),
    )


@sequence
def flip(paddle, x):
    return (paddle.flip(x, [1]), paddle.roll(x, 1, 1), x.transpose([1, 0, 2]), paddle.moveaxis(x, 0, -1))


@sequence
def batch_index(paddle, x):
    return x[paddle.arange(x.shape[0]), paddle.zeros([x.shape[0]], "int64")]


@sequence
def scalar_tensor(paddle, x):
    s = paddle.to_tensor(3.0)
    k = paddle.to_tensor([1, 2])
    return (x * s, paddle.index_select(x, k - 1, -1), x / paddle.to_tensor(float(x.shape[-1])))


@sequence
def numel(paddle, x):
    return (
        x.sum() / x.shape[0],
        x.sum() / float(x.shape[1]),
        x.reshape([-1]).shape[0] * x.mean(),
        paddle.numel(x).astype("float32") * x.mean(),
    )


@sequence
def view(paddle, x):
    return (
        x.reshape([x.shape[0], -1]),
        x.reshape([-1, x.shape[-1]]),
        x.flatten(),
        x.reshape([x.shape[1], x.shape[0], 4]),
        x.unsqueeze(0).squeeze(0),
    )


@sequence
def norms(paddle, x):
    F = paddle.nn.functional
    return (
        F.normalize(x, axis=-1),
        F.layer_norm(x, [4]),
        paddle.linalg.norm(x, axis=-1),
        F.cosine_similarity(x, x * 2, axis=-1),
        x / (x.norm(p=2, axis=-1, keepdim=True) + 1e-06),
    )


@sequence
def sdpa(paddle, x):
    F = paddle.nn.functional
    q = x.unsqueeze(2)
    return F.scaled_dot_product_attention(q, q, q, is_causal=True).squeeze(2)


@sequence
def half(paddle, x):
    return (x[:, : (x.shape[1] + 1) // 2], x[:, x.shape[1] // 2 :])


@image
def spatial(paddle, x):
    F = paddle.nn.functional
    return x * F.sigmoid(
        paddle.concat([x.max(1, keepdim=True), x.mean(1, keepdim=True)], 1).mean(1, keepdim=True)
    )


@image
def shuffle(paddle, x):
    b, c, h, w = x.shape
    return x.reshape([b, 2, c // 2, h, w]).transpose([0, 2, 1, 3, 4]).reshape([b, c, h, w])


@image_of_even_lengths("concat does not take")
def focus(paddle, x):
    return paddle.concat([x[:, :, ::2, ::2], x[:, :, 1::2, ::2], x[:, :, ::2, 1::2], x[:, :, 1::2, 1::2]], 1)


@image
def window(paddle, x):
    b, c, h, w = x.shape
    y = (
        x.transpose([0, 2, 3, 1])
        .reshape([b, h // 4, 4, w // 4, 4, c])
        .transpose([0, 1, 3, 2, 4, 5])
        .reshape([-1, 16, c])
    )
    return y.reshape([b, h // 4, w // 4, 4, 4, c]).transpose([0, 1, 3, 2, 4, 5]).reshape([b, h, w, c])


@image
def rollwin(paddle, x):
    return (paddle.roll(x, [-1, -2], [2, 3]), paddle.roll(x, shifts=1, axis=2))


@image
def pools(paddle, x):
    F = paddle.nn.functional
    return (
        F.avg_pool2d(x, 3, 1, 1),
        F.max_pool2d(x, 2, 2),
        F.adaptive_avg_pool2d(x, 1).flatten(1),
        F.adaptive_max_pool2d(x, 1),
        x.mean([2, 3]),
    )


@image
def spp(paddle, x):
    F = paddle.nn.functional
    return paddle.concat([x] + [F.max_pool2d(x, k, 1, k // 2) for k in (3, 5)], 1)


@image
def pads(paddle, x):
    F = paddle.nn.functional
    return (
        F.pad(x, [1, 1, 2, 2]),
        F.pad(x, [1, 1, 1, 1], mode="reflect"),
        F.pad(x, [0, 1, 0, 1], mode="replicate"),
    )


@image_of_even_lengths("multiples of 2")
def unfold(paddle, x):
    F = paddle.nn.functional
    return (F.unfold(x, 3, 1, 1), F.pixel_shuffle(x, 2), F.pixel_unshuffle(x, 2))


@image
def anchors(paddle, x):
    h, w = (x.shape[2], x.shape[3])
    ys = (paddle.arange(h, dtype="float32") + 0.5) * 8
    xs = (paddle.arange(w, dtype="float32") + 0.5) * 8
    gy, gx = paddle.meshgrid(ys, xs)
    return paddle.stack([gx, gy], -1).reshape([-1, 2]) + x.mean() * 0


@image
def decode(paddle, x):
    F = paddle.nn.functional
    b, c, h, w = x.shape
    y = x.reshape([b, c, h * w]).transpose([0, 2, 1])
    box = paddle.concat([y[..., :2] - y[..., 2:].exp() / 2, y[..., :2] + y[..., 2:].exp() / 2], -1)
    s = F.sigmoid(y[..., 0])
    v, i = paddle.topk(s, 3, axis=1)
    return (paddle.take_along_axis(box, i.unsqueeze(-1).expand([-1, -1, 4]), 1), v)


@image
def gridsample(paddle, x):
    F = paddle.nn.functional
    theta = paddle.to_tensor([[[1.0, 0.0, 0.1], [0.0, 1.0, 0.0]]]).expand([x.shape[0], 2, 3])
    return F.grid_sample(x, F.affine_grid(theta, [x.shape[0], 4, x.shape[2], x.shape[3]]))


@image
def norms_of_images(paddle, x):
    F = paddle.nn.functional
    return (
        F.instance_norm(x),
        F.group_norm(x, 2),
        F.local_response_norm(x, 3),
        F.normalize(x, axis=1),
        F.layer_norm(x.transpose([0, 2, 3, 1]), [4]),
    )


@image
def rope(paddle, x):
    x = x.mean(3).transpose([0, 2, 1])
    t = paddle.arange(x.shape[1]).astype("float32")
    f = 1.0 / 10000 ** (paddle.arange(0, 4, 2).astype("float32") / 4)
    fr = paddle.outer(t, f)
    cos = paddle.concat([fr.cos(), fr.cos()], -1)
    sin = paddle.concat([fr.sin(), fr.sin()], -1)
    r = paddle.concat([-x[..., 2:], x[..., :2]], -1)
    return x * cos + r * sin


@image
def relpos(paddle, x):
    F = paddle.nn.functional
    n = x.shape[2]
    i = paddle.arange(n)
    d = (i.unsqueeze(0) - i.unsqueeze(1)).clip(-3, 3) + 3
    table = paddle.arange(7).astype("float32")
    return F.embedding(d, table.unsqueeze(-1)).squeeze(-1) + x.mean() * 0


@image
def lengths(paddle, x):
    size = (x[:, 0, 0, 0] > 0).astype("int64") + 2
    m = paddle.arange(x.shape[2]).unsqueeze(0) < size.unsqueeze(1)
    return (x.mean([1, 3]) * m.astype("float32"), m)


@image
def quant(paddle, x):
    return (paddle.round(x * 10) / 10, paddle.floor(x), paddle.ceil(x), paddle.sign(x), paddle.trunc(x))


@image_of_even_lengths("evenly")
def comp(paddle, x):
    return (
        paddle.complex(x, x * 2).abs(),
        paddle.fft.rfft(x).real(),
        paddle.as_real(paddle.as_complex(x.reshape([x.shape[0], 4, -1, 2]))),
    )


@image
def conv1(paddle, x):
    F = paddle.nn.functional
    w = paddle.ones([2, 4, 3]) * 0.1
    return (F.conv1d(x.mean(3), w, padding=1), F.conv1d(x.mean(3), w, stride=2))


@image
def geo(paddle, x):
    F = paddle.nn.functional
    return (
        F.interpolate(x, scale_factor=0.5, mode="bilinear"),
        F.interpolate(x, scale_factor=[2, 3], mode="nearest"),
        F.upsample(x, scale_factor=2, mode="bicubic"),
    )


@sequence
def detached(paddle, x):
    fixed = x.detach()
    rows = [row.sum() * k for k, row in enumerate(fixed)]
    return x * len(fixed), paddle.stack(rows)
