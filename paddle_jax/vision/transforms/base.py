"""What transforms are made of."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.hidden_frames import format_error, is_active, is_internal
from paddle_jax.vision.transforms import functional as F

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_KEYS = ("image", "coords", "boxes", "mask")


def _get_image_size(img: Any) -> Any:
    """(width, height) of an image."""
    if F._is_pil_image(img):
        return img.size
    if F._is_numpy_image(img):
        return img.shape[1::-1]
    if F._is_tensor_image(img):
        return img.shape[-1], img.shape[-2]
    raise TypeError(
        f"transforms: img: got {type(img).__name__}; it must be an Image of pillow, a Tensor, "
        "or an array with 2 or 3 axes"
    )


class Compose:
    """Calls transforms one after the other.

    Args:
        transforms: list of callables.
    Example:
        >>> paddle.vision.transforms.Compose([abs, float])(-2)
        2.0
    """

    __class_getitem__: Any = classmethod(types.GenericAlias)

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        self.transforms = transforms

    def __call__(self, data: Any) -> Any:
        for transform in self.transforms:
            try:
                data = transform(data)
            except Exception as error:
                text = f"fail to perform transform [{transform}] with error: {error}"
                if is_active() and is_internal(error):  # the error itself has the user's frames
                    print(text)
                else:
                    print(f"{text} and stack:\n{format_error(error)}")
                raise
        return data

    def __repr__(self) -> str:
        return "\n    ".join([f"{type(self).__name__}(", *map(str, self.transforms)]) + "\n)"


class BaseTransform:
    """What every transform is: a subclass says in `_apply_image`, `_apply_boxes`, `_apply_coords` and
    `_apply_mask` what it does with each input.

    Args:
        keys: list of "image", "boxes", "coords", "mask": what the inputs of a call are. Inputs beyond these,
            and those that the subclass has no method for, stay as they are. Default: ("image",).
    Raises:
        ValueError: keys is not a list.
        NotImplementedError: an unknown key.
    Example:
        >>> class Twice(paddle.vision.transforms.BaseTransform):
        ...     def _apply_image(self, image):
        ...         return image * 2
        >>> Twice()((3, "label"))
        (6, 'label')
    """

    __class_getitem__: Any = classmethod(types.GenericAlias)

    def __init__(self, keys: Sequence[str] | None = None) -> None:
        if keys is None:
            keys = ("image",)
        elif not isinstance(keys, list | tuple):
            raise ValueError(f"transforms: keys: got {keys!r}; it must be a list")
        for key in keys:
            if self._get_apply(key) is None:
                raise NotImplementedError(
                    f"transforms: keys: got {key!r}; allowed are {', '.join(map(repr, _KEYS))}"
                )
        self.keys = keys
        self.params: Any = None  # what is drawn once for all inputs of a call

    def _get_params(self, inputs: Any) -> None:
        pass

    def __call__(self, inputs: Any) -> Any:
        """The transformed inputs: one result for one input, else a tuple."""
        if not isinstance(inputs, tuple):
            inputs = (inputs,)
        self.params = self._get_params(inputs)
        outputs = [self._get_apply(key)(given) for key, given in zip(self.keys, inputs, strict=False)]
        # Inputs without a key, such as labels, go through as they are.
        outputs += inputs[len(self.keys) :]
        if len(outputs) == 1:
            return outputs[0]
        return tuple(outputs)

    def _get_apply(self, key: str) -> Callable[..., Any] | None:
        return getattr(self, f"_apply_{key}", None)

    def _apply_image(self, image: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__}: it has no way to transform an image")

    def _apply_boxes(self, boxes: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__}: it has no way to transform boxes")

    def _apply_coords(self, coords: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__}: it has no way to transform coordinates")

    def _apply_mask(self, mask: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__}: it has no way to transform a mask")
