# %% data
import numpy as np
import paddle
pts = paddle.to_tensor([[0.0, 0.1], [0.2, 0.0], [0.1, 0.2], [5.0, 5.1], [5.2, 4.9], [4.9, 5.0]])
# %% distances
paddle.cdist(pts[:2], pts[3:])
paddle.dist(pts[0], pts[3]), paddle.nn.functional.pairwise_distance(pts[:3], pts[3:])
D = ((pts.unsqueeze(1) - pts.unsqueeze(0)) ** 2).sum(-1).sqrt()
D[0]
# %% nearest neighbours
labels = paddle.to_tensor([0, 0, 0, 1, 1, 1])
def knn(q, k=3):
    _, at = paddle.topk(((pts - q) ** 2).sum(-1), k, largest=False)
    return int(paddle.mode(labels[at])[0])
knn(paddle.to_tensor([0.3, 0.3])), knn(paddle.to_tensor([4.0, 4.0]))
# %% means
def kmeans(x, centers, steps=3):
    for _ in range(steps):
        which = paddle.cdist(x, centers).argmin(1)
        centers = paddle.stack([x[which == k].mean(0) for k in range(len(centers))])
        print(which.numpy(), centers.numpy().round(3).tolist())
    return centers
c = kmeans(pts, pts[[0, 3]])
c
# %% with scatter
which = paddle.cdist(pts, c).argmin(1)
sums = paddle.zeros([2, 2]).index_add(which, 0, pts)
sums
sums / paddle.bincount(which).unsqueeze(-1).astype("float32")
# %% a mixture
mu, var, pi = c, paddle.ones([2]), paddle.to_tensor([0.5, 0.5])
def density(x):
    d = ((x.unsqueeze(1) - mu) ** 2).sum(-1)
    return paddle.log(pi) - paddle.log(2 * np.pi * var) - d / (2 * var)
r = paddle.nn.functional.softmax(density(pts), axis=1)
r.sum(0)
paddle.logsumexp(density(pts), axis=1).mean()
var = (r * ((pts.unsqueeze(1) - mu) ** 2).sum(-1)).sum(0) / r.sum(0) / 2
var
# %% spectral
W = paddle.exp(-D**2)
L = paddle.diag(W.sum(1)) - W
vals, vecs = paddle.linalg.eigh(L)
vals[:2].abs() < 1e-4
(vecs[:, 1] > 0).astype("int64").sum() == 3
# %% silhouette of one point
a = D[0][labels == 0][1:].mean()
b = D[0][labels == 1].mean()
(b - a) / paddle.maximum(a, b)
# %% kernel density
def kde(q, h=0.5):
    return paddle.exp(-((q - pts) ** 2).sum(-1) / (2 * h * h)).mean()
kde(paddle.to_tensor([0.1, 0.1])), kde(paddle.to_tensor([2.5, 2.5]))
