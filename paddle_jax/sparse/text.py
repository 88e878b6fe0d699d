"""How sparse Tensors print."""

import re


def shown(x, **parts):
    """The text of a sparse Tensor: its head, and each part as a Tensor prints its numbers."""
    head = (
        f"Tensor(shape={list(x.shape)}, dtype={x.dtype}, place={x._values.place}, "
        f"stop_gradient={x.stop_gradient}, "
    )
    lines = [f"       {name}={_numbers(part, len(name) + 8)}" for name, part in parts.items()]
    return head + "\n" + ", \n".join(lines) + ")"


def _numbers(part, indent):
    text = repr(part)
    body = text[text.index("\n") + 1 : -1]
    return re.sub(r"\n\s*", lambda m: "\n" + " " * (len(m.group()) - 8 + indent), body.strip())
