# %% import
import os
import numpy as np
import paddle
from paddle import nn
from paddle.static import InputSpec
# %% a trained layer
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
    def forward(self, x):
        return nn.functional.softmax(self.fc(x))
net = Net()
net.fc.weight.set_value(np.arange(12).reshape(4, 3).astype("float32") / 10)
x = paddle.to_tensor(np.arange(8).reshape(2, 4).astype("float32") / 8)
net(x)
# %% saving
net.eval()
paddle.jit.save(net, "model/net", input_spec=[InputSpec([None, 4], "float32", name="x")])
sorted(os.listdir("model"))
# %% loading
loaded = paddle.jit.load("model/net")
_ = loaded.eval()
loaded(x)
loaded(x[:1])
[tuple(p.shape) for p in loaded.parameters()]
# %% fine tuning
_ = loaded.train()
opt = paddle.optimizer.SGD(0.5, parameters=loaded.parameters())
loss = nn.functional.nll_loss(paddle.log(loaded(x)), paddle.to_tensor([0, 1]))
loss
loss.backward()
opt.step()
loaded(x)
# %% to_static and the last call
@paddle.jit.to_static
def f(a):
    return a * 2 + 1
f(paddle.ones([3]))
# %% a decorated layer
class Other(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
    @paddle.jit.to_static(input_spec=[InputSpec([None, 4])])
    def forward(self, x):
        return self.fc(x)
o = Other()
o.fc.weight.set_value(paddle.ones([4, 2]))
paddle.jit.save(o, "other")
paddle.jit.load("other")(paddle.ones([1, 4]))
# %% refused nothing there
paddle.jit.load("nothing/here")
# %% descriptions
InputSpec([None, 4], "float32", "x")
InputSpec.from_tensor(x, name="given")
# %% inference
from paddle import inference
config = inference.Config("model/net.json", "model/net.pdiparams")
predictor = inference.create_predictor(config)
predictor.get_input_names()
handle = predictor.get_input_handle(predictor.get_input_names()[0])
handle.copy_from_cpu(x.numpy())
predictor.run()
out = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
paddle.to_tensor(out)
