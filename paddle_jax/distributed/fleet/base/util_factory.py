"""Small exchanges between all processes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle_jax._core.base import launch_variables
from paddle_jax._core.base.errors import CheckError
from paddle_jax.distributed.communication.group import barrier, is_initialized
from paddle_jax.distributed.communication.objects import all_gather_object
from paddle_jax.distributed.fleet.base.registry import Current

__all__ = ["UtilBase"]

_WAYS = {"sum": np.sum, "max": np.max, "min": np.min}


class UtilBase:
    """`fleet.util`: numbers of all processes brought together, and files divided among them.

    Raises:
        AssertionError: the processes or an argument of a reduction do not fit. TypeError: files are no list.
    Example:
        >>> from paddle_jax.distributed import fleet
        >>> fleet.util.get_file_shard(["a", "b", "c"])
        ['a', 'b', 'c']
    """

    def all_reduce(self, input: Any, mode: str = "sum", comm_world: str = "worker") -> int | np.ndarray:
        """The numbers of all processes brought together.

        Args:
            input: number, list or NumPy array, of one shape on all processes.
            mode: "sum", "max" or "min".
            comm_world: "worker" or "all".
        Returns:
            NumPy array, or a number for a number.
        Raises:
            AssertionError: mode or comm_world is another one.
        """
        if mode not in _WAYS:
            raise CheckError(
                f"fleet.util.all_reduce: mode: got {mode!r}; it must be one of {', '.join(_WAYS)}"
            )
        found = _WAYS[mode](
            np.stack([np.asarray(each) for each in self.all_gather(input, comm_world)]), axis=0
        )
        # A number gives a number, an array an array.
        if np.ndim(input):
            return found
        return found.item()

    def all_gather(self, input: Any, comm_world: str = "worker") -> list[Any]:
        """A list of what each process has given."""
        if comm_world not in ("worker", "all"):
            raise CheckError(
                f"fleet.util: comm_world: got {comm_world!r}; it must be worker or all (the workers, too)"
            )
        if Current.servers is not None:
            return [_loaded(text) for text in Current.servers.gather(_dumped(input))]
        found = []
        if is_initialized():
            all_gather_object(found, input)
        # A process alone has only its own.
        return found or [input]

    def barrier(self, comm_world: str = "worker") -> None:
        """Waits until all processes have come here."""
        if Current.servers is not None:
            Current.servers.gather("")
        elif is_initialized():
            barrier()

    def get_file_shard(self, files: Sequence[str]) -> list[Any]:
        """The part of a list of files that this process should read: pieces of one length, but for the first
        processes, which get one file more.

        Raises:
            TypeError: files is no list.
        """
        if not isinstance(files, list):
            raise TypeError("files should be a list of file need to be read.")
        count = launch_variables.size()
        place = launch_variables.rank()
        if Current.servers is not None:
            # Servers read no files: only workers count.
            count = Current.servers.workers
            place = Current.servers.index
        least, more = divmod(len(files), count)
        # The first `more` processes get one file more.
        begin = place * least + min(place, more)
        return files[begin : begin + least + (place < more)]

    def print_on_rank(self, message: Any, rank_id: Any) -> None:
        """Prints on one process."""
        if launch_variables.rank() == rank_id:
            print(message)


def _dumped(value: Any) -> str:
    """A number, list, dict or NumPy array as text.

    Raises:
        TypeError: it is something else.
    """
    if isinstance(value, np.ndarray | np.generic):
        # With the dtype, which JSON does not keep.
        return json.dumps({"array": value.tolist(), "dtype": str(value.dtype)})
    return json.dumps(value)


def _loaded(text: Any) -> Any:
    """The value of a text that `_dumped` gave."""
    value = json.loads(text)
    if isinstance(value, dict) and value.keys() == {"array", "dtype"}:
        return np.array(value["array"], value["dtype"])
    return value
