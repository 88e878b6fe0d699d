"""A tiny Llama as PaddleNLP writes one: a subclass of PipelineLayer whose stages hand on tuples."""

import numpy as np

import paddle_jax as paddle
from paddle_jax.distributed import fleet
from paddle_jax.distributed.fleet.meta_parallel import LayerDesc, PipelineLayer, SharedLayerDesc
from tests.distributed import gpt

VOCABULARY, WIDTH, HEADS, KEY_HEADS, BLOCKS, LENGTH = 32, 16, 4, 2, 2, 8
parallel = fleet.meta_parallel
nn = paddle.nn


class RMSNorm(nn.Layer):
    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([WIDTH], default_initializer=nn.initializer.Constant(1.0))

    def forward(self, x):
        wide = x.astype("float32")
        return (wide * paddle.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6)).astype(
            x.dtype
        ) * self.weight


def rotated(x, positions):
    """Rotary embedding of [batch, length, heads, size]."""
    half = x.shape[-1] // 2
    rates = 10000.0 ** (-paddle.arange(half, dtype="float32") / half)
    angles = (positions.astype("float32").unsqueeze(-1) * rates).unsqueeze(2)
    cos = paddle.concat([angles.cos()] * 2, -1)
    sin = paddle.concat([angles.sin()] * 2, -1)
    return x * cos + paddle.concat([-x[..., half:], x[..., :half]], -1) * sin


class Attention(nn.Layer):
    def __init__(self):
        super().__init__()
        column = parallel.ColumnParallelLinear
        self.size = WIDTH // HEADS
        self.q_proj = column(WIDTH, WIDTH, has_bias=False, gather_output=False)
        self.k_proj = column(WIDTH, KEY_HEADS * self.size, has_bias=False, gather_output=False)
        self.v_proj = column(WIDTH, KEY_HEADS * self.size, has_bias=False, gather_output=False)
        self.o_proj = parallel.RowParallelLinear(WIDTH, WIDTH, has_bias=False, input_is_parallel=True)

    def forward(self, x, positions, mask):
        rows, length = x.shape[:2]
        q, k, v = (
            one(x).reshape([rows, length, -1, self.size]) for one in (self.q_proj, self.k_proj, self.v_proj)
        )
        q, k = rotated(q, positions), rotated(k, positions)
        out = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.o_proj(out.reshape([rows, length, -1]))


class MLP(nn.Layer):
    def __init__(self):
        super().__init__()
        self.gate_proj = parallel.ColumnParallelLinear(WIDTH, 32, has_bias=False, gather_output=False)
        self.up_proj = parallel.ColumnParallelLinear(WIDTH, 32, has_bias=False, gather_output=False)
        self.down_proj = parallel.RowParallelLinear(32, WIDTH, has_bias=False, input_is_parallel=True)

    def forward(self, x):
        return self.down_proj(nn.functional.swiglu(self.gate_proj(x), self.up_proj(x)))


class DecoderPipe(nn.Layer):
    def __init__(self):
        super().__init__()
        self.input_layernorm, self.post_attention_layernorm = RMSNorm(), RMSNorm()
        self.self_attn, self.mlp = Attention(), MLP()

    def forward(self, given):
        x, positions, mask = given
        x = x + self.self_attn(self.input_layernorm(x), positions, mask)
        return x + self.mlp(self.post_attention_layernorm(x)), positions, mask


class EmbeddingPipe(nn.Layer):
    """Ids to (states, positions, mask); the latter two want no gradients."""

    def __init__(self):
        super().__init__()
        self.embed_tokens = parallel.VocabParallelEmbedding(VOCABULARY, WIDTH)

    @property
    def embedding_weight(self):
        return self.embed_tokens.weight

    def forward(self, ids):
        rows, length = ids.shape
        positions = paddle.arange(length).expand([rows, length])
        mask = paddle.tril(paddle.ones([length, length], "bool")).expand([rows, 1, length, length])
        return self.embed_tokens(ids), positions, mask


class NormPipe(RMSNorm):
    def forward(self, given):
        return super().forward(given[0])


def logits(embedding, x):
    return gpt.logits_of(embedding.embed_tokens, x)


class LlamaForCausalLMPipe(PipelineLayer):
    def __init__(self, **settings):
        self._sequential_layers = []
        shared = {"shared_weight_attr": "embedding_weight"}
        self.add_sequential_layer(SharedLayerDesc("llama", EmbeddingPipe, **shared), "llama")
        for index in range(BLOCKS):
            self.add_sequential_layer(LayerDesc(DecoderPipe), f"llama.layers.{index}")
        self.add_sequential_layer(LayerDesc(NormPipe), "llama.norm")
        self.add_sequential_layer(
            SharedLayerDesc("llama", EmbeddingPipe, forward_func=logits, **shared), "head"
        )
        hcg = fleet.get_hybrid_communicate_group()
        super().__init__(
            layers=[described for described, _ in self._sequential_layers],
            loss_fn=gpt.Loss(),
            topology=hcg.topology(),
            seg_method="layer:DecoderPipe",
            **settings,
        )

    def add_sequential_layer(self, described, name):
        self._sequential_layers.append((described, name))


def train(degrees, steps=4, mode="1F1B", **settings):
    """The losses of some steps, and the model."""
    copies = degrees.get("dp", 1) * degrees.get("sharding", 1)
    gpt.start(degrees, accumulate_steps=2, micro_batch_size=4 // copies, schedule_mode=mode)
    net = LlamaForCausalLMPipe(**settings)
    gpt.fill(net)
    model = fleet.distributed_model(net)
    clip = nn.ClipGradByGlobalNorm(0.5)
    optimizer = paddle.optimizer.AdamW(0.01, parameters=net.parameters(), grad_clip=clip, weight_decay=0.1)
    optimizer = fleet.distributed_optimizer(optimizer)
    losses = []
    for step in range(steps):
        batch = gpt.own_rows(paddle.to_tensor(gpt.tokens(step)))
        losses.append(model.train_batch([batch[:, :-1], batch[:, 1:]], optimizer).item())
    return np.array(losses), net
