# %% import
import numpy as np
import paddle
from paddle import nn
# %% refused shapes
paddle.ones([2, 3]) @ paddle.ones([2, 3])
# %% refused broadcasting
paddle.ones([2, 3]) + paddle.ones([2])
# %% refused layer input
nn.Linear(3, 2)(paddle.ones([4, 5]))
# %% refused concat
paddle.concat([paddle.ones([2, 2]), paddle.ones([3])])
# %% refused stack
paddle.stack([paddle.ones([2]), paddle.ones([3])])
# %% refused axis
paddle.ones([2, 3]).sum(axis=5)
# %% refused squeeze text
paddle.ones([2]).unsqueeze("a")
# %% refused dtype
paddle.ones([2], dtype="float99")
# %% refused attribute
paddle.ones([2]).nothing
# %% refused module
paddle.nothing_at_all
# %% refused bool of many
bool(paddle.ones([2]))
# %% refused int of many
int(paddle.ones([3]))
# %% refused item
paddle.ones([2]).item()
# %% refused length
len(paddle.to_tensor(1.0))
# %% refused in place on a leaf
x = paddle.ones([2])
x.stop_gradient = False
x.add_(paddle.ones([2]))
# %% refused assignment on a leaf
x[0] = 5.0
# %% refused backward of integers
i = paddle.to_tensor([1, 2])
i.stop_gradient = False
(i * 2).sum().backward()
# %% wrong loss labels refused
nn.functional.cross_entropy(paddle.ones([2, 3]), paddle.to_tensor([0, 7]))
# %% refused label shape
nn.functional.cross_entropy(paddle.ones([2, 3]), paddle.to_tensor([0, 1, 2]))
# %% refused state dict
nn.Linear(2, 2).set_state_dict([1, 2])
# %% refused reduction
nn.MSELoss(reduction="most")
# %% refused kernel
nn.Conv2D(3, 4, "big")
# %% refused groups
nn.Conv2D(3, 4, 3, groups=2)
# %% refused optimizer
paddle.optimizer.Adam(parameters=None, learning_rate="fast")
# %% refused gradient
paddle.grad(paddle.ones([2]), x)
# %% refused set_value
nn.Linear(2, 2).weight.set_value(paddle.ones([3, 3]))
# %% refused gather
paddle.gather(paddle.ones([2]), paddle.to_tensor([1.5]))
# %% refused einsum
paddle.einsum("ij,jk->ik", paddle.ones([2, 2]))
# %% refused pad
nn.functional.pad(paddle.ones([1, 1, 2, 2]), [1, 1], mode="circle")
# %% refused where
paddle.where(paddle.ones([2]) > 0, paddle.ones([2]))
# %% refused split
paddle.split(paddle.ones([4]), [1, 1])
# %% refused device
paddle.set_device("toaster")
# %% refused load
paddle.load("no_such_file")
# %% NumPy on a gradient
g = paddle.ones([2])
g.stop_gradient = False
np.asarray(g), g.numpy()
np.sum(g.numpy())
# %% comparisons with None and text
g == None
g is None
