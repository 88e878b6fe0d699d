"""Replacements of random and mixed-precision functions while two engines are compared.

Paddle's CPU build has no mixed precision.
"""

from __future__ import annotations

from typing import Any

DROPOUTS = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
MADE_DETERMINISTIC = (*DROPOUTS, "rrelu", "gumbel_softmax")


def remove_randomness(paddle: Any, without: Any) -> None:
    """Puts functions without randomness, and without casts, into an engine. without: a set that gets the
    names of those a program uses."""
    functional = paddle.nn.functional
    for name in DROPOUTS:
        if hasattr(functional, name):
            setattr(functional, name, lambda x, *args, **kwargs: without.add("dropout") or x)
    rrelu = functional.rrelu
    softmax = functional.softmax

    def mean_rrelu(
        x: Any, lower: Any = 1.0 / 8.0, upper: Any = 1.0 / 3.0, training: bool = True, name: str | None = None
    ) -> Any:
        without.add("the random slopes of rrelu")
        return rrelu(x, lower, upper, False)

    def plain_gumbel_softmax(
        x: Any, temperature: Any = 1.0, hard: bool = False, axis: Any = -1, name: str | None = None
    ) -> Any:
        without.add("the noise of gumbel_softmax")
        out = softmax(x / temperature, axis)
        if hard:
            return (out == out.max(axis, keepdim=True)).astype(out.dtype) - out.detach() + out
        return out

    functional.rrelu = mean_rrelu
    functional.gumbel_softmax = plain_gumbel_softmax
    _without_casts(paddle, without)


def _without_casts(paddle: Any, without: Any) -> None:
    auto_cast = paddle.amp.auto_cast
    scaler = paddle.amp.GradScaler

    def plain_cast(enable: bool = True, *args: Any, **kwargs: Any) -> Any:
        if enable:
            without.add("mixed precision")
        return auto_cast(False)

    def plain_models(models: Any, optimizers: Any = None, *args: Any, **kwargs: Any) -> Any:
        without.add("mixed precision")
        if optimizers is None:
            return models
        return (models, optimizers)

    class PlainScaler(scaler):
        """A GradScaler that scales nothing."""

        def __init__(self, enable: Any = True, *args: Any, **kwargs: Any) -> None:
            super().__init__(False, *args, **kwargs)

    paddle.amp.auto_cast = paddle.amp.amp_guard = paddle.autocast = plain_cast
    paddle.amp.decorate = paddle.amp.amp_decorate = plain_models
    paddle.amp.GradScaler = paddle.amp.AmpScaler = PlainScaler


__all__ = ["MADE_DETERMINISTIC", "remove_randomness"]
