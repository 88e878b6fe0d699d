"""Operations as older programs call them: Tensors, then names and values of attributes in turn:
`_legacy_C_ops.softmax(x, "axis", -1)`."""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from paddle_jax.framework.model_files import legacy_calls  # lazy: import time

    return legacy_calls.find_legacy(name)
