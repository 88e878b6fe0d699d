"""Lines of text in, lines of slots out: each slot as the number of its values and the values."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

__all__ = ["DataGenerator", "MultiSlotDataGenerator", "MultiSlotStringDataGenerator"]


class DataGenerator:
    """Reads lines, makes samples of them, groups these into batches and prints them. Subclasses say how a
    sample is made (`generate_sample`) and, if they want to, how a batch is (`generate_batch`);
    `MultiSlotDataGenerator` and `MultiSlotStringDataGenerator` say how one is written.

    Example:
        >>> class Numbers(paddle.distributed.fleet.MultiSlotDataGenerator):
        ...     def generate_sample(self, line):
        ...         def samples():
        ...             yield [("number", [int(line)])]
        ...         return samples
        >>> Numbers()._gen_str([("number", [7])])
        '1 7\\n'
    """

    def __init__(self) -> None:
        self._proto_info = None
        self.batch_size_: int = 32

    def set_batch(self, batch_size: int) -> None:
        """Sets how many samples `generate_batch` gets at a time.

        Args:
            batch_size: int. Default: 32.
        """
        self.batch_size_ = batch_size

    def run_from_memory(self) -> None:
        """Prints what `generate_sample(None)` gives.

        Raises:
            NotImplementedError: `generate_sample` is not overridden.
        """
        self._print_batches(self._samples([None]))

    def run_from_stdin(self) -> None:
        """Prints what `generate_sample` gives for each line of the standard input.

        Raises:
            NotImplementedError: `generate_sample` is not overridden.
        """
        self._print_batches(self._samples(sys.stdin))

    def generate_sample(self, line: str | None) -> Any:
        """To be overridden: the samples of a line.

        Args:
            line: str, or None where there is no input.
        Returns:
            A function without arguments that gives an iterable of samples, `[(name, [value, ...]), ...]`;
            None among them is left out.
        """
        raise NotImplementedError(
            f"{type(self).__name__}.generate_sample: it is not overridden; define it "
            "to return a function that gives samples [(name, [value, ...]), ...]"
        )

    def generate_batch(self, samples: Any) -> Any:
        """May be overridden: what becomes of the samples of a batch.

        Args:
            samples: list.
        Returns:
            A function without arguments that gives an iterable of samples. Default: they as they are.
        """
        return lambda: iter(samples)

    def _gen_str(self, line: Sequence[Any]) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__}: it does not say how samples are written; "
            "derive from MultiSlotDataGenerator or MultiSlotStringDataGenerator"
        )

    def _samples(self, lines: Any) -> Iterator[Any]:
        for line in lines:
            # None stands for a line without a sample.
            yield from (sample for sample in self.generate_sample(line)() if sample is not None)

    def _print_batches(self, samples: Iterator[Any]) -> None:
        size = max(1, int(self.batch_size_))
        # Batch by batch, as a pipe may have no end.
        while batch := list(islice(samples, size)):
            for sample in self.generate_batch(batch)():
                sys.stdout.write(self._gen_str(sample))


def _checked(generator: Any, line: Sequence[Any] | str) -> list[Any] | tuple[Any, ...]:
    """The slots of a sample."""
    if not isinstance(line, (list, tuple)):
        raise ValueError(
            f"{type(generator).__name__}: sample: got {type(line).__name__}; "
            "it must be a list or tuple of (name, [value, ...])"
        )
    return line


class MultiSlotDataGenerator(DataGenerator):
    """Writes samples of numbers.

    All samples have the slots of the first one, in its order; a slot has at least one value.

    Raises:
        ValueError: a sample is no list or tuple, a name no str, the values no list, or none, or no numbers;
            or the slots differ from before.
    Example:
        >>> from paddle_jax.distributed.fleet import MultiSlotDataGenerator
        >>> class Words(MultiSlotDataGenerator):
        ...     def generate_sample(self, line):
        ...         return lambda: [[("words", [1926, 8, 17]), ("label", [1])]]
        >>> Words().run_from_memory()
        3 1926 8 17 1 1
    """

    def _gen_str(self, line: Sequence[Any] | str) -> str:
        slots = _checked(self, line)
        known = self._proto_info
        if known is not None and len(slots) != len(known):
            raise ValueError(
                f"MultiSlotDataGenerator: sample: got {len(slots)} slots; the first sample has {len(known)}"
            )
        for place, (name, values) in enumerate(slots):
            self._check_slot(name, values)
            if known is not None and known[place][0] != name:
                raise ValueError(
                    f"MultiSlotDataGenerator: sample: got the slot {name!r} at place {place}; "
                    f"in the first sample it is {known[place][0]!r}"
                )
        if known is None:
            # Whole numbers until a sample has a float in the slot.
            known = self._proto_info = [(name, "uint64") for name, _ in slots]
        floats = [any(isinstance(value, float) for value in values) for _, values in slots]
        self._proto_info = [
            (name, "float" if real else kind) for (name, kind), real in zip(known, floats, strict=True)
        ]
        return " ".join(f"{len(values)} {' '.join(map(str, values))}" for _, values in slots) + "\n"

    @staticmethod
    def _check_slot(name: int | str, values: Sequence[float | str]) -> None:
        if not isinstance(name, str):
            raise ValueError(f"MultiSlotDataGenerator: name: got {type(name).__name__}; it must be a str")
        if not isinstance(values, list):
            raise ValueError(
                f"MultiSlotDataGenerator: {name}: got {type(values).__name__}; the values must be a list"
            )
        if not values:
            raise ValueError(f"MultiSlotDataGenerator: {name}: got no values; pad the slot with a number")
        wrong = [value for value in values if not isinstance(value, (int, float))]
        if wrong:
            raise ValueError(f"MultiSlotDataGenerator: {name}: got {wrong[0]!r}; values must be int or float")


class MultiSlotStringDataGenerator(DataGenerator):
    """Writes samples of texts without looking into them, which is faster.

    Raises:
        ValueError: a sample is no list or tuple. TypeError: a value is no str.
    Example:
        >>> from paddle_jax.distributed.fleet import MultiSlotStringDataGenerator
        >>> class Words(MultiSlotStringDataGenerator):
        ...     def generate_sample(self, line):
        ...         return lambda: [[("words", ["1926", "08", "17"]), ("label", ["1"])]]
        >>> Words().run_from_memory()
        3 1926 08 17 1 1
    """

    def _gen_str(self, line: Sequence[Any] | str) -> str:
        return " ".join(" ".join([str(len(values)), *values]) for _, values in _checked(self, line)) + "\n"
