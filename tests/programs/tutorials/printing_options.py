# %% import
import paddle
# %% precision
x = paddle.to_tensor([[1.23456789, 2.0], [-0.5, 100.125]])
paddle.set_printoptions(precision=3)
x
# %% scientific
paddle.set_printoptions(sci_mode=True, precision=4)
x
# %% back again
paddle.set_printoptions(sci_mode=False, precision=8)
x
# %% thresholds
paddle.set_printoptions(threshold=10, edgeitems=2)
paddle.arange(30)
paddle.arange(30).reshape([5, 6])
# %% line width
paddle.set_printoptions(threshold=1000, edgeitems=3, linewidth=40)
paddle.arange(30)
# %% a list of tensors
[paddle.to_tensor([1]), paddle.to_tensor(2.0)]
{"a": paddle.ones([2])}
(paddle.zeros([1]),)
