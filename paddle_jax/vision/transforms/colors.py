"""Random changes of colours."""

from __future__ import annotations

import numbers
import random
from typing import TYPE_CHECKING, Any

from paddle_jax.vision.transforms import functional as F
from paddle_jax.vision.transforms.base import BaseTransform, Compose

if TYPE_CHECKING:
    from collections.abc import Sequence


def _check_input(
    value: Any,
    name: str | None,
    center: float = 1,
    bound: tuple[float, float] = (0, float("inf")),
    clip_first_on_zero: bool = True,
) -> Any:
    """[low, high] of a number (its distance to `center`) or a pair; None where nothing changes."""
    if isinstance(value, numbers.Number):
        if value < 0:
            raise ValueError(f"{name}: got {value}; a single number must not be negative")
        low = center - value
        # A factor below 0 would invert the picture; a shift of the hue may be negative.
        value = [max(low, 0) if clip_first_on_zero else low, center + value]
    elif not (isinstance(value, list | tuple) and len(value) == 2):
        raise TypeError(f"{name}: got {value!r}; it must be a number or a pair of numbers")
    elif not bound[0] <= value[0] <= value[1] <= bound[1]:
        raise ValueError(f"{name}: got {value}; it must rise and lie between {bound[0]} and {bound[1]}")
    # A factor that is always the centre changes nothing.
    if value[0] == value[1] == center:
        return None
    return value


class _Adjust(BaseTransform):
    """Changes images by a random factor."""

    _center = 1
    _bound = (0, float("inf"))
    _clip = True

    def __init__(self, value: Any, keys: Sequence[str] | None = None) -> None:
        super().__init__(keys)
        self.value: Any = _check_input(value, self._name, self._center, self._bound, self._clip)

    def _apply_image(self, img: Any) -> Any:
        if self.value is None:
            return img
        return self._adjust(img, random.uniform(*self.value))


class BrightnessTransform(_Adjust):
    """Makes images randomly brighter or darker.

    Args:
        value: float; the factor lies between max(0, 1 - value) and 1 + value; or (least, most) factor.
        keys: see BaseTransform.
    Raises:
        ValueError: value is negative.
    Example:
        >>> paddle.vision.transforms.BrightnessTransform(0.4)(paddle.ones([3, 2, 2]) * 0.5).shape
        paddle.Size([3, 2, 2])
    """

    _name = "brightness"
    _adjust = staticmethod(F.adjust_brightness)


class ContrastTransform(_Adjust):
    """Gives images randomly more or less contrast. Arguments as for `BrightnessTransform`.

    Args:
        value: number >= 0; the factor is drawn from [max(0, 1 - value), 1 + value].
        keys: as for `BaseTransform`.
    Example:
        >>> from PIL import Image
        >>> paddle.vision.transforms.ContrastTransform(0.4)(Image.new("RGB", (3, 2))).size
        (3, 2)
    """

    _name = "contrast"
    _adjust = staticmethod(F.adjust_contrast)


class SaturationTransform(_Adjust):
    """Makes colours randomly stronger or weaker. Arguments as for `BrightnessTransform`.

    Args:
        value: number >= 0; the factor is drawn from [max(0, 1 - value), 1 + value].
        keys: as for `BaseTransform`.
    Example:
        >>> from PIL import Image
        >>> paddle.vision.transforms.SaturationTransform(0.4)(Image.new("RGB", (3, 2))).size
        (3, 2)
    """

    _name = "saturation"
    _adjust = staticmethod(F.adjust_saturation)


class HueTransform(_Adjust):
    """Moves colours randomly round the colour circle.

    Args:
        value: float from 0 to 0.5 (a draw above that is refused by `adjust_hue`); the move lies between
            -value and value; or (least, most) move.
        keys: see BaseTransform.
    Raises:
        ValueError: value is out of range.
    Example:
        >>> paddle.vision.transforms.HueTransform(0.4)(paddle.ones([3, 2, 2]) * 0.5).shape
        paddle.Size([3, 2, 2])
    """

    _name = "hue"
    _adjust = staticmethod(F.adjust_hue)
    _center = 0
    _bound = (-0.5, 0.5)
    _clip = False


class ColorJitter(BaseTransform):
    """Changes brightness, contrast, saturation and hue randomly, in random order.

    Args:
        brightness, contrast, saturation, hue: see the four transforms. Default 0: no change.
        keys: see BaseTransform.
    Example:
        >>> paddle.vision.transforms.ColorJitter(0.4, 0.4, 0.4, 0.4)(paddle.rand([3, 2, 2])).shape
        paddle.Size([3, 2, 2])
    """

    def __init__(
        self,
        brightness: Any = 0,
        contrast: Any = 0,
        saturation: Any = 0,
        hue: Any = 0,
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(keys)
        self.brightness = brightness
        self.contrast = contrast
        self.saturation = saturation
        self.hue = hue

    def _get_param(self, brightness: Any, contrast: Any, saturation: Any, hue: Any) -> Compose:
        steps = []
        for kind, value in (
            (BrightnessTransform, brightness),
            (ContrastTransform, contrast),
            (SaturationTransform, saturation),
            (HueTransform, hue),
        ):
            if value is not None:
                steps.append(kind(value, self.keys))
        # Paddle applies them in a random order.
        random.shuffle(steps)
        return Compose(steps)

    def _apply_image(self, img: Any) -> Any:
        return self._get_param(self.brightness, self.contrast, self.saturation, self.hue)(img)
