"""The Layer that `paddle.jit.load` gives, under the name it has in Paddle."""

from paddle_jax.jit.translated_layer import TranslatedLayer


class PirTranslatedLayer(TranslatedLayer):
    """A model from files of a PIR program, which all are that this version of Paddle saves. See
    TranslatedLayer."""
