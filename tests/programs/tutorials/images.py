# %% import
import numpy as np
import paddle
import paddle.nn.functional as F
img = paddle.arange(16, dtype="float32").reshape([1, 1, 4, 4])
# %% flips and crops
img[0, 0].flip(0), img[0, 0].flip([1])
img[:, :, 1:3, 1:3]
paddle.rot90(img[0, 0], 1, [0, 1])
paddle.crop(img, shape=[1, 1, 2, 2], offsets=[0, 0, 1, 1])
# %% padding
F.pad(img, [1, 1, 1, 1], mode="reflect")[0, 0]
F.pad(img, [1, 0, 0, 1], mode="replicate")[0, 0]
F.pad(img, [1, 1, 0, 0], mode="circular")[0, 0, 0]
F.pad(img, [0, 1, 0, 0], value=-1)[0, 0, :1]
# %% resizing
F.interpolate(img, size=[2, 2], mode="nearest")[0, 0]
F.interpolate(img, scale_factor=0.5, mode="bilinear", align_corners=True)[0, 0]
F.interpolate(img, size=[6, 6], mode="bicubic")[0, 0, 0]
F.adaptive_avg_pool2d(img, 2)[0, 0]
# %% filters
blur = paddle.full([1, 1, 3, 3], 1 / 9)
F.conv2d(img, blur)[0, 0]
F.conv2d(img, blur, padding=1)[0, 0, 0]
sobel = paddle.to_tensor([[1.0, 0, -1], [2, 0, -2], [1, 0, -1]]).reshape([1, 1, 3, 3])
F.conv2d(img, sobel)[0, 0]
# %% patches
F.unfold(img, 2, 2)
F.fold(F.unfold(img, 2, 2), [4, 4], 2, strides=2)[0, 0]
img.reshape([2, 2, 2, 2]).transpose([0, 2, 1, 3]).reshape([4, 4])
F.pixel_shuffle(paddle.arange(16, dtype="float32").reshape([1, 4, 2, 2]), 2)[0, 0]
F.pixel_unshuffle(img, 2).shape
# %% channels
rgb = paddle.stack([img[0, 0], img[0, 0] * 2, img[0, 0] * 3])
rgb.mean(0)
(rgb * paddle.to_tensor([0.299, 0.587, 0.114]).reshape([3, 1, 1])).sum(0)
rgb.transpose([1, 2, 0]).shape
(rgb.mean([1, 2]), rgb.std([1, 2]))
F.channel_shuffle(paddle.arange(4, dtype="float32").reshape([1, 4, 1, 1]), 2).flatten()
# %% grids
theta = paddle.to_tensor([[[1.0, 0, 0], [0, 1, 0]]])
grid = F.affine_grid(theta, [1, 1, 2, 2])
grid
F.grid_sample(img, grid)[0, 0]
# %% bytes
b = (rgb * 5).clip(0, 255).astype("uint8")
b[0], b.dtype
b.astype("float32").max() / 255
# %% counts of values
paddle.histogram(img, bins=4)
paddle.unique(paddle.to_tensor([[1, 2], [2, 3]]), return_counts=True)
# %% pooling with places
out, at = F.max_pool2d(img, 2, return_mask=True)
out[0, 0], at[0, 0]
F.max_unpool2d(out, at, 2)[0, 0]
