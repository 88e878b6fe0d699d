"""Blocks of a Transformer in NumPy, in double precision, step by step."""

import math

import numpy as np

erf = np.vectorize(math.erf)


def norm(x, weight=None, bias=None, epsilon=1e-5):
    y = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon)
    return y * (1 if weight is None else weight) + (0 if bias is None else bias)


def rms(x, weight=None, bias=None, epsilon=1e-5):
    y = x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon)
    return y * (1 if weight is None else weight) + (0 if bias is None else bias)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def gelu(x):
    return x * (1 + erf(x / math.sqrt(2))) / 2


def gelu_tanh(x):
    return x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


def silu(x):
    return x / (1 + np.exp(-x))


def relu(x):
    return np.maximum(x, 0)


def swiglu(x):
    a, b = np.split(x, 2, -1)
    return silu(a) * b


def attend(q, k, v, mask=0.0):
    """[batch, heads, length, width]; mask is added; fewer key heads are shared by neighbours."""
    k, v = (np.repeat(t, q.shape[1] // t.shape[1], 1) for t in (k, v))
    return softmax(q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1]) + mask) @ v


def joined(heads):
    """[batch, heads, length, width] as [batch, length, heads * width]."""
    return np.swapaxes(heads, 1, 2).reshape(heads.shape[0], heads.shape[2], -1)


def causal(queries, keys):
    """Numbers to add: later keys are hidden; the last query sees all keys."""
    return np.where(np.arange(keys) <= np.arange(queries)[:, None] + keys - queries, 0.0, -1e9)


def rope(x, angles, neighbours):
    """x [..., width] as complex numbers, turned by angles [..., width / 2]."""
    half = x.shape[-1] // 2
    a, b = (x[..., ::2], x[..., 1::2]) if neighbours else (x[..., :half], x[..., half:])
    z = (a + 1j * b) * np.exp(1j * angles)
    out = np.empty_like(x)
    if neighbours:
        out[..., ::2], out[..., 1::2] = z.real, z.imag
    else:
        out[..., :half], out[..., half:] = z.real, z.imag
    return out
