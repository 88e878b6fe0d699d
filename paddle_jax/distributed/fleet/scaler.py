"""Loss scaling in several processes."""

from paddle_jax.distributed.fleet.base.registry import Current

__all__ = []


def distributed_scaler(scaler):
    """The GradScaler itself: the optimizers of `fleet` tell it what the other processes have found.

    Args:
        scaler: GradScaler.
    Raises:
        TypeError: it is none.
    """
    return Current.fleet.distributed_scaler(scaler)
