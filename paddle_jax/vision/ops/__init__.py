"""paddle.vision.ops: what detection networks compute on boxes, and blocks of image networks."""

from paddle_jax.vision.ops.boxes import box_coder, prior_box
from paddle_jax.vision.ops.conv_norm import ConvNormActivation
from paddle_jax.vision.ops.deform_conv import DeformConv2D, deform_conv2d
from paddle_jax.vision.ops.images import decode_jpeg, read_file
from paddle_jax.vision.ops.proposals import distribute_fpn_proposals, generate_proposals
from paddle_jax.vision.ops.roi import PSRoIPool, RoIAlign, RoIPool, psroi_pool, roi_align, roi_pool
from paddle_jax.vision.ops.suppression import matrix_nms, nms
from paddle_jax.vision.ops.yolo import yolo_box, yolo_loss

__all__ = [
    "yolo_loss",
    "yolo_box",
    "prior_box",
    "box_coder",
    "deform_conv2d",
    "DeformConv2D",
    "distribute_fpn_proposals",
    "generate_proposals",
    "read_file",
    "decode_jpeg",
    "roi_pool",
    "RoIPool",
    "psroi_pool",
    "PSRoIPool",
    "roi_align",
    "RoIAlign",
    "nms",
    "matrix_nms",
]
