"""Random programs: a module with a step and the changes of its surroundings."""

import random
import textwrap

from tests.jit.mixed import features, models, tensors  # their kinds note themselves
from tests.jit.mixed.feature import FEATURES

assert features and models and tensors
_HEAD = """\
import collections, contextlib, contextvars, copy, dataclasses, enum, functools, importlib, itertools, json
import math, operator, os, random, sys, threading, types
import numpy as np
import paddle_jax as paddle
from paddle_jax import nn
"""
_WRAPS = (
    "{0}",
    "{0}",
    "{0}",
    "{0}",
    "if x.shape[0] == 2:\n{1}\nelse:\n    x = x * 0",
    "for _ in range(2):\n{1}",
    "try:\n{1}\nfinally:\n    x = x * 1.0",
    "def nested(x, y):\n{1}\n    return x\nx = nested(x, y)",
    "with contextlib.nullcontext():\n{1}",
    "if x.sum() > -1e6:\n{1}",
    "x, = [x for _ in [0]]\n{0}",
)


def _numbered(text, number, rng):
    text = text.replace("$", f"_{number}")
    while "RND" in text:
        text = text.replace("RND", str(round(rng.uniform(0.5, 1.5), 3)), 1)
    return text


def generate(seed):
    """(source of a module, statements that change it, expressions to compare it by, the random generator)."""
    rng = random.Random(seed)
    chosen = rng.sample(FEATURES, rng.choice((1, 1, 2, 2, 3)))
    top, pieces, changes, watch = [_HEAD], [], [], []
    for number, kind in enumerate(chosen):
        top.append(_numbered(kind.top, number, rng))
        pieces += [
            _numbered(piece, number, rng)
            for piece in rng.sample(kind.body, min(len(kind.body), rng.choice((1, 1, 2, 3))))
        ]
        changes += [
            _numbered(change, number, rng) for change in rng.sample(kind.changes, min(len(kind.changes), 6))
        ]
        watch += [_numbered(what, number, rng) for what in kind.watch]
    rng.shuffle(pieces)
    lines = ["def step(x, y):"]
    for piece in pieces:
        wrapped = rng.choice(_WRAPS) if "return" not in piece and "class " not in piece else "{0}"
        lines.append(textwrap.indent(wrapped.format(piece, textwrap.indent(piece, "    ")), "    "))
    return "\n".join([*top, *lines, "    return x"]) + "\n", changes, watch, rng
