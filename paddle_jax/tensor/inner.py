"""What bodies of several op families share: names of inner ops, conversion between dtypes."""

import jax.numpy as jnp


def named(name):
    """Gives the inner op of a composite the name of the public function, which error messages and tape nodes then show."""

    def rename(fn):
        fn.__name__ = fn.__qualname__ = name
        return fn

    return rename


def converted(x, dtype):
    """An array in another dtype by Paddle's rules: complex loses its imaginary part, floats wrap in integers of less than 32 bits as in C, and
    stop at the largest number of 8 bits."""
    if x.dtype.kind == "c" and dtype.kind != "c" and dtype != jnp.bool_:
        x = x.real
    if dtype.itemsize < 4 and dtype.kind in "iu" and x.dtype.kind in "fV":
        x = x.astype(jnp.int32)
    if dtype.name.startswith("float8"):
        most = float(jnp.finfo(dtype).max)
        x = jnp.clip(x.astype(jnp.float32), -most, most)
    return x.astype(dtype)
