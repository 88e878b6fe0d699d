"""Transformer layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax._core.base.dtype import get_default_dtype
from paddle_jax.base.param_attr import ParamAttr
from paddle_jax.nn import functional as F
from paddle_jax.nn.layer.attention import MultiHeadAttention, _convert_attention_mask
from paddle_jax.nn.layer.common import Linear
from paddle_jax.nn.layer.container import LayerList
from paddle_jax.nn.layer.dropout import Dropout
from paddle_jax.nn.layer.layers import Layer
from paddle_jax.nn.layer.norm import LayerNorm
from paddle_jax.tensor.creation import full

if TYPE_CHECKING:
    from paddle_jax._annotations import ParamAttrLike
    from paddle_jax._core.tensors.tensor import Tensor


def _convert_param_attr_to_list(param_attr: Any, n: int) -> list[Any]:
    """n attrs from one or from a list of n; the names of copies are numbered."""
    if isinstance(param_attr, list | tuple):
        if len(param_attr) != n:
            raise AssertionError(f"param_attr: got a list of {len(param_attr)}; it must have {n} items")
        return [ParamAttr._to_attr(attr) for attr in param_attr]
    if param_attr is False:
        return [False] * n
    attr = ParamAttr._to_attr(param_attr)
    copies = [ParamAttr(**vars(attr)) for _ in range(n)]
    for i, copy in enumerate(copies):
        # Two parameters may not have one name; without a name each gets its own.
        copy.name = attr.name and f"{attr.name}_{i}"
    return copies


def _positive(**sizes: int) -> None:
    for name, size in sizes.items():
        if size <= 0:
            raise AssertionError(f"{name}: got {size}; it must be above 0")


class _Block(Layer):
    """What encoder and decoder layers share: the feed-forward part and residual connections
    with normalisation."""

    def _build_feed_forward(
        self,
        d_model: int,
        dim_feedforward: int,
        weight_attr: ParamAttrLike,
        bias_attr: ParamAttrLike,
        act_dropout: float,
    ) -> None:
        self.linear1: Linear = Linear(d_model, dim_feedforward, weight_attr, bias_attr)
        self.dropout: Dropout = Dropout(act_dropout, mode="upscale_in_train")
        self.linear2: Linear = Linear(dim_feedforward, d_model, weight_attr, bias_attr)

    def _residual(
        self, x: Tensor, norm: Layer, dropout: Layer, part: Callable[[Tensor], tuple[Tensor, Any]]
    ) -> tuple[Tensor, Any]:
        """x + dropout(part(x)), normalised before or after; `part` gives (output, cache)."""
        # Normalised before, the residual path stays a plain sum through all layers.
        out, cache = part(norm(x) if self.normalize_before else x)
        out = x + dropout(out)
        return (out if self.normalize_before else norm(out)), cache

    def _feed_forward(self, x: Tensor) -> tuple[Tensor, None]:
        return self.linear2(self.dropout(self.activation(self.linear1(x)))), None


def _attention(attention: Layer, *args: Any, cache: Any, pass_none: bool = True) -> tuple[Tensor, Any]:
    """(output, cache) of an attention layer; the cache is None when none is given, and handed on only with
    `pass_none`, as forward hooks see."""
    if cache is None and not pass_none:
        result = attention(*args)
    else:
        result = attention(*args, cache)
    out = result[0] if isinstance(result, tuple) else result
    return out, None if cache is None else result[-1]


class TransformerEncoderLayer(_Block):
    """Self-attention and a feed-forward network, each with dropout, residual connection and
    layer normalisation.

    Args:
        d_model: int, the length of inputs and outputs.
        nhead: int, heads of attention.
        dim_feedforward: int, the hidden length of the feed-forward network.
        dropout: float, probability of dropout before residual connections.
        activation: str, the name of a function in paddle.nn.functional.
        attn_dropout: float, dropout of attention weights. Default: dropout.
        act_dropout: float, dropout after the activation. Default: dropout.
        normalize_before: bool, normalise the inputs of both parts instead of the outputs.
        weight_attr: ParamAttr, or two for attention and feed-forward.
        bias_attr: ParamAttr or False, or two of them.
        layer_norm_eps: float.
    Attributes:
        normalize_before: as given.
        _config: dict of the constructor's arguments, to make further layers like this one.
        self_attn: MultiHeadAttention.
        norm1, norm2: LayerNorm, of attention and of the two Linear layers.
        dropout1, dropout2: Dropout, behind them.
        activation: function between the Linear layers.
    Raises:
        AssertionError: a size is not positive.
        AttributeError: there is no such activation.
    Example:
        >>> paddle.nn.TransformerEncoderLayer(8, 2, 16)(paddle.rand([2, 5, 8])).shape
        paddle.Size([2, 5, 8])
    See: Vaswani et al., Attention Is All You Need, 2017.
    """

    dropout1: Dropout
    dropout2: Dropout
    norm1: LayerNorm
    norm2: LayerNorm

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: ParamAttrLike | Sequence[ParamAttrLike] | None = None,
        bias_attr: ParamAttrLike | Sequence[ParamAttrLike] | None = None,
        layer_norm_eps: float = 1e-5,
    ) -> None:
        # Stacks make further layers with the same arguments.
        config = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        super().__init__()
        _positive(d_model=d_model, nhead=nhead, dim_feedforward=dim_feedforward)
        attn_dropout, act_dropout = (
            dropout if value is None else value for value in (attn_dropout, act_dropout)
        )
        self._config = config
        self.normalize_before = normalize_before
        weights = _convert_param_attr_to_list(weight_attr, 2)
        biases = _convert_param_attr_to_list(bias_attr, 2)
        self.self_attn: MultiHeadAttention = MultiHeadAttention(
            d_model, nhead, dropout=attn_dropout, weight_attr=weights[0], bias_attr=biases[0]
        )
        self._build_feed_forward(d_model, dim_feedforward, weights[1], biases[1], act_dropout)
        self.norm1, self.norm2 = (LayerNorm(d_model, epsilon=layer_norm_eps) for _ in range(2))
        self.dropout1, self.dropout2 = (Dropout(dropout, mode="upscale_in_train") for _ in range(2))
        self.activation: Any = getattr(F, activation)

    def forward(
        self, src: Tensor, src_mask: Tensor | None = None, cache: Any = None
    ) -> Tensor:  # with a cache also the cache
        """Returns the output [B, L, d_model]; with a cache also the new cache."""
        mask = _convert_attention_mask(src_mask, src.dtype)
        src, new_cache = self._residual(
            src,
            self.norm1,
            self.dropout1,
            lambda x: _attention(self.self_attn, x, x, x, mask, cache=cache, pass_none=False),
        )
        src, _ = self._residual(src, self.norm2, self.dropout2, self._feed_forward)
        if cache is None:
            return src
        outputs: Any = (src, new_cache)
        return outputs

    def gen_cache(self, src: Tensor) -> Any:
        """Makes an empty cache for decoding step by step; src gives batch size and dtype."""
        return self.self_attn.gen_cache(src, type=self.self_attn.Cache)


def _stack(layer: Layer, count: int) -> LayerList:
    """`layer` and count - 1 new ones made like it."""
    # Each is a new one and no copy: copies would begin with equal weights.
    return LayerList([layer if i == 0 else type(layer)(**layer._config) for i in range(count)])


class TransformerEncoder(Layer):
    """A stack of encoder layers.

    Args:
        encoder_layer: TransformerEncoderLayer, used first; the others are made like it.
        num_layers: int.
        norm: layer applied to the output.
    Example:
        >>> encoder = paddle.nn.TransformerEncoder(paddle.nn.TransformerEncoderLayer(8, 2, 16), 2)
        >>> encoder(paddle.rand([2, 5, 8])).shape
        paddle.Size([2, 5, 8])
    """

    def __init__(self, encoder_layer: Layer, num_layers: int, norm: Layer | None = None) -> None:
        super().__init__()
        self.layers: LayerList = _stack(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self, src: Tensor, src_mask: Tensor | None = None, cache: Sequence[Any] | None = None
    ) -> Tensor:  # with a cache also the cache
        """Returns the output [B, L, d_model]; with a list of caches also the list of new ones."""
        mask = _convert_attention_mask(src_mask, src.dtype)
        new_caches = []
        for i, layer in enumerate(self.layers):
            if cache is None:
                src = layer(src, src_mask=mask)
            else:
                src, layer_cache = layer(src, src_mask=mask, cache=cache[i])
                new_caches.append(layer_cache)
        if self.norm is not None:
            src = self.norm(src)
        if cache is None:
            return src
        outputs: Any = (src, new_caches)
        return outputs

    def gen_cache(self, src: Tensor) -> list[Any]:
        """Makes empty caches, one for each layer."""
        return [layer.gen_cache(src) for layer in self.layers]


class TransformerDecoderLayer(_Block):
    """Self-attention, attention to a memory and a feed-forward network, each with dropout, residual
    connection and normalisation.

    Args:
        d_model: int, the length of inputs and outputs.
        nhead: int, heads of attention.
        dim_feedforward: int, the hidden length of the feed-forward network.
        dropout: float, probability of dropout before residual connections.
        activation: str, the name of a function in paddle.nn.functional.
        attn_dropout: float, dropout of attention weights. Default: dropout.
        act_dropout: float, dropout after the activation. Default: dropout.
        normalize_before: bool, normalise the inputs of the parts instead of the outputs.
        weight_attr: ParamAttr, or three for self-attention, attention to the memory and feed-forward.
        bias_attr: ParamAttr or False, or three of them.
        layer_norm_eps: float.
    Attributes:
        normalize_before: as given.
        _config: dict of the constructor's arguments, to make further layers like this one.
        self_attn: MultiHeadAttention, of the target.
        cross_attn: MultiHeadAttention, from the target to the memory.
        norm1, norm2, norm3: LayerNorm, of both attentions and of the two Linear layers.
        dropout1, dropout2, dropout3: Dropout, behind them.
        activation: function between the Linear layers.
    Raises:
        AssertionError: a size is not positive.
        AttributeError: there is no such activation.
    Example:
        >>> paddle.nn.TransformerDecoderLayer(8, 2, 16)(paddle.rand([2, 4, 8]), paddle.rand([2, 5, 8])).shape
        paddle.Size([2, 4, 8])
    """

    dropout1: Dropout
    dropout2: Dropout
    dropout3: Dropout
    norm1: LayerNorm
    norm2: LayerNorm
    norm3: LayerNorm

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: ParamAttrLike | Sequence[ParamAttrLike] | None = None,
        bias_attr: ParamAttrLike | Sequence[ParamAttrLike] | None = None,
        layer_norm_eps: float = 1e-5,
    ) -> None:
        # Stacks make further layers with the same arguments.
        config = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        super().__init__()
        _positive(d_model=d_model, nhead=nhead, dim_feedforward=dim_feedforward)
        attn_dropout, act_dropout = (
            dropout if value is None else value for value in (attn_dropout, act_dropout)
        )
        self._config = config
        self.normalize_before = normalize_before
        weights = _convert_param_attr_to_list(weight_attr, 3)
        biases = _convert_param_attr_to_list(bias_attr, 3)
        self.self_attn: MultiHeadAttention = MultiHeadAttention(
            d_model, nhead, dropout=attn_dropout, weight_attr=weights[0], bias_attr=biases[0]
        )
        self.cross_attn: MultiHeadAttention = MultiHeadAttention(
            d_model, nhead, dropout=attn_dropout, weight_attr=weights[1], bias_attr=biases[1]
        )
        self._build_feed_forward(d_model, dim_feedforward, weights[2], biases[2], act_dropout)
        self.norm1, self.norm2, self.norm3 = (LayerNorm(d_model, epsilon=layer_norm_eps) for _ in range(3))
        self.dropout1, self.dropout2, self.dropout3 = (
            Dropout(dropout, mode="upscale_in_train") for _ in range(3)
        )
        self.activation: Any = getattr(F, activation)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        cache: tuple[Any, Any] | None = None,
    ) -> Tensor:  # with a cache also the cache
        """Returns the output [B, L, d_model]; with a cache (Cache, StaticCache) also the new pair."""
        self_cache, cross_cache = (None, None) if cache is None else cache
        mask, memory_mask = (_convert_attention_mask(m, tgt.dtype) for m in (tgt_mask, memory_mask))
        tgt, self_cache = self._residual(
            tgt,
            self.norm1,
            self.dropout1,
            lambda x: _attention(self.self_attn, x, x, x, mask, cache=self_cache),
        )
        tgt, cross_cache = self._residual(
            tgt,
            self.norm2,
            self.dropout2,
            lambda x: _attention(self.cross_attn, x, memory, memory, memory_mask, cache=cross_cache),
        )
        tgt, _ = self._residual(tgt, self.norm3, self.dropout3, self._feed_forward)
        if cache is None:
            return tgt
        outputs: Any = (tgt, (self_cache, cross_cache))
        return outputs

    def gen_cache(self, memory: Tensor) -> tuple[Any, Any]:
        """Makes the pair of an empty cache and the projected memory."""
        return (
            self.self_attn.gen_cache(memory, type=self.self_attn.Cache),
            self.cross_attn.gen_cache(memory, memory, type=self.cross_attn.StaticCache),
        )


class TransformerDecoder(Layer):
    """A stack of decoder layers.

    Args:
        decoder_layer: TransformerDecoderLayer, used first; the others are made like it.
        num_layers: int.
        norm: layer applied to the output.
    Example:
        >>> decoder = paddle.nn.TransformerDecoder(paddle.nn.TransformerDecoderLayer(8, 2, 16), 2)
        >>> decoder(paddle.rand([2, 4, 8]), paddle.rand([2, 5, 8])).shape
        paddle.Size([2, 4, 8])
    """

    def __init__(self, decoder_layer: Layer, num_layers: int, norm: Layer | None = None) -> None:
        super().__init__()
        self.layers: LayerList = _stack(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        cache: Sequence[Any] | None = None,
    ) -> Tensor:  # with a cache also the cache
        """Returns the output [B, L, d_model]; with a list of caches also the list of new ones."""
        mask, memory_mask = (_convert_attention_mask(m, tgt.dtype) for m in (tgt_mask, memory_mask))
        new_caches = []
        for i, layer in enumerate(self.layers):
            if cache is None:
                tgt = layer(tgt, memory, tgt_mask=mask, memory_mask=memory_mask)
            else:
                tgt, layer_cache = layer(tgt, memory, tgt_mask=mask, memory_mask=memory_mask, cache=cache[i])
                new_caches.append(layer_cache)
        if self.norm is not None:
            tgt = self.norm(tgt)
        if cache is None:
            return tgt
        outputs: Any = (tgt, new_caches)
        return outputs

    def gen_cache(self, memory: Tensor, do_zip: bool = False) -> list[Any]:
        """Makes the caches of all layers: a list of pairs, or with do_zip a pair of tuples as a list."""
        caches = [layer.gen_cache(memory) for layer in self.layers]
        if do_zip:
            return list(zip(*caches, strict=True))
        return caches


class Transformer(Layer):
    """An encoder of the source and a decoder that attends to it and to what it has produced.

    Args:
        d_model: int, the length of inputs and outputs.
        nhead: int, heads of attention.
        num_encoder_layers: int.
        num_decoder_layers: int.
        dim_feedforward: int, the hidden length of feed-forward networks.
        dropout: float, probability of dropout before residual connections.
        activation: str, the name of a function in paddle.nn.functional.
        attn_dropout: float, dropout of attention weights. Default: dropout.
        act_dropout: float, dropout after the activation. Default: dropout.
        normalize_before: bool, normalise the inputs of parts instead of the outputs.
        weight_attr: ParamAttr; or a list: [all], [attention, feed-forward] or [self-attention, attention to
            memory, feed-forward].
        bias_attr: ParamAttr or False, or a list likewise.
        custom_encoder: layer used as the encoder.
        custom_decoder: layer used as the decoder.
    Raises:
        AssertionError: a size is not positive, or a list has more than 3 items.
    Example:
        >>> model = paddle.nn.Transformer(8, 2, 1, 1, 16)
        >>> model(paddle.rand([2, 5, 8]), paddle.rand([2, 4, 8])).shape
        paddle.Size([2, 4, 8])
    See: Vaswani et al., Attention Is All You Need, 2017.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: ParamAttrLike | Sequence[ParamAttrLike] | None = None,
        bias_attr: ParamAttrLike | Sequence[ParamAttrLike] | None = None,
        custom_encoder: Layer | None = None,
        custom_decoder: Layer | None = None,
    ) -> None:
        super().__init__()
        _positive(d_model=d_model, nhead=nhead, dim_feedforward=dim_feedforward)
        settings = (
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            attn_dropout,
            act_dropout,
            normalize_before,
        )
        weights = _parts(weight_attr)
        biases = _parts(bias_attr)
        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            layer = TransformerEncoderLayer(*settings, weights[0], biases[0])
            self.encoder: Layer | TransformerEncoder = TransformerEncoder(
                layer, num_encoder_layers, LayerNorm(d_model)
            )
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            layer = TransformerDecoderLayer(*settings, weights[1], biases[1])
            self.decoder: Layer | TransformerDecoder = TransformerDecoder(
                layer, num_decoder_layers, LayerNorm(d_model)
            )
        self.d_model = d_model
        self.nhead = nhead

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> Tensor:
        """Returns the output [B, L, d_model]; masks are as in MultiHeadAttention."""
        memory = self.encoder(src, src_mask=_convert_attention_mask(src_mask, src.dtype))
        return self.decoder(
            tgt,
            memory,
            tgt_mask=_convert_attention_mask(tgt_mask, tgt.dtype),
            memory_mask=_convert_attention_mask(memory_mask, memory.dtype),
        )

    def generate_square_subsequent_mask(self, length: int) -> Tensor:
        """Makes the mask [length, length] that lets each position attend to itself and what is before: 0,
        and -inf elsewhere."""
        # Above the diagonal lies what comes later.
        return full([length, length], -float("inf"), dtype=get_default_dtype()).triu(1)


def _parts(attr: Any) -> tuple[Any, Any]:
    """The attrs of (encoder layers, decoder layers)."""
    if not isinstance(attr, list | tuple):
        return attr, attr
    if not 1 <= len(attr) <= 3:
        raise AssertionError(
            f"Transformer: weight_attr, bias_attr: got a list of {len(attr)}; it must have 1 to 3 items"
        )
    # One attr serves all, two the attentions and the rest, three each part.
    self_attention = attr[0]
    cross_attention = attr[0] if len(attr) < 3 else attr[1]
    feed_forward = attr[-1]
    return [self_attention, feed_forward], [self_attention, cross_attention, feed_forward]


__all__ = [
    "MultiHeadAttention",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]
