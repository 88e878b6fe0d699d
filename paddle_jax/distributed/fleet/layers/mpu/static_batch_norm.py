"""Batch normalisation of static programs by the statistics of all processes."""

from __future__ import annotations

import jax
from jax import lax

from paddle_jax._core.ops.op import op
from paddle_jax._program.evaluation_rules import register_evaluation
from paddle_jax._program.program import Program
from paddle_jax.distributed.fleet.layers.mpu.process_grid import (
    COPIES,
    PARTS,
    SYNC_BATCH_NORM,
    process_grid,
)
from paddle_jax.nn.functional.norm import (
    batch_norm_in_evaluation,
    batch_norm_train,
    normalized_in_training,
)

__all__ = []


def synchronize_batch_norm(program: Program) -> None:
    """Makes the batch normalisation of a program reduce over all processes in training.

    It replaces recorded operations, so it comes before gradients are added.
    """
    for operation in program.ops:
        declaration = operation.kernel.declaration
        if declaration is not None and declaration[0] is batch_norm_train.op:
            operation.kernel = sync_batch_norm_train.op.kernel(*declaration[1:])
            program.process_grid = program.process_grid or process_grid(1)
    program.changed()


def _mean_over_processes(mean: jax.Array) -> jax.Array:
    """The mean over all processes. They have equally many rows, as one program has one shape."""
    return lax.pmean(mean, (COPIES, PARTS))


@op("x mean variance weight bias", method=False, register=False, jit=False)
def sync_batch_norm_train(
    x: jax.Array,
    mean: jax.Array,
    variance: jax.Array,
    weight: jax.Array | None = None,
    bias: jax.Array | None = None,
    momentum: float = 0.9,
    epsilon: float = 1e-5,
    data_format: str = "NCHW",
) -> tuple[jax.Array, ...]:
    """As `batch_norm_train`, over the batches of all processes."""
    return normalized_in_training(
        x, mean, variance, weight, bias, momentum, epsilon, data_format, _mean_over_processes
    )


# In evaluation there is nothing to exchange.
register_evaluation(SYNC_BATCH_NORM, batch_norm_in_evaluation)
