"""`python -m paddle_jax.distributed.launch`."""

import sys

from paddle_jax.distributed.launch.main import launch

sys.exit(launch())
