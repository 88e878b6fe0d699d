"""What several image networks share: published weights, channel counts, features from the
middle of a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddle_jax import nn
from paddle_jax.base.param_attr import ParamAttr
from paddle_jax.framework import load
from paddle_jax.utils.download import get_weights_path_from_url

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.nn.layer.layers import Layer

_HAPI = "https://paddle-hapi.bj.bcebos.com/models/"


def urls(sums: dict[str, str], home: str = _HAPI, ending: str = ".pdparams") -> dict[str, tuple[str, str]]:
    """{name: (address, MD5)} of weight files that lie in one folder under their names."""
    return {name: (f"{home}{name}{ending}", md5) for name, md5 in sums.items()}


def with_weights(model: Any, arch: str, pretrained: bool, model_urls: dict[str, tuple[str, str]]) -> Any:
    """The model, with the published weights of `arch` when asked for.

    Raises:
        AssertionError: no weights are published under this name.
        RuntimeError: the weights are neither in the cache nor to be downloaded.
        ValueError: the file has no value for any parameter.
    """
    if pretrained:
        if arch not in model_urls:
            raise AssertionError(f"{arch}: pretrained: no weights are published for this model; pass False")
        path = get_weights_path_from_url(*model_urls[arch])
        missing, _ = model.set_state_dict(load(path))
        # Where no name fits, the file belongs to another model.
        if len(missing) == len(model.state_dict()):
            raise ValueError(
                f"{arch}: pretrained: {path} has no value for any parameter of this model; "
                "remove the file to download it again"
            )
    return model


def uniform(limit: float) -> ParamAttr:
    """ParamAttr with values drawn evenly from -limit to limit."""
    return ParamAttr(initializer=nn.initializer.Uniform(-limit, limit))


def _make_divisible(v: float, divisor: int = 8, min_value: int | None = None) -> int:
    """The multiple of `divisor` nearest to v, at least `min_value` and at least 90 % of v."""
    near = max(min_value or divisor, int(v + divisor / 2) // divisor * divisor)
    # Rounding may not lose more than a tenth.
    if near < 0.9 * v:
        return near + divisor
    return near


class IntermediateLayerGetter(nn.LayerDict):
    """Runs the sublayers of a network in order and returns the results of some of them.

    Args:
        model: Layer whose sublayers form a chain.
        return_layers: dict from a sublayer's name to the name of its result. Sublayers after the last of
            them are left out.
    Raises:
        ValueError: a name is not that of a sublayer.
    Example:
        >>> net = paddle.vision.models._utils.IntermediateLayerGetter(paddle.vision.models.LeNet(),
        ...                                                           {"features": "map"})
        >>> {name: list(value.shape) for name, value in net(paddle.zeros([1, 1, 28, 28])).items()}
        {'map': [1, 16, 5, 5]}
    """

    def __init__(self, model: Layer, return_layers: dict[str, str]) -> None:
        children = dict(model.named_children())
        if unknown := [name for name in return_layers if name not in children]:
            raise ValueError(
                f"IntermediateLayerGetter: return_layers: got {unknown}; the sublayers are {list(children)}"
            )
        # Layers behind the last one that is asked for do not run.
        last = max((list(children).index(name) for name in return_layers), default=len(children) - 1)
        super().__init__(dict(list(children.items())[: last + 1]))
        self.return_layers = return_layers.copy()

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        """{name: result} of the chosen sublayers."""
        found = {}
        for name, layer in self.items():
            # Linear layers take vectors, so maps are flattened before the first one.
            first = next(iter(layer.sublayers()), layer)
            x = layer(x.flatten(1) if isinstance(first, nn.Linear) and x.ndim == 4 else x)
            if name in self.return_layers:
                found[self.return_layers[name]] = x
        return found
