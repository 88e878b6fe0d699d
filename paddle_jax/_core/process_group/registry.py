"""The groups of processes of this program."""

from __future__ import annotations

from typing import Any


class Groups:
    """The groups that exist.

    Attributes:
        known: {number: Group}; number 0 is the group of all processes.
        next_number: int, the number of the next group; Paddle's own start at 10.
        channel: the Channel of this process, once groups exist.
        alone: the OneProcess of a process that drives several devices alone, else None.
    """

    known: dict[int, Any] = {}  # noqa: RUF012  one for the process
    next_number = 10
    channel: Any = None
    alone: Any = None

    @classmethod
    def take_number(cls) -> int:
        """The next number.

        All processes count alike, since all of them make all groups, in the same order.
        """
        number = cls.next_number
        cls.next_number += 1
        return number
