"""Transforms, constraints and variables against the real Paddle; log-determinants against
numerical derivatives."""

import numpy as np
import pytest

import paddle_jax
from tests.distribution.engines import agree, evaluate, outcome

# expression, inputs, outputs to invert
TRANSFORMS = [
    ("D.Transform()", ["T([0.5, -1.0])"], []),
    ("D.AbsTransform()", ["T([0.5, -1.0])", "T(2.0)"], ["T([0.5, 1.0])", "T([-1.0])"]),
    (
        "D.AffineTransform(T([1.0, 2.0]), T([3.0, -2.0]))",
        ["T([0.5, -1.0])", "T([[0.5], [1.0]])", "0.5"],
        ["T([0.5, 1.0])"],
    ),
    ("D.AffineTransform(1.0, T(2.0))", [], []),
    ("D.AffineTransform(T(1.0), 2.0)", [], []),
    ("D.ExpTransform()", ["T([0.5, -1.0])", "3"], ["T([0.5, 1.0])", "T([-1.0])", "3"]),
    ("D.PowerTransform(T(2.0))", ["T([0.5, 1.0])"], ["T([0.5, 1.0])"]),
    ("D.PowerTransform(T([2.0, 3.0]))", ["T([0.5])"], ["T([0.5])"]),
    ("D.PowerTransform(2.0)", [], []),
    ("D.SigmoidTransform()", ["T([0.5, -30.0])"], ["T([0.5, 0.9])", "T([0.0, 1.0])"]),
    ("D.TanhTransform()", ["T([0.5, -30.0])"], ["T([0.5, -0.9])", "T([1.0, 1.0])"]),
    ("D.SoftmaxTransform()", ["T([0.5, -3.0])", "T([[0.5, -3.0], [1.0, 2.0]])", "T(1.0)"], ["T([0.5, 0.9])"]),
    (
        "D.StickBreakingTransform()",
        ["T([0.5, -3.0])", "T([[0.5, -3.0], [1.0, 2.0]])", "T([0.5, 1.0, -0.5])"],
        ["T([0.5, 0.2, 0.3])"],
    ),
    (
        "D.ReshapeTransform((2, 3), (3, 2))",
        ["T(np.ones([2, 3]))", "T(np.ones([2, 2, 3]))", "T([1.0])"],
        ["T(np.ones([3, 2]))"],
    ),
    ("D.ReshapeTransform([2, 3], [6])", ["T(np.ones([2, 3]))"], ["T(np.ones([6]))"]),
    ("D.ReshapeTransform((2, 3), (5,))", [], []),
    ("D.ReshapeTransform(2, (2,))", [], []),
    ("D.ReshapeTransform((2,), 2)", [], []),
    (
        "D.ChainTransform([D.AffineTransform(T(0.0), T(2.0)), D.ExpTransform()])",
        ["T([0.5, -1.0])"],
        ["T([0.5, 1.0])"],
    ),
    (
        "D.ChainTransform((D.TanhTransform(), D.StickBreakingTransform()))",
        ["T([0.5, -1.0])"],
        ["T([0.5, 0.2, 0.3])"],
    ),
    (
        "D.ChainTransform([D.StickBreakingTransform(), D.ExpTransform()])",
        ["T([0.5, -1.0])"],
        ["T([1.5, 1.2, 1.3])"],
    ),
    ("D.ChainTransform([D.AbsTransform(), D.ExpTransform()])", ["T([0.5, -1.0])"], ["T([1.5, 1.2])"]),
    ("D.ChainTransform(D.ExpTransform())", [], []),
    ("D.ChainTransform([1])", [], []),
    ("D.IndependentTransform(D.ExpTransform(), 1)", ["T([[0.5, -1.0]])", "T(0.5)"], ["T([[0.5, 1.0]])"]),
    ("D.IndependentTransform(D.StickBreakingTransform(), 1)", ["T([[0.5, -1.0]])"], ["T([[0.5, 0.2, 0.3]])"]),
    ("D.IndependentTransform(D.ExpTransform(), 0)", [], []),
    ("D.IndependentTransform(1, 1)", [], []),
    (
        "D.StackTransform([D.ExpTransform(), D.PowerTransform(T(2.0))], 1)",
        ["T([[0.5, 1.0], [1.0, 2.0]])", "T([[0.5, 1.0, 3.0]])", "T([0.5, 1.0])"],
        ["T([[0.5, 1.0], [1.0, 2.0]])"],
    ),
    (
        "D.StackTransform([D.ExpTransform(), D.PowerTransform(T(2.0))])",
        ["T([0.5, 1.0])", "T(1.0)"],
        ["T([0.5, 1.0])"],
    ),
    (
        "D.StackTransform([D.ExpTransform(), D.StickBreakingTransform()], 0)",
        ["T([[0.5, 1.0], [1.0, 2.0]])"],
        [],
    ),
    ("D.StackTransform([], 1)", [], []),
    ("D.StackTransform(D.ExpTransform(), 1)", [], []),
    ("D.StackTransform([1], 1)", [], []),
    ("D.StackTransform([D.ExpTransform()], 1.5)", [], []),
]
SHAPES = [(), (2,), (3, 2), (2, 3), (6,), 3]


def everything(engine, expression, inputs, outputs):
    try:
        transform = evaluate(engine, expression)
    except Exception:
        return {"made": outcome(lambda: evaluate(engine, expression))}
    found = {"type": transform._type.value, "injective": transform._is_injective()}
    for name in ("_domain", "_codomain"):
        found[name] = outcome(
            lambda n=name: (getattr(transform, n).event_rank, getattr(transform, n).is_discrete)
        )
    for shape in SHAPES:
        for name in ("forward_shape", "inverse_shape"):
            found[name, shape] = outcome(lambda n=name, s=shape: getattr(transform, n)(s))
    for name in ("__call__", "forward", "forward_log_det_jacobian"):
        found |= {
            (name, x): outcome(lambda n=name, x=x: getattr(transform, n)(evaluate(engine, x))) for x in inputs
        }
    for name in ("inverse", "inverse_log_det_jacobian"):
        found |= {
            (name, y): outcome(lambda n=name, y=y: getattr(transform, n)(evaluate(engine, y)))
            for y in outputs
        }
    return found


@pytest.mark.parametrize(
    ("expression", "inputs", "outputs"), TRANSFORMS, ids=[case[0] for case in TRANSFORMS]
)
def test_transform(expression, inputs, outputs, oracle):
    theirs, ours = (
        everything(oracle, expression, inputs, outputs),
        everything(paddle_jax, expression, inputs, outputs),
    )
    different = {key: (theirs[key], ours.get(key)) for key in theirs if not agree(theirs[key], ours.get(key))}
    assert not different


def test_shapes_through_a_chain():
    """The real Paddle goes through a chain in the same order both ways."""
    chain = evaluate(
        paddle_jax, "D.ChainTransform([D.ReshapeTransform((4,), (2, 2)), D.StickBreakingTransform()])"
    )
    assert tuple(chain.forward_shape((5, 4))) == (5, 2, 3)
    assert tuple(chain.inverse_shape((5, 2, 3))) == (5, 4)


N = "D.Normal(T([1.0, 2.0]), T([1.0, 2.0]))"
TRANSFORMED = [
    (
        f"D.TransformedDistribution({N}, [D.AffineTransform(T(1.0), T(2.0)), D.TanhTransform()])",
        "T([0.2, 0.3])",
    ),
    (f"D.TransformedDistribution({N}, [D.StickBreakingTransform()])", "T([0.2, 0.3, 0.5])"),
    (f"D.TransformedDistribution({N}, [D.ReshapeTransform((2,), (1, 2))])", "T([[0.2, 0.3]])"),
    (f"D.TransformedDistribution({N}, D.ExpTransform())", ""),
    (f"D.TransformedDistribution({N}, [1])", ""),
    (f"D.TransformedDistribution({N}, [])", "T([0.2, 0.3])"),
    (f"D.TransformedDistribution({N}, [D.SoftmaxTransform()])", "T([0.2, 0.8])"),
    (f"D.TransformedDistribution({N}, [D.AbsTransform()])", "T([0.2, 0.8])"),
    (f"D.TransformedDistribution(D.Independent({N}, 1), [D.ExpTransform()])", "T([0.2, 0.8])"),
    (f"D.TransformedDistribution({N}, (D.ExpTransform(),))", "T([0.2, 0.8])"),
    (
        f"D.TransformedDistribution(D.TransformedDistribution({N}, [D.ExpTransform()]), [D.TanhTransform()])",
        "T([0.2, 0.8])",
    ),
    (f"D.TransformedDistribution({N}, [D.ExpTransform(), D.StickBreakingTransform()])", "T([0.1, 0.2, 0.7])"),
    (f"D.ExpTransform()({N})", "T([0.2, 0.8])"),
    ("D.ExpTransform()(D.TanhTransform())", ""),
    ("D.TransformedDistribution(T(1.0), [D.ExpTransform()])", ""),
    ("D.TransformedDistribution(D.Normal(0.0, 1.0), [D.StickBreakingTransform()])", ""),
]


@pytest.mark.parametrize(("expression", "value"), TRANSFORMED)
def test_transformed_distribution(expression, value, oracle):
    def seen(engine):
        made = evaluate(engine, expression)
        if not value:
            return [type(t).__name__ for t in made.transforms]
        shapes = (made.batch_shape, made.event_shape, tuple(made.sample([5]).shape))
        return [
            shapes,
            outcome(lambda: made.log_prob(evaluate(engine, value))),
            outcome(lambda: made.prob(evaluate(engine, value))),
        ]

    theirs, ours = (outcome(lambda e=e: seen(e)) for e in (oracle, paddle_jax))
    if isinstance(theirs, tuple) and value:
        theirs, ours = (seen(e) for e in (oracle, paddle_jax))
        assert theirs[0] == ours[0]
        assert agree(theirs[1], ours[1])
        assert agree(theirs[2], ours[2])
    else:
        assert theirs == ours


SETS = [
    "C.real(T([1.0, float('nan')]))",
    "C.positive(T([1.0, -1.0, 0.0]))",
    "C.simplex(T([0.5, 0.5]))",
    "C.simplex(T([0.5, 0.6]))",
    "C.Constraint()(T(1.0))",
    "C.real.check(T([1.0]))",
    "C.Positive().check(T([1.0, -1.0]))",
    "V.real.constraint(T([1.0, 2.0]))",
    "V.positive.constraint(T([-1.0]))",
    "[V.real.is_discrete, V.real.event_rank, V.Real(2).event_rank]",
    "V.Independent(V.real, 1).event_rank",
    "V.Independent(V.real, 1).constraint(T(1.0))",
    "V.Stack([V.real, V.positive], 0).event_rank",
    "V.Stack([V.real, V.positive], 0).is_discrete",
    "V.Stack([V.real, V.Independent(V.real, 1)], 0).event_rank",
    "V.Variable(True, 2, C.real).constraint(T([1.0]))",
    "V.Stack([V.real, V.positive], 2).constraint(T([[1.0], [-2.0]]))",
]


@pytest.mark.parametrize("expression", SETS)
def test_sets(expression, oracle):
    theirs, ours = (outcome(lambda e=e: evaluate(e, expression)) for e in (oracle, paddle_jax))
    assert agree(theirs, ours)


def test_sets_of_several_values():
    """What the real Paddle raises for."""
    assert evaluate(paddle_jax, "C.Range(0, 1)(T([0.0, 0.5, 2.0]))").tolist() == [True, True, False]
    assert evaluate(paddle_jax, "C.simplex(T([[0.5, 0.6], [0.5, 0.5]]))").tolist() == [False, True]
    assert evaluate(
        paddle_jax, "V.Independent(V.positive, 1).constraint(T([[1.0, 2.0], [1.0, -2.0]]))"
    ).tolist() == [True, False]
    assert evaluate(
        paddle_jax, "V.Stack([V.real, V.positive], 0).constraint(T([[1.0], [-2.0]]))"
    ).tolist() == [[True], [False]]


# a transform, an input whose last axis is one value, and how many entries of the output are free
VOLUMES = [
    ("D.AffineTransform(T(1.0, 'float64'), T(-3.0, 'float64'))", [0.3], 1),
    ("D.ExpTransform()", [0.3], 1),
    ("D.PowerTransform(T(2.5, 'float64'))", [0.7], 1),
    ("D.SigmoidTransform()", [0.3], 1),
    ("D.TanhTransform()", [0.3], 1),
    ("D.StickBreakingTransform()", [0.3, -1.0, 0.5], 3),
    ("D.IndependentTransform(D.ExpTransform(), 1)", [0.3, -1.0], 2),
    ("D.ReshapeTransform((4,), (2, 2))", [0.3, -1.0, 0.5, 0.1], 4),
    ("D.ChainTransform([D.TanhTransform(), D.StickBreakingTransform()])", [0.3, -1.0], 2),
]


@pytest.mark.parametrize(("expression", "x", "free"), VOLUMES)
def test_log_determinants(expression, x, free):
    """Inverse and forward undo each other, and the log-determinants are those of the numerical derivative."""
    transform, x = evaluate(paddle_jax, expression), np.array(x)

    def forward(values):
        return transform.forward(paddle_jax.to_tensor(values)).numpy().ravel()[:free]

    step = 1e-6
    jacobian = np.stack([(forward(x + d) - forward(x - d)) / (2 * step) for d in np.eye(len(x)) * step], -1)
    y = transform.forward(paddle_jax.to_tensor(x))
    np.testing.assert_allclose(transform.inverse(y).numpy().ravel(), x, 1e-9)
    truth = np.log(abs(np.linalg.det(jacobian)))
    np.testing.assert_allclose(
        transform.forward_log_det_jacobian(paddle_jax.to_tensor(x)).numpy().sum(), truth, 1e-6, 1e-8
    )
    np.testing.assert_allclose(transform.inverse_log_det_jacobian(y).numpy().sum(), -truth, 1e-6, 1e-8)
