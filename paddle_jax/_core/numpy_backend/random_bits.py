"""Random bits: Threefry-2x32 with 20 rounds, bit for bit as compiled.

Source: J. Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (2011). How keys, counters and widths
    map to it is JAX's.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paddle_jax._core.lazy.recorder import extension
from paddle_jax._core.numpy_backend.rules import Avals, Params, Refusal, Run, define_rule, rule

# From the specification of Threefry-2x32.
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA
_FEW = 8  # counters up to which Python's integers are quicker
_BLOCK = 1 << 14  # counters that stay in the cache
_SHARED = 1 << 24  # bytes of bits that wait for their second use
_MIN_SHARED = 1 << 10  # bytes; fewer are drawn again as quickly

_ZERO = np.zeros(1, np.uint32)


def threefry(k1: Any, k2: Any, x0: Any, x1: Any) -> Any:
    """The two words of each counter (x0, x1) under a key: uint32 arrays or numbers that broadcast."""
    is_one_key = np.size(k1) == np.size(k2) == 1
    # Python's integers are faster for a few counters.
    if is_one_key and np.size(x0) <= _FEW and np.size(x0) == np.size(x1):
        key = int(np.asarray(k1).item()), int(np.asarray(k2).item())
        counters = zip(np.ravel(x0).tolist(), np.ravel(x1).tolist(), strict=True)
        words = [_few(*key, high, low) for high, low in counters]
        pairs = np.array(words, np.uint32).reshape(-1, 2)
        shape = np.broadcast_shapes(np.shape(k1), np.shape(x0))
        return pairs[:, 0].reshape(shape), pairs[:, 1].reshape(shape)
    k1, k2, x0, x1 = np.broadcast_arrays(k1, k2, x0, x1)
    shape = x0.shape
    n = x0.size
    k1, k2, x0, x1 = (each.reshape(-1) for each in (k1, k2, x0, x1))
    out0 = np.empty(n, np.uint32)
    out1 = np.empty(n, np.uint32)
    for start in range(0, n, _BLOCK):
        part = slice(start, start + _BLOCK)
        _block(k1[part], k2[part], x0[part], x1[part], out0[part], out1[part])
    return out0.reshape(shape), out1.reshape(shape)


def _words_under(key: np.ndarray, rank: int, x0: np.ndarray, x1: np.ndarray) -> Any:
    """The two words of each counter under each key: the axes of the keys, then those of the counters.

    Args:
        key: the words of one key, or of a stack of keys.
        rank: the number of axes of the keys.
        x0: the high words of the counters, contiguous.
        x1: the low words, as x0.
    """
    if not rank and extension is not None:
        first = np.empty(x0.shape, np.uint32)
        second = np.empty(x0.shape, np.uint32)
        extension.random_words(*key.tolist(), x0, x1, first, second)
        return first, second
    if rank:  # a stack of keys: each has the same counters
        shape = key.shape[:rank] + x0.shape
        x0 = np.broadcast_to(x0, shape)
        x1 = np.broadcast_to(x1, shape)
    k1, k2 = _words(key, x0.ndim - rank)
    return threefry(k1, k2, x0, x1)


def _few(k1: int, k2: int, a: int, b: int) -> tuple[int, int]:
    """The two words of one counter (a, b), by Python's integers."""
    mask = 0xFFFFFFFF
    keys = (k1, k2, k1 ^ k2 ^ PARITY)
    a = (a + k1) & mask
    b = (b + k2) & mask
    # Threefry-2x32 (Salmon and others, 2011): five groups of four rounds.
    for n in range(5):
        for r in ROTATIONS[n % 2]:
            a = (a + b) & mask
            b = ((b << r) & mask | b >> (32 - r)) ^ a
        a = (a + keys[(n + 1) % 3]) & mask
        b = (b + keys[(n + 2) % 3] + n + 1) & mask
    return a, b


def _block(k1: Any, k2: Any, x0: Any, x1: Any, a: np.ndarray, b: np.ndarray) -> None:
    """Writes the words into a and b."""
    keys = (k1, k2, k1 ^ k2 ^ np.uint32(PARITY))
    high = np.empty_like(a)
    np.add(x0, k1, out=a)
    np.add(x1, k2, out=b)
    for n in range(5):
        for r in ROTATIONS[n % 2]:
            np.add(a, b, out=a)
            # NumPy has no rotation of bits: two shifts and an or.
            np.left_shift(b, np.uint32(r), out=high)
            np.right_shift(b, np.uint32(32 - r), out=b)
            np.bitwise_or(b, high, out=b)
            np.bitwise_xor(b, a, out=b)
        np.add(a, keys[(n + 1) % 3], out=a)
        np.add(b, keys[(n + 2) % 3], out=b)
        np.add(b, np.uint32(n + 1), out=b)


@rule("threefry2x32")
def _threefry(params: Params, ins: Avals, outs: Avals) -> Run:
    return threefry


def _counters(shape: tuple[int, ...]) -> Any:
    """The running number of each element, as (high, low) words."""
    n = np.arange(math.prod(shape), dtype=np.uint64).reshape(shape)
    return (n >> np.uint64(32)).astype(np.uint32), n.astype(np.uint32)


@rule("iota_2x32_shape")
def _iota(params: Params, ins: Avals, outs: Avals) -> Run:
    return lambda: _counters(params["shape"])


def _check(aval: Any) -> None:
    """Refuses keys of another generator."""
    impl = getattr(aval.dtype, "_impl", None)
    if getattr(impl, "name", "threefry2x32") != "threefry2x32":
        raise Refusal("random numbers of another generator than JAX's default are compiled")


define_rule(lambda x: x, "random_wrap", "random_unwrap")


def _words(key: Any, rank: int = 0) -> Any:
    """The two words of each key, with `rank` axes more for the numbers of one key, unless
    there is only one."""
    words = key[..., 0], key[..., 1]
    if key.ndim > 1:
        return [k.reshape(k.shape + (1,) * rank) for k in words]
    return words


class _SharedBits:
    """Bits that were drawn once. The gradient of dropout draws those of the forward pass again.

    Attributes:
        drawn: dict from (words of the key, shape, width) to the bits, oldest first.
        nbytes: int, their bytes.
    """

    drawn: dict[tuple[Any, ...], np.ndarray] = {}  # noqa: RUF012  one for the process
    nbytes = 0

    @classmethod
    def take(cls, key: tuple[Any, ...]) -> np.ndarray | None:
        """The bits, which are kept for one more use alone."""
        bits = cls.drawn.pop(key, None)
        if bits is not None:
            cls.nbytes -= bits.nbytes
        return bits

    @classmethod
    def keep(cls, key: tuple[Any, ...], bits: np.ndarray) -> None:
        """Keeps bits, and drops the oldest ones beyond the limit."""
        if not _MIN_SHARED <= bits.nbytes <= _SHARED:
            return
        cls.drawn[key] = bits
        cls.nbytes += bits.nbytes
        while cls.nbytes > _SHARED:
            try:
                cls.take(next(iter(cls.drawn)))
            except (RuntimeError, StopIteration):  # another thread changes it
                break


@rule("random_bits")
def _random_bits(params: Params, ins: Avals, outs: Avals) -> Run:
    _check(ins[0])
    shape = tuple(params["shape"])
    width = params["bit_width"]
    rank = len(ins[0].shape)
    dtype = np.dtype(f"u{width // 8}")
    counters = None

    def shared_bits(key: Any) -> Any:
        identity = (key.tobytes(), shape, width)
        drawn = _SharedBits.take(identity)
        if drawn is None:
            drawn = bits(key)
            _SharedBits.keep(identity, drawn)
        return drawn

    def bits(key: Any) -> Any:
        nonlocal counters
        if counters is None:
            counters = _counters(shape)
        a, b = _words_under(key, rank, *counters)
        # As in JAX: 64 bits take both words, fewer bits a mix of them.
        if width == 64:
            return (a.astype(dtype) << np.uint64(32)) | b
        np.bitwise_xor(a, b, out=a)
        return a.astype(dtype, copy=False)

    return bits if rank else shared_bits


@rule("random_fold_in")
def _fold_in(params: Params, ins: Avals, outs: Avals) -> Run:
    _check(ins[0])

    def fold_in(key: Any, data: Any) -> Any:
        data = np.asarray(data).astype(np.uint32)
        if extension is not None and key.ndim == 1 and not data.ndim:
            pair = np.empty(2, np.uint32)
            extension.random_words(*key.tolist(), _ZERO, data, pair[:1], pair[1:])
            return pair
        k1, k2 = _words(key)
        return np.stack(threefry(k1, k2, np.zeros_like(data), data), -1)

    return fold_in


@rule("random_split")
def _random_split(params: Params, ins: Avals, outs: Avals) -> Run:
    _check(ins[0])
    rank = len(ins[0].shape)
    counters = _counters(tuple(params["shape"]))

    def split(key: Any) -> Any:
        return np.stack(_words_under(key, rank, *counters), -1)

    return split


@rule("random_seed")
def _random_seed(params: Params, ins: Avals, outs: Avals) -> Run:
    _check(outs[0])
    if ins[0].shape:
        raise Refusal("several seeds at once are compiled")

    def seed(number: Any) -> Any:
        # A negative seed stands for its bits.
        number = int(number) & (2 ** (8 * ins[0].dtype.itemsize) - 1)
        return np.array([number >> 32, number & 0xFFFFFFFF], np.uint32)

    return seed
