"""What notebooks show in place of `repr`: Tensors, Layers, optimizers, compiled functions and reports.

`import paddle_jax` in a notebook or in IPython installs the views; so does `%load_ext paddle_jax`.
Programs that run elsewhere do not import this package. `repr` stays Paddle's.
"""

from paddle_jax.views.registry import errors, html, install, remove

__all__ = ["errors", "html", "install", "remove"]
