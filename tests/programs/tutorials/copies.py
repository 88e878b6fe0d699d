# %% import
import copy
import pickle
import paddle
from paddle import nn
# %% tensors
t = paddle.arange(4)
for other in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t)), t.clone(), t.detach(), paddle.assign(t)):
    print(other, other is t)
# %% with gradients
p = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
copy.deepcopy(p).stop_gradient, p.clone().stop_gradient, p.detach().stop_gradient
q = p.clone()
(q * 3).sum().backward()
p.grad
# %% refused deep copy of a result
copy.deepcopy(p * 2)
# %% layers
net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
net[0].weight.set_value(paddle.eye(2))
twin = copy.deepcopy(net)
twin[0].weight.set_value(paddle.zeros([2, 2]))
net[0].weight, twin[0].weight
twin(paddle.ones([1, 2]))
# %% several of one
layers = nn.LayerList([copy.deepcopy(net) for _ in range(2)])
len(layers.parameters()), layers[0][0].weight is layers[1][0].weight
# %% dictionaries of state
state = net.state_dict()
saved = copy.deepcopy(state)
net[0].weight.set_value(paddle.full([2, 2], 7.0))
state["0.weight"], saved["0.weight"]
net.set_state_dict(saved)
net[0].weight
# %% shallow aliases
a = paddle.zeros([2])
b = a
b[0] = 1
a
b = b + 1
a, b
# %% views are not views of NumPy
n = a.numpy()
n[1] = 5
a
# %% slices
c = paddle.zeros([2, 2])
row = c[0]
row.shape
c[0] = paddle.ones([2])
c
# %% schedulers
s = paddle.optimizer.lr.StepDecay(0.1, 2)
s2 = copy.deepcopy(s)
s.step(), s.step()
s.last_lr, s2.last_lr
# %% in sets and dicts
len({t, t, t.clone()}), {t: 1}[t]
hash(t) == hash(t)
# %% equality
t == t.clone(), (t == t.clone()).all().item(), paddle.equal_all(t, t.clone()), t is t.clone()
t.equal(t), paddle.equal(t, paddle.to_tensor(1))
