"""The observer of a run as the code of one function calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import types

    from paddle_jax._program.guards.state_observer import Reads


class ObserverView:
    """The observer as the code of one function calls it.

    The code calls the methods of the observer under their own names, and those that need the scope of the
    function through methods of this class.
    """

    __slots__ = (
        "attribute",
        "augmented",
        "call",
        "change_attribute",
        "change_item",
        "computed",
        "content",
        "item",
        "iterate",
        "new",
        "operand",
        "pairs",
        "set_attribute",
        "set_item",
        "test",
        "unpacked",
        "_cells",
        "_observer",
        "_scope",
    )
    slice = slice

    def __init__(
        self, observer: Reads, function: types.FunctionType, cells: dict[str, types.CellType]
    ) -> None:
        self._observer = observer
        self._scope = function.__globals__
        self._cells = cells
        for name in ObserverView.__slots__[:-3]:
            setattr(self, name, getattr(observer, name))

    def name(self, name: str, value: Any) -> Any:
        """A global variable."""
        return self._observer.name(self._scope, name, value)

    def cell(self, name: str, value: Any) -> Any:
        """A variable of an enclosing function."""
        return self._observer.cell(self._cells[name], name, value)

    def imported(self, names: list[tuple[str, str | None]], level: int) -> None:
        """Records the modules and names that an import has bound."""
        self._observer.imported(self._scope, names, level)
