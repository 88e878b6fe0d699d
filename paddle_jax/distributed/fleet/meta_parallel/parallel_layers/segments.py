"""How a list of layers is cut into the parts of a pipeline."""

from __future__ import annotations

import re
from typing import Any

from paddle_jax._core.base.errors import CheckError
from paddle_jax.distributed.fleet.meta_parallel.parallel_layers.layer_desc import LayerDesc
from paddle_jax.nn import Layer

__all__ = []


class SegmentLayers:
    """Bounds of the parts of a list of layers.

    Args:
        layers_desc: list of Layers, functions and LayerDescs.
        num_parts: int, how many parts.
        method: "uniform" (the last parts have one layer more where it does not divide), "layer:Name" (each
            part has as many layers whose class name contains it, upper and lower case alike), or a list
            of bounds.
        num_virtual_pipeline_stage: int or None: with "layer:", num_parts stages have so many parts each.
    Attributes:
        _layers_desc, method, num_parts, num_virtual_pipeline_stage: as given.
        num_items: int, how many layers.
        total_parts: int, the parts of all stages; set where num_virtual_pipeline_stage is given.
    Raises:
        AssertionError: there are fewer layers than parts.
    Example:
        >>> from paddle_jax.distributed.fleet.meta_parallel.parallel_layers.pp_layers import SegmentLayers
        >>> SegmentLayers(list("abcde"), 2).do_segment()
        [0, 2, 5]
    """

    def __init__(
        self,
        layers_desc: list[Any],
        num_parts: int,
        method: str | list[int] = "uniform",
        num_virtual_pipeline_stage: int | None = None,
    ) -> None:
        self._layers_desc = layers_desc
        self.method = method
        self.num_parts = num_parts
        self.num_items: int = len(layers_desc)
        self.num_virtual_pipeline_stage = num_virtual_pipeline_stage
        if num_virtual_pipeline_stage is not None:
            self.total_parts: int = num_parts * num_virtual_pipeline_stage
        if self.num_items < num_parts:
            raise CheckError(
                f"SegmentLayers: got {self.num_items} layers for {num_parts} parts; "
                "each part must have one at least"
            )

    def do_segment(self) -> list[int]:
        """The bounds: part i has the layers from bound i up to bound i + 1.

        Raises:
            ValueError: there is no such method, or the list has another number of bounds.
            AssertionError: the layers that are counted do not divide into the parts.
        """
        if isinstance(self.method, list):
            return self._listed_bounds()
        if self.method == "uniform":
            return self.uniform(self.num_items, self.num_parts)
        if self.method.startswith("layer:"):
            return self._by_name(self.method.split(":")[1])
        raise ValueError(
            f"SegmentLayers: method: got {self.method!r}; allowed are 'uniform', 'layer:Name' and a list"
        )

    @staticmethod
    def uniform(num_items: int, num_parts: int) -> list[int]:
        """Bounds of parts of equal length; the last ones get one more where it does not divide."""
        size, rest = divmod(num_items, num_parts)
        bounds = [0]
        for part in range(num_parts):
            longer = part >= num_parts - rest
            bounds.append(bounds[-1] + size + longer)
        return bounds

    def _listed_bounds(self) -> list[Any]:
        bounds: list[Any] = list(self.method)
        if bounds[0] != 0 or not all(isinstance(b, int) and 0 <= b <= self.num_items for b in bounds):
            raise CheckError(
                f"SegmentLayers: method: got {bounds}; it must begin with 0, and no bound may be above "
                f"the {self.num_items} layers"
            )
        if len(bounds) == self.num_parts:
            bounds.append(self.num_items)
        if len(bounds) != self.num_parts + 1:
            raise ValueError(
                f"SegmentLayers: method: got {len(bounds)} bounds; {self.num_parts} parts have "
                f"{self.num_parts + 1}, of which the last one may be left out"
            )
        return bounds

    def _by_name(self, name: str) -> list[int]:
        if self.num_virtual_pipeline_stage is None:
            parts = self.num_parts
        else:
            parts = self.total_parts
        counted = self._gen_layer_weight(name)
        if len(counted) % parts:
            raise CheckError(
                f"SegmentLayers: method: {len(counted)} layers match {name!r}; "
                f"their number must be a multiple of the {parts} parts"
            )
        each = len(counted) // parts
        # A part ends behind its last counted layer. What comes before the first one goes with it.
        return [0, *(counted[i * each - 1] + 1 for i in range(1, parts)), self.num_items]

    def _gen_layer_weight(self, layername: str) -> list[int]:
        """The places of layers whose class name contains a regular expression.

        Raises:
            AssertionError: there are none.
        """
        pattern = re.compile(layername, re.IGNORECASE)
        found = [i for i, one in enumerate(self._layers_desc) if pattern.search(class_name(one))]
        if not found:
            names = sorted({class_name(one) for one in self._layers_desc} - {""})
            raise CheckError(
                f"PipelineLayer: seg_method: got 'layer:{layername}'; the list has no layer of that "
                f"class, but {names}"
            )
        return found


def class_name(one: Any) -> str:
    """The name by which "layer:Name" finds a layer; empty for what has none."""
    if isinstance(one, LayerDesc):
        described = one.layer_spec.layer if one.using_layer_spec else one.layer_func
        # Paddle does not count a layer that is named by its module.
        return "" if isinstance(described, tuple) else described.__name__
    if isinstance(one, Layer):
        return type(one).__name__
    return getattr(one, "__name__", "")
