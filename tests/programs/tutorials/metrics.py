# %% import
import numpy as np
import paddle
from paddle.metric import Accuracy, Precision, Recall, Auc
# %% accuracy
m = Accuracy()
pred = paddle.to_tensor([[0.1, 0.9], [0.8, 0.2], [0.4, 0.6]])
label = paddle.to_tensor([[1], [0], [0]])
c = m.compute(pred, label)
c
m.update(c)
m.accumulate()
m.reset()
m.accumulate()
top = Accuracy(topk=(1, 2))
top.update(top.compute(pred, label))
top.accumulate(), top.name()
paddle.metric.accuracy(pred, label, k=1)
# %% precision and recall
p, r = Precision(), Recall()
guess = np.array([0.1, 0.5, 0.6, 0.7])
truth = np.array([0, 1, 1, 1])
p.update(guess, truth)
r.update(guess, truth)
p.accumulate(), r.accumulate(), p.name()
# %% area under a curve
auc = Auc()
auc.update(np.array([[0.3, 0.7], [0.9, 0.1], [0.4, 0.6], [0.8, 0.2]]), np.array([[1], [0], [1], [0]]))
auc.accumulate()
# %% by hand
cm = paddle.zeros([2, 2], dtype="int64")
for a, b in zip(pred.argmax(1), label.flatten()):
    cm[int(b), int(a)] += 1
cm
cm.diag().sum() / cm.sum()
# %% one-hot and counting
paddle.nn.functional.one_hot(label.flatten(), 2)
paddle.bincount(label.flatten(), minlength=4)
paddle.histogram(paddle.to_tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3)
# %% statistics
x = paddle.to_tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 9.0]])
x.quantile(0.5, axis=1), x.median(axis=1), x.std(axis=0), x.var(unbiased=False), x.mean(axis=[0, 1]), paddle.mode(x.astype("int64"))
paddle.nanmean(paddle.to_tensor([1.0, float("nan"), 3.0])), paddle.count_nonzero(x - 1), x.amax(axis=0), x.kthvalue(2)
# %% refused
Accuracy(topk=(1,)).update("text")
