"""The launcher under its older name: `python -m paddle_jax.distributed.fleet.launch`."""

import sys

from paddle_jax.distributed.launch.main import launch

__all__ = []

if __name__ == "__main__":
    sys.exit(launch())
