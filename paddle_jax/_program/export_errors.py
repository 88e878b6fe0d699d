"""Refusals to write a function to a model file."""

from __future__ import annotations

GIVE_LENGTHS = "give these lengths as numbers in input_spec"


class NotWritable(Exception):
    """An operation or a function cannot be written to a model file.

    Attributes:
        location: str, `file:line` in the user's code; None where it is not known.
    """

    def __init__(self, text: str, location: str | None = None) -> None:
        super().__init__(text)
        self.location = location


class NeedsConversion(NotWritable):
    """A refusal that may disappear when the control flow of the function is converted."""


__all__ = ["GIVE_LENGTHS", "NeedsConversion", "NotWritable"]
