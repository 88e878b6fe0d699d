# %% data
import math
import numpy as np
import paddle
import paddle.nn.functional as F
text = "the time traveller for so it will be convenient to speak of him here"
chars = sorted(set(text))
index = {c: i for i, c in enumerate(chars)}
corpus = [index[c] for c in text]
len(chars), corpus[:10]
F.one_hot(paddle.to_tensor([0, 2]), len(chars))
X = paddle.arange(10).reshape([2, 5])
F.one_hot(X.T, 28).shape
# %% parameters
def params(vocab, hidden):
    def normal(shape, k):
        return paddle.to_tensor(np.sin(np.arange(np.prod(shape)) * 1.9 + k).reshape(shape).astype("float32") * 0.3)
    found = [normal([vocab, hidden], 0), normal([hidden, hidden], 1), paddle.zeros([hidden]), normal([hidden, vocab], 2), paddle.zeros([vocab])]
    for p in found:
        p.stop_gradient = False
    return found
def init_state(batch, hidden):
    return (paddle.zeros([batch, hidden]),)
def rnn(inputs, state, params):
    W_xh, W_hh, b_h, W_hq, b_q = params
    (H,) = state
    outputs = []
    for X in inputs:
        H = paddle.tanh(X @ W_xh + H @ W_hh + b_h)
        outputs.append(H @ W_hq + b_q)
    return paddle.concat(outputs, axis=0), (H,)
ps = params(len(chars), 16)
Y, (H,) = rnn(F.one_hot(X.T % len(chars), len(chars)), init_state(2, 16), ps)
Y.shape, H.shape
Y[0]
# %% clipping
def clip(params, theta):
    norm = math.sqrt(sum((p.grad**2).sum().item() for p in params))
    if norm > theta:
        for p in params:
            p.grad.set_value(p.grad * theta / norm)
    return norm
# %% training
steps, n = 8, 4
data = paddle.to_tensor(corpus[: n * steps * 2 + 1])
for epoch in range(6):
    state, total = init_state(n, 16), 0.0
    for k in range(2):
        part = data[k * n * steps : (k + 1) * n * steps].reshape([n, steps])
        target = data[k * n * steps + 1 : (k + 1) * n * steps + 1].reshape([n, steps])
        state = (state[0].detach(),)
        out, state = rnn(F.one_hot(part.T, len(chars)), state, ps)
        loss = F.cross_entropy(out, target.T.reshape([-1]))
        loss.backward()
        clip(ps, 1.0)
        with paddle.no_grad():
            for p in ps:
                p.set_value(p - 1.0 * p.grad)
                p.clear_gradient()
        total += loss.item()
    print(epoch, "perplexity", round(math.exp(total / 2), 1))
# %% predict
def predict(prefix, count):
    state, out = init_state(1, 16), [index[prefix[0]]]
    step = lambda: F.one_hot(paddle.to_tensor([[out[-1]]]), len(chars))
    for c in prefix[1:]:
        _, state = rnn(step(), state, ps)
        out.append(index[c])
    for _ in range(count):
        y, state = rnn(step(), state, ps)
        out.append(int(y.argmax(axis=1)))
    return "".join(chars[i] for i in out)
len(predict("time ", 10)), predict("time ", 0)
