"""Lookups of rows that parameter servers have; `distributed.ps` registers how they are recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar


class RemoteLookup:
    """The registered functions.

    Attributes:
        record: adds a lookup to the static program that is recorded, and gives its result; None where there
            are no servers.
        layer: makes what an eager `nn.Embedding(sparse=True)` looks its rows up with; None without servers.
    """

    record: ClassVar[Callable[..., Any] | None] = None
    layer: ClassVar[Callable[..., Any] | None] = None


__all__ = ["RemoteLookup"]
