"""How sparse Tensors print."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.sparse.base import SparseTensor


def shown(x: SparseTensor, **parts: Tensor) -> str:
    """The text of a sparse Tensor: its head, and each part as a Tensor prints its numbers."""
    head = (
        f"Tensor(shape={list(x.shape)}, dtype={x.dtype}, place={x._values.place}, "
        f"stop_gradient={x.stop_gradient}, "
    )
    lines = [f"       {name}={_numbers(part, len(name) + 8)}" for name, part in parts.items()]
    return head + "\n" + ", \n".join(lines) + ")"


def _numbers(part: Tensor, indent: int) -> str:
    text = repr(part)
    body = text[text.index("\n") + 1 : -1]
    return re.sub(r"\n\s*", lambda m: "\n" + " " * (len(m.group()) - 8 + indent), body.strip())
