# %% import
import numpy as np
import paddle
from paddle import nn
import paddle.nn.functional as F
# %% a corridor
class Corridor:
    def __init__(self, n=4):
        self.n = n
    def reset(self):
        self.at = 0
        return self.at
    def step(self, action):
        self.at = max(0, self.at + (1 if action == 1 else -1))
        done = self.at == self.n - 1
        return self.at, 1.0 if done else -0.1, done
env = Corridor()
env.reset(), env.step(1), env.step(0)
# %% policy
policy = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
for k, p in enumerate(policy.parameters()):
    p.set_value(np.sin(np.arange(p.size) * 1.7 + k).reshape(p.shape).astype("float32") * 0.3)
def state(s):
    return F.one_hot(paddle.to_tensor([s]), 4)
F.softmax(policy(state(0)))
# %% an episode
rng = np.random.RandomState(0)
def episode(limit=12):
    s, logs, rewards = env.reset(), [], []
    for _ in range(limit):
        logp = F.log_softmax(policy(state(s)), axis=-1)[0]
        a = int(rng.rand() < np.exp(logp[1].item()))
        s, r, done = env.step(a)
        logs.append(logp[a])
        rewards.append(r)
        if done:
            break
    return paddle.stack(logs), rewards
def returns(rewards, gamma=0.9):
    out, total = [], 0.0
    for r in reversed(rewards):
        total = r + gamma * total
        out.insert(0, total)
    return paddle.to_tensor(out)
returns([-0.1, -0.1, 1.0])
# %% training
opt = paddle.optimizer.Adam(0.03, parameters=policy.parameters())
lengths = []
for k in range(12):
    logs, rewards = episode()
    loss = -(logs * returns(rewards)).sum()
    loss.backward()
    opt.step()
    opt.clear_grad()
    lengths.append(len(rewards))
lengths
# %% after
F.softmax(policy(paddle.eye(4)), axis=-1)[:, 1] > 0.5
# %% values by iteration
V = paddle.zeros([4])
for _ in range(5):
    right = paddle.concat([V[1:], V[-1:]])
    left = paddle.concat([V[:1], V[:-1]])
    V = paddle.maximum(-0.1 + 0.9 * right, -0.1 + 0.9 * left)
    V[3] = 1.0
V
# %% a table of values
Q = paddle.zeros([3, 2])
Q[0, 1] += 0.5 * (1.0 + 0.9 * Q[1].max() - Q[0, 1])
Q
Q.argmax(axis=1)
# %% entropy
p = paddle.to_tensor([[0.5, 0.5], [0.9, 0.1]])
-(p * p.log()).sum(-1)
