"""Attention with caches and masks, transformers' settings, beam search: against the real
Paddle line by line."""

import pytest

from tests.nn.scripts import same

FILL = (
    "fill = lambda layer: [p.set_value(np.sin(np.arange(p.size) * 0.7 + "
    "i).reshape(p.shape).astype('float32')) for i, p in enumerate(layer.parameters())] and layer.eval()"
)
WAVE = (
    "wave = lambda *shape: paddle.to_tensor(np.cos(np.arange(np.prod(shape)) * "
    "1.3).reshape(shape).astype('float32'))"
)
SCRIPTS = {
    "attention": [
        FILL,
        WAVE,
        "nn.MultiHeadAttention(8, 3)",
        "nn.MultiHeadAttention(8, 0)",
        "nn.MultiHeadAttention(0, 2)",
        "m = nn.MultiHeadAttention(8, 2)",
        "fill(m)",
        "x, y = wave(2, 3, 8), wave(2, 4, 8)",
        "m(x).numpy()",
        "m(x, y, y).numpy()",
        "m.Cache, m.StaticCache._fields",
        "m.gen_cache(x)",
        "[t.shape for t in m.gen_cache(x, x, type=m.Cache)]",
        "[t.numpy() for t in m.gen_cache(x, x, type=m.StaticCache)]",
        "c = m.gen_cache(x)",
        "out = [m(x[:, i:i + 1], cache=c) for i in range(1)][0]",
        "len(out), out[0].numpy(), out[1].k.numpy()",
        "out = m(x[:, 1:2], cache=out[1])",
        "out[0].numpy(), out[1].k.shape",
        "out = m(x, y, y, None, m.gen_cache(y, y, type=m.StaticCache))",
        "out[0].numpy(), type(out[1])",
        "m.need_weights = True",
        "[t.numpy() for t in m(x)]",
        "len(m(x, cache=c))",
        "m.need_weights = False",
        *[
            f"m(x, attn_mask={mask}).numpy()"
            for mask in (
                "paddle.tril(paddle.ones([3, 3])).astype('bool')",
                "paddle.tril(paddle.ones([3, 3])).astype('int64')",
                "wave(3, 3)",
                "wave(3, 3).astype('float64')",
                "wave(2, 1, 3, 3)",
                "wave(2, 2, 3, 3)",
            )
        ],
    ],
    "encoder": [
        FILL,
        WAVE,
        "nn.TransformerEncoderLayer(8, 2, 0)",
        "nn.TransformerEncoderLayer(8, 0, 1)",
        "nn.TransformerEncoderLayer(8, 2, 16, activation='foo')",
        "nn.TransformerEncoderLayer(8, 2, 16, weight_attr=[None])",
        "nn.TransformerEncoderLayer(8, 2, 16)._config",
        "E = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2)",
        "fill(E)",
        "x = wave(2, 3, 8)",
        "E(x).numpy()",
        "E",
        "[p.name for p in E.parameters()]",
        "[[t.shape for t in c] for c in E.gen_cache(x)]",
        "out, new = E(x, cache=E.gen_cache(x))",
        "out.numpy(), len(new), new[1].v.numpy()",
        "E(x, wave(3, 3)).numpy()",
        "N = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 1, nn.LayerNorm(8))",
        "fill(N)",
        "N(x).numpy()",
        (
            "nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, "
            "weight_attr=paddle.ParamAttr(name='ww')), 2)"
        ),
    ],
    "decoder": [
        FILL,
        WAVE,
        "nn.TransformerDecoderLayer(8, 2, 16, weight_attr=[None] * 2)",
        "D = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16), 2)",
        "fill(D)",
        "x, mem = wave(2, 3, 8), wave(2, 4, 8)",
        "D(x, mem).numpy()",
        "c = D.gen_cache(mem)",
        "[type(one) for one in c[0]], [t.shape for t in c[0][1]]",
        "len(D.gen_cache(mem, do_zip=True)), len(D.gen_cache(mem, True)[0])",
        "out, new = D(x[:, :1], mem, cache=c)",
        "out.numpy(), len(new), len(new[0])",
        "out, new = D(x[:, 1:2], mem, cache=new)",
        "out.numpy(), new[0][0].k.shape, type(new[0][1])",
        "D(x, mem, wave(3, 3), wave(3, 4)).numpy()",
    ],
    "transformer": [
        FILL,
        WAVE,
        "t = nn.Transformer(8, 2, 1, 1, 16)",
        "t.generate_square_subsequent_mask(3)",
        "fill(t)",
        "x, y = wave(2, 3, 8), wave(2, 4, 8)",
        "t(x, y).numpy()",
        "t(x, y, tgt_mask=t.generate_square_subsequent_mask(4)).numpy()",
        "nn.Transformer(8, 3)",
        *[
            f"[p.shape for p in nn.Transformer(8, 2, 1, 1, 16, bias_attr={attr}).parameters()]"
            for attr in ("False", "[False]", "[False, None]", "[None, False, None]")
        ],
        "nn.Transformer(8, 2, 1, 1, 16, attn_dropout=0.3, act_dropout=0.4)",
        "nn.Transformer(8, 2, 1, 1, 16, custom_encoder=nn.Identity()).encoder",
    ],
    "beam search": [
        FILL,
        WAVE,
        "emb, out, cell = nn.Embedding(6, 4), nn.Linear(3, 6), nn.GRUCell(4, 3)",
        "[fill(layer) and None for layer in (emb, out, cell)]",
        "dec = nn.BeamSearchDecoder(cell, 0, 1, 2, embedding_fn=emb, output_fn=out)",
        "enc = wave(3, 3)",
        "inputs, states, finished = dec.initialize(enc)",
        "inputs.shape, states._fields, [t.numpy() for t in states], finished",
        "dec.tracks_own_finished",
        "nn.BeamSearchDecoder.tile_beam_merge_with_batch(paddle.to_tensor([[1, 2], [3, 4]]), 2)",
        "found, after, inputs, finished = dec.step(paddle.to_tensor([0]), inputs, states)",
        "[t.numpy() for t in found], [t.numpy() for t in after]",
        "inputs.numpy(), finished.numpy()",
        "ids, last = nn.dynamic_decode(dec, inits=enc, max_step_num=6)",
        "ids, [t.numpy() for t in last]",
        "nn.dynamic_decode(dec, inits=enc, max_step_num=4, return_length=True)[2]",
        "nn.dynamic_decode(dec, inits=enc, max_step_num=4, output_time_major=True)[0]",
        "nn.dynamic_decode(dec, inits=enc, max_step_num=0)[0]",
        "cell2 = nn.LSTMCell(4, 3)",
        "fill(cell2)",
        "dec2 = nn.BeamSearchDecoder(cell2, 0, 3, 3, embedding_fn=emb, output_fn=out)",
        (
            "nn.dynamic_decode(dec2, inits=cell2.get_initial_states(enc), max_step_num=9, "
            "return_length=True)[::2]"
        ),
        "dec3 = nn.BeamSearchDecoder(cell, 0, 4, 2, embedding_fn=emb, output_fn=out)",
        "nn.dynamic_decode(dec3, inits=enc, max_step_num=20, return_length=True)[::2]",
    ],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
@pytest.mark.filterwarnings("ignore")
def test_behaves_alike(script, oracle, paddle):
    same(script, oracle, paddle)


def test_float16_masks_stay_finite(paddle):
    layer = paddle.nn.MultiHeadAttention(8, 2).float16()
    out = layer(
        paddle.ones([1, 3, 8], dtype="float16"), attn_mask=paddle.tril(paddle.ones([3, 3])).astype("bool")
    )
    assert bool(out.isfinite().all())
