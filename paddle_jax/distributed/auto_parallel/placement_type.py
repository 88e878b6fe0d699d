"""How a Tensor lies along one dimension of a mesh: in pieces, as copies, or as parts of a sum."""

from __future__ import annotations

import enum
from typing import Any


class ReduceType(enum.Enum):
    """How the parts of a Partial make up the value.

    Args:
        value: int, the number of a member.
    Example:
        >>> paddle.distributed.ReduceType.kRedMax.name
        'kRedMax'
    """

    kRedSum, kRedMax, kRedMin, kRedProd, kRedAvg, kRedAny, kRedAll = range(7)

    def __int__(self) -> int:
        return self.value

    def __hash__(self) -> int:
        return self.value


class Placement:
    """How a Tensor lies along one dimension of a mesh; the base of Shard, Replicate and Partial.

    Example:
        >>> isinstance(paddle.distributed.Shard(0), paddle.distributed.Placement)
        True
    """

    def is_shard(self, dim: Any = None) -> bool:
        """Whether the devices hold pieces (of the axis `dim`, if one is given)."""
        return False

    def is_replicated(self) -> bool:
        """Whether each device holds a copy."""
        return False

    def is_partial(self) -> bool:
        """Whether the value is a sum (or other reduction) of what the devices hold."""
        return False

    def _key(self) -> tuple[str]:
        return (type(self).__name__,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Placement) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return ""

    def __str__(self) -> str:
        return repr(self)


class Shard(Placement):
    """The devices along a dimension of the mesh hold consecutive pieces of one axis of the Tensor.

    Where the length does not divide, the first pieces have ceil(length / devices) and the last
    ones less or none.

    Args:
        dim: int, the axis.
        split_factor: int, into how many interleaved parts the axis is cut first. Only 1 can be
            used with a Tensor.
    Raises:
        TypeError: `dim` is no int.
    Example:
        >>> paddle.distributed.Shard(0)
        Shard(dim=0)
    """

    def __init__(self, dim: int, *, split_factor: int = 1) -> None:
        if isinstance(dim, bool) or not isinstance(dim, int):
            raise TypeError(f"Shard: dim: got {dim!r}; it must be an int, the axis")
        self._dim = dim
        self._split_factor = split_factor
        self._order = None

    def get_dim(self) -> int:
        """The axis."""
        return self._dim

    def get_split_factor(self) -> int:
        """Into how many interleaved parts the axis is cut first."""
        return self._split_factor

    def set_split_factor(self, split_factor: Any) -> None:
        """Sets into how many interleaved parts the axis is cut first."""
        self._split_factor = split_factor

    def get_co_shard_order(self) -> int:
        """Which of the mesh dimensions that cut this axis this one is: 0 for the first."""
        return self._order or 0

    def is_shard(self, dim: Any = None) -> bool:
        """Whether the devices hold pieces (of the axis `dim`, if one is given)."""
        return dim is None or dim == self._dim

    def _key(self) -> tuple[str, int, int | Any]:
        # The order follows from the other placements of a layout, so it does not count.
        return "Shard", self._dim, self._split_factor

    def __repr__(self) -> str:
        if self._order is None:
            order = ""
        else:
            order = f", shard_order={self._order}"
        if self._split_factor == 1:
            factor = ""
        else:
            factor = f", split_factor={self._split_factor}"
        return f"Shard(dim={self._dim}{factor}{order})"


class Replicate(Placement):
    """Each device along a dimension of the mesh holds a copy.

    Example:
        >>> paddle.distributed.Replicate().is_replicated()
        True
    """

    def is_replicated(self) -> bool:
        """True."""
        return True

    def __repr__(self) -> str:
        return "Replicate()"


class Partial(Placement):
    """The value is a sum, or another reduction, of what the devices along a dimension of the mesh hold.

    Args:
        reduce_type: ReduceType. Default: the sum.
    Raises:
        TypeError: `reduce_type` is something else.
    Example:
        >>> paddle.distributed.Partial()
        Partial(reduce_type=SUM)
    """

    def __init__(self, reduce_type: Any = ReduceType.kRedSum) -> None:
        if not isinstance(reduce_type, ReduceType):
            raise TypeError(
                f"Partial: reduce_type: got {reduce_type!r}; it must be a ReduceType, e.g. ReduceType.kRedMax"
            )
        self._reduce_type = reduce_type

    def reduce_type(self) -> ReduceType:
        """How the parts make up the value, a ReduceType."""
        return self._reduce_type

    def is_partial(self) -> bool:
        """True."""
        return True

    def _key(self) -> tuple[str, ReduceType]:
        return "Partial", self._reduce_type

    def __repr__(self) -> str:
        # without the prefix `kRed`
        return f"Partial(reduce_type={self._reduce_type.name[4:].upper()})"


def ordered(placements: Any) -> list[Any]:
    """Placements in which each Shard knows the order of the mesh dimensions that cut its axis,
    where several do."""
    dims = [p.get_dim() for p in placements if p.is_shard()]
    made = []
    seen = {}
    for p in placements:
        if p.is_shard() and dims.count(p.get_dim()) > 1:
            # A copy, as the caller may use this Placement in other layouts.
            copy = Shard(p.get_dim(), split_factor=p.get_split_factor())
            copy._order = seen[p.get_dim()] = seen.get(p.get_dim(), -1) + 1
            made.append(copy)
        else:
            made.append(p)
    return made
