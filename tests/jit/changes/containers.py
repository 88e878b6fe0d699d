"""Values in containers of every kind, at every depth."""

import collections
import types

from paddle_jax import nn
from tests.jit.changes.cases import CASES, Box

KINDS = {
    "list": lambda v: [v],
    "dict": lambda v: {"k": v},
    "object": lambda v: Box(k=v),
    "namespace": lambda v: types.SimpleNamespace(k=v),
    "tuple of list": lambda v: (v,),
    "ordered": lambda v: collections.OrderedDict(k=v),
    "default": lambda v: collections.defaultdict(int, k=v),
    "deque": lambda v: collections.deque([v]),
}


def nest(kind, depth, leaf):
    """leaf in `depth` containers of a kind; (outermost, innermost)."""
    inner = outer = [leaf] if kind == "tuple of list" else KINDS[kind](leaf)
    for _ in range(depth - 1):
        outer = KINDS[kind](outer)
    return outer, inner


def walk(thing, depth):
    for _ in range(depth):
        thing = (
            thing.k
            if isinstance(thing, Box | types.SimpleNamespace)
            else thing["k"]
            if isinstance(thing, dict)
            else thing[0]
        )
    return thing


def put(inner, value):
    if isinstance(inner, Box | types.SimpleNamespace):
        inner.k = value
    else:
        inner["k" if isinstance(inner, dict) else 0] = value


def _nested(kind, depth, where):
    def make():
        outer, inner = nest(kind, depth, 2.0)
        if where == "closure":
            return (lambda x: x * walk(outer, depth)), lambda: put(inner, 3.0)
        if where == "attribute":
            owner = Box(held=outer)
            return (lambda x: x * walk(owner.held, depth)), lambda: put(inner, 3.0)
        if where == "default":
            return (lambda x, held=outer: x * walk(held, depth)), lambda: put(inner, 3.0)
        layer = nn.Linear(2, 2)
        layer.held = outer
        return (lambda x: layer(x) * walk(layer.held, depth)), lambda: put(inner, 3.0)

    return make


for _kind in ("list", "dict", "object", "namespace", "tuple of list", "ordered", "default", "deque"):
    for _depth in (1, 3, 7):
        for _where in ("closure", "attribute", "default", "layer"):
            CASES[f"{_kind} {_depth} deep in a {_where}"] = _nested(_kind, _depth, _where)
