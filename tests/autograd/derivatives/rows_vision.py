"""Rows of vision.ops."""

from tests.autograd.derivatives.engine import Row as R
from tests.autograd.derivatives.inputs import a, n, u

BOX, COUNT = "p.to_tensor([[0.3, 0.2, 2.9, 3.1]])", "p.to_tensor([1], dtype='int32')"
TRUTH = "p.to_tensor([[[0.3, 0.4, 0.5, 0.4]]], dtype='float64'), p.to_tensor([[1]], dtype='int32')"

ROWS = [
    R(
        "roi_align",
        f"p.vision.ops.roi_align(x, {BOX}.astype('float64'), {COUNT}, 2, sampling_ratio=2)",
        (n(1, 2, 4, 4),),
    ),
    R("roi_align", f"p.vision.ops.roi_align(x, {BOX}.astype('float64'), {COUNT}, 2)", (n(1, 1, 4, 4),)),
    R("roi_pool", f"p.vision.ops.roi_pool(x, {BOX}.astype('float64'), {COUNT}, 2)", (a(1, 1, 4, 4),)),
    R("psroi_pool", f"p.vision.ops.psroi_pool(x, {BOX}.astype('float64'), {COUNT}, 2)", (n(1, 8, 4, 4),)),
    R(
        "deform_conv2d",
        "p.vision.ops.deform_conv2d(x, y, z, mask=w)",
        (n(1, 1, 3, 3), u(-0.8, -0.3, 1, 8, 2, 2), n(1, 1, 2, 2), n(1, 4, 2, 2)),
    ),
    R(
        "yolo_loss",
        f"p.vision.ops.yolo_loss(x, {TRUTH}, [10, 13, 16, 30], [0, 1], 2, 0.7, 16)",
        (n(1, 14, 2, 2),),
    ),
]
