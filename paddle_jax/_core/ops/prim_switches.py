"""Paddle's switches for building gradients from primitive operations. JAX always does, so they are kept and
answered, and change nothing."""


class Prim:
    """The switches: of static programs' forward and backward part, of eager operations, of
    `paddle.incubate.autograd`."""

    forward = backward = eager = incubate = False
    forward_excluded = set()  # names of operations
    backward_excluded = {"matmul_grad"}
