"""Replacements of random and mixed-precision functions while two engines are compared.

Paddle's CPU build has no mixed precision.
"""

DROPOUTS = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
MADE_DETERMINISTIC = (*DROPOUTS, "rrelu", "gumbel_softmax")


def remove_randomness(paddle, without):
    """Puts functions without randomness, and without casts, into an engine. without: a set that gets the
    names of those a program uses."""
    functional = paddle.nn.functional
    for name in DROPOUTS:
        if hasattr(functional, name):
            setattr(functional, name, lambda x, *args, **kwargs: without.add("dropout") or x)
    rrelu = functional.rrelu
    softmax = functional.softmax

    def mean_rrelu(x, lower=1.0 / 8.0, upper=1.0 / 3.0, training=True, name=None):
        without.add("the random slopes of rrelu")
        return rrelu(x, lower, upper, False)

    def plain_gumbel_softmax(x, temperature=1.0, hard=False, axis=-1, name=None):
        without.add("the noise of gumbel_softmax")
        out = softmax(x / temperature, axis)
        if hard:
            return (out == out.max(axis, keepdim=True)).astype(out.dtype) - out.detach() + out
        return out

    functional.rrelu = mean_rrelu
    functional.gumbel_softmax = plain_gumbel_softmax
    _without_casts(paddle, without)


def _without_casts(paddle, without):
    auto_cast = paddle.amp.auto_cast
    scaler = paddle.amp.GradScaler

    def plain_cast(enable=True, *args, **kwargs):
        if enable:
            without.add("mixed precision")
        return auto_cast(False)

    def plain_models(models, optimizers=None, *args, **kwargs):
        without.add("mixed precision")
        if optimizers is None:
            return models
        return (models, optimizers)

    class PlainScaler(scaler):
        """A GradScaler that scales nothing."""

        def __init__(self, enable=True, *args, **kwargs):
            super().__init__(False, *args, **kwargs)

    paddle.amp.auto_cast = paddle.amp.amp_guard = paddle.autocast = plain_cast
    paddle.amp.decorate = paddle.amp.amp_decorate = plain_models
    paddle.amp.GradScaler = paddle.amp.AmpScaler = PlainScaler


__all__ = ["MADE_DETERMINISTIC", "remove_randomness"]
