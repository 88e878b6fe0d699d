"""Operands that Paddle takes as constants: they get no gradient at all, so an optimizer leaves them alone,
weight decay included."""

import numpy as np
import pytest

R = np.random.RandomState(5)
SIGNS = np.sign(R.randn(3, 4))
P, Q, W, CLASSES = R.rand(3, 4) * 0.8 + 0.1, R.rand(3, 4) * 0.8 + 0.1, R.rand(3, 4), R.rand(4)
BOXES = [[0.0, 0.0, 4.0, 4.0]]


def classes(p):
    return p.to_tensor(np.array([0, 1, 2]))


def one_box(p):
    return p.to_tensor(np.array([1], "int32"))


CASES = {
    "kl_div": (lambda p, x, y: p.nn.functional.kl_div(x, y), P, Q),
    "binary_cross_entropy": (lambda p, x, y, w: p.nn.functional.binary_cross_entropy(x, y, w), P, Q, W),
    "binary_cross_entropy_with_logits": (
        lambda p, x, y, w, c: p.nn.functional.binary_cross_entropy_with_logits(x, y, w, pos_weight=c),
        P,
        Q,
        W,
        CLASSES,
    ),
    "log_loss": (lambda p, x, y: p.nn.functional.log_loss(x, y), P[:, :1], Q[:, :1]),
    "cross_entropy": (lambda p, x, y: p.nn.functional.cross_entropy(x, y, soft_label=True), P, Q),
    "cross_entropy, weights": (
        lambda p, x, y, w: p.nn.functional.cross_entropy(x, y, w, soft_label=True),
        P,
        Q,
        CLASSES,
    ),
    "cross_entropy, probabilities": (
        lambda p, x, y: p.nn.functional.cross_entropy(x, y, soft_label=True, use_softmax=False),
        P,
        Q,
    ),
    "softmax_with_cross_entropy": (
        lambda p, x, y: p.nn.functional.softmax_with_cross_entropy(x, y, soft_label=True),
        P,
        Q,
    ),
    "nll_loss": (lambda p, x, w: p.nn.functional.nll_loss(x, classes(p), w), P, CLASSES),
    "label_smooth": (lambda p, x, y: p.nn.functional.label_smooth(x, y), P, CLASSES[None]),
    "hinge_embedding_loss": (lambda p, x, y: p.nn.functional.hinge_embedding_loss(x, y), P, SIGNS),
    "cosine_embedding_loss": (
        lambda p, x, y, z: p.nn.functional.cosine_embedding_loss(x, y, z),
        P,
        Q,
        SIGNS[:, 0],
    ),
    "npair_loss": (lambda p, x, y, z: p.nn.functional.npair_loss(x, y, z), P, Q, [0.0, 1.0, 1.0]),
    "smooth_l1_loss": (lambda p, x, y: p.nn.functional.smooth_l1_loss(x, y), P, Q),
    "poisson_nll_loss": (lambda p, x, y: p.nn.functional.poisson_nll_loss(x, y), P, Q),
    "roi_align": (lambda p, x, y: p.vision.ops.roi_align(x, y, one_box(p), 2), R.rand(1, 2, 8, 8), BOXES),
    "roi_pool": (lambda p, x, y: p.vision.ops.roi_pool(x, y, one_box(p), 2), R.rand(1, 2, 8, 8), BOXES),
    "clip": (lambda p, x, y, z: p.clip(x, y, z), P, [0.3], [0.6]),
    "scale": (lambda p, x, y: p.scale(x, y, 1.0), P, [2.0]),
    "expand_as": (lambda p, x, y: p.expand_as(x, y), P[:1], Q),
    "reduce_as": (lambda p, x, y: p.reduce_as(x, y), P, Q[:1]),
    "view_as": (lambda p, x, y: p.view_as(x, y), P, Q.T),
}


def given_gradients(p, case):
    call, *arrays = CASES[case]
    leaves = [p.to_tensor(np.asarray(a, "float32"), stop_gradient=False) for a in arrays]
    call(p, *leaves).sum().backward()
    return [leaf.grad is not None for leaf in leaves]


@pytest.mark.filterwarnings("ignore:(?s).*is deprecated since")  # what the real Paddle says of one of them
@pytest.mark.parametrize("case", CASES)
def test_as_the_real_paddle(case, paddle, oracle):
    want = given_gradients(oracle, case)
    assert given_gradients(paddle, case) == want
    paddle.set_flags({"FLAGS_deferred": "off"})
    assert given_gradients(paddle, case) == want


def test_a_teacher_that_is_not_detached_stays_as_it_is(paddle):
    student, teacher = paddle.nn.Linear(3, 4), paddle.nn.Linear(3, 4)
    before = teacher.weight.numpy().copy()
    optimizer = paddle.optimizer.AdamW(
        0.1, parameters=[*student.parameters(), *teacher.parameters()], weight_decay=0.5
    )
    x = paddle.ones([2, 3])
    soft = paddle.nn.functional.softmax
    paddle.nn.functional.kl_div(soft(student(x)).log(), soft(teacher(x))).backward()
    optimizer.step()
    assert teacher.weight.grad is None and student.weight.grad is not None
    np.testing.assert_array_equal(teacher.weight.numpy(), before)


def test_none_among_the_gradients_of_a_program(paddle):
    paddle.enable_static()
    try:
        x, y = paddle.static.data("x", [3, 4]), paddle.static.data("y", [3, 4])
        x.stop_gradient = y.stop_gradient = False
        got = paddle.static.gradients(paddle.nn.functional.kl_div(x, y), [x, y])
    finally:
        paddle.disable_static()
    assert [g is None for g in got] == [False, True]
