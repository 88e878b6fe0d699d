"""Programs that do more in a run than compute: rows on servers, gradients of several processes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paddle_jax._program.program import Program


class ProgramHook:
    """Runs a program in the place of the Executor.

    Attributes:
        purpose: what the program does, for messages.
        rows: {name of a table: name of the input with its rows}, for rows that are on servers.
    """

    purpose = ""
    rows: dict[str, str] = {}  # a subclass with rows has a dict of its own

    def copied(self, for_test: bool) -> ProgramHook | None:
        """The hook of a copy of the program; None where the copy needs none.

        Args:
            for_test: whether the copy is without training.
        """
        raise NotImplementedError

    def run(
        self,
        program: Program,
        values: dict[str, Any],
        feed: Mapping[str, Any],
        fetch_list: list[Any],
        use_prune: bool,
    ) -> list[Any]:
        """Runs the program; returns what is fetched. Arguments as `Executor.run`; values: of the Scope."""
        raise NotImplementedError

    def leaves_out_batch(self) -> bool:
        """Whether the next batch of a data set is left out."""
        return False
