"""What users write for a target: a chip, and how many of them."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from paddle_jax.aot.chips import CHIPS, Chip

_EXAMPLES = 'write a chip, or a chip and its number or topology, such as "v5e", "v5e:2x4", "h100:8"'
_HOST_BOUNDS = (2, 2, 1)  # how the TPUs of one host are arranged, in a topology of several


@dataclasses.dataclass(frozen=True)
class Target:
    """What a program is compiled for.

    Attributes:
        text: str, as the user wrote it.
        chip: Chip.
        devices: int, how many there are.
        topology: dict, what JAX wants to know to make stand-ins for the devices.
    """

    text: str
    chip: Chip
    devices: int
    topology: dict[str, Any]

    @property
    def platform(self) -> str:
        """JAX's name of the platform."""
        return self.chip.platform


def parse(text: str) -> Target:
    """The target that a text names.

    Raises:
        ValueError: there is no such chip, or its devices are not arranged like that.
    """
    if not isinstance(text, str):
        raise TypeError(f"compile: target: got {type(text).__name__}; it must be a str; {_EXAMPLES}")
    name, _, arrangement = text.lower().partition(":")
    chip = CHIPS.get(name)
    if chip is None:
        raise ValueError(f"compile: target: got {text!r}; chips are {', '.join(CHIPS)}; {_EXAMPLES}")
    try:
        lengths = [int(length) for length in arrangement.split("x")] if arrangement else [1]
    except ValueError:
        # It is no number; the next check says so.
        lengths = [0]
    if min(lengths) < 1:
        raise ValueError(f"compile: target: got {text!r}; after the colon comes a number; {_EXAMPLES}")
    if chip.platform == "tpu":
        return Target(text, chip, math.prod(lengths), _tpu_topology(text, chip, lengths))
    if len(lengths) > 1:
        raise ValueError(f"compile: target: got {text!r}; only TPUs have a topology; {_EXAMPLES}")
    if chip.platform == "cpu":
        return Target(text, chip, lengths[0], {})
    topology = {"topology_name": "", "topology": f"1x1x{lengths[0]}", "target_config": chip.description}
    return Target(text, chip, lengths[0], topology)


def _tpu_topology(text: str, chip: Chip, lengths: list[int]) -> dict[str, Any]:
    """What JAX wants to know of TPUs."""
    # v5p has links in three directions, the others in two.
    dimensions = 3 if chip.name == "v5p" else 2
    if len(lengths) == 1 and lengths[0] > 1:
        lengths = _near_square(lengths[0], dimensions)
    lengths = lengths + [1] * (dimensions - len(lengths))
    several = math.prod(lengths) > 1
    fits = all(n % bound == 0 for n, bound in zip(lengths, _HOST_BOUNDS, strict=False))
    if len(lengths) > dimensions or (several and not fits):
        raise ValueError(
            f"compile: target: got {text!r}; several {chip.title} are arranged in {dimensions} dimensions, "
            f"the first two even, such as {chip.name}:{'2x4' if dimensions == 2 else '2x2x2'}"
        )
    topology = {"topology_name": f"{chip.name}:{'x'.join(map(str, lengths))}"}
    if not several:
        # One chip alone is less than a whole host.
        topology["chips_per_host_bounds"] = [1, 1, 1]
    return topology


def _near_square(count: int, dimensions: int) -> list[int]:
    """Lengths whose product is `count`, close to each other."""
    lengths = []
    for left in range(dimensions, 1, -1):
        root = round(count ** (1 / left))
        # The largest divisor not above the root; the other lengths share what is left.
        length = max(n for n in range(1, root + 1) if count % n == 0)
        lengths.append(length)
        count //= length
    return sorted([*lengths, count])
