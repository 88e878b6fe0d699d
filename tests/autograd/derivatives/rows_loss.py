"""Rows of the losses."""

from tests.autograd.derivatives.engine import Row as R
from tests.autograd.derivatives.inputs import a, k, n, u

SIGNS = k([1.0, -1.0])

ROWS = [
    R("l1_loss", "F.l1_loss(x, y)", (n(3), k([0.1, 0.1, -0.1]))),
    R("mse_loss", "F.mse_loss(x, y)", (n(3), n(3))),
    R("square_error_cost", "F.square_error_cost(x, y)", (n(3), n(3))),
    R("smooth_l1_loss", "F.smooth_l1_loss(x, y)", (a(6), k([0.1] * 6))),
    R("kl_div", "F.kl_div(x, y)", (n(3), k([0.2, 0.5, 0.7]))),
    R("log_loss", "F.log_loss(x, y)", (u(0.2, 0.8, 3, 1), k([[0.2], [0.5], [0.7]]))),
    R("binary_cross_entropy", "F.binary_cross_entropy(x, y)", (u(0.2, 0.8, 3), k([0.2, 0.5, 0.7]))),
    R(
        "binary_cross_entropy_with_logits",
        "F.binary_cross_entropy_with_logits(x, y, z, pos_weight=z)",
        (n(3), k([0.2, 0.5, 0.7]), k([0.5, 1, 2])),
    ),
    R("cross_entropy", "F.cross_entropy(x, y)", (n(2, 3), k([0, 2]))),
    R(
        "cross_entropy",
        "F.cross_entropy(x, y, soft_label=True)",
        (n(2, 3), k([[0.2, 0.5, 0.3], [0.1, 0.2, 0.7]])),
    ),
    R("softmax_with_cross_entropy", "F.softmax_with_cross_entropy(x, y)", (n(2, 3), k([[0], [2]]))),
    R("nll_loss", "F.nll_loss(x, y)", (n(2, 3), k([0, 2]))),
    R("poisson_nll_loss", "F.poisson_nll_loss(x, y)", (n(3), n(3))),
    R("gaussian_nll_loss", "F.gaussian_nll_loss(x, y, z)", (n(3), n(3), u(0.5, 2, 3))),
    R("sigmoid_focal_loss", "F.sigmoid_focal_loss(x, y)", (n(3), k([0.0, 1.0, 1.0]))),
    R("dice_loss", "F.dice_loss(x, y)", (u(0.2, 0.8, 2, 3), k([[0], [2]]))),
    R("label_smooth", "F.label_smooth(x)", (u(0.2, 0.8, 3),)),
    R("hinge_embedding_loss", "F.hinge_embedding_loss(x, y)", (u(0.2, 0.8, 2), SIGNS)),
    R(
        "cosine_embedding_loss",
        "F.cosine_embedding_loss(x, y, z, margin=-0.9)",
        (n(2, 3), n(2, 3), k([1, -1])),
    ),
    R("cosine_similarity", "F.cosine_similarity(x, y)", (n(2, 3), n(2, 3))),
    R("margin_ranking_loss", "F.margin_ranking_loss(x, y, z, 0.1)", (u(0.2, 0.5, 2), u(0.6, 0.9, 2), SIGNS)),
    R("soft_margin_loss", "F.soft_margin_loss(x, y)", (n(2), SIGNS)),
    R("multi_margin_loss", "F.multi_margin_loss(x, y, 2)", (u(0, 0.5, 2, 3), k([0, 2]))),
    R("multi_label_margin_loss", "F.multi_label_margin_loss(x, y)", (u(0, 0.3, 1, 3), k([[1, -1, 0]]))),
    R(
        "multi_label_soft_margin_loss",
        "F.multi_label_soft_margin_loss(x, y)",
        (n(2, 3), k([[1.0, -1, 1], [-1, 1, 1]])),
    ),
    R("triplet_margin_loss", "F.triplet_margin_loss(x, y, z)", (n(2, 3), n(2, 3), n(2, 3))),
    R(
        "triplet_margin_with_distance_loss",
        "F.triplet_margin_with_distance_loss(x, y, z)",
        (n(2, 3), n(2, 3), n(2, 3)),
    ),
    R("pairwise_distance", "F.pairwise_distance(x, y)", (n(2, 3), n(2, 3))),
    R("npair_loss", "F.npair_loss(x, y, z)", (n(2, 3), n(2, 3), k([0.0, 1.0]))),
    R(
        "ctc_loss",
        "F.ctc_loss(x, y, z, w, reduction='sum')",
        (n(4, 1, 3), k([[1, 2]], "int32"), k([4]), k([2])),
    ),
    R(
        "rnnt_loss",
        "F.rnnt_loss(x, y, z, w, 0, 0.0, 'sum')",
        (n(1, 2, 2, 3), k([[1]], "int32"), k([2], "int32"), k([1], "int32")),
    ),
    R("hsigmoid_loss", "F.hsigmoid_loss(x, y, 4, z, w)", (n(2, 2), k([1, 3]), n(3, 2), n(3, 1))),
    R("margin_cross_entropy", "F.margin_cross_entropy(x, y, scale=2.0)", (u(-0.6, 0.6, 2, 3), k([0, 2]))),
    R(
        "adaptive_log_softmax_with_loss",
        "F.adaptive_log_softmax_with_loss(x, y, z, [[w, w]], [2, 4])",
        (n(2, 2), k([0, 3]), n(2, 3), n(2, 2)),
    ),
]
