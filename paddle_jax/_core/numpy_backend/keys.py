"""Arrays of random keys: in NumPy an array of uint32 with one more axis, the words of a key."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle_jax._core.numpy_backend.rules import Avals, Params, Refusal


class Physical:
    """Shape and dtype of the words behind an aval."""

    __slots__ = ("dtype", "shape")

    def __init__(self, aval: Any) -> None:
        if isinstance(aval.dtype, np.dtype):
            self.shape = aval.shape
            self.dtype = aval.dtype
        else:
            self.shape, self.dtype = (*aval.shape, 2), np.dtype(np.uint32)


def as_word_equation(name: str, params: Params, ins: Avals, outs: Avals) -> Any:
    """(params, ins, outs) of an equation on keys, as one on words."""
    # The two words of a key are an axis behind the others.
    rank = len(ins[0].shape)
    params = dict(params)
    if name == "slice":
        params["start_indices"], params["limit_indices"] = (
            (*params["start_indices"], 0),
            (*params["limit_indices"], 2),
        )
        params["strides"] = (*(params["strides"] or (1,) * rank), 1)
    elif name == "broadcast_in_dim":
        params["broadcast_dimensions"] = (*params["broadcast_dimensions"], len(outs[0].shape))
    elif name == "transpose":
        params["permutation"] = (*params["permutation"], rank)
    elif name not in (
        "squeeze",
        "reshape",
        "unstack",
        "split",
        "concatenate",
        "copy",
        "while",
        "cond",
        "optimization_barrier",
    ):
        raise Refusal(f"primitive '{name}' has no rule for arrays of random keys")
    return params, [Physical(a) for a in ins], [Physical(a) for a in outs]
