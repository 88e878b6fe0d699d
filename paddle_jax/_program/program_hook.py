"""Programs that do more in a run than compute: rows on servers, gradients of several processes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from paddle_jax._core.lazy.symbol import Symbol
    from paddle_jax._program.program import Program


class FileInputs(NamedTuple):
    """Stand-ins for inputs of a program, in a file.

    Attributes:
        aliases: {Symbol of an input: Symbol of the value that takes its place}.
        tables: {Symbol of an input: (name, array)} of Parameters in their place.
    """

    aliases: dict[Symbol, Symbol]
    tables: dict[Symbol, tuple[str, np.ndarray]]


NO_INPUTS = FileInputs({}, {})


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

    def inputs_of_file(self, where: str, program: Program) -> FileInputs:
        """What a saved model has in the place of inputs that only this hook can feed.

        Args:
            where: the function that saves, for errors.
            program: the program of the hook.
        Raises:
            NotImplementedError: a file cannot have it.
        """
        return NO_INPUTS

    def training_inputs(self) -> list[Symbol]:
        """The inputs that only training feeds: a copy for tests has nothing that depends on them."""
        return []

    def leaves_out_batch(self) -> bool:
        """Whether the next batch of a data set is left out."""
        return False
