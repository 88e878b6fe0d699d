"""The blocks of a Transformer as layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paddle_jax.incubate.nn import functional as F
from paddle_jax.nn.initializer import Constant
from paddle_jax.nn.layer.attention import _convert_attention_mask
from paddle_jax.nn.layer.helpers import show
from paddle_jax.nn.layer.layers import Layer
from paddle_jax.nn.layer.transformer import _convert_param_attr_to_list

if TYPE_CHECKING:
    from paddle_jax._core.tensors.tensor import Tensor
    from paddle_jax.base.param_attr import ParamAttr
    from paddle_jax.nn.parameter import Parameter


def _positive(owner: str, **sizes: Any) -> None:
    for name, size in sizes.items():
        if size <= 0:
            raise AssertionError(f"{owner}: {name}: got {size}; it must be above 0")


def _head_width(owner: str, embed_dim: int, num_heads: int) -> int:
    _positive(owner, embed_dim=embed_dim, num_heads=num_heads)
    if embed_dim % num_heads:
        raise AssertionError(f"{owner}: num_heads: got {num_heads}; it must divide embed_dim={embed_dim}")
    return embed_dim // num_heads


def _whole(owner: str, nranks: int) -> None:
    """Refuses a part of a layer: parts on several devices are not put together here."""
    if nranks != 1:
        raise ValueError(
            f"{owner}: nranks: got {nranks}; it must be 1, as sums over devices are not made here"
        )


class FusedBiasDropoutResidualLayerNorm(Layer):
    """Computes layer_norm(residual + dropout(x + bias)).

    Args:
        embed_dim: int, the last length.
        dropout_rate: float, probability of zeroing in training.
        weight_attr: ParamAttr of `ln_scale`, shape [embed_dim].
        bias_attr: ParamAttr of `linear_bias` and `ln_bias`, shape [embed_dim]; False for none.
        epsilon: float, added to the variance.
    Attributes:
        _bias_attr, _weight_attr, embed_dim, dropout_rate, _epsilon, name: as given.
        linear_bias, ln_bias: Parameter [embed_dim], or None.
        ln_scale: Parameter [embed_dim].
    Raises:
        AssertionError: embed_dim is not positive.
    Example:
        >>> layer = paddle.incubate.nn.FusedBiasDropoutResidualLayerNorm(2).eval()
        >>> x = paddle.to_tensor([[1.0, 3.0]])
        >>> [round(v, 3) for v in layer(x, x)[0].tolist()]
        [-1.0, 1.0]

    Differs from Paddle: works on the CPU.
    """

    def __init__(
        self,
        embed_dim: int,
        dropout_rate: float = 0.5,
        weight_attr: Any = None,
        bias_attr: Any = None,
        epsilon: float = 1e-5,
        name: str | None = None,
    ) -> None:
        super().__init__()
        _positive("FusedBiasDropoutResidualLayerNorm", embed_dim=embed_dim)
        self._bias_attr = bias_attr
        self._weight_attr = weight_attr
        self.embed_dim = embed_dim
        self.linear_bias: Parameter = self.create_parameter([embed_dim], attr=bias_attr, is_bias=True)
        self.ln_scale: Parameter = self.create_parameter(
            [embed_dim], attr=weight_attr, default_initializer=Constant(1.0)
        )
        self.ln_bias: Parameter = self.create_parameter([embed_dim], attr=bias_attr, is_bias=True)
        self.dropout_rate = dropout_rate
        self._epsilon = epsilon
        self.name = name

    def forward(self, x: Any, residual: Any) -> Tensor:
        """Returns a Tensor [..., embed_dim] of x and residual of that shape."""
        return F.fused_bias_dropout_residual_layer_norm(
            x,
            residual,
            self.linear_bias,
            self.ln_scale,
            self.ln_bias,
            self.dropout_rate,
            self._epsilon,
            self.training,
            "upscale_in_train",
            self.name,
        )

    def extra_repr(self) -> str:
        return show(
            self.name,
            embed_dim=self.embed_dim,
            dropout_rate=self.dropout_rate,
            epsilon=self._epsilon,
            dtype=self._dtype,
        )


class FusedMultiHeadAttention(Layer):
    """Attention of a sequence to itself with residual, dropout and normalisation.

    Args:
        embed_dim: int, the last length.
        num_heads: int, a divisor of embed_dim.
        dropout_rate, attn_dropout_rate: floats, probabilities of zeroing results and weights in training.
        kdim, vdim: accepted; keys and values have the length embed_dim.
        normalize_before: normalise the input instead of the result.
        need_weights: must be False.
        qkv_weight_attr, qkv_bias_attr: of `qkv_weight` [3, num_heads, width, embed_dim] and `qkv_bias`
            [3, num_heads, width]; with transpose_qkv_wb of [embed_dim, 3 * embed_dim] and [3 * embed_dim].
        linear_weight_attr, linear_bias_attr: of `linear_weight` [embed_dim, embed_dim] and
            `linear_bias` [embed_dim].
        pre_ln_scale_attr, pre_ln_bias_attr: of the normalisation with normalize_before.
        ln_scale_attr, ln_bias_attr: of that without it.
        epsilon: float, added to the variance.
        nranks, ring_id: 1 and -1.
        transpose_qkv_wb: the other form of `qkv_weight` and `qkv_bias`.
    Attributes:
        normalize_before, _epsilon, _ring_id, embed_dim, num_heads, kdim, vdim, need_weights,
            transpose_qkv_wb, dropout_rate, attn_dropout_rate, name: as given.
        head_dim: int, embed_dim // num_heads.
        qkv_weight, qkv_bias: Parameter, of queries, keys and values together.
        linear_weight: Parameter [embed_dim, embed_dim].
        linear_bias: Parameter [embed_dim], or None.
        pre_ln_scale, pre_ln_bias: Parameter [embed_dim]; None unless normalize_before is set.
        ln_scale, ln_bias: Parameter [embed_dim]; None where normalize_before is set.
    Raises:
        AssertionError: a size is not positive, num_heads does not divide embed_dim, or need_weights is set.
    Example:
        >>> paddle.incubate.nn.FusedMultiHeadAttention(8, 2)(paddle.rand([2, 5, 8])).shape
        paddle.Size([2, 5, 8])

    Differs from Paddle: works on the CPU.
    """

    ln_bias: Parameter | None
    ln_scale: Parameter | None
    pre_ln_bias: Parameter | None
    pre_ln_scale: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout_rate: Any = 0.5,
        attn_dropout_rate: Any = 0.5,
        kdim: Any = None,
        vdim: Any = None,
        normalize_before: bool = False,
        need_weights: bool = False,
        qkv_weight_attr: ParamAttr | None = None,
        qkv_bias_attr: ParamAttr | bool | None = None,
        linear_weight_attr: ParamAttr | None = None,
        linear_bias_attr: ParamAttr | bool | None = None,
        pre_ln_scale_attr: ParamAttr | None = None,
        pre_ln_bias_attr: ParamAttr | bool | None = None,
        ln_scale_attr: ParamAttr | None = None,
        ln_bias_attr: ParamAttr | bool | None = None,
        epsilon: float = 1e-5,
        nranks: Any = 1,
        ring_id: Any = -1,
        transpose_qkv_wb: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        width = _head_width("FusedMultiHeadAttention", embed_dim, num_heads)
        _whole("FusedMultiHeadAttention", nranks)
        if need_weights:
            raise AssertionError(
                "FusedMultiHeadAttention: need_weights: got True; weights are not given, it must be False"
            )
        self.normalize_before = normalize_before
        self._epsilon = epsilon
        self._ring_id = ring_id
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = width
        self.kdim = kdim
        self.vdim = vdim
        self.need_weights = need_weights
        self.transpose_qkv_wb = transpose_qkv_wb
        if transpose_qkv_wb:
            shape = [embed_dim, 3 * embed_dim]
        else:
            shape = [3, num_heads, width, embed_dim]
        self.qkv_weight: Parameter = self.create_parameter(shape, attr=qkv_weight_attr)
        self.qkv_bias: Parameter = self.create_parameter(
            shape[1:] if transpose_qkv_wb else shape[:3], attr=qkv_bias_attr, is_bias=True
        )
        self.linear_weight: Parameter = self.create_parameter([embed_dim, embed_dim], attr=linear_weight_attr)
        self.linear_bias: Parameter = self.create_parameter([embed_dim], attr=linear_bias_attr, is_bias=True)
        # Only the normalisation that is used has parameters.
        scale, bias = (
            (pre_ln_scale_attr, pre_ln_bias_attr) if normalize_before else (ln_scale_attr, ln_bias_attr)
        )
        scale = self.create_parameter([embed_dim], attr=scale, default_initializer=Constant(1.0))
        bias = self.create_parameter([embed_dim], attr=bias, is_bias=True)
        self.pre_ln_scale, self.pre_ln_bias = (scale, bias) if normalize_before else (None, None)
        self.ln_scale, self.ln_bias = (None, None) if normalize_before else (scale, bias)
        self.dropout_rate = dropout_rate
        self.attn_dropout_rate = attn_dropout_rate
        self.name = name

    def forward(
        self,
        query: Tensor,
        key: Any = None,
        value: Any = None,
        attn_mask: Tensor | None = None,
        cache: Tensor | None = None,
    ) -> Tensor:  # with a cache also the cache
        """Returns the output [B, L, embed_dim]; with a cache a pair of that and the new cache.

        Args:
            query: Tensor [B, L, embed_dim].
            key, value: accepted; they are those of query.
            attn_mask: Tensor that broadcasts to [B, num_heads, L, S]: bool or int, 0 where not to attend; or
                floats that are added.
            cache: Tensor [2, B, num_heads, past, width], or None.
        """
        mask = _convert_attention_mask(attn_mask, query.dtype)
        return F.fused_multi_head_attention(
            query,
            self.qkv_weight,
            self.linear_weight,
            self.normalize_before,
            self.pre_ln_scale,
            self.pre_ln_bias,
            self.ln_scale,
            self.ln_bias,
            self._epsilon,
            self.qkv_bias,
            self.linear_bias,
            cache,
            mask,
            self.dropout_rate,
            self.attn_dropout_rate,
            self._epsilon,
            self.training,
            ring_id=self._ring_id,
            num_heads=self.num_heads,
            transpose_qkv_wb=self.transpose_qkv_wb,
            name=self.name,
        )

    def extra_repr(self) -> str:
        return show(
            self.name,
            embed_dim=self.embed_dim,
            num_heads=self.num_heads,
            dropout_rate=self.dropout_rate,
            attn_dropout_rate=self.attn_dropout_rate,
            epsilon=self._epsilon,
            kdim=self.kdim,
            vdim=self.vdim,
            normalize_before=self.normalize_before,
            need_weights=self.need_weights,
            dtype=self._dtype,
        )


class FusedFeedForward(Layer):
    """Two linear layers with an activation between them, residual, dropout and normalisation.

    Args:
        d_model: int, the last length.
        dim_feedforward: int, the length between the layers.
        dropout_rate: float, probability of zeroing results in training.
        epsilon: float, added to the variance.
        activation: "relu", "gelu" or "silu".
        act_dropout_rate: probability of zeroing what the activation gives. Default: dropout_rate.
        normalize_before: normalise the input instead of the result.
        linear1_weight_attr, linear1_bias_attr: of the weights [d_model, dim_feedforward] and
            [dim_feedforward].
        linear2_weight_attr, linear2_bias_attr: of the weights [dim_feedforward, d_model] and [d_model].
        ln1_scale_attr, ln1_bias_attr: of the normalisation with normalize_before.
        ln2_scale_attr, ln2_bias_attr: of that without it.
        nranks, ring_id: 1 and -1.
    Attributes:
        _d_model, _dim_feedforward, _dropout_rate, _normalize_before, _epsilon, _ring_id, name: as given.
        _act_method: str, the activation.
        _act_dropout_rate: float, act_dropout_rate, or dropout_rate where that is None.
        _linear1_weight: Parameter [d_model, dim_feedforward].
        _linear1_bias: Parameter [dim_feedforward], or None.
        _linear2_weight: Parameter [dim_feedforward, d_model].
        _linear2_bias: Parameter [d_model], or None.
        _ln1_scale, _ln1_bias: Parameter [d_model]; None unless normalize_before is set.
        _ln2_scale, _ln2_bias: Parameter [d_model]; None where normalize_before is set.
    Raises:
        AssertionError: a size is not positive.
    Example:
        >>> paddle.incubate.nn.FusedFeedForward(8, 16)(paddle.rand([2, 5, 8])).shape
        paddle.Size([2, 5, 8])

    Differs from Paddle: works on the CPU.
    """

    def __init__(
        self,
        d_model: int,
        dim_feedforward: int,
        dropout_rate: float = 0.1,
        epsilon: float = 1e-5,
        activation: str = "relu",
        act_dropout_rate: Any = None,
        normalize_before: bool = False,
        linear1_weight_attr: ParamAttr | None = None,
        linear1_bias_attr: ParamAttr | bool | None = None,
        linear2_weight_attr: ParamAttr | None = None,
        linear2_bias_attr: ParamAttr | bool | None = None,
        ln1_scale_attr: Any = None,
        ln1_bias_attr: Any = None,
        ln2_scale_attr: Any = None,
        ln2_bias_attr: Any = None,
        nranks: Any = 1,
        ring_id: Any = -1,
        name: str | None = None,
    ) -> None:
        super().__init__()
        _positive("FusedFeedForward", d_model=d_model, dim_feedforward=dim_feedforward)
        _whole("FusedFeedForward", nranks)
        self._d_model = d_model
        self._dim_feedforward = dim_feedforward
        self._dropout_rate = dropout_rate
        if act_dropout_rate is None:
            self._act_dropout_rate = dropout_rate
        else:
            self._act_dropout_rate = act_dropout_rate
        self._act_method = activation
        self._normalize_before = normalize_before
        self._epsilon = epsilon
        self._ring_id = ring_id
        self._linear1_weight = self.create_parameter([d_model, dim_feedforward], attr=linear1_weight_attr)
        self._linear1_bias = self.create_parameter([dim_feedforward], attr=linear1_bias_attr, is_bias=True)
        self._linear2_weight = self.create_parameter([dim_feedforward, d_model], attr=linear2_weight_attr)
        self._linear2_bias = self.create_parameter([d_model], attr=linear2_bias_attr, is_bias=True)
        scale, bias = (ln1_scale_attr, ln1_bias_attr) if normalize_before else (ln2_scale_attr, ln2_bias_attr)
        scale = self.create_parameter([d_model], attr=scale, default_initializer=Constant(1.0))
        bias = self.create_parameter([d_model], attr=bias, is_bias=True)
        self._ln1_scale, self._ln1_bias = (scale, bias) if normalize_before else (None, None)
        self._ln2_scale, self._ln2_bias = (None, None) if normalize_before else (scale, bias)
        self.name = name

    def forward(self, src: Tensor, cache: Any = None) -> Tensor:
        """Returns a Tensor of the shape of src, [B, L, d_model]; cache is accepted and not used."""
        return F.fused_feedforward(
            src,
            self._linear1_weight,
            self._linear2_weight,
            self._linear1_bias,
            self._linear2_bias,
            self._ln1_scale,
            self._ln1_bias,
            self._ln2_scale,
            self._ln2_bias,
            self._act_dropout_rate,
            self._dropout_rate,
            self._act_method,
            self._epsilon,
            self._epsilon,
            self._normalize_before,
            self.training,
            ring_id=self._ring_id,
            name=self.name,
        )

    def extra_repr(self) -> str:
        return show(
            self.name,
            d_model=self._d_model,
            dim_feedforward=self._dim_feedforward,
            dropout_rate=self._dropout_rate,
            epsilon=self._epsilon,
            activation=self._act_method,
            act_dropout_rate=self._act_dropout_rate,
            normalize_before=self._normalize_before,
            dtype=self._dtype,
        )


class FusedTransformerEncoderLayer(Layer):
    """An encoder layer of a Transformer: FusedMultiHeadAttention, then FusedFeedForward.

    Args:
        d_model: int, the last length.
        nhead: int, heads; a divisor of d_model.
        dim_feedforward: int, the length inside the feed-forward block.
        dropout_rate: float, probability of zeroing results in training.
        activation: "relu", "gelu" or "silu".
        attn_dropout_rate, act_dropout_rate: of attention weights and of what the activation gives.
            Default: dropout_rate.
        normalize_before: normalise the inputs of the blocks instead of their results.
        weight_attr, bias_attr: ParamAttr of weights and biases, or a list of two: of attention and
            of feed-forward.
    Raises:
        AssertionError: a size is not positive or nhead does not divide d_model.
    Example:
        >>> paddle.incubate.nn.FusedTransformerEncoderLayer(8, 2, 16)(paddle.rand([2, 5, 8])).shape
        paddle.Size([2, 5, 8])

    Differs from Paddle: works on the CPU.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout_rate: float = 0.1,
        activation: str = "relu",
        attn_dropout_rate: Any = None,
        act_dropout_rate: Any = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        # An encoder makes its other layers with the same arguments.
        self._config = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        super().__init__()
        _positive(
            "FusedTransformerEncoderLayer", d_model=d_model, nhead=nhead, dim_feedforward=dim_feedforward
        )
        self.normalize_before = normalize_before
        weights = _convert_param_attr_to_list(weight_attr, 2)
        biases = _convert_param_attr_to_list(bias_attr, 2)
        self.fused_attn: FusedMultiHeadAttention = FusedMultiHeadAttention(
            d_model,
            nhead,
            dropout_rate,
            dropout_rate if attn_dropout_rate is None else attn_dropout_rate,
            normalize_before=normalize_before,
            qkv_weight_attr=weights[0],
            qkv_bias_attr=biases[0],
            linear_weight_attr=weights[0],
            linear_bias_attr=biases[0],
            pre_ln_scale_attr=weights[0],
            pre_ln_bias_attr=biases[0],
            ln_scale_attr=weights[0],
            ln_bias_attr=biases[0],
        )
        self.ffn: FusedFeedForward = FusedFeedForward(
            d_model,
            dim_feedforward,
            dropout_rate,
            activation=activation,
            act_dropout_rate=dropout_rate if act_dropout_rate is None else act_dropout_rate,
            normalize_before=normalize_before,
            linear1_weight_attr=weights[1],
            linear1_bias_attr=biases[1],
            linear2_weight_attr=weights[1],
            linear2_bias_attr=biases[1],
        )

    def forward(self, src: Tensor, src_mask: Tensor | None = None, cache: Any = None) -> Any:
        """Returns the output [B, L, d_model]; with a cache a pair of that and the new cache.

        Args:
            src: Tensor [B, L, d_model].
            src_mask, cache: as `attn_mask` and `cache` of FusedMultiHeadAttention.
        """
        if cache is None:
            return self.ffn(self.fused_attn(src, attn_mask=_convert_attention_mask(src_mask, src.dtype)))
        y, cache = self.fused_attn(src, attn_mask=_convert_attention_mask(src_mask, src.dtype), cache=cache)
        return self.ffn(y), cache


def _attr(attrs: Sequence[ParamAttr | None] | None, i: int) -> Any:
    """The attribute of layer i from a list of them or one for all."""
    if isinstance(attrs, list | tuple):
        return attrs[i]
    return attrs


class FusedMultiTransformer(Layer):
    """A stack of Transformer layers for inference, with caches of keys and values.

    Args:
        embed_dim: int, the last length.
        num_heads: int, a divisor of embed_dim.
        dim_feedforward: int, the length inside the feed-forward blocks.
        dropout_rate: float, probability of zeroing results.
        activation: "gelu", "relu", "silu" or "swiglu".
        normalize_before: normalise the inputs of the blocks instead of their results.
        ln_scale_attrs, ln_bias_attrs, qkv_weight_attrs, qkv_bias_attrs, linear_weight_attrs,
            linear_bias_attrs, ffn_ln_scale_attrs, ffn_ln_bias_attrs, ffn1_weight_attrs, ffn1_bias_attrs,
            ffn2_weight_attrs, ffn2_bias_attrs: ParamAttrs, each a list with one for each layer, or one for
            all; without one for biases there are none.
        epsilon: float, added to the variance.
        residual_alpha: float, factor of the residuals.
        num_layers: int. Default: the length of qkv_weight_attrs.
        nranks, ring_id: 1 and -1.
        trans_qkvw: whether the weights of queries, keys and values are [3, num_heads, width, embed_dim] or
            [embed_dim, 3, num_heads, width].
        norm_type: "layernorm" or "rmsnorm".
        use_neox_rotary_style: True pairs the halves of a head, False neighbours.
        gqa_group_size: how many key heads there are. Default: num_heads.
    Attributes:
        normalize_before, _epsilon, _residual_alpha, _trans_qkvw, _ring_id, _norm_type,
            _use_neox_rotary_style, _gqa_group_size, embed_dim, num_heads, _dim_feedforward, dropout_rate,
            activation, name: as given.
        head_dim: int, embed_dim // num_heads.
        ln_scales, qkv_weights and the other kinds: lists of Parameters, one for each layer; or None.
    Raises:
        AssertionError: a size is not positive, num_heads does not divide embed_dim, or how many
            layers is not said.
    Example:
        >>> layer = paddle.incubate.nn.FusedMultiTransformer(8, 2, 16, num_layers=2)
        >>> layer(paddle.rand([1, 3, 8])).shape
        paddle.Size([1, 3, 8])

    Differs from Paddle: works on the CPU.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dim_feedforward: int,
        dropout_rate: float = 0.0,
        activation: str = "gelu",
        normalize_before: bool = True,
        ln_scale_attrs: Any = None,
        ln_bias_attrs: Any = None,
        qkv_weight_attrs: Any = None,
        qkv_bias_attrs: Any = None,
        linear_weight_attrs: Any = None,
        linear_bias_attrs: Any = None,
        ffn_ln_scale_attrs: Any = None,
        ffn_ln_bias_attrs: Any = None,
        ffn1_weight_attrs: Any = None,
        ffn1_bias_attrs: Any = None,
        ffn2_weight_attrs: Any = None,
        ffn2_bias_attrs: Any = None,
        epsilon: float = 1e-5,
        residual_alpha: float = 1.0,
        num_layers: int = -1,
        nranks: Any = 1,
        trans_qkvw: bool = True,
        ring_id: Any = -1,
        norm_type: str = "layernorm",
        use_neox_rotary_style: bool = False,
        gqa_group_size: Any = -1,
        name: str | None = None,
    ) -> None:
        super().__init__()
        width = _head_width("FusedMultiTransformer", embed_dim, num_heads)
        _positive("FusedMultiTransformer", dim_feedforward=dim_feedforward)
        _whole("FusedMultiTransformer", nranks)
        if isinstance(qkv_weight_attrs, list | tuple):
            num_layers = len(qkv_weight_attrs)
        if num_layers <= 0:
            raise AssertionError(
                f"FusedMultiTransformer: num_layers: got {num_layers}; "
                "it must be above 0 where qkv_weight_attrs is no list"
            )
        self.normalize_before = normalize_before
        self._epsilon = epsilon
        self._residual_alpha = residual_alpha
        self._trans_qkvw = trans_qkvw
        self._ring_id = ring_id
        self._norm_type = norm_type
        self._use_neox_rotary_style = use_neox_rotary_style
        self._gqa_group_size = gqa_group_size
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = width
        self._dim_feedforward = dim_feedforward
        self.dropout_rate = dropout_rate
        self.activation = activation
        self.name = name
        if gqa_group_size > 0:
            heads = [num_heads + 2 * gqa_group_size, width]
        else:
            heads = [3, num_heads, width]
        # A gated activation takes two halves.
        inner = dim_feedforward * (2 if activation.endswith("glu") else 1)
        parameters = {
            "ln_scales": (ln_scale_attrs, [embed_dim]),
            "ln_biases": (ln_bias_attrs, [embed_dim]),
            "qkv_weights": (qkv_weight_attrs, [*heads, embed_dim] if trans_qkvw else [embed_dim, *heads]),
            "qkv_biases": (qkv_bias_attrs, heads),
            "linear_weights": (linear_weight_attrs, [embed_dim, embed_dim]),
            "linear_biases": (linear_bias_attrs, [embed_dim]),
            "ffn_ln_scales": (ffn_ln_scale_attrs, [embed_dim]),
            "ffn_ln_biases": (ffn_ln_bias_attrs, [embed_dim]),
            "ffn1_weights": (ffn1_weight_attrs, [embed_dim, inner]),
            "ffn1_biases": (ffn1_bias_attrs, [inner]),
            "ffn2_weights": (ffn2_weight_attrs, [dim_feedforward, embed_dim]),
            "ffn2_biases": (ffn2_bias_attrs, [embed_dim]),
        }
        self._make(num_layers, parameters)

    def _make(self, num_layers: int, parameters: dict[str, Any]) -> None:
        """Makes the lists of parameters, one of each kind for each layer. parameters: {kind:
        (attrs, shape)}."""
        lists = {kind: [] for kind in parameters}
        for i in range(num_layers):
            for kind, (attrs, shape) in parameters.items():
                if attrs is not None or "bias" not in kind:
                    lists[kind].append(self._create_listed_parameter(kind, _attr(attrs, i), shape))
        # Without biases the function takes None.
        for kind, values in lists.items():
            setattr(self, kind, values or None)

    def _create_listed_parameter(
        self, kind: str, attr: ParamAttr | None, shape: Sequence[int]
    ) -> Tensor | None:
        if attr is None and "bias" in kind:
            return None
        start = Constant(1.0) if "scale" in kind else None
        parameter = self.create_parameter(shape, attr=attr, is_bias="bias" in kind, default_initializer=start)
        if parameter is not None:
            # the key is not a name of an attribute: it has a dot
            self._parameters[parameter.name] = parameter
        return parameter

    def forward(
        self,
        src: Tensor,
        attn_mask: Any = None,
        caches: Any = None,
        pre_caches: Any = None,
        rotary_embs: Any = None,
        rotary_emb_dims: Any = 0,
        beam_offset: Any = None,
        seq_lens: Any = None,
        time_step: Any = None,
    ) -> Tensor:
        """Returns the output [B, L, embed_dim]; with caches a pair of that and the caches. See
        `functional.fused_multi_transformer`."""
        return F.fused_multi_transformer(
            src,
            self.ln_scales,
            self.ln_biases,
            self.qkv_weights,
            self.qkv_biases,
            self.linear_weights,
            self.linear_biases,
            self.ffn_ln_scales,
            self.ffn_ln_biases,
            self.ffn1_weights,
            self.ffn1_biases,
            self.ffn2_weights,
            self.ffn2_biases,
            self.normalize_before,
            self._epsilon,
            self._residual_alpha,
            caches,
            beam_offset,
            pre_caches,
            seq_lens,
            rotary_embs,
            time_step,
            attn_mask,
            self.dropout_rate,
            rotary_emb_dims,
            self.activation,
            self.training,
            "upscale_in_train",
            self._trans_qkvw,
            self._ring_id,
            self._norm_type,
            self._use_neox_rotary_style,
            self._gqa_group_size,
            self.name,
        )
