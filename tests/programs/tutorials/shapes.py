# %% import
import paddle
x = paddle.arange(6, dtype="float32")
# %% reshape
x.reshape([2, 3]), x.reshape([-1, 2]), x.reshape([0, 1])
x.reshape([2, 3]).shape
# %% refused
x.reshape([4, 2])
# %% axes
y = x.reshape([1, 2, 3])
y.squeeze(), y.unsqueeze(-1).shape, y.transpose([2, 0, 1]).shape, y.flatten().shape
paddle.moveaxis(y, 0, 2).shape, paddle.swapaxes(y, 1, 2).shape
y.T
# %% joining
a, b = paddle.ones([2, 2]), paddle.zeros([2, 2])
paddle.concat([a, b]), paddle.stack([a, b]).shape, paddle.concat([a, b], axis=-1)
paddle.hstack([a, b]), paddle.vstack([a, b])
# %% taking apart
paddle.split(x, 3)
paddle.split(x, [1, 2, 3])
paddle.chunk(x, 2)
paddle.unstack(x.reshape([2, 3]))
paddle.unbind(x.reshape([2, 3]), axis=1)
# %% refused parts
paddle.split(x, 4)
# %% repeating
paddle.tile(paddle.to_tensor([1, 2]), [2, 2])
paddle.to_tensor([[1], [2]]).expand([2, 3])
paddle.broadcast_to(paddle.to_tensor([1, 2]), [3, 2])
paddle.repeat_interleave(paddle.to_tensor([1, 2, 3]), 2)
# %% turning
z = paddle.arange(4).reshape([2, 2])
paddle.flip(z, 0), paddle.rot90(z), paddle.roll(z, 1, 1)
# %% padding
paddle.nn.functional.pad(z.astype("float32"), [1, 1, 0, 0], value=9.0)
# %% sizes
x.shape, list(x.shape), tuple(y.shape), y.shape[1], y.shape[-1]
paddle.shape(y), y.rank(), y.numel()
n, h, w = y.shape
n, h, w
