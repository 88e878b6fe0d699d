"""Devices as PyTorch writes them: `Device("cuda", 1)` is the text "cuda:1" with a type and an index."""

from __future__ import annotations

from typing import Any

from paddle_jax._core.tensors.place import Place, get_device, jax_device, local_kinds, parse, set_device

_ALLOWED = ("cpu", "gpu", "cuda", "xpu", "tpu")


class Device(str):
    """A device as text, such as "cpu" or "gpu:1", with its `type` and `index`; also a context in which new
    Tensors are put there.

    Args:
        type: "cpu", "gpu", "cuda:1", "xpu", "tpu", another kind that JAX finds, a Place, or the number of
            a GPU.
        index: the number, if it does not stand in `type`. The CPU has none.
    Raises:
        TypeError: type is nothing of this.
        ValueError: there is no such kind; or it has two numbers, or one that is none.
    Example:
        >>> device = paddle.device.Device("cuda", 1)
        >>> device, device.type, device.index
        ('cuda:1', 'cuda', 1)
        >>> with paddle.device.Device("cpu"):
        ...     paddle.ones([1]).place
        Place(cpu)
    """

    __slots__ = ("_before", "index", "type")  # pyright: ignore[reportIncompatibleMethodOverride]

    _before: list[str]
    index: int | None
    type: str

    def __new__(cls, type: Any = None, index: int | None = None) -> Device:
        if isinstance(type, Place):
            type = _text_of_place(type)
        if isinstance(type, int) and not isinstance(type, bool):
            # A number alone names an accelerator, as in torch.
            if index is None:
                index = type
            type = "cuda"
        if not isinstance(type, str):
            raise TypeError(
                f"Device: type: got {type!r}; allowed are a text such as 'cpu' or 'gpu:0', "
                "a Place, or the number of a GPU"
            )
        kind, _, number = type.lower().partition(":")
        if kind not in _ALLOWED and kind not in local_kinds():
            raise ValueError(
                f"Device: type: got {type!r}; allowed are {', '.join(_ALLOWED)}, with a number behind a colon"
            )
        if number and index is not None:
            raise ValueError(
                f"Device: got the number {number} in {type!r} and the index {index}; give one of them"
            )
        number = None if kind == "cpu" else int(number or index or 0)
        device = str.__new__(cls, kind if number is None else f"{kind}:{number}")
        device.type = kind
        device.index = number
        return device

    def __dlpack_device__(self) -> tuple[int, int]:
        """The pair of numbers that DLPack has for the device."""
        jax_device(parse(self))
        return {"cpu": 1, "gpu": 2, "cuda": 2}.get(self.type, 12), self.index or 0

    def __enter__(self) -> Device:
        before = get_device()
        set_device(self)
        self._before = [*getattr(self, "_before", []), before]  # pyright: ignore[reportAttributeAccessIssue]
        return self

    def __exit__(self, *args: Any) -> None:
        set_device(self._before.pop())


def _text_of_place(place: Place) -> str:
    # Pinned memory is memory of the host.
    if place.is_cpu_place() or place.is_cuda_pinned_place():
        return "cpu"
    return f"{place.get_device_type()}:{place.get_device_id()}"


__all__ = ["Device"]
