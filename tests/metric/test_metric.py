"""paddle.metric against the real Paddle."""

import numpy as np
import pytest

import paddle_jax as ours
import paddle_jax.metric

oracle = pytest.importorskip("paddle")

SCORES = np.array([[0.1, 0.2, 0.6, 0.1], [0.8, 0.1, 0.05, 0.05], [0.3, 0.35, 0.25, 0.1]], "float32")
LABELS = np.array([[2], [1], [0]])
PAIRS = np.random.default_rng(0).dirichlet([1, 1], 40).astype("float32")
TRUTH = (np.random.default_rng(1).random(40) < PAIRS[:, 1]).astype("int64")

HALVES = np.array([0.5, 0.5, 1.5, 0.4999, 2.5, -0.5])


def plain(item):
    if isinstance(item, ours.Tensor | oracle.Tensor):
        return str(item.dtype), item.tolist()
    if isinstance(item, list | tuple):
        return [plain(part) for part in item]
    return round(float(item), 12) if isinstance(item, float | np.floating) else item


def run(call, module):
    try:
        return plain(call(module, module.metric))
    except Exception as error:
        return type(error)


def fed(metric, *batches):
    """What the updates return, the total, and the total after a reset and one more batch."""
    out = [
        [metric.name(), metric.accumulate()],
        [metric.update(*batch) for batch in batches],
        metric.accumulate(),
    ]
    metric.reset()
    return [*out, metric.accumulate(), metric.update(*batches[0]), metric.accumulate()]


def accuracies(module, metric, labels):
    batch = metric.compute(module.to_tensor(SCORES), module.to_tensor(labels))
    return [batch, *fed(metric, (batch,), (batch.numpy(),))]


CASES = {
    "accuracy_1": lambda m, k: accuracies(m, k.Accuracy(), LABELS),
    "accuracy_2": lambda m, k: accuracies(m, k.Accuracy((1, 2)), LABELS),
    "accuracy_flat": lambda m, k: accuracies(m, k.Accuracy([1]), LABELS[:, 0]),
    "accuracy_one_hot": lambda m, k: accuracies(m, k.Accuracy((1, 3), name="n"), np.eye(4)[LABELS[:, 0]]),
    "accuracy_3d": lambda m, k: k.Accuracy((2,)).compute(
        m.to_tensor(SCORES[None]), m.to_tensor(LABELS[None])
    ),
    "accuracy_k": lambda m, k: k.Accuracy((9,)).compute(m.to_tensor(SCORES), m.to_tensor(LABELS)),
    "accuracy_int": lambda m, k: k.Accuracy(2),
    "accuracy_update": lambda m, k: k.Accuracy().update(3),
    "accuracy_keyword": lambda m, k: k.Accuracy((1,), None, a=4),
    "precision": lambda m, k: fed(
        k.Precision(), (PAIRS[:, 1], TRUTH), (m.to_tensor(PAIRS[:5, 1:]), m.to_tensor(TRUTH[:5, None]))
    ),
    "precision_odd_label": lambda m, k: fed(k.Precision("p"), (np.array([0.9, 0.2]), np.array([2, 2]))),
    "precision_list": lambda m, k: k.Precision().update([0.1], np.array([1])),
    "recall": lambda m, k: fed(
        k.Recall(), (PAIRS[:, 1], TRUTH), (m.to_tensor(PAIRS[:5, 1:]), m.to_tensor(TRUTH[:5, None]))
    ),
    "precision_halves": lambda m, k: fed(k.Precision(), (HALVES, np.array([1, 0, 1, 1, 0, 1]))),
    "recall_halves": lambda m, k: fed(k.Recall(), (HALVES, np.array([1, 0, 1, 1, 0, 1]))),
    "recall_list": lambda m, k: k.Recall().update(np.array([0.1]), [1]),
    "recall_2d": lambda m, k: k.Recall().update(np.array([[0.9, 0.2]]), np.array([[1, 1]])),
    "auc": lambda m, k: fed(k.Auc(), (PAIRS, TRUTH), (m.to_tensor(PAIRS[:9]), m.to_tensor(TRUTH[:9, None]))),
    "auc_bins": lambda m, k: fed(k.Auc("PR", num_thresholds=3, name="a"), (PAIRS, TRUTH)),
    "auc_list": lambda m, k: k.Auc().update([1], [1]),
    "auc_1d": lambda m, k: k.Auc().update(np.array([0.1]), np.array([1])),
    "auc_large": lambda m, k: k.Auc().update(np.array([[0, 1.5]]), np.array([1])),
    "auc_nan": lambda m, k: k.Auc().update(np.array([[0, np.nan]]), np.array([1])),
    "auc_area": lambda m, k: k.Auc.trapezoid_area(1, 2, 3, 4),
    "base": lambda m, k: k.Metric(),
    "base_compute": lambda m, k: k.Metric.compute(k.Precision(), 1, 2),
    "base_name": lambda m, k: k.Metric.name(k.Precision()),
    "function": lambda m, k: [k.accuracy(m.to_tensor(SCORES), m.to_tensor(LABELS), n) for n in (1, 2, 4)],
    "function_of_nothing": lambda m, k: k.accuracy(m.to_tensor(SCORES[:0]), m.to_tensor(LABELS[:0])),
    "function_int32": lambda m, k: k.accuracy(m.to_tensor(SCORES), m.to_tensor(LABELS.astype("int32"))),
    "function_k_high": lambda m, k: k.accuracy(m.to_tensor(SCORES), m.to_tensor(LABELS), 5),
    "function_k_zero": lambda m, k: k.accuracy(m.to_tensor(SCORES), m.to_tensor(LABELS), 0),
    "function_flat": lambda m, k: k.accuracy(m.to_tensor(SCORES), m.to_tensor(LABELS[:, 0])),
    "function_rows": lambda m, k: k.accuracy(m.to_tensor(SCORES), m.to_tensor(LABELS[:2])),
    "function_array": lambda m, k: k.accuracy(SCORES, m.to_tensor(LABELS)),
    "function_float": lambda m, k: k.accuracy(m.to_tensor(SCORES), m.to_tensor(LABELS.astype("float32"))),
    "function_counts": lambda m, k: [
        [k.accuracy(m.to_tensor(SCORES), m.to_tensor(LABELS), 1, c, n), c, n]
        for c, n in [(m.zeros([1], "int32"), m.zeros([1], "int32"))]
    ],
    "names": lambda m, k: k.__all__,
}


@pytest.mark.parametrize("name", CASES)
def test_metric(name):
    assert run(CASES[name], ours) == run(CASES[name], oracle)


@pytest.mark.parametrize("score", [-0.5, -1e-6])
def test_scores_below_zero_are_refused(score):
    """Paddle counts them at the other end of the histogram."""
    with pytest.raises(AssertionError, match="probabilities"):
        ours.metric.Auc().update(np.array([[0, score]]), np.array([1]))


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="shapes"):
        ours.metric.Precision().update(np.array([0.9, 0.2]), np.array([1]))
