# %% import
import paddle
A = paddle.to_tensor([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]])
b = paddle.to_tensor([1.0, 2, 3])
# %% products
A @ b, paddle.dot(b, b), paddle.mm(A, A), paddle.outer(b, b), paddle.cross(b, b + paddle.to_tensor([0.0, 1, 0])), paddle.kron(b[:2], b[:2])
A.T, paddle.t(A), A.trace(), paddle.diagonal(A), paddle.inner(A, b), paddle.mv(A, b)
paddle.bmm(A.unsqueeze(0), A.unsqueeze(0)).shape, paddle.addmm(A, A, A)[0], paddle.tensordot(A, A, 2)
# %% einsum
paddle.einsum("ij,j->i", A, b)
paddle.einsum("ij->ji", A), paddle.einsum("ii->i", A), paddle.einsum("ij->", A), paddle.einsum("i,j->ij", b, b)
X = paddle.arange(12, dtype="float32").reshape([2, 2, 3])
paddle.einsum("bij,jk->bik", X, A)
paddle.einsum("...ij,...kj->...ik", X, X)
# %% solving
paddle.linalg.solve(A, b)
paddle.linalg.inv(A)
paddle.linalg.inv(A) @ A
paddle.linalg.det(A), paddle.linalg.slogdet(A)
L = paddle.linalg.cholesky(A)
L
paddle.allclose(L @ L.T, A)
paddle.linalg.triangular_solve(L, b.unsqueeze(-1), upper=False)
paddle.linalg.cholesky_solve(b.unsqueeze(-1), L)
# %% decompositions
w, V = paddle.linalg.eigh(A)
w
paddle.allclose(V @ paddle.diag(w) @ V.T, A, atol=1e-5)
U, S, Vh = paddle.linalg.svd(A)
S
Q, R = paddle.linalg.qr(A)
paddle.allclose(Q @ R, A, atol=1e-5), R.abs()
paddle.linalg.eigvalsh(A)
# %% norms
paddle.linalg.norm(A), paddle.linalg.norm(b, p=1), paddle.linalg.norm(b, p=float("inf")), paddle.linalg.norm(A, axis=1), paddle.linalg.norm(A, p="fro"), paddle.linalg.cond(A)
paddle.linalg.matrix_rank(A), paddle.linalg.matrix_power(A, 3), paddle.linalg.pinv(A[:2])
paddle.linalg.multi_dot([A, A, b]), paddle.linalg.cov(A), paddle.linalg.corrcoef(A)
paddle.linalg.lstsq(A, b.unsqueeze(-1))[0]
# %% refused
paddle.linalg.inv(paddle.ones([2, 3]))
# %% refused shapes
paddle.matmul(A, paddle.ones([2, 2]))
# %% gradients
A.stop_gradient = False
paddle.linalg.slogdet(A)[1].backward()
A.grad
paddle.allclose(A.grad, paddle.linalg.inv(A.detach()).T, atol=1e-5)
# %% principal components
data = paddle.to_tensor([[2.0, 1.9], [0.5, 0.7], [2.2, 2.9], [1.9, 2.2], [3.1, 3.0]])
centered = data - data.mean(0)
C = centered.T @ centered / (len(data) - 1)
C
vals, vecs = paddle.linalg.eigh(C)
vals
(centered @ vecs[:, -1:]).abs()
vals[-1] / vals.sum()
