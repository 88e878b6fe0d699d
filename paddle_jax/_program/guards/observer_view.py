"""The observer of a run as the code of one function calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import types

    from paddle_jax._program.guards.state_observer import StateObserver


class ObserverView:
    """The observer as the code of one function calls it.

    The code calls the methods of the observer under their own names, and those that need the scope of the
    function through methods of this class.

    Attributes:
        _observer: StateObserver.
        _scope: dict of the function's global variables.
        _cells: dict from names to the cells of enclosing functions.
        read_attribute, augmented_operand, call and the other slots: methods of the observer.
    """

    __slots__ = (
        "read_attribute",
        "augmented_operand",
        "call",
        "before_update_attribute",
        "before_update_item",
        "operator_result",
        "read_content",
        "read_item",
        "read_iterable",
        "mark_created",
        "read_operand",
        "read_pairs",
        "before_set_attribute",
        "before_set_item",
        "read_truth",
        "read_mapping",
        "_cells",
        "_observer",
        "_scope",
    )
    slice = slice

    def __init__(
        self, observer: StateObserver, function: types.FunctionType, cells: dict[str, types.CellType]
    ) -> None:
        self._observer = observer
        self._scope = function.__globals__
        self._cells = cells
        for name in ObserverView.__slots__[:-3]:
            setattr(self, name, getattr(observer, name))

    def read_global(self, name: str, value: Any) -> Any:
        """A global variable."""
        return self._observer.read_global(self._scope, name, value)

    def read_cell(self, name: str, value: Any) -> Any:
        """A variable of an enclosing function."""
        return self._observer.read_cell(self._cells[name], name, value)

    def read_import(self, names: list[tuple[str, str | None]], level: int) -> None:
        """Records the modules and names that an import has bound."""
        self._observer.read_import(self._scope, names, level)
