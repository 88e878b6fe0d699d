"""Attention with a cache in pages against the formula in NumPy, sequence by sequence."""

import inspect

import numpy as np
import pytest

from tests.incubate import references as R

BATCH, GROUPS, EACH, WIDTH, BLOCK = 3, 2, 2, 4, 4
HEADS, PAGES = GROUPS * EACH, 4
TABLES = np.array([[5, 0, 7, 2], [3, 9, 1, -1], [4, 6, 8, 10]], "int32")


def drawn(rng, *shape):
    return (rng.randn(*shape) * 0.7).astype("float32")


def turned(x, positions, table, neox):
    """x [length, heads, width] by cosines and sines [2, positions, width / 2]."""
    cos, sin = (t[positions][:, None] for t in table)
    a, b = np.split(x, 2, -1) if neox else (x[..., ::2], x[..., 1::2])
    pair = a * cos - b * sin, b * cos + a * sin
    return np.concatenate(pair, -1) if neox else np.stack(pair, -1).reshape(x.shape)


class Sequences:
    """What each sequence has seen, and the call that says the same in pages."""

    def __init__(self, paddle, table=None, neox=False, kind="float32", **options):
        self.paddle, self.table, self.neox, self.options = paddle, table, neox, options
        self.seen = [[np.zeros((0, GROUPS, WIDTH), "float32")] * 2 for _ in range(BATCH)]
        self.caches = [paddle.full([11, GROUPS, BLOCK, WIDTH], 0, kind) for _ in range(2)]

    def step(self, qkv, lengths, masks=None):
        """(our results, those of the formula) of a step; a sequence without a past begins."""
        wanted, at = [], 0
        past = [len(k) for k, _ in self.seen]
        for b, n in [(b, n) for b, n in enumerate(lengths) if n]:
            q, k, v = np.split(
                qkv[at : at + n].reshape(n, HEADS + 2 * GROUPS, WIDTH), [HEADS, HEADS + GROUPS], 1
            )
            at += n
            positions = np.arange(past[b], past[b] + n)
            if self.table is not None:
                q, k = (turned(t, positions, self.table, self.neox) for t in (q, k))
            k, v = self.seen[b] = [np.concatenate(pair) for pair in zip(self.seen[b], (k, v), strict=True)]
            mask = R.causal(n, len(k)) if masks is None else masks[b]
            heads = R.attend(*(np.swapaxes(t, 0, 1)[None] for t in (q, k, v)), mask)
            wanted.append(R.joined(heads)[0])
        return self.call(qkv, lengths, past), np.concatenate(wanted)

    def call(self, qkv, lengths, past, function=None):
        def ints(values):
            return self.paddle.to_tensor(np.asarray(values, "int32"))

        encoder = ints([[n * (p == 0)] for n, p in zip(lengths, past, strict=True)])
        starts = ints([0, *np.cumsum(lengths)])
        unused = ints([0])
        rope = None
        if self.table is not None:
            table = np.concatenate([self.table] * 2, -1) if self.neox else self.table
            rope = self.paddle.to_tensor(table[:, None, :, None].astype("float32"))
        function = function or self.paddle.incubate.nn.functional.block_multihead_attention
        return function(
            self.paddle.to_tensor(qkv),
            *self.caches,
            encoder,
            ints([[p] for p in past]),
            ints([[n] for n in lengths]),
            unused,
            unused,
            starts,
            starts,
            ints(TABLES),
            rope_emb=rope,
            block_size=BLOCK,
            use_neox_style=self.neox,
            **self.options,
        )[0].numpy()


def stream(rng, lengths):
    return drawn(rng, sum(lengths), (HEADS + 2 * GROUPS) * WIDTH)


def angles():
    grown = np.arange(16)[:, None] / 10000.0 ** (np.arange(0, WIDTH, 2) / WIDTH)
    return np.stack([np.cos(grown), np.sin(grown)])


@pytest.mark.parametrize("rope", [None, False, True])
def test_sequences_of_different_lengths(paddle, rope):
    """Prompts, then single tokens, then a sequence that begins beside two that go on; one sequence pauses."""
    rng = np.random.RandomState(0)
    found = Sequences(paddle, None if rope is None else angles(), bool(rope))
    for lengths in ([5, 3, 0], [1, 1, 0], [1, 1, 6], [1, 0, 1], [2, 3, 1]):
        got, wanted = found.step(stream(rng, lengths), lengths)
        np.testing.assert_allclose(got, wanted, 1e-5, 1e-5)
    keys = found.caches[0].numpy()
    for b in range(BATCH):
        kept = np.concatenate([keys[page].swapaxes(0, 1) for page in TABLES[b] if page >= 0])[
            : len(found.seen[b][0])
        ]
        np.testing.assert_allclose(kept, found.seen[b][0], 1e-5, 1e-5)


def test_masks_bias_and_what_follows(paddle):
    rng = np.random.RandomState(1)
    bias, shift, smooth = (
        drawn(rng, (HEADS + 2 * GROUPS) * WIDTH),
        drawn(rng, HEADS * WIDTH),
        drawn(rng, HEADS * WIDTH),
    )
    first, later = drawn(rng, BATCH, 1, 5, 5), drawn(rng, BATCH, 1, 1, 6)
    t = paddle.to_tensor
    found = Sequences(
        paddle, mask=t(first), tgt_mask=t(later), qkv_bias=t(bias), out_shift=t(shift), out_smooth=t(smooth)
    )
    for lengths, masks in (
        ([5, 3, 4], [m[0, :n, :n] for m, n in zip(first, (5, 3, 4), strict=True)]),
        ([1, 1, 1], [m[0, :, :n] for m, n in zip(later, (6, 4, 5), strict=True)]),
    ):
        qkv = stream(rng, lengths)
        past = [len(k) for k, _ in found.seen]
        before = [c.numpy().copy() for c in found.caches]
        plain = Sequences(paddle)
        plain.seen = found.seen
        found.seen = [list(s) for s in found.seen]
        _, wanted = plain.step(qkv + bias, lengths, masks)
        found.seen = plain.seen
        for cache, value in zip(found.caches, before, strict=True):
            cache.set_value(value)
        np.testing.assert_allclose(found.call(qkv, lengths, past), (wanted + shift) * smooth, 1e-5, 1e-5)


def test_cache_of_integers(paddle):
    """The cache holds round(x * scale * 127) + 128; results are near those of floats, and the first step,
    which needs no cache, is equal."""
    rng = np.random.RandomState(2)
    scale = np.array([1 / 3.0, 1 / 4.0], "float32")
    to, back = paddle.to_tensor(scale), paddle.to_tensor(1 / (scale * 127))
    found = Sequences(
        paddle,
        kind="uint8",
        cache_k_quant_scales=to,
        cache_v_quant_scales=to,
        cache_k_dequant_scales=back,
        cache_v_dequant_scales=back,
    )
    for lengths, error in (([5, 3, 4], 1e-5), ([1, 1, 1], 0.05)):
        got, wanted = found.step(stream(rng, lengths), lengths)
        np.testing.assert_allclose(got, wanted, error, error)
    values = found.seen[0][1][:4].swapaxes(0, 1)
    np.testing.assert_array_equal(
        found.caches[1].numpy()[5], np.round(values * scale[:, None, None] * 127) + 128
    )


def test_scales_that_are_found(paddle):
    """Each sequence's scales come from its own beginning, whatever numbers the others have; a second one
    begins beside a first that goes on."""
    rng = np.random.RandomState(3)
    scales = [paddle.zeros([BATCH, GROUPS]) for _ in range(4)]
    names = (
        "cache_k_quant_scales",
        "cache_v_quant_scales",
        "cache_k_dequant_scales",
        "cache_v_dequant_scales",
    )
    found = Sequences(
        paddle, kind="uint8", use_dynamic_cachekv_quant=True, **dict(zip(names, scales, strict=True))
    )
    for lengths, error in (([5, 3, 0], 1e-5), ([1, 1, 4], 0.06), ([1, 0, 1], 0.06)):
        # later numbers beyond the first ones are clipped
        sizes = [0.3 if len(k) else b + 1.0 for b, (k, _) in enumerate(found.seen)]
        qkv = stream(rng, lengths) * np.repeat(sizes, lengths)[:, None].astype("float32")
        before = [scale.numpy().copy() for scale in scales]
        begins = [n > 0 and not len(k) for n, (k, _) in zip(lengths, found.seen, strict=True)]
        got, wanted = found.step(qkv, lengths)
        np.testing.assert_allclose(got, wanted, error, 3 * error)
        for which in (0, 1):
            for b in range(BATCH):
                if begins[b]:
                    largest = np.abs(found.seen[b][which]).max((0, 2))
                    np.testing.assert_allclose(scales[which][b].numpy() * largest, 1, 1e-5)
                    np.testing.assert_allclose(scales[which + 2][b].numpy() * 127, largest, 1e-5)
                else:
                    np.testing.assert_array_equal(scales[which][b].numpy(), before[which][b])
    scales[0] = paddle.zeros([GROUPS])
    found.options = dict(zip(names, scales, strict=True)) | {"use_dynamic_cachekv_quant": True}
    with pytest.raises(ValueError, match="must be .batch, key heads., .3, 2."):
        found.step(stream(rng, [1, 1, 1]), [1, 1, 1])


def test_numbers_of_eight_bits(paddle):
    rng = np.random.RandomState(3)
    whole, scale = (
        rng.randint(-90, 90, (4, (HEADS + 2 * GROUPS) * WIDTH)).astype("int32"),
        np.full((HEADS + 2 * GROUPS) * WIDTH, 0.01, "float32"),
    )
    plain = Sequences(paddle)
    _, wanted = plain.step((whole * scale).astype("float32"), [4, 0, 0])
    found = Sequences(paddle, qkv_out_scale=paddle.to_tensor(scale), compute_dtype="fp32", out_scale=0.5)
    np.testing.assert_array_equal(
        found.call(whole, [4, 0, 0], [0, 0, 0]),
        np.clip(np.sign(wanted) * np.floor(abs(wanted) * 63.5 + 0.5), -127, 127),
    )


def test_compiled_and_differentiated(paddle):
    rng = np.random.RandomState(4)
    qkv = stream(rng, [3, 2, 1])
    eager, compiled = Sequences(paddle), Sequences(paddle)
    function = paddle.jit.to_static(paddle.incubate.nn.functional.block_multihead_attention, full_graph=True)
    np.testing.assert_allclose(
        compiled.call(qkv, [3, 2, 1], [0, 0, 0], function), eager.call(qkv, [3, 2, 1], [0, 0, 0]), 1e-5, 1e-6
    )
    np.testing.assert_allclose(compiled.caches[0], eager.caches[0], 1e-6)

    def total(values):
        x = paddle.to_tensor(values, stop_gradient=False)
        ints = [
            paddle.to_tensor(np.asarray(v, "int32")) for v in ([3, 2, 1], [0, 0, 0], [0, 3, 5, 6], TABLES)
        ]
        y = paddle.incubate.nn.functional.block_multihead_attention(
            x,
            *Sequences(paddle, kind="float64").caches,
            ints[0],
            ints[1],
            ints[0],
            None,
            None,
            ints[2],
            None,
            ints[3],
            block_size=BLOCK,
        )[0]
        return x, (y * paddle.arange(y.shape[1], dtype="float64")).sum()

    x, loss = total(qkv.astype("float64"))
    loss.backward()
    way = rng.randn(*qkv.shape)
    ends = [float(total(qkv + s * way)[1]) for s in (1e-5, -1e-5)]
    np.testing.assert_allclose((x.grad.numpy() * way).sum(), (ends[0] - ends[1]) / 2e-5, 1e-4)


def test_signature_and_refusals(paddle, oracle):
    ours, theirs = (
        inspect.signature(e.incubate.nn.functional.block_multihead_attention) for e in (paddle, oracle)
    )
    assert [(p.name, p.default) for p in ours.parameters.values()] == [
        (p.name, p.default) for p in theirs.parameters.values()
    ]
    found = Sequences(paddle, pre_key_cache=paddle.zeros([1]))
    with pytest.raises(ValueError, match="pre_key_cache: only None"):
        found.call(stream(np.random.RandomState(0), [1, 1, 1]), [1, 1, 1], [0, 0, 0])
    found = Sequences(paddle)
    with pytest.raises(ValueError, match="heads being a multiple"):
        found.call(np.ones((3, 17), "float32"), [1, 1, 1], [0, 0, 0])
    found.options["out_scale"] = -1
    found.caches[1] = found.caches[1][:, :, :2]
    with pytest.raises(ValueError, match="the third being block_size"):
        found.call(stream(np.random.RandomState(0), [1, 1, 1]), [1, 1, 1], [0, 0, 0])
