"""Transforms of samples."""


import types


class Compose:
    """Calls transforms one after the other.

    Args:
        transforms: list of callables.
    Example:
        >>> paddle.vision.transforms.Compose([abs, float])(-2)
        2.0
    """

    __class_getitem__ = classmethod(types.GenericAlias)

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, data):
        for transform in self.transforms:
            data = transform(data)
        return data

    def __repr__(self):
        return "\n    ".join([f"{type(self).__name__}(", *map(str, self.transforms)]) + "\n)"


__all__ = ["Compose"]
