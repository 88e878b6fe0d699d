"""Names that count up, under the path of `paddle.base`."""

from __future__ import annotations

from typing import Any

from paddle_jax._core.base.unique_name import ParameterNameChecker as DygraphParameterNameChecker
from paddle_jax._core.base.unique_name import UniqueNameGenerator, _State, generate, guard, switch
from paddle_jax.framework.mode import in_dynamic_mode

_IGNORED = UniqueNameGenerator()


def generate_with_ignorable_key(key: str) -> str:
    """A new name; in dynamic mode all of them count as "dygraph_tmp", whatever guard there is.

    Args:
        key: str.
    Example:
        >>> paddle.base.unique_name.generate_with_ignorable_key("fc").startswith("dygraph_tmp_")
        True
    """
    if in_dynamic_mode():
        return _IGNORED("dygraph_tmp")
    return generate(key)


def __getattr__(name: str) -> Any:
    if name == "generator":  # the one in use
        return _State.generator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "DygraphParameterNameChecker",
    "UniqueNameGenerator",
    "generate",
    "generate_with_ignorable_key",
    "guard",
    "switch",
]
