# %% import
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
z1 = paddle.to_tensor(np.sin(np.arange(12)).reshape(4, 3).astype("float32"))
z2 = z1 + paddle.to_tensor(np.cos(np.arange(12)).reshape(4, 3).astype("float32")) * 0.1
# %% normalised
F.normalize(z1, axis=1)
F.normalize(z1, axis=1).norm(axis=1)
F.cosine_similarity(z1, z2)
# %% loss
def info_nce(a, b, temperature=0.5):
    logits = F.normalize(a, axis=1) @ F.normalize(b, axis=1).T / temperature
    return F.cross_entropy(logits, paddle.arange(len(a)))
info_nce(z1, z2)
info_nce(z1, z2.flip(0)) > info_nce(z1, z2)
# %% pairs and triplets
F.triplet_margin_loss(z1, z2, z1.flip(0))
F.cosine_embedding_loss(z1, z2, paddle.to_tensor([1, 1, -1, -1]))
F.hinge_embedding_loss(z1, paddle.sign(z2))
# %% siamese
class Siamese(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    def forward(self, a, b):
        return self.body(a), self.body(b)
net = Siamese()
for k, p in enumerate(net.parameters()):
    p.set_value(np.sin(np.arange(p.size) * 1.7 + k).reshape(p.shape).astype("float32") * 0.5)
opt = paddle.optimizer.Momentum(0.1, parameters=net.parameters())
for step in range(5):
    loss = info_nce(*net(z1, z2))
    loss.backward()
    opt.step()
    opt.clear_grad()
print(f"{loss.item():.3f}")
# %% a slow copy
import copy
teacher = copy.deepcopy(net)
for p in teacher.parameters():
    p.stop_gradient = True
def follow(m=0.9):
    for p, q in zip(teacher.parameters(), net.parameters()):
        p.set_value(m * p + (1 - m) * q)
follow()
[bool(paddle.allclose(p, q)) for p, q in zip(teacher.parameters(), net.parameters())]
teacher.body[0].weight is net.body[0].weight
# %% distillation
student, wise = paddle.to_tensor([[1.0, 0.5, 0.1]], stop_gradient=False), paddle.to_tensor([[2.0, 0.1, -1.0]])
soft = F.kl_div(F.log_softmax(student / 2, axis=-1), F.softmax(wise / 2, axis=-1), reduction="batchmean") * 4
soft
(soft + F.cross_entropy(student, paddle.to_tensor([0]))).backward()
student.grad
# %% queue
queue = paddle.zeros([3, 2])
for k in range(4):
    queue = paddle.concat([queue[1:], paddle.full([1, 2], float(k))])
queue
# %% mixing
lam = 0.3
mixed = lam * z1 + (1 - lam) * z1[paddle.to_tensor([1, 0, 3, 2])]
mixed[0]
