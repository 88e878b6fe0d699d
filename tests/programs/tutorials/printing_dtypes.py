# %% import
import numpy as np
import paddle
# %% every dtype
for name in ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]:
    print(paddle.to_tensor([0, 1, 3]).astype(name))
# %% names of dtypes
paddle.float32, paddle.int64, paddle.bool, paddle.bfloat16, paddle.complex128
str(paddle.float32), repr(paddle.int8)
paddle.ones([1]).dtype == paddle.float32, paddle.ones([1]).dtype == "float32"
# %% no axes
paddle.to_tensor(1), paddle.to_tensor(-2.5), paddle.to_tensor(True), paddle.to_tensor(1j)
# %% empty
paddle.zeros([0]), paddle.zeros([0, 3]), paddle.zeros([2, 0]), paddle.zeros([2, 0, 3], dtype="int32")
# %% one element
paddle.to_tensor([7]), paddle.to_tensor([[7.25]])
# %% large and small numbers
paddle.to_tensor([1e10, 1.0, 1e-10])
paddle.to_tensor([1e-5, 1e-6])
paddle.to_tensor([123456.789, 0.001])
paddle.to_tensor([1e20, 1e30], dtype="float64")
# %% infinities
paddle.to_tensor([float("inf"), float("-inf"), float("nan"), 1.0])
paddle.to_tensor(float("nan"))
paddle.to_tensor([[float("nan"), 2.0], [-1.0, float("inf")]])
# %% negative
paddle.to_tensor([-1, 10, -100])
paddle.to_tensor([-1.5, 2.0])
paddle.to_tensor([[-1.0, 2.0], [3.0, -4.0]])
# %% cut in the middle
paddle.arange(2000)
paddle.arange(10000).reshape([100, 100])
paddle.arange(3000, dtype="float32").reshape([10, 10, 30])
# %% on several lines
paddle.arange(60)
paddle.arange(60, dtype="float32") / 7
# %% three and four axes
paddle.arange(12).reshape([2, 3, 2])
paddle.arange(16).reshape([2, 2, 2, 2])
# %% with a gradient
paddle.to_tensor([1.0, 2.0], stop_gradient=False)
# %% as text
print(f"{paddle.to_tensor(3.14159):.3f}", f"{paddle.to_tensor([1, 2])}")
"%s" % paddle.to_tensor([1])
str(paddle.to_tensor([0.5]))
# %% complex
paddle.to_tensor([1 + 1j, -2.5 - 0.5j])
paddle.to_tensor(np.array([[1j, 0], [0, -1j]]))
# %% bools in a table
paddle.to_tensor([[True, False], [False, True]])
