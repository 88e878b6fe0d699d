"""Parameter groups of an optimizer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.interrupt_safe import set_all
from paddle_jax._core.base.state import local

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.optimizer.stack import Call, Stack


class _Group:
    """One parameter group, and the stacks of those of its parameters that have had a gradient.

    Attributes:
        settings: dict of the group, as the user gave it.
        params: list of Parameters.
        ids: ids of the parameters of the last step in which all of the stacks took part.
        places: {id of a parameter: (Stack, row)}.
        stacks: list of Stacks.
        calls: list of Calls, which update the stacks.
        chosen: the settings of parameters and optimizer that the stacks were made for.
        zeros: {(shape, dtype): array} of gradients that are zero.
        tables: {id: Parameter} of those whose gradient was one of some rows, see sparse_rows.py.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.params = settings["params"]
        self.ids = []
        self.places = {}
        self.stacks = []
        self.calls = []
        self.chosen = None
        self.zeros = {}
        self.tables = {}

    def take(self, stacks: list[Stack], places: Any, calls: list[Call], chosen: Any) -> None:
        """Takes over new stacks, with all that depends on them."""
        names = ("stacks", "places", "calls", "chosen", "ids")
        # All at once, so that the group is consistent at any time.
        assign = partial(set_all, partial(setattr, self), names)
        stand_ins = local.ctx.frame.stand_ins
        if stand_ins is not None:  # states without values, for a program that never runs
            stand_ins.undo.append(partial(assign, [getattr(self, name) for name in names]))
        assign((stacks, places, calls, chosen, []))

    def placed(self) -> list[Tensor]:
        """The parameters that are in stacks."""
        return [param for stack in self.stacks for param in stack.params]

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles: the places by parameter, since ids mean nothing there."""
        places = [(param, *self.places[id(param)]) for param in self.params if id(param) in self.places]
        return {
            "settings": self.settings,
            "params": self.params,
            "places": places,
            "stacks": self.stacks,
            "calls": self.calls,
            "chosen": self.chosen,
            "tables": list(self.tables.values()),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(
            state,
            # Empty: they are filled at the next step.
            ids=[],
            zeros={},
            tables={id(p): p for p in state.get("tables", ())},
            places={id(param): (stack, row) for param, stack, row in state["places"]},
        )
