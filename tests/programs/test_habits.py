"""Small habits of users, line by line in the real Paddle and here: what a line gives, or the class of
exception that it raises."""

import pytest

from tests.nn.scripts import same

LEAF = "w = paddle.ones([2]); w.stop_gradient = False"
LAYER = (
    "class {}(paddle.autograd.PyLayer):\n    forward = staticmethod(lambda ctx, x: "
    "x * 2)\n    backward = staticmethod(lambda ctx, g: {})"
)
LAYERS = (LAYER.format("Twice", "g * 2"), LAYER.format("Same", "g"))
SCRIPTS = {
    "gradients that user code made": [
        *LAYERS,
        *(
            line
            for step in (
                "Twice.apply(w).sum()",
                "Same.apply(w).sum()",
                "(Twice.apply(w) + w).sum()",
                "(w + Twice.apply(w)).sum()",
                "Twice.apply(w * 1).sum()",
                "Twice.apply(w)",
                "w",
            )
            for line in (LEAF, f"{step}.backward()", "w.grad")
        ),
        LEAF,
        "Twice.apply(w).sum().backward()",
        "Twice.apply(w).sum().backward()",
        "w.grad",
        "w.sum().backward()",
        "w.grad",
        "w.clear_grad()",
        "w.grad",
        *(
            line
            for hook in (
                "lambda g: g * 2",
                "lambda g: None",
                "lambda g: paddle.ones([2])",
                "lambda g: g.detach()",
            )
            for line in (LEAF, f"h = w.register_hook({hook})", "w.sum().backward()", "w.grad")
        ),
        LEAF,
        "y = w * 2; y.retain_grads(); Twice.apply(y).sum().backward()",
        "y.grad",
        "w.grad",
    ],
    "parameters as a vector": [
        "l = nn.Linear(2, 2, weight_attr=nn.initializer.Constant(0.5))",
        "v = nn.utils.parameters_to_vector(l.parameters())",
        "v.is_leaf, v.stop_gradient",
        "(v ** 2).sum().backward()",
        "v.grad",
        "l.weight.grad",
        "nn.utils.parameters_to_vector([paddle.ones([2])]).stop_gradient",
    ],
    "lengths in Tensors": [
        *(
            f"paddle.{made}([{length}, 2]).shape"
            for made in ("zeros", "ones", "empty", "rand")
            for length in (
                "paddle.to_tensor([3, 4])",
                "paddle.full([2, 1, 1], 3, 'int64')",
                "paddle.to_tensor([3])",
                "paddle.to_tensor(3)",
                "paddle.to_tensor([3.0])",
            )
        ),
        "paddle.full([paddle.to_tensor([3, 4]), 2], 1.5).shape",
        "paddle.ones([6]).reshape([-1, paddle.to_tensor([3, 2])])",
        "paddle.ones([1]).expand([paddle.to_tensor([3, 2]), 2])",
    ],
    "paddle.nn.init": [
        *(
            line
            for name, shape in (
                ("ones_(x)", "[2]"),
                ("zeros_(x)", "[2, 2]"),
                ("constant_(x, 2.5)", "[3]"),
                ("eye_(x)", "[2, 3]"),
                ("dirac_(x)", "[2, 2, 3]"),
                ("eye_(x)", "[2]"),
                ("orthogonal_(x)", "[2]"),
                ("kaiming_uniform_(x, mode='foo')", "[2, 3]"),
                ("kaiming_normal_(x, nonlinearity='a')", "[2, 3]"),
            )
            for line in (f"x = paddle.full({shape}, 7.0)", f"nn.init.{name}", "x")
        ),
        *(
            line
            for name, scale in (
                ("kaiming_uniform_(x)", 0.0577),
                ("kaiming_uniform_(x, mode='fan_out')", 0.182),
                ("kaiming_uniform_(x, 1.0)", 0.0408),
                ("kaiming_normal_(x, nonlinearity='relu')", 0.0577),
                ("xavier_uniform_(x, 2.0)", 0.11),
                ("uniform_(x, 1.0, 3.0)", 0.577),
                ("xavier_normal_(x, fan_in=10, fan_out=20)", 0.26),
                ("normal_(x, 1.0, 0.5)", 0.5),
                ("trunc_normal_(x)", 0.88),
            )
            for line in (
                "x = paddle.zeros([600, 60])",
                f"nn.init.{name}",
                f"int(x.std() / {scale} * 5 + 0.5)",
                f"int(x.mean() / {scale} * 5 + 0.5)",
            )
        ),
        "nn.init._calculate_fan_in_and_fan_out(paddle.zeros([2, 3, 4]))",
        "nn.init.calculate_gain('tanh')",
    ],
    "bases of layers": [
        (
            "[isinstance(l, nn.layer.norm._BatchNormBase) for l in (nn.BatchNorm2D(2), nn.SyncBatchNorm(2), "
            "nn.BatchNorm(2), nn.InstanceNorm1D(2))]"
        ),
        (
            "[isinstance(l, nn.layer.conv._ConvNd) for l in (nn.Conv1D(2, 2, 1), "
            "nn.Conv2DTranspose(2, 2, 1), "
            "nn.Linear(2, 2))]"
        ),
        "m = nn.MultiHeadAttention(4, 2); x = paddle.ones([1, 3, 4])",
        "[list(t.shape) for t in m._prepare_qkv(x, x, x)]",
        "len(m._prepare_qkv(x, x, x, m.gen_cache(x)))",
    ],
    "dtypes that do not fit": [
        *(
            f"(paddle.ones([1, 2], '{left}') @ paddle.full([2, 1], 3, '{right}'))"
            for left in ("float32", "float64", "int32", "int64")
            for right in ("float32", "float64", "int32", "int64")
        ),
        "paddle.ones([2], 'complex64') @ paddle.ones([2])",
        "paddle.ones([2]) @ paddle.ones([2], 'complex64')",
        *(
            f"{call}(paddle.ones([2, 2], '{left}'), paddle.ones([2, 2], '{right}'))"
            for call in ("paddle.matmul", "paddle.mm", "paddle.inner")
            for left in ("float32", "float64", "int64", "bool")
            for right in ("float32", "float64", "int64")
            if left != right
        ),
        *(
            line
            for left in ("float32", "float64", "int64")
            for right in ("float32", "int64")
            for line in (
                f"np.ones((2, 2), '{left}') @ paddle.ones([2, 2], '{right}')",
                f"paddle.ones([2, 2], '{right}') @ np.ones((2, 2), '{left}')",
            )
        ),
        "w = paddle.ones([2, 2], 'float64'); w.stop_gradient = False",
        "paddle.grad((paddle.ones([2, 2]) @ w).sum(), w)",
        *(
            f"nn.{layer}(paddle.ones([2, 4, 4], 'int64'))"
            for layer in (
                "Linear(4, 4)",
                "LayerNorm(4)",
                "BatchNorm1D(4)",
                "InstanceNorm1D(4)",
                "MultiHeadAttention(4, 2)",
                "PReLU()",
                "Bilinear(4, 4, 2)",
            )
        ),
        "F.group_norm(paddle.ones([2, 4], 'int64'), 2)",
        "F.cross_entropy(paddle.ones([2, 3], 'int64'), paddle.to_tensor([0, 1]))",
        "paddle.lerp(paddle.ones([2], 'int64'), paddle.ones([2], 'int64'), 0.5)",
        "paddle.lerp(paddle.ones([2]), paddle.ones([2], 'int64'), 0.5)",
        "paddle.bmm(paddle.ones([1, 2, 2]), paddle.ones([1, 2, 2], 'int64'))",
        "paddle.addmm(paddle.ones([2, 2], 'int64'), *[paddle.ones([2, 2])] * 2)",
        "F.binary_cross_entropy(paddle.ones([2]), paddle.ones([2], 'int64'))",
        "F.binary_cross_entropy_with_logits(paddle.ones([2]), paddle.ones([2], 'int64'))",
    ],
    "sequences times a Tensor": [
        *(
            f"{sequence} * paddle.to_tensor({times})"
            for sequence in ("[1, 2]", "(1,)", "'ab'")
            for times in ("2", "[3]", "2.0", "[1, 2]", "-1")
        ),
        "paddle.to_tensor(2) * [1, 2]",
        "paddle.to_tensor([2, 3]) * [1, 2]",
        "paddle.to_tensor(2) * 'a'",
        "[1] + paddle.to_tensor(2)",
        "paddle.to_tensor(2) * None",
        "l = [0]; l *= paddle.to_tensor(3)",
        "l",
    ],
    "optimizers of what is no parameter": [
        "n = nn.Linear(2, 2)",
        *(
            f"o = paddle.optimizer.{kind}(0.1, parameters={given})"
            for kind in ("SGD", "Adam")
            for given in (
                "[1, 2]",
                "n.named_parameters()",
                "[n]",
                "[[n.weight]]",
                "[None]",
                "n.state_dict()",
                "n",
                "n.weight",
                "None",
                "'abc'",
                "3",
            )
        ),
        "o = paddle.optimizer.SGD(0.1, parameters=n.parameters())",
        "o.minimize(3)",
        "o.minimize(None)",
    ],
    "batch normalisation of one sample": [
        "n = nn.Sequential(nn.Linear(2, 3, weight_attr=nn.initializer.Constant(0.5)), nn.BatchNorm1D(3))",
        "y = n(paddle.ones([1, 2]))",
        "y",
        "(y ** 2).sum().backward()",
        "n[1].weight.grad, n[1].bias.grad",
        "n[0].bias.grad",
        "n[1]._mean, n[1]._variance",
        "o = paddle.optimizer.AdamW(0.1, parameters=n.parameters(), weight_decay=0.5)",
        "o.step()",
        "n[1].weight, n[1].bias",
        "nn.BatchNorm2D(3)(paddle.ones([1, 3, 1, 1])).stop_gradient",
    ],
    "a Tensor of a Tensor": [
        "a = paddle.ones([3])",
        "b = paddle.Tensor(a)",
        "b[0] = 5",
        "a",
        "a[1] = 7",
        "b",
        "b is a",
        "a.stop_gradient = False",
        "paddle.Tensor(a).stop_gradient",
        "l = nn.Linear(2, 2)",
        "paddle.Tensor(l.weight).zero_()",
        "l.weight",
        "paddle.Tensor(np.ones(2)).dtype",
    ],
    "gradients of results": [
        "x = paddle.ones([2]); x.stop_gradient = False",
        "y = x * 2; y.retain_grads()",
        "y.grad = None",
        "y.grad = paddle.ones([2])",
        "y.grad = 3",
        "y.grad",
        "y.sum().backward()",
        "y.grad",
        "y.grad = None",
        "x.grad = None",
        "x.grad",
        "z = paddle.ones([2]); z.grad = paddle.ones([2])",
        "z.grad",
        "y.detach().grad = paddle.ones([2])",
    ],
    "states of another optimizer": [
        "n = nn.Linear(2, 2)",
        "o = paddle.optimizer.Adam(0.1, parameters=n.parameters())",
        "o.set_state_dict({})",
        "n(paddle.ones([1, 2])).sum().backward()",
        "o.step()",
        "o.set_state_dict({})",
        "o.set_state_dict({'a': 1})",
        "o.set_state_dict(o.state_dict())",
        "s = paddle.optimizer.SGD(0.1, parameters=n.parameters())",
        "s.step()",
        "s.set_state_dict({})",
    ],
    "sinc_ gives another Tensor": [
        "x = paddle.to_tensor([0.5, 0.0])",
        "y = x.sinc_()",
        "y is x",
        "x",
        "y",
        "y.add_(paddle.ones([2]))",
        "x",
    ],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_behaves_alike(script, oracle, paddle):
    same(script, oracle, paddle)


def test_eigenvectors_of_real_matrices_have_the_signs_of_lapack(oracle, paddle):
    import numpy as np

    for seed in range(4):
        matrix = np.random.default_rng(seed).standard_normal((4, 4))
        for engine in (oracle, paddle):
            values, vectors = engine.linalg.eig(engine.to_tensor(matrix))
            expected = np.linalg.eig(matrix)
            np.testing.assert_allclose(values.numpy(), expected[0].astype(complex), atol=1e-12)
            np.testing.assert_allclose(vectors.numpy(), expected[1].astype(complex), atol=1e-12)
