# %% import
import numpy as np
import paddle
from paddle import nn
def filled(layer, scale=0.2):
    for k, p in enumerate(layer.parameters()):
        if len(p.shape) > 1:
            p.set_value(np.sin(np.arange(p.size) * 1.7 + k).reshape(p.shape).astype("float32") * scale)
    return layer
src = paddle.to_tensor(np.cos(np.arange(2 * 4 * 8)).reshape([2, 4, 8]).astype("float32"))
tgt = paddle.to_tensor(np.sin(np.arange(2 * 3 * 8)).reshape([2, 3, 8]).astype("float32"))
# %% encoder
layer = filled(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0))
layer(src)
enc = filled(nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0), 2))
memory = enc(src)
memory[0]
# %% decoder
dec = filled(nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0), 2))
mask = nn.Transformer.generate_square_subsequent_mask(nn.Transformer(8, 2, 1, 1, 16), 3)
mask
dec(tgt, memory, tgt_mask=mask)
# %% whole
model = filled(nn.Transformer(8, 2, 1, 1, 16, dropout=0.0))
model.eval()
model(src, tgt)
len(model.parameters())
# %% norm first
filled(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, activation="gelu", normalize_before=True))(src)[0, 0]
# %% caches
cache = dec.gen_cache(memory)
out, cache = dec(tgt[:, :1], memory, cache=cache)
out.shape, len(cache)
# %% gradients
model(src, tgt).sum().backward()
[name for name, p in model.named_parameters() if p.grad is None]
# %% vision patches
conv = filled(nn.Conv2D(3, 8, kernel_size=4, stride=4))
image = paddle.to_tensor(np.sin(np.arange(3 * 8 * 8)).reshape([1, 3, 8, 8]).astype("float32"))
patches = conv(image).flatten(2).transpose([0, 2, 1])
patches.shape
cls = paddle.zeros([1, 1, 8])
tokens = paddle.concat([cls, patches], axis=1)
enc(tokens)[:, 0]
