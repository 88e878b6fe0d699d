"""Lists of operations by precision, for static programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax._core.base import dtype as dtypes
from paddle_jax.amp.amp_lists import black_list, white_list
from paddle_jax.amp.policy import LOW, policy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paddle_jax._annotations import DTypeLike
    from paddle_jax.amp.policy import Policy


def low_dtype(where: str, dtype: Any) -> str:
    """The name of a low-precision dtype in any spelling."""
    name = dtypes.convert(dtype).np.name
    if name not in LOW:
        raise ValueError(f"{where}: dtype: got {dtype!r}; it must be float16 or bfloat16")
    return name


class AutoMixedPrecisionLists:
    """Which operations of a program run in low precision (`white_list`) and which in float32 (`black_list`),
    by Paddle's names.

    Args:
        custom_white_list: set of names to add to the white list. Default None.
        custom_black_list: set of names to add to the black list. Default None.
        custom_black_varnames: set of names of Variables: operations that use one run in
            float32. Default None.
        dtype: "float16" or "bfloat16". Default "float16".
    Raises:
        ValueError: a name is in both custom lists, or dtype is another one.
    Example:
        >>> lists = paddle.static.amp.AutoMixedPrecisionLists(custom_black_list={"matmul_v2"})
        >>> "matmul_v2" in lists.white_list, "matmul_v2" in lists.black_list
        (False, True)
    """

    def __init__(
        self,
        custom_white_list: Iterable[str] | None = None,
        custom_black_list: Iterable[str] | None = None,
        custom_black_varnames: Iterable[str] | None = None,
        dtype: DTypeLike = "float16",
    ) -> None:
        more = set(custom_white_list or ())
        less = set(custom_black_list or ())
        if more & less:
            raise ValueError(
                "AutoMixedPrecisionLists: custom_white_list and custom_black_list: "
                f"both have {sorted(more & less)}"
            )
        self.amp_dtype: str = low_dtype("AutoMixedPrecisionLists", dtype)
        self.black_varnames = custom_black_varnames
        # A custom list moves a name from one list to the other.
        self.white_list: set[str] = (white_list()[self.amp_dtype]["O1"] | more) - less
        self.black_list: set[str] = (black_list()[self.amp_dtype]["O1"] | less) - more
        self._custom = frozenset(more), frozenset(less)

    def policy(self, level: str, dtype: DTypeLike, use_promote: bool) -> Policy:
        """The Policy of these lists at a level."""
        black = frozenset(self.black_list)
        # At O2 all but the black list has the low precision.
        if level == "O2":
            more, less = self._custom
            black = frozenset(black_list()[dtype]["O2"] | less) - more
        return policy(level, dtype, level != "O2" or use_promote, frozenset(self.white_list), black)


CustomOpLists = AutoMixedPrecisionLists

__all__ = ["AutoMixedPrecisionLists", "CustomOpLists", "low_dtype"]
