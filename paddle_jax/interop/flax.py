"""flax.nnx modules as layers, and layers as flax.nnx modules."""

from __future__ import annotations

import functools as ft
from typing import Any

import jax
import jax.numpy as jnp

from paddle_jax._core.execution.dispatch import run
from paddle_jax._core.execution.trace import is_tensor
from paddle_jax._core.kernels.kernel import Kernel
from paddle_jax._core.tensors.held_values import assign_from
from paddle_jax._core.tensors.tensor import Parameter, Tensor, wrap
from paddle_jax.func.modules import functional_call
from paddle_jax.nn.layer.layers import Layer


class FlaxLayer(Layer):
    """A flax.nnx module as a layer.

    Its `nnx.Param` variables become Parameters and all others (running statistics, the state of random
    streams) buffers, under their paths in the module joined by underscores. A call is one
    operation on the tape.

    Args:
        module: flax.nnx.Module. Its values are copied; the module itself stays as it is.
    Raises:
        TypeError: module is not an nnx.Module.
    Example:
        >>> from flax import nnx
        >>> layer = paddle.interop.FlaxLayer(nnx.Linear(2, 3, rngs=nnx.Rngs(0)))
        >>> [name for name, _ in layer.named_parameters()], layer(paddle.ones([4, 2])).shape
        (['bias', 'kernel'], paddle.Size([4, 3]))
    """

    def __init__(self, module: Any) -> None:
        super().__init__()
        from flax import nnx

        if not isinstance(module, nnx.Module):
            raise TypeError(f"FlaxLayer: module: got {type(module).__name__}; it must be a flax.nnx.Module")
        self._modes = {}
        self._kernels = {}
        for training in (True, False):
            if training:
                module.train()
            else:
                module.eval()
            # Dropout and normalisation have their mode in the graph, so there is one for each.
            self._modes[training] = nnx.split(module, nnx.Param, ...)
        _, params, rest = self._modes[True]
        self._names = []
        for state, is_param in ((params, True), (rest, False)):
            # The entry `value` is in each path of nnx.
            for path, value in jax.tree_util.tree_leaves_with_path(state):
                name = "_".join(
                    str(getattr(p, "key", getattr(p, "name", p)))
                    for p in path
                    if getattr(p, "name", None) != "value"
                )
                self._names.append(name)
                if _is_key(value):
                    # Tensors hold numbers, not keys.
                    raw = jax.random.key_data(value)
                else:
                    raw = jnp.asarray(value)
                if is_param:
                    self.add_parameter(name, Parameter(raw))
                else:
                    self.register_buffer(name, wrap(raw))
        self._is_key = [_is_key(v) for v in jax.tree.leaves((params, rest))]

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Calls the module. Tensors and arrays among the arguments are operands, everything else is fixed in
        the compiled function."""
        leaves, tree = jax.tree.flatten((inputs, kwargs), is_leaf=is_tensor)
        at = tuple(i for i, x in enumerate(leaves) if isinstance(x, Tensor | jax.Array))
        fixed = tuple(None if i in at else x for i, x in enumerate(leaves))
        key = (self.training, tree, at, fixed)
        entry = self._kernels.get(key)
        if entry is None:
            entry = self._kernels[key] = self._new_kernel(self.training, tree, at, fixed)
        kernel, made = entry
        own = [getattr(self, name) for name in self._names]
        operands = [x if isinstance(x, Tensor) else wrap(x) for x in (leaves[i] for i in at)]
        out = list(run(kernel, [*own, *operands]))
        # What is no parameter may have changed: statistics, counters, keys.
        changed = len(out) - made["results"]
        buffers = own[len(own) - changed :]
        for tensor, new in zip(buffers, out[made["results"] :], strict=True):
            assign_from(tensor, new)
        return jax.tree.unflatten(made["tree"], out[: made["results"]])

    def _new_kernel(self, training: Any, tree: Any, at: Any, fixed: Any) -> tuple[Kernel, dict[Any, Any]]:
        from flax import nnx

        graph, params, rest = self._modes[training]
        shapes = jax.tree.structure((params, rest))
        n, n_params, made = len(self._names), len(jax.tree.leaves(params)), {}

        def call(*flat: Any) -> Any:
            values = [
                jax.random.wrap_key_data(v) if key else v
                for v, key in zip(flat[:n], self._is_key, strict=True)
            ]
            module = nnx.merge(graph, *jax.tree.unflatten(shapes, values))
            leaves = list(fixed)
            # Operands go back to their places among the fixed arguments.
            for i, value in zip(at, flat[n:], strict=True):
                leaves[i] = value
            args, kwargs = jax.tree.unflatten(tree, leaves)
            # Known only when the module has been called; the kernel gives a flat tuple.
            results, made["tree"] = jax.tree.flatten(module(*args, **kwargs))
            made["results"] = len(results)
            after = jax.tree.leaves(nnx.split(module, nnx.Param, ...)[2])
            after = [jax.random.key_data(v) if _is_key(v) else v for v in after]
            return *results, *after[: n - n_params]

        return Kernel(type(self).__name__, call), made


def _is_key(value: Any) -> bool:
    return isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key)


def to_nnx(layer: Layer) -> Any:
    """A layer as a flax.nnx module.

    Args:
        layer: Layer. Its values are copied.
    Returns:
        An nnx.Module. What is trained are `nnx.Param` variables in its `params`, all else (running
        statistics) `nnx.BatchStat` variables in its `stats`, both dicts by the names of `named_parameters`
        and `named_buffers`. A call takes and gives jax arrays, and keeps new values of buffers. `train()` and
        `eval()` set the layer's mode.
    Raises:
        TypeError: layer is not a Layer.
    Example:
        >>> import jax
        >>> from flax import nnx
        >>> module = paddle.interop.to_nnx(paddle.nn.Linear(2, 3))
        >>> grads = nnx.grad(lambda m: m(jax.numpy.ones((4, 2), "float32")).sum())(module)
        >>> grads["params"]["bias"][...].tolist()
        [4.0, 4.0, 4.0]
    """
    if not isinstance(layer, Layer):
        raise TypeError(f"to_nnx: layer: got {type(layer).__name__}; it must be a Layer")
    return _module_class()(layer)


class _Held:
    """A layer as something that JAX does not look into."""

    def __init__(self, layer: Any) -> None:
        self.layer = layer


def _wrapped(x: Any) -> Any:
    if isinstance(x, jax.Array):
        # A gradient with respect to the inputs may be asked for.
        return wrap(x, not jnp.issubdtype(x.dtype, jnp.inexact))
    return x


@ft.cache
def _module_class() -> Any:
    from flax import nnx

    class LayerModule(nnx.Module):
        """A Paddle layer with its parameters and buffers as nnx variables."""

        def __init__(self, layer: Any) -> None:
            tensors = [*layer.named_parameters(), *layer.named_buffers()]
            self.params = nnx.Dict({name: nnx.Param(t._value) for name, t in tensors if not t.stop_gradient})
            self.stats = nnx.Dict({name: nnx.BatchStat(t._value) for name, t in tensors if t.stop_gradient})
            self.held = nnx.static(_Held(layer))
            self.training = layer.training

        def train(self, **attributes: Any) -> None:
            super().train(**attributes)
            self.training = True

        def eval(self, **attributes: Any) -> None:
            super().eval(**attributes)
            self.training = False

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            params = {name: wrap(v[...], False) for name, v in self.params.items()}
            stats = {name: wrap(v[...]) for name, v in self.stats.items()}
            args, kwargs = jax.tree.map(_wrapped, (args, kwargs))
            layer = self.held.layer
            layer.train(self.training)
            out = functional_call(layer, {**params, **stats}, args, kwargs)
            # The layer has changed Tensors; nnx wants its own variables to change.
            for name, v in self.stats.items():
                v[...] = stats[name]._value
            return jax.tree.map(lambda x: jnp.asarray(x) if is_tensor(x) else x, out, is_leaf=is_tensor)

    return LayerModule
