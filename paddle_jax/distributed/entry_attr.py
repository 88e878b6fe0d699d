"""Which ids a table of parameter servers takes in."""

from __future__ import annotations

from typing import Any

__all__ = ["CountFilterEntry", "ProbabilityEntry", "ShowClickEntry"]


class EntryAttr:
    """The base class of what says which ids a table takes in."""

    def _to_attr(self) -> Any:
        raise NotImplementedError("EntryAttr is base class")


class ProbabilityEntry(EntryAttr):
    """Takes in an id with a probability; the others have zeros and are not trained. The same ids are taken in
    by every worker and in every run.

    Args:
        probability: float between 0 and 1.
    Raises:
        ValueError: it is none.
    Example:
        >>> paddle.distributed.ProbabilityEntry(0.1)._to_attr()
        'probability_entry:0.1'
    """

    def __init__(self, probability: float) -> None:
        if not isinstance(probability, float) or not 0 < probability < 1:
            raise ValueError(f"probability must be a float in (0,1), but got {probability!r}")
        self._name = "probability_entry"
        self._probability = probability

    def _to_attr(self) -> str:
        return f"{self._name}:{self._probability}"


class CountFilterEntry(EntryAttr):
    """Takes in an id once it has occurred often enough in training; before it has zeros and is not trained.

    Args:
        count_filter: int, how often.
    Raises:
        ValueError: it is no int, or negative.
    Example:
        >>> paddle.distributed.CountFilterEntry(10)._to_attr()
        'count_filter_entry:10'
    """

    def __init__(self, count_filter: int) -> None:
        if not isinstance(count_filter, int) or count_filter < 0:
            raise ValueError(
                f"count_filter must be a valid integer greater or equal than 0, but got {count_filter!r}"
            )
        self._name = "count_filter_entry"
        self._count_filter = count_filter

    def _to_attr(self) -> str:
        return f"{self._name}:{self._count_filter}"


class ShowClickEntry(EntryAttr):
    """Takes in all ids, and counts how often each was shown and clicked; `fleet.shrink` and saving go by it.

    Args:
        show_name: str, name of the input with the shows of each example.
        click_name: str, name of the input with its clicks.
    Raises:
        ValueError: a name is no str.
    Example:
        >>> paddle.distributed.ShowClickEntry("show", "click")._to_attr()
        'show_click_entry:show:click'
    """

    def __init__(self, show_name: str, click_name: str) -> None:
        if not isinstance(show_name, str) or not isinstance(click_name, str):
            raise ValueError(f"show_name click_name must be a str, but got {show_name!r} and {click_name!r}")
        self._name = "show_click_entry"
        self._show_name = show_name
        self._click_name = click_name

    def _to_attr(self) -> str:
        return f"{self._name}:{self._show_name}:{self._click_name}"
